"""A node on one line: its words quoted, its date where it is known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from weft.core.clock import MIN_INSTANT_US, to_iso
from weft.core.kinds import VIEWS
from weft.core.types import NodeVersion
from weft.text.one_line import flat
from weft.text.sentences import sentence_spans

NAME_CHARACTERS: Final = 120
TEXT_CHARACTERS: Final = 360
WORD_CHARACTERS: Final = 64
REMARK_CHARACTERS: Final = 200
# Kinds without a date of their own: their record time says nothing about them.
TIMELESS: Final = VIEWS["entity"] | VIEWS["causal"] | {"Concept", "Document", "Section", "Chunk"}
SHAPING: Final = "\t\u200c\u200d"  # tabs, and joiners, with which some scripts are spelt
SPEAKER_CHARACTERS: Final = 40
TASK_STATES: Final = frozenset({"open", "running", "blocked", "succeeded", "failed", "cancelled"})
HEADING_CHARACTERS: Final = 48
PATH_CHARACTERS: Final = 110
HEADINGS_MARK: Final = " › "  # between the headings above a chunk
_NO_WORD: Final = re.compile(r"\W+")
_NO_HEADING: Final = re.compile(r"[^\w .,'’()/+&–-]+")
_NO_NAME: Final = re.compile(r"[^\w .'’-]+")
MOMENTS: Final = frozenset(
    {"Event", "Episode", "Message", "Memory", "Decision", "Alert", "Digest", "Report", "Briefing", "Session"}
)


def said_in(node: NodeVersion, shown: str) -> str:
    """The name and the shown text, each quoted; only one where the other adds nothing.

    A fact's name is its subject and predicate, which its text tells in words.
    """
    name = flat(node.name)
    if not shown or shown == name:
        return quoted(cut(name, NAME_CHARACTERS)) if name else "(no words)"
    told = node.kind == "Fact" or shown.casefold().startswith(name.replace("_", " ").casefold())
    return quoted(shown) if not name or told else f"{quoted(cut(name, NAME_CHARACTERS))}: {quoted(shown)}"


def quoted(text: str) -> str:
    """In quotes that only we can close."""
    escaped = flat(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def visible(line: str) -> str:
    """A line without invisible characters and with normalised spaces."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() or c in SHAPING else " " if c.isspace() else "" for c in line)


def plain(word: str) -> str:
    """A kind or relation outside of quotes: one word of letters, digits and underscores."""
    return _NO_WORD.sub("_", flat(word))[:WORD_CHARACTERS]


def spoken(kind: str, props: Mapping[str, Any], text: str, summary: str = "") -> str:
    """A kind; of a message with its speaker, as in `Message, Ana`, unless its words begin with the name.

    Of a task with its status, as in `Task, blocked`; of a chunk of a document with the headings above it, as in `Chunk,
    Guide › Install › Linux`.
    """
    if kind == "Chunk" and (place := headings(summary)):
        return f"{kind}, {place}"
    by = props.get("speaker") or props.get("role") if kind == "Message" else None
    if kind == "Task":  # tasks are written by agents: only known statuses are shown outside of quotes
        by = props.get("status") if props.get("status") in TASK_STATES else None
    if not isinstance(by, str) or text.startswith(f"{by}:"):
        return plain(kind)
    name = " ".join(_NO_NAME.sub(" ", flat(by)).split())[:SPEAKER_CHARACTERS].strip()
    return f"{plain(kind)}, {name}" if name else plain(kind)


def headings(path: str) -> str:
    """A path of headings outside of quotes: plain words; of too many, the first and the last of them."""
    names = [" ".join(_NO_HEADING.sub(" ", flat(each)).split()) for each in path.split(HEADINGS_MARK)]
    names = [name if len(name) <= HEADING_CHARACTERS else cut(name, HEADING_CHARACTERS) for name in names if name]
    while len(names) > 3 and len(HEADINGS_MARK.join(names)) > PATH_CHARACTERS:
        names = [names[0], "…", *names[2 if names[1] != "…" else 3 :]]
    return HEADINGS_MARK.join(names)


def aside(remark: str) -> str:
    """A remark of ours, outside of quotes; an id in it may be anything, so nothing that marks lines stays."""
    kept = "".join(" " if c in '"[]·' else c for c in flat(remark))
    return cut(" ".join(kept.split()), REMARK_CHARACTERS)


def cut(text: str, most: int) -> str:
    """At most that many characters: whole sentences if the first one fits, else whole words."""
    if len(text) <= most:
        return text
    ends = [end for _, end in sentence_spans(text) if end < most]
    if ends and ends[-1] >= most // 3:
        return text[: ends[-1]] + " …"
    head, blank, _ = text[:most].rpartition(" ")
    return (head if blank else text[: most - 1]) + "…"


def happened_at(node: NodeVersion) -> int:
    """When it happened, of what happens at a time; of anything else when it was written down."""
    return node.interval.valid_from if node.kind in MOMENTS else node.recorded_at


def moment_of(node: NodeVersion) -> int | None:
    """When it happened or began to hold; None where that is unknown."""
    begin = node.happens_at
    if begin <= MIN_INSTANT_US or (node.kind in TIMELESS and begin == node.recorded_at):
        return None
    return begin


def date_of(node: NodeVersion) -> str:
    """`2026-03-02 14:05`, `since 2026-03-02`, `2026-03-02 to 2026-04-01`; empty where no date is known."""
    begin, end = moment_of(node), node.interval.valid_to
    if begin is None:
        return "" if end is None else f"until {_written(end)}"
    if end is not None:
        return f"{_written(begin)} to {_written(end)}"
    return _written(begin) if node.kind in MOMENTS else f"since {_written(begin)}"


def _written(instant_us: int) -> str:
    day, time = to_iso(instant_us)[:10], to_iso(instant_us)[11:16]
    return day if time == "00:00" else f"{day} {time}"
