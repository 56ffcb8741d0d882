"""Vector spaces: the one in use, switching to another, and removal of the old one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
from msgspec.structs import replace

from weft.append.append import append
from weft.core.commits import Batch, Plan
from weft.core.errors import Conflict, Forbidden
from weft.core.ports import Store
from weft.core.queries import Space, SpaceCounts
from weft.core.types import NOW, Actor, Writer
from weft.testing.case import StoreCase
from weft.testing.contracts.vectors_contract import MODEL, ids, towards, vector_of
from weft.testing.scribe import Scribe, node
from weft.testing.viewers import OPERATOR, PUBLIC, STAFF
from weft.text.lexical import content_hash

EAST = (1, 0, 0, 0)


class SpacesContract(StoreCase):
    """space, space_counts, use_space, drop_vectors, embedding_turn."""

    def test_the_model_with_the_most_vectors_is_in_use_until_one_is_named(self, scribe: Scribe) -> None:
        assert scribe.store.space(PUBLIC) is None
        scribe.write(node("a", "one"), node("b", "two"))
        assert scribe.store.space(PUBLIC) is None
        few = [vector_of("one", EAST, model="few/4")]
        scribe.store.put_vectors(OPERATOR.account, [*few, *(vector_of(text, EAST) for text in ("one", "two"))])
        assert scribe.store.space(PUBLIC) == Space(model=MODEL)
        assert scribe.store.space_counts(OPERATOR) == SpaceCounts(texts=2, vectors={MODEL: 2, "few/4": 1})
        with pytest.raises(Forbidden):
            scribe.store.space_counts(STAFF)
        told = Space(model=MODEL, embedder="ollama:test", url="http://127.0.0.1:1")
        assert scribe.store.use_space(OPERATOR.account, told, instead_of=Space(model=MODEL))
        assert scribe.store.space(PUBLIC) == told
        scribe.store.put_vectors(OPERATOR.account, [vector_of("two", EAST, model="few/4")])
        scribe.rebuild()
        assert scribe.store.space(PUBLIC) == told

    def test_a_space_comes_into_use_only_whole(self, scribe: Scribe) -> None:
        new = Space(model="new/2")
        assert not scribe.store.use_space(OPERATOR.account, new, instead_of=None)  # nothing was ever written
        scribe.write(node("a", "one"), node("b", "two"))
        scribe.store.put_vectors(OPERATOR.account, [vector_of(text, EAST) for text in ("one", "two")])
        old = scribe.store.space(OPERATOR)
        scribe.store.put_vectors(OPERATOR.account, [vector_of("one", (1, 0), model="new/2")])
        assert not scribe.store.use_space(OPERATOR.account, new, instead_of=old)
        assert scribe.store.space(OPERATOR) == old
        two = content_hash("", "", "two")
        assert not scribe.store.use_space(OPERATOR.account, new, instead_of=old, but=[content_hash("", "", "one")])
        assert scribe.store.use_space(OPERATOR.account, new, instead_of=old, but=[two])
        assert not scribe.store.use_space(OPERATOR.account, Space(model=MODEL), instead_of=old)  # others were first
        assert scribe.store.space(PUBLIC) == new
        assert scribe.store.use_space(OPERATOR.account, Space(model=MODEL), instead_of=new)

    def test_old_vectors_stay_until_they_are_dropped(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one"))
        scribe.store.put_vectors(OPERATOR.account, [vector_of("one", EAST), vector_of("one", (1, 0), model="new/2")])
        old = scribe.store.space(OPERATOR)
        assert old == Space(model=MODEL)
        with pytest.raises(Conflict):
            scribe.store.drop_vectors(OPERATOR, MODEL, progress=lambda done, total: None)
        assert scribe.store.use_space(OPERATOR.account, Space(model="new/2"), instead_of=old)
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards(EAST), limit=5)) == ["a"]
        with pytest.raises(Forbidden):
            scribe.store.drop_vectors(STAFF, MODEL, progress=lambda done, total: None)
        assert scribe.store.drop_vectors(OPERATOR, MODEL, progress=lambda done, total: None) == 1
        assert scribe.store.drop_vectors(OPERATOR, MODEL, progress=lambda done, total: None) == 0
        assert scribe.store.drop_vectors(OPERATOR, "unknown", progress=lambda done, total: None) == 0
        assert scribe.store.space_counts(OPERATOR) == SpaceCounts(texts=1, vectors={"new/2": 1})
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards(EAST), limit=5)) == []
        # A name is free again once nothing is left in its space, whatever its dimensions were.
        scribe.store.put_vectors(OPERATOR.account, [vector_of("one", (0, 1), model=MODEL)])
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards((0, 1)), limit=5)) == ["a"]

    def test_no_write_fails_for_its_vectors(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one"))
        scribe.store.put_vectors(OPERATOR.account, [vector_of("one", EAST)])
        made = (vector_of("two", (1, 0)), vector_of("two", (1, 0), model="new/2"))
        writer = Writer(account=OPERATOR.account, session="s", actor=Actor(agent="writer"))

        def bringing(account: str, plan: Plan) -> Batch:
            return scribe.store.commit(account, lambda view: replace(plan(view), vectors=made))

        written = append(
            cast("Store", SimpleNamespace(commit=bringing)), writer, [node("b", "two")], clock=scribe.clock
        )
        assert len(written.events) == 1
        assert scribe.store.space_counts(OPERATOR).vectors == {MODEL: 1, "new/2": 1}
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards((1, 0), model="new/2"), limit=5)) == ["b"]

    def test_a_question_of_another_dimension_finds_nothing_and_says_so(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one"))
        made = vector_of("one", EAST)
        scribe.store.put_vectors(OPERATOR.account, [made])
        found = scribe.store.search_vector(OPERATOR, NOW, towards((1, 0)), limit=5)
        assert found.hits == ()
        assert "2 dimensions where the vectors here have 4" in found.notes[0]
        assert scribe.store.near(OPERATOR, towards((1, 0)), [made.content_hash]) == {}

    def test_one_at_a_time_embeds_for_a_model(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one"))
        with scribe.store.embedding_turn(OPERATOR, MODEL) as first:
            with (
                scribe.store.embedding_turn(OPERATOR, MODEL) as second,
                scribe.store.embedding_turn(OPERATOR, "other") as other,
            ):
                assert (first, second, other) == (True, False, True)
            with scribe.store.embedding_turn(OPERATOR, MODEL) as third:
                assert not third
        with scribe.store.embedding_turn(OPERATOR, MODEL) as again:
            assert again
        with pytest.raises(Forbidden), scribe.store.embedding_turn(STAFF, MODEL):
            pass
