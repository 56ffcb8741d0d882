"""An embedder with a cache on disk, by model and text, for repeated benchmark runs.

Not for stores, which keep the vectors of their own texts.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weft.core.errors import StoreError
from weft.core.ports import Embedder, PartEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOOKED_UP_AT_ONCE = 500
EMBEDDED_AT_ONCE = 512  # saved after each, so that an interrupted run keeps them
BUSY_S = 60.0


class CachedEmbedder:
    """Implements `weft.core.ports.Embedder`. Safe between threads, and between processes that share the directory."""

    def __init__(self, embedder: Embedder, directory: Path) -> None:
        """Opens or creates `directory/vectors.db`. Raises StoreError on failure."""
        self._embedder = embedder
        self._lock = threading.Lock()
        self.found = self.made = 0
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                directory / "vectors.db", timeout=BUSY_S, check_same_thread=False, isolation_level=None
            )
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=OFF")  # a cache may be lost
            self._db.execute("CREATE TABLE IF NOT EXISTS vector(key BLOB PRIMARY KEY, data BLOB NOT NULL)")
        except (OSError, sqlite3.Error) as problem:
            raise StoreError(
                f"{directory} cannot hold a cache: {problem}", hint="name a directory that you may write to"
            ) from problem

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same vectors as the wrapped embedder, bit for bit."""
        import numpy as np

        if not texts:
            return self._embedder.embed(texts)
        keys = [self._key(text) for text in texts]
        by_key = dict(zip(keys, texts, strict=True))
        with self._lock:
            known = self._known(list(by_key))
            missing = [key for key in by_key if key not in known]
            self.found += len(by_key) - len(missing)
            self.made += len(missing)
        for start in range(0, len(missing), EMBEDDED_AT_ONCE):
            some = missing[start : start + EMBEDDED_AT_ONCE]
            rows = self._embedder.embed([by_key[key] for key in some]).astype("<f4")
            made = {key: row.tobytes() for key, row in zip(some, rows, strict=True)}
            with self._lock:
                self._keep(made)
            known |= made
        return np.frombuffer(bytearray().join(known[key] for key in keys), "<f4").reshape(len(keys), -1)

    def embed_with_parts(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """The same as the wrapped embedder; no parts if it has none."""
        import numpy as np

        if not isinstance(self._embedder, PartEmbedder):
            return self.embed(texts), [np.zeros((0, self.dimensions), np.float32) for _ in texts]
        keys = [self._key(f"{list(placed)}\0{text}") for text, placed in zip(texts, spans, strict=True)]
        with self._lock:
            known = self._known(keys)
            missing = [at for at, key in enumerate(keys) if key not in known]
            self.found += len(texts) - len(missing)
            self.made += len(missing)
        for start in range(0, len(missing), EMBEDDED_AT_ONCE):
            some = missing[start : start + EMBEDDED_AT_ONCE]
            rows, parts = self._embedder.embed_with_parts([texts[at] for at in some], [spans[at] for at in some])
            made = {
                keys[at]: np.vstack([row[None, :], placed]).astype("<f4").tobytes()
                for at, row, placed in zip(some, rows, parts, strict=True)
            }
            with self._lock:
                self._keep(made)
            known |= made
        both = [np.frombuffer(known[key], "<f4").reshape(-1, self.dimensions) for key in keys]
        return np.stack([each[0] for each in both]), [each[1:] for each in both]

    def close(self) -> None:
        """Releases the file."""
        self._db.close()

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.model}\0{text}".encode("utf-8", "surrogatepass")).digest()

    def _known(self, keys: list[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), LOOKED_UP_AT_ONCE):
            some = keys[start : start + LOOKED_UP_AT_ONCE]
            marks = ",".join("?" * len(some))
            found.update(self._db.execute(f"SELECT key, data FROM vector WHERE key IN ({marks})", some))
        return found

    def _keep(self, made: dict[bytes, bytes]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT OR IGNORE INTO vector VALUES (?, ?)", made.items())
        self._db.execute("COMMIT")
