"""The part of a store that keeps vectors: one space for each model, never mixed, one of them in use.

Docstrings here are the contract, as in `ports`; `weft.testing` checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from weft.queries import Near, Space, SpaceCounts, Vector, VectorMatches, VectorQuery
from weft.types import Viewer, When


class VectorStore(Protocol):
    """Vectors are kept by (model, text). Whoever asks names the model, and gets only what is of that model."""

    def search_vector(self, viewer: Viewer, when: When, query: VectorQuery, *, limit: int) -> VectorMatches:
        """Best nodes by cosine in the space of one model: as many as the filter leaves, up to `limit`.

        With `begins`, those of the time that are among the nearest few thousand the viewer may see, if not all of them.
        `pending` is 0 for all but internal viewers with scope admin.
        """
        ...

    def near(
        self, viewer: Viewer, query: VectorQuery, hashes: Sequence[bytes], *, parts: bool = False
    ) -> Mapping[bytes, Near]:
        """How near texts are, by content hash: those that have a vector and that the viewer may find a node of.

        With `parts`, by sentence too, for texts of which the embedder placed the sentences.
        """
        ...

    def vectors(self, viewer: Viewer, model: str, hashes: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Vectors by content hash (half-precision floats), of those texts that the viewer may find a node of."""
        ...

    def without_vectors(self, viewer: Viewer, model: str, hashes: Sequence[bytes]) -> tuple[bytes, ...]:
        """Which of these texts have no vector of this model yet, as far as the viewer may know.

        A text of which it may find no node counts as having none, whether it is there or not.
        """
        ...

    def unembedded(
        self, viewer: Viewer, model: str, *, after: int, limit: int
    ) -> tuple[tuple[int, bytes, str, str], ...]:
        """(place, content hash, words, body) of texts without a vector of this model, past a place. Operators only."""
        ...

    def put_vectors(self, account: str, vectors: Sequence[Vector]) -> None:
        """Adds vectors of texts that are there; those that have one keep it. Durable when it returns.

        Raises Invalid for a vector of another dimension than its model has here; a commit only passes it over, since no
        write may fail for its vectors.
        """
        ...

    def space(self, viewer: Viewer) -> Space | None:
        """The space in use: as recorded, else that of the model with the most vectors; None where there are none."""
        ...

    def space_counts(self, viewer: Viewer) -> SpaceCounts:
        """About how many texts can have a vector, and how many have one of each model. Operators only."""
        ...

    def use_space(self, account: str, space: Space, *, instead_of: Space | None, but: Sequence[bytes] = ()) -> bool:
        """Records which space is in use: everybody's next look sees it.

        Nothing changes, and the answer is False, if `instead_of` is no longer what `space` answers, or if the model is
        another one and a text has no vector of it, sealed ones and those in `but` (content hashes) aside. Both are
        looked at inside the write lock: a write is either seen here, or sees the new space. Also False where nothing
        was ever written.
        """
        ...

    def drop_vectors(self, viewer: Viewer, model: str, *, progress: Callable[[int, int], None]) -> int:
        """Removes the vectors of a model, a few at a time; how many. Operators only.

        Raises Conflict if it is the one in use, also if it comes into use meanwhile. Stopped at any moment, what is
        left is removed by the next call.
        """
        ...

    def embedding_turn(self, viewer: Viewer, model: str) -> AbstractContextManager[bool]:
        """Whether the caller is the only one that adds what a model lacks, as long as the block runs. Operators only.

        False while another process, or another block of this one, has the turn. It ends with its process.
        """
        ...
