"""Tokens that admit callers over the network: who each stands for, and of the token itself only its hash.

They are kept in one JSON file. Whoever changes it holds a lock, writes a whole new file beside it and puts that in its
place, so that a process that dies at any moment leaves the old file or the new one. A server looks with every request
whether the file is another one by now: what is revoked is refused from the next request on.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.config import Settings, user_data
from weft.errors import Conflict, Corrupt, Misconfigured, NotFound, SchemaMismatch, StoreError, TooLarge
from weft.file_lock import locked
from weft.instants import to_iso
from weft.types import SCOPES, Audience

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
    """Who shows a token, and what that one may do. `hash` is all that is kept of the token itself.

    A field that this weft does not know is refused: it may be one that says what the token may not do.
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
    project: str = ""  # the server's own if empty
    toolsets: tuple[str, ...] = ("core",)
    allow: tuple[str, ...] = ("admin",)
    approves: bool = False  # whether a yes of the person at the client is taken for the operator's approval
    expires: str = ""
    revoked: str = ""

    def live(self, now_us: int) -> bool:
        """Whether it admits anybody at this moment."""
        return not self.revoked and not (self.expires and self.expires <= to_iso(now_us))


class _Kept(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file."""

    format: int
    tokens: tuple[Token, ...]


Found = Mapping[str, Token] | StoreError | Misconfigured  # in a file: its tokens, or what is wrong with it


def mint(who: Token) -> tuple[Token, str]:
    """The same caller with an id and a hash of its own, and what it has to show: that is kept nowhere."""
    name = secrets.token_hex(ID_BYTES)
    bearer = f"{PREFIX}_{name}_{secrets.token_hex(SECRET_BYTES)}"
    return replace(who, id=name, hash=_hash(bearer)), bearer


def id_in(bearer: str) -> str:
    """The id that a token names as its own, whether there is such a one or not; nothing if it names none."""
    found = _BEARER.fullmatch(bearer)
    return found[1] if found else ""


def book_of(settings: Settings) -> TokenBook:
    """The tokens of this store: where `tokens` says, else in the store's directory. Nothing is opened yet."""
    if settings.tokens:
        return TokenBook(Path(settings.tokens).expanduser().absolute())
    scheme, _, rest = settings.store.partition("://")
    directory = Path(rest).expanduser().absolute() if scheme == "sqlite" and rest else user_data()
    return TokenBook(directory / FILE)


class TokenBook:
    """The tokens of a file. Any thread and any process may ask and change at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # As of which file, and what was in it. Replaced as one, so that no reader sees half of it.
        self._seen: tuple[tuple[int, ...], Found] | None = None

    def admit(self, bearer: str, now_us: int) -> Token | None:
        """Whose token this is; None for one that is malformed, unknown, wrong, revoked or expired.

        Raises StoreError or Misconfigured where the file cannot be trusted: then it admits nobody.
        """
        tokens = self._tokens()
        token = tokens.get(id_in(bearer))
        # The same work whether there is such a token or not.
        same = hmac.compare_digest(_hash(bearer), token.hash if token else _NOBODY)
        return token if token is not None and same and token.live(now_us) else None

    def is_live(self, token_id: str, now_us: int) -> bool:
        """Whether a token still admits who showed it before. Raises as `admit` does."""
        token = self._tokens().get(token_id)
        return token is not None and token.live(now_us)

    def tokens(self) -> tuple[Token, ...]:
        """All there are, as they were created; revoked and expired ones too. Raises as `admit` does."""
        return tuple(self._tokens().values())

    def add(self, token: Token, now_us: int) -> None:
        """Keeps a token. It is on the disk when this returns. Raises TooLarge where there are too many live ones."""
        with self._changing() as tokens:
            if token.id in tokens:
                raise Conflict(f"there is a token {token.id} already", hint="create it again: its id is made by chance")
            if len(tokens) >= MAX_TOKENS:
                _make_room(tokens, now_us)
            tokens[token.id] = token

    def revoke(self, which: str, now_us: int) -> tuple[Token, bool]:
        """Takes a token back, by its id or by a name that only one live token has. On the disk when this returns.

        With it comes whether it was not revoked before: one that was stays as it is. Raises NotFound, or Conflict where
        several have that name.
        """
        with self._changing() as tokens:
            token = _named(tokens, which, now_us)
            if token.revoked:
                return token, False
            tokens[token.id] = replace(token, revoked=to_iso(now_us))
        return tokens[token.id], True

    # The file

    def _tokens(self) -> Mapping[str, Token]:
        """What is in the file now; read again only where it is another one."""
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
        """The file's mark and what it holds, or what is wrong with it: that is not looked at twice either."""
        try:
            # Not to hang on what is no file but a pipe.
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    return _mark(status), Misconfigured(f"{self.path} is no file", hint=_mend(self.path))
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
        """The tokens, to be changed by one at a time; what they are afterwards is what is kept."""
        # A link stays a link: what it points at is replaced.
        path = Path(os.path.realpath(self.path))
        try:
            _make_private(path.parent)
            with _locked(path):
                before = _sound(self._read()[1])
                tokens = dict(before)
                yield tokens
                if tokens != before:
                    _replace_file(path, tokens)
        except OSError as problem:
            raise StoreError(
                f"{path} cannot be written: {problem.strerror or problem}; nothing was changed",
                hint="free some space, check the permissions, or name another file with the setting tokens; to take a "
                "token back before that, stop the server",
            ) from problem


def _sound(found: Found) -> Mapping[str, Token]:
    if isinstance(found, Mapping):
        return found
    raise type(found)(found.message, hint=found.hint)  # another one: the same is told to many


def _hash(bearer: str) -> str:
    return hashlib.sha256(bearer.encode("utf-8", "surrogatepass")).hexdigest()


def _mark(status: os.stat_result) -> tuple[int, ...]:
    """What tells one file from another, and from itself with other contents or permissions."""
    return status.st_dev, status.st_ino, status.st_ctime_ns, status.st_mtime_ns, status.st_size


def _named(tokens: Mapping[str, Token], which: str, now_us: int) -> Token:
    which = id_in(which) or which  # somebody found one, and has nothing else of it
    if which in tokens:
        return tokens[which]
    same = [token for token in tokens.values() if token.name == which and token.live(now_us)] if which else []
    if len(same) > 1:
        listed = ", ".join(token.id for token in same[:10])
        raise Conflict(f"{len(same)} tokens have the name {which!r}; nothing was revoked", hint=f"say which: {listed}")
    if not same:
        raise NotFound(f"there is no live token {which[:80]!r}", hint="see `weft token list`")
    return same[0]


def _make_room(tokens: dict[str, Token], now_us: int) -> None:
    """Lets go of the token that has admitted nobody for the longest time."""
    dead = [token for token in tokens.values() if not token.live(now_us)]
    if not dead:
        raise TooLarge(f"there are {len(tokens):,} live tokens, the most there may be", hint="revoke some first")
    del tokens[min(dead, key=lambda token: token.revoked or token.expires).id]


def _parsed(path: Path, status: os.stat_result, raw: bytes) -> dict[str, Token]:
    """The tokens of a file. Raises for one that somebody else may have written, or that is not wholly understood."""
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
        raise Corrupt(f"{path} is no file of tokens, so nobody is admitted: {problem}", hint=_mend(path)) from problem


def _check_trust(path: Path, status: os.stat_result) -> None:
    """Raises Misconfigured for a file that somebody else may write, or put another one in the place of."""
    if status.st_mode & _OTHERS_WRITE:
        raise Misconfigured(
            f"others on this machine may write {path}, so nobody is admitted by it", hint=f"chmod 600 {path}"
        )
    if not hasattr(os, "getuid"):  # Windows
        return
    if status.st_uid not in (0, os.getuid()):
        raise Misconfigured(
            f"{path} is another user's, so nobody is admitted by it", hint="run weft as that user, or chown the file"
        )
    for directory in {path.parent, Path(os.path.realpath(path)).parent}:  # of a link, and of what it points at
        mode = directory.stat().st_mode
        if mode & _OTHERS_WRITE and not mode & stat.S_ISVTX:
            raise Misconfigured(
                f"others on this machine may replace files in {directory}, so nobody is admitted by {path.name}",
                hint=f"chmod go-w {directory}",
            )


def _checked(kept: _Kept) -> dict[str, Token]:
    """By id. Raises ValueError for what this weft would not have written."""
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
    return f"put back a copy of {path.name}, or move it away and create tokens anew (`weft token create`)"


def _unreadable(path: Path, problem: OSError) -> StoreError:
    return StoreError(
        f"{path} cannot be read, so nobody is admitted: {problem.strerror or problem}",
        hint="let the user that runs weft read it",
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The right to change the file; the system takes it back from a process that dies. Raises Busy after a while."""
    try:
        import fcntl  # noqa: F401 - only whether it is there
    except ImportError as problem:  # Windows
        raise StoreError("tokens cannot be changed here: the system has no file locks", hint="use Linux") from problem
    with locked(path, wait_s=LOCK_WAIT_S):
        yield


def _replace_file(path: Path, tokens: Mapping[str, Token]) -> None:
    """Puts a whole new file in the place of the old one, and waits until the disk has it."""
    kept: dict[str, Any] = {"format": FORMAT, "tokens": list(tokens.values())}
    raw = msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n"
    if len(raw) > MAX_FILE_BYTES:
        raise TooLarge(f"{path.name} would be larger than {MAX_FILE_BYTES:,} bytes", hint="revoke some tokens first")
    for left in path.parent.glob(f".{path.name}.*"):  # by processes that died: who holds the lock is alone
        left.unlink(missing_ok=True)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def _make_private(directory: Path) -> None:
    """Makes a directory that only its owner may enter, durably."""
    made = [each for each in (directory, *directory.parents) if not each.exists()]
    for each in reversed(made):
        each.mkdir(mode=0o700, exist_ok=True)
    for each in made:
        _sync(each.parent)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
