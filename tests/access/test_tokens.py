"""Tokens: who is admitted, what is kept of a token, and what a file that cannot be trusted does."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from weft.access import tokens
from weft.access.tokens import Token, TokenBook, mint
from weft.core.clock import to_iso
from weft.core.errors import (
    Busy,
    Conflict,
    Corrupt,
    Misconfigured,
    NotFound,
    SchemaMismatch,
    StoreError,
    TooLarge,
    WeftError,
)
from weft.testing.clock import DAY_US, START_US

WHO = Token(id="", hash="", account="default", agent="ann", created=to_iso(START_US), name="laptop")


@pytest.fixture
def book(tmp_path: Path) -> TokenBook:
    return TokenBook(tmp_path / "store" / "tokens.json")


def issue(book: TokenBook, **more: Any) -> tuple[Token, str]:
    token, bearer = mint(replace(WHO, **more))
    book.add(token, START_US)
    return token, bearer


def test_who_shows_a_token_is_who_it_was_made_for(book: TokenBook) -> None:
    token, bearer = issue(book, scopes=("public",), project="ferry")
    assert book.admit(bearer, START_US) == token
    assert TokenBook(book.path).admit(bearer, START_US) == token, "as another process reads it"


def test_where_there_is_no_file_nobody_is_admitted(book: TokenBook) -> None:
    assert book.tokens() == ()
    assert book.admit(mint(WHO)[1], START_US) is None
    assert not book.path.parent.exists(), "asking makes nothing"


def test_what_is_wrong_unknown_or_no_token_is_not_admitted(book: TokenBook) -> None:
    token, bearer = issue(book)
    other, _ = mint(WHO)
    last = "0" if bearer[-1] != "0" else "1"
    wrong = [
        "",
        "weft",
        bearer[:-1],
        bearer[:-1] + last,
        bearer + "0",
        bearer + "\n",
        f" {bearer}",
        bearer.upper(),
        bearer.replace(token.id, other.id),
        f"weft_{token.id}_{token.hash}",
        token.hash,
        token.id,
        bearer.replace("0", "０"),  # a full-width zero is no digit here
        "\ud800",
        "weft_" * 10_000,
    ]
    assert [each for each in wrong if each != bearer and book.admit(each, START_US) is not None] == []


def test_a_token_ends_when_it_expires_and_when_it_is_revoked(book: TokenBook) -> None:
    token, bearer = issue(book, expires=to_iso(START_US + DAY_US))
    forever, kept = issue(book)
    assert book.admit(bearer, START_US + DAY_US - 1) == token
    assert book.admit(bearer, START_US + DAY_US) is None
    assert book.admit(kept, START_US + 10_000 * DAY_US) == forever
    revoked, fresh = book.revoke(forever.id, START_US + 5)
    assert (revoked.revoked, fresh) == (to_iso(START_US + 5), True)
    assert book.admit(kept, START_US) is None, "whatever the clock says"
    assert book.revoke(forever.id, START_US + 9) == (revoked, False)


def test_another_process_sees_a_revocation_with_its_next_request(book: TokenBook) -> None:
    server = TokenBook(book.path)
    issued = [issue(book) for _ in range(20)]
    assert all(server.admit(bearer, START_US) for _, bearer in issued)
    for token, bearer in issued:
        book.revoke(token.id, START_US)
        assert server.admit(bearer, START_US) is None
    book.path.unlink()
    assert server.tokens() == ()


def test_a_token_is_revoked_by_a_name_that_only_it_has(book: TokenBook) -> None:
    first, bearer = issue(book, name="phone")
    issue(book, name="desk")
    issue(book, name="desk")
    assert book.revoke("phone", START_US)[0].id == first.id
    with pytest.raises(Conflict, match="2 tokens have the name 'desk'"):
        book.revoke("desk", START_US)
    for gone in ("phone", "", "nobody"):
        with pytest.raises(NotFound):
            book.revoke(gone, START_US)
    assert book.revoke(bearer, START_US) == (book.tokens()[0], False), "somebody found it"


def test_only_hashes_are_kept_in_files_for_their_owner_alone(book: TokenBook) -> None:
    before = os.umask(0)
    try:
        _, bearer = issue(book)
    finally:
        os.umask(before)
    secret = bearer.rpartition("_")[2]
    files = [each for each in book.path.parent.rglob("*") if each.is_file()]
    assert {each.name for each in files} == {"tokens.json", "tokens.json.lock"}
    for each in files:
        assert secret.encode() not in each.read_bytes()
        assert bytes.fromhex(secret) not in each.read_bytes()
        assert stat.S_IMODE(each.stat().st_mode) == 0o600
    assert stat.S_IMODE(book.path.parent.stat().st_mode) == 0o700


def test_a_wrong_token_takes_a_whole_comparison(book: TokenBook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times are too noisy to test; that hashes are compared by the function made for it, for every token, is not."""
    compared: list[tuple[int, int]] = []
    real = tokens.hmac.compare_digest

    def watched(one: str, other: str) -> bool:
        compared.append((len(one), len(other)))
        return bool(real(one, other))

    _, bearer = issue(book)
    monkeypatch.setattr(tokens.hmac, "compare_digest", watched)
    for shown in (bearer, bearer[:-1] + "x", mint(WHO)[1], "nonsense"):
        book.admit(shown, START_US)
    assert compared == [(64, 64)] * 4


