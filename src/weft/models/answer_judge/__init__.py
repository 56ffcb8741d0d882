"""The built-in answer judge: a small model that reads a question and a note together.

It gives two probabilities for each note: that the note tells what is asked, and that it belongs to an answer at all.
An embedder compares a question and a note without reading either in the light of the other, so "does Priya have a
dog?" is near everything about Priya; this model was trained on such near misses. It knows English.

The model reads the word pieces of the built-in embedder's tokenizer. Importing this module is cheap: numpy, onnxruntime
and the model arrive on first use, once per process.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weft.core.errors import ModelError
from weft.models.ahead import begin_ahead
from weft.models.packaged import packaged_session, packaged_tokenizer

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

MAX_TOKENS = 128  # of a question and a note together: what the model was trained with
MAX_QUESTION_TOKENS = 72
THREADS = max(1, min(4, os.cpu_count() or 1))  # pairs at a time
MAX_KEPT = 16_384  # verdicts, each on one question and one note: what is asked again is not judged again

_DIRECTORY = Path(__file__).parent
_CLS, _SEP = 101, 102
_INSTEAD = "reinstall weft, or set answer_judge to none"
_load_lock = threading.Lock()
_begun = threading.Lock()
_kept: Final[dict[bytes, tuple[float, float]]] = {}


class BuiltinJudge:
    """Judges notes against a question, offline. Thread-safe; instances share one loaded model."""

    def begin(self) -> None:
        """Starts loading the model in the background, if no other call has."""
        if _begun.acquire(blocking=False):  # never released: once per process
            begin_ahead(_load_quietly)

    def judge(self, question: str, notes: Sequence[str]) -> NDArray[float32]:
        """A row per note: the probability that it tells what is asked, and that it belongs to an answer.

        Of a question its first MAX_QUESTION_TOKENS tokens are read, of a note what fits beside them. Raises ModelError.
        """
        import numpy as np

        keys = _keys(question, notes)
        found = {key: row for key in keys if (row := _kept.get(key)) is not None}
        if missing := {key: note for key, note in zip(keys, notes, strict=True) if key not in found}:
            made = dict(zip(missing, _judged(question, list(missing.values())), strict=True))
            if len(_kept) + len(made) > MAX_KEPT:
                _kept.clear()
            _kept.update(made)
            found |= made
        return np.array([found[key] for key in keys], np.float32).reshape(-1, 2)


def _keys(question: str, notes: Sequence[str]) -> list[bytes]:
    """What stands for a question and each note among the kept verdicts: no words are kept."""
    asked = hashlib.blake2b(question.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    texts = (note.encode("utf-8", "surrogatepass") for note in notes)
    return [hashlib.blake2b(text, key=asked, digest_size=16).digest() for text in texts]


def _judged(question: str, notes: Sequence[str]) -> list[tuple[float, float]]:
    """Each note with the question by itself, on several threads that have about as much to read."""
    loaded = _load()
    pairs = loaded.pairs(question, notes)
    shares = [pairs[at::THREADS] for at in range(min(THREADS, len(pairs)))]
    if len(shares) == 1:
        return [loaded.run(*pair) for pair in pairs]
    rows: list[tuple[float, float]] = [(0.0, 0.0)] * len(pairs)
    with ThreadPoolExecutor(len(shares), "weft-judge") as pool:
        for at, made in enumerate(pool.map(lambda share: [loaded.run(*pair) for pair in share], shares)):
            rows[at::THREADS] = made
    return rows


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: Tokenizer
    session: Any
    faults: tuple[type[Exception], ...]

    def pairs(self, question: str, notes: Sequence[str]) -> list[tuple[list[int], int]]:
        """The token ids of the question and each note together, and where the note begins."""
        texts = [each.encode("utf-8", "replace").decode("utf-8") for each in (question, *notes)]
        asked, *read = [found.ids for found in self.tokenizer.encode_batch(texts, add_special_tokens=False)]
        head = [_CLS, *asked[:MAX_QUESTION_TOKENS], _SEP]
        return [([*head, *ids[: MAX_TOKENS - len(head) - 1], _SEP], len(head)) for ids in read]

    def run(self, ids: Sequence[int], note: int) -> tuple[float, float]:
        """The two probabilities of one pair, by itself: in a batch its neighbours would change them (see `builtin`)."""
        import numpy as np

        kinds = np.zeros((1, len(ids)), np.int64)
        kinds[0, note:] = 1
        given = {"ids": np.array([ids], np.int64), "mask": np.ones_like(kinds), "kinds": kinds}
        try:
            tells, belongs = self.session.run(["p"], given)[0][0].tolist()
        except self.faults as error:
            raise ModelError(f"the answer judge failed: {error}", hint="free some memory and retry") from error
        return tells, belongs


def _load_quietly() -> None:
    with suppress(ModelError):  # the call that needs it says what is wrong
        _load()


def _load() -> _Loaded:
    """The process's loaded model; the first caller loads it while others wait."""
    with _load_lock:
        return _load_once()


@lru_cache(maxsize=1)
def _load_once() -> _Loaded:
    # One thread: pairs run side by side instead.
    session, faults = packaged_session(_DIRECTORY, "the answer judge", _INSTEAD)
    return _Loaded(packaged_tokenizer(), session, faults)
