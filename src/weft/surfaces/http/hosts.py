"""Names that a server answers to, as a defence against DNS rebinding.

A web page may let its own name resolve to this machine after it is loaded; its requests still carry that name as Host
and Origin.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

MAX_HOST_CHARACTERS: Final = 300
MAX_PORT: Final = 65_535
LOCALHOST: Final = "localhost"
_HOST = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?:(?<!\])\.)?(?::(\d{1,5}))?")
_ORIGIN = re.compile(r"https?://(.+)")


class Hosts:
    """The names and addresses allowed in Host and Origin.

    These are loopback names, the address `listens` (unless it is a wildcard), and `named`; a name with a port allows
    that port only.
    """

    def __init__(self, listens: str, named: Iterable[str]) -> None:
        known = [each for each in (parse_host(_bracketed(listens)), *map(parse_host, named)) if each is not None]
        self._any_port = {name for name, port in known if port is None and not _is_wildcard(name)}
        self._one_port = {(name, port) for name, port in known if port is not None}

    def admits(self, host: str, *, address: str = "") -> bool:
        """Whether a Host header is allowed. `address` is the local address of the connection."""
        parsed = parse_host(host)
        if parsed is None:
            return False
        name, _ = parsed
        if name in self._any_port or parsed in self._one_port or _is_loopback(name):
            return True
        own = parse_host(_bracketed(address)) if address else None
        return own is not None and _address(name) is not None and not _is_wildcard(name) and own[0] == name

    def admits_origin(self, origin: str, *, address: str = "") -> bool:
        """Whether an Origin header is allowed."""
        found = _ORIGIN.fullmatch(origin.lower())
        return found is not None and self.admits(found[1], address=address)


def parse_host(written: str) -> tuple[str, int | None] | None:
    """A host name or address in canonical spelling, and its port if given; None for anything else."""
    if len(written) > MAX_HOST_CHARACTERS or not written.isascii():
        return None
    found = _HOST.fullmatch(written.lower())
    port = int(found[2]) if found and found[2] else None
    if found is None or (port is not None and port > MAX_PORT):
        return None
    bare = found[1].removeprefix("[").removesuffix("]")
    address = _address(bare)
    if found[1].startswith("["):
        return (str(address), port) if address is not None else None
    return (bare if address is None else str(address)), port


@lru_cache(maxsize=1_024)
def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _is_loopback(name: str) -> bool:
    address = _address(name)
    return name == LOCALHOST or (address is not None and address.is_loopback)


def _is_wildcard(name: str) -> bool:
    address = _address(name)
    return address is not None and address.is_unspecified


def _bracketed(address: str) -> str:
    """An address as a Host header writes it."""
    return f"[{address.partition('%')[0]}]" if ":" in address and not address.startswith("[") else address
