"""`memory_checkout`: one question, one prompt of cited lines, and the data that the prompt rests on.

It also lists who works on what, so that an agent does not begin the work of another.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from weft.checkout.beside import beside_hits
from weft.checkout.briefings import left_by
from weft.checkout.choose_lines import briefing_lines, choose_lines, sections_of
from weft.checkout.crew import crew_of
from weft.checkout.report import (
    CheckoutDiagnostics,
    CurrentFact,
    EvidenceLine,
    Origin,
    Quality,
    RetentionEffect,
    TokenUse,
    WorkingSet,
    report_of,
    warnings_of,
)
from weft.checkout.request import FIELDS, CheckoutFindings, MemoryCheckout
from weft.context.arrange import ContextLine
from weft.context.assemble import ContextFrame, assemble
from weft.context.checkout_policy import TaskProfile, guidance_of, policy_of, read_profile, retrieved_as
from weft.context.hits import ties_among
from weft.context.wording import plain
from weft.core.clock import to_iso
from weft.core.errors import Invalid, StoreError
from weft.core.types import SCOPES
from weft.recall.answer_limits import bounded
from weft.recall.request import asks_of_then, notes_of, read_ask
from weft.retrieval.pipeline import Answer, run
from weft.retrieval.profiles import PROFILES
from weft.retrieval.purposes import PURPOSES, Purpose, purpose_of
from weft.retrieval.recipes import CANDIDATES, RankingPlan, compose
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation

WARNED: Final = 4  # times at most that a prompt is written: its warnings name its lines and take room from them


class Checkout(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A checkout: `prompt` is ready for a model, the rest is what it is made of.

    `evidence` are its lines with their slots, `provenance` who recorded their sources, `retention` what age changed,
    `quality` how far to trust it. `claims` are work that other agents hold, `conflicts` attempts at what another held
    and claims of the caller gone stale, `learnings` what agents learnt about the code of these lines.
    """

    query: str
    status: str
    prompt: str
    valid_at: str
    known_at: str
    purpose: str
    working_set: WorkingSet = WorkingSet()
    current_facts: tuple[CurrentFact, ...] = ()
    evidence: tuple[EvidenceLine, ...] = ()
    provenance: tuple[Origin, ...] = ()
    retention: RetentionEffect = RetentionEffect()
    warnings: tuple[str, ...] = ()
    guidance: tuple[str, ...] = ()
    quality: Quality = Quality()
    diagnostics: CheckoutDiagnostics | None = None
    counts: dict[str, int] = field(default_factory=dict)
    token_use: TokenUse = TokenUse()
    claims: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    degraded: str = ""
    notes: tuple[str, ...] = ()


def memory_checkout(ctx: CallContext, given: MemoryCheckout) -> Checkout:
    """Begins a task: call it first, with the task in your own words, for a prompt of cited lines.

    The prompt holds answers, related nodes, decisions and rules, open work and recent events. A --purpose changes
    what is searched for and how it is ranked; --task-profile describes the task. With --session the prompt begins with
    the briefing that the session left.
    """
    purpose = None if given.purpose is None else _purpose(given.purpose)
    profile = read_profile({str(part): said for part, said in given.task_profile.items()})
    policy = policy_of(purpose, profile, limit=given.limit, retention=ctx.settings.retention)
    reader = _restricted(ctx, profile)
    plan = RankingPlan(
        profile=PROFILES[policy.scoring],
        candidates=max(CANDIDATES, policy.candidates),
        retention=profile.retention,
        purpose=retrieved_as(purpose, policy),
    )
    ask = read_ask(reader, given, as_of=given.as_of is not None, purpose=given.purpose)
    answer = run(compose(plan), reader, replace(ask, limit=policy.candidates))
    beside = beside_hits(reader, answer, session=given.session, task=profile.task)
    briefing, briefed, lost = _briefing(reader, given, answer)
    found = CheckoutFindings(
        given=given, policy=policy, answer=answer, beside=beside, briefing=briefing, briefed=briefed
    )
    chosen = choose_lines(reader, found)
    ties, untied = ties_among(reader, answer, chosen.ranked)
    sections = sections_of(found, chosen, ties)
    crew = crew_of(reader, answer, [line.node for line in chosen.lines.values()])
    frame = ContextFrame(
        head=_head(ctx, given, policy.purpose),
        warnings=(*crew.warnings, *warnings_of(reader, found, chosen)),
        guidance=guidance_of(policy, profile) if chosen.count or briefing else (),
    )
    prompt = assemble(sections, ties, frame, given.max_tokens)
    for _ in range(WARNED):
        warnings = (*crew.warnings, *warnings_of(reader, found, chosen, prompt))
        if warnings == frame.warnings:
            break
        frame = replace(frame, warnings=warnings)
        prompt = assemble(sections, ties, frame, given.max_tokens)
    own = notes_of(reader, answer, chosen.ranked, then=asks_of_then(given), explain=given.diagnostics)
    notes = (*own, *chosen.notes, *untied, *beside.notes)
    report, unread = report_of(reader, found, chosen, prompt)
    pinned = answer.ask.when
    made = Checkout(
        query=given.query,
        status="succeeded" if prompt.lines else "empty",
        prompt=prompt.text,
        valid_at=to_iso(pinned.valid_at or 0),
        known_at=to_iso(pinned.known_at or 0),
        purpose=policy.purpose,
        warnings=tuple(frame.warnings),
        guidance=tuple(frame.guidance),
        claims=crew.claims,
        conflicts=crew.conflicts,
        learnings=crew.learnings,
        degraded=answer.degraded,
        notes=tuple(dict.fromkeys((*notes, *lost, *unread, *crew.notes))),
        **report,
    )
    return bounded(_only(made, given.fields), "evidence", beside={"origins": ("provenance",)})


