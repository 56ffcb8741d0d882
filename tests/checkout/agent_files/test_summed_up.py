"""A summary that a language model writes cites what it was given, or is not used; its failure costs no file."""

from __future__ import annotations

import pytest

from tests.checkout.agent_files.test_baking import PUBLIC, baked, written
from tests.places import Place
from tests.retrieval.chat_server import ChatServer, server

__all__ = ["server"]  # a fixture


def test_the_models_lines_are_kept_with_their_sources(server: ChatServer, place: Place) -> None:
    written(place.root, "desk", "")
    boss = place.open(model="openai:small", model_url=server.url, model_key="k", extraction="rules")
    kept = boss.remember("The desk closes at six.", agents=["desk"], **PUBLIC)
    server.said = ["It closes at six [1].\nThe king lives here.\nThe vault is open [7]."]
    done = boss.call("bake", slug="desk").agents[0]
    assert done.summed_up_by == "model"
    _, summary = baked(place)
    assert f"It closes at six [{kept.citation}]." in summary
    assert "king" not in summary
    assert "vault" not in summary
    told = boss.call("agent_knowledge", slug="desk")
    assert (told.used, told.changed) == ("summary", 0)


@pytest.mark.parametrize("said", ["Nothing is cited here.", "See [9].", (500, b"{}")])
def test_what_rests_on_nothing_gives_way_to_the_rules(server: ChatServer, place: Place, said: object) -> None:
    written(place.root, "desk", "")
    boss = place.open(model="openai:small", model_url=server.url, model_key="k", extraction="rules")
    boss.remember("The desk closes at six.", agents=["desk"], **PUBLIC)
    server.said = [said]
    done = boss.call("bake", slug="desk").agents[0]
    assert (done.summed_up_by, bool(done.notes)) == ("rules", True)
    assert "closes at six" in baked(place)[1]
