"""Encrypted words: in no index, and listed to viewers who may see them."""

from __future__ import annotations

from weft.core.queries import VectorQuery
from weft.core.types import NOW, Find, When
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, deleted, ended, node
from weft.testing.viewers import OPERATOR, PUBLIC, STAFF, STRANGER
from weft.text.encryption import PREFIX

LETTERS = "QWxsIHRoYXQgaXMgc2VhbGVkIHRlbGxzIG5vdGhpbmcgYXQgYWxs"


def sealed_words(number: int) -> str:
    """A string of the form that sealed words have, though no key opens it."""
    return f"{PREFIX}k1:{LETTERS}{number:04d}"


class SealedContract(StoreCase):
    """sealed; what no index holds of it."""

    def test_the_newest_are_first(self, scribe: Scribe) -> None:
        scribe.write(*(node(f"n{n}", sealed_words(n), sensitive=True) for n in range(4)), node("open", "apple"))
        scribe.write(node("named", name=sealed_words(9), sensitive=True))
        assert [row.id for row in scribe.store.encrypted(OPERATOR, NOW, limit=9)] == ["named", "n3", "n2", "n1", "n0"]
        assert [row.id for row in scribe.store.encrypted(OPERATOR, NOW, limit=2)] == ["named", "n3"]

    def test_only_what_the_viewer_may_see(self, scribe: Scribe) -> None:
        scribe.write(node("a", sealed_words(1), sensitive=True), node("b", sealed_words(2), sensitive=True))
        scribe.write(deleted("b"))
        assert [row.id for row in scribe.store.encrypted(OPERATOR, NOW, limit=9)] == ["a"]
        for viewer in (STAFF, PUBLIC, STRANGER):
            assert scribe.store.encrypted(viewer, NOW, limit=9) == ()

    def test_as_of_a_moment(self, scribe: Scribe) -> None:
        scribe.write(node("a", sealed_words(1), sensitive=True, at=day(1)))
        scribe.write(ended("a", at=day(5)))
        assert [row.id for row in scribe.store.encrypted(OPERATOR, When(valid_at=day(2)), limit=9)] == ["a"]
        assert scribe.store.encrypted(OPERATOR, When(valid_at=day(6)), limit=9) == ()

    def test_no_word_and_no_name_of_it_is_in_an_index(self, scribe: Scribe) -> None:
        scribe.write(node("a", sealed_words(1), name=sealed_words(2), sensitive=True), node("b", "weft sealed k1"))
        words = f"{sealed_words(1)} {LETTERS} sealed k1"
        assert [hit.node.id for hit in scribe.search(words).hits] == ["b"]
        found = scribe.store.find(OPERATOR, NOW, Find(names=("k1", LETTERS)), limit=9).nodes
        assert [row.id for row in found] == []
        assert scribe.store.by_name(OPERATOR, NOW, (LETTERS.lower(), "weft sealed")) == ()

    def test_it_wants_no_vector(self, scribe: Scribe) -> None:
        scribe.write(node("a", sealed_words(1), sensitive=True))
        scribe.write(node("b", "apple"))
        texts = scribe.store.unembedded(OPERATOR, "m", after=0, limit=9)
        assert [body for *_, body in texts] == ["apple"]
        query = VectorQuery(model="m", data=b"\x00\x00\x80?" + bytes(12))
        assert scribe.store.search_vector(OPERATOR, NOW, query, limit=9).pending == 1
