"""What documents name of their project's code: linked where it can mean one thing only, whichever was read first."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.places import Place
from weft.code.index.names import CodeNames
from weft.core.types import Find, When
from weft.graph.apply_moves import apply_events
from weft.testing.clock import ManualClock

GUIDE = """# Guide

## Loading

Call `load_cargo(ferry)` before sailing; `Ferry.sail` checks it. See `port/ferry.py` and `port.ferry.dock`.

## Nothing to link

The word `sail` alone says little, `unknown_name` is nowhere and `status` is anybody's.
"""
FERRY = '''class Ferry:
    """Carries people."""

    def sail(self):
        return "north"


def load_cargo(ferry):
    return ferry


def dock(ferry):
    return ferry


def status():
    return 1
'''
LOADING = "ferry/guide.md#Guide#Loading¶1"
LINKS = {"port/ferry.py", "port/ferry.py::load_cargo", "port/ferry.py::Ferry::sail", "port/ferry.py::dock"}


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def links(memory: weft.Memory, when: When | None = None) -> dict[str, set[str]]:
    """By chunk: what it is linked to."""
    ctx = memory.ctx
    chunks = [node.id for node in ctx.store.find(ctx.viewer, when or When(), Find(kinds=("Chunk",)), limit=99).nodes]
    steps = ctx.store.neighbours(ctx.viewer, when or When(), chunks, rels=("MENTIONS_CODE",), direction="out", limit=99)
    found: dict[str, set[str]] = {}
    for step in steps:
        found.setdefault(step.start, set()).add(step.node.id.removeprefix("ferry/"))
    return found


def edges_held(memory: weft.Memory, chunk: str) -> list[str]:
    """What a chunk's links that hold lead to, be it there or not."""
    ctx = memory.ctx
    edges = ctx.store.edges(ctx.viewer, When(), chunk, rel="MENTIONS_CODE", direction="out", before=None, limit=99)
    return sorted(edge.dst for edge in edges)


def events(memory: weft.Memory) -> int:
    return memory.ctx.store.head(memory.ctx.viewer).pos


@pytest.mark.parametrize("order", [("guide.md", "port/ferry.py"), ("port/ferry.py", "guide.md"), (".",)])
def test_a_document_is_joined_to_the_code_it_names_in_any_order(place: Place, order: tuple[str, ...]) -> None:
    memory = place.open()
    write(place.root, "guide.md", GUIDE)
    write(place.root, "port/ferry.py", FERRY)
    for path in order:
        memory.ingest(place.root / path)
    assert links(memory) == {LOADING: LINKS}
    before = events(memory)
    memory.ingest(place.root)
    assert events(memory) == before, "an unchanged project writes nothing"
    memory.ctx.store.rebuild(memory.ctx.operator("rebuild"), apply_events, progress=lambda _done, _all: None)
    assert links(memory) == {LOADING: LINKS}


def test_a_symbol_shows_the_chunks_that_name_it(place: Place) -> None:
    memory = place.open()
    write(place.root, "guide.md", GUIDE)
    write(place.root, "port/ferry.py", FERRY)
    memory.ingest(place.root)
    (edge,) = [each for each in memory.show("ferry/port/ferry.py::load_cargo").edges if each.rel == "MENTIONS_CODE"]
    assert (edge.direction, edge.kind, edge.id, edge.name) == ("in", "Chunk", LOADING, "Guide › Loading")


def test_links_follow_the_code(place: Place, clock: ManualClock) -> None:
    memory = place.open()
    write(place.root, "guide.md", GUIDE)
    write(place.root, "port/ferry.py", FERRY)
    memory.ingest(place.root)
    clock.step()
    write(place.root, "port/ferry.py", FERRY.replace("def load_cargo", "def load_goods"))
    memory.ingest(place.root / "port")
    assert links(memory) == {LOADING: LINKS - {"port/ferry.py::load_cargo"}}
    assert "ferry/port/ferry.py::load_cargo" not in edges_held(memory, LOADING), "it is ended, not hidden"
    clock.step()
    write(place.root, "port/ferry.py", FERRY)
    memory.ingest(place.root / "port")
    assert links(memory) == {LOADING: LINKS}


def test_links_follow_the_words(place: Place, clock: ManualClock) -> None:
    memory = place.open()
    write(place.root, "guide.md", GUIDE)
    write(place.root, "port/ferry.py", FERRY)
    memory.ingest(place.root)
    then = memory.ctx.store.head(memory.ctx.viewer).at
    clock.step()
    write(place.root, "guide.md", GUIDE.replace("`Ferry.sail` checks it", "nobody checks it"))
    memory.ingest(place.root / "guide.md")
    assert links(memory) == {LOADING: LINKS - {"port/ferry.py::Ferry::sail"}}
    assert links(memory, When(known_at=then)) == {LOADING: LINKS}, "what was known then is still told of then"
    clock.step()
    write(place.root, "guide.md", "# Guide\n\nNothing.\n")
    memory.ingest(place.root / "guide.md")
    assert links(memory) == {}
    assert edges_held(memory, LOADING) == []