def _purpose(name: str) -> Purpose:
    """Raises Invalid for an unknown purpose, with the known ones."""
    if name not in PURPOSES:
        raise Invalid(
            f"memory_checkout: unknown purpose {name[:60]!r}",
            hint=f"choose one of {', '.join(PURPOSES)}, or none; task_profile describes any other task",
        )
    return purpose_of(name)


def _restricted(ctx: CallContext, profile: TaskProfile) -> CallContext:
    """The caller with no more scopes than the task needs, and none that it does not have."""
    if profile.permission is None:
        return ctx
    allowed = frozenset(SCOPES[: SCOPES.index(profile.permission) + 1])
    return replace(ctx, viewer=replace(ctx.viewer, scopes=ctx.viewer.scopes & allowed))


def _briefing(
    ctx: CallContext, given: MemoryCheckout, answer: Answer
) -> tuple[tuple[ContextLine, ...], str, tuple[str, ...]]:
    """The briefing that the session left, as lines; its day and author; and notes on it."""
    if not given.session or answer.degraded:
        return (), "", ()
    try:
        left = left_by(ctx, given.session, answer.ask.when)
    except StoreError as problem:
        return (), "", (f"the briefing of the session could not be read: {problem.message}",)
    if left is None:
        return (), "", ()
    briefed = f"{to_iso(left.node.recorded_at)[:10]}{f', by {left.by}' if left.by else ''}"
    return briefing_lines(left.node, left.citation), briefed, left.notes


def _head(ctx: CallContext, given: MemoryCheckout, purpose: str) -> str:
    what = "" if purpose == "general" else f" for {plain(purpose)}"
    where = "all projects" if given.everywhere else f"project {plain(given.project or ctx.settings.project)}"
    return f"Memory{what}, {where}."


def _only(made: Checkout, fields: tuple[str, ...] | None) -> Checkout:
    """Without the fields that were not asked for."""
    if fields is None:
        return made
    empty = Checkout(query="", status="", prompt="", valid_at="", known_at="", purpose="")
    return replace(made, **{name: getattr(empty, name) for name in FIELDS if name not in fields})


OPERATIONS = (
    Operation(
        name="memory_checkout",
        summary="begin a task: a prompt of cited lines from memory, within a budget",
        input=MemoryCheckout,
        output=Checkout,
        effect="read",
        toolset="core",
        run=memory_checkout,
        arguments=("query",),
        rare=(
            "kinds",
            "everywhere",
            "known_at",
            "asked_at",
            "min_score",
            "fields",
            "diagnostics",
            "include_pending",
            "limit",
        ),
        eager=True,
        budget="max_tokens",
        priorities={"warnings": "high"},
        told=(
            *("query", "valid_at", "known_at", "purpose", "working_set", "current_facts", "evidence", "provenance"),
            *("retention", "guidance", "quality", "diagnostics", "counts", "token_use"),
        ),
    ),
)
