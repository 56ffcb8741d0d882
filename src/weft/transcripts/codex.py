"""Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl`, one event a line, only ever added to."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

from weft.transcripts.entries import Bad, Entries, Role, Turn, bounded, mapping, moment, name
from weft.transcripts.lines import Line, entries, objects
from weft.transcripts.spoken import said_in

_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant"}
_WORDS: Final = ("text", "input_text", "output_text")


def read(path: Path, start: int = 0) -> Entries:
    """Every message of the user and of the assistant. Codex gives them no ids: their place in the file is one."""
    session, cwd = _about(path)
    return entries(path, start, partial(_line, session or path.stem, cwd))


def _about(path: Path) -> tuple[str, str]:
    """The session's id and directory, which stand in the first line."""
    first = next(iter(objects(path)), None)
    value: dict[str, Any] = {} if first is None or isinstance(first, Bad) else first.value
    about = mapping(value.get("payload")) or value
    return name(about.get("id")), name(about.get("cwd"), 4_096)


def _line(session: str, cwd: str, line: Line) -> Entries:
    value = line.value
    item = mapping(value.get("payload")) if value.get("type") == "response_item" else value
    role = _ROLES.get(name(item.get("role")))
    if item.get("type") != "message" or role is None:
        return
    text, dropped = bounded(said_in(item.get("content"), "codex", role, _WORDS))
    if not text:
        return
    at = moment(value.get("timestamp"))
    yield Turn(id=f"from-{line.start}", session=session, role=role, text=text, at=at, cwd=cwd, dropped=dropped)
