"""Settings and projects: `config`, `init`."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from weft.config import TOML_NAME
from weft.errors import Conflict, StoreError, WeftError
from weft.loom import Loom
from weft.operations.fields import Label
from weft.operations.project_roots import join
from weft.operations.projects import ProjectCreate, project_create
from weft.operations.registry import Operation
from weft.setting_list import SETTINGS, Setting


class ConfigInput(Struct, frozen=True, kw_only=True):
    """Input of `config`."""


class SettingShown(Struct, frozen=True, kw_only=True):
    """A setting as it holds."""

    name: str
    value: Any
    origin: str
    variable: str
    summary: str


class ConfigShown(Struct, frozen=True, kw_only=True):
    """Every setting."""

    root: str
    settings: tuple[SettingShown, ...]


def config(loom: Loom, given: ConfigInput) -> ConfigShown:
    """Shows every setting, its value here, and where it came from: default, a weft.toml or the environment.

    A project's weft.toml may only name the project; the rest is set in your own, ~/.config/weft/weft.toml.
    """
    shown = tuple(
        SettingShown(
            name=setting.name,
            value=_shown(setting, loom.settings.origins[setting.name].value),
            origin=loom.settings.origins[setting.name].origin,
            variable=setting.variable,
            summary=setting.summary,
        )
        for setting in SETTINGS
    )
    return ConfigShown(root=str(loom.settings.root), settings=shown)


def _shown(setting: Setting, value: Any) -> Any:
    return "(set)" if setting.secret and value else value


class Init(Struct, frozen=True, kw_only=True):
    """Input of `init`."""

    project: Annotated[Label | None, Meta(description="the project's name; the directory's if unset")] = None


class Initialised(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was written."""

    path: str
    project: str
    store: str
    notes: tuple[str, ...] = ()


def init(loom: Loom, given: Init) -> Initialised:
    """Writes a weft.toml that names this directory's project, and makes the project in the store.

    Not needed first: a directory is a project by itself. A name belongs to the directory that used it first: where the
    file already names the project, this says that the directory is one of that project's.
    """
    path = loom.settings.root / TOML_NAME
    project = given.project or loom.settings.project
    text = f'# What weft calls this project; each user sets the rest, see `weft config`.\nproject = "{project}"\n'
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as problem:
        if given.project not in (None, loom.settings.project):
            raise Conflict(f"{path} exists already", hint="edit it; `weft config` shows what holds") from problem
    except OSError as problem:
        raise StoreError(f"{path} cannot be written: {problem}") from problem
    try:
        join(loom.settings, project)
        made = project_create(loom, ProjectCreate(name=project))
        notes = made.notes if made.status == "pending_retry" else ()
    except WeftError as problem:  # the file is written and does its work: a directory is a project by itself
        notes = (f"the project was not made in the store: {problem}",)
    return Initialised(path=str(path), project=project, store=loom.settings.store, notes=notes)


OPERATIONS = (
    Operation(
        name="init",
        summary="name this directory's project (not needed first)",
        input=Init,
        output=Initialised,
        effect="write",
        toolset="admin",
        reach="machine",
        run=init,
        arguments=("project",),
    ),
    Operation(
        name="config",
        summary="show every setting and where it came from",
        input=ConfigInput,
        output=ConfigShown,
        effect="read",
        toolset="admin",
        reach="machine",
        run=config,
        priorities={
            "settings.value": "required",
            "settings.origin": "medium",
            "settings.variable": "low",
            "settings.summary": "low",
        },
    ),
)
