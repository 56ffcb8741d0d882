"""Search by meaning: exact where it can be, guarded always, spaces kept apart."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import pytest

from weft.core.errors import Forbidden, Invalid
from weft.core.queries import TextVector, VectorMatches, VectorQuery
from weft.core.types import NOW, When
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, closed, deleted, node
from weft.testing.viewers import ANN, OPERATOR, PUBLIC, STAFF, STRANGER, VISITOR
from weft.text.lexical import content_hash
from weft.text.sentence_vectors import pack_parts

MODEL = "test/4"


def unit(values: Sequence[float]) -> list[float]:
    """The same direction, of length 1."""
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values]


def vector_of(
    text: str, values: Sequence[float], *, model: str = MODEL, name: str = "", parts: bytes = b""
) -> TextVector:
    """A text's vector, as backends keep it."""
    data = struct.pack(f"<{len(values)}e", *unit(values))
    return TextVector(model=model, content_hash=content_hash(name, "", text), data=data, parts=parts)


def towards(values: Sequence[float], **options: object) -> VectorQuery:
    """A question in that direction."""
    data = struct.pack(f"<{len(values)}f", *unit(values))
    return VectorQuery(model=str(options.pop("model", MODEL)), data=data, **options)  # type: ignore[arg-type]


def ids(matches: VectorMatches) -> list[str]:
    """Who was found, best first."""
    return [hit.node.id for hit in matches.hits]


def placed(*directions: Sequence[float]) -> bytes:
    """Sentences of ten characters each that point there."""
    import numpy as np

    spans = [(10 * number, 10 * number + 9) for number in range(len(directions))]
    return pack_parts(spans, np.array([unit(each) for each in directions], np.float32))


