"""Erasure on request: a person, a source, a session or everything goes for good, with whatever was made of it.

First comes what would go; nothing is written without `yes`, and what is most of an account only with its name typed
out. The log keeps its chain and says that something was erased, when and by whom, and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.audit import FLUSH_S
from weft.errors import Invalid, NotFound
from weft.instants import to_iso
from weft.log.kinds.rewriting import What
from weft.loom import Loom
from weft.operations.clearing_audit import clear_audit
from weft.operations.clearing_jobs import Jobs
from weft.operations.clearing_outbox import clear_outbox
from weft.operations.conversations import log_session
from weft.operations.deleting import names_of, path_in_project
from weft.operations.facts_kept import forget_facts
from weft.operations.left_over import held_alone, left_over
from weft.operations.mentioned import Mentioned, opening
from weft.operations.registry import Operation
from weft.operations.selection import (
    CODE_KINDS,
    Counts,
    Selected,
    count,
    select_everything,
    select_session,
    select_source,
    select_subject,
    unread,
)
from weft.operations.transcript_state import conversations_in, forget_reached, leave_erased
from weft.operations.unsaying import end_relations
from weft.operations.written_files import files_with, remove_files
from weft.types import Viewer

if TYPE_CHECKING:
    from weft.erasure import Erasing

SHOWN: Final = 20
SETTLED_S: Final = FLUSH_S + 0.25  # by then every process has recorded its calls
COMMON: Final = 0.1  # of all texts: a name that stands in more may be a common word
RECEIPT: Final = "Receipt"
OUT_OF_REACH: Final = (
    "backups and copies of the store",
    "exported logs, copies of what was baked, and files that answers were written to",
    "git and the files that were read",
    "stores and outboxes on other machines, and what other processes hold in memory",
    "what was sent to models or shown to agents",
)
WILDCARDS: Final = frozenset("*?%")

Typed = Annotated[str, Meta(max_length=256, description="the account's name, where most of what is there would go")]


class Erase(Struct, frozen=True, kw_only=True):
    """Input of `erase`."""

    subject: (
        Annotated[str, Meta(min_length=1, max_length=512, description="a person or thing, by name, alias or id")] | None
    ) = None
    source: Annotated[str, Meta(min_length=1, max_length=4096, description="a file that was read")] | None = None
    session: Annotated[str, Meta(min_length=1, max_length=512, description="a session or conversation")] | None = None
    everything: Annotated[bool, Meta(description="all of the account's memories")] = False
    dry_run: Annotated[bool, Meta(description="list what would go, and write nothing")] = False
    yes: Annotated[bool, Meta(description="erase it: there is no way back")] = False
    confirm: Typed = ""


class NodeGone(Struct, frozen=True, kw_only=True):
    """One of those that go."""

    id: str
    kind: str
    words: str = ""


class Erasure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What would be erased (`previewed`) or was (`erased`): events, nodes by kind, texts, and what lay elsewhere.

    `shown` are some of the nodes, before they go. `citations` are the events that say so in the log. `files` are those
    that weft wrote (baked knowledge, compactions, published pages) and that hold some of it: they go whole.
    """

    status: Literal["previewed", "erased"]
    what: What
    events: int
    nodes: int
    kinds: dict[str, int]
    texts: int = 0
    receipts: int = 0
    outbox: int = 0
    audit: int = 0
    at: str = ""
    by: str = ""
    citations: tuple[str, ...] = ()
    shown: tuple[NodeGone, ...] = ()
    files: tuple[str, ...] = ()
    out_of_reach: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def erase(loom: Loom, given: Erase) -> Erasure:
    """Erases a person, a source, a session or everything, with all that was made of it, for good.

    Words, vectors, summaries, receipts, waiting writes and the audit lose it; the log still verifies, and says when and
    by whom something was erased. Without --yes it only says what would go. For what can be brought back for some days
    there is `weft delete`.
    """
    viewer = loom.operator("erase")
    selected, mentioned = _selected(loom, viewer, given)
    return carry_out(loom, viewer, selected, mentioned, go=given.yes and not given.dry_run, confirm=given.confirm)


def _selected(loom: Loom, viewer: Viewer, given: Erase) -> tuple[Selected, str]:
    """What is meant, and how the caller said it. Raises Invalid unless exactly one thing is."""
    asked = [name for name in ("subject", "source", "session") if getattr(given, name) is not None]
    asked += ["everything"] if given.everything else []
    if len(asked) != 1:
        raise Invalid(
            "say what to erase" if not asked else f"{' and '.join(asked)} cannot be erased in one go",
            hint="give exactly one of --subject, --source, --session and --everything",
        )
    for name in ("subject", "source", "session"):
        written = getattr(given, name)
        if written is not None and (not written.strip() or "\x00" in written):
            raise Invalid(f"the {name} is blank or no text", hint=f"name the {name} to erase")
    if given.subject is not None:
        return select_subject(loom, viewer, given.subject), given.subject
    if given.source is not None:
        paths = frozenset(names_of(loom, given.source, path := path_in_project(loom, given.source)))
        return select_source(loom, viewer, paths | ({path} if path else set())), given.source
    if given.session is not None:
        names = frozenset(names_of(loom, given.session))
        return select_session(loom, viewer, names | {log_session(name) for name in names}), given.session
    return select_everything(loom, viewer), "everything"


