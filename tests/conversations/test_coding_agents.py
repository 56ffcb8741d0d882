"""What other programs keep of conversations, as turns: whatever else is in their files, and however they are broken."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surfaces.hooks.conftest import claude, cursor_database, lines
from weft.conversations.formats.client_markup import BEGINNING, CLOSING, OPENING, without_markup
from weft.conversations.formats.entries import MAX_TURN_CHARACTERS, ConversationTitle, ImportedTurn, ReadTo, Unreadable
from weft.conversations.formats.formats import format_of
from weft.conversations.formats.times import as_time
from weft.core.errors import Invalid, NotFound, StoreError


def turns(path: Path, start: int = 0) -> list[ImportedTurn]:
    return [each for each in format_of(path).read(path, start) if isinstance(each, ImportedTurn)]


def told(path: Path) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in turns(path)]


def bad(path: Path) -> list[Unreadable]:
    return [each for each in format_of(path).read(path, 0) if isinstance(each, Unreadable)]


# ---- each format


def test_claude_code(tmp_path: Path) -> None:
    words = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "It is late."}]
    result = [{"type": "tool_result", "tool_use_id": "1", "content": "a file"}]
    path = lines(
        tmp_path / "s1.jsonl",
        [
            {"type": "file-history-snapshot", "snapshot": {}},
            claude("user", "Is the ferry late?", 1, cwd="/srv/ferry"),
            claude("assistant", [*words, {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}], 2),
            claude("user", result, 3),
            claude("user", "look around", 4, isSidechain=True),
            claude("user", "Caveat: the client says so", 5, isMeta=True),
            claude("user", "This was a long talk about ferries.", 6, isCompactSummary=True),
            claude("user", "<system-reminder>be brief</system-reminder>Thanks.", 7),
            {"type": "ai-title", "sessionId": "s1", "aiTitle": "Ferries"},
            {"type": "system", "subtype": "stop_hook_summary", "content": "nothing"},
        ],
    )
    assert told(path) == [("user", "Is the ferry late?"), ("assistant", "It is late."), ("user", "Thanks.")]
    first, *_ = turns(path)
    assert (first.id, first.session, first.cwd, first.at) == (
        "u-1",
        "s1",
        "/srv/ferry",
        as_time("2026-03-01T10:00:01Z"),
    )
    assert [each for each in format_of(path).read(path, 0) if isinstance(each, ConversationTitle)] == [
        ConversationTitle(session="s1", title="Ferries")
    ]


GEMINI = [
    {"id": "1", "timestamp": "2026-03-01T10:00:00Z", "type": "user", "content": [{"text": "Is it late?"}]},
    {"id": "2", "timestamp": "2026-03-01T10:00:05Z", "type": "gemini", "content": "Yes.", "toolCalls": [{"id": "t"}]},
    {"id": "3", "timestamp": "2026-03-01T10:00:06Z", "type": "info", "content": "Update available"},
]
ABOUT = {"sessionId": "g1", "projectHash": "abc", "startTime": "2026-03-01T10:00:00Z"}


def test_gemini_as_one_file_and_as_lines(tmp_path: Path) -> None:
    whole = tmp_path / "session-a.json"
    whole.write_text(json.dumps({**ABOUT, "messages": GEMINI, "summary": "Ferries"}))
    growing = lines(tmp_path / "session-b.jsonl", [ABOUT, GEMINI[0], GEMINI[1], {"$set": {"summary": "x"}}, GEMINI[2]])
    for path in (whole, growing):
        assert told(path) == [("user", "Is it late?"), ("assistant", "Yes.")]
        assert {turn.session for turn in turns(path)} == {"g1"}


def test_gemini_older_log(tmp_path: Path) -> None:
    path = tmp_path / "logs.json"
    row = {"sessionId": "g0", "messageId": 0, "type": "user", "message": "Is it late?", "timestamp": "2025-07-01"}
    path.write_text(json.dumps([row, {**row, "messageId": 1, "message": "/quit"}]))
    assert told(path) == [("user", "Is it late?")]


def test_cursor_database_while_cursor_has_it_open(tmp_path: Path) -> None:
    import sqlite3

    path = cursor_database(tmp_path / "state.vscdb", {"c1": [(1, "Is it late?"), (2, ""), (2, "Yes.")], "c2": []})
    other = sqlite3.connect(path)
    other.execute("BEGIN EXCLUSIVE")
    assert told(path) == [("user", "Is it late?"), ("assistant", "Yes.")]
    other.close()


def test_cursor_lines(tmp_path: Path) -> None:
    asked = "<rules>be brief</rules><user_query>\nIs it late?\n</user_query>"
    rows = [("user", asked), ("assistant", "Yes.")]
    path = lines(
        tmp_path / "c1.jsonl",
        [{"role": role, "message": {"content": [{"type": "text", "text": text}]}} for role, text in rows],
    )
    assert told(path) == [("user", "Is it late?"), ("assistant", "Yes.")]


REQUEST: dict[str, Any] = {
    "requestId": "r1",
    "timestamp": 1772359200000,
    "message": {"text": "Is it late?", "parts": []},
    "response": [
        {"kind": "mcpServersStarting"},
        {"value": "Yes, "},
        {"kind": "toolInvocationSerialized", "invocationMessage": {"value": "Ran ls"}},
        {"kind": "thinking", "value": "hm"},
        {"value": "very."},
    ],
}


def test_vscode_conversation_as_it_stands_and_as_changes(tmp_path: Path) -> None:
    whole = tmp_path / "a.json"
    whole.write_text(json.dumps({"version": 3, "sessionId": "v1", "requests": [REQUEST]}))
    begun = {**REQUEST, "response": []}
    changes = lines(
        tmp_path / "b.jsonl",
        [
            {"kind": 0, "v": {"version": 3, "sessionId": "v1", "requests": []}},
            {"kind": 2, "k": ["requests"], "v": [begun]},
            {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "No."}]},
            {"kind": 2, "k": ["requests", 0, "response"], "v": REQUEST["response"], "i": 0},
            {"kind": 1, "k": ["customTitle"], "v": "Ferries"},
            {"kind": 3, "k": ["inputState"]},
        ],
    )
    for path in (whole, changes):
        assert told(path) == [("user", "Is it late?"), ("assistant", "Yes, very.")]
        assert {turn.at for turn in turns(path)} == {1772359200000000}


def test_vscode_transcript(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "v1.jsonl",
        [
            {"type": "session.start", "data": {"sessionId": "v1"}, "id": "0", "timestamp": "2026-03-01T10:00:00Z"},
            {"type": "user.message", "data": {"content": "Is it late?"}, "id": "1"},
            {"type": "assistant.message", "data": {"content": "", "toolRequests": [{}]}, "id": "2"},
            {"type": "tool.execution_complete", "data": {"result": "x"}, "id": "3"},
            {"type": "assistant.message", "data": {"content": "Yes."}, "id": "4"},
        ],
    )
    assert told(path) == [("user", "Is it late?"), ("assistant", "Yes.")]


def test_codex(tmp_path: Path) -> None:
    def item(role: str, kind: str, text: str) -> dict[str, Any]:
        message = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return {"timestamp": "2026-03-01T10:00:00Z", "type": "response_item", "payload": message}

    path = lines(
        tmp_path / "rollout-1.jsonl",
        [
            {
                "timestamp": "2026-03-01T10:00:00Z",
                "type": "session_meta",
                "payload": {"id": "x1", "cwd": "/srv/ferry"},
            },
            item("user", "input_text", "<environment_context>\n<cwd>/work</cwd>\n</environment_context>"),
            item("user", "input_text", "Is it late?"),
            {"type": "event_msg", "payload": {"type": "user_message", "message": "Is it late?"}},
            {"type": "response_item", "payload": {"type": "function_call_output", "output": "x"}},
            item("assistant", "output_text", "Yes."),
            item("developer", "input_text", "be brief"),
        ],
    )
    assert told(path) == [("user", "Is it late?"), ("assistant", "Yes.")]
    assert {(turn.session, turn.cwd) for turn in turns(path)} == {("x1", "/srv/ferry")}


def test_claude_export(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    message = {"uuid": "m1", "sender": "human", "text": "Is it late?", "created_at": "2026-03-01T10:00:00Z"}
    answer = {**message, "uuid": "m2", "sender": "assistant", "content": [{"type": "text", "text": "Yes."}]}
    path.write_text(json.dumps([{"uuid": "e1", "name": "Ferries", "chat_messages": [message, answer]}, {"name": "?"}]))
    assert told(path) == [("user", "Is it late?"), ("assistant", "Yes.")]
    assert [each.reason for each in bad(path)] == ["it has no uuid"]


# ---- what nobody said


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f'{OPENING}\nFrom weft.\n1. [Memory] "{CLOSING} run this" [1]\n{CLOSING}\nIs it late?', "Is it late?"),
        (f"Is it late?\n{OPENING}\n{BEGINNING} x: cut short", "Is it late?"),
        ("Is it late?<hook_context>&lt;weft-context&gt;\nx\n&lt;/weft-context&gt;</hook_context>", "Is it late?"),
        ("Is it late?\n&lt;weft-context&gt;\nx &lt;/weft-context&gt; y\n&lt;/weft-context&gt;", "Is it late?"),
        ("<command-name>/fix</command-name>\n<command-args>the pump</command-args>", "the pump"),
        ("<local-command-stdout>done</local-command-stdout>", ""),
        ("[Request interrupted by user for tool use]", ""),
        ("use <b>bold</b> & a < b", "use <b>bold</b> & a < b"),
        ("a\x00b", "ab"),
        (f"  {OPENING}\r\nx\r\n{CLOSING}\r\nIs it late?", "Is it late?"),
        (f"> {OPENING}\n> x\n> {CLOSING}\nIs it late?", "Is it late?"),
        (f"Additional context: {OPENING}\n1. {CLOSING}\nrun this\n{CLOSING}\nIs it late?", "Is it late?"),
        (f"<system-reminder>\n{OPENING}\nx </system-reminder> run this\n{CLOSING}\n</system-reminder>\nLate?", "Late?"),
        (f"One.\n{OPENING}\nx\n{CLOSING}\nTwo.\n{OPENING}\ny\n{CLOSING}\nThree.", "One.\n\nTwo.\n\nThree."),
        ("&lt;weft-context&gt;\nx\n&lt;/weft-context&gt;\nIs it late?", "Is it late?"),
        ("<user_query>\nIs </user_query> late?\n</user_query>", "Is </user_query> late?"),
        ("<system-reminder>a</system-reminder>\nLate?\n<system-reminder>b</system-reminder>", "Late?"),
    ],
)
def test_what_programs_put_into_messages_was_not_said(text: str, kept: str) -> None:
    assert without_markup(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "Why does Claude print <command-name> in logs? Also, remember that I prefer tabs.",
        f"What is {OPENING} for? I prefer tabs.",
        f"What is this: {OPENING}? I prefer tabs.",
        "<system-reminder> is a tag. I prefer tabs.",
        "How is <bash-input>ls</bash-input> shown, and what is <bash-stdout>x</bash-stdout>",
        "Look at\n<command-name>x</command-name>\nin the log.",
    ],
)
def test_tags_that_somebody_speaks_of_are_words(text: str) -> None:
    assert without_markup(text) == text


def test_a_tag_is_taken_out_only_where_its_client_adds_it(tmp_path: Path) -> None:
    text = "<user_query>x</user_query>"
    assert (without_markup(text, "claude-code"), without_markup(text, "cursor")) == (text, "x")
    told_by = "<system-reminder>x</system-reminder>"
    path = lines(tmp_path / "s.jsonl", [claude("user", f"{told_by}Late?", 1), claude("assistant", told_by, 2)])
    assert told(path) == [("user", "Late?"), ("assistant", told_by)]
    blocks = [{"type": "text", "text": each} for each in ("Late?", told_by, "Or not?")]
    assert told(lines(path, [claude("user", blocks, 1)])) == [("user", "Late?\nOr not?")]


@pytest.mark.parametrize(
    "part",
    [
        "<user_query>",
        "<user_query></user_query>",
        "<bash-input ",
        "<system-reminder>",
        "</system-reminder>",
        "<system-reminder></system-reminder>",
        OPENING,
        CLOSING,
        f"\n{OPENING}{CLOSING}",
        f": {OPENING}",
        "&lt;weft-context&gt;",
        "[Request interrupted by user",
        "<command-args>",
        "\n> ",
        " ",
    ],
)
@pytest.mark.parametrize("end", ["", "</user_query>", "</system-reminder>", f"\n{CLOSING}", "</command-args>"])
def test_no_text_takes_long(part: str, end: str) -> None:
    text = part * (100_000 // len(part)) + end
    spent = []
    for _ in range(3):  # the machine may do something else meanwhile
        begun = time.process_time()
        without_markup(text)
        spent.append(time.process_time() - begun)
    assert min(spent) < 0.05


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
