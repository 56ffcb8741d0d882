"""Following a chain costs what a commit holds, however many sessions came before; a bad commit moves nothing."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from weft.backends.memory import MemoryStore
from weft.log.chain import commit_genesis
from weft.log.verify import ChainChecker
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, node
from weft.testing.viewers import OPERATOR


class Unread(dict[str, tuple[int, bytes]]):
    """May be looked up in, not gone over."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("every session was read")

    keys = items = values = copy = __iter__


def test_a_commit_touches_its_own_sessions_only() -> None:
    clock = ManualClock()
    scribe = Scribe(MemoryStore(commit_genesis, clock=clock), clock)
    for number in range(6):
        scribe.one(node(f"n{number}"), session=f"s{number % 3}")
    checker = ChainChecker(OPERATOR.account)
    checker.sessions = Unread()
    for commit, events in scribe.store.log(OPERATOR, after=0, limit=100):
        wrong = (*events[:-1], replace(events[-1], hash=b"0" * 32))
        before = [checker.sessions.get(f"s{n}") for n in range(3)]
        assert checker.check(commit, wrong) is not None
        assert checker.check(replace(commit, digest=b"0" * 32), events) is not None
        assert [checker.sessions.get(f"s{n}") for n in range(3)] == before
        assert checker.check(commit, events) is None
    heads = {head.session: (head.seq, head.hash) for head in scribe.store.session_heads(OPERATOR, limit=10)}
    assert dict.items(checker.sessions) == heads.items()
