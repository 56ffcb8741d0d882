"""The policy of a checkout: the words with more weight, the filters, the guidance for the reader. Pure.

A purpose is a preset (see `weft.retrieval.purposes`); a task profile refines it, or is used alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.context.wording import quoted
from weft.core.errors import Invalid
from weft.core.kinds import VIEWS
from weft.core.types import SCOPES, NodeVersion
from weft.retrieval.judging.unsettled import is_unsettled, state_of
from weft.retrieval.profiles import BALANCED
from weft.retrieval.purposes import Purpose
from weft.runtime.settings.load import RetentionPolicy

GENERAL: Final = "general"
PRECISE: Final = "precision"
FLOOR, MULTIPLIER = 16, 2  # without a purpose: there is more to see than the limit, of which slots are filled
Words = Annotated[str, Meta(max_length=200)]
Risk = Literal["low", "medium", "high"]
Horizon = Literal["day", "week", "month", "quarter", "year", "all"]
Permission = Literal["public", "shared", "admin"]
Evidence = Literal["any", "cited_only"]
Lens = Literal["semantic", "entity", "temporal", "causal", "code", "work"]
HORIZON_DAYS: Final[Mapping[str, int]] = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
STALE_DAYS: Final = 365  # age of the newest line, without a horizon
LENS_GAIN: Final = 1.25  # factor on the score of kinds and views of the lens
ACCEPTED_GAIN: Final = 1.25  # factor on the score of accepted state, for the purpose `coordinate`
EMPHASIS_WORDS: Final = 8  # that a profile adds at most
ACCEPTED: Final = frozenset({"accepted", "promoted", "approved", "verified", "done", "succeeded"})
SETTLED_KINDS: Final = frozenset({"Decision", "Proof", "Handoff"})
RISK_WORDS: Final[Mapping[str, tuple[str, ...]]] = {"high": ("risk", "failure", "rollback"), "medium": ("risk",)}
# Of these kinds, older ones than the horizon are left out; any other memory still holds.
HAPPENED: Final = frozenset({"Event", "Episode", "Message", "Memory", "Session", "Conversation", "Report", "Digest"})

GUIDANCE: Final[Mapping[str, str]] = {
    GENERAL: "Begin with these lines. Where your findings differ, trust them and correct the memory.",
    "coding": "Hold to these decisions and conventions. Where the code differs, trust it and correct the memory.",
    "review": "Judge the change by these decisions and risks, and name the source of every objection.",
    "release": "The latest date wins. Check versions, migrations and rollbacks at their source before relying on them.",
    "security": "Nothing here is a permission. Confirm every exposure and every mitigation at its source.",
    "research": "Keep claims apart by source; say where they contradict each other and where evidence is thin.",
    "coordinate": "Only accepted state is shown. Pending items are not settled: do not build on them.",
}


class TaskProfile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A task, as the caller describes it. Empty parts change nothing."""

    role: Words = ""
    task: Words = ""
    risk: Risk | None = None
    horizon: Horizon | None = None
    action: Words = ""
    permission: Permission | None = None
    evidence: Evidence | None = None
    retention: RetentionPolicy | None = None
    lens: Lens | None = None


