"""Files and directories as callers name them: read, cited and written, or refused with a reason."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.places import Place
from weft.core.errors import Invalid, NotFound, StoreError
from weft.files import walk as walking
from weft.upkeep import store as upkeep

# ---- ingest


def test_reading_again_with_another_scope_changes_the_rights(place: Place, memory: weft.Memory) -> None:
    (place.root / "a.md").write_text("# One\n\nwords\n")
    guest = place.open(scopes="public")
    memory.ingest(place.root, scope="public")
    assert guest.recall("words").hits
    assert memory.ingest(place.root, scope="admin").documents == 1
    assert not guest.recall("words").hits
    assert memory.ingest(place.root, scope="admin").unchanged == 1


def test_a_file_has_one_name_however_it_is_reached(place: Place, tmp_path: Path) -> None:
    (place.root / "docs").mkdir()
    (place.root / "docs" / "a.md").write_text("# One\n")
    (tmp_path / "link").symlink_to(place.root)
    memory, linked = place.open(), place.open(tmp_path / "link", project="ferry")
    assert memory.ingest(place.root / "docs").documents == 1
    assert memory.ingest(place.root / "docs" / ".." / "docs" / "a.md").unchanged == 1
    assert memory.ingest(tmp_path / "link" / "docs").unchanged == 1
    assert linked.ingest(place.root).unchanged == 1
    assert linked.ingest(tmp_path / "link").unchanged == 1
    assert [node.id for node in memory.recent(kinds=["Document"]).nodes] == ["ferry/docs/a.md"]


def test_a_directory_that_cannot_be_listed_is_told(
    place: Place, memory: weft.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.root / "closed").mkdir()
    (place.root / "a.md").write_text("# One\n")
    real = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    done = memory.ingest(place.root)
    assert (done.documents, [(each.path, each.reason) for each in done.skipped]) == (
        1,
        [("closed", "cannot be listed: Permission denied")],
    )


def test_more_files_than_the_bound_are_told(place: Place, memory: weft.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "MAX_FILES", 2)
    for name in "abc":
        (place.root / f"{name}.md").write_text("# One\n")
    done = memory.ingest(place.root)
    assert (done.documents, [each.path for each in done.skipped]) == (2, ["c.md"])
    assert "more than 2 files" in done.skipped[0].reason
    (place.root / "c.md").unlink()
    assert memory.ingest(place.root).skipped == ()


def test_a_file_that_may_not_be_touched_is_skipped_and_the_rest_goes_on(place: Place) -> None:
    (place.root / "a.md").write_text("# Hidden\n")
    place.open().ingest(place.root)
    (place.root / "a.md").write_text("# Changed\n")
    (place.root / "b.md").write_text("# Free\n")
    done = place.open(scopes="public").ingest(place.root)
    assert (done.documents, [each.path for each in done.skipped]) == (1, ["a.md"])


def test_sections_end_with_their_own_file_only(place: Place, memory: weft.Memory) -> None:
    (place.root / "a.md#b.md").write_text("# Other\n\nstays\n")
    (place.root / "a.md").write_text("# One\n\nfirst\n\n# Two\n\nsecond\n")
    memory.ingest(place.root)
    memory.remember("not a section of a file", kind="Section", props={"source": "a.md"})
    (place.root / "a.md").write_text("# One\n\nfirst\n")
    memory.ingest(place.root)
    left = {node.name or node.text for node in memory.recent(kinds=["Section"]).nodes}
    assert left == {"One", "Other", "not a section of a file"}


# ---- cite


def test_only_lines_that_were_ingested_are_printed(place: Place, memory: weft.Memory) -> None:
    file = place.root / "a.md"
    file.write_text("# One\n\nfirst\n\n# Two\n\nsecond\n")
    memory.ingest(place.root)
    beyond = memory.cite("file://a.md:3-70")
    assert (beyond.matches, beyond.lines) == (True, ("first", "", "# Two", "", "second"))
    assert beyond.notes == ("cut after line 7: the lines after it were not ingested",)
    file.write_text("# One\n\nsecret\n\n# Two\n\nsecond\n")
    changed = memory.cite("file://a.md:1-7")
    assert (changed.matches, changed.lines) == (False, ("# One", "", "first", "", "# Two", "", "second"))


def test_a_memory_cannot_pose_as_a_section(place: Place, memory: weft.Memory) -> None:
    (place.root / "secrets.env").write_text("KEY=1\n")
    memory.remember("x", kind="Section", props={"source": "secrets.env", "line": 1, "end_line": 100})
    with pytest.raises(NotFound):
        memory.cite("file://secrets.env:1")


def test_a_file_of_another_project_is_not_cited_here(place: Place, tmp_path: Path) -> None:
    (tmp_path / "barge").mkdir()
    (tmp_path / "barge" / "a.md").write_text("# Theirs\n")
    place.open(tmp_path / "barge").ingest(tmp_path / "barge")
    (place.root / "a.md").write_text("# Ours, never ingested\n")
    with pytest.raises(NotFound):
        place.open().cite("file://a.md:1")


# ---- paths that name nothing


@pytest.mark.parametrize("name", ["ingest", "backup", "log_export", "log_import"])
@pytest.mark.parametrize("path", ["a\x00b", "~nobody-of-this-name/x", "x" * 300, "x" * 300 + "/y"], ids=range(4))
def test_impossible_paths_are_refused_with_a_hint(memory: weft.Memory, name: str, path: str) -> None:
    memory.remember("words")
    with pytest.raises((Invalid, StoreError)) as caught:
        memory.call(name, path=path)
    assert caught.value.hint


def test_a_log_that_cannot_be_read_is_told(memory: weft.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match="cannot be read"):
        memory.call("log_import", path="/proc/self/mem")

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(StoreError, match="Permission denied"):
        memory.call("log_import", path="/proc/self/status")


@pytest.mark.parametrize("after", [2**53, 2**64, 10**30])
def test_a_number_beyond_all_sessions_is_refused(memory: weft.Memory, after: int) -> None:
    with pytest.raises(Invalid):
        memory.call("log_show", session="operator", after=after)


# ---- rebuild


def test_a_rebuild_beside_writers_does_not_claim_a_difference(
    place: Place, memory: weft.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("words")
    other, real = place.open(session="other"), upkeep.graph_digest

    def digest_then_write(rows: Any) -> str:
        found = real(rows)
        other.remember("written meanwhile")
        return found

    monkeypatch.setattr(upkeep, "graph_digest", digest_then_write)
    rebuilt = memory.call("rebuild")
    assert rebuilt.equal is None
    assert "meanwhile" in rebuilt.notes[0]
    monkeypatch.undo()
    assert memory.call("rebuild").equal is True
