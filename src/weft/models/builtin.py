"""The built-in embedder: all-MiniLM-L6-v2 in int8, shipped inside the package, offline from the first minute.

Importing this module is cheap: numpy, onnxruntime, tokenizers and the model arrive on first use, once per process.

**A vector is a function of its text alone.** The model scales its activations by the range of everything that runs
together, so in a padded batch the same text gets another vector beside other neighbours (cosine as low as 0.98).
Vectors are cached by (model, content hash) and must not depend on that: each window runs by itself, several at a time
on threads, about as fast as a padded batch would.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from weft.core.errors import Misconfigured, ModelError, TooLarge
from weft.models.batches import batches
from weft.models.packaged import packaged_session, packaged_tokenizer

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

Given = TypeVar("Given")
Made = TypeVar("Made")

MODEL_NAME = "minilm-l6-v2/int8"
DIMENSIONS = 384
WINDOW_TOKENS = 256  # the model's training length, [CLS] and [SEP] included
WINDOW_OVERLAP_TOKENS = 32  # at least, between neighbouring windows of a text that needs up to MAX_WINDOWS of them
MAX_WINDOWS = 64  # per text, about 14,000 tokens; a longer text is sampled in this many evenly spaced windows
MAX_TEXT_CHARACTERS = 1_000_000  # per text: the limit of an event's payload
GROUP_TEXTS = 256  # texts tokenised at once
GROUP_CHARACTERS = MAX_TEXT_CHARACTERS
DEFAULT_THREADS = max(1, min(4, os.cpu_count() or 1))  # windows at a time: one per core, up to four
MAX_THREADS = 64

_DIRECTORY = Path(__file__).parent / "minilm_l6_v2"
_ROW, _TOKENS = "v", "tokens"  # outputs: of a window, of each of its tokens
_INSTEAD = "reinstall weft, or choose another embedder in the settings"
_load_lock = threading.Lock()


class BuiltinEmbedder:
    """Embeds offline with the packaged model. Thread-safe; instances share one loaded model."""

    def __init__(self, *, threads: int = DEFAULT_THREADS) -> None:
        """`threads` windows run at a time within one call. Nothing is loaded yet."""
        if not 1 <= threads <= MAX_THREADS:
            raise Misconfigured(f"embedder threads must be 1 to {MAX_THREADS}, not {threads}")
        self._threads = threads

    @property
    def model(self) -> str:
        return MODEL_NAME

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """A float32 array (len(texts), 384), one unit row per text, in order; the same row for the same text, always.

        A text over WINDOW_TOKENS is read in overlapping windows, whose vectors are averaged. Blank text has a vector
        too. Raises TooLarge over MAX_TEXT_CHARACTERS, ModelError if the model cannot be loaded or run.
        """
        import numpy as np

        for number, text in enumerate(texts):
            if len(text) > MAX_TEXT_CHARACTERS:
                raise TooLarge(
                    f"text {number} has {len(text)} characters; the embedder reads {MAX_TEXT_CHARACTERS}",
                    hint="split it into sections",
                )
        if not texts:
            return np.zeros((0, DIMENSIONS), np.float32)
        loaded = _load()
        groups = batches(texts, max_texts=GROUP_TEXTS, max_characters=GROUP_CHARACTERS)
        return np.concatenate([self._embed_group(loaded, group) for group in groups])

    def embed_with_parts(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> tuple[NDArray[float32], list[NDArray[float32]]]:
        """The same rows, and for each text one unit row per span of characters, from the same run of the model.

        A span's vector is the mean of its tokens' contextual vectors, at no further cost and better than the span
        embedded alone. A span without tokens gets the text's own row.
        """
        import numpy as np

        made = self.embed(texts) if not any(spans) else None
        if made is not None:
            return made, [np.zeros((0, DIMENSIONS), np.float32) for _ in texts]
        loaded = _load()
        rows, parts, at = [], [], 0
        for group in batches(texts, max_texts=GROUP_TEXTS, max_characters=GROUP_CHARACTERS):
            asked = spans[at : at + len(group)]
            at += len(group)
            found = self._at_once(lambda job: loaded.run_with_parts(*job), list(zip(group, asked, strict=True)))
            rows += [row for row, _ in found]
            parts += [placed for _, placed in found]
        return np.stack(rows), parts

    def _embed_group(self, loaded: _Loaded, texts: Sequence[str]) -> NDArray[float32]:
        import numpy as np

        windows_by_text = [loaded.windows(text) for text in texts]
        windows = [window.ids for text_windows in windows_by_text for window in text_windows]
        vectors = self._at_once(loaded.run, windows)
        counts = np.array([len(text_windows) for text_windows in windows_by_text])
        sums = np.add.reduceat(np.stack(vectors), np.cumsum(counts) - counts, axis=0)
        return _units(sums)

    def _at_once(self, work: Callable[[Given], Made], jobs: Sequence[Given]) -> list[Made]:
        """Runs jobs on this embedder's threads."""
        if len(jobs) == 1 or self._threads == 1:
            return [work(job) for job in jobs]
        with ThreadPoolExecutor(min(self._threads, len(jobs)), "weft-embed") as pool:
            return list(pool.map(work, jobs))


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The tokenizer and a one-threaded session, both thread-safe."""

    tokenizer: Tokenizer
    session: Any
    faults: tuple[type[Exception], ...]  # onnxruntime's exceptions, which have no common base

    def windows(self, text: str) -> list[_Window]:
        """The text's tokens with their marks, in at most MAX_WINDOWS windows from its start to its end."""
        # Lone surrogates are legal in a Python string but not in UTF-8, which is what the tokenizer takes.
        read = self.tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8"))
        ids, places = read.ids, read.offsets
        if len(ids) <= WINDOW_TOKENS:
            return [_Window(ids, places)]
        room = WINDOW_TOKENS - 2
        return [
            _Window(
                [ids[0], *ids[start + 1 : start + 1 + room], ids[-1]],
                [places[0], *places[start + 1 : start + 1 + room], places[-1]],
            )
            for start in _window_starts(len(ids) - 2)
        ]

    def run(self, window: Sequence[int]) -> NDArray[float32]:
        """The unit vector of one window."""
        vector: NDArray[float32] = self._outputs(window, [_ROW])[0][0]
        return vector

    def run_with_parts(self, text: str, spans: Sequence[tuple[int, int]]) -> tuple[NDArray[float32], NDArray[float32]]:
        """The unit vector of a text, and one of each span."""
        import numpy as np

        rows = []
        sums = np.zeros((len(spans), DIMENSIONS), np.float32)
        starts = np.array([start for start, _ in spans])
        ends = np.array([end for _, end in spans])
        for window in self.windows(text):
            row, tokens = self._outputs(window.ids, [_ROW, _TOKENS])
            rows.append(row[0])
            if len(spans) < 2:
                continue
            places = np.array(window.places)
            # Spans are in order and apart: the last that starts at or before a token's first character is its own.
            owner = np.searchsorted(starts, places[:, 0], side="right") - 1
            inside = (owner >= 0) & (places[:, 1] > places[:, 0]) & (places[:, 0] < ends[np.maximum(owner, 0)])
            np.add.at(sums, owner[inside], tokens[0][inside])
        total = _units(np.add.reduceat(np.stack(rows), [0], axis=0))[0]  # as `embed` adds them up, to the last bit
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return total, np.where(lengths > 0, sums / np.maximum(lengths, 1e-9), total).astype(np.float32)

    def _outputs(self, window: Sequence[int], names: list[str]) -> list[NDArray[float32]]:
        import numpy as np

        ids = np.array([window], np.int64)
        try:
            found: list[NDArray[float32]] = self.session.run(names, {"ids": ids, "mask": np.ones_like(ids)})
        except self.faults as error:
            raise ModelError(f"the built-in model failed: {error}", hint="free some memory and retry") from error
        return found


class _Window(NamedTuple):
    """Token ids, and their character offsets in the text."""

    ids: list[int]
    places: list[tuple[int, int]]


def _units(rows: NDArray[float32]) -> NDArray[float32]:
    """Rows normalised to length 1. One implementation for all: two would differ in the last bit."""
    import numpy as np

    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def _window_starts(inner_tokens: int) -> list[int]:
    """Evenly spaced starts of full windows over more than one window's worth of tokens, first and last included."""
    room = WINDOW_TOKENS - 2
    span = inner_tokens - room
    count = min(1 + -(-span // (room - WINDOW_OVERLAP_TOKENS)), MAX_WINDOWS)
    return [span * number // (count - 1) for number in range(count)]


def _load() -> _Loaded:
    """The process's loaded model; the first caller loads it while others wait."""
    with _load_lock:
        return _load_once()


@lru_cache(maxsize=1)
def _load_once() -> _Loaded:
    # One thread: windows run side by side instead, which is faster than splitting each, and exact.
    session, faults = packaged_session(_DIRECTORY, "the built-in embedder", _INSTEAD)
    return _Loaded(packaged_tokenizer(), session, faults)
