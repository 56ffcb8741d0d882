"""Plain transcripts: however a file shows who speaks, its turns are found, and no words are lost."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.errors import Invalid, StoreError
from weft.instants import to_iso
from weft.transcripts.told_apart import NO_WORDS

from .conftest import Read, written

NAMED = """Weekly sync

Ana Lopez: Shall we move the ferry desk?
It leaks.
Ben: Yes, the second one.
Note: bring the keys
Ana Lopez: Fine.
"""
WAYS: dict[str, tuple[str, list[str]]] = {
    "names": ("Ana: Is it late?\nBen: Yes.\nAna: Why?\n", ["Ana: Is it late?", "Ben: Yes.", "Ana: Why?"]),
    "two lines": ("Ana: Is it late?\nBen: Yes.\n", ["Ana: Is it late?", "Ben: Yes."]),
    "clock": ("[10:32] Ana: Late?\nmore: of it\n[10:33] Ben: Yes.\n", ["Ana: Late?\nmore: of it", "Ben: Yes."]),
    "clock after": ("Ana (10:32): Is it late?\nBen (10:33 AM): Yes.\n", ["Ana: Is it late?", "Ben: Yes."]),
    "zoom": (
        "10:32:11 From Ana Lopez to Everyone: Late?\n10:33:00 From Ben to Everyone: Yes.\n",
        ["Ana Lopez: Late?", "Ben: Yes."],
    ),
    "bold": ("**User:** Late?\n\nReally?\n\n**Assistant:** Yes.\n", ["user: Late?\n\nReally?", "assistant: Yes."]),
    "headings": (
        "## User\nIs it late?\n\n### Details\nx\n\n## Assistant\n\nYes.\n",
        ["user: Is it late?\n\n### Details\nx", "assistant: Yes."],
    ),
    "names as headings": (
        "### Ana\nLate?\n### Ben\nYes.\n### Ana\nWhy?\n### Ben\nFog.\n",
        ["Ana: Late?", "Ben: Yes.", "Ana: Why?", "Ben: Fog."],
    ),
    "code": (
        "User: Run this\n```\nAssistant: not said\n```\nAssistant: Done\n",
        ["user: Run this\n```\nAssistant: not said\n```", "assistant: Done"],
    ),
    "an open fence": (
        "User: Run this\n```\nwhat\nAssistant: Done\nUser: Thanks\n",
        ["user: Run this\n```\nwhat", "assistant: Done", "user: Thanks"],
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_turns_are_found_however_a_file_shows_who_speaks(tmp_path: Path, way: str) -> None:
    text, said = WAYS[way]
    read = Read(written(tmp_path / "talk.txt", text))
    assert (read.format, read.said) == ("plain", said)


def test_lines_go_on_with_the_turn_before_them_and_a_heading_has_no_speaker(tmp_path: Path) -> None:
    read = Read(written(tmp_path / "sync.txt", NAMED))
    assert read.said == [
        "?: Weekly sync",
        "Ana Lopez: Shall we move the ferry desk?\nIt leaks.",
        "Ben: Yes, the second one.\nNote: bring the keys",
        "Ana Lopez: Fine.",
    ]
    assert read.notes == ["who speaks is not told of 1 turn: kept without a speaker"]


def test_days_are_kept_and_times_without_a_day_are_not(tmp_path: Path) -> None:
    dated = Read(written(tmp_path / "a.txt", "[2024-03-02 10:32:11] Ana: Late?\n[2024-03-02 10:33:00] Ben: Yes.\n"))
    assert [to_iso(turn.at or 0)[:19] for turn in dated.turns] == ["2024-03-02T10:32:11", "2024-03-02T10:33:00"]
    bare = Read(written(tmp_path / "b.txt", "2024-03-02 10:32 Ana: Late?\n2024-03-02 10:31 Ben: Yes.\n"))
    assert [to_iso(turn.at or 0)[11:16] for turn in bare.turns] == ["10:32", "10:31"]
    assert any("clock goes back 1 time" in note for note in bare.notes)
    clock = Read(written(tmp_path / "c.txt", "[10:32] Ana: Late?\n[10:33] Ben: Yes.\n"))
    assert [turn.at for turn in clock.turns] == [None, None]
    assert clock.notes == ["its times name no day: they are not kept"]


def test_a_file_in_which_nobody_speaks_is_refused_unless_it_is_called_a_transcript(tmp_path: Path) -> None:
    prose = written(tmp_path / "notes.txt", "The ferry leaves at nine.\nNote: it may be late.\n")
    with pytest.raises(Invalid, match="no conversation"):
        Read(prose)
    assert Read(prose, "plain").said == ["?: The ferry leaves at nine.\nNote: it may be late."]
    (tmp_path / "photo.txt").write_bytes(b"\x00\x01: binary\x00")
    with pytest.raises(Invalid, match="no conversation"):
        Read(tmp_path / "photo.txt")


def test_a_very_long_speech_is_told_in_several_turns(tmp_path: Path) -> None:
    speech = "".join(f"line {number} of it\n" for number in range(40_000))
    read = Read(written(tmp_path / "long.txt", f"Ana: {speech}Ben: Thanks.\n"), "plain")
    assert len(read.turns) > 2
    assert {turn.speaker for turn in read.turns} == {"Ana", "Ben"}
    assert "\n".join(turn.text for turn in read.turns[:-1]) == speech.strip()


def test_other_encodings(tmp_path: Path) -> None:
    for name in ("utf-8-sig", "utf-16"):
        path = tmp_path / f"{name}.txt"
        path.write_text("Zoë: Größe?\nÅse: Stor.\n", encoding=name)
        assert Read(path).said == ["Zoë: Größe?", "Åse: Stor."]
    (tmp_path / "broken.txt").write_bytes(b"Ana: caf\xe9?\nBen: yes\n")
    assert Read(tmp_path / "broken.txt").said == ["Ana: caf\ufffd?", "Ben: yes"]


CAPTIONS = """WEBVTT - meeting

