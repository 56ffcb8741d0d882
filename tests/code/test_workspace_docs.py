"""Documents of a workspace beside its code: read by themselves, found by a question and by the symbol they name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.code.index.index import index_workspace
from weft.core.errors import Invalid, WeftError

GUIDE = """# Tides

## High water

`high_water` tells when boats can leave the inner basin.

## Fees

A berth costs nine crowns a night, and `Ledger.book` keeps what was paid.
"""
FILES = {
    "docs/guide.md": GUIDE,
    "notes.txt": "The crane on the north quay is broken.\n",
    "tides.py": "def high_water(day):\n    return day % 13\n",
    "ledger.py": "class Ledger:\n    def book(self, sum):\n        return sum\n",
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[weft.Memory]:
    root = tmp_path / "quay"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off"}
    with weft.open(f"sqlite://{tmp_path / 'store'}", directory=root, environment=environment) as opened:
        index_workspace(opened.ctx)
        yield opened


def headings(memory: weft.Memory, **given: Any) -> list[str]:
    return [each.heading for each in memory.call("search_docs", **given).passages]


def test_only_documents_are_read_from_the_workspace_s_root_on(memory: weft.Memory) -> None:
    assert headings(memory, query="what does a berth cost?") == []
    part = memory.call("index_docs", path="docs")
    assert part.documents == 1
    assert headings(memory, query="is the crane broken?") == []
    assert memory.call("index_docs").documents == 1, "what was read before is not read again"
    (crane, *_) = memory.call("search_docs", query="is the crane broken?").passages
    assert (crane.source, "north quay" in crane.text) == ("notes.txt", True)
    for path in ("nowhere.md", "../elsewhere.md"):
        with pytest.raises(WeftError):
            memory.call("index_docs", path=path)


@pytest.mark.parametrize("symbol", ["high_water", "tides.py::high_water", "quay/tides.py::high_water"])
def test_passages_that_name_a_symbol_are_found_by_it(memory: weft.Memory, symbol: str) -> None:
    memory.call("index_docs")
    (found,) = memory.call("search_docs", symbol=symbol).passages
    assert "inner basin" in found.text
    assert (found.source, found.line) == ("docs/guide.md", 5)
    assert found.citation == "file://docs/guide.md:5"


def test_with_a_question_too_only_those_that_name_the_symbol_count(memory: weft.Memory) -> None:
    memory.call("index_docs")
    assert not memory.call("search_docs", query="is the crane broken?", symbol="Ledger.book").passages
    (found,) = memory.call("search_docs", query="what was paid for a berth?", symbol="Ledger.book").passages
    assert "nine crowns" in found.text


def test_what_cannot_be_found_is_told(memory: weft.Memory) -> None:
    assert "weft index-docs" in memory.call("search_docs", query="berth").notes[0]
    memory.call("index_docs")
    assert "not an indexed symbol or file" in memory.call("search_docs", symbol="nobody").notes[0]
    assert "no document is linked to" in memory.call("search_docs", symbol="Ledger").notes[0]
    with pytest.raises(Invalid, match="no question and no symbol"):
        memory.call("search_docs", query=" ")
