"""The built-in answer judge: which of the notes tells what is asked, whatever else is read beside them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from weft.core.errors import ModelError
from weft.models import answer_judge
from weft.models.answer_judge import BuiltinJudge

NOTES = ("Signed for the flat in Braga, keys on Friday.", "Flats in Porto: too dear.", "Harm serviced the boiler.")


@pytest.fixture(autouse=True)
def no_kept_verdicts() -> None:
    answer_judge._kept.clear()


def test_the_note_that_tells_it_is_told_apart_from_those_on_its_subject() -> None:
    tells = BuiltinJudge().judge("where are we going to live?", NOTES)[:, 0]
    assert tells.argmax() == 0
    none = BuiltinJudge().judge("does Harm have a dog?", NOTES)[:, 0]
    assert none.max() < 0.25


def test_a_note_is_judged_alike_whatever_stands_beside_it() -> None:
    judge = BuiltinJudge()
    together = judge.judge("where do we live?", NOTES)
    answer_judge._kept.clear()
    alone = np.concatenate([judge.judge("where do we live?", [note]) for note in NOTES])
    assert np.array_equal(together, alone)
    assert together.shape == (3, 2)
    assert ((together >= 0.0) & (together <= 1.0)).all()


@pytest.mark.parametrize("question", ["", "?", "why " * 5_000, "\ud800 where?", "où est-ce ?", "\x00"])
def test_any_text_is_read(question: str) -> None:
    found = BuiltinJudge().judge(question, ["", "word " * 5_000, "\udfff", "🙂"])
    assert found.shape == (4, 2)
    assert np.isfinite(found).all()


def test_what_is_asked_again_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = BuiltinJudge()
    first = judge.judge("where do we live?", NOTES)
    read: list[str] = []
    judged = answer_judge._judged
    monkeypatch.setattr(answer_judge, "_judged", lambda asked, notes: read.extend(notes) or judged(asked, notes))
    again = judge.judge("where do we live?", [*reversed(NOTES), "A new one.", "A new one."])
    assert np.array_equal(again[:3], first[::-1])
    assert read == ["A new one."]
    judge.judge("where did we live?", NOTES[:1])
    assert read == ["A new one.", NOTES[0]], "another question is another verdict"


def test_kept_verdicts_are_bounded_and_hold_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_judge, "MAX_KEPT", 4)
    monkeypatch.setattr(answer_judge, "_judged", lambda asked, notes: [(0.5, 0.5)] * len(notes))
    for number in range(9):
        assert BuiltinJudge().judge("who?", [f"note {number}", "the same"]).shape == (2, 2)
        assert len(answer_judge._kept) <= 4
    assert all(len(key) == 16 for key in answer_judge._kept)


def test_no_notes_are_no_work() -> None:
    assert BuiltinJudge().judge("where?", []).shape == (0, 2)


def test_a_damaged_model_is_an_error_that_names_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  model.onnx\n")
    (tmp_path / "model.onnx").write_text("")
    monkeypatch.setattr(answer_judge, "_DIRECTORY", tmp_path)
    answer_judge._load_once.cache_clear()
    try:
        with pytest.raises(ModelError, match="damaged") as caught:
            BuiltinJudge().judge("where?", NOTES)
        assert "answer_judge" in caught.value.hint
    finally:
        answer_judge._load_once.cache_clear()


def test_import_loads_no_heavy_module() -> None:
    code = (
        "import sys, weft.models.answer_judge as judge; judge.BuiltinJudge();"
        "heavy = {'onnxruntime', 'tokenizers', 'numpy'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
