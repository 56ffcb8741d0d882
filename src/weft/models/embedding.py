"""Vectors of writes and queries, from the configured embedder, without ever failing a write.

After a failure the embedder is not called for a while: writes go on without vectors, answers without vector search,
each with a note. `weft reindex` adds missing vectors.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from weft.core.clock import Clock
from weft.core.commits import LexedText
from weft.core.errors import TooLarge, WeftError
from weft.core.ports import Embedder, PartEmbedder, Store
from weft.core.queries import Space, TextVector
from weft.core.types import Viewer
from weft.models.ahead import begin_ahead
from weft.text.encryption import holds_sealed
from weft.text.lexical import text_to_embed
from weft.text.sentence_vectors import pack_parts
from weft.text.sentences import joined_spans, sentence_spans

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REST_US = 30_000_000  # pause after a failure
WITHOUT_VECTORS = "saved without vectors, `weft reindex` adds them"
QUERIES_KEPT = 512
MAX_AHEAD = 16  # queries embedded ahead and not asked for yet; the oldest is dropped
MAX_EMBEDDED_CHARACTERS = 200_000
ASKED_CHARACTERS = 4_096  # of a query: more would be slow and adds little


def asked(question: str) -> str:
    """The part of a query that is embedded."""
    return question[:ASKED_CHARACTERS]


class Embedding:
    """An embedder with its last failure and its recent queries."""

    def __init__(self, embedder: Embedder | None, clock: Clock) -> None:
        self._embedder, self._clock = embedder, clock
        self._lock = threading.Lock()
        self._rest_until = 0
        self._problem = ""
        self._ahead: dict[str, Future[tuple[bytes | None, str]]] = {}
        self._query = lru_cache(maxsize=QUERIES_KEPT)(self._embed_query)

    @property
    def model(self) -> str | None:
        """The space's name; None if no embedder is configured."""
        return None if self._embedder is None else self._embedder.model

    @property
    def place(self) -> Space | None:
        """The vector space, and its embedder if known."""
        return None if self._embedder is None else Space(model=self._embedder.model)

    @property
    def wanted(self) -> Embedding:
        """The embedding of the settings, which may not be in use yet: see `weft.models.vector_spaces`."""
        return self

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for answers on the space that the query used."""
        return ()

    def serving(self, store: Store, viewer: Viewer) -> Embedding:
        """The embedding for one call on a store: all its queries use one space."""
        return self

    def begin(self, text: str) -> None:
        """Starts embedding a query in the background, ahead of `query`."""
        if self._embedder is None or self._resting():
            return
        text = asked(text)
        with self._lock:
            before = self._ahead.pop(text, None)
            work = Future() if before is None or before.done() else before
            self._ahead[text] = work
            if len(self._ahead) > MAX_AHEAD:
                del self._ahead[next(iter(self._ahead))]
        if work is not before:
            begin_ahead(self._work_ahead, text, work)

    def _work_ahead(self, text: str, done: Future[tuple[bytes | None, str]]) -> None:
        try:
            done.set_result(self._ask(text))
        except BaseException as problem:  # noqa: BLE001 - not lost: `query` raises it where it is asked for
            done.set_exception(problem)

    def forget(self) -> None:
        """Drops cached queries."""
        with self._lock:
            self._ahead.clear()
        self._query.cache_clear()

    def query(self, text: str) -> tuple[bytes | None, str]:
        """The query's vector, or None and the reason."""
        with self._lock:
            work = self._ahead.get(text)
        if work is None:
            return self._ask(text)
        try:
            return work.result()
        finally:
            with self._lock:  # not earlier: another thread may wait for the same query
                if self._ahead.get(text) is work:
                    del self._ahead[text]

    def _ask(self, text: str) -> tuple[bytes | None, str]:
        if self._embedder is None:
            return None, "no embedder is configured: words and names only"
        if resting := self._resting():
            return None, resting
        try:
            return self._query(text[:MAX_EMBEDDED_CHARACTERS]), ""
        except WeftError as problem:
            return None, self._failed(problem)

    def _embed_query(self, text: str) -> bytes:
        vector: bytes = self._rows([text])[0].astype("<f4").tobytes()
        return vector

    def _rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        assert self._embedder is not None
        return self._embedder.embed(texts)

    def of_texts(self, store: Store, viewer: Viewer, texts: Sequence[LexedText]) -> tuple[tuple[TextVector, ...], str]:
        """Vectors of the texts that have none yet, and a note if that failed."""
        if self._embedder is None or not texts:
            return (), ""
        if self._resting():
            return (), self._unsaved()
        open_texts = [text for text in texts if not holds_sealed(text.name, text.summary, text.body)]
        if not open_texts:
            return (), ""
        by_hash = {
            text.content_hash: (text_to_embed(text.name, text.summary, text.body), text.body) for text in open_texts
        }
        missing = store.without_vectors(viewer, self._embedder.model, tuple(by_hash))
        return self.of_pairs([(key, *by_hash[key]) for key in missing])

    def catch_up(self, store: Store, viewer: Viewer, texts: Sequence[LexedText], made: Sequence[TextVector]) -> str:
        """Adds vectors of new texts if another space came into use during the write; a note if that failed."""
        return ""

    def of_pairs(self, texts: Sequence[tuple[bytes, str, str]]) -> tuple[tuple[TextVector, ...], str]:
        """Vectors of (content hash, words, body), where the body is the end of the words; and a note if that failed."""
        if self._embedder is None or not texts:
            return (), ""
        try:
            made, parts = self._rows_with_parts([(words, body) for _, words, body in texts])
        except TooLarge as problem:
            return (), f"no vectors: {problem.message}"
        except WeftError as problem:
            self._failed(problem)
            return (), self._unsaved()
        with self._lock:
            self._rest_until = 0  # it works again
        model = self._embedder.model
        keyed = zip((key for key, *_ in texts), made.astype("<f2"), parts, strict=True)
        return tuple(
            TextVector(model=model, content_hash=key, data=row.tobytes(), parts=placed) for key, row, placed in keyed
        ), ""

    def _rows_with_parts(self, texts: Sequence[tuple[str, str]]) -> tuple[NDArray[np.float32], list[bytes]]:
        """Rows of (words, body), and packed vectors of the body's sentences if the embedder supports them."""
        words = [each[:MAX_EMBEDDED_CHARACTERS] for each, _ in texts]
        # Not isinstance: it would evaluate `dimensions`, for which a served embedder calls its server.
        if not hasattr(self._embedder, "embed_with_parts"):
            return self._rows(words), [b"" for _ in words]
        spans, shifts = [], []
        for read, (each, body) in zip(words, texts, strict=True):
            shift = len(each) - len(body)  # the body comes last
            found = sentence_spans(read[shift:])
            spans.append([(start + shift, end + shift) for start, end in found] if len(found) > 1 else [])
            shifts.append(shift)
        made, parts = cast("PartEmbedder", self._embedder).embed_with_parts(words, spans)
        packed = [
            _packed([(start - shift, end - shift) for start, end in placed], vectors) if placed else b""
            for placed, vectors, shift in zip(spans, parts, shifts, strict=True)
        ]
        return made, packed

    def _resting(self) -> str:
        with self._lock:
            if self._clock.now_us() < self._rest_until:
                return f"the embedder failed recently and is not called for a while: {self._problem}"
        return ""

    def _unsaved(self) -> str:
        """The same text for a failure and for the pause after it, so that bulk writes report it once."""
        with self._lock:
            return f"the embedder failed: {self._problem}; {WITHOUT_VECTORS}"

    def _failed(self, problem: WeftError) -> str:
        with self._lock:
            self._rest_until = self._clock.now_us() + REST_US
            self._problem = problem.message
        return f"the embedder failed: {problem.message}"


def _packed(spans: Sequence[tuple[int, int]], vectors: NDArray[np.float32]) -> bytes:
    """Packed vectors of sentences; short ones share one, their mean weighted by length."""
    import numpy as np

    groups = joined_spans(spans)
    lengths = np.array([[end - start] for start, end in spans], np.float32)
    starts = [group.start for group in groups]
    sums = np.add.reduceat(vectors * lengths, starts, axis=0)
    means = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return pack_parts([(spans[group[0]][0], spans[group[-1]][1]) for group in groups], means)
