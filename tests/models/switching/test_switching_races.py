"""Another embedding model while others write, fail or erase: nothing is mixed and nothing is lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.models.switching.conftest import Open, fill
from tests.models.switching.spaces import FACTS, asked_of, filled, in_use, models, reindex, told
from tests.stand_ins import EmbeddingServer, embedding_server
from weft.backends.sqlite.search import vector_spaces as spaces
from weft.backends.sqlite.store import SqliteStore
from weft.core.errors import ModelError, StoreError
from weft.core.queries import Space
from weft.testing.clock import ManualClock


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
