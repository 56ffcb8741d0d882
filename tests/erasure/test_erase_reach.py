"""What an erasure reaches: sealed words, what one that was stopped left in the files, and nothing beside."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.erasure.erased import everything_said, filled, sound
from tests.places import Place
from weft.backends.sqlite.search import vectors
from weft.backends.sqlite.store import SqliteStore
from weft.core.errors import NotFound
from weft.core.queries import TextVector
from weft.erasure import erase_log as erasure
from weft.erasure.rewrite_log import RewriteAccess
from weft.text.encryption import new_key
from weft.text.lexical import content_hash


def sealed(place: Place) -> weft.Memory:
    """A memory with Ana Berg in sealed words only, and what was made of them."""
    memory = filled(place.open(sensitive="true"))
    ill = memory.remember("Ana Berg is ill with scurvy.", sensitive=True)
    memory.call("memory_feedback", id=ill.id, outcome="confirmed", note="she said so herself")
    memory.add_entity("Kelp Works", kind="Organization", description="Ana Berg owns it.", sensitive=True)
    memory.remember("Jon Lund is well.", sensitive=True)
    return memory


# ---- sealed words


def test_a_subject_in_sealed_words_only_goes(place: Place) -> None:
    memory = sealed(place)
    assert "Berg" not in everything_said(memory)
    told = memory.call("erase", subject="Ana Berg")
    assert any("Ana Berg is ill" in each.words for each in told.shown)
    done = memory.call("erase", subject="Ana Berg", yes=True)
    assert {"Memory": 1, "Feedback": 1, "Organization": 1}.items() <= done.kinds.items()
    assert not any("sealed" in note for note in done.notes)
    assert not memory.recall("scurvy").hits
    assert memory.recall("Jon Lund").hits
    sound(memory)
    with pytest.raises(NotFound):
        memory.call("erase", subject="Ana Berg", yes=True)


def test_a_sealed_alias_means_the_one_who_goes_by_it(place: Place) -> None:
    memory = filled(place.open(sensitive="true"))
    memory.add_entity("Ana Berg", kind="Person", aliases=["Anni"], sensitive=True)
    memory.remember("Yesterday Ana Berg fell in.")
    memory.call("erase", subject="Anni", yes=True)
    assert "Berg" not in everything_said(memory)


@pytest.mark.parametrize("key", ["", new_key("other")], ids=["no key", "another key"])
def test_what_cannot_be_opened_is_counted(place: Place, key: str) -> None:
    sealed(place).remember("Ana Berg walks.")
    memory = place.open(sensitive_key=key)
    told = memory.call("erase", subject="Ana Berg")
    done = memory.call("erase", subject="Ana Berg", yes=True)
    for each in (told, done):
        assert each.kinds["Memory"] == 1
        (note,) = [note for note in each.notes if "could not be searched" in note]
        assert "4 encrypted" in note
        assert "WEFT_SENSITIVE_KEY" in note
    keeper = place.open(sensitive="true")
    assert keeper.recall("scurvy").hits
    keeper.call("erase", subject="Ana Berg", yes=True)
    assert not keeper.recall("scurvy").hits


# ---- what was stopped


def holds(place: Place, word: bytes) -> bool:
    return any(word in file.read_bytes() for file in Path(place.scratch / "store").rglob("*") if file.is_file())


def test_a_sweep_that_was_stopped_is_finished(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = filled(place.open())
    memory.remember("Ana Berg keeps the zirconium.")
    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "sweep", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            memory.call("erase", subject="Ana Berg", yes=True)
    assert holds(place, b"zirconium")
    files = next(check for check in memory.doctor().checks if check.name == "files")
    assert not files.ok
    assert "weft erase" in files.hint
    with pytest.raises(NotFound):
        memory.call("erase", subject="Ana Berg")
    assert holds(place, b"zirconium"), "a dry run changes nothing"
    with pytest.raises(NotFound, match="removed now"):
        memory.call("erase", subject="Ana Berg", yes=True)
    assert not holds(place, b"zirconium")
    assert memory.doctor().ok
    with pytest.raises(NotFound) as nothing:
        memory.call("erase", subject="Ana Berg", yes=True)
    assert "removed now" not in str(nothing.value)


def test_who_writes_of_something_else_does_not_hold_it_up(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, other = filled(place.open()), place.open(session="other")
    memory.remember("Ann keeps the key.")
    catch_up = erasure._Reader.catch_up

    def interrupted(reader: erasure._Reader) -> None:
        catch_up(reader)
        other.remember(f"Planning and cannery, number {reader.pos}.")

    monkeypatch.setattr(erasure._Reader, "catch_up", interrupted)
    monkeypatch.setattr(erasure, "MAX_TRIES", 2)
    memory.call("erase", subject="Ann", yes=True)
    assert "Ann keeps" not in everything_said(memory)
    assert memory.recall("planning cannery").hits


def test_who_writes_of_the_same_meanwhile_is_erased_too(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, other = filled(place.open()), place.open(session="other")
    memory.remember("Ann keeps the key.")
    catch_up, said = erasure._Reader.catch_up, iter(("Ann again.", "And ANN once more."))

    def interrupted(reader: erasure._Reader) -> None:
        catch_up(reader)
        if text := next(said, ""):
            other.remember(text)

    monkeypatch.setattr(erasure._Reader, "catch_up", interrupted)
    memory.call("erase", subject="Ann", yes=True)
    words = everything_said(memory)
    assert not [each for each in ("Ann keeps", "Ann again", "ANN once") if each in words]
    sound(memory)


# ---- what is no node, and what it costs


def test_the_path_of_a_file_is_no_node(place: Place) -> None:
    memory = filled(place.open())
    (place.root / "plan.md").write_text("# Plan\nThe crane moves.\n")
    memory.ingest(place.root)
    gone = memory.remember("Boats are painted blue.")
    ctx = memory.ctx
    paths = {str(row.props["source"]) for row in ctx.store.graph_rows(ctx.operator("look")) if "source" in row.props}
    assert paths
    done = erasure.erase(
        RewriteAccess(
            store=ctx.store, writer=ctx.writer, viewer=ctx.operator("test"), clock=ctx.clock, progress=lambda *_: None
        ),
        ids=[gone.id, "nobody:at all", *paths],
        what="subject",
    )
    assert done.nodes == 1
    assert memory.recall("crane").hits
    assert "painted blue" not in everything_said(memory)
    sound(memory)


def test_that_the_index_of_vectors_is_gone_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "PUBLISH_AT", 3)
    memory = filled(place.open())
    texts = ["Ana Berg keeps the key.", "Jon Lund rows.", "Kelp is green.", "The quay is long.", "Gulls cry at five."]
    for text in texts:
        memory.remember(text)
    ctx = memory.ctx
    hashes = [content_hash("", "", text) for text in texts]
    given = [TextVector(model="m", content_hash=each, data=bytes((0, 60, n, 60))) for n, each in enumerate(hashes)]
    ctx.store.put_vectors(ctx.writer.account, given)
    ctx.store.reindex(ctx.operator("index"), progress=lambda *_: None)
    assert not ctx.store.reindex_due(ctx.operator("look"))
    done = memory.call("erase", subject="Ana Berg", yes=True)
    assert any("weft reindex" in note for note in done.notes)
    ctx.store.reindex(ctx.operator("index"), progress=lambda *_: None)
    again = memory.call("erase", subject="quay")
    assert not any("weft reindex" in note for note in again.notes)