def carry_out(
    loom: Loom,
    viewer: Viewer,
    selected: Selected,
    written: str,
    *,
    go: bool,
    confirm: str,
    deleted: Collection[str] = (),
) -> Erasure:
    """Says what goes, and where `go` is set and enough is confirmed, erases it everywhere.

    `deleted` go only while they are deleted. Raises StandsAgain where one was brought back meanwhile, NotFound where
    there is nothing, Invalid where a confirmation is missing: nothing was written then.
    """
    erasing = _erasing(loom, viewer, selected)
    would = erasing.preview()
    counts = count(loom, viewer, selected, would.nodes, shown=SHOWN)
    mentioned = Mentioned(ids=would.nodes, names=selected.names, all=selected.what == "everything")
    sessions = _sessions(loom, selected, written)
    waits = clear_outbox(loom.outbox, mentioned, sessions=sessions, screen=loom.screen, write=False)
    places = counts.places | set(would.files)
    audit = _Audit(loom, viewer, selected, counts.openings | _taken_back(selected), would.nodes, places, sessions)
    audited = audit.clear(write=False)
    outside = files_with(loom.settings, would.nodes, selected.names, every=selected.what == "everything")
    has_code = selected.what == "everything" or not CODE_KINDS.isdisjoint(counts.kinds)
    jobs = Jobs(loom, selected, mentioned, written, has_code=has_code)
    if not (would.nodes or would.events or waits.removed or waits.redacted or audited or outside.files or jobs.ended):
        raise _nothing(selected.what, written, _finished(loom, viewer) if go else ())
    told = Erasure(
        status="previewed",
        what=selected.what,
        events=len(would.events),
        nodes=len(would.nodes),
        kinds=counts.kinds,
        texts=counts.texts,
        receipts=counts.kinds.get(RECEIPT, 0),
        outbox=waits.removed + waits.redacted,
        audit=audited,
        files=tuple(map(str, outside.files)),
        out_of_reach=OUT_OF_REACH,
    )
    waiting = unread(waits.unread, "sealed writes that wait") if selected.names else ()
    alone = held_alone(loom, viewer, selected.names, would.nodes)
    notes = (*selected.notes, *waiting, *alone, *left_over(loom, viewer, selected.names), *outside.notes)
    needs = _needs_name(selected.what, counts)
    if not go:
        return _previewed(loom, told, counts, (*_advice(selected, counts, would.joined), *notes), confirm=needs)
    if needs and confirm != loom.writer.account:
        raise Invalid(
            f"{counts.standing} of {counts.of} memories would go: nothing was erased",
            hint=f"type the account's name: --yes --confirm {loom.writer.account}",
        )
    erasing.only_while_deleted(deleted)
    # First: it must not be delivered meanwhile.
    clear_outbox(loom.outbox, mentioned, sessions=sessions, screen=loom.screen, write=True)
    notes += end_relations(loom, viewer, selected.unsaid)
    notes += remove_files(loom.settings, outside.files)
    notes += _kept_away(loom, selected.what, would.nodes)
    if has_code:
        forget_facts(loom)
    done = erasing.run(selected.what)
    notes += jobs.clear()
    audit.settle()
    audited = audit.clear(write=True)
    forget_cached(loom)
    return _erased(loom, told, done.citations, audited, (*notes, *done.notes, *_slower(loom, viewer)))


def _kept_away(loom: Loom, what: What, ids: Collection[str]) -> tuple[str, ...]:
    """Sees to it that conversations do not come back with their files, and that nothing beside the store names them.

    Whoever erases everything begins anew, maybe with the same files.
    """
    gone = conversations_in(ids)
    forget_reached(loom.settings, gone)
    if not gone or what == "everything" or not leave_erased(loom.settings, gone):
        return ()
    told = "the conversation does" if len(gone) == 1 else f"the {len(gone)} conversations do"
    return (f"{told} not come back with its file: `weft ingest-transcript` refuses it, unless --session names another",)


def _taken_back(selected: Selected) -> set[str]:
    """How the texts begin that go of nodes that stay."""
    pairs = (pair for pairs in selected.unsaid.words.values() for pair in pairs)
    return {opening(before.text) for before, after in pairs if before.text != after.text} - {""}


