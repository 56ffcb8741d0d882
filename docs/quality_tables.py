"""The tables on answer quality, from the results named `quality-<set>`: one column or row for each set there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Result = dict[str, Any]
MEASURES = ("R@1", "R@2", "R@5", "R@10", "R@20", "All@5", "Hit@5", "MRR", "nDCG@10")
MAIN = "R@5"
MAIN_OF = {"cosqa": "MRR"}  # one right answer to a question: its rank says more

# Typed by hand, as given by those who provided the sets, for the other half of each set's questions: the best plain
# floor, the score that an experiment reached, the goal.
GIVEN: tuple[tuple[str, str, str, str, str], ...] = (
    ("twowiki", "R@5", "66.8", "98.6", "97"),
    ("musique100", "R@5", "62.2", "71-72", "80"),
    ("hotpot100", "R@5", "83.6", "95.1", "97"),
    ("locomo", "R@5", "47.7", "74.9", "80"),
    ("locomo", "R@10", "57.0", "82.3", "88"),
    ("lme", "R@5", "68.5", "80.4", "86"),
    ("lme", "R@10", "78.4", "88.4", "93"),
    ("lme", "newest first", "46", "86", "92"),
    ("cosqa", "MRR", "53.3", "54.2", "58"),
    ("swelite_django", "R@5", "69.8", "84.9", "90"),
    ("swelite_django", "R@10", "81.1", "88.7", "94"),
)
# Stages that the recipe did not have when it was first measured without each of its stages.
NEWER = ("answers", "time_frame", "relevant")
GIVEN_TYPO = {"twowiki": ("78.7, with fuzzy names 91.8", "93")}

INTRO = """
## Recall quality

One default recipe for every set. The questions and their gold were written by
others; the data is not part of this repository. weft is shown a question's text, its scope and when it was asked,
nothing else. [Measuring](measuring.md) says how to repeat this, and what the measures mean. All figures but times and
sizes are percent.

"""


def quality(results: Mapping[str, Result]) -> str:
    """The whole section; nothing without results."""
    sets = {name.removeprefix("quality-"): each for name, each in results.items() if name.startswith("quality-")}
    if not sets:
        return ""
    parts = [INTRO, _runs(sets), _goals(sets), _overall(sets), _by_type(sets), _ablations(sets), _robustness(sets)]
    return "".join([*parts, _abstention(sets), _costs(sets)])


def table(heading: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A titled table; nothing without rows."""
    lines = [f"| {' | '.join(map(str, row))} |\n" for row in rows]
    if not lines:
        return ""
    return f"{heading}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n{''.join(lines)}\n"


def main_measure(name: str) -> str:
    """The one measure by which a set is compared."""
    return MAIN_OF.get(name, MAIN)


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:,.1f}"


def _runs(sets: Mapping[str, Result]) -> str:
    runs = dict.fromkeys(f"{each['date']}, {each['machine']}, embedder {each['embedder']}" for each in sets.values())
    left_out = {variant for each in sets.values() for variant in each.get("ablations", {})}
    newer = [name for name in NEWER if left_out and f"without {name}" not in left_out]
    older = f" The recipe did not have the stages {', '.join(newer)} yet." if newer else ""
    return "; ".join(runs) + f".{older}\n\n"


def _goals(sets: Mapping[str, Result]) -> str:
    rows = []
    for name, measure, floor, experiment, goal in GIVEN:
        if name in sets:
            found = sets[name]["newest_first"]["share"] if measure == "newest first" else sets[name]["overall"][measure]
            rows.append((name, measure, floor, experiment, goal, f"**{found:.1f}**"))
    columns = ("set", "measure", "plain floor (given)", "experiment (given)", "goal (given)", "weft")
    return table(
        "Floors, experiments and goals come from those who provided the sets, and are typed into"
        " `docs/quality_tables.py`. They are of the half of the questions that was kept back; weft's figures are of the"
        " half it was developed with.",
        columns,
        rows,
    )


