"""Requests for approval: asked, listed, decided, and given without a person."""

from __future__ import annotations

import pytest

import weft
from tests.access.approvals import SECOND, TEXT, ann, approved, asked, bob, boss, failed, kept
from tests.places import Place
from weft.access.approve import MAX_WAITING
from weft.append.approval import WAIT_US
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound
from weft.testing.clock import ManualClock

__all__ = ["ann", "bob", "boss"]  # fixtures


def events(memory: weft.Memory) -> int:
    return memory.ctx.store.head(memory.ctx.viewer).pos


# ---- batches


def test_one_token_covers_a_whole_batch(boss: weft.Memory, ann: weft.Memory) -> None:
    items = [
        {"description": f"The crane was oiled, time {n}.", "occurred_at": "2025", "level": "global"} for n in range(120)
    ]
    refused = ann.call("add_events", items=items)
    assert (refused.status, refused.written) == ("failed", 0)
    token = approved(boss, ann, "add_events", items=items)
    short = ann.call("add_events", items=items[:-1], governance_token=token)
    assert (short.status, short.written, len(short.items)) == ("failed", 0, 119)
    assert "different call" in short.items[0].error
    assert kept(boss) == []
    done = ann.call("add_events", items=items, governance_token=token)
    assert (done.status, done.written) == ("saved", 120), done.items[0]
    assert ann.call("add_events", items=items, governance_token=token).status == "failed"


def test_of_a_batch_without_a_token_the_project_s_items_are_written(ann: weft.Memory) -> None:
    items = [{"text": "The ramp is closed."}, {"text": TEXT, "level": "global"}]
    done = ann.call("remember_many", items=items)
    assert (done.status, done.written, done.failed) == ("partial", 1, (1,))
    assert "approval" in done.items[1].error
    assert "governance_token" in done.items[1].hint


# ---- requests


def test_requests_for_what_cannot_be_approved(ann: weft.Memory, boss: weft.Memory) -> None:
    for operation, arguments in (
        ("recall", {"query": "dates"}),
        ("approve", {"id": "approval:1"}),
        ("rebuild", {}),
        ("no_such_thing", {}),
        ("", {}),
        ("remember", {}),
        ("remember", {"text": TEXT, "level": "galaxy"}),
        ("remember", {"text": TEXT, "colour": "red"}),
        ("remember", {"text": TEXT, "props": {"a": "\ud800"}}),
    ):
        with pytest.raises(Invalid):
            ann.call("request_global_write_approval", operation=operation, arguments=arguments)
    assert events(boss) == 0


def test_the_command_s_name_does_too(ann: weft.Memory) -> None:
    request = asked(ann, "add-fact", subject="Mira", predicate="role", object="lead", level="global")
    assert request.operation == "add_fact"


def test_an_agent_has_a_bounded_number_of_requests(ann: weft.Memory, bob: weft.Memory, clock: ManualClock) -> None:
    for _ in range(MAX_WAITING):
        asked(ann)
    with pytest.raises(Conflict, match="waiting already"):
        asked(ann)
    asked(bob)
    clock.step(WAIT_US + SECOND)
    asked(ann)


def test_only_the_operator_decides_and_not_on_its_own(place: Place, ann: weft.Memory, boss: weft.Memory) -> None:
    request = asked(ann)
    for verdict in ("approve", "deny"):
        with pytest.raises(Forbidden, match="only the operator"):
            ann.call(verdict, id=request.id)
    own = asked(boss)
    assert "you are the operator" in " ".join(own.notes)
    with pytest.raises(Forbidden, match="its own request"):
        boss.call("approve", id=own.id)
    other = place.open(agent="chief", session="chief")
    assert other.call("approve", id=own.id).approval.status == "approved"


def test_deciding_on_what_is_not_there_or_is_no_request(boss: weft.Memory) -> None:
    memory = boss.remember("words")
    for name in ("approval:000000000000000000000000", "nothing", memory.id):
        with pytest.raises(NotFound):
            boss.call("approve", id=name)
        with pytest.raises(NotFound):
            boss.call("deny", id=name)
    with pytest.raises(Invalid, match="no request was named"):
        boss.call("approve")


