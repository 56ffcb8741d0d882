"""Every operation that reads, on stores broken for real: it answers, or says why it cannot, and loses nothing silently.

A store is broken while none has it open, as in `test_graph_down`. Parts of one are broken at a single read by a stand
in front of a real store, which is the only way to have a disk fail in the midst of an answer.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import weft
from tests.code.indexed import write_files, write_links
from tests.retrieval import broken_store as broken
from tests.retrieval.broken_store import Break
from tests.retrieval.lost_graph import memory_at
from tests.retrieval.test_graph_down import WITHOUT_NODES
from tests.retrieval.test_parts_down import OTHERS, WITHOUT_WORDS
from tests.retrieval.views_world import CHAIN, call, story
from weft.backends.sqlite.store import SqliteStore
from weft.code.communities.keep import find_communities
from weft.core.errors import Corrupt, NotFound, StoreError, WeftError
from weft.operations import OPERATIONS
from weft.runtime.audit_log import AUDIT
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation

TO_FILES = ("backup", "log_export", "agent_knowledge")  # they are about files, and have tests of their own
QUESTION = "why could nobody book a crossing?"
SAID = "Mira: the bookings are down again"
READS = {each.name: each for each in OPERATIONS if each.effect == "read" and each.name not in TO_FILES}
STORELESS = ("analysis_route", "config", "key_new", "screen", "token_list")  # they ask no store anything
MAY_BE_EMPTY = ("proposal_list", "pending_list", "project_list")
BY_VIEW = ("entity_lookup", "temporal_expand", "causal_expand")
FROM_GRAPH = (*BY_VIEW, "subgraph_merge", "linearize_context")
FROM_LOG: dict[str, str] = {  # those that the log can answer, and where they tell it
    "recall": "hits",
    "ask": "hits",
    "recall_raw": "merged",
    "memory_search": "results",
    "conversation_search": "messages",
    "find_similar": "hits",
    "semantic_search": "matches",
    "memory_checkout": "evidence",
}
BREAKS: dict[str, Break] = {
    **WITHOUT_NODES,
    **WITHOUT_WORDS,
    **{name: broke for name, (broke, _) in OTHERS.items()},
    **{f"{table} dropped": broken.drop(table) for table in ("event", "session", "commits")},
}
UNREADABLE = ("cannot", "could not")  # what a note says of what is there and not told; "there is none" is no reason


class World:
    """A closed store, and the arguments with which every reading operation has something to tell of it."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self._whole: dict[bool, dict[str, dict[str, Any] | WeftError]] = {}
        with memory_at(store, by_meaning=True, WEFT_AUDIT="on") as memory:
            for draft in story({"project": "quay", "scope": "public"}):
                memory.ctx.append([draft])
            memory.record_turns("standup", [SAID, "Jon: who repairs them?"])
            kept = memory.remember("Bookings are taken by phone while Tidebook is down.")
            receipt = memory.recall(QUESTION, receipt=True).receipt
            task = records(memory)
            write_files(
                memory.ctx,
                {"almanac.py": "def moon(day):\n    return day % 29\n\n\ndef tide(day):\n    return moon(day)\n"},
            )
            write_links(memory.ctx, [("almanac.py::tide", "CALLS", "almanac.py::moon")])
            find_communities(memory.ctx)
            (memory.ctx.settings.root / "tides.md").write_text("# Tides\n\nCall `moon` for the moon of a day.\n")
            memory.call("index_docs", path="tides.md")
        with memory_at(store, WEFT_AGENT="ann", WEFT_ROLE="agent") as memory:
            wanted = {"operation": "remember", "arguments": {"text": "Ferries run all night.", "level": "global"}}
            memory.call("request_global_write_approval", **wanted)
        nodes = [{"id": each, "score": 0.9} for each in CHAIN]
        asking = {"query": QUESTION}
        self.arguments: dict[str, dict[str, Any]] = {
            **dict.fromkeys(
                ("recall", "ask", "recall_raw", "memory_search", "semantic_search", "project_context"), asking
            ),
            "memory_checkout": {**asking, "purpose": "coding", "session": "standup", "max_tokens": 4_000},
            "assemble_context": {**asking, "session": "standup"},
            "conversation_search": {"query": "are the bookings down?"},
            "find_similar": {"text": "bookings are down"},
            "explain": {**asking, "id": "c5-outage"},
            "answer": {"id": receipt},
            "entity_lookup": {"entity_ids": ["tidebook"]},
            "temporal_expand": {"entity_ids": ["tidebook"]},
            "causal_expand": {"entity_ids": ["tidebook"]},
            "subgraph_merge": {"views": [{"view": "causal", "nodes": nodes}]},
            "linearize_context": {"nodes": nodes, "intent": "WHY"},
            "show": {"id": "tidebook"},
            "cite": {"citation": kept.citation},
            "report_read_latest": {"keyword": "outage"},
            "work_show": {"id": task},
            "work_made": {"conversation": "standup"},
            "analysis_route": {"task": "compare two ways to take bookings"},
            "screen": {"message": "are the bookings down?"},
            "session_status": {"session": "standup"},
            "compaction_show": {"purpose": "security"},
            "context_pack": {"task": "give the moon of a day"},
            "semantic_slice": {"symbol": "moon", "context": "full"},
            "code_explain": {"element": "moon"},
            "impact_analyze": {"symbols": ["moon"]},
            "graph_query": {"query": "the moon of a day", "mode": "hybrid"},
            "find_similar_code": {"element": "moon", "threshold": 0.0},
            "community_list": {},
            "graph_edges": {"rel": "CALLS"},
            "diff_since": {"since": "2020"},
            "search_docs": {"query": "the moon of a day", "symbol": "moon"},
            **{key: {"query": "book by phone"} for key in ("episode_recall", "decision_query")},
            "feature_status": {"feature": "No night without bookings"},
        }
        self.arguments |= {name: {} for name in LISTS}

    def whole(self, *, by_meaning: bool) -> dict[str, dict[str, Any] | WeftError]:
        """What each operation answers while nothing is broken; asked once."""
        if by_meaning not in self._whole:
            with memory_at(self.store, by_meaning=by_meaning) as memory:
                answers = {name: ran(memory.ctx, each, self.arguments[name]) for name, each in READS.items()}
            self._whole[by_meaning] = answers
        return self._whole[by_meaning]


