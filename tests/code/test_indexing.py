"""Indexing a workspace: what the graph shows of it, whatever lies in its folders."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

import weft
from weft.code.index.facts_lock import facts_place
from weft.code.index.index import CodeIndexed, index_workspace
from weft.code.resolve.python import resolver as python_resolver
from weft.core.errors import NotFound
from weft.core.types import NOW, Find, NodeVersion

LINKS = ("IMPORTS", "DEPENDS_ON", "CALLS", "EXTENDS", "IMPLEMENTS", "TESTS")


class Ship:
    """A project's directory and a memory over it."""

    def __init__(self, scratch: Path, backend: str) -> None:
        self.scratch, self.root = scratch, scratch / "ship"
        self.root.mkdir()
        self.url = "memory://" if backend == "memory" else f"sqlite://{scratch / 'store'}"
        self.memory = self.open()

    def open(self, **settings: str) -> weft.Memory:
        given = {"embedder": "none", "audit": "off"} | settings
        environment = {"HOME": str(self.scratch)} | {f"WEFT_{name.upper()}": value for name, value in given.items()}
        return weft.open(self.url, directory=self.root, environment=environment)

    def write(self, **files: str) -> None:
        """`a=...` is a.py, `pkg__b=...` is pkg/b.py."""
        for name, text in files.items():
            path = self.root / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def index(self, *paths: str, full: bool = False) -> CodeIndexed:
        return index_workspace(self.memory.ctx, paths=paths or None, full=full)

    def links(self) -> set[tuple[str, str, str]]:
        ctx = self.memory.ctx
        found = ctx.store.relations(ctx.viewer, NOW, LINKS, limit=10_000)
        return {(edge.src.removeprefix("ship/"), edge.rel, edge.dst.removeprefix("ship/")) for edge in found}

    def nodes(self, *kinds: str) -> dict[str, NodeVersion]:
        ctx = self.memory.ctx
        kinds = kinds or ("File", "Class", "Function", "Test")
        found = ctx.store.find(ctx.viewer, NOW, Find(kinds=kinds), limit=10_000).nodes
        return {node.id.removeprefix("ship/"): node for node in found}

    def events(self) -> int:
        return self.memory.stats().store.events


@pytest.fixture(params=["memory", "sqlite"])
def ship(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ship]:
    made = Ship(tmp_path, request.param)
    yield made
    made.memory.close()


@pytest.fixture
def on_disk(tmp_path: Path) -> Iterator[Ship]:
    made = Ship(tmp_path, "sqlite")
    yield made
    made.memory.close()


A = "from b import load\n\n\ndef go():\n    return load()\n"
B = "import os\n\n\ndef load():\n    return os.sep\n"


# ---- what is indexed


def test_files_symbols_and_links_are_there_after_one_run(ship: Ship) -> None:
    ship.write(a=A, b=B)
    (ship.root / "logo.png").write_bytes(b"\x89PNG\x00\xff")
    done = ship.index()
    assert (done.files, done.symbols, done.others, done.kind) == (2, 2, 1, "incremental")
    assert {"a.py", "a.py::go", "b.py", "b.py::load", "logo.png"} == set(ship.nodes())
    assert {
        ("a.py", "IMPORTS", "b.py"),
        ("a.py", "DEPENDS_ON", "b.py::load"),
        ("a.py::go", "CALLS", "b.py::load"),
        ("b.py", "IMPORTS", "import:python:os"),
    } == ship.links()
    file = ship.nodes()["a.py"]
    blob = subprocess.run(["git", "hash-object", ship.root / "a.py"], capture_output=True, text=True).stdout.strip()
    assert file.props["blob"] == blob
    assert (file.props["size"], file.props["imports"]) == (len(A), ["b"])
    logo = ship.nodes()["logo.png"]
    assert (logo.props["language"], logo.props["size"], logo.text) == ("", 6, "")


