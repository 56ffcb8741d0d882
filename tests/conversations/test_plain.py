"""Plain transcripts: however a file shows who speaks, its turns are found, and no words are lost."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conversations.conftest import Read, written
from weft.conversations.formats.entries import NO_WORDS
from weft.core.clock import to_iso
from weft.core.errors import Invalid, StoreError

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
    "minutes": (
        "Present: Ana, Ben\nWe met at nine.\nAna: Shall we ship?\nIt is late.\nBen: Yes.\nWe then had tea.\n"
        "Ana: Fine.\nCleo: Not today.\nIt rained all day.\nIt was wet.\nAnd cold.\nAnd dark.\n",
        [
            "?: Present: Ana, Ben\nWe met at nine.",
            "Ana: Shall we ship?\nIt is late.",
            "Ben: Yes.\nWe then had tea.",
            "Ana: Fine.",
            "Cleo: Not today.\nIt rained all day.\nIt was wet.\nAnd cold.\nAnd dark.",
        ],
    ),
    "fields in an answer": (
        "User: Which book?\nAssistant: This one:\nTitle: Dune\nAuthor: Frank Herbert\nerror: none\nIt is long.\n"
        "User: Thanks\n",
        [
            "user: Which book?",
            "assistant: This one:\nTitle: Dune\nAuthor: Frank Herbert\nerror: none\nIt is long.",
            "user: Thanks",
        ],
    ),
    "code without an end": (
        "Ben: What now?\nAna: Run this\n```\nname: x\nMode: y\nBen: Done\nCleo: Good\nAna: Thanks\nBen: Bye\n",
        [
            "Ben: What now?",
            "Ana: Run this\n```\nname: x\nMode: y",
            "Ben: Done",
            "Cleo: Good",
            "Ana: Thanks",
            "Ben: Bye",
        ],
    ),
    "a heading of one who speaks once": (
        "### Ana\nLate?\n### Ben\nYes.\n### Ana\nWhy?\n#### Because\nof it\n### Ben\nFog.\n### Cleo\nSun.\n",
        ["Ana: Late?", "Ben: Yes.", "Ana: Why?\n#### Because\nof it", "Ben: Fog.", "Cleo: Sun."],
    ),
    "one without a time": (
        "[10:32] Ana: Late?\n[10:33] Ben: Yes.\nAna: Why?\nAddress: the quay\n[10:34] Ben: Fog.\n",
        ["Ana: Late?", "Ben: Yes.", "Ana: Why?\nAddress: the quay", "Ben: Fog."],
    ),
    "small letters": ("mira: late?\njon: yes\nmira: why\n", ["mira: late?", "jon: yes", "mira: why"]),
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
    assert read.notes == ["1 turn without a speaker: the file does not name one"]


def test_days_are_kept_and_times_without_a_day_are_not(tmp_path: Path) -> None:
    dated = Read(written(tmp_path / "a.txt", "[2024-03-02 10:32:11] Ana: Late?\n[2024-03-02 10:33:00] Ben: Yes.\n"))
    assert [to_iso(turn.at or 0)[:19] for turn in dated.turns] == ["2024-03-02T10:32:11", "2024-03-02T10:33:00"]
    bare = Read(written(tmp_path / "b.txt", "2024-03-02 10:32 Ana: Late?\n2024-03-02 10:31 Ben: Yes.\n"))
    assert [to_iso(turn.at or 0)[11:16] for turn in bare.turns] == ["10:32", "10:31"]
    assert any("1 turn earlier than the turn before" in note for note in bare.notes)
    clock = Read(written(tmp_path / "c.txt", "[10:32] Ana: Late?\n[10:33] Ben: Yes.\n"))
    assert [turn.at for turn in clock.turns] == [None, None]
    assert clock.notes == ["the times name no day: they are not imported"]


def test_a_file_in_which_nobody_speaks_is_refused_unless_it_is_called_a_transcript(tmp_path: Path) -> None:
    prose = written(tmp_path / "notes.txt", "The ferry leaves at nine.\nNote: it may be late.\n")
    with pytest.raises(Invalid, match="not a known kind of conversation"):
        Read(prose)
    assert Read(prose, "plain").said == ["?: The ferry leaves at nine.\nNote: it may be late."]
    (tmp_path / "photo.txt").write_bytes(b"\x00\x01: binary\x00")
    with pytest.raises(Invalid, match="not a known kind of conversation"):
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


def test_captions_make_no_speakers_of_sentences(tmp_path: Path) -> None:
    cues = [
        "Ana: Hello",
        "So the question is: do we ship?\nBudget Review: next week",
        "Question: who pays?",
        "- Ben Moe: I do.\n- Ana: Thanks.",
    ]
    srt = "".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{each}\n\n" for n, each in enumerate(cues, start=1))
    assert Read(written(tmp_path / "meeting.srt", srt)).said == [
        "Ana: Hello So the question is: do we ship? Budget Review: next week Question: who pays?",
        "Ben Moe: I do.",
        "Ana: Thanks.",
    ]
    voices = (
        CAPTIONS
        + "\n00:01:07.000 --> 00:01:08.000\nSummary: it is late\n\n00:01:09.000 --> 00:01:10.000\nZoom: a tool\n"
    )
    assert Read(written(tmp_path / "voices.vtt", voices)).said[1:] == [
        "Ben: Is it late? Summary: it is late Zoom: a tool"
    ]


def test_captions_go_on_after_a_blank_line(tmp_path: Path) -> None:
    srt = "1\n00:00:01,000 --> 00:00:04,000\nAna: Hello\n\nand welcome\n\n2\n00:00:05,000 --> 00:00:06,000\n42\n\n"
    srt += "3\n00:00:07,000 --> 00:00:09,000\nBen: Hi\n"
    assert Read(written(tmp_path / "meeting.srt", srt)).said == ["Ana: Hello and welcome 42", "Ben: Hi"]
    bare = "WEBVTT\n\n00:01.000 --> 00:02.000\n42\n\nNOTE no words\n\n00:03.000 --> 00:04.000\nis the <v Ana>answer\n"
    assert Read(written(tmp_path / "bare.vtt", bare)).said == ["?: 42 is the", "Ana: answer"]


def test_captions_that_roll_are_told_once(tmp_path: Path) -> None:
    words = ["the ferry is late", "no", "no", "it leaves at nine", "from the north quay"]
    rolling = "WEBVTT\nKind: captions\nLanguage: en\n\n"
    before = " "
    for n, each in enumerate(words):
        first, *rest = each.split(" ")
        timed = first + "".join(f"<00:00:{n:02}.400><c> {word}</c>" for word in rest)
        rolling += f"00:00:{n:02}.000 --> 00:00:{n:02}.990 align:start position:0%\n{before}\n{timed}\n\n"
        rolling += f"00:00:{n:02}.990 --> 00:00:{n + 1:02}.000 align:start position:0%\n{each}\n \n\n"
        before = each
    assert Read(written(tmp_path / "talk.vtt", rolling)).said == [f"?: {' '.join(words)}"]
    said = "1\n00:00:01,000 --> 00:00:02,000\nAna: No.\n\n2\n00:00:02,000 --> 00:00:04,000\nNo.\nNo, wait.\n"
    assert Read(written(tmp_path / "talk.srt", said)).said == ["Ana: No. No. No, wait."]


PEOPLE = ["Ana", "Ben Moe", "Zoë", "MARA", "User", "Assistant"]
SPEECHES = st.lists(
    st.tuples(
        st.sampled_from(PEOPLE),
        st.lists(
            st.sampled_from(["late", "the time: nine", "Note: keys", "Mara said: no", "the quay", "", "- a point"]),
            max_size=3,
        ),
    ),
    min_size=2,
    max_size=10,
)


@pytest.mark.parametrize("way", ["{}: {}", "**{}:** {}", "[10:32] {}: {}", "2024-03-02 10:32 {}: {}", "{} (10:32): {}"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(speeches=SPEECHES, intro=st.sampled_from(["", "Present: Ana, Ben\n", "Weekly sync\n\nDate: today\n"]))
def test_words_of_two_people_never_share_a_turn(
    tmp_path: Path, way: str, speeches: list[tuple[str, list[str]]], intro: str
) -> None:
    """Every word carries the number of whose speech it is of."""
    text = intro + "".join(
        way.format(who, f"w{n} begins\n") + "".join(f"{line} w{n}\n" if line else "\n" for line in lines)
        for n, (who, lines) in enumerate(speeches)
    )
    read = Read(written(tmp_path / "talk.txt", text), "plain")
    told = [(turn.speaker or turn.role, set(re.findall(r"\bw(\d+)\b", turn.text))) for turn in read.turns]
    expected = [(who.lower() if who in ("User", "Assistant") else who, {str(n)}) for n, (who, _) in enumerate(speeches)]
    assert [each for each in told if each[1]] == expected


def test_signs_that_were_lost_are_told(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes("Ana: Größe?\nBen: Straße\nAna: ok\n".encode("latin-1"))
    assert any("2 turns" in note and "UTF-8" in note for note in Read(tmp_path / "old.txt").notes)


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
        for word in "".join(c if c.isprintable() else " " for c in line).lower().split():
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