LISTS = (
    *("recent", "diff", *MAY_BE_EMPTY, "deletion_list", "approval_list", "report_list", "alert_list", "work_list"),
    "previous_context",
    *("tool_calls", "log_show", "log_verify", "log_head", "stats", "get_statistics", "doctor", "config", "key_new"),
    *("token_list", "conversation_list", "graph_health"),
    *("coordination_overview", "agent_status", "progress_query", "blocking_issues", "finding_list"),
)


def records(memory: weft.Memory) -> str:
    """Writes one of each sort of record. Returns the id of a task that made something."""
    memory.call("delete", target=memory.remember("The old timetable hangs at the pier.").id, reason="replaced")
    report = {"title": "Night of the outage", "body": "Bookings were down for two hours.", "keywords": ["outage"]}
    memory.call("report_write", **report)
    memory.call("session_compact", session="standup", asked=["Mend the bookings"])
    memory.call("compact", purpose="security")
    memory.call("alert_raise", message="The certificate of Lantern runs out in a week.")
    memory.call("token_create", agent="ann")
    task: str = memory.call("work_create", kind="research", title="Watch the certificate", conversation="standup").id
    robot = memory.call("remember", text="The robot renews it at night.", produced_by_task_id=task)
    feature = memory.call("feature_create", title="No night without bookings").id
    step = memory.call("task_create", title="Book by phone", feature=feature)
    memory.call("task_create", title="Print the form", feature=feature, depends_on=[step.id])
    memory.call("agent_claim", target=step.id, intent="write the form")
    memory.call("episode_add", type="OBSERVATION", content="Tidebook does not answer.", task_id=step.id)
    memory.call("save_decision", title="Book by phone at night", rationale="Tidebook is down then.")
    found = {"text": "The form of the harbour has no field for a night.", "evidence": [robot.citation]}
    memory.call("finding_report", **found)
    return task


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world") / "store")


