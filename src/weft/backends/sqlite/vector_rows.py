"""Vectors as rows, written beside their events or later. Needs no numpy, so that small commands stay quick."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from weft.backends.sqlite.query import first, one
from weft.errors import Invalid
from weft.queries import Vector


def write_vectors(db: apsw.Connection, vectors: Sequence[Vector]) -> None:
    """Adds vectors of texts that are there; one that has one of this model keeps it. Inside a write transaction."""
    models: dict[str, int] = {}
    for vector in vectors:
        if vector.model not in models:
            models[vector.model] = _model_key(db, vector.model, len(vector.data) // 2)
        db.execute(
            # A text may have gone while its vector was made: nothing of it may come back.
            """INSERT OR IGNORE INTO vector(model, hash, data, parts) SELECT ?1, ?2, ?3, ?4
               WHERE EXISTS (SELECT 1 FROM text WHERE hash = ?2)""",
            (models[vector.model], vector.content_hash, vector.data, vector.parts),
        )


def _model_key(db: apsw.Connection, name: str, dimensions: int) -> int:
    known = first(db, "SELECT key, dimensions FROM model WHERE name = ?", (name,))
    if known is None:
        insert = "INSERT INTO model(name, dimensions) VALUES (?,?) RETURNING key, dimensions"
        known = one(db, insert, (name, dimensions))
    if known[1] != dimensions:
        raise Invalid(
            f"vectors of {name} have {known[1]} dimensions here, not {dimensions}",
            hint="another model needs another name: spaces are never mixed",
        )
    key: int = known[0]
    return key


def model_key(db: apsw.Connection, name: str) -> int | None:
    """The model's number here, or None if it has no vectors yet."""
    known = first(db, "SELECT key FROM model WHERE name = ?", (name,))
    return None if known is None else known[0]
