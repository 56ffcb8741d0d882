"""What is written while the disk misbehaves, and what must hold afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import apsw
import pytest

from weft.append.append import AppendOptions, append
from weft.append.import_log import import_log
from weft.backends.memory import MemoryStore
from weft.backends.sqlite import store as sqlite_store
from weft.backends.sqlite.files import connection
from weft.backends.sqlite.files.directory import ACCOUNTS
from weft.backends.sqlite.search import words
from weft.backends.sqlite.store import SqliteStore
from weft.backends.sqlite.write import rebuild
from weft.core.ports import Store
from weft.core.types import SCOPES, Actor, Event, Viewer, Writer
from weft.graph.apply_moves import apply_events
from weft.graph.digest import graph_digest
from weft.log import draft as drafting
from weft.log.chain import commit_genesis
from weft.log.draft import Draft
from weft.log.jsonl import write_lines
from weft.log.kinds import document, graph, memory
from weft.log.verify import read_commits, verify

ACCOUNT = "crash"
OPERATOR = Viewer(account=ACCOUNT, scopes=frozenset(SCOPES), sensitive=True)
START_US = 1_767_225_600_000_000  # 2026-01-01
SECOND_US = 1_000_000


class FixedClock:
    """Stands still until told otherwise."""

    def __init__(self, now_us: int) -> None:
        self.now = now_us

    def now_us(self) -> int:
        return self.now


class State(NamedTuple):
    """All that a reader could tell about a store: where the log ends, and the whole graph."""

    pos: int
    log: str
    graph: str


def make_small(patch: pytest.MonkeyPatch) -> None:
    """Bounds small enough that a short script meets them all, and salts that make two runs equal."""
    patch.setattr(drafting, "os", SimpleNamespace(urandom=bytes))
    patch.setattr(words, "SETTLE_AT", 8)
    patch.setattr(sqlite_store, "NEAR_THE_END", 3)
    patch.setattr(rebuild, "SLICE_EVENTS", 5)
    small = {"wal_autocheckpoint": "60"}
    patch.setattr(connection, "_PRAGMAS", tuple((name, small.get(name, value)) for name, value in connection._PRAGMAS))


@contextmanager
def opened(directory: Path, *, vfs: str | None = None, clock: FixedClock | None = None) -> Iterator[SqliteStore]:
    store = SqliteStore(directory, commit_genesis, clock=clock or FixedClock(START_US), vfs=vfs)
    try:
        yield store
    finally:
        # SQLite reports no failed checkpoint while closing: only a disk written in Python makes apsw raise there.
        with suppress(apsw.Error) if vfs else nullcontext():
            store.close()


def database(directory: Path) -> Path:
    return directory / ACCOUNTS / f"{ACCOUNT}.db"


# Looking


def state_of(store: Store) -> State:
    head = store.head(OPERATOR)
    return State(head.pos, head.digest.hex(), graph_digest(store.graph_rows(OPERATOR)))


def kept_digest(directory: Path) -> str:
    with opened(directory) as store:
        return state_of(store).log


def all_events(store: Store) -> list[Event]:
    return [event for _, events in read_commits(store, OPERATOR) for event in events]


def refolded(store: Store) -> MemoryStore:
    """The same log, folded from nothing by the reference backend."""
    lines = list(write_lines(ACCOUNT, read_commits(store, OPERATOR)))
    model = MemoryStore(commit_genesis, clock=FixedClock(START_US))
    import_log(model, OPERATOR, lambda: lines, clock=FixedClock(START_US))
    return model


def assert_sound(store: Store) -> None:
    """The chain verifies and the files are whole."""
    found = verify(store, OPERATOR)
    assert found.problem is None
    assert store.check(OPERATOR) == ()


def assert_equals_rebuild(store: Store) -> None:
    """The graph is what a rebuild makes of the log: here, and in the reference backend."""
    before = state_of(store)
    assert state_of(refolded(store)) == before
    run_rebuild(store)
    assert state_of(store) == before


# Writing


def writer(session: str = "talk") -> Writer:
    return Writer(account=ACCOUNT, session=session, actor=Actor(agent="tester"))


def remembered(node: str, text: str, **fields: object) -> Draft:
    return Draft(kind="memory.remembered", payload=memory.Remembered(id=node, text=text, **fields))


def fact(text: str, *, valid_from: str | None = None, node: str = "fact:home") -> Draft:
    said = graph.NodeAssertion(id=node, kind="Fact", name="home", text=text, slot="ada/home", valid_from=valid_from)
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(said,)))


def run_rebuild(store: Store) -> None:
    store.rebuild(OPERATOR, lambda view, events: apply_events(view, events), progress=lambda done, total: None)


Step = Callable[[Store], None]


def _append_step(number: int, drafts: Sequence[Draft], *, session: str = "talk") -> Step:
    def step(store: Store) -> None:
        clock = FixedClock(START_US + number * SECOND_US)
        append(store, writer(session), drafts, clock=clock, options=AppendOptions(request_id=f"step-{number}"))

    return step


def script() -> tuple[Step, ...]:
    """Each step is all or nothing; a step that is run again changes nothing more."""
    ada = graph.NodeAssertion(id="person:ada", kind="Person", name="Ada")
    lives = graph.EdgeAssertion(src="memory:2", rel="INVOLVES", dst="person:ada")
    knows = graph.EdgeAssertion(src="person:ada", rel="KNOWS", dst="person:bob", weight=0.5)
    bob = graph.NodeAssertion(id="person:bob", kind="Person", name="Bob", props={"age": 41})
    sections = tuple(
        document.SectionText(
            id=f"doc:a#{n}", title=f"Part {n}", level=1, line=n, end_line=n, text=f"about contexts {n}"
        )
        for n in range(1, 5)
    )
    ingested = document.Ingested(id="doc:a", source="a.md", title="Looms", sha256="0" * 64, sections=sections)
    drafts: list[Sequence[Draft]] = [
        [remembered("memory:1", "the warp is strung first")],
        [remembered("memory:2", "Ada lives in Paris", entities=(ada,), edges=(lives,))],
        [fact("Ada lives in Paris"), fact("Ada lives in Berlin", node="fact:home2")],
        [Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(bob,), edges=(knows,)))],
        [fact("Ada lived in Rome", valid_from="2025-06-01", node="fact:home3")],
        [Draft(kind="document.ingested", payload=ingested)],
        [Draft(kind="graph.deleted", payload=graph.Deleted(nodes=("memory:1",)))],
        [remembered("memory:3", "after the rebuild", supersedes=("memory:2",))],
        [remembered(f"memory:{n}", f"note {n} " + "thread " * 300) for n in range(4, 9)],
    ]
    steps = [_append_step(number, each) for number, each in enumerate(drafts, start=1)]
    return (*steps[:7], run_rebuild, *steps[7:])
