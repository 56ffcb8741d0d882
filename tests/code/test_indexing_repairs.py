"""Indexing again after things went wrong, or changed their sort: the graph shows what a fresh store would."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

import weft
from tests.code.test_indexing_machine import shown
from weft.code.index.facts_file import FactsFile
from weft.code.index.index import CodeIndexed, index_workspace
from weft.core.errors import DiskFull
from weft.core.types import NOW

NOBODY = 65_534
MANY = 45  # files: more than a small change has


class Ship:
    """A workspace, and a store of its index that lasts."""

    def __init__(self, scratch: Path) -> None:
        self.scratch, self.root = scratch, scratch / "ship"
        self.root.mkdir()
        self.memory = self.open(f"sqlite://{scratch / 'store'}")

    def open(self, url: str) -> weft.Memory:
        environment = {"HOME": str(self.scratch), "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off"}
        return weft.open(url, directory=self.root, environment=environment)

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)

    def index(self, *paths: str, full: bool = False) -> CodeIndexed:
        return index_workspace(self.memory.ctx, paths=paths or None, full=full)

    def files(self) -> set[str]:
        return {key.removeprefix("ship/") for key, node in shown(self.memory)[0].items() if node[0] == "File"}

    def must_be_as_fresh(self) -> None:
        fresh = self.open("memory://")
        index_workspace(fresh.ctx)
        now, then = shown(self.memory), shown(fresh)
        fresh.close()
        assert now == then


@pytest.fixture
def ship(tmp_path: Path) -> Iterator[Ship]:
    made = Ship(tmp_path)
    yield made
    made.memory.close()


CALLS_B = "import b\n\n\ndef go():\n    return b.load()\n"
B = "def load():\n    pass\n"


# ---- what ends


def test_a_full_run_ends_what_patterns_pass_over_now_and_what_became_a_link(ship: Ship) -> None:
    ship.write({"a.py": CALLS_B, "b.py": B, "q.py": "def q(): pass\n", "r.py": "def r(): pass\n"})
    ship.index()
    ship.write({".gitignore": "q.py\n"})
    (ship.root / "r.py").unlink()
    (ship.root / "r.py").symlink_to("a.py")
    done = ship.index(full=True)
    assert (done.ended, ship.files()) == (2, {"a.py", "b.py"})
    ship.must_be_as_fresh()


def test_a_full_run_reads_what_only_its_name_brought_in(ship: Ship) -> None:
    ship.write({".gitignore": "b.py\n", "a.py": CALLS_B, "b.py": B})
    ship.index()
    ship.index("b.py")
    ship.memory.ingest(ship.root / "b.py")
    before = shown(ship.memory)
    assert "b.py" in ship.files()
    ship.index(full=True)
    assert shown(ship.memory) == before
    (ship.root / "b.py").unlink()
    assert ship.index().ended == 1


def test_a_file_that_goes_while_everything_is_read_ends_with_the_next_run(
    ship: Ship, monkeypatch: pytest.MonkeyPatch
) -> None:
    ship.write({"a.py": CALLS_B, "b.py": B, "z.py": B})
    ship.index()
    real = os.scandir

    @contextmanager
    def scandir(path: Any) -> Iterator[Iterator[os.DirEntry[str]]]:
        with real(path) as entries:
            listed = list(entries)
        (ship.root / "z.py").unlink(missing_ok=True)  # between being found and being read
        yield iter(listed)

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", scandir)
        done = ship.index(full=True)
    assert [(each.path, each.reason) for each in done.skipped] == [("z.py", "is gone")]
    assert ship.index().ended == 1
    ship.must_be_as_fresh()


def test_what_was_indexed_ends_though_facts_were_lost_and_one_file_read_since(ship: Ship) -> None:
    ship.write({"a.py": CALLS_B, "b.py": B})
    ship.index()
    shutil.rmtree(ship.scratch / "store" / "code")
    ship.memory.ingest(ship.root / "a.py")
    (ship.root / "b.py").unlink()
    assert ship.index().ended == 1
    ship.must_be_as_fresh()


@pytest.fixture
def open_ship() -> Iterator[Ship]:
    """In a directory that everybody may enter."""
    place = Path(tempfile.mkdtemp(prefix="weft-"))
    place.chmod(0o755)
    made = Ship(place)
    yield made
    made.memory.close()
    shutil.rmtree(place)


def _without_rights(run: Callable[[], Any]) -> Any:
    """What comes of it for somebody to whom the rights of files apply."""
    if os.geteuid() != 0:
        return run()
    os.seteuid(NOBODY)
    try:
        return run()
    finally:
        os.seteuid(0)


def test_nothing_ends_in_a_folder_that_cannot_be_listed(open_ship: Ship) -> None:
    ship = open_ship
    ship.memory.close()
    ship.memory = ship.open("memory://")
    ship.write({"a.py": CALLS_B, "b.py": B, "deep/c.py": B, "deep/d.py": B})
    ship.index()
    (ship.root / "deep").chmod(0)
    try:
        done = _without_rights(ship.index)
        named = _without_rights(lambda: ship.index("deep/c.py"))
    finally:
        (ship.root / "deep").chmod(0o755)
    assert (done.ended, named.ended) == (0, 0)
    assert any("cannot be listed" in each.reason for each in done.skipped)
    (ship.root / "deep" / "c.py").unlink()
    assert ship.index().ended == 1
    ship.must_be_as_fresh()


@pytest.mark.parametrize("what", ["folder", "link", "pipe"])
def test_a_path_that_is_no_file_any_more_ends(ship: Ship, what: str) -> None:
    ship.write({"a.py": CALLS_B, "b.py": B})
    ship.index()
    path = ship.root / "b.py"
    path.unlink()
    if what == "folder":
        path.mkdir()
    elif what == "link":
        path.symlink_to("a.py")
    else:
        os.mkfifo(path)
    assert ship.index("b.py").ended == 1
    assert ship.files() == {"a.py"}


# ---- relations


def test_links_of_a_file_that_is_gone_do_not_come_back_after_a_full_run(ship: Ship) -> None:
    ship.write({"a.py": CALLS_B, "b.py": B} | {f"c{number}.py": B for number in range(MANY)})
    ship.index()
    (ship.root / "a.py").unlink()
    ship.index(full=True)
    (ship.root / "b.py").unlink()
    ship.write({"a.py": "def go():\n    return 1\n"})
    ship.index()
    ship.write({"b.py": B})  # then both ends of what a.py said once are there
    ship.index()
    ship.must_be_as_fresh()


def test_a_full_run_over_one_file_keeps_its_links_to_others(ship: Ship) -> None:
    ship.write({"a.py": CALLS_B, "b.py": B})
    ship.index()
    ship.index("a.py", full=True)
    ship.must_be_as_fresh()
    (ship.root / "b.py").unlink()
    assert ship.index().ended == 1
    ship.must_be_as_fresh()


WITH_TYPE = "package p\n\ntype T struct{}\n\nfunc (t T) M() {}\n"


@pytest.mark.parametrize(
    "versions",
    [
        (WITH_TYPE, WITH_TYPE.replace("type T", "type U")),
        (WITH_TYPE.replace("type T", "type U"), WITH_TYPE),
        (WITH_TYPE, WITH_TYPE.replace("type T struct{}\n\n", ""), WITH_TYPE),
    ],
    ids=["leaves", "comes", "leaves and comes back"],
)
def test_a_method_is_part_of_its_type_while_that_is_in_the_file(ship: Ship, versions: tuple[str, ...]) -> None:
    for text in versions:
        ship.write({"a.go": text})
        ship.index()
        ship.must_be_as_fresh()
    ship.index(full=True)
    ship.must_be_as_fresh()


def test_links_of_a_symbol_whose_kind_changed_stand_after_a_full_run(ship: Ship) -> None:
    tested = "class A {\n    @Test\n    void x() { new B().f(); }\n}\n"
    ship.write({"A.java": tested, "B.java": "class B {\n    void f() {}\n}\n"})
    ship.index()
    ship.write({"A.java": tested.replace("    @Test\n", "")})
    ship.index()
    before = shown(ship.memory)
    assert any(edge[:2] == ("ship/A.java::A::x~2", "CALLS") for edge in before[1])
    ship.index(full=True)
    assert shown(ship.memory) == before
    ship.write({"B.java": "class B {\n    void f() {}\n\n    void g() {}\n}\n"})
    ship.index()
    assert {edge for edge in before[1] if edge[1] == "CALLS"} <= shown(ship.memory)[1]


# ---- what is too much


def test_a_file_with_more_symbols_than_an_event_holds_is_a_file_and_read_once(ship: Ship) -> None:
    text = "".join(f"def f{number}(): pass\n" for number in range(9_000))
    ship.write({"a.py": CALLS_B, "b.py": B, "huge.py": text})
    os.utime(ship.root / "huge.py", (1, 1))
    done = ship.index()
    assert done.files == 2
    assert [each.path for each in done.skipped] == ["huge.py"]
    assert "the limit is 1,000,000" in done.skipped[0].reason
    assert {"a.py", "b.py", "huge.py"} == ship.files()
    events = ship.memory.stats().store.events
    again = ship.index()
    assert [each.path for each in again.skipped] == ["huge.py"]
    assert ship.memory.stats().store.events == events
    ship.must_be_as_fresh()


def test_a_full_disk_under_the_facts_is_told_with_a_hint(tmp_path: Path) -> None:
    facts = FactsFile(tmp_path / "x.facts")
    facts._db.pragma("max_page_count", facts._db.pragma("page_count"))

    def write() -> None:
        with facts.writing():
            for number in range(1_000):
                facts.set_note(f"note {number}", "x" * 1_000)

    with pytest.raises(DiskFull, match="no space left") as told:
        write()
    assert told.value.hint
    assert isinstance(told.value.__cause__, apsw.FullError)
    assert facts.note("note 1") == "", "all of it or nothing"
    facts.close()


# ---- who may see what


def test_who_does_not_see_all_files_leaves_what_is_known_of_them(ship: Ship) -> None:
    ship.write({"a.py": CALLS_B, "b.py": B})
    ship.index()
    before = shown(ship.memory)
    ctx = ship.memory.ctx
    narrow = replace(ctx, viewer=replace(ctx.viewer, scopes=frozenset({"public"})))
    assert not ctx.store.nodes(narrow.viewer, NOW, ["ship/b.py"])
    done = index_workspace(narrow, full=True)
    assert any("needs access to all files of the project" in note for note in done.notes)
    ship.write({"a.py": CALLS_B.replace("go", "went")})
    ship.index()
    ship.must_be_as_fresh()
    assert before[1] != shown(ship.memory)[1]
