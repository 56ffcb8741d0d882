"""Documents as events: the difference between a version of a document and the graph.

Ids are stable under edits: a section's is made of the headings above it, a chunk's of its section and a number that it
keeps while it exists.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.core.kinds import CHUNK_MARK
from weft.core.queries import NodeFilter
from weft.core.types import Guard, NodeVersion
from weft.documents.keep.deleted_parts import has_ended, is_there, leave_out
from weft.log.draft import Draft
from weft.log.kinds import document
from weft.retrieval.scoring.passages import is_of
from weft.runtime.call_context import CallContext
from weft.text.markup.outline import DocumentOutline, DocumentPart, Passage
from weft.writing.build.deletions import deletion_times, pages

MAX_SUMMARY_CHARACTERS: Final = 300
MAX_ID_CHARACTERS: Final = 900  # of a section
PATH_MARK: Final = " › "
NODES_PER_EVENT: Final = 32  # sections and chunks; a commit of that many holds the lock about 10 ms
CHARACTERS_PER_EVENT: Final = 150_000  # at most six bytes each in JSON
UNFINISHED: Final = ""  # the hash of a document that is incomplete or must be compared again


class DocumentVersion(Struct, frozen=True, kw_only=True):
    """A version of a document: its content, and a hash that identifies it. `name` is the default title."""

    id: str
    source: str
    name: str
    sha256: str
    form: str
    outline: DocumentOutline


class DocumentChanges(Struct, frozen=True, kw_only=True):
    """The events that bring the graph up to a version, in order, and the size of that version.

    `left_out` counts unchanged deleted parts, `returned` those that are back because their words changed.
    """

    drafts: tuple[Draft, ...]
    sections: int
    chunks: int
    left_out: int = 0
    returned: int = 0


def is_recorded(node: NodeVersion, guard: Guard, sha256: str) -> bool:
    """Whether a document's node is this version. Early versions had no form and no chunks."""
    return node.props.get("sha256") == sha256 and node.guard == guard and bool(node.props.get("form"))


def record(ctx: CallContext, guard: Guard, version: DocumentVersion, before: NodeVersion | None) -> DocumentChanges:
    """The events that bring the graph to this version; unchanged sections and chunks are left out.

    So are deleted ones until their own words change, except those deleted with the document itself. `before` is the
    document's node as it is or last was; None if it is new.
    """
    whole, parts = before, _parts_known(ctx, version) if before is not None else {}
    came_back = frozenset() if whole is None or whole.deleted_at is None else deletion_times(ctx, whole)
    return _recorded(guard, version, parts, came_back)


def _recorded(
    guard: Guard, version: DocumentVersion, before: Mapping[str, NodeVersion], came_back: frozenset[int]
) -> DocumentChanges:
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
        props=_about(version.outline),
        sections=(),
        **asdict(guard),
    )
    slices = [*_slices(changed, ended)] or [((), ())]
    payloads = [replace(whole, sections=sections, ended=gone, sha256=UNFINISHED) for sections, gone in slices]
    payloads[-1] = replace(payloads[-1], sha256=version.sha256)
    return DocumentChanges(
        drafts=tuple(Draft(kind="document.ingested", payload=payload) for payload in payloads),
        sections=len(made),
        chunks=sum(len(section.chunks) for section in made),
        left_out=seen.left_out,
        returned=seen.returned,
    )


def _about(outline: DocumentOutline) -> dict[str, Any]:
    keywords = {"keywords": list(outline.keywords)} if outline.keywords else {}
    return keywords | ({"date": outline.date} if outline.date else {})


def part_ids(ctx: CallContext, node: NodeVersion) -> tuple[str, ...]:
    """The current sections and chunks of a document."""
    found = pages(ctx, NodeFilter(id_prefix=f"{node.id}#", kinds=("Section", "Chunk")))
    return tuple(each.id for each in found if is_there(each) and is_of(each, node.id, node.props.get("source")))


def _parts_known(ctx: CallContext, version: DocumentVersion) -> dict[str, NodeVersion]:
    """The last version of every section and chunk of the document: ended ones keep their numbers reserved."""
    found = pages(ctx, NodeFilter(id_prefix=f"{version.id}#", kinds=("Section", "Chunk")))
    return {node.id: node for node in found if is_of(node, version.id, version.source)}


def _title(version: DocumentVersion) -> str:
    return version.outline.title or next((part.title for part in version.outline.parts if part.title), version.name)


# ---- the new version


def _sections(version: DocumentVersion, before: Mapping[str, NodeVersion]) -> Iterator[document.SectionText]:
    chunks_known = _chunks_by_section(before)
    title = _title(version)
    above: list[tuple[int, str, str]] = []  # level, id and title of the enclosing headings
    used: dict[str, int] = {}
    for part in version.outline.parts:
        while above and above[-1][0] >= part.level:
            above.pop()
        parent = above[-1][1] if above else None
        section_id = _unused(f"{parent or version.id}#{_in_id(part.title)}"[:MAX_ID_CHARACTERS], used)
        if part.level:  # text before the first heading has no subsections
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
    """A heading as part of an id, without the mark of chunks."""
    return title.replace(CHUNK_MARK, "").strip() or "text"


