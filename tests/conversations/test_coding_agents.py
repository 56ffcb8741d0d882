"""What other programs keep of conversations, as turns; what nobody said is left out."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conversations.told_turns import ABOUT, GEMINI, bad, told, turns
from tests.surfaces.hooks.conftest import claude, cursor_database, lines
from weft.conversations.formats.client_markup import BEGINNING, CLOSING, OPENING, without_markup
from weft.conversations.formats.entries import ConversationTitle
from weft.conversations.formats.formats import format_of
from weft.conversations.formats.times import as_time

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
