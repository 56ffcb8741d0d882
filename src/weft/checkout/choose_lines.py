"""The lines of a checkout: hits and nodes beside them, by slot, after the filters of purpose and evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from weft.checkout.beside import WORK, is_open
from weft.checkout.request import CheckoutFindings
from weft.context.arrange import ContextLine, LineGroup, RelationStep, by_worth, order_of
from weft.context.assemble import ORDERS, ContextSection, ordered, under
from weft.context.briefing import PARTS
from weft.context.budget import SHARES, Slot
from weft.context.checkout_policy import CheckoutPolicy, gain_of, is_over
from weft.context.hits import lines_of, read_sources
from weft.context.relations import Ties
from weft.context.wording import happened_at
from weft.core.errors import StoreError
from weft.core.types import NodeVersion
from weft.retrieval.judging.evidence import least_evidence
from weft.retrieval.judging.unsettled import is_unsettled, state_of
from weft.retrieval.pipeline import Answer, Candidate
from weft.retrieval.scoring.retention import expires_at
from weft.retrieval.sources.subscriptions import cited_by_id
from weft.retrieval.views.stage import TURNS_ON
from weft.runtime.call_context import CallContext
from weft.writing.checks.provenance import conversation_key

RULES: Final = frozenset({"Decision", "Preference", "Pattern", "Context", "Rule"})
# Against the evidence that it takes to answer at all: below ENOUGH it is weak.
ENOUGH, FAIR, STRONG = 1.0, 1.5, 2.0
BESIDE_BEST: Final = 0.35  # of the best evidence: a line with less is no answer
SAID_HERE: Final = "said in this conversation"
BOUND_SCORE: Final = 0.001  # of a task that belongs to the hits: more than one that is only open
BRIEFING_SHARE: Final = 0.3  # of the characters, for the statements that the session left
SMALL_TOKENS: Final = 600  # a budget for the answers alone
AROUND: Final = frozenset({"dependencies", "episodes"})
HEADINGS: Final[Mapping[Slot, str]] = {
    "core": "Answers",
    "decisions": "Decisions and rules",
    "plan": "Open work",
    "dependencies": "Related",
    "episodes": "Recent, newest last",
}
# The parts of a briefing in order of importance: unfinished work first.
PARTS_FIRST: Final = ("in_progress", "asked", "decided", "done", "learned")


class ChosenLines(Struct, frozen=True, kw_only=True):
    """Lines by slot, the candidates among them, the evidence for each, and how many were left out for which reason."""

    slots: Mapping[Slot, Sequence[ContextLine]] = field(default_factory=dict)
    ranked: tuple[Candidate, ...] = ()
    strength: Mapping[str, float] = field(default_factory=dict)
    suppressed: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many lines there are."""
        return sum(map(len, self.slots.values()))

    @property
    def lines(self) -> dict[str, ContextLine]:
        """By the ids of their nodes."""
        return {line.node.id: line for lines in self.slots.values() for line in lines}


def choose_lines(ctx: CallContext, found: CheckoutFindings) -> ChosenLines:
    """The lines, best first in each slot; recent events oldest first."""
    answer, policy = found.answer, found.policy
    gone = _gone_before(answer)
    strength = strengths(answer)
    kept: list[Candidate] = []
    for candidate in answer.ranked or ():
        if why := _unwanted(ctx, found, candidate, strength):
            gone[why] += 1
        else:
            kept.append(candidate)
    sources = read_sources(ctx, answer, kept)
    lines, alone = lines_of(ctx, answer, kept, sources)
    slots: dict[Slot, list[ContextLine]] = {slot: [] for slot in SHARES}
    aside = {each.node.id for each in kept if _led_to(answer, each) and _is_weak(each.node.id, strength)}
    for line in sorted((_weighed(line, policy) for line in lines), key=lambda line: -line.score):
        slot = slot_of(line.node)
        slot = "dependencies" if slot == "core" and line.node.id in aside else slot
        if policy.evidence == "cited_only" and not line.citation:
            gone["no source"] += 1
        elif slot == "core" and len(slots["core"]) >= found.given.limit:
            gone["over the limit"] += 1
        else:
            slots[slot].append(line)
    beside, uncited = _beside(ctx, found, slots, strength, gone)
    for slot, line in beside:
        slots[slot].append(line)
    shown = {line.node.id for lines in slots.values() for line in lines}
    return ChosenLines(
        slots={slot: tuple(lines) for slot, lines in slots.items() if lines},
        ranked=tuple(each for each in kept if each.node.id in shown),
        strength=strength,
        suppressed={why: number for why, number in gone.items() if number},
        notes=(*sources.notes, *alone, *uncited),
    )


