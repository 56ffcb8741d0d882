"""Which lines a checkout shows: what was found, by slot, without what the purpose and the evidence leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from weft.context.arrange import Line, Step
from weft.context.budget import SHARES, Slot
from weft.context.checkout import slot_of
from weft.context.checkout_policy import Policy, gain_of, is_over, is_unsettled, state_of
from weft.context.hits import in_file, lines_of
from weft.errors import StoreError
from weft.loom import Loom
from weft.operations.checkout_around import cited_by_id, goes_on
from weft.operations.checkout_asked import Found
from weft.operations.stamping import conversation_key
from weft.retrieval.enough import least_evidence
from weft.retrieval.pipeline import Answer, Candidate
from weft.retrieval.retention import expires_at
from weft.retrieval.subscriptions import cited
from weft.retrieval.views.stage import TURNS_ON
from weft.types import NodeVersion

# Against the evidence that it takes to answer at all: what is less is weak, and from when on it is called so.
ENOUGH, FAIR, STRONG = 1.0, 1.5, 2.0
BESIDE_BEST: Final = 0.35  # of the best evidence: a line with less is no answer beside it
SAID_HERE: Final = "said in this conversation"
BOUND_SCORE: Final = 0.001  # of a task that has to do with the hits: more than one that is only open


class Chosen(Struct, frozen=True, kw_only=True):
    """Lines by slot, the candidates among them, how much speaks for each, and how many were left out for what."""

    slots: Mapping[Slot, Sequence[Line]] = field(default_factory=dict)
    ranked: tuple[Candidate, ...] = ()
    strength: Mapping[str, float] = field(default_factory=dict)
    suppressed: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many lines there are."""
        return sum(map(len, self.slots.values()))

    @property
    def lines(self) -> dict[str, Line]:
        """By the ids of their nodes."""
        return {line.node.id: line for lines in self.slots.values() for line in lines}


def chosen_lines(loom: Loom, found: Found) -> Chosen:
    """The lines, best first in each slot; of what happened lately oldest first."""
    answer, policy = found.answer, found.policy
    gone = _gone_before(answer)
    strength = strengths(answer)
    kept: list[Candidate] = []
    for candidate in answer.ranked or ():
        if why := _unwanted(loom, found, candidate, strength):
            gone[why] += 1
        else:
            kept.append(candidate)
    citations, notes = _citations(loom, answer, kept)
    lines, unserved = lines_of(loom, answer, tuple(kept), citations)
    slots: dict[Slot, list[Line]] = {slot: [] for slot in SHARES}
    aside = {each.node.id for each in kept if _led_to(answer, each) and _is_weak(each.node.id, strength)}
    for line in sorted((_weighed(line, policy) for line in lines), key=lambda line: -line.score):
        slot = slot_of(line.node, going=goes_on(line.node))
        slot = "dependencies" if slot == "core" and line.node.id in aside else slot
        if policy.evidence == "cited_only" and not line.citation:
            gone["no source"] += 1
        elif slot == "core" and len(slots["core"]) >= found.given.limit:
            gone["over the limit"] += 1
        else:
            slots[slot].append(line)
    beside, uncited = _beside(loom, found, slots, strength, gone)
    for slot, line in beside:
        slots[slot].append(line)
    shown = {line.node.id for lines in slots.values() for line in lines}
    return Chosen(
        slots={slot: tuple(lines) for slot, lines in slots.items() if lines},
        ranked=tuple(each for each in kept if each.node.id in shown),
        strength=strength,
        suppressed={why: number for why, number in gone.items() if number},
        notes=(*notes, *unserved, *uncited),
    )


def _unwanted(loom: Loom, found: Found, candidate: Candidate, strength: Mapping[str, float]) -> str:
    """Why a candidate is left out; nothing where it is not."""
    node = candidate.node
    if pending := _pending(found, node):
        return pending
    if is_over(node, found.policy, found.now_us):
        return "before the horizon"
    home = node.id.partition("#")[0].removesuffix(":briefing")  # what a session left is told before all
    if found.given.session and home == conversation_key(loom, found.given.session):
        return SAID_HERE  # who asks knows it
    led_to = any(seen.view != "semantic" for seen in candidate.seen)
    weak = found.policy.evidence != "any" and not led_to and _is_weak(node.id, strength)
    return "low evidence" if weak else ""


def _pending(found: Found, node: NodeVersion) -> str:
    """The state of what others only proposed, where that is left out: to coordinate is to build on what is settled."""
    shown = found.given.include_pending or found.given.diagnostics
    return state_of(node) if found.policy.purpose == "coordinate" and is_unsettled(node) and not shown else ""


