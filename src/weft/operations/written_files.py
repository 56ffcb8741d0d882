"""Files outside the store that weft wrote memories into: it knows them, so that an erasure reaches them too.

Kept in `written.json` beside the store: the path of each file, the digest of what weft wrote there, and hashes of the
ids of the nodes that stand in it; no words. A file that holds some of what is erased goes, and with it what is kept of
it here. Whoever wrote it writes it again from what is left. Of a store that ends with its process nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from weft.config import Settings
from weft.errors import Conflict, Corrupt, StoreError, TooLarge
from weft.file_lock import locked
from weft.projection.name_search import NameSearch

FILE: Final = "written.json"
FORMAT: Final = 1
MAX_FILES: Final = 10_000
MAX_FILE_BYTES: Final = 64 << 20
MAX_READ_BYTES: Final = 64 << 20
HEAD_BYTES: Final = 4_096  # in which a file says that weft wrote it
LOCK_WAIT_S: Final = 2.0


class Written(Struct, frozen=True, kw_only=True):
    """A file as weft wrote it. `marker` stands near its beginning, and says so."""

    digest: str
    marker: str
    nodes: tuple[str, ...]


Files = dict[str, dict[str, Written]]  # by account and path


class _Kept(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: int
    files: Files


def put_file(settings: Settings, place: Path, text: str, *, marker: str, nodes: Iterable[str]) -> None:
    """Writes a file whole, or leaves the old one; it is known from before it is there.

    Raises Conflict for a link, or where something stands that weft did not write; StoreError where it cannot be
    written.
    """
    check_free(place, marker)
    hashes = tuple(sorted({_hash(each) for each in nodes}))
    entry = Written(digest=hashlib.sha256(text.encode()).hexdigest(), marker=marker, nodes=hashes)
    draft = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _changing(settings) as files:
            files.setdefault(settings.account, {})[str(place)] = entry
            if sum(map(len, files.values())) > MAX_FILES:
                raise TooLarge(f"weft knows {MAX_FILES:,} files that it wrote", hint=f"remove those gone from {FILE}")
        with draft.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(place)
    except OSError as problem:
        raise StoreError(f"{place} cannot be written: {problem.strerror}", hint="check rights and space") from problem
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def check_free(place: Path, marker: str) -> None:
    """Raises Conflict unless a file may be written there: nothing stands there, or what weft wrote."""
    for each in (place, place.parent):
        if each.is_symlink():
            raise Conflict(f"{each} is a link: weft writes no file through one", hint="name the place itself")
    if place.exists() and not place.is_file():
        raise Conflict(f"{place} is no file", hint="choose another name")
    if place.exists() and marker not in _head(place):
        raise Conflict(
            f"{place} was not written by weft, which replaces only what it wrote",
            hint="move it away, or choose another place",
        )


def files_with(
    settings: Settings, ids: Collection[str], names: Sequence[str] = (), *, every: bool = False
) -> tuple[Path, ...]:
    """The files in which some of these nodes stand, or one of the names; with `every`, all of the account's."""
    known = _read(_place(settings)).get(settings.account, {})
    wanted = {_hash(each) for each in ids}
    search = NameSearch(names)
    return tuple(
        Path(path)
        for path, entry in sorted(known.items())
        if _is_ours(Path(path), entry) and (every or not wanted.isdisjoint(entry.nodes) or _holds(Path(path), search))
    )


def remove_files(settings: Settings, places: Sequence[Path]) -> tuple[str, ...]:
    """Removes files and what is kept of them; a note for each that could not be."""
    notes: list[str] = []
    with _changing(settings) as files:
        known = files.get(settings.account, {})
        for place in places:
            try:
                place.unlink(missing_ok=True)
                known.pop(str(place), None)
            except OSError as problem:
                notes.append(f"{place} holds some of it and could not be removed: {problem.strerror}")
        for path in [each for each in known if not Path(each).exists()]:
            del known[path]
    return tuple(notes)


def _is_ours(place: Path, entry: Written) -> bool:
    """Whether the file is still one of weft's, be it changed by somebody since."""
    return place.is_file() and not place.is_symlink() and entry.marker in _head(place)


def _holds(place: Path, search: NameSearch) -> bool:
    try:
        with place.open("rb") as file:
            return search.holds(file.read(MAX_READ_BYTES).decode("utf-8", "replace"))
    except OSError:
        return False


def _head(place: Path) -> str:
    try:
        with place.open("rb") as file:
            return file.read(HEAD_BYTES).decode("utf-8", "replace")
    except OSError as problem:
        raise StoreError(f"{place} cannot be read: {problem.strerror}", hint="check its rights") from problem


def _hash(node_id: str) -> str:
    return hashlib.sha256(node_id.encode()).hexdigest()[:16]


# ---- what is kept


def _place(settings: Settings) -> Path | None:
    """Beside the store; None for one that ends with its process, and must not touch what another one knows."""
    scheme, _, rest = settings.store.partition("://")
    return Path(rest).expanduser().absolute() / FILE if scheme == "sqlite" and rest else None


def _read(place: Path | None) -> Files:
    if place is None:
        return {}
    try:
        with place.open("rb") as file:
            kept = msgspec.json.decode(file.read(MAX_FILE_BYTES + 1), type=_Kept)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise Corrupt(
            f"{place} cannot be read, so the files that weft wrote are not known: {problem!s:.200}",
            hint="look for KNOWLEDGE.md and *.compaction.json yourself, then move it away",
        ) from problem
    if kept.format != FORMAT:
        raise StoreError(f"{place} was written by another weft", hint="upgrade weft")
    return kept.files


@contextlib.contextmanager
def _changing(settings: Settings) -> Iterator[Files]:
    """All that is known, to be changed by one at a time. A process that dies leaves the old file or the new one."""
    place = _place(settings)
    if place is None:
        yield {}
        return
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(place):
        files = _read(place)
        yield files
        raw = msgspec.json.encode(_Kept(format=FORMAT, files=files))
        if len(raw) > MAX_FILE_BYTES:
            raise TooLarge(f"{place} is full", hint="bake and compact into fewer files")
        draft = place.with_name(f".{FILE}.{os.getpid()}")
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
                file.write(raw)
                os.fsync(file.fileno())
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(place: Path) -> Iterator[None]:
    try:
        import fcntl  # noqa: F401 - only whether it is there
    except ImportError:  # Windows: of two at once, the last counts
        yield
        return
    with locked(place, wait_s=LOCK_WAIT_S):
        yield
