"""Access tokens of callers over the network, stored as hashes in one JSON file.

Changes hold a lock and replace the file atomically, so that a process that dies leaves the old file or the new one. A
server checks on every request whether the file has changed: a revoked token is refused from the next request on.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.errors import Conflict, Corrupt, Misconfigured, NotFound, SchemaMismatch, StoreError, TooLarge
from weft.core.types import SCOPES, Audience
from weft.files.file_lock import locked, make_private, replace_whole
from weft.files.paths import store_directory
from weft.runtime.settings.load import Settings, user_data

FILE: Final = "tokens.json"
FORMAT: Final = 1
PREFIX: Final = "weft"
ID_BYTES: Final = 6
SECRET_BYTES: Final = 32
MAX_TOKENS: Final = 10_000
MAX_FILE_BYTES: Final = 16_777_216
LOCK_WAIT_S: Final = 10.0
_BEARER = re.compile(rf"{PREFIX}_([0-9a-f]{{{2 * ID_BYTES}}})_[0-9a-f]{{{2 * SECRET_BYTES}}}")
_ID = re.compile(rf"[0-9a-f]{{{2 * ID_BYTES}}}")
_HASH = re.compile(r"[0-9a-f]{64}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_NOBODY: Final = "0" * 64
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class Token(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The holder of a token and its rights. `hash` is all that is stored of the token itself.

    Unknown fields are rejected: a newer weft may use them to restrict the token.
    """

    id: str
    hash: str
    account: str
    agent: str
    created: str
    name: str = ""
    role: str = "agent"
    scopes: tuple[str, ...] = SCOPES
    audience: Audience = "internal"
    sensitive: bool = False
    project: str = ""  # the server's project if empty
    toolsets: tuple[str, ...] = ("core",)
    allow: tuple[str, ...] = ("admin",)
    approves: bool = False  # whether a confirmation by the client's user counts as the operator's approval
    expires: str = ""
    revoked: str = ""

    def live(self, now_us: int) -> bool:
        """Whether it is valid at this time."""
        return not self.revoked and not (self.expires and self.expires <= to_iso(now_us))