def _overall(sets: Mapping[str, Result]) -> str:
    rows = [
        (name, each["rows"], each["overall"]["n"], *(_shown(each["overall"][measure]) for measure in MEASURES))
        for name, each in sets.items()
    ]
    return table("### By set", ("set", "rows", "questions", *MEASURES), rows)


def _by_type(sets: Mapping[str, Result]) -> str:
    rows = [
        (name, kind, scores["n"], *(_shown(scores[measure]) for measure in MEASURES))
        for name, each in sets.items()
        for kind, scores in each["by_type"].items()
        if len(each["by_type"]) > 1
    ]
    return table("### By type of question", ("set", "type", "questions", *MEASURES), rows)


def _ablations(sets: Mapping[str, Result]) -> str:
    """Points won or lost against the default on the same sample; milliseconds too, unless embeddings were cached."""
    measured = {name: each for name, each in sets.items() if "ablations" in each}
    if not measured:
        return ""
    variants = dict.fromkeys(variant for each in measured.values() for variant in each["ablations"])
    rows = [(variant, *(_difference(name, each, variant) for name, each in measured.items())) for variant in variants]
    columns = [f"{name} {main_measure(name)}, n {each['ablations']['default']['n']}" for name, each in measured.items()]
    days = ", ".join(dict.fromkeys(each["date"] for each in measured.values()))
    heading = (
        f"### What each stage is worth\n\nMeasured on {days}, on a sample of each set's questions (n): points"
        " against the default recipe on the same sample and, unless embeddings came from a cache, the change of the"
        " median question in milliseconds. A dash: without that stage nothing is answered."
    )
    return table(heading, ("recipe", *columns), rows)


def _difference(name: str, result: Result, variant: str) -> str:
    scores, default = result["ablations"].get(variant), result["ablations"]["default"]
    if scores is None:
        return "–"
    points = f"{scores[main_measure(name)] - default[main_measure(name)]:+.1f}"
    if result["cached"]:
        return points
    return f"{points} ({scores['query_p50_ms'] - default['query_p50_ms']:+.0f} ms)"


def _robustness(sets: Mapping[str, Result]) -> str:
    rows = []
    for name, each in sets.items():
        for change, pair in each.get("robustness", {}).items():
            if pair["changed"]["n"] == 0:
                continue
            measure = main_measure(name)
            experiment, goal = GIVEN_TYPO.get(name, ("", "")) if "typo" in change else ("", "")
            plain, changed = pair["plain"][measure], pair["changed"][measure]
            row = (name, change, pair["changed"]["n"], measure, f"{plain:.1f}", f"**{changed:.1f}**", experiment, goal)
            rows.append(row)
    columns = ("set", "change", "questions", "measure", "plain", "changed", "experiment (given)", "goal (given)")
    return table("### Misspelt questions\n\nOver the questions that the change touches.", columns, rows)


def _abstention(sets: Mapping[str, Result]) -> str:
    rows = [
        (name, kind, shares["n"], _shown(shares["empty"]))
        for name, each in sets.items()
        for kind, shares in each.get("abstention", {}).items()
    ]
    heading = "### Questions without an answer\n\nHow often weft says that it has nothing."
    return table(heading, ("set", "questions", "number", "answered with nothing"), rows)


def _costs(sets: Mapping[str, Result]) -> str:
    """Times only of runs that embedded every text: with embeddings from a cache they say nothing."""
    timed = {"question p50 ms": "query_p50_ms", "p95 ms": "query_p95_ms", "ingest rows/s": "ingest_rows_per_second"}
    if all(each["cached"] for each in sets.values()):
        timed = {}
    rows = [
        (
            name,
            *("" if each["cached"] else _shown(each["costs"][key]) for key in timed.values()),
            each["costs"]["store_bytes_per_text_byte"],
        )
        for name, each in sets.items()
    ]
    return table("### Costs", ("set", *timed, "store bytes per byte of text"), rows)