NOTE made by a program

1
00:00:01.000 --> 00:00:04.000
<v Ana Lopez>Hello &amp; welcome</v>

2
00:00:04.000 --> 00:00:06.500 align:start
<v Ana Lopez>to the <i>ferry</i>.</v>

00:01:04.000 --> 00:01:06.000
<v Ben>Is it late?</v>
"""


def test_captions(tmp_path: Path) -> None:
    read = Read(written(tmp_path / "meeting.vtt", CAPTIONS))
    assert (read.format, read.said) == ("captions", ["Ana Lopez: Hello & welcome to the ferry.", "Ben: Is it late?"])
    srt = "1\n00:00:01,000 --> 00:00:04,000\nAna: Hello\n\n2\n00:00:04,000 --> 00:00:06,000\nand welcome\n\n"
    srt += "3\n00:00:07,000 --> 00:00:09,000\nBen: Hi\n"
    assert Read(written(tmp_path / "meeting.srt", srt)).said == ["Ana: Hello and welcome", "Ben: Hi"]


BEGINNINGS = ["Ana: ", "[10:32] Ben: ", "2024-03-02 10:32 Zoë: ", "## User", "**Assistant:** ", "- ", "# "]
ODD = ["```", "", "Ana (10:32): late", "12/03/2024, 10:32 - Ana: hi", "{", '{"a": 1}']
LINES = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.tuples(st.sampled_from(BEGINNINGS), st.text(max_size=40)).map("".join),
        st.sampled_from(ODD),
    ),
    max_size=12,
)
BY_NAME = st.sampled_from(["plain", "whatsapp", "captions", "messages", "telegram", "chatgpt", "discord", "librechat"])


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=LINES)
def test_no_text_stops_the_reader_and_no_words_are_lost(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "any.txt"
    path.write_text("\n".join(lines), encoding="utf-8", errors="replace", newline="")
    read = Read(path, "plain")
    kept = [word for turn in read.turns for word in f"{turn.speaker} {turn.role} {turn.text}".lower().split()]
    programs = "what a program said" in " ".join(read.left)
    for line in path.read_text(encoding="utf-8").splitlines():
        if NO_WORDS in read.left and (line.rstrip(" *_").endswith(":") or line.lstrip().startswith("#")):
            continue  # somebody who says nothing
        for word in line.replace("\x00", "").lower().split():
            letters = "".join(c for c in word if c.isalpha())
            if letters and not programs:
                assert any(letters in "".join(c for c in each if c.isalpha()) for each in kept), (word, kept)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=400), named=BY_NAME)
def test_no_bytes_stop_a_reader(tmp_path: Path, raw: bytes, named: str) -> None:
    path = tmp_path / "any.json"
    path.write_bytes(raw)
    with suppress(StoreError):  # what begins as a zip and is none is told as that
        Read(path, named)
