"""A file of tokens and several books on it, against a model: a dictionary that imports nothing of theirs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule
from msgspec.structs import replace

from weft.access.tokens import Token, TokenBook, mint
from weft.core.clock import to_iso
from weft.core.errors import Conflict, NotFound
from weft.testing.clock import HOUR_US, START_US

BOOKS = 3
books = st.integers(0, BOOKS - 1)
names = st.sampled_from(["", "laptop", "phone"])


class Known(NamedTuple):
    """What the model knows of a token."""

    id: str
    name: str
    ends_us: int | None
    revoked: bool


class TokenBooks(RuleBasedStateMachine):
    """Creating, revoking, waiting and asking, through any of the books."""

    bearers = Bundle("bearers")

    def __init__(self) -> None:
        super().__init__()
        self.scratch = tempfile.TemporaryDirectory()
        path = Path(self.scratch.name) / "tokens.json"
        self.books = [TokenBook(path) for _ in range(BOOKS)]
        self.now_us = START_US
        self.known: dict[str, Known] = {}  # by bearer

    def teardown(self) -> None:
        self.scratch.cleanup()

    def live(self, known: Known) -> bool:
        return not known.revoked and (known.ends_us is None or self.now_us < known.ends_us)

    @rule(target=bearers, book=books, name=names, hours=st.none() | st.integers(1, 5), agent=st.sampled_from("ab"))
    def create(self, book: int, name: str, hours: int | None, agent: str) -> str:
        ends_us = None if hours is None else self.now_us + hours * HOUR_US
        who = Token(id="", hash="", account="default", agent=agent, created=to_iso(self.now_us), name=name)
        token, bearer = mint(replace(who, expires=to_iso(ends_us) if ends_us else ""))
        self.books[book].add(token, self.now_us)
        self.known[bearer] = Known(token.id, name, ends_us, revoked=False)
        return bearer

    @rule(book=books, bearer=bearers)
    def revoke(self, book: int, bearer: str) -> None:
        known = self.known[bearer]
        _, fresh = self.books[book].revoke(known.id, self.now_us)
        assert fresh is not known.revoked
        self.known[bearer] = known._replace(revoked=True)

    @rule(book=books, name=names.filter(bool))
    def revoke_by_name(self, book: int, name: str) -> None:
        same = [bearer for bearer, known in self.known.items() if known.name == name and self.live(known)]
        if len(same) != 1:
            with pytest.raises(Conflict if same else NotFound):
                self.books[book].revoke(name, self.now_us)
            return
        assert self.books[book].revoke(name, self.now_us)[0].id == self.known[same[0]].id
        self.known[same[0]] = self.known[same[0]]._replace(revoked=True)

    @rule(book=books)
    def revoke_nobody(self, book: int) -> None:
        with pytest.raises(NotFound):
            self.books[book].revoke("0" * 12, self.now_us)

    @rule(hours=st.integers(-2, 3))
    def wait(self, hours: int) -> None:
        self.now_us += hours * HOUR_US

    @rule(book=books, bearer=consumes(bearers), at=st.integers(18, 81), letter=st.sampled_from("0f"))
    def guess(self, book: int, bearer: str, at: int, letter: str) -> None:
        wrong = bearer[:at] + letter + bearer[at + 1 :]
        admitted = self.books[book].admit(wrong, self.now_us)
        assert admitted is None or wrong == bearer

    @invariant()
    def every_book_admits_those_that_are_live_and_no_others(self) -> None:
        for book in self.books:
            for bearer, known in self.known.items():
                admitted = book.admit(bearer, self.now_us)
                assert (admitted.id if admitted else None) == (known.id if self.live(known) else None)
            assert [token.id for token in book.tokens()] == [known.id for known in self.known.values()]


TestTokenBooks = TokenBooks.TestCase
