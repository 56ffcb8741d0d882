"""Which files are read, which are passed over, and what is said of those."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from tests.places import Place
from weft.core.errors import WeftError
from weft.files import walk as walking
from weft.ingest.ingest import IngestResult


def sources(memory: weft.Memory) -> set[str]:
    return {str(node.props["source"]) for node in memory.recent(kinds=["Document"], limit=100).nodes}


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path = path.with_name(f"{path.name}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def reasons(done: IngestResult) -> dict[str, str]:
    return {each.path: each.reason for each in done.skipped}


def test_gitignore_is_read_as_git_reads_it(place: Place, memory: weft.Memory) -> None:
    root = place.root
    names = (
        "a",
        "top",
        "build__x",
        "src__build__y",
        "src__top",
        "src__keep",
        "src__drop",
        "src__deep__drop",
        "logs__z",
    )
    write(root, **dict.fromkeys(names, "# Words\n"))
    (root / ".gitignore").write_text("# comment\n\nbuild/\n/top.md\nlogs/*\n!logs/z.md\ndrop.md\n")
    (root / "src" / ".gitignore").write_text("!deep/drop.md\nkeep.md\n")
    done = memory.ingest(root)
    expected = {"a.md", "src/top.md", "src/deep/drop.md", "logs/z.md"}
    assert sources(memory) == expected
    assert done.ignored == 5
    assert done.skipped == ()
    git = ["git", "-c", "init.defaultBranch=main", "-C", str(root)]
    subprocess.run([*git, "init", "-q"], check=True)
    listed = subprocess.run(
        [*git, "ls-files", "-o", "--exclude-standard", "*.md"], check=True, capture_output=True, text=True
    ).stdout
    assert set(listed.split()) == expected


def test_directories_of_tools_are_skipped_by_default_and_named(place: Place, memory: weft.Memory) -> None:
    skipped = ("app__node_modules__x__a", "dist__b", "lib__target__c", "vendor__d", "env__e", "__pycache__f")
    kept = ("app__vendor__g", "target__h", "app__env__i", "pages__j")
    write(place.root, **dict.fromkeys((*skipped[:-1], *kept), "# Words\n"))
    for marker in ("lib/Cargo.toml", "go.mod", "env/pyvenv.cfg", "__pycache__/f.md"):
        (place.root / marker).parent.mkdir(exist_ok=True)
        (place.root / marker).write_text("# Words\n")
    done = memory.ingest(place.root)
    assert sources(memory) == {f"{each.replace('__', '/')}.md" for each in kept}
    installed, built = "holds installed packages", "holds build output"
    assert {path: reason.partition(";")[0] for path, reason in reasons(done).items()} == {
        "app/node_modules": installed,
        "env": installed,
        "vendor": installed,
        "__pycache__": built,
        "dist": built,
        "lib/target": built,
    }
    (place.root / ".gitignore").write_text("!dist/\nvendor/\n")
    done = memory.ingest(place.root)
    assert "dist/b.md" in sources(memory)
    assert not {"dist", "vendor"} & set(reasons(done))
    memory.ingest(place.root / "env")
    assert "env/e.md" in sources(memory)


def test_the_setting_ignore_counts_beside_gitignore(place: Place) -> None:
    write(place.root, a="# A\n", drafts__b="# B\n", old__c="# C\n")
    (place.root / ".gitignore").write_text("old/\n")
    memory = place.open(ignore="drafts/, !old/")
    memory.ingest(place.root)
    assert sources(memory) == {"a.md", "old/c.md"}


def test_what_is_named_is_read_whatever_a_pattern_says(place: Place, memory: weft.Memory) -> None:
    write(place.root, build__a="# A\n", build__deep__b="# B\n", b="# B\n")
    (place.root / ".gitignore").write_text("build/\n*.md\n")
    memory.ingest(place.root / "b.md")
    assert sources(memory) == {"b.md"}
    memory.ingest(place.root / "build")
    assert sources(memory) == {"b.md", "build/a.md", "build/deep/b.md"}


def test_patterns_that_mean_nothing_are_told_and_the_others_hold(place: Place, memory: weft.Memory) -> None:
    write(place.root, a="# A\n", b="# B\n")
    (place.root / ".gitignore").write_text("!\nb.md\n")
    done = memory.ingest(place.root)
    assert sources(memory) == {"a.md"}
    assert any("'!'" in note for note in done.notes)


def test_links_are_not_followed_and_loops_do_no_harm(place: Place, memory: weft.Memory, tmp_path: Path) -> None:
    write(place.root, real__a="# A\n")
    (tmp_path / "outside").mkdir()
    write(tmp_path / "outside", secret="# Secret\n")
    (place.root / "real" / "loop").symlink_to(place.root, target_is_directory=True)
    (place.root / "out").symlink_to(tmp_path / "outside", target_is_directory=True)
    (place.root / "b.md").symlink_to(place.root / "real" / "a.md")
    (place.root / "nowhere.md").symlink_to(place.root / "missing.md")
    (place.root / "self").symlink_to("self")
    done = memory.ingest(place.root)
    assert sources(memory) == {"real/a.md"}
    assert (done.skipped, done.notes) == ((), ())
    named = memory.ingest(place.root / "b.md")
    assert named.unchanged == 1, "a file has one name"
    assert any("link" in note and "real/a.md" in note for note in named.notes)
    with pytest.raises(WeftError):
        memory.ingest(place.root / "self")
    with pytest.raises(WeftError, match="outside the project"):
        memory.ingest(place.root / "out")


def test_what_cannot_be_read_is_grouped_by_reason_and_the_rest_goes_on(place: Place) -> None:
    root = place.root
    memory = place.open(document_bytes="4096")
    write(root, good="# Good\n\nwords\n", Good="# Another\n")
    for number in range(150):
        (root / f"huge{number:03}.md").write_text("x" * 5_000)
    os.mkfifo(root / "pipe.md")
    (root / "folder.md").mkdir()
    (root / "nul.txt").write_bytes(b"\x00\x01\x02" * 100)
    (root / "latin.md").write_bytes(b"caf\xe9 au lait")
    (root / "nul.py").write_bytes(b"x = '\x00'\n")
    (root / "closed.md").write_text("# Closed\n")
    (root / "closed.md").chmod(0)
    with open(bytes(root) + b"/bad\xff.md", "w") as file:
        file.write("# Bad name\n")
    long = root
    for _ in range(8):
        long = long / ("d" * 100)
        long.mkdir()
    (long / "deep.md").write_text("# Deep\n")
    done = memory.ingest(root)
    told = reasons(done)
    assert sources(memory) >= {"good.md", "Good.md"}
    assert done.reasons["larger than 4,096 bytes"] == 150
    assert len(done.skipped) == 100
    assert sum(done.reasons.values()) > 150
    for number in range(150):
        (root / f"huge{number:03}.md").unlink()
    told = reasons(memory.ingest(root))
    assert told["pipe.md"] == "is not a file"
    assert "NUL" in told["nul.txt"] or "binary" in told["nul.txt"]
    assert "UTF-8" in told["latin.md"]
    assert "NUL" in told["nul.py"]
    assert "name is not UTF-8" in told["bad?.md"]
    assert any("path has more than" in reason for reason in told.values())
    if os.geteuid():
        assert "Permission denied" in told["closed.md"]


def test_a_file_far_too_large_costs_nothing(place: Place, memory: weft.Memory) -> None:
    with open(place.root / "dump.txt", "wb") as file:
        file.truncate(2_000_000_000)
    done = memory.ingest(place.root)
    assert "larger than 524,288 bytes" in done.skipped[0].reason


def test_a_folder_with_more_entries_than_the_bound_keeps_no_more(
    place: Place, memory: weft.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "MAX_FILES", 20)
    monkeypatch.setattr(walking, "MAX_FOLDERS", 5)
    for number in range(60):
        (place.root / f"{number:02}.md").touch()
        (place.root / f"d{number:02}").mkdir()
    done = memory.ingest(place.root)
    assert done.documents + done.unchanged == 20
    assert any("more than 20 files" in reason for reason in done.reasons)


def test_a_file_that_vanishes_while_others_are_read_is_told(
    place: Place, memory: weft.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(place.root, a="# A\n", b="# B\n")
    walk = walking.walk

    def walk_and_lose(*args: object, **more: object) -> walking.FileListing:
        found = walk(*args, **more)  # type: ignore[arg-type]
        (place.root / "a.md").unlink()
        return found

    monkeypatch.setattr("weft.ingest.ingest.walk", walk_and_lose)
    done = memory.ingest(place.root)
    assert (done.documents, reasons(done)) == (1, {"a.md": "is gone"})


def test_files_that_are_gone_are_told_and_ended_on_request(place: Place, memory: weft.Memory) -> None:
    root = place.root
    write(root, a="# A\n\nalpha words\n", old__b="# B\n\nbeta words\n", big="# Big\n")
    (root / "m.py").write_text("def mast() -> None:\n    pass\n")
    memory.ingest(root)
    (root / "a.md").unlink()
    (root / "m.py").unlink()
    (root / "big.md").write_text("# Big\n" + "x" * 600_000)
    done = memory.ingest(root)
    assert done.gone == 2, "what is there and was passed over is not gone"
    assert any("weft ingest . --gone" in note for note in done.notes)
    assert memory.recall("alpha words").hits, "nothing is ended unasked"
    assert memory.ingest(root / "old").gone == 0, "what stands elsewhere is another matter"
    ended = memory.ingest(root, gone=True)
    assert (ended.gone, ended.ended) == (0, 2)
    assert not [hit for hit in memory.recall("alpha words").hits if "alpha" in hit.node.text]
    assert memory.show("ferry/a.md").history
    assert memory.show("ferry/old/b.md").node is not None
    again = memory.ingest(root, gone=True)
    assert (again.gone, again.ended, again.notes) == (0, 0, ())
    write(root, a="# A\n\nalpha words\n")
    assert memory.ingest(root).documents == 1
    assert memory.recall("alpha words").hits[0].node.props["source"] == "a.md"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_unchanged_tree_is_read_again_without_a_write(place: Place, memory: weft.Memory) -> None:
    write(place.root, **{f"f{number}": f"# {number}\n\nwords\n" for number in range(600)})
    memory.ingest(place.root)
    events = memory.stats().store.events
    handles = len(os.listdir("/proc/self/fd"))
    done = memory.ingest(place.root)
    assert (done.unchanged, done.documents) == (600, 0)
    assert memory.stats().store.events == events
    assert len(os.listdir("/proc/self/fd")) <= handles, "no file stays open"


def test_what_weft_wrote_is_not_taken_in_again(place: Place, memory: weft.Memory) -> None:
    (place.root / "agents").mkdir()
    (place.root / "agents" / "desk.toml").write_text("")
    write(place.root, plan="# Plan\n\nPaint the hull.\n", agents__desk__NOTES="# Notes\n\nThe desk is brown.\n")
    memory.remember("The desk closes at six.", agents=["desk"], scope="public")
    memory.call("bake", slug="desk")
    done = memory.ingest(str(place.root))
    assert sources(memory) == {"plan.md", "agents/desk/NOTES.md"}
    told = reasons(done)
    assert set(told) == {"agents/desk/KNOWLEDGE.md", "agents/desk/KNOWLEDGE-SUMMARY.md"}
    assert all("written by weft" in why for why in told.values())
    # One that came with a clone, from another store, is no source either.
    (place.scratch / "store" / "written.json").unlink()
    assert set(reasons(memory.ingest(str(place.root)))) == set(told)
    # Whoever puts a text of their own in its place has it read.
    (place.root / "agents" / "desk" / "KNOWLEDGE.md").write_text("# Mine\n\nThe desk is green.\n")
    memory.ingest(str(place.root))
    assert "agents/desk/KNOWLEDGE.md" in sources(memory)
