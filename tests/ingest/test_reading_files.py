"""Reading the files of a project: new versions of what changed, sections, progress."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.places import Place
from tests.recall.short_answers import texts
from weft.core.clock import to_iso
from weft.core.errors import Invalid, NotFound
from weft.operations import OPERATIONS
from weft.testing.clock import ManualClock


def test_unchanged_files_cost_nothing_and_changed_ones_get_new_versions(
    place: Place, memory: weft.Memory, clock: ManualClock
) -> None:
    file = place.root / "notes" / "a.md"
    file.parent.mkdir()
    file.write_text("# One\n\nfirst\n\n# Gone\n\nold\n")
    (place.root / "b.txt").write_text("plain words")
    first = memory.ingest(place.root)
    assert (first.documents, first.sections, first.unchanged, first.skipped) == (2, 3, 0, ())
    events = memory.stats().store.events
    again = memory.ingest(place.root)
    assert (again.documents, again.unchanged) == (0, 2)
    assert memory.stats().store.events == events
    clock.step()
    known = to_iso(clock.now_us() - 1)
    file.write_text("# One\n\nfirst, revised\n")
    assert memory.ingest(file).documents == 1
    assert texts(memory.recall("first", kinds=["Chunk"])) == ["first, revised"]
    assert "old" not in texts(memory.recall("old", kinds=["Chunk"]))
    assert texts(memory.recall("old", kinds=["Chunk"], known_at=known))[0] == "old"
    assert [edge.rel for edge in memory.show("ferry/notes/a.md").edges] == ["CONTAINS"]


def test_what_cannot_be_read_is_listed_and_the_rest_goes_on(place: Place, memory: weft.Memory) -> None:
    root = place.root
    (root / "good.md").write_text("# Good\n\nwords\n")
    (root / "latin.md").write_bytes(b"caf\xe9")
    (root / "nul.txt").write_bytes(b"a\x00b")
    (root / "huge.txt").write_text("x" * 600_000)
    (root / "quotes.txt").write_text('"' * 510_000)
    (root / "image.png").write_bytes(b"\x89PNG")
    (root / ".hidden.md").write_text("# Hidden")
    (root / ".git").mkdir()
    (root / ".git" / "x.md").write_text("# Inside")
    (root / "link.md").symlink_to(root / "good.md")
    with open(bytes(root) + b"/bad\xff.md", "w") as file:
        file.write("# Bad name\n")
    done = memory.ingest(root)
    assert (done.documents, done.sections) == (1, 1)
    reasons = {each.path: each.reason for each in done.skipped}
    assert set(reasons) == {"latin.md", "nul.txt", "huge.txt", "quotes.txt", "bad?.md"}
    assert "not UTF-8" in reasons["latin.md"]
    assert "NUL" in reasons["nul.txt"]
    assert "larger than" in reasons["huge.txt"]
    assert "limit" in reasons["quotes.txt"]
    assert "name" in reasons["bad?.md"]


def test_ingest_stays_inside_the_project(place: Place, memory: weft.Memory, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("# Out")
    with pytest.raises(Invalid, match="outside the project") as caught:
        memory.ingest(tmp_path / "outside.md")
    assert "weft init" in caught.value.hint
    with pytest.raises(NotFound):
        memory.ingest(place.root / "missing.md")


def test_sections_nest_and_headings_of_one_name_stay_apart(place: Place, memory: weft.Memory) -> None:
    text = "\ufeff# Top\n\n## Same\n\none\n\n# Other\n\n## Same\n\ntwo\n\n# X\n\na\n\n# X~2\n\nb\n\n# X\n\nc\n"
    (place.root / "a.md").write_text(text, encoding="utf-8")
    memory.ingest(place.root)
    inside = [edge.name for edge in memory.show("ferry/a.md#Top").edges if edge.direction == "out"]
    assert inside == ["Same"], "a byte order mark does not hide the first heading"
    one, two = memory.show("ferry/a.md#Top#Same¶1").node, memory.show("ferry/a.md#Other#Same¶1").node
    assert one is not None
    assert two is not None
    assert (one.text, two.text) == ("one", "two")
    bodies = [node.text for node in memory.recent(kinds=["Chunk"], limit=100).nodes if "#X" in node.id]
    assert sorted(bodies) == ["a", "b", "c"], "no section is lost to a heading that looks like a number of ours"


def test_progress_is_told(place: Place, memory: weft.Memory) -> None:
    for number in range(3):
        (place.root / f"{number}.md").write_text(f"# {number}\n")
    told: list[tuple[str, int, int]] = []
    operation = next(each for each in OPERATIONS if each.name == "ingest")
    memory.run(operation, {"path": str(place.root)}, progress=lambda *args: told.append(args))
    assert told == [("reading", 1, 3), ("reading", 2, 3), ("reading", 3, 3)]


def test_several_paths_are_read_in_one_call_each_file_once(place: Place, memory: weft.Memory) -> None:
    here = place.root
    for name in ("docs/a.md", "docs/b.md", "notes/c.md"):
        (place.root / name).parent.mkdir(exist_ok=True)
        (place.root / name).write_text(f"# {name}\n\nWords of {name}.\n")
    (place.root / "rows.jsonl").write_text('{"id": "one", "text": "a row"}\n')
    (place.root / "ship.py").write_text("def sail():\n    return 1\n")
    done = memory.ingest(
        here / "docs", more=[here / name for name in ("notes/c.md", "docs/a.md", "rows.jsonl", "ship.py")]
    )
    assert (done.documents, done.records, done.files, done.unchanged) == (3, 1, 1, 0)
    again = memory.ingest(here / "docs", more=[here / "notes" / "c.md", here / "rows.jsonl"])
    assert (again.documents, again.records, again.unchanged) == (0, 0, 4)
    (place.root / "docs" / "b.md").unlink()
    (place.root / "notes" / "c.md").unlink()
    assert memory.ingest(here / "docs", more=[here / "notes"], gone=True).ended == 2


def test_of_several_paths_none_is_read_if_one_is_missing(place: Place, memory: weft.Memory) -> None:
    (place.root / "a.md").write_text("# One\n\nfirst\n")
    with pytest.raises(NotFound, match="nowhere"):
        memory.ingest(place.root / "a.md", more=[place.root / "nowhere.md"])
    assert memory.ingest(place.root / "a.md").documents == 1