@pytest.fixture
def store(world: World, tmp_path: Path) -> Path:
    return Path(shutil.copytree(world.store, tmp_path / "store"))


def told(answer: dict[str, Any]) -> dict[str, Any]:
    """What an answer holds beside what it says about itself."""
    about = ("notes", "query", "status", "stages", "valid_at", "known_at", "intent", "retrieval_class", "depths")
    return {name: value for name, value in answer.items() if name not in about and value}


def ran(ctx: CallContext, operation: Operation, given: dict[str, Any]) -> dict[str, Any] | WeftError:
    """What it answered, or how it failed. Anything but an error of weft's own is not caught."""
    try:
        return call(ctx, operation.name, **given)
    except WeftError as problem:
        return problem


def test_every_operation_that_reads_is_asked_here(world: World) -> None:
    assert set(world.arguments) == set(READS)
    with memory_at(world.store, by_meaning=True) as memory:
        for name, operation in READS.items():
            answer = ran(memory.ctx, operation, world.arguments[name])
            assert isinstance(answer, dict), (name, answer)
            if name not in MAY_BE_EMPTY:
                assert told(answer), name


@pytest.mark.parametrize("by_meaning", [False, True], ids=["words", "words and meaning"])
@pytest.mark.parametrize("broke", BREAKS.values(), ids=BREAKS.keys())
def test_no_read_fails_but_with_an_error_of_weft_and_none_is_silently_empty(
    world: World, store: Path, broke: Break, by_meaning: bool
) -> None:
    whole = world.whole(by_meaning=by_meaning)
    broke(store)
    with memory_at(store, by_meaning=by_meaning) as memory:
        for name, operation in READS.items():
            check_told(name, ran(memory.ctx, operation, world.arguments[name]), whole[name])


@pytest.mark.parametrize("broke", BREAKS.values(), ids=BREAKS.keys())
def test_calls_that_cannot_be_read_are_not_told_as_none(world: World, store: Path, broke: Break) -> None:
    """What was called is kept in a store of its own, which may break by itself."""
    before = world.whole(by_meaning=True)["tool_calls"]
    broke(store / AUDIT)
    with memory_at(store, by_meaning=True) as memory:
        check_told("tool_calls", ran(memory.ctx, READS["tool_calls"], {}), before)
        assert memory.recall(QUESTION).hits


def check_told(name: str, answer: dict[str, Any] | WeftError, before: dict[str, Any] | WeftError) -> None:
    """It is an error that says what to do, or all that was told before is, or what is missing is in the notes."""
    if isinstance(answer, WeftError):
        assert isinstance(answer, StoreError), (name, answer)
        assert answer.hint, (name, answer)
        assert name not in STORELESS, (name, answer)
        return
    assert isinstance(before, dict)
    lists = {field for field, value in told(before).items() if isinstance(value, list | tuple | str | dict)}
    lost = {field for field in lists if not answer.get(field)}
    said = [note for note in answer.get("notes", ()) if any(word in note for word in UNREADABLE)]
    assert not lost or said, f"{name} lost {lost}, and does not say why"


