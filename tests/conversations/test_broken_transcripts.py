"""Conversations in files that are broken, hostile or still written: bad lines are named and cost no good one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conversations.told_turns import ABOUT, GEMINI, bad, told, turns
from tests.surfaces.hooks.conftest import claude, cursor_database, lines
from weft.conversations.formats.entries import MAX_TURN_CHARACTERS, ImportedTurn, ReadTo, Unreadable
from weft.conversations.formats.formats import format_of
from weft.conversations.formats.times import as_time
from weft.core.errors import Invalid, NotFound, StoreError

# ---- broken files


HOSTILE: list[Any] = [
    None,
    5,
    "words",
    [],
    {},
    {"type": "user"},
    {"type": "user", "uuid": 5, "message": None},
    {"type": "user", "uuid": "x", "message": {"content": 7}},
    {"type": "user", "uuid": "x", "message": {"content": [None, 5, {"type": "text", "text": 5}, {"type": []}]}},
    {"type": "gemini", "id": "1", "content": {"text": []}},
    {"type": "response_item", "payload": [1]},
    {"type": "user.message", "data": {"content": ["x"]}},
    {"type": ["user"], "uuid": {}},
    {"kind": 2, "k": ["requests", 99, "response"], "v": [1]},
    {"kind": 1, "k": [[], {}], "v": 1},
    {"kind": 0, "v": {"requests": [None, {"message": [], "response": 5}, {"response": [None, {"value": 5}]}]}},
    {"$set": 5, "sessionId": []},
    {"role": "user", "message": {"content": [[[]]]}},
]


GOOD: dict[str, Callable[[], Any]] = {
    "claude-code": lambda: claude("user", "whole", 1),
    "gemini": lambda: {**ABOUT, **GEMINI[0], "content": "whole"},
    "codex": lambda: {"type": "response_item", "payload": {"type": "message", "role": "user", "content": "whole"}},
    "vscode": lambda: {"type": "user.message", "id": "1", "data": {"content": "whole"}},
    "cursor": lambda: {"role": "user", "message": {"content": "whole"}},
}


@pytest.mark.parametrize("name", GOOD)
def test_bad_lines_are_named_and_cost_no_good_one(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.jsonl"
    good = json.dumps(GOOD[name]()).encode()
    torn = [b'{"type": "user", "mess', b"\xff\xfe\x00", b"[" * 100_000, b"", b'"text"']
    hostile = [json.dumps(each).encode() for each in HOSTILE]
    path.write_bytes(b"\n".join((good, *torn, *hostile, good)) + b"\n")
    read = list(format_of(path, name).read(path, 0))
    assert [each.text for each in read if isinstance(each, ImportedTurn) and each.text == "whole"] == ["whole", "whole"]
    named = [each for each in read if isinstance(each, Unreadable)]
    assert len(named) >= 4
    assert all(each.where and each.reason for each in named)


@pytest.mark.parametrize("raw", [b"", b"\x00" * 64, b"{", b"[1, 2", b"null", b'{"a": 1}', b"plain words\n" * 9])
@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".vscdb"])
def test_what_is_no_conversation_is_refused(tmp_path: Path, raw: bytes, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(raw)
    with pytest.raises(Invalid, match="not a known kind of conversation"):
        format_of(path)


def test_a_damaged_database_is_bad_and_not_fatal(tmp_path: Path) -> None:
    path = cursor_database(tmp_path / "state.vscdb", {"c1": [(1, "words " * 5_000)]})
    whole = path.read_bytes()
    path.write_bytes(whole[:5_000] + b"\xff" * (len(whole) - 5_000))
    assert bad(path)
    path.write_bytes(b"SQLite format 3\x00" + b"\x00" * 500)
    assert bad(path)


def test_what_is_not_there_or_no_file(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        format_of(tmp_path / "none.jsonl")
    with pytest.raises(StoreError, match="not a file"):
        format_of(tmp_path)
    with pytest.raises(NotFound):
        format_of(Path("a\x00b"))


def test_half_a_character_costs_no_turn(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(claude("user", "before \ud83d after", 1)) + "\n")
    assert told(path) == [("user", "before ? after")]
    whole = tmp_path / "session-a.json"
    whole.write_text(json.dumps({**ABOUT, "messages": [{**GEMINI[0], "content": "a \udc00 b"}]}))
    assert told(whole) == [("user", "a ? b")]
    database = cursor_database(tmp_path / "state.vscdb", {"c1": [(1, "a \ud800 b")]})
    assert told(database) == [("user", "a ? b")]


@pytest.mark.parametrize("name", ["cursor", "codex"])
def test_ids_do_not_change_when_a_line_gains_its_end(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.jsonl"
    row = json.dumps(GOOD[name]()).encode()
    path.write_bytes(row + b"\n" + row)
    before = [turn.id for turn in turns(path)]
    path.write_bytes(row + b"\n" + row + b"\n")
    assert [turn.id for turn in turns(path)] == before
    assert len(set(before)) == 2


def test_a_bad_line_is_passed(tmp_path: Path) -> None:
    path = lines(tmp_path / "s.jsonl", [claude("user", "whole", 1)])
    with path.open("ab") as file:
        file.write(b"{broken\n")
    passed = [each.end for each in format_of(path).read(path, 0) if isinstance(each, ReadTo)]
    assert passed[-1] == path.stat().st_size


def test_a_very_long_turn_is_cut_and_counted(tmp_path: Path) -> None:
    path = lines(tmp_path / "s.jsonl", [claude("user", "x" * (MAX_TURN_CHARACTERS + 7), 1)])
    (turn,) = turns(path)
    assert (len(turn.text), turn.dropped) == (MAX_TURN_CHARACTERS, 7)


@pytest.mark.parametrize("value", [None, True, -5, 0, 1e40, float("nan"), "soon", [], {}, "2026-13-01"])
def test_times_that_are_none(value: Any) -> None:
    assert as_time(value) is None


def test_times_in_seconds_and_milliseconds() -> None:
    assert as_time(1772359200) == as_time(1772359200000) == as_time("2026-03-01T10:00:00Z")


# ---- files that are still written

WHOLE = b"".join(
    json.dumps(claude(role, text, number), ensure_ascii=False).encode() + b"\n"
    for number, (role, text) in enumerate(
        [("user", "Fähre 東京?"), ("assistant", "Ja."), ("user", 'a "quoted"\nline'), ("assistant", "😀 fin")]
    )
)


@given(cut=st.integers(0, len(WHOLE)), more=st.integers(0, len(WHOLE)), ended=st.booleans())
def test_a_file_split_anywhere_loses_no_finished_line(
    tmp_path_factory: pytest.TempPathFactory, cut: int, more: int, ended: bool
) -> None:
    path = tmp_path_factory.mktemp("split") / "s.jsonl"
    whole = WHOLE if ended else WHOLE[:-1]
    reader = format_of(lines(path, [claude("user", "x", 0)])).read
    found: list[str] = []
    start = 0
    for end in (*sorted((cut, more)), len(whole)):
        path.write_bytes(whole[:end])
        for entry in reader(path, start):
            assert not isinstance(entry, Unreadable)
            if isinstance(entry, ImportedTurn):
                found.append(entry.id)
            elif isinstance(entry, ReadTo):
                start = entry.end
    assert found == ["u-0", "u-1", "u-2", "u-3"]
