"""What a document is made of, as every parser gives it."""

from __future__ import annotations

from msgspec import Struct


class Passage(Struct, frozen=True, kw_only=True):
    """Whole lines of the document on one topic, verbatim: `text` is lines `line` to `end_line`, joined by newlines.

    `mentions` are the names that it writes as code; `page` is where it stands, in a file that has pages.
    """

    line: int
    end_line: int
    text: str
    mentions: tuple[str, ...] = ()
    page: int | None = None


class Part(Struct, frozen=True, kw_only=True):
    """A heading with what stands under it up to the next heading. Lines count from 1, both ends in.

    `level` 0 and no title is what stands before the first heading. `summary` is a sentence or two of its own words.
    """

    title: str
    level: int
    line: int
    end_line: int
    summary: str = ""
    passages: tuple[Passage, ...] = ()


class Outline(Struct, frozen=True, kw_only=True):
    """A document: its title (its own, or nothing), its parts in order, and what could not be read of it."""

    title: str
    parts: tuple[Part, ...]
    summary: str = ""
    notes: tuple[str, ...] = ()
