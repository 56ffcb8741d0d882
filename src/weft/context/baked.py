"""Baked knowledge as a file: how it begins, how a memory reads in it, and how it is told from other files. Pure.

Its first line says what it is: `<!-- weft-baked 1 agent=… at=… position=… head=… digest=… of=… -->`. `digest` is of
what follows that line; in a summary, `of` is the digest of the full file that it sums up.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from weft.context.tokens import count_tokens
from weft.context.wording import cut, plain, quoted
from weft.retrieval.views.ground import flat

MARKER: Final = "<!-- weft-baked 1 "
FULL: Final = "KNOWLEDGE.md"
SUMMARY: Final = "KNOWLEDGE-SUMMARY.md"
SAID_CHARACTERS: Final = 1_200
NAME_CHARACTERS: Final = 160
# In which order what an agent knows is told; what is of another kind comes after, by name.
ORDER: Final = ("Decision", "Preference", "Fact", "Pattern", "Context", "Concept", "Report", "Memory", "Event")
TITLES: Final = {
    "Decision": "Decisions",
    "Preference": "Preferences",
    "Fact": "Facts",
    "Pattern": "Patterns",
    "Concept": "Concepts",
    "Report": "Reports",
    "Memory": "Memories",
    "Event": "Events",
    "Message": "Said in conversations",
    "Chunk": "Documents",
    "Section": "Documents",
}
_HEAD: Final = re.compile(
    r"<!-- weft-baked 1 agent=([a-z0-9-]+) at=(\S+) position=(\d+) head=([0-9a-f]+) digest=([0-9a-f]{64})"
    r"(?: of=([0-9a-f]{64}))? -->\n"
)


class Known(Struct, frozen=True, kw_only=True):
    """A memory as it is baked: under which heading, in which words, from where, and how much it matters."""

    id: str
    kind: str
    words: str
    citation: str
    name: str = ""
    place: str = ""
    weight: float = 1.0


class Head(Struct, frozen=True, kw_only=True):
    """What the first line of a baked file says. `of` is the digest of the full file, in a summary."""

    agent: str
    at: str
    position: int
    head: str
    digest: str
    of: str = ""


class Written(Struct, frozen=True, kw_only=True):
    """The text of a file, which memories stand in it, and how many had no room."""

    text: str
    ids: tuple[str, ...]
    left_out: int = 0


def write_known(head: Head, title: str, preface: str, known: Sequence[Known], budget_tokens: int) -> Written:
    """A file that holds as many as there is room for: all under their headings, what matters most first chosen."""
    chosen, left = _fitting(known, budget_tokens - count_tokens(f"{title}\n{preface}") - 100)
    body = [f"# {flat(title)}", "", preface]
    for heading, part in _by_heading(chosen):
        body += ["", f"## {heading}", "", *map(line_of, part)]
    if left:
        body += ["", f"{left} more had no room here."]
    return Written(text=with_head(head, "\n".join(body) + "\n"), ids=tuple(each.id for each in chosen), left_out=left)


def line_of(known: Known) -> str:
    """`- "what it says" [source]`; nothing in it can end the line or the quotation."""
    said = quoted(cut(flat(known.words), SAID_CHARACTERS))
    name = flat(known.name)
    if name and not flat(known.words).startswith(name):
        said = f"{quoted(cut(name, NAME_CHARACTERS))}: {said}"
    return f"- {said} [{flat(known.citation)}]"


def with_head(head: Head, body: str) -> str:
    """The body below the line that tells what it is."""
    of = f" of={head.of}" if head.of else ""
    told = f"agent={head.agent} at={head.at} position={head.position} head={head.head} digest={digest(body)}{of}"
    return f"{MARKER}{told} -->\n{body}"


def read_head(text: str) -> tuple[Head, str] | None:
    """What a file's first line says, and the rest; None for a file that weft did not bake."""
    found = _HEAD.match(text)
    if found is None:
        return None
    agent, at, position, head, told, of = found.groups()
    made = Head(agent=agent, at=at, position=int(position), head=head, digest=told, of=of or "")
    return made, text[found.end() :]


def digest(text: str) -> str:
    """Of what stands below the first line."""
    return hashlib.sha256(text.encode()).hexdigest()


def _fitting(known: Sequence[Known], budget_tokens: int) -> tuple[list[Known], int]:
    chosen: list[Known] = []
    spent = 0
    for each in sorted(known, key=lambda one: (-one.weight, _place(one))):
        cost = count_tokens(line_of(each)) + 1
        if spent + cost <= budget_tokens:
            chosen.append(each)
            spent += cost
    return chosen, len(known) - len(chosen)


def _by_heading(known: Iterable[Known]) -> list[tuple[str, list[Known]]]:
    found: dict[str, list[Known]] = {}
    for each in sorted(known, key=_place):
        heading = TITLES.get(each.kind, plain(each.kind))
        found.setdefault(f"{heading}: {flat(each.place)}" if each.place else heading, []).append(each)
    return list(found.items())


def _place(known: Known) -> tuple[int, str, str]:
    order = ORDER.index(known.kind) if known.kind in ORDER else len(ORDER)
    return (order, known.kind if order == len(ORDER) else "", known.place)