def sections_of(found: CheckoutFindings, chosen: ChosenLines, ties: Ties) -> list[ContextSection]:
    """The lines as sections of a prompt, in reading order; a small budget gets no related or recent ones."""
    small = found.given.max_tokens < SMALL_TOKENS
    intent = found.answer.intent
    briefed = f"Briefing that this session left on {found.briefed}"
    sections = [ContextSection(name="briefing", lines=found.briefing, share=BRIEFING_SHARE, groups=under(briefed))]
    for slot, heading in HEADINGS.items():
        lines = () if small and slot in AROUND else chosen.slots.get(slot, ())
        groups = under(heading)
        if slot == "core":
            lines = by_worth(lines, intent, ties)
            groups = ordered(f"{heading} ({ORDERS[order_of(intent, ties)]})", intent, ties)
        elif slot == "episodes":  # kept from the latest on, read from the earliest on
            lines = lines[::-1]
            groups = _by_age
        lines = [line for line in lines if line.score > 0.0 or not small]
        sections.append(ContextSection(name=slot, lines=lines, share=SHARES[slot], groups=groups))
    return sections


def _by_age(lines: Sequence[ContextLine]) -> list[LineGroup]:
    return under(HEADINGS["episodes"])(sorted(lines, key=lambda line: (happened_at(line.node), line.node.row)))


def briefing_lines(node: NodeVersion, citation: str) -> tuple[ContextLine, ...]:
    """A line for each statement of a briefing, the unfinished first."""
    found = []
    for part in PARTS_FIRST:
        said = node.props.get(part)
        for at, each in enumerate(said if isinstance(said, list | tuple) else ()):
            words = each.get("text") if isinstance(each, Mapping) else each
            if isinstance(words, str) and words.strip():
                own = replace(node, id=f"{node.id}/{part}/{at}", kind=PARTS[part], name="", summary="", text=words)
                found.append(ContextLine(node=own, score=1.0, citation=citation))
    return tuple(found) or (ContextLine(node=node, score=1.0, citation=citation),)


def slot_of(node: NodeVersion) -> Slot:
    """The slot of a hit; finished work is evidence like any other."""
    if node.kind in RULES:
        return "decisions"
    return "plan" if node.kind in WORK and is_open(node) else "core"


def strengths(answer: Answer) -> dict[str, float]:
    """The evidence for each candidate, by id: 1 is the least for any answer.

    Empty without a vector of the question: evidence by words alone has no scale.
    """
    nodes, evidence = answer.pool.nodes, answer.evidence
    if answer.vector is None or evidence is None or len(evidence) != len(nodes):
        return {}
    least = least_evidence(answer.text.population if answer.text else len(nodes))
    exact = [part.raw for part in answer.pool.parts if part.name in ("name", "id", "exact")]
    named = {node.id for at, node in enumerate(nodes) if any(raw[at] > 0 for raw in exact)}
    return {
        node.id: max(float(shown) / least, FAIR if node.id in named else 0.0)
        for node, shown in zip(nodes, evidence, strict=True)
    }


def _unwanted(ctx: CallContext, found: CheckoutFindings, candidate: Candidate, strength: Mapping[str, float]) -> str:
    """Why a candidate is left out; empty where it is not."""
    node = candidate.node
    if pending := _pending(found, node):
        return pending
    if is_over(node, found.policy, found.now_us):
        return "before the horizon"
    home = node.id.partition("#")[0].removesuffix(":briefing")  # the session's briefing is shown first anyway
    if found.given.session and home == conversation_key(ctx, found.given.session):
        return SAID_HERE  # the caller knows it
    led_to = any(seen.view != "semantic" for seen in candidate.seen)
    weak = found.policy.evidence != "any" and not led_to and _is_weak(node.id, strength)
    return "low evidence" if weak else ""


