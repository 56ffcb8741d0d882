"""What a caller may write, and what its writes tell it of things it may not see."""

from __future__ import annotations

import pytest

import weft
from tests.places import Place
from weft.core.errors import Forbidden


@pytest.mark.parametrize(
    ("scopes", "expected"), [("public", "public"), ("public,shared", "shared"), ("public,shared,admin", "admin")]
)
def test_the_narrowest_scope_held_is_the_default(place: Place, scopes: str, expected: str) -> None:
    memory = place.open(scopes=scopes)
    (place.root / "a.md").write_text("# One\n")
    memory.remember("words")
    memory.add_fact("Mira", "role", "lead")
    assert memory.ingest(place.root).documents == 1
    nodes = memory.recent().nodes
    assert {node.kind for node in nodes} >= {"Memory", "Fact", "Document", "Section"}
    assert {node.scope for node in nodes} == {expected}, "what one writes one can read"


def test_a_scope_that_is_not_held_cannot_be_written(place: Place) -> None:
    guest = place.open(scopes="public")
    (place.root / "a.md").write_text("# One\n")
    for write in (
        lambda: guest.remember("words", scope="admin"),
        lambda: guest.add_fact("Mira", "role", "lead", scope="shared"),
        lambda: guest.ingest(place.root, scope="admin"),
    ):
        with pytest.raises(Forbidden, match="may not write with scope") as caught:
            write()
        assert "you hold public" in caught.value.hint
    assert place.open().stats().store.events == 0


def test_a_public_agent_can_read_what_it_wrote(place: Place) -> None:
    agent = place.open(agent="ann", audience="public", scopes="public", role="agent", session="ann")
    (place.root / "a.md").write_text("# One\n")
    agent.remember("words", agents=["bob"])
    agent.add_fact("Mira", "role", "lead")
    agent.ingest(place.root)
    tags = {node.kind: node.agents for node in agent.recent().nodes}
    own = dict.fromkeys(("Fact", "Entity", "Document", "Section"), ("ann",))
    assert tags == own | {"Memory": ("ann", "bob")}
    assert agent.add_fact("Mira", "role", "chief").status == "superseded"


def test_a_newer_fact_ends_only_one_of_the_same_rights(place: Place) -> None:
    memory = place.open()
    secret = memory.add_fact("Mira", "role", "spy", valid_from="2020")
    shared = memory.add_fact("Mira", "role", "clerk", scope="shared", valid_from="2021")
    assert (secret.status, shared.status, shared.supersedes) == ("saved", "saved", ())
    newer = memory.add_fact("Mira", "role", "lead", scope="shared", valid_from="2022")
    assert (newer.status, newer.supersedes) == ("superseded", (shared.id,))
    held = {node.text for node in memory.recent(kinds=["Fact"]).nodes}
    assert held == {"Mira role spy", "Mira role lead"}


def test_a_slot_cannot_be_claimed_by_a_property(memory: weft.Memory) -> None:
    fact = memory.add_fact("Mira", "role", "lead")
    shown = memory.show(fact.id).node
    assert shown is not None
    memory.remember("not a fact of Mira's", kind="Fact", props=dict(shown.props) | {"object": "impostor"})
    assert memory.add_fact("Mira", "role", "chief").supersedes == (fact.id,)


def test_a_hidden_subject_does_not_show_itself(place: Place) -> None:
    admin, guest = place.open(), place.open(scopes="public", role="agent", agent="guest", session="guest")
    admin.add_fact("Mira", "role", "spy")
    admin.add_fact("Noa@public", "role", "spy")
    for subject in ("Mira", "Noa", "Noa@public", "Nobody"):
        assert guest.add_fact(subject, "role", "clerk").status == "saved"
        assert guest.add_fact(subject, "role", "lead").status == "superseded"
    names = {node.name for node in guest.recent(kinds=["Entity"]).nodes}
    assert names == {"Mira", "Noa", "Noa@public", "Nobody"}


def test_an_embedder_that_does_not_answer_is_told_of(place: Place) -> None:
    memory = place.open(embedder="ollama:none", embedder_url="http://127.0.0.1:9")
    assert memory.remember("words").notes
    assert memory.add_fact("Mira", "role", "lead").notes


def test_the_operator_sees_where_sensitive_sessions_stand(place: Place) -> None:
    place.open(session="quiet").remember("the salary list", sensitive=True)
    assert [each.session for each in place.open().call("log_head").sessions] == ["quiet"]
