"""Work of agents on code: their learnings, and the claims of other agents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from weft.code.ask.known import known_of
from weft.context.code_pack import Known
from weft.core.clock import to_iso
from weft.core.errors import StoreError
from weft.core.types import NodeVersion, When
from weft.documents.keep.source_lines import file_of
from weft.runtime.call_context import CallContext
from weft.text.one_line import flat
from weft.writing.claims.held import Held, held_on, name_beside
from weft.writing.claims.writing import holder_of

APPLIES_TO: Final = "APPLIES_TO"
LEARNING: Final = "Learning"
LEAST_SURE: Final = 0.7  # confidence of a learning that is shown
LEARNINGS: Final = 4
BLOCKERS: Final = 6
OF_ONE: Final = 20
INTENT_CHARACTERS: Final = 200


class AtWork(Struct, frozen=True, kw_only=True):
    """Learnings, most confident first, and their ids by file or symbol; claims of others, one line each."""

    learnings: tuple[Known, ...] = ()
    of_code: dict[str, tuple[str, ...]] = {}
    blockers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def of(self, node: NodeVersion) -> tuple[str, ...]:
        """Returns the learnings of a symbol and of its file."""
        return tuple(dict.fromkeys((*self.of_code.get(node.id, ()), *self.of_code.get(file_of(node), ()))))


def at_work_on(ctx: CallContext, when: When, code: Sequence[NodeVersion], *, with_learnings: bool) -> AtWork:
    """Returns the learnings about these symbols and their files, and the claims of other agents on them."""
    ids = list(dict.fromkeys(each for node in code for each in (node.id, file_of(node))))
    try:
        found, of_code = _learnings(ctx, when, ids) if with_learnings and ids else ([], {})
        cited = ctx.store.citations(ctx.viewer, [node.event for node in found])
        blockers = claims_of_others(ctx, when, ids)
    except StoreError as problem:
        return AtWork(notes=(f"learnings and claims could not be read: {problem.message}",))
    return AtWork(
        learnings=tuple(known_of(node, cited.get(node.event, "")) for node in found),
        of_code=of_code,
        blockers=blockers,
    )


def claims_of_others(ctx: CallContext, when: When, ids: Iterable[str]) -> tuple[str, ...]:
    """Returns the active claims of other agents on these targets or on anything that contains them."""
    held = [each for each in held_on(ctx, ids, when) if not each.stale and each.claim.holder != holder_of(ctx)]
    cited = ctx.store.citations(ctx.viewer, [each.claim.node.event for each in held])
    return tuple(claim_line(each, cited.get(each.claim.node.event, "")) for each in held[:BLOCKERS])


def claim_line(held: Held, citation: str) -> str:
    """Formats a claim on one line: agent, target, intent, time and citation."""
    claim = held.claim
    name = "" if held.target is None else name_beside(held.target)
    what = f"{claim.target} ({name})" if name else claim.target
    return (
        f"{claim.holder.agent} holds {what} since {to_iso(claim.since)[:16]}Z:"
        f" {flat(claim.intent)[:INTENT_CHARACTERS]} {citation}"
    ).strip()


def _learnings(
    ctx: CallContext, when: When, ids: Sequence[str]
) -> tuple[list[NodeVersion], dict[str, tuple[str, ...]]]:
    steps = ctx.store.neighbours(ctx.viewer, when, ids, rels=(APPLIES_TO,), direction="in", limit=OF_ONE)
    kept = [step for step in steps if step.node.kind == LEARNING and _sure(step.node) >= LEAST_SURE]
    nodes = {step.node.id: step.node for step in kept}
    best = sorted(nodes.values(), key=lambda node: (-_sure(node), -node.row))[:LEARNINGS]
    told = {node.id for node in best}
    of_code: dict[str, tuple[str, ...]] = {}
    for step in kept:
        if step.node.id in told:
            of_code[step.start] = (*of_code.get(step.start, ()), step.node.id)
    return best, of_code


def _sure(node: NodeVersion) -> float:
    said = node.props.get("confidence")
    return float(said) if isinstance(said, int | float) and not isinstance(said, bool) else LEAST_SURE
