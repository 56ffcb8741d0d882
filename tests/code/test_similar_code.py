"""Code like other code: copies first, then what does the like; never the symbol itself or its own members."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.code.indexed import write_files
from tests.retrieval.small_worlds import WordEmbedder, context_over, embed_all
from weft.backends.sqlite.store import SqliteStore
from weft.code.ask.similar_code import FindSimilarCode, SimilarCode, find_similar_code
from weft.core.errors import NotFound
from weft.core.types import Guard
from weft.log.chain import commit_genesis
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock
from weft.testing.viewers import OPERATOR

PARSE = """def parse_rows(text):
    rows = [line.split(",") for line in text.splitlines()]
    return [row for row in rows if row]
"""
COPY = (
    PARSE.replace("parse_rows", "read_rows").replace("    rows", "        rows").replace("    return", "        return")
)
ALIKE = """def parse_lines(text):
    rows = [line.split(";") for line in text.splitlines()]
    return [row for row in rows if row][1:]
"""
OTHER = '''def connect(host, port):
    """Opens a socket to a host."""
    return host, port
'''
CLASS = '''class Rows:
    """Rows of a text, split at commas, line by line."""

    def parse_rows(self, text):
        return [line.split(",") for line in text.splitlines()]

    def empty(self):
        return []
'''
FILES = {"a/parse.py": PARSE, "b/copied.py": COPY, "b/lines.py": ALIKE, "c/net.py": OTHER, "d/rows.py": CLASS}

Make = Callable[..., CallContext]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """A workspace, with vectors or without."""
    made: list[SqliteStore] = []

    def workspace(vectors: bool, files: Mapping[str, str] = FILES) -> CallContext:
        clock = ManualClock()
        store = SqliteStore(tmp_path / "store", commit_genesis, clock=clock)
        made.append(store)
        ctx = context_over(store, clock, embedder=WordEmbedder() if vectors else None)
        ctx = replace(ctx, settings=replace(ctx.settings, root=tmp_path))
        write_files(ctx, dict(files))
        if vectors:
            embed_all(store, clock)
        return ctx

    yield workspace
    for store in made:
        store.close()


def similar(ctx: CallContext, element: str, **more: object) -> SimilarCode:
    return find_similar_code(ctx, FindSimilarCode(element=element, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize("vectors", [True, False])
def test_a_copy_comes_first_and_what_is_alike_next(make: Make, vectors: bool) -> None:
    answer = similar(make(vectors), "a/parse.py::parse_rows", threshold=0.3)
    first, *rest = answer.similar
    second = next(each for each in rest if each.name == "parse_lines")
    assert (first.name, first.path, first.same, first.similarity) == ("read_rows", "b/copied.py", True, 1.0)
    assert not second.same
    assert 0.3 <= second.similarity < 1.0
    assert answer.summary == f"{len(answer.similar)} similar to parse_rows, 1 identical except for the name"
    assert "connect" not in {each.name for each in answer.similar}
    assert any("no vectors" in note for note in answer.notes) is not vectors


def test_a_symbol_is_not_like_itself_its_members_or_its_class(make: Make) -> None:
    ctx = make(True)
    names = {each.name for each in similar(ctx, "d/rows.py::Rows", threshold=0.0).similar}
    assert names == {"parse_rows", "read_rows", "parse_lines", "connect"}
    inner = {each.id for each in similar(ctx, "d/rows.py::Rows::parse_rows", threshold=0.0).similar}
    assert "p/d/rows.py::Rows" not in inner
    assert "p/a/parse.py::parse_rows" in inner


def test_threshold_and_limit(make: Make) -> None:
    ctx = make(True)
    assert len(similar(ctx, "a/parse.py::parse_rows", threshold=0.0, limit=2).similar) == 2
    none = similar(ctx, "c/net.py::connect", threshold=0.99)
    assert (none.similar, none.summary) == ((), "no symbol here is similar to connect")
    assert any("lower threshold" in note for note in none.notes)


def test_several_of_one_name_are_said(make: Make) -> None:
    answer = similar(make(True), "parse_rows", threshold=0.0)
    assert any("have that name" in note for note in answer.notes)


def test_what_is_not_there_is_refused_with_the_nearest_names(make: Make) -> None:
    with pytest.raises(NotFound) as refused:
        similar(make(True), "parse_rowz")
    assert "parse_rows" in f"{refused.value.message} {refused.value.hint}"


def test_what_a_viewer_may_not_see_is_not_like_anything(make: Make) -> None:
    ctx = make(True)
    write_files(ctx, {"e/secret.py": PARSE.replace("parse_rows", "hidden_rows")}, Guard(project="p", sensitive=True))
    outside = replace(ctx, viewer=replace(OPERATOR, sensitive=False))
    names = {each.name for each in similar(outside, "a/parse.py::parse_rows", threshold=0.0).similar}
    assert "read_rows" in names
    assert "hidden_rows" not in names


SAIL = '''class Sail:
    """A way to move."""

    def move(self, wind):
        return [gust * 2 for gust in wind if gust]
'''
OAR = '''class Oar:
    """A way to move."""

    def connect(self, host, port):
        raise ConnectionError(host, port)
'''


@pytest.mark.parametrize("vectors", [True, False])
def test_classes_are_compared_with_their_methods(make: Make, vectors: bool) -> None:
    ctx = make(vectors, {"e/sail.py": SAIL, "e/oar.py": OAR, "e/jib.py": SAIL.replace("Sail", "Jib")})
    found = {each.name: each for each in similar(ctx, "e/sail.py::Sail", threshold=0.0).similar}
    assert (found["Jib"].same, found["Jib"].similarity) == (True, 1.0)
    assert not found["Oar"].same
    assert found["Oar"].similarity < 0.9
