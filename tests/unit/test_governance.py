"""Writes for all projects: who may make them, with which token, once."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

import weft
from weft.errors import Conflict, Forbidden, Invalid, NotFound
from weft.governing import TOKEN_CHARACTERS, USE_US, WAIT_US
from weft.log.verify import verify
from weft.operations import OPERATIONS
from weft.operations.approving import MAX_WAITING
from weft.testing.clock import ManualClock
from weft.types import NOW, Find

from .conftest import Place

TEXT = "All dates are written as year, month, day."
SECOND = 1_000_000


def run(memory: weft.Memory, operation: str, /, **given: Any) -> Any:
    return memory.run(next(each for each in OPERATIONS if each.name == operation), given)


@pytest.fixture
def boss(place: Place) -> weft.Memory:
    return place.open()


@pytest.fixture
def ann(place: Place) -> weft.Memory:
    return place.open(role="agent", agent="ann", session="ann")


@pytest.fixture
def bob(place: Place) -> weft.Memory:
    return place.open(role="agent", agent="bob", session="bob")


def asked(memory: weft.Memory, operation: str = "remember", /, **arguments: Any) -> Any:
    arguments = arguments or {"text": TEXT, "level": "global"}
    return run(memory, "request_global_write_approval", operation=operation, arguments=arguments)


def approved(boss: weft.Memory, memory: weft.Memory, operation: str = "remember", /, **arguments: Any) -> str:
    """A token that may be used."""
    request = asked(memory, operation, **arguments)
    run(boss, "approve", id=request.id)
    token: str = request.token
    return token


def kept(memory: weft.Memory) -> list[str]:
    """The texts that are kept for all projects."""
    found = memory.loom.store.find(memory.loom.viewer, NOW, Find(projects=(None,)), limit=100).nodes
    return sorted(node.text for node in found if node.text)


def events(memory: weft.Memory) -> int:
    return memory.loom.store.head(memory.loom.viewer).pos


def failed(answer: Any, reason: str) -> None:
    assert answer.status == "failed", answer
    assert answer.id == ""
    assert answer.citation == ""
    assert reason in answer.notes[0], answer.notes


# ---- the way it is meant


def test_an_agent_asks_the_operator_approves_the_agent_writes_once(boss: weft.Memory, ann: weft.Memory) -> None:
    failed(ann.remember(TEXT, level="global"), "needs the operator's approval")
    request = asked(ann)
    assert (request.status, request.operation, request.agent, request.role) == ("waiting", "remember", "ann", "agent")
    assert len(request.token) == TOKEN_CHARACTERS == 32
    (listed,) = run(boss, "approval_list").approvals
    assert (listed.id, listed.arguments) == (request.id, {"text": TEXT, "level": "global"})
    decision = run(boss, "approve", id=request.id).approval
    assert (decision.status, decision.decided_by, decision.automatic) == ("approved", "operator", False)
    done = ann.remember(TEXT, level="global", governance_token=request.token)
    assert done.status == "saved"
    assert kept(boss) == [TEXT]
    failed(ann.remember(TEXT, level="global", governance_token=request.token), "used already")
    (listed,) = run(ann, "approval_list", status="used").approvals
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
    viewer = boss.loom.operator("read the log")
    *_, (_, last) = boss.loom.store.log(viewer, after=0, limit=1000)
    payloads = [event.payload.decode() for event in last if event.payload is not None]
    assert TEXT in payloads[0]
    assert '"status":"used"' in payloads[-1]
    assert verify(boss.loom.store, viewer).problem is None


def test_the_log_never_holds_the_token(boss: weft.Memory, ann: weft.Memory) -> None:
    token = approved(boss, ann)
    ann.remember(TEXT, level="global", governance_token=token)
    log = b"".join(
        event.payload or b""
        for _, each in boss.loom.store.log(boss.loom.operator("read the log"), after=0, limit=1000)
        for event in each
    )
    assert b"Approval" in log
    assert token.encode() not in log


def test_it_survives_a_restart(place: Place, ann: weft.Memory, boss: weft.Memory) -> None:
    request = asked(ann)
    ann.close()
    boss.close()
    later = place.open()
    run(later, "approve", id=request.id)
    again = place.open(role="agent", agent="ann", session="ann-2")
    assert again.remember(TEXT, level="global", governance_token=request.token).status == "saved"


def test_approvals_are_never_found_among_memories(boss: weft.Memory, ann: weft.Memory) -> None:
    asked(ann)
    assert not boss.recall("dates year month day").hits
    assert not [node for node in boss.recent().nodes if node.kind == "Approval"]
    shown = run(boss, "log_show").events
    assert "Approval" in json.dumps(msgspec.to_builtins(shown[-1].payload))


def test_the_level_is_implied_and_shown(boss: weft.Memory, ann: weft.Memory) -> None:
    for number, more in enumerate(({}, {"level": "global"})):
        text = f"{TEXT} {number}"
        request = run(ann, "request_global_write_approval", operation="remember", arguments={"text": text})
        assert any("level=global is implied" in note for note in request.notes)
        (shown,) = run(boss, "approval_list").approvals
        assert shown.arguments == {"text": text, "level": "global"}
        run(boss, "approve", id=request.id)
        assert ann.remember(text, governance_token=request.token, **more).status == "saved"
    assert kept(boss) == [f"{TEXT} 0", f"{TEXT} 1"]


def test_the_level_is_implied_for_every_item(boss: weft.Memory, ann: weft.Memory) -> None:
    items = [{"text": f"{TEXT} {number}"} for number in range(2)]
    token = approved(boss, ann, "remember_many", items=items)
    assert run(ann, "remember_many", items=items, governance_token=token).status == "saved"
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
    run(boss, "approve", id=request.id)
    for word in (request.id, request.content_hash):
        failed(ann.remember(TEXT, level="global", governance_token=word), "is not known")


def test_an_unapproved_and_a_denied_token(ann: weft.Memory, boss: weft.Memory) -> None:
    request = asked(ann)
    failed(ann.remember(TEXT, level="global", governance_token=request.token), "is not approved yet")
    denied = run(boss, "deny", id=request.id, reason="one project's matter").approval
    assert (denied.status, denied.reason) == ("denied", "one project's matter")
    failed(ann.remember(TEXT, level="global", governance_token=request.token), "was denied")
    with pytest.raises(Conflict, match="denied"):
        run(boss, "approve", id=request.id)


@pytest.mark.parametrize(("waited_us", "good"), [(USE_US, True), (USE_US + SECOND, False)])
def test_a_token_lasts_a_minute_from_its_approval(
    ann: weft.Memory, boss: weft.Memory, clock: ManualClock, waited_us: int, good: bool
) -> None:
    request = asked(ann)
    clock.step(WAIT_US - SECOND)
    run(boss, "approve", id=request.id)
    clock.step(waited_us)
    answer = ann.remember(TEXT, level="global", governance_token=request.token)
    if good:
        assert answer.status == "saved"
    else:
        failed(answer, "expired")
        (listed,) = run(ann, "approval_list", status="expired").approvals
        assert listed.id == request.id


def test_a_request_waits_a_day(ann: weft.Memory, boss: weft.Memory, clock: ManualClock) -> None:
    request = asked(ann)
    clock.step(WAIT_US + SECOND)
    assert run(boss, "approval_list").approvals == ()
    with pytest.raises(Conflict, match="expired"):
        run(boss, "approve", id=request.id)
    failed(ann.remember(TEXT, level="global", governance_token=request.token), "not approved within a day")


def test_a_token_is_the_requesters_own(boss: weft.Memory, ann: weft.Memory, bob: weft.Memory) -> None:
    token = approved(boss, ann)
    failed(bob.remember(TEXT, level="global", governance_token=token), "given to another")
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
    failed(ann.remember(**{"level": "global", "governance_token": token, **other}), "another write")
    assert kept(boss) == []
    assert ann.remember(TEXT, level="global", governance_token=token).status == "saved", "a bad try spends nothing"


def test_a_token_is_bound_to_the_operation(boss: weft.Memory, ann: weft.Memory) -> None:
    token = approved(boss, ann, "save_context", title="Dates", body=TEXT, level="global")
    answer = run(ann, "save_pattern", title="Dates", description=TEXT, level="global", governance_token=token)
    failed(answer, "another write than this save_pattern")


def test_arguments_left_at_their_default_are_the_same(boss: weft.Memory, ann: weft.Memory) -> None:
    token = approved(boss, ann, text=TEXT, level="global", kind="Memory", sensitive=False)
    assert ann.remember(TEXT, level="global", governance_token=token, request_id="r1").status == "saved"


def test_a_write_that_comes_to_nothing_spends_nothing(boss: weft.Memory, ann: weft.Memory) -> None:
    same = {"title": "Use metric units", "rationale": "so do others", "level": "global"}
    run(boss, "save_decision", **same)
    token = approved(boss, ann, "save_decision", **same)
    assert run(ann, "save_decision", **same, governance_token=token).status == "duplicate_skip"
    assert run(ann, "approval_list", status="approved").approvals != ()


def test_a_write_that_is_refused_spends_nothing(boss: weft.Memory, ann: weft.Memory) -> None:
    wrong = {"text": TEXT, "level": "global", "valid_from": "2030", "valid_to": "2020"}
    token = approved(boss, ann, **wrong)
    with pytest.raises(Invalid):
        run(ann, "remember", **wrong, governance_token=token)
    assert run(ann, "approval_list", status="approved").approvals != ()


def test_the_same_request_again_is_told_what_it_wrote(boss: weft.Memory, ann: weft.Memory) -> None:
    token = approved(boss, ann)
    first = ann.remember(TEXT, level="global", governance_token=token, request_id="r1")
    again = ann.remember(TEXT, level="global", governance_token=token, request_id="r1")
    assert (first.status, again.status, again.id) == ("saved", "duplicate_skip", first.id)
    failed(ann.remember(TEXT, level="global", governance_token=token, request_id="r2"), "used already")
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


# ---- batches


def test_one_token_covers_a_whole_batch(boss: weft.Memory, ann: weft.Memory) -> None:
    items = [
        {"description": f"The crane was oiled, time {n}.", "occurred_at": "2025", "level": "global"} for n in range(120)
    ]
    refused = run(ann, "add_events", items=items)
    assert (refused.status, refused.written) == ("failed", 0)
    token = approved(boss, ann, "add_events", items=items)
    short = run(ann, "add_events", items=items[:-1], governance_token=token)
    assert (short.status, short.written, len(short.items)) == ("failed", 0, 119)
    assert "another write" in short.items[0].error
    assert kept(boss) == []
    done = run(ann, "add_events", items=items, governance_token=token)
    assert (done.status, done.written) == ("saved", 120), done.items[0]
    assert run(ann, "add_events", items=items, governance_token=token).status == "failed"


def test_of_a_batch_without_a_token_the_project_s_items_are_written(ann: weft.Memory) -> None:
    items = [{"text": "The ramp is closed."}, {"text": TEXT, "level": "global"}]
    done = run(ann, "remember_many", items=items)
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
            run(ann, "request_global_write_approval", operation=operation, arguments=arguments)
    assert events(boss) == 0


def test_the_command_s_name_does_too(ann: weft.Memory) -> None:
    request = asked(ann, "add-fact", subject="Mira", predicate="role", object="lead", level="global")
    assert request.operation == "add_fact"


def test_an_agent_has_a_bounded_number_of_requests(ann: weft.Memory, bob: weft.Memory, clock: ManualClock) -> None:
    for _ in range(MAX_WAITING):
        asked(ann)
    with pytest.raises(Conflict, match="wait already"):
        asked(ann)
    asked(bob)
    clock.step(WAIT_US + SECOND)
    asked(ann)


def test_only_the_operator_decides_and_not_on_its_own(place: Place, ann: weft.Memory, boss: weft.Memory) -> None:
    request = asked(ann)
    for verdict in ("approve", "deny"):
        with pytest.raises(Forbidden, match="only the operator"):
            run(ann, verdict, id=request.id)
    own = asked(boss)
    assert "you are the operator" in " ".join(own.notes)
    with pytest.raises(Forbidden, match="itself"):
        run(boss, "approve", id=own.id)
    other = place.open(agent="chief", session="chief")
    assert run(other, "approve", id=own.id).approval.status == "approved"


def test_deciding_on_what_is_not_there_or_is_no_request(boss: weft.Memory) -> None:
    memory = boss.remember("words")
    for name in ("approval:000000000000000000000000", "nothing", memory.id):
        with pytest.raises(NotFound):
            run(boss, "approve", id=name)
        with pytest.raises(NotFound):
            run(boss, "deny", id=name)
    with pytest.raises(Invalid, match="which request"):
        run(boss, "approve")


def test_a_request_is_decided_once(ann: weft.Memory, boss: weft.Memory) -> None:
    request = asked(ann)
    run(boss, "approve", id=request.id)
    for verdict in ("approve", "deny"):
        with pytest.raises(Conflict, match="does not wait any more: it is approved"):
            run(boss, verdict, id=request.id)


def test_agents_see_their_own_requests_only(ann: weft.Memory, bob: weft.Memory, boss: weft.Memory) -> None:
    mine, theirs = asked(ann), asked(bob)
    assert [each.id for each in run(ann, "approval_list").approvals] == [mine.id]
    assert {each.id for each in run(boss, "approval_list").approvals} == {mine.id, theirs.id}


def test_an_agent_that_sees_little_can_still_use_its_token(place: Place, boss: weft.Memory) -> None:
    narrow = place.open(role="agent", agent="narrow", session="narrow", scopes="shared")
    token = approved(boss, narrow)
    assert narrow.remember(TEXT, level="global", governance_token=token).status == "saved"


def test_a_sensitive_request_is_sealed_and_shown_to_who_has_the_key(place: Place) -> None:
    key = {"sensitive_key": run(place.open(), "key_new").key}
    boss = place.open(**key)
    ann = place.open(role="agent", agent="ann", session="ann", **key)
    given = {"text": "The safe opens with tulips.", "level": "global", "sensitive": True}
    request = asked(ann, "remember", **given)
    viewer = boss.loom.operator("read the log")
    log = b"".join(event.payload or b"" for _, each in boss.loom.store.log(viewer, after=0, limit=99) for event in each)
    assert b"tulips" not in log
    assert run(boss, "approval_list").approvals[0].arguments == given
    blind = run(place.open(), "approval_list").approvals[0]
    assert (blind.sealed, blind.arguments) == (True, {})
    run(boss, "approve", id=request.id)
    assert run(ann, "remember", **given, governance_token=request.token).status == "saved"
    log = b"".join(event.payload or b"" for _, each in boss.loom.store.log(viewer, after=0, limit=99) for event in each)
    assert b"tulips" not in log
    assert "tulips" not in str(run(boss, "tool_calls", limit=50)), "nor do the records of calls tell it"


def test_what_is_redacted_is_redacted_in_both(ann: weft.Memory, boss: weft.Memory) -> None:
    words = "Deploy with AKIA" + "QYLPMN5HHHFPZAM2 as the key."
    token = approved(boss, ann, text=words, level="global")
    (listed,) = run(boss, "approval_list", status="approved").approvals
    assert "AKIA" not in listed.arguments["text"]
    assert ann.remember(words, level="global", governance_token=token).status == "saved"


# ---- auto-approve


def test_auto_approve_is_told_and_recorded(place: Place, boss: weft.Memory) -> None:
    easy = place.open(role="agent", agent="ann", session="ann", auto_approve="true")
    request = asked(easy)
    assert request.status == "approved"
    assert "auto_approve" in request.notes[0]
    (listed,) = run(boss, "approval_list", status="approved").approvals
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
            run(ann, operation, **given)
        assert refused.value.hint == "ask the operator to do it"


def test_what_is_missing_or_empty_is_told_in_words(ann: weft.Memory) -> None:
    with pytest.raises(Invalid, match="request_global_write_approval: arguments is missing"):
        run(ann, "request_global_write_approval", operation="remember")
    with pytest.raises(Invalid, match="add_fact: subject is empty"):
        run(ann, "add_fact", subject="", predicate="lives_in", object="Oslo")
