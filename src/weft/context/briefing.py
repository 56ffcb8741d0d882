"""Briefings: statements, with optional citations, that an agent hands on when its window is full. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.context.wording import quoted
from weft.core.errors import Invalid
from weft.log.citation import parse_citation
from weft.text.one_line import flat

DUE_SHARE: Final = 0.75  # of the window: above it is time to compact
TOLD: Final = "according to the agent"
# The parts of a briefing, in the order in which they are read, and how each is called.
PARTS: Final[Mapping[str, str]] = {
    "asked": "Asked for",
    "done": "Done",
    "decided": "Decided",
    "in_progress": "In progress",
    "learned": "Learned about the person",
}
PROMPT: Final = (
    "Hand on this conversation with session_compact, so that it can go on in an empty window. Give lists of single,"
    " whole statements that stand without the conversation: `asked` (what the person asked for), `done` (what was done,"
    " with names of files and results), `decided` (decisions, each with its reason), `in_progress` (what is unfinished"
    " and the next step), `learned` (what the person said about themselves and how they want to work). Put the source"
    " behind a statement where you know it, as [weft://…] or [file://…:12]. Leave out what was only tried and dropped,"
    " unless it must not be tried again."
)
_BRACKETED: Final = re.compile(r"\s*\[((?:weft|file)://[^\]\n]+)()\]")
_BARE: Final = re.compile(r"\s*(?:\((weft://[^\s()\[\]]+)\)|(weft://[^\s()\[\]]*[^\s()\[\].,;:!?]))")
_APART: Final = re.compile(r"[,;\s]+(?=(?:weft|file)://)")


class BriefingStatement(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One statement of a briefing, and its citations; without any it is the agent's own statement."""

    text: str
    citations: tuple[str, ...] = ()


class Briefing(Struct, frozen=True, kw_only=True):
    """Statements by part, in the order of PARTS."""

    parts: Mapping[str, tuple[BriefingStatement, ...]]

    @property
    def citations(self) -> tuple[str, ...]:
        """All of them, each once."""
        found = (each for part in self.parts.values() for said in part for each in said.citations)
        return tuple(dict.fromkeys(found))

    @property
    def count(self) -> int:
        return sum(map(len, self.parts.values()))

    def citing_only(self, good: Collection[str]) -> Briefing:
        """The same with these citations only."""
        return Briefing(
            parts={
                name: tuple(replace(said, citations=tuple(c for c in said.citations if c in good)) for said in part)
                for name, part in self.parts.items()
            }
        )

    def text(self) -> str:
        """A heading for each part with statements, a line for each statement."""
        blocks = [
            "\n".join((f"{PARTS[name]}:", *(_line(said) for said in part))) for name, part in self.parts.items() if part
        ]
        return "\n\n".join(blocks)

    def props(self) -> dict[str, Any]:
        """Its properties as stored."""
        return {
            name: [
                {"text": said.text, **({"citations": list(said.citations)} if said.citations else {})} for said in part
            ]
            for name, part in self.parts.items()
            if part
        }


def quoted_lines(props: Mapping[str, Any]) -> list[str]:
    """A kept briefing, line by line: headings of ours, each statement in quotes that only we can close, its sources."""
    lines: list[str] = []
    for name, heading in PARTS.items():
        held = props.get(name)
        said = [each for each in held if isinstance(each, Mapping)] if isinstance(held, list | tuple) else []
        lines += [f"{heading}:"] if said else []
        for each in said:
            sources = "".join(f"[{flat(str(source))}]" for source in each.get("citations", ()))
            lines.append(f"- {quoted(str(each.get('text', '')))} {sources or f'({TOLD})'}")
    return lines


def read_statement(written: str) -> BriefingStatement:
    """A statement, and the citations in its text, which are taken out of it.

    Text that only looks like a citation stays.
    """
    found: list[str] = []

    def take(match: re.Match[str]) -> str:
        each = [part.strip(" ,;.") for part in _APART.split(match[1] or match[2])]
        good = [part for part in each if _is_citation(part)]
        found.extend(good)
        return "" if len(good) == len(each) else match[0]

    text = _BARE.sub(take, _BRACKETED.sub(take, written))
    return BriefingStatement(text=" ".join(text.split()), citations=tuple(dict.fromkeys(found)))


def read_briefing(written: Mapping[str, Collection[str]]) -> Briefing:
    """A briefing from its parts, without blank statements. Raises Invalid for an empty one."""
    parts = {name: tuple(said for said in map(read_statement, written.get(name, ())) if said.text) for name in PARTS}
    briefing = Briefing(parts=parts)
    if not briefing.count:
        raise Invalid("the briefing says nothing", hint=f"give at least one of {', '.join(PARTS)}")
    return briefing


def share_of(used_tokens: int | None, window_tokens: int | None) -> float | None:
    """The used share of a window, to a thousandth; None where that is unknown."""
    return None if not used_tokens or not window_tokens else round(used_tokens / window_tokens, 3)


def is_due(used_tokens: int | None, window_tokens: int | None) -> bool:
    """Whether compaction is due."""
    return bool(used_tokens and window_tokens) and (used_tokens or 0) > DUE_SHARE * (window_tokens or 0)


def _line(said: BriefingStatement) -> str:
    return f"- {said.text} {''.join(f'[{each}]' for each in said.citations) or f'({TOLD})'}"


def _is_citation(written: str) -> bool:
    try:
        parse_citation(written)
    except Invalid:
        return False
    return True
