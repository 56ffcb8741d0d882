"""The audit: what was called, who may see it, and what is never kept in it."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.access.audited import audited, calls, names
from tests.places import Place
from weft.access.audit import outdated
from weft.core.errors import Forbidden, Invalid, NotFound
from weft.operations import OPERATIONS
from weft.testing.clock import ManualClock
from weft.text.encryption import new_key

__all__ = ["audited"]  # fixtures


DAY_US = 86_400_000_000


AWS_KEY = "AKIA" + "Q3EGRZ7XKLMN2WPT"


def kept_bytes(place: Place) -> bytes:
    """All that is on disk of the audit."""
    files = sorted((place.scratch / "store" / "audit").rglob("*"))
    return b"".join(file.read_bytes() for file in files if file.is_file())


# ---- what is recorded


def test_every_call_is_recorded_with_its_outcome(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry to Bergen leaves at noon.")
    audited.recall("when does the ferry leave?")
    found = calls(audited).calls
    assert [call.operation for call in found] == ["recall", "remember"]
    recall = found[0]
    assert (recall.toolset, recall.effect, recall.surface) == ("core", "read", "python")
    assert (recall.agent, recall.role, recall.session) == ("operator", "operator", "operator")
    assert (recall.error, recall.status, recall.code) == (False, "succeeded", "")
    assert recall.input == '{"query":"when does the ferry leave?"}'
    assert "leaves at noon" in recall.output
    assert recall.ms > 0
    assert recall.started <= recall.ended


def test_a_call_that_failed_says_how(audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    with pytest.raises(NotFound):
        audited.show("no-such-node")
    with pytest.raises(Invalid):
        audited.recall("ferry", limit=0)
    found = calls(audited, errors=True).calls
    assert [(call.operation, call.error, call.code) for call in found] == [
        ("recall", True, "invalid"),
        ("show", True, "not_found"),
    ]
    assert "no-such-node" in found[1].output


def test_a_write_without_a_place_counts_as_failed(audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    assert audited.remember("Lost.", project="nowhere").status == "blocked_scope"
    assert [call.code for call in calls(audited, errors=True).calls] == ["blocked_scope"]


def test_the_conversation_is_on_record(place: Place) -> None:
    memory = place.open(audit="on", conversation="talk-7")
    memory.remember("The ferry leaves at noon.")
    memory.recall("ferry")
    other = place.open(audit="on")
    other.recall("ferry")
    other.ctx.audit.flush()  # type: ignore[union-attr]
    assert names(memory, conversation="talk-7") == ["recall", "remember"]


def test_calls_of_a_workflow_are_not_recorded_twice(audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    recall = next(each for each in OPERATIONS if each.name == "recall")
    audited.run(recall, {"query": "ferry"}, audited=False)
    assert names(audited) == ["remember"]


def test_records_do_not_touch_the_memories(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    before = audited.ctx.store.head(audited.ctx.viewer)
    for _ in range(3):
        audited.recall("ferry")
    assert len(calls(audited, operation="recall").calls) == 3
    assert audited.ctx.store.head(audited.ctx.viewer) == before
    kinds = [kind.kind for kind in audited.call("stats").kinds]
    assert "ToolCall" not in kinds


def test_off_means_that_nothing_is_kept(place: Place) -> None:
    memory = place.open(audit="off")
    memory.remember("The ferry leaves at noon.")
    memory.recall("ferry")
    assert calls(memory).notes == (
        "calls are not recorded, because the setting `audit` is off",
        "no matching calls are recorded",
    )
    memory.close()
    assert kept_bytes(place) == b""


def test_asking_where_nothing_is_makes_no_store(place: Place, audited: weft.Memory) -> None:
    audited.recall("anything?")
    audited.close()
    assert not (place.scratch / "store").exists()


def test_what_was_asked_before_the_first_write_is_recorded_with_it(audited: weft.Memory) -> None:
    audited.recall("anything?")
    audited.remember("The ferry leaves at noon.")
    assert names(audited) == ["remember", "recall"]


def test_a_store_in_memory_has_its_audit_there_too(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none"}
    with weft.open("memory://", directory=tmp_path, environment=environment) as memory:
        memory.remember("The ferry leaves at noon.")
        assert names(memory) == ["remember"]
        assert memory.call("log_verify", audit=True).events == 2


# ---- what is never kept


def test_secrets_are_taken_out(place: Place, audited: weft.Memory) -> None:
    audited.remember(f"The deploy key is {AWS_KEY} for now.")
    audited.recall(f"what is {AWS_KEY}?")
    found = calls(audited).calls
    assert [AWS_KEY in call.input + call.output for call in found] == [False, False]
    assert "[redacted: AWS key]" in found[0].input
    audited.close()
    assert AWS_KEY.encode() not in kept_bytes(place)


def test_a_secret_across_the_cut_is_not_kept_in_part(place: Place, audited: weft.Memory) -> None:
    audited.remember("x " * 992 + AWS_KEY)
    (call,) = calls(audited).calls
    assert call.input_bytes > 2_000
    assert AWS_KEY[:8] not in call.input


def test_of_sensitive_writes_only_the_size_is_kept(place: Place) -> None:
    memory = place.open(audit="on", sensitive="true", sensitive_key=new_key("main"))
    plain = memory.remember("The ferry leaves at noon.")
    first = memory.remember("Zora has a tumour.", sensitive=True)
    memory.correct(first.id, "Zora had a tumour.")
    memory.call("remember_many", items=[{"text": "Zora is afraid.", "sensitive": True}])
    memory.recall("how is Zora?")
    with pytest.raises(Invalid):
        memory.remember("Zora lied.", sensitive=True, importance=99)
    found = calls(memory, limit=50).calls
    assert {call.operation: call.input for call in found if call.effect != "read"} == {
        "remember_many": "",
        "correct": "",
        "remember": "",
    }
    assert all(call.input_bytes > 10 for call in found)
    assert not any("tumour" in call.input + call.output for call in found)
    assert plain.status == "saved"
    memory.close()
    held = kept_bytes(place)
    assert not any(word in held for word in (b"tumour", b"afraid", b"lied"))


def test_what_a_sensitive_viewer_was_shown_is_not_kept(place: Place) -> None:
    key = new_key("main")
    place.open(audit="off", sensitive_key=key).remember("Zora has a tumour.", sensitive=True)
    memory = place.open(audit="on", sensitive="true", sensitive_key=key)
    assert memory.recall("Zora tumour").hits
    assert not memory.recall("is Zora's tumour malignant?", kinds=["Decision"]).hits
    for call in calls(memory).calls:
        assert (call.input, call.output, call.input_bytes > 10, call.output_bytes > 10) == ("", "", True, True)
    memory.close()
    assert b"tumour" not in kept_bytes(place), "nor does what was asked stand anywhere"


def test_long_words_are_cut_between_words(audited: weft.Memory) -> None:
    audited.remember("Ferries " + "bergenstavanger " * 400)
    (call,) = calls(audited).calls
    assert len(call.input) <= 2_001
    assert call.input.endswith("bergenstavanger …")


def test_what_asks_for_the_audit_is_not_copied_into_it(audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    calls(audited)
    found = calls(audited, operation="tool_calls").calls
    assert [(call.output, call.output_bytes > 100) for call in found] == [("", True)]


def test_keys_and_tokens_are_not_kept(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    key = audited.call("key_new").key
    ada = place.open(audit="on", role="agent", agent="ada", session="s-ada")
    given = {"text": "Ferries wait for no one.", "level": "global"}
    token = ada.call("request_global_write_approval", operation="remember", arguments=given).token
    ada.remember(**given, governance_token=token)
    ada.close()
    assert names(audited, agent="ada") == ["remember", "request_global_write_approval"]
    audited.close()
    held = kept_bytes(place)
    assert b"no one" in held
    assert key.encode() not in held
    assert token.encode() not in held


def test_what_cannot_be_written_as_text_is_recorded_without_it(audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    with pytest.raises(Invalid):
        audited.remember("lone \ud800 surrogate")
    assert [(call.code, call.input) for call in calls(audited, errors=True).calls] == [("invalid", "")]


# ---- who sees what


def test_an_agent_sees_its_own_calls_and_the_operator_all(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    agent = {"audit": "on", "role": "agent", "scopes": "shared"}
    ada, bob = (place.open(**agent, agent=name, session=f"s-{name}") for name in ("ada", "bob"))
    for memory, given in ((ada, "ferry"), (bob, "boat")):
        place.clock.step(1)
        memory.recall(given)
    place.clock.step(1)
    bob.call("stats")
    for memory in (ada, bob, audited):
        memory.ctx.audit.flush()  # type: ignore[union-attr]
    assert names(ada) == ["recall"]
    assert names(bob) == ["stats", "recall"]
    assert names(audited) == ["stats", "recall", "recall", "remember"]
    assert names(audited, agent="bob") == ["stats", "recall"]


def test_an_agent_may_not_ask_for_anothers_calls(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    ada = place.open(audit="on", role="agent", agent="ada", session="s-ada")
    audited.ctx.audit.flush()  # type: ignore[union-attr]
    (theirs,) = calls(audited, operation="remember").calls
    with pytest.raises(Forbidden):
        calls(ada, agent="operator")
    with pytest.raises(NotFound):
        calls(ada, before=theirs.id)


def test_an_agent_that_takes_the_operators_name_is_still_an_agent(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    audited.ctx.audit.flush()  # type: ignore[union-attr]
    assert names(place.open(audit="on", role="agent", agent="operator")) == []


def test_an_agent_is_told_no_words_of_earlier_answers(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.", scope="shared")
    ada = place.open(audit="on", role="agent", agent="ada", session="s-ada", scopes="shared")
    assert ada.recall("ferry").hits
    (own,) = calls(ada).calls
    assert (own.input, own.output, own.output_bytes > 100) == ('{"query":"ferry"}', "", True)
    assert "noon" in calls(audited, agent="ada", operation="recall").calls[0].output


def test_a_public_agent_sees_its_own_calls(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.", scope="public")
    zoe = place.open(audit="on", role="agent", agent="zoe", session="s-zoe", scopes="public", audience="public")
    zoe.recall("ferry")
    assert names(zoe) == ["recall"]


def test_accounts_have_audits_of_their_own(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    other = place.open(audit="on", account="other")
    other.recall("ferry")
    assert names(other) == ["recall"]
    assert names(audited) == ["remember"]


# ---- asking


def test_pages_go_back_in_time_without_gap_or_repetition(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    for number in range(9):
        audited.recall(f"ferry {number}")
        if number % 4 == 0:
            audited.ctx.audit.flush()  # type: ignore[union-attr]
    seen: list[str] = []
    before = ""
    for _ in range(5):
        page = calls(audited, operation="recall", limit=2, before=before)
        seen += [call.input for call in page.calls]
        before = page.before
    assert seen == [f'{{"query":"ferry {number}"}}' for number in reversed(range(9))]
    assert before == ""


def test_what_ran_in_the_last_session(place: Place) -> None:
    for session in ("monday", "tuesday"):
        memory = place.open(audit="on", session=session)
        memory.remember(f"It is {session}.")
        memory.recall("which day?")
        memory.close()
    now = place.open(audit="on", session="today")
    now.recall("which day?")
    found = calls(now, last_session=True)
    assert (found.session, [call.operation for call in found.calls]) == ("tuesday", ["recall", "remember"])
    assert names(now, session="monday") == ["recall", "remember"]


def test_the_last_session_of_an_agent_is_its_own(place: Place) -> None:
    for agent, session in (("ada", "ada-1"), ("bob", "bob-1")):
        memory = place.open(audit="on", role="agent", agent=agent, session=session)
        memory.remember(f"{agent} was here.")
        memory.close()
    ada = place.open(audit="on", role="agent", agent="ada", session="ada-2")
    assert calls(ada, last_session=True).session == "ada-1"


def test_calls_of_a_time(place: Place, clock: ManualClock, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    moments = []
    for number in range(4):
        clock.step(3_600_000_000)
        moments.append(clock.now_us())
        audited.recall(f"ferry {number}")
    told = [weft.core.clock.to_iso(each) for each in moments]
    found = calls(audited, operation="recall", since=told[1], until=told[2]).calls
    assert [call.input for call in found] == ['{"query":"ferry 2"}', '{"query":"ferry 1"}']


def test_old_calls_are_not_shown_and_are_purged(place: Place, clock: ManualClock) -> None:
    memory = place.open(audit="on", audit_days="30")
    memory.remember("The ferry leaves at noon.")
    memory.recall("ferry")
    clock.step(31 * DAY_US)
    memory.recall("boat")
    assert names(memory) == ["recall"]
    would = memory.call("purge")
    assert (would.status, would.audit) == ("previewed", 2)
    assert len(outdated(memory.ctx, limit=10)) == 2
    gone = memory.call("purge", yes=True)
    assert (gone.status, gone.audit) == ("erased", 2)
    assert outdated(memory.ctx, limit=10) == ()
    assert memory.call("log_verify", audit=True).problem is None
    assert names(memory, operation="recall") == ["recall"]
    memory.close()
    assert b"leaves at noon" not in kept_bytes(place)
