"""Settings: typed, validated, from `weft.toml` and `WEFT_*`. The only reader of the environment.

Later sources win: built-in default, the user's `~/.config/weft/weft.toml`, the nearest `weft.toml` above the working
directory, the environment. A project's file comes with the project, from whoever wrote it: it may say what the project
is called, never who is asking, where memories live or where texts are sent.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from weft.errors import Invalid, Misconfigured
from weft.setting_values import (
    any_text,
    flag,
    keywords,
    name_or_none,
    names,
    number,
    one_name,
    one_of,
    predicates,
    scopes,
    some_text,
)
from weft.types import SCOPES, Audience

RetentionPolicy = Literal["none", "filter_expired", "decay"]

TOML_NAME: Final = "weft.toml"
MAX_TOML_BYTES: Final = 262_144


class Setting(Struct, frozen=True, kw_only=True):
    """One setting: its name in `weft.toml`, its variable in the environment, how it is read, what it does."""

    name: str
    read: Callable[[Any], Any]
    summary: str
    secret: bool = False
    project_file: bool = False  # may a project's own weft.toml set it?

    @property
    def variable(self) -> str:
        return f"WEFT_{self.name.upper()}"


class Effective(Struct, frozen=True, kw_only=True):
    """A setting's value and where it came from."""

    value: Any
    origin: str


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that can be set, as it holds."""

    store: str
    project: str
    focus: str
    outbox: str
    account: str
    accounts: tuple[str, ...]
    agent: str
    role: str
    session: str
    scopes: tuple[str, ...]
    audience: Audience
    keywords: tuple[str, ...]
    sensitive: bool
    embedder: str
    embedder_url: str
    embedder_key: str
    reranker: str
    reranker_url: str
    reranker_key: str
    model: str
    model_url: str
    model_key: str
    retention: RetentionPolicy
    half_life_days: float
    expired_weight: float
    extraction: str
    toolsets: tuple[str, ...]
    single_valued: tuple[str, ...]
    root: Path
    origins: Mapping[str, Effective]


SETTINGS: Final[tuple[Setting, ...]] = (
    Setting(
        name="store", read=some_text, summary="where memories live: sqlite:///path, or memory:// for a throw-away store"
    ),
    Setting(
        name="project",
        read=one_name,
        summary="the project of what is written here; the directory's name if unset",
        project_file=True,
    ),
    Setting(
        name="focus",
        read=name_or_none,
        summary="the focus area of the project that what is written here belongs to; none if unset",
    ),
    Setting(
        name="outbox",
        read=any_text,
        summary="the directory where writes wait while the store is busy or away; empty for none: they fail then",
    ),
    Setting(name="account", read=one_name, summary="whose memory this is; accounts never see each other"),
    Setting(name="accounts", read=names, summary="the accounts that may be used here; any if unset"),
    Setting(name="agent", read=one_name, summary="the name under which this process writes"),
    Setting(name="role", read=one_of("operator", "agent"), summary="operator (may maintain the store) or agent"),
    Setting(name="session", read=one_name, summary="the session that writes go to"),
    Setting(name="scopes", read=scopes, summary="what this process may see: public, shared, admin"),
    Setting(
        name="audience", read=one_of("internal", "public"), summary="public agents see only what is tagged for them"
    ),
    Setting(
        name="keywords", read=keywords, summary="topics this agent follows, at most 5: what is tagged so is found too"
    ),
    Setting(name="sensitive", read=flag, summary="whether sensitive memories are shown"),
    Setting(name="embedder", read=some_text, summary="builtin, none, ollama:<model> or openai:<model>"),
    Setting(name="embedder_url", read=any_text, summary="the embedding server's address, for ollama and openai"),
    Setting(name="embedder_key", read=any_text, summary="the embedding server's key", secret=True),
    Setting(
        name="model",
        read=some_text,
        summary="the language model that helps to read questions: none or openai:<model>; "
        "with one, questions and what precedes them are sent to model_url",
    ),
    Setting(name="model_url", read=any_text, summary="the language model's address, of any OpenAI-compatible server"),
    Setting(name="model_key", read=any_text, summary="the language model's key", secret=True),
    Setting(
        name="reranker",
        read=some_text,
        summary="none, lexical, http:<model>, late:<model> or openai:<model>; "
        "but for the first two, questions and the texts found for them are sent to reranker_url",
    ),
    Setting(name="reranker_url", read=any_text, summary="the reranking server's address; for openai, theirs if unset"),
    Setting(name="reranker_key", read=any_text, summary="the reranking server's key", secret=True),
    Setting(
        name="retention",
        read=one_of("none", "filter_expired", "decay"),
        summary="how long memories last when read: none, filter_expired, or decay (older ones weigh less)",
    ),
    Setting(
        name="half_life_days",
        read=number(0.01, 36_500.0),
        summary="under decay, after how many days a memory weighs half",
    ),
    Setting(
        name="expired_weight",
        read=number(0.0, 1.0),
        summary="under decay, the share of its weight that an expired memory keeps",
    ),
    Setting(
        name="extraction",
        read=one_of("rules", "model", "none"),
        summary="what reads names, facts, preferences and causes out of memories; with model, texts go to model_url",
    ),
    Setting(name="toolsets", read=names, summary="what `weft mcp` serves beside core: names of toolsets, or all"),
    Setting(
        name="single_valued",
        read=predicates,
        summary="properties with one value at a time, beside those weft knows: a newer value ends the older one",
    ),
)


def load_settings(directory: Path, environment: Mapping[str, str] | None = None) -> Settings:
    """Settings for a process in this directory. Raises Misconfigured with one line per defect."""
    environment = os.environ if environment is None else environment
    root = find_root(directory)
    found = _defaults(root, environment)
    defects: list[str] = []
    user_file = _user_toml(environment)
    if user_file.is_file():
        _take_file(found, defects, user_file, SETTINGS)
    toml = _find_toml(directory)
    if toml is not None and not _same_file(toml, user_file):
        allowed = tuple(setting for setting in SETTINGS if setting.project_file)
        _take_file(found, defects, toml, allowed, elsewhere=user_file)
    for setting in SETTINGS:
        if (written := environment.get(setting.variable)) is not None:
            _take(found, defects, setting, written, setting.variable)
    defects.extend(_misspelt(environment))
    account, accounts = found["account"].value, found["accounts"].value
    if accounts and account not in accounts:
        defects.append(f"account {account!r} is not among the configured accounts: {', '.join(accounts)}")
    if defects:
        raise Misconfigured("; ".join(defects), hint="fix the settings; `weft config` lists them all")
    return Settings(**{name: each.value for name, each in found.items()}, root=root, origins=found)


def _misspelt(environment: Mapping[str, str]) -> list[str]:
    """Variables that are almost a setting: WEFT_SCOPE left unread would open what WEFT_SCOPES was meant to close."""
    import difflib

    known = [setting.variable for setting in SETTINGS]
    strange = [name for name in environment if name.startswith("WEFT_") and name not in known]
    close = {name: difflib.get_close_matches(name, known, n=1, cutoff=0.85) for name in sorted(strange)}
    return [f"{name} is no setting; did you mean {near[0]}?" for name, near in close.items() if near]


def _take_file(
    found: dict[str, Effective],
    defects: list[str],
    file: Path,
    allowed: tuple[Setting, ...],
    *,
    elsewhere: Path | None = None,
) -> None:
    """Takes a file's settings; one that is not allowed in it is a defect that says where it belongs."""
    here = {setting.name: setting for setting in allowed}
    known = {setting.name: setting for setting in SETTINGS}
    for name, value in _read_toml(file).items():
        if name in here:
            _take(found, defects, here[name], _anchored(value, file.parent) if name == "store" else value, str(file))
        elif name in known:
            defects.append(
                f"{file}: a project's file may not set {name}; set it in {elsewhere} or as {known[name].variable}"
            )
        else:
            defects.append(f"{file}: unknown setting {name!r}; known are {', '.join(known)}")


