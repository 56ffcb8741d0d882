"""Recording a conversation as it happens."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import weft
from tests.places import Place
from weft.conversations.turns import log_session
from weft.core.errors import Conflict, Forbidden, Invalid
from weft.core.types import Find, NodeVersion, When
from weft.log.draft import check_name


def messages(memory: weft.Memory, session: str = "ferry/chat") -> list[NodeVersion]:
    found = memory.ctx.store.find(memory.ctx.viewer, When(), Find(id_prefix=f"{session}#"), limit=1_000)
    return sorted(found.nodes, key=lambda node: node.id)


def test_turns_are_kept_in_order_with_their_speakers(memory: weft.Memory) -> None:
    done = memory.record_turns("chat", ["user: Is the ferry late?", {"speaker": "Mira", "text": "Yes."}], title="Ferry")
    assert done.status == "saved"
    assert [(turn.id, turn.seq) for turn in done.turns] == [("ferry/chat#00001", 1), ("ferry/chat#00002", 2)]
    (next_turn,) = memory.record_turns("chat", [{"role": "assistant", "text": "Sorry."}]).turns
    assert next_turn.seq == 3
    kept = messages(memory)
    assert [node.text for node in kept] == ["Is the ferry late?", "Mira: Yes.", "Sorry."]
    assert [node.props.get("speaker") or node.props.get("role") for node in kept] == ["user", "Mira", "assistant"]
    session = memory.show("ferry/chat")
    assert session.node is not None
    assert (session.node.kind, session.node.name, len(session.history)) == ("Session", "Ferry", 1)
    assert memory.cite(next_turn.citation).nodes[0].text == "Sorry."


def test_turns_may_say_when(memory: weft.Memory) -> None:
    memory.record_turns(
        "chat", [{"speaker": "Mira", "text": "Then.", "at": "2024-03-09"}, "Jon: Later."], at="2024-03-10"
    )
    assert [node.interval.valid_from // 86_400_000_000 for node in messages(memory)] == [19791, 19792]


def test_a_repeated_request_is_written_once(memory: weft.Memory) -> None:
    first = memory.record_turns("chat", ["user: once", "assistant: yes"], request_id="r1")
    memory.record_turns("chat", ["user: between"])
    again = memory.record_turns("chat", ["user: once", "assistant: yes"], request_id="r1")
    assert (again.status, again.turns) == ("duplicate_skip", first.turns)
    assert len(messages(memory)) == 3
    with pytest.raises(Conflict, match="something else"):
        memory.record_turns("chat", ["user: other"], request_id="r1")
    memory.remember("words", request_id="r2")
    with pytest.raises(Conflict, match="something else"):
        memory.record_turns("chat", ["user: other"], request_id="r2")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"session": "", "turns": ["user: x"]}, "session"),
        ({"session": " ", "turns": ["user: x"]}, "no name"),
        ({"session": "chat", "turns": []}, "turns"),
        ({"session": "chat", "turns": ["user: x"] * 101}, "turns"),
        ({"session": "chat", "turns": ["nobody says this"]}, "has no speaker"),
        ({"session": "chat", "turns": ["user:"]}, "no words"),
        ({"session": "chat", "turns": [{"speaker": "Mira", "text": "  "}]}, "no words"),
        ({"session": "chat", "turns": [{"speaker": "Mira"}]}, "text"),
        ({"session": "chat", "turns": ["user: x"], "at": "soon"}, "moment"),
        ({"session": "chat", "turns": [5]}, "turns"),
        ({"session": "a\x1fb", "turns": ["user: x"]}, "unit separator"),
    ],
)
def test_bad_input_writes_nothing(memory: weft.Memory, given: dict[str, Any], why: str) -> None:
    with pytest.raises(Invalid, match=why):
        memory.record_turns(**given)
    assert memory.stats().store.events == 0


def test_a_conversation_keeps_its_rights(place: Place) -> None:
    mine = place.open()
    mine.record_turns("chat", ["user: for all"], scope="shared")
    mine.record_turns("chat", ["user: also for all"])
    assert {node.guard.scope for node in messages(mine)} == {"shared"}
    with pytest.raises(Invalid, match="other rights"):
        mine.record_turns("chat", ["user: not for all"], scope="admin")
    mine.record_turns("secret", ["user: not for all"], scope="admin")
    other = place.open(scopes="shared", role="agent", agent="guest")
    assert other.record_turns("chat", ["assistant: noted"]).turns[0].seq == 3
    with pytest.raises(Forbidden):
        other.record_turns("secret", ["assistant: what?"])


def test_many_writers_never_take_each_others_number(place: Place) -> None:
    """Each has its own connection; all begin at once, in a conversation that is not there yet."""
    writers, each = 6, 5
    url, environment = f"sqlite://{place.scratch / 'store'}", {"HOME": str(place.scratch), "WEFT_EMBEDDER": "none"}
    start = threading.Barrier(writers)
    problems: list[BaseException] = []

    def write(name: str) -> None:
        try:
            with weft.open(url, directory=place.root, environment=environment) as own:
                start.wait()
                for number in range(each):
                    own.record_turns("chat", [f"{name}: {number}"])
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=write, args=(f"W{number}",)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    memory = place.open()
    kept = messages(memory)
    assert [node.props["seq"] for node in kept] == list(range(1, writers * each + 1))
    for name in (f"W{number}" for number in range(writers)):
        assert [node.text for node in kept if node.props["speaker"] == name] == [f"{name}: {n}" for n in range(each)]
    assert len(memory.ctx.store.history(memory.ctx.viewer, "ferry/chat", limit=10)) == 1


@pytest.mark.parametrize("name", ["p/1", "p-1", "../..", "ä", "#", "p/" + "x" * 500, "東京", "-a"])
def test_a_conversation_has_a_session_of_the_log_to_itself(name: str) -> None:
    names = {log_session(each) for each in (name, f"{name} ", f"{name}/", "other")}
    assert len(names) == 4
    assert all(check_name(each, field="session") for each in names)
