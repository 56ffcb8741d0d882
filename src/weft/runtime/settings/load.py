"""Loading of settings from `weft.toml` and `WEFT_*`.

Later sources win: default, the user's `~/.config/weft/weft.toml`, the nearest `weft.toml` above the working directory,
the environment. A project's file comes with a repository from anyone, so it may set only harmless things: never who is
asking, where memories live or where texts are sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from weft.core.errors import Invalid, Misconfigured
from weft.runtime.settings.agent_profile import AgentProfile, find_profile, narrowed, widening
from weft.runtime.settings.declared import (
    DEFAULTS,
    SETTINGS,
    Conversations,
    Effective,
    RetentionPolicy,
    Setting,
    Settings,
)
from weft.runtime.settings.surroundings import (
    DATA,
    TOML_NAME,
    anchored,
    default_store,
    read_toml,
    surroundings,
    user_directory,
    user_toml,
)

__all__ = [
    "SERVER_SCHEMES",
    "TOML_NAME",
    "Conversations",
    "Effective",
    "RetentionPolicy",
    "Settings",
    "load_settings",
    "surroundings",
]


# URLs of a store on a server: Neo4j, by routing or directly, with TLS (+s) or with a certificate of one's own (+ssc).
SERVER_SCHEMES: Final = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")


def load_settings(directory: Path, environment: Mapping[str, str] | None = None) -> Settings:
    """Settings for a process in this directory. Raises Misconfigured with one line per defect."""
    environment = surroundings() if environment is None else environment
    directory = _absolute(directory)
    root = find_root(directory)
    found = _defaults(root, environment)
    defects: list[str] = []
    user_file = user_toml(environment)
    if user_file.is_file():
        _take_file(found, defects, user_file, tuple(each for each in SETTINGS if not each.environment_only))
    toml = _find_toml(directory)
    if toml is not None and not _same_file(toml, user_file):
        allowed = tuple(setting for setting in SETTINGS if setting.project_file)
        _take_file(found, defects, toml, allowed, elsewhere=user_file)
    for setting in SETTINGS:
        if (written := environment.get(setting.variable)) is not None:
            _take(found, defects, setting, written, setting.variable)
    defects.extend(_misspelt(environment))
    if found["agent"].origin != "default" and not defects:
        _take_profile(found, defects, root)
    account, accounts = found["account"].value, found["accounts"].value
    if accounts and account not in accounts:
        defects.append(f"account {account!r} is not among the configured accounts: {', '.join(accounts)}")
    least, most = found["view_min_nodes"].value, found["view_max_nodes"].value
    if least > most:
        defects.append(f"view_min_nodes is {least}, more than view_max_nodes, which is {most}")
    if defects:
        raise Misconfigured("; ".join(defects), hint="fix the settings; `weft config` lists them all")
    return Settings(**{name: each.value for name, each in found.items()}, root=root, origins=found)


def _take_profile(found: dict[str, Effective], defects: list[str], root: Path) -> None:
    """Applies the restrictions of this agent's file in the project. Raises Misconfigured for a file with defects."""
    profile = find_profile(root, found["agent"].value)
    if profile is None:
        return
    if wrong := widening(profile, found["scopes"].value):
        defects.append(wrong)
    held = {name: found[name].value for name in ("scopes", "keywords", "live_memory")}
    for name, value in narrowing(profile, follows=found["keywords"].origin == "default", **held).items():
        found[name] = Effective(value=value, origin=profile.origin)


def narrowing(
    profile: AgentProfile, *, scopes: tuple[str, ...], keywords: tuple[str, ...], live_memory: bool, follows: bool
) -> dict[str, Any]:
    """The settings that an agent's file changes, given the held ones; its keywords only if `follows`."""
    said = {
        "scopes": narrowed(profile, scopes),
        "keywords": profile.keywords if follows else keywords,
        "live_memory": live_memory and profile.live_memory,
    }
    held = {"scopes": scopes, "keywords": keywords, "live_memory": live_memory}
    return {name: value for name, value in said.items() if value != held[name]}


