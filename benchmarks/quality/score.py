"""Scores ranked ids against gold: the measures that the sets' own scorer defines.

R@k is the share of a question's gold in the first k, All@k whether all of it is, Hit@k whether any is; MRR is one over
the rank of the first gold, nDCG@10 counts each gold by its place. Means over questions; one without an answer counts 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from benchmarks.quality.sets import Judged

DEPTHS = (1, 2, 5, 10, 20)
MEASURES = (*(f"R@{k}" for k in DEPTHS), "All@5", "Hit@5", "MRR", "nDCG@10")
Scores = dict[str, float]


def collapsed(ids: Sequence[str], gold: Collection[str]) -> list[str]:
    """Parts (`session#3`, `path::symbol`) as their wholes, each once; an id that is gold itself stays as it is."""
    wholes = (each if each in gold else each.split("#")[0].split("::")[0] for each in ids)
    return list(dict.fromkeys(wholes))


def score_one(gold: Collection[str], ranked: Sequence[str]) -> Scores:
    """Every measure of one question."""
    wanted = set(gold)
    ranks = [rank for rank, each in enumerate(collapsed(ranked, wanted)) if each in wanted]  # from 0
    found = {k: sum(rank < k for rank in ranks) for k in DEPTHS}
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(wanted))))
    scores = {f"R@{k}": found[k] / len(wanted) for k in DEPTHS}
    scores["All@5"] = float(found[5] == len(wanted))
    scores["Hit@5"] = float(found[5] > 0)
    scores["MRR"] = 1 / (ranks[0] + 1) if ranks else 0.0
    scores["nDCG@10"] = sum(1 / math.log2(rank + 2) for rank in ranks if rank < 10) / ideal
    return scores


def score(run: Mapping[str, Sequence[str]], questions: Sequence[Judged]) -> Scores:
    """Means over the questions, in percent, and how many there are (`n`)."""
    each = [score_one(question.gold, run.get(question.id, ())) for question in questions]
    means = {name: round(100 * sum(one[name] for one in each) / len(each), 2) if each else 0.0 for name in MEASURES}
    return {"n": len(each), **means}


def score_by_type(run: Mapping[str, Sequence[str]], questions: Sequence[Judged]) -> dict[str, Scores]:
    """The same for each type of question."""
    types = sorted({question.type for question in questions})
    return {each: score(run, [question for question in questions if question.type == each]) for each in types}


def newest_first(run: Mapping[str, Sequence[str]], questions: Sequence[Judged]) -> Scores | None:
    """Where an answer was given several times, how often the newest outranks the older ones. None if it never was."""
    asked = [each for each in questions if each.latest_gold and each.type == "knowledge-update" and len(each.gold) > 1]
    if not asked:
        return None
    firsts = (
        next((each for each in collapsed(run.get(question.id, ()), question.gold) if each in question.gold), None)
        for question in asked
    )
    right = sum(first == question.latest_gold for first, question in zip(firsts, asked, strict=True))
    return {"n": len(asked), "share": round(100 * right / len(asked), 2)}
