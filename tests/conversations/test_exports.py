"""Exports of chat programs: who spoke, when, in which conversation; and what is broken does not stop the rest."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conversations.conftest import Desk, Read, chatgpt, written
from weft.conversations.formats import json_stream
from weft.core.clock import to_iso
from weft.core.errors import StoreError

ASKED = (("user", "Is the ferry late?"), ("assistant", "It is."))


def test_chatgpt_follows_the_branch_that_was_shown(tmp_path: Path) -> None:
    talk = chatgpt("c1", ("system", "be kind"), *ASKED)
    other = json.loads(json.dumps(talk["mapping"]["c1-3"]))
    other["message"] |= {"id": "old", "content": {"content_type": "text", "parts": ["I do not know."]}}
    talk["mapping"]["old"] = other
    tool = {"id": "t", "author": {"role": "tool"}, "content": {"content_type": "execution_output", "text": "42"}}
    talk["mapping"]["t"] = {"id": "t", "message": tool, "parent": "c1-3"}
    seen = {"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}, "And this?"]}
    talk["mapping"]["m"] = {"message": {"id": "m", "author": {"role": "user"}, "content": seen}, "parent": "t"}
    talk["current_node"] = "m"
    read = Read(written(tmp_path / "conversations.json", [talk]))
    assert (read.format, read.said) == ("chatgpt", ["user: Is the ferry late?", "assistant: It is.", "user: And this?"])
    assert [turn.id for turn in read.turns] == ["c1-2", "c1-3", "m"]
    assert to_iso(read.turns[0].at or 0)[:19] == "2024-03-02T10:31:42"
    assert read.turns[2].at == read.turns[1].at  # without a time it has that of the one before
    assert read.titles == {"c1": "The ferry"}


def test_a_damaged_tree_ends(tmp_path: Path) -> None:
    talk = chatgpt("c1", *ASKED)
    talk["mapping"]["c1-1"]["parent"] = "c1-2"
    lost = chatgpt("c2", *ASKED) | {"current_node": "gone"}
    empty = {"id": "c3", "mapping": {}}
    read = Read(written(tmp_path / "conversations.json", [talk, lost, empty, 7]))
    assert read.said == [f"{role}: {text}" for role, text in ASKED] * 2
    assert read.bad == ["conversation 3: it has no id or no messages", "conversation 4: it is not an object"]


def test_exports_are_read_in_their_zip_and_in_several_files(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("data/conversations-000.json", json.dumps([chatgpt("c1", *ASKED)]))
        packed.writestr("data/conversations-001.json", json.dumps([chatgpt("c2", *ASKED)]))
        packed.writestr("chat.html", "<html>")
    assert Read(path).sessions == ["c1", "c2"]
    claude = {"uuid": "u1", "name": "Ferry", "chat_messages": [{"uuid": "m1", "sender": "human", "text": "Late?"}]}
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("conversations.json", json.dumps([claude]))
    read = Read(path)
    assert (read.format, read.said) == ("claude-export", ["user: Late?"])


def test_zips_that_are_no_exports(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", " " * 50_000_000)
    with pytest.raises(StoreError, match="unpacks to more than"):
        Read(bomb)
    torn = tmp_path / "torn.zip"
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as packed:
        packed.writestr("conversations.json", json.dumps([chatgpt("c1", *ASKED)]))
    torn.write_bytes(whole.read_bytes()[:200])
    with pytest.raises(StoreError, match="cannot be unpacked"):
        Read(torn)


def test_what_stands_before_the_break_of_a_file_is_kept(tmp_path: Path) -> None:
    text = json.dumps([chatgpt("c1", *ASKED), chatgpt("c2", *ASKED)])
    read = Read(written(tmp_path / "conversations.json", text[:-400]))
    assert read.sessions == ["c1"]
    assert len(read.bad) == 1


def test_a_list_is_streamed_in_small_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", 7)
    path = written(tmp_path / "conversations.json", [chatgpt(f"c{n}", ("user", f"Größe {n}?")) for n in range(5)])
    assert [turn.text for turn in Read(path).turns] == [f"Größe {n}?" for n in range(5)]


def test_a_number_of_any_length_is_no_fault(desk: Desk, tmp_path: Path) -> None:
    text = json.dumps([chatgpt("c1", *ASKED), chatgpt("c2", *ASKED)])
    path = written(tmp_path / "conversations.json", text[:-2] + ', "n": ' + "9" * 5_000 + "}]")
    done = desk.take(path)
    assert (done.written, done.bad) == (2, 1)
    for named in ("telegram", "discord"):
        read = Read(written(tmp_path / "x.json", '{"id": ' + "9" * 5_000 + "}"), named)
        assert (read.turns, len(read.bad)) == ([], 1)


def test_marks_of_citations_are_no_words(tmp_path: Path) -> None:
    said = "It is late\ue200cite\ue202turn0search1\ue202turn0news2\ue201. "
    said += 'In \ue200entity\ue202["city","Rome","it"]\ue201 too\ue206'
    read = Read(written(tmp_path / "conversations.json", [chatgpt("c1", ("assistant", said))]))
    assert read.said == ["assistant: It is late. In Rome too"]


def slack(folder: Path) -> Path:
    written(folder / "users.json", [{"id": "U1", "name": "ana", "profile": {"real_name": "Ana Lopez"}}])
    written(folder / "channels.json", [{"id": "C1", "name": "general"}])
    root = "1709375531.000100"
    first = [
        {
            "type": "message",
            "user": "U1",
            "ts": root,
            "thread_ts": root,
            "text": "Is <@U1> late? <https://a.b|site> &amp;",
        },
        {"type": "message", "subtype": "channel_join", "user": "U1", "ts": "1709375532.000100", "text": "joined"},
        {"type": "message", "user": "U2", "ts": "1709375534.000000", "text": "Another thing"},
        {"type": "message", "user": "U1", "ts": "1709375539.000000", "thread_ts": root, "text": "Yes."},
    ]
    written(folder / "general" / "2024-03-02.json", first)
    written(
        folder / "general" / "2024-03-03.json", [{"type": "message", "user": "U1", "ts": "1709461931.0", "text": "Bye"}]
    )
    return folder


def test_slack_names_people_and_puts_answers_behind_what_they_answer(tmp_path: Path) -> None:
    folder = slack(tmp_path / "export")
    said = [
        "Ana Lopez: Is @Ana Lopez late? site (https://a.b) &",
        "Ana Lopez: Yes.",
        "U2: Another thing",
        "Ana Lopez: Bye",
    ]
    read = Read(folder)
    assert (read.format, read.said, read.titles) == ("slack", said, {"general-C1": "#general"})
    assert to_iso(read.turns[0].at or 0)[:19] == "2024-03-02T10:32:11"
    assert read.notes == []
    with zipfile.ZipFile(tmp_path / "slack.zip", "w") as packed:
        for file in sorted(folder.rglob("*.json")):
            packed.write(file, file.relative_to(folder))
    assert Read(tmp_path / "slack.zip").said == said
    assert Read(folder / "general").said == said  # a folder of one channel


def test_telegram(tmp_path: Path) -> None:
    messages: list[Any] = [
        {"id": 1, "type": "service", "date": "2024-03-02T10:00:00", "actor": "Ana", "action": "x", "text": ""},
        {"id": 2, "type": "message", "date": "2024-03-02T10:32:11", "date_unixtime": "1709375531", "from": "Ana",
         "from_id": "user1", "text": ["Is it ", {"type": "bold", "text": "late"}, "?"]},
        {"id": 3, "type": "message", "date": "2024-03-02T10:33:00", "from": None, "from_id": "user2", "text": "Yes."},
        {"id": 4, "type": "message", "date": "2024-03-02T10:34:00", "from": "Ana", "text": "", "photo": "a.jpg"},
    ]  # fmt: skip
    chat = {"name": "Ferry", "type": "private_group", "id": 42, "messages": messages}
    for content in (chat, {"about": "…", "personal_information": {}, "chats": {"about": "…", "list": [chat]}}):
        read = Read(written(tmp_path / "result.json", content))
        assert (read.format, read.said) == ("telegram", ["Ana: Is it late?", "a deleted account: Yes."])
        assert (read.sessions, read.titles, len(read.left)) == (["42"], {"42": "Ferry"}, 2)


def test_discord(tmp_path: Path) -> None:
    ana = {"id": "1", "name": "ana", "nickname": "Ana"}
    messages = [
        {"id": "9", "type": "Default", "timestamp": "2024-03-02T10:32:11.5+00:00", "content": "Late?", "author": ana},
        {"id": "10", "type": "GuildMemberJoin", "timestamp": "2024-03-02T10:33:00+00:00", "content": "", "author": ana},
        {
            "id": "11",
            "type": "Reply",
            "timestamp": "2024-03-02T10:33:11+00:00",
            "content": "Yes.",
            "author": {"name": "ben"},
        },
    ]
    channel = {"id": "7", "type": "GuildTextChat", "category": "Text", "name": "general"}
    read = Read(
        written(tmp_path / "channel.json", {"guild": {"name": "Port"}, "channel": channel, "messages": messages})
    )
    assert (read.format, read.said, read.titles) == (
        "discord",
        ["Ana: Late?", "ben: Yes."],
        {"7": "Port › Text › general"},
    )


def test_open_webui_and_librechat(tmp_path: Path) -> None:
    tree = {
        "a": {"id": "a", "parentId": None, "role": "user", "content": "Late?", "timestamp": 1709375531},
        "b": {"id": "b", "parentId": "a", "role": "assistant", "content": "No.", "timestamp": 1709375532},
        "c": {"id": "c", "parentId": "a", "role": "assistant", "content": "Yes.", "timestamp": 1709375533},
    }
    chat = {"id": "o1", "title": "Ferry", "chat": {"history": {"currentId": "c", "messages": tree}, "messages": []}}
    read = Read(written(tmp_path / "chats.json", [chat]))
    assert (read.format, read.said) == ("open-webui", ["user: Late?", "assistant: Yes."])
    below = {"messageId": "y", "text": "Yes.", "isCreatedByUser": False, "createdAt": "2024-03-02T10:01:00Z"}
    top = {"messageId": "x", "text": "Late?", "isCreatedByUser": True, "createdAt": "2024-03-02T10:00:00Z"}
    talk = {"conversationId": "l1", "title": "Ferry", "options": {}, "recursive": True}
    for messages in ([{**top, "children": [below]}], [top, below]):
        read = Read(written(tmp_path / "libre.json", {**talk, "messages": messages}))
        assert (read.format, read.said, read.sessions) == ("librechat", ["user: Late?", "assistant: Yes."], ["l1"])


def lines(*rows: Any) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "openai.jsonl",
            lines(
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": [{"type": "text", "text": "Late?"}, {"type": "image_url"}]},
                {"role": "assistant", "content": "Yes."},
                {"role": "tool", "content": "42"},
            ),
            ["user: Late?", "assistant: Yes."],
        ),
        ("one.json", json.dumps({"messages": [{"role": "user", "content": "Late?"}]}), ["user: Late?"]),
        (
            "share.jsonl",
            lines({"conversations": [{"from": "human", "value": "Late?"}, {"from": "gpt", "value": "Yes."}]}),
            ["user: Late?", "assistant: Yes."],
        ),
        (
            "speakers.json",
            json.dumps([{"speaker": "Ana", "text": "Late?", "timestamp": "2024"}, {"sender": "Ben", "body": "Yes."}]),
            ["Ana: Late?", "Ben: Yes."],
        ),
        ("nobody.jsonl", lines({"role": "user", "content": "Late?"}, {"content": "Yes."}), ["user: Late?", "?: Yes."]),
    ],
)  # fmt: skip
def test_messages_in_json(tmp_path: Path, name: str, content: str, said: list[str]) -> None:
    read = Read(written(tmp_path / name, content))
    assert (read.format, read.said) == ("messages", said)


def test_odd_messages_cost_themselves_only(desk: Desk, tmp_path: Path) -> None:
    rows = lines(
        {"id": "1", "speaker": "Ana", "text": "Late?", "timestamp": "2024-03-02T10:32:00Z"},
        "this is not JSON",
        {"id": "2", "speaker": "Ben", "text": "  "},
        {"id": "1", "speaker": "Ana", "text": "Late?", "timestamp": "2024-03-02T10:32:00Z"},
        {"id": "1", "speaker": "Ben", "text": "Another with the same id", "timestamp": "2024-03-02T10:31:00Z"},
        {"id": "3", "speaker": "Cat", "text": "x" * 10_000_000},
        {"id": "4", "text": "Who says this?"},
        {"id": "5", "speaker": "Ana", "text": "Bye"},
    )
    done = desk.take(written(tmp_path / "odd.jsonl", rows))
    said = desk.said("messages-odd")
    assert [each[:30] for each in said] == [
        "Ana: Late?", "Ben: Another with the same id", f"Cat: {'x' * 25}", "Who says this?", "Ana: Bye",
    ]  # fmt: skip
    assert (done.written, done.bad, done.reasons) == (
        5, 1, {"it is not JSON": 1, "a message without words": 1, "a message that occurs twice": 1},
    )  # fmt: skip
    told = " ".join(done.notes)
    for each in ("1 very long turns were cut", "1 turn without a speaker", "1 turn earlier than the turn before"):
        assert each in told
    again = desk.take(tmp_path / "odd.jsonl")
    assert (again.written, again.notes) == (0, ("the file has not changed since the last import",))


GROWING: dict[str, Callable[[Path, list[str]], Path]] = {
    "chatgpt": lambda place, said: written(
        place / "conversations.json", [chatgpt("c", *[("user", each) for each in said])]
    ),
    "plain": lambda place, said: written(place / "talk.txt", "".join(f"Ana: {each}\n" for each in ["hi", "ho", *said])),
    "whatsapp": lambda place, said: written(
        place / "chat.txt", "".join(f"13/03/2024, 10:{n:02} - Ana: {each}\n" for n, each in enumerate(["hi", *said]))
    ),
    "slack": lambda place, said: _slack_day(place / "slack", said),
}


def _slack_day(folder: Path, said: list[str]) -> Path:
    slack(folder)
    rows = [{"type": "message", "user": "U1", "ts": f"17094{n:05}.0", "text": each} for n, each in enumerate(said)]
    written(folder / "general" / "2024-03-04.json", rows)
    return folder


@pytest.mark.parametrize("kind", GROWING)
def test_read_again_only_what_is_new_is_written(desk: Desk, tmp_path: Path, kind: str) -> None:
    path = GROWING[kind](tmp_path, ["Is it late?", "Yes."])
    first = desk.take(path)
    assert first.written >= 2
    assert desk.take(path).written == 0
    path = GROWING[kind](tmp_path, ["Is it late?", "Yes.", "Thanks."])
    second = desk.take(path)
    assert (second.written, second.unchanged) == (1, first.written)
    found = desk.memory.conversation_search("thanks", limit=1)
    assert [each.message.text.removeprefix("Ana: ").removeprefix("Ana Lopez: ") for each in found.messages] == [
        "Thanks."
    ]


def test_an_edited_message_with_an_id_is_a_new_version_of_its_turn(desk: Desk, tmp_path: Path) -> None:
    desk.take(written(tmp_path / "conversations.json", [chatgpt("c", ("user", "At nine"), ("assistant", "Fine."))]))
    done = desk.take(
        written(tmp_path / "conversations.json", [chatgpt("c", ("user", "At ten"), ("assistant", "Fine."))])
    )
    assert done.written == 1
    assert desk.said("chatgpt-c") == ["At ten", "Fine."]


def test_times_and_speakers_are_kept_and_the_turns_around_are_shown(desk: Desk, tmp_path: Path) -> None:
    desk.take(slack(tmp_path / "export"))
    (found,) = desk.memory.conversation_search("another thing", limit=1).messages
    assert (found.message.speaker, found.message.text, found.message.at[:16]) == (
        "U2",
        "U2: Another thing",
        "2024-03-02T10:32",
    )
    assert [each.text for each in (*found.before, *found.after)] == ["Ana Lopez: Yes.", "Ana Lopez: Bye"]


def test_two_chats_with_names_in_another_script_stay_apart(desk: Desk, tmp_path: Path) -> None:
    for name in ("Паром", "Причал"):
        desk.take(written(tmp_path / f"{name}.txt", f"Анна: {name}?\nБорис: да\nАнна: хорошо\n"))
    assert desk.run("conversation_list").total == 2
