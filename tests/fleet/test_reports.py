"""Reports, alerts, digests and counts, as an agent and its operator meet them."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import weft
from tests.places import Place
from weft.core.errors import Conflict, Invalid, NotFound
from weft.testing.clock import ManualClock

MINUTE_US, HOUR_US = 60_000_000, 3_600_000_000


def briefing(memory: weft.Memory, body: str = "Two ferries late, one crew short.", **more: Any) -> Any:
    given = {"title": "Daily briefing", "keywords": ["daily-briefing", "ferries"], "source_workflow": "daily-briefing"}
    return memory.call("report_write", body=body, **given | more)


# ---- reports


def test_the_latest_report_of_a_topic_is_read_whole(memory: weft.Memory, clock: ManualClock) -> None:
    briefing(memory, "Monday: quiet.")
    clock.step(2 * MINUTE_US)
    newest = briefing(memory, "Tuesday: fog until ten.")
    clock.step(2 * MINUTE_US)
    memory.call("report_write", title="Fuel", body="Half full.", keywords=["fuel"])

    found = memory.call("report_read_latest", keyword="Daily-Briefing")

    assert [(report.id, report.text) for report in found.reports] == [(newest.id, "Tuesday: fog until ten.")]
    assert memory.cite(found.reports[0].citation).matches


def test_the_latest_is_the_one_of_the_latest_moment_not_the_one_written_last(memory: weft.Memory) -> None:
    briefing(memory, "of May", occurred_at="2025-05-02")
    briefing(memory, "of April", occurred_at="2025-04-02")
    assert memory.call("report_read_latest", keyword="ferries").reports[0].text == "of May"


def test_a_title_and_a_minute_make_one_report(memory: weft.Memory, clock: ManualClock) -> None:
    first = briefing(memory, occurred_at="2025-05-02T06:00:01Z")
    again = briefing(memory, "other words", occurred_at="2025-05-02T06:00:59Z")
    later = briefing(memory, occurred_at="2025-05-02T06:01:00Z")

    assert (first.status, again.status, later.status) == ("saved", "duplicate_skip", "saved")
    assert (again.id, again.citation) == (first.id, first.citation)
    assert "nothing was written" in again.notes[0]
    assert later.id != first.id
    assert memory.call("report_list").total == 2


def test_a_report_that_the_writer_may_not_see_neither_answers_nor_stands_in_the_way(place: Place) -> None:
    operator = place.open()
    agent = place.open(agent="visitor", role="agent", scopes="public", audience="public")
    hidden = briefing(operator)
    own = briefing(agent)
    assert own.status == "saved"
    assert own.id != hidden.id
    assert agent.call("report_list").total == 1


def test_a_retried_request_is_the_report_it_made_even_minutes_later(memory: weft.Memory, clock: ManualClock) -> None:
    first = briefing(memory, request_id="night-1")
    clock.step(10 * MINUTE_US)
    again = briefing(memory, request_id="night-1")
    assert (again.status, again.id) == ("duplicate_skip", first.id)
    with pytest.raises(Conflict):
        memory.call("report_write", title="Something else", body="x", request_id="night-1")


def test_writers_at_once_make_one_report(place: Place) -> None:
    memories = [place.open(agent=f"writer-{number}") for number in range(4)]
    told: list[Any] = []
    threads = [threading.Thread(target=lambda each=each: told.append(briefing(each))) for each in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status for answer in told) == ["duplicate_skip"] * 3 + ["saved"]
    assert len({answer.id for answer in told}) == 1


def test_the_list_tells_what_reports_are_without_their_bodies(memory: weft.Memory, clock: ManualClock) -> None:
    for number in range(5):
        briefing(memory, f"body {number}", title=f"Briefing {number}")
        clock.step(MINUTE_US)
    memory.call("report_write", title="Fuel", body="Half full.", source_workflow="tanks")

    page = memory.call("report_list", keyword="ferries", limit=2, offset=1)
    by_workflow = memory.call("report_list", source_workflow="tanks")

    assert [line.title for line in page.reports] == ["Briefing 3", "Briefing 2"]
    assert (page.total, page.next_offset) == (5, 3)
    assert not hasattr(page.reports[0], "text")
    assert page.reports[0].characters == len("body 3")
    assert [line.title for line in by_workflow.reports] == ["Fuel"]
    assert memory.call("report_list", offset=50).reports == ()


def test_an_unknown_topic_names_those_there_are(memory: weft.Memory) -> None:
    assert "there are no reports" in memory.call("report_read_latest", keyword="fog").notes[0]
    briefing(memory)
    found = memory.call("report_read_latest", keyword="fog")
    assert found.reports == ()
    assert "daily-briefing, ferries" in found.notes[0]


@pytest.mark.parametrize(
    "given",
    [
        {"title": "T", "body": "x" * 10_001},
        {"title": "", "body": "x"},
        {"title": " ", "body": "x"},
        {"title": "T", "body": " \n"},
        {"title": "T", "body": "a\x00b"},
        {"title": "T", "body": "x", "occurred_at": "the other day"},
        {"title": "T", "body": "x", "source_workflow": "two words"},
    ],
)
def test_what_is_no_report_is_refused_and_nothing_is_written(memory: weft.Memory, given: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        memory.call("report_write", **given)
    assert memory.call("report_list").total == 0


def test_a_report_is_found_by_its_words_too(memory: weft.Memory) -> None:
    briefing(memory, "The harbour crane was repaired overnight.")
    assert "crane" in memory.recall("what happened to the crane?").hits[0].node.text


# ---- alerts


def test_an_alert_is_active_for_a_day_or_until_it_is_suppressed(memory: weft.Memory, clock: ManualClock) -> None:
    fog = memory.call("alert_raise", message="Fog on the sound.", severity="critical")
    tide = memory.call("alert_raise", message="Spring tide tonight.")
    listed = memory.call("alert_list")
    assert {alert.id: alert.props["severity"] for alert in listed.alerts} == {fog.id: "critical", tide.id: "warning"}

    assert memory.call("alert_suppress", id=tide.id, reason="seen").status == "saved"
    assert [alert.id for alert in memory.call("alert_list").alerts] == [fog.id]
    assert memory.call("alert_suppress", id=tide.id).status == "duplicate_skip"

    clock.step(25 * HOUR_US)
    assert memory.call("alert_list").alerts == ()
    every = memory.call("alert_list", every=True).alerts
    assert {alert.id for alert in every} == {fog.id, tide.id}
    assert {alert.props.get("suppressed_because") for alert in every} == {None, "seen"}


def test_an_alert_that_is_active_is_not_raised_again(memory: weft.Memory, clock: ManualClock) -> None:
    first = memory.call("alert_raise", message="Fog on the sound.")
    again = memory.call("alert_raise", message="Fog on the sound. ")
    assert (again.status, again.id) == ("duplicate_skip", first.id)
    memory.call("alert_suppress", id=first.id)
    anew = memory.call("alert_raise", message="Fog on the sound.")
    assert anew.status == "saved"
    assert anew.id != first.id


def test_what_is_no_alert_cannot_be_suppressed(memory: weft.Memory) -> None:
    kept = memory.remember("The crane is painted yellow.")
    with pytest.raises(Invalid, match="not an alert"):
        memory.call("alert_suppress", id=kept.id)
    with pytest.raises(NotFound):
        memory.call("alert_suppress", id="0198c0de-0000-7000-8000-000000000000")


# ---- digests


def test_a_digest_says_what_time_it_covers(memory: weft.Memory) -> None:
    told = memory.call(
        "digest_write",
        title="Public chats",
        body="Three asked for timetables.",
        covers_from="2025-05-01",
        covers_to="2025-05-02",
    )
    node = memory.show(told.id).node
    assert node is not None
    assert (node.kind, node.props["covers_from"][:10], node.props["covers_to"][:10]) == (
        "Digest",
        "2025-05-01",
        "2025-05-02",
    )
    again = memory.call("digest_write", title="Public chats", body="Three asked for timetables.")
    assert (again.status, again.id) == ("duplicate_skip", told.id)
    with pytest.raises(Invalid):
        memory.call("digest_write", body="x", covers_from="2025-05-02", covers_to="2025-05-01")


# ---- counts


def test_statistics_count_by_view_what_the_asker_may_see(place: Place) -> None:
    operator = place.open()
    agent = place.open(agent="visitor", role="agent", scopes="public", audience="public")
    operator.add_entity("Odile Fenn", kind="Person")
    operator.add_fact("Odile Fenn", "lives_in", "Harwick", valid_from="2020")
    operator.remember("Odile Fenn lives in Brightmoor.")
    operator.call("alert_raise", message="Fog.")

    told = operator.call("get_statistics")

    assert told.kinds["Person"] == 1
    assert told.kinds["Fact"] == 1
    assert told.views["entity"] >= 1
    assert told.active_alerts == 1
    assert told.open_proposals == 1, "what was remembered contradicts the fact"
    assert agent.call("get_statistics").nodes == 0
    assert agent.call("get_statistics").active_alerts == 0
