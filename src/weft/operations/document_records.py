"""Documents as events: what a version of a document says, against what the graph says of it.

Ids are made so that an edit leaves the rest alone: a section's of the headings above it, a chunk's of its section and
a number that it keeps for as long as it stands, whatever comes or goes around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.documents.outline import Outline, Part, Passage
from weft.kinds import CHUNK_MARK
from weft.log.draft import Draft
from weft.log.kinds import document
from weft.loom import Loom
from weft.operations.chunk_numbers import Numbered, chunk_numbers
from weft.operations.deleted_parts import has_ended, is_there, leave_out
from weft.operations.deletions import moments_of, pages
from weft.queries import Which
from weft.retrieval.passages import is_of
from weft.types import Guard, NodeVersion

MAX_SUMMARY_CHARACTERS: Final = 300
MAX_ID_CHARACTERS: Final = 900  # of a section
PATH_MARK: Final = " › "
NODES_PER_EVENT: Final = 32  # sections and chunks: a commit with that many keeps others waiting some 10 ms
CHARACTERS_PER_EVENT: Final = 150_000  # at most six bytes each in JSON
UNFINISHED: Final = ""  # the hash of a document of which more is to come, or which is to be compared again


class DocumentVersion(Struct, frozen=True, kw_only=True):
    """A version of a document: what it holds, and a hash that tells it from others. `name` stands for a title."""

    id: str
    source: str
    name: str
    sha256: str
    form: str
    outline: Outline


class Recorded(Struct, frozen=True, kw_only=True):
    """The events that bring the graph up to a version, in order, and how much that version has.

    `left_out` are parts that were deleted and say the same; `returned` such that are back, as they say something else.
    """

    drafts: tuple[Draft, ...]
    sections: int
    chunks: int
    left_out: int = 0
    returned: int = 0


def is_recorded(node: NodeVersion, guard: Guard, sha256: str) -> bool:
    """Whether a document's node says that this version stands. Early versions had no form, and no chunks."""
    return node.props.get("sha256") == sha256 and node.guard == guard and bool(node.props.get("form"))


def record(loom: Loom, guard: Guard, version: DocumentVersion, before: NodeVersion | None) -> Recorded:
    """What to write so that the graph shows this version; sections and chunks that stand as they are, are left out.

    So are those that were deleted, until their own words change: all but what went with the document itself, which is
    `before` as it stands or last was; where it is None, none is looked for.
    """
    whole, parts = before, _parts_known(loom, version) if before is not None else {}
    came_back = frozenset() if whole is None or whole.deleted_at is None else moments_of(loom, whole)
    return _recorded(guard, version, parts, came_back)


def _recorded(
    guard: Guard, version: DocumentVersion, before: Mapping[str, NodeVersion], came_back: frozenset[int]
) -> Recorded:
    seen = leave_out(list(_sections(version, before)), before, came_back)
    made = seen.sections
    changed = [kept for section in made if (kept := _changed(section, before, guard, version.source)) is not None]
    ids = {section.id for section in made} | {chunk.id for section in made for chunk in section.chunks}
    ended = sorted(each for each, node in before.items() if is_there(node) and each not in ids)
    whole = document.Ingested(
        id=version.id,
        source=version.source,
        title=_title(version),
        summary="" if seen.told_in(version.outline.summary) else version.outline.summary,
        form=version.form,
        sha256=version.sha256,
        sections=(),
        **asdict(guard),
    )
    slices = [*_slices(changed, ended)] or [((), ())]
    payloads = [replace(whole, sections=sections, ended=gone, sha256=UNFINISHED) for sections, gone in slices]
    payloads[-1] = replace(payloads[-1], sha256=version.sha256)
    return Recorded(
        drafts=tuple(Draft(kind="document.ingested", payload=payload) for payload in payloads),
        sections=len(made),
        chunks=sum(len(section.chunks) for section in made),
        left_out=seen.left_out,
        returned=seen.returned,
    )


def part_ids(loom: Loom, node: NodeVersion) -> tuple[str, ...]:
    """The sections and chunks of a document that stand."""
    found = pages(loom, Which(id_prefix=f"{node.id}#", kinds=("Section", "Chunk")))
    return tuple(each.id for each in found if is_there(each) and is_of(each, node.id, node.props.get("source")))


def _parts_known(loom: Loom, version: DocumentVersion) -> dict[str, NodeVersion]:
    """The last version of every section and chunk that it ever had: what ended has a number that is taken."""
    found = pages(loom, Which(id_prefix=f"{version.id}#", kinds=("Section", "Chunk")))
    return {node.id: node for node in found if is_of(node, version.id, version.source)}


def _title(version: DocumentVersion) -> str:
    return version.outline.title or next((part.title for part in version.outline.parts if part.title), version.name)


# What it holds now


def _sections(version: DocumentVersion, before: Mapping[str, NodeVersion]) -> Iterator[document.SectionText]:
    chunks_known = _chunks_by_section(before)
    title = _title(version)
    above: list[tuple[int, str, str]] = []  # level, id and title of the headings that a part stands under
    used: dict[str, int] = {}
    for part in version.outline.parts:
        while above and above[-1][0] >= part.level:
            above.pop()
        parent = above[-1][1] if above else None
        section_id = _unused(f"{parent or version.id}#{_in_id(part.title)}"[:MAX_ID_CHARACTERS], used)
        if part.level:  # what stands before the first heading has nothing under it
            above.append((part.level, section_id, part.title))
        place = _path([title, *(heading for _, _, heading in above)])
        yield document.SectionText(
            id=section_id,
            title=part.title,
            level=part.level,
            line=part.line,
            end_line=part.end_line,
            parent=parent,
            summary=part.summary,
            chunks=_chunks(section_id, part, place, chunks_known.get(section_id, Numbered())),
        )


