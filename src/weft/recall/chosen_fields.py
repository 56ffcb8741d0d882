"""The argument `fields`: the properties to return of each node. It is applied after ranking."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.recall.show_values import NodeShown

FieldName = Annotated[str, Meta(min_length=1, max_length=128)]
Fields = Annotated[tuple[FieldName, ...], Meta(max_length=64, description="only these properties; []: none")] | None
OWN: Final = ("name", "text", "summary")  # words of a node that are named like its properties
MOST_NAMED: Final = 8

Row = TypeVar("Row", bound=Struct)


def narrowed(rows: tuple[Row, ...], fields: tuple[str, ...] | None) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """Rows that are or have nodes, with only these properties; and a note on names that no row has.

    Ids, kinds, citations and times always stay, and so do relations. None asks for everything.
    """
    if fields is None:
        return rows, ()
    wanted = frozenset(fields)
    unknown = wanted.difference(OWN, *(_node(row).props for row in rows)) if rows else frozenset()
    few = ", ".join(sorted(unknown)[:MOST_NAMED])
    notes = (f"{len(unknown)} unknown fields skipped: {few}",) if unknown else ()
    return tuple(_narrow(row, wanted) for row in rows), notes


def _node(row: Any) -> NodeShown:
    node: NodeShown = row if isinstance(row, NodeShown) else row.node
    return node


def _narrow(row: Row, wanted: frozenset[str]) -> Row:
    node = _node(row)
    words = {name: "" for name in OWN if name not in wanted}
    kept = replace(node, **words, props={name: value for name, value in node.props.items() if name in wanted})
    if row is node:
        return kept  # type: ignore[return-value]  # a row that is a node
    parts = {} if "text" in wanted or "parts" not in row.__struct_fields__ else {"parts": ()}
    return replace(row, node=kept, **parts)
