"""Where writes and reads belong: projects, focus areas, and what happens where they are not known."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import weft
from tests.places import Place
from tests.writing.noting import note
from weft.core.errors import BlockedScope, Forbidden, Invalid
from weft.core.types import When
from weft.memory.facade import Memory
from weft.writing.checks.scope import scope_of, write_scope


def events(memory: Memory) -> int:
    return memory.ctx.store.head(memory.ctx.viewer).pos


def test_a_directory_is_a_project_with_no_set_up(memory: weft.Memory) -> None:
    found = scope_of(memory.ctx)
    assert (found.state, found.project, found.focus) == ("resolved_project", "ferry", None)
    assert note(memory, "the ramp sticks").status == "saved"


@pytest.mark.parametrize("how", ["environment", "file"])
def test_a_project_that_the_settings_name_counts_as_known(place: Place, how: str) -> None:
    if how == "file":
        (place.root / "weft.toml").write_text('project = "harbour"\n')
    memory = place.open() if how == "file" else place.open(project="harbour")
    assert scope_of(memory.ctx).state == "resolved_project"
    assert scope_of(memory.ctx, project="harbour").project == "harbour"


def test_a_write_to_a_project_that_nobody_knows_is_blocked_and_says_what_to_do(memory: weft.Memory) -> None:
    answer = note(memory, "lost?", project="atlantis")
    assert (answer.status, answer.id, answer.citation) == ("blocked_scope", "", "")
    assert any("atlantis" in line for line in answer.notes)
    assert any("weft project-create atlantis" in line for line in answer.notes)
    assert events(memory) == 0, "nothing was written"
    assert scope_of(memory.ctx, project="atlantis").state == "uncertain"
    with pytest.raises(BlockedScope):
        write_scope(memory.ctx, project="atlantis")


def test_a_project_that_was_made_can_be_written_to(memory: weft.Memory) -> None:
    made = memory.call("project_create", name="atlantis", description="What lies below.")
    assert (made.status, made.id) == ("saved", "project:atlantis")
    answer = note(memory, "the tide gauge", project="atlantis")
    assert answer.status == "saved"
    assert memory.show(answer.id).node.project == "atlantis"  # type: ignore[union-attr]
    again = memory.call("project_create", name="atlantis")
    assert (again.status, again.id) == ("duplicate_skip", made.id)
    assert memory.show(made.id).node.text == "What lies below."  # type: ignore[union-attr]


def test_a_new_description_is_a_new_version_that_keeps_the_properties(memory: weft.Memory) -> None:
    made = memory.call("project_create", name="atlantis", description="before")
    again = memory.call("project_create", name="atlantis", description="after")
    assert (again.status, again.id) == ("saved", made.id)
    assert memory.show(made.id).node.text == "after"  # type: ignore[union-attr]
    assert len(memory.call("project_list").projects) == 2  # it and this directory's


def test_a_project_with_something_in_it_is_known_though_nobody_made_it(place: Place) -> None:
    place.open(project="quay").remember("cranes are painted in May")
    memory = place.open()
    assert scope_of(memory.ctx, project="quay").state == "resolved_project"
    listed = {each.name: each for each in memory.call("project_list").projects}
    assert (listed["quay"].id, listed["ferry"].here) == ("", True)


def test_a_project_that_the_caller_may_not_see_is_as_one_that_is_not_there(place: Place) -> None:
    owner = place.open()
    owner.call("project_create", name="atlantis")
    guest = place.open(scopes="shared", agent="guest", role="agent")
    assert scope_of(guest.ctx, project="atlantis").state == "uncertain"
    own = guest.call("project_create", name="atlantis")
    assert (own.status, own.id) == ("saved", "project@shared/atlantis")
    assert scope_of(guest.ctx, project="atlantis").state == "resolved_project"
    with pytest.raises(Forbidden):
        guest.call("project_create", name="mine", scope="admin")


def test_a_focus_area_has_memories_of_its_own(memory: weft.Memory) -> None:
    made = memory.call("focus_create", name="engines", description="Diesel and electric.")
    assert (made.status, made.id) == ("saved", "focus:ferry/engines")
    answer = note(memory, "oil every 400 h", focus="engines")
    (node,) = memory.ctx.store.nodes(memory.ctx.viewer, When(), [answer.id])
    assert (node.guard.project, node.focus) == ("ferry", "engines")
    edges = memory.show("project:ferry").edges
    assert [(edge.rel, edge.id) for edge in edges] == [("CONTAINS", "focus:ferry/engines")]
    (listed,) = memory.call("project_list").projects
    assert [focus.name for focus in listed.focuses] == ["engines"]
    assert memory.call("focus_create", name="engines").status == "duplicate_skip"


def test_a_focus_area_that_nobody_made_blocks_a_write(memory: weft.Memory) -> None:
    answer = note(memory, "lost?", focus="sails")
    assert answer.status == "blocked_scope"
    assert any("weft focus-create sails" in line for line in answer.notes)
    assert events(memory) == 0


def test_a_focus_area_of_another_project_is_not_this_one_s(memory: weft.Memory) -> None:
    memory.call("project_create", name="quay")
    memory.call("focus_create", name="cranes", project="quay")
    assert scope_of(memory.ctx, project="quay", focus="cranes").state == "resolved_focus"
    assert scope_of(memory.ctx, focus="cranes").state == "uncertain"


def test_a_focus_area_of_a_project_that_nobody_knows_is_not_made(memory: weft.Memory) -> None:
    answer = memory.call("focus_create", name="cranes", project="atlantis")
    assert answer.status == "blocked_scope"
    assert events(memory) == 0


def test_the_focus_of_the_settings_is_that_of_its_project_only(place: Place) -> None:
    memory = place.open(focus="engines")
    assert scope_of(memory.ctx).state == "resolved_focus"
    answer = note(memory, "oil every 400 h")
    (node,) = memory.ctx.store.nodes(memory.ctx.viewer, When(), [answer.id])
    assert node.focus == "engines"
    memory.call("project_create", name="quay")
    assert scope_of(memory.ctx, project="quay").state == "resolved_project"


def test_what_is_for_all_projects_has_no_project_and_no_focus(place: Place) -> None:
    memory = place.open(focus="engines")
    answer = note(memory, "metric units only", level="global")
    (node,) = memory.ctx.store.nodes(memory.ctx.viewer, When(), [answer.id])
    assert (node.guard.project, node.focus) == (None, None)
    for given in ({"project": "ferry"}, {"focus": "engines"}):
        with pytest.raises(Invalid, match="neither project nor focus"):
            note(memory, "both?", level="global", **given)


def test_without_any_project_nothing_is_written_and_nothing_read(memory: weft.Memory) -> None:
    nowhere = Memory(replace(memory.ctx, settings=replace(memory.ctx.settings, project="")))
    assert scope_of(nowhere.ctx, focus="engines").state == "unresolved"
    answer = note(nowhere, "where?")
    assert (answer.status, events(memory)) == ("blocked_scope", 0)
    read = nowhere.call("project_context")
    assert (read.status, read.scope_state, read.items) == ("empty", "unresolved", ())
    assert any("WEFT_PROJECT" in line for line in read.notes)


@pytest.mark.parametrize("name", ["", "a b", "../up", "-x", "x" * 129, "a/b", "é"])
@pytest.mark.parametrize("operation", ["project_create", "focus_create"])
def test_a_name_that_is_none_is_refused(memory: weft.Memory, operation: str, name: str) -> None:
    with pytest.raises(Invalid):
        memory.call(operation, name=name)
    assert events(memory) == 0


def test_init_makes_the_project(memory: weft.Memory, place: Place) -> None:
    answer = memory.call("init", project="harbour")
    assert (answer.project, answer.notes) == ("harbour", ())
    assert "harbour" in Path(answer.path).read_text()
    assert memory.show("project:harbour").node is not None
    assert scope_of(place.open(directory=place.scratch).ctx, project="harbour").state == "resolved_project"
