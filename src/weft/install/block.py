"""The marked block in a text file: put in at the end, kept up to date in place, taken out without a trace."""

from __future__ import annotations

import re
from typing import Final

from weft.errors import Invalid
from weft.install.edits import newline_of

BEGIN: Final = "<!-- weft:begin -->"
END: Final = "<!-- weft:end -->"
_BLOCK: Final = re.compile(re.escape(BEGIN) + r".*?" + re.escape(END), re.DOTALL)


def put_block(text: str, words: str) -> str:
    """The text with this block: in place of the one it has, else at the end after an empty line.

    Raises Invalid where a mark stands without its other half, or twice.
    """
    newline = newline_of(text)
    block = newline.join((BEGIN, *words.splitlines(), END))
    if (found := _found(text)) is not None:
        return text[: found.start()] + block + text[found.end() :]
    if not text:
        return block + newline
    # The block ends as the text ended, so that taking it out can tell whether the text had a last line end.
    return text + newline + block + newline if text.endswith("\n") else text + newline * 2 + block


def take_block(text: str) -> str:
    """The text without the block and without what `put_block` put around it."""
    if (found := _found(text)) is None:
        return text
    before, after = text[: found.start()], text[found.end() :]
    for ending in ("\r\n", "\n"):
        if after.startswith(ending):
            return before.removesuffix(ending) + after.removeprefix(ending)
        if not after and before.endswith(ending * 2):
            return before.removesuffix(ending * 2)
    return before + after


def has_block(text: str) -> bool:
    """Whether the block is in the text. Raises Invalid where its marks do not fit together."""
    return _found(text) is not None


def _found(text: str) -> re.Match[str] | None:
    if text.count(BEGIN) != text.count(END) or text.count(BEGIN) > 1:
        line = text[: text.find(BEGIN if BEGIN in text else END)].count("\n") + 1
        raise Invalid(
            f"line {line}: the marks {BEGIN} and {END} do not fit together",
            hint="leave one of each, in this order, or remove them all",
        )
    found = _BLOCK.search(text)
    if found is None and BEGIN in text:
        raise Invalid(f"{END} stands before {BEGIN}", hint="leave one of each, in this order, or remove them all")
    return found
