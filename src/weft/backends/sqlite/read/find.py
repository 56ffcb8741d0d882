"""Guarded search for nodes by kind, name, slot, property or project, latest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import apsw
import orjson

from weft.backends.sqlite import guards, rows
from weft.backends.sqlite.guards import PinnedTime, Sql, marks
from weft.backends.sqlite.query import first, one
from weft.backends.sqlite.schema import NODES_BY_GROUP
from weft.backends.sqlite.write.plan_view import SEPARATOR
from weft.core.types import Find, FindResult, NodeVersion, Viewer
from weft.text.lexical import name_key

# Few matching nodes are looked up by visibility group and kind; many are found among the newest rows. For numbers in
# between both are tried: in a large store that costs less than a full scan.
FEW_NODES: Final = 1_000
SOME_NODES: Final = 10_000
NEWEST_ROWS: Final = 2_000


def find(db: apsw.Connection, viewer: Viewer, moment: PinnedTime, find: Find, limit: int) -> FindResult:
    """Visible nodes that fit, latest first, and the filter's properties that no visible node has."""
    base = guards.findable(viewer) & guards.known(moment) & guards.holds(moment)
    which = guards.findable(viewer, find.projects) & guards.known(moment) & guards.holds(moment)
    if find.names is not None:
        keys = tuple(dict.fromkeys(map(name_key, find.names)))
        # `<> ''` lets the planner use the partial index of names.
        which &= Sql(f"t.name_key IN ({marks(keys)}) AND t.name_key <> ''", keys)
    if find.kinds is not None:
        which &= Sql(f"n.kind IN ({marks(find.kinds)})", find.kinds)
    if find.without_kinds:
        which &= Sql(f"n.kind NOT IN ({marks(find.without_kinds)})", find.without_kinds)
    which &= guards.focuses_are(find.focuses) & guards.began(find.begins)
    if find.before is not None:
        which &= Sql("v.row < ?", (find.before,))
    if find.slots is not None:
        which &= in_slots(find.slots, moment)
    if find.id_prefix is not None:
        which &= Sql("n.id >= ? AND n.id < ?", (find.id_prefix, find.id_prefix + "\U0010ffff"))
    if find.keywords is not None:
        words = tuple(word.lower() for word in find.keywords)
        # The substring test excludes most rows before any JSON is parsed.
        which &= Sql(
            """instr(v.props, '"keywords"') AND EXISTS (SELECT 1 FROM json_each(v.props, '$.keywords') j"""
            f" WHERE j.type = 'text' AND lower(j.value) IN ({marks(words)}))",
            words,
        )
    for key, value in find.props.items():
        same = _same_json(value)
        which &= Sql(
            f"EXISTS (SELECT 1 FROM json_each(v.props) j WHERE j.key = ? AND {same.text})", (key, *same.params)
        )
    if find.names is None and find.slots is None and find.id_prefix is None:
        found = _latest(db, viewer, which, find, limit)
    else:  # each of these has an index
        found = _fitting(db, which, limit)
    return FindResult(nodes=found, unknown_props=() if found else _unknown_props(db, base, find))


def _fitting(db: apsw.Connection, which: Sql, limit: int) -> tuple[NodeVersion, ...]:
    query = f"{rows.select_nodes()} WHERE {which.text} ORDER BY v.row DESC LIMIT ?"
    return tuple(map(rows.node_of, db.execute(query, (*which.params, limit))))


def _latest(db: apsw.Connection, viewer: Viewer, which: Sql, find: Find, limit: int) -> tuple[NodeVersion, ...]:
    """What fits, by the access path that suits the number of nodes of these kinds in these projects."""
    inside = guards.visibility_groups(viewer, find.projects)
    some = Sql(f"{NODES_BY_GROUP.format('n.ward')} IN ({inside.text})", inside.params)
    if find.kinds is not None:
        some &= Sql(f"n.kind IN ({marks(find.kinds)})", find.kinds)
    if _are_fewer(db, some, FEW_NODES):
        return _among(db, some & which, limit)
    (last,) = one(db, "SELECT ifnull(max(row), 0) FROM node_version")
    since = min(last + 1, find.before or last + 1) - NEWEST_ROWS
    found = _fitting(db, which & Sql("v.row >= ?", (since,)), limit)
    older, left = which & Sql("v.row < ?", (since,)), limit - len(found)
    if not left or since <= 1:
        return found
    if _are_fewer(db, some, SOME_NODES):
        return found + _among(db, some & older, left)
    return found + _fitting(db, older, left)


def _are_fewer(db: apsw.Connection, some: Sql, number: int) -> bool:
    """Whether fewer nodes than that are in some groups and of some kinds; counted in the index alone."""
    counted = f"SELECT count(*) FROM (SELECT 1 FROM node n WHERE {some.text} LIMIT ?)"
    return bool(one(db, counted, (*some.params, number))[0] < number)


def _among(db: apsw.Connection, which: Sql, limit: int) -> tuple[NodeVersion, ...]:
    """What fits, joined from nodes to versions: for conditions that select few nodes."""
    fit = f"""SELECT v.row FROM node n CROSS JOIN node_version v ON v.node = n.key
        WHERE {which.text} ORDER BY v.row DESC LIMIT ?"""
    return _fitting(db, Sql(f"v.row IN ({fit})", (*which.params, limit)), limit)


def in_slots(slots: tuple[str, ...], moment: PinnedTime) -> Sql:
    """Versions in these slots. A node alone in its slot stores NULL there, and is found by its id."""
    if moment.unfinished or not all(slot.startswith(SEPARATOR) for slot in slots):
        either = f"(v.slot IN ({marks(slots)}) OR (v.slot IS NULL AND n.id IN ({marks(slots)})))"
        return Sql(either, slots * 2)
    # Live and retired rows have separate indexes; one combined condition would use neither.
    live = f"SELECT row FROM node_version WHERE slot IN ({marks(slots)}) AND retired_pos IS NULL"
    then = f"SELECT row FROM node_version WHERE retired_pos > ? AND slot IN ({marks(slots)})"
    return Sql(f"v.row IN ({live} UNION ALL {then})", (*slots, moment.pos, *slots))


def _same_json(value: Any) -> Sql:
    """Equal as JSON: 1 and 1.0 are the same number; 1 and "1", true and 1 differ."""
    if value is None or isinstance(value, bool):
        return Sql("j.type = ?", (orjson.dumps(value).decode(),))
    if isinstance(value, int | float):
        return Sql("j.type IN ('integer', 'real') AND j.value = ?", (value,))
    if isinstance(value, str):
        return Sql("j.type = 'text' AND j.value = ?", (value,))
    written = orjson.dumps(_whole_numbers(value), option=orjson.OPT_SORT_KEYS).decode()
    return Sql("j.type = ? AND j.value = ?", ("object" if isinstance(value, Mapping) else "array", written))


def _whole_numbers(value: Any) -> Any:
    """Numbers as payloads hold them: 2.0 is written 2."""
    if isinstance(value, Mapping):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _unknown_props(db: apsw.Connection, seen: Sql, find: Find) -> tuple[str, ...]:
    query = f"""SELECT 1 FROM node_version v JOIN node n ON n.key = v.node
        WHERE {seen.text} AND EXISTS (SELECT 1 FROM json_each(v.props) j WHERE j.key = ?) LIMIT 1"""
    return tuple(key for key in sorted(find.props) if first(db, query, (*seen.params, key)) is None)
