"""Markdown by section: what counts as a heading, which lines a section takes, and what is about the document."""

from __future__ import annotations

import pytest

from tests.documents.formats.outlines import outlined, passages, sections, titles


def test_headings_split_and_lines_count_from_one() -> None:
    text = "# One\n\nfirst\n\n## Inner\n\nmore\n\n# Two\nlast\n"
    assert sections(text) == [("One", 1, 1, 3), ("Inner", 2, 5, 7), ("Two", 1, 9, 10)]
    assert [passage.text for passage in passages(text)] == ["first", "more", "last"]


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_fenced_code_holds_no_headings(fence: str) -> None:
    text = f"# Real\n\n{fence}python\n# a comment\n## another\n{fence}\n\n# Next\n"
    assert titles(text) == ["Real", "Next"]


def test_indented_code_comments_quotes_and_lists_hold_none() -> None:
    text = "# Real\n\n    # code\n\n<!--\n# hidden\n-->\n\n> # quoted\n\n- # in a list\n\n#hashtag\n\n\\# escaped\n"
    assert titles(text) == ["Real"]


def test_an_unclosed_fence_swallows_the_rest() -> None:
    assert titles("# Real\n\n```\n# inside\n") == ["Real"]


def test_setext_headings() -> None:
    text = "Title\n=====\n\nintro\n\nPart\n----\nbody\n"
    assert sections(text) == [("Title", 1, 1, 4), ("Part", 2, 6, 8)]
    assert [passage.line for passage in passages(text)] == [4, 8]


def test_a_setext_heading_over_two_lines_begins_on_its_first() -> None:
    assert sections("before\n\nTwo\nlines\n=====\nbody\n") == [("", 0, 1, 1), ("Two lines", 1, 3, 6)]


def test_a_long_text_with_an_underline_is_no_title() -> None:
    text = "".join(f"line {n}\n" for n in range(40)) + "===\n"
    assert titles(text) == []
    assert passages(text)[0].text.startswith("line 0\nline 1\n")


def test_a_rule_is_no_heading() -> None:
    assert sections("one\n\n---\n\ntwo\n") == [("", 0, 1, 5)]


def test_a_document_that_begins_with_a_rule_has_no_front_matter() -> None:
    text = "---\n\nWords, no keys.\n\n---\n\n# Part\n\nbody\n"
    assert titles(text) == ["Part"]
    assert "Words, no keys." in passages(text)[0].text


@pytest.mark.parametrize("end", ["---", "..."])
def test_front_matter_is_metadata_and_no_passage(end: str) -> None:
    front = f'---\ntitle: "The guide"\ntags:\n  - jaguar\n# a comment\ndescription: How it works.\n{end}'
    text = f"{front}\n# First\n\nbody\n"
    outline = outlined(text)
    assert outline.title == "The guide"
    assert outline.summary == "How it works.\nFirst\njaguar"
    assert outline.keywords == ("jaguar",)
    assert sections(text) == [("First", 1, 8, 10)]
    assert [passage.text for passage in passages(text)] == ["body"]


@pytest.mark.parametrize(
    "written",
    ['tags: [a b, "c"]', "tags: a b, c", "tags:\n  - a b\n  - 'c'", "Tags: [\n  a b,\n  c\n]", "keywords:\n- a b\n- c"],
)
def test_topics_and_the_date_of_front_matter(written: str) -> None:
    outline = outlined(f"---\n{written}\ndate: 2025-03-04\n---\n# First\n")
    assert (outline.keywords, outline.date) == (("a b", "c"), "2025-03-04")
    toml = outlined('+++\ntags = [\n  "a b",\n  "c",\n]\ndate = 2025-03-04\n+++\n# First\n')
    assert (toml.keywords, toml.date) == (("a b", "c"), "2025-03-04")


def test_other_front_matter_and_the_words_after_it_are_passages_of_their_own() -> None:
    text = "---\nowner: jaguar\n---\nShort words.\n"
    assert [(p.line, p.end_line) for p in passages(text)] == [(1, 3), (4, 4)]
    assert outlined(text).parts[0].summary == "Short words."


def test_a_file_of_front_matter_alone_can_be_found() -> None:
    assert [p.text for p in passages("---\ncaracal: puma\n---\n")] == ["---\ncaracal: puma\n---"]


@pytest.mark.parametrize(
    "written", ["description: >\n  Folded words.", "title: |\n  Block words.", f"description: {'many words ' * 40}"]
)
def test_front_matter_whose_words_have_no_place_stays_a_passage(written: str) -> None:
    assert "words" in passages(f"---\n{written}\n---\n# First\n\nbody\n")[0].text


def test_front_matter_in_toml() -> None:
    front = (
        "+++\ntitle = 'Serval' # its name\ndescription = \"A cat.\"\ntags = [\n  'wild',\n]\n[extra]\ntitle = 'x'\n+++"
    )
    outline = outlined(f"{front}\n\nBody.\n")
    assert (outline.title, outline.summary) == ("Serval", "A cat.\nwild")
    assert [p.text for part in outline.parts for p in part.passages] == ["Body."]
    assert outlined("+++\nno keys\n+++\n\nBody.\n").title == ""
    assert outlined('+++\ntitle = """\nlong\n"""\n+++\n# Real\n').title == "Real"


