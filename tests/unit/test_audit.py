"""The audit: what was called, who may see it, and what is never kept in it."""

from __future__ import annotations

import gc
import json
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

import weft
from weft import audit as auditing
from weft.audit import Audit, Called, Said
from weft.errors import Forbidden, Invalid, Misconfigured, NotFound
from weft.log.jsonl import write_lines
from weft.log.verify import read_commits
from weft.operations import OPERATIONS
from weft.operations.auditing import ToolCallsShown, audit_store, outdated
from weft.sealing import new_key
from weft.testing.clock import ManualClock

from .conftest import Place

DAY_US = 86_400_000_000
AWS_KEY = "AKIA" + "Q3EGRZ7XKLMN2WPT"


def run(memory: weft.Memory, name: str, **given: Any) -> Any:
    return memory.run(next(each for each in OPERATIONS if each.name == name), given)


def calls(memory: weft.Memory, **given: Any) -> ToolCallsShown:
    found: ToolCallsShown = run(memory, "tool_calls", **given)
    return found


def names(memory: weft.Memory, **given: Any) -> list[str]:
    """What was called, newest first, but for asking what was."""
    return [call.operation for call in calls(memory, **given).calls if call.operation != "tool_calls"]


def kept_bytes(place: Place) -> bytes:
    """All that is on disk of the audit."""
    files = sorted((place.scratch / "store" / "audit").rglob("*"))
    return b"".join(file.read_bytes() for file in files if file.is_file())


@pytest.fixture
def audited(place: Place) -> weft.Memory:
    return place.open(audit="on")


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
    other.loom.audit.flush()  # type: ignore[union-attr]
    assert names(memory, conversation="talk-7") == ["recall", "remember"]


