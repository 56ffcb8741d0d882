"""Rows of a query. The tables are STRICT, so a column's type is known to whoever wrote the query."""

from __future__ import annotations

from typing import Any

import apsw

from weft.errors import Corrupt


def first(db: apsw.Connection, sql: str, params: tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
    """The first row, or None."""
    return db.execute(sql, params).fetchone()


def one(db: apsw.Connection, sql: str, params: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """The row that must be there. Raises Corrupt if it is not."""
    row = first(db, sql, params)
    if row is None:
        raise Corrupt(f"no row where there must be one: {' '.join(sql.split())}", hint="run `weft doctor`")
    return row


def every(db: apsw.Connection, sql: str, params: tuple[Any, ...] = ()) -> list[Any]:
    """All rows at once. The caller bounds them in the query."""
    return db.execute(sql, params).fetchall()
