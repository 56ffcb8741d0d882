"""One erasure in the log, the graph, the audit, the outbox, the job records and the files that weft wrote."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from weft.code.index.facts_lock import forget_facts
from weft.conversations.import_state import conversations_in, forget_reached, leave_erased
from weft.conversations.turns import log_session
from weft.core.clock import to_iso
from weft.core.errors import Invalid, NotFound
from weft.core.kinds import ERASED, UNSEARCHED_KINDS
from weft.core.slices import in_slices
from weft.core.types import NOW, EdgeVersion, Viewer
from weft.erasure.clear_copies import CallMatch, Mentioned, clear_audit, clear_outbox, opening
from weft.erasure.delete import names_of
from weft.erasure.retracted import Retraction
from weft.erasure.selection import CODE_KINDS, Counts, Selected, count, unread
from weft.graph.placeholders import KEPT_KINDS
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.log.kinds.rewriting import What
from weft.runtime.audit_log import FLUSH_S
from weft.runtime.call_context import CallContext
from weft.runtime.jobs import JobBook
from weft.text.lexical import stems
from weft.text.name_search import NameSearch
from weft.writing.build.commit import commit
from weft.writing.build.written_files import files_with, remove_files

if TYPE_CHECKING:
    from weft.erasure.erase_log import Erasing, Preview

SHOWN: Final = 20
SETTLED_S: Final = FLUSH_S + 0.25  # by then every process has recorded its calls
COMMON: Final = 0.1  # of all texts: a name found in more of them may be a common word
RECEIPT: Final = "Receipt"
OUT_OF_REACH: Final = (
    "backups and copies of the store",
    "exported logs, copies of baked files, and files that answers were saved to",
    "git, and the ingested files themselves",
    "stores and outboxes on other machines, and the memory of other processes",
    "text that was sent to models or shown to agents",
)
WILDCARDS: Final = frozenset("*?%")
EXAMPLES: Final = 5  # header names of one sort in a note
MIN_PART: Final = 3  # characters of a part of a name that is searched for by itself
MAX_PARTS: Final = 12
MAX_HOLDING: Final = 100  # texts that hold one part of a name
MARKS: Final = str.maketrans(dict.fromkeys("-._/:@", " "))  # separators between the words of a name in headers
RELATIONS_AT_ONCE: Final = 500


class ErasureRequest(Struct, frozen=True, kw_only=True):
    """What to erase, how the caller named it (`written`), and whether to do it or only to preview (`go`).

    Nodes in `deleted` are erased only while they are still deleted.
    """

    selected: Selected
    written: str
    go: bool
    confirm: str = ""
    deleted: frozenset[str] = frozenset()


class NodeGone(Struct, frozen=True, kw_only=True):
    """A node that is erased, with its first words."""

    id: str
    kind: str
    words: str = ""


class Erasure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What would be erased (`previewed`) or was (`erased`): events, nodes by kind, texts, and copies elsewhere.

    `shown` are some of the nodes, as they were. `citations` are the events that record the erasure in the log. `files`
    were written by weft (baked knowledge, compactions, published pages) and hold some of it: they are removed whole.
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


def carry_out(ctx: CallContext, viewer: Viewer, request: ErasureRequest) -> Erasure:
    """Previews an erasure or, if `go` is set and enough is confirmed, carries it out everywhere.

    Raises RestoredMeanwhile if a node of `deleted` was restored, NotFound if there is nothing to erase, Invalid if a
    confirmation is missing. Nothing was written then.
    """
    began_s = time.monotonic()
    selected = request.selected
    everything = selected.what == "everything"
    erasing = _erasing(ctx, viewer, selected)
    would = erasing.preview()
    counts = count(ctx, viewer, selected, would.nodes, shown=SHOWN)
    mentioned = Mentioned(ids=would.nodes, names=selected.names, all=everything)
    sessions = _sessions(ctx, request)
    waits = clear_outbox(ctx.outbox, mentioned, sessions=sessions, privacy=ctx.privacy, write=False)
    calls = _calls(selected, counts, would, sessions)
    audited = clear_audit(ctx, viewer, calls, what=selected.what, write=False)
    outside = files_with(ctx.settings, would.nodes, selected.names, every=everything)
    has_code = everything or not CODE_KINDS.isdisjoint(counts.kinds)
    mentions_job = _job_mentions(request, mentioned, has_code=has_code)
    jobs, _ = JobBook(ctx).forget(ctx.writer.account, mentions_job, write=False)
    if not (would.nodes or would.events or waits.removed or waits.redacted or audited or outside.files or jobs):
        raise _nothing(request, _finished(ctx, viewer) if request.go else ())
    found = Erasure(
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
    waiting = unread(waits.unread, "encrypted writes in the outbox") if selected.names else ()
    partial = _partial_names(ctx, viewer, selected.names, would.nodes)
    notes = (*selected.notes, *waiting, *partial, *_left_over(ctx, viewer, selected.names), *outside.notes)
    needs = _needs_confirmation(selected.what, counts)
    if not request.go:
        return _previewed(ctx, found, counts, (*_advice(selected, counts, would.joined), *notes), confirm=needs)
    if needs and request.confirm != ctx.writer.account:
        raise Invalid(
            f"nothing was erased: this would erase {counts.standing} of {counts.of} memories",
            hint=f"to erase them, give the account's name: --yes --confirm {ctx.writer.account}",
        )
    erasing.only_while_deleted(request.deleted)
    # The outbox first: its entries must not be delivered meanwhile.
    clear_outbox(ctx.outbox, mentioned, sessions=sessions, privacy=ctx.privacy, write=True)
    notes += _end_relations(ctx, viewer, selected.retraction)
    notes += remove_files(ctx.settings, outside.files)
    notes += _refuse_reimport(ctx, selected.what, would.nodes)
    if has_code:
        forget_facts(ctx)
    done = erasing.run(selected.what)
    _, running = JobBook(ctx).forget(ctx.writer.account, mentions_job, write=True)
    notes += ("a rebuild is running and may name it: erase again when it has ended",) if running else ()
    _wait_for_audit(ctx, began_s)
    audited = clear_audit(ctx, viewer, calls, what=selected.what, write=True)
    forget_cached(ctx)
    return replace(
        found,
        status="erased",
        at=to_iso(ctx.clock.now_us()),
        by=ctx.writer.actor.agent,
        citations=done.citations,
        audit=audited,
        notes=(*notes, *done.notes, *_index_due(ctx, viewer)),
    )


def _wait_for_audit(ctx: CallContext, began_s: float) -> None:
    """Waits until the calls are recorded that others made before the erasure began."""
    if ctx.audit is not None and ctx.audit.recording:
        time.sleep(max(0.0, began_s + SETTLED_S - time.monotonic()))


def _calls(selected: Selected, counts: Counts, would: Preview, sessions: frozenset[str]) -> CallMatch:
    """The audit records to erase."""
    mentions = Mentioned(
        ids=would.nodes,
        names=selected.names,
        texts=counts.openings | _openings_removed(selected),
        paths=counts.places | set(would.files),
        all=selected.what == "everything",
    )
    return CallMatch(mentions=mentions, names=selected.names, sessions=sessions)


def _erasing(ctx: CallContext, viewer: Viewer, selected: Selected) -> Erasing:
    from weft.erasure.affected import Affected
    from weft.erasure.erase_log import Erasing
    from weft.erasure.rewrite_log import RewriteAccess

    affected = Affected(selected.ids, selected.names, ctx.privacy.event, selected.retraction, selected.files)
    return Erasing(RewriteAccess.of(ctx, viewer), affected)


def _sessions(ctx: CallContext, request: ErasureRequest) -> frozenset[str]:
    if request.selected.what != "session":
        return frozenset()
    names = frozenset(names_of(ctx, request.written))
    return names | {log_session(name) for name in names}


def _job_mentions(request: ErasureRequest, mentioned: Mentioned, *, has_code: bool) -> Callable[[str], bool]:
    """Job records name files in many ways, such as by folder or in an error: with any code, all of them match."""
    ids = (request.written,) if request.selected.what == "source" else ()
    path = Mentioned(ids=ids, paths=request.selected.files, all=has_code)
    return lambda text: path(text) or mentioned(text)


def _openings_removed(selected: Selected) -> set[str]:
    """First words of the texts that are removed from nodes that stay."""
    pairs = (pair for pairs in selected.retraction.words.values() for pair in pairs)
    return {opening(before.text) for before, after in pairs if before.text != after.text} - {""}


def _refuse_reimport(ctx: CallContext, what: What, ids: Collection[str]) -> tuple[str, ...]:
    """Keeps erased conversations from being imported again from their files.

    After `everything` the same files may be imported: the account begins anew.
    """
    gone = conversations_in(ids)
    forget_reached(ctx.settings, gone)
    if not gone or what == "everything" or not leave_erased(ctx.settings, gone):
        return ()
    which = "the conversation" if len(gone) == 1 else f"the {len(gone)} conversations"
    return (f"`weft ingest-transcript` will not import {which} again, unless --session gives another name",)


def _finished(ctx: CallContext, viewer: Viewer) -> tuple[str, ...]:
    """Sweeps the store: an earlier erasure may have been stopped after the log and before the files."""
    from weft.erasure.erase_log import swept

    due = ctx.store.sweep_due(viewer)
    notes = swept(ctx.store, viewer, ctx.progress)
    return (*(("copies that an interrupted erasure left in the files were removed now",) if due else ()), *notes)


def _index_due(ctx: CallContext, viewer: Viewer) -> tuple[str, ...]:
    """Vector index files that held erased texts are removed whole; rebuilding takes longer than an erasure may."""
    note = "until `weft reindex` rebuilds the vector index, search by meaning compares every vector and is slower"
    return (note,) if ctx.store.reindex_due(viewer) else ()


def _nothing(request: ErasureRequest, notes: tuple[str, ...]) -> NotFound:
    wild = " (* and ? are not wildcards)" if WILDCARDS & set(request.written) else ""
    return NotFound(
        "; ".join((f"found nothing to erase for the {request.selected.what} {request.written[:80]!r}{wild}", *notes)),
        hint="`weft recall` shows names and ids, `weft log show` shows sessions; it may have been erased already",
    )


def _needs_confirmation(what: What, counts: Counts) -> bool:
    return what == "everything" or (what != "deleted" and counts.standing * 2 > counts.of)


def _advice(selected: Selected, counts: Counts, joined: Collection[str]) -> tuple[str, ...]:
    """Notes for the person who decides."""
    if not selected.names:
        return ()
    found = f"{', '.join(map(repr, selected.names))}: {len(selected.ids | set(joined))} nodes"
    every = f"every text that contains one of these names as whole words is erased: {found}"
    if counts.standing <= COMMON * counts.of:
        return (every,)
    share = f"that is {counts.standing} of {counts.of} memories"
    return (every, f"{share}: if the name is a common word or belongs to others too, give the id instead")


def _previewed(ctx: CallContext, found: Erasure, counts: Counts, notes: tuple[str, ...], *, confirm: bool) -> Erasure:
    typed = f" --confirm {ctx.writer.account}" if confirm else ""
    more = f"nothing was erased: repeat with --yes{typed} to erase all of this for good"
    shown = tuple(NodeGone(id=node, kind=kind, words=words) for node, kind, words in counts.some)
    return replace(found, shown=shown, notes=(*notes, more))


def forget_cached(ctx: CallContext) -> None:
    """Empties this process's caches of texts and questions."""
    import gc
    from functools import lru_cache

    ctx.embedding.forget()
    wrapper = type(lru_cache(lambda: None))
    for held in gc.get_objects():  # all there are: a list kept by hand would miss the next one
        if isinstance(held, wrapper) and str(getattr(held, "__module__", "")).startswith("weft."):
            held.cache_clear()


