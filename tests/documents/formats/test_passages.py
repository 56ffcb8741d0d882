"""Passages: whole blocks on one topic, nothing lost, nothing twice, never inside a line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.documents.formats.outlines import check_passages, outlined, passages
from weft.text.lines import split_lines
from weft.text.markup import markdown

LINES = st.sampled_from(
    [*[""] * 6, "# Head", "## Two words", "Title", "=====", "-----", "- item", "  - inner", "1. one", "    code", "```",
     "| a | b |", "|---|---|", "> quote", "plain words here", "Ends here.", "---", "title: x", "<div>", "[a]: b",
     ".. note::", "   body", "text::", "+---+", "=== ===", "ALL CAPS", "1.2 Numbered", "\ttab", "a\x0cb", "\u2028", " ",
     "x" * 1500, "word " * 100, ":f: v", "| line", "..", "日本語の文。", "+++", "x = 1",
     "*", "\\", "\x0c", "# ", "[page 2 could not be read]"]
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=40).map("\n".join) | st.text(max_size=300)


def _heading_lines(text: str, form: str) -> set[int]:
    """Lines that are no passage's: from a section's first line to its first passage."""
    found: set[int] = set()
    for part in outlined(text, form).parts:
        if part.level:
            first = part.passages[0].line if part.passages else part.end_line + 1
            found |= set(range(part.line, first))
    return found


@pytest.mark.parametrize("form", ["markdown", "rst", "text", "pdf"])
def test_every_line_with_words_is_in_one_passage_or_heading(form: str) -> None:
    @settings(max_examples=250, deadline=None)
    @given(TEXTS)
    def check(text: str) -> None:
        taken = check_passages(text, form)
        headings = _heading_lines(text, form)
        assert not taken & headings
        for number, line in enumerate(split_lines(text), start=1):
            noted = form == "pdf" and line.startswith("[page ")  # said in the notes
            assert number in taken or number in headings or noted or not line.strip()

    check()


@settings(max_examples=250, deadline=None)
@given(st.lists(LINES.filter(lambda line: line not in ("---", "+++")), max_size=30).map("\n".join))
def test_blocks_of_markdown_are_those_of_the_whole_parser(text: str) -> None:
    """Of nested blocks our parser keeps no tokens: what it finds at the top must be the same."""
    tokens = MarkdownIt("commonmark").enable("table").parse("\n".join(split_lines(text)))
    expected = [(*t.map, t.tag) for t in tokens if t.level == 0 and t.nesting >= 0 and t.map]
    found = [(b.start, b.end, f"h{b.level}" if b.level else "") for b in markdown.parse(split_lines(text)).blocks]
    assert [(start, end) for start, end, _ in found] == [(start, end) for start, end, _ in expected]
    assert [tag for *_, tag in found if tag] == [
        tag for start, end, tag in expected if tag in ("h1", "h2") and end - start <= markdown.MAX_HEADING_LINES
    ]


def prose(topic: str, sentences: int) -> str:
    return " ".join(f"The {topic} of the {topic} is {topic} number {n}." for n in range(sentences))


def test_a_passage_ends_where_the_topic_changes() -> None:
    kettle = [prose("kettle", 4), prose("kettle", 4), prose("kettle", 4)]
    orchard = [prose("orchard", 4), prose("orchard", 4), prose("orchard", 4)]
    found = passages("\n\n".join([*kettle, *orchard]))
    assert ["kettle" in p.text for p in found] == ["orchard" not in p.text for p in found]
    assert len(found) == 2


def test_short_blocks_of_a_section_are_one_passage() -> None:
    assert len(passages("# A\n\nfirst words\n\nother things\n\nthird matter\n")) == 1


@pytest.mark.parametrize("form", ["markdown", "rst"])
def test_code_stays_with_what_introduces_it(form: str) -> None:
    code = "\n".join(f"    run_{n}(alpha, beta)" for n in range(12))
    blocks = [prose("market", 9), prose("river", 3) + " Call it like this::", code, prose("harbour", 9)]
    found = passages("\n\n".join(blocks), form)
    [holder] = [p for p in found if "run_0" in p.text]
    assert "Call it like this" in holder.text
    assert "run_11" in holder.text


def test_a_list_stays_with_its_lead_in() -> None:
    items = "\n".join(f"- entry {n} about gardens" for n in range(12))
    found = passages("\n\n".join([prose("market", 9), "It needs the following:", items, prose("harbour", 9)]))
    [holder] = [p for p in found if "following" in p.text]
    assert "entry 11" in holder.text


def test_a_long_list_is_split_between_items() -> None:
    text = "\n".join(f"- item {n} {'has words and more words in it ' * 3}\n  and a second line" for n in range(60))
    found = passages(text)
    assert len(found) > 3
    assert all(p.text.startswith("- item") and p.text.endswith("second line") for p in found)


def test_a_long_table_is_split_between_rows() -> None:
    text = "| a | b |\n|---|---|\n" + "\n".join(f"| row {n} | {'cell ' * 10}|" for n in range(80))
    found = passages(text)
    assert len(found) > 3
    assert max(len(p.text) for p in found) <= 1_500


def test_long_code_is_split_at_its_blank_lines() -> None:
    functions = [f"def f{n}():\n" + "\n".join(f"    step_{k} = {k} + {n}" for k in range(12)) for n in range(12)]
    found = passages("```python\n" + "\n\n".join(functions) + "\n```\n")
    assert len(found) > 2
    assert all(p.text.startswith(("```python\ndef ", "def ")) for p in found)


def test_long_prose_is_split_after_sentences_at_the_ends_of_lines() -> None:
    text = "\n".join(f"This is line {n} and here the sentence goes on\nuntil it ends on the next." for n in range(60))
    assert all(p.text.startswith("This is line") for p in passages(text))


def test_a_very_long_line_is_a_passage_of_its_own() -> None:
    long = "x " * 3_000
    found = passages(f"before\n{long}\nafter\n")
    assert [p.line for p in found] == [1, 2, 3]
    assert found[1].text == long


def test_pieces_of_a_block_are_of_about_one_size() -> None:
    text = "\n".join(f"- item {n} with a few words" for n in range(56))  # a little over the bound
    sizes = [len(p.text) for p in passages(text)]
    assert len(sizes) == 2
    assert min(sizes) > 400


def test_the_same_text_is_cut_the_same_way() -> None:
    text = "\n\n".join(prose(topic, 5) for topic in ("kettle", "orchard", "river", "kettle", "harbour"))
    assert outlined(text) == outlined(text)
