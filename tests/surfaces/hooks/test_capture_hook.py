"""`weft capture`: what was said is kept once, as it was said, and found in a later session."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.surfaces.hooks.conftest import WEFT, Machine, claude, lines
from weft.core.types import Find, When
from weft.surfaces.hooks.hook import empty_answer

SAID = [
    claude("user", "The deploy key is kept by Mira.", 1),
    claude("assistant", [{"type": "text", "text": "Noted."}], 2),
]
TOLD = ["user: The deploy key is kept by Mira.", "assistant: Noted."]
LATER = claude("user", "And Jon has the spare one.", 3)


@pytest.fixture
def transcript(machine: Machine) -> Path:
    return lines(machine.home / ".claude" / "projects" / "-ferry" / "s1.jsonl", SAID)


def stop(machine: Machine, transcript: Path, **more: str) -> dict[str, str]:
    return machine.said("claude-code", "s1", "Stop", transcript_path=str(transcript), **more)


def capture(machine: Machine, transcript: Path, *arguments: str) -> None:
    done = machine.hook("capture", "claude-code", stop(machine, transcript), *arguments)
    assert (done.code, done.out, done.err) == (0, "", "")


def events(machine: Machine) -> int:
    with machine.open() as memory:
        return memory.stats().store.events


def test_what_was_said_is_found_in_a_later_session(machine: Machine, transcript: Path) -> None:
    capture(machine, transcript)
    assert machine.messages("claude-code-s1") == TOLD
    asked = machine.said("claude-code", "s2", "UserPromptSubmit", prompt="who keeps the deploy key?")
    found = machine.hook("context", "claude-code", asked).out
    assert "The deploy key is kept by Mira." in found
    # The session that said it has it before its eyes.
    asked = machine.said("claude-code", "s1", "UserPromptSubmit", prompt="who keeps the deploy key?")
    assert machine.hook("context", "claude-code", asked).out == ""


def test_turns_have_their_own_times_and_the_project_of_the_directory(machine: Machine, transcript: Path) -> None:
    capture(machine, transcript)
    with machine.open() as memory:
        (node,) = memory.ctx.store.nodes(memory.ctx.viewer, When(), ["ferry/claude-code-s1#00001"])
        shown = memory.show(node.id).node
        assert shown is not None
        assert (shown.valid_from, shown.project) == ("2026-03-01T10:00:01.000000Z", "ferry")
        assert "The deploy key is kept by Mira." in [each.text for each in memory.cite(shown.citation).nodes]


def test_the_same_again_writes_nothing(machine: Machine, transcript: Path) -> None:
    capture(machine, transcript)
    before = events(machine)
    capture(machine, transcript)
    for state in (machine.store / "transcripts").iterdir():
        state.unlink()  # what was reached is forgotten: everything is read, nothing written
    capture(machine, transcript)
    assert events(machine) == before


def test_only_what_is_new_is_read(machine: Machine, transcript: Path) -> None:
    first, other = claude("user", "The first remark.", 1), claude("user", "Another remark!!!", 9)
    assert len(json.dumps(first)) - len(json.dumps(other)) == 0
    lines(transcript, [first, {"type": "system", "content": "x" * 8_192}])
    capture(machine, transcript)
    with transcript.open("r+b") as file:  # nobody looks at it again: else this would be kept too
        file.write(json.dumps({**other, "timestamp": first["timestamp"]}).encode())
    lines(transcript, [LATER], "a")
    capture(machine, transcript)
    assert machine.messages("claude-code-s1") == ["user: The first remark.", "user: And Jon has the spare one."]


def test_a_line_that_is_still_written_waits(machine: Machine, transcript: Path) -> None:
    whole = transcript.read_bytes()
    more = json.dumps(LATER).encode() + b"\n"
    for end in (7, len(more) // 2, len(more)):
        transcript.write_bytes(whole + more[:end])
        capture(machine, transcript)
    assert machine.messages("claude-code-s1") == [*TOLD, "user: And Jon has the spare one."]


def test_a_file_that_was_rewritten_is_read_anew(machine: Machine, transcript: Path) -> None:
    capture(machine, transcript)
    lines(transcript, [LATER, *SAID])
    capture(machine, transcript)
    assert machine.messages("claude-code-s1") == [*TOLD, "user: And Jon has the spare one."]
    lines(transcript, [claude("user", "Short.", 9)])
    capture(machine, transcript)
    assert machine.messages("claude-code-s1")[-1] == "user: Short."


def test_another_store_is_not_taken_for_the_one_that_was_written(machine: Machine, transcript: Path) -> None:
    capture(machine, transcript)
    for path in (machine.store / "accounts").iterdir():
        path.unlink()
    lines(transcript, [LATER], "a")
    capture(machine, transcript)
    assert machine.messages("claude-code-s1") == [*TOLD, "user: And Jon has the spare one."]


def test_what_weft_itself_put_there_is_not_kept(machine: Machine, transcript: Path) -> None:
    capture(machine, transcript)
    asked = machine.said("claude-code", "s2", "UserPromptSubmit", prompt="who keeps the deploy key?")
    given = json.loads(machine.hook("context", "claude-code", asked).out)["hookSpecificOutput"]["additionalContext"]
    assert "Mira" in given
    told = [
        claude("user", f"<system-reminder>\n{given}\n</system-reminder>\nWho keeps it?", 20, session="s2"),
        claude("user", f"{given}\nWho, please?", 21, session="s2"),
        claude("user", [{"type": "text", "text": given}, {"type": "text", "text": "Well?"}], 22, session="s2"),
    ]
    other = lines(transcript.with_name("s2.jsonl"), told)
    machine.hook("capture", "claude-code", machine.said("claude-code", "s2", "Stop", transcript_path=str(other)))
    assert machine.messages("claude-code-s2") == ["user: Who keeps it?", "user: Who, please?", "user: Well?"]


UUIDS = [f"{number:08x}-1111-4222-8333-444455556666" for number in range(9)]


@pytest.mark.parametrize("captured", [True, False])
def test_a_session_that_was_forked_knows_what_it_began_with(machine: Machine, captured: bool) -> None:
    told = ["The deploy key is kept by Mira.", "Noted.", "The deploy key opens the quay."]

    def forked(session: str, count: int) -> dict[str, str]:
        rows = [claude("user", text, n, session=session, uuid=UUIDS[n]) for n, text in enumerate(told[:count])]
        path = lines(machine.home / f"{session}.jsonl", rows)
        return machine.said("claude-code", session, "Stop", transcript_path=str(path))

    assert machine.hook("capture", "claude-code", forked("a", 3)).err == ""
    payload = forked("b", 2)
    if captured:
        assert machine.hook("capture", "claude-code", payload).err == ""
        payload.pop("transcript_path")
    asked = {**payload, "hook_event_name": "UserPromptSubmit", "prompt": "who keeps the deploy key?"}
    found = machine.hook("context", "claude-code", asked).out
    assert "Mira" not in found
    assert "opens the quay" in found  # of the other session only
    assert "Mira" in machine.hook("context", "claude-code", {**asked, "session_id": "c", "transcript_path": ""}).out


def test_a_hostile_line_stops_nothing(machine: Machine, transcript: Path) -> None:
    hostile = [claude("user", part * 20_000, n) for n, part in enumerate(("<user_query>", "<bash-input "), 40)]
    lines(transcript, [*SAID, *hostile, LATER])
    done = machine.hook("capture", "claude-code", stop(machine, transcript))
    assert (done.code, done.err) == (0, "")
    assert machine.messages("claude-code-s1")[-1] == "user: And Jon has the spare one."


def test_secrets_are_redacted(machine: Machine, transcript: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    lines(transcript, [claude("user", f"Use the token {secret} for it.", 1)])
    for _ in range(2):
        capture(machine, transcript)
        (transcript.parent / "x").touch()
        os.utime(transcript)
    (said,) = machine.messages("claude-code-s1")
    assert secret not in said
    assert said.startswith("user: Use the token ")
    raw = b"".join(path.read_bytes() for path in machine.store.rglob("*") if path.is_file())
    assert secret.encode() not in raw


def test_a_deleted_conversation_stays_deleted(machine: Machine, transcript: Path) -> None:
    capture(machine, transcript)
    with machine.open() as memory:
        memory.delete("ferry/claude-code-s1")
    lines(transcript, [LATER], "a")
    capture(machine, transcript)
    assert machine.messages("claude-code-s1") == []


def test_a_session_stays_with_its_project_when_the_agent_moves(machine: Machine, transcript: Path) -> None:
    capture(machine, transcript)
    lines(transcript, [LATER], "a")
    elsewhere = machine.scratch / "elsewhere"
    elsewhere.mkdir()
    done = machine.hook("capture", "claude-code", {**stop(machine, transcript), "cwd": str(elsewhere)})
    assert done.err == ""
    assert machine.messages("claude-code-s1") == [*TOLD, "user: And Jon has the spare one."]
    assert machine.messages("claude-code-s1", "elsewhere") == []


def test_many_at_once_keep_each_turn_once(machine: Machine, transcript: Path) -> None:
    told = [claude("user", f"Remark {number} about the quay.", number) for number in range(100, 220)]
    lines(transcript, told)
    running = [
        subprocess.Popen(
            [str(WEFT), "capture", "--hook", "claude-code", "--deadline", "60s"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=machine.root,
            env=machine.environment(),
        )
        for _ in range(4)
    ]
    raw = json.dumps(stop(machine, transcript)).encode()
    ends: list[tuple[bytes, bytes]] = []
    threads = [threading.Thread(target=lambda each=each: ends.append(each.communicate(raw))) for each in running]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends == [(b"", b"")] * 4
    assert machine.messages("claude-code-s1") == [
        f"user: Remark {number} about the quay." for number in range(100, 220)
    ]


def test_killed_in_the_midst_it_goes_on_where_it_was(machine: Machine, transcript: Path) -> None:
    told = [claude("user", f"Remark {number} about the quay.", number) for number in range(1_000)]
    lines(transcript, told)
    wanted = [f"user: Remark {number} about the quay." for number in range(1_000)]
    for _ in range(3):
        child = subprocess.Popen(
            [str(WEFT), "ingest-transcript", str(transcript)],
            stdout=subprocess.DEVNULL,
            cwd=machine.root,
            env=machine.environment(),
        )
        until = time.monotonic() + 20
        while child.poll() is None and time.monotonic() < until and not any(machine.store.glob("transcripts/*.json")):
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert machine.run("ingest-transcript", str(transcript)).code == 0
    with machine.open() as memory:
        find = Find(id_prefix="ferry/claude-code-s1#")
        found = memory.ctx.store.find(memory.ctx.viewer, When(), find, limit=2_000).nodes
        assert [f"user: {node.text}" for node in sorted(found, key=lambda node: node.id)] == wanted


# ---- what hooks tell themselves


def test_cursor_tells_the_words_itself(machine: Machine) -> None:
    common = {"conversation_id": "c1", "workspace_roots": [str(machine.root)]}
    asked = {"hook_event_name": "beforeSubmitPrompt", "prompt": "Is it late?", "generation_id": "g1", **common}
    told = {"hook_event_name": "afterAgentResponse", "text": "Yes, it is.", "generation_id": "g1", **common}
    for payload in (asked, told, asked, told, {**asked, "generation_id": "g2"}):
        done = machine.hook("capture", "cursor", payload)
        assert (done.code, done.out, done.err) == (0, empty_answer("cursor") + "\n", "")
    assert machine.messages("cursor-c1") == ["user: Is it late?", "assistant: Yes, it is.", "user: Is it late?"]


def test_what_was_told_is_not_taken_again_from_a_transcript(machine: Machine) -> None:
    common = {"conversation_id": "c1", "cwd": str(machine.root)}
    machine.hook("capture", "cursor", {"hook_event_name": "afterAgentResponse", "text": "Yes.", **common})
    path = lines(
        machine.home / "c1.jsonl",
        [{"role": "user", "message": {"content": "Late?"}}, {"role": "assistant", "message": {"content": "Yes."}}],
    )
    done = machine.hook("capture", "cursor", {"hook_event_name": "stop", "transcript_path": str(path), **common})
    assert (done.code, done.err) == (0, "")
    assert sorted(machine.messages("cursor-c1")) == ["assistant: Yes.", "user: Late?"]


def test_cursor_with_and_without_a_transcript(machine: Machine) -> None:
    """The first prompt comes before there is a file; what the file tells later is what was told, in its order."""
    common = {"conversation_id": "c1", "cwd": str(machine.root)}
    path = machine.home / "transcript-of-another-name.jsonl"
    asked = {"hook_event_name": "beforeSubmitPrompt", "prompt": "Late?", "generation_id": "g1", **common}
    told = {"hook_event_name": "afterAgentResponse", "text": "Yes.", "generation_id": "g1", **common}
    ended = {"hook_event_name": "stop", "transcript_path": str(path), **common}
    rows = [("user", "<user_query>\nLate?\n</user_query>"), ("assistant", "Yes."), ("user", "How late?")]

    def written(number: int) -> None:
        content = [{"role": role, "message": {"content": text}} for role, text in rows[:number]]
        lines(path, content)

    for payload, number in ((asked, 0), (told, 0), (ended, 2), (ended, 2), (ended, 3), (ended, 3)):
        written(number)
        assert machine.hook("capture", "cursor", payload).err == ""
    assert machine.messages("cursor-c1") == ["user: Late?", "assistant: Yes.", "user: How late?"]


def test_cursor_tells_what_its_file_does_not(machine: Machine) -> None:
    (machine.home / "c1.txt").write_text("user:\nLate?\n")
    common = {"conversation_id": "c1", "cwd": str(machine.root), "transcript_path": str(machine.home / "c1.txt")}
    asked = {"hook_event_name": "beforeSubmitPrompt", "prompt": "Late?", "generation_id": "g1", **common}
    assert machine.hook("capture", "cursor", asked).err == ""
    assert machine.messages("cursor-c1") == ["user: Late?"]


def test_gemini_without_its_file(machine: Machine) -> None:
    payload = machine.said(
        "gemini", "g1", "AfterAgent", prompt="Late?", prompt_response="Yes.", transcript_path="/none"
    )
    done = machine.hook("capture", "gemini", payload)
    assert (done.code, done.out, done.err) == (0, "{}\n", "")
    assert machine.messages("gemini-g1") == ["user: Late?", "assistant: Yes."]


def test_gemini_messages_that_grow(machine: Machine) -> None:
    about = {"sessionId": "g1", "projectHash": "x"}
    asked = {"id": "1", "type": "user", "content": "Late?", "timestamp": "2026-03-01T10:00:00Z"}
    begun = {"id": "2", "type": "gemini", "content": "Let me see.", "timestamp": "2026-03-01T10:00:01Z"}
    path = lines(machine.home / "session-1.jsonl", [about, asked, begun, begun])
    payload = machine.said("gemini", "g1", "AfterAgent", transcript_path=str(path))
    assert machine.hook("capture", "gemini", payload).err == ""
    lines(path, [{**begun, "content": "Let me see. Yes."}, {"$set": {"messages": [asked]}}], "a")
    assert machine.hook("capture", "gemini", payload).err == ""
    assert machine.messages("gemini-g1") == ["user: Late?", "assistant: Let me see. Yes."]


# ---- what it does when something is wrong


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "empty"),
        (b"{", "not JSON"),
        (b'"x"', "not an object"),
        (b" " * (9 << 20), "bytes came in"),
        (b'{"hook_event_name": "Stop", "prompt": "words"}', "which session"),
        (b'{"hook_event_name": "Stop", "session_id": "s", "transcript_path": "/none"}', "there is no /none"),
        (
            b'{"hook_event_name": "Stop", "session_id": "s", "transcript_path": "/etc/hostname"}',
            "not a known kind of conversation",
        ),
    ],
)
def test_garbage_is_told_in_one_line(machine: Machine, raw: bytes, why: str) -> None:
    done = machine.hook("capture", "claude-code", raw)
    assert (done.code, done.out) == (0, "")
    assert why in done.err
    assert len(done.err.splitlines()) == 1
    assert not machine.store.exists()


def test_wrong_settings_and_arguments(machine: Machine, transcript: Path) -> None:
    done = machine.hook("capture", "claude-code", stop(machine, transcript), WEFT_STORE="nonsense")
    assert (done.code, done.out) == (0, "")
    assert "is not the URL of a store" in done.err
    assert machine.run("capture").code == 0
    assert machine.run("capture", "--hook", "emacs").code == 0


def test_a_store_that_is_held_longer_than_the_deadline(machine: Machine, transcript: Path) -> None:
    import apsw

    capture(machine, transcript)
    lines(transcript, [LATER], "a")
    held = apsw.Connection(str(machine.store / "accounts" / "default.db"))
    held.execute("BEGIN IMMEDIATE")
    done = machine.hook("capture", "claude-code", stop(machine, transcript), "--deadline", "1s")
    assert (done.code, done.out) == (0, "")
    assert done.seconds < 30
    assert len(done.err.splitlines()) == 1
    held.execute("ROLLBACK")
    held.close()
    capture(machine, transcript)
    assert machine.messages("claude-code-s1") == [*TOLD, "user: And Jon has the spare one."]