def _anchored(url: Any, directory: Path) -> Any:
    """A store's path in a file is relative to that file, not to where weft happens to run."""
    scheme, separator, path = str(url).partition("://")
    if scheme != "sqlite" or not path or path.startswith(("/", "~")):
        return url
    return f"{scheme}{separator}{directory / path}"


def _take(found: dict[str, Effective], defects: list[str], setting: Setting, value: Any, origin: str) -> None:
    try:
        found[setting.name] = Effective(value=setting.read(value), origin=origin)
    except Invalid as problem:
        defects.append(f"{origin}: {setting.name} {problem.message}")


def _defaults(root: Path, environment: Mapping[str, str]) -> dict[str, Effective]:
    values = {
        "store": f"sqlite://{_user_directory(environment, 'XDG_DATA_HOME', '.local/share')}",
        "project": project_name(root),
        "focus": "",
        "outbox": str(_user_directory(environment, "XDG_DATA_HOME", ".local/share").with_name("weft-outbox")),
        "account": "default",
        "accounts": (),
        "agent": "operator",
        "role": "operator",
        "session": "operator",
        "scopes": SCOPES,
        "audience": "internal",
        "keywords": (),
        "sensitive": False,
        "embedder": "builtin",
        "embedder_url": "",
        "embedder_key": "",
        "model": "none",
        "model_url": "",
        "model_key": "",
        "reranker": "none",
        "reranker_url": "",
        "reranker_key": "",
        "retention": "none",
        "half_life_days": 30.0,
        "expired_weight": 0.35,
        "extraction": "rules",
        "toolsets": ("core",),
        "single_valued": (),
    }
    return {name: Effective(value=value, origin="default") for name, value in values.items()}


def _user_directory(environment: Mapping[str, str], variable: str, below_home: str) -> Path:
    """The user's directory of weft for data or for settings, where the desktop standard puts it."""
    base = environment.get(variable) or str(Path(environment.get("HOME", "~")) / below_home)
    return Path(base).expanduser() / "weft"


def _user_toml(environment: Mapping[str, str]) -> Path:
    return _user_directory(environment, "XDG_CONFIG_HOME", ".config") / TOML_NAME


def _same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


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


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        raw = path.read_bytes()
        if len(raw) > MAX_TOML_BYTES:
            raise Misconfigured(f"{path} is larger than {MAX_TOML_BYTES:,} bytes")
        return tomllib.loads(raw.decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise Misconfigured(f"{path} cannot be read: {problem}", hint="fix the file or remove it") from problem