class VectorsContract(StoreCase):
    """search_vector, near, vectors, put_vectors, unembedded."""

    def test_how_near_each_sentence_is(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one"), node("b", "two"), node("c", "three"))
        sides = ((1, 1, 1, -1), (-1, -1, 1, -1))
        made = [
            vector_of("one", (1, 0, 0, 0), parts=placed(*sides)),
            vector_of("two", (0, 1, 0, 0)),
            vector_of("three", (0, 0, 1, 0), parts=placed(*sides, sides[0])),
        ]
        scribe.store.put_vectors(OPERATOR.account, made)
        hashes = [vector.content_hash for vector in made]
        asked = towards((1, 1, 0, 0))
        found = scribe.store.near(OPERATOR, asked, [*hashes, hashes[0], b"", b"x" * 32], parts=True)
        assert set(found) == set(hashes)
        first, second = (2**-0.5, -(2**-0.5))
        for key, expected in zip(hashes, ((first, second), (), (first, second, first)), strict=True):
            assert [(start, end) for start, end, _ in found[key].parts] == [
                (10 * number, 10 * number + 9) for number in range(len(expected))
            ]
            assert [cosine for *_, cosine in found[key].parts] == pytest.approx(expected, abs=0.01)
        assert found[hashes[0]].cosine == pytest.approx(2**-0.5, abs=2e-3)
        plain = scribe.store.near(OPERATOR, asked, hashes)
        assert {key: each.cosine for key, each in plain.items()} == {key: each.cosine for key, each in found.items()}
        assert all(each.parts == () for each in plain.values())
        assert scribe.store.near(OPERATOR, asked, []) == {}
        assert scribe.store.near(OPERATOR, towards((1, 0, 0, 0), model="no/4"), hashes) == {}

    def test_vectors_come_as_they_were_given(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one"), node("b", "two"))
        made = [vector_of("one", (1, 2, 3, 4)), vector_of("two", (4, 3, 2, 1))]
        scribe.store.put_vectors(OPERATOR.account, made)
        hashes = [vector.content_hash for vector in made]
        expected = {vector.content_hash: vector.data for vector in made}
        assert scribe.store.vectors(OPERATOR, MODEL, [*hashes, hashes[0], b"unknown"]) == expected
        assert scribe.store.vectors(OPERATOR, MODEL, []) == {}
        assert scribe.store.vectors(OPERATOR, "no/4", hashes) == {}

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

    def test_a_vector_of_a_text_that_is_not_there_is_passed_over(self, scribe: Scribe) -> None:
        """A text may be erased while its vector is made; nothing of it comes back."""
        scribe.write(node("a", "one"))
        scribe.store.put_vectors(OPERATOR.account, [vector_of(text, (1, 0, 0, 0)) for text in ("one", "two")])
        scribe.write(node("b", "two"))
        found = scribe.store.search_vector(OPERATOR, NOW, towards((1, 0, 0, 0)), limit=5)
        assert ids(found) == ["a"]
        assert found.pending == 1

    def test_a_sweep_keeps_what_is_used_and_is_for_operators(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one"), node("b", "two"))
        scribe.write(node("a", "three"), deleted("b"))
        scribe.store.put_vectors(OPERATOR.account, [vector_of(text, (1, 0, 0, 0)) for text in ("one", "two", "three")])
        before = scribe.digest(), scribe.search("one three two", viewer=OPERATOR)
        assert scribe.store.sweep(OPERATOR, progress=lambda done, total: None) == ()
        assert (scribe.digest(), scribe.search("one three two", viewer=OPERATOR)) == before
        scribe.rebuild()
        assert scribe.digest() == before[0]
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards((1, 0, 0, 0)), limit=5)) == ["a"]
        with pytest.raises(Forbidden):
            scribe.store.sweep(STAFF, progress=lambda done, total: None)

    def test_vectors_are_filtered_by_kind_and_project(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one", kind="Gizmo", project="p"), node("b", "two", project="q"))
        scribe.store.put_vectors(OPERATOR.account, [vector_of("one", (1, 0, 0, 0)), vector_of("two", (0.9, 0.1, 0, 0))])
        asked = (1, 0, 0, 0)
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards(asked, kinds=("Gizmo",)), limit=5)) == ["a"]
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards(asked, projects=("q",)), limit=5)) == ["b"]

    def test_vectors_are_filtered_by_focus_area(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one", focus="f"), node("b", "two"))
        scribe.store.put_vectors(OPERATOR.account, [vector_of("one", (1, 0, 0, 0)), vector_of("two", (0.9, 0.1, 0, 0))])
        asked = (1, 0, 0, 0)
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards(asked, focuses=("f",)), limit=5)) == ["a"]
        assert ids(scribe.store.search_vector(OPERATOR, NOW, towards(asked, focuses=(None,)), limit=5)) == ["b"]

    def test_vectors_are_filtered_by_when_a_version_begins(self, scribe: Scribe) -> None:
        scribe.write(node("old", "one", at=day(-9)), node("new", "two", at=day(-1)))
        scribe.store.put_vectors(OPERATOR.account, [vector_of("one", (1, 0, 0, 0)), vector_of("two", (0.9, 0.1, 0, 0))])
        for begins, expected in (
            ((day(-10), day(-8)), ["old"]),
            ((day(-2), day(0)), ["new"]),
            ((day(-7), day(-6)), []),
        ):
            asked = towards((1, 0, 0, 0), begins=begins)
            assert ids(scribe.store.search_vector(OPERATOR, NOW, asked, limit=5)) == expected

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
        assert set(scribe.store.near(PUBLIC, asked, hashes, parts=True)) == {one}
        assert set(scribe.store.vectors(PUBLIC, MODEL, hashes)) == {one}
        assert scribe.store.near(STRANGER, asked, hashes) == {}
        assert scribe.store.vectors(STRANGER, MODEL, hashes) == {}
        assert scribe.store.without_vectors(PUBLIC, MODEL, hashes) == (two, three, four)
        assert set(scribe.store.near(OPERATOR, asked, hashes)) == {one, two}
        assert set(scribe.store.vectors(OPERATOR, MODEL, hashes)) == {one, two}
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
