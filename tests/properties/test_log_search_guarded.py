"""What the log answers where the graph cannot: nothing that the graph would hide, and all that it would show.

The log is read there with an operator's rights, so guards, deletions, clocks and changes not yet complete are judged
apart from the graph. Here both are asked, in worlds where everything happens to a few nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.running import SqlitePlace, memory_store
from tests.properties.test_guarded_recall import HIDDEN, WORLDS, Row, filled, in_memory, in_sqlite
from tests.properties.test_guarded_recall import VIEWERS as NAMED_VIEWERS
from tests.retrieval.small_worlds import QUESTIONS, context_over
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound
from weft.core.ports import Store
from weft.core.types import NOW, Find, Guard, NodeVersion, Viewer, When
from weft.graph.moves import SetDeleted
from weft.log.draft import Draft
from weft.retrieval.fallback import from_log, log_fold
from weft.retrieval.fallback.from_log import MARK, search_log
from weft.retrieval.pipeline import Ask
from weft.testing.clock import HOUR_US, START_US, ManualClock
from weft.testing.scribe import Scribe, closed, continued, deleted, edge, ended, node, opened, restored
from weft.testing.viewers import ANN, ANN_INSIDE, BOB, OPERATOR, PUBLIC, SHARED, STAFF, VISITOR

KINDS = {"n0": "Note", "n1": "Note", "m0": "Memory", "d0": "Document", "s0": "Session", "t0": "ToolCall"}
IDS = tuple(sorted(KINDS))
FRUITS = ("apple", "pear", "plum", "quince")
VIEWERS = (
    OPERATOR,
    STAFF,
    SHARED,
    PUBLIC,
    ANN,
    BOB,
    ANN_INSIDE,
    VISITOR,
    Viewer(account="acme", scopes=frozenset({"admin"}), sensitive=True),
    Viewer(account="acme", scopes=frozenset({"public"}), agent="ann", audience="public"),
    Viewer(account="other", scopes=OPERATOR.scopes, sensitive=True),
)
GUARDS = st.builds(
    Guard,
    project=st.sampled_from((None, "p", "q")),
    scope=st.sampled_from(("public", "public", "shared", "admin")),
    agents=st.sampled_from(((), (), ("ann",), ("bob",), ("ann", "bob"))),
    sensitive=st.integers(0, 4).map(lambda n: n == 0),
)
HOURS = st.none() | st.integers(-6, 6)
TEXTS = st.lists(st.sampled_from(FRUITS), min_size=1, max_size=3).map(" ".join)


# ---- what may happen


def at(hours: int | None) -> int | None:
    return None if hours is None else START_US + hours * HOUR_US


def put(name: str, text: str, guard: Guard, slot: str | None, begin: int | None, lasts: int | None) -> Draft:
    until = None if lasts is None else (START_US + 6 * HOUR_US if begin is None else at(begin + lasts))
    rights = {"project": guard.project, "scope": guard.scope, "agents": guard.agents, "sensitive": guard.sensitive}
    return node(name, text, kind=KINDS[name], at=at(begin), until=until, slot=slot, **rights)


NAME = st.sampled_from(IDS)
PUTS = st.builds(put, NAME, TEXTS, GUARDS, st.sampled_from((None, None, "shelf")), HOURS, st.none() | st.integers(1, 6))
ENDS = st.builds(lambda name, hours: ended(name, at=at(hours)), NAME, HOURS)
LINKS = st.builds(
    lambda new, old, guard: edge(new, "SUPERSEDES", old, scope=guard.scope, agents=guard.agents),
    NAME,
    NAME,
    GUARDS,
)
OTHERS = st.one_of(ENDS, st.builds(deleted, NAME), st.builds(restored, NAME), LINKS)
DRAFTS = st.lists(st.one_of(PUTS, PUTS, OTHERS), min_size=1, max_size=3)
STEPS = st.lists(st.tuples(st.sampled_from(("one", "one", "one", "open", "more", "close")), DRAFTS), max_size=14)
Step = tuple[str, list[Draft]]


@dataclass
class Told:
    """A store in which all that happened, and the moments at which it did."""

    store: Store
    clock: ManualClock
    moments: list[int] = field(default_factory=list)


def live(told: Told, steps: list[Step]) -> None:
    """Writes each step that weft accepts; the rest did not happen."""
    change: str | None = None
    scribe = Scribe(told.store, told.clock)
    for how, drafts in steps:
        told.moments.append(told.clock.step())
        with suppress(Conflict, NotFound, Invalid, Forbidden):
            if how == "open" and change is None:
                first = scribe.write(opened(), *drafts).events[0]
                change = f"tx-{first.hash.hex()[:16]}"
            elif how == "more" and change is not None:
                scribe.write(continued(change), *drafts)
            elif how == "close" and change is not None:
                scribe.write(closed(change), *drafts)
                change = None
            elif how == "one":
                scribe.write(*drafts)
    told.clock.step()


@contextmanager
def in_both(steps: list[Step]) -> Iterator[list[Told]]:
    clocks = ManualClock(), ManualClock()
    place = SqlitePlace(clocks[1])
    try:
        worlds = [Told(memory_store(clocks[0]), clocks[0]), Told(place.store, clocks[1])]
        for told in worlds:
            live(told, steps)
        yield worlds
    finally:
        place.close()


# ---- what the graph shows, and what the log answers


def shown(
    told: Told, viewer: Viewer, when: When, word: str, projects: tuple[str | None, ...] | None
) -> list[NodeVersion]:
    """What the graph shows of nodes that say the word."""
    found = told.store.find(viewer, when, Find(projects=projects), limit=1_000).nodes
    return [each for each in found if word in each.text.split() and each.kind != "ToolCall"]


def superseded(told: Told, viewer: Viewer, when: When) -> set[str]:
    """Nodes that a later one is said to supersede, where the viewer may see both ends and the relation."""
    steps = told.store.neighbours(viewer, when, IDS, rels=("SUPERSEDES",), direction="out", limit=100)
    events = {each.id: each.event for each in told.store.find(viewer, when, Find(), limit=1_000).nodes[::-1]}
    return {
        step.node.id
        for step in steps
        if viewer.admits(step.edge.guard)
        and {step.start, step.node.id} <= events.keys()
        and events[step.start] > events[step.node.id]
    }


def check(told: Told, viewer: Viewer, when: When, word: str, projects: tuple[str | None, ...] | None) -> None:
    ctx = context_over(told.store, told.clock, viewer=viewer)
    answer = search_log(ctx, Ask(query=word, when=when, limit=100, projects=projects), problem="it is down")
    graph = shown(told, viewer, when, word, projects)
    versions = {(each.id, each.text, each.event, each.guard) for each in graph}
    for hit in answer.ranked or ():
        told_of = (hit.node.id, hit.node.text, hit.node.event, hit.node.guard)
        assert told_of in versions, f"the graph hides {told_of} from {viewer}"
        assert hit.marks[0] == MARK
        assert answer.citations[hit.node.event].startswith("weft://")
    found = {hit.node.id for hit in answer.ranked or ()}
    assert found == {each.id for each in graph} - superseded(told, viewer, when)
    assert answer.degraded == "it is down"


@settings(max_examples=max(30, settings().max_examples * 2))
@given(STEPS, st.sampled_from(FRUITS), st.data())
def test_the_log_shows_what_the_graph_would(steps: list[Step], word: str, data: st.DataObject) -> None:
    with in_both(steps) as worlds:
        for told in worlds:
            moments = [None, *told.moments, START_US - HOUR_US]
            valid_at = data.draw(st.sampled_from(moments), label="valid_at")
            known_at = data.draw(st.sampled_from(moments), label="known_at")
            projects = data.draw(st.sampled_from((None, ("p", None), ("q",))), label="projects")
            for viewer in VIEWERS:
                for when in (NOW, When(valid_at=valid_at, known_at=known_at)):
                    check(told, viewer, when, word, projects)


@given(STEPS, st.sampled_from(FRUITS), st.integers(1, 6))
def test_the_newest_of_the_log_is_enough_to_know_who_may_see_what(steps: list[Step], word: str, events: int) -> None:
    with pytest.MonkeyPatch.context() as patched, in_both(steps) as worlds:
        patched.setattr(from_log, "MAX_EVENTS", events)
        patched.setattr(from_log, "SLICE_EVENTS", 2)
        for told in worlds:
            for viewer in VIEWERS:
                ctx = context_over(told.store, told.clock, viewer=viewer)
                ask = Ask(query=word, when=NOW, limit=100, projects=None)
                for hit in search_log(ctx, ask, problem="it is down").ranked or ():
                    open_to = told.store.history(viewer, hit.node.id, limit=1_000)
                    assert (hit.node.text, hit.node.event) in {(each.text, each.event) for each in open_to}


# ---- what is hidden leaves no trace


def answered(store: Store, clock: ManualClock, viewer: Viewer, question: str) -> list[object]:
    ctx = context_over(store, clock, viewer=viewer)
    ask = Ask(query=question, when=When(valid_at=clock.now_us()), limit=20, projects=("p", None))
    answer = search_log(ctx, ask, problem="it is down")
    return [answer.notes, [(hit.node.id, hit.node.text, hit.sources, hit.marks) for hit in answer.ranked or ()]]


def compare(make: object, rows: list[Row], questions: tuple[str, ...]) -> None:
    """Asks as every viewer, with all rows there and with only those that it may see."""
    with filled(make, rows) as (full, clock):  # type: ignore[arg-type]
        for name, viewer in NAMED_VIEWERS.items():
            hidden = {how for how, (_, viewers) in HIDDEN.items() if name in viewers}
            with filled(make, rows, without=hidden) as (alone, other):  # type: ignore[arg-type]
                for question in questions:
                    assert answered(full, clock, viewer, question) == answered(alone, other, viewer, question)


@settings(max_examples=max(10, settings().max_examples // 2))
@given(WORLDS, st.sampled_from(QUESTIONS))
def test_what_is_hidden_changes_no_answer(rows: list[Row], question: str) -> None:
    compare(in_memory, rows, (question,))


def test_a_world_of_every_shape_and_everything_hidden() -> None:
    shapes = ("titled", "remembered", "talk", "session", "file", "entity", "part")
    rows: list[Row] = [
        (shape, "Velmora", "My favourite ferry is Velmora. I sail it every week", -number, how)
        for number, how in enumerate(HIDDEN)
        for shape in shapes
    ]
    for make in (in_memory, in_sqlite):
        compare(make, rows, QUESTIONS)


# ---- the tests above find what they are for


@pytest.mark.parametrize("fault", ["deletions", "open changes", "guards of today"])
def test_catches(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fold that forgets something is found out by the worlds in which it matters."""
    hidden: dict[str, list[Step]] = {
        "deletions": [("one", [node("n0", "apple")]), ("one", [deleted("n0")])],
        "open changes": [("open", [node("n0", "apple")])],
        "guards of today": [("one", [node("n0", "apple")]), ("one", [node("n0", "apple", sensitive=True)])],
    }
    if fault == "deletions":
        moves_of = log_fold.moves_of
        kept = lambda event: (move for move in moves_of(event) if not isinstance(move, SetDeleted))  # noqa: E731
        monkeypatch.setattr(log_fold, "moves_of", kept)
    elif fault == "open changes":
        monkeypatch.setattr(log_fold, "payload_of", lambda event: None)
    else:
        monkeypatch.setattr(Viewer, "admits", lambda viewer, guard: True)
    with in_both(hidden[fault]) as (_, told), pytest.raises(AssertionError, match="the graph hides"):
        check(told, STAFF, NOW, "apple", None)
