"""`config` and `init`: the settings in effect, and naming a project."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from weft.core.errors import Conflict, StoreError, WeftError
from weft.fleet.projects import ProjectCreate, project_create
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label
from weft.runtime.operation import Operation
from weft.runtime.settings.declared import SETTINGS, Setting
from weft.runtime.settings.load import TOML_NAME
from weft.writing.checks.project_roots import join


class ConfigInput(Struct, frozen=True, kw_only=True):
    """Input of `config`."""


class SettingShown(Struct, frozen=True, kw_only=True):
    """A setting with its value and origin."""

    name: str
    value: Any
    origin: str
    variable: str
    summary: str


class ConfigShown(Struct, frozen=True, kw_only=True):
    """Every setting."""

    root: str
    settings: tuple[SettingShown, ...]


def config(ctx: CallContext, given: ConfigInput) -> ConfigShown:
    """Shows every setting, its value here, and its origin: default, a weft.toml or the environment.

    A project's weft.toml may only name the project; put other settings into your own ~/.config/weft/weft.toml.
    """
    shown = tuple(
        SettingShown(
            name=setting.name,
            value=_shown(setting, ctx.settings.origins[setting.name].value),
            origin=ctx.settings.origins[setting.name].origin,
            variable=setting.variable,
            summary=setting.summary,
        )
        for setting in SETTINGS
    )
    return ConfigShown(root=str(ctx.settings.root), settings=shown)


def _shown(setting: Setting, value: Any) -> Any:
    return "(set)" if setting.secret and value else value


class Init(Struct, frozen=True, kw_only=True):
    """Input of `init`."""

    project: Annotated[Label | None, Meta(description="the project's name; the directory's if unset")] = None


class Initialised(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The file that was written, and the project."""

    path: str
    project: str
    store: str
    notes: tuple[str, ...] = ()


def init(ctx: CallContext, given: Init) -> Initialised:
    """Writes a weft.toml that names this directory's project, and creates the project in the store.

    This is optional: a directory is a project by itself. A name belongs to the directory that used it first. If the
    file already names the project, this registers the directory for it.
    """
    path = ctx.settings.root / TOML_NAME
    project = given.project or ctx.settings.project
    text = f'# What weft calls this project; each user sets the rest, see `weft config`.\nproject = "{project}"\n'
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as problem:
        if given.project not in (None, ctx.settings.project):
            raise Conflict(
                f"{path} exists already", hint="edit it; `weft config` shows the settings in effect"
            ) from problem
    except OSError as problem:
        raise StoreError(f"{path} cannot be written: {problem}") from problem
    try:
        join(ctx.settings, project)
        made = project_create(ctx, ProjectCreate(name=project))
        notes = made.notes if made.status == "pending_retry" else ()
    except WeftError as problem:  # the file is enough: a directory is a project by itself
        notes = (f"the project was not created in the store: {problem}",)
    return Initialised(path=str(path), project=project, store=ctx.settings.store, notes=notes)


OPERATIONS = (
    Operation(
        name="init",
        summary="name this directory's project (optional)",
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
        summary="show every setting and its origin",
        input=ConfigInput,
        output=ConfigShown,
        effect="read",
        toolset="admin",
        needs_live_memory=False,
        audited_words="arguments",
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
