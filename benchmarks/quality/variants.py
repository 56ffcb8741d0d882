"""Recipes to compare with the default: itself without one stage, for every stage it has, and those that ship by name.

What a stage is worth is what is lost without it. New stages are picked up by their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from weft.core.errors import WeftError
from weft.memory.facade import Memory
from weft.retrieval import recipes
from weft.retrieval.pipeline import Stage
from weft.surfaces.bench.asking import ask
from weft.surfaces.bench.files import BenchQuestion

Recipe = tuple[Stage, ...]
PROBES = 5
OFFERED = "variant"
NEEDED = frozenset({"understand", "gather", "rank"})  # without these nothing is answered


def variants() -> dict[str, Recipe]:
    """Every recipe worth comparing, by what is different about it."""
    names = dict.fromkeys(stage.name for stage in recipes.DEFAULT)
    without = {
        f"without {name}": tuple(stage for stage in recipes.DEFAULT if stage.name != name)
        for name in names
        if name not in NEEDED
    }
    named: Mapping[str, Recipe] = getattr(recipes, "ABLATIONS", {})
    return without | dict(named)


@contextmanager
def offered(recipe: Recipe) -> Iterator[str]:
    """Lets `recall` be asked with a recipe that does not ship, by the name given here, for as long as it lasts."""
    shipped = recipes.RECIPES
    recipes.RECIPES = {**shipped, OFFERED: recipe}  # type: ignore[misc]
    try:
        yield OFFERED
    finally:
        recipes.RECIPES = shipped  # type: ignore[misc]


def works(memory: Memory, questions: Sequence[BenchQuestion], name: str) -> bool:
    """Whether a recipe answers anything at all: without the stage that ranks, none does."""
    try:
        answers = [ask(memory, question, limit=1, recipe=name) for question in questions[:PROBES]]
    except (WeftError, LookupError, TypeError, ValueError, AssertionError, ArithmeticError):
        return False  # a stage may count on the one before it
    return any(answer.hits for answer in answers)
