"""Places of the residents of a store: one socket each, in a private folder of the store's directory.

Imports nothing heavy: a hook looks here before anything else is loaded.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
from collections.abc import Mapping
from typing import Final

from weft.core.errors import Misconfigured
from weft.runtime.settings.surroundings import anchored, default_store, read_toml, user_toml

FOLDER: Final = "live"
MAX_SOCKETS: Final = 4  # residents that are asked, one after the other: the others need not be known
_HANDED_ON: Final = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
_CREDENTIALS: Final = struct.Struct("3i")  # process, user, group


def handed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that decides on settings."""
    return {name: text for name, text in environment.items() if name.startswith("WEFT_") or name in _HANDED_ON}


def store_directory(environment: Mapping[str, str]) -> str | None:
    """The directory of the store that a process with this environment uses; None where that is not plain to see.

    Only the environment and the user's own file may name it. A resident reads all settings, and declines for another.
    """
    try:
        url = environment.get("WEFT_STORE")
        if url is None:
            own = user_toml(environment)
            named = read_toml(own).get("store") if own.is_file() else None
            url = default_store(environment) if named is None else str(anchored(named, own.parent))
    except (Misconfigured, OSError):
        return None
    return directory_of(url)


def directory_of(url: str) -> str | None:
    """The directory of a store by its URL; None for one without."""
    scheme, _, path = url.partition("://")
    return os.path.abspath(os.path.expanduser(path)) if scheme == "sqlite" and path else None  # noqa: PTH100, PTH111


def identity(directory: str) -> list[int] | None:
    """A key that distinguishes a directory from any other, even one recreated under its name; None if there is none."""
    try:
        found = os.stat(directory)  # noqa: PTH116 - before pathlib is needed
    except OSError:
        return None
    return [found.st_dev, found.st_ino]


def open_folder(directory: str) -> int | None:
    """A descriptor of the folder of sockets; None unless only this user may enter it."""
    try:
        folder = os.open(f"{directory}/{FOLDER}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, AttributeError):  # AttributeError: Windows
        return None
    found = os.fstat(folder)
    if found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077:
        return folder
    os.close(folder)
    return None


def address(folder: int, name: str) -> str:
    """A short address of a socket in an open folder, since socket paths are limited in length."""
    return f"/proc/self/fd/{folder}/{name}"


def user_of(connected: socket.socket) -> int | None:
    """The user at the other end, as the kernel knows it; None where it does not say."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    user: int = _CREDENTIALS.unpack(connected.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))[1]
    return user