class _Kept(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file."""

    format: int
    tokens: tuple[Token, ...]


Found = Mapping[str, Token] | StoreError | Misconfigured  # the tokens of a file, or the error in it


def mint(who: Token) -> tuple[Token, str]:
    """The token with a new id and hash, and the bearer string, which is stored nowhere."""
    name = secrets.token_hex(ID_BYTES)
    bearer = f"{PREFIX}_{name}_{secrets.token_hex(SECRET_BYTES)}"
    return replace(who, id=name, hash=_hash(bearer)), bearer


def id_in(bearer: str) -> str:
    """The id in a bearer string, whether the token exists or not; empty if the string is malformed."""
    found = _BEARER.fullmatch(bearer)
    return found[1] if found else ""


def book_of(settings: Settings) -> TokenBook:
    """The token file of this store: as the setting `tokens` says, else in the store's directory. Opens nothing."""
    if settings.tokens:
        return TokenBook(Path(settings.tokens).expanduser().absolute())
    return TokenBook((store_directory(settings.store) or user_data()) / FILE)


class TokenBook:
    """The tokens of a file. Safe for concurrent threads and processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # The file's identity and contents, replaced together so that readers see a consistent pair.
        self._seen: tuple[tuple[int, ...], Found] | None = None

    def admit(self, bearer: str, now_us: int) -> Token | None:
        """The token of a bearer string; None if it is malformed, unknown, wrong, revoked or expired.

        Raises StoreError or Misconfigured if the file cannot be trusted: then nobody is admitted.
        """
        tokens = self._tokens()
        token = tokens.get(id_in(bearer))
        # Constant time whether the token exists or not.
        same = hmac.compare_digest(_hash(bearer), token.hash if token else _NOBODY)
        return token if token is not None and same and token.live(now_us) else None

    def is_live(self, token_id: str, now_us: int) -> bool:
        """Whether a token is still valid. Raises what `admit` raises."""
        token = self._tokens().get(token_id)
        return token is not None and token.live(now_us)

    def tokens(self) -> tuple[Token, ...]:
        """All tokens in order of creation, including revoked and expired ones. Raises what `admit` raises."""
        return tuple(self._tokens().values())

    def add(self, token: Token, now_us: int) -> None:
        """Stores a token durably. Raises TooLarge if there are too many live ones."""
        with self._changing() as tokens:
            if token.id in tokens:
                raise Conflict(f"there is already a token {token.id}", hint="create it again: ids are random")
            if len(tokens) >= MAX_TOKENS:
                _make_room(tokens, now_us)
            tokens[token.id] = token

    def revoke(self, which: str, now_us: int) -> tuple[Token, bool]:
        """Revokes a token durably, by its id or by a name that only one live token has.

        Also returns whether it was valid before. Raises NotFound, or Conflict for an ambiguous name.
        """
        with self._changing() as tokens:
            token = _named(tokens, which, now_us)
            if token.revoked:
                return token, False
            tokens[token.id] = replace(token, revoked=to_iso(now_us))
        return tokens[token.id], True

    # The file

    def _tokens(self) -> Mapping[str, Token]:
        """The contents of the file, read again only if it changed."""
        try:
            mark = _mark(self.path.stat())
        except FileNotFoundError:
            return {}
        except OSError as problem:
            raise _unreadable(self.path, problem) from problem
        seen = self._seen
        if seen is None or seen[0] != mark:
            seen = self._seen = self._read()
        return _sound(seen[1])

    def _read(self) -> tuple[tuple[int, ...], Found]:
        """The file's identity and its tokens, or the error in it, which is cached too."""
        try:
            # O_NONBLOCK: do not hang on a pipe.
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    return _mark(status), Misconfigured(f"{self.path} is not a regular file", hint=_mend(self.path))
                raw = file.read(MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return (), {}
        except OSError as problem:
            raise _unreadable(self.path, problem) from problem
        try:
            return _mark(status), _parsed(self.path, status, raw)
        except (StoreError, Misconfigured) as problem:
            return _mark(status), problem

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Token]]:
        """The tokens, locked for changes and stored afterwards."""
        # A symbolic link is kept: its target is replaced.
        path = Path(os.path.realpath(self.path))
        try:
            make_private(path.parent)
            with _locked(path):
                before = _sound(self._read()[1])
                tokens = dict(before)
                yield tokens
                if tokens != before:
                    _replace_file(path, tokens)
        except OSError as problem:
            raise StoreError(
                f"{path} cannot be written: {problem.strerror or problem}; nothing was changed",
                hint="free some space, check the permissions, or set the setting tokens to another file; to revoke a "
                "token back before that, stop the server",
            ) from problem


def _sound(found: Found) -> Mapping[str, Token]:
    if isinstance(found, Mapping):
        return found
    raise type(found)(found.message, hint=found.hint)  # a new exception each time


def _hash(bearer: str) -> str:
    return hashlib.sha256(bearer.encode("utf-8", "surrogatepass")).hexdigest()


def _mark(status: os.stat_result) -> tuple[int, ...]:
    """The identity of a file with its contents and permissions."""
    return status.st_dev, status.st_ino, status.st_ctime_ns, status.st_mtime_ns, status.st_size


def _named(tokens: Mapping[str, Token], which: str, now_us: int) -> Token:
    which = id_in(which) or which  # a whole bearer string that somebody found
    if which in tokens:
        return tokens[which]
    same = [token for token in tokens.values() if token.name == which and token.live(now_us)] if which else []
    if len(same) > 1:
        listed = ", ".join(token.id for token in same[:10])
        raise Conflict(
            f"{len(same)} tokens have the name {which!r}; nothing was revoked", hint=f"give the id of one: {listed}"
        )
    if not same:
        raise NotFound(f"there is no live token {which[:80]!r}", hint="`weft token list` lists tokens")
    return same[0]


def _make_room(tokens: dict[str, Token], now_us: int) -> None:
    """Removes the token that has been invalid for the longest time."""
    dead = [token for token in tokens.values() if not token.live(now_us)]
    if not dead:
        raise TooLarge(f"there are {len(tokens):,} live tokens, which is the limit", hint="revoke some first")
    del tokens[min(dead, key=lambda token: token.revoked or token.expires).id]


