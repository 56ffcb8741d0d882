"""Exports of Slack as they come: threads in threads, programs that post blocks, folders in folders."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from tests.conversations.conftest import Read, written

DAY = "general/2024-03-02.json"


def message(number: int, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": "U1", "ts": f"17093755{number:02}.000100", "text": text, **more}


def ts(number: int) -> str:
    return f"17093755{number:02}.000100"


def test_answers_to_answers_and_threads_that_go_round_are_all_there(tmp_path: Path) -> None:
    rows = [
        message(1, "root"),
        message(2, "other"),
        message(3, "answer", thread_ts=ts(1)),
        message(4, "answer to the answer", thread_ts=ts(3)),
        message(5, "round", thread_ts=ts(6)),
        message(6, "and round", thread_ts=ts(5)),
    ]
    written(tmp_path / "x" / DAY, rows)
    said = [turn.text for turn in Read(tmp_path / "x", "slack").turns]
    assert said[:4] == ["root", "answer", "answer to the answer", "other"]
    assert sorted(said[4:]) == ["and round", "round"]


def test_what_programs_post_without_text_is_read(tmp_path: Path) -> None:
    rich = {
        "type": "rich_text",
        "elements": [
            {
                "type": "rich_text_section",
                "elements": [
                    {"type": "text", "text": "see "},
                    {"type": "link", "url": "https://a.b"},
                    {"type": "user", "user_id": "U1"},
                ],
            }
        ],
    }
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "*Deploy* of <https://a.b|desk>"}}
    rows = [
        message(1, "", subtype="bot_message", username="ci", attachments=[{"title": "Build 7", "text": "failed"}]),
        message(2, "", subtype="bot_message", username="ci", attachments=[{"fallback": "Build 8 passed"}]),
        message(3, "", subtype="bot_message", username="ci", blocks=[section, {"type": "divider"}]),
        message(4, "", blocks=[rich]),
        message(5, "said", attachments=[{"text": "a preview of a page"}]),
    ]
    written(tmp_path / "x" / "users.json", [{"id": "U1", "name": "ana"}])
    written(tmp_path / "x" / DAY, rows)
    assert Read(tmp_path / "x").said == [
        "ana: Build 7\nfailed",
        "ana: Build 8 passed",
        "ana: *Deploy* of desk (https://a.b)",
        "ana: see https://a.b@ana",
        "ana: said",
    ]


def test_a_zip_takes_no_names_from_beside_it(tmp_path: Path) -> None:
    written(tmp_path / "users.json", [{"id": "U1", "name": "mallory"}])
    with zipfile.ZipFile(tmp_path / "slack.zip", "w") as packed:
        packed.writestr(DAY, '[{"type": "message", "user": "U1", "ts": "1709375531.0", "text": "hi"}]')
    read = Read(tmp_path / "slack.zip")
    assert read.said == ["U1: hi"]
    assert any("no users.json" in each for each in read.bad)


def test_a_folder_in_a_folder_is_the_export(tmp_path: Path) -> None:
    inner = tmp_path / "Downloads" / "Port Slack export"
    written(inner / "users.json", [{"id": "U1", "name": "ana"}])
    written(inner / DAY, [message(1, "hi")])
    read = Read(tmp_path / "Downloads")
    assert (read.format, read.said, read.sessions) == ("slack", ["ana: hi"], ["general"])


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    written(tmp_path / "x" / DAY, [message(1, "hi")])
    outside = written(tmp_path / "elsewhere" / "2024-03-03.json", [message(2, "private")])
    (tmp_path / "x" / "general" / "2024-03-03.json").symlink_to(outside)
    (tmp_path / "x" / "secret").symlink_to(outside.parent, target_is_directory=True)
    read = Read(tmp_path / "x", "slack")
    assert [turn.text for turn in read.turns] == ["hi"]
    assert "a symbolic link, which is not followed" in read.left
