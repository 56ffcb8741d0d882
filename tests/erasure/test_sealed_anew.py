"""Payloads sealed anew: sealed words change, and nothing else may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.erasure.test_erasure import is_one
from weft.core.errors import Invalid
from weft.erasure.rewrite_log import RewriteAccess, Rewriter, rewrite_of
from weft.erasure.rotate_keys import reencrypt
from weft.log.verify import verify
from weft.testing.clock import day
from weft.testing.contracts.erasure_contract import WRITER, erased, everything
from weft.testing.scribe import Scribe, node
from weft.testing.viewers import OPERATOR

OLD, NEW = (f"weft-sealed:1:{name}:{letter * 40}" for name, letter in (("old", "a"), ("new", "b")))


def anew(raw: bytes) -> bytes:
    return raw.replace(OLD.encode(), NEW.encode())


def access(scribe: Scribe) -> RewriteAccess:
    return RewriteAccess(
        store=scribe.store, writer=WRITER, viewer=OPERATOR, clock=scribe.clock, progress=lambda *_: None
    )


def resealed(scribe: Scribe, change: Callable[[bytes], bytes | None]) -> Any:
    return reencrypt(access(scribe), change)


def test_sealing_anew_changes_sealed_words_and_nothing_else(scribe: Scribe) -> None:
    scribe.one(node("a", OLD, at=day(-9)))
    for old, new in ((b'"a"', b'"b"'), (b"Note", b"Task")):
        with pytest.raises(Invalid, match="more than encrypted words"):
            resealed(scribe, lambda raw, old=old, new=new: raw.replace(old, new))  # type: ignore[misc]
    scribe.one(node("a", OLD, summary="plain", at=day(-5)))
    with pytest.raises(Invalid, match="more than encrypted words"):
        resealed(scribe, lambda raw: raw.replace(b"plain", b"other"))
    assert resealed(scribe, anew).events == 2
    assert [row.text for row in scribe.store.history(OPERATOR, "a", limit=9)] == [NEW, NEW, NEW]
    assert is_one(scribe)
    assert resealed(scribe, lambda raw: None).events == 0


def test_an_erasure_after_sealing_anew(scribe: Scribe) -> None:
    scribe.one(node("a", OLD))
    resealed(scribe, anew)
    erased(scribe, "a")
    assert not any(words in everything(scribe) for words in (OLD, NEW))
    assert is_one(scribe)


def test_verify_notices_plain_words_swapped_as_if_sealed_anew(scribe: Scribe) -> None:
    event = scribe.one(node("a", "pay account 1111"))
    forged = rewrite_of(event, (event.payload or b"").replace(b"1111", b"6666"), "tx")
    Rewriter(access(scribe)).write([forged], why="resealed", what="key")
    assert "nothing in it is sealed" in (verify(scribe.store, OPERATOR).problem or "")
