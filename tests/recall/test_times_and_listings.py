"""Questions about a time, about what came before or after an event, and for lists: all of it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import weft

ASKED_AT = "2026-11-19T10:00:00Z"  # a Thursday
NOTES = {
    "kickoff": ("2026-04-02", "Kickoff with the Marlow people, they want two languages."),
    "logo": ("2026-05-12", "Ana drew the new logo, everybody liked the green one."),
    "launch": ("2026-06-10", "Launch of the booking site, 40 bookings on the first day."),
    "lock": ("2026-07-06", "Tom fixed the double booking with a row lock."),
    "left": ("2026-08-14", "Lena left the company, her last day was a barbecue."),
    "backups": ("2026-08-25", "Priya took over the backups."),
    "outage": ("2026-09-22", "Outage: the database disk was full, site down for three hours."),
    "alert": ("2026-09-24", "Added a disk alert at 80 percent."),
    "audit": ("2026-10-05", "Security audit by Quint Labs, six findings."),
    "closed": ("2026-10-16", "All findings of the audit are closed."),
    "rome": ("2026-11-02", "The office moved to Rome Street 12."),
    "host": ("2026-11-11", "We decided to host the site on a machine of our own."),
    "machine": ("2026-11-14", "Bought a used coffee machine for the office."),
    "call": ("2026-11-16", "Client call with Marlow, they want gift cards."),
    "build": ("2026-11-18", "The build broke because of the new node version."),
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[weft.Memory]:
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "builtin", "WEFT_PROJECT": "everyday"}
    with weft.open(f"sqlite://{tmp_path}/store", directory=tmp_path, environment=environment) as opened:
        for date, text in NOTES.values():
            opened.remember(text, occurred_at=date)
        yield opened


def ask(memory: weft.Memory, question: str, limit: int = 10) -> tuple[list[str], str]:
    """The names of the notes of an answer, in order, and what the answer says besides."""
    names = {text: name for name, (_, text) in NOTES.items()}
    answer = memory.recall(question, asked_at=ASKED_AT, limit=limit)
    return [names.get(hit.node.text, hit.node.name) for hit in answer.hits], " ".join(answer.notes)


def test_questions_about_days(memory: weft.Memory) -> None:
    for question, names in {
        "what did we do in May and in July?": ["logo", "lock"],
        "compare this week and last week": ["host", "machine", "call", "build"],
        "what happened in June versus September?": ["launch", "outage", "alert"],
        "what happened Monday?": ["call"],
        "anything on the 16th?": ["call"],
        "what happened the 12th of May?": ["logo"],
        "what did we do Wednesday last week?": ["host"],
        "what did we do over the weekend?": ["machine"],
        "what happened in the last ten days?": ["host", "machine", "call", "build"],
        "what happened between the 11th and the 14th?": ["host", "machine"],
    }.items():
        assert ask(memory, question)[0] == names, question


def test_events_bound_a_question_and_the_answer_says_how(memory: weft.Memory) -> None:
    for question, names, dates in (
        ("what happened between the launch and the outage?", ["launch", "lock", "left", "backups", "outage"],
         ["2026-06-10", "2026-09-22"]),
        ("what has changed since the audit?", ["audit", "closed", "rome", "host", "machine", "call", "build"],
         ["2026-10-05"]),
        ("what happened before Lena left?", ["kickoff", "logo", "launch", "lock"], ["2026-08-14"]),
        ("what did we do after we moved to Rome Street?", ["host", "machine", "call", "build"], ["2026-11-02"]),
        ("what did Tom do after the launch?", ["lock"], ["2026-06-10"]),
        ("what happened the week after the outage?", ["alert"], ["2026-09-22"]),
        ("After the audit was closed, what did we do?", ["rome", "host", "machine", "call", "build"], ["2026-10-16"]),
        ("what happened from the audit to 5 November?", ["audit", "closed", "rome"], ["2026-10-05"]),
    ):  # fmt: skip
        found, told = ask(memory, question)
        assert found == names, question
        assert all(date in told for date in dates), question


def test_what_only_looks_like_an_event_bounds_nothing(memory: weft.Memory) -> None:
    for question in (
        "what do we do after an outage?",
        "what must we check before the fire drill?",
        "who looked after the cat?",
        "how long after the fire was the audit?",
        "why did we move after the fire?",
        "what did we eat after lunch?",
        "how did we get from Lisbon to Rome?",
        "why did we move the call from Monday to Thursday?",
        "who carries tea up to us?",
    ):
        told = ask(memory, question)[1]
        assert "no note tells when" not in told, question
        assert "is taken to be" not in told, question


@pytest.mark.parametrize("question", ["what happened after the fire?", "Since Hanna joined, what has happened?"])
def test_an_event_that_no_note_tells_is_said_to_be_unknown(memory: weft.Memory, question: str) -> None:
    found, told = ask(memory, question)
    assert not found
    assert "no note tells when" in told
    assert memory.recall(question, asked_at=ASKED_AT, min_score=0.0).hits, "the closest are shown on request"


def test_two_times_share_an_answer_that_cannot_hold_all(memory: weft.Memory) -> None:
    found, told = ask(memory, "what happened in September and in November?", limit=4)
    assert found == ["outage", "alert", "rome", "host"]
    assert "3 more are not shown: limit 7 shows all" in told
    assert "Nothing is recorded for 2026-03-01" in ask(memory, "what happened in March and in May?")[1]


def test_memories_are_listed_by_kind(memory: weft.Memory) -> None:
    for day, title in (("2026-02-10", "Use Postgres"), ("2026-09-25", "Alert on every disk")):
        memory.save_decision(title, "it is known to all", valid_from=day)
    memory.save_preference("Ana", "reviews in the morning")
    memory.save_preference("Tom", "tabs over spaces")
    memory.add_fact("Ana", predicate="lives_in", object="Lyon", valid_from="2026-01-05")
    assert ask(memory, "list our decisions")[0] == ["host", "Alert on every disk", "Use Postgres"]
    assert ask(memory, "show all decisions since March")[0] == ["Alert on every disk", "host"]
    assert ask(memory, "what did we decide in February?")[0] == ["Use Postgres"]
    found, told = ask(memory, "list all decisions about holidays")
    assert not found
    assert "No decision is recorded about holidays" in told
    kinds = [hit.node.kind for hit in memory.recall("all preferences", asked_at=ASKED_AT).hits]
    assert kinds == ["Preference", "Preference"]
    texts = [hit.node.text for hit in memory.recall("which facts do we know about Ana?", asked_at=ASKED_AT).hits]
    assert texts == [NOTES["logo"][1], "Ana lives in Lyon"]


def test_listed_is_all_of_a_long_time_among_many_notes(memory: weft.Memory) -> None:
    memory.remember_many([{"text": f"Order {n} left the shop.", "occurred_at": "2025-03-01"} for n in range(300)])
    assert len(ask(memory, "what happened since April?", limit=50)[0]) == len(NOTES)