# ---- files that cannot be trusted


def damaged(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def do(path: Path) -> None:
        kept = json.loads(path.read_text())
        path.write_text(json.dumps(change(kept) or kept))

    return do


def first(**changed: Any) -> Callable[[Path], None]:
    return damaged(lambda kept: kept["tokens"][0].update(changed))


DAMAGE: dict[str, tuple[Callable[[Path], object], type[WeftError]]] = {
    "empty": (lambda path: path.write_bytes(b""), Corrupt),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:-40]), Corrupt),
    "no text": (lambda path: path.write_bytes(b"\xff\xfe\x00"), Corrupt),
    "another program's": (lambda path: path.write_text('{"tokens": {"github": "x"}}'), Corrupt),
    "a list": (lambda path: path.write_text("[]"), Corrupt),
    "deep": (lambda path: path.write_text("[" * 100_000), Corrupt),
    "large": (lambda path: os.truncate(path, tokens.MAX_FILE_BYTES + 1), Corrupt),
    "newer": (damaged(lambda kept: kept.update(format=2)), SchemaMismatch),
    "older": (damaged(lambda kept: kept.update(format=0)), Corrupt),
    "an unknown field": (first(only_from="10.0.0.1"), Corrupt),
    "an unknown field beside": (damaged(lambda kept: kept.update(more=1)), Corrupt),
    "a hash of another kind": (first(hash="5f4dcc3b5aa765d61d8327deb882cf99"), Corrupt),
    "no account": (first(account=""), Corrupt),
    "an unknown scope": (first(scopes=["root"]), Corrupt),
    "no scope": (first(scopes=[]), Corrupt),
    "an unknown role": (first(role="root"), Corrupt),
    "an end that is no time": (first(expires="in a year"), Corrupt),
    "two of one id": (damaged(lambda kept: kept.update(tokens=kept["tokens"] * 2)), Corrupt),
    "others may write it": (lambda path: path.chmod(0o620), Misconfigured),
    "a directory": (lambda path: (path.unlink(), path.mkdir()), StoreError),
    "a pipe": (lambda path: (path.unlink(), os.mkfifo(path)), Misconfigured),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_file_that_cannot_be_trusted_admits_nobody_and_says_so(book: TokenBook, how: str) -> None:
    _, bearer = issue(book)
    server = TokenBook(book.path)
    assert server.admit(bearer, START_US)
    harm, error = DAMAGE[how]
    harm(book.path)
    for ask in (
        lambda: server.admit(bearer, START_US),
        lambda: server.admit("", START_US),
        lambda: book.tokens(),
        lambda: book.revoke("laptop", START_US),
        lambda: book.add(mint(WHO)[0], START_US),
    ):
        with pytest.raises((StoreError, Misconfigured)) as caught:
            ask()
        assert isinstance(caught.value, error)
        assert str(book.path) in caught.value.message
        assert caught.value.hint