def _erasing(loom: Loom, viewer: Viewer, selected: Selected) -> Erasing:
    from weft.erasure import Erasing
    from weft.projection.concern import Concern

    concern = Concern(selected.ids, selected.names, loom.screen.event, selected.unsaid, selected.files)
    return Erasing(loom.store, loom.writer, viewer=viewer, concern=concern, clock=loom.clock, progress=loom.progress)


def _finished(loom: Loom, viewer: Viewer) -> tuple[str, ...]:
    """Sweeps: an erasure may have been stopped when the log had nothing left to lose and the files had."""
    from weft.erasure import swept

    due = loom.store.sweep_due(viewer)
    notes = swept(loom.store, viewer, loom.progress)
    return (*(("what an earlier erasure left in the files is removed now",) if due else ()), *notes)


def _slower(loom: Loom, viewer: Viewer) -> tuple[str, ...]:
    """Index files that held what is erased are gone whole; making them again takes longer than an erasure may."""
    told = "search by meaning reads every vector until `weft reindex` has made their index again"
    return (told,) if loom.store.reindex_due(viewer) else ()


class _Audit:
    """The records of calls that concern one erasure."""

    def __init__(
        self,
        loom: Loom,
        viewer: Viewer,
        selected: Selected,
        openings: Collection[str],
        ids: Collection[str],
        places: Collection[str],
        sessions: frozenset[str],
    ) -> None:
        self._loom, self._viewer, self._selected, self._sessions = loom, viewer, selected, sessions
        every = selected.what == "everything"
        self._mentioned = Mentioned(ids=ids, names=selected.names, texts=openings, paths=places, all=every)
        self._began_s = time.monotonic()

    def settle(self) -> None:
        """Waits until the calls are written that others made before this began."""
        if self._loom.audit is not None and self._loom.audit.recording:
            time.sleep(max(0.0, self._began_s + SETTLED_S - time.monotonic()))

    def clear(self, *, write: bool) -> int:
        return clear_audit(
            self._loom,
            self._viewer,
            self._mentioned,
            names=self._selected.names,
            sessions=self._sessions,
            what=self._selected.what,
            write=write,
        )


def _nothing(what: What, written: str, notes: tuple[str, ...]) -> NotFound:
    wild = " (* and ? stand for themselves)" if WILDCARDS & set(written) else ""
    return NotFound(
        "; ".join((f"there is nothing of the {what} {written[:80]!r} to erase{wild}", *notes)),
        hint="`weft recall` shows names and ids, `weft log show` sessions; what was erased is gone",
    )


def _sessions(loom: Loom, selected: Selected, written: str) -> frozenset[str]:
    if selected.what != "session":
        return frozenset()
    names = frozenset(names_of(loom, written))
    return names | {log_session(name) for name in names}


def _needs_name(what: What, counts: Counts) -> bool:
    return what == "everything" or (what != "deleted" and counts.standing * 2 > counts.of)


def _advice(selected: Selected, counts: Counts, joined: Collection[str]) -> tuple[str, ...]:
    """What who decides should know."""
    if not selected.names:
        return ()
    told = f"{', '.join(map(repr, selected.names))}: {len(selected.ids | set(joined))} nodes"
    every = f"every text goes that holds one of the names, as whole words: {told}"
    if counts.standing <= COMMON * counts.of:
        return (every,)
    share = f"that is {counts.standing} of {counts.of} memories"
    return (every, f"{share}: if the name is a common word, or others have it too, give the id instead")


def _previewed(loom: Loom, told: Erasure, counts: Counts, notes: tuple[str, ...], *, confirm: bool) -> Erasure:
    typed = f" --confirm {loom.writer.account}" if confirm else ""
    more = f"nothing was erased: repeat it with --yes{typed} to erase all of this for good"
    shown = tuple(NodeGone(id=node, kind=kind, words=words) for node, kind, words in counts.some)
    return replace(told, shown=shown, notes=(*notes, more))


def _erased(loom: Loom, told: Erasure, citations: tuple[str, ...], audited: int, notes: tuple[str, ...]) -> Erasure:
    return replace(
        told,
        status="erased",
        at=to_iso(loom.clock.now_us()),
        by=loom.writer.actor.agent,
        citations=citations,
        audit=audited,
        notes=notes,
    )


def forget_cached(loom: Loom) -> None:
    """Empties what this process holds in memory of texts and questions."""
    import gc
    from functools import lru_cache

    loom.embedding.forget()
    wrapper = type(lru_cache(lambda: None))
    for held in gc.get_objects():  # every one there is: a list kept by hand would miss the next
        if isinstance(held, wrapper) and str(getattr(held, "__module__", "")).startswith("weft."):
            held.cache_clear()


OPERATIONS = (
    Operation(
        name="erase",
        summary="erase a person, a source or a session for good, with all that was made of it",
        input=Erase,
        output=Erasure,
        effect="destructive",
        toolset="governance",
        run=erase,
    ),
)
