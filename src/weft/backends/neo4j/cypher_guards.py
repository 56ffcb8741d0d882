"""Guards and clocks as conditions in Cypher. They are the same text for every viewer and time, with parameters of fixed
names, so that the server plans each query once.

Layer 5, the account, is the key `g` of every graph row: a query begins at rows of one account and follows only their
relationships. No project and no focus area are stored as NONE, because a comparison with null is null.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from weft.core.kinds import STRUCTURAL_KINDS, UNSEARCHED_KINDS
from weft.core.types import Viewer

NONE: Final = "\x1f"


class BothClocks(NamedTuple):
    """A pinned `When`: a valid time, a position of the log, and the changes not closed by then."""

    valid_at: int
    pos: int
    unfinished: tuple[str, ...]


def rights(viewer: Viewer) -> dict[str, Any]:
    """The parameters of a viewer's guards."""
    return {
        "scopes": sorted(viewer.scopes),
        "sensitive": viewer.sensitive,
        "tagged": viewer.tagged_only,
        "agent": viewer.agent,
        "subscribes": viewer.subscribes,
        "structural": sorted(STRUCTURAL_KINDS),
    }


def clocks(moment: BothClocks) -> dict[str, Any]:
    """The parameters of both clocks."""
    return {"at": moment.valid_at, "pos": moment.pos, "unfinished": list(moment.unfinished)}


def _scoped(x: str) -> str:
    return f"{x}.scope IN $scopes AND ($sensitive OR NOT {x}.sensitive)"


def admits(x: str = "n") -> str:
    """Layers 2, 3 and 6."""
    untagged = f"$subscribes AND size({x}.agents) = 0"
    return f"{_scoped(x)} AND (NOT $tagged OR $agent IN {x}.agents OR ({untagged}))"


def findable(x: str = "n") -> str:
    """The node may be found by this viewer."""
    return f"{x}.deleted_at IS NULL AND {admits(x)}"


def was_findable(x: str = "n") -> str:
    """The node was erased, and this viewer could find it before."""
    return f"{x}.id STARTS WITH 'erased:' AND {admits(x)}"


def reachable(x: str = "n") -> str:
    """The node may be stepped on: findable, or untagged structure for an agent limited to its tags."""
    untagged = f"size({x}.agents) = 0 AND ($subscribes OR {x}.kind IN $structural)"
    return f"{x}.deleted_at IS NULL AND {_scoped(x)} AND (NOT $tagged OR $agent IN {x}.agents OR ({untagged}))"


def edge_open(x: str = "e") -> str:
    """The edge itself may be seen: tagged for the viewer's agent, or untagged."""
    return f"{_scoped(x)} AND (NOT $tagged OR size({x}.agents) = 0 OR $agent IN {x}.agents)"


def known(v: str = "v") -> str:
    """Record time: the row was made and not retired, counting closed changes only."""
    return (
        f"{v}.born <= $pos AND NOT {v}.tx IN $unfinished"
        f" AND ({v}.retired_pos IS NULL OR {v}.retired_pos > $pos OR {v}.retired_tx IN $unfinished)"
    )


def holds(v: str = "v") -> str:
    """Valid time: half open."""
    return f"{v}.valid_from <= $at AND ({v}.valid_to IS NULL OR {v}.valid_to > $at)"


def current(v: str = "v") -> str:
    """Both clocks."""
    return f"{known(v)} AND {holds(v)}"


def stored(names: Iterable[str | None]) -> list[str]:
    """Projects or focus areas as rows hold them."""
    return [NONE if name is None else name for name in names]


def among(
    *,
    projects: tuple[str | None, ...] | None = None,
    kinds: tuple[str, ...] | None = None,
    focuses: tuple[str | None, ...] | None = None,
    begins: tuple[int, int] | None = None,
) -> tuple[str, dict[str, Any]]:
    """The filters of a search. Without kinds, those that are searched only when named are left out."""
    parts = ["NOT n.kind IN $unsearched" if kinds is None else "n.kind IN $kinds"]
    params: dict[str, Any] = {"unsearched": sorted(UNSEARCHED_KINDS), "kinds": (kinds and list(kinds)) or []}
    if projects is not None:
        parts.append("n.project IN $projects")
        params["projects"] = stored(projects)
    if focuses is not None:
        parts.append("v.focus IN $focuses")
        params["focuses"] = stored(focuses)
    if begins is not None:
        parts.append("v.valid_from >= $begins AND v.valid_from < $ends")
        params["begins"], params["ends"] = begins
    return " AND ".join(parts), params