def _pending(found: CheckoutFindings, node: NodeVersion) -> str:
    """The state of a proposal, which the purpose `coordinate` leaves out."""
    shown = found.given.include_pending or found.given.diagnostics
    return state_of(node) if found.policy.purpose == "coordinate" and is_unsettled(node) and not shown else ""


def _is_weak(node_id: str, strength: Mapping[str, float]) -> bool:
    """Whether there is too little evidence for it, by itself or compared with the best."""
    if node_id not in strength:
        return False
    return strength[node_id] < max(ENOUGH, BESIDE_BEST * max(strength.values()))


def _led_to(answer: Answer, candidate: Candidate) -> bool:
    """Whether a view of the graph leads to it, other than the one of the question's intent."""
    own = TURNS_ON.get(answer.intent)
    views = {seen.view for seen in candidate.seen}
    return bool(views - {"semantic"}) and own not in views


def _gone_before(answer: Answer) -> Counter[str]:
    """The candidates that stages left out, by reason."""
    dropped = {step.stage: step.dropped for step in answer.trace}
    marks = [mark for marks in answer.pool.marks.values() for mark in marks]
    gone: Counter[str] = Counter()
    gone["superseded"] = sum(mark.startswith("replaces ") for mark in marks)
    gone["duplicate"] = dropped.get("distinct", 0)
    gone["expired"] = answer.expired
    return gone


def _weighed(line: ContextLine, policy: CheckoutPolicy) -> ContextLine:
    """With the gain of purpose and lens on its score."""
    state = (state_of(line.node),) if is_unsettled(line.node) else ()
    marks = tuple(dict.fromkeys((*line.marks, *state)))
    return replace(line, score=line.score * gain_of(line.node, line.views, policy), marks=marks)


def _beside(
    ctx: CallContext,
    found: CheckoutFindings,
    slots: Mapping[Slot, Sequence[ContextLine]],
    strength: Mapping[str, float],
    gone: Counter[str],
) -> tuple[list[tuple[Slot, ContextLine]], tuple[str, ...]]:
    """The nodes beside the hits as lines, each with its slot; a note where citations cannot be read."""
    shown = {line.node.id for lines in slots.values() for line in lines}
    rows = [row for row in _rows(found, shown, strength) if row[1].id not in shown]
    citations: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    try:
        citations = cited_by_id(ctx, [node for _, node, _, _ in rows])
    except StoreError as problem:
        notes = (f"citations could not be read: {problem.message}",)
    lines: dict[str, tuple[Slot, ContextLine]] = {}
    for slot, node, score, steps in rows:
        if pending := _pending(found, node):
            gone[pending] += 1
        elif node.id not in lines and not _is_past(found, node):
            line = ContextLine(node=node, score=score, citation=citations.get(node.id, ""), steps=steps)
            lines[node.id] = (slot, _weighed(line, found.policy))
    return list(lines.values()), notes


def _is_past(found: CheckoutFindings, node: NodeVersion) -> bool:
    """Whether the horizon or the retention leaves it out, as they do with hits."""
    expired = found.policy.retention == "filter_expired" and expires_at(node) <= found.now_us
    return expired or is_over(node, found.policy, found.now_us)


def _rows(
    found: CheckoutFindings, shown: set[str], strength: Mapping[str, float]
) -> Iterator[tuple[Slot, NodeVersion, float, tuple[RelationStep, ...]]]:
    """Nodes beside the hits, with slot, score and the steps to each; joined ones with most evidence first."""
    beside = found.beside
    for node, steps in sorted(beside.joined, key=lambda each: -strength.get(each[0].id, 0.0)):
        if any(step.start in shown for step in steps):
            yield ("decisions" if node.kind in RULES else "dependencies"), node, 0.0, steps
    for node in beside.compacted:
        yield ("decisions" if node.kind in RULES else "dependencies"), node, BOUND_SCORE, ()
    for node in beside.tasks:
        yield "plan", node, BOUND_SCORE if node.id in beside.bound else 0.0, ()
    for node in beside.recent:
        yield "episodes", node, 0.0, ()