# Names that an erasure does not reach


def _left_over(ctx: CallContext, viewer: Viewer, names: Collection[str]) -> tuple[str, ...]:
    """Notes on names that stay, in log headers and in names of projects, and on changes that are still open."""
    open_now = [tx.id for tx in ctx.store.transactions(viewer, limit=100) if tx.closed_pos is None]
    again = [f"the change {each} is still open: when it is closed, erase again" for each in open_now[:1]]
    if not names:
        return tuple(again)
    leftovers = _NameLeftovers(names)
    for sort, name in ctx.store.header_names(viewer):
        leftovers.look(sort.replace("_", " "), name)
    for row in ctx.store.node_words(viewer, of_kind=KEPT_KINDS.__contains__):
        if not row.id.startswith(ERASED):
            leftovers.look(row.kind.lower(), row.name or row.id)
    return (*leftovers.notes(), *again)


def _partial_names(ctx: CallContext, viewer: Viewer, names: Collection[str], going: Collection[str]) -> tuple[str, ...]:
    """A note on texts that hold only a part of a name: they stay, and may be about the same person or thing."""
    parts = dict.fromkeys(word for name in names for word in _name_parts(name))
    whole = {name.casefold() for name in names}
    found: dict[str, None] = {}
    held, more = [], False
    for word in [each for each in parts if each.casefold() not in whole][:MAX_PARTS]:
        (holding,) = ctx.store.by_phrase(viewer, NOW, [" ".join(stems(word))], limit=MAX_HOLDING)
        texts = (lead.id for lead in holding.nodes if lead.kind not in UNSEARCHED_KINDS)
        left = [each for each in texts if each not in going]
        held += [word] if left else []
        more = more or holding.more
        found |= dict.fromkeys(left)
    if not found:
        return ()
    some = f"{len(found)}{' or more' if more else ''} texts contain only {' or '.join(map(repr, held))}"
    return (f"{some} and stay, such as {next(iter(found))}: check them, and erase by id those that are meant",)