def _is_weak(node_id: str, strength: Mapping[str, float]) -> bool:
    """Whether too little speaks for it, by itself or beside what answers best."""
    if node_id not in strength:
        return False
    return strength[node_id] < max(ENOUGH, BESIDE_BEST * max(strength.values()))


def _led_to(answer: Answer, candidate: Candidate) -> bool:
    """Whether a view of the graph leads to it, other than the one that the question turns on."""
    own = TURNS_ON.get(answer.intent)
    views = {seen.view for seen in candidate.seen}
    return bool(views - {"semantic"}) and own not in views


def strengths(answer: Answer) -> dict[str, float]:
    """How much speaks for each candidate, by id: 1 is what it takes to answer at all.

    Nothing where meaning was not asked: what words alone tell is on no scale.
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


def _gone_before(answer: Answer) -> Counter[str]:
    """What the stages left out themselves."""
    dropped = {step.stage: step.dropped for step in answer.trace}
    marks = [mark for marks in answer.pool.marks.values() for mark in marks]
    gone: Counter[str] = Counter()
    gone["superseded"] = sum(mark.startswith("replaces ") for mark in marks)
    gone["duplicate"] = dropped.get("distinct", 0)
    over = [note for note in answer.notes if note.endswith("expired before the moment asked about")]
    gone["expired"] = sum(int(note.split()[0]) for note in over)
    return gone


def _citations(loom: Loom, answer: Answer, kept: Sequence[Candidate]) -> tuple[dict[str, str], tuple[str, ...]]:
    """By id; as far as the store can serve them."""
    nodes = [candidate.node for candidate in kept]
    try:
        found = answer.citations if answer.degraded else cited(loom, nodes, followed=answer.followed)
    except StoreError as problem:
        return {}, (f"the store could not serve citations: {problem.message}",)
    return {node.id: in_file(node) or found.get(node.event, "") for node in nodes}, ()


def _weighed(line: Line, policy: Policy) -> Line:
    """With what the purpose and the lens make of it."""
    marks = (*line.marks, state_of(line.node)) if is_unsettled(line.node) else line.marks
    return replace(line, score=line.score * gain_of(line.node, line.views, policy), marks=marks)


def _beside(
    loom: Loom, found: Found, slots: Mapping[Slot, Sequence[Line]], strength: Mapping[str, float], gone: Counter[str]
) -> tuple[list[tuple[Slot, Line]], tuple[str, ...]]:
    """What is beside the hits, each with its slot; a note where the store cannot cite it."""
    shown = {line.node.id for lines in slots.values() for line in lines}
    rows = [row for row in _rows(found, shown, strength) if row[1].id not in shown]
    citations: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    try:
        citations = cited_by_id(loom, [node for _, node, _, _ in rows])
    except StoreError as problem:
        notes = (f"the store could not serve citations: {problem.message}",)
    lines: dict[str, tuple[Slot, Line]] = {}
    for slot, node, score, steps in rows:
        if pending := _pending(found, node):
            gone[pending] += 1
        elif node.id not in lines and not _is_past(found, node):
            line = Line(node=node, score=score, citation=citations.get(node.id, ""), steps=steps)
            lines[node.id] = (slot, _weighed(line, found.policy))
    return list(lines.values()), notes


def _is_past(found: Found, node: NodeVersion) -> bool:
    """Whether the horizon or the retention leaves it out, as they do with what the question finds."""
    expired = found.policy.retention == "filter_expired" and expires_at(node) <= found.now_us
    return expired or is_over(node, found.policy, found.now_us)


def _rows(
    found: Found, shown: set[str], strength: Mapping[str, float]
) -> Iterator[tuple[Slot, NodeVersion, float, tuple[Step, ...]]]:
    """Nodes beside the hits, with slot, score and the steps to each: what the hits are joined to, nearest first."""
    beside = found.beside
    for node, steps in sorted(beside.joined, key=lambda each: -strength.get(each[0].id, 0.0)):
        if any(step.start in shown for step in steps):
            rule = slot_of(node, going=False) == "decisions"
            yield ("decisions" if rule else "dependencies"), node, 0.0, steps
    for node in beside.compacted:
        yield ("decisions" if slot_of(node, going=False) == "decisions" else "dependencies"), node, BOUND_SCORE, ()
    for node in beside.tasks:
        yield "plan", node, BOUND_SCORE if node.id in beside.bound else 0.0, ()
    for node in beside.lately:
        yield "episodes", node, 0.0, ()
