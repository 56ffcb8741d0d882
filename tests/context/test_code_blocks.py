"""Code in a context: it keeps its lines and its indentation, and cannot end its own fence."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.checkout.cited_lines import check_context, reader_of, without_code
from weft.context.code_blocks import around_blocks, code_blocks, fenced, joined_parts
from weft.context.excerpts import Excerpts, excerpt_of_code

CODE = "def moor(ship):\n    if ship.is_late:\n        return None\n\n    return ship.berth"
GUIDE = f"""# Mooring

A ship is moored by one call, which gives the berth.

```python
{CODE}
```

Late ships get no berth and wait outside.
"""


def test_fenced_and_indented_blocks_are_found() -> None:
    (block,) = code_blocks(GUIDE)
    assert (block.code, block.language) == (CODE, "python")
    assert GUIDE[block.start : block.end].startswith("```python\n")
    assert GUIDE[block.start : block.end].endswith("```")
    (indented,) = code_blocks("Run this:\n\n    make\n      all\n\n    make install\n\nThen rest.")
    assert indented.code == "make\n  all\n\nmake install"
    assert code_blocks("~~~\na\n```\nb\n~~~\n")[0].code == "a\n```\nb"


@pytest.mark.parametrize(
    "text", ["plain words", "- item\n\n    more of the item", "a `word` of code", "1. one\n    - nested", "``` ```"]
)
def test_prose_is_not_code(text: str) -> None:
    assert code_blocks(text) == []


@given(st.lists(st.sampled_from(("`", "``", "```", "x", "\n", " ", "~~~", "\x1b", "\r")), max_size=40).map("".join))
def test_code_cannot_close_its_fence(code: str) -> None:
    lines = fenced(code).split("\n")
    assert lines[0] == lines[-1]
    assert lines[0].strip("`") == ""
    assert lines[0] not in lines[1:-1]
    assert without_code(lines)[0] == []
    assert all(line.isprintable() or "\t" in line for line in lines)


@given(st.text(max_size=300), st.integers(1, 200))
def test_any_text_can_be_cut_to_any_length(text: str, most: int) -> None:
    shown = Excerpts(text, {"ship": 1.0}).within(most)
    assert len(shown) <= most or not shown.code


def test_a_block_is_shown_whole_or_its_first_lines() -> None:
    excerpts = Excerpts(GUIDE, {"berth": 1.0})
    assert excerpts.whole.code == (fenced(CODE, "python"),)
    assert "def moor" not in excerpts.whole.prose
    (cut,) = Excerpts(CODE, {}, form="code").within(70).code
    assert cut == "```\ndef moor(ship):\n    if ship.is_late:\n…\n```"


def test_parts_of_a_text_keep_code_on_lines_of_its_own() -> None:
    assert joined_parts(["one", "two"]) == "one … two"
    assert joined_parts(["one", "```\nx\n```", "two"]) == "one\n```\nx\n```\ntwo"
    at = GUIDE.index("is_late")
    assert GUIDE[slice(*around_blocks(GUIDE, at, at + 3))] == f"```python\n{CODE}\n```"
    assert excerpt_of_code(CODE, CODE.index("return"), CODE.index("return") + 5, 2) == "…\n        return None\n…"


@pytest.mark.parametrize("question", ["how is a ship moored?", "berth of late ships"])
def test_an_agent_can_copy_the_code_of_a_document(tmp_path: Path, question: str) -> None:
    (tmp_path / "mooring.md").write_text(GUIDE, encoding="utf-8")
    environment = {"HOME": str(tmp_path), "WEFT_PROJECT": "quay", "WEFT_AUDIT": "off", "WEFT_EMBEDDER": "none"}
    with weft.open("memory://", directory=tmp_path, environment=environment) as memory:
        memory.ingest(str(tmp_path / "mooring.md"))
        cite = reader_of(memory)
        for text in (memory.recall(question).context, memory.memory_checkout(question).prompt):
            assert f"\n```python\n{CODE}\n```\n" in text
            assert "Late ships get no berth" in text
            assert check_context(text, cite)
