"""Replaces what earlier commits wrote: payloads of the log, content of rows, names. Inside a write transaction.

Rows keep their numbers and times. A node is renamed in one row, its identity; references to it are by key.
"""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import orjson

from weft.backends.sqlite import rows
from weft.backends.sqlite.query import first
from weft.backends.sqlite.search.words import WordIndex
from weft.core.commits import NewEdgeRow, NewNodeRow, Scrub, rewriting_of
from weft.core.kinds import UNSEARCHED_KINDS
from weft.core.types import Event, RewriteRecord


def rewriting(db: apsw.Connection, event: Event) -> RewriteRecord | None:
    """The newest `log.rewritten` that names an event."""
    for row in db.execute(f"{rows.SELECT_EVENT} WHERE e.kind = 'log.rewritten' ORDER BY e.pos DESC"):
        if (found := rewriting_of(rows.event_of(event.account, row), event)) is not None:
            return found
    return None


def scrub_log(db: apsw.Connection, scrub: Scrub) -> None:
    """Replaces payloads."""
    db.executemany(
        "UPDATE event SET payload = ?, salt = ?, rewritten = 1 WHERE pos = ?",
        [(new.payload, new.salt, new.pos) for new in scrub.payloads],
    )


def scrub_graph(db: apsw.Connection, scrub: Scrub, words: WordIndex, text_ids: dict[bytes, int]) -> None:
    """Rows first, then names. `text_ids` are those of the scrub's own texts, already written."""
    _node_rows(db, scrub.node_rows, words, text_ids)
    _edge_rows(db, scrub.edge_rows)
    for (src, rel, dst), new in scrub.edges:
        db.execute(
            """UPDATE edge SET rel = ? WHERE rel = ? AND src = (SELECT key FROM node WHERE id = ?)
               AND dst = (SELECT key FROM node WHERE id = ?)""",
            (new, rel, src, dst),
        )
    db.executemany("UPDATE node SET id = ? WHERE id = ?", [(new, old) for old, new in scrub.nodes])
    db.executemany(
        "UPDATE tx SET files = ? WHERE id = ?", [(orjson.dumps(files).decode(), tx) for tx, files in scrub.files]
    )


def _node_rows(
    db: apsw.Connection, new_rows: Sequence[NewNodeRow], words: WordIndex, text_ids: dict[bytes, int]
) -> None:
    wanted = orjson.dumps([new.row for new in new_rows]).decode()
    standing = {
        row: (text, counted, slot)
        for row, text, counted, slot in db.execute(
            f"""SELECT v.row, v.text, iif(v.retired_pos IS NULL AND n.deleted_at IS NULL
                  AND n.kind NOT IN ({",".join("?" * len(UNSEARCHED_KINDS))}), n.ward, NULL), v.slot
                FROM json_each(?) j CROSS JOIN node_version v ON v.row = j.value JOIN node n ON n.key = v.node""",
            (*UNSEARCHED_KINDS, wanted),
        )
    }
    values = []
    for new in new_rows:
        before, ward, slot = standing[new.row]
        text = _text_id(db, new.content_hash, text_ids)
        if ward is not None and text != before:
            words.count(ward, before, -1)
            words.count(ward, text, +1)
        props = orjson.dumps(new.props, option=orjson.OPT_SORT_KEYS).decode() if new.props else None
        values.append((text, props, None if slot is None else new.slot, new.row))
    db.executemany("UPDATE node_version SET text = ?, props = ?, slot = ? WHERE row = ?", values)


def _edge_rows(db: apsw.Connection, new_rows: Sequence[NewEdgeRow]) -> None:
    db.executemany(
        "UPDATE edge_version SET props = ?, slot = iif(slot IS NULL, NULL, ?) WHERE row = ?",
        [(orjson.dumps(new.props).decode() if new.props else None, new.slot, new.row) for new in new_rows],
    )


def _text_id(db: apsw.Connection, content_hash: bytes, text_ids: dict[bytes, int]) -> int:
    if content_hash not in text_ids:
        row = first(db, "SELECT id FROM text WHERE hash = ?", (content_hash,))
        assert row is not None, "a scrub brings the texts that are not there"
        text_ids[content_hash] = row[0]
    return text_ids[content_hash]
