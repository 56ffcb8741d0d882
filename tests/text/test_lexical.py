"""Words: what is found under which spelling, and how scores are made."""

from __future__ import annotations

import unicodedata

import pytest

from weft.core.queries import TermStat
from weft.testing.scribe import Scribe, node
from weft.text.lexical import (
    MAX_MATCHES,
    MAX_QUERY_TERMS,
    MAX_TERM_CHARACTERS,
    STOP_WORDS,
    Bm25,
    choose_terms,
    content_hash,
    idf,
    lex,
    name_key,
    query_terms,
    stems,
    tokens,
)


def matches(question: str, text: str) -> bool:
    """Whether a question's words would find a text."""
    held = lex("", "", text).stems[2].split()
    return any(term in held for term, _ in query_terms(question))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("parse", "the parseHeader function"),
        ("header", "parseHeader(line)"),
        ("parseheader", "parseHeader"),
        ("snake", "some snake_case_name here"),
        ("snake_case_name", "snake_case_name"),
        ("http", "HTTPServer"),
        ("server", "an HTTPServer"),
        ("retry", "self._retry_count"),
        ("running", "it runs"),
        ("deploys", "the deploy is frozen"),
        ("cafe", "Café Müller"),
        ("CAFÉ", "cafe"),
        ("mira", "Mira’s desk"),
        ("Mira's", "mira"),
        ("dont", "don't panic"),
        ("東京", "東京"),
        ("42", "the answer is 42"),
        ("v2", "use v2 only"),
    ],
)
def test_found_under_another_spelling(question: str, text: str) -> None:
    assert matches(question, text)


@pytest.mark.parametrize(("question", "text"), [("cat", "category"), ("he", "theory"), ("10", "100"), ("re", "redis")])
def test_not_found_inside_other_words(question: str, text: str) -> None:
    assert not matches(question, text)


def test_accents_match_however_they_are_composed() -> None:
    composed, decomposed = (unicodedata.normalize(form, "Zoë naïve Ångström") for form in ("NFC", "NFD"))
    assert tokens(composed) == tokens(decomposed) == ["zoe", "naive", "angstrom"]


def test_an_identifier_gives_itself_and_its_parts() -> None:
    assert set(tokens("maxRetryCount")) == {"maxretrycount", "max", "retry", "count"}
    assert set(tokens("max_retry_count")) == {"max_retry_count", "max", "retry", "count"}


def test_stop_words_are_left_out_unless_there_is_nothing_else() -> None:
    assert stems("what is the name of it") == stems("name")
    assert {"what", "the", "who"} <= STOP_WORDS
    assert {term for term, _ in query_terms("who are you")} == {"who", "are", "you"}
    assert query_terms("?! …") == ()


def test_a_word_said_twice_weighs_more() -> None:
    weights = dict(query_terms("redis redis cache"))
    assert weights["redi"] > weights["cach"] == 1.0


def test_endless_words_are_cut() -> None:
    assert all(len(token) <= MAX_TERM_CHARACTERS for token in tokens("x" * 10_000 + " " + "a_b" * 5_000))
    assert matches("x" * 10_000, "x" * 9_000)


def test_names_compare_without_case_accents_space_and_outer_punctuation() -> None:
    assert name_key("  “Acme”  Inc. ".replace("“", '"').replace("”", '"')) == 'acme" inc'
    assert name_key("Acme   INC.") == name_key("(acme inc)") == "acme inc"
    assert name_key("Żółw") == "zołw"
    assert name_key("...") == ""
    for name in ("Acme Inc.", "ẞtraße", "'s", "İstanbul"):
        assert name_key(name_key(name)) == name_key(name)


def test_a_text_is_named_by_what_it_says_and_where() -> None:
    hashes = {content_hash(*split) for split in [("ab", "", ""), ("a", "b", ""), ("a", "", "b"), ("", "", "ab")]}
    assert len(hashes) == 4
    assert lex("a", "b", "c").content_hash == content_hash("a", "b", "c")


def stat(term: str, *, idf: float = 1.0, weight: float = 1.0) -> TermStat:
    return TermStat(term=term, weight=weight, document_frequency=1, idf=idf)


def score(text: tuple[str, str, str], *terms: TermStat) -> tuple[float, dict[str, float]]:
    made = lex(*text)
    weighed = Bm25(terms, mean_length=5.0, k1=0.9, b=0.4).weigh([(made.vector, made.length)])
    return float(weighed.scores[0]), dict(weighed.parts([0])[0])


def test_the_parts_of_a_score_add_up_to_it() -> None:
    total, parts = score(
        ("redis", "a cache", "redis is fast and redis is small"), stat("redi"), stat("cach"), stat("no")
    )
    assert set(parts) == {"redi", "cach"}, "a term that is not there gives nothing, and is not listed"
    assert all(part > 0 for part in parts.values())
    assert total == pytest.approx(sum(parts.values()))


