"""A register of files that weft wrote from memories, so that an erasure reaches them too.

Stored in `written.json` beside the store: each file's path, the digest of what weft wrote, and hashes of the ids of the
nodes in it; no words. A file that contains some of what is erased is removed with its entry; its writer writes it again
from what is left. Stores in memory register nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from weft.core.errors import Conflict, Corrupt, Forbidden, StoreError, TooLarge
from weft.files.file_lock import locked_if_possible, replace_whole
from weft.files.paths import beside_store
from weft.runtime.settings.load import Settings
from weft.text.name_search import NameSearch

FILE: Final = "written.json"
FORMAT: Final = 1
MAX_FILES: Final = 10_000
MAX_FILE_BYTES: Final = 64 << 20
MAX_READ_BYTES: Final = 64 << 20
LOCK_WAIT_S: Final = 2.0
_DRAFT: Final = re.compile(r"[0-9a-f]{8}")


class WrittenFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file as weft wrote it. It begins with `marker`, if set. `earlier` is the digest of what it replaces.

    `rights` are those of its writer: a caller with fewer does not replace it.
    """

    digest: str
    marker: str
    nodes: tuple[str, ...]
    earlier: str = ""
    rights: tuple[str, ...] = ()


class FileText(Struct, frozen=True, kw_only=True):
    """The text to write, the nodes in it, how it begins, and the rights that it was written with."""

    text: str
    nodes: tuple[str, ...]
    marker: str = ""
    rights: tuple[str, ...] = ()

    def entry(self) -> WrittenFile:
        """The register entry of this text."""
        hashes = tuple(sorted({_hash(each) for each in self.nodes}))
        return WrittenFile(digest=_digest(self.text.encode()), marker=self.marker, nodes=hashes, rights=self.rights)


class AffectedFiles(Struct, frozen=True, kw_only=True):
    """The files that contain some of what is erased, and notes on files that somebody else changed."""

    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


Files = dict[str, dict[str, WrittenFile]]  # by account and path
IsOwn = Callable[[str], bool]  # whether a text shows by itself that weft wrote it