def test_unchanged_costs_no_event_and_no_resolving(ship: Ship) -> None:
    ship.write(a=A, b=B)
    for path in ship.root.iterdir():
        os.utime(path, (1, 1))
    ship.index()
    events = ship.events()
    again = ship.index()
    assert (again.unchanged, again.files, again.relinked, again.changed) == (2, 0, 0, ())
    assert ship.events() == events


def test_a_small_change_is_one_commit_with_its_links(ship: Ship) -> None:
    ship.write(a=A, b=B)
    ship.index()
    ctx = ship.memory.ctx
    before = ctx.store.head(ctx.viewer)
    ship.write(b=B.replace("load", "unload"))
    done = ship.index("b.py")
    assert (done.kind, done.files, done.relinked) == ("file_change", 1, 2)
    commits = ctx.store.log(ctx.operator("look"), after=before.pos, limit=100)
    assert [[event.kind for event in events] for _, events in commits] == [["tx.noted", "code.indexed", "code.linked"]]
    assert ("a.py::go", "CALLS", "b.py::load") not in ship.links()
    latest = ctx.store.transactions(ctx.operator("look"), limit=1)[0]
    assert (latest.kind, latest.files) == ("file_change", ("b.py",))


def test_who_asked_for_what_was_not_there_is_linked_when_it_comes(ship: Ship) -> None:
    ship.write(a=A)
    ship.index()
    assert ship.links() == set() or all(rel == "IMPORTS" and "import:" in dst for _, rel, dst in ship.links())
    ship.write(b=B)
    done = ship.index("b.py")
    assert done.files == 1
    assert ("a.py::go", "CALLS", "b.py::load") in ship.links()


def test_what_is_gone_ends_with_its_symbols_and_links_and_comes_back(ship: Ship) -> None:
    ship.write(a=A, b=B)
    ship.index()
    (ship.root / "b.py").unlink()
    assert ship.index().ended == 1
    assert set(ship.nodes()) == {"a.py", "a.py::go"}
    assert ("a.py", "IMPORTS", "b.py") not in ship.links()
    assert ship.memory.show("ship/b.py::load").history, "its history stays"
    ship.write(b=B)
    ship.index()
    assert ("a.py::go", "CALLS", "b.py::load") in ship.links()
    (ship.root / "a.py").unlink()
    assert ship.index("a.py").ended == 1, "a path that is given and gone"


def test_what_patterns_pass_over_now_ends_and_what_was_named_stays(ship: Ship) -> None:
    ship.write(a=A, b=B, made__c="x = 1\n")
    ship.index()
    (ship.root / ".gitignore").write_text("b.py\nmade/\n")
    done = ship.index()
    assert done.ended == 2
    assert set(ship.nodes()) == {"a.py", "a.py::go"}
    assert ship.index("b.py").files == 0, "a watcher may name what is passed over"
    ship.memory.ingest(ship.root / "made")
    ship.index()
    assert "made/c.py" in ship.nodes(), "somebody named it"


def test_a_kind_that_changes_keeps_links_right(ship: Ship) -> None:
    ship.write(a="from b import thing\n\n\ndef go():\n    return thing()\n", b="def thing():\n    pass\n")
    ship.index()
    ship.write(b="class thing:\n    pass\n")
    ship.index("b.py")
    nodes = ship.nodes()
    assert nodes["b.py::thing~2"].kind == "Class", "a node keeps its kind"
    assert ("a.py::go", "CALLS", "b.py::thing~2") in ship.links()
    assert ("a.py::go", "CALLS", "b.py::thing") not in ship.links()


def test_deleted_files_stay_out_until_a_full_rebuild(ship: Ship) -> None:
    ship.write(a=A, b=B)
    ship.index()
    ship.memory.delete("ship/b.py")
    done = ship.index()
    assert "b.py" not in ship.nodes()
    assert any("deleted" in note for note in done.notes)
    again = ship.index(full=True)
    assert (again.kind, again.revived) == ("full_rebuild", 1)
    assert "b.py::load" in ship.nodes()
    assert ("a.py::go", "CALLS", "b.py::load") in ship.links()


