"""Properties called like weft's own, requests about sensitive memories, secrets in names: no word gets into a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import weft
from tests.append.privacy.harbour import Harbour
from weft.core.errors import Invalid, Misconfigured
from weft.core.types import NOW, Find
from weft.log.words import OWN_PROPS
from weft.text.encryption import PROPS

WORDS = ("Metoprolol", "arrhythmia", "Halvorsen", "bradycardia", "Ostergaard", "palpitations")


def key(number: int) -> str:
    """A token that no host ever gave."""
    return "gh" + "p_" + f"{number:02d}" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE4fG6"[2:]


# ---- sealed


def test_sensitive_properties_are_sealed_whatever_they_are_called(harbour: Harbour) -> None:
    memory = harbour.open()
    names = sorted(OWN_PROPS - {"derived_from"})
    props = {name: f"Halvorsen {WORDS[at % len(WORDS)]}" for at, name in enumerate(names)}
    told = memory.remember("He is ill.", props=props, sensitive=True)
    memory.memory_write("Fact", "of him", props={"subject": "Halvorsen", "slot": "Ostergaard"}, sensitive=True)
    memory.memory_write("Illness", "of him", props={"compiled_from": ["Metoprolol"]}, sensitive=True)
    memory.call("memory_edit", id=told.id, props={"source": "the palpitations", "path": "Ostergaard"})
    assert memory.show(told.id).node.props == {**props, "source": "the palpitations", "path": "Ostergaard"}
    assert harbour.holds(*WORDS) == []


def test_a_property_that_looks_sealed_hides_none_of_the_others(harbour: Harbour) -> None:
    memory = harbour.open()
    sealed = memory.ctx.privacy.keys.seal("x" * 40, of="elsewhere", field="props")  # type: ignore[union-attr]
    told = memory.remember("He is ill.", props={PROPS: sealed, "illness": "arrhythmia"}, sensitive=True)
    assert memory.show(told.id).node.props["illness"] == "arrhythmia"
    assert harbour.holds(*WORDS) == []


def test_sealed_properties_are_filtered_by(either: Harbour) -> None:
    memory = either.open()
    told = memory.remember("He is ill.", props={"source": "Ostergaard"}, sensitive=True)
    memory.remember("The ferry leaves.", props={"source": "the quay"})
    found = memory.ctx.store.find(memory.ctx.viewer, NOW, Find(props={"source": "Ostergaard"}), limit=5)
    assert [(node.id, node.text) for node in found.nodes] == [(told.id, "He is ill.")]


def test_what_is_derived_is_found_without_the_key(either: Harbour) -> None:
    """Feedback on a sensitive memory, and what was compiled of it, go with it: they tell in clear what they are of."""
    memory = either.open()
    told = memory.remember("Halvorsen takes Metoprolol", sensitive=True)
    feedback = memory.call("memory_feedback", id=told.id, outcome="confirmed", note="says Ostergaard")
    memory.add_entity("Halvorsen", kind="Person", sensitive=True)
    memory.add_fact("Halvorsen", "takes", "Metoprolol", sensitive=True)
    thing = memory.call("compile_truth", entity="Halvorsen")
    blind = either.open(sensitive_key="")
    assert blind.show(feedback.id).node.props["about"] == told.id
    assert blind.show(thing.id).node.props["compiled_from"] == list(thing.sources)


# ---- requests


def by_id(memory: weft.Memory, told: Any) -> str:
    return str(told.id)


def by_citation(memory: weft.Memory, told: Any) -> str:
    return str(told.citation)


def by_name(memory: weft.Memory, told: Any) -> str:
    return "his heart"


@pytest.mark.parametrize("way", [by_id, by_citation, by_name])
def test_a_request_about_a_sensitive_memory_is_sealed(harbour: Harbour, way: Callable[..., str]) -> None:
    memory = harbour.open()
    told = memory.remember("He is ill.", name="his heart", level="global", sensitive=True)
    for operation, arguments in (
        ("memory_edit", {"id": way(memory, told), "text": "Halvorsen takes Metoprolol"}),
        ("correct", {"id": way(memory, told), "text": "bradycardia", "reason": "arrhythmia"}),
        ("forget", {"id": way(memory, told), "reason": "Ostergaard"}),
    ):
        memory.call("request_global_write_approval", operation=operation, arguments=arguments, reason="palpitations")
    shown = memory.call("approval_list").approvals
    assert sorted(each.operation for each in shown) == ["correct", "forget", "memory_edit"]
    assert {each.why for each in shown} == {"palpitations"}
    assert harbour.holds(*WORDS) == []


def test_without_a_key_it_is_refused(either: Harbour) -> None:
    told = either.open().remember("He is ill.", level="global", sensitive=True)
    asking = {"operation": "memory_edit", "arguments": {"id": told.id, "text": "Halvorsen"}}
    with pytest.raises(Misconfigured):
        either.open(sensitive_key="").call("request_global_write_approval", **asking)


def test_one_about_anything_else_is_read_without_the_key(either: Harbour) -> None:
    memory = either.open()
    memory.remember("He is ill.", sensitive=True)
    told = memory.remember("The ferry leaves at nine.", level="global")
    asking = {"operation": "memory_edit", "arguments": {"id": told.id, "text": "The ferry leaves at ten."}}
    memory.call("request_global_write_approval", **asking)
    (shown,) = either.open(sensitive_key="").call("approval_list").approvals
    assert shown.arguments["text"] == "The ferry leaves at ten."


# ---- redacted


def test_properties_and_inputs_are_redacted_whatever_they_are_called(harbour: Harbour) -> None:
    memory = harbour.open(sensitive="0", audit="1")
    names = [*sorted(OWN_PROPS - {"derived_from"}), "ids", "kind", "project", "scope", "request_id", "note"]
    props = {name: key(at) for at, name in enumerate(names)}
    told = memory.remember("The gate.", props={**props, key(70): "one", key(71): "two"})
    kept = memory.show(told.id).node.props
    assert {kept[name] for name in names} == {"[redacted: GitHub token]"}
    assert [kept[f"[redacted: GitHub token]{more}"] for more in ("", " 2")] == ["one", "two"]
    deep = {key(72): {"id": key(73), "path": [{"citation": key(74)}]}, "id": key(75)}
    memory.call("work_create", kind="check", title="Look at the gate", inputs=deep)
    memory.call("memory_edit", id=told.id, props={"path": key(76)})
    memory.call("remember_many", items=[{"text": "The quay.", "props": {"path": key(77), "id": key(78)}}])
    asked = {"text": "The mole.", "level": "global", "props": {"id": key(79), key(80): "x"}}
    memory.call("request_global_write_approval", operation="remember", arguments=asked)
    assert harbour.holds(*map(key, range(81))) == []


NAMED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("remember", "request_id", {"text": "The gate."}),
    ("remember", "project", {"text": "The gate."}),
    ("remember", "focus", {"text": "The gate."}),
    ("remember", "agents", {"text": "The gate."}),
    ("remember", "keywords", {"text": "The gate."}),
    ("tag", "keywords", {"id": "any"}),
    ("tag", "agents", {"id": "any"}),
    ("record_turns", "session", {"turns": ["user: The gate."]}),
    ("work_create", "kind", {"title": "Look at the gate"}),
    ("project_create", "name", {}),
    ("focus_create", "name", {}),
)


@pytest.mark.parametrize(("operation", "argument", "more"), NAMED, ids=lambda value: str(value)[:20])
def test_a_secret_in_a_name_is_refused_and_not_repeated(
    harbour: Harbour, operation: str, argument: str, more: dict[str, Any]
) -> None:
    memory = harbour.open(sensitive="0", audit="1")
    value: Any = [key(1)] if argument in ("agents", "keywords") else key(1)
    with pytest.raises(Invalid, match=f"the argument {argument} contains a secret") as refused:
        memory.call(operation, **more, **{argument: value})
    assert key(1) not in refused.value.message + refused.value.hint
    assert harbour.holds(key(1)) == []


def test_an_item_with_a_secret_in_a_name_is_refused_alone(harbour: Harbour) -> None:
    memory = harbour.open(sensitive="0", audit="1")
    items = [{"text": "The gate.", "project": key(1)}, {"text": "The quay."}]
    done = memory.call("remember_many", items=items)
    assert (done.written, done.failed) == (1, (0,))
    assert key(1) not in str(done)
    assert harbour.holds(key(1)) == []


def test_a_file_with_a_secret_in_its_name_is_skipped(harbour: Harbour) -> None:
    memory = harbour.open(sensitive="0", audit="1")
    (harbour.root / f"{key(1)}.md").write_text("# Gate\n\nOpen.\n")
    (harbour.root / f"{key(2)}.py").write_text("def gate():\n    return 1\n")
    (harbour.root / "quay.md").write_text("# Quay\n\nOpen.\n")
    rows = [{"id": key(3), "text": "a"}, {"id": "r", "text": "b"}, {"id": "t", "session": key(4), "text": "user: c"}]
    (harbour.root / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = memory.ingest(harbour.root)
    assert done.documents == 1
    assert [each.path for each in done.skipped] == ["[redacted: GitHub token].md", "[redacted: GitHub token].py"]
    assert "rename" in done.skipped[0].reason
    read = memory.ingest(harbour.root / "rows.jsonl")
    assert (read.records, len(read.skipped)) == (1, 2)
    assert harbour.holds(*map(key, range(1, 5))) == []


def test_a_secret_that_got_in_otherwise_can_be_erased_by_its_words(harbour: Harbour) -> None:
    told = harbour.open(redaction="off").remember(f"The gate opens with {key(1)} at night.")
    memory = harbour.open(audit="1")
    memory.remember(f"The quay opens with {key(2)} by day.")
    done = memory.call("erase", subject=key(1), yes=True)
    assert done.nodes == 1
    with pytest.raises(weft.core.errors.NotFound):
        memory.show(told.id)
    assert memory.recall("the quay by day").hits
    assert harbour.holds(key(1)) == []
