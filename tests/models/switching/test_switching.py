"""Another embedding model: side by side with the old one, never mixed, and asked when nothing is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.models.switching.conftest import Open
from tests.models.switching.spaces import FACTS, asked_of, filled, in_use, models, reindex, told
from tests.stand_ins import EmbeddingServer, embedding_server
from weft.core.queries import Space
from weft.models.vector_spaces import EmbeddingSpaces


def test_questions_stay_in_the_old_space_until_the_new_one_is_whole(opened: Open, server: EmbeddingServer) -> None:
    before = opened("ollama:old", server.url)
    filled(before)
    assert in_use(before) == Space(model="ollama:old", embedder="ollama:old", url=server.url)
    after = opened("ollama:new", server.url)
    texts = models(after)["ollama:old"]
    asked = after.recall("when does the ferry leave")
    assert asked.hits[0].node.text == FACTS[0]
    assert asked_of(server, "old", "when does the ferry leave")
    assert not asked_of(server, "new", "when does the ferry leave")
    assert any("`weft reindex` has made those of ollama:new" in note for note in asked.notes)

    partly = reindex(after, limit=2)
    assert (partly.embedded, partly.in_use, partly.switched_from) == (2, "ollama:old", None)
    assert any(f"2 of {texts} texts have a vector of ollama:new; ollama:old is used" in note for note in partly.notes)
    after.recall("why was postgres chosen")
    assert not asked_of(server, "new", "why was postgres chosen")

    whole = reindex(after)
    assert (whole.in_use, whole.switched_from, whole.notes) == ("ollama:new", "ollama:old", ())
    assert whole.embedded == texts - 2
    asked = after.recall("is the cache cold")
    assert asked.hits[0].node.text == FACTS[2]
    assert asked_of(server, "new", "is the cache cold")
    assert not asked_of(server, "old", "is the cache cold")
    assert not told(asked)
    # Nothing is lost: the old vectors are there, and the process that is set to the old model asks in the new space.
    assert models(after) == {"ollama:old": texts, "ollama:new": texts}
    before.recall("postgres or another")
    assert asked_of(server, "new", "postgres or another")


def test_what_is_written_meanwhile_is_found_before_and_after(opened: Open, server: EmbeddingServer) -> None:
    filled(opened("ollama:old", server.url))
    memory = opened("ollama:new", server.url)
    memory.remember("Herons nest on the old pier.")
    counted = models(memory)
    assert "Herons nest on the old pier." in server.embedded("old")
    assert "Herons nest on the old pier." in server.embedded("new")
    assert counted["ollama:new"] < counted["ollama:old"]
    assert memory.recall("where do herons nest").hits[0].node.text == "Herons nest on the old pier."
    assert reindex(memory).switched_from == "ollama:old"
    assert len(set(models(memory).values())) == 1
    assert memory.recall("where do herons nest").hits[0].node.text == "Herons nest on the old pier."
    memory.remember("Gulls sleep on the roof.")
    assert "Gulls sleep on the roof." not in server.embedded("old")


def test_a_process_set_to_the_old_model_writes_for_the_new_one(opened: Open, server: EmbeddingServer) -> None:
    stale = opened("ollama:old", server.url)
    filled(stale)
    reindex(opened("ollama:new", server.url))
    stale.remember("Herons nest on the old pier.")
    assert "Herons nest on the old pier." in server.embedded("new")
    assert len(set(models(stale).values())) == 1


def test_a_write_that_began_before_the_swap_gets_its_vector_after_it(opened: Open, server: EmbeddingServer) -> None:
    stale = opened("ollama:old", server.url)
    filled(stale)
    other = opened("ollama:new", server.url)
    embedding = stale.ctx.embedding
    make = embedding.of_texts

    def swapped_meanwhile(*given: Any) -> Any:
        made = make(*given)
        assert reindex(other).switched_from == "ollama:old"
        return made

    embedding.of_texts = swapped_meanwhile  # type: ignore[method-assign]
    stale.remember("Herons nest on the old pier.")
    assert "Herons nest on the old pier." in server.embedded("new")
    assert len(set(models(stale).values())) == 1


def test_old_vectors_go_when_told_and_only_then(opened: Open, server: EmbeddingServer) -> None:
    filled(opened("ollama:old", server.url))
    memory = opened("ollama:new", server.url)
    early = reindex(memory, limit=1, drop_old=True)
    assert not early.dropped
    assert any(note.startswith("nothing was dropped") for note in early.notes)
    texts = models(memory)["ollama:old"]
    assert reindex(memory, drop_old=True).dropped == {"ollama:old": texts}
    assert models(memory) == {"ollama:new": texts}
    assert memory.recall("when does the ferry leave").hits[0].node.text == FACTS[0]


def test_going_back_costs_nothing_while_the_old_vectors_stand(opened: Open, server: EmbeddingServer) -> None:
    old = opened("ollama:old", server.url)
    filled(old)
    reindex(opened("ollama:new", server.url))
    before = len(server.embedded("old"))
    back = reindex(old)
    assert (back.embedded, back.switched_from, back.in_use) == (0, "ollama:new", "ollama:old")
    assert len(server.embedded("old")) == before


def test_a_server_that_the_settings_no_longer_name_is_sent_nothing(
    opened: Open, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from weft.models import vector_spaces

    monkeypatch.setattr(vector_spaces, "_is_here", lambda url: False)  # as if it ran elsewhere
    filled(opened("openai:old", f"{server.url}/v1", WEFT_EMBEDDER_KEY="sk-old"))
    sent = len(server.texts)
    with embedding_server() as elsewhere:
        memory = opened("openai:new", f"{elsewhere.url}/v1", WEFT_EMBEDDER_KEY="sk-new")
        memory.remember("Herons nest on the old pier.")
        asked = memory.recall("where do herons nest")
        assert asked.hits[0].node.text == "Herons nest on the old pier."
        assert any("nothing is sent to" in note and "as far as there are any" in note for note in asked.notes)
        assert any("texts have no vector yet and are found by words only" in note for note in asked.notes)
        assert len(server.texts) == sent
        assert elsewhere.keys == {"Bearer sk-new"}
        assert reindex(memory).switched_from == "openai:old"
        assert not told(memory.recall("when does the ferry leave"))
    assert len(server.texts) == sent


def test_the_same_server_gets_its_key(opened: Open, server: EmbeddingServer) -> None:
    filled(opened("openai:old", f"{server.url}/v1", WEFT_EMBEDDER_KEY="sk-one"))
    memory = opened("openai:new", f"{server.url}/v1", WEFT_EMBEDDER_KEY="sk-two")
    memory.recall("when does the ferry leave")
    assert asked_of(server, "old", "when does the ferry leave")
    assert server.keys == {"Bearer sk-one", "Bearer sk-two"}
    raw = b"".join(file.read_bytes() for file in Path(memory.ctx.settings.store[9:]).rglob("*") if file.is_file())
    assert b"sk-one" not in raw
    assert b"sk-two" not in raw


def test_another_server_of_this_machine_does_not_get_the_key(opened: Open, server: EmbeddingServer) -> None:
    filled(opened("openai:old", f"{server.url}/v1"))
    with embedding_server() as other:
        memory = opened("openai:new", f"{other.url}/v1", WEFT_EMBEDDER_KEY="sk-new")
        memory.recall("when does the ferry leave")
        assert asked_of(server, "old", "when does the ferry leave")
        assert not any("sk-new" in key for key in server.keys)


def test_one_call_asks_in_one_space(opened: Open, server: EmbeddingServer) -> None:
    filled(opened("ollama:old", server.url))
    ctx = opened("ollama:new", server.url).ctx
    spaces_set = ctx.embedding.wanted
    assert isinstance(spaces_set, EmbeddingSpaces)
    call = spaces_set.serving(ctx.store, ctx.viewer)
    assert call.query("when does the ferry leave")[0] is not None
    used, _ = spaces_set.used(ctx.store, ctx.viewer)
    assert used is not None
    used.query = lambda text: (None, "it went away")  # type: ignore[method-assign]
    assert call.query("who decided it") == (None, "it went away")
    assert not asked_of(server, "new", "who decided it")


def test_with_no_embedder_set_words_answer_and_nothing_is_asked(opened: Open, server: EmbeddingServer) -> None:
    filled(opened("ollama:old", server.url))
    sent = len(server.texts)
    memory = opened("none")
    asked = memory.recall("when does the ferry leave")
    assert asked.hits[0].node.text == FACTS[0]
    assert "no embedder is configured: words and names only" in asked.notes
    memory.remember("Herons nest on the old pier.")
    assert len(server.texts) == sent
    assert in_use(memory) == Space(model="ollama:old", embedder="ollama:old", url=server.url)


def test_the_same_model_by_another_address_is_no_switch(opened: Open, server: EmbeddingServer) -> None:
    filled(opened("ollama:old", server.url))
    with embedding_server() as moved:
        memory = opened("ollama:old", moved.url)
        memory.recall("when does the ferry leave")
        assert asked_of(moved, "old", "when does the ferry leave")
        done = reindex(memory)
        assert (done.embedded, done.switched_from) == (0, None)
        assert in_use(memory) == Space(model="ollama:old", embedder="ollama:old", url=moved.url)


def test_built_in_vectors_are_asked_while_a_server_takes_over(opened: Open, server: EmbeddingServer) -> None:
    """A store from before anything was recorded: what has the most vectors is in use, and is known by its name."""
    memory = opened("builtin")
    memory.remember(FACTS[0])
    assert in_use(memory) == Space(model="minilm-l6-v2/int8")  # one write: nothing told yet where it came from
    switching = opened("ollama:new", server.url)
    asked = switching.recall("departure of the boat")
    assert asked.hits[0].node.text == FACTS[0]
    assert not asked_of(server, "new", "departure of the boat")
    assert reindex(switching).switched_from == "minilm-l6-v2/int8"
    switching.recall("boats to norway")
    assert asked_of(server, "new", "boats to norway")


def test_doctor_and_stats_say_how_far_it_is(opened: Open, server: EmbeddingServer) -> None:
    filled(opened("ollama:old", server.url))
    memory = opened("ollama:new", server.url)
    reindex(memory, limit=1)
    held = memory.stats().vectors
    assert held is not None
    assert (held.wanted, held.in_use) == ("ollama:new", "ollama:old")
    assert held.missing == held.texts - 1
    (check,) = [check for check in memory.doctor().checks if check.name == "vectors"]
    assert check.ok
    assert f"1 of {held.texts} texts have a vector of ollama:new; ollama:old is used" in check.detail
    reindex(memory)
    (check,) = [check for check in memory.doctor().checks if check.name == "vectors"]
    assert check.detail == f"all {held.texts} texts have a vector of ollama:new"
