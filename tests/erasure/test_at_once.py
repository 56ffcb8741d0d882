"""Two that replace payloads at once: whoever comes second looks again, and nothing comes back."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import weft
from tests.append.privacy.harbour import KEYS
from tests.erasure.rival import MARA, ROOMS, TOM, memory_at
from tests.erasure.test_erasure import is_one
from tests.erasure.test_sealed_anew import NEW, OLD, anew
from weft.core.commits import Batch, Plan
from weft.core.errors import NotFound
from weft.core.ports import Store
from weft.core.types import Event
from weft.erasure import erase_log as erasure
from weft.erasure.affected import Affected
from weft.erasure.rewrite_log import RewriteAccess
from weft.erasure.rotate_keys import reencrypt
from weft.log.draft import Draft
from weft.log.kinds import conversation, document
from weft.testing.clock import ManualClock
from weft.testing.contracts.erasure_contract import WRITER, erased, everything
from weft.testing.scribe import Scribe, edge, memory_of, node
from weft.testing.viewers import OPERATOR


class Before:
    """A store where something else happens just before the first commit that replaces something."""

    def __init__(self, store: Store, act: Callable[[], object]) -> None:
        self._store, self._act, self.acted = store, act, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def commit(self, account: str, plan: Plan) -> Batch:
        if not self.acted and self._would_replace(account, plan):
            self.acted = True
            self._act()
        return self._store.commit(account, plan)

    def _would_replace(self, account: str, plan: Plan) -> bool:
        class Looked(Exception):
            pass

        def look(view: Any) -> Batch:
            batch = plan(view)
            if batch.scrub is not None:
                raise Looked
            return Batch(commit=None, events=(), changes=batch.changes)

        try:
            self._store.commit(account, look)
        except Looked:
            return True
        return False


def others_first(scribe: Scribe, act: Callable[[], object], then: Callable[[Scribe], object]) -> None:
    """Does `then`, and `act` in its window: after everything was read, before anything is written."""
    before = Before(scribe.store, act)
    then(Scribe(before, scribe.clock))  # type: ignore[arg-type]
    assert before.acted


def both_in_one(scribe: Scribe) -> None:
    """A talk and a document that speak of two people, in one event each; and a slot that they share."""
    said = [
        conversation.MessageText(id=f"talk#{n}", seq=n, text=f"{who} has {what}", role="user") for n, who, what in SAID
    ]
    talk = conversation.Recorded(id="talk", messages=tuple(said), opens=True, title="a talk", scope="public")
    read = [
        document.SectionText(id=f"doc#{n}", title=who, level=1, line=n, end_line=n, text=f"{who} has {what}")
        for n, who, what in SAID
    ]
    doc = document.Ingested(
        id="doc", source="team.md", title="Team", sha256="ab" * 32, sections=tuple(read), scope="public"
    )
    scribe.one(Draft(kind="conversation.recorded", payload=talk))
    scribe.one(Draft(kind="document.ingested", payload=doc))
    scribe.one(node("fact:1", "Mara leads", slot="lead of wombats"))
    scribe.one(node("fact:2", "Tom leads", slot="lead of wombats"))


SAID = ((1, "Mara", "a wombat"), (2, "Tom", "a quokka"), (3, "Ann", "a kettle"))


def test_two_erasures_at_once_bring_nothing_back(scribe: Scribe) -> None:
    both_in_one(scribe)
    others_first(
        scribe,
        lambda: erased(scribe, "fact:2", names=("Tom",)),
        lambda late: erased(late, "fact:1", names=("Mara",)),
    )
    assert not any(word in everything(scribe) for word in ("Mara", "Tom", "wombat", "quokka", "lead of"))
    assert scribe.texts("talk#3", "doc#3") == {"talk#3": "Ann has a kettle", "doc#3": "Ann has a kettle"}
    assert is_one(scribe)


def test_a_slot_of_which_two_erasures_each_take_a_half_keeps_no_name(scribe: Scribe) -> None:
    """Each would leave it its name, for the other's sake."""
    scribe.one(node("fact:1", "rope", slot="lead of wombats"))
    scribe.one(node("fact:2", "tar", slot="lead of wombats"))
    others_first(scribe, lambda: erased(scribe, "fact:2"), lambda late: erased(late, "fact:1"))
    assert "wombats" not in everything(scribe)
    assert is_one(scribe)


