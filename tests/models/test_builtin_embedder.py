"""The built-in embedder: unit rows, in order, the same row for the same text; its files are checked."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from weft.core.errors import Misconfigured, ModelError, TooLarge
from weft.models import answer_judge
from weft.models import builtin as builtin_module
from weft.models.batches import batches
from weft.models.builtin import BuiltinEmbedder
from weft.models.packaged import verify_model_files

SENTENCES = [
    "the cat sat on the mat",
    "Postgres was chosen over MySQL because of its transactional DDL, said Ana in the review on Tuesday",
    "",
    "a",
    "a kitten rests on a rug",
    "the build fails when the cache is cold " * 12,
    "naïve café — 東京 😀",
]


def long_text(words: int) -> str:
    return " ".join(f"item{number} belongs to shelf {number % 7}" for number in range(words // 5))


@pytest.fixture(scope="module")
def builtin() -> BuiltinEmbedder:
    return BuiltinEmbedder()


def test_rows_are_float32_units_in_the_named_space(builtin: BuiltinEmbedder) -> None:
    rows = builtin.embed(SENTENCES)
    assert rows.shape == (len(SENTENCES), builtin.dimensions) == (len(SENTENCES), 384)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert builtin.model == "minilm-l6-v2/int8"


def test_no_texts_give_no_rows(builtin: BuiltinEmbedder) -> None:
    assert builtin.embed([]).shape == (0, 384)


def test_a_row_does_not_depend_on_its_neighbours_or_threads(builtin: BuiltinEmbedder) -> None:
    # Stricter than near: vectors are cached by content hash, so a batch must give what a single call gives.
    texts = [*SENTENCES, long_text(900)]
    together = builtin.embed(texts)
    alone = np.concatenate([builtin.embed([text]) for text in texts])
    assert np.array_equal(together, alone)
    assert np.array_equal(together[::-1], builtin.embed(texts[::-1]))
    assert np.array_equal(together, BuiltinEmbedder(threads=1).embed(texts))


def test_order_holds_across_groups(builtin: BuiltinEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = builtin.embed(SENTENCES)
    monkeypatch.setattr(builtin_module, "GROUP_TEXTS", 2)
    monkeypatch.setattr(builtin_module, "GROUP_CHARACTERS", 100)
    assert np.array_equal(builtin.embed(SENTENCES), expected)


def test_similar_sentences_are_closer_than_unrelated_ones(builtin: BuiltinEmbedder) -> None:
    cat, database, _, _, kitten, *_ = builtin.embed(SENTENCES)
    assert cat @ kitten > cat @ database + 0.3


def test_a_long_text_is_read_to_its_end(builtin: BuiltinEmbedder) -> None:
    start = "The quarterly report covers sales, staffing and the new warehouse. " * 40
    ending = "Orcas hunt seals near the ice edge and teach their calves to do so. " * 40
    whole, cut, about = builtin.embed([start + ending, start, "killer whales hunting"])
    assert whole @ cut < 0.99
    assert whole @ about > cut @ about + 0.1


@pytest.mark.parametrize("inner_tokens", [255, 300, 476, 477, 5_000, 14_240, 14_241, 200_000])
def test_windows_reach_both_ends_and_overlap_within_their_bound(inner_tokens: int) -> None:
    room = builtin_module.WINDOW_TOKENS - 2
    starts = builtin_module._window_starts(inner_tokens)
    assert starts[0] == 0
    assert starts[-1] + room == inner_tokens
    assert 2 <= len(starts) <= builtin_module.MAX_WINDOWS
    if inner_tokens <= 14_240:
        steps = np.diff(starts)
        assert room - steps.max() >= builtin_module.WINDOW_OVERLAP_TOKENS


def test_a_text_over_the_bound_is_refused_and_named(builtin: BuiltinEmbedder) -> None:
    with pytest.raises(TooLarge, match="text 1 "):
        builtin.embed(["fine", "x" * (builtin_module.MAX_TEXT_CHARACTERS + 1)])


@pytest.mark.parametrize("text", ["", "  \n", "\x00", "lone \ud800 surrogate"])
def test_odd_texts_have_a_vector(builtin: BuiltinEmbedder, text: str) -> None:
    assert np.linalg.norm(builtin.embed([text])[0]) == pytest.approx(1.0, abs=1e-5)


def test_first_use_from_many_threads_loads_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    opened = builtin_module.packaged_session

    def counted(*given: Any) -> Any:
        calls.append(1)
        return opened(*given)

    monkeypatch.setattr(builtin_module, "packaged_session", counted)
    builtin_module._load_once.cache_clear()
    rows: list[Any] = []
    threads = [threading.Thread(target=lambda: rows.append(BuiltinEmbedder().embed(["hello"]))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert len(rows) == 6
    assert all(np.array_equal(row, rows[0]) for row in rows)


def test_import_loads_no_heavy_module() -> None:
    code = (
        "import sys, weft.models.builtin as b; b.BuiltinEmbedder();"
        "heavy = {'onnxruntime', 'tokenizers', 'numpy', 'http.client'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", [builtin_module, answer_judge], ids=["embedder", "answer judge"])
def test_shipped_files_match_their_hashes(module: Any) -> None:
    assert verify_model_files(module._DIRECTORY) == ()


def test_damaged_or_missing_files_are_named(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  tokenizer.json\n{'0' * 64}  model.onnx\n")
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.setattr(builtin_module, "_DIRECTORY", tmp_path)
    damaged, missing = verify_model_files(tmp_path)
    assert damaged.startswith("tokenizer.json of the built-in model is damaged")
    assert missing.startswith("model.onnx of the built-in model cannot be read")
    with pytest.raises(ModelError, match="reinstall weft"):
        builtin_module._load_once.__wrapped__()


@pytest.mark.parametrize("threads", [0, 65])
def test_threads_are_bounded(threads: int) -> None:
    with pytest.raises(Misconfigured):
        BuiltinEmbedder(threads=threads)


def test_batches_cover_everything_in_order_within_bounds() -> None:
    texts = ["a" * size for size in (3, 3, 3, 50, 1, 1, 1, 1, 1)]
    cut = list(batches(texts, max_texts=4, max_characters=9))
    assert [text for batch in cut for text in batch] == texts
    assert [len(batch) for batch in cut] == [3, 1, 4, 1]
    assert list(batches([], max_texts=4, max_characters=9)) == []
