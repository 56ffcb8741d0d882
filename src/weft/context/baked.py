"""Knowledge files: their header, their lines, and how weft recognises one. Pure.

The first line is `<!-- weft-baked 1 agent=… account=… project=… scopes=… at=… position=… head=… digest=… of=… -->`.
`digest` is of the text below it; in a summary, `of` is the digest of the full file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final
from urllib.parse import quote, unquote

from msgspec import Struct

from weft.context.fit import fit
from weft.context.tokens import count_tokens
from weft.context.wording import cut, plain, quoted
from weft.text.one_line import flat

MARKER: Final = "<!-- weft-baked 1 "
FULL: Final = "KNOWLEDGE.md"
SUMMARY: Final = "KNOWLEDGE-SUMMARY.md"
HEADINGS_TOKENS: Final = 100
SAID_CHARACTERS: Final = 1_200
NAME_CHARACTERS: Final = 160
# The order of kinds in a file; other kinds come after, by name.
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
    r"<!-- weft-baked 1 agent=([a-z0-9-]+) account=([^\s>]+) project=([^\s>]+) scopes=([a-z,]*) at=([^\s>]+)"
    r" position=(\d{1,18}) head=([0-9a-f]{1,128}) digest=([0-9a-f]{64})(?: of=([0-9a-f]{64}))? -->\n"
)
_CITED: Final = re.compile(r"^- (.+) \[(?:weft|file)://[^\]]+\]$")


class BakedMemory(Struct, frozen=True, kw_only=True):
    """A memory in a knowledge file: its heading, its words, its source, its weight."""

    id: str
    kind: str
    words: str
    citation: str
    name: str = ""
    place: str = ""
    weight: float = 1.0


class BakedHeader(Struct, frozen=True, kw_only=True):
    """The first line of a knowledge file: its agent, and the scopes of its memories.

    `of` is the digest of the full file, in a summary.
    """

    agent: str
    account: str
    project: str
    scopes: tuple[str, ...]
    at: str
    position: int
    head: str
    digest: str
    of: str = ""


class BakedFile(Struct, frozen=True, kw_only=True):
    """The text of a file, the ids of its memories, and how many had no room."""

    text: str
    ids: tuple[str, ...]
    left_out: int = 0


def write_known(
    head: BakedHeader, title: str, preface: str, known: Sequence[BakedMemory], budget_tokens: int
) -> BakedFile:
    """A file with as many memories as fit, by heading; those with the highest weight are chosen first."""
    ranked = sorted(known, key=lambda one: (-one.weight, _place(one)))
    room = max(0, budget_tokens - count_tokens(f"{title}\n{preface}") - HEADINGS_TOKENS)
    fitted = fit({"known": ranked}, lambda each: count_tokens(line_of(each)) + 1, room)
    left = sum(fitted.omitted.values())
    body = [f"# {flat(title)}", "", preface]
    for heading, part in _by_heading(fitted.kept):
        body += ["", f"## {heading}", "", *map(line_of, part)]
    if left:
        body += ["", f"{left} more had no room here."]
    return BakedFile(
        text=with_head(head, "\n".join(body) + "\n"), ids=tuple(each.id for each in fitted.kept), left_out=left
    )


def line_of(known: BakedMemory) -> str:
    """`- "the words" [source]`; nothing in it can end the line or the quotation."""
    return f"- {said_in(known)} [{flat(known.citation)}]"


def said_in(known: BakedMemory) -> str:
    """The words of a memory in a knowledge file, without its source."""
    said = quoted(cut(flat(known.words), SAID_CHARACTERS))
    name = flat(known.name)
    if name and not flat(known.words).startswith(name):
        said = f"{quoted(cut(name, NAME_CHARACTERS))}: {said}"
    return said


def with_head(head: BakedHeader, body: str) -> str:
    """The body below its header."""
    of = f" of={head.of}" if head.of else ""
    account, project = quote(head.account, safe=""), quote(head.project, safe="")
    whose = f"agent={head.agent} account={account} project={project} scopes={','.join(head.scopes)}"
    told = f"{whose} at={head.at} position={head.position} head={head.head} digest={digest(body)}{of}"
    return f"{MARKER}{told} -->\n{body}"


def read_head(text: str) -> tuple[BakedHeader, str] | None:
    """The header of a file, and the rest; None for a file that weft did not write."""
    found = _HEAD.match(text)
    if found is None:
        return None
    agent, account, project, scopes, at, position, head, told, of = found.groups()
    made = BakedHeader(
        agent=agent,
        account=unquote(account),
        project=unquote(project),
        scopes=tuple(filter(None, scopes.split(","))),
        at=at,
        position=int(position),
        head=head,
        digest=told,
        of=of or "",
    )
    return made, text[found.end() :]


def is_baked(text: str) -> bool:
    """Whether a text is an unchanged baked file: its first line has the hash of the rest."""
    found = read_head(text)
    return found is not None and found[0].digest == digest(found[1])


def told_in(text: str) -> frozenset[str]:
    """The words of the lines of a knowledge file, without their sources."""
    return frozenset(match[1] for line in text.split("\n") if (match := _CITED.match(line)))


def is_excerpt(summary: str, full: str) -> bool:
    """Whether every cited line of a summary is in the full file; lines in a model's own words are not."""
    lines = set(full.split("\n"))
    return all(line in lines for line in summary.split("\n") if "[weft://" in line or "[file://" in line)


def still_true(text: str, known: Collection[str]) -> tuple[str, int]:
    """The text without the lines of memories that are gone, and without empty headings; and how many lines were
    dropped.

    A memory that is recorded again in the same words has another source, and counts as present.
    """
    kept: list[str] = []
    heading: list[str] = []  # one that waits for its first line
    dropped = 0
    for line in text.split("\n"):
        match = _CITED.match(line)
        if match is not None and match[1] not in known:
            dropped += 1
        elif line.startswith("## "):
            heading = [line, ""]
        elif line or not (heading or (kept and not kept[-1])):  # of blank lines one is enough
            kept += [*heading, line]
            heading = []
    return ("\n".join(kept), dropped) if dropped else (text, 0)


def digest(text: str) -> str:
    """SHA-256 of the text below the header."""
    return hashlib.sha256(text.encode()).hexdigest()


def _by_heading(known: Iterable[BakedMemory]) -> list[tuple[str, list[BakedMemory]]]:
    found: dict[str, list[BakedMemory]] = {}
    for each in sorted(known, key=_place):
        heading = TITLES.get(each.kind, plain(each.kind))
        found.setdefault(f"{heading}: {flat(each.place)}" if each.place else heading, []).append(each)
    return list(found.items())


def _place(known: BakedMemory) -> tuple[int, str, str]:
    order = ORDER.index(known.kind) if known.kind in ORDER else len(ORDER)
    return (order, known.kind if order == len(ORDER) else "", known.place)
