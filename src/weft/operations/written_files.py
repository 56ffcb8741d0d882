"""Files outside the store that weft wrote memories into: it knows them, so that an erasure reaches them too.

Kept in `written.json` beside the store: the path of each file, the digest of what weft wrote there, and hashes of the
ids of the nodes that stand in it; no words. A file that holds some of what is erased goes, and with it what is kept of
it here. Whoever wrote it writes it again from what is left. Of a store that ends with its process nothing is kept.
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

from weft.config import Settings
from weft.errors import Conflict, Corrupt, Forbidden, StoreError, TooLarge
from weft.file_lock import locked_if_possible, replace_whole
from weft.projection.name_search import NameSearch

FILE: Final = "written.json"
FORMAT: Final = 1
MAX_FILES: Final = 10_000
MAX_FILE_BYTES: Final = 64 << 20
MAX_READ_BYTES: Final = 64 << 20
LOCK_WAIT_S: Final = 2.0
_DRAFT: Final = re.compile(r"[0-9a-f]{8}")


class Written(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file as weft wrote it. It begins with `marker`, if that is set. `earlier` is the digest of what it replaces.

    `rights` are what its writer might see: who may see less does not replace it.
    """

    digest: str
    marker: str
    nodes: tuple[str, ...]
    earlier: str = ""
    rights: tuple[str, ...] = ()


class FileText(Struct, frozen=True, kw_only=True):
    """What is to stand in a file: how it begins, which nodes are in it, and what of rights it was written with."""

    text: str
    nodes: tuple[str, ...]
    marker: str = ""
    rights: tuple[str, ...] = ()

    def entry(self) -> Written:
        """As it is known."""
        hashes = tuple(sorted({_hash(each) for each in self.nodes}))
        return Written(digest=_digest(self.text.encode()), marker=self.marker, nodes=hashes, rights=self.rights)


class Concerned(Struct, frozen=True, kw_only=True):
    """The files that hold some of what goes, and notes on those that weft wrote and does not know again."""

    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


Files = dict[str, dict[str, Written]]  # by account and path
IsOwn = Callable[[str], bool]  # whether a text proves by itself that weft wrote it


