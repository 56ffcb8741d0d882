"""The part of a store that keeps vectors: one space per model, never mixed, one of them in use.

Docstrings here are the contract, as in `ports`; `weft.testing` checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from weft.core.queries import Near, Space, SpaceCounts, TextVector, VectorMatches, VectorQuery
from weft.core.types import Viewer, When


class VectorStore(Protocol):
    """Vectors by (model, text). Every call names the model and gets only vectors of that model."""

    def search_vector(self, viewer: Viewer, when: When, query: VectorQuery, *, limit: int) -> VectorMatches:
        """Best nodes by cosine in the space of one model: all that the filter admits, up to `limit`.

        With `begins`, at least those of that time which are among the nearest few thousand visible nodes. `pending` is
        0 for all but internal viewers with scope admin.
        """
        ...

    def near(
        self, viewer: Viewer, query: VectorQuery, hashes: Sequence[bytes], *, parts: bool = False
    ) -> Mapping[bytes, Near]:
        """Similarity of texts by content hash, for texts that have a vector and a node the viewer may find.

        With `parts`, by sentence too, where the embedder returned vectors of sentences.
        """
        ...

    def vectors(self, viewer: Viewer, model: str, hashes: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Vectors by content hash (half-precision floats), of texts with a node that the viewer may find."""
        ...

    def without_vectors(self, viewer: Viewer, model: str, hashes: Sequence[bytes]) -> tuple[bytes, ...]:
        """The texts that have no vector of this model yet, as far as the viewer may know.

        A text without a node that the viewer may find counts as having no vector, whether it is stored or not.
        """
        ...

    def unembedded(
        self, viewer: Viewer, model: str, *, after: int, limit: int
    ) -> tuple[tuple[int, bytes, str, str], ...]:
        """(number, content hash, words, body) of texts without a vector of a model, past a number. Operators only."""
        ...

    def put_vectors(self, account: str, vectors: Sequence[TextVector]) -> None:
        """Adds vectors of stored texts; existing vectors are kept. Durable when it returns.

        Raises Invalid for a vector whose dimension differs from its model's here. A commit skips such a vector instead:
        no write may fail because of its vectors.
        """
        ...

    def space(self, viewer: Viewer) -> Space | None:
        """The space in use: as recorded, else that of the model with the most vectors; None without vectors."""
        ...

    def space_counts(self, viewer: Viewer) -> SpaceCounts:
        """The approximate number of texts that can have a vector, and of vectors by model. Operators only."""
        ...

    def use_space(self, account: str, space: Space, *, instead_of: Space | None, but: Sequence[bytes] = ()) -> bool:
        """Records the space in use: every later read sees it.

        Changes nothing and returns False if `instead_of` is no longer the space in use, or if the model changes and a
        text lacks a vector of the new one; encrypted texts and those in `but` (content hashes) are exempt. Both are
        checked inside the write lock, so a concurrent write is either seen here or sees the new space. Also False in an
        empty store.
        """
        ...

    def drop_vectors(self, viewer: Viewer, model: str, *, progress: Callable[[int, int], None]) -> int:
        """Removes the vectors of a model in small transactions; returns how many. Operators only.

        Raises Conflict if that model is in use or comes into use meanwhile. If interrupted, the next call removes the
        rest.
        """
        ...

    def embedding_turn(self, viewer: Viewer, model: str) -> AbstractContextManager[bool]:
        """True while the caller is the only one that adds missing vectors of a model. Operators only.

        False while another process, or another block of this one, holds the turn. It ends with its process.
        """
        ...