def _name_parts(name: str) -> list[str]:
    """The words of a name of several words that are long enough to search for."""
    words = [word.strip(".,;:()'’") for word in name.split()]
    return [word for word in words if len(word) >= MIN_PART and stems(word)] if len(words) > 1 else []


class _NameLeftovers:
    """Occurrences of names in fields that an erasure never changes."""

    def __init__(self, names: Collection[str]) -> None:
        self._search = NameSearch(names)
        self._seen: set[tuple[str, str]] = set()
        self._held: dict[str, list[str]] = {}  # by sort

    def look(self, sort: str, value: str) -> None:
        if (sort, value) in self._seen:
            return
        self._seen.add((sort, value))
        if self._search.holds(value) or self._search.holds(value.translate(MARKS)):
            self._held.setdefault(sort, []).append(value)

    def notes(self) -> Iterator[str]:
        kept = {kind.lower() for kind in KEPT_KINDS}
        for sort, values in self._held.items():
            shown = ", ".join(values[:EXAMPLES])
            shown += f" and {len(values) - EXAMPLES} more" if len(values) > EXAMPLES else ""
            why = "its memories are found by it" if sort in kept else "event headers are never changed"
            yield f"the name of the {sort} {shown} contains it and stays: {why}"


def _end_relations(ctx: CallContext, viewer: Viewer, retraction: Retraction) -> tuple[str, ...]:
    """Ends relations that only an erased session asserted, before their names are removed. Idempotent."""
    if not retraction.edges:
        return ()
    keys = {
        (row.src, row.rel, row.dst)
        for row in ctx.store.graph_rows(viewer)
        if isinstance(row, EdgeVersion) and row.retired_at is None and row.interval.valid_to is None
    }
    ending = sorted(keys & retraction.edges)
    own = replace(ctx, viewer=viewer)
    for some in in_slices(ending, RELATIONS_AT_ONCE):
        names = tuple(graph.EdgeName(src=src, rel=rel, dst=dst) for src, rel, dst in some)
        commit(own, [Draft(kind="graph.ended", payload=graph.Ended(edges=names))])
    return (f"{len(ending)} relations that only this session asserted were ended",) if ending else ()
