"""The whole measurement over a set of an invented town: figures, variants, the report of misses, the tables."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from benchmarks.latency import measure
from benchmarks.quality import misses, run, variants

from weft.retrieval import recipes

ROWS = [
    {"id": "ferry", "scope": "town", "title": "The ferry", "text": "The ferry\nIt crosses to Osmund Island at noon."},
    {"id": "mill", "scope": "town", "title": "The mill", "text": "The mill\nGrinds barley for the bakers of Quellen."},
    {"id": "tower", "scope": "town", "title": "The tower", "text": "The tower\nIts bell rings when fog comes in."},
]
QUESTIONS = [
    {"id": "q1", "scope": "town", "query": "when does one cross to Osmund Island?", "type": "when", "gold": ["ferry"]},
    {"id": "q2", "scope": "town", "query": "who eats the barley of Quellen?", "type": "who", "gold": ["mill", "tower"]},
]
UNANSWERABLE = [{"id": "a1", "scope": "town", "query": "zebras?", "type": "who", "gold": ["mill"]}]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of one set, with results going beside it and nothing of the caller's settings."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("WEFT_EMBEDDER", "none")
    monkeypatch.setattr(measure, "RESULTS", tmp_path / "results")
    directory = tmp_path / "sets" / "town"
    directory.mkdir(parents=True)
    for name, rows in (("corpus", ROWS), ("queries", QUESTIONS), ("abstention", UNANSWERABLE)):
        (directory / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return directory.parent


def call(main: Any, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmark", *arguments])
    main()


def results(data: Path) -> list[Any]:
    return [json.loads(file.read_text()) for file in sorted((data.parent / "results").glob("*.json"))]


def tables() -> ModuleType:
    file = Path(__file__).parents[2] / "docs" / "quality_tables.py"
    spec = importlib.util.spec_from_file_location("quality_tables", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_full_run_is_saved_with_figures_and_without_texts(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call(run.main, monkeypatch, "--data", str(data))
    (saved,) = results(data)
    assert saved["name"] == "quality-town"
    assert saved["by_type"]["when"]["R@1"] == 100.0
    assert (saved["by_type"]["who"]["Hit@5"], saved["overall"]["n"]) == (100.0, 2)
    assert saved["abstention"] == {"unanswerable": {"n": 1, "empty": 100.0}, "answerable": {"n": 2, "empty": 0.0}}
    assert saved["robustness"]["one typo in a name"]["changed"]["n"] == 2
    assert saved["costs"]["ingest_rows_per_second"] > 0
    assert saved["costs"]["store_bytes_per_text_byte"] > 1
    spared = {stage.name for stage in recipes.DEFAULT} - variants.NEEDED
    assert {f"without {name}" for name in spared} <= set(saved["ablations"])
    kept = json.dumps(saved)
    assert not any(word in kept for word in ("Osmund", "barley", "zebras", "ferry"))


def test_a_recipe_without_its_words_finds_nothing_by_words(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That a variant is really asked with: there are no vectors here, so without words hardly anything is left."""
    call(run.main, monkeypatch, "--data", str(data), "--no-robustness", "--save")
    (saved,) = results(data)
    without = saved["ablations"]["without text"]
    assert without is None or without["R@5"] < saved["overall"]["R@5"]


def test_a_quick_run_is_printed_and_not_saved(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = ("--data", str(data), "--no-ablations", "--store-root", str(data.parent / "stores"))
    for _ in range(2):
        call(run.main, monkeypatch, *quick)
        assert "town: 3 rows" in capsys.readouterr().out
    assert results(data) == []


def test_a_set_that_is_not_there_is_said(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match=r"there is no set city in .*; there are town"):
        call(run.main, monkeypatch, "--data", str(data), "--sets", "city")
    with pytest.raises(SystemExit, match="say where the sets are"):
        call(run.main, monkeypatch, "--data", str(data / "gone"))


def test_every_stage_is_left_out_once_and_what_ships_stays_as_it_was() -> None:
    before = dict(recipes.RECIPES)
    found = variants.variants()
    for stage in recipes.DEFAULT:
        if stage.name in variants.NEEDED:
            assert f"without {stage.name}" not in found
            continue
        left = [each.name for each in found[f"without {stage.name}"]]
        assert left == [each.name for each in recipes.DEFAULT if each.name != stage.name]
    with variants.offered(()) as name:
        assert before | {name: ()} == recipes.RECIPES
    assert dict(recipes.RECIPES) == before


def test_misses_show_the_gold_and_what_stood_in_its_place(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call(misses.main, monkeypatch, "town", "--data", str(data), "--k", "1", "--out", str(data.parent / "misses.txt"))
    text = (data.parent / "misses.txt").read_text(encoding="utf-8")
    assert text.startswith("1 of 2 questions of town lack gold in their first 1")
    assert "== q2" in text
    assert "== q1" not in text
    assert "gold tower: " in text
    assert "The tower Its bell rings" in text
    assert "text, rank" in text
    assert capsys.readouterr().out.strip() == str(data.parent / "misses.txt")


def test_texts_of_the_data_do_not_go_into_the_repository(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = Path(__file__).parent / "misses.txt"
    with pytest.raises(SystemExit, match="inside this repository"):
        call(misses.main, monkeypatch, "town", "--data", str(data), "--out", str(inside))
    assert not inside.exists()


def test_tables_hold_what_the_results_say(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call(run.main, monkeypatch, "--data", str(data))
    (saved,) = results(data)
    saved["overall"]["R@5"] = 12.34
    page = tables().quality({"quality-lme": saved | {"newest_first": {"n": 4, "share": 25.0}}, "latency": {}})
    assert "| lme | R@5 | 68.5 | 80.4 | 86 | **12.3** |" in page
    assert "| lme | newest first | 46 | 86 | 92 | **25.0** |" in page
    assert "| lme | when | 1 | 100.0 |" in page
    assert re.search(r"^\| default \| \+0\.0 \(\+0 ms\) \|$", page, re.MULTILINE), "against itself, on the same sample"
    assert "| without text |" in page
    assert "| lme | one typo in a name | 2 |" in page
    assert "| lme | unanswerable | 1 | 100.0 |" in page
    assert tables().quality({"latency": {}}) == ""


def test_rows_over_no_questions_and_times_that_say_nothing_are_left_out(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(run.main, monkeypatch, "--data", str(data))
    (saved,) = results(data)
    assert "question p50 ms" in tables().quality({"quality-town": saved})
    saved["cached"] = True
    saved["robustness"]["one typo in a name"]["changed"]["n"] = 0
    page = tables().quality({"quality-town": saved})
    assert "| town | one typo in a name |" not in page
    assert "| town | all lower case | 2 |" in page
    assert "question p50 ms" not in page
    assert "| default | +0.0 |" in page
