"""Search by meaning: exact where it can be, guarded always, spaces kept apart."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import pytest

from weft.errors import Forbidden, Invalid
from weft.lexical import content_hash
from weft.queries import Vector, VectorMatches, VectorQuery
from weft.testing.case import StoreCase
from weft.testing.scribe import Scribe, closed, deleted, node
from weft.testing.viewers import ANN, OPERATOR, PUBLIC, STAFF, VISITOR
from weft.types import NOW, When

MODEL = "test/4"


def unit(values: Sequence[float]) -> list[float]:
    """The same direction, of length 1."""
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values]


def vector_of(text: str, values: Sequence[float], *, model: str = MODEL, name: str = "") -> Vector:
    """A text's vector, as backends keep it."""
    data = struct.pack(f"<{len(values)}e", *unit(values))
    return Vector(model=model, content_hash=content_hash(name, "", text), data=data)


def towards(values: Sequence[float], **options: object) -> VectorQuery:
    """A question in that direction."""
    data = struct.pack(f"<{len(values)}f", *unit(values))
    return VectorQuery(model=str(options.pop("model", MODEL)), data=data, **options)  # type: ignore[arg-type]


def ids(matches: VectorMatches) -> list[str]:
    """Who was found, best first."""
    return [hit.node.id for hit in matches.hits]


