"""Accounts of the store, and their vector spaces."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from weft.backends.memory import search
from weft.backends.memory.account import Account
from weft.backends.memory.visible import GuardedAccount, ReadTime
from weft.core.clock import Clock, SystemClock
from weft.core.errors import Conflict
from weft.core.queries import Near, Space, SpaceCounts, TextVector, VectorMatches, VectorQuery
from weft.core.types import AccountHead, Viewer, When

GenesisDigest = Callable[[str], bytes]


class Accounts:
    """Accounts behind one lock."""

    def __init__(self, genesis: GenesisDigest, *, clock: Clock | None = None) -> None:
        self._genesis = genesis
        self._clock = clock or SystemClock()
        self._accounts: dict[str, Account] = {}
        self._lock = threading.RLock()

    def _account(self, viewer: Viewer) -> Account:
        return self._accounts.get(viewer.account) or Account(self._genesis(viewer.account))

    def _sight(self, viewer: Viewer) -> GuardedAccount:
        return GuardedAccount(viewer, self._account(viewer))

    def _moment(self, viewer: Viewer, when: When) -> ReadTime:
        pinned = self.pin(viewer, when)
        return ReadTime(valid_at=pinned.valid_at or 0, pos=self.position_at(viewer, pinned.known_at or 0))

    @contextmanager
    def _seeing(self, viewer: Viewer, when: When) -> Iterator[tuple[GuardedAccount, ReadTime]]:
        with self._lock:
            yield self._sight(viewer), self._moment(viewer, when)

    def pin(self, viewer: Viewer, when: When) -> When:
        head = self.head(viewer)
        return When(
            valid_at=max(self._clock.now_us(), head.at) if when.valid_at is None else when.valid_at,
            known_at=head.at if when.known_at is None else when.known_at,
        )

    def head(self, viewer: Viewer) -> AccountHead:
        with self._lock:
            return self._account(viewer).head()

    def position_at(self, viewer: Viewer, at: int) -> int:
        with self._lock:
            return self._account(viewer).position_at(at)


class MemoryVectorSpaces(Accounts):
    """Implements `weft.core.vector_store.VectorStore`."""

    def put_vectors(self, account: str, vectors: Sequence[TextVector]) -> None:
        with self._lock:
            place = self._accounts.get(account)
            if place is not None:
                place.put_vectors(vectors)

    def search_vector(self, viewer: Viewer, when: When, query: VectorQuery, *, limit: int) -> VectorMatches:
        with self._seeing(viewer, when) as (sight, moment):
            return search.search_vector(sight, moment, query, limit)

    def near(
        self, viewer: Viewer, query: VectorQuery, hashes: Sequence[bytes], *, parts: bool = False
    ) -> Mapping[bytes, Near]:
        with self._lock:
            return search.near(self._sight(viewer), query, hashes, parts=parts)

    def vectors(self, viewer: Viewer, model: str, hashes: Sequence[bytes]) -> Mapping[bytes, bytes]:
        with self._lock:
            return search.vectors(self._sight(viewer), model, hashes)

    def without_vectors(self, viewer: Viewer, model: str, hashes: Sequence[bytes]) -> tuple[bytes, ...]:
        with self._lock:
            return search.without_vectors(self._sight(viewer), model, hashes)

    def unembedded(
        self, viewer: Viewer, model: str, *, after: int, limit: int
    ) -> tuple[tuple[int, bytes, str, str], ...]:
        viewer.must_be_operator("read every text")
        with self._lock:
            return search.unembedded(self._account(viewer), model, after, limit)

    def space(self, viewer: Viewer) -> Space | None:
        with self._lock:
            return search.space(self._account(viewer))

    def space_counts(self, viewer: Viewer) -> SpaceCounts:
        viewer.must_be_operator("count every text")
        with self._lock:
            return search.space_counts(self._account(viewer))

    def use_space(self, account: str, space: Space, *, instead_of: Space | None, but: Sequence[bytes] = ()) -> bool:
        with self._lock:
            place = self._accounts.get(account)
            if place is None or search.space(place) != instead_of:
                return False
            if instead_of is None or instead_of.model != space.model:
                lacking = search.unembedded(place, space.model, 0, len(place.graph.texts))
                if any(key not in but for _, key, *_ in lacking):
                    return False
            place.space = space
            return True

    def drop_vectors(self, viewer: Viewer, model: str, *, progress: Callable[[int, int], None]) -> int:
        viewer.must_be_operator("drop vectors")
        with self._lock:
            place = self._account(viewer)
            before = len(place.vectors)
            used = search.space(place)
            if used is not None and used.model == model:
                raise Conflict(f"{model} is in use", hint="questions are compared with its vectors: switch first")
            place.vectors = {key: made for key, made in place.vectors.items() if key[0] != model}
            dropped = before - len(place.vectors)
        progress(dropped, dropped)
        return dropped

    @contextmanager
    def embedding_turn(self, viewer: Viewer, model: str) -> Iterator[bool]:
        viewer.must_be_operator("embed every text")
        with self._lock:
            at_it = self._account(viewer).embedding
            mine = model not in at_it
            at_it.add(model)
        try:
            yield mine
        finally:
            if mine:
                with self._lock:
                    at_it.discard(model)
