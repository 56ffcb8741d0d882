"""Search in the newest events of the log by words, for when the graph cannot be read.

Only the log is read, with an operator's rights, whoever asks: this is the one place that raises rights. They are needed
to know what was deleted, restricted, or is part of an open change. Every result has passed the caller's own
`Viewer.admits` with today's guard, and scores count such texts only: `test_log_search_guarded` checks that.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import MAX_INSTANT_US, MIN_INSTANT_US
from weft.core.errors import Corrupt, StoreError
from weft.core.ports import Store
from weft.core.queries import TextQuery
from weft.core.types import SCOPES, Commit, Event, Identity, Interval, NodeVersion, Viewer
from weft.log.chain import header_hash, payload_digest
from weft.retrieval.fallback.log_fold import HeldAssertion, Logged, LogState, fold, last_of
from weft.retrieval.pipeline import Answer, Ask, Candidate, ScoreSource, is_wanted
from weft.runtime.call_context import CallContext
from weft.text.extract.question.question import read_question
from weft.text.lexical import FIELD_WEIGHTS, content_hash, fold_case, idf, query_terms, stems

MAX_EVENTS: Final = 20_000  # of the log, the newest
MAX_BYTES: Final = 16_000_000  # of their payloads
SLICE_EVENTS: Final = 1_000  # read at once
MAX_TERMS: Final = 32  # of the question
MAX_WEIGHED: Final = 3_000  # texts that are looked at word by word
LEAST_SHARE: Final = 0.1  # of the best score: hits with less are left out
MARK: Final = "from the log, found by words only"
_BM25: Final = TextQuery(terms=())


def search_log(ctx: CallContext, ask: Ask, *, problem: str) -> Answer:
    """The events of the log that match a question, best first, as far as the caller may see them.

    Guards, both clocks, projects and kinds hold as in the graph, and parts answer by themselves. Every hit is marked,
    `degraded` is `problem`, `citations` has the citation of each hit. Raises StoreError if the log cannot be read
    either.
    """
    reader = Viewer(account=ctx.viewer.account, scopes=frozenset(SCOPES), sensitive=True)
    when = ctx.store.pin(reader, ask.when)
    commits, notes = _newest(ctx.store, reader)
    texts, marks = _visible(fold(commits, valid_at=when.valid_at or 0, known_at=when.known_at or 0), ctx, ask)
    every = query_terms(ask.query)
    terms = tuple(sorted(every, key=lambda term: (-term[1], -len(term[0]), term[0])))[:MAX_TERMS]
    if len(terms) < len(every):
        notes += (f"only {MAX_TERMS} of the question's {len(every)} words were searched for",)
    ranked = _ranked(texts, terms, ask)
    return Answer(
        ask=replace(ask, when=when),
        query=ask.query,
        question=read_question(ask.query),
        asked_at=ask.asked_at if ask.asked_at is not None else when.valid_at or 0,
        terms=terms,
        degraded=problem,
        ranked=tuple(
            Candidate(node=_node(text, source.rank), sources=(source,), marks=(MARK, *marks.get(text.said.put.id, ())))
            for text, source in ranked
        ),
        citations={text.said.event.pos: text.said.event.citation for text, _ in ranked},
        notes=(
            f"the graph could not be read ({problem}): these hits are from the log, by words only",
            "`weft doctor` finds the fault; `weft rebuild` builds the graph again from the log",
            *notes,
        ),
    )


# ---- reading


def _newest(store: Store, reader: Viewer) -> tuple[list[Logged], tuple[str, ...]]:
    """The newest commits, in their order, and a note if there are others before them.

    Stops where the log is damaged or has a gap: older events may have been deleted or restricted there. Raises
    StoreError if not even the last commit can be read.
    """
    left = missing = store.head(reader).pos
    found: list[Logged] = []
    size = 0
    step = SLICE_EVENTS
    while left > 0:
        events = sum(commit.count for commit, _ in found)
        if events >= MAX_EVENTS or size >= MAX_BYTES:
            return found[::-1], (f"only the newest {events} events of the log were searched",)
        start = max(0, left - step)
        try:
            commits = _between(store, reader, start, left)
            before = _first_missing(commits, missing)
        except StoreError as problem:
            if step > 1:
                step = max(1, step // 10)  # closer to the damage, to read all that comes after it
                continue
            if not found:
                raise
            return found[::-1], (f"events before {missing + 1} of the log were not searched: {problem.message}",)
        found += reversed(commits)
        size += sum(len(event.payload or b"") for _, each in commits for event in each)
        left, missing = start, before
    return found[::-1], (f"the first {missing} events of the log are missing",) if missing else ()


def _between(store: Store, reader: Viewer, after: int, upto: int) -> list[Logged]:
    """The commits that begin past `after` and not past `upto`, in order."""
    found: list[Logged] = []
    while after < upto:
        commits = [each for each in store.log(reader, after=after, limit=SLICE_EVENTS) if each[0].first_pos <= upto]
        if not commits:
            break
        found += commits
        after = last_of(found[-1][0])
    return found


def _first_missing(commits: Sequence[Logged], last: int) -> int:
    """The last position before these commits, the newest of which ends at `last`. Raises Corrupt if one is missing."""
    for commit, events in reversed(commits):
        whole = last_of(commit) == last and [event.pos for event in events] == list(range(commit.first_pos, last + 1))
        if not whole or not all(_is_whole(event, commit) for event in events):
            raise Corrupt(f"the log is damaged at event {commit.first_pos}", hint="run `weft doctor`")
        last = commit.first_pos - 1
    return last


def _is_whole(event: Event, commit: Commit) -> bool:
    """Whether every hash matches. Erased events are not damage."""
    if not event.rewritten and (
        event.payload is None or event.salt is None or payload_digest(event.salt, event.payload) != event.payload_hash
    ):
        return False
    times = (event.recorded_at, event.occurred_at or event.recorded_at)
    exist = all(MIN_INSTANT_US <= time <= MAX_INSTANT_US for time in times)
    return exist and event.known_at == commit.at and header_hash(event) == event.hash


# ---- guards


class _Text(Struct, frozen=True):
    """The text of a node that the caller may see."""

    said: HeldAssertion
    identity: Identity
    folded: str


def _visible(folded: LogState, ctx: CallContext, ask: Ask) -> tuple[list[_Text], dict[str, tuple[str, ...]]]:
    """The texts that may answer, newest first, and remarks on them by id.

    A superseded node is left out, and named on the newer one, if the viewer may see both and the relation.
    """
    viewer = ctx.viewer
    open_to = {
        said.put.id: replace(said, put=ctx.privacy.put(said.put))
        for said in folded.standing
        if (identity := folded.identities[said.put.id]).deleted_at is None and viewer.admits(identity.guard)
    }
    marks: dict[str, tuple[str, ...]] = {}
    superseded: set[str] = set()
    for older, links in folded.replaced.items():
        for newer, guard in links:
            if older not in open_to or newer not in open_to or not viewer.admits(guard):
                continue
            if open_to[newer].event.pos > open_to[older].event.pos:
                superseded.add(older)
                marks[newer] = (*marks.get(newer, ()), f"supersedes {older}")
    texts: list[_Text] = []
    for said in open_to.values():
        put, identity = said.put, folded.identities[said.put.id]
        if put.id not in superseded and is_wanted(ask, identity):
            # The index drops quotes inside words, so that O'Hara is found as ohara: so does this text.
            words = fold_case(f"{put.name}\n{put.summary}\n{put.text}").replace("'", "").replace("’", "")
            texts.append(_Text(said, identity, words))
    return texts, marks


# ---- words


def _ranked(texts: Sequence[_Text], terms: Sequence[tuple[str, float]], ask: Ask) -> list[tuple[_Text, ScoreSource]]:
    """The best by BM25, as shares of the highest score that a text can have."""
    counted = _counted(texts, [term for term, _ in terms])
    common = Counter(term for _, counts in counted for term in counts)
    weights = {term: weight * idf(len(texts), common[term]) for term, weight in terms}
    most = sum(weights.values()) * (_BM25.k1 + 1.0) or 1.0
    mean = max(sum(len(text.folded) for text in texts) / max(len(texts), 1), 1.0)
    named = ask.query.strip()
    scored = [(1.0, "it is named by its id", text) for text in texts if text.said.put.id == named]
    for text, counts in counted:
        norm = _BM25.k1 * (1.0 - _BM25.b + _BM25.b * len(text.folded) / mean)
        gave = sum(weights[term] * n * (_BM25.k1 + 1.0) / (n + norm) for term, n in counts.items())
        if gave > 0.0 and text.said.put.id != named:
            scored.append((gave / most, ", ".join(sorted(counts)), text))
    scored.sort(key=lambda each: -each[0])  # of equals the newer one stays first
    least = LEAST_SHARE * scored[0][0] if scored else 0.0
    best = [each for each in scored if each[0] > least][: ask.limit]
    return [
        (text, ScoreSource(name="log", rank=rank, raw=share, weight=1.0, part=share, detail=detail))
        for rank, (share, detail, text) in enumerate(best, start=1)
    ]


def _counted(texts: Sequence[_Text], terms: Sequence[str]) -> list[tuple[_Text, dict[str, float]]]:
    """Counts each term in the texts that contain any, by field.

    Stemming every text would be slow. A word begins like its stem, except for the stem's last two letters (dying, die):
    only texts with such beginnings are stemmed, those with the rarest words first.
    """
    beginnings = {term: term[: max(1, len(term) - 2)] for term in terms}
    maybe: list[tuple[_Text, list[str]]] = []
    for text in texts:
        if held := [term for term in terms if beginnings[term] in text.folded]:
            maybe.append((text, held))
    common = Counter(term for _, held in maybe for term in held)
    rarity = {term: idf(len(texts), common[term]) for term in terms}
    likely = heapq.nlargest(MAX_WEIGHED, maybe, key=lambda each: sum(rarity[term] for term in each[1]))
    found = []
    for text, held in likely:
        put = text.said.put
        words = [Counter(stems(field)) for field in (put.name, put.summary, put.text)]
        fields = tuple(zip(FIELD_WEIGHTS, words, strict=True))
        counts = {term: sum(weight * field[term] for weight, field in fields) for term in held}
        found.append((text, {term: n for term, n in counts.items() if n}))
    return found


def _node(text: _Text, rank: int) -> NodeVersion:
    """The node as the graph would show it, valid as asserted, without a graph row."""
    put, event = text.said.put, text.said.event
    return NodeVersion(
        row=-rank,
        id=put.id,
        kind=put.kind,
        name=put.name,
        summary=put.summary,
        text=put.text,
        props=put.props,
        focus=put.focus,
        slot=put.slot,
        guard=text.identity.guard,
        recorded_guard=put.guard,
        interval=Interval(
            valid_from=put.valid_from,
            valid_to=put.valid_to,
            asserted_from=put.valid_from,
            asserted_to=put.valid_to,
        ),
        recorded_at=event.known_at,
        born=event.pos,
        tx=text.said.tx,
        retired_at=None,
        retired_pos=None,
        retired_tx=None,
        deleted_at=None,
        event=event.pos,
        content_hash=content_hash(put.name, put.summary, put.text),
    )
