"""Another embedding model: side by side with the old one, never mixed, and asked when nothing is missing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

import weft
from tests.models.switching.conftest import Open, fill
from tests.stand_ins import EmbeddingServer, embedding_server
from weft.backends.sqlite.search import vector_spaces as spaces
from weft.backends.sqlite.store import SqliteStore
from weft.core.errors import ModelError, StoreError
from weft.core.queries import Space
from weft.models.vector_spaces import EmbeddingSpaces
from weft.testing.clock import ManualClock
from weft.upkeep.reindex import Reindexed

FACTS = (
    "The ferry to Bergen leaves at nine.",
    "Postgres was chosen for its transactional schema changes.",
    "The cache is cold after each deployment.",
)


def reindex(memory: weft.Memory, **given: Any) -> Reindexed:
    return cast("Reindexed", memory.call("reindex", **given))


def models(memory: weft.Memory) -> dict[str, int]:
    ctx = memory.ctx
    return dict(ctx.store.space_counts(ctx.operator("look")).vectors)


def in_use(memory: weft.Memory) -> Space | None:
    return memory.ctx.store.space(memory.ctx.viewer)


def told(answer: Any) -> list[str]:
    """What an answer says of vectors."""
    return [note for note in answer.notes if "vector" in note or "embedder" in note]


def asked_of(server: EmbeddingServer, model: str, question: str) -> bool:
    return question in server.embedded(model)


def filled(memory: weft.Memory) -> None:
    for fact in FACTS:
        memory.remember(fact)


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


def test_an_old_server_that_is_gone_leaves_the_new_space_and_words(opened: Open, clock: ManualClock) -> None:
    with embedding_server() as gone:
        filled(opened("ollama:old", gone.url))
    with embedding_server() as server:
        memory = opened("ollama:new", server.url)
        reindex(memory, limit=2)
        for question in ("when does the ferry leave", "why was postgres chosen"):
            asked = memory.recall(question)
            assert asked.hits
            assert asked_of(server, "new", question)
            assert any("the vectors in use cannot be asked" in note for note in asked.notes)
        written = memory.remember("Herons nest on the old pier.")
        assert any("weft reindex" in note for note in written.notes)
        assert reindex(memory).switched_from == "ollama:old"
        assert not told(memory.recall("where do herons nest"))


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


def test_an_erasure_reaches_the_vectors_of_every_model(opened: Open, server: EmbeddingServer) -> None:
    filled(opened("ollama:old", server.url))
    memory = opened("ollama:new", server.url)
    kept = memory.remember("Ada Quillfeather lives at the harbour.")
    reindex(memory)
    before = models(memory)
    assert len(set(before.values())) == 1
    memory.erase(subject="Ada Quillfeather", yes=True)
    after = models(memory)
    assert kept.id
    assert len(set(after.values())) == 1
    assert after["ollama:old"] < before["ollama:old"]


def test_likeness_is_measured_in_one_space(opened: Open, server: EmbeddingServer) -> None:
    filled(opened("ollama:old", server.url))
    memory = opened("ollama:new", server.url)
    known = memory.recall("ferry").hits[0].node.id
    memory.remember("The ferry to Bergen leaves at ten.")
    alike = memory.find_similar(known)
    assert alike.hits[0].node.text == "The ferry to Bergen leaves at ten."
    reindex(memory, limit=1)
    again = memory.find_similar(known)
    assert [(hit.node.id, hit.score) for hit in again.hits] == [(hit.node.id, hit.score) for hit in alike.hits]


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


def test_each_model_has_index_files_of_its_own(
    opened: Open, server: EmbeddingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.backends.sqlite.search.vectors.PUBLISH_AT", 50)

    def published() -> set[str]:
        return {path.name.rpartition("-")[0] for path in tmp_path.glob("store/**/vectors-m*-*")}

    old = opened("ollama:old", server.url)
    fill(old, 120)
    reindex(old)
    assert published() == {"vectors-m1"}
    new = opened("ollama:new", server.url)
    done = reindex(new)
    assert done.switched_from == "ollama:old"
    assert published() == {"vectors-m1", "vectors-m2"}
    assert new.recall("ship number 77").hits
    assert not told(new.recall("ship number 78"))
    assert reindex(new, drop_old=True).dropped == {"ollama:old": 120}
    assert published() == {"vectors-m2"}
    assert new.recall("ship number 79").hits
    # What was dropped can be made again, and nothing of what it held before comes back.
    assert reindex(old).embedded == 120
    assert published() == {"vectors-m1", "vectors-m2"}
    assert old.recall("ship number 80").hits


def test_a_text_written_between_the_look_and_the_swap_holds_it_up(
    opened: Open, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = opened("ollama:old", server.url)
    filled(stale)
    memory = opened("ollama:new", server.url)
    look, late = spaces._last_text, ["Herons nest on the old pier."]

    def written_meanwhile(db: Any) -> Any:
        seen = look(db)
        if late:
            stale.remember(late.pop())
        return seen

    monkeypatch.setattr(spaces, "_last_text", written_meanwhile)
    done = reindex(memory)
    assert not late
    assert (done.switched_from, done.in_use, done.notes) == ("ollama:old", "ollama:new", ())
    assert "Herons nest on the old pier." in server.embedded("new")
    assert len(set(models(memory).values())) == 1


def test_a_store_from_before_there_was_a_record(opened: Open, server: EmbeddingServer, tmp_path: Path) -> None:
    with opened("ollama:old", server.url) as memory:
        filled(memory)
    (file,) = tmp_path.glob("store/accounts/*.db")
    with closing(sqlite3.connect(file)) as db:
        db.execute("DROP TABLE space_in_use")
    memory = opened("ollama:new", server.url)
    assert in_use(memory) == Space(model="ollama:old")  # its server was never told: Ollama's own place is tried
    asked = memory.recall("when does the ferry leave")
    assert asked.hits[0].node.text == FACTS[0]
    assert reindex(memory).switched_from == "ollama:old"
    assert in_use(memory) == Space(model="ollama:new", embedder="ollama:new", url=server.url)
    assert not told(memory.recall("when does the ferry leave"))


def test_vectors_that_another_process_makes_now_are_not_dropped(opened: Open, server: EmbeddingServer) -> None:
    memory, other = opened("ollama:old", server.url), opened("ollama:new", server.url)
    filled(memory)
    reindex(other, limit=2)
    ctx = other.ctx
    with ctx.store.embedding_turn(ctx.operator("embed"), "ollama:new"):
        kept = reindex(memory, drop_old=True)
    assert not kept.dropped
    assert any("vectors of ollama:new were kept: another process is making them now" in note for note in kept.notes)
    assert models(memory)["ollama:new"] == 2
    assert reindex(memory, drop_old=True).dropped == {"ollama:new": 2}


def test_a_reindex_that_fails_does_not_say_that_anything_was_saved(opened: Open, server: EmbeddingServer) -> None:
    filled(opened("ollama:old", server.url))
    with pytest.raises(ModelError) as caught:
        reindex(opened("ollama:new", "http://127.0.0.1:9"))
    assert "cannot be reached" in caught.value.message
    assert "saved" not in caught.value.message
    assert caught.value.hint.startswith("0 texts were embedded")


def test_a_write_is_done_although_the_space_in_use_takes_its_vector_no_more(
    opened: Open, server: EmbeddingServer
) -> None:
    filled(opened("ollama:old", server.url))
    server.wrong = lambda rows: [row[:8] for row in rows]  # the same name, another model behind it
    other = opened("builtin")
    written = other.remember("The anchor is in locker 9.")
    assert any("another dimension" in note for note in written.notes)
    server.wrong = list
    assert opened("none").recall("anchor locker").hits[0].node.text == "The anchor is in locker 9."


def test_a_store_that_fails_after_the_commit_costs_a_note(
    opened: Open, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = opened("ollama:old", server.url)
    filled(stale)
    other = opened("ollama:new", server.url)
    embedding = stale.ctx.embedding
    make, put, full = embedding.of_texts, SqliteStore.put_vectors, False

    def put_while_there_is_room(*given: Any) -> None:
        if full:
            raise StoreError("the disk is full", hint="make room")
        put(*given)

    def swapped_meanwhile(*given: Any) -> Any:
        nonlocal full
        made = make(*given)
        assert reindex(other).switched_from == "ollama:old"
        full = True
        return made

    monkeypatch.setattr(SqliteStore, "put_vectors", put_while_there_is_room)
    embedding.of_texts = swapped_meanwhile  # type: ignore[method-assign]
    written = stale.remember("Herons nest on the old pier.")
    assert any("the disk is full" in note for note in written.notes)
    assert stale.recall("herons pier").hits[0].node.text == "Herons nest on the old pier."
