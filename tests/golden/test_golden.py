"""Every log that a release left behind folds to the graph it had then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden.make_golden import ACCOUNT, HERE, OPERATOR, FixedClock
from weft.append.import_log import import_log
from weft.backends.memory import MemoryStore
from weft.backends.sqlite.store import SqliteStore
from weft.core.ports import Store
from weft.core.types import Event
from weft.graph.apply_moves import apply_events
from weft.graph.digest import graph_digest
from weft.log.chain import commit_genesis
from weft.log.jsonl import read_checked, write_lines
from weft.log.kinds import KINDS, code, graph, payload_of
from weft.log.verify import read_commits, verify

RELEASES = sorted(file.stem for file in HERE.glob("v*.jsonl"))
LATE_US = 4_000_000_000_000_000  # long after anything in the log


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    clock = FixedClock(LATE_US)
    made: Store = (
        MemoryStore(commit_genesis, clock=clock)
        if request.param == "memory"
        else SqliteStore(tmp_path / "store", commit_genesis, clock=clock)
    )
    yield made
    made.close()


def read(release: str) -> list[bytes]:
    return (HERE / f"{release}.jsonl").read_bytes().splitlines(keepends=True)


def digests(release: str) -> dict[str, str]:
    return dict(line.split() for line in (HERE / f"{release}.digest").read_text().splitlines())


def events(release: str) -> list[Event]:
    return [event for _, (_, made) in read_checked(read(release)) for event in made]


def test_there_is_a_log_to_keep() -> None:
    assert "v0.1" in RELEASES


@pytest.mark.parametrize("release", RELEASES)
def test_it_folds_to_the_graph_it_had(store: Store, release: str) -> None:
    expected = digests(release)
    done = import_log(store, OPERATOR, lambda: iter(read(release)), clock=FixedClock(LATE_US))
    assert (done.events, done.exact) == (int(expected["events"]), True)
    assert done.digest == expected["head"]
    assert graph_digest(store.graph_rows(OPERATOR)) == expected["graph"]
    assert verify(store, OPERATOR, expected_digest=expected["head"]).problem is None
    assert list(write_lines(ACCOUNT, read_commits(store, OPERATOR))) == read(release)
    store.rebuild(OPERATOR, apply_events, progress=lambda _done, _all: None)
    assert graph_digest(store.graph_rows(OPERATOR)) == expected["graph"]


def test_every_kind_of_event_is_kept_somewhere() -> None:
    """A new kind needs a golden log of the release that brought it."""
    kept = Counter(event.kind for release in RELEASES for event in events(release))
    assert {kind.name for kind in KINDS} <= set(kept)
    assert min(kept.values()) >= 2


def test_the_fourth_log_holds_code_that_was_read_out_of_history() -> None:
    """By the real indexer: versions told late, what files refer to and no longer do, files gone for a while."""
    payloads = [payload_of(event) for event in events("v0.4") if not event.rewritten]
    of_quay = [each for each in payloads if getattr(each, "project", None) == "quay"]
    indexed = [each for each in of_quay if isinstance(each, code.Indexed)]
    linked = [each for each in of_quay if isinstance(each, code.Linked)]
    ended = [each for each in payloads if isinstance(each, graph.Ended) and each.reason == "not in this commit"]
    assert {each.language for each in indexed} >= {"python", "typescript"}
    for name in ("reader", "blob", "size", "imports", "broken", "until"):
        assert any(getattr(each, name) for each in indexed), name
    for name in ("sort", "signature", "calls", "summary"):
        assert any(getattr(symbol, name) for each in indexed for symbol in each.symbols), name
    for name in ("joined", "parted", "outside", "until"):
        assert any(getattr(each, name) for each in linked), name
    relations = {each.relation for one in linked for each in one.joined}
    assert relations == {"IMPORTS", "DEPENDS_ON", "CALLS", "EXTENDS", "IMPLEMENTS", "TESTS"}
    assert any(each.until for each in ended)


def test_the_first_log_is_as_mixed_as_it_claims() -> None:
    found = events("v0.1")
    payloads = [payload_of(event) for event in found]
    remembered = [payload for event, payload in zip(found, payloads, strict=True) if event.kind == "memory.remembered"]
    assert len(found) >= 200
    assert len({event.session for event in found}) >= 4
    assert len({event.actor.agent for event in found}) >= 3
    assert any(event.request_id for event in found)
    assert any(event.caused_by for event in found)
    assert any(event.task and event.conversation for event in found)
    assert any(event.occurred_at for event in found)
    assert any(payload.supersedes for payload in remembered)
    assert any(payload.valid_from and payload.valid_to for payload in remembered)
    assert any(payload.valid_from and not payload.valid_to for payload in remembered)
    assert {payload.scope for payload in remembered} == {"public", "shared", "admin"}
    assert any(payload.sensitive for payload in remembered)
    assert any(payload.agents for payload in remembered)
    assert any(payload.slot for payload in remembered)
    opened = sum(event.kind == "tx.opened" for event in found)
    assert 1 <= sum(event.kind == "tx.closed" for event in found) < opened, "one change is never finished"