def test_a_request_is_decided_once(ann: weft.Memory, boss: weft.Memory) -> None:
    request = asked(ann)
    boss.call("approve", id=request.id)
    for verdict in ("approve", "deny"):
        with pytest.raises(Conflict, match="no longer waiting: it is approved"):
            boss.call(verdict, id=request.id)


def test_agents_see_their_own_requests_only(ann: weft.Memory, bob: weft.Memory, boss: weft.Memory) -> None:
    mine, theirs = asked(ann), asked(bob)
    assert [each.id for each in ann.call("approval_list").approvals] == [mine.id]
    assert {each.id for each in boss.call("approval_list").approvals} == {mine.id, theirs.id}


def test_an_agent_that_sees_little_can_still_use_its_token(place: Place, boss: weft.Memory) -> None:
    narrow = place.open(role="agent", agent="narrow", session="narrow", scopes="shared")
    token = approved(boss, narrow)
    assert narrow.remember(TEXT, level="global", governance_token=token).status == "saved"


def test_a_sensitive_request_is_sealed_and_shown_to_who_has_the_key(place: Place) -> None:
    key = {"sensitive_key": place.open().call("key_new").key}
    boss = place.open(**key)
    ann = place.open(role="agent", agent="ann", session="ann", **key)
    given = {"text": "The safe opens with tulips.", "level": "global", "sensitive": True}
    request = asked(ann, "remember", **given)
    viewer = boss.ctx.operator("read the log")
    log = b"".join(event.payload or b"" for _, each in boss.ctx.store.log(viewer, after=0, limit=99) for event in each)
    assert b"tulips" not in log
    assert boss.call("approval_list").approvals[0].arguments == given
    blind = place.open().call("approval_list").approvals[0]
    assert (blind.sealed, blind.arguments) == (True, {})
    boss.call("approve", id=request.id)
    assert ann.call("remember", **given, governance_token=request.token).status == "saved"
    log = b"".join(event.payload or b"" for _, each in boss.ctx.store.log(viewer, after=0, limit=99) for event in each)
    assert b"tulips" not in log
    assert "tulips" not in str(boss.call("tool_calls", limit=50)), "nor do the records of calls tell it"


def test_what_is_redacted_is_redacted_in_both(ann: weft.Memory, boss: weft.Memory) -> None:
    words = "Deploy with AKIA" + "QYLPMN5HHHFPZAM2 as the key."
    token = approved(boss, ann, text=words, level="global")
    (listed,) = boss.call("approval_list", status="approved").approvals
    assert "AKIA" not in listed.arguments["text"]
    assert ann.remember(words, level="global", governance_token=token).status == "saved"


# ---- auto-approve


def test_auto_approve_is_told_and_recorded(place: Place, boss: weft.Memory) -> None:
    easy = place.open(role="agent", agent="ann", session="ann", auto_approve="true")
    request = asked(easy)
    assert request.status == "approved"
    assert "auto_approve" in request.notes[0]
    (listed,) = boss.call("approval_list", status="approved").approvals
    assert (listed.automatic, listed.decided_by) == (True, "auto_approve")
    failed(easy.remember(TEXT, level="global"), "needs the operator's approval")
    assert easy.remember(TEXT, level="global", governance_token=request.token).status == "saved"


def test_a_project_cannot_approve_for_everybody(place: Place) -> None:
    (place.root / "weft.toml").write_text("auto_approve = true\n")
    with pytest.raises(weft.Misconfigured, match="may not set auto_approve"):
        place.open()


# ---- what is told


def test_an_agent_is_told_to_ask_and_not_how_to_become_another(ann: weft.Memory) -> None:
    for operation, given in (("approve", {"id": "approval:1"}), ("erase", {"subject": "Mira"}), ("doctor", {})):
        with pytest.raises(Forbidden) as refused:
            ann.call(operation, **given)
        assert refused.value.hint == "ask the operator to do it"


def test_what_is_missing_or_empty_is_told_in_words(ann: weft.Memory) -> None:
    with pytest.raises(Invalid, match="request_global_write_approval: arguments is missing"):
        ann.call("request_global_write_approval", operation="remember")
    with pytest.raises(Invalid, match="add_fact: subject is empty"):
        ann.call("add_fact", subject="", predicate="lives_in", object="Oslo")
