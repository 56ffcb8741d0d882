"""Exports of whole accounts: a list of conversations in JSON, alone, in several files, or in a zip."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import Any, Final

from weft.errors import StoreError
from weft.transcripts.bundles import Bundle, is_zip
from weft.transcripts.entries import Bad
from weft.transcripts.json_stream import Broken, JsonStream
from weft.transcripts.lines import opened

LISTS: Final = re.compile(r"conversations(?:[-_]\d{1,4})?\.json")


def conversations(path: Path) -> Iterator[tuple[int, dict[str, Any] | Bad]]:
    """The objects of the export's list, each with its number. What is broken is told, and ends its file."""
    number = 0
    with ExitStack() as held:
        if path.is_dir() or is_zip(path):
            bundle = held.enter_context(Bundle(path))
            files = [each for each in bundle.names if LISTS.fullmatch(PurePosixPath(each).name)]
            if not files:
                yield 0, Bad(where="the export", reason="it holds no conversations.json")
            for each in files:
                try:
                    with bundle.open(each) as file:
                        for one in _listed(file, each):
                            number += 1
                            yield number, one
                except StoreError as problem:
                    yield number, Bad(where=each, reason=problem.message)
            return
        file = held.enter_context(opened(path))
        for number, one in enumerate(_listed(file, "the file"), start=1):
            yield number, one


def _listed(file: Any, where: str) -> Iterator[dict[str, Any] | Bad]:
    stream = JsonStream(file)
    try:
        first = stream.peek()
        if not first:
            yield Bad(where=where, reason="it is empty")
        elif first == "{":  # one conversation, exported alone
            yield _object(stream.value(), where)
        elif first == "[":
            for number in stream.items():
                yield _object(stream.value(), f"conversation {number}")
        else:
            yield Bad(where=where, reason="it holds no list of conversations")
    except Broken as problem:
        yield Bad(where=where, reason=str(problem))


def _object(value: Any, where: str) -> dict[str, Any] | Bad:
    return value if isinstance(value, dict) else Bad(where=where, reason="it is no object")
