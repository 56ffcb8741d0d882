"""Damaged files: the right data, or a clear error, or a check that notices. Never a guess."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.crash.faulty_vfs import SECTOR_BYTES
from tests.crash.workload import (
    ACCOUNT,
    OPERATOR,
    START_US,
    FixedClock,
    State,
    all_events,
    assert_sound,
    database,
    kept_digest,
    make_small,
    opened,
    refolded,
    remembered,
    run_rebuild,
    script,
    state_of,
    writer,
)
from weft.append.append import append
from weft.core.errors import WeftError
from weft.core.ports import Store
from weft.core.queries import TextQuery
from weft.core.types import Find, When
from weft.log.jsonl import write_lines
from weft.log.verify import read_commits, verify
from weft.text import lexical

FLIPS = 400


IDS = ("memory:1", "memory:2", "person:ada", "person:bob", "doc:a", "fact:home", "fact:home2")


LATER = When(valid_at=START_US + 10**9)


BEFORE = When(valid_at=START_US, known_at=START_US + 4_000_000)


# Every way of reading, with what it answers.
READS: dict[str, Callable[[Store], object]] = {
    "accounts": lambda store: store.accounts(),
    "head": lambda store: store.head(OPERATOR),
    "session_heads": lambda store: store.session_heads(OPERATOR, limit=100),
    "log": all_events,
    "events": lambda store: store.events(OPERATOR, session="talk", after_seq=2, limit=100, newest_first=True),
    "citations": lambda store: store.citations(OPERATOR, range(1, 20)),
    "position_at": lambda store: [store.position_at(OPERATOR, START_US + n * 1_000_000) for n in range(12)],
    "nodes": lambda store: store.nodes(OPERATOR, LATER, IDS),
    "nodes_before": lambda store: store.nodes(OPERATOR, BEFORE, IDS),
    "history": lambda store: [store.history(OPERATOR, each, limit=50) for each in IDS],
    "asserted_by": lambda store: [store.asserted_by(OPERATOR, pos, limit=50) for pos in range(1, 12)],
    "find": lambda store: store.find(OPERATOR, LATER, Find(kinds=("Person", "Memory")), limit=100),
    "find_name": lambda store: store.find(OPERATOR, LATER, Find(names=("Bob",), props={"age": 41}), limit=100),
    "neighbours": lambda store: store.neighbours(OPERATOR, LATER, IDS, limit=50),
    "search": lambda store: store.search_text(
        OPERATOR, LATER, TextQuery(terms=lexical.query_terms("Ada lives in Berlin about contexts thread")), limit=20
    ),
    "transactions": lambda store: store.transactions(OPERATOR, limit=100),
    "diff": lambda store: store.diff(OPERATOR, since_pos=3, agent=None, limit=1_000),
    "indexes": lambda store: store.indexes(OPERATOR),
    "graph": lambda store: list(store.graph_rows(OPERATOR)),
}


def _copy(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    return shutil.copytree(source, target)


def _answers(directory: Path) -> dict[str, object]:
    """What every read says. A weft error is an answer; any other exception fails the test."""
    found: dict[str, object] = {}
    with opened(directory) as store:
        for name, read in READS.items():
            try:
                found[name] = read(store)
            except WeftError as problem:
                found[name] = problem
    return found


def _noticed(store: Store, kept: str) -> bool:
    """Whether looking for damage finds some, given the log's digest as an operator keeps it."""
    try:
        return bool(verify(store, OPERATOR, expected_digest=kept).problem or store.check(OPERATOR))
    except WeftError:
        return True


def _differing(found: dict[str, object], expected: dict[str, object]) -> list[str]:
    return [name for name in READS if not isinstance(found[name], WeftError) and found[name] != expected[name]]


def _found_out(work: Path, kept: str, found: dict[str, object], expected: dict[str, object]) -> str:
    """How wrong answers come to light: by looking for damage, or by folding the log again, and a rebuild mends them."""
    with opened(work) as store:
        if _noticed(store, kept):
            return "noticed"
        model = refolded(store)
        assert any(found[name] != READS[name](model) for name in _differing(found, expected))
        run_rebuild(store)
    assert _answers(work) == expected
    return "rebuilt"


# Flipped bytes


@pytest.mark.timeout(240)
def test_flipped_bytes_never_give_a_wrong_answer_unnoticed(pristine: Path, tmp_path: Path) -> None:
    """Every answer is the right one, or an error; or verify or check notice; or it is the graph alone that is wrong
    while the log is whole, which folding the log again shows and a rebuild mends."""
    expected, kept = _answers(pristine), kept_digest(pristine)
    assert not any(isinstance(answer, WeftError) for answer in expected.values())
    whole = database(pristine).read_bytes()
    chance = random.Random(0)
    seen: Counter[str] = Counter()
    for _ in range(FLIPS):
        work = _copy(pristine, tmp_path / "work")
        damaged = bytearray(whole)
        damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        database(work).write_bytes(damaged)
        found = _answers(work)
        wrong = _differing(found, expected)
        if not wrong:
            seen["right, or an error"] += 1
            continue
        seen[_found_out(work, kept, found, expected)] += 1
    assert seen["noticed"] > FLIPS / 50  # the damage did reach what is read


