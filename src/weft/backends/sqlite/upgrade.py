"""In-place upgrade of a file from an older schema. Adds, removes nothing.

Processes of the older weft with the file open may still read it; they can no longer write.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import apsw

from weft.backends.sqlite.query import every, first
from weft.backends.sqlite.schema import IS_ENCRYPTED, KEPT_TABLES, LOG_TABLES, NODES_BY_GROUP, SCHEMA_VERSION

UPGRADABLE: Final = frozenset({2})
_COLUMNS: Final = (
    ("event", "rewritten"),
    ("model", "removed"),
    ("text_state", "removed"),
)
# Index names carry the epoch of the tables, as in `schema`: a rebuild creates its own.
_INDEXES: Final = (
    "CREATE INDEX IF NOT EXISTS g{epoch}_node_deleted ON node(deleted_at) WHERE deleted_at IS NOT NULL",
    f"CREATE INDEX IF NOT EXISTS g{{epoch}}_text_sealed ON text(id) WHERE {IS_ENCRYPTED}",
)
_BY_WARD: Final = f"CREATE INDEX IF NOT EXISTS g{{epoch}}_node_ward ON node({NODES_BY_GROUP.format('ward')}, kind)"


def upgrade(db: apsw.Connection) -> None:
    """One transaction; nothing if another process was first. A missing table is left to `weft rebuild`."""
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
    """Adds an index that files of this schema may lack: it was introduced later, and only saves time.

    Inside a write transaction. If the table is damaged nothing is added: `weft rebuild` makes both.
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
