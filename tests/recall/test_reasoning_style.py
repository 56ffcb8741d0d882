"""Which way of thinking suits a task: by its words, however they are inflected, and not by those it denies."""

from __future__ import annotations

import pytest

import weft
from weft.core.errors import Invalid
from weft.recall.reasoning_style import AnalysisRouted


def route(memory: weft.Memory, task: str) -> AnalysisRouted:
    answer = memory.call("analysis_route", task=task)
    assert isinstance(answer, AnalysisRouted)
    return answer


@pytest.mark.parametrize(
    ("task", "mode"),
    [
        ("Draw up a strategic view of the next year", "sequential"),
        ("A multi-factor analysis of our churn", "sequential"),
        ("Planning the move to the new data centre", "sequential"),
        ("What are the trade-offs of caching here?", "debate"),
        ("TRADEOFF between cost and speed", "debate"),
        ("Comparing Redis with Postgres for sessions", "debate"),
        ("Give me a comparison of both vendors", "debate"),
        ("They debated it last week; debate it again", "debate"),
        ("It is unclear what the customer wants", "socratic"),
        ("Gather the requirements for the export", "socratic"),
        ("Run a discovery of the billing domain", "socratic"),
        ("The goal is not clear to me", "socratic"),
        ("Fix the typo in the footer", "sequential"),
        ("Explain the compare-and-swap loop", "sequential"),
        ("Write about planets and airplanes", "sequential"),
        # Denied.
        ("No need to compare, just fix it", "sequential"),
        ("Don't debate this, the requirements are known", "socratic"),
        ("We have already compared them; write the migration plan", "sequential"),
        ("Without any trade-offs, plan the release", "sequential"),
        ("The requirements are not unclear, plan the work", "socratic"),
        ("Do not plan yet, but compare the two", "debate"),
        # Several.
        ("Compare the options and plan the rollout", "debate"),
        ("The requirements are unclear: compare what we could build and plan it", "socratic"),
    ],
)
def test_a_task_goes_by_its_words(memory: weft.Memory, task: str, mode: str) -> None:
    answer = route(memory, task)
    assert answer.mode == mode, answer.rationale
    assert len(answer.suggested_steps) >= 3


def test_the_reason_names_the_words_and_the_rule(memory: weft.Memory) -> None:
    answer = route(memory, "Compare the options and plan the rollout, but no discovery please")
    assert "'compare' suggests debate" in answer.rationale
    assert "'plan' would suggest sequential" in answer.rationale
    assert "debate before planning" in answer.rationale
    assert "'discovery' is negated" in answer.rationale
    assert "no word suggests" in route(memory, "Fix the typo").rationale
    assert [cue.denied for cue in answer.cues] == [False, False, True]


def test_each_mode_has_steps_of_its_own(memory: weft.Memory) -> None:
    steps = {route(memory, task).suggested_steps for task in ("plan it", "compare them", "it is unclear")}
    assert len(steps) == 3


def test_a_blank_task_is_refused(memory: weft.Memory) -> None:
    with pytest.raises(Invalid):
        route(memory, "   ")
