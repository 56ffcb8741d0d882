"""Names: lookup by name, suggestions for misspelt names, and the names that a search matched."""

from __future__ import annotations

from typing import Any

import pytest

from weft.core.queries import Lead
from weft.core.types import NOW, Viewer, When
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.contracts.vectors_contract import MODEL, towards, vector_of
from weft.testing.scribe import Scribe, closed, deleted, ended, memory_of, node, restored
from weft.testing.viewers import ANN, ANN_INSIDE, BOB, OPERATOR, PUBLIC, STAFF, STRANGER

MANY = 60  # more than a backend need tell of one name
CROWD = 900  # more than a backend may look through before it looks at rights


def who(scribe: Scribe, *keys: str, viewer: Viewer = OPERATOR, when: When = NOW, **options: Any) -> list[str]:
    """The nodes that go by these names, in order."""
    return [found.node.id for found in scribe.store.by_name(viewer, when, keys, **options)]


def meant(scribe: Scribe, word: str, *, viewer: Viewer = OPERATOR, when: When = NOW, **options: Any) -> list[str]:
    """What a word may be a misspelling of."""
    return list(scribe.store.spellings(viewer, when, word, **options))


class NamesContract(StoreCase):
    """named, spellings, and the leads of every search."""

    # Names

    def test_a_node_goes_by_its_name_and_other_names_less_surely(self, scribe: Scribe) -> None:
        scribe.write(node("a", "Marta Okonro was a surveyor.", name="Okonro, Marta (surveyor)"))
        keys = ("okonro marta surveyor", "okonro marta", "marta okonro", "marta", "surveyor", "")
        found = scribe.store.by_name(OPERATOR, NOW, keys)
        weights = {each.key: each.weight for each in found}
        assert weights == {"okonro marta surveyor": 1.0, "okonro marta": 0.9, "marta okonro": 0.6}
        assert {each.node.id for each in found} == {"a"}
        assert scribe.store.by_name(OPERATOR, NOW, ()) == ()

    def test_answers_come_by_name_and_the_newest_first(self, scribe: Scribe) -> None:
        for number, name in enumerate(("Heron", "Ysolde", "heron", "HERON!")):
            scribe.one(node(f"n{number}", f"text {number}", name=name))
        found = scribe.store.by_name(OPERATOR, NOW, ("ysolde", "heron", "ysolde"))
        assert [(each.key, each.node.id) for each in found] == [
            ("heron", "n3"),
            ("heron", "n2"),
            ("heron", "n0"),
            ("ysolde", "n1"),
        ]

    def test_a_bounded_number_of_each_the_newest(self, scribe: Scribe) -> None:
        scribe.write(*(node(f"n{number}", f"text {number}", name="Heron") for number in range(MANY)))
        scribe.write(node("other", name="Ysolde"))
        found = who(scribe, "heron", "ysolde")
        assert found[-1] == "other"
        assert 1 <= len(found) - 1 <= MANY
        assert found[:-1] == [f"n{number}" for number in range(MANY - 1, MANY - len(found), -1)]

    def test_a_crowd_that_is_hidden_takes_no_ones_place(self, scribe: Scribe) -> None:
        scribe.write(node("open", "open", name="Heron"))
        hidden = [node(f"n{number}", f"text {number}", name="Heron", scope="admin") for number in range(MANY)]
        scribe.write(*hidden)
        assert who(scribe, "heron", viewer=PUBLIC) == ["open"]
        assert who(scribe, "heron", projects=("p",)) == []

    def test_equal_texts_are_told_for_each_node(self, scribe: Scribe) -> None:
        scribe.write(node("a", "same", name="Heron"), node("b", "same", name="Heron", scope="admin"))
        assert who(scribe, "heron") == ["b", "a"]
        assert who(scribe, "heron", viewer=PUBLIC) == ["a"]

    def test_names_of_a_project(self, scribe: Scribe) -> None:
        scribe.write(
            node("a", name="Heron", project="p"), node("b", name="Heron", project="q"), node("c", name="Heron")
        )
        assert who(scribe, "heron", projects=("p", None)) == ["c", "a"]
        assert who(scribe, "heron", projects=("q",)) == ["b"]
        assert who(scribe, "heron", projects=()) == []
        assert meant(scribe, "herun", projects=("p",)) == ["heron"]
        assert meant(scribe, "herun", projects=("r",)) == []

    def test_names_at_a_moment(self, scribe: Scribe) -> None:
        known = scribe.one(node("a", name="Heron", at=day(-9))).known_at
        scribe.one(node("a", name="Bittern", at=day(-5)))
        assert (who(scribe, "heron"), who(scribe, "bittern")) == ([], ["a"])
        then = When(valid_at=day(-7))
        assert (who(scribe, "heron", when=then), who(scribe, "bittern", when=then)) == (["a"], [])
        before = When(known_at=known)
        assert (who(scribe, "heron", when=before), who(scribe, "bittern", when=before)) == (["a"], [])
        assert (meant(scribe, "hebon"), meant(scribe, "bittarn")) == ([], ["bittern"])
        assert (meant(scribe, "hebon", when=then), meant(scribe, "bittarn", when=then)) == (["heron"], [])
        assert (meant(scribe, "hebon", when=before), meant(scribe, "bittarn", when=before)) == (["heron"], [])
        scribe.one(ended("a"))
        assert (who(scribe, "bittern"), meant(scribe, "bittarn")) == ([], [])

    def test_names_of_deleted_nodes_are_gone_until_restored(self, scribe: Scribe) -> None:
        known = scribe.one(node("a", name="Heron")).known_at
        scribe.one(deleted("a"))
        for when in (NOW, When(known_at=known)):
            assert (who(scribe, "heron", when=when), meant(scribe, "herom", when=when)) == ([], [])
        scribe.one(restored("a"))
        assert (who(scribe, "heron"), meant(scribe, "herom")) == (["a"], ["heron"])

    def test_names_in_an_open_change_wait_for_its_end(self, scribe: Scribe) -> None:
        change = scribe.open_change(node("a", name="Heron"))
        assert (who(scribe, "heron"), meant(scribe, "herom")) == ([], [])
        scribe.write(closed(change))
        assert (who(scribe, "heron"), meant(scribe, "herom")) == (["a"], ["heron"])

    @pytest.mark.parametrize(
        ("guard", "sees", "does_not"),
        [
            ({"scope": "admin"}, STAFF, PUBLIC),
            ({"sensitive": True}, OPERATOR, STAFF),
            ({"agents": ("ann",)}, ANN, BOB),
            ({"agents": ()}, ANN_INSIDE, ANN),
            ({}, OPERATOR, STRANGER),
        ],
    )
    def test_guards_hold_for_names(self, scribe: Scribe, guard: dict[str, Any], sees: Viewer, does_not: Viewer) -> None:
        scribe.write(node("a", name="Heron", **guard))
        assert (who(scribe, "heron", viewer=sees), meant(scribe, "herom", viewer=sees)) == (["a"], ["heron"])
        assert (who(scribe, "heron", viewer=does_not), meant(scribe, "herom", viewer=does_not)) == ([], [])

    # Spellings

    @pytest.mark.parametrize("name", ["heron", "ysolde", "velmora", "Okonrolt"])
    def test_one_slip_anywhere_is_forgiven(self, scribe: Scribe, name: str) -> None:
        word = name.lower()
        scribe.write(node("a", name=f"The {name} of Qwi"), node("b", name="Pelican"))
        slips = {word[:at] + "q" + word[at:] for at in range(len(word) + 1)}
        slips |= {word[:at] + "q" + word[at + 1 :] for at in range(len(word))}
        slips |= {word[:at] + word[at + 1 :] for at in range(len(word))}
        slips |= {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}
        for slip in sorted(slips - {word}):
            assert meant(scribe, slip) == [word], slip
        assert meant(scribe, word) == [], "it is written as it should be"

    def test_what_may_be_meant_is_sorted_and_each_once(self, scribe: Scribe) -> None:
        scribe.write(
            *(node(f"n{number}", name=name) for number, name in enumerate(("Herons", "Heron", "Hero's Heron")))
        )
        assert meant(scribe, "heronz") == ["heron", "herons"]

    def test_odd_words_mean_nothing(self, scribe: Scribe) -> None:
        scribe.write(node("a", name="Heron"), node("b", name="東京駅前"), memory_of("m", "pelican pelican"))
        for word in ("", "h", "he", "%", "herons%", "<norex", "\U0010ffff", "'; --", "pelican", "pelicam", "東京"):
            assert meant(scribe, word) == []
        assert meant(scribe, "東京駅後") == ["東京駅前"]

    def test_a_hidden_crowd_of_likely_words_hides_no_other(self, scribe: Scribe) -> None:
        crowd = [node(f"n{n}", name=f"her{n:04d}x zz{n:04d}ron", scope="admin") for n in range(CROWD)]
        scribe.write(*crowd)
        scribe.write(node("open", name="hezon"), node("other", name="herzz"))
        assert meant(scribe, "heron", viewer=PUBLIC) == ["hezon"]
        assert meant(scribe, "herqz", viewer=PUBLIC) == ["herzz"]

    # What a search tells of those it points at

    def test_a_lead_says_what_it_is_a_part_of(self, scribe: Scribe) -> None:
        props = {"part_of": "s1", "conversation": "c1", "role": "user"}
        scribe.write(node("a", "apple", name="Heron", kind="Message", props=props))
        scribe.store.put_vectors(OPERATOR.account, [vector_of("apple", (1, 0, 0, 0), name="Heron")])
        (by_words,) = scribe.search("apple").hits
        (by_meaning,) = scribe.store.search_vector(OPERATOR, NOW, towards((1, 0, 0, 0)), limit=5).hits
        (by_name,) = scribe.store.by_name(OPERATOR, NOW, ("heron",))
        (row,) = scribe.store.nodes(OPERATOR, NOW, ("a",))
        expected = Lead(
            id="a",
            row=row.row,
            kind="Message",
            content_hash=row.content_hash,
            whole="s1",
            conversation="c1",
            role="user",
        )
        assert by_words.node == by_meaning.node == by_name.node == expected
        assert scribe.store.vectors(OPERATOR, MODEL, [expected.content_hash])

    @pytest.mark.parametrize("odd", [None, 7, 1.5, True, False, ["s1"], {"id": "s1"}, [], {}], ids=repr)
    def test_properties_of_other_types_name_no_whole(self, scribe: Scribe, odd: Any) -> None:
        props = {"part_of": odd, "conversation": odd, "role": odd}
        scribe.write(node("a", "apple", props=props), node("b", "apple"))
        for hit in scribe.search("apple").hits:
            assert (hit.node.whole, hit.node.conversation, hit.node.role) == (None, None, None)

    @pytest.mark.parametrize("odd", ["", "null", "7", '{"id": "s1"}', "it's “so”\n", "東京", "a\\b"], ids=repr)
    def test_any_text_may_name_a_whole(self, scribe: Scribe, odd: str) -> None:
        scribe.write(node("a", "apple", props={"part_of": odd, "conversation": odd, "role": odd}))
        (hit,) = scribe.search("apple").hits
        assert (hit.node.whole, hit.node.conversation, hit.node.role) == (odd, odd, odd)
