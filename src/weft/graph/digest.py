"""Graph digest: equal graphs give equal digests, on every backend, in every process.

Each version row becomes a canonical line; the digest is the sum of the lines' SHA-256 values modulo 2^256, so it needs
neither sorting nor memory. Vectors and index layouts are not part of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from weft.core.clock import to_iso
from weft.core.types import EdgeVersion, Guard, Interval, NodeVersion
from weft.log.canonical import canonical

_MODULUS = 1 << 256


def graph_digest(rows: Iterable[NodeVersion | EdgeVersion]) -> str:
    """Hex digest of all version rows."""
    total, count = 0, 0
    for row in rows:
        line = canonical(_node_line(row) if isinstance(row, NodeVersion) else _edge_line(row))
        total = (total + int.from_bytes(hashlib.sha256(line).digest())) % _MODULUS
        count += 1
    return hashlib.sha256(f"{count}:{total:064x}".encode()).hexdigest()


def _time(instant_us: int | None) -> str | None:
    return None if instant_us is None else to_iso(instant_us)


def _guard(guard: Guard) -> list[object]:
    return [guard.project, guard.scope, list(guard.agents), guard.sensitive]


def _interval(interval: Interval) -> list[str | None]:
    return [
        _time(interval.valid_from),
        _time(interval.valid_to),
        _time(interval.asserted_from),
        _time(interval.asserted_to),
    ]


def _node_line(row: NodeVersion) -> list[object]:
    return [
        "node",
        row.row,
        row.id,
        row.kind,
        [row.name, row.summary, row.text],
        dict(row.props),
        row.focus,
        row.slot,
        _guard(row.guard),
        _guard(row.recorded_guard),
        _interval(row.interval),
        [_time(row.recorded_at), row.born, row.tx],
        [_time(row.retired_at), row.retired_pos, row.retired_tx],
        _time(row.deleted_at),
        row.event,
        row.content_hash.hex(),
    ]


def _edge_line(row: EdgeVersion) -> list[object]:
    return [
        "edge",
        row.row,
        [row.src, row.rel, row.dst],
        dict(row.props),
        row.weight,
        row.slot,
        _guard(row.guard),
        _interval(row.interval),
        [_time(row.recorded_at), row.born, row.tx],
        [_time(row.retired_at), row.retired_pos, row.retired_tx],
        row.event,
    ]
