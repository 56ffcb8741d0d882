"""What is kept for all projects, and every operation that could change it: a new one has to be put here."""

from __future__ import annotations

from typing import Any

import pytest

import weft
from tests.access.approvals import approved
from tests.access.governed_world import filled, stands
from tests.access.test_approval_requests import events
from tests.places import Place
from weft.core.errors import Forbidden
from weft.operations import OPERATIONS

WRITES = {each.name: each for each in OPERATIONS if each.effect != "read"}


# Operations that write, each with a call that changes what is global: an agent's must be refused.
CALLS: dict[str, dict[str, Any]] = {
    "remember": {"text": "x", "level": "global"},
    "add_fact": {
        "subject": "Mira",
        "subject_kind": "Person",
        "predicate": "lives_in",
        "object": "Bergen",
        "level": "global",
    },
    "add_entity": {"name": "Mira", "kind": "Person", "importance": 9.0},
    "link_entities": {"source": "Mira", "relation": "KNOWS", "target": "Myra", "level": "global"},
    "merge_entities": {"duplicate": "{double}", "into": "{person}", "reason": "alike"},
    "split_entities": {"duplicate": "{alias}"},
    "add_event": {"description": "The crane fell.", "occurred_at": "2025", "level": "global"},
    "add_causal_link": {"cause": "rain", "effect": "delay", "level": "global"},
    "add_concept": {"name": "Tide", "level": "global"},
    "memory_write": {"kind": "Rule", "text": "No loud music.", "level": "global"},
    "add_entities": {"items": [{"name": "Mira", "kind": "Person", "importance": 9.0}]},
    "add_events": {"items": [{"description": "The crane fell.", "occurred_at": "2025", "level": "global"}]},
    "add_facts": {"items": [{"subject": "Mira", "predicate": "role", "object": "guest", "level": "global"}]},
    "add_concepts": {"items": [{"name": "Tide", "level": "global"}]},
    "add_causal_links": {"items": [{"cause": "rain", "effect": "delay", "level": "global"}]},
    "link_many": {"items": [{"source": "Mira", "relation": "KNOWS", "target": "Myra", "level": "global"}]},
    "save_decisions": {"items": [{"title": "Use trunks", "level": "global"}]},
    "save_patterns": {"items": [{"title": "Retry", "description": "three times", "level": "global"}]},
    "save_contexts": {"items": [{"title": "Tides", "body": "twice a day", "level": "global"}]},
    "save_preferences": {"items": [{"subject": "Mira", "preference": "tea", "level": "global"}]},
    "remember_many": {"items": [{"text": "x", "level": "global"}]},
    "save_decision": {"title": "Use imperial units", "supersedes": "{decision}"},
    "save_pattern": {"title": "Retry", "description": "three times", "level": "global"},
    "save_context": {"title": "Tides", "body": "twice a day", "level": "global"},
    "save_preference": {"subject": "Mira", "preference": "tea", "level": "global"},
    "memory_edit": {"id": "{memory}", "text": "Dates are written as you like."},
    "correct": {"id": "{memory}", "text": "Dates are written as you like."},
    "memory_invalidate": {"id": "{memory}"},
    "forget": {"id": "{memory}"},
    "tag": {"id": "{memory}", "keywords": ["dates"]},
    "pin": {"id": "{memory}"},
    "compile_truth": {"entity": "{person}", "text": "Mira is gone."},
    "proposal_review": {"id": "{proposal}", "decision": "accept"},
    "report_write": {"title": "Tides", "body": "High at noon.", "level": "global"},
    "alert_raise": {"message": "The crane leans.", "level": "global"},
    "alert_suppress": {"id": "{alert}"},
    "digest_write": {"body": "A calm week.", "level": "global"},
    "work_create": {"kind": "repair", "title": "Mend the crane", "level": "global"},
    "work_update": {"id": "{task}", "note": "half done"},
    "work_complete": {"id": "{task}", "result": "done"},
    "task_update": {"task": "{task}", "note": "half done"},
    "feature_create": {"title": "Night watch", "level": "global"},
    "task_create": {"title": "Watch the crane", "level": "global"},
    "plan_save": {"title": "Watch", "steps": [{"title": "Buy lamps"}], "level": "global"},
    "delete": {"target": "{memory}"},
    "restore": {"id": "{gone}"},
    "hygiene_apply": {"action": "end", "ids": ["{finding}"]},
}


