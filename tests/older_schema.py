"""Files as earlier versions of weft wrote them."""

from __future__ import annotations

from pathlib import Path

import apsw


def as_schema_2(file: Path) -> None:
    """Makes the file what the schema 2 wrote."""
    db = apsw.Connection(str(file))
    db.execute("DROP INDEX event_rewriting")
    for table, column in (("event", "rewritten"), ("model", "removed"), ("text_state", "removed")):
        db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    for (name,) in list(
        db.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'g1_node_deleted' OR name LIKE 'g1_text_sealed'")
    ):
        db.execute(f"DROP INDEX {name}")
    db.pragma("user_version", 2)
    db.close()
