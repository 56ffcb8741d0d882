"""Patterns in episodes. Pure: steps in, patterns out.

hotspot          one file edited three times or more
decision_error   a decision, then an error or a failing test on the code that it touched
reread           the same code looked at three times or more with no edit of it in between
fix              failing tests, edits, and the same tests pass
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from msgspec import Struct

LEAST_EDITS: Final = 3
LEAST_READS: Final = 3
MOST_FIXED: Final = 5  # files edited between the failure and the pass: more than that say little
LEAST_TO_LEARN: Final = 0.7
MOST_SURE: Final = 0.95
NAMED: Final = 3

PatternKind = Literal["hotspot", "decision_error", "reread", "fix"]


class Step(Struct, frozen=True, kw_only=True):
    """One episode as far as patterns need it, in order of `at`. `places` are the files that it is about."""

    id: str
    type: str
    at: int
    places: tuple[str, ...] = ()
    title: str = ""
    tests: tuple[str, ...] = ()
    passed: int = 0
    failed: int = 0
    is_failure: bool = False

    @property
    def went_wrong(self) -> bool:
        return self.type == "ERROR" or (self.type == "TEST_RESULT" and self.failed > 0)

    @property
    def went_well(self) -> bool:
        return self.type == "TEST_RESULT" and self.failed == 0 and self.passed > 0


class FoundPattern(Struct, frozen=True, kw_only=True):
    """Something that repeats itself. `key` names it, so that it is learnt once; `evidence` are ids of episodes."""

    kind: PatternKind
    key: str
    title: str
    text: str
    confidence: float
    places: tuple[str, ...]
    evidence: tuple[str, ...]
    tests: tuple[str, ...] = ()


def patterns(steps: Sequence[Step]) -> tuple[FoundPattern, ...]:
    """Every pattern, the surest first."""
    ordered = sorted(steps, key=lambda step: step.at)
    found = [*_hotspots(ordered), *_decisions(ordered), *_rereads(ordered), *_fixes(ordered)]
    return tuple(sorted(found, key=lambda each: (-each.confidence, each.key)))


def contradicts(
    kind: str, places: Iterable[str], tests: Iterable[str], after: int, steps: Sequence[Step]
) -> list[Step]:
    """The later episodes that speak against something learnt; none if others still speak for it.

    That a decision leads to errors: its code passed its tests since, and nothing failed there. That an edit makes
    tests pass: they failed again.
    """
    later = [step for step in steps if step.at > after]
    if kind == "decision_error":
        here = [step for step in later if _meet(step.places, places)]
        return [] if any(step.went_wrong for step in here) else [step for step in here if step.went_well]
    if kind == "fix":
        wanted = set(tests)
        about = [step for step in later if step.type == "TEST_RESULT" and wanted & set(step.tests)]
        return [step for step in about if step.failed > 0] if about and about[-1].failed > 0 else []
    return []


def _hotspots(steps: Sequence[Step]) -> Iterable[FoundPattern]:
    edits = _by_place(step for step in steps if step.type == "EDIT")
    for place, found in edits.items():
        if len(found) >= LEAST_EDITS:
            yield FoundPattern(
                kind="hotspot",
                key=f"hotspot {place}",
                title=f"{place} is edited again and again",
                text=f"{place} was edited {len(found)} times in a row of work: {_titles(found)}. Plan changes of it"
                " together, and read it whole before the first.",
                confidence=_sure(len(found), LEAST_EDITS),
                places=(place,),
                evidence=_ids(found),
            )


def _decisions(steps: Sequence[Step]) -> Iterable[FoundPattern]:
    for at, decision in enumerate(steps):
        if decision.type != "DECISION" or not decision.places:
            continue
        wrong = [step for step in steps[at + 1 :] if step.went_wrong and _meet(step.places, decision.places)]
        if not wrong:
            continue
        # What passed after the last failure says that the decision held in the end.
        mended = any(
            step.went_well and step.at > wrong[-1].at and _meet(step.places, decision.places)
            for step in steps[at + 1 :]
        )
        where = tuple(place for place in decision.places if any(_meet(step.places, (place,)) for step in wrong))
        text = (
            f"The decision “{decision.title}” was followed by {_titles(wrong)} on {', '.join(where[:NAMED])}."
            f" {'It passed in the end' if mended else 'It did not pass since'}: check this code when the decision is"
            " applied again."
        )
        yield FoundPattern(
            kind="decision_error",
            key=f"decision_error {decision.id}",
            title=f"“{decision.title}” led to errors",
            text=text,
            confidence=min(MOST_SURE, (0.5 if mended else 0.7) + 0.1 * (len(wrong) - 1)),
            places=where,
            evidence=(decision.id, *_ids(wrong)),
        )


def _rereads(steps: Sequence[Step]) -> Iterable[FoundPattern]:
    runs: dict[str, list[Step]] = defaultdict(list)
    best: dict[str, list[Step]] = {}
    for step in steps:
        for place in step.places:
            if step.type == "EDIT":
                runs[place] = []
            elif step.type == "OBSERVATION":
                runs[place].append(step)
                if len(runs[place]) > len(best.get(place, ())):
                    best[place] = list(runs[place])
    for place, found in best.items():
        if len(found) >= LEAST_READS:
            yield FoundPattern(
                kind="reread",
                key=f"reread {place}",
                title=f"{place} is read again and again",
                text=f"{place} was looked at {len(found)} times without a change. What was seen: {_titles(found)}.",
                confidence=_sure(len(found), LEAST_READS),
                places=(place,),
                evidence=_ids(found),
            )


def _fixes(steps: Sequence[Step]) -> Iterable[FoundPattern]:
    for at, passed in enumerate(steps):
        if not passed.went_well:
            continue
        begun = _last_failure(steps[:at], passed)
        if begun is None:
            continue
        edits = [step for step in steps[begun + 1 : at] if step.type == "EDIT"]
        files = tuple(dict.fromkeys(place for step in edits for place in step.places))
        if not edits or len(files) > MOST_FIXED:
            continue
        tests = tuple(sorted(set(steps[begun].tests) & set(passed.tests)))
        yield FoundPattern(
            kind="fix",
            key=f"fix {' '.join(sorted(files))} {' '.join(tests)}",
            title=f"Editing {', '.join(files[:NAMED])} made {', '.join(tests[:NAMED])} pass",
            text=f"{', '.join(tests[:NAMED])} failed ({steps[begun].failed}) and passed after {_titles(edits)}. If they"
            f" fail again, look at {', '.join(files[:NAMED])} first.",
            confidence=0.8 if len(files) == 1 else 0.7,
            places=files,
            evidence=(steps[begun].id, *_ids(edits), passed.id),
            tests=tests,
        )


def _last_failure(steps: Sequence[Step], passed: Step) -> int | None:
    """Where the same tests failed last, unless they passed in between."""
    for at in range(len(steps) - 1, -1, -1):
        step = steps[at]
        if step.type == "TEST_RESULT" and set(step.tests) & set(passed.tests):
            return at if step.failed > 0 else None
    return None


def _meet(some: Iterable[str], others: Iterable[str]) -> bool:
    return bool(set(some) & set(others))


def _by_place(steps: Iterable[Step]) -> dict[str, list[Step]]:
    found: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        for place in step.places:
            found[place].append(step)
    return found


def _sure(count: int, least: int) -> float:
    return min(MOST_SURE, LEAST_TO_LEARN + 0.05 * (count - least))


def _ids(steps: Iterable[Step]) -> tuple[str, ...]:
    return tuple(step.id for step in steps)


def _titles(steps: Sequence[Step]) -> str:
    shown = "; ".join(f"“{step.title[:120]}”" for step in steps[:NAMED])
    return f"{shown} and {len(steps) - NAMED} more" if len(steps) > NAMED else shown
