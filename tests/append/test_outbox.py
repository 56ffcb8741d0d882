"""Writes that wait on the local disk while the store cannot be had: delivered in order, once, as who wrote them."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import weft
from tests.places import Place
from tests.writing.noting import note
from weft.append import outbox as outboxes
from weft.append.outbox import Outbox
from weft.backends.sqlite.files import write_lock as turnstile
from weft.backends.sqlite.files.directory import ACCOUNTS
from weft.backends.sqlite.files.write_lock import WriteQueue
from weft.core.clock import to_iso
from weft.core.errors import Away, Busy, Conflict, DiskFull, Invalid, Misconfigured, StoreError
from weft.core.types import Event, Find, When


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turnstile, "WAIT_S", 0.05)


@contextmanager
def held(place: Place, account: str = "default") -> Iterator[None]:
    """Another writer is at it and does not come to an end."""
    directory = place.scratch / "store" / ACCOUNTS
    with WriteQueue(directory, account).turn():
        yield


def box(memory: weft.Memory) -> Outbox:
    assert memory.ctx.outbox is not None
    return memory.ctx.outbox


def files(memory: weft.Memory) -> list[Path]:
    return sorted(box(memory).directory.glob("*.json"))


def log(memory: weft.Memory) -> list[Event]:
    viewer = memory.ctx.operator("read the log")
    return [event for _, events in memory.ctx.store.log(viewer, after=0, limit=1000) for event in events]


def texts(memory: weft.Memory) -> list[str]:
    found = memory.ctx.store.find(memory.ctx.viewer, When(), Find(kinds=("Memory",)), limit=100).nodes
    return [node.text for node in reversed(found)]


@pytest.fixture
def begun(memory: weft.Memory) -> weft.Memory:
    note(memory, "first")
    return memory


def test_a_write_that_finds_the_store_busy_waits_and_is_delivered_before_the_next(
    begun: weft.Memory, place: Place
) -> None:
    with held(place):
        second, third = note(begun, "second"), note(begun, "third")
        assert (second.status, second.citation) == ("pending_retry", "")
        assert any("is delivered later" in line for line in second.notes)
        assert texts(begun) == ["first"]
    fourth = note(begun, "fourth")
    assert fourth.status == "saved"
    assert texts(begun) == ["first", "second", "third", "fourth"]
    assert begun.show(second.id).node.text == "second", "under the id that was told"  # type: ignore[union-attr]
    assert begun.show(third.id).node is not None
    assert files(begun) == []


def test_another_process_delivers_what_waits_as_who_wrote_it(place: Place) -> None:
    author = place.open(agent="scribe", session="watch", role="agent")
    note(author, "first")
    with held(place):
        note(author, "second")
    author.close()
    other = place.open()
    answer = other.call("deliver_pending")
    assert (answer.delivered, answer.left) == (1, 0)
    last = log(other)[-1]
    assert (last.actor.agent, last.actor.role, last.session) == ("scribe", "agent", "watch")


def test_what_waited_is_of_the_time_it_was_said_and_known_when_it_came(begun: weft.Memory, place: Place) -> None:
    said = place.clock.now_us()
    with held(place):
        late = note(begun, "the bell rang")
    place.clock.step(3_600_000_000)
    begun.call("deliver_pending")
    node = begun.show(late.id).node
    assert node is not None
    assert node.valid_from == to_iso(said)
    assert node.recorded_at >= to_iso(said + 3_600_000_000)


def test_a_delivery_that_was_cut_short_after_the_store_had_it_writes_nothing_twice(
    begun: weft.Memory, place: Place, tmp_path: Path
) -> None:
    with held(place):
        note(begun, "second")
        note(begun, "third")
    kept = [shutil.copy(file, tmp_path / file.name) for file in files(begun)]
    begun.call("deliver_pending")
    before = len(log(begun))
    for file in kept:  # as if the process had died before removing them
        shutil.copy(file, box(begun).directory)
    answer = begun.call("deliver_pending")
    assert (answer.delivered, answer.left) == (2, 0)
    assert len(log(begun)) == before
    assert files(begun) == []


def test_a_write_with_a_precondition_fails_and_is_not_kept(begun: weft.Memory, place: Place) -> None:
    with held(place):
        with pytest.raises(Busy):
            note(begun, "only if", expected_head=1)
        assert files(begun) == []
        note(begun, "second")
        with pytest.raises(Busy):
            note(begun, "only if", expected_head=1)
    with pytest.raises(Conflict):  # what waited went first: the session stands elsewhere now
        note(begun, "only if", expected_head=1)
    assert texts(begun) == ["first", "second"]


def test_only_its_owner_may_read_what_waits(begun: weft.Memory, place: Place) -> None:
    with held(place):
        note(begun, "second")
    (file,) = files(begun)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for directory in (file.parent, file.parent.parent, file.parent.parent.parent):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert place.scratch / "store" not in file.parents


def test_the_same_request_waits_once(begun: weft.Memory, place: Place) -> None:
    with held(place):
        one, two = note(begun, "second", request_id="r-2"), note(begun, "second", request_id="r-2")
        assert (one.id, one.status) == (two.id, two.status)
        assert len(files(begun)) == 1
        with pytest.raises(Conflict, match="waits with something else"):
            note(begun, "another", request_id="r-2")
    assert note(begun, "second", request_id="r-2").status == "duplicate_skip"
    assert texts(begun) == ["first", "second"]


def test_what_is_wrong_is_told_at_once_and_not_kept(begun: weft.Memory, place: Place) -> None:
    with held(place), pytest.raises(Invalid, match="NUL"):
        note(begun, "a\x00b")
    assert files(begun) == []


def test_what_the_store_refuses_is_set_aside_and_holds_up_nothing(place: Place) -> None:
    owner = place.open()
    note(owner, "first", id="secret:1")
    guest = place.open(scopes="shared", agent="guest", role="agent")
    with held(place):
        assert note(guest, "mine now", id="secret:1").status == "pending_retry"
        note(guest, "harmless")
    answer = owner.call("deliver_pending")
    assert (answer.delivered, len(answer.refused), answer.left) == (1, 1, 0)
    assert texts(owner) == ["first", "harmless"]
    listed = owner.call("pending_list")
    assert listed.waiting == ()
    assert [each.ids for each in listed.refused] == [("secret:1",)]
    assert "not yours to change" in listed.refused[0].reason
    check = next(each for each in owner.doctor().checks if each.name == "outbox")
    assert not check.ok
    assert "1 were refused" in check.detail
    assert note(owner, "third").status == "saved"
    again = owner.call("deliver_pending", refused=True)
    assert len(again.refused) == 1, "the reason is still there"


def test_a_damaged_file_is_set_aside(begun: weft.Memory, place: Place) -> None:
    with held(place):
        note(begun, "second")
        note(begun, "third")
    first, _ = files(begun)
    first.write_bytes(first.read_bytes()[:-9])
    assert note(begun, "fourth").status == "saved"
    assert texts(begun) == ["first", "third", "fourth"]
    (refused,) = begun.call("pending_list").refused
    assert "damaged" in refused.reason


def test_accounts_and_stores_have_outboxes_of_their_own(begun: weft.Memory, place: Place) -> None:
    other = place.open(account="other")
    note(other, "theirs")
    with held(place):
        note(begun, "second")
    assert files(other) == []
    assert other.call("deliver_pending").delivered == 0
    (file,) = files(begun)
    box(other).directory.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, box(other).directory)  # a stray hand
    answer = other.call("deliver_pending")
    assert (answer.delivered, len(answer.refused)) == (0, 1)
    assert texts(other) == ["theirs"]
    assert begun.call("deliver_pending").delivered == 1
    environment = {"HOME": str(place.scratch), "WEFT_EMBEDDER": "none"}
    with weft.open(f"sqlite://{place.scratch / 'second'}", directory=place.root, environment=environment) as second:
        assert box(second).directory != box(begun).directory


def test_what_waits_is_listed_and_told_by_the_doctor(begun: weft.Memory, place: Place) -> None:
    assert next(each for each in begun.doctor().checks if each.name == "outbox").detail == "no writes are waiting"
    with held(place):
        waiting = note(begun, "a word that nobody else should read")
    listed = begun.call("pending_list")
    (shown,) = listed.waiting
    assert (shown.ids, shown.agent, shown.kinds) == ((waiting.id,), "operator", ("memory.remembered",))
    assert "nobody else" not in str(listed)
    check = next(each for each in begun.doctor().checks if each.name == "outbox")
    assert check.ok
    assert check.detail.startswith("1 writes wait, the first since")
    guest = place.open(scopes="shared", agent="guest", role="agent")
    assert guest.call("pending_list").waiting == ()


def test_the_outbox_has_an_end(begun: weft.Memory, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outboxes, "MAX_ENTRIES", 2)
    with held(place):
        note(begun, "second")
        note(begun, "third")
        with pytest.raises(Busy):
            note(begun, "fourth")
        monkeypatch.setattr(outboxes, "MAX_ENTRIES", 10)
        monkeypatch.setattr(outboxes, "MAX_BYTES", 1_000)
        with pytest.raises(Busy):
            note(begun, "fourth")
    assert begun.call("deliver_pending").delivered == 2


def test_a_write_delivers_a_bounded_number_and_waits_behind_the_rest(
    begun: weft.Memory, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held(place):
        for number in range(5):
            note(begun, f"waiting {number}")
    monkeypatch.setattr("weft.writing.build.commit.DELIVERED_BEFORE_A_WRITE", 3)
    assert note(begun, "behind").status == "pending_retry"
    assert note(begun, "last").status == "saved"
    assert texts(begun) == ["first", *(f"waiting {number}" for number in range(5)), "behind", "last"]


def test_a_full_local_disk_is_an_error(begun: weft.Memory, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with held(place):
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(DiskFull, match="no space left"):
            note(begun, "second")
        monkeypatch.undo()
    assert list(box(begun).directory.glob("**/*.json*")) == []


def test_an_error_that_does_not_mend_by_waiting_is_raised(begun: weft.Memory, place: Place) -> None:
    begun.close()
    (database,) = (place.scratch / "store" / ACCOUNTS).glob("*.db")
    database.write_bytes(b"not a database at all " * 400)
    with pytest.raises(StoreError):
        note(begun, "second")
    assert files(begun) == []


class Elsewhere:
    """A store on a server that can be switched off: what it does it does with the real one."""

    def __init__(self, store: Any) -> None:
        self._store, self.on = store, True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def commit(self, account: str, plan: Any) -> Any:
        if not self.on:
            raise Away("the server does not answer", hint="try again later")
        return self._store.commit(account, plan)


def test_a_write_waits_for_a_server_that_is_away(begun: weft.Memory) -> None:
    server = Elsewhere(begun.ctx.store)
    memory = weft.Memory(replace(begun.ctx, store=server))
    server.on = False
    assert note(memory, "second").status == "pending_retry"
    answer = memory.call("deliver_pending")
    assert (answer.delivered, answer.left) == (0, 1)
    assert any("does not answer" in line for line in answer.notes)
    server.on = True
    assert note(memory, "third").status == "saved"
    assert texts(memory) == ["first", "second", "third"]


def test_without_an_outbox_the_error_is_raised(place: Place) -> None:
    memory = place.open(outbox="")
    note(memory, "first")
    with held(place), pytest.raises(Busy):
        note(memory, "second")
    with pytest.raises(Misconfigured):
        memory.call("deliver_pending")
    with weft.open("memory://", directory=place.root, environment={"HOME": str(place.scratch)}) as throwaway:
        assert throwaway.ctx.outbox is None


def test_words_that_wait_are_the_same_request_at_a_later_moment(begun: weft.Memory, place: Place) -> None:
    with held(place):
        one = begun.remember("Ana Holt keeps the boats in Narvik.", request_id="r-9")
        place.clock.step(1_000_000)
        two = begun.remember("Ana Holt keeps the boats in Narvik.", request_id="r-9")
        assert (one.status, two.status, one.id) == ("pending_retry", "pending_retry", two.id)
        assert len(files(begun)) == 1
        for other in (
            {"text": "Ana sold the boats."},
            {"text": "Ana Holt keeps the boats in Narvik.", "scope": "public"},
        ):
            with pytest.raises(Conflict, match="waits with something else"):
                begun.remember(**other, request_id="r-9")
        assert len(files(begun)) == 1
    begun.call("deliver_pending")
    assert texts(begun) == ["first", "Ana Holt keeps the boats in Narvik."]
