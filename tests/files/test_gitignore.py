"""Patterns of .gitignore: git is the judge, and none of them takes long."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import weft
from tests.places import Place
from weft.files.gitignore import read_patterns
from weft.files.walk import walk

FILES = [
    "a", "b", "ab", "abc", "a.md", "b.md", "x-y", "a/b", "a/b.md", "a/a/b", "a/a/a/b.md", "a/c/b", "b/a/b", "d/a",
    "d/ab/c", "d/e/f/a.md", "B/A", "d/[a]", "d/a b", "d/!x", "d/#x", "d/a\\b", "d/x*", "d/-", "d/]", "d/^", "d/1",
    "c/ ",
]  # fmt: skip
PIECES = [
    "a", "b", "c", "d", "x", "*", "**", "?", "/", "/", "**/", "/**", "*.md", "[ab]", "[!a]", "[^a-c]", "[a-", "[]a]",
    "[a-c-e]", "[[:alpha:]]", "[[:digit:]x]", "[z-a]", "[!z-a]", "\\", "\\*", "\\ ", " ", "!", "#", "[", "]", "-", ".",
    "[\\]]", "[--a]", "***", "[[:x:]]", "[a",
]  # fmt: skip
# `a**/b`, which git reads against its own manual, and a slash in brackets, which we call no pattern.
ODD = re.compile(r"[^/*]\*\*+/|\[.*/")
PATTERNS = st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for name in FILES:
        if not any(other.startswith(f"{name}/") for other in FILES):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).touch()
    subprocess.run(["git", "-c", "init.defaultBranch=main", "-C", str(root), "init", "-q"], check=True)
    return root


def test_what_git_would_list_is_read(tree: Path) -> None:
    @settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(PATTERNS)
    @example(["**/a/**/b", "!d/", "[!a]*"])
    @example(["a/**", "!a/a/"])
    @example(["/**/b"])
    @example(["d/*", "!d/a"])
    @example(["*\\ "])
    @example(["[a-[[:digit:]x]"])
    @example(["d/[[:alpha:]]", "d/\\#x", "\\!x", "#x"])
    def compare(lines: list[str]) -> None:
        if any(ODD.search(line) for line in lines):
            return
        (tree / ".gitignore").write_text("\n".join(lines) + "\n")
        listed = subprocess.run(
            ["git", "-C", str(tree), "ls-files", "-z", "-o", "--exclude-standard"], check=True, capture_output=True
        ).stdout.decode()
        expected = sorted(name for name in listed.split("\0") if name and name != ".gitignore")
        assert sorted(walk(tree, tree, wanted=bool).files) == expected

    compare()


@pytest.mark.parametrize(
    ("pattern", "source"),
    [
        ("*a*a*a*a*a*b", "a" * 250),
        ("*a" * 400 + "*b", "a" * 250),
        ("*?" * 100 + "b", "a" * 250),
        ("*" * 900 + "b", "a" * 250),
        ("[a]*" * 200 + "b", "a" * 250),
        ("**/a/" * 150 + "b", "a/" * 2_000 + "x"),
        ("**/*a*a*a*/" * 60 + "b", ("a" * 99 + "/") * 40 + "x"),
    ],
)
def test_no_pattern_takes_long(pattern: str, source: str) -> None:
    patterns = read_patterns("", [pattern])
    assert not patterns.faults
    before = time.process_time()
    assert patterns.verdict(source, folder=False) is None
    assert time.process_time() - before < 1


def test_a_hostile_gitignore_does_not_stop_an_ingest(place: Place, memory: weft.Memory) -> None:
    (place.root / ".gitignore").write_text("*a*a*a*a*a*a*a*a*b\n[a\nend\\\n")
    (place.root / ("a" * 200 + ".md")).write_text("# Words\n\nThey are read.\n")
    before = time.process_time()
    done = memory.ingest(place.root)
    assert time.process_time() - before < 5
    assert done.documents == 1
    assert any("'[a'" in note and "'end" in note for note in done.notes)


def test_a_folder_inside_an_ignored_one_is_read_when_it_is_named(place: Place, memory: weft.Memory) -> None:
    (place.root / "build" / "deep").mkdir(parents=True)
    (place.root / "build" / "deep" / "a.md").write_text("# A\n")
    (place.root / ".gitignore").write_text("build/\n*.md\n")
    assert memory.ingest(place.root).documents == 0
    assert memory.ingest(place.root / "build" / "deep").documents == 1


def test_a_pattern_holds_below_its_folder_only(place: Place, memory: weft.Memory) -> None:
    (place.root / "docs" / "sub").mkdir(parents=True)
    (place.root / "docs" / "sub" / "a.md").write_text("# A\n")
    (place.root / "docs" / "sub" / "draft.md").write_text("# Draft\n")
    (place.root / "docs" / ".gitignore").write_text("*\n!sub/\n!*.md\ndraft.md\n")
    assert memory.ingest(place.root / "docs" / "sub").documents == 1


def test_patterns_of_many_folders_are_bounded_together(tmp_path: Path) -> None:
    folder = tmp_path
    for depth in range(6):
        (folder / ".gitignore").write_text("".join(f"p{depth}-{n}\n" for n in range(1_990)) + f"d{depth}.md\n")
        (folder / f"d{depth}.md").touch()
        folder = folder / "x"
        folder.mkdir()
    found = walk(tmp_path, tmp_path, wanted=bool)
    assert found.files == ("x/x/x/x/d4.md", "x/x/x/x/x/d5.md")
    assert [note.split(" was")[0] for note in found.notes] == ["x/x/x/x/.gitignore", "x/x/x/x/x/.gitignore"]
