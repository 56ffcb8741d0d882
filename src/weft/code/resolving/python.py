"""Python: packages, relative imports, names passed on, `self`, declared and constructed types."""

from __future__ import annotations

from weft.code.facts import FileFacts
from weft.code.resolving import Links, Project


def resolve(facts: FileFacts, project: Project) -> Links:
    """What a file refers to."""
    return Links(unresolved=tuple((each.chain, each.line) for each in facts.references))
