"""Brings a file of an older schema up to this one, in place and at once. Adds, takes nothing away.

Processes of the older weft that have the file open may still read it; they write no more.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import apsw

from weft.backends.sqlite.query import every, first
from weft.backends.sqlite.schema import KEPT_TABLES, LOG_TABLES, NODES_BY_WARD, SCHEMA_VERSION, SEALED

UPGRADABLE: Final = frozenset({2})
_COLUMNS: Final = (
    ("event", "rewritten"),
    ("model", "removed"),
    ("text_state", "removed"),
)
# Their names carry the epoch of the tables, as in `schema`: a rebuild makes its own.
_INDEXES: Final = (
    "CREATE INDEX IF NOT EXISTS g{epoch}_node_deleted ON node(deleted_at) WHERE deleted_at IS NOT NULL",
    f"CREATE INDEX IF NOT EXISTS g{{epoch}}_text_sealed ON text(id) WHERE {SEALED}",
)
_BY_WARD: Final = f"CREATE INDEX IF NOT EXISTS g{{epoch}}_node_ward ON node({NODES_BY_WARD.format('ward')}, kind)"


def upgrade(db: apsw.Connection) -> None:
    """One transaction; none where another process was first. A table that is missing is left to `weft rebuild`."""
    db.execute("BEGIN IMMEDIATE")
    try:
        if db.pragma("user_version") in UPGRADABLE:
            _add_columns(db)
            for statement in (*LOG_TABLES, *KEPT_TABLES):
                db.execute(statement)
            _add_indexes(db, *_INDEXES)
            db.pragma("user_version", SCHEMA_VERSION)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _add_columns(db: apsw.Connection) -> None:
    for table, column in _COLUMNS:
        there = [name for (name,) in every(db, "SELECT name FROM pragma_table_info(?)", (table,))]
        if there and column not in there:
            db.execute(f"ALTER TABLE {table} ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0")


def add_missing_index(db: apsw.Connection) -> None:
    """Makes what files of this schema may lack, as it came later and nothing is wrong without: it saves time.

    Inside a write transaction. Where the table is damaged nothing is made: `weft rebuild` makes both.
    """
    there = "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'node' AND name GLOB '*_node_ward'"
    with suppress(apsw.CorruptError):
        if first(db, there) is None:
            _add_indexes(db, _BY_WARD)


def _add_indexes(db: apsw.Connection, *statements: str) -> None:
    tables = {name for (name,) in every(db, "SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if {"node", "text", "text_state"} <= tables and (state := first(db, "SELECT epoch FROM text_state")) is not None:
        for statement in statements:
            db.execute(statement.format(epoch=int(state[0])))
