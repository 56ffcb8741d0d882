"""Texts that are kept, so that a change of them is a reviewed difference."""

from __future__ import annotations

import os
from pathlib import Path


def check_kept(file: Path, text: str) -> None:
    """Compares a text with the one in a file; with WEFT_UPDATE_SNAPSHOTS=1 keeps it instead."""
    if os.environ.get("WEFT_UPDATE_SNAPSHOTS") == "1":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert file.exists(), f"{file.name} is new: run with WEFT_UPDATE_SNAPSHOTS=1 and review it"
    kept = file.read_text(encoding="utf-8")
    assert text == kept, (
        f"{file.name} changed: if that is meant, run with WEFT_UPDATE_SNAPSHOTS=1 and review the difference"
    )
