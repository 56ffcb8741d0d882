"""Taking words out of the audit: calls that were asked about what is erased, or that answered with it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from weft.errors import StoreError
from weft.kinds import ERASED
from weft.log.canonical import decode
from weft.log.kinds.rewriting import What
from weft.loom import Loom
from weft.operations.mentioned import spelled_out
from weft.ports import Store
from weft.projection.tokens import strings
from weft.queries import NodeWords
from weft.types import Viewer


def clear_audit(
    loom: Loom,
    viewer: Viewer,
    mentions: Callable[[str], bool],
    *,
    names: tuple[str, ...] = (),
    sessions: frozenset[str] = frozenset(),
    what: What,
    write: bool,
) -> int:
    """Erases the records of calls that mention what is erased, that a session made or that named it; says how many.

    Unless `write`, they are only counted. Raises StoreError where the audit cannot be written.
    """
    store = _store(loom)
    if store is None:
        return 0
    found = {
        row.id
        for row in store.node_words(viewer)
        if not row.id.startswith(ERASED) and _concerns(row, mentions, sessions)
    }
    if found and write:
        from weft.erasure import erase

        erase(
            store,
            loom.writer,
            viewer=viewer,
            ids=found,
            names=names,
            what=what,
            clock=loom.clock,
            progress=loom.progress,
        )
    return len(found)


def _store(loom: Loom) -> Store | None:
    """The audit's store, with what still waited to be written; None where there is none."""
    if loom.audit is None:
        return None
    store = loom.audit.store()
    if store is not None and not loom.audit.flush():
        raise StoreError(
            f"the audit cannot be written: {loom.audit.problem}",
            hint="repeat the erasure when it can: see `weft doctor`",
        )
    return store


def _concerns(row: NodeWords, mentions: Callable[[str], bool], sessions: frozenset[str]) -> bool:
    props = decode(row.props.encode()) if row.props else {}
    held = (props.get("session"), props.get("conversation"))
    said = (row.id, row.text, *strings(props))
    # What went in and came out is kept as JSON, cut: names may be written with escapes in it.
    return (
        any(each in sessions for each in held)
        or _names_session(props.get("input"), sessions)
        or any(mentions(each) or mentions(spelled_out(each)) for each in said)
    )


def _names_session(given: object, sessions: frozenset[str]) -> bool:
    """Whether a call was about one of these: that is the first that is kept of what went in."""
    return isinstance(given, str) and any(given.startswith(_beginning(each)) for each in sessions)


def _beginning(session: str) -> str:
    """As the audit writes it."""
    raw = msgspec.json.encode({"session": session}).decode()
    return raw.removesuffix("}").replace("\\n", "\n").replace('\\"', '"')
