"""Copies of erased words outside the log: finding them in texts, and clearing the audit and the outbox."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.append.outbox import Outbox
from weft.append.outbox_entry import QueuedDraft, QueuedWrite
from weft.append.privacy import PrivacyFilter
from weft.core.errors import StoreError
from weft.core.kinds import ERASED
from weft.core.ports import Store
from weft.core.queries import NodeWords
from weft.core.types import Viewer
from weft.graph.placeholders import one_of, strings
from weft.log.canonical import canonical, decode
from weft.log.kinds.rewriting import What
from weft.runtime.call_context import CallContext
from weft.text.name_search import NameSearch
from weft.text.spelling import spelled_out

MIN_WORDS: Final = 20  # characters of a text by which it is recognised
MAX_WORDS: Final = 60
_RELATIONS: Final = re.compile(r'^[A-Z0-9_]+$|(?<="rel":")[^"]+')  # a relation name by itself, and in JSON
_BEFORE: Final = r"(?:(?<![\w-])|(?<=\\[bfnrt]))"  # `a.py` does not match in `data.py`


Mentions = Callable[[str], bool]


class Mentioned:
    """A search in texts for ids, names and the first words of texts; with `all`, every text matches.

    `paths` match as a whole and at the end of longer paths.
    """

    def __init__(
        self,
        *,
        ids: Collection[str],
        names: Collection[str] = (),
        texts: Collection[str] = (),
        paths: Collection[str] = (),
        all: bool = False,  # noqa: A002
    ) -> None:
        self._all = all
        self._names = NameSearch(names)
        written = {form for each in (*ids, *filter(None, map(opening, texts))) for form in _forms(each)}
        self._needles = re.compile(one_of(written)) if written and not all else None
        placed = one_of({form for each in paths for form in _forms(each)})
        self._paths = re.compile(rf"{_BEFORE}(?:{placed})(?!\w)") if placed and not all else None

    def __call__(self, text: str) -> bool:
        if self._all or self._named(text):
            return True
        return any(each is not None and each.search(text) is not None for each in (self._needles, self._paths))

    def _named(self, text: str) -> bool:
        if not self._names.may_hold(text):
            return False
        return self._names.holds(text) or any(map(self._names.holds_as_relation, _RELATIONS.findall(text)))


def opening(text: str) -> str:
    """The first line of a text, if it is long enough to recognise the text by."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line[:MAX_WORDS] if len(line) >= MIN_WORDS else ""


def _forms(needle: str) -> tuple[str, str]:
    """A string as it is and as JSON writes it."""
    return needle, canonical(needle)[1:-1].decode()


class CallMatch(Struct, frozen=True, kw_only=True):
    """Which recorded calls are erased: those that mention something, that a session made or that named it."""

    mentions: Mentions
    names: tuple[str, ...] = ()
    sessions: frozenset[str] = frozenset()


def clear_audit(ctx: CallContext, viewer: Viewer, calls: CallMatch, *, what: What, write: bool) -> int:
    """Erases matching records from the audit and returns their number; without `write` it only counts them.

    Raises StoreError if the audit cannot be written.
    """
    store = _store(ctx)
    if store is None:
        return 0
    found = {row.id for row in store.node_words(viewer) if not row.id.startswith(ERASED) and _matches(row, calls)}
    if found and write:
        from weft.erasure.erase_log import erase
        from weft.erasure.rewrite_log import RewriteAccess

        erase(RewriteAccess.of(ctx, viewer, store=store), ids=found, names=calls.names, what=what)
    return len(found)


def _store(ctx: CallContext) -> Store | None:
    """The audit's store with all pending records written; None if there is none."""
    if ctx.audit is None:
        return None
    store = ctx.audit.store()
    if store is not None and not ctx.audit.flush():
        raise StoreError(
            f"the audit cannot be written: {ctx.audit.problem}",
            hint="see `weft doctor`, and repeat the erasure when the audit can be written",
        )
    return store


def _matches(row: NodeWords, calls: CallMatch) -> bool:
    props = decode(row.props.encode()) if row.props else {}
    held = (props.get("session"), props.get("conversation"))
    said = (row.id, row.text, *strings(props))
    # Arguments and answers are kept as truncated JSON, in which names may be escaped.
    return (
        any(each in calls.sessions for each in held)
        or _names_session(props.get("input"), calls.sessions)
        or any(calls.mentions(each) or calls.mentions(spelled_out(each)) for each in said)
    )


