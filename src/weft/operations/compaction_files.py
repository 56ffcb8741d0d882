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
from weft.operations.written_files import check_free, put_file

SUFFIX: Final = ".compaction.json"
FORMAT: Final = '"format": "weft-compaction-1"'
MAX_RECORDS: Final = 50_000


def check_output(written: str) -> Path:
    """The file to write. Raises Invalid for another suffix, Conflict for a link or a file that weft did not write."""
    place = read_path(written).absolute()
    if not place.name.endswith(SUFFIX) or place.name == SUFFIX:
        raise Invalid(f"{place.name!r} does not end in {SUFFIX}", hint=f"call it, for example, ferry{SUFFIX}")
    check_free(place, FORMAT)
    return place


def write_compaction(loom: Loom, place: Path, purpose: str, selection: Selection, covered: dict[str, Any]) -> None:
    """Writes what the projections for a purpose hold as they read now."""
    found = projected(loom, purpose, limit=MAX_RECORDS, project=selection.project, selection=selection.key)
    text = _text(found, selection, covered)
    put_file(loom.settings, place, text, marker=FORMAT, nodes=(record.id for record in found.records))


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
