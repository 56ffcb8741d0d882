"""When the audit is written, what happens where it cannot be, and its chain."""

from __future__ import annotations

import gc
import json
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import weft
from tests.access.audited import audited, calls, names
from tests.places import Place
from weft.access.audit import audit_store
from weft.core.errors import Misconfigured, NotFound
from weft.log.jsonl import write_lines
from weft.log.verify import read_commits
from weft.runtime import audit_log as auditing
from weft.runtime.audit_log import Audit, AuditedCall, AuditExcerpt
from weft.testing.clock import ManualClock

__all__ = ["audited"]  # fixtures


# ---- when it is written


def test_calls_are_written_without_closing(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    other = place.open(audit="off")
    assert eventually(lambda: names(other) == ["remember"])


def test_a_full_batch_is_written_at_once(place: Place, audited: weft.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "FLUSH_S", 60.0)
    audited.remember("The ferry leaves at noon.")
    for _ in range(auditing.BATCH - 1):
        audited.call("log_head")
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
    audited.ctx.audit.flush()  # type: ignore[union-attr]
    monkeypatch.setattr(auditing, "QUEUE", 3)
    for _ in range(5):
        audited.call("log_head")
    audited.ctx.audit.flush()  # type: ignore[union-attr]
    audited.call("log_head")
    found = calls(audited, operation="log_head").calls
    assert [call.dropped for call in found] == [2, 0, 0, 0]


# ---- when it fails


def test_an_audit_that_cannot_be_written_costs_no_answer(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    place.open(audit="off").remember("The ferry leaves at noon.")
    (place.scratch / "store" / "audit").write_text("in the way")
    memory = place.open(audit="on", log=str(place.scratch / "log"))
    assert memory.recall("ferry").hits
    assert not memory.ctx.audit.flush()  # type: ignore[union-attr]
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
    assert not memory.ctx.audit.flush()  # type: ignore[union-attr]
    in_the_way.unlink()
    memory.recall("boat")
    assert names(memory) == ["recall", "recall"]
    assert memory.ctx.audit.problem == ""  # type: ignore[union-attr]


def test_no_store_keeps_calls_waiting_and_bounded(clock: ManualClock, audited: weft.Memory) -> None:
    waiting = Audit(lambda: None, clock=clock)
    call = AuditedCall(
        writer=audited.ctx.writer,
        guard=weft.core.types.Guard(),
        operation="recall",
        toolset="core",
        effect="read",
        surface="python",
        started=0,
        ended=0,
        milliseconds=1.0,
        given=AuditExcerpt(size=0, beginning=None),
        answer=AuditExcerpt(size=0, beginning=None),
    )
    for _ in range(auditing.QUEUE + 5):
        waiting.note(call)
    assert not waiting.flush()
    waiting.close()


# ---- its chain


def test_the_audit_has_a_chain_of_its_own(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    audited.recall("ferry")
    own = audited.call("log_head", audit=True)
    assert own.digest != audited.call("log_head").digest
    assert audited.call("log_verify", audit=True).problem is None
    audited.close()
    db = apsw.Connection(str(place.scratch / "store" / "audit" / "accounts" / "default.db"))
    db.execute("UPDATE event SET payload = CAST(replace(payload, 'ferry', 'train') AS BLOB) WHERE pos = 2")
    db.close()
    again = place.open(audit="on")
    assert "payload" in again.call("log_verify", audit=True).problem
    assert again.call("log_verify").problem is None
    checks = {check.name: check.ok for check in again.doctor().checks}
    assert (checks["log"], checks["audit"]) == (True, False)


def test_the_audit_is_exported_like_any_log(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    audited.call("log_export", path=str(place.scratch / "calls.jsonl"), audit=True)
    store = audit_store(audited.ctx)
    assert store is not None
    written = (place.scratch / "calls.jsonl").read_bytes().splitlines(keepends=True)
    commits = read_commits(store, audited.ctx.operator("read"))
    assert written[:-1] == list(write_lines("default", commits))[: len(written) - 1]
    assert b"ToolCall" in written[-2]


def test_a_backup_takes_the_audit_along(place: Place, audited: weft.Memory) -> None:
    audited.remember("The ferry leaves at noon.")
    copied = audited.call("backup", path=str(place.scratch / "copy"))
    environment = {"HOME": str(place.scratch), "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off"}
    url = f"sqlite://{place.scratch / 'copy'}"
    with weft.open(url, directory=place.root, environment=environment, clock=place.clock) as copy:
        assert copy.call("log_head", audit=True).digest == copied.audit_digest
        assert names(copy) == ["remember"]


def test_a_backup_of_what_has_no_audit_says_so(place: Place, memory: weft.Memory) -> None:
    memory.remember("The ferry leaves at noon.")
    copied = memory.call("backup", path=str(place.scratch / "copy"))
    assert copied.notes == ("no calls are recorded: there is no audit to copy",)


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