class _Kept(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: int
    files: Files


def put_file(settings: Settings, place: Path, holds: FileText, *, below: Path, is_own: IsOwn | None = None) -> None:
    """Replaces a file atomically, readable by its owner only. It is registered before it exists.

    Raises what `check_free` raises, and StoreError if it cannot be written.
    """
    check_free(settings, place, below=below, is_own=is_own, rights=holds.rights)
    entry, key = holds.entry(), _key(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _changing(settings) as (files, save):
            known = files.setdefault(settings.account, {})
            before = known.get(key)
            # A process that dies here leaves the old or the new file, and both are registered.
            known[key] = entry if before is None else _either(before, entry)
            save()
            _sweep(place)
            _write(place, holds.text)
            known[key] = entry
    except OSError as problem:
        raise StoreError(f"{place} cannot be written: {problem.strerror}", hint="check rights and space") from problem


def announce_files(settings: Settings, written: Mapping[Path, FileText]) -> None:
    """Registers files that are about to be written; their current contents stay registered too."""
    with _changing(settings) as (files, _):
        known = files.setdefault(settings.account, {})
        for place, holds in written.items():
            before, entry = known.get(_key(place)), holds.entry()
            known[_key(place)] = entry if before is None else _either(before, entry)


def note_files(settings: Settings, written: Mapping[Path, FileText]) -> None:
    """Records that announced files are written: their former contents are no longer expected."""
    with _changing(settings) as (files, _):
        files.setdefault(settings.account, {}).update({_key(place): holds.entry() for place, holds in written.items()})


def check_free(
    settings: Settings, place: Path, *, below: Path, is_own: IsOwn | None = None, rights: Collection[str] = ()
) -> None:
    """Raises Conflict unless the path is free or holds exactly what weft wrote there.

    No folder below `below` may be a link. Raises Forbidden if its writer had more rights than `rights`.
    """
    check_no_link(place, below)
    if not place.exists():
        return
    if not place.is_file():
        raise Conflict(f"{place} is not a regular file", hint="choose another name")
    raw = _bytes(place)
    entry = known_file(settings, place, raw)
    if entry is None and (is_own is None or not is_own(raw.decode("utf-8", "replace"))):
        raise Conflict(
            f"{place} was not written by weft or was changed since: weft replaces only its own files",
            hint="move it away, or choose another path",
        )
    if entry is not None and (more := set(entry.rights) - set(rights)):
        raise Forbidden(
            f"{place} was written with more rights ({', '.join(sorted(more))}) and would lose content",
            hint="choose another file, or ask the operator to write it",
        )


def check_no_link(place: Path, below: Path) -> None:
    """Raises Conflict if the path, or a folder between it and `below`, is a symbolic link."""
    for each in (place, *place.parents):
        if each == below:
            return
        if each.is_symlink():
            raise Conflict(
                f"{each} is a symbolic link, which weft does not follow here", hint="use the real path instead"
            )


def known_file(settings: Settings, place: Path, raw: bytes) -> WrittenFile | None:
    """The entry of the file at a path if its contents are what weft wrote there; else None."""
    entry = _known_now(_place(settings)).get(settings.account, {}).get(_key(place))
    return entry if entry is not None and _digest(raw) in (entry.digest, entry.earlier) else None


def files_with(
    settings: Settings, ids: Collection[str], names: Sequence[str] = (), *, every: bool = False
) -> AffectedFiles:
    """The files that contain one of these nodes or names; with `every`, all files of the account."""
    known = _read(_place(settings)).get(settings.account, {})
    wanted = {_hash(each) for each in ids}
    search = NameSearch(names)
    files: list[Path] = []
    notes: list[str] = []
    for path, entry in sorted(known.items()):
        place = Path(path)
        if not place.is_symlink() and not place.exists():
            continue
        if not (every or not wanted.isdisjoint(entry.nodes) or _holds(place, search)):
            continue
        if _is_ours(place, entry):
            files.append(place)
        else:
            notes.append(f"weft wrote some of it to {place}, which has other contents now: check that file yourself")
    return AffectedFiles(files=tuple(files), notes=tuple(notes))


def remove_files(settings: Settings, places: Sequence[Path]) -> tuple[str, ...]:
    """Removes files with their entries and leftover drafts; a note for each that could not be removed."""
    kept = _place(settings)
    if not places and (kept is None or not kept.exists()):
        return ()
    notes: list[str] = []
    with _changing(settings) as (files, _):
        known = files.get(settings.account, {})
        for path in known:
            _sweep(Path(path))
        for place in places:
            try:
                place.unlink(missing_ok=True)
                known.pop(_key(place), None)
            except OSError as problem:
                notes.append(f"{place} contains some of it and could not be removed: {problem.strerror}")
        for path in [each for each in known if not os.path.lexists(each)]:
            del known[path]
    return tuple(notes)


def _either(before: WrittenFile, entry: WrittenFile) -> WrittenFile:
    """An entry for both the current and the future contents."""
    nodes = tuple(sorted({*before.nodes, *entry.nodes}))
    return msgspec.structs.replace(entry, nodes=nodes, earlier=before.digest)


def _write(place: Path, text: str) -> None:
    draft = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(place)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _sweep(place: Path) -> None:
    """Removes drafts of writers that died. Only the holder of the lock writes one."""
    start, left = f".{place.name}.", []
    with contextlib.suppress(OSError), os.scandir(place.parent) as entries:
        left = [each.name for each in entries if each.name.startswith(start)]
    for name in left:
        if _DRAFT.fullmatch(name.removeprefix(start)):
            with contextlib.suppress(OSError):
                place.with_name(name).unlink()


def _is_ours(place: Path, entry: WrittenFile) -> bool:
    """Whether the file is still one of weft's, even if somebody changed it."""
    if place.is_symlink() or not place.is_file():
        return False
    raw = _bytes(place)
    begins = bool(entry.marker) and raw.startswith(entry.marker.encode())
    return begins or _digest(raw) in (entry.digest, entry.earlier)


def _holds(place: Path, search: NameSearch) -> bool:
    if place.is_symlink() or not place.is_file():
        return False
    try:
        return search.holds(_bytes(place).decode("utf-8", "replace"))
    except StoreError:
        return False


def _bytes(place: Path) -> bytes:
    try:
        with place.open("rb") as file:
            return file.read(MAX_READ_BYTES)
    except OSError as problem:
        raise StoreError(f"{place} cannot be read: {problem.strerror}", hint="check its rights") from problem


def _hash(node_id: str) -> str:
    return hashlib.sha256(node_id.encode()).hexdigest()[:16]


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _key(place: Path) -> str:
    """One name for a file, by whichever path its folder was reached."""
    return os.path.join(os.path.realpath(place.parent), place.name)  # noqa: PTH118


# The register


def _place(settings: Settings) -> Path | None:
    """Beside the store; None for a store in memory, which must not touch another store's register."""
    return beside_store(settings.store, FILE)


def _known_now(place: Path | None) -> Files:
    """The register, read again only after it changed."""
    if place is None:
        return {}
    try:
        found = place.stat()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as problem:
        raise StoreError(f"{place} cannot be read: {problem.strerror}", hint="check its rights") from problem
    return _read_at(place, found.st_mtime_ns, found.st_size, found.st_ino)


@lru_cache(maxsize=2)
def _read_at(place: Path, mtime_ns: int, size: int, inode: int) -> Files:
    return _read(place)


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
            f"{place} cannot be read, so weft does not know which files it wrote: {problem!s:.200}",
            hint="check KNOWLEDGE.md, *.compaction.json and published pages yourself, then move that file away",
        ) from problem
    if kept.format != FORMAT:
        raise StoreError(f"{place} was written by another version of weft", hint="upgrade weft")
    return kept.files


@contextlib.contextmanager
def _changing(settings: Settings) -> Iterator[tuple[Files, Callable[[], None]]]:
    """The register, locked for changes, and a function that saves it early. Replaced atomically at the end."""
    place = _place(settings)
    if place is None:
        yield {}, lambda: None
        return
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked_if_possible(place, wait_s=LOCK_WAIT_S):
        files = _read(place)

        def save() -> None:
            _save(place, files)

        yield files, save
        save()


def _save(place: Path, files: Files) -> None:
    if sum(map(len, files.values())) > MAX_FILES:
        raise TooLarge(
            f"{FILE} lists {MAX_FILES:,} files, the limit", hint="remove entries of files that no longer exist"
        )
    raw = msgspec.json.encode(_Kept(format=FORMAT, files=files))
    if len(raw) > MAX_FILE_BYTES:
        raise TooLarge(f"{place} has reached its size limit", hint="bake and compact into fewer files")
    replace_whole(place, raw)