def test_no_match_scores_nothing() -> None:
    assert score(("", "", "other words"), stat("redi")) == (0.0, {})


def test_names_outweigh_summaries_and_summaries_bodies() -> None:
    scores = [score(text, stat("redi"))[0] for text in [("redis", "", "x"), ("", "redis", "x"), ("", "", "redis x")]]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3


def test_rare_short_and_frequent_score_higher() -> None:
    assert score(("", "", "redis"), stat("redi", idf=3.0))[0] > score(("", "", "redis"), stat("redi", idf=1.0))[0]
    assert score(("", "", "redis"), stat("redi"))[0] > score(("", "", "redis " + "pad " * 50), stat("redi"))[0]
    assert score(("", "", "redis redis x y"), stat("redi"))[0] > score(("", "", "redis v x y"), stat("redi"))[0]


def test_a_match_never_costs_however_common_the_word() -> None:
    assert idf(1_000_000, 1) > idf(1_000_000, 500_000) > idf(1_000_000, 1_000_000) > 0
    assert idf(0, 0) > 0
    assert idf(5, 10) > 0


def test_a_word_repeated_past_the_counter_still_scores() -> None:
    total, _ = score(("", "", "redis " * 70_000), stat("redi"))
    assert 0 < total < 10


def test_texts_are_weighed_alike_whatever_they_are_weighed_with() -> None:
    terms = (stat("redi"), stat("cach", idf=2.0))
    texts = [("redis", "", "cache"), ("", "", ""), ("", "", "the"), ("", "redis", "redis cache redis"), ("", "", "x y")]
    made = [lex(*text) for text in texts]
    weighed = Bm25(terms, mean_length=5.0, k1=0.9, b=0.4).weigh([(text.vector, text.length) for text in made])
    every = range(len(texts))
    alone = [score(text, *terms) for text in texts]
    assert list(zip(weighed.scores.tolist(), map(dict, weighed.parts(every)), strict=True)) == alone
    assert [dict(counts) for counts in weighed.counted(every)] == [
        {"redi": 3.0, "cach": 1.0},
        {},
        {},
        {"redi": 4.0, "cach": 1.0},
        {},
    ], "a name counts three times, a summary twice"
    assert Bm25((), mean_length=5.0, k1=0.9, b=0.4).weigh([(made[0].vector, made[0].length)]).scores.tolist() == [0.0]
    assert Bm25(terms, mean_length=5.0, k1=0.9, b=0.4).weigh([]).scores.tolist() == []


def test_at_most_so_many_terms_rarest_first_and_the_rest_are_named() -> None:
    terms = [(f"t{number:02}", 1.0) for number in range(MAX_QUERY_TERMS + 12)]
    used, dropped = choose_terms(terms, {term: len(terms) - n for n, (term, _) in enumerate(terms)}, 1_000)
    rarest = [term for term, _ in reversed(terms)][:MAX_QUERY_TERMS]
    assert [each.term for each in used] == rarest
    assert set(dropped) == {term for term, _ in terms} - set(rarest)


def test_common_words_go_only_while_rarer_ones_remain() -> None:
    frequencies = {"common": MAX_MATCHES, "a": 1, "b": 2, "c": 3}
    used, dropped = choose_terms([(term, 1.0) for term in frequencies], frequencies, 100_000)
    assert [each.term for each in used] == ["a", "b", "c"]
    assert dropped == ("common",)
    used, dropped = choose_terms([("common", 1.0)], {"common": 90_000}, 100_000)
    assert [each.term for each in used] == ["common"], "alone it is all there is to go by"
    assert dropped == ()


def test_terms_together_match_what_is_quick_to_look_at() -> None:
    half = MAX_MATCHES // 2
    used, dropped = choose_terms([("a", 1.0), ("b", 1.0), ("c", 1.0)], {"a": half, "b": half, "c": half + 1}, 100_000)
    assert ([each.term for each in used], dropped) == (["a", "b"], ("c",))


def test_words_of_no_live_text_come_last() -> None:
    used, _ = choose_terms([("past", 1.0), ("here", 1.0)], {"here": 5}, 10)
    assert [each.term for each in used] == ["here", "past"]
    many = [(f"t{number}", 1.0) for number in range(MAX_QUERY_TERMS)]
    used, dropped = choose_terms([("past", 1.0), *many], {term: 1 for term, _ in many}, 10)
    assert dropped == ("past",)


def test_both_stores_explain_their_scores_alike(scribe: Scribe) -> None:
    scribe.write(
        node("a", "Redis keeps the sessions", name="Session store"),
        node("b", "Postgres keeps the rest, sessions excepted"),
        node("c", "Ångström and naïve café"),
    )
    found = scribe.search("redis sessions")
    assert [hit.node.id for hit in found.hits] == ["a", "b"]
    for hit in found.hits:
        assert hit.score == pytest.approx(sum(part for _, part in hit.parts))
    assert found.population == 3
    assert [hit.node.id for hit in scribe.search("angstrom cafe").hits] == ["c"]