class _Kept(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: int
    files: Files


def put_file(settings: Settings, place: Path, holds: FileText, *, below: Path, is_own: IsOwn | None = None) -> None:
    """Writes a file whole, for its owner alone, or leaves the old one; it is known from before it is there.

    Raises as `check_free` does; StoreError where it cannot be written.
    """
    check_free(settings, place, below=below, is_own=is_own, rights=holds.rights)
    entry, key = holds.entry(), _key(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _changing(settings) as (files, save):
            known = files.setdefault(settings.account, {})
            before = known.get(key)
            # Whoever is killed on the way leaves the one or the other, and both are known.
            known[key] = entry if before is None else _either(before, entry)
            save()
            _sweep(place)
            _write(place, holds.text)
            known[key] = entry
    except OSError as problem:
        raise StoreError(f"{place} cannot be written: {problem.strerror}", hint="check rights and space") from problem


def announce_files(settings: Settings, written: Mapping[Path, FileText]) -> None:
    """Makes files known that another part of weft is about to write; what stands in their places stays known."""
    with _changing(settings) as (files, _):
        known = files.setdefault(settings.account, {})
        for place, holds in written.items():
            before, entry = known.get(_key(place)), holds.entry()
            known[_key(place)] = entry if before is None else _either(before, entry)


def note_files(settings: Settings, written: Mapping[Path, FileText]) -> None:
    """Notes that files that were announced are written: nothing else stands there any more."""
    with _changing(settings) as (files, _):
        files.setdefault(settings.account, {}).update({_key(place): holds.entry() for place, holds in written.items()})


def check_free(
    settings: Settings, place: Path, *, below: Path, is_own: IsOwn | None = None, rights: Collection[str] = ()
) -> None:
    """Raises Conflict unless a file may be written there: nothing stands there, or what weft wrote, as it wrote it.

    No folder under `below` may be a link. Raises Forbidden where it was written by who may see more than `rights`.
    """
    check_no_link(place, below)
    if not place.exists():
        return
    if not place.is_file():
        raise Conflict(f"{place} is no file", hint="choose another name")
    raw = _bytes(place)
    entry = known_file(settings, place, raw)
    if entry is None and (is_own is None or not is_own(raw.decode("utf-8", "replace"))):
        raise Conflict(
            f"{place} was not written by weft, or was changed since: it replaces only what it wrote",
            hint="move it away, or choose another place",
        )
    if entry is not None and (more := set(entry.rights) - set(rights)):
        raise Forbidden(
            f"{place} was written by who may see more ({', '.join(sorted(more))}): it would hold less",
            hint="choose another file, or ask the operator to write it",
        )


def check_no_link(place: Path, below: Path) -> None:
    """Raises Conflict if the place, or a folder on the way to it from `below`, is a link."""
    for each in (place, *place.parents):
        if each == below:
            return
        if each.is_symlink():
            raise Conflict(f"{each} is a link: weft goes through none here", hint="put the place itself there")


def known_file(settings: Settings, place: Path, raw: bytes) -> Written | None:
    """What is known of the file at a place, if what it holds is what weft wrote there; else None."""
    entry = _known_now(_place(settings)).get(settings.account, {}).get(_key(place))
    return entry if entry is not None and _digest(raw) in (entry.digest, entry.earlier) else None


def files_with(
    settings: Settings, ids: Collection[str], names: Sequence[str] = (), *, every: bool = False
) -> Concerned:
    """The files in which some of these nodes stand, or one of the names; with `every`, all of the account's."""
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
            notes.append(f"weft wrote some of it to {place}, where something else stands by now: look at it yourself")
    return Concerned(files=tuple(files), notes=tuple(notes))


def remove_files(settings: Settings, places: Sequence[Path]) -> tuple[str, ...]:
    """Removes files, what is kept of them, and what writers that were killed left; a note for each that stays."""
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
                notes.append(f"{place} holds some of it and could not be removed: {problem.strerror}")
        for path in [each for each in known if not os.path.lexists(each)]:
            del known[path]
    return tuple(notes)


def _either(before: Written, entry: Written) -> Written:
    """Known as both: what stands there, and what will."""
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
    """Removes the drafts of writers that were killed. Only who holds the lock writes one."""
    start, left = f".{place.name}.", []
    with contextlib.suppress(OSError), os.scandir(place.parent) as entries:
        left = [each.name for each in entries if each.name.startswith(start)]
    for name in left:
        if _DRAFT.fullmatch(name.removeprefix(start)):
            with contextlib.suppress(OSError):
                place.with_name(name).unlink()


def _is_ours(place: Path, entry: Written) -> bool:
    """Whether the file is still one of weft's, be it changed by somebody since."""
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
    """One name for a file, by whichever way its folder was reached."""
    return os.path.join(os.path.realpath(place.parent), place.name)  # noqa: PTH118


# ---- what is kept


def _place(settings: Settings) -> Path | None:
    """Beside the store; None for one that ends with its process, and must not touch what another one knows."""
    scheme, _, rest = settings.store.partition("://")
    return Path(rest).expanduser().absolute() / FILE if scheme == "sqlite" and rest else None


def _known_now(place: Path | None) -> Files:
    """What is kept, read again only when it was changed: whoever reads many files asks for each."""
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
            f"{place} cannot be read, so the files that weft wrote are not known: {problem!s:.200}",
            hint="look for KNOWLEDGE.md, *.compaction.json and published pages yourself, then move it away",
        ) from problem
    if kept.format != FORMAT:
        raise StoreError(f"{place} was written by another weft", hint="upgrade weft")
    return kept.files


@contextlib.contextmanager
def _changing(settings: Settings) -> Iterator[tuple[Files, Callable[[], None]]]:
    """All that is known, to be changed by one at a time, and how to save it before the end.

    A process that dies leaves the old file or the new one.
    """
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
        raise TooLarge(f"weft knows {MAX_FILES:,} files that it wrote", hint=f"remove those gone from {FILE}")
    raw = msgspec.json.encode(_Kept(format=FORMAT, files=files))
    if len(raw) > MAX_FILE_BYTES:
        raise TooLarge(f"{place} is full", hint="bake and compact into fewer files")
    replace_whole(place, raw)
