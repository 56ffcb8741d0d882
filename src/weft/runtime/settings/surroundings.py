"""The environment of this process, and the user's directories that follow from it. The only reader of the environment.

Imports nothing heavy: a hook looks here before anything else is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from weft.core.errors import Misconfigured

TOML_NAME: Final = "weft.toml"
MAX_TOML_BYTES: Final = 262_144
DATA: Final = ("XDG_DATA_HOME", ".local/share")
CONFIG: Final = ("XDG_CONFIG_HOME", ".config")


def surroundings() -> Mapping[str, str]:
    """The environment of this process."""
    return os.environ


def user_directory(environment: Mapping[str, str], which: tuple[str, str]) -> Path:
    """The user's directory of weft for DATA or CONFIG, by the XDG base directory specification."""
    variable, below_home = which
    base = environment.get(variable) or str(_home(environment) / below_home)
    return Path(base).expanduser() / "weft"


def user_toml(environment: Mapping[str, str]) -> Path:
    """The user's own file of settings."""
    return user_directory(environment, CONFIG) / TOML_NAME


def default_store(environment: Mapping[str, str]) -> str:
    """The store of a user who named none."""
    return f"sqlite://{user_directory(environment, DATA)}"


def anchored(url: Any, directory: Path) -> Any:
    """A store's URL from a file: a relative path is relative to that file."""
    scheme, separator, path = str(url).partition("://")
    if scheme != "sqlite" or not path or path.startswith(("/", "~")):
        return url
    return f"{scheme}{separator}{directory / path}"


def read_toml(path: Path) -> dict[str, Any]:
    """A file of settings. Raises Misconfigured if it cannot be read."""
    import tomllib

    try:
        raw = path.read_bytes()
        if len(raw) > MAX_TOML_BYTES:
            raise Misconfigured(f"{path} is larger than {MAX_TOML_BYTES:,} bytes")
        return tomllib.loads(raw.decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise Misconfigured(f"{path} cannot be read: {problem}", hint="fix the file or remove it") from problem


def _home(environment: Mapping[str, str]) -> Path:
    """$HOME, or the home directory of the system's user. Raises Misconfigured if there is neither."""
    if home := environment.get("HOME"):
        return Path(home)
    try:
        if os.environ.get("HOME", "~"):
            return Path.home()
        import pwd

        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError, RuntimeError) as problem:
        raise Misconfigured("this user has no home directory", hint="set HOME to one") from problem
