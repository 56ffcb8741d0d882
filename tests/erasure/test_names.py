"""Somebody is erased under every spelling of the name, in sealed words, in relations and in what projects say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.erasure.clear_copies import Mentioned
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.log.verify import read_commits
from weft.testing.clock import ManualClock
from weft.text.encryption import new_key
from weft.writing.build.commit import commit


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[weft.Memory]:
    environment = {
        "HOME": str(tmp_path),
        "WEFT_OUTBOX": str(tmp_path / "outbox"),
        "WEFT_SENSITIVE": "1",
        "WEFT_SENSITIVE_KEY": new_key("k1"),
        "WEFT_EMBEDDER": "none",
    }
    opened = weft.open(
        f"sqlite://{tmp_path / 'store'}", directory=tmp_path, environment=environment, clock=ManualClock()
    )
    for number in range(8):
        opened.call("remember", text=f"Berth {number} was painted on day {number}.")
    yield opened
    opened.close()


def erase(memory: weft.Memory, name: str) -> Any:
    done = memory.call("erase", subject=name, yes=True)
    assert memory.call("log_verify").problem is None
    return done


def told(memory: weft.Memory) -> str:
    """All that the log holds, opened, and all that the graph does."""
    ctx = memory.ctx
    viewer = ctx.operator("look")
    events = [event for _, some in read_commits(ctx.store, viewer) for event in some]
    log = "".join((ctx.privacy.event(event).payload or b"").decode() for event in events)
    return log + "".join(map(repr, ctx.store.graph_rows(viewer)))


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("José Álvarez", "Jose Alvarez"),
        ("Jose Alvarez", "JOSÉ ÁLVAREZ"),
        ("Ines Groß", "INES GROSS"),
        ("Sean O'Brien", "Sean O’Brien"),
        ("Anne-Marie Roe", "Anne‐Marie\tRoe"),
        ("Mara Quill", "Ｍara\nQuill"),
        ("Zoë Fitz", "Zoe\u0308   Fitz’s"),
        ("欧阳娜", "昨天欧阳娜来了"),
    ],
)
def test_another_spelling_goes_too(memory: weft.Memory, name: str, written: str) -> None:
    memory.call("add_entity", name=name, kind="Person")
    kept = memory.call("remember", text="Planning for the harbour goes on, plumdark.")
    said = memory.call("remember", text=f"Yesterday {written} spoke of wexfall.")
    edited = memory.call("remember", text="The ferry is late.")
    memory.call("memory_invalidate", id=edited.id, reason=f"{written} said so, gritmoss")
    erase(memory, name)
    left = told(memory)
    assert "plumdark" in left
    assert kept.id in left
    assert not [word for word in (said.id, "wexfall", "gritmoss") if word in left]


def test_a_name_that_is_part_of_a_word_takes_nothing_along(memory: weft.Memory) -> None:
    memory.call("add_entity", name="Ann Lee", kind="Person", aliases=["Ann"])
    memory.call("remember", text="Planning with Joann and Änne, plumdark; ann_age too.")
    erase(memory, "Ann Lee")
    assert "plumdark" in told(memory)


def test_a_sealed_reason_with_a_name_goes_and_what_it_is_about_stays(memory: weft.Memory) -> None:
    memory.call("add_entity", name="Mara Quill", kind="Person")
    secret = memory.call("remember", text="The vault holds plumdark.", sensitive=True)
    other = memory.call("remember", text="The cellar holds brambleton.", sensitive=True)
    memory.call("forget", id=secret.id, reason="Mara Quill asked, gritmoss")
    memory.call("forget", id=other.id, reason="it is wrong, thornwick")
    assert "gritmoss" in told(memory)
    erase(memory, "Mara Quill")
    left = told(memory)
    assert "gritmoss" not in left
    assert all(word in left for word in ("plumdark", "brambleton", "thornwick"))


def test_sealed_words_on_an_edge_go(memory: weft.Memory) -> None:
    one, other = (memory.call("remember", text=f"The {each} is old.") for each in ("barge", "quay"))
    memory.call("add_entity", name="Mara Quill", kind="Person")
    for rel, note in (("LIES_AT", "by Mara Quill, gritmoss"), ("NEAR", "by the lamp, plumdark")):
        edge = graph.EdgeAssertion(src=one.id, rel=rel, dst=other.id, props={"note": note}, sensitive=True)
        commit(memory.ctx, [Draft(kind="graph.asserted", payload=graph.Asserted(edges=(edge,)))])
    assert "gritmoss" in told(memory)
    erase(memory, "Mara Quill")
    left = told(memory)
    assert "gritmoss" not in left
    assert "plumdark" in left
    assert "LIES_AT" in left


def test_a_relation_named_after_somebody_loses_its_name(memory: weft.Memory) -> None:
    memory.call("add_entity", name="Mara Quill", kind="Person", aliases=["Brackwether"])
    one, other = (memory.call("remember", text=f"The {each} is old.") for each in ("barge", "quay"))
    for rel in ("FUNDED_BY_MARA_QUILL", "OF_BRACKWETHER", "FUNDED_BY_TAMARA_QUILL"):
        edge = graph.EdgeAssertion(src=one.id, rel=rel, dst=other.id)
        commit(memory.ctx, [Draft(kind="graph.asserted", payload=graph.Asserted(edges=(edge,)))])
    erase(memory, "Mara Quill")
    left = told(memory)
    assert "BY_MARA_QUILL" not in left
    assert "BRACKWETHER" not in left
    assert "FUNDED_BY_TAMARA_QUILL" in left
    assert "The barge is old." in left


def test_what_a_project_says_of_somebody_goes_and_the_project_stays(memory: weft.Memory) -> None:
    memory.call("add_entity", name="Mara Quill", kind="Person")
    nodes = tuple(
        graph.NodeAssertion(id=f"{kind.lower()}:pier", kind=kind, name="pier", text=text, props={"lead": "Mara Quill"})
        for kind, text in (("Project", "Mara Quill runs the pier, gritmoss."), ("Focus", "For Mara Quill, wexfall."))
    )
    commit(memory.ctx, [Draft(kind="graph.asserted", payload=graph.Asserted(nodes=nodes))])
    erase(memory, "Mara Quill")
    left = told(memory)
    assert not [word for word in ("gritmoss", "wexfall", "Quill") if word in left]
    assert all(node.id in left for node in nodes)


def test_what_waits_or_was_asked_mentions_a_name_in_a_relation() -> None:
    mentions = Mentioned(ids=(), names=["José"])
    assert all(map(mentions, ("OWNED_BY_JOSE", '{"dst":"b","rel":"OWNED_BY_JOSE","src":"a"}', "with jose")))
    assert not any(map(mentions, ("OWNED_BY_JOSEF", "the constant JOSE_LIMIT in code", "nobody")))
