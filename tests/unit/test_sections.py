"""Documents by section: what counts as a heading, and which lines each section takes."""

from __future__ import annotations

import pytest

from weft.extract.sections import Section, read_sections


def outline(text: str, *, markdown: bool = True) -> list[tuple[str, int, int, int]]:
    """(title, level, first line, last line) of each section."""
    return [(s.title, s.level, s.line, s.end_line) for s in read_sections(text, markdown=markdown)]


def test_headings_split_and_lines_count_from_one() -> None:
    text = "# One\n\nfirst\n\n## Inner\n\nmore\n\n# Two\nlast\n"
    assert outline(text) == [("One", 1, 1, 3), ("Inner", 2, 5, 7), ("Two", 1, 9, 10)]
    assert read_sections(text, markdown=True)[1].text == "## Inner\n\nmore"


def test_every_section_holds_the_lines_it_names() -> None:
    text = "intro\n\n# A\n\n\nx\n\nTitle\n=====\ny\n\n### Deep\n\n```\n# no\n```\n"
    lines = text.split("\n")
    for section in read_sections(text, markdown=True):
        assert section.text == "\n".join(lines[section.line - 1 : section.end_line])


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_fenced_code_holds_no_headings(fence: str) -> None:
    text = f"# Real\n\n{fence}python\n# a comment\n## another\n{fence}\n\n# Next\n"
    assert [title for title, *_ in outline(text)] == ["Real", "Next"]


def test_indented_code_comments_quotes_and_lists_hold_none() -> None:
    text = "# Real\n\n    # code\n\n<!--\n# hidden\n-->\n\n> # quoted\n\n- # in a list\n\n#hashtag\n\n\\# escaped\n"
    assert [title for title, *_ in outline(text)] == ["Real"]


def test_an_unclosed_fence_swallows_the_rest() -> None:
    assert [title for title, *_ in outline("# Real\n\n```\n# inside\n")] == ["Real"]


def test_setext_headings() -> None:
    text = "Title\n=====\n\nintro\n\nPart\n----\nbody\n"
    assert outline(text) == [("Title", 1, 1, 4), ("Part", 2, 6, 8)]


def test_a_setext_heading_over_two_lines_begins_on_its_first() -> None:
    assert outline("before\n\nTwo\nlines\n=====\nbody\n") == [("", 1, 1, 1), ("Two lines", 1, 3, 6)]


def test_a_rule_and_front_matter_are_no_headings() -> None:
    assert outline("one\n\n---\n\ntwo\n") == [("", 1, 1, 5)]


@pytest.mark.parametrize("markdown", [True, False])
def test_no_heading_is_one_section_without_a_title(markdown: bool) -> None:
    assert outline("just\n\nwords\n\n", markdown=markdown) == [("", 1, 1, 3)]


@pytest.mark.parametrize("text", ["", "\n", "  \n\n\t\n"])
def test_nothing_gives_nothing(text: str) -> None:
    assert read_sections(text, markdown=True) == ()
    assert read_sections(text, markdown=False) == ()


def test_plain_text_has_no_headings() -> None:
    assert outline("# not a heading\n\nTitle\n=====\n", markdown=False) == [("", 1, 1, 4)]


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
def test_line_ends_do_not_matter(newline: str) -> None:
    text = newline.join(["# One", "", "first", "", "Two", "---", "second", ""])
    assert outline(text) == [("One", 1, 1, 3), ("Two", 2, 5, 7)]
    assert [s.text for s in read_sections(text, markdown=True)] == ["# One\n\nfirst", "Two\n---\nsecond"]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x85"])
def test_only_line_ends_end_lines(separator: str) -> None:
    """An editor does not count these as lines: a citation after them must still point at the right one."""
    text = f"# One\nfirst{separator}still\n# Two\nsecond\n"
    assert outline(text) == [("One", 1, 1, 2), ("Two", 1, 3, 4)]
    assert read_sections(text, markdown=True)[0].text == f"# One\nfirst{separator}still"


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# The `foo` option", "The foo option"),
        ("# un*believ*able", "unbelievable"),
        ("# See [the docs](https://example.org)", "See the docs"),
        ("# A &amp; B", "A & B"),
        ("# Closed #", "Closed"),
        ("#\tTab   inside", "Tab inside"),
        ("#", ""),
    ],
)
def test_titles_are_what_a_reader_sees(heading: str, title: str) -> None:
    assert read_sections(f"{heading}\n\nbody\n", markdown=True)[0].title == title


def test_long_titles_are_cut_and_the_text_is_not() -> None:
    section = read_sections("# " + "long " * 200, markdown=True)[0]
    assert len(section.title) == 300
    assert len(section.text) > 900


def test_sections_are_values() -> None:
    section = Section(title="a", level=1, line=1, end_line=2, text="t")
    with pytest.raises(AttributeError):
        section.title = "b"  # type: ignore[misc]