def _absolute(directory: Path) -> Path:
    try:
        return directory.absolute()
    except FileNotFoundError as problem:
        raise Misconfigured(
            "the working directory was deleted or moved", hint="cd to a directory that exists"
        ) from problem


def check_store(url: str) -> None:
    """Raises Misconfigured for a URL that names no backend, without opening anything."""
    scheme, _, rest = url.partition("://")
    if scheme != "memory" and not (scheme in ("sqlite", *SERVER_SCHEMES) and rest):
        raise Misconfigured(
            f"{url!r} is not the URL of a store",
            hint="use sqlite:///path/to/directory, neo4j://user@host:7687, or memory://",
        )


def _misspelt(environment: Mapping[str, str]) -> list[str]:
    """Misspelt variables as defects: ignoring WEFT_SCOPE would open what WEFT_SCOPES was meant to close."""
    import difflib

    known = [setting.variable for setting in SETTINGS]
    strange = [name for name in environment if name.startswith("WEFT_") and name not in known]
    close = {name: difflib.get_close_matches(name, known, n=1, cutoff=0.85) for name in sorted(strange)}
    return [f"{name} is not a setting; did you mean {near[0]}?" for name, near in close.items() if near]


def _take_file(
    found: dict[str, Effective],
    defects: list[str],
    file: Path,
    allowed: tuple[Setting, ...],
    *,
    elsewhere: Path | None = None,
) -> None:
    """Takes the settings of a file; one that is not allowed there is a defect that says where it belongs."""
    here = {setting.name: setting for setting in allowed}
    known = {setting.name: setting for setting in SETTINGS}
    for name, value in read_toml(file).items():
        if name in here:
            _take(found, defects, here[name], anchored(value, file.parent) if name == "store" else value, str(file))
        elif name in known:
            whose = "a project's file" if elsewhere else "a file"
            where = f"in {elsewhere} or " if elsewhere and not known[name].environment_only else ""
            defects.append(f"{file}: {whose} may not set {name}; set it {where}as {known[name].variable}")
        else:
            defects.append(f"{file}: unknown setting {name!r}; known are {', '.join(known)}")


def _take(found: dict[str, Effective], defects: list[str], setting: Setting, value: Any, origin: str) -> None:
    try:
        found[setting.name] = Effective(value=setting.read(value), origin=origin)
    except Invalid as problem:
        defects.append(f"{origin}: {setting.name} {problem.message}")


def _defaults(root: Path, environment: Mapping[str, str]) -> dict[str, Effective]:
    data = user_directory(environment, DATA)
    here = {
        "store": default_store(environment),
        "project": project_name(root),
        "outbox": str(data.with_name("weft-outbox")),
        "sites": str(data.with_name("weft-sites")),
    }
    values = {**here, **DEFAULTS}
    return {each.name: Effective(value=values[each.name], origin="default") for each in SETTINGS}


def user_data() -> Path:
    """The user's data directory of weft, for files of a store that has no directory."""
    return user_directory(surroundings(), DATA)


def _same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def is_project_settled(settings: Settings) -> bool:
    """Whether the user set the project, in their own file or the environment, for every directory."""
    return settings.origins["project"].origin in ("WEFT_PROJECT", str(user_toml(surroundings())))


def find_root(directory: Path) -> Path:
    """The directory of the nearest `weft.toml` or git repository above, else the directory itself."""
    here = directory.absolute()
    for candidate in (here, *here.parents):
        if (candidate / TOML_NAME).is_file() or (candidate / ".git").exists():
            return candidate
    return here


def project_name(root: Path) -> str:
    """A project's name from its directory: letters, digits and - only."""
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", root.name).strip("-._")
    return slug[:64] or "home"


def _find_toml(directory: Path) -> Path | None:
    here = directory.absolute()
    return next((d / TOML_NAME for d in (here, *here.parents) if (d / TOML_NAME).is_file()), None)
