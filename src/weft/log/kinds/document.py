"""Family `document`: files of text, by section and chunk."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from weft.core.types import Scope


class ChunkText(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A passage on one topic, verbatim, with its lines in the file (from 1, inclusive).

    `summary` is its headings, the document's title first. Its `props` may hold `mentions`, names that it writes as
    code, and `page`, if the file has pages.
    """

    id: str
    line: int
    end_line: int
    text: str
    summary: str = ""
    props: dict[str, Any] = field(default_factory=dict)


class SectionText(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A heading and the text under it, with its lines in the file (from 1, inclusive).

    Its words are those of its `chunks`; a section without any, as early versions wrote them, has a `text` of its own.
    """

    id: str
    title: str
    level: int
    line: int
    end_line: int
    text: str = ""
    parent: str | None = None
    summary: str = ""
    chunks: tuple[ChunkText, ...] = ()


class Ingested(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One version of a document. `ended` are sections and chunks of the version before that are gone.

    `props` are the topics and the date of its front matter.
    """

    id: str
    source: str
    title: str
    sha256: str
    sections: tuple[SectionText, ...]
    ended: tuple[str, ...] = ()
    summary: str = ""
    form: str = ""
    props: dict[str, Any] = {}
    project: str | None = None
    focus: str | None = None
    scope: Scope = "admin"
    agents: tuple[str, ...] = ()
    sensitive: bool = False
