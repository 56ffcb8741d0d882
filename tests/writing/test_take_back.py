"""`remember` says, corrects and takes back: one tool for what agents do every day."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from weft.core.errors import Invalid, NotFound


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[weft.Memory]:
    environment = {"HOME": str(tmp_path), "WEFT_PROJECT": "p"}
    with weft.open(f"sqlite://{tmp_path}/store", directory=tmp_path, environment=environment) as opened:
        yield opened


def found(memory: weft.Memory, question: str) -> list[str]:
    return [hit.node.text for hit in memory.recall(question).hits]


def test_a_correction_replaces_the_words_and_the_old_citation_says_so(memory: weft.Memory) -> None:
    wrong = memory.remember("The launch is on May 3.")
    right = memory.remember("The launch is on May 9.", corrects=wrong.citation)
    assert (right.status, right.id) == ("saved", wrong.id)
    assert found(memory, "when is the launch?") == ["The launch is on May 9."]
    (since,) = memory.cite(wrong.citation).since
    assert (since.how, since.text) == ("corrected", "The launch is on May 9.")


def test_what_is_taken_back_holds_at_no_time_and_stays_in_the_log(memory: weft.Memory) -> None:
    joke = memory.remember("The office cat is called Miso.")
    done = memory.remember("There is no cat, it was a joke.", takes_back=joke.id)
    assert (done.status, done.id) == ("saved", joke.id)
    assert found(memory, "what is the office cat called?") == []
    cited = memory.cite(joke.citation)
    assert cited.matches
    assert [each.how for each in cited.since] == ["withdrawn"]


def test_the_reason_for_taking_back_is_shown(memory: weft.Memory) -> None:
    joke = memory.remember("The office cat is called Miso.", corrects=memory.remember("The office cat is Moso.").id)
    done = memory.remember("There is no cat, it was a joke.", takes_back=joke.id)
    for citation in (joke.citation, done.citation):
        (since,) = memory.cite(citation).since
        assert (since.how, since.reason, since.citation) == (
            "withdrawn",
            "There is no cat, it was a joke.",
            done.citation,
        )
    assert memory.call("show", id=joke.id).reason == "There is no cat, it was a joke."


def test_what_was_withdrawn_without_a_reason_has_none(memory: weft.Memory) -> None:
    kept = memory.remember("The office cat is Miso.", corrects=memory.remember("The office cat is Moso.").id)
    memory.call("memory_invalidate", id=kept.id, at="0001-01-01")
    (since,) = memory.cite(kept.citation).since
    assert (since.how, since.reason) == ("withdrawn", "")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"corrects": "{id}", "takes_back": "{id}"}, "exclude each other"),
        ({"corrects": "{id}", "occurred_at": "2026-01-01"}, "own occurred_at"),
        ({"takes_back": "{id}", "kind": "Note"}, "own kind"),
        ({"corrects": "{id}", "props": {"a": 1}}, "own props"),
    ],
)
def test_what_a_correction_cannot_change_is_refused(memory: weft.Memory, given: dict[str, str], error: str) -> None:
    kept = memory.remember("The launch is on May 3.")
    sent = {name: kept.id if value == "{id}" else value for name, value in given.items()}
    with pytest.raises(Invalid, match=error):
        memory.remember("The launch is on May 9.", **sent)
    assert found(memory, "when is the launch?") == ["The launch is on May 3."]


def test_what_is_not_there_cannot_be_corrected(memory: weft.Memory) -> None:
    with pytest.raises(NotFound):
        memory.remember("The launch is on May 9.", corrects="nothing")


def test_a_batch_may_correct_too(memory: weft.Memory) -> None:
    wrong = memory.remember("The launch is on May 3.")
    items = [{"text": "The launch is on May 9.", "corrects": wrong.id}, {"text": "The venue is the old mill."}]
    assert memory.call("remember_many", items=items).written == 2
    assert found(memory, "when is the launch?") == ["The launch is on May 9."]
