"""Source files through `ingest` and as records: what the graph shows of them, edit after edit, in both stores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from tests.places import Place
from weft.append.import_log import import_log
from weft.backends.memory import MemoryStore
from weft.core.clock import to_iso
from weft.core.types import Guard, When
from weft.graph.apply_moves import apply_events
from weft.graph.digest import graph_digest
from weft.ingest.ingest_records import file_draft, snippet_draft
from weft.log.chain import commit_genesis
from weft.log.jsonl import write_lines
from weft.log.verify import read_commits
from weft.testing.clock import ManualClock
from weft.text.extract.records import InputRecord

DAY_US = 86_400_000_000
FERRY = '''"""Ferries."""
import os

LIMIT = 3


class Ferry:
    """Carries people."""

    def load(self):
        return LIMIT

    def sail(self):
        return "north"

    colour = "white"


def dock(ferry):
    return os.path
'''


@pytest.fixture(params=["memory", "sqlite"])
def project(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[tuple[Path, weft.Memory]]:
    """A directory called ferry, and a memory over a store of each backend."""
    root = tmp_path / "ferry"
    root.mkdir()
    url = "memory://" if request.param == "memory" else f"sqlite://{tmp_path / 'store'}"
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none"}
    memory = weft.open(url, directory=root, environment=environment, clock=clock)
    yield root, memory
    memory.close()


Project = tuple[Path, weft.Memory]


def versions(memory: weft.Memory, node: str) -> int:
    return len(memory.show(node).history)


def held(memory: weft.Memory, *kinds: str) -> dict[str, str]:
    found = memory.recent(kinds=list(kinds or ("File", "Class", "Function")), limit=100).nodes
    return {node.id: node.text for node in found}


def digest(memory: weft.Memory) -> str:
    return graph_digest(memory.ctx.store.graph_rows(memory.ctx.operator("read")))


# ---- what a file becomes


def test_a_file_becomes_its_symbols(project: Project) -> None:
    root, memory = project
    (root / "src").mkdir()
    (root / "src" / "ferry.py").write_text(FERRY)
    done = memory.ingest(root)
    assert (done.files, done.symbols, done.documents, done.skipped) == (1, 4, 0, ())
    file = "ferry/src/ferry.py"
    assert held(memory, "File") == {file: '"""Ferries."""\nimport os\n\nLIMIT = 3'}
    assert set(held(memory)) == {
        file, f"{file}::Ferry", f"{file}::Ferry::load", f"{file}::Ferry::sail", f"{file}::dock"
    }  # fmt: skip
    shown = memory.show(f"{file}::Ferry::sail")
    assert shown.node is not None
    assert (shown.node.kind, shown.node.name, shown.node.summary) == ("Function", "Ferry.sail", "src/ferry.py")
    assert shown.node.text == '    def sail(self):\n        return "north"'
    assert {**shown.node.props} == {
        "path": "src/ferry.py", "source": "src/ferry.py", "part_of": file, "line": 13, "end_line": 14,
        "sort": "method", "signature": "def sail(self)", "told": "sail of ferry",
    }  # fmt: skip
    assert [(edge.direction, edge.rel, edge.id) for edge in shown.edges] == [("in", "CONTAINS", f"{file}::Ferry")]
    inside = {(edge.rel, edge.id) for edge in memory.show(file).edges if edge.direction == "out"}
    contained = {("CONTAINS", f"{file}::Ferry"), ("CONTAINS", f"{file}::dock")}
    assert inside == {*contained, ("IMPORTS", "ferry/import:python:os")}
    top = memory.show(file).node
    assert top is not None
    assert (top.name, top.props["language"], top.props["line"]) == ("src/ferry.py", "python", 1)
    assert memory.recall("dock", kinds=["Function"]).hits[0].node.citation == "file://src/ferry.py:19"


def test_an_unchanged_file_costs_nothing_and_an_edit_only_what_it_touches(project: Project, clock: ManualClock) -> None:
    root, memory = project
    file = root / "ferry.py"
    file.write_text(FERRY)
    memory.ingest(root)
    events = memory.stats().store.events
    again = memory.ingest(root)
    assert (again.files, again.unchanged) == (0, 1)
    assert memory.stats().store.events == events
    clock.step()
    before = to_iso(clock.now_us() - 1)
    file.write_text(FERRY.replace('"north"', '"south"'))
    assert memory.ingest(root).files == 1
    assert memory.stats().store.events == events + 2, "the file's version, and its links"
    one = {
        name: versions(memory, f"ferry/ferry.py::{name}") for name in ("Ferry", "Ferry::load", "Ferry::sail", "dock")
    }
    assert one["Ferry"] == one["Ferry::load"] == one["dock"] == 1, "they stand as they did"
    assert one["Ferry::sail"] > 1
    assert "south" in held(memory)["ferry/ferry.py::Ferry::sail"]
    old = memory.show("ferry/ferry.py::Ferry::sail", known_at=before).node
    assert old is not None
    assert "north" in old.text


def test_what_is_gone_ends_and_what_moved_is_cited_where_it_is(project: Project, clock: ManualClock) -> None:
    root, memory = project
    file = root / "ferry.py"
    file.write_text(FERRY)
    memory.ingest(root)
    clock.step()
    before = to_iso(clock.now_us() - 1)
    lines = FERRY.split("\n")
    file.write_text("\n".join(["# new first line", *lines[:9], *lines[12:]]))
    memory.ingest(root)
    names = {name.partition("::")[2] for name in held(memory, "Class", "Function")}
    assert names == {"Ferry", "Ferry::sail", "dock"}
    assert memory.show("ferry/ferry.py::Ferry::load", known_at=before).node is not None
    dock = memory.show("ferry/ferry.py::dock").node
    assert dock is not None
    assert dock.citation == "file://ferry.py:17"
    assert memory.cite(dock.citation).lines == ("def dock(ferry):", "    return os.path")
    file.write_text(FERRY)
    clock.step()
    memory.ingest(root)
    assert "ferry/ferry.py::Ferry::load" in held(memory), "it is back"


def test_names_that_come_again_are_numbered_and_methods_go_with_their_class(project: Project) -> None:
    root, memory = project
    (root / "a.py").write_text(
        "class A:\n    def m(self): return 1\nclass A:\n    def m(self): return 2\n    def m(self): return 3\n"
        "def f(): return 4\ndef f(): return 5\n"
    )
    memory.ingest(root)
    texts = {name.partition("::")[2]: text[-1] for name, text in held(memory, "Function").items()}
    assert texts == {"A::m": "1", "A~2::m": "2", "A~2::m~2": "3", "f": "4", "f~2": "5"}
    second = memory.show("ferry/a.py::A~2")
    assert second.node is not None
    assert second.node.name == "A"
    assert {edge.id for edge in second.edges if edge.direction == "out"} == {
        "ferry/a.py::A~2::m",
        "ferry/a.py::A~2::m~2",
    }
    assert {edge.name for edge in second.edges if edge.direction == "out"} == {"A.m"}


def test_a_name_may_change_what_it_is(project: Project, clock: ManualClock) -> None:
    root, memory = project
    written = (
        ("def dock(): pass\n", "Function"),
        ("class dock:\n    def m(self): pass\n", "Class"),
        ("def dock(): return 2\n", "Function"),
        ("class dock:\n    def m(self): return 3\n", "Class"),
    )
    for text, kind in written:
        (root / "a.py").write_text(text)
        clock.step()
        assert memory.ingest(root).skipped == ()
        (top,) = [node for node in memory.recent(kinds=["Class", "Function"]).nodes if node.name == "dock"]
        assert (top.kind, top.text) == (kind, text.split("\n")[0])
    assert len(held(memory, "Class", "Function")) == 2


def test_a_broken_file_is_kept_and_mended(project: Project, clock: ManualClock) -> None:
    root, memory = project
    (root / "a.py").write_text("def good(): return 1\n\ndef broken(:\n    return 2\n")
    assert memory.ingest(root).files == 1
    assert "ferry/a.py::good" in held(memory)
    assert "return 2" in "".join(held(memory).values())
    clock.step()
    (root / "a.py").write_text("def good(): return 1\n\ndef broken():\n    return 2\n")
    memory.ingest(root)
    assert held(memory)["ferry/a.py::broken"] == "def broken():\n    return 2"
    assert versions(memory, "ferry/a.py::good") == 1


def test_what_cannot_be_indexed_is_listed(project: Project) -> None:
    root, memory = project
    (root / "latin.py").write_bytes(b"# caf\xe9\n")
    (root / "huge.py").write_text("#" * 600_000)
    (root / "many.py").write_text("def f(): 0\n" * 10_001)
    (root / "empty.py").write_text("")
    (root / "crlf.py").write_bytes(b"\xef\xbb\xbfdef f():\r\n    return 1\r\n")
    done = memory.ingest(root)
    assert done.files == 2
    reasons = {each.path: each.reason for each in done.skipped}
    assert set(reasons) == {"latin.py", "huge.py", "many.py"}
    assert "10,000 symbols" in reasons["many.py"]
    assert memory.cite("file://crlf.py:2").matches
    assert memory.ingest(root).unchanged == 2


def test_five_thousand_functions_in_one_file(project: Project, clock: ManualClock) -> None:
    root, memory = project
    text = "".join(f"def function_{n}(x):\n    return x + {n}\n\n" for n in range(5_000))
    (root / "long.py").write_text(text)
    assert memory.ingest(root).symbols == 5_000
    clock.step()
    (root / "long.py").write_text(text.replace("x + 4000\n", "x - 4000\n"))
    assert memory.ingest(root).skipped == ()
    assert versions(memory, "ferry/long.py::function_3999") == 1
    assert memory.cite("file://long.py:12002").lines == ("    return x - 4000",)


def test_rights_follow_what_is_asked(project: Project) -> None:
    root, memory = project
    (root / "ferry.py").write_text(FERRY)
    memory.ingest(root, scope="public")
    assert memory.ingest(root, scope="admin").files == 1
    assert {node.scope for node in memory.recent(limit=100).nodes} == {"admin"}
    assert memory.ingest(root, scope="admin").unchanged == 1


# ---- citations


def test_every_line_of_a_file_can_be_cited(project: Project) -> None:
    root, memory = project
    (root / "ferry.py").write_text(FERRY)
    memory.ingest(root)
    for number, line in enumerate(FERRY.split("\n")[:-1], start=1):
        cited = memory.cite(f"file://ferry.py:{number}-{number}")
        assert cited.matches, number
        assert cited.lines == (line,) or not line, number
    assert memory.cite("file://ferry.py:7").nodes[0].name == "Ferry"
    assert memory.cite("file://ferry.py:7").lines == ("class Ferry:", '    """Carries people."""')
    assert memory.cite("file://ferry.py:10").nodes[0].name == "Ferry.load"
    assert memory.cite("file://ferry.py:16").nodes[0].name == "Ferry"
    assert memory.cite("file://ferry.py:2").nodes[0].kind == "File"
    with pytest.raises(weft.NotFound):
        memory.cite("file://ferry.py:99")


def test_a_class_on_the_first_line_is_cited_as_itself(project: Project) -> None:
    root, memory = project
    (root / "a.py").write_text("class A:\n    def m(self): pass\n")
    memory.ingest(root)
    assert memory.cite("file://a.py:1").nodes[0].name == "A"


def test_a_symbol_that_changed_on_disk_is_told(project: Project) -> None:
    root, memory = project
    (root / "ferry.py").write_text(FERRY)
    memory.ingest(root)
    (root / "ferry.py").write_text(FERRY.replace("return LIMIT", "return SECRET"))
    changed = memory.cite("file://ferry.py:10")
    assert (changed.matches, changed.lines) == (False, ("    def load(self):", "        return LIMIT"))
    assert "changed since it was ingested" in changed.notes[0]
    assert memory.cite("file://ferry.py:13").matches, "the function cited is as it was"
    assert memory.cite("file://ferry.py:7").matches, "so is the class, without its methods"
    (root / "ferry.py").unlink()
    assert "is missing" in memory.cite("file://ferry.py:10").notes[0]


# ---- the log


def test_a_rebuild_and_an_import_give_the_same_graph(project: Project, clock: ManualClock) -> None:
    root, memory = project
    for text in (FERRY, FERRY.replace("class Ferry", "class Boat"), "", FERRY, FERRY.replace("def dock", "class dock")):
        (root / "ferry.py").write_text(text)
        memory.ingest(root)
        clock.step()
    live = digest(memory)
    operator = memory.ctx.operator("rebuild")
    memory.ctx.store.rebuild(operator, apply_events, progress=lambda _done, _all: None)
    assert digest(memory) == live
    log = list(write_lines(operator.account, read_commits(memory.ctx.store, operator)))
    other = MemoryStore(commit_genesis, clock=clock)
    import_log(other, operator, lambda: iter(log), clock=clock)
    assert graph_digest(other.graph_rows(operator)) == live


def test_symbols_can_be_found_by_meaning_at_once(place: Place) -> None:
    memory = place.open(embedder="builtin")
    (place.root / "ferry.py").write_text(FERRY)
    memory.ingest(place.root)
    model = memory.ctx.embedding.model
    assert model
    assert memory.ctx.store.unembedded(memory.ctx.operator("look"), model, after=0, limit=10) == ()


# ---- records


def record(text: str, *, at: int | None = None, path: str = "src/a.py") -> InputRecord:
    return InputRecord(id="row-7", shape="file", text=text, path=path, at=at)


def test_a_record_with_a_path_is_a_file_with_its_id_on_every_node(project: Project, clock: ManualClock) -> None:
    _, memory = project
    guard = Guard(project="ferry", scope="admin")
    draft = file_draft(memory.ctx, guard, record(FERRY, at=clock.now_us() - DAY_US))
    assert draft is not None
    memory.ctx.append([draft])
    nodes = memory.recent(limit=100).nodes
    assert {node.props["record"] for node in nodes} == {"row-7"}
    assert {node.valid_from for node in nodes} == {to_iso(clock.now_us() - DAY_US)}
    assert len(nodes) == 5
    assert file_draft(memory.ctx, guard, record(FERRY, at=clock.now_us() - DAY_US)) is None
    assert file_draft(memory.ctx, guard, record(FERRY)) is None, "no date says nothing against the one known"


def test_a_file_told_again_of_an_earlier_time_replaces_what_was_told(project: Project, clock: ManualClock) -> None:
    _, memory = project
    guard = Guard(project="ferry", scope="admin")
    late, early = clock.now_us() - DAY_US, clock.now_us() - 10 * DAY_US
    for text, at in ((FERRY, late), ("def dock(): return 'new'\n", early)):
        clock.step()
        draft = file_draft(memory.ctx, guard, record(text, at=at))
        assert draft is not None
        memory.ctx.append([draft])
    assert held(memory, "Class", "Function") == {"ferry/src/a.py::dock": "def dock(): return 'new'"}
    then = memory.ctx.store.nodes(memory.ctx.viewer, When(valid_at=early), ["ferry/src/a.py::dock"])
    assert [node.text for node in then] == ["def dock(): return 'new'"]


def test_a_piece_of_code_is_kept_verbatim_under_its_name(project: Project) -> None:
    _, memory = project
    guard = Guard(project="ferry", scope="admin")
    text = 'def tie_up(ship):\n    """Moors a ship."""\n    return ship\n'
    draft = snippet_draft(memory.ctx, "ferry/record:1", guard, InputRecord(id="1", shape="snippet", text=text))
    assert draft is not None
    memory.ctx.append([draft])
    node = memory.show("tie_up").node
    assert node is not None
    assert (node.id, node.kind, node.summary, node.text) == ("ferry/record:1", "Function", "Moors a ship.", text)
    assert node.props == {"record": "1"}
    assert (
        snippet_draft(memory.ctx, "ferry/record:2", guard, InputRecord(id="2", shape="snippet", text="A def is short."))
        is None
    )


def test_a_memory_cannot_pose_as_a_symbol(place: Place, memory: weft.Memory) -> None:
    (place.root / "secrets.py").write_text("KEY = 1\n")
    memory.remember("x", kind="Function", props={"source": "secrets.py", "line": 1, "end_line": 100})
    with pytest.raises(weft.NotFound):
        memory.cite("file://secrets.py:1")