def test_the_same_erasure_twice_at_once(scribe: Scribe) -> None:
    both_in_one(scribe)
    others_first(scribe, lambda: erased(scribe, names=("Tom",)), lambda late: erased(late, names=("Tom",)))
    assert not any(word in everything(scribe) for word in ("Tom", "quokka"))
    assert is_one(scribe)


def sealed_anew(scribe: Scribe) -> Any:
    return reencrypt(
        RewriteAccess(store=scribe.store, writer=WRITER, viewer=OPERATOR, clock=scribe.clock, progress=lambda *_: None),
        anew,
    )


def one_sealed(scribe: Scribe) -> None:
    for name in ("a", "b"):
        scribe.write(node(name, OLD), memory_of(f"{name}-memory", f"of {name}", props={"note": OLD}))
        scribe.write(edge(f"{name}-memory", "MENTIONS", name))


def test_sealing_anew_does_not_bring_back_what_was_erased_meanwhile(scribe: Scribe) -> None:
    one_sealed(scribe)
    others_first(scribe, lambda: erased(scribe, "a", "a-memory"), sealed_anew)
    assert OLD not in everything(scribe)
    assert scribe.texts("a", "a-memory", "b") == {"b": NEW}
    assert is_one(scribe)


def test_an_erasure_takes_out_what_was_sealed_anew_meanwhile(scribe: Scribe) -> None:
    one_sealed(scribe)
    others_first(scribe, lambda: sealed_anew(scribe), lambda late: erased(late, "a", "a-memory"))
    assert OLD not in everything(scribe)
    assert scribe.texts("a", "a-memory", "b") == {"b": NEW}
    assert is_one(scribe)


def test_what_is_written_with_the_old_key_meanwhile_is_sealed_anew_too(scribe: Scribe) -> None:
    one_sealed(scribe)
    done: list[Any] = []
    others_first(scribe, lambda: scribe.one(node("late", OLD)), lambda late: done.append(sealed_anew(late)))
    assert (done[0].events, done[0].late) == (5, 1)
    assert OLD not in everything(scribe)
    assert done[0].upto == scribe.store.head(OPERATOR).pos


def test_many_erasures_and_writers_in_one_process(scribe: Scribe) -> None:
    people = [f"Person{n}x" for n in range(4)]
    for n in range(24):
        scribe.write(*(node(f"{who}:{n}", f"{who} said number {n}") for who in people), node(f"kept:{n}", f"tea {n}"))
    failures: list[BaseException] = []

    def go(who: str) -> None:
        try:
            erased(Scribe(scribe.store, ManualClock()), names=(who,))
        except BaseException as problem:
            failures.append(problem)

    threads = [threading.Thread(target=go, args=(who,)) for who in people]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []
    assert not any(who in everything(scribe) for who in people)
    assert len(scribe.texts(*(f"kept:{n}" for n in range(24)))) == 24
    assert is_one(scribe)


# ---- processes