@pytest.mark.parametrize("more", ["tags: [\n  a\n]", '"quoted": x', "map: {\n  a: b\n}"])
def test_front_matter_as_people_write_it(more: str) -> None:
    assert outlined(f"---\n{more}\ntitle: T\n---\n# First\n").title == "T"


@pytest.mark.parametrize(
    ("top", "title"),
    [
        ('<h1 align="center">Margay &amp; co</h1>', "Margay & co"),
        ('<div align="center">\n<img src="x.png">\n<h1>\n  <b>Margay</b>\n</h1>\n<p>A cat.</p>\n</div>', "Margay"),
        ('<p align="center"><img></p>\n\n<H2>Margay</H2>', "Margay"),
        ('<h1><img alt="x"></h1>', ""),
        ("<h3>Margay</h3>", ""),
        ("<header>Margay</header>", ""),
        ("", ""),
    ],
)
def test_a_heading_in_html_at_the_top_is_the_title(top: str, title: str) -> None:
    text = f"{top}\n\nBody.\n\n## Two\n\nx\n\n<h1>Late</h1>\n"
    assert outlined(text).title == (title or "Two")
    assert titles(text) == ["Two"]
    assert not top or passages(text)[0].text.startswith(top)


@pytest.mark.parametrize("value", ["|\n  block", "[a, b]", "&anchor x", "{a: b}", ""])
def test_a_title_that_is_not_plain_is_not_taken(value: str) -> None:
    assert outlined(f"---\ntitle: {value}\nother: x\n---\n# First\n\nbody\n").title == "First"


def test_front_matter_that_never_ends_is_text() -> None:
    assert "title: x" in passages("---\ntitle: x\n\nbody\n")[0].text


@pytest.mark.parametrize(
    ("text", "title"),
    [("# One\n\nx\n\n## Two\n", "One"), ("## Two\n\nx\n\n# One\n", ""), ("words\n", ""), ("words\n\n# Late\n", "Late")],
)
def test_the_title_is_the_first_heading_unless_one_above_it_follows(text: str, title: str) -> None:
    assert outlined(text).title == title


def test_no_heading_is_one_section_without_a_title() -> None:
    assert sections("just\n\nwords\n\n") == [("", 0, 1, 3)]


@pytest.mark.parametrize("form", ["markdown", "rst", "text"])
@pytest.mark.parametrize("text", ["", "\n", "  \n\n\t\n", "\ufeff"])
def test_nothing_gives_nothing(text: str, form: str) -> None:
    assert passages(text, form) == [] or text == "\ufeff"


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
def test_line_ends_do_not_matter(newline: str) -> None:
    text = newline.join(["# One", "", "first", "", "Two", "---", "second", ""])
    assert sections(text) == [("One", 1, 1, 3), ("Two", 2, 5, 7)]
    assert [passage.text for passage in passages(text)] == ["first", "second"]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x85"])
def test_only_line_ends_end_lines(separator: str) -> None:
    """An editor does not count these as lines: a citation after them must still point at the right one."""
    text = f"# One\nfirst{separator}still\n# Two\nsecond\n"
    assert sections(text) == [("One", 1, 1, 2), ("Two", 1, 3, 4)]
    assert passages(text)[0].text == f"first{separator}still"


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# The `foo` option", "The foo option"),
        ("# un*believ*able", "unbelievable"),
        ("# See [the docs](https://example.org)", "See the docs"),
        ("# See [the docs][ref]\n\n[ref]: https://example.org", "See the docs"),
        ("# ![logo](x.png) weft", "logo weft"),
        ("# A <b>bold</b> step", "A bold step"),
        ("# A &amp; B", "A & B"),
        ("# Closed #", "Closed"),
        ("#\tTab   inside", "Tab inside"),
        ("#", ""),
    ],
)
def test_titles_are_what_a_reader_sees(heading: str, title: str) -> None:
    assert outlined(f"{heading}\n\nbody\n").parts[0].title == title


def test_long_titles_are_cut() -> None:
    assert 290 < len(outlined("# " + "long " * 200).parts[0].title) <= 300


def test_deep_lists_do_not_swallow_what_follows() -> None:
    text = "".join("  " * depth + "- item\n" for depth in range(25)) + "\n# After\n\nbody\n"
    assert titles(text) == ["After"]


def test_link_definitions_and_html_are_kept() -> None:
    text = "# A\n\nwords [x]\n\n[x]: https://example.org\n\n<div>\nhtml\n</div>\n"
    assert passages(text)[0].end_line == 9


def test_a_list_as_long_as_a_book_is_read_as_text_with_a_note() -> None:
    outline = outlined("# Title\n" + "- a\n" * 70_000)
    assert "70,001 lines" in outline.notes[0]
    assert outline.parts[0].passages
