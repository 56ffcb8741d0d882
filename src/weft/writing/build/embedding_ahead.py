"""Vectors of what is about to be written, made on other threads while more is read and earlier things are written.

Texts are embedded in batches across documents, so that the embedder is never idle between two of them. What it cannot
make is left out, as everywhere: a write never waits for an embedder that failed.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Final

from weft.append.append import lex_all
from weft.core.commits import LexedText
from weft.core.ports import Store
from weft.core.queries import TextVector
from weft.core.types import Viewer
from weft.log.draft import Draft
from weft.models.embedding import Embedding
from weft.runtime.call_context import CallContext

BATCH_TEXTS: Final = 64
BATCH_CHARACTERS: Final = 200_000
WORKERS: Final = 1  # the built-in embedder has threads of its own; more would only keep the writer from its work
MAX_BATCHES: Final = 4  # begun and not done

Made = tuple[tuple[TextVector, ...], str]


class Ahead:
    """Embeds texts ahead of their write. Use it as a context; only its own thread may call it."""

    def __init__(self, ctx: CallContext) -> None:
        self._ctx = ctx
        self._pool = ThreadPoolExecutor(WORKERS, "weft-ahead")
        self._batch: dict[bytes, LexedText] = {}
        self._running: deque[tuple[int, tuple[bytes, ...], Future[Made]]] = deque()
        self._batches = 0
        self._uses: Counter[bytes] = Counter()
        self._in_batch: dict[bytes, int] = {}
        self.vectors: dict[bytes, list[TextVector]] = {}  # several, while a store goes from one model to another
        self.failed: dict[bytes, str] = {}
        self.begun = self.done = 0
        self.embedding = _Ready(ctx, self)

    def __enter__(self) -> Ahead:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def add(self, drafts: Sequence[Draft]) -> tuple[tuple[bytes, ...], int]:
        """Queues the texts of drafts. Returns their keys, for `release`, and the batch after which all are made."""
        if self._ctx.embedding.model is None:
            return (), 0
        screened = self._ctx.privacy.fresh().drafts(drafts)  # redacted as they will be stored
        lexed = lex_all(screened)
        needed = 0
        for key, text in lexed.items():
            self._uses[key] += 1
            if self._uses[key] == 1:
                self._in_batch[key] = self._batches + 1
                self._take(key, text)
            needed = max(needed, self._in_batch[key])
        return tuple(lexed), needed

    def _take(self, key: bytes, text: LexedText) -> None:
        self._batch[key] = text
        self.begun += 1
        if len(self._batch) >= BATCH_TEXTS or sum(len(each.body) for each in self._batch.values()) >= BATCH_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Starts the current batch, however small."""
        if not self._batch:
            return
        while len(self._running) >= MAX_BATCHES:
            self._collect(wait_for_one=True)
        texts, self._batch = tuple(self._batch.values()), {}
        self._batches += 1
        ctx = self._ctx
        work = self._pool.submit(ctx.embedding.of_texts, ctx.store, ctx.viewer, texts)
        self._running.append((self._batches, tuple(text.content_hash for text in texts), work))

    def is_made(self, needed: int) -> bool:
        """Whether all batches up to this one are done."""
        self._collect(wait_for_one=False)
        return needed <= self._batches and (not self._running or self._running[0][0] > needed)

    def wait(self, needed: int) -> None:
        """Waits until all batches up to this one are done."""
        if needed > self._batches:
            self.flush()
        while self._running and self._running[0][0] <= needed:
            self._collect(wait_for_one=True)

    def holds(self, key: bytes) -> bool:
        """Whether a text was queued and not released yet."""
        return key in self._in_batch

    def release(self, keys: Iterable[bytes]) -> None:
        """Drops vectors whose texts were written, once for each time they were queued."""
        for key in keys:
            self._uses[key] -= 1
            if not self._uses[key]:
                del self._uses[key], self._in_batch[key]
                self.vectors.pop(key, None)
                self.failed.pop(key, None)

    def _collect(self, *, wait_for_one: bool) -> None:
        """Collects finished batches, in order."""
        if wait_for_one and self._running:
            wait([self._running[0][2]])
        while self._running and self._running[0][2].done():
            _, keys, work = self._running.popleft()
            vectors, note = work.result()
            self.done += len(keys)
            for vector in vectors:
                self.vectors.setdefault(vector.content_hash, []).append(vector)
            if note:
                self.failed |= dict.fromkeys(keys, note)


class _Ready(Embedding):
    """An embedder that returns vectors made ahead, and makes only those that were not requested before."""

    def __init__(self, ctx: CallContext, ahead: Ahead) -> None:
        super().__init__(None, ctx.clock)
        self._inner, self._made_ahead = ctx.embedding, ahead

    @property
    def model(self) -> str | None:
        return self._inner.model

    def of_texts(self, store: Store, viewer: Viewer, texts: Sequence[LexedText]) -> Made:
        ahead = self._made_ahead
        keys = [text.content_hash for text in texts]
        other = [text for text in texts if not ahead.holds(text.content_hash)]
        made, note = self._inner.of_texts(store, viewer, other) if other else ((), "")
        ready = (vector for key in keys for vector in ahead.vectors.get(key, ()))
        notes = (ahead.failed[key] for key in keys if key in ahead.failed)
        return (*made, *ready), note or next(notes, "")

    def catch_up(self, store: Store, viewer: Viewer, texts: Sequence[LexedText], made: Sequence[TextVector]) -> str:
        return self._inner.catch_up(store, viewer, texts, made)
