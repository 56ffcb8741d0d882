"""`weft bench retrieval`, over an invented town: what it writes, what it says, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.conftest import Cli
from weft.surfaces.cli.commands import every_operation

ROWS: list[dict[str, Any]] = [
    {"id": "ferry", "scope": "town", "title": "The ferry", "text": "The ferry\nIt crosses to Osmund Island at noon."},
    {"id": "mill", "scope": "town", "title": "The mill", "text": "The mill\nGrinds barley for the bakers of Quell."},
    {"id": "tower", "scope": "town", "title": "The tower", "text": "The tower\nIts bell rings when fog comes in."},
    {"id": "t1", "scope": "letters", "session": 1, "date": "2024-03-01", "text": "Ines: The ferry made me seasick."},
    {"id": "t2", "scope": "letters", "session": 1, "date": "2024-03-01", "text": "Bo: I sold my accordion yesterday."},
    {"id": "t3", "scope": "letters", "session": 2, "date": "2024-05-09", "text": "Ines: My new boat is called Petrel."},
]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "scope": "town", "query": "when does the ferry cross to Osmund Island?"},
    {"id": "q2", "scope": "town", "query": "who grinds barley?"},
    {"id": "q3", "scope": "letters", "query": "what did Bo sell? an accordion?", "asked_at": "2024/06/01 (Sat) 09:00"},
]


class Bench:
    """The command, with its files in a directory."""

    def __init__(self, cli: Cli) -> None:
        self.cli, self.directory = cli, cli.scratch / "bench"
        self.directory.mkdir()
        self.write("corpus.jsonl", ROWS)
        self.write("queries.jsonl", QUESTIONS)

    def path(self, name: str) -> Path:
        return self.directory / name

    def write(self, name: str, rows: list[dict[str, Any]]) -> None:
        self.path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def __call__(self, *more: str, code: int = 0) -> Any:
        """The answer as JSON; later options win over the usual ones."""
        files = {"--corpus": "corpus.jsonl", "--queries": "queries.jsonl", "--out": "run.json"}
        usual = [
            word for option, name in files.items() if option not in more for word in (option, str(self.path(name)))
        ]
        done = self.cli("bench", "retrieval", *usual, *more, "--json")
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)

    @property
    def run(self) -> dict[str, list[str]]:
        return json.loads(self.path("run.json").read_text(encoding="utf-8"))


@pytest.fixture
def bench(cli: Cli) -> Bench:
    return Bench(cli)


def test_a_run_answers_every_question_with_rows_of_its_scope(bench: Bench) -> None:
    said = bench()
    assert {question: found[0] for question, found in bench.run.items()} == {"q1": "ferry", "q2": "mill", "q3": "t2"}
    scopes = {row["id"]: row["scope"] for row in ROWS}
    for question in QUESTIONS:
        assert {scopes[each] for each in bench.run[question["id"]]} == {question["scope"]}
    assert (said["rows"], said["scopes"], said["questions"]) == (6, 2, 3)
    assert (said["refused"], said["empty"], said["skipped_rows"]) == ({}, 0, 0)
    assert said["ingest_rows_per_second"] > 0
    assert 0 < said["query_p50_ms"] <= said["query_p95_ms"]
    assert said["peak_memory_mb"] > 10
    assert said["store_bytes"] > said["text_bytes"] > 0


def test_the_figures_are_printed_one_a_line(bench: Bench) -> None:
    names = ("corpus", "queries")
    files = [word for name in names for word in (f"--{name}", str(bench.path(f"{name}.jsonl")))]
    done = bench.cli("bench", "retrieval", *files, "--out", str(bench.path("run.json")))
    assert done.exit_code == 0
    firsts = [line.split()[0] for line in done.stdout.splitlines() if line]
    assert firsts[:8] == ["3", "run", "recipe", "ingest", "query", "memory", "store", "empty"]
    assert "rows/s" in done.stdout
    assert "p95" in done.stdout


def test_the_users_own_store_is_left_alone(bench: Bench) -> None:
    bench()
    assert not bench.cli.data.exists()
    assert list(bench.cli.root.iterdir()) == []
    assert sorted(each.name for each in bench.directory.iterdir()) == ["corpus.jsonl", "queries.jsonl", "run.json"]


def test_gold_beside_a_question_changes_nothing(bench: Bench) -> None:
    bench()
    plain = bench.run
    bench.write("queries.jsonl", [{**each, "type": 7, "gold": ["tower"], "answer": "tower"} for each in QUESTIONS])
    bench()
    assert bench.run == plain


def test_limit_bounds_every_answer(bench: Bench) -> None:
    bench("--limit", "1")
    assert {len(found) for found in bench.run.values()} == {1}


def test_what_recall_refuses_is_an_empty_answer_and_counted(bench: Bench) -> None:
    odd = [
        {"id": "none", "scope": "town", "query": ""},
        {"id": "long", "scope": "town", "query": "ferry " * 17_000},
        {"id": "also", "scope": "town", "query": "mill " * 20_000},
    ]
    bench.write("queries.jsonl", [*odd, *QUESTIONS])
    said = bench()
    assert [bench.run[each["id"]] for each in odd] == [[], [], []]
    assert bench.run["q1"][0] == "ferry"
    assert sorted(said["refused"].values()) == [1, 2]


def test_a_scope_without_rows_has_empty_answers_and_a_note(bench: Bench) -> None:
    bench.write("queries.jsonl", [*QUESTIONS, {"id": "q9", "scope": "nowhere", "query": "the ferry"}])
    said = bench()
    assert bench.run["q9"] == []
    assert said["empty"] == 1
    assert any("1 questions are of a scope that has no rows" in note for note in said["notes"])


def test_a_time_of_asking_that_cannot_be_read_is_noted(bench: Bench) -> None:
    bench.write("queries.jsonl", [{**QUESTIONS[0], "asked_at": "when the swallows came"}])
    said = bench()
    assert bench.run["q1"][0] == "ferry"
    assert any("asked without a time" in note for note in said["notes"])


# ---- stores that are kept


def test_a_kept_store_is_filled_once(bench: Bench) -> None:
    kept = ("--store", str(bench.path("kept")))
    assert bench(*kept)["ingest_seconds"] is not None
    first = bench.run
    again = bench(*kept)
    assert again["ingest_seconds"] is None
    assert any("nothing was ingested" in note for note in again["notes"])
    assert bench.run == first


def test_a_kept_store_of_another_corpus_is_refused(bench: Bench) -> None:
    kept = ("--store", str(bench.path("kept")))
    bench(*kept)
    bench.write("corpus.jsonl", ROWS[:-1])
    said = bench(*kept, code=1)
    assert said["error_code"] == "conflict"
    assert "another corpus" in said["error"]


def test_a_store_that_was_not_finished_is_filled_anew(bench: Bench) -> None:
    kept = ("--store", str(bench.path("kept")))
    bench(*kept)
    first = bench.run
    label = bench.path("kept") / "bench.json"
    label.write_text(label.read_text().replace('"whole":true', '"whole":false'))
    assert bench(*kept)["ingest_seconds"] is not None
    assert bench.run == first


def test_a_directory_of_other_things_is_no_store(bench: Bench) -> None:
    bench.path("mine").mkdir()
    (bench.path("mine") / "thesis.txt").write_text("do not lose this")
    assert bench("--store", str(bench.path("mine")), code=1)["error_code"] == "conflict"
    assert (bench.path("mine") / "thesis.txt").read_text() == "do not lose this"


def test_a_cache_is_named_beside_the_figures(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_EMBEDDER", "builtin")
    cache = ("--cache", str(bench.path("cache")))
    said = bench(*cache)
    first = bench.run
    assert any("the measured speeds mean nothing" in note for note in said["notes"])
    assert said["embedder"]
    bench(*cache)
    assert bench.run == first


# ---- what is wrong with files


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 3"),
        ('{"id": "x", "scope": "town"}', "text"),
        ('{"id": 5, "scope": "town", "text": "five"}', "id"),
        ('{"id": "x", "scope": "two words", "text": "words"}', "scope"),
        ('{"id": "ferry", "scope": "town", "text": "again"}', "is on line 1 too"),
    ],
)
def test_a_bad_row_is_named_by_its_line(bench: Bench, line: str, said: str) -> None:
    rows = [json.dumps(row) for row in ROWS]
    bench.path("corpus.jsonl").write_text("\n".join([rows[0], "", line, *rows[1:]]))
    answer = bench(code=2)
    assert "corpus.jsonl, line 3: " in answer["error"]
    assert said in answer["error"]
    assert not bench.path("run.json").exists()


def test_a_bad_question_is_named_by_its_line(bench: Bench) -> None:
    bench.write("queries.jsonl", [*QUESTIONS, {"id": "q9", "scope": "town"}])
    assert "queries.jsonl, line 4: " in bench(code=2)["error"]
    bench.write("queries.jsonl", [*QUESTIONS, QUESTIONS[0]])
    assert "line 4: the id 'q1' is on line 1 too" in bench(code=2)["error"]


@pytest.mark.parametrize("name", ["corpus", "queries"])
def test_a_missing_or_an_empty_file_is_said(bench: Bench, name: str) -> None:
    assert bench(f"--{name}", "gone.jsonl", code=1)["error"] == "there is no gone.jsonl"
    bench.write(f"{name}.jsonl", [])
    assert f"{name}.jsonl holds no" in bench(code=2)["error"]


def test_an_unknown_recipe_is_refused_with_those_there_are(bench: Bench) -> None:
    said = bench("--recipe", "grandmother", code=2)
    assert "grandmother" in said["error"]
    assert "default" in said["hint"]


@pytest.mark.parametrize("where", ["gone/run.json", "."])
def test_a_run_that_cannot_be_written_is_said_before_anything_is_done(bench: Bench, where: str) -> None:
    said = bench("--out", str(bench.path(where)), "--store", str(bench.path("kept")), code=2 if where == "." else 1)
    assert str(bench.path(where)) in said["error"]
    assert not bench.path("kept").exists()


def test_agents_are_not_offered_benches() -> None:
    from weft.surfaces.toolsets import offer

    served = offer(("all",), network=False).callable
    benches = [each for each in every_operation() if each.name.startswith("bench_")]
    assert [each.command for each in benches] == ["weft bench retrieval"]
    assert not any(each.name in served or each.toolset == "core" for each in benches)
