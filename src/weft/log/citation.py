"""Citations: `weft://<session>/events/<seq>#<first 8 of hash>` for events, `file://<path>:<line>` for file lines."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from msgspec import Struct

from weft.core.errors import Invalid

_EVENT = re.compile(r"weft://([A-Za-z0-9][A-Za-z0-9._:@+-]{0,127})/events/([1-9][0-9]{0,15})(?:#([0-9a-f]{8}))?")
_FILE = re.compile(r"file://([^\x00]+?):([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?")


class EventCitation(Struct, frozen=True, kw_only=True):
    """Cites an event; `prefix` is the start of its hash."""

    session: str
    seq: int
    prefix: str | None


class FileCitation(Struct, frozen=True, kw_only=True):
    """Cites lines of a file, relative to its project."""

    path: str
    line: int
    end_line: int | None


def parse_citation(text: str) -> EventCitation | FileCitation:
    """Reads a citation. Raises Invalid for anything else."""
    written = text.strip()
    if match := _EVENT.fullmatch(written):
        return EventCitation(session=match[1], seq=int(match[2]), prefix=match[3])
    if match := _FILE.fullmatch(written):
        return FileCitation(path=unquote(match[1]), line=int(match[2]), end_line=int(match[3]) if match[3] else None)
    raise Invalid(
        f"not a citation: {text[:80]!r}", hint="write weft://<session>/events/<seq>#<hash> or file://<path>:<line>"
    )


def is_event_citation(text: object) -> bool:
    """Whether a value is exactly the citation of an event."""
    return isinstance(text, str) and _EVENT.fullmatch(text) is not None


def file_citation(path: str, line: int) -> str:
    """Cites a line of a file. Percent-encoded, so that it contains no blanks."""
    return f"file://{quote(path, safe='/@+,=~')}:{line}"
