"""Files that are read again, or have the name of another: nothing is lost, nothing is doubled, what went stays gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conversations.conftest import Desk, chatgpt, written
from weft.core.clock import to_iso
from weft.core.errors import NotFound
from weft.core.types import When

TALK = "Ana: Is it late?\nBen: Yes.\nAna: Why?\n"


def telegram_account(place: Path) -> Path:
    """Two chats, in which ids begin again from 1."""

    def chat(number: int, *said: str) -> dict[str, Any]:
        rows = [
            {"id": n, "type": "message", "date": "2024-03-02T10:32:11", "from": "Ana", "text": each}
            for n, each in enumerate(said, start=1)
        ]
        return {"name": f"Chat {number}", "type": "personal_chat", "id": number, "messages": rows}

    chats = [chat(1, "Late?", "Still?"), chat(2, "Lunch?", "Where?", "When?")]
    return written(place / "result.json", {"chats": {"list": chats}})


def test_chats_that_are_kept_as_one_conversation_lose_no_message(desk: Desk, tmp_path: Path) -> None:
    path = telegram_account(tmp_path)
    done = desk.take(path, session="all")
    assert (done.read, done.written) == (5, 5)
    assert desk.said("all") == [f"Ana: {each}" for each in ("Late?", "Still?", "Lunch?", "Where?", "When?")]
    path.touch()
    assert desk.take(path, session="all").written == 0


@pytest.mark.parametrize("session", [None, "week"])
def test_two_files_of_one_name_stay_apart(desk: Desk, tmp_path: Path, session: str | None) -> None:
    monday = written(tmp_path / "mon" / "standup.txt", "Ana: Hi\nBen: Fog.\nAna: Done.\n")
    tuesday = written(tmp_path / "tue" / "standup.txt", "Ana: Hi\nBen: Sun.\nAna: Done.\n")
    wednesday = written(tmp_path / "wed" / "standup.txt", "Ana: Hi\nBen: Rain.\nAna: Done.\n")
    for path in (monday, tuesday, wednesday):
        assert desk.take(path, session=session).written == 3
    listed = desk.run("conversation_list").conversations
    assert [each.turns for each in listed] == ([9] if session else [3, 3, 3])
    for path in (monday, tuesday, wednesday):  # each goes on with its own
        with path.open("a") as file:
            file.write("Ben: Bye.\n")
        assert desk.take(path, session=session).written == 1
    assert sum(each.turns for each in desk.run("conversation_list").conversations) == 12


def test_a_file_that_moved_or_grew_is_the_same_conversation(desk: Desk, tmp_path: Path) -> None:
    desk.take(written(tmp_path / "old" / "talk.txt", TALK))
    moved = written(tmp_path / "new" / "talk.txt", TALK + "Ben: Fog.\n")
    assert (desk.take(moved).written, desk.run("conversation_list").total) == (1, 1)
    edited = written(moved, "Minutes of the day\n" + TALK.replace("Why?", "Why so?"))
    desk.take(edited)
    assert desk.run("conversation_list").total == 1


def test_a_newer_chat_of_whatsapp_that_begins_later_is_the_same(desk: Desk, tmp_path: Path) -> None:
    rows = [f"13/03/2024, 10:{n:02} - Ana: message {n}\n" for n in range(30)]
    desk.take(written(tmp_path / "a" / "WhatsApp Chat with Ana.txt", "".join(rows[:20])))
    newer = written(tmp_path / "b" / "WhatsApp Chat with Ana.txt", "".join(rows[10:]))
    assert (desk.take(newer).written, desk.run("conversation_list").total) == (10, 1)


def test_a_date_that_decides_later_doubles_nothing(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat with Ana.txt"
    lines = "1/3/24, 09:05 - Ana: Late?\n2/3/24, 09:06 - Ben: Yes.\n"
    assert desk.take(written(path, lines)).written == 2
    desk.take(written(path, lines + "2/13/24, 09:07 - Ana: Fine.\n"))
    assert desk.said("whatsapp-WhatsApp-Chat-with-Ana") == ["Ana: Late?", "Ben: Yes.", "Ana: Fine."]
    ctx = desk.memory.ctx
    (first,) = ctx.store.nodes(ctx.viewer, When(), ["ferry/whatsapp-WhatsApp-Chat-with-Ana#00001"])
    assert to_iso(first.interval.asserted_from).startswith("2024-01-03")  # and the time is the right one now


def test_what_was_deleted_is_said_to_be_though_the_file_stands_as_it_was(desk: Desk, tmp_path: Path) -> None:
    path = written(tmp_path / "talk.txt", TALK)
    desk.take(path)
    desk.run("delete", target="ferry/plain-talk")
    done = desk.take(path)
    assert (done.written, done.unchanged, done.skipped) == (0, 0, 3)
    assert "it was deleted: `weft restore ferry/plain-talk`" in done.left_out[0]
    desk.run("restore", id="ferry/plain-talk")
    assert (desk.take(path).unchanged, len(desk.said("plain-talk"))) == (3, 3)


def test_what_was_erased_does_not_come_back_with_its_file(desk: Desk, tmp_path: Path) -> None:
    path = written(tmp_path / "talk.txt", TALK)
    desk.take(path)
    desk.take(written(tmp_path / "other.txt", TALK))
    gone = desk.run("erase", session="plain-talk", yes=True, confirm="default")
    assert any("will not import the conversation again" in note for note in gone.notes)
    state = [each for each in (tmp_path / "data").rglob("transcripts/**/*") if each.is_file()]
    assert state
    assert not [each for each in state if b"plain-talk" in each.read_bytes() or "talk" in each.name]
    for more in ("", "Ben: Fog.\n"):
        written(path, TALK + more)
        done = desk.take(path)
        assert (done.written, desk.said("plain-talk")) == (0, [])
        assert "it was erased" in done.left_out[0]
    assert desk.take(path, session="again").written == 4  # somebody wants it, and says so
    assert desk.take(tmp_path / "other.txt").unchanged == 3


def test_forensic_brings_back_what_lazy_left_out(open_desk: Callable[..., Desk], tmp_path: Path) -> None:
    lazy = open_desk(WEFT_CONVERSATIONS="lazy")
    path = written(tmp_path / "conversations.json", [chatgpt("alone", ("user", "hello?"))])
    assert lazy.take(path).skipped == 1
    assert (lazy.take(path, policy="forensic").written, lazy.said("chatgpt-alone")) == (1, ["hello?"])


def test_a_named_format_of_a_file_that_is_not_there_is_told(desk: Desk, tmp_path: Path) -> None:
    for named in ("discord", "plain", "slack"):
        with pytest.raises(NotFound, match="there is no"):
            desk.take(tmp_path / "missing", format=named)
