"""Lookup of what an agent names: a task, a file, a symbol, an entity, or any node by its id."""

from __future__ import annotations

from typing import Final

from weft.code.ask.lookup import find_element
from weft.core.errors import Invalid, NotFound
from weft.core.kinds import MENTION, UNSEARCHED_KINDS
from weft.core.types import NOW, NodeVersion, When
from weft.retrieval.citations.resolve import resolve
from weft.runtime.call_context import CallContext
from weft.writing.build.references import ambiguous_reference, named, resolve_reference
from weft.writing.checks.provenance import still_open
from weft.writing.claims.claim import TASK_KINDS

NOT_TARGETS: Final = UNSEARCHED_KINDS - {MENTION}


def find_target(ctx: CallContext, written: str, when: When = NOW) -> NodeVersion:
    """The node that holds now. Raises NotFound with the next step, Invalid if several have the name."""
    if not written.strip():
        raise Invalid("the target is blank", hint="give a file's path, path::symbol, or the id or title of a task")
    if written.startswith("weft://"):
        written = resolve(ctx, written, when)
    ids = dict.fromkeys((written, f"{ctx.settings.project}/{written}"))
    if found := [node for node in ctx.store.nodes(ctx.viewer, when, list(ids)) if node.kind not in NOT_TARGETS]:
        return found[0]
    if tasks := named(ctx, written, TASK_KINDS.__contains__):
        return _only(written, still_open(tasks))
    try:
        code = find_element(ctx, when, written)
    except NotFound as problem:
        other = resolve_reference(ctx, written)
        if other is not None and other.kind not in NOT_TARGETS and ctx.store.nodes(ctx.viewer, when, [other.id]):
            return other
        raise NotFound(
            f"there is nothing called {written[:80]!r} here that you may see",
            hint=f"give the path of an indexed file, path::symbol, or the id or title of a task; {_nearest(problem)}",
        ) from problem
    return _only(written, (code.node, *code.others)) if not _exact(code.node, written) else code.node


def _exact(node: NodeVersion, written: str) -> bool:
    return node.id == written or node.id.endswith(f"/{written}") or "/" in written or "::" in written


def _only(written: str, found: tuple[NodeVersion, ...]) -> NodeVersion:
    if len(found) > 1:
        raise ambiguous_reference(written, found)
    return found[0]


def _nearest(problem: NotFound) -> str:
    return problem.hint or "`weft index` reads the files of the workspace"
