"""A truth that a language model compiles rests on the lines it was given, or is not kept."""

from __future__ import annotations

import pytest

from tests.context.test_synthesis import Writer, ctx, writer  # noqa: F401 - fixtures
from tests.retrieval.views_world import call
from weft.runtime.call_context import CallContext

FACTS = (("role", "engineer"), ("lives_in", "Skerry"))


@pytest.fixture
def known(ctx: CallContext) -> CallContext:  # noqa: F811
    for predicate, value in FACTS:
        call(ctx, "add_fact", subject="Gull Petrov", predicate=predicate, object=value, scope="public")
    return ctx


def test_the_model_sums_up_what_it_is_given(known: CallContext, writer: Writer) -> None:  # noqa: F811
    writer.said = "Gull Petrov lives in Skerry [1] and is an engineer [2]."
    done = call(known, "compile_truth", entity="Gull Petrov")
    assert (done["status"], done["text"]) == ("saved", writer.said)
    assert len(done["sources"]) == 2
    asked = str(writer.asked[-1])
    assert "lives in Skerry" in asked
    before = len(writer.asked)
    assert call(known, "compile_truth", entity="Gull Petrov")["text"] == writer.said
    assert len(writer.asked) == before, "nothing changed: the model is not asked again"


@pytest.mark.parametrize("said", ["He is the king of Norway.", "King [9].", "", 500])
def test_what_rests_on_nothing_is_not_kept(known: CallContext, writer: Writer, said: str | int) -> None:  # noqa: F811
    writer.said = said
    done = call(known, "compile_truth", entity="Gull Petrov")
    assert done["text"].startswith("Gull Petrov: lives in Skerry")
    assert any("instead" in note for note in done["notes"])