def _names_session(given: object, sessions: frozenset[str]) -> bool:
    """Whether a call named one of these sessions: as its first recorded argument."""
    return isinstance(given, str) and any(given.startswith(_beginning(each)) for each in sessions)


def _beginning(session: str) -> str:
    """The beginning of the arguments, as the audit writes them."""
    raw = msgspec.json.encode({"session": session}).decode()
    return raw.removesuffix("}").replace("\\n", "\n").replace('\\"', '"')


class OutboxCleared(Struct, frozen=True, kw_only=True):
    """Entries removed, entries that lost some of their events, and entries that could not be decrypted."""

    removed: int = 0
    redacted: int = 0
    unread: int = 0


def clear_outbox(
    outbox: Outbox | None,
    mentions: Mentions,
    *,
    sessions: frozenset[str] = frozenset(),
    privacy: PrivacyFilter,
    write: bool,
) -> OutboxCleared:
    """Removes outbox entries (waiting, refused or dropped) whose events mention what is erased.

    Other events of an entry are kept. `privacy` decrypts sensitive words. Without `write`, entries are only counted.
    """
    removed = redacted = unread = 0
    for file in _files(outbox):
        raw = _read(file)
        if raw is None:
            continue  # another process has delivered it: it is in the log now
        look = _DraftSearch(mentions, privacy.fresh())
        left = _remaining(raw, look, sessions)
        if left == raw:
            unread += look.unread
            continue
        if left is None:
            removed += 1
        else:
            redacted += 1
        if write:
            _rewrite(file, left)
    return OutboxCleared(removed=removed, redacted=redacted, unread=unread)


class _DraftSearch:
    """A search in drafts, decrypted if need be."""

    def __init__(self, mentions: Mentions, privacy: PrivacyFilter) -> None:
        self.mentions, self._privacy = mentions, privacy

    @property
    def unread(self) -> bool:
        """Whether something could not be decrypted."""
        return bool(self._privacy.unopened)

    def concerns(self, draft: QueuedDraft) -> bool:
        if self.mentions(_plain(msgspec.json.encode(draft))):
            return True
        if not isinstance(draft.payload, dict):
            return False
        shown = self._privacy.payload(draft.payload)
        return shown != draft.payload and self.mentions(_plain(msgspec.json.encode(shown)))


def _files(outbox: Outbox | None) -> Iterator[Path]:
    """Every file of the outbox, including reasons and unfinished drafts."""
    if outbox is None or not outbox.directory.is_dir():
        return
    for directory, _, names in os.walk(outbox.directory):
        yield from (Path(directory) / name for name in sorted(names))


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as trouble:
        raise StoreError(f"{file} cannot be read: {trouble}", hint="check the outbox's permissions") from trouble


def _remaining(raw: bytes, look: _DraftSearch, sessions: frozenset[str]) -> bytes | None:
    """What remains of a file: all of it, less, or nothing."""
    try:
        waiting = msgspec.json.decode(raw, type=QueuedWrite)
    except msgspec.MsgspecError:  # the reason of a refusal, or a damaged file
        return None if look.mentions(_plain(raw)) else raw
    if waiting.session in sessions:
        return None
    kept = tuple(each for each in waiting.drafts if not look.concerns(each))
    if len(kept) == len(waiting.drafts) and not look.mentions(waiting.problem):
        return raw
    return canonical(msgspec.to_builtins(replace(waiting, drafts=kept, problem=""))) if kept else None


def _plain(raw: bytes) -> str:
    """The text of a JSON document, or of any other file."""
    return spelled_out(raw.decode(errors="replace"))


def _rewrite(file: Path, left: bytes | None) -> None:
    """Replaces or removes a file; its former contents are overwritten first."""
    try:
        if left is not None:
            draft = file.with_name(f".{file.name.lstrip('.')}.{uuid.uuid4().hex}")
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as made:
                made.write(left)
                made.flush()
                os.fsync(made.fileno())
        with file.open("r+b") as old:  # opened first: the name may be reused at once
            size = os.fstat(old.fileno()).st_size
            if left is None:
                file.unlink()
            else:
                draft.rename(file)
            old.write(b"\0" * size)
            old.flush()
            os.fsync(old.fileno())
    except FileNotFoundError:
        if left is not None:
            draft.unlink(missing_ok=True)  # delivered meanwhile: it must not be queued again
    except OSError as trouble:
        raise StoreError(f"{file} cannot be rewritten: {trouble}", hint="check the outbox's permissions") from trouble
    descriptor = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
