"""However a secret comes in, no file holds it afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from msgspec.structs import replace

import weft
from tests.append.privacy.harbour import Harbour
from tests.append.privacy.planted import Planted, planted
from weft.core.errors import Busy
from weft.log.draft import Draft
from weft.log.kinds.memory import Remembered

PLANTED = planted()


def _remember(memory: weft.Memory, harbour: Harbour, number: int, each: Planted) -> None:
    memory.remember(each.text, name=f"note {number}", props={"seen": each.text})


def _add_fact(memory: weft.Memory, harbour: Harbour, number: int, each: Planted) -> None:
    line = " ".join(each.text.split())
    memory.add_fact(f"the berth {number}", "is described as", line[:500])


def _as_a_name(memory: weft.Memory, harbour: Harbour, number: int, each: Planted) -> None:
    memory.add_entity(f"thing {number}: {' '.join(each.text.split())}"[:500])


def _save_decision(memory: weft.Memory, harbour: Harbour, number: int, each: Planted) -> None:
    memory.call("save_decision", title=f"Plan number {number} of the quay", rationale=each.text)


def _record_turns(memory: weft.Memory, harbour: Harbour, number: int, each: Planted) -> None:
    memory.record_turns("talk", [{"speaker": "user", "text": each.text}])


def _ingest(memory: weft.Memory, harbour: Harbour, number: int, each: Planted) -> None:
    (harbour.root / f"doc{number}.md").write_text(f"# Quay {number}\n\n{each.text}\n")
    (harbour.root / f"code{number}.py").write_text(f'"""Quay."""\n\nNOTE = r"""\n{each.text}\n"""\n')
    row = {"id": f"r{number}", "text": each.text, "title": f"row {number}"}
    (harbour.root / f"rows{number}.jsonl").write_text(json.dumps(row) + "\n")
    memory.ingest(harbour.root / f"rows{number}.jsonl")


def _outbox(memory: weft.Memory, harbour: Harbour, number: int, each: Planted) -> None:
    ctx = memory.ctx
    assert ctx.outbox is not None
    draft = Draft(kind="memory.remembered", payload=Remembered(id=ctx.new_id(), text=each.text))
    ctx.outbox.put(
        [draft], writer=ctx.writer, viewer=ctx.viewer, request_id=None, at=1, problem=Busy("busy"), privacy=ctx.privacy
    )


@pytest.mark.parametrize(
    "write",
    [_remember, _add_fact, _as_a_name, _save_decision, _record_turns, _ingest, _outbox],
    ids=lambda f: f.__name__,
)
def test_no_file_holds_a_secret_that_was_written(
    harbour: Harbour, write: Callable[[weft.Memory, Harbour, int, Planted], None]
) -> None:
    memory = harbour.open(sensitive="0")
    written = PLANTED if write in (_remember, _ingest) else PLANTED[::4]  # all of them the two likeliest ways
    for number, each in enumerate(written):
        write(memory, harbour, number, each)
    if write is _ingest:
        memory.ingest(harbour.root)
    assert harbour.holds(*(each.secret for each in written)) == []


def test_a_question_in_a_receipt_and_the_audit_hold_none(harbour: Harbour) -> None:
    memory = harbour.open(sensitive="0", audit="1")
    memory.remember("The quay opens at nine.")
    for each in PLANTED[::10]:
        memory.recall(f"the quay and {each.text}"[:4000], receipt=True)
    assert harbour.holds(*(each.secret for each in PLANTED[::10])) == []


def test_a_key_that_was_made_is_kept_nowhere(harbour: Harbour) -> None:
    memory = harbour.open(sensitive="0", audit="1")
    memory.remember("The quay opens at nine.")
    made = memory.call("key_new")
    assert harbour.holds(made.key.partition(":")[2]) == []  # type: ignore[attr-defined]


def test_an_answer_says_what_was_redacted_and_never_what_it_was(harbour: Harbour) -> None:
    memory = harbour.open()
    secret = "hunter2" + "-x9"
    told = memory.remember(f"The password is {secret} and the gate code is plain.")
    assert told.notes == ("redacted before it was kept: 1 password",)
    assert memory.show(told.id).node.text == "The password is [redacted: password] and the gate code is plain."
    (harbour.root / "notes.md").write_text(f"# Gate\n\npassword: {secret}\n")
    assert "redacted before it was kept: 1 password" in memory.ingest(harbour.root / "notes.md").notes
    assert memory.ingest(harbour.root / "notes.md").unchanged == 1


def test_a_request_repeated_with_a_secret_in_it_is_the_same_request(harbour: Harbour) -> None:
    memory = harbour.open()
    text = "The password is " + "hunter2" + "-x9"
    first = memory.remember(text, request_id="r1")
    assert memory.remember(text, request_id="r1").status == "duplicate_skip"
    turns = memory.record_turns("talk", [f"user: {text}"], request_id="r2")
    assert memory.record_turns("talk", [f"user: {text}"], request_id="r2").status == "duplicate_skip"
    assert first.status == turns.status == "saved"


def test_records_read_again_are_unchanged(harbour: Harbour) -> None:
    memory = harbour.open()
    rows = [{"id": str(n), "text": each.text, "title": "t"} for n, each in enumerate(PLANTED[::9])]
    rows += [{"id": f"t{n}", "session": "s", "speaker": "user", "text": e.text} for n, e in enumerate(PLANTED[::9])]
    file = harbour.root / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    assert memory.ingest(file).records == len(rows)
    assert memory.ingest(file).unchanged == len(rows)


def test_redaction_can_be_turned_off(harbour: Harbour) -> None:
    memory = harbour.open(redaction="off")
    told = memory.remember("The password is hunter2-x9.")
    assert memory.show(told.id).node.text == "The password is hunter2-x9."
    assert told.notes == ()


def test_a_property_is_redacted_by_its_name(harbour: Harbour) -> None:
    memory = harbour.open()
    told = memory.remember("The gate.", props={"gate_password": "tr0ub4dor", "colour": "red"})
    assert memory.show(told.id).node.props == {"gate_password": "[redacted: password]", "colour": "red"}


def test_what_weft_made_itself_is_left_alone(harbour: Harbour) -> None:
    """Ids, slots and hashes go through unchanged, whatever they look like."""
    memory = harbour.open()
    odd = "password=hunter2-x9"
    draft = Draft(
        kind="memory.remembered", payload=Remembered(id=odd, text="the gate", props={"sha256": odd, "slot": odd})
    )
    made = replace(memory.ctx).append([draft]).events[0]
    assert made.payload is not None
    assert memory.show(odd).node.props == {"sha256": odd, "slot": odd}
