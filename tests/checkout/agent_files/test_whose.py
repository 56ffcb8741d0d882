"""Baked files are told to whom they are of, while they hold, and only as weft wrote them; others' files are theirs."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import weft
from tests.checkout.agent_files.test_baking import PUBLIC, baked, boss
from tests.checkout.agent_files.test_profiles import written
from tests.places import Place
from weft.checkout.prompt_context import CONTEXT
from weft.core.errors import Conflict, Forbidden, Invalid, Misconfigured

__all__ = ["boss"]  # a fixture


def agent(place: Place, slug: str, **more: str) -> weft.Memory:
    return place.open(agent=slug, role="agent", **more)


# ---- who reads it


def test_it_is_told_to_its_agent_and_to_the_operator_only(boss: weft.Memory, place: Place) -> None:
    boss.call("bake", slug="desk")
    assert "closes at six" in agent(place, "desk").call("agent_knowledge").text
    assert "closes at six" in boss.call("agent_knowledge", slug="desk").text
    for other in (agent(place, "pilot"), place.open(agent="guest", scopes="public"), agent(place, "desk2")):
        with pytest.raises(Forbidden, match="is private to it"):
            other.call("agent_knowledge", slug="desk")


def test_another_account_or_project_is_not_told(boss: weft.Memory, place: Place) -> None:
    boss.call("bake", slug="desk")
    for other in (place.open(account="rival"), place.open(project="barge")):
        with pytest.raises(Invalid, match="not used"):
            other.call("agent_knowledge", slug="desk")


def test_who_holds_fewer_scopes_than_it_was_baked_of_is_not_told(boss: weft.Memory, place: Place) -> None:
    boss.call("bake", slug="desk")
    written(place.root, "desk", "")
    with pytest.raises(Forbidden, match="public"):
        agent(place, "desk", scopes="shared").call("agent_knowledge")


# ---- what of it holds


def test_what_was_deleted_since_is_not_told(boss: weft.Memory, place: Place) -> None:
    kept = boss.remember("Tariff nine is secret of the fares.", agents=["desk"], **PUBLIC)
    boss.call("bake", slug="desk")
    boss.delete(kept.id)
    told = boss.call("agent_knowledge", slug="desk")
    assert (told.dropped, "Tariff nine" in told.text, "closes at six" in told.text) == (1, False, True)
    assert any("1 line is omitted" in note and "out of date" in note for note in told.notes)
    written(place.root, "desk", 'keywords = ["fares", "lost property"]\nlive_memory = false\n')
    desk = agent(place, "desk")
    text = desk.run(CONTEXT, {}).text  # type: ignore[attr-defined]
    assert ("Tariff nine" in text, "closes at six" in text) == (False, True)
    assert "Tariff nine" in baked(place)[0]  # the file itself is the host's to bake again


def test_what_the_agents_file_closed_since_is_not_told(boss: weft.Memory, place: Place) -> None:
    written(place.root, "desk", 'scopes = ["public", "admin"]\nkeywords = ["fares"]\n')
    boss.call("bake", slug="desk")
    assert "vault" in baked(place)[0]
    written(place.root, "desk", 'scopes = ["public"]\nkeywords = ["lost property"]\n')
    for who in (boss, agent(place, "desk")):
        told = who.call("agent_knowledge", slug="desk")
        assert (told.dropped, "vault" in told.text, "Children" in told.text) == (2, False, False)
        assert "closes at six" in told.text


def test_a_memory_that_is_told_anew_in_the_same_words_stays(boss: weft.Memory, place: Place) -> None:
    kept = boss.remember("Dogs pay half.", agents=["desk"], **PUBLIC)
    boss.call("bake", slug="desk")
    boss.call("pin", id=kept.id)
    told = boss.call("agent_knowledge", slug="desk")
    assert (told.dropped, "Dogs pay half" in told.text) == (0, True)


# ---- what is no memory


def test_a_file_that_came_with_the_project_or_was_changed_is_not_told(boss: weft.Memory, place: Place) -> None:
    boss.call("bake", slug="desk")
    file = place.root / "agents" / "desk" / "KNOWLEDGE.md"
    text = file.read_text()
    file.write_text(text.replace("closes at six", "closes at noon"))
    with pytest.raises(Invalid, match="changed since"):
        boss.call("agent_knowledge", slug="desk")
    file.write_text(text)
    assert "closes at six" in boss.call("agent_knowledge", slug="desk").text
    (place.scratch / "store" / "written.json").unlink()  # as in a clone beside another store
    with pytest.raises(Invalid, match="not baked from this memory"):
        boss.call("agent_knowledge", slug="desk")
    boss.call("bake", slug="desk")  # its first line fits the rest, so it may be replaced
    assert "closes at six" in boss.call("agent_knowledge", slug="desk").text


def test_a_file_that_only_names_the_mark_is_not_replaced(boss: weft.Memory, place: Place) -> None:
    directory = place.root / "agents" / "desk"
    directory.mkdir()
    mine = "# My notes\nweft writes <!-- weft-baked 1 agent=desk --> at the top\n"
    (directory / "KNOWLEDGE.md").write_text(mine)
    with pytest.raises(Conflict):
        boss.call("bake", slug="desk")
    assert (directory / "KNOWLEDGE.md").read_text() == mine
    (directory / "KNOWLEDGE.md").unlink()
    boss.call("bake", slug="desk")
    with (directory / "KNOWLEDGE.md").open("a") as file:
        file.write("my own line\n")
    with pytest.raises(Conflict, match="changed since"):
        boss.call("bake", slug="desk")
    assert "my own line" in (directory / "KNOWLEDGE.md").read_text()


def test_a_compaction_is_not_written_over_a_file_of_the_same_form(boss: weft.Memory, tmp_path: Path) -> None:
    mine = tmp_path / "a.compaction.json"
    mine.write_text('{\n  "format": "weft-compaction-1",\n  "mine": true\n}\n')
    with pytest.raises(Conflict):
        boss.call("compact", purpose="coding", output=str(mine))
    assert '"mine"' in mine.read_text()


def test_no_folder_of_the_project_on_the_way_may_be_a_link(boss: weft.Memory, place: Place, tmp_path: Path) -> None:
    (place.root / "agents").rename(tmp_path / "elsewhere")
    (place.root / "agents").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Misconfigured, match="link"):
        boss.call("bake", slug="desk")
    assert not (tmp_path / "elsewhere" / "desk").exists()


# ---- files as such


def test_others_of_the_machine_cannot_read_them(boss: weft.Memory, place: Place, tmp_path: Path) -> None:
    boss.call("bake", slug="desk")
    boss.call("compact", purpose="coding", output=str(tmp_path / "a.compaction.json"))
    for file in (*(place.root / "agents" / "desk").iterdir(), tmp_path / "a.compaction.json"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_who_sees_less_does_not_replace_a_compaction(boss: weft.Memory, place: Place, tmp_path: Path) -> None:
    output = tmp_path / "a.compaction.json"
    boss.call("compact", purpose="security", output=str(output))
    before = output.read_text()
    with pytest.raises(Forbidden, match="more rights"):
        place.open(scopes="public").call("compact", purpose="security", output=str(output))
    assert output.read_text() == before
    boss.call("compact", purpose="review", output=str(output))
    assert output.read_text() != before


def test_an_erasure_names_a_file_that_it_does_not_know_again_and_takes_drafts(boss: weft.Memory, place: Place) -> None:
    boss.add_entity("Orlaith Quay", kind="Person")
    boss.remember("Orlaith Quay sells the fares.", **PUBLIC)
    boss.call("bake", slug="desk")
    directory = place.root / "agents" / "desk"
    draft = directory / ".KNOWLEDGE.md.0123abcd"
    draft.write_text("Orlaith Quay")
    (directory / ".KNOWLEDGE.md.swp").write_text("an editor's")
    (directory / "KNOWLEDGE.md").write_text("# Rewritten by hand\nOrlaith Quay sells the fares.\n")
    told = boss.erase(subject="Orlaith Quay", yes=True, confirm="default")
    assert told.files == (str(directory / "KNOWLEDGE-SUMMARY.md"),)
    assert any(str(directory / "KNOWLEDGE.md") in note for note in told.notes)
    assert (directory / "KNOWLEDGE.md").exists()
    assert not draft.exists()
    assert (directory / ".KNOWLEDGE.md.swp").exists()


def test_a_draft_that_was_left_goes_with_the_next_baking(boss: weft.Memory, place: Place) -> None:
    boss.call("bake", slug="desk")
    draft = place.root / "agents" / "desk" / ".KNOWLEDGE.md.0123abcd"
    draft.write_text("left")
    boss.call("bake", slug="desk")
    assert not draft.exists()