def test_a_zeroed_sector_never_gives_a_wrong_answer_unnoticed(pristine: Path, tmp_path: Path) -> None:
    expected, kept = _answers(pristine), kept_digest(pristine)
    whole = database(pristine).read_bytes()
    for sector in range(0, len(whole), 7 * SECTOR_BYTES):
        work = _copy(pristine, tmp_path / "work")
        database(work).write_bytes(whole[:sector] + bytes(SECTOR_BYTES) + whole[sector + SECTOR_BYTES :])
        try:
            found = _answers(work)
        except WeftError:
            continue
        if _differing(found, expected):
            _found_out(work, kept, found, expected)


def test_verify_names_an_event_with_an_impossible_time(pristine: Path) -> None:
    db = apsw.Connection(str(database(pristine)))
    db.execute("UPDATE event SET recorded_at = recorded_at | (1 << 62) WHERE pos = 3")
    db.close()
    with opened(pristine) as store:
        assert "position 3" in str(verify(store, OPERATOR).problem)


def test_export_of_a_damaged_payload_is_a_clear_error(pristine: Path) -> None:
    db = apsw.Connection(str(database(pristine)))
    db.execute("UPDATE event SET payload = x'7bff7d' WHERE pos = 3")
    db.close()
    with opened(pristine) as store, pytest.raises(WeftError):
        list(write_lines(ACCOUNT, read_commits(store, OPERATOR)))


# Missing parts


def test_truncated_file(pristine: Path, tmp_path: Path) -> None:
    expected, kept = _answers(pristine), kept_digest(pristine)
    whole = database(pristine).read_bytes()
    chance = random.Random(1)
    cuts = [1, 15, 100, 511, 512, 4095, 4096, len(whole) - 1, len(whole) - 4096, *chance.sample(range(len(whole)), 30)]
    for cut in cuts:
        work = _copy(pristine, tmp_path / "work")
        database(work).write_bytes(whole[:cut])
        found = _answers(work)
        if wrong := _differing(found, expected):
            with opened(work) as store:
                assert _noticed(store, kept), (cut, wrong)


def test_zero_length_file_is_an_account_without_a_log(pristine: Path) -> None:
    """A file whose making was cut short looks the same. The digest kept elsewhere tells the two apart."""
    kept = kept_digest(pristine)
    database(pristine).write_bytes(b"")
    with opened(pristine) as store:
        assert all_events(store) == []
        assert "tail is missing" in str(verify(store, OPERATOR, expected_digest=kept).problem)
        append(store, writer(), [remembered("memory:new", "begins again")], clock=FixedClock(START_US))
        assert_sound(store)
        assert state_of(store).pos == 1


@pytest.mark.parametrize("checkpoints", ["none", "many"])
def test_damaged_wal_is_noticed_by_the_kept_digest(
    checkpoints: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a killed writer leaves, with its WAL cut short or flipped: the state of some commits ago, all of it sound;
    or, where a checkpoint had been, pages of two ages. Either way looking for damage tells."""
    if checkpoints == "many":
        make_small(monkeypatch)
    killed = tmp_path / "killed"
    states: set[State] = set()
    with opened(tmp_path / "live") as store:
        states.add(state_of(store))
        for step in script():
            step(store)
            states.add(state_of(store))
        last = state_of(store)
        shutil.copytree(tmp_path / "live", killed, ignore=shutil.ignore_patterns("*-shm"))
    whole = Path(f"{database(killed)}-wal").read_bytes()
    assert len(whole) > 20 * 4096
    chance = random.Random(2)
    seen: Counter[str] = Counter()
    for number in range(60):
        work = _copy(killed, tmp_path / "work")
        at = chance.randrange(len(whole))
        damaged = whole[:at] if number % 2 else whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        Path(f"{database(work)}-wal").write_bytes(damaged)
        with opened(work) as store:
            if not _noticed(store, last.log):
                assert state_of(store) == last
                seen["whole"] += 1
            elif checkpoints == "none":
                assert_sound(store)
                assert state_of(store) in states
                seen["earlier"] += 1
            else:
                seen["noticed"] += 1
    # With checkpoints, half of the WAL is a copy of what the file holds already: damage there is no damage.
    assert seen["earlier"] + seen["noticed"] > (30 if checkpoints == "none" else 15)
