"""Non-interference of whole answers: recall tells a viewer the same, to the byte, with and without what is hidden.

Among what is hidden are other texts of the same names, turns of a visible talk, parts of a visible session or file,
texts that say the same as visible ones, and texts on the way from one visible text to another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.properties import broken
from tests.properties.running import SqlitePlace, memory_store
from tests.retrieval.small_worlds import (
    DAYS,
    NAME,
    PROJECT,
    QUESTIONS,
    SHAPES,
    TEXT,
    WordEmbedder,
    context_over,
    embed_all,
    record,
)
from weft.backends.sqlite.search import words
from weft.core.clock import to_iso
from weft.core.ports import Store
from weft.core.types import Viewer
from weft.recall.recall import Recall, recall
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, deleted
from weft.testing.viewers import ANN, OPERATOR, PUBLIC, STAFF, STRANGER, VISITOR

Row = tuple[str, str, str, int, str]
VIEWERS = {"operator": OPERATOR, "staff": STAFF, "public": PUBLIC, "ann": ANN, "visitor": VISITOR}
# How a record may be hidden, the fields that make it so, and from whom it is.
HIDDEN: dict[str, tuple[dict[str, Any], frozenset[str]]] = {
    "open": ({"agents": ("ann",)}, frozenset()),
    "admin": ({"agents": ("ann",), "scope": "admin"}, frozenset({"public", "visitor"})),
    "sensitive": ({"agents": ("ann",), "sensitive": True}, frozenset({"staff", "public", "visitor"})),
    "of another agent": ({"agents": ("bob",)}, frozenset({"ann"})),
    "untagged": ({}, frozenset({"ann"})),
    "deleted": ({"agents": ("ann",)}, frozenset(VIEWERS)),
    "another project": ({"agents": ("ann",), "project": "q"}, frozenset(VIEWERS)),
    "another account": ({"agents": ("ann",)}, frozenset(VIEWERS)),
}
WORLDS = st.lists(
    st.tuples(st.sampled_from(SHAPES), NAME, TEXT, DAYS, st.sampled_from(("open", "open", *HIDDEN))),
    min_size=2,
    max_size=10,
)
MakeStore = Callable[[ManualClock], Any]
CITED = re.compile(rb"/events/\d+#[0-9a-f]+")


@contextmanager
def filled(make: MakeStore, rows: list[Row], *, without: Collection[str] = ()) -> Iterator[tuple[Store, ManualClock]]:
    """A store with these rows, each written when it would be among all of them."""
    clock = ManualClock()
    with make(clock) as store:
        for number, (shape, name, text, days, how) in enumerate(rows):
            clock.step()
            if how in without:
                continue
            viewer = STRANGER if how == "another account" else OPERATOR
            scribe = Scribe(store, clock, viewer=viewer, session=f"s{number}")
            (event,) = scribe.write(record(shape, number, name, text, days, **HIDDEN[how][0])).events
            if how == "deleted":
                made = store.asserted_by(viewer, event.pos, limit=100)
                scribe.write(deleted(*(row.id for row in made)))
        clock.step()
        for viewer in (OPERATOR, STRANGER):
            embed_all(store, clock, viewer=viewer)
        yield store, clock


@contextmanager
def in_memory(clock: ManualClock) -> Iterator[Store]:
    yield memory_store(clock)


@contextmanager
def in_sqlite(clock: ManualClock) -> Iterator[Store]:
    place = SqlitePlace(clock)
    try:
        yield place.store
    finally:
        place.close()


def told(store: Store, clock: ManualClock, viewer: Viewer, question: str, *, vectors: bool) -> bytes:
    """The answer as it leaves weft; how long stages took and where in the log an event stands left out."""
    ctx = context_over(store, clock, viewer=viewer, embedder=WordEmbedder() if vectors else None)
    now = to_iso(clock.now_us())
    asked = Recall(query=question, as_of=now, known_at=now, project=PROJECT, explain=True, limit=20)
    answer = recall(ctx, asked)
    stages = tuple(msgspec.structs.replace(stage, milliseconds=0.0) for stage in answer.stages)
    return CITED.sub(b"/events/", msgspec.json.encode(msgspec.structs.replace(answer, stages=stages)))


def compare(make: MakeStore, rows: list[Row], questions: list[str], *, vectors: bool = True) -> None:
    """Asks as every viewer, with all rows there and with only those that it may see."""
    with filled(make, rows) as (full, clock):
        for name, viewer in VIEWERS.items():
            hidden = {how for how, (_, viewers) in HIDDEN.items() if name in viewers}
            with filled(make, rows, without=hidden) as (alone, other):
                for question in questions:
                    here = told(full, clock, viewer, question, vectors=vectors)
                    there = told(alone, other, viewer, question, vectors=vectors)
                    assert here == there, f"what is hidden from {name} changes the answer to {question!r}"


ASKED = st.lists(st.sampled_from(QUESTIONS), min_size=2, max_size=2, unique=True)


@settings(max_examples=max(4, settings().max_examples // 2))
@given(WORLDS, ASKED, st.booleans())
def test_what_is_hidden_changes_no_answer_in_memory(rows: list[Row], asked: list[str], vectors: bool) -> None:
    compare(in_memory, rows, asked, vectors=vectors)


@settings(max_examples=max(3, settings().max_examples // 6))
@given(WORLDS, ASKED)
def test_what_is_hidden_changes_no_answer_in_sqlite(rows: list[Row], asked: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(words, "SETTLE_AT", 4)  # some texts in the index, some in the journal
        compare(in_sqlite, rows, asked)


@pytest.mark.parametrize(
    ("make", "how"),
    [
        *((in_memory, how) for how in HIDDEN if how != "open"),
        *((in_sqlite, how) for how in ("sensitive", "deleted", "another project")),  # dearer: one of each sort
    ],
)
def test_a_story_whose_middle_is_hidden(make: MakeStore, how: str) -> None:
    """The way from the film to the town leads through a hidden text; talks, sessions and files have hidden parts."""
    rows: list[Row] = [
        ("session", "Velmora", "My favourite ferry is Velmora. I sail it every week", -9, "open"),
        ("file", "Velmora", "I sail it every week", -9, "open"),
        ("talk", "Velmora", "I moved to Velmora last spring. Before that I lived with Marta Okonro", -8, "open"),
        ("titled", "The Glass Heron (film)", "The Glass Heron was directed by Elin Tarr Dravik.", -9, "open"),
        ("titled", "Elin Tarr Dravik", "Elin Tarr Dravik was born in Port Ysolde.", -8, how),
        ("titled", "Elin Other Dravik", "Elin Other Dravik was born in Velmora.", -8, "open"),
        ("titled", "Port Ysolde", "Port Ysolde is a ferry that sails to Velmora.", -7, "open"),
        ("titled", "Port Ysolde", "Port Ysolde is a ferry that sails to Velmora.", -1, how),
        ("remembered", "", "I moved to Velmora last spring. I live there.", -300, "open"),
        ("remembered", "", "I moved to Port Ysolde last spring. I live there.", -2, how),
        *(("part", name, f"My favourite ferry is here{'!' * n}", -n, how) for n in range(4) for name in ("Ab", "Abc")),
        ("entity", "Velmoar", "", -5, how),
        ("session", "Port Ysolde", "My favourite ferry is Port Ysolde. I sail it every week", -1, how),
    ]
    compare(make, rows, [*QUESTIONS, "who is Elin Dravik, and where was the director born?", "Velmoar"])


def test_catches_statistics_that_count_hidden_rows() -> None:
    @contextmanager
    def make(clock: ManualClock) -> Iterator[Store]:
        yield broken.counts_hidden_words(clock)

    @settings(
        max_examples=100,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(WORLDS, ASKED)
    def on_broken(rows: list[Row], asked: list[str]) -> None:
        compare(make, rows, asked)

    with pytest.raises(AssertionError, match="what is hidden from"):
        on_broken()
