"""Chats of WhatsApp, as phones of different countries export them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.conversations.conftest import Read, written
from weft.core.clock import to_iso

ANDROID = """12/03/2024, 10:31 - Messages and calls are end-to-end encrypted. No one outside of this chat can read them.
12/03/2024, 10:31 - Ana created group "Ferry"
12/03/2024, 10:32 - Ana: Is it late?
It should be here.
13/03/2024, 21:05 - +44 7700 900123: Yes: at nine
13/03/2024, 21:06 - Ana: <Media omitted>
13/03/2024, 21:07 - Ana: This message was deleted
"""


def days(read: Read) -> list[str]:
    return [to_iso(turn.at or 0)[:16] for turn in read.turns]


def test_messages_are_kept_and_notices_are_counted(tmp_path: Path) -> None:
    read = Read(written(tmp_path / "WhatsApp Chat with Ferry.txt", ANDROID))
    assert read.format == "whatsapp"
    assert read.said == ["Ana: Is it late?\nIt should be here.", "+44 7700 900123: Yes: at nine"]
    assert days(read) == ["2024-03-12T10:32", "2024-03-13T21:05"]
    assert sorted(each.partition(":")[0] for each in read.left) == [
        "a message that was deleted",
        "a notice of the program",
        "a notice of the program",
        "a picture or a file without words",
    ]
    assert read.titles == {"WhatsApp Chat with Ferry": "WhatsApp Chat with Ferry"}


@pytest.mark.parametrize(
    ("lines", "when", "note"),
    [
        ("3/13/24, 9:05\u202fPM - A: x\n3/14/24, 9:06\u202fAM - B: y\n", ["2024-03-13T21:05", "2024-03-14T09:06"], ""),
        ("13/3/24, 09:05 - A: x\n14/3/24, 09:06 - B: y\n", ["2024-03-13T09:05", "2024-03-14T09:06"], ""),
        ("[12.03.24, 09:05:01] A: x\n[11.04.24, 09:06:02] B: y\n", ["2024-03-12T09:05", "2024-04-11T09:06"], ""),
        ("[2024-03-12, 09:05:01] A: x\n[2024-04-11, 09:06:02] B: y\n", ["2024-03-12T09:05", "2024-04-11T09:06"], ""),
        # only one order goes forward in time
        ("3/9/24, 09:05 - A: x\n4/2/24, 09:06 - B: y\n", ["2024-03-09T09:05", "2024-04-02T09:06"], "the month first"),
        ("9/3/24, 09:05 - A: x\n2/4/24, 09:06 - B: y\n", ["2024-03-09T09:05", "2024-04-02T09:06"], "the day first"),
        # nothing decides
        (
            "1/3/24, 09:05 - A: x\n2/3/24, 09:06 - B: y\n",
            ["2024-03-01T09:05", "2024-03-02T09:06"],
            "nothing in the file",
        ),
    ],
)
def test_which_number_is_the_day(tmp_path: Path, lines: str, when: list[str], note: str) -> None:
    read = Read(written(tmp_path / "chat with A.txt", lines))
    assert (read.format, days(read)) == ("whatsapp", when)
    told = [each for each in read.notes if "ambiguous" in each]
    assert (note in told[0]) if note else not told


def test_a_zip_with_the_text_in_it(tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat - Ana.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(
            "_chat.txt", "\u200e[12/03/24, 09:05:01] Ana: \u200eimage omitted\n[13/03/24, 09:05:01] Ana: hi\n"
        )
        packed.writestr("00000001-PHOTO.jpg", b"\xff\xd8")
    read = Read(path)
    assert (read.said, read.sessions) == (["Ana: hi"], ["WhatsApp Chat - Ana"])


def test_a_notice_that_quotes_a_colon_is_nobodys_words(tmp_path: Path) -> None:
    lines = '12/03/2024, 10:31 - Ana created group "Trip: Rome"\n13/03/2024, 10:32 - Ana "Boss" Lopez: hi: there\n'
    lines += "13/03/2024, 10:33 - Ben: hello\n"
    read = Read(written(tmp_path / "chat with A.txt", lines))
    assert read.said == ['Ana "Boss" Lopez: hi: there', "Ben: hello"]


@pytest.mark.parametrize(
    ("stamp", "when"),
    [
        ("13/03/2024, 9:05 p. m. - ", "2024-03-13T21:05"),
        ("2024/03/13 \u4e0b\u53489:05 - ", "2024-03-13T21:05"),
        ("13/03/2024, 9:05 nachm. - ", "2024-03-13T21:05"),
        ("13/03/2024 \u00e0 21:05 - ", "2024-03-13T21:05"),
    ],
)
def test_halves_of_the_day_in_other_languages(tmp_path: Path, stamp: str, when: str) -> None:
    read = Read(written(tmp_path / "chat.txt", f"{stamp}Ana: late?\n{stamp}Ben: yes\n"), "whatsapp")
    assert (read.said, days(read)) == (["Ana: late?", "Ben: yes"], [when, when])


def test_a_word_after_the_time_that_is_not_known_glues_no_messages(tmp_path: Path) -> None:
    lines = "13/03/2024, 9:05 foo - Ana: late?\n13/03/2024, 9:06 foo - Ben: yes\n13/03/2024, 21:07 - Ana: ok\n"
    read = Read(written(tmp_path / "chat with A.txt", lines), "whatsapp")
    assert read.said == ["Ana: late?", "Ben: yes", "Ana: ok"]
    assert [turn.at is None for turn in read.turns] == [True, True, False]
    assert any("2 messages" in note and "foo" in note for note in read.notes)
