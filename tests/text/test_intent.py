"""What a question is after is read from its own words, polite and indirect ones included."""

from __future__ import annotations

import time
from typing import get_args

import pytest

from weft.text.extract.question.intent import DEPTHS, Intent, RetrievalClass, read_class, read_intent

QUESTIONS: list[tuple[str, Intent]] = [
    # why
    ("Why did we move the sessions to Valkey?", "WHY"),
    ("why valkey", "WHY"),
    ("Do you know why the nightly export stalls?", "WHY"),
    ("Could you please explain to me why Ilse left the board?", "WHY"),
    ("What caused the flood in the archive?", "WHY"),
    ("What's the reason we pin the compiler?", "WHY"),
    ("What was the main reason for the delay?", "WHY"),
    ("How come the lift is closed?", "WHY"),
    ("Because of what did the tender fail?", "WHY"),
    ("What led to the split of the two teams?", "WHY"),
    ("root cause of the Thursday outage", "WHY"),
    ("rationale for two clocks", "WHY"),
    ("What made you pick the blue tiles?", "WHY"),
    ("What did the cache change result in?", "WHY"),
    ("Did the ferry stop because of the ice?", "WHY"),
    ("I was in a meeting with Otto yesterday. He sounded upset. Why was that?", "WHY"),
    ("For what reason was the grant refused?", "WHY"),
    # when
    ("When did Ilse move to Porto?", "WHEN"),
    ("Can you tell me when the lease ends?", "WHEN"),
    ("Since when do we use the new badge?", "WHEN"),
    ("What day was the inspection?", "WHEN"),
    ("In which year did they open the second mill?", "WHEN"),
    ("How long ago did I plant the quince?", "WHEN"),
    ("How many weeks ago was the audit?", "WHEN"),
    ("What's the due date of the tax form?", "WHEN"),
    ("timeline of the warehouse move", "WHEN"),
    ("What happened after the rollback?", "WHEN"),
    ("what did we use before the new scheduler", "WHEN"),
    ("What has changed since the review?", "WHEN"),
    ("Which came first, the grant or the prize?", "WHEN"),
    ("Do you remember the last time I saw the dentist?", "WHEN"),
    ("release date of the second edition", "WHEN"),
    ("In what order did we visit the islands?", "WHEN"),
    ("Hey, quick one: when's the boiler check?", "WHEN"),
    # who
    ("Who approved the budget?", "WHO"),
    ("I wonder who painted the door.", "WHO"),
    ("Whose idea was the rooftop garden?", "WHO"),
    ("To whom did we send the samples?", "WHO"),
    ("Which team owns the billing service?", "WHO"),
    ("Which person signed the lease?", "WHO"),
    ("What is the name of the engineer that fixed the pump?", "WHO"),
    ("owner of the ledger module", "WHO"),
    ("Is there anyone who speaks Estonian?", "WHO"),
    ("Who was there when the alarm went off?", "WHO"),
    ("Please remind me who's on call.", "WHO"),
    ("Was it Otto who broke the window?", "WHO"),
    # explore
    ("Tell me about the harbour project", "EXPLORE"),
    ("Give me an overview of the ledger", "EXPLORE"),
    ("everything about Ilse Brandt", "EXPLORE"),
    ("What do we know about the vendor?", "EXPLORE"),
    ("Summarise the discussion on tariffs", "EXPLORE"),
    ("Can you summarize what was said?", "EXPLORE"),
    ("explore the dependency graph", "EXPLORE"),
    ("Could you catch me up, please", "EXPLORE"),
    ("I'd like to know more about the Kestrel release", "EXPLORE"),
    # what
    ("What database do we use for sessions?", "WHAT"),
    ("Which port does the gateway listen on?", "WHAT"),
    ("Where is the spare key?", "WHAT"),
    ("How do I rotate the signing key?", "WHAT"),
    ("How many goats did we count?", "WHAT"),
    ("Do you know what colour the door is?", "WHAT"),
    ("What time zone is the Lagos office in?", "WHAT"),
    ("What did Ilse say when the motor stopped?", "WHAT"),
    ("the lock that is held when the job runs", "WHAT"),
    ("What is the street named after Otto called?", "WHAT"),
    ("spare key", "WHAT"),
    ("parse_header fails", "WHAT"),
    ("", "WHAT"),
    ("???", "WHAT"),
]


@pytest.mark.parametrize(("question", "intent"), QUESTIONS, ids=[question or "(empty)" for question, _ in QUESTIONS])
def test_the_words_tell(question: str, intent: Intent) -> None:
    assert read_intent(question) == intent


def test_case_and_spacing_do_not_matter() -> None:
    for question, intent in QUESTIONS:
        assert read_intent(f"  {question.upper()} ") == intent
        assert read_intent(question.replace("'", "’").replace(" ", "  ")) == intent


def test_a_report_is_read_by_its_first_line() -> None:
    report = "Export stalls at midnight\n\nSteps:\n1. wait until when the job begins\n2. ask who is logged in\n"
    assert read_intent(report) == "WHAT"
    assert read_intent(f"Why does the export stall?\n{report}") == "WHY"


def test_every_intent_has_depths() -> None:
    assert set(DEPTHS) == set(get_args(Intent))


@pytest.mark.parametrize(
    ("question", "intent", "has_window", "has_name", "expected"),
    [
        ("What happened at the launch on 8 May?", "WHAT", True, False, "event"),
        ("When was the outage last spring?", "WHEN", True, False, "event"),
        ("When did Ilse move?", "WHEN", False, True, "temporal"),
        ("What did I buy last week?", "WHAT", True, False, "temporal"),
        ("Who fixed the pump?", "WHO", False, False, "entity"),
        ("Tell me about Ilse Brandt", "EXPLORE", False, True, "entity"),
        ("What colour is the door?", "WHAT", False, False, "general"),
        ("Why did Ilse leave?", "WHY", False, True, "general"),
        ("Why did the outage happen on 8 May?", "WHY", True, False, "general"),
    ],
)
def test_the_class_follows(
    question: str, intent: Intent, has_window: bool, has_name: bool, expected: RetrievalClass
) -> None:
    assert read_class(question, intent, has_window=has_window, has_name=has_name) == expected


@pytest.mark.parametrize(
    "piece", ["what ", "what is the ", "how many days ", "a", "?", "tell me ", "everything ", "\n"]
)
def test_long_texts_are_read_quickly(piece: str) -> None:
    began = time.process_time()
    read_intent(piece * (32_768 // len(piece)))
    assert time.process_time() - began < 0.25
