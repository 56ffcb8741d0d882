"""Projects, accounts, scopes and audiences: who sees what, and who may do what."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.places import Place
from tests.recall.short_answers import texts
from weft.core.errors import Forbidden, NotFound


def test_projects_are_apart_and_global_memories_are_for_all(place: Place, tmp_path: Path) -> None:
    here = place.open()
    (tmp_path / "barge").mkdir()
    there = place.open(tmp_path / "barge")
    here.remember("the ferry docks at noon")
    there.remember("the barge docks at night")
    here.remember("docks are wet", level="global")
    assert set(texts(here.recall("docks"))) == {"the ferry docks at noon", "docks are wet"}
    assert set(texts(there.recall("docks"))) == {"the barge docks at night", "docks are wet"}
    assert len(here.recall("docks", everywhere=True).hits) == 3
    assert "the barge docks at night" in texts(here.recall("docks", project="barge"))
    assert len(here.recent().nodes) == 2
    assert len(here.recent(everywhere=True).nodes) == 3


def test_accounts_never_see_each_other(place: Place) -> None:
    place.open(account="acme").remember("acme's plan")
    other = place.open(account="globex")
    assert other.recall("plan", everywhere=True).status == "empty"
    assert other.stats().store.events == 0
    with pytest.raises(NotFound):
        other.cite("weft://operator/events/1")


def test_sensitive_memories_are_left_out_unless_asked_for(place: Place) -> None:
    plain, entitled = place.open(), place.open(sensitive="true")
    written = plain.remember("the salary list", sensitive=True)
    assert plain.recall("salary").status == "empty"
    assert plain.recent().nodes == ()
    for hidden in (written.id, written.citation):
        with pytest.raises(NotFound):
            plain.show(hidden)
    with pytest.raises(NotFound):
        plain.cite(written.citation)
    assert texts(entitled.recall("salary")) == ["the salary list"]
    assert entitled.cite(written.citation).matches


def test_scopes_bound_what_is_seen(place: Place) -> None:
    admin = place.open()
    for scope in ("public", "shared", "admin"):
        admin.remember(f"plan for {scope}", scope=scope)
    seen = {
        scopes: {text.split()[-1] for text in texts(place.open(scopes=scopes).recall("plan"))}
        for scopes in ("public", "public,shared", "public,shared,admin")
    }
    assert seen == {
        "public": {"public"},
        "public,shared": {"public", "shared"},
        "public,shared,admin": {"public", "shared", "admin"},
    }


def test_scores_do_not_tell_of_what_is_hidden(place: Place) -> None:
    admin, guest = place.open(), place.open(scopes="public")
    admin.remember("the ferry plan", scope="public")
    admin.remember("a plan for docks", scope="public")
    before = guest.recall("ferry plan", explain=True)
    for number in range(20):
        admin.remember(f"secret ferry plan {number}")
    after = guest.recall("ferry plan", explain=True)
    assert [(hit.node.id, hit.score, hit.why) for hit in after.hits] == [
        (hit.node.id, hit.score, hit.why) for hit in before.hits
    ]


def test_a_public_agent_sees_only_what_is_tagged_for_it(place: Place) -> None:
    admin = place.open()
    admin.remember("tea for ann", agents=["ann"], scope="public")
    admin.remember("tea for bob", agents=["bob"], scope="public")
    admin.remember("tea for all", scope="public")
    assert texts(place.open(agent="ann", audience="public", scopes="public").recall("tea")) == ["tea for ann"]
    assert len(place.open(agent="ann", scopes="public").recall("tea").hits) == 3, "tags bind public agents only"


def test_a_hidden_subject_cannot_be_taken_over(place: Place) -> None:
    place.open().add_fact("Mira", "role", "lead")
    guest = place.open(scopes="public", role="agent", agent="guest", session="guest")
    guest.add_fact("Mira", "role", "intern", scope="public")
    assert set(texts(place.open().recall("Mira role", kinds=["Fact"]))) == {"Mira role lead", "Mira role intern"}
    assert texts(guest.recall("Mira role", kinds=["Fact"])) == ["Mira role intern"]


@pytest.mark.parametrize("name", ["log_verify", "log_head", "log_export", "log_import", "rebuild", "backup", "doctor"])
@pytest.mark.parametrize("identity", [{"role": "agent"}, {"audience": "public"}, {"scopes": "public"}], ids=str)
def test_upkeep_is_the_operator_s(place: Place, tmp_path: Path, name: str, identity: dict[str, str]) -> None:
    place.open().remember("words")
    (tmp_path / "log.jsonl").write_text("{}")
    target = str(tmp_path / ("log.jsonl" if name == "log_import" else "target"))
    given = {"path": target} if name in ("log_export", "log_import", "backup") else {}
    with pytest.raises(Forbidden, match="only the operator may") as caught:
        place.open(**identity).call(name, **given)
    assert "operator" in caught.value.hint
    assert "WEFT_" not in caught.value.hint, "nobody is told how to become another"
    assert not (tmp_path / "target").exists()