def _parsed(path: Path, status: os.stat_result, raw: bytes) -> dict[str, Token]:
    """The tokens of a file. Raises if somebody else may have written it, or for unknown contents."""
    _check_trust(path, status)
    if len(raw) > MAX_FILE_BYTES:
        raise Corrupt(f"{path} is larger than {MAX_FILE_BYTES:,} bytes, so nobody is admitted", hint=_mend(path))
    try:
        said = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise Corrupt(f"{path} is damaged, so nobody is admitted: {problem}", hint=_mend(path)) from problem
    number = said.get("format") if isinstance(said, dict) else None
    if isinstance(number, int) and number > FORMAT:
        raise SchemaMismatch(f"{path} was written by a newer weft, so nobody is admitted", hint="upgrade weft")
    try:
        kept = msgspec.convert(said, _Kept, strict=True)
        return _checked(kept)
    except (msgspec.ValidationError, ValueError) as problem:
        raise Corrupt(
            f"{path} is not a valid token file, so nobody is admitted: {problem}", hint=_mend(path)
        ) from problem


def _check_trust(path: Path, status: os.stat_result) -> None:
    """Raises Misconfigured for a file that others may write or replace."""
    if status.st_mode & _OTHERS_WRITE:
        raise Misconfigured(
            f"other users of this machine may write {path}, so nobody is admitted by it", hint=f"chmod 600 {path}"
        )
    if not hasattr(os, "getuid"):  # Windows
        return
    if status.st_uid not in (0, os.getuid()):
        raise Misconfigured(
            f"{path} belongs to another user, so nobody is admitted by it",
            hint="run weft as that user, or chown the file",
        )
    for directory in {path.parent, Path(os.path.realpath(path)).parent}:  # of a link and of its target
        mode = directory.stat().st_mode
        if mode & _OTHERS_WRITE and not mode & stat.S_ISVTX:
            raise Misconfigured(
                f"other users of this machine may replace files in {directory}, so nobody is admitted by {path.name}",
                hint=f"chmod go-w {directory}",
            )


def _checked(kept: _Kept) -> dict[str, Token]:
    """The tokens by id. Raises ValueError for contents that this weft would not have written."""
    if kept.format != FORMAT or len(kept.tokens) > MAX_TOKENS:
        raise ValueError(f"format {kept.format}, {len(kept.tokens)} tokens")
    tokens = {token.id: token for token in kept.tokens}
    if len(tokens) != len(kept.tokens):
        raise ValueError("two tokens have one id")
    for token in kept.tokens:
        moments = (token.created, *filter(None, (token.expires, token.revoked)))
        if not (_ID.fullmatch(token.id) and _HASH.fullmatch(token.hash) and all(map(_MOMENT.fullmatch, moments))):
            raise ValueError("a token's id, hash or times are not as weft writes them")
        if not (token.account and token.agent and token.scopes and set(token.scopes) <= set(SCOPES)):
            raise ValueError(f"token {token.id} does not say who it stands for")
        if token.role not in ("agent", "operator"):
            raise ValueError(f"token {token.id} has an unknown role")
    return tokens


def _mend(path: Path) -> str:
    return f"restore a copy of {path.name}, or move it away and create new tokens (`weft token create`)"


def _unreadable(path: Path, problem: OSError) -> StoreError:
    return StoreError(
        f"{path} cannot be read, so nobody is admitted: {problem.strerror or problem}",
        hint="make it readable for the user that runs weft",
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The lock of the file. Raises Busy after a while."""
    try:
        import fcntl  # noqa: F401 - only whether it is there
    except ImportError as problem:  # Windows
        raise StoreError("tokens cannot be changed here: the system has no file locks", hint="use Linux") from problem
    with locked(path, wait_s=LOCK_WAIT_S):
        yield


def _replace_file(path: Path, tokens: Mapping[str, Token]) -> None:
    """Replaces the file durably."""
    kept: dict[str, Any] = {"format": FORMAT, "tokens": list(tokens.values())}
    raw = msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n"
    if len(raw) > MAX_FILE_BYTES:
        raise TooLarge(f"{path.name} would be larger than {MAX_FILE_BYTES:,} bytes", hint="revoke some tokens first")
    for left in path.parent.glob(f".{path.name}.*"):  # by processes that died: who holds the lock is alone
        left.unlink(missing_ok=True)
    replace_whole(path, raw, sync="name")
