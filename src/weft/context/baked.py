"""Baked knowledge as a file: how it begins, how a memory reads in it, and how it is told from other files. Pure.

Its first line says what it is: `<!-- weft-baked 1 agent=… account=… project=… scopes=… at=… position=… head=… digest=…
of=… -->`. `digest` is of what follows that line; in a summary, `of` is the digest of the full file that it sums up.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final
from urllib.parse import quote, unquote

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
    r"<!-- weft-baked 1 agent=([a-z0-9-]+) account=([^\s>]+) project=([^\s>]+) scopes=([a-z,]*) at=([^\s>]+)"
    r" position=(\d{1,18}) head=([0-9a-f]{1,128}) digest=([0-9a-f]{64})(?: of=([0-9a-f]{64}))? -->\n"
)
_CITED: Final = re.compile(r"^- (.+) \[(?:weft|file)://[^\]]+\]$")


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
    """What the first line of a baked file says: for whom it was baked, and of which scopes what stands in it may be.

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
    return f"- {said_in(known)} [{flat(known.citation)}]"


def said_in(known: Known) -> str:
    """What a memory says in a baked file, without its source."""
    said = quoted(cut(flat(known.words), SAID_CHARACTERS))
    name = flat(known.name)
    if name and not flat(known.words).startswith(name):
        said = f"{quoted(cut(name, NAME_CHARACTERS))}: {said}"
    return said


def with_head(head: Head, body: str) -> str:
    """The body below the line that tells what it is."""
    of = f" of={head.of}" if head.of else ""
    account, project = quote(head.account, safe=""), quote(head.project, safe="")
    whose = f"agent={head.agent} account={account} project={project} scopes={','.join(head.scopes)}"
    told = f"{whose} at={head.at} position={head.position} head={head.head} digest={digest(body)}{of}"
    return f"{MARKER}{told} -->\n{body}"


def read_head(text: str) -> tuple[Head, str] | None:
    """What a file's first line says, and the rest; None for a file that weft did not bake."""
    found = _HEAD.match(text)
    if found is None:
        return None
    agent, account, project, scopes, at, position, head, told, of = found.groups()
    made = Head(
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
    """Whether a text is a baked file as weft wrote it, by itself: its first line fits the rest."""
    found = read_head(text)
    return found is not None and found[0].digest == digest(found[1])


def told_in(text: str) -> frozenset[str]:
    """What the lines of a baked file say, without their sources."""
    return frozenset(match[1] for line in text.split("\n") if (match := _CITED.match(line)))


def is_excerpt(summary: str, full: str) -> bool:
    """Whether a summary has no cited line that is not in the full file: one in a model's own words has."""
    lines = set(full.split("\n"))
    return all(line in lines for line in summary.split("\n") if "[weft://" in line or "[file://" in line)


def still_true(text: str, known: Collection[str]) -> tuple[str, int]:
    """The text without the lines that say what is not known any more, and without headings that are left with none.

    Also says how many lines went. A memory that is told anew in the same words has another source, and is known.
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
