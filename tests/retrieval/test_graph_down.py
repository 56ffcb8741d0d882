"""Real stores, broken for real: the parts that are left answer, the log does where none is, and the answer says so."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from tests.retrieval import broken_store as broken
from tests.retrieval.broken_store import Break
from tests.retrieval.lost_graph import LEAVES, NOTES, SAID, asked, check_from_log, memory_at, pristine, store, texts
from weft.core.errors import Corrupt
from weft.retrieval.fallback import from_log
from weft.upkeep import store as upkeep

__all__ = ["pristine", "store"]  # fixtures


NODES = ("ward", "node", "text", "node_version", "tx")


WITHOUT_NODES: dict[str, Break] = {
    **{f"{table} dropped": broken.drop(table) for table in NODES},
    **{f"{table} overwritten": broken.overwrite_tables(table) for table in NODES},
    "node_version renamed": broken.rename("node_version"),
    "everything dropped": broken.drop(*NODES, "edge", "edge_version", "alias", "text_index", "term_df", "ward_total"),
}


# ---- nothing of the graph is left


@pytest.mark.parametrize("by_meaning", [False, True], ids=["words", "words and meaning"])
@pytest.mark.parametrize("broke", WITHOUT_NODES.values(), ids=WITHOUT_NODES.keys())
def test_without_nodes_the_log_answers(store: Path, broke: Break, by_meaning: bool) -> None:
    broke(store)
    answer = asked(store, by_meaning=by_meaning, explain=True)
    check_from_log(answer)
    assert answer.stages[-1].stage == "log"
    for hit in answer.hits:
        (source,) = hit.why
        assert source.name == "log"
        assert hit.score == source.part == source.weight * source.raw
    assert len(answer.notes) <= 4, "one fault is told once, not by every stage"


def test_what_the_log_answers_can_be_cited_once_the_graph_is_back(store: Path, pristine: Path) -> None:
    broken.drop("node_version")(store)
    citation = asked(store).hits[0].node.citation
    with memory_at(pristine) as memory:
        (node,) = memory.cite(citation).nodes
    assert node.text == LEAVES


def test_questions_keep_their_limits_and_filters(store: Path) -> None:
    broken.drop("node_version")(store)
    assert len(asked(store, limit=2).hits) == 2
    assert texts(asked(store, kinds=["Message"])) == [SAID]
    assert asked(store, project="another").hits == ()
    assert set(texts(asked(store, everywhere=True))) >= {LEAVES, SAID}
    assert asked(store, known_at="2000-01-01").hits == ()
    assert asked(store, "zeppelin").status == "empty"
    assert asked(store, "zeppelin").degraded


def test_a_node_is_found_by_its_id(store: Path) -> None:
    hit = asked(store).hits[0]
    broken.drop("node_version")(store)
    (found,) = asked(store, hit.node.id).hits
    assert found.node.text == hit.node.text
    assert found.node.citation == hit.node.citation


def test_only_the_newest_of_a_long_log_are_searched(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken.drop("node_version")(store)
    monkeypatch.setattr(from_log, "MAX_EVENTS", 20)
    monkeypatch.setattr(from_log, "SLICE_EVENTS", 7)
    answer = asked(store, "contexts ferry", limit=100)
    assert NOTES[-1] in texts(answer)
    assert NOTES[0] not in texts(answer)
    assert LEAVES not in texts(answer)
    assert any(note.startswith("only the newest ") for note in answer.notes)
    monkeypatch.setattr(from_log, "MAX_BYTES", 1_000)
    assert 0 < len(asked(store, "contexts", limit=100).hits) < len(answer.hits)


def test_a_rebuild_brings_the_graph_back(store: Path) -> None:
    whole = asked(store)
    for broke in (broken.drop(*NODES), broken.drop("text_state", "text_index"), broken.drop("edge", "alias", "tx")):
        broke(store)
        with memory_at(store, WEFT_SENSITIVE="true") as memory:
            rebuild = next(each for each in upkeep.OPERATIONS if each.name == "rebuild")
            assert any("`weft rebuild`" in check.hint for check in memory.doctor().checks)
            memory.run(rebuild, {})
            assert memory.doctor().ok
        assert asked(store) == whole


def damage(store: Path, kind: str, how: str) -> None:
    db = apsw.Connection(str(broken.database(store)))
    db.execute(f"UPDATE event SET {how} WHERE kind = ?", (kind,))
    db.close()


# ---- a damaged log under a missing graph


@pytest.mark.parametrize(
    "how",
    ["payload = x'7b7d'", "payload = substr(payload, 1, 20)", "salt = NULL", "payload = zeroblob(8)"],
)
def test_what_is_older_than_damage_in_the_log_is_left_out(store: Path, how: str) -> None:
    """It may have been deleted just there."""
    broken.drop("node_version")(store)
    damage(store, "graph.deleted", how)
    answer = asked(store, "ferry contexts", limit=100)
    assert set(texts(answer)) == set(NOTES)
    assert any(note.startswith("events before ") for note in answer.notes)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM event WHERE kind = 'graph.deleted'",
        "DELETE FROM commits WHERE first_pos = (SELECT pos FROM event WHERE kind = 'graph.deleted')",
        "UPDATE event SET kind = 'graph.delete' WHERE kind = 'graph.deleted'",
    ],
)
def test_a_gap_in_the_log_is_damage(store: Path, statement: str) -> None:
    broken.drop("node_version")(store)
    db = apsw.Connection(str(broken.database(store)))
    db.execute(statement)
    assert db.changes() == 1
    db.close()
    assert set(texts(asked(store, "ferry contexts", limit=100))) == set(NOTES)


@pytest.mark.parametrize("broke", [broken.drop("commits"), broken.overwrite_tables("commits")])
def test_without_graph_and_log_there_is_an_error_and_no_empty_answer(store: Path, broke: Break) -> None:
    broke(store)
    with pytest.raises(Corrupt) as raised:
        asked(store)
    assert "weft doctor" in raised.value.hint
