"""A compaction as a file, for programs that read no store: the records with their words and the citations of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from weft.errors import Invalid
from weft.loom import Loom
from weft.operations.compaction_rows import Selection
from weft.operations.paths import read_path
from weft.operations.projections import Projected, projected
from weft.operations.written_files import FileText, check_free, put_file

SUFFIX: Final = ".compaction.json"
BEGINNING: Final = '{\n  "format": "weft-compaction-1"'
MAX_RECORDS: Final = 50_000
UNTAGGED: Final = "what is for all agents"


def check_output(loom: Loom, written: str) -> Path:
    """The file to write. Raises Invalid for another suffix, Conflict for a link or a file that weft did not write.

    Raises Forbidden where a file stands that was written by who may see more.
    """
    place = read_path(written).absolute()
    if not place.name.endswith(SUFFIX) or place.name == SUFFIX:
        raise Invalid(f"{place.name!r} does not end in {SUFFIX}", hint=f"call it, for example, ferry{SUFFIX}")
    check_free(loom.settings, place, below=place.parent.parent, rights=_rights(loom))
    return place


def write_compaction(loom: Loom, place: Path, purpose: str, selection: Selection, covered: dict[str, Any]) -> None:
    """Writes what the projections for a purpose hold as they read now."""
    found = projected(loom, purpose, limit=MAX_RECORDS, project=selection.project, selection=selection.key)
    holds = FileText(
        text=_text(found, selection, covered),
        marker=BEGINNING,
        nodes=tuple(record.id for record in found.records),
        rights=_rights(loom),
    )
    put_file(loom.settings, place, holds, below=place.parent.parent)


def _rights(loom: Loom) -> tuple[str, ...]:
    """What decides how much a compaction holds: who may see less does not put less in place of more."""
    return (*sorted(loom.viewer.scopes), *(() if loom.viewer.tagged_only else (UNTAGGED,)))


def _text(found: Projected, selection: Selection, covered: dict[str, Any]) -> str:
    body = {
        "format": "weft-compaction-1",
        "purpose": found.purpose,
        "project": selection.project,
        "selection": {name: each for name in ("query", "since", "session") if (each := getattr(selection, name))},
        "covered": covered,
        "made_at": found.made_at,
        "records": [msgspec.to_builtins(record) for record in found.records],
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode() + "\n"
