"""Search by words: equal hits and scores on every backend."""

from __future__ import annotations

import math
from typing import Any

from weft.core.queries import TextMatches
from weft.core.types import When
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, deleted, edge, node
from weft.testing.viewers import OPERATOR, PUBLIC

MANY = 700  # more than a backend may leave unindexed


def ids(matches: TextMatches) -> list[str]:
    """Who was found, best first."""
    return [hit.node.id for hit in matches.hits]


class WordsContract(StoreCase):
    """search_text."""

    def test_words_are_found_by_stem_in_every_field_at_once(self, scribe: Scribe) -> None:
        scribe.write(node("a", "the cats sleep"), node("b", name="Cat"), node("c", summary="CATS!"), node("d", "a dog"))
        assert sorted(ids(scribe.search("cat"))) == ["a", "b", "c"]
        assert sorted(ids(scribe.search("dogs sleeping"))) == ["a", "d"]
        assert ids(scribe.search("unicorn")) == []

    def test_rarer_words_and_names_count_for_more(self, scribe: Scribe) -> None:
        scribe.write(
            node("plain", "tea and biscuits"),
            node("named", "and biscuits", name="tea"),
            *(node(f"n{n}", "biscuits again") for n in range(5)),
        )
        assert ids(scribe.search("tea"))[0] == "named"
        assert set(ids(scribe.search("tea biscuits"))[:2]) == {"plain", "named"}

    def test_scores_are_bm25_and_add_up(self, scribe: Scribe) -> None:
        scribe.write(node("a", "apple pie"), node("b", "apple apple tart"), node("c", "cheese"))
        answer = scribe.search("apple pie")
        assert answer.population == 3
        assert {stat.term: stat.document_frequency for stat in answer.used} == {"pie": 1, "appl": 2}
        for hit in answer.hits:
            assert math.isclose(hit.score, sum(part for _, part in hit.parts))
        idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
        norm = 0.9 * (1 - 0.4 + 0.4 * 3 / 2)  # b has three words, two is the mean
        by_id = {hit.node.id: dict(hit.parts) for hit in answer.hits}
        assert math.isclose(by_id["b"]["appl"], idf * 2 * 1.9 / (2 + norm))

    def test_counts_of_parts_add_up_to_those_of_the_whole(self, scribe: Scribe) -> None:
        parts = (("apple", "", "apple pie"), ("", "a pie", "pie and pear"), ("", "", "the"), ("Pear", "pear", ""))
        for number, (name, summary, text) in enumerate(parts):
            scribe.one(node(f"p{number}", text, name=name, summary=summary, props={"part_of": "w"}))
        names, summaries, texts = (" ".join(each) for each in zip(*parts, strict=True))
        scribe.one(node("w", texts, name=names, summary=summaries))
        hits = {hit.node.id: hit for hit in scribe.search("apple pie pear").hits}
        whole = hits.pop("w")
        pooled: dict[str, float] = {}
        for hit in hits.values():
            assert hit.node.whole == "w"
            assert math.isclose(hit.score, sum(part for _, part in hit.parts))
            assert [term for term, _ in hit.parts] == [term for term, _ in hit.counts]
            for term, count in hit.counts:
                pooled[term] = pooled.get(term, 0.0) + count
        assert pooled == dict(whole.counts) == {"appl": 3 + 1, "pie": 1 + 2 + 1, "pear": 1 + 3 + 2}
        assert sum(hit.length for hit in hits.values()) == whole.length

    def test_phrases_are_stems_in_a_row_of_one_field(self, scribe: Scribe) -> None:
        scribe.one(node("a", "the ferries of Port Ysolde sail", name="Harbour"))
        scribe.one(node("b", "Port Ysolde", summary="its ferry", project="p"))
        scribe.one(node("c", "an old port", name="Ysolde", scope="admin"))
        scribe.one(node("d", "naïve 東京 駅"))
        phrases = ("port ysold", "ferri port", "ysold", "port", "naiv 東京", "", 'x" OR "port', "harbour ferri")
        for _ in range(2):
            found = {each.phrase: each for each in scribe.store.by_phrase(OPERATOR, When(), phrases)}
            assert {phrase: [lead.id for lead in each.nodes] for phrase, each in found.items()} == {
                "port ysold": ["b", "a"],
                "ferri port": ["a"],
                "ysold": ["c", "b", "a"],
                "port": ["c", "b", "a"],
                "naiv 東京": ["d"],
                "": [],
                'x" OR "port': [],
                "harbour ferri": [],
            }
            assert not any(each.more for each in found.values())
            (few,) = scribe.store.by_phrase(PUBLIC, When(), ("ysold",), limit=1)
            assert (len(few.nodes), few.more) == (1, True)
            (mine,) = scribe.store.by_phrase(PUBLIC, When(), ("ysold",), projects=(None,))
            assert ([lead.id for lead in mine.nodes], mine.more) == (["a"], False)
            scribe.write(*(node(f"n{n}", f"other words {n}") for n in range(100)))  # and now out of the index
        scribe.one(deleted("a"))
        (left,) = scribe.store.by_phrase(PUBLIC, When(), ("ysold",))
        assert [lead.id for lead in left.nodes] == ["b"]

    def test_filters_by_focus_area(self, scribe: Scribe) -> None:
        scribe.write(node("a", "apple", focus="f"), node("b", "apple", focus="g"), node("c", "apple pear"))
        assert ids(scribe.search("apple", focuses=("f",))) == ["a"]
        assert ids(scribe.search("apple", focuses=(None,))) == ["c"]
        assert sorted(ids(scribe.search("apple", focuses=("g", None)))) == ["b", "c"]

    def test_filters_by_kind_and_project(self, scribe: Scribe) -> None:
        scribe.write(
            node("a", "apple", kind="Gizmo", project="p"), node("b", "apple", project="q"), node("c", "apple pear")
        )
        assert ids(scribe.search("apple", kinds=("Gizmo",))) == ["a"]
        assert ids(scribe.search("apple", projects=("q",))) == ["b"]
        assert ids(scribe.search("apple", projects=(None,))) == ["c"]
        assert scribe.search("apple", projects=("q",)).population == 1
        assert len(scribe.search("apple", limit=2).hits) == 2

    def test_filters_by_when_a_version_begins(self, scribe: Scribe) -> None:
        for number in (-9, -5, -1):
            scribe.one(node(f"d{-number}", "apple", at=day(number)))
        assert sorted(ids(scribe.search("apple", begins=(day(-6), day(-2))))) == ["d5"]
        assert sorted(ids(scribe.search("apple", begins=(day(-9), day(0))))) == ["d1", "d5", "d9"]
        assert ids(scribe.search("apple", begins=(day(-4), day(-2)))) == []
        assert scribe.search("apple", begins=(day(-6), day(-2))).population == 3, "what is rare stays so"

    def test_search_at_a_moment_sees_what_was_there(self, scribe: Scribe) -> None:
        known = scribe.one(node("a", "apples", at=day(-9))).known_at
        scribe.one(node("a", "pears", at=day(-5)))
        assert ids(scribe.search("apples")) == []
        assert ids(scribe.search("apples", when=When(valid_at=day(-7)))) == ["a"]
        assert ids(scribe.search("apples", when=When(known_at=known))) == ["a"]
        assert ids(scribe.search("pears", when=When(known_at=known))) == []

    def test_equal_texts_are_shared_and_found_for_each_node(self, scribe: Scribe) -> None:
        scribe.write(node("a", "same words"), node("b", "same words"))
        assert sorted(ids(scribe.search("words"))) == ["a", "b"]
        assert scribe.store.stats(OPERATOR).texts == 1
        first, second = scribe.store.nodes(OPERATOR, When(), ("a", "b"))
        assert first.content_hash == second.content_hash
        scribe.one(deleted("a"))
        assert ids(scribe.search("words")) == ["b"]
        assert scribe.search("words").population == 1

    def test_words_beyond_ascii(self, scribe: Scribe) -> None:
        scribe.write(node("a", "naïve Straße"), node("b", "東京 駅"), node("c", "Привет мир"), node("d", "ﷺ ⑴ ͺ ½"))
        assert ids(scribe.search("naive")) == ["a"]
        assert ids(scribe.search("STRASSE")) == ["a"]
        assert ids(scribe.search("東京")) == ["b"]
        assert ids(scribe.search("привет")) == ["c"]
        assert ids(scribe.search("ﷺ")) == ["d"]

    def test_identifiers_are_found_whole_and_in_parts(self, scribe: Scribe) -> None:
        scribe.write(node("a", "calls parseHttpHeader once"), node("b", "calls load_user_file"))
        for words in ("parseHttpHeader", "http", "header"):
            assert ids(scribe.search(words)) == ["a"]
        for words in ("load_user_file", "user"):
            assert ids(scribe.search(words)) == ["b"]

    def test_a_quick_look_uses_the_rarest_words_and_may_keep_to_names(self, scribe: Scribe) -> None:
        texts = [node(f"n{n}", "ctx thread", name="about contexts") for n in range(70)]
        scribe.write(*texts, node("a", "ctx and thread", name="shuttle"), node("b", "shuttle", name="heddle"))
        scribe.one(node("late", "heddle", name="shuttles"))

        def quick(**options: Any) -> tuple[list[str], tuple[str, ...]]:
            found = scribe.search("shuttle heddle thread", **options)
            return sorted(ids(found)), found.dropped

        assert quick(in_names=True) == (["a", "b", "late"], ())
        assert quick(rarest=2) == (["a", "b", "late"], ("thread",))
        assert quick(rarest=1) == (["b", "late"], ("shuttl", "thread"))
        assert quick(rarest=1, in_names=True) == (["b"], ("shuttl", "thread"))
        assert quick(most=10) == (["a", "b", "late"], ("thread",))
        assert ids(scribe.search("thread", in_names=True)) == []

    def test_a_look_for_alike_texts_takes_common_words_together(self, scribe: Scribe) -> None:
        common = [node(f"n{n}", f"heddle word{n}") for n in range(60)] + [
            node(f"s{n}", f"shed mark{n}") for n in range(60)
        ]
        scribe.write(*common, node("both", "shed and heddle"), node("rare", "selvedge"))
        scribe.one(node("late", "heddles beside sheds"))

        def alike(words: str, **options: Any) -> list[str]:
            return sorted(ids(scribe.search(words, together=True, **options)))

        assert alike("heddle shed", most=20) == ["both", "late"]
        assert alike("heddle shed selvedge", most=20) == ["both", "late", "rare"]
        assert len(alike("heddle shed", most=1_000, limit=500)) == 122
        assert alike("unheard of") == []

    def test_no_word_is_missed_however_many_were_written(self, scribe: Scribe) -> None:
        for start in range(0, MANY, 100):
            scribe.write(*(node(f"n{n}", f"entry word{n} tens{n // 10}") for n in range(start, start + 100)))
        for n in range(0, MANY, 10):
            scribe.write(node(f"n{n}", f"changed word{n}"))
        scribe.write(deleted(*(f"n{n}" for n in range(1, MANY, 10))), edge("n0", "KNOWS", "n2"))
        scribe.one(node("last", "entry quite fresh"))
        for n in (0, 2, MANY - 1):
            assert ids(scribe.search(f"word{n}")) == [f"n{n}"]
        assert ids(scribe.search("word1")) == []
        assert ids(scribe.search("fresh")) == ["last"]
        tens = scribe.search("tens5")
        assert len(tens.hits) == 8, "ten, less one changed and one deleted"
        assert tens.used[0].document_frequency == 8 + 1, "the changed one holds until it was changed"
        assert tens.population == MANY + 1, "as many changed, with a version more, as were deleted"
