"""Everyday questions: the newest value first, times of a question kept, and nothing where nothing answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import weft

ASKED_AT = "2026-11-18T10:00:00Z"
Notes = Sequence[tuple[str, str]]

MOVES: Notes = (
    ("2025-02-01", "I live in Breda, near the station."),
    ("2025-09-01", "I moved to Arnhem."),
    ("2026-06-01", "I moved to Delft."),
    ("2026-06-02", "The boiler was serviced by Harm."),
)
MARA: Notes = (
    ("2026-01-05", "Mara lives in Utrecht."),
    ("2026-02-05", "Mara is allergic to peanuts."),
    ("2026-06-01", "Mara moved to Leiden."),
    ("2026-03-01", "We had dinner with Mara and Tom."),
)
TEAM: Notes = (
    ("2026-01-10", "Priya leads the billing team."),
    ("2026-03-02", "Kim bought a projector for the meeting room."),
    ("2026-05-12", "Anders takes over the billing team from Priya."),
    ("2026-11-10", "Deployed version 4 of the shop."),
    ("2026-11-12", "The rollback of the shop took two hours."),
)
NAMESAKES: Notes = (
    ("2026-01-05", "Anna Berg leads billing."),
    ("2026-03-05", "Anna Lind leads design."),
)
PARCELS: Notes = (
    ("2026-05-05", "DHL trucks come at noon."),
    ("2026-04-05", "DHL API key rotates every 90 days."),
    ("2026-06-05", "The label printer is a Zebra."),
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[weft.Memory]:
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "builtin", "WEFT_PROJECT": "everyday"}
    with weft.open(f"sqlite://{tmp_path}/store", directory=tmp_path, environment=environment) as opened:
        yield opened


BILLS: Notes = (
    ("2026-07-15", "Snowflake bill for June: 4,310 dollars."),
    ("2026-10-08", "Snowflake bill for September: 2,870 dollars."),
)


def keep(memory: weft.Memory, notes: Notes) -> None:
    for date, text in notes:
        memory.remember(text, occurred_at=date)


def ask(memory: weft.Memory, question: str) -> list[str]:
    """The texts of an answer, once each: a note and the fact that was read from it say the same."""
    hits = memory.recall(question, asked_at=ASKED_AT).hits
    return list(dict.fromkeys(hit.node.text.rstrip(".") for hit in hits))


@pytest.mark.parametrize(
    ("notes", "question", "first"),
    [
        # the newest value answers a question about now, in whatever words it is told
        (MOVES, "where do I live?", "I moved to Delft"),
        (MOVES[::-1], "where do I live?", "I moved to Delft"),
        (MOVES, "tell me where I live", "I moved to Delft"),
        (MARA, "where does Mara live?", "Mara moved to Leiden"),
        (MARA, "please show me where Mara lives", "Mara moved to Leiden"),
        (TEAM, "who leads the billing team?", "Anders takes over the billing team from Priya"),
        # the last value known by then answers a question about then
        (MOVES, "where did I live in December 2025?", "I moved to Arnhem"),
        (MOVES, "where did I live in March 2025?", "I live in Breda, near the station"),
        (TEAM, "who led the billing team in February?", "Priya leads the billing team"),
        (MARA, "where did Mara live in February and in July 2026?", "Mara lives in Utrecht"),
        (BILLS, "what was the Snowflake bill in June?", "Snowflake bill for June: 4,310 dollars"),
        # before, after, first
        (MOVES, "where did I live before Delft?", "I moved to Arnhem"),
        (MOVES, "where did I live after Breda?", "I moved to Arnhem"),
        (TEAM, "who led the billing team first?", "Priya leads the billing team"),
        # key words
        (PARCELS, "DHL key", "DHL API key rotates every 90 days"),
        # a request for a judgement
        (MARA, "is Mara allergic to anything?", "Mara is allergic to peanuts"),
    ],
)
def test_the_first_line_answers(memory: weft.Memory, notes: Notes, question: str, first: str) -> None:
    keep(memory, notes)
    assert ask(memory, question)[0] == first


BEES: Notes = (
    ("2026-07-02", "Split hive 2, the new queen is marked blue."),
    ("2026-07-03", "Dentist at nine, no holes."),
    ("2026-07-20", "Took 12 kg of honey from the bees at the orchard."),
    ("2026-08-09", "The bees get sugar syrup now."),
)


@pytest.mark.parametrize("question", ["what did I do with the bees in July?", "what happened with the bees in July?"])
def test_what_happened_with_something_in_a_time_is_listed_in_order(memory: weft.Memory, question: str) -> None:
    keep(memory, BEES)
    assert ask(memory, question) == [BEES[0][1].rstrip("."), BEES[2][1].rstrip(".")]


def test_a_night_holds_what_is_dated_by_its_day(memory: weft.Memory) -> None:
    keep(memory, [*TEAM, ("2026-11-17", "The pager went off, disk full on db-2.")])
    assert ask(memory, "what happened last night?") == ["The pager went off, disk full on db-2"]


def test_a_person_answers_by_what_is_recorded_of_them(memory: weft.Memory) -> None:
    for name, kind, text in (
        ("Ines", "Person", "Engineer on the payments team."),
        ("Noor", "Person", "Leads the harbour office."),
        ("Lantern", "Service", "The payment gateway."),
    ):
        memory.add_entity(name, kind=kind, description=text)
    memory.link_entities("Ines", "MAINTAINS", "Lantern")
    assert memory.recall("who looks after Lantern?").hits[0].node.name == "Ines"


@pytest.mark.parametrize(
    ("notes", "question", "answer"),
    [
        (
            TEAM,
            "what happened last week?",
            ["Deployed version 4 of the shop", "The rollback of the shop took two hours"],
        ),
        (TEAM, "what did Kim buy in March?", ["Kim bought a projector for the meeting room"]),
        (MARA, "where did Mara live in March 2026?", ["Mara lives in Utrecht"]),
        (NAMESAKES, "what does Anna Berg lead?", ["Anna Berg leads billing"]),
        (NAMESAKES, "what does Anna Lind do?", ["Anna Lind leads design"]),
    ],
)
def test_the_answer_is_what_belongs_to_the_time_or_the_person(
    memory: weft.Memory, notes: Notes, question: str, answer: list[str]
) -> None:
    keep(memory, notes)
    assert ask(memory, question) == answer


@pytest.mark.parametrize(
    ("notes", "question"),
    [
        (TEAM, "does Kim have children?"),
        (TEAM, "why redis?"),
        (TEAM, "what did Kim buy in October?"),
        (TEAM, "what happened in August?"),
        (MOVES, "what is the capital of Peru?"),
    ],
)
def test_what_no_note_tells_has_no_answer_and_says_so(memory: weft.Memory, notes: Notes, question: str) -> None:
    keep(memory, notes)
    answer = memory.recall(question, asked_at=ASKED_AT)
    assert not answer.hits
    assert any(
        "answers this question" in note or "close enough" in note or "Nothing is recorded" in note
        for note in answer.notes
    )
    assert memory.recall(question, asked_at=ASKED_AT, min_score=0.0).hits, "the closest are shown on request"


@pytest.mark.parametrize(
    "question",
    [
        "What do you know about Mara?",
        "who is Mara?",
        "Mara",
        "Mara?",
        "what should I cook for Mara?",
        "can Mara eat satay?",
        "cook dinner for Mara",
        "Mara lives in Utrecht.",
    ],
)
def test_a_name_a_task_and_a_request_for_a_judgement_get_all_that_is_known(memory: weft.Memory, question: str) -> None:
    keep(memory, MARA)
    assert len(ask(memory, question)) == len(MARA)


def test_a_small_answer_for_a_reason_keeps_the_causes(memory: weft.Memory) -> None:
    chain = ["The certificate ran out", "Payments failed", "Retries filled the queue", "Nobody could book"]
    for cause, effect in itertools.pairwise(chain):
        memory.add_causal_link(cause, effect)
    keep(memory, [("2026-11-03", "Nobody could book the hall because the caretaker was ill, so nobody could dance.")])
    hits = memory.recall("why could nobody book?", limit=3, asked_at=ASKED_AT).hits
    assert {hit.node.text for hit in hits} < set(chain)


def test_titles_of_decisions_preferences_and_patterns_are_read(memory: weft.Memory) -> None:
    memory.save_decision("Deploy on Tuesdays", "the tide tables are imported on Mondays")
    memory.save_preference("Bruno", "short pull requests")
    memory.save_pattern("Rotate tokens", "call revoke first, then create")
    kinds = {
        "when do we deploy?": "Decision",
        "what does Bruno prefer?": "Preference",
        "how do we rotate tokens?": "Pattern",
    }
    for question, kind in kinds.items():
        assert [hit.node.kind for hit in memory.recall(question).hits][:1] == [kind], question


def test_a_fact_happens_when_it_begins(memory: weft.Memory) -> None:
    memory.add_fact("Ana", predicate="lives_in", object="Rome", valid_from="2023")
    keep(memory, [("2026-11-16", "Painted the fence."), ("2026-11-17", "Mended the gate.")])
    assert ask(memory, "what happened on Monday?") == ["Painted the fence"]
    assert ask(memory, "what happened in 2023?") == ["Ana lives in Rome"]
    assert ask(memory, "what happened on Tuesday the 3rd?") == [], "which is not last Tuesday"


def test_the_writer_is_not_the_person_asked_about(memory: weft.Memory) -> None:
    keep(memory, [("2025-01-10", "I live in Bristol, above the studio.")])
    memory.add_fact("Ana", predicate="lives_in", object="Rome", valid_from="2023")
    assert ask(memory, "where does Ana live?") == ["Ana lives in Rome"]
    assert ask(memory, "where do I live?") == ["I live in Bristol, above the studio"]


def test_of_two_notes_about_a_person_neither_replaces_the_other(memory: weft.Memory) -> None:
    keep(
        memory,
        [
            ("2026-11-01", "Sold the trailer to the neighbours for 90, Emil has outgrown it."),
            ("2026-11-09", "Dentist for Emil on the 24th at 16:30, Dr Benali."),
        ],
    )
    hits = memory.recall("who is Emil?", asked_at=ASKED_AT).hits
    assert len(hits) == 2
    assert not any("replace" in mark for hit in hits for mark in hit.marks)


def test_a_name_of_another_project_answers_nothing(memory: weft.Memory, tmp_path: Path) -> None:
    memory.add_fact("Ana", predicate="lives_in", object="Rome", valid_from="2023")
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "builtin", "WEFT_PROJECT": "boats"}
    with weft.open(f"sqlite://{tmp_path}/store", directory=tmp_path, environment=environment) as other:
        other.remember("The boat is green.")
        answer = other.recall("who is Ana?")
        assert not answer.hits
        assert answer.notes


def test_a_note_of_a_new_name_tells_the_former_one(memory: weft.Memory) -> None:
    keep(
        memory,
        [("2026-05-02", "Default branch renamed from master to trunk."), ("2026-05-09", "CI runs in 6 minutes.")],
    )
    assert ask(memory, "What was the default branch called in March?") == [
        "Default branch renamed from master to trunk"
    ]


@pytest.mark.parametrize(
    ("note", "question"),
    [
        ("Ana leitet das Abrechnungsteam seit März.", "Wer leitet das Team?"),
        ("Die Miete beträgt 1240 Euro im Monat.", "Was kostet die Wohnung?"),
        ("De huur is 1240 euro per maand.", "Is de huur hoog?"),
        ("Le loyer est de 1240 euros par mois.", "Quel est le loyer ?"),
        ("Түрээс сард 1240 евро.", "Түрээс хэд вэ?"),
        ("房租每月1240欧元。", "房租是多少？"),
    ],
)
def test_questions_in_other_languages_keep_what_matches(memory: weft.Memory, note: str, question: str) -> None:
    keep(memory, [("2025-01-01", note), *MARA])
    assert note.rstrip(".") in ask(memory, question)


@pytest.mark.parametrize("question", ["add a retry to payments", "refactor the payments module", "fix payments bug"])
def test_a_task_gets_its_context(memory: weft.Memory, question: str) -> None:
    payments = ["We decided to cap payment retries at three", "Payments go through Adyen since May"]
    keep(memory, [("2026-05-01", f"{text}.") for text in payments])
    assert set(ask(memory, question)) >= set(payments)
    assert all(text in memory.call("memory_checkout", query=question).prompt for text in payments)


def test_of_two_notes_of_the_same_second_the_later_one_is_newer(memory: weft.Memory) -> None:
    memory.remember("The launch is on May 3.")
    memory.remember("The launch is on May 9.")
    assert ask_now(memory, "when is the launch?")[0] == "The launch is on May 9."


def test_a_note_of_the_future_is_no_value_of_today(memory: weft.Memory) -> None:
    keep(memory, [*MOVES, ("2027-01-24", "I move to Oslo on the 24th.")])
    assert ask(memory, "where do I live?")[0] == "I moved to Delft"


def test_past_values_of_a_fact_answer_ever_and_then(memory: weft.Memory) -> None:
    memory.add_fact("Ana", predicate="lives_in", object="Oslo", valid_from="2024-01-01")
    memory.add_fact("Ana", predicate="lives_in", object="Bergen", valid_from="2026-01-01")
    assert ask(memory, "where does Ana live?") == ["Ana lives in Bergen"]
    assert ask(memory, "where did Ana live in 2025?")[0] == "Ana lives in Oslo"
    assert ask(memory, "has Ana ever lived in Oslo?")[0] == "Ana lives in Oslo"
    answer = memory.recall("has Ana ever lived in Oslo?", asked_at=ASKED_AT)
    assert '"Ana lives in Oslo" · 2024-01-01 to 2026-01-01' in answer.context


@pytest.mark.parametrize("question", ["what did Kim buy in October?", "How tall is Priya?"])
def test_without_an_embedder_nothing_is_refused(tmp_path: Path, question: str) -> None:
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none", "WEFT_PROJECT": "everyday"}
    with weft.open(f"sqlite://{tmp_path}/store", directory=tmp_path, environment=environment) as memory:
        keep(memory, TEAM)
        assert ask(memory, question)


def ask_now(memory: weft.Memory, question: str) -> list[str]:
    return [hit.node.text for hit in memory.recall(question).hits]


@pytest.mark.parametrize(
    ("older", "newer", "asked", "marked"),
    [
        ("The staging database runs on Postgres 14.", "The staging database runs on Postgres 16.", "staging", True),
        ("The production database runs on Postgres 14.", "The staging database runs on Postgres 16.", "prod", False),
        ("The wifi password at the cabin is heron42.", "The wifi password at home is osprey77.", "wifi", False),
        ("My dentist is Dr. Hale on Main Street.", "My doctor is Dr. Moss on Park Lane.", "dentist", False),
        ("My dentist is Dr. Hale on Main Street.", "My dentist is Dr. Moss on Park Lane now.", "dentist", True),
    ],
)
def test_a_note_is_marked_as_replaced_only_by_one_that_names_the_same(
    memory: weft.Memory, older: str, newer: str, asked: str, marked: bool
) -> None:
    question = {
        "staging": "which Postgres does the staging database run?",
        "prod": "which Postgres does the production database run?",
        "wifi": "what is the wifi password at the cabin?",
        "dentist": "who is my dentist?",
    }[asked]
    told = memory.remember(older, occurred_at="2026-03-02")
    memory.remember(newer, occurred_at="2026-05-10")
    marks = [mark for hit in memory.recall(question).hits if hit.node.id == told.id for mark in hit.marks]
    assert any("may replace" in mark for mark in marks) == marked
