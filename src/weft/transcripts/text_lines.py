"""Lines of a file of text, in pieces where one is very long. Nothing of what is written is lost."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from weft.transcripts.bundles import Bundle
from weft.transcripts.lines import opened

MAX_PIECE_CHARACTERS: Final = 100_000
MAX_PIECES: Final = 20_000_000
_MARKS: Final = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb": "utf-8-sig"}


def pieces(path: Path, member: str = "") -> Iterator[tuple[bool, str]]:
    """Every line with its end, in order; the first of each pair says whether a line begins there.

    With `member`, the lines of that file in an export. What is not text in its encoding is replaced.
    """
    with ExitStack() as held:
        file = held.enter_context(Bundle(path)) if member else None
        raw: Any = held.enter_context(opened(path) if file is None else file.open(member))
        head = raw.peek(2)[:2]
        text = io.TextIOWrapper(raw, encoding=_MARKS.get(head, "utf-8"), errors="replace")
        begins = True
        for _ in range(MAX_PIECES):
            piece = text.readline(MAX_PIECE_CHARACTERS)
            if not piece:
                return
            yield begins, piece
            begins = piece.endswith("\n")