def beside(root: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.erasure.rival", str(root), *words]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stdout.readline() == "ready\n"
    return started


def both(*started: subprocess.Popen[str]) -> list[Any]:
    for each in started:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    said = [each.communicate(timeout=90)[0] for each in started]
    assert [each.returncode for each in started] == [0] * len(started)
    return [json.loads(each) for each in said]


@pytest.mark.parametrize("rival", ["erase", "rotate"])
def test_two_processes_at_once(tmp_path: Path, rival: str) -> None:
    """Real ones, over one directory: all that either was to remove is gone, all the rest stands."""
    memory = memory_at(tmp_path, KEYS["old"])
    memory.call("project_create", name="ferry")
    for room in range(ROOMS):
        turns = [f"Ann: {MARA} has wombat{room}", f"Ann: {TOM} has quokka{room}", f"Ann: kettle{room} is on"]
        memory.call("record_turns", session=f"room-{room}", turns=turns)
        memory.remember(f"{MARA} and the sealed walrus{room}", sensitive=True)
        memory.remember(f"Sealed ledger{room}", sensitive=True)
    other = ("erase", TOM) if rival == "erase" else ("rotate", "-")
    both(beside(tmp_path, "erase", MARA), beside(tmp_path, *other))
    memory.close()
    memory = memory_at(tmp_path, KEYS["old"] if rival == "erase" else KEYS["new"])
    assert memory.call("log_verify").problem is None
    assert memory.call("rebuild").equal
    log = memory.ctx.store.log(memory.ctx.operator("look"), after=0, limit=10_000)
    kept = [each.payload or b"" for _, events in log for event in events for each in (event, opened(memory, event))]
    gone = ("Quill", "wombat", "walrus") + (("Tarn", "quokka") if rival == "erase" else ("weft-sealed:1:old:",))
    assert [word for word in gone for payload in kept if word.encode() in payload] == []
    for room in range(ROOMS):
        assert memory.recall(f"kettle{room}").hits
        assert f"Sealed ledger{room}" in [hit.node.text for hit in memory.recall(f"Sealed ledger{room}").hits]
    memory.close()


def opened(memory: weft.Memory, event: Event) -> Event:
    return memory.ctx.privacy.event(event)


# ---- what is purged, and brought back meanwhile


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[weft.Memory]:
    made = memory_at(tmp_path, KEYS["old"])
    made.call("project_create", name="ferry")
    for number in range(5):
        made.remember(f"Rope number {number} is coiled")
    yield made
    made.close()


def test_what_is_brought_back_before_it_is_purged_stays(memory: weft.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    told = memory.remember("The brass lamp hangs in the bow")
    memory.call("delete", target=told.id)
    preview = erasure.Erasing.preview

    def brought_back(self: erasure.Erasing) -> erasure.Preview:
        monkeypatch.undo()
        memory.call("restore", id=told.id)
        return preview(self)

    monkeypatch.setattr(erasure.Erasing, "preview", brought_back)
    with pytest.raises(NotFound, match="no deleted node"):
        memory.call("purge", now=told.id, yes=True)
    assert memory.show(told.id).node.text == "The brass lamp hangs in the bow"
    assert memory.call("log_verify").problem is None


def test_what_is_brought_back_in_the_last_moment_stays_and_the_rest_goes(memory: weft.Memory) -> None:
    lamp = memory.remember("The brass lamp hangs in the bow")
    oar = memory.remember("Somebody broke an oar")
    memory.call("delete", target=lamp.id)
    memory.call("delete", target=oar.id)
    store = Before(memory.ctx.store, lambda: memory.call("restore", id=lamp.id))
    concern = Affected((lamp.id, oar.id))
    made = weft.Memory(structs.replace(memory.ctx, store=store)).ctx  # type: ignore[arg-type]
    erasing = erasure.Erasing(
        RewriteAccess(
            store=made.store,
            writer=made.writer,
            viewer=made.operator("erase"),
            clock=made.clock,
            progress=lambda *_: None,
        ),
        concern,
    )
    erasing.only_while_deleted((lamp.id, oar.id))
    done = erasing.run("deleted")
    assert store.acted
    assert "1 nodes were restored meanwhile and stay" in done.notes
    assert memory.show(lamp.id).node.text == "The brass lamp hangs in the bow"
    assert "broke an oar" not in repr(list(memory.ctx.store.graph_rows(memory.ctx.operator("look"))))
    assert memory.call("log_verify").problem is None
    assert memory.call("rebuild").equal
