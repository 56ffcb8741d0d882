"""Family `document`: files of text, by section."""

from __future__ import annotations

from msgspec import Struct

from weft.types import Scope


class SectionText(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A heading and what stands under it, with the lines it takes in the file (from 1, both in)."""

    id: str
    title: str
    level: int
    line: int
    end_line: int
    text: str
    parent: str | None = None


class Ingested(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One version of a document. `ended` are sections of the version before that are gone."""

    id: str
    source: str
    title: str
    sha256: str
    sections: tuple[SectionText, ...]
    ended: tuple[str, ...] = ()
    project: str | None = None
    focus: str | None = None
    scope: Scope = "admin"
    agents: tuple[str, ...] = ()
    sensitive: bool = False
