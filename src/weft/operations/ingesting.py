"""Reading documents: Markdown and plain text, by section, cited by file and line."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from weft.errors import Invalid, NotFound
from weft.extract.sections import Section, read_sections
from weft.log.draft import Draft
from weft.log.kinds import document
from weft.loom import Loom
from weft.operations.fields import Tags
from weft.operations.registry import Operation
from weft.types import MAX_LIMIT, Find, Guard, NodeVersion, Scope, When

SUFFIXES = frozenset({".md", ".markdown", ".txt", ".rst"})
MAX_FILE_BYTES = 524_288
MAX_FILES = 100_000


class Ingest(Struct, frozen=True, kw_only=True):
    """Input of `ingest`."""

    path: Annotated[str, Meta(min_length=1, max_length=4096, description="a file or a directory inside the project")]
    scope: Annotated[Scope, Meta(description="who may see it")] = "admin"
    agents: Annotated[Tags, Meta(description="agents it is meant for")] = ()


class Skipped(Struct, frozen=True, kw_only=True):
    """A file that was not read, and why."""

    path: str
    reason: str


class Ingested(Struct, frozen=True, kw_only=True):
    """What was read."""

    documents: int
    sections: int
    unchanged: int
    skipped: tuple[Skipped, ...]


def ingest(loom: Loom, given: Ingest) -> Ingested:
    """Reads Markdown and text files by section. Unchanged files cost nothing; changed sections get new versions.

    Hidden folders are passed over. What could not be read is listed with the reason; the rest goes on.
    """
    start = Path(given.path).expanduser().absolute()
    root = loom.settings.root
    if not start.exists():
        raise NotFound(f"there is no {given.path}", hint="give a file or a directory")
    if not start.resolve().is_relative_to(root.resolve()):
        raise Invalid(
            f"{given.path} is outside the project at {root}",
            hint="run weft inside that directory, or `weft init` there",
        )
    files = list(_files(start))
    documents = sections = unchanged = 0
    skipped: list[Skipped] = []
    for number, file in enumerate(files, start=1):
        outcome = _ingest_file(loom, given, file, file.relative_to(root).as_posix())
        loom.progress("reading", number, len(files))
        if isinstance(outcome, Skipped):
            skipped.append(outcome)
        elif outcome is None:
            unchanged += 1
        else:
            documents += 1
            sections += outcome
    return Ingested(documents=documents, sections=sections, unchanged=unchanged, skipped=tuple(skipped))


def _files(start: Path) -> Iterator[Path]:
    """Readable files below, in order; hidden ones and links are passed over."""
    if start.is_file():
        yield start
        return
    seen = 0
    for directory, folders, names in os.walk(start):
        folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
        for name in sorted(names):
            file = Path(directory) / name
            if not name.startswith(".") and file.suffix.lower() in SUFFIXES and not file.is_symlink():
                seen += 1
                if seen > MAX_FILES:
                    return
                yield file


def _ingest_file(loom: Loom, given: Ingest, file: Path, source: str) -> Skipped | int | None:
    """The number of sections, None if unchanged, or why not."""
    try:
        source.encode()
    except UnicodeEncodeError:
        return Skipped(path=source.encode(errors="replace").decode(), reason="its name is not UTF-8")
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            return Skipped(path=source, reason=f"larger than {MAX_FILE_BYTES:,} bytes")
        raw = file.read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as problem:
        return Skipped(path=source, reason=f"cannot be read: {problem.strerror}")
    except UnicodeDecodeError:
        return Skipped(path=source, reason="is not UTF-8 text")
    if "\x00" in text:
        return Skipped(path=source, reason="holds NUL characters: not a text file")
    sha256 = hashlib.sha256(raw).hexdigest()
    project = loom.settings.project
    document_id = f"{project}/{source}"
    known = loom.store.nodes(loom.viewer, When(), [document_id])
    if known and known[0].props.get("sha256") == sha256:
        return None
    sections = read_sections(text, markdown=file.suffix.lower() in (".md", ".markdown"))
    made = _section_texts(document_id, sections)
    guard = Guard(project=project, scope=given.scope, agents=tuple(sorted(set(given.agents))))
    before = loom.store.find(
        loom.viewer,
        When(),
        Find(kinds=("Section",), projects=(project,), props={"source": source}),
        limit=MAX_LIMIT * 100,
    ).nodes
    standing = {node.id: node for node in before}
    payload = document.Ingested(
        id=document_id,
        source=source,
        title=next((section.title for section in sections if section.title), file.name),
        sha256=sha256,
        sections=tuple(section for section in made if not _stands(section, standing.get(section.id), guard)),
        ended=tuple(sorted(set(standing) - {section.id for section in made})),
        project=project,
        scope=guard.scope,
        agents=guard.agents,
    )
    try:
        loom.append([Draft(kind="document.ingested", payload=payload)])
    except Invalid as problem:
        return Skipped(path=source, reason=problem.message)
    return len(made)


def _stands(section: document.SectionText, node: NodeVersion | None, guard: Guard) -> bool:
    """The section is there already: same words, same lines, same rights."""
    if node is None or node.guard != guard or (node.name, node.text) != (section.title, section.text):
        return False
    return all(node.props.get(name) == getattr(section, name) for name in ("line", "end_line", "level"))


def _section_texts(document_id: str, sections: tuple[Section, ...]) -> tuple[document.SectionText, ...]:
    """Sections with ids made of their headings, so that an edit elsewhere in the file leaves them alone."""
    made: list[document.SectionText] = []
    path: list[tuple[int, str]] = []
    used: dict[str, int] = {}
    for section in sections:
        while path and path[-1][0] >= section.level:
            path.pop()
        parent = path[-1][1] if path else None
        base = f"{parent or document_id}#{section.title or 'text'}"[:900]
        section_id = base if base not in used else f"{base}~{used[base] + 1}"
        while section_id in used:  # a heading may be written like one of our numbers
            used[base] += 1
            section_id = f"{base}~{used[base] + 1}"
        used[base] = used.get(base, 0) + 1
        used.setdefault(section_id, 1)
        path.append((section.level, section_id))
        made.append(
            document.SectionText(
                id=section_id,
                title=section.title,
                level=section.level,
                line=section.line,
                end_line=section.end_line,
                text=section.text,
                parent=parent,
            )
        )
    return tuple(made)


OPERATIONS = (
    Operation(
        name="ingest",
        summary="read Markdown and text files by section, cited by line",
        input=Ingest,
        output=Ingested,
        effect="write",
        toolset="memory",
        run=ingest,
        arguments=("path",),
    ),
)
