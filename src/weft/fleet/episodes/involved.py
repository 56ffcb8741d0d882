"""The subjects of an episode: code by path or symbol, other nodes by id, entities by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct

from weft.append.append import Fence
from weft.code.ask.lookup import find_files, path_from_root
from weft.core.kinds import UNSEARCHED_KINDS
from weft.core.types import NOW, Guard, NodeVersion
from weft.log.kinds.graph import NodeAssertion
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.writing.build.entity_builder import WriteBuilder
from weft.writing.build.planned_write import BatchState, plan_fence
from weft.writing.build.references import covers

_PATH: Final = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)+|[\w@+-]+\.(?:[a-z]{1,4}|[A-Z]{1,3})(?:::\S+)?")


class Involved(Struct, frozen=True, kw_only=True):
    """Ids of nodes, entities to create with the write, notes on names that are joined to nothing."""

    ids: tuple[str, ...] = ()
    entities: tuple[NodeAssertion, ...] = ()
    notes: tuple[str, ...] = ()
    fence: Fence | None = None


def involved(ctx: CallContext, guard: Guard, names: Iterable[str], files: Iterable[str], pos: int) -> Involved:
    """Resolves what an episode names. Entities that do not exist are created; a path that is not indexed is noted."""
    making = WriteBuilder(ctx, guard, BatchState())
    ids: list[str] = []
    unknown: list[str] = []
    for name in dict.fromkeys(names):
        node = known_node(ctx, name)
        if node is not None:
            ids += [node.id] if covers(node.guard, guard) else []
        elif _PATH.fullmatch(path_from_root(ctx, name).lstrip("/")):
            unknown.append(name)
        else:
            ids.append(making.thing(name))
    for path in dict.fromkeys(files):
        file = known_file(ctx, path)
        if file is None:
            unknown.append(path)
        elif covers(file.guard, guard):
            ids.append(file.id)
    planned = making.planned("", (), ())
    note = f"not indexed, so named but not joined: {', '.join(each[:80] for each in dict.fromkeys(unknown))}"
    return Involved(
        ids=tuple(dict.fromkeys(ids)),
        entities=tuple(making.nodes.values()),
        notes=(*planned.notes, *((note,) if unknown else ())),
        fence=plan_fence([planned], pos),
    )


def known_node(ctx: CallContext, written: str) -> NodeVersion | None:
    """A node by its id or, of code, by its path without the project."""
    path = path_from_root(ctx, written)
    ids = dict.fromkeys((written, f"{ctx.settings.project}/{path}"))
    found = [node for node in ctx.store.nodes(ctx.viewer, NOW, list(ids)) if node.kind not in UNSEARCHED_KINDS]
    if found:
        return found[0]
    path, mark, key = path.partition("::")
    if mark and (file := known_file(ctx, path)) is not None:
        return next(iter(ctx.store.nodes(ctx.viewer, NOW, [f"{file.id}::{key}"])), None)
    return known_file(ctx, path) if _PATH.fullmatch(path) else None


def with_paths(ctx: CallContext, metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata with its paths as the graph has them: one file has one name, whoever tells of it."""
    told = dict(metadata)
    if "file" in told:
        told["file"] = path_from_root(ctx, told["file"])
    for name in {"affected_files", "test_files"} & told.keys():
        told[name] = [path_from_root(ctx, each) for each in told[name]]
    return told


def known_file(ctx: CallContext, path: str) -> NodeVersion | None:
    """An indexed file or document by its path, or by the end of one that only it has."""
    exact = ctx.store.nodes(ctx.viewer, NOW, [file_id(ctx.settings.project, path)])
    if exact:
        return exact[0]
    found = find_files(ctx, NOW, path)
    return found[0] if len(found) == 1 else None


def resolved(ctx: CallContext, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids of what a question names, and the names of which nothing is known."""
    ids: list[str] = []
    unknown: list[str] = []
    for name in dict.fromkeys(names):
        node = known_node(ctx, name)
        if node is not None:
            ids.append(node.id)
            continue
        making = WriteBuilder(ctx, Guard(project=ctx.settings.project), BatchState())
        found = [] if _PATH.fullmatch(path_from_root(ctx, name).lstrip("/")) else making.things(name)
        ids += [each.id for each in found]
        unknown += [] if found else [name]
    return tuple(dict.fromkeys(ids)), tuple(unknown)