def _in_id(title: str) -> str:
    """A heading as a part of an id: a mark in it would make a section look like a chunk."""
    return title.replace(CHUNK_MARK, "").strip() or "text"


def _unused(base: str, used: dict[str, int]) -> str:
    """An id that no section before has: numbered where a heading comes again."""
    section_id = base if base not in used else f"{base}~{used[base] + 1}"
    while section_id in used:  # a heading may be written like one of our numbers
        used[base] += 1
        section_id = f"{base}~{used[base] + 1}"
    used[base] = used.get(base, 0) + 1
    used.setdefault(section_id, 1)
    return section_id


def _chunks(section_id: str, part: Part, place: str, known: Numbered) -> tuple[document.ChunkText, ...]:
    numbers = chunk_numbers(known, [passage.text for passage in part.passages])
    return tuple(
        document.ChunkText(
            id=f"{section_id}{CHUNK_MARK}{number}",
            line=passage.line,
            end_line=passage.end_line,
            text=passage.text,
            summary=place,
            props=_props(passage),
        )
        for number, passage in zip(numbers, part.passages, strict=True)
    )


def _props(passage: Passage) -> dict[str, Any]:
    mentions = {"mentions": list(passage.mentions)} if passage.mentions else {}
    return mentions | ({} if passage.page is None else {"page": passage.page})


def _chunks_by_section(before: Mapping[str, NodeVersion]) -> dict[str, Numbered]:
    """The chunks of each section by number: those that stand in their order, and which numbers are taken."""
    found: dict[str, list[tuple[int, NodeVersion]]] = {}
    for node_id, node in before.items():
        section_id, mark, number = node_id.rpartition(CHUNK_MARK)
        if mark and number.isdecimal():
            found.setdefault(section_id, []).append((int(number), node))
    made = {}
    for section_id, numbered in found.items():
        standing = [(number, node) for number, node in numbered if node.kind == "Chunk" and not has_ended(node)]
        standing.sort(key=lambda pair: (pair[1].props.get("line", 0), pair[0]))
        texts = tuple((number, node.text) for number, node in standing)
        made[section_id] = Numbered(standing=texts, highest=max(number for number, _ in numbered))
    return made


def _path(titles: Sequence[str]) -> str:
    """Headings from the document's title down, each once; where that is too long, the last ones count."""
    names = [title for title in titles if title]
    names = [name for at, name in enumerate(names) if at == 0 or name != names[at - 1]]
    path = PATH_MARK.join(names)
    if len(path) <= MAX_SUMMARY_CHARACTERS:
        return path
    first, last = names[0][:100], PATH_MARK.join(names[1:])
    room = MAX_SUMMARY_CHARACTERS - len(first) - len(PATH_MARK) - 1
    return f"{first}{PATH_MARK}…{last[-room:]}"


# Against what stood


def _changed(
    section: document.SectionText, before: Mapping[str, NodeVersion], guard: Guard, source: str
) -> document.SectionText | None:
    """The section with those of its chunks that are new; None if it stands as it is, with all of them."""
    chunks = tuple(chunk for chunk in section.chunks if not _chunk_stands(chunk, before.get(chunk.id), guard, source))
    if not chunks and _section_stands(section, before.get(section.id), guard):
        return None
    return replace(section, chunks=chunks)


def _section_stands(section: document.SectionText, node: NodeVersion | None, guard: Guard) -> bool:
    """Same words, same lines, same rights. One with words of its own is of an early version."""
    if node is None or not is_there(node) or node.guard != guard:
        return False
    said = (node.name, node.summary, node.text)
    lines = tuple(node.props.get(name) for name in ("line", "end_line", "level"))
    return (said, lines) == ((section.title, section.summary, ""), (section.line, section.end_line, section.level))


def _chunk_stands(chunk: document.ChunkText, node: NodeVersion | None, guard: Guard, source: str) -> bool:
    if node is None or not is_there(node) or node.guard != guard:
        return False
    place = {"line": chunk.line, "end_line": chunk.end_line} | ({"source": source} if source else {})
    props = {name: value for name, value in node.props.items() if value != "" and name != "document"}
    return (node.summary, node.text, props) == (chunk.summary, chunk.text, {**chunk.props, **place})


Slice = tuple[tuple[document.SectionText, ...], tuple[str, ...]]


def _slices(sections: Sequence[document.SectionText], ended: Sequence[str]) -> Iterator[Slice]:
    """Sections and ids that ended, as many at a time as one event should hold. A long section goes on in the next."""
    gone = tuple(ended[:NODES_PER_EVENT])
    for start in range(NODES_PER_EVENT, len(ended), NODES_PER_EVENT):
        yield (), gone
        gone = tuple(ended[start : start + NODES_PER_EVENT])
    taken: list[document.SectionText] = []
    nodes, characters = len(gone), 0
    for section in sections:
        chunks: list[document.ChunkText] = []
        for chunk in (None, *section.chunks):  # first the section itself
            size = len(section.summary) if chunk is None else len(chunk.text)
            if nodes >= NODES_PER_EVENT or (characters and characters + size > CHARACTERS_PER_EVENT):
                yield (*taken, *_with(section, chunks, begun=chunk is not None)), gone
                taken, gone, chunks, nodes, characters = [], (), [], int(chunk is not None), 0
            if chunk is not None:
                chunks.append(chunk)
            nodes, characters = nodes + 1, characters + size
        taken += _with(section, chunks, begun=True)
    if taken or gone:
        yield tuple(taken), gone


def _with(
    section: document.SectionText, chunks: Sequence[document.ChunkText], *, begun: bool
) -> tuple[document.SectionText, ...]:
    return (replace(section, chunks=tuple(chunks)),) if begun else ()