class CheckoutPolicy(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The applied policy, as the answer reports it. `effects` describe what each part of a profile does."""

    purpose: str
    recall_floor: int
    multiplier: int
    candidates: int
    scoring: str
    emphasis: tuple[str, ...] = ()
    retention: str = ""
    evidence: str = ""
    horizon: str = ""
    permission: str = ""
    lens: str = ""
    effects: tuple[str, ...] = ()


def read_profile(written: Mapping[str, Any]) -> TaskProfile:
    """A task profile. Raises Invalid, naming the part and its allowed values."""
    try:
        return msgspec.convert(dict(written), TaskProfile)
    except msgspec.ValidationError as problem:
        said = str(problem).replace("$.", "profile.").replace("Object contains unknown", "the profile has an unknown")
        choices = "; ".join(f"{name} {' | '.join(allowed)}" for name, allowed in CHOICES.items())
        raise Invalid(
            f"memory_checkout: {said}", hint=f"role, task and action are in your own words; else {choices}"
        ) from problem


CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "risk": ("low", "medium", "high"),
    "horizon": (*HORIZON_DAYS, "all"),
    "permission": SCOPES,
    "evidence": ("any", "cited_only"),
    "retention": ("none", "filter_expired", "decay"),
    "lens": ("semantic", "entity", "temporal", "causal", "code", "work"),
}


def policy_of(purpose: Purpose | None, profile: TaskProfile, *, limit: int, retention: str) -> CheckoutPolicy:
    """The policy for a purpose and a profile; `retention` is the setting."""
    words = tuple(dict.fromkeys((*(purpose.emphasis if purpose else ()), *_words_of(profile))))
    scoring = purpose.scoring if purpose else PRECISE if profile.risk == "high" else BALANCED.name
    floor, multiplier = (purpose.recall_floor, purpose.multiplier) if purpose else (FLOOR, MULTIPLIER)
    return CheckoutPolicy(
        purpose=purpose.name if purpose else GENERAL,
        recall_floor=floor,
        multiplier=multiplier,
        candidates=max(floor, multiplier * limit),
        scoring=scoring,
        emphasis=words,
        retention=profile.retention or retention,
        evidence=profile.evidence or "",
        horizon=profile.horizon or "",
        permission=profile.permission or "",
        lens=profile.lens or "",
        effects=tuple(_effects(profile, scoring if purpose is None else "")),
    )


def retrieved_as(purpose: Purpose | None, policy: CheckoutPolicy) -> Purpose | None:
    """The purpose for retrieval, with the words that the profile adds; None without either."""
    if purpose is not None:
        return replace(purpose, emphasis=policy.emphasis)
    if not policy.emphasis:
        return None
    return Purpose(
        name=GENERAL,
        recall_floor=policy.recall_floor,
        multiplier=policy.multiplier,
        scoring=policy.scoring,
        emphasis=policy.emphasis,
    )


def _words_of(profile: TaskProfile) -> tuple[str, ...]:
    """The words by which role, task, action and risk weigh on the question."""
    from weft.text.lexical import STOP_WORDS, tokens

    said = " ".join((profile.role, profile.task, profile.action))
    told = dict.fromkeys(word for word in tokens(said) if word not in STOP_WORDS and len(word) > 2)
    return (*list(told)[:EMPHASIS_WORDS], *RISK_WORDS.get(profile.risk or "", ()))


def _effects(profile: TaskProfile, scoring: str) -> list[str]:
    said = []
    for name in ("role", "task", "action"):
        if getattr(profile, name):
            said.append(f"{name}: its words weigh on the question")
    if profile.risk:
        more = f", scored for {scoring}" if profile.risk == "high" and scoring else ""
        does = f"its words weigh on the question{more}" if profile.risk in RISK_WORDS else "nothing is added"
        said.append(f"risk {profile.risk}: {does}")
    if profile.horizon:
        days = HORIZON_DAYS.get(profile.horizon)
        said.append(
            f"horizon {profile.horizon}: "
            + (f"events of over {days} days ago are left out" if days else "nothing is too old")
        )
    if profile.permission:
        said.append(f"permission {profile.permission}: only scopes up to it are read")
    if profile.evidence:
        does = "lines without a source are left out" if profile.evidence == "cited_only" else "weak evidence is allowed"
        said.append(f"evidence {profile.evidence}: {does}")
    if profile.retention:
        said.append(f"retention {profile.retention}: in place of the setting")
    if profile.lens:
        said.append(f"lens {profile.lens}: its kinds and views count x {LENS_GAIN:g}")
    return said


def guidance_of(policy: CheckoutPolicy, profile: TaskProfile) -> tuple[str, ...]:
    """Instructions for the reader of the lines; the words of the caller are quoted."""
    told = [GUIDANCE.get(policy.purpose, GUIDANCE[GENERAL])]
    if profile.role:
        told.append(f"Read them as {quoted(profile.role)} would.")
    if profile.action:
        told.append(f"They are for this: {quoted(profile.action)}.")
    if profile.risk == "high":
        told.append("The risk is high: `cite` every line that you act on.")
    if profile.evidence == "cited_only":
        told.append("State nothing that has no source here.")
    return tuple(told)


def is_accepted(node: NodeVersion) -> bool:
    """Whether it is accepted state, a proof or a handoff."""
    return state_of(node) in ACCEPTED or (node.kind in SETTLED_KINDS and not is_unsettled(node))


def is_over(node: NodeVersion, policy: CheckoutPolicy, now_us: int) -> bool:
    """Whether an event is older than the horizon. Memories that are still true never are."""
    days = HORIZON_DAYS.get(policy.horizon)
    return days is not None and node.kind in HAPPENED and now_us - node.interval.valid_from > days * 86_400_000_000


def gain_of(node: NodeVersion, views: tuple[str, ...], policy: CheckoutPolicy) -> float:
    """The factor on its score for the lens and, for `coordinate`, for being accepted."""
    lens = policy.lens
    seen = bool(lens) and (node.kind in VIEWS[lens] or (lens in views and lens != "semantic"))
    gain = LENS_GAIN if seen else 1.0
    return gain * ACCEPTED_GAIN if policy.purpose == "coordinate" and is_accepted(node) else gain
