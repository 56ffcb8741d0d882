"""Writes for all projects: who may make them, with which token, once."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

import weft
from tests.access.approvals import SECOND, TEXT, ann, approved, asked, bob, boss, failed, kept
from tests.places import Place
from weft.append.approval import TOKEN_CHARACTERS, USE_US, WAIT_US
from weft.core.errors import Conflict, Forbidden, Invalid
from weft.log.verify import verify
from weft.testing.clock import ManualClock

__all__ = ["ann", "bob", "boss"]  # fixtures


# ---- the way it is meant


def test_an_agent_asks_the_operator_approves_the_agent_writes_once(boss: weft.Memory, ann: weft.Memory) -> None:
    failed(ann.remember(TEXT, level="global"), "needs the operator's approval")
    request = asked(ann)
    assert (request.status, request.operation, request.agent, request.role) == ("waiting", "remember", "ann", "agent")
    assert len(request.token) == TOKEN_CHARACTERS == 32
    (listed,) = boss.call("approval_list").approvals
    assert (listed.id, listed.arguments) == (request.id, {"text": TEXT, "level": "global"})
    decision = boss.call("approve", id=request.id).approval
    assert (decision.status, decision.decided_by, decision.automatic) == ("approved", "operator", False)
    done = ann.remember(TEXT, level="global", governance_token=request.token)
    assert done.status == "saved"
    assert kept(boss) == [TEXT]
    failed(ann.remember(TEXT, level="global", governance_token=request.token), "already used")
    (listed,) = ann.call("approval_list", status="used").approvals
    assert listed.id == request.id


def test_the_operator_writes_for_all_without_asking(boss: weft.Memory) -> None:
    assert boss.remember(TEXT, level="global").status == "saved"


def test_who_does_not_hold_every_scope_is_not_the_operator(place: Place) -> None:
    narrow = place.open(scopes="shared")
    failed(narrow.remember(TEXT, level="global"), "needs the operator's approval")


def test_what_is_for_the_project_needs_no_approval(ann: weft.Memory) -> None:
    assert ann.remember(TEXT).status == "saved"
    assert ann.add_fact("Mira", "lives_in", "Oslo").status == "saved"
    assert ann.add_entity("Harbour Control", kind="Service", description="Guides ships.").status == "saved"
    assert ann.add_entity("Harbour Control", kind="Service", aliases=["HC"]).status == "saved"
    assert ann.link_entities("Mira", "WORKS_AT", "Harbour Control").status == "saved"


def test_the_use_is_in_the_same_commit_as_the_write(boss: weft.Memory, ann: weft.Memory) -> None:
    token = approved(boss, ann)
    ann.remember(TEXT, level="global", governance_token=token)
    viewer = boss.ctx.operator("read the log")
    *_, (_, last) = boss.ctx.store.log(viewer, after=0, limit=1000)
    payloads = [event.payload.decode() for event in last if event.payload is not None]
    assert TEXT in payloads[0]
    assert '"status":"used"' in payloads[-1]
    assert verify(boss.ctx.store, viewer).problem is None


def test_the_log_never_holds_the_token(boss: weft.Memory, ann: weft.Memory) -> None:
    token = approved(boss, ann)
    ann.remember(TEXT, level="global", governance_token=token)
    log = b"".join(
        event.payload or b""
        for _, each in boss.ctx.store.log(boss.ctx.operator("read the log"), after=0, limit=1000)
        for event in each
    )
    assert b"Approval" in log
    assert token.encode() not in log


def test_it_survives_a_restart(place: Place, ann: weft.Memory, boss: weft.Memory) -> None:
    request = asked(ann)
    ann.close()
    boss.close()
    later = place.open()
    later.call("approve", id=request.id)
    again = place.open(role="agent", agent="ann", session="ann-2")
    assert again.remember(TEXT, level="global", governance_token=request.token).status == "saved"


def test_approvals_are_never_found_among_memories(boss: weft.Memory, ann: weft.Memory) -> None:
    asked(ann)
    assert not boss.recall("dates year month day").hits
    assert not [node for node in boss.recent().nodes if node.kind == "Approval"]
    shown = boss.call("log_show").events
    assert "Approval" in json.dumps(msgspec.to_builtins(shown[-1].payload))


def test_the_level_is_implied_and_shown(boss: weft.Memory, ann: weft.Memory) -> None:
    for number, more in enumerate(({}, {"level": "global"})):
        text = f"{TEXT} {number}"
        request = ann.call("request_global_write_approval", operation="remember", arguments={"text": text})
        assert any("level=global is implied" in note for note in request.notes)
        (shown,) = boss.call("approval_list").approvals
        assert shown.arguments == {"text": text, "level": "global"}
        boss.call("approve", id=request.id)
        assert ann.remember(text, governance_token=request.token, **more).status == "saved"
    assert kept(boss) == [f"{TEXT} 0", f"{TEXT} 1"]


def test_the_level_is_implied_for_every_item(boss: weft.Memory, ann: weft.Memory) -> None:
    items = [{"text": f"{TEXT} {number}"} for number in range(2)]
    token = approved(boss, ann, "remember_many", items=items)
    assert ann.call("remember_many", items=items, governance_token=token).status == "saved"
    assert kept(boss) == [f"{TEXT} 0", f"{TEXT} 1"]


def test_a_level_that_is_given_stands(boss: weft.Memory, ann: weft.Memory) -> None:
    token = approved(boss, ann, text=TEXT, level="project")
    assert ann.remember(TEXT, governance_token=token).status == "saved"
    assert kept(boss) == []


# ---- tokens that do not do


def test_a_made_up_token_does_nothing(ann: weft.Memory, boss: weft.Memory) -> None:
    for token in ("0" * 32, "x", "approval:0", "ünicode"):
        failed(ann.remember(TEXT, level="global", governance_token=token), "is not known")
    assert kept(boss) == []


def test_the_id_of_a_request_is_no_token(ann: weft.Memory, boss: weft.Memory) -> None:
    request = asked(ann)
    boss.call("approve", id=request.id)
    for word in (request.id, request.content_hash):
        failed(ann.remember(TEXT, level="global", governance_token=word), "is not known")


def test_an_unapproved_and_a_denied_token(ann: weft.Memory, boss: weft.Memory) -> None:
    request = asked(ann)
    failed(ann.remember(TEXT, level="global", governance_token=request.token), "is not approved yet")
    denied = boss.call("deny", id=request.id, reason="one project's matter").approval
    assert (denied.status, denied.reason) == ("denied", "one project's matter")
    failed(ann.remember(TEXT, level="global", governance_token=request.token), "was denied")
    with pytest.raises(Conflict, match="denied"):
        boss.call("approve", id=request.id)


@pytest.mark.parametrize(("waited_us", "good"), [(USE_US, True), (USE_US + SECOND, False)])
def test_a_token_lasts_a_minute_from_its_approval(
    ann: weft.Memory, boss: weft.Memory, clock: ManualClock, waited_us: int, good: bool
) -> None:
    request = asked(ann)
    clock.step(WAIT_US - SECOND)
    boss.call("approve", id=request.id)
    clock.step(waited_us)
    answer = ann.remember(TEXT, level="global", governance_token=request.token)
    if good:
        assert answer.status == "saved"
    else:
        failed(answer, "expired")
        (listed,) = ann.call("approval_list", status="expired").approvals
        assert listed.id == request.id


def test_a_request_waits_a_day(ann: weft.Memory, boss: weft.Memory, clock: ManualClock) -> None:
    request = asked(ann)
    clock.step(WAIT_US + SECOND)
    assert boss.call("approval_list").approvals == ()
    with pytest.raises(Conflict, match="expired"):
        boss.call("approve", id=request.id)
    failed(ann.remember(TEXT, level="global", governance_token=request.token), "not approved within a day")


def test_a_token_is_the_requesters_own(boss: weft.Memory, ann: weft.Memory, bob: weft.Memory) -> None:
    token = approved(boss, ann)
    failed(bob.remember(TEXT, level="global", governance_token=token), "belongs to another agent")
    assert ann.remember(TEXT, level="global", governance_token=token).status == "saved"


@pytest.mark.parametrize(
    "other",
    [
        {"text": TEXT + "!"},
        {"text": TEXT, "sensitive": True},
        {"text": TEXT, "scope": "shared"},
        {"text": TEXT, "props": {"colour": "red"}},
        {"text": TEXT, "expires_at": "2030"},
    ],
)
def test_a_token_is_bound_to_every_argument(boss: weft.Memory, ann: weft.Memory, other: dict[str, Any]) -> None:
    token = approved(boss, ann)
    failed(ann.remember(**{"level": "global", "governance_token": token, **other}), "different call")
    assert kept(boss) == []
    assert ann.remember(TEXT, level="global", governance_token=token).status == "saved", "a bad try spends nothing"


def test_a_token_is_bound_to_the_operation(boss: weft.Memory, ann: weft.Memory) -> None:
    token = approved(boss, ann, "save_context", title="Dates", body=TEXT, level="global")
    answer = ann.call("save_pattern", title="Dates", description=TEXT, level="global", governance_token=token)
    failed(answer, "different call than this save_pattern")


def test_arguments_left_at_their_default_are_the_same(boss: weft.Memory, ann: weft.Memory) -> None:
    token = approved(boss, ann, text=TEXT, level="global", kind="Memory", sensitive=False)
    assert ann.remember(TEXT, level="global", governance_token=token, request_id="r1").status == "saved"


def test_a_write_that_comes_to_nothing_spends_nothing(boss: weft.Memory, ann: weft.Memory) -> None:
    same = {"title": "Use metric units", "rationale": "so do others", "level": "global"}
    boss.call("save_decision", **same)
    token = approved(boss, ann, "save_decision", **same)
    assert ann.call("save_decision", **same, governance_token=token).status == "duplicate_skip"
    assert ann.call("approval_list", status="approved").approvals != ()


def test_a_write_that_is_refused_spends_nothing(boss: weft.Memory, ann: weft.Memory) -> None:
    wrong = {"text": TEXT, "level": "global", "valid_from": "2030", "valid_to": "2020"}
    token = approved(boss, ann, **wrong)
    with pytest.raises(Invalid):
        ann.call("remember", **wrong, governance_token=token)
    assert ann.call("approval_list", status="approved").approvals != ()


def test_the_same_request_again_is_told_what_it_wrote(boss: weft.Memory, ann: weft.Memory) -> None:
    token = approved(boss, ann)
    first = ann.remember(TEXT, level="global", governance_token=token, request_id="r1")
    again = ann.remember(TEXT, level="global", governance_token=token, request_id="r1")
    assert (first.status, again.status, again.id) == ("saved", "duplicate_skip", first.id)
    failed(ann.remember(TEXT, level="global", governance_token=token, request_id="r2"), "already used")
    assert kept(boss) == [TEXT]


def test_a_token_without_need_is_not_asked_after_by_the_operator(boss: weft.Memory, ann: weft.Memory) -> None:
    token = approved(boss, ann)
    assert boss.remember(TEXT, level="global", governance_token=token).status == "saved"
    assert ann.remember(TEXT, level="global", governance_token=token).status == "saved", "it is still ann's"


def test_a_public_agent_cannot_even_with_a_token(place: Place, boss: weft.Memory) -> None:
    guest = place.open(role="agent", agent="guest", session="guest", audience="public", scopes="public")
    token = approved(boss, guest)
    with pytest.raises(Forbidden, match="public agent"):
        guest.remember(TEXT, level="global", governance_token=token)