class VectorsContract(StoreCase):
    """search_vector, near, put_vectors, unembedded."""

    def test_the_nearest_come_first_with_their_cosine(self, scribe: Scribe) -> None:
        scribe.write(node("east", "e"), node("north", "n"), node("between", "b"))
        vectors = [vector_of("e", (1, 0, 0, 0)), vector_of("n", (0, 1, 0, 0)), vector_of("b", (1, 1, 0, 0))]
        scribe.store.put_vectors(OPERATOR.account, vectors)
        found = scribe.store.search_vector(OPERATOR, NOW, towards((1, 0.1, 0, 0)), limit=10)
        assert ids(found) == ["east", "between", "north"]
        assert found.hits[0].cosine == pytest.approx(0.995, abs=2e-3)
        assert len(scribe.store.search_vector(OPERATOR, NOW, towards((1, 0, 0, 0)), limit=1).hits) == 1

    def test_a_text_without_a_vector_is_counted_as_pending(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one"), node("b", "two"))
        scribe.store.put_vectors(OPERATOR.account, [vector_of("one", (1, 0, 0, 0))])
        found = scribe.store.search_vector(OPERATOR, NOW, towards((1, 0, 0, 0)), limit=5)
        assert ids(found) == ["a"]
        assert found.pending == 1
        left = scribe.store.unembedded(OPERATOR, MODEL, after=0, limit=10)
        assert [words for _, _, words, _ in left] == ["two"]
        assert scribe.store.unembedded(OPERATOR, MODEL, after=left[0][0], limit=10) == ()
        with pytest.raises(Forbidden):
            scribe.store.unembedded(PUBLIC, MODEL, after=0, limit=10)

    def test_spaces_are_never_mixed(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one"))
        scribe.store.put_vectors(OPERATOR.account, [vector_of("one", (1, 0, 0, 0), model="other/4")])
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards((1, 0, 0, 0)), limit=5)) == []
        scribe.store.put_vectors(OPERATOR.account, [vector_of("one", (1, 0, 0, 0))])
        with pytest.raises(Invalid):
            scribe.store.put_vectors(OPERATOR.account, [vector_of("two", (1, 0))])
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards((1, 0, 0, 0)), limit=5)) == ["a"]

    def test_a_vector_once_there_stays(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one"))
        for values in ((1, 0, 0, 0), (0, 1, 0, 0)):
            scribe.store.put_vectors(OPERATOR.account, [vector_of("one", values)])
        key = content_hash("", "", "one")
        assert {
            each: found.cosine
            for each, found in scribe.store.near(OPERATOR, towards((1, 0, 0, 0)), [key, b"unknown"]).items()
        } == {key: pytest.approx(1.0)}
        assert scribe.store.without_vectors(OPERATOR, MODEL, [key, b"unknown"]) == (b"unknown",)

    def test_guards_and_clocks_hold_whatever_is_nearest(self, scribe: Scribe) -> None:
        texts = [f"t{number}" for number in range(40)]
        scribe.write(*(node(text, text, scope="admin") for text in texts[:30]), *(node(t, t) for t in texts[30:]))
        near = [vector_of(text, (1, number / 20, 0, 0)) for number, text in enumerate(texts)]
        scribe.store.put_vectors(OPERATOR.account, near)
        asked = towards((1, 0, 0, 0))
        assert ids(scribe.store.search_vector(PUBLIC, NOW, asked, limit=10)) == texts[30:]
        known = scribe.store.head(OPERATOR).at
        scribe.clock.step()
        scribe.write(deleted("t30"))
        scribe.write(node("late", "late"))
        scribe.store.put_vectors(OPERATOR.account, [vector_of("late", (1, 0, 0, 0))])
        assert ids(scribe.store.search_vector(PUBLIC, NOW, asked, limit=3)) == ["late", "t31", "t32"]
        then = When(known_at=known)
        assert ids(scribe.store.search_vector(PUBLIC, then, asked, limit=2)) == ["t31", "t32"]

    def test_filters_by_kind_and_project(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one", kind="Gizmo", project="p"), node("b", "two", project="q"))
        scribe.store.put_vectors(OPERATOR.account, [vector_of("one", (1, 0, 0, 0)), vector_of("two", (0.9, 0.1, 0, 0))])
        asked = (1, 0, 0, 0)
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards(asked, kinds=("Gizmo",)), limit=5)) == ["a"]
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards(asked, projects=("q",)), limit=5)) == ["b"]

    def test_vectors_survive_a_rebuild(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one"))
        scribe.store.put_vectors(OPERATOR.account, [vector_of("one", (1, 0, 0, 0))])
        scribe.rebuild()
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards((1, 0, 0, 0)), limit=5)) == ["a"]

    def test_nothing_tells_of_hidden_texts(self, scribe: Scribe) -> None:
        scribe.write(node("open", "one"), node("shut", "two", scope="admin"), node("gone", "three"))
        change = scribe.open_change(node("later", "four"))
        texts = ("one", "two", "three", "four")
        vectors = [vector_of(text, (1, 0, 0, 0)) for text in texts]
        scribe.store.put_vectors(OPERATOR.account, vectors)
        scribe.write(deleted("gone"))
        one, two, three, four = hashes = [vector.content_hash for vector in vectors]
        asked = towards((1, 0, 0, 0))
        assert set(scribe.store.near(PUBLIC, asked, hashes)) == {one}
        assert scribe.store.without_vectors(PUBLIC, MODEL, hashes) == (two, three, four)
        assert set(scribe.store.near(OPERATOR, asked, hashes)) == {one, two}
        assert scribe.store.without_vectors(OPERATOR, MODEL, hashes) == (three, four)
        scribe.write(closed(change))
        assert set(scribe.store.near(PUBLIC, asked, hashes)) == {one, four}

    def test_how_many_texts_wait_is_for_internal_admins(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one"), node("b", "two", scope="admin"))
        for vectors in ([], [vector_of("one", (1, 0, 0, 0))]):
            scribe.store.put_vectors(OPERATOR.account, vectors)
            for viewer in (PUBLIC, ANN, VISITOR):
                assert scribe.store.search_vector(viewer, NOW, towards((1, 0, 0, 0)), limit=5).pending == 0
            for viewer in (OPERATOR, STAFF):
                found = scribe.store.search_vector(viewer, NOW, towards((1, 0, 0, 0)), limit=5)
                assert found.pending == 2 - len(vectors)
