"""Reasoning style for a task, by its words: step by step, weighing alternatives, or asking back."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from weft.core.errors import Invalid
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation
from weft.text.lexical import fold_case

Mode = Literal["sequential", "debate", "socratic"]

# Beginnings of words, so that every inflection is meant; two words may be joined by a space or a hyphen.
_CUES: Final[dict[Mode, str]] = {
    "socratic": (
        r"unclear\w*|not clear|ambigu\w*|vague\w*|ill[- ]defined|requirement\w*|discover(?:y|ies|ing)?|clarif\w*"
        r"|elicit\w*|open[- ]ended|don'?t know what|not sure what|scoping|underspecified"
    ),
    "debate": (
        r"trade[- ]?offs?|trading off|compar(?:e|es|ed|ing|ison|isons|ative)|debat\w*|versus|vs|pros and cons"
        r"|pros (?:or|vs) cons|weigh(?:s|ed|ing)? (?:up|options|the)|better than|worse than"
    ),
    "sequential": (
        r"strateg(?:y|ies|ic|ically|ise|ize)|multi[- ]?factor\w*|multiple factors|plan(?:s|ned|ning)?|roadmaps?"
        r"|milestones?|step[- ]by[- ]step"
    ),
}
# Unclear tasks are questioned before they are weighed, and weighed before they are planned.
_FIRST: Final[tuple[Mode, ...]] = ("socratic", "debate", "sequential")
_RULE: Final = "questions come before debate, and debate before planning"
_STEPS: Final[dict[Mode, tuple[str, ...]]] = {
    "sequential": (
        "state the goal of the task, and how success is measured",
        "recall earlier decisions and attempts: `weft project-context`, `weft recall`",
        "list the factors, and which depend on which",
        "work through it one step at a time, and check each before the next",
        "record the decision and its reasons: `weft save-decision`",
    ),
    "debate": (
        "list the options, including changing nothing",
        "recall earlier decisions about them: `weft recall --kinds Decision`",
        "set the criteria and their weights before comparing",
        "make the best case for each, then the best case against it",
        "choose, note what would change the choice, and keep the rejected options: `weft save-decision --alternatives`",
    ),
    "socratic": (
        "list what is known, what is assumed and what is missing",
        "recall what is known about it: `weft recall`",
        "ask for its purpose, its users and its acceptance criteria, one question at a time",
        "repeat the answers in your own words, with an example and a counterexample",
        "write down the requirements, then route the task again: `weft save-context`",
    ),
}
# A cue does not count after one of these words in the same clause.
_DENIED: Final = re.compile(
    r"\b(?:no|not|n't|never|without|skip(?:s|ped|ping)?|avoid(?:s|ed|ing)?|instead of|rather than|nothing|don'?t"
    r"|doesn'?t|needn'?t|stop(?:s|ped|ping)?|already|isn'?t|aren'?t|won'?t|neither|nor)\b"
    r"(?:\s+[\w'-]+){0,3}\s*$"
)
_CLAUSE: Final = re.compile(r"[.;:!?\n,]|\b(?:but|however|though|then|so|and then)\b")
_PATTERNS: Final = {mode: re.compile(rf"(?<![\w-])(?:{cues})(?!\w|-and-)") for mode, cues in _CUES.items()}


class AnalysisRoute(Struct, frozen=True, kw_only=True):
    """Input of `analysis_route`."""

    task: Annotated[str, Meta(min_length=1, max_length=20_000, description="what is to be done, in your own words")]


class Cue(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A word of the task that suggests a mode; a `denied` one ("no need to compare") suggests none."""

    word: str
    mode: Mode
    denied: bool = False


class AnalysisRouted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How to go about a task, why, and the steps."""

    mode: Mode
    rationale: str
    suggested_steps: tuple[str, ...]
    cues: tuple[Cue, ...] = ()


def analysis_route(ctx: CallContext, given: AnalysisRoute) -> AnalysisRouted:
    """Says how to go about a task, by its words: sequential, debate or socratic, with reasons and steps.

    Strategy, several factors and planning are worked through in sequence; trade-offs and comparisons are debated;
    unclear tasks, requirements and discovery are questioned. If words suggest several, questioning comes before
    debate, and debate before planning. Without any such word: sequential.
    """
    if not given.task.strip():
        raise Invalid("the task is blank", hint="say what is to be done")
    cues = _cues(fold_case(given.task).replace("’", "'"))
    meant = {cue.mode for cue in cues if not cue.denied}
    mode: Mode = next((each for each in _FIRST if each in meant), "sequential")
    return AnalysisRouted(mode=mode, rationale=_rationale(mode, cues, meant), suggested_steps=_STEPS[mode], cues=cues)


def _cues(task: str) -> tuple[Cue, ...]:
    found: list[tuple[int, Cue]] = []
    for mode, pattern in _PATTERNS.items():
        for match in pattern.finditer(task):
            clause = _CLAUSE.split(task[: match.start()])[-1]
            denied = _DENIED.search(clause) is not None
            found.append((match.start(), Cue(word=match.group(), mode=mode, denied=denied)))
    ordered = [cue for _, cue in sorted(found, key=lambda each: each[0])]
    return tuple(dict.fromkeys(ordered))[:20]


def _rationale(mode: Mode, cues: tuple[Cue, ...], meant: set[Mode]) -> str:
    told = {
        each: ", ".join(dict.fromkeys(repr(cue.word) for cue in cues if cue.mode == each and not cue.denied))
        for each in meant
    }
    denied = ", ".join(dict.fromkeys(repr(cue.word) for cue in cues if cue.denied))
    parts = [f"{told[mode]} suggest{'s' if told[mode].count(',') == 0 else ''} {mode}"] if mode in meant else []
    if not meant:
        parts.append("no word suggests another way, so it is worked through in sequence")
    for other in (each for each in _FIRST if each in meant and each != mode):
        parts.append(f"{told[other]} would suggest {other}: {_RULE}")
    if denied:
        parts.append(f"{denied} is negated and does not count")
    return "; ".join(parts)


OPERATIONS = (
    Operation(
        name="analysis_route",
        summary="say how to go about a task: in sequence, by debate or by asking",
        input=AnalysisRoute,
        output=AnalysisRouted,
        effect="read",
        toolset="hygiene",
        run=analysis_route,
        arguments=("task",),
        priorities={"mode": "required", "rationale": "required", "cues": "low"},
    ),
)