# Operations that write and cannot change what is global by themselves, and why.
FREE = {
    "memory_feedback": "says how it was used, not what it is",
    "request_global_write_approval": "asks",
    "approve": "the operator's",
    "deny": "the operator's",
    "project_create": "writes into that project",
    "focus_create": "writes into that project",
    "ingest": "writes into this project",
    "memory_ingest": "writes into this project",
    "graph_set_workspace": "chooses a directory, and writes nothing",
    "graph_rebuild": "writes into this project",
    "graph_index_commit": "writes into this project",
    "index_docs": "writes into this project",
    "record_turns": "writes into this project",
    "agent_claim": "a claim belongs to a project",
    "agent_release": "a claim belongs to a project",
    "episode_add": "writes into this project",
    "handoff": "refuses to take over what is global: see test_work_that_is_global_is_not_taken_over",
    "reflect": "writes into this project",
    "finding_report": "writes into this project",
    "finding_review": "writes into this project",
    "finding_promote": "writes into this project",
    "receive_message": "writes into this project",
    "session_archive": "conversations belong to a project",
    "ingest_transcript": "writes into one project",
    "import_history": "the operator's",
    "log_import": "the operator's",
    "publish": "writes a site, and nothing into the store",
    "bake": "writes files, and nothing into the store",
    "compact": "writes into one project",
    "session_compact": "writes into this project",
    "rebuild": "the operator's",
    "deliver_pending": "delivers as whoever wrote: see test_what_waits_is_judged_when_it_is_delivered",
    "run_hygiene": "looks, and notes when it looked",
    "reindex": "makes vectors",
    "extract_memories": "the operator's",
    "init": "writes a file",
    "erase": "the operator's",
    "purge": "the operator's",
    "clear_graph": "the operator's",
    "key_rotate": "the operator's",
    "token_create": "the operator's",
    "token_revoke": "the operator's",
}


def test_every_operation_that_writes_is_looked_at_here() -> None:
    assert set(CALLS).isdisjoint(FREE)
    assert set(WRITES) == set(CALLS) | set(FREE), "put it into CALLS with a call that must be refused, or say why not"


def test_every_write_with_a_level_takes_a_token() -> None:
    leveled = {name for name, each in WRITES.items() if "level" in each.input.__struct_fields__} - FREE.keys()
    assert {name for name in leveled if not WRITES[name].governed} == set()
    assert {name for name, each in WRITES.items() if each.governed and "governance_token" not in each.rare} == set()


def refused(memory: weft.Memory, name: str, given: dict[str, Any]) -> str:
    """Why a call was refused: its status and notes say so, or an error."""
    try:
        answer = memory.call(name, **given)
    except weft.core.errors.NeedsApproval as error:
        return str(error)
    assert answer.status == "failed", answer
    told = " ".join((*answer.notes, *(each.error for each in getattr(answer, "items", ()))))
    return told + " ".join(str(each) for each in getattr(answer, "findings", ()))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_an_agent_changes_nothing_global_by_itself(
    name: str, boss: weft.Memory, ann: weft.Memory, world: dict[str, str]
) -> None:
    given, before, position = filled(CALLS[name], world), stands(boss), events(boss)
    assert "approval" in refused(ann, name, given)
    assert (stands(boss), events(boss)) == (before, position)


@pytest.mark.parametrize("name", sorted(name for name in CALLS if name in WRITES and WRITES[name].governed))
def test_with_a_token_it_does_so_once(name: str, boss: weft.Memory, ann: weft.Memory, world: dict[str, str]) -> None:
    given = filled(CALLS[name], world)
    token = approved(boss, ann, name, **given)
    answer = ann.call(name, **given, governance_token=token)
    assert answer.status in ("saved", "superseded"), answer
    assert [each.operation for each in boss.call("approval_list", status="used").approvals] == [name]
    after = stands(boss)
    assert "already used" in refused(ann, name, {**given, "governance_token": token})
    assert stands(boss) == after


@pytest.mark.parametrize("name", sorted(CALLS))
def test_the_operator_needs_none(name: str, boss: weft.Memory, world: dict[str, str]) -> None:
    assert boss.call(name, **filled(CALLS[name], world)).status in ("saved", "superseded")


def test_work_that_is_global_is_not_taken_over(boss: weft.Memory, ann: weft.Memory, world: dict[str, str]) -> None:
    before = stands(boss)
    with pytest.raises(weft.core.errors.NeedsApproval):
        ann.call("handoff", task=world["task"], take_over=True)
    assert stands(boss) == before


@pytest.mark.parametrize("name", [name for name, why in FREE.items() if why == "the operator's"])
def test_what_is_the_operator_s_is_refused(name: str, ann: weft.Memory, place: Place) -> None:
    given: dict[str, Any] = {
        "approve": {"id": "approval:1"},
        "deny": {"id": "approval:1"},
        "log_import": {"path": str(place.root / "log.jsonl")},
        "erase": {"subject": "Mira", "yes": True},
        "purge": {"yes": True},
        "clear_graph": {"level": "global"},
        "import_history": {"client": "cursor"},
        "token_create": {"agent": "ann"},
        "token_revoke": {"id": "0"},
    }.get(name, {})
    with pytest.raises(Forbidden, match="only the operator"):
        ann.call(name, **given)
