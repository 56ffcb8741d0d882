"""Files that are not what their names say, and texts made to take long."""

from __future__ import annotations

import random
import time

import pytest

from tests.documents.formats.outlines import FORM, check_passages, outlined
from weft.core.errors import Invalid
from weft.documents.formats.read import read_text
from weft.files.document_suffixes import MARKDOWN, TEXT

SIZE = 512 * 1024
MAX_CPU_S = 8.0  # they take up to two alone; the tests run side by side on machines that are slower


@pytest.mark.parametrize("form", [MARKDOWN, TEXT])
@pytest.mark.parametrize(
    "raw", [b"\x7fELF\x02\x01\0\0", b"words\0words", bytes(range(1, 32)) * 40, b"\x1b[0m\x01\x02\x03" * 9]
)
def test_binary_with_a_text_name(raw: bytes, form: object) -> None:
    with pytest.raises(Invalid, match="is binary, not text"):
        read_text(raw, form)  # type: ignore[arg-type]


def test_latin_1_is_not_guessed() -> None:
    with pytest.raises(Invalid, match=r"is not UTF-8 text: byte 15 \(line 2\)"):
        read_text("first\nsecond Größe".encode("latin-1")[:20], TEXT)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_with_its_mark_is_read(encoding: str) -> None:
    assert read_text("# Größe\r\n\r\nwörter".encode(encoding), MARKDOWN) == "# Größe\r\n\r\nwörter"


def test_half_a_character_of_utf_16_is_refused() -> None:
    with pytest.raises(Invalid, match="UTF-16"):
        read_text("words".encode("utf-16")[:-1], TEXT)


def test_colours_of_a_terminal_and_form_feeds_are_text() -> None:
    raw = ("plain words of a log \x1b[32mok\x1b[0m\n" * 20 + "\f\npage two\n").encode()
    assert read_text(raw, TEXT) == raw.decode()


REPEATED = [
    "\n", " \n", " ", "a ", "a\n", "*a ", "`a ", "``a ", "|a ", ":a:`b ", "[a](", "![a](", "[a]: b\n", "[a\n", "> ",
    ">", "- ", "- a\n", "- a\n* b\n", "- a\n\n", "1. a\n", "# a\n", "a\n=\n", "=\nA\n=\n\n", "====\n", "```\n", "<a\n",
    "<?\n\n", "|a|b|\n", "a::\n\n  b\n\n", ".. \n", "..\n a\n", ":a: b\n", "-a b\n", "__ a\n", "ABCD\n\nx\n\n",
    "1.2 Ab\n\nx\n\n", "`a` ", ":func:`a` ", "a/", "a/b.py ", "A b. ",
    "..\n\n", ".. a\n", ".. _a:\n\n", "[a]: x\n\n", "a:\n\n- b\n\n",
    "日本。", "\t", "\\", "a\r", "a\r\n\r\n", "+--+\n", "== ==\na  b\n",
]  # fmt: skip


@pytest.mark.parametrize("form", ["markdown", "rst", "text"])
@pytest.mark.parametrize("piece", REPEATED)
def test_repetition_takes_no_longer_than_its_size(piece: str, form: str) -> None:
    """An eighth of the size in half of the time: what grows with the square would pass it."""
    text = piece * (SIZE // 8 // len(piece))
    before = time.process_time()
    outlined(text, form)
    assert time.process_time() - before < MAX_CPU_S / 2


@pytest.mark.parametrize("form", ["markdown", "rst", "text"])
@pytest.mark.parametrize(
    "text",
    [
        "- a\n* b\n" * (SIZE // 16),
        "# a\n" * (SIZE // 8),
        "\n".join(">" * depth for depth in range(1, 1000)),
        "\n".join([">" * 10_000 + " a"] * 50),
        "\n".join("  " * depth + "- a" for depth in range(700)),
        "\n\n".join(" " * depth + "a" for depth in range(1000)),
        "\n\n".join("   " * depth + ".. note::" for depth in range(580)),
        "|".join(["a"] * 60_000) + "\n" + "|".join(["-"] * 60_000) + "\n" + "a|b\n" * 20_000,
        "# " + "*a " * (SIZE // 3),
        "\n\n".join(f"word{n} other{n}" for n in range(30_000)),
        " ".join(f"w{n}" for n in range(80_000)),
    ],
    ids=["lists", "headings", "quotes", "deep quotes", "deep lists", "indents", "directives", "table", "title", "short",
         "line"],
)  # fmt: skip
def test_half_a_megabyte_made_to_hurt(text: str, form: str) -> None:
    before = time.process_time()
    outlined(text, form)
    assert time.process_time() - before < MAX_CPU_S


@pytest.mark.parametrize("form", ["markdown", "rst", "text"])
def test_noise_is_cut_into_passages(form: str) -> None:
    noise = random.Random(7)
    text = "".join(noise.choice('*`|_:.[]<>=-+ \n\n  a\t\\#"1~!()') for _ in range(60_000))
    check_passages(text, FORM[form].name)
