"""What a question refers to is written after its own words, from the messages before it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.text.extract.question.references import resolve

LISBON = "Maria Lopez moved to Lisbon in May."
REWRITES: list[tuple[str, list[str], str]] = [
    ("When did she move?", [LISBON, "Nice, I hear it is sunny."], "Maria Lopez"),
    ("How long has she lived there?", [LISBON], "Maria Lopez, Lisbon"),
    ("What is her phone number?", ["Dr. Anna Weiss will see you on Tuesday.", "Thanks!"], "Anna Weiss"),
    ("What did he say about it?", ["Otto Brandt called about the boiler.", "What did he want?"], "Otto Brandt, boiler"),
    ("who is that guy?", ["Otto came by."], "Otto"),
    ("When are they coming back?", ["Anna and Otto left for Oslo."], "Anna and Otto"),
    ("What did they decide?", ["The Harbour Board met on Monday."], "Harbour Board"),
    ("Why does it fail?", ["I ran parse_header on the new feed.", "It raised an error."], "parse_header"),
    ("Who last changed that file?", ["The bug is in src/ledger/close.py, I think."], "src/ledger/close.py"),
    ("open the file again", ["See notes.md for the plan."], "notes.md"),
    ("Does that function handle empty input?", ["Call closeBooks() at the end."], "closeBooks"),
    ("Who maintains it?", ["user: what does LedgerCloser do?", "assistant: It closes the books."], "LedgerCloser"),
    ("Who wrote it?", ['Have you read "The Glass Orchard"?', "Not yet."], "The Glass Orchard"),
    ("Did you like that?", ['I watched "Night Ferry" yesterday.'], "Night Ferry"),
    ("How much did it cost?", ["I bought a new bike yesterday."], "new bike"),
    ("What about that restaurant?", ["We ate at a tiny restaurant called Blue Door."], "Blue Door"),
    ("Is that bike still for sale?", ["I saw a red bike at the market.", "How much was it?"], "red bike"),
    ("Do we use the same one in production?", ["Staging runs Valkey 8."], "Valkey"),
    ("Was that before the outage?", ["We rolled back Kestrel on Friday."], "Kestrel"),
    ("Why did Ilse choose it?", ["We compared Valkey and Postgres for sessions."], "Valkey"),
    ("Tell me more", ["The Kestrel release slipped."], "Kestrel"),
    ("Why?", ["The ferry was cancelled."], "ferry"),
    ("Is it sunny there?", ["I am flying to Porto on Sunday."], "Porto"),
    ("what's its port?", ["The gateway is called Heron.", "ok"], "Heron"),
    ("Who is responsible for this?", ["`close_books` rounds wrongly."], "close_books"),
    ("Is he still at the bank?", ["I met Émile Roux's brother Luc."], "Émile Roux"),
]
LEFT_ALONE: list[tuple[str, list[str]]] = [
    ("When did Maria move?", [LISBON]),  # nothing refers
    ("What is the capital of Peru?", [LISBON]),
    ("Is there a car park?", [LISBON]),
    ("Are there any trains?", [LISBON]),
    ("the book that we read last week", [LISBON]),
    ("I think that trains are slow", [LISBON]),
    ("When did Ilse say she would come?", [LISBON]),  # named in the question
    ("Where did I put the bike after I fixed it?", [LISBON]),
    ("What did we do that day?", [LISBON]),
    ("When did she move?", []),
    ("When did she move?", ["", "  "]),
    ("When did she move?", ["ok", "thanks"]),  # nobody was named
    ("Where does Maria Lopez live? Does she like Lisbon?", [LISBON]),
]


@pytest.mark.parametrize(("query", "history", "added"), REWRITES, ids=[query for query, _, _ in REWRITES])
def test_a_reference_is_written_out(query: str, history: list[str], added: str) -> None:
    assert resolve(query, history).query == f"{query} ({added})"


@pytest.mark.parametrize(("query", "history"), LEFT_ALONE, ids=[f"{query} {len(h)}" for query, h in LEFT_ALONE])
def test_other_questions_stay_as_they_are(query: str, history: list[str]) -> None:
    assert resolve(query, history).query == query


def test_only_the_last_four_messages_count() -> None:
    assert resolve("When did she move?", [LISBON, "a", "b", "c"]).query.endswith("(Maria Lopez)")
    assert resolve("When did she move?", [LISBON, "a", "b", "c", "d"]).query == "When did she move?"


def test_the_latest_mention_counts() -> None:
    assert resolve("When did she move?", [LISBON, "Ilse Brandt called."]).query.endswith("(Ilse Brandt)")


def test_the_topic() -> None:
    history = ["We tuned the Valkey cache for the sessions.", "The cache evicts old sessions now."]
    same = resolve("Which sessions does the cache evict?", history).topic_change
    other = resolve("Which trains run from Porto to Faro on Sundays?", history).topic_change
    short = resolve("Which trains?", history).topic_change
    refers = resolve("Does it run on trains from Porto to Faro?", history).topic_change
    assert same < 0.1
    assert other == 1.0
    assert same < short < other
    assert refers < 0.3
    assert resolve("By the way, did the cache arrive?", history).topic_change >= 0.9
    assert resolve("Which trains run from Porto to Faro?", []).topic_change == 0.0
    assert resolve("and?", history).topic_change == 0.0


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=6))
def test_the_question_keeps_its_words(query: str, history: list[str]) -> None:
    resolved = resolve(query, history)
    assert resolved.query.startswith(query.rstrip())
    assert 0.0 <= resolved.topic_change <= 1.0


@pytest.mark.parametrize("piece", ["A ", "a-", "a.", "a/", "the new ", '"', "it ", "Aa Bb. ", "x_y ", ".-", "`"])
def test_long_messages_are_read_quickly(piece: str) -> None:
    long = piece * (32_768 // len(piece))
    began = time.process_time()
    resolve("Why did she put it there?", [long] * 6)
    resolve(long, [long])
    resolve(long[:400], [long])
    assert time.process_time() - began < 0.5