def _unused(base: str, used: dict[str, int]) -> str:
    """An id not used by an earlier section: numbered if the heading repeats."""
    section_id = base if base not in used else f"{base}~{used[base] + 1}"
    while section_id in used:  # a heading may end like one of these numbers
        used[base] += 1
        section_id = f"{base}~{used[base] + 1}"
    used[base] = used.get(base, 0) + 1
    used.setdefault(section_id, 1)
    return section_id


def _chunks(section_id: str, part: DocumentPart, place: str, known: Numbered) -> tuple[document.ChunkText, ...]:
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
    """Each section's current chunks in order, and its used numbers."""
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
    """Headings from the document's title down, without repetitions; shortened to the last ones if too long."""
    names = [title for title in titles if title]
    names = [name for at, name in enumerate(names) if at == 0 or name != names[at - 1]]
    path = PATH_MARK.join(names)
    if len(path) <= MAX_SUMMARY_CHARACTERS:
        return path
    first, last = names[0][:100], PATH_MARK.join(names[1:])
    room = MAX_SUMMARY_CHARACTERS - len(first) - len(PATH_MARK) - 1
    return f"{first}{PATH_MARK}…{last[-room:]}"


# ---- differences


def _changed(
    section: document.SectionText, before: Mapping[str, NodeVersion], guard: Guard, source: str
) -> document.SectionText | None:
    """The section with its new chunks; None if it is unchanged."""
    chunks = tuple(chunk for chunk in section.chunks if not _chunk_stands(chunk, before.get(chunk.id), guard, source))
    if not chunks and _section_stands(section, before.get(section.id), guard):
        return None
    return replace(section, chunks=chunks)


def _section_stands(section: document.SectionText, node: NodeVersion | None, guard: Guard) -> bool:
    """Whether the section is unchanged: words, lines and rights. Sections with own text are of an early version."""
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
    """(sections, ended ids) per event, within its bounds. A long section continues in the next one."""
    gone = tuple(ended[:NODES_PER_EVENT])
    for start in range(NODES_PER_EVENT, len(ended), NODES_PER_EVENT):
        yield (), gone
        gone = tuple(ended[start : start + NODES_PER_EVENT])
    taken: list[document.SectionText] = []
    nodes, characters = len(gone), 0
    for section in sections:
        chunks: list[document.ChunkText] = []
        for chunk in (None, *section.chunks):  # None: the section itself
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


REASON: Final = "its file is gone"


# ---- chunk numbers


class Numbered(Struct, frozen=True, kw_only=True):
    """The current chunks of a section, (number, text) in order, and the highest number ever used."""

    standing: tuple[tuple[int, str], ...] = ()
    highest: int = 0


def chunk_numbers(before: Numbered, texts: Sequence[str]) -> list[int]:
    """A distinct number for each text.

    Unchanged texts keep theirs; a text that replaces another takes its number; others get numbers higher than any
    before.
    """
    numbers: list[int | None] = [None] * len(texts)
    for old, new in _pairs([text for _, text in before.standing], texts):
        numbers[new] = before.standing[old][0]
    made: list[int] = []
    highest = before.highest
    for number in numbers:
        if number is None:
            number = highest = highest + 1  # noqa: PLW2901 - the next number
        made.append(number)
    return made


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """(old, new) positions that belong together, each used once. Linear in the number of texts."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    pairs = {at: at for at in range(start)}  # new position -> old position
    pairs |= {len(new) - 1 - at: len(old) - 1 - at for at in range(end)}
    left: dict[str, deque[int]] = {}
    for at in range(start, len(old) - end):
        left.setdefault(old[at], deque()).append(at)
    for at in range(start, len(new) - end):  # equal texts, in order
        if left.get(new[at]):
            pairs[at] = left[new[at]].popleft()
    free = {at for places in left.values() for at in places}
    _pair_beside(pairs, free, range(len(new)), step=1, first=0)
    _pair_beside(pairs, free, range(len(new) - 1, -1, -1), step=-1, first=len(old) - 1)
    return [(was, now) for now, was in pairs.items()]


def _pair_beside(pairs: dict[int, int], free: set[int], places: range, *, step: int, first: int) -> None:
    """Pairs texts beside a pair in both lists: one replaced the other. At an end, those at the end."""
    for at in places:
        if at in pairs:
            continue
        beside = pairs.get(at - step)
        was = first if at == places.start else None if beside is None else beside + step
        if was in free:
            free.discard(was)
            pairs[at] = was
