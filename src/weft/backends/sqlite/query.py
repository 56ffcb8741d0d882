"""Rows of a query. The tables are STRICT, so column types are known from the query."""

from __future__ import annotations

from typing import Any

import apsw

from weft.core.errors import Corrupt


def first(db: apsw.Connection, sql: str, params: tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
    """The first row, or None."""
    return db.execute(sql, params).fetchone()


def one(db: apsw.Connection, sql: str, params: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """The only row. Raises Corrupt if there is none."""
    row = first(db, sql, params)
    if row is None:
        raise Corrupt(f"a required row is missing: {' '.join(sql.split())}", hint="run `weft doctor`")
    return row


def every(db: apsw.Connection, sql: str, params: tuple[Any, ...] = ()) -> list[Any]:
    """All rows at once. The caller bounds them in the query."""
    return db.execute(sql, params).fetchall()
