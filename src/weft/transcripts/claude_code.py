"""Claude Code: `~/.claude/projects/<directory>/<session>.jsonl`, one entry a line, only ever added to."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

from weft.transcripts.entries import MAX_TITLE_CHARACTERS, Entries, Role, Titled, Turn, bounded, mapping, moment, name
from weft.transcripts.lines import Line, entries
from weft.transcripts.spoken import said_in

# Entries of the conversation that nobody in it said: of other agents, of the client, and summaries of what was said.
_NOT_SAID = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly")
_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant"}
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle"}


def read(path: Path, start: int = 0) -> Entries:
    """Every turn of the user and of the assistant; tools, their results, thoughts and other agents are left out."""
    return entries(path, start, partial(_line, path.stem))


def _line(stem: str, line: Line) -> Entries:
    value = line.value
    session = name(value.get("sessionId")) or stem
    kind = name(value.get("type"))
    if (role := _ROLES.get(kind)) is not None:
        if (turn := _turn(value, role, session)) is not None:
            yield turn
    elif kind in _TITLES and (title := name(value.get(_TITLES[kind]), MAX_TITLE_CHARACTERS)):
        yield Titled(session=session, title=title)


def _turn(value: dict[str, Any], role: Role, session: str) -> Turn | None:
    if any(value.get(flag) is True for flag in _NOT_SAID):
        return None
    text, dropped = bounded(said_in(mapping(value.get("message")).get("content"), "claude-code", role))
    if not text or not (identity := name(value.get("uuid"))):
        return None
    return Turn(
        id=identity,
        session=session,
        role=role,
        text=text,
        at=moment(value.get("timestamp")),
        cwd=name(value.get("cwd"), 4_096),
        dropped=dropped,
    )
