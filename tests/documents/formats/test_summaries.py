"""What a section or a document says first."""

from __future__ import annotations

import pytest

from tests.documents.formats.outlines import outlined


def said(text: str, form: str = "markdown") -> str:
    return outlined(text, form).parts[0].summary


def test_the_first_sentences_that_fit() -> None:
    text = "# A\n\nOne thing. Another thing.\n" + "A long one that goes on " * 12 + "until here. Last.\n"
    assert said(text) == "One thing. Another thing."


def test_a_long_sentence_is_cut_between_words() -> None:
    summary = said("# A\n\n" + "several words " * 60)
    assert len(summary) <= 241
    assert summary.endswith(("words…", "several…"))


@pytest.mark.parametrize(
    "noise",
    [
        "[![build](https://x/b.svg)](https://x) ![logo](x.png)",
        '<p align="center"><img src="x.png"></p>',
        "```\ncode first\n```",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "---",
        "<!-- a comment -->",
    ],
)
def test_what_is_no_sentence_is_left_out(noise: str) -> None:
    assert said(f"# A\n\n{noise}\n\nIt keeps what agents say.\n") == "It keeps what agents say."


def test_marks_are_left_out() -> None:
    assert said("# A\n\nUse *the* `open()` **call** of [weft](https://x), see snake_case_name.\n") == (
        "Use the open() call of weft, see snake_case_name."
    )
    assert said("A\n=\n\nUse *the* :func:`open` ``call()`` of `weft <https://x>`_.\n", "rst") == (
        "Use the open call() of weft."
    )


def test_a_scrap_gives_way_to_a_sentence() -> None:
    text = "A\n=\n\n:Author: Somebody\n\n**Source code:** :source:`Lib/a.py`\n\nThis module does one thing.\n"
    assert said(text, "rst") == "This module does one thing."
    assert said("# A\n\nJust words\n") == "Just words"


def test_what_a_directive_holds_is_better_than_nothing() -> None:
    text = "A\n=\n\n.. function:: dump(obj)\n   :module: json\n\n   Writes the object. Then returns.\n\n   More.\n"
    assert said(text, "rst") == "Writes the object. Then returns."


def test_a_list_speaks_by_its_first_item() -> None:
    assert said("# A\n\n- Keep it simple and small.\n- Then again.\n") == "Keep it simple and small."


def test_other_scripts() -> None:
    assert said("# A\n\n今日は雨です。" + "明日は晴れるでしょう。" * 40).startswith(
        "今日は雨です。明日は晴れるでしょう。"
    )
    assert len(said("# A\n\n" + "漢" * 900)) <= 241


def test_a_document_lists_its_top_headings() -> None:
    text = "# Guide\n\nIt explains weft.\n\n## Install\n\nx\n\n### Linux\n\ny\n\n## Use\n\nz\n"
    assert outlined(text).summary == "It explains weft.\nInstall · Use"


def test_many_headings_are_cut_with_a_sign() -> None:
    text = "# Guide\n\nIt explains.\n" + "".join(f"\n## Part {n}\n\nx\n" for n in range(30))
    summary = outlined(text).summary
    assert summary.startswith("It explains.\nPart 0 · Part 1")
    assert summary.endswith(" …")


def test_only_code_says_nothing() -> None:
    assert said("# A\n\n```\ncode\n```\n") == ""
