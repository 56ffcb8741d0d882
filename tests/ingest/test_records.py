"""Records: what shape a row has, and what it becomes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import weft
from weft.core.clock import MAX_INSTANT_US, parse_instant
from weft.core.errors import Invalid
from weft.core.types import MAX_IDS_PER_READ, SCOPES, Find, NodeVersion, Viewer, When
from weft.graph.apply_moves import apply_events
from weft.graph.digest import graph_digest
from weft.ingest import ingest_records as records
from weft.ingest.ingest_records import MAX_LINE_BYTES, RecordsIngested, ingest_records
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.testing.clock import ManualClock
from weft.text.extract.records import read_record

OPERATOR = Viewer(account="default", scopes=frozenset(SCOPES), sensitive=True)
Row = dict[str, Any]


@pytest.fixture(params=["memory", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[weft.Memory]:
    url = "memory://" if request.param == "memory" else f"sqlite://{tmp_path / 'store'}"
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none"}
    with weft.open(url, directory=tmp_path, environment=environment, clock=clock) as made:
        yield made


def ingest(memory: weft.Memory, *rows: Row, project: str | None = "harbour") -> RecordsIngested:
    return ingest_records(memory.ctx, rows, project=project)


def nodes(memory: weft.Memory, **find: Any) -> list[NodeVersion]:
    """What holds in the end, by id."""
    found = memory.ctx.store.find(OPERATOR, When(valid_at=MAX_INSTANT_US), Find(**find), limit=10_000)
    return sorted(found.nodes, key=lambda node: node.id)


def said(memory: weft.Memory, conversation: str) -> list[tuple[str, str]]:
    return [(node.id, node.text) for node in nodes(memory, kinds=("Message",), id_prefix=f"{conversation}#")]


def position(memory: weft.Memory) -> int:
    return memory.ctx.store.head(OPERATOR).pos


# ---- shapes


@pytest.mark.parametrize(
    ("row", "shape"),
    [
        ({"text": "Harbour\nA town.", "title": "Harbour"}, "passage"),
        ({"text": "# Tides", "path": "notes/tides.md"}, "passage"),
        ({"text": "user: hi", "session": 3}, "turn"),
        ({"text": "hi", "session": "3", "title": "Tides", "path": "x.py"}, "turn"),
        ({"text": "user: hi\n\nassistant: ho"}, "session"),
        ({"text": "hi and ho", "turn_offsets": [0, 3]}, "session"),
        ({"text": "x = 1", "path": "src/tides.py"}, "file"),
        ({"text": "def tide():\n    return 1"}, "snippet"),
        ({"text": "High tide is at nine."}, "memory"),
    ],
)
def test_what_a_row_holds_decides_its_shape(row: Row, shape: str) -> None:
    assert read_record({"id": "r", **row}, source_suffixes={".py"}).shape == shape


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ([], "not an object"),
        ("text", "not an object"),
        (None, "not an object"),
        ({"id": "r"}, "no text"),
        ({"id": "r", "text": ""}, "no text"),
        ({"id": "r", "text": " \n"}, "no text"),
        ({"id": "r", "text": 5}, "no text"),
        ({"text": "words"}, "no id"),
        ({"id": " ", "text": "words"}, "no id"),
        ({"id": ["r"], "text": "words"}, "id is neither"),
        ({"id": True, "text": "words"}, "id is neither"),
        ({"id": "r" * 513, "text": "words"}, "id is longer"),
        ({"id": "a\x1fb", "text": "words"}, "unit separator"),
        ({"id": "r", "text": "\ud800"}, "surrogate"),
        ({"id": "\udfff", "text": "words"}, "surrogate"),
        ({"id": "r", "text": "words", "session": 1.5}, "session is neither"),
        ({"id": "r", "text": "user:  ", "session": 1}, "no words"),
        ({"id": "r", "text": "Mira:", "session": 1}, "no words"),
        ({"id": "r", "text": "w" * 900_001}, "longer than 900,000"),
    ],
)
def test_a_row_that_holds_no_record_says_why(row: Any, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        read_record(row)


def test_offsets_that_make_no_sense_are_noted_and_the_text_is_kept() -> None:
    chat = read_record({"id": "r", "text": "user: hi\n\nassistant: ho", "turn_offsets": [9, 3]})
    assert (chat.shape, len(chat.turns)) == ("session", 2)
    assert "turn_offsets" in chat.notes[0]
    plain = read_record({"id": "r", "text": "High tide is at nine.", "turn_offsets": "0"})
    assert (plain.shape, plain.text) == ("memory", "High tide is at nine.")
    assert "turn_offsets" in plain.notes[0]


# ---- what they become


def test_a_titled_passage_is_a_document(memory: weft.Memory) -> None:
    ingest(memory, {"id": 7, "title": "Harbour", "text": "Harbour\nA town by the sea.", "date": "9 March 2024"})
    (node,) = nodes(memory)
    assert (node.kind, node.name, node.text) == ("Document", "Harbour", "A town by the sea.")
    assert node.props == {"record": "7"}
    assert node.guard.project == "harbour"
    assert node.interval.valid_from == parse_instant("2024-03-09")


def test_turns_become_messages_of_a_session(memory: weft.Memory) -> None:
    done = ingest(
        memory,
        {"id": "a:1", "session": 1, "text": "Mira: Is it late?", "date": "4:07 pm on 9 March, 2024"},
        {"id": "b:1", "session": 2, "text": "user: Hello.", "date": "2024-03-10"},
        {"id": "a:2", "session": 1, "text": "It is.", "speaker": "Jon", "date": "4:08 pm on 9 March, 2024"},
    )
    assert (done.records, done.messages, done.unchanged) == (3, 3, 0)
    assert said(memory, "harbour/1") == [("harbour/1#00001", "Mira: Is it late?"), ("harbour/1#00002", "Jon: It is.")]
    first, second = nodes(memory, id_prefix="harbour/1#")
    assert first.props == {"conversation": "harbour/1", "seq": 1, "speaker": "Mira", "record": "a:1"}
    assert second.interval.valid_from == parse_instant("2024-03-09T16:08:00Z")
    (other,) = nodes(memory, id_prefix="harbour/2#")
    assert (other.text, other.props["role"]) == ("Hello.", "user")
    sessions = nodes(memory, kinds=("Session",))
    assert [(node.id, node.text, dict(node.props)) for node in sessions] == [
        ("harbour/1", "", {}),
        ("harbour/2", "", {}),
    ]
    assert sessions[0].interval.valid_from == parse_instant("2024-03-09T16:07:00Z")
    steps = memory.ctx.store.neighbours(OPERATOR, When(valid_at=MAX_INSTANT_US), ["harbour/1"], direction="out")
    assert {(step.edge.rel, step.node.id) for step in steps} == {
        ("CONTAINS", "harbour/1#00001"),
        ("CONTAINS", "harbour/1#00002"),
    }


def test_a_whole_session_has_its_turns_as_parts(memory: weft.Memory) -> None:
    done = ingest(memory, {"id": "s9", "text": "user: One?\n\nassistant: Two.", "date": "2024/03/09 (Sat) 04:07"})
    assert (done.records, done.messages) == (1, 2)
    (session,) = nodes(memory, kinds=("Session",))
    assert (session.id, session.name, session.text) == ("harbour/s9", "", "")
    assert session.props == {"whole": True, "record": "s9"}
    first, _ = nodes(memory, kinds=("Message",))
    assert first.text == "One?"
    assert first.props == {
        "conversation": "harbour/s9", "seq": 1, "role": "user", "record": "s9", "part_of": "harbour/s9",
    }  # fmt: skip
    assert first.interval.valid_from == session.interval.valid_from == parse_instant("2024-03-09T04:07:00Z")


def test_a_turn_is_found_by_its_words_and_cited_by_its_own_event(memory: weft.Memory) -> None:
    ingest(memory, *({"id": f"r{n}", "session": "s", "text": f"Mira: pier number {n} burnt"} for n in (1, 2)))
    one, two = (memory.show(f"harbour/s#0000{n}").node for n in (1, 2))
    assert one is not None
    assert two is not None
    assert one.citation != two.citation
    assert memory.cite(one.citation).nodes[-1].text == "Mira: pier number 1 burnt"


def test_source_files_and_snippets(memory: weft.Memory) -> None:
    done = ingest(
        memory,
        {"id": "f", "path": "src/tides.py", "text": "import math\n\n\ndef tide(hour):\n    return math.sin(hour)\n"},
        {"id": "g", "path": "src/tides.py", "text": "the same path again"},
        {"id": "s", "text": 'def ebb():\n    """When water falls."""\n    return 1'},
        {"id": "n", "text": "Two classes of tide\nclass one is spring"},
    )
    assert (done.records, [skipped.row for skipped in done.skipped]) == (3, [2])
    (file,) = nodes(memory, kinds=("File",))
    assert (file.id, file.props["record"]) == ("harbour/src/tides.py", "f")
    tide, ebb = nodes(memory, kinds=("Function",), names=("tide", "ebb"))[::-1]
    assert (tide.name, tide.props["part_of"], tide.props["record"]) == ("tide", file.id, "f")
    assert (ebb.name, ebb.summary, ebb.props) == ("ebb", "When water falls.", {"record": "s"})
    assert [node.props["record"] for node in nodes(memory, kinds=("Memory",))] == ["n"]


# ---- again


ROWS: tuple[Row, ...] = (
    {"id": "p", "title": "Harbour", "text": "A town.", "date": "2024-03-09"},
    {"id": "m", "text": "High tide is at nine."},
    {"id": "t1", "session": 1, "text": "Mira: Late?", "date": "2024-03-09"},
    {"id": "t2", "session": 1, "text": "Jon: Late.", "date": "2999-01-01"},
    {"id": "t3", "session": 1, "text": "Jon: Very."},
    {"id": "c", "text": "def tide():\n    return 9  # L.", "date": "2024-03-09"},
    {"id": "f", "path": "a/b.py", "text": "X = 1\n", "date": "2024-03-09"},
    {"id": "w", "text": "user: One?\n\nassistant: Two.\n\nuser: Three.", "date": "2024-03-09"},
)


def test_the_same_rows_again_write_nothing(memory: weft.Memory) -> None:
    assert ingest(memory, *ROWS).records == len(ROWS)
    before, stood = position(memory), nodes(memory)
    done = ingest(memory, *ROWS)
    assert (done.records, done.messages, done.unchanged, done.skipped_rows) == (0, 0, len(ROWS), 0)
    assert position(memory) == before
    assert nodes(memory) == stood


def test_later_rows_go_on_after_the_last_turn(memory: weft.Memory) -> None:
    ingest(memory, *ROWS)
    more = {"id": "t4", "session": 1, "text": "Mira: So I walk.", "date": "2024-03-09"}
    assert ingest(memory, *ROWS, more).records == 1
    assert said(memory, "harbour/1")[-1] == ("harbour/1#00004", "Mira: So I walk.")
    assert len(memory.ctx.store.history(OPERATOR, "harbour/1", limit=10)) == 1, "the session was not told again"


@pytest.mark.parametrize("date", ["2024-03-09", "2020-01-01", "2030-01-01", None])
def test_a_changed_row_is_a_new_version_of_the_same_node(memory: weft.Memory, date: str | None) -> None:
    ingest(memory, *ROWS)
    held = len(nodes(memory))
    changed = [{**row, "text": f"{row['text']} # Yes.", "date": date} for row in ROWS]
    done = ingest(memory, *changed)
    assert (done.records, done.skipped) == (len(ROWS), ())
    assert len(nodes(memory)) == held
    assert said(memory, "harbour/1")[0] == ("harbour/1#00001", "Mira: Late? # Yes.")
    assert [text for _, text in said(memory, "harbour/w")] == ["One?", "Two.", "Three. # Yes."]
    again = position(memory)
    assert ingest(memory, *changed).records == 0
    assert position(memory) == again


def test_a_date_that_was_told_wrong_is_taken_back(memory: weft.Memory) -> None:
    for row in ROWS:
        ingest(memory, {**row, "date": "2024-03-09"})
        ingest(memory, {**row, "date": "2021-01-01"})
    assert {node.interval.valid_from for node in nodes(memory)} == {parse_instant("2021-01-01")}


def test_turns_that_are_gone_from_a_whole_session_are_taken_back(memory: weft.Memory) -> None:
    ingest(memory, *ROWS)
    ingest(memory, {"id": "w", "text": "user: One?\n\nassistant: Two.", "date": "2024-03-09"})
    assert [text for _, text in said(memory, "harbour/w")] == ["One?", "Two."]
    ingest(memory, ROWS[-1])
    assert [text for _, text in said(memory, "harbour/w")] == ["One?", "Two.", "Three."]


def test_turns_added_to_a_whole_session_survive_its_next_version(memory: weft.Memory) -> None:
    whole = {"id": "w", "text": "user: One?\n\nassistant: Two."}
    ingest(memory, whole)
    ingest(memory, {"id": "later", "session": "w", "text": "user: And now?"})
    assert nodes(memory, id_prefix="harbour/w#")[2].props["part_of"] == "harbour/w"
    ingest(memory, {**whole, "text": whole["text"] + "\n\nuser: Three."})
    assert [text for _, text in said(memory, "harbour/w")] == ["One?", "Two.", "And now?", "Three."]


def test_a_session_begins_with_its_earliest_turn(memory: weft.Memory) -> None:
    for number, date in enumerate([None, "2024-03-09", "2020-01-01", "2022-01-01"]):
        ingest(memory, {"id": number, "session": "s", "text": "user: hm", "date": date})
    (session,) = nodes(memory, kinds=("Session",))
    assert session.interval.valid_from == parse_instant("2020-01-01")


def test_a_deleted_turn_keeps_its_number(memory: weft.Memory) -> None:
    ingest(memory, *ROWS)
    memory.ctx.append([Draft(kind="graph.deleted", payload=graph.Deleted(nodes=("harbour/1#00003",)))])
    ingest(memory, {"id": "t4", "session": 1, "text": "Mira: Next."})
    assert [node for node, _ in said(memory, "harbour/1")] == ["harbour/1#00001", "harbour/1#00002", "harbour/1#00004"]


# ---- rows that cannot be kept


def test_one_bad_row_costs_no_other(memory: weft.Memory) -> None:
    ingest(memory, {"id": "taken", "text": "user: a\n\nassistant: b"})
    done = ingest(
        memory,
        {"id": "1", "text": "first"},
        {"id": "1", "text": "another with the same id"},
        {"id": "2", "text": ""},
        {"id": "3", "text": "é" * 800_000},
        {"id": "4", "text": "same words"},
        {"id": "5", "text": "same words"},
        {"id": "6", "session": "taken#00001", "text": "user: a session called like a message"},
        {"id": "7", "session": "s", "text": "user: fine"},
        {"id": "8", "text": "kept", "date": "the day before"},
    )
    assert [skipped.row for skipped in done.skipped] == [2, 3, 4, 7]
    assert done.skipped_rows == 4
    assert "earlier row" in done.skipped[0].reason
    assert "bytes" in done.skipped[2].reason
    assert [note for note in done.notes if note.startswith("row 9")]
    texts = [node.text for node in nodes(memory, kinds=("Memory",))]
    assert texts == ["first", "same words", "same words", "kept"]


def test_ids_may_hold_odd_characters(memory: weft.Memory) -> None:
    odd = ["a/b#1", "ä ö", "🛶", "../..", "%00", "a\nb", "'; --", "#", "<b>"]
    rows = [{"id": f"m{each}", "text": f"words {each}"} for each in odd]
    rows += [{"id": f"t{each}", "session": each, "text": f"user: words {each}"} for each in odd]
    rows += [{"id": f"w{each}", "text": "user: a\n\nassistant: b"} for each in odd]
    assert ingest(memory, *rows).records == len(rows)
    assert ingest(memory, *rows).unchanged == len(rows)
    assert {node.props["record"] for node in nodes(memory) if "record" in node.props} == {row["id"] for row in rows}


def test_what_is_listed_is_bounded_and_counted(memory: weft.Memory) -> None:
    done = ingest(
        memory,
        *({"id": str(n)} for n in range(300)),
        *({"id": f"d{n}", "text": "x", "date": "soon"} for n in range(150)),
    )
    assert (done.skipped_rows, len(done.skipped), done.records) == (300, records.MAX_TOLD, 150)
    assert len(done.notes) == records.MAX_TOLD + 1
    assert "50 more" in done.notes[-1]


def test_a_session_kept_with_other_rights_is_not_joined(memory: weft.Memory) -> None:
    ingest_records(memory.ctx, [{"id": "1", "session": "s", "text": "user: hm"}], project="harbour", scope="shared")
    done = ingest(memory, {"id": "2", "session": "s", "text": "user: ho"})
    assert "other rights" in done.skipped[0].reason
    assert len(said(memory, "harbour/s")) == 1


def test_projects_are_apart(memory: weft.Memory) -> None:
    for project in ("harbour", "mill", None):
        assert ingest(memory, *ROWS, project=project).records == len(ROWS)
    assert len({node.id for node in nodes(memory)}) == 3 * len(nodes(memory, projects=("mill",)))


def test_a_long_session(memory: weft.Memory) -> None:
    last = 2 * MAX_IDS_PER_READ + 7
    rows = [{"id": n, "session": "long", "text": f"user: wave {n}", "date": 1709957228 + n} for n in range(1, last + 1)]
    seen: list[tuple[str, int, int]] = []
    watched = replace(memory.ctx, progress=lambda *step: seen.append(step))
    assert ingest_records(watched, rows, project="harbour").records == last
    assert seen[-1] == ("records", last, last)
    assert said(memory, "harbour/long")[-1] == (f"harbour/long#{last:05d}", f"wave {last}")
    assert ingest(memory, *rows, {"id": "last", "session": "long", "text": "user: calm"}).records == 1
    assert said(memory, "harbour/long")[-1] == (f"harbour/long#{last + 1:05d}", "calm")


# ---- the log


def test_a_rebuild_gives_the_same_graph(memory: weft.Memory) -> None:
    ingest(memory, *ROWS)
    ingest(memory, *({**row, "text": row["text"] + " # More.", "date": "2021-01-01"} for row in ROWS))
    store = memory.ctx.store
    before = graph_digest(store.graph_rows(OPERATOR))
    store.rebuild(OPERATOR, apply_events, progress=lambda _done, _all: None)
    assert graph_digest(store.graph_rows(OPERATOR)) == before


# ---- files


def test_a_file_of_records(memory: weft.Memory, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    lines = [json.dumps(row) for row in ROWS]
    lines[1:1] = ["", "not json", "[1]", '{"id": "big", "text": "' + "x" * MAX_LINE_BYTES + '"}', "[" * 5_000]
    file.write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8")
    done = memory.ingest(file)
    assert (done.records, done.messages, done.documents) == (len(ROWS), 6, 0)
    assert [skipped.path for skipped in done.skipped] == [f"chat.jsonl:{line}" for line in (3, 4, 5, 6)]
    again = memory.ingest(file)
    assert (again.records, again.unchanged) == (0, len(ROWS))


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\n"])
def test_a_file_without_rows(memory: weft.Memory, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "none.jsonl").write_bytes(content)
    done = memory.ingest(tmp_path / "none.jsonl")
    assert done.records == 0
    assert len(done.skipped) == int(b"\xff" in content)


def test_a_directory_is_still_read_for_documents_only(memory: weft.Memory, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Tides\n\nHigh at nine.\n")
    (tmp_path / "notes" / "b.jsonl").write_text('{"id": "1", "text": "x"}\n')
    done = memory.ingest(tmp_path / "notes")
    assert (done.documents, done.records, done.skipped) == (1, 0, ())
