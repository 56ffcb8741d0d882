"""A log leaves one store and enters another: byte for byte, or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import pytest
from msgspec.structs import replace

from weft.append.import_log import ImportResult, import_log
from weft.core.errors import Conflict, Corrupt, Invalid, WeftError
from weft.core.ports import Store
from weft.core.types import Event, Viewer, When
from weft.graph.digest import graph_digest
from weft.log.chain import commit_genesis, header_hash, make_commit
from weft.log.jsonl import MAX_LINE_BYTES, write_lines
from weft.log.verify import read_commits, verify
from weft.testing.clock import ManualClock, day
from weft.testing.scribe import Scribe, closed, deleted, edge, ended, memory_of, node, noted
from weft.testing.viewers import ACCOUNT, OPERATOR, STRANGER

MakeStore = Callable[[], Store]
Lines = list[bytes]


def fill(scribe: Scribe) -> None:
    """A little of everything, in two sessions."""
    scribe.one(node("ada", "lives in Paris", kind="Person", name="Ada", at=day(-30)))
    scribe.one(node("ada", "lives in Berlin", kind="Person", name="Ada", at=day(-3)), session="two")
    scribe.one(node("ada", "lived in Rome", kind="Person", name="Ada", at=day(-20), until=day(-10)))
    scribe.clock.step()
    scribe.write(
        node("bob", "naïve “quotes” \\ \n 東京 😀"), edge("ada", "KNOWS", "bob", weight=0.25), noted("agent_edit")
    )
    scribe.one(memory_of("m", "a secret", sensitive=True, scope="admin", agents=("ann",)), session="two")
    scribe.one(deleted("m"))
    scribe.one(ended("bob", at=day(2)), session="two", request_id="r-1")
    scribe.write(closed(scribe.open_change(node("late", "comes with its closing"))))


def take_in(store: Store, lines: Iterable[bytes], clock: ManualClock, viewer: Viewer = OPERATOR) -> ImportResult:
    held = list(lines)
    return import_log(store, viewer, lambda: iter(held), clock=clock)


def state(store: Store, viewer: Viewer = OPERATOR) -> tuple[int, str, str]:
    head = store.head(viewer)
    return head.pos, head.digest.hex(), graph_digest(store.graph_rows(viewer))


@pytest.fixture
def filled(scribe: Scribe) -> Scribe:
    fill(scribe)
    return scribe


# ---- the file


def test_the_same_log_gives_the_same_bytes(filled: Scribe, make_store: MakeStore, clock: ManualClock) -> None:
    lines = filled.export()
    assert filled.export() == lines
    copy = make_store()
    take_in(copy, lines, clock)
    assert Scribe(copy, clock).export() == lines


def test_every_line_is_json_and_the_last_one_says_where_it_ends(filled: Scribe) -> None:
    lines = filled.export()
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    values = [json.loads(line) for line in lines]
    assert values[0] == {"weft": "log", "version": 1, "account": ACCOUNT}
    head = filled.store.head(OPERATOR)
    assert values[-1] == {"end": {"pos": head.pos, "digest": head.digest.hex()}}
    assert sum("event" in value for value in values) == head.pos


def test_an_empty_log_can_be_carried_too(scribe: Scribe, make_store: MakeStore, clock: ManualClock) -> None:
    lines = scribe.export()
    assert len(lines) == 2
    assert take_in(make_store(), lines, clock).events == 0


# ---- into an empty store


def test_into_an_empty_store_everything_is_as_it_was(filled: Scribe, make_store: MakeStore, clock: ManualClock) -> None:
    copy = make_store()
    clock.step(by_us=99 * 86_400_000_000)
    done = take_in(copy, filled.export(), clock)
    assert (done.events, done.already_there, done.exact) == (filled.store.head(OPERATOR).pos, 0, True)
    assert done.digest == filled.store.head(OPERATOR).digest.hex()
    assert state(copy) == state(filled.store)
    assert list(read_commits(copy, OPERATOR)) == list(read_commits(filled.store, OPERATOR))
    assert verify(copy, OPERATOR).problem is None


def test_both_backends_come_to_the_same_graph(clock: ManualClock, tmp_path) -> None:
    from weft.backends.memory import MemoryStore
    from weft.backends.sqlite.store import SqliteStore

    memory = MemoryStore(commit_genesis, clock=clock)
    fill(Scribe(memory, clock))
    sqlite = SqliteStore(tmp_path / "s", commit_genesis, clock=clock)
    take_in(sqlite, Scribe(memory, clock).export(), clock)
    back = MemoryStore(commit_genesis, clock=clock)
    take_in(back, Scribe(sqlite, clock).export(), clock)
    assert state(memory) == state(sqlite) == state(back)
    sqlite.close()


def test_the_past_answers_alike_after_the_journey(filled: Scribe, make_store: MakeStore, clock: ManualClock) -> None:
    copy = make_store()
    take_in(copy, filled.export(), clock)
    for commit, _ in read_commits(filled.store, OPERATOR):
        for valid_at in (day(-25), day(-15), day(-5), day(1)):
            when = When(valid_at=valid_at, known_at=commit.at)
            ids = ["ada", "bob", "m", "late"]
            assert copy.nodes(OPERATOR, when, ids) == filled.store.nodes(OPERATOR, when, ids)


def test_a_repeated_import_is_a_no_op(filled: Scribe, make_store: MakeStore, clock: ManualClock) -> None:
    copy, lines = make_store(), filled.export()
    take_in(copy, lines, clock)
    before = state(copy)
    again = take_in(copy, lines, clock)
    assert (again.events, again.already_there) == (0, before[0])
    assert state(copy) == before
    home = take_in(filled.store, lines, clock)
    assert home.events == 0
    assert state(filled.store) == before


def test_a_longer_log_continues_a_shorter_one_exactly(
    filled: Scribe, make_store: MakeStore, clock: ManualClock
) -> None:
    copy = make_store()
    take_in(copy, filled.export(), clock)
    known = filled.store.head(OPERATOR).pos
    filled.one(node("ada", "lives in Oslo", kind="Person", name="Ada"))
    done = take_in(copy, filled.export(), clock)
    assert (done.events, done.already_there, done.exact) == (1, known, True)
    assert state(copy) == state(filled.store)


def test_an_older_log_adds_nothing_to_a_newer_store(filled: Scribe, clock: ManualClock) -> None:
    older = filled.export()
    filled.one(node("carol", "is new"))
    before = state(filled.store)
    assert take_in(filled.store, older, clock).events == 0
    assert state(filled.store) == before


def test_a_log_whose_payload_vanished_is_refused(scribe: Scribe, make_store: MakeStore, clock: ManualClock) -> None:
    scribe.one(node("a", "kept"))
    scribe.one(node("b", "vanished"))
    items = [
        (commit, tuple(replace(e, payload=None, salt=None) if e.pos == 2 else e for e in events))
        for commit, events in read_commits(scribe.store, OPERATOR)
    ]
    with pytest.raises(Corrupt, match="the payload is missing"):
        take_in(make_store(), write_lines(ACCOUNT, items), clock)


# ---- into a store with a history of its own


def test_sessions_that_are_missing_are_added_and_known_from_now_on(
    filled: Scribe, make_store: MakeStore, clock: ManualClock
) -> None:
    other = Scribe(make_store(), clock, session="elsewhere")
    own = other.one(node("zoe", "was here before"))
    clock.step(by_us=86_400_000_000)
    now = clock.now_us()
    done = take_in(other.store, filled.export(), clock)
    assert (done.events, done.exact) == (filled.store.head(OPERATOR).pos, False)
    assert verify(other.store, OPERATOR).problem is None
    original = [event for _, events in read_commits(filled.store, OPERATOR) for event in events]
    carried = [event for _, events in read_commits(other.store, OPERATOR) for event in events][1:]
    assert [e.citation for e in carried] == [e.citation for e in original]
    assert [e.recorded_at for e in carried] == [e.recorded_at for e in original]
    assert all(e.known_at >= now for e in carried)
    assert other.texts("ada", "zoe") == {"ada": "lives in Berlin", "zoe": "was here before"}
    assert other.texts("ada", "zoe", known_at=own.known_at) == {"zoe": "was here before"}, "not known before it came"
    before = state(other.store)
    assert take_in(other.store, filled.export(), clock).events == 0
    assert state(other.store) == before


def test_a_merged_store_rebuilds_to_itself_and_travels_on(
    filled: Scribe, make_store: MakeStore, clock: ManualClock
) -> None:
    other = Scribe(make_store(), clock, session="elsewhere")
    other.one(node("zoe"))
    take_in(other.store, filled.export(), clock)
    before = state(other.store)
    other.rebuild()
    assert state(other.store) == before
    third = make_store()
    take_in(third, other.export(), clock)
    assert state(third) == before


def test_a_session_that_went_another_way_conflicts_before_anything_is_written(
    filled: Scribe, make_store: MakeStore, clock: ManualClock
) -> None:
    other = Scribe(make_store(), clock, session="two")  # `two` comes after `main` in the file
    other.one(node("zoe", "took the same session"))
    before = state(other.store)
    with pytest.raises(Conflict, match="session two diverged") as caught:
        take_in(other.store, filled.export(), clock)
    assert "empty store" in caught.value.hint
    assert state(other.store) == before


def test_a_session_that_parted_later_conflicts_where_it_parted(
    filled: Scribe, make_store: MakeStore, clock: ManualClock
) -> None:
    copy = Scribe(make_store(), clock)
    take_in(copy.store, filled.export(), clock)
    copy.one(node("x", "here"))
    filled.one(node("x", "there"))
    before = state(copy.store)
    with pytest.raises(Conflict, match="session main diverged"):
        take_in(copy.store, filled.export(), clock)
    assert state(copy.store) == before


# ---- what is refused


def edited(lines: Lines, index: int, *path: str, value: object) -> Lines:
    """The file with one field of one line set to something else."""
    made = json.loads(lines[index])
    spot = made
    for key in path[:-1]:
        spot = spot[key]
    spot[path[-1]] = value
    return [*lines[:index], json.dumps(made).encode() + b"\n", *lines[index + 1 :]]


def swapped(lines: Lines, one: int, two: int) -> Lines:
    made = list(lines)
    made[one], made[two] = made[two], made[one]
    return made


def find(lines: Lines, word: str, nth: int = 0) -> int:
    return [n for n, line in enumerate(lines) if json.loads(line).get(word)][nth]


TAMPERED: dict[str, Callable[[Lines], Lines]] = {
    "payload": lambda ls: edited(
        ls, find(ls, "event"), "event", "payload", value=json.loads(ls[2])["event"]["payload"].replace("Paris", "Lyons")
    ),
    "payload removed, salt kept away": lambda ls: edited(ls, find(ls, "event"), "event", "salt", value=None),
    "salt": lambda ls: edited(ls, find(ls, "event"), "event", "salt", value="00" * 16),
    "kind": lambda ls: edited(ls, find(ls, "event"), "event", "kind", value="graph.ended"),
    "agent": lambda ls: edited(ls, find(ls, "event"), "event", "agent", value="mallory"),
    "role": lambda ls: edited(ls, find(ls, "event"), "event", "role", value="operator"),
    "recorded_at": lambda ls: edited(
        ls, find(ls, "event"), "event", "recorded_at", value="2020-01-01T00:00:00.000000Z"
    ),
    "occurred_at": lambda ls: edited(
        ls, find(ls, "event"), "event", "occurred_at", value="2020-01-01T00:00:00.000000Z"
    ),
    "request_id": lambda ls: edited(ls, find(ls, "event"), "event", "request_id", value="mine"),
    "caused_by": lambda ls: edited(ls, find(ls, "event"), "event", "caused_by", value=["weft://x/events/1"]),
    "session": lambda ls: edited(ls, find(ls, "event"), "event", "session", value="three"),
    "seq": lambda ls: edited(ls, find(ls, "event", 2), "event", "seq", value=9),
    "pos": lambda ls: edited(ls, find(ls, "event"), "event", "pos", value=9),
    "hash": lambda ls: edited(ls, find(ls, "event"), "event", "hash", value="ab" * 32),
    "prev_hash": lambda ls: edited(ls, find(ls, "event"), "event", "prev_hash", value="ab" * 32),
    "payload_hash": lambda ls: edited(ls, find(ls, "event"), "event", "payload_hash", value="ab" * 32),
    "commit time": lambda ls: edited(ls, find(ls, "commit"), "commit", "at", value="2026-01-01T00:00:01.000000Z"),
    "commit digest": lambda ls: edited(ls, find(ls, "commit"), "commit", "digest", value="ab" * 32),
    "commit count": lambda ls: edited(ls, find(ls, "commit"), "commit", "count", value=2),
    "commit count nil": lambda ls: edited(ls, find(ls, "commit"), "commit", "count", value=0),
    "commit position": lambda ls: edited(ls, find(ls, "commit"), "commit", "first_pos", value=2),
    "end digest": lambda ls: edited(ls, -1, "end", "digest", value="ab" * 32)[: len(ls)],
    "a number for a text": lambda ls: edited(ls, find(ls, "event"), "event", "payload", value=5),
    "a number for a name": lambda ls: edited(ls, find(ls, "event"), "event", "session", value=5),
    "a number for a time": lambda ls: edited(ls, find(ls, "commit"), "commit", "at", value=5),
    "a list for an event": lambda ls: [*ls[:2], b'{"event":[1,2]}\n', *ls[3:]],
    "a field too few": lambda ls: [*ls[:2], b'{"event":{"pos":1}}\n', *ls[3:]],
    "not hexadecimal": lambda ls: edited(ls, find(ls, "event"), "event", "hash", value="zz"),
    "a line of nothing": lambda ls: [*ls[:3], b"\n", *ls[3:]],
    "a line of rubbish": lambda ls: [*ls[:3], b"\xff\xfe\n", *ls[3:]],
    "a line of something else": lambda ls: [*ls[:3], b'{"hello":"world"}\n', *ls[3:]],
    "no end": lambda ls: ls[:-1],
    "half a line": lambda ls: [*ls[:-2], ls[-2][: len(ls[-2]) // 2]],
    "cut after a commit line": lambda ls: ls[: find(ls, "commit", 2) + 1],
    "an event gone": lambda ls: [*ls[: find(ls, "event", 1)], *ls[find(ls, "event", 1) + 1 :]],
    "a commit gone": lambda ls: [*ls[:3], *ls[5:]],
    "a tail gone, end kept": lambda ls: [*ls[: find(ls, "commit", -1)], ls[-1]],
    "events swapped": lambda ls: swapped(ls, find(ls, "event", 3), find(ls, "event", 4)),
    "commits swapped": lambda ls: [*ls[:1], *ls[3:5], *ls[1:3], *ls[5:]],
    "an event doubled": lambda ls: [*ls[:3], ls[2], *ls[3:]],
    "a commit doubled": lambda ls: [*ls[:3], *ls[1:3], *ls[3:]],
    "two files in one": lambda ls: [*ls, *ls],
    "words after the end": lambda ls: [*ls, b"{}\n"],
    "a line without end": lambda ls: [*ls[:3], b'{"event":"' + b"x" * MAX_LINE_BYTES + b'"}\n', *ls[3:]],
}


@pytest.mark.parametrize("damage", TAMPERED.values(), ids=TAMPERED.keys())
def test_a_damaged_file_is_refused_whole(
    filled: Scribe, make_store: MakeStore, clock: ManualClock, damage: Callable[[Lines], Lines]
) -> None:
    bad = damage(filled.export())
    assert bad != filled.export()
    empty = make_store()
    with pytest.raises(Corrupt) as caught:
        take_in(empty, bad, clock)
    assert "line" in caught.value.message or "cut short" in caught.value.hint
    assert empty.accounts() == ()
    own = Scribe(make_store(), clock, session="elsewhere")
    own.one(node("zoe"))
    before = state(own.store)
    with pytest.raises(Corrupt):
        take_in(own.store, bad, clock)
    assert state(own.store) == before


@pytest.mark.parametrize(
    ("first", "complaint"),
    [
        (b"", "not an exported weft log"),
        (b'{"some":"json"}\n', "not an exported weft log"),
        (b'{"weft":"log","version":1}\n', "not an exported weft log"),
        (b'{"weft":"log","version":1,"account":7}\n', "not an exported weft log"),
        (b'{"weft":"log","version":2,"account":"acme"}\n', "format 2, this weft reads 1"),
        (b'{"weft":"log","account":"acme"}\n', "format None, this weft reads 1"),
    ],
)
def test_what_is_not_a_log_of_ours_is_refused(
    make_store: MakeStore, clock: ManualClock, first: bytes, complaint: str
) -> None:
    store = make_store()
    with pytest.raises(Invalid, match=complaint) as caught:
        take_in(store, [first] if first else [], clock)
    assert caught.value.hint
    assert store.accounts() == ()


@pytest.mark.parametrize("first", [b"# A readme\n", b"SQLite format 3\x00\n", b"\x00" * 100, b"[1, 2]\n", b'"weft"\n'])
def test_other_files_are_refused(make_store: MakeStore, clock: ManualClock, first: bytes) -> None:
    store = make_store()
    with pytest.raises(WeftError) as caught:
        take_in(store, [first, b"more\n"], clock)
    assert caught.value.code in ("invalid", "corrupt")
    assert store.accounts() == ()


def test_another_account_s_log_is_refused_with_the_way_out(
    filled: Scribe, make_store: MakeStore, clock: ManualClock
) -> None:
    store = make_store()
    with pytest.raises(Invalid, match="belongs to account acme, you are other") as caught:
        take_in(store, filled.export(), clock, STRANGER)
    assert caught.value.hint == "set WEFT_ACCOUNT=acme"
    assert store.accounts() == ()


def forged(scribe: Scribe, change: Callable[[Event], Event]) -> Iterable[bytes]:
    """A file whose hashes all fit, around a first event that this weft would not have written."""
    commit, (event, *_) = next(iter(read_commits(scribe.store, OPERATOR)))
    event = change(event)
    event = replace(event, hash=header_hash(event))
    return write_lines(ACCOUNT, [(make_commit(commit_genesis(ACCOUNT), commit.at, [event]), (event,))])


def test_a_kind_of_the_future_is_refused(filled: Scribe, make_store: MakeStore, clock: ManualClock) -> None:
    store = make_store()
    with pytest.raises(Invalid, match=r"unknown kind of event: .future\.kind."):
        take_in(store, forged(filled, lambda event: replace(event, kind="future.kind")), clock)
    assert store.accounts() == ()


def test_a_payload_that_does_not_fit_its_kind_is_refused(
    filled: Scribe, make_store: MakeStore, clock: ManualClock
) -> None:
    store = make_store()
    with pytest.raises(Corrupt, match=r"does not fit graph\.deleted"):
        take_in(store, forged(filled, lambda event: replace(event, kind="graph.deleted")), clock)
    assert store.accounts() == ()
