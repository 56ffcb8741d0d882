"""`memory_checkout`: the front door for an agent that begins to work. One question, one prompt, and all that it is of.

Coordination between agents (claims on work, hand-overs) is to come: `claims` is there for it, and empty.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from weft.context.arrange import Line
from weft.context.checkout import Wanted, write_prompt
from weft.context.checkout_policy import TaskProfile, guidance_of, policy_of, read_profile, retrieved_as
from weft.context.hits import ties_among
from weft.context.wording import plain
from weft.errors import Invalid, StoreError
from weft.instants import to_iso
from weft.loom import Loom
from weft.operations.asking import asks_of_then, notes_of, read_ask
from weft.operations.bounds import bounded
from weft.operations.checkout_around import Origin, around, briefing_for
from weft.operations.checkout_asked import FIELDS, Found, MemoryCheckout
from weft.operations.checkout_lines import chosen_lines
from weft.operations.checkout_told import (
    Applied,
    CurrentFact,
    EvidenceLine,
    Kept,
    Quality,
    Spent,
    WorkingSet,
    told_of,
    warnings_of,
)
from weft.operations.registry import Operation
from weft.retrieval.pipeline import Answer, run
from weft.retrieval.profiles import PROFILES
from weft.retrieval.purposes import PURPOSES, Purpose, purpose_of
from weft.retrieval.recipes import CANDIDATES, Plan, compose
from weft.types import SCOPES

WARNED: Final = 4  # times at most that a prompt is written: its warnings tell of its lines, and take room from them


class Checkout(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A checkout: `prompt` is ready to be put before a model, the rest says what it is made of.

    `evidence` are its lines with their slots, `provenance` who recorded their sources, `retention` what age did,
    `quality` how far to trust it. `claims` is for work that other agents hold: there is none yet.
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
    retention: Kept = Kept()
    warnings: tuple[str, ...] = ()
    guidance: tuple[str, ...] = ()
    quality: Quality = Quality()
    diagnostics: Applied | None = None
    counts: dict[str, int] = field(default_factory=dict)
    token_use: Spent = Spent()
    claims: tuple[str, ...] = ()
    degraded: str = ""
    notes: tuple[str, ...] = ()


def memory_checkout(loom: Loom, given: MemoryCheckout) -> Checkout:
    """Begins a task with what is known: call it first, with the task in your own words.

    It gives a prompt of cited lines: what answers, what that is joined to, decisions and rules, open work, and what
    happened lately. A --purpose changes what is looked for and how it is ranked; --task-profile says more of the task.
    With --session the briefing that the session left comes first.
    """
    purpose = None if given.purpose is None else _purpose(given.purpose)
    profile = read_profile({str(part): said for part, said in given.task_profile.items()})
    policy = policy_of(purpose, profile, limit=given.limit, retention=loom.settings.retention)
    reader = _narrowed(loom, profile)
    asked = retrieved_as(purpose, policy)
    plan = Plan(
        profile=PROFILES[policy.scoring],
        candidates=max(CANDIDATES, policy.candidates),
        retention=profile.retention,
        purpose=asked,
    )
    ask = read_ask(reader, given, as_of=given.as_of is not None, purpose=given.purpose)
    answer = run(compose(plan), reader, replace(ask, limit=policy.candidates))
    beside = around(reader, answer, session=given.session, task=profile.task)
    briefing, briefed, lost = _briefing(reader, given, answer)
    found = Found(given=given, policy=policy, answer=answer, beside=beside, briefing=briefing, briefed=briefed)
    chosen = chosen_lines(reader, found)
    ties, untied = ties_among(reader, answer, chosen.ranked)
    wanted = Wanted(
        slots=chosen.slots,
        intent=answer.intent,
        ties=ties,
        before=_before(loom, given, policy.purpose),
        briefing=briefing,
        briefed=f"Where this session stands (its briefing of {briefed})",
        warnings=warnings_of(reader, found, chosen),
        guidance=guidance_of(policy, profile) if chosen.count or briefing else (),
    )
    prompt = write_prompt(wanted, given.max_tokens)
    for _ in range(WARNED):
        warnings = warnings_of(reader, found, chosen, prompt)
        if warnings == wanted.warnings:
            break
        wanted = replace(wanted, warnings=warnings)
        prompt = write_prompt(wanted, given.max_tokens)
    notes = (*notes_of(reader, answer, chosen.ranked, then=asks_of_then(given)), *chosen.notes, *untied, *beside.notes)
    told, untold = told_of(reader, found, chosen, prompt)
    pinned = answer.ask.when
    made = Checkout(
        query=given.query,
        status="succeeded" if prompt.shown else "empty",
        prompt=prompt.text,
        valid_at=to_iso(pinned.valid_at or 0),
        known_at=to_iso(pinned.known_at or 0),
        purpose=policy.purpose,
        warnings=tuple(wanted.warnings),
        guidance=tuple(wanted.guidance),
        degraded=answer.degraded,
        notes=tuple(dict.fromkeys((*notes, *lost, *untold))),
        **told,
    )
    return bounded(_only(made, given.fields), "evidence", beside={"origins": ("provenance",)})


def _purpose(name: str) -> Purpose:
    """Raises Invalid for one that there is not, with those that there are."""
    if name not in PURPOSES:
        raise Invalid(
            f"memory_checkout: there is no purpose {name[:60]!r}",
            hint=f"choose one of {', '.join(PURPOSES)}, or none; task_profile describes any other task",
        )
    return purpose_of(name)


def _narrowed(loom: Loom, profile: TaskProfile) -> Loom:
    """The caller with no more scopes than the task needs: never with one that it does not hold.

    Only scopes narrow: what is sensitive is shown to whom it is shown otherwise.
    """
    if profile.permission is None:
        return loom
    allowed = frozenset(SCOPES[: SCOPES.index(profile.permission) + 1])
    held = loom.viewer.scopes & allowed
    return replace(loom, viewer=replace(loom.viewer, scopes=held))


def _briefing(loom: Loom, given: MemoryCheckout, answer: Answer) -> tuple[tuple[Line, ...], str, tuple[str, ...]]:
    """What the session left, of which day that is, and a note where it cannot be read."""
    if not given.session or answer.degraded:
        return (), "", ()
    try:
        return briefing_for(loom, given.session, answer.ask.when)
    except StoreError as problem:
        return (), "", (f"the briefing of the session cannot be told: {problem.message}",)


def _before(loom: Loom, given: MemoryCheckout, purpose: str) -> str:
    """How the prompt begins."""
    what = "" if purpose == "general" else f" for {plain(purpose)}"
    where = "all projects" if given.everywhere else f"project {plain(given.project or loom.settings.project)}"
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
        summary="begin a task with what is known: a prompt of cited lines, within a budget",
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