def test_calls_of_a_workflow_are_not_recorded_twice(audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    recall = next(each for each in OPERATIONS if each.name == "recall")
    audited.run(recall, {"query": "ferry"}, audited=False)
    assert names(audited) == ["remember"]


def test_records_do_not_touch_the_memories(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    before = audited.loom.store.head(audited.loom.viewer)
    for _ in range(3):
        audited.recall("ferry")
    assert len(calls(audited, operation="recall").calls) == 3
    assert audited.loom.store.head(audited.loom.viewer) == before
    kinds = [kind.kind for kind in run(audited, "stats").kinds]
    assert "ToolCall" not in kinds


def test_off_means_that_nothing_is_kept(place: Place) -> None:
    memory = place.open(audit="off")
    memory.remember("The ferry leaves at noon.")
    memory.recall("ferry")
    assert calls(memory).notes == ("calls are not recorded: the setting `audit` is off", "no such call is recorded")
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
        assert run(memory, "log_verify", audit=True).events == 2


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
    run(memory, "remember_many", items=[{"text": "Zora is afraid.", "sensitive": True}])
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
    key = run(audited, "key_new").key
    ada = place.open(audit="on", role="agent", agent="ada", session="s-ada")
    given = {"text": "Ferries wait for no one.", "level": "global"}
    token = run(ada, "request_global_write_approval", operation="remember", arguments=given).token
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
    run(bob, "stats")
    for memory in (ada, bob, audited):
        memory.loom.audit.flush()  # type: ignore[union-attr]
    assert names(ada) == ["recall"]
    assert names(bob) == ["stats", "recall"]
    assert names(audited) == ["stats", "recall", "recall", "remember"]
    assert names(audited, agent="bob") == ["stats", "recall"]


def test_an_agent_may_not_ask_for_anothers_calls(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    ada = place.open(audit="on", role="agent", agent="ada", session="s-ada")
    audited.loom.audit.flush()  # type: ignore[union-attr]
    (theirs,) = calls(audited, operation="remember").calls
    with pytest.raises(Forbidden):
        calls(ada, agent="operator")
    with pytest.raises(NotFound):
        calls(ada, before=theirs.id)


def test_an_agent_that_takes_the_operators_name_is_still_an_agent(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    audited.loom.audit.flush()  # type: ignore[union-attr]
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
            audited.loom.audit.flush()  # type: ignore[union-attr]
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
    told = [weft.instants.to_iso(each) for each in moments]
    found = calls(audited, operation="recall", since=told[1], until=told[2]).calls
    assert [call.input for call in found] == ['{"query":"ferry 2"}', '{"query":"ferry 1"}']


def test_old_calls_are_not_shown_and_are_purged(place: Place, clock: ManualClock) -> None:
    memory = place.open(audit="on", audit_days="30")
    memory.remember("The ferry leaves at noon.")
    memory.recall("ferry")
    clock.step(31 * DAY_US)
    memory.recall("boat")
    assert names(memory) == ["recall"]
    would = run(memory, "purge")
    assert (would.status, would.audit) == ("previewed", 2)
    assert len(outdated(memory.loom, limit=10)) == 2
    gone = run(memory, "purge", yes=True)
    assert (gone.status, gone.audit) == ("erased", 2)
    assert outdated(memory.loom, limit=10) == ()
    assert run(memory, "log_verify", audit=True).problem is None
    assert names(memory, operation="recall") == ["recall"]
    memory.close()
    assert b"leaves at noon" not in kept_bytes(place)


# ---- when it is written


def test_calls_are_written_without_closing(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    other = place.open(audit="off")
    assert eventually(lambda: names(other) == ["remember"])


def test_a_full_batch_is_written_at_once(place: Place, audited: weft.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "FLUSH_S", 60.0)
    audited.remember("The ferry leaves at noon.")
    for _ in range(auditing.BATCH - 1):
        run(audited, "log_head")
    other = place.open(audit="off")
    assert eventually(lambda: len(calls(other, limit=100).calls) == auditing.BATCH)


def test_what_is_destructive_is_on_record_before_its_answer(
    place: Place, audited: weft.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditing, "FLUSH_S", 60.0)
    kept = audited.remember("The ferry leaves at noon.")
    audited.forget(kept.id)
    assert names(place.open(audit="off")) == ["forget", "remember"]


def test_the_thread_ends_with_the_memory(audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    assert "weft-audit" in {thread.name for thread in threading.enumerate()}
    audited.close()
    assert "weft-audit" not in {thread.name for thread in threading.enumerate()}


def test_the_thread_of_a_memory_that_is_let_go_ends_too(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none"}
    weft.open("memory://", directory=tmp_path, environment=environment).remember("The ferry leaves at noon.")

    def ended() -> bool:
        gc.collect()
        return "weft-audit" not in {thread.name for thread in threading.enumerate()}

    assert eventually(ended)


def test_a_full_queue_drops_calls_and_says_how_many(
    place: Place, audited: weft.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    audited.remember("The ferry leaves at noon.")
    audited.loom.audit.flush()  # type: ignore[union-attr]
    monkeypatch.setattr(auditing, "QUEUE", 3)
    for _ in range(5):
        run(audited, "log_head")
    audited.loom.audit.flush()  # type: ignore[union-attr]
    run(audited, "log_head")
    found = calls(audited, operation="log_head").calls
    assert [call.dropped for call in found] == [2, 0, 0, 0]


# ---- when it fails


def test_an_audit_that_cannot_be_written_costs_no_answer(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    place.open(audit="off").remember("The ferry leaves at noon.")
    (place.scratch / "store" / "audit").write_text("in the way")
    memory = place.open(audit="on", log=str(place.scratch / "log"))
    assert memory.recall("ferry").hits
    assert not memory.loom.audit.flush()  # type: ignore[union-attr]
    assert memory.recall("ferry").hits
    lines = [json.loads(line) for line in (place.scratch / "log").read_text().splitlines()]
    assert "audit" not in lines[0]
    assert "is a file" in lines[1]["audit"]
    checks = {check.name: check for check in memory.doctor().checks}
    assert not checks["audit"].ok
    assert [record.name for record in caplog.records] == ["weft.audit"]


def test_what_failed_is_written_once_when_the_store_is_back(place: Place) -> None:
    place.open(audit="off").remember("The ferry leaves at noon.")
    in_the_way = place.scratch / "store" / "audit"
    in_the_way.write_text("in the way")
    memory = place.open(audit="on")
    memory.recall("ferry")
    assert not memory.loom.audit.flush()  # type: ignore[union-attr]
    in_the_way.unlink()
    memory.recall("boat")
    assert names(memory) == ["recall", "recall"]
    assert memory.loom.audit.problem == ""  # type: ignore[union-attr]


def test_no_store_keeps_calls_waiting_and_bounded(clock: ManualClock, audited: weft.Memory) -> None:
    waiting = Audit(lambda: None, clock=clock)
    call = Called(
        writer=audited.loom.writer,
        guard=weft.types.Guard(),
        operation="recall",
        toolset="core",
        effect="read",
        surface="python",
        started=0,
        ended=0,
        milliseconds=1.0,
        given=Said(size=0, beginning=None),
        answer=Said(size=0, beginning=None),
    )
    for _ in range(auditing.QUEUE + 5):
        waiting.note(call)
    assert not waiting.flush()
    waiting.close()


# ---- its chain


def test_the_audit_has_a_chain_of_its_own(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    audited.recall("ferry")
    own = run(audited, "log_head", audit=True)
    assert own.digest != run(audited, "log_head").digest
    assert run(audited, "log_verify", audit=True).problem is None
    audited.close()
    db = apsw.Connection(str(place.scratch / "store" / "audit" / "accounts" / "default.db"))
    db.execute("UPDATE event SET payload = CAST(replace(payload, 'ferry', 'train') AS BLOB) WHERE pos = 2")
    db.close()
    again = place.open(audit="on")
    assert "payload" in run(again, "log_verify", audit=True).problem
    assert run(again, "log_verify").problem is None
    checks = {check.name: check.ok for check in again.doctor().checks}
    assert (checks["log"], checks["audit"]) == (True, False)


def test_the_audit_is_exported_like_any_log(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    run(audited, "log_export", path=str(place.scratch / "calls.jsonl"), audit=True)
    store = audit_store(audited.loom)
    assert store is not None
    written = (place.scratch / "calls.jsonl").read_bytes().splitlines(keepends=True)
    commits = read_commits(store, audited.loom.operator("read"))
    assert written[:-1] == list(write_lines("default", commits))[: len(written) - 1]
    assert b"ToolCall" in written[-2]


def test_a_backup_takes_the_audit_along(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    copied = run(audited, "backup", path=str(place.scratch / "copy"))
    environment = {"HOME": str(place.scratch), "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off"}
    url = f"sqlite://{place.scratch / 'copy'}"
    with weft.open(url, directory=place.root, environment=environment, clock=place.clock) as copy:
        assert run(copy, "log_head", audit=True).digest == copied.audit_digest
        assert names(copy) == ["remember"]


def test_a_backup_of_what_has_no_audit_says_so(place: Place, memory: weft.Memory) -> None:
    memory.remember("The ferry leaves at noon.")
    copied = run(memory, "backup", path=str(place.scratch / "copy"))
    assert copied.notes == ("no call is recorded: there is no audit to copy",)


# ---- the log of operations


def test_one_line_for_each_operation_and_no_words(place: Place) -> None:
    memory = place.open(audit="on", log=str(place.scratch / "operations.log"), session="s1")
    memory.remember("The ferry to Bergen leaves at noon.")
    memory.recall("when does the ferry leave?")
    with pytest.raises(NotFound):
        memory.show("no-such-node")
    written = (place.scratch / "operations.log").read_text()
    lines = [json.loads(line) for line in written.splitlines()]
    assert [(line["op"], line["status"], line["error_code"]) for line in lines] == [
        ("remember", "saved", ""),
        ("recall", "succeeded", ""),
        ("show", "error", "not_found"),
    ]
    assert lines[0]["counts"]["events"] == 1
    assert lines[1]["counts"]["hits"] >= 1
    assert lines[1]["stages"]["text"] > 0
    assert sum(lines[1]["stages"].values()) <= lines[1]["ms"]
    assert {line["session"] for line in lines} == {"s1"}
    assert set(lines[0]) == {
        *("at", "op", "surface", "account", "agent", "session", "ms", "stages", "counts", "status", "error_code")
    }
    assert not any(word in written for word in ("ferry", "Bergen", "no-such-node"))


def test_lines_go_to_a_programs_own_logging(audited: weft.Memory, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="weft.operations"):
        audited.remember("The ferry leaves at noon.")
    (record,) = [each for each in caplog.records if each.name == "weft.operations"]
    assert json.loads(record.getMessage())["op"] == "remember"


def test_lines_on_standard_error_and_none_on_standard_output(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.open(audit="on", log="stderr").remember("The ferry leaves at noon.")
    said = capsys.readouterr()
    assert said.out == ""
    assert json.loads(said.err)["op"] == "remember"


def test_a_log_in_no_directory_is_refused_at_the_start(place: Place) -> None:
    with pytest.raises(Misconfigured):
        place.open(log=str(place.scratch / "missing" / "log"))


def test_a_log_that_cannot_be_written_is_told_once(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    target = place.scratch / "log"
    memory = place.open(log=str(target))
    target.mkdir()
    memory.remember("The ferry leaves at noon.")
    assert memory.recall("ferry").hits
    assert capsys.readouterr().err.count("cannot be written") == 1


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether it comes to hold within some seconds."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.05)
    return False
