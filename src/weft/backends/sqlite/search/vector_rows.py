"""Vector rows, written with their events or later. Without numpy, so that small commands start quickly."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from weft.backends.sqlite.query import first, one
from weft.core.errors import Invalid
from weft.core.queries import TextVector


def write_vectors(db: apsw.Connection, vectors: Sequence[TextVector]) -> None:
    """Adds vectors of stored texts; an existing one is kept. Inside a write transaction.

    Raises Invalid for a vector whose dimension differs from its model's.
    """
    models: dict[str, tuple[int, int]] = {}
    for vector in vectors:
        dimensions = len(vector.data) // 2
        if vector.model not in models:
            models[vector.model] = _model(db, vector.model, dimensions)
        key, wanted = models[vector.model]
        if wanted != dimensions:
            raise Invalid(
                f"vectors of {vector.model} have {wanted} dimensions here, not {dimensions}",
                hint="give another model another name: vector spaces are never mixed",
            )
        db.execute(
            # The text may have been erased while its vector was made.
            """INSERT OR IGNORE INTO vector(model, hash, data, parts) SELECT ?1, ?2, ?3, ?4
               WHERE EXISTS (SELECT 1 FROM text WHERE hash = ?2)""",
            (key, vector.content_hash, vector.data, vector.parts),
        )


def fitting(db: apsw.Connection, vectors: Sequence[TextVector]) -> tuple[TextVector, ...]:
    """Vectors with the dimension of their model; for a new model, that of its first vector."""
    sizes: dict[str, int] = {}
    kept = []
    for vector in vectors:
        if vector.model not in sizes:
            sizes[vector.model] = 2 * (dimensions_of(db, vector.model) or len(vector.data) // 2)
        if len(vector.data) == sizes[vector.model]:
            kept.append(vector)
    return tuple(kept)


def _model(db: apsw.Connection, name: str, dimensions: int) -> tuple[int, int]:
    """The model's key and dimensions. A model without vectors may get other dimensions."""
    known = first(db, "SELECT key, dimensions, count FROM model WHERE name = ?", (name,))
    if known is None:
        insert = "INSERT INTO model(name, dimensions) VALUES (?,?) RETURNING key"
        return one(db, insert, (name, dimensions))[0], dimensions
    if known[2] == 0 and known[1] != dimensions:
        db.execute("UPDATE model SET dimensions = ? WHERE key = ?", (dimensions, known[0]))
        return known[0], dimensions
    return known[0], known[1]


def model_key(db: apsw.Connection, name: str) -> int | None:
    """The model's key, or None if it is unknown here."""
    known = first(db, "SELECT key FROM model WHERE name = ?", (name,))
    return None if known is None else known[0]


def dimensions_of(db: apsw.Connection, name: str) -> int | None:
    """The dimensions of a model's vectors; None without vectors."""
    known = first(db, "SELECT dimensions FROM model WHERE name = ? AND count > 0", (name,))
    return None if known is None else int(known[0])