def test_a_file_that_is_mended_admits_again(book: TokenBook) -> None:
    token, bearer = issue(book)
    whole = book.path.read_bytes()
    book.path.write_bytes(whole[:-3])
    with pytest.raises(Corrupt):
        book.admit(bearer, START_US)
    book.path.write_bytes(whole)
    assert book.admit(bearer, START_US) == token
    book.path.chmod(0o666)
    with pytest.raises(Misconfigured, match="other users of this machine may write"):
        book.admit(bearer, START_US)
    book.path.chmod(0o644)
    assert book.admit(bearer, START_US) == token


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_file_that_others_may_replace_admits_nobody(book: TokenBook, mode: int) -> None:
    token, bearer = issue(book)
    book.path.parent.chmod(mode)
    with pytest.raises(Misconfigured, match="other users of this machine may replace"):
        TokenBook(book.path).admit(bearer, START_US)
    book.path.parent.chmod(mode | 0o1000)  # as /tmp is: what is there is its owner's
    assert TokenBook(book.path).admit(bearer, START_US) == token


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_admits_nobody(book: TokenBook) -> None:
    _, bearer = issue(book)
    os.chown(book.path, 12_345, 12_345)
    with pytest.raises(Misconfigured, match="belongs to another user"):
        TokenBook(book.path).admit(bearer, START_US)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_admits_nobody(book: TokenBook) -> None:
    _, bearer = issue(book)
    book.path.chmod(0o000)
    with pytest.raises(StoreError, match="cannot be read"):
        book.admit(bearer, START_US)


def test_a_link_stays_a_link(book: TokenBook, tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(book.path)
    token, bearer = issue(TokenBook(link))
    assert link.is_symlink()
    assert book.admit(bearer, START_US) == token


# ---- bounds


def test_there_is_a_most_of_tokens_and_dead_ones_make_room(book: TokenBook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MAX_TOKENS", 5)
    issued = [issue(book) for _ in range(5)]
    with pytest.raises(TooLarge, match="5 live tokens"):
        issue(book)
    book.revoke(issued[3][0].id, START_US + 1)
    book.revoke(issued[1][0].id, START_US + 2)
    issue(book)
    assert {token.id for token in book.tokens()} >= {issued[n][0].id for n in (0, 1, 2, 4)}, "the longest dead went"
    assert len(book.tokens()) == 5


def test_a_file_that_would_be_too_large_is_not_written(book: TokenBook, monkeypatch: pytest.MonkeyPatch) -> None:
    issue(book)
    before = book.path.read_bytes()
    monkeypatch.setattr(tokens, "MAX_FILE_BYTES", len(before) + 50)
    with pytest.raises(TooLarge):
        issue(book)
    assert book.path.read_bytes() == before
    assert len(list(book.path.parent.iterdir())) == 2


def test_nobody_waits_for_ever_for_the_lock(book: TokenBook, monkeypatch: pytest.MonkeyPatch) -> None:
    issue(book)
    monkeypatch.setattr(tokens, "LOCK_WAIT_S", 0.2)
    holding = "import fcntl, sys, time; f = open(sys.argv[1]); fcntl.flock(f, 2); print(1, flush=True); time.sleep(60)"
    lock = f"{book.path}.lock"
    with subprocess.Popen([sys.executable, "-c", holding, lock], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(Busy):
            issue(book)
        assert book.tokens(), "who reads waits for nobody"
        holder.kill()
        holder.wait()
        issue(book)
    assert len(book.tokens()) == 2


def test_threads_of_one_process_lose_nothing(book: TokenBook) -> None:
    def work(number: int) -> None:
        for turn in range(5):
            token, _ = issue(book, name=f"{number}-{turn}")
            if turn % 2:
                book.revoke(token.id, START_US)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert {token.name for token in book.tokens()} == {f"{n}-{turn}" for n in range(4) for turn in range(5)}
    assert sum(token.revoked != "" for token in book.tokens()) == 8