def test_documents_are_left_to_who_reads_documents(ship: Ship) -> None:
    (ship.root / "README.md").write_text("# Ship\n\nIt sails.\n")
    done = ship.index()
    assert done.documents == 1
    assert ship.nodes() == {}
    assert ship.memory.ingest(ship.root).documents == 1, "its id is free for it"


def test_rights_of_links_follow_those_of_their_file(ship: Ship) -> None:
    ship.write(a=A, b=B)
    ship.memory.ingest(ship.root)
    ship.memory.ingest(ship.root, scope="public")
    ctx = ship.memory.ctx
    found = ctx.store.relations(ctx.viewer, NOW, LINKS, limit=100)
    assert {edge.guard.scope for edge in found} == {"public"}
    assert {node.guard.scope for node in ship.nodes("Import").values()} == {"public"}


def test_ingest_of_a_folder_links_what_it_reads(ship: Ship) -> None:
    ship.write(a=A, b=B)
    done = ship.memory.ingest(ship.root)
    assert (done.files, done.symbols) == (2, 2)
    assert ("a.py::go", "CALLS", "b.py::load") in ship.links()
    assert ship.index().files == 0, "both know the same"


# ---- bad input


def test_whatever_lies_there_is_kept_or_named(ship: Ship) -> None:
    root = ship.root
    ship.write(sound="def f():\n    return 1\n", broken="def g():\n    return 2\n\ndef h(:\n")
    (root / "latin.py").write_bytes(b"# caf\xe9\nx = 1\n")
    (root / "nul.py").write_bytes(b"x = 1\x00\n")
    (root / "min.py").write_text(";".join(f"a{n}={n}" for n in range(3_000)))
    with (root / "generated.py").open("wb") as file:
        file.truncate(50_000_000)
    with (root / "disk.img").open("wb") as file:
        file.truncate(100_000_000)
    (root / "many.py").write_text("def f(): 0\n" * 10_001)
    (root / "Sound.py").write_text("def F():\n    return 1\n")
    (root / "loop").symlink_to(root)
    (root / "link.py").symlink_to(root / "sound.py")
    os.mkfifo(root / "pipe.py")
    (root / os.fsdecode(b"bad\xff.py")).write_text("x = 1\n")
    done = ship.index()
    reasons = {each.path: each.reason for each in done.skipped}
    assert "not UTF-8 text" in reasons["latin.py"]
    assert "NUL" in reasons["nul.py"]
    assert "minified" in reasons["min.py"]
    assert "larger than" in reasons["generated.py"]
    assert "10,000 symbols" in reasons["many.py"]
    assert reasons["pipe.py"] == "is not a file"
    assert any("name is not UTF-8" in reason for reason in reasons.values())
    assert done.broken == ("broken.py",)
    nodes = ship.nodes()
    assert {"sound.py::f", "Sound.py::F", "broken.py::g"} <= set(nodes)
    assert nodes["broken.py"].props["broken"]
    for name in ("latin.py", "nul.py", "min.py", "generated.py", "many.py", "disk.img"):
        assert nodes[name].text == "", "a file all the same"
    assert nodes["generated.py"].props["size"] == 50_000_000
    assert any("Sound.py and sound.py" in note for note in done.notes)
    again = ship.index()
    assert (again.files, again.others) == (0, 0)
    assert {each.path for each in again.skipped} == set(reasons), "named every time"
    (root / "latin.py").write_text("def mended():\n    pass\n")
    assert ship.index("latin.py").files == 1
    assert "latin.py::mended" in ship.nodes()


def test_repositories_inside_are_folders_and_named(ship: Ship) -> None:
    ship.write(a=A, libs__b=B, sub__c=B)
    (ship.root / "libs" / ".git").mkdir()
    (ship.root / "sub" / ".git").write_text("gitdir: ../.git/modules/sub\n")
    done = ship.index()
    assert {"libs/b.py::load", "sub/c.py::load"} <= set(ship.nodes())
    assert any("libs, sub" in note and "ignore" in note for note in done.notes)


def test_a_workspace_that_is_not_there(ship: Ship) -> None:
    ship.root.rmdir()
    with pytest.raises(NotFound, match="does not exist"):
        ship.index()