@pytest.mark.parametrize("broke", WITHOUT_NODES.values(), ids=WITHOUT_NODES.keys())
def test_without_a_graph_searches_are_answered_by_the_log_and_views_say_why_they_are_empty(
    world: World, store: Path, broke: Break
) -> None:
    broke(store)
    with memory_at(store, by_meaning=True) as memory:
        for name, rows in FROM_LOG.items():
            answer = call(memory.ctx, name, **world.arguments[name])
            assert answer["degraded"], name
            assert answer[rows], name
            assert "weft://" in msgspec.json.encode(answer[rows]).decode(), f"{name} cites nothing"
            assert any(note.startswith("the graph could not be read") for note in answer["notes"]), name
        for name in FROM_GRAPH:
            answer = call(memory.ctx, name, **world.arguments[name])
            assert not answer.get("nodes"), name
            assert not answer.get("text"), name
            assert any("the graph cannot be read" in note for note in answer["notes"]), name
        why = call(memory.ctx, "explain", **world.arguments["explain"])
        assert (why["verdict"], why["why"][0]["name"]) == ("answered", "log")
        assert why["degraded"]
        assert call(memory.ctx, "explain", query=QUESTION, id="nobody")["verdict"] == "not found"
        (found, *_) = call(memory.ctx, "conversation_search", **world.arguments["conversation_search"])["messages"]
        assert found["message"]["text"] == SAID
        with pytest.raises(StoreError, match="cannot be read") as unreadable:
            call(memory.ctx, "find_similar", id="tidebook")
        assert "as a text" in unreadable.value.hint


def test_a_conversation_is_searched_in_the_log_and_no_other(store: Path) -> None:
    with memory_at(store) as memory:
        memory.record_turns("lunch", [f"Ann: bookings bookings bookings {n}" for n in range(30)])
    broken.drop("node_version")(store)
    with memory_at(store) as memory:
        for session in ("standup", "quay/standup"):
            found = memory.conversation_search("bookings", session=session, limit=1)
            assert [each.message.text for each in found.messages] == [SAID]
            assert found.degraded
        assert not memory.conversation_search("bookings", session="nowhere").messages
        public = {"WEFT_AUDIENCE": "public", "WEFT_SESSION": "visit", "WEFT_SCOPES": "public", "WEFT_ROLE": "agent"}
    with memory_at(store, **public) as memory:
        assert not memory.conversation_search("bookings").messages


@pytest.mark.parametrize("table", ["event", "session"])
def test_without_citations_everything_is_told_all_the_same(world: World, store: Path, table: str) -> None:
    with memory_at(world.store, by_meaning=True) as memory:
        whole = {name: call(memory.ctx, name, **world.arguments[name]) for name in (*FROM_LOG, *BY_VIEW)}
    broken.drop(table)(store)
    with memory_at(store, by_meaning=True) as memory:
        for name, before in whole.items():
            answer = call(memory.ctx, name, **world.arguments[name])
            rows = FROM_LOG.get(name, "nodes")
            # A briefing is told only where its sources can be looked up.
            found = [row for row in before[rows] if row.get("slot") != "briefing"]
            assert len(answer[rows]) == len(found), name
            assert any("citations" in note for note in answer["notes"]), name
        why = call(memory.ctx, "explain", **world.arguments["explain"])
        assert why["verdict"] == "answered"
        assert any("citations" in note for note in why["notes"])


# ---- one read of an answer that is all but made


class FailsAt:
    """A real store of which single reads fail: those that `fails` says, by name and how often it was asked for."""

    def __init__(self, store: SqliteStore, fails: Callable[[str, int], bool]) -> None:
        self._store, self._fails = store, fails
        self.asked: dict[str, int] = {}

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._store, name)
        if not callable(real) or name == "one_state":  # which reads nothing, and never raises
            return real

        def read(*arguments: Any, **more: Any) -> Any:
            self.asked[name] = self.asked.get(name, 0) + 1
            if self._fails(name, self.asked[name]):
                raise Corrupt(f"{name} failed", hint="run `weft doctor`")
            return real(*arguments, **more)

        return read


def reads_of(ctx: CallContext, name: str, given: dict[str, Any]) -> dict[str, int]:
    watched: Any = FailsAt(ctx.store, lambda read, count: False)
    call(replace(ctx, store=watched), name, **given)
    return dict(watched.asked)


