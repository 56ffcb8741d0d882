"""Archived conversations: out of lists and searches, never lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conversations.conftest import Desk, chatgpt, written
from weft.core.errors import Forbidden, NotFound


@pytest.fixture
def talks(desk: Desk) -> Desk:
    for number, name in enumerate(("pier", "quay", "dock"), start=1):
        at = f"2026-0{number}-01T10:00:00Z"
        turns = [{"text": f"The lamp at the {name} is broken", "speaker": "Ana", "at": at}, "Ben: Noted."]
        desk.run("record_turns", session=name, turns=turns, title=f"The {name}", at=at.replace("10:", "11:"))
    return desk


def names(desk: Desk, **given: object) -> list[str]:
    return [each.name for each in desk.run("conversation_list", **given).conversations]


def test_conversations_are_listed_the_latest_first_a_page_at_a_time(talks: Desk) -> None:
    listed = talks.run("conversation_list", limit=2)
    assert [(each.name, each.title, each.turns) for each in listed.conversations] == [
        ("dock", "The dock", 2),
        ("quay", "The quay", 2),
    ]
    first = listed.conversations[0]
    assert (first.first_at[:16], first.last_at[:16]) == ("2026-03-01T10:00", "2026-03-01T11:00")
    assert (listed.total, listed.notes) == (3, ("1 more: --offset 2",))
    assert names(talks, offset=2) == ["pier"]
    talks.run("record_turns", session="pier", turns=["Ana: Mended."])
    assert names(talks) == ["pier", "dock", "quay"]


def test_a_list_counts_every_turn_of_long_and_short_conversations(desk: Desk) -> None:
    for turns in (1, 2, 3, 7, 64, 100):
        desk.run("record_turns", session=f"of-{turns}", turns=[f"user: word {n}" for n in range(turns)])
    assert {each.name: each.turns for each in desk.run("conversation_list").conversations} == {
        f"of-{turns}": turns for turns in (1, 2, 3, 7, 64, 100)
    }


def test_an_archived_conversation_is_in_no_list_and_no_search_and_comes_back(talks: Desk) -> None:
    cited = talks.memory.conversation_search("lamp", session="quay").messages[0].message.citation
    done = talks.run("session_archive", session="quay")
    assert (done.status, done.title) == ("archived", "The quay")
    assert names(talks) == ["dock", "pier"]
    assert talks.run("conversation_list").notes == ("1 archived not listed: --archived lists it",)
    assert names(talks, archived=True) == ["dock", "quay", "pier"]
    found = talks.memory.conversation_search("lamp", limit=2)
    assert {each.session for each in found.messages} == {"ferry/dock", "ferry/pier"}
    assert any("archived" in note for note in found.notes)
    # nothing is lost: by name, by --archived, by recall, by citation
    assert talks.memory.conversation_search("lamp", session="quay").messages[0].message.citation == cited
    assert "ferry/quay" in {e.session for e in talks.memory.conversation_search("lamp", archived=True).messages}
    assert any(hit.node.id.startswith("ferry/quay#") for hit in talks.memory.recall("lamp at the quay").hits)
    assert talks.run("cite", citation=cited).matches
    assert talks.run("session_archive", session="quay").status == "unchanged"
    assert talks.run("session_archive", session="ferry/quay", archived=False).status == "brought_back"
    assert names(talks) == ["dock", "quay", "pier"]


def test_it_stays_archived_when_it_goes_on_and_when_it_gets_a_title(talks: Desk, tmp_path: Path) -> None:
    talks.run("session_archive", session="quay")
    talks.run("record_turns", session="quay", turns=["Ana: Mended."], title="The lamps")
    (quay,) = [each for each in talks.run("conversation_list", archived=True).conversations if each.name == "quay"]
    assert (quay.archived, quay.title, quay.turns) == (True, "The lamps", 3)
    path = written(tmp_path / "conversations.json", [chatgpt("c", ("user", "Late?"), ("assistant", "Yes."))])
    talks.take(path)
    talks.run("session_archive", session="chatgpt-c")
    written(path, [chatgpt("c", ("user", "Late?"), ("assistant", "Yes."), ("user", "Thanks."), title="Ferries")])
    assert talks.take(path).written == 1
    assert "chatgpt-c" not in names(talks)


def test_a_search_fills_up_with_others_where_archived_ones_go(desk: Desk) -> None:
    for number in range(12):
        desk.run("record_turns", session=f"loud-{number}", turns=["Ana: lamp lamp lamp lamp", "Ben: lamp"])
        desk.run("session_archive", session=f"loud-{number}")
    desk.run("record_turns", session="quiet", turns=["Ana: The lamp at the pier, far out, is broken since spring"])
    found = desk.memory.conversation_search("lamp", limit=2).messages
    assert {each.session for each in found} == {"ferry/quiet"}


def test_the_log_and_a_rebuilt_graph_know_it(talks: Desk) -> None:
    talks.run("session_archive", session="quay")
    talks.run("rebuild")
    assert names(talks) == ["dock", "pier"]
    assert talks.said("quay") == ["Ana: The lamp at the quay is broken", "Ben: Noted."]


def test_what_is_not_there_and_who_may_not(talks: Desk, open_desk: Callable[..., Desk]) -> None:
    with pytest.raises(NotFound, match="no session 'harbour'"):
        talks.run("session_archive", session="harbour")
    public = open_desk(
        WEFT_AUDIENCE="public", WEFT_SESSION="v", WEFT_AGENT="desk", WEFT_ROLE="agent", WEFT_SCOPES="public"
    )
    with pytest.raises(Forbidden):
        public.run("session_archive", session="quay")