def test_what_may_mean_two_things_is_not_linked(place: Place, clock: ManualClock) -> None:
    memory = place.open()
    write(place.root, "guide.md", "# Guide\n\nUse `load_cargo` and `port/ferry.py`.\n")
    write(place.root, "port/ferry.py", FERRY)
    memory.ingest(place.root)
    chunk = "ferry/guide.md#Guide¶1"
    assert links(memory) == {chunk: {"port/ferry.py", "port/ferry.py::load_cargo"}}
    clock.step()
    write(place.root, "other.py", "def load_cargo(truck):\n    return truck\n")
    memory.ingest(place.root / "other.py")
    assert links(memory) == {chunk: {"port/ferry.py"}}, "a second symbol of that name makes it ambiguous"
    clock.step()
    (place.root / "other.py").unlink()
    memory.ingest(place.root, gone=True)
    assert links(memory) == {chunk: {"port/ferry.py", "port/ferry.py::load_cargo"}}


def test_an_edit_that_changes_no_name_writes_no_link(place: Place, clock: ManualClock) -> None:
    memory = place.open()
    write(place.root, "guide.md", GUIDE)
    write(place.root, "port/ferry.py", FERRY)
    memory.ingest(place.root)
    assert links(memory)
    before = events(memory)
    clock.step()
    write(place.root, "port/ferry.py", FERRY.replace('"north"', '"south"'))
    memory.ingest(place.root)
    written = memory.ctx.store.events_at(memory.ctx.operator("look"), range(before + 1, events(memory) + 1))
    assert "code.indexed" in [event.kind for event in written]
    assert [event.kind for event in written if event.kind.startswith("graph.")] == []


def test_a_document_that_ends_takes_its_links_along(place: Place, clock: ManualClock) -> None:
    memory = place.open()
    write(place.root, "guide.md", GUIDE)
    write(place.root, "port/ferry.py", FERRY)
    memory.ingest(place.root)
    clock.step()
    (place.root / "guide.md").unlink()
    memory.ingest(place.root, gone=True)
    assert edges_held(memory, LOADING) == []


def test_a_text_that_is_no_file_is_joined_too(place: Place) -> None:
    memory = place.open()
    write(place.root, "port/ferry.py", FERRY)
    memory.ingest(place.root)
    given = {"source": "minutes", "text": "# Minutes\n\nWe renamed `load_cargo` twice.\n"}
    memory.call("memory_ingest", **given)
    assert links(memory) == {"ferry/text://minutes#Minutes¶1": {"port/ferry.py::load_cargo"}}


@pytest.mark.parametrize(
    ("mention", "text", "meant"),
    [
        ("pkg/deep/mod.py", "", "pkg/deep/mod.py"),
        ("deep/mod.py", "", "pkg/deep/mod.py"),
        ("mod.py", "", None),  # two files end so
        ("other/mod.py", "", "other/mod.py"),
        ("nowhere/mod.py", "", None),
        ("Tide.rise", "", "pkg/deep/mod.py::Tide::rise"),
        ("Tide::rise", "", "pkg/deep/mod.py::Tide::rise"),
        ("Inner.fall", "", "pkg/deep/mod.py::Tide::Inner::fall"),
        ("pkg.deep.mod.Tide", "", "pkg/deep/mod.py::Tide"),
        ("deep.mod.parse", "", "pkg/deep/mod.py::parse"),
        ("pkg.deep.mod", "", "pkg/deep/mod.py"),
        ("deep.mod", "", "pkg/deep/mod.py"),
        ("pkg.open", "", "pkg/deep/opening.py::open"),  # by the package's own file
        ("pkg.hidden", "", None),  # in the package, and not brought out
        ("parse", "the parse step", None),  # a plain word
        ("parse", "call `parse(tide)`", None),  # called, but two define it
        ("hidden", "call `hidden()` first", "pkg/deep/opening.py::hidden"),
        ("hidden", "it is hidden", None),
        ("read_tide", "", "other/mod.py::read_tide"),
        ("TideTable", "", "other/mod.py::TideTable"),
        ("Tide", "", None),  # one hump
        ("__init__", "", None),
        ("--option", "", None),
        ("a b", "", None),
        ("x.y.z", "", None),
    ],
)
def test_what_a_name_means(place: Place, mention: str, text: str, meant: str | None) -> None:
    memory = place.open()
    mod = "class Tide:\n    def rise(self): ...\n    class Inner:\n        def fall(self): ...\n\n\ndef parse(): ...\n"
    write(place.root, "pkg/__init__.py", "from pkg.deep.opening import open\n\n__all__ = ['open']\n")
    write(place.root, "pkg/deep/mod.py", mod)
    write(place.root, "pkg/deep/opening.py", "def open(): ...\n\n\ndef hidden(): ...\n")
    write(place.root, "other/mod.py", "def parse(): ...\n\n\ndef read_tide(): ...\n\n\nclass TideTable: ...\n")
    memory.ingest(place.root)
    ctx = memory.ctx
    nodes = ctx.store.find(ctx.viewer, When(), Find(kinds=("File", "Class", "Function")), limit=999).nodes
    texts = {node.id: node.text for node in nodes}
    found = CodeNames(nodes, texts.__getitem__).meaning(mention, text)
    assert found == (None if meant is None else f"ferry/{meant}")