@pytest.mark.parametrize("name", [*FROM_LOG, *FROM_GRAPH])
def test_any_one_read_may_fail_and_the_answer_is_not_lost(world: World, name: str) -> None:
    """Whichever read of whichever kind fails: there is an answer, and what it lacks is in its notes."""
    given = world.arguments[name]
    with memory_at(world.store, by_meaning=True) as memory:
        counts = reads_of(memory.ctx, name, given)
        assert counts
        for read, times in counts.items():
            for at in range(1, times + 1):
                store: Any = FailsAt(memory.ctx.store, lambda asked, n, read=read, at=at: (asked, n) == (read, at))
                answer = call(replace(memory.ctx, store=store), name, **given)
                assert any(f"{read} failed" in note for note in answer.get("notes", ())), (read, at)


@pytest.mark.parametrize("name", sorted({*READS} - {*FROM_LOG, *FROM_GRAPH, *STORELESS, "tool_calls"}))
def test_any_one_read_may_fail_and_it_is_told(world: World, name: str) -> None:
    """Whichever read fails: an error or the answer says so, or it was read again and nothing is missing."""
    given = world.arguments[name]
    with memory_at(world.store, by_meaning=True) as memory:
        whole = ran(memory.ctx, READS[name], given)
        for read, times in reads_of(memory.ctx, name, given).items():
            for at in range(1, times + 1):
                store: Any = FailsAt(memory.ctx.store, lambda asked, n, read=read, at=at: (asked, n) == (read, at))
                answer = ran(replace(memory.ctx, store=store), READS[name], given)
                words = str(answer) if isinstance(answer, WeftError) else msgspec.json.encode(answer).decode()
                assert f"{read} failed" in words or answer == whole, (read, at)


def test_a_context_that_cannot_be_ordered_by_cause_does_not_say_that_it_is(world: World) -> None:
    def no_ties(read: str, count: int) -> bool:
        return read == "neighbours" and count > before

    with memory_at(world.store, by_meaning=True) as memory:
        given = {"query": QUESTION, "intent": "WHY"}
        whole = call(memory.ctx, "recall", **given)
        assert "What led to what" in whole["context"]
        before = reads_of(memory.ctx, "recall", given)["neighbours"] - 1  # the last is the context's
        store: Any = FailsAt(memory.ctx.store, no_ties)
        answer = call(replace(memory.ctx, store=store), "recall", **given)
        assert [hit["node"]["id"] for hit in answer["hits"]] == [hit["node"]["id"] for hit in whole["hits"]]
        linear = call(replace(memory.ctx, store=store), "linearize_context", **world.arguments["linearize_context"])
    for context in (answer["context"], linear["text"]):
        assert "What led to what" not in context
        assert "best first" in context.lower()
    assert any("by score" in note for note in answer["notes"])
    assert any("by score" in note for note in linear["notes"])


# ---- empty answers of whole stores


@pytest.mark.parametrize("name", ["recall", "recall_raw", "memory_search", "semantic_search", "conversation_search"])
def test_an_empty_answer_gives_the_reason_it_has(world: World, name: str) -> None:
    with memory_at(world.store) as memory:
        (thanks,) = call(memory.ctx, "recall", query="thanks!")["notes"]
        if name != "conversation_search":  # in a conversation somebody may have said just that
            assert thanks in call(memory.ctx, name, query="thanks!")["notes"]
        nothing = call(memory.ctx, name, query="xylophone zeppelin")["notes"]
        elsewhere = call(memory.ctx, name, query="xylophone zeppelin", project="another")["notes"]
    assert thanks not in nothing
    assert any("matches" in note or "no memory is close enough" in note for note in nothing)
    assert any("in project another" in note for note in elsewhere)


def test_what_is_not_there_is_not_found_and_not_an_answer(world: World) -> None:
    with memory_at(world.store) as memory, pytest.raises(NotFound):
        memory.find_similar("nobody")