def test_paths_that_lead_out_are_named(ship: Ship) -> None:
    (ship.scratch / "secret.py").write_text("x = 1\n")
    done = ship.index("../secret.py", "/etc/passwd", "no\x00file", "not/there.py")
    assert [each.reason for each in done.skipped] == ["is outside the workspace"] * 2 + [
        "its name holds a NUL character"
    ]
    assert ship.nodes() == {}


def test_files_that_vanish_while_they_are_indexed(on_disk: Ship) -> None:
    on_disk.write(**{f"m{number}": f"def f{number}():\n    return {number}\n" for number in range(120)})
    vanished = [on_disk.root / f"m{number}.py" for number in range(60, 120)]

    def progress(what: str, done: int, total: int) -> None:
        for path in vanished:
            path.unlink(missing_ok=True)

    done = index_workspace(replace(on_disk.memory.ctx, progress=progress))
    gone = sum(each.reason == "is gone" for each in done.skipped)
    assert done.files + gone == 120
    after = on_disk.index()
    assert after.ended == done.files - 60
    assert len(on_disk.nodes("File")) == 60


def test_a_resolver_that_fails_costs_its_file_its_links(ship: Ship, monkeypatch: pytest.MonkeyPatch) -> None:
    real = python_resolver.resolve

    def resolve(facts, project):  # type: ignore[no-untyped-def]
        if facts.path == "a.py":
            raise ZeroDivisionError("by zero")
        return real(facts, project)

    monkeypatch.setattr("weft.code.index.links.resolve", resolve)
    ship.write(a=A, b=B)
    done = ship.index()
    assert any("a.py is not linked" in note and "ZeroDivisionError" in note for note in done.notes)
    assert {"a.py::go", "b.py::load"} <= set(ship.nodes())
    assert ("b.py", "IMPORTS", "import:python:os") in ship.links()


def test_secrets_are_in_neither_graph_nor_facts(on_disk: Ship) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    on_disk.write(a=f'def f():\n    return call("{token}")\n\n\ndef g_{token}():\n    pass\n')
    done = on_disk.index()
    assert any("secrets were redacted in a.py" in note for note in done.notes)
    assert token not in "".join(node.text + str(node.props) for node in on_disk.nodes().values())
    held = b"".join(path.read_bytes() for path in (on_disk.scratch / "store").rglob("*") if path.is_file())
    assert token.encode() not in held


def test_what_is_erased_is_gone_from_the_facts_too(on_disk: Ship) -> None:
    on_disk.write(a="def marker_of_jane_roe():\n    pass\n", b=B)
    on_disk.index()
    place = facts_place(on_disk.memory.ctx.settings)
    assert place is not None
    assert b"marker_of_jane_roe" in b"".join(path.read_bytes() for path in place.parent.glob("*.facts*"))
    on_disk.memory.erase(source="a.py", yes=True, confirm="default")
    assert b"marker_of_jane_roe" not in b"".join(path.read_bytes() for path in place.parent.glob("*.facts*"))
    (on_disk.root / "a.py").unlink()
    on_disk.index()
    assert ("b.py", "IMPORTS", "import:python:os") in on_disk.links()


def test_a_store_that_was_put_back_is_indexed_as_it_is(on_disk: Ship, tmp_path: Path) -> None:
    on_disk.write(a=A, b=B)
    on_disk.index()
    ctx = on_disk.memory.ctx
    saved = ctx.store.backup(ctx.operator("back up"), tmp_path / "saved")
    on_disk.write(b=B.replace("load", "unload"))
    on_disk.index()
    on_disk.memory.close()
    accounts = tmp_path / "store" / "accounts"
    for old in accounts.glob("default.db*"):
        old.unlink()
    next(saved.rglob("default.db")).rename(accounts / "default.db")
    on_disk.memory = on_disk.open()
    on_disk.index()
    assert "b.py::unload" in on_disk.nodes()
    assert ("a.py::go", "CALLS", "b.py::load") not in on_disk.links()
