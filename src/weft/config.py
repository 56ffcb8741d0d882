"""Settings: typed, validated, from `weft.toml` and `WEFT_*`. The only reader of the environment.

Later sources win: built-in default, the user's `~/.config/weft/weft.toml`, the nearest `weft.toml` above the working
directory, the environment. A project's file comes with the project, from whoever wrote it: it may say what the project
is called, never who is asking, where memories live or where texts are sent.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from weft.agent_profile import AgentProfile, find_profile, narrowed, widening
from weft.errors import Invalid, Misconfigured
from weft.setting_list import SETTINGS, Setting
from weft.types import SCOPES, Audience

RetentionPolicy = Literal["none", "filter_expired", "decay"]
Provenance = Literal["off", "warn", "required"]
Conversations = Literal["lazy", "forensic"]

TOML_NAME: Final = "weft.toml"
MAX_TOML_BYTES: Final = 262_144


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
    live_memory: bool
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
    grace_days: float
    extraction: str
    toolsets: tuple[str, ...]
    single_valued: tuple[str, ...]
    audit: bool
    audit_days: float
    log: str
    conversation: str
    provenance: Provenance
    gated_kinds: tuple[str, ...]
    redaction: str
    sensitive_key: str
    auto_approve: bool
    allow: tuple[str, ...]
    exclude: tuple[str, ...]
    agent_files: tuple[str, ...]
    elicit: bool
    host: str
    port: int
    hosts: tuple[str, ...]
    rate_limit: int
    rate_seconds: float
    request_bytes: int
    tokens: str
    sites: str
    document_bytes: int
    ignore: tuple[str, ...]
    conversations: Conversations
    workspaces: tuple[str, ...]
    watch: bool
    watch_debounce_ms: int
    root: Path
    origins: Mapping[str, Effective]


def load_settings(directory: Path, environment: Mapping[str, str] | None = None) -> Settings:
    """Settings for a process in this directory. Raises Misconfigured with one line per defect."""
    environment = os.environ if environment is None else environment
    directory = _absolute(directory)
    root = find_root(directory)
    found = _defaults(root, environment)
    defects: list[str] = []
    user_file = _user_toml(environment)
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
    if defects:
        raise Misconfigured("; ".join(defects), hint="fix the settings; `weft config` lists them all")
    return Settings(**{name: each.value for name, each in found.items()}, root=root, origins=found)


def _take_profile(found: dict[str, Effective], defects: list[str], root: Path) -> None:
    """What the project's file of this agent narrows. Raises Misconfigured for a file with defects."""
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
    """The settings that an agent's file changes, for one that holds these; its keywords only where it may `follow`."""
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
            "the working directory is gone: it was deleted or moved", hint="cd to a directory that is there"
        ) from problem


def check_store(url: str) -> None:
    """Raises Misconfigured for a URL that names no backend, without opening anything."""
    scheme, _, rest = url.partition("://")
    if scheme != "memory" and not (scheme == "sqlite" and rest):
        raise Misconfigured(f"{url!r} names no store", hint="use sqlite:///path/to/directory, or memory://")


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
            whose = "a project's file" if elsewhere else "a file"
            where = f"in {elsewhere} or " if elsewhere and not known[name].environment_only else ""
            defects.append(f"{file}: {whose} may not set {name}; set it {where}as {known[name].variable}")
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
        "live_memory": True,
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
        "grace_days": 7.0,
        "extraction": "rules",
        "toolsets": ("core",),
        "single_valued": (),
        "audit": True,
        "audit_days": 90.0,
        "log": "",
        "conversation": "",
        "provenance": "warn",
        "gated_kinds": (),
        "redaction": "on",
        "sensitive_key": "",
        "auto_approve": False,
        "allow": ("admin",),
        "exclude": (),
        "agent_files": (),
        "elicit": True,
        "host": "127.0.0.1",
        "port": 8420,
        "hosts": (),
        "rate_limit": 120,
        "rate_seconds": 60.0,
        "request_bytes": 4_194_304,
        "tokens": "",
        "sites": str(_user_directory(environment, "XDG_DATA_HOME", ".local/share").with_name("weft-sites")),
        "document_bytes": 524_288,
        "ignore": (),
        "conversations": "forensic",
        "workspaces": (),
        "watch": False,
        "watch_debounce_ms": 200,
    }
    return {name: Effective(value=value, origin="default") for name, value in values.items()}


def _user_directory(environment: Mapping[str, str], variable: str, below_home: str) -> Path:
    """The user's directory of weft for data or for settings, where the desktop standard puts it."""
    base = environment.get(variable) or str(_home(environment) / below_home)
    return Path(base).expanduser() / "weft"


def _home(environment: Mapping[str, str]) -> Path:
    """Where HOME says; where it says nothing, where the system does. Raises Misconfigured where neither does."""
    if home := environment.get("HOME"):
        return Path(home)
    try:
        if os.environ.get("HOME", "~"):
            return Path.home()
        import pwd

        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError, RuntimeError) as problem:
        raise Misconfigured("this user has no home directory", hint="set HOME to one") from problem


def user_data() -> Path:
    """The user's directory of weft's data: of what belongs to a store that has no directory."""
    return _user_directory(os.environ, "XDG_DATA_HOME", ".local/share")


def surroundings() -> Mapping[str, str]:
    """The environment as it is, for those who have to know where other programs keep their files."""
    return os.environ


def _user_toml(environment: Mapping[str, str]) -> Path:
    return _user_directory(environment, "XDG_CONFIG_HOME", ".config") / TOML_NAME


def _same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def is_project_settled(settings: Settings) -> bool:
    """Whether the user named the project, in a file of their own or the environment: it is that in every directory."""
    return settings.origins["project"].origin in ("WEFT_PROJECT", str(_user_toml(os.environ)))


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
