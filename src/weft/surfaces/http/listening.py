"""The socket that a server listens on, and how many files the process may open for those who come."""

from __future__ import annotations

import errno
import ipaddress
import socket
from typing import Final

from weft.errors import Misconfigured
from weft.surfaces.http.protocol import MAX_CONNECTIONS, SPARE_FILES

BACKLOG: Final = 1_024
_OTHER: Final = "name another with --host and --port, or as WEFT_HOST and WEFT_PORT"


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to an address. Raises Misconfigured, with what to do, where that cannot be."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as problem:
        raise Misconfigured(f"host {host!r} is no address: {problem}", hint="use 127.0.0.1, or 0.0.0.0") from problem
    family, kind, protocol, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError as problem:
        made.close()
        raise _unbound(problem, host, port) from problem
    made.settimeout(0.0)
    return made


def _unbound(problem: OSError, host: str, port: int) -> Misconfigured:
    match problem.errno:
        case errno.EADDRINUSE:
            return Misconfigured(f"port {port} on {host} is taken by another program", hint=f"stop it, or {_OTHER}")
        case errno.EACCES | errno.EPERM:
            low = "ports below 1024 are the system's: use one above, with a reverse proxy in front of it"
            return Misconfigured(f"there is no right to listen on port {port}", hint=low)
        case errno.EADDRNOTAVAIL:
            return Misconfigured(f"{host} is no address of this machine", hint="use 127.0.0.1, or 0.0.0.0 for all")
        case _:
            return Misconfigured(f"{host}:{port} cannot be listened on: {problem}", hint=_OTHER)


def address_of(listening: socket.socket) -> str:
    """As a client writes it: `127.0.0.1:8420`, `[::1]:8420`."""
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(listening: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    return ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def raise_file_limit() -> int:
    """Lets the process open as many files as it may; returns how many connections that leaves room for."""
    try:
        import resource
    except ImportError:  # Windows
        return MAX_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (OSError, ValueError):  # some systems have a limit below the hard one
            pass
    room = MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else soft - SPARE_FILES
    return max(16, min(MAX_CONNECTIONS, room))
