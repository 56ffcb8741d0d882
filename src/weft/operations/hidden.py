"""Ids and slots of what is sensitive: made of an HMAC of words, where others are made of the words themselves.

The key of that HMAC is random, made with the first sensitive name of an account and kept in its log, sealed like
everything sensitive: a change of keys seals it anew, and names keep their ids.
"""

from __future__ import annotations

import hmac
import os
from contextlib import suppress
from typing import Final

from weft.append import Fence, Moved, append
from weft.errors import Misconfigured
from weft.instants import MIN_INSTANT_US, to_iso
from weft.kinds import KEY
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.opening import opening
from weft.screen import Screen
from weft.sealing import KEY_BYTES, NO_KEY_HINT, PREFIX
from weft.types import MAX_LIMIT, NOW, SCOPES, Guard, Viewer

NAMES_KEY: Final = "weft:key-of-names"
TOKEN_CHARACTERS: Final = 32
ALWAYS: Final = to_iso(MIN_INSTANT_US)


def hidden(loom: Loom, words: str, guard: Guard) -> str:
    """What stands for words in an id or a slot: the words, or where they are sensitive a token that tells nothing.

    The same words give the same token in one account. Raises Misconfigured without the key.
    """
    if not guard.sensitive or not words:
        return words
    return hmac.digest(_names_key(loom), words.encode(), "sha256").hex()[:TOKEN_CHARACTERS]


def _names_key(loom: Loom) -> bytes:
    if not loom.screen.keys:
        raise Misconfigured("sensitive memories are kept encrypted, and there is no key", hint=NO_KEY_HINT)
    return _read(loom) or _made(loom)


def _read(loom: Loom) -> bytes | None:
    found = loom.store.nodes(_reader(loom), NOW, [NAMES_KEY])
    if not found:
        return None
    try:
        return bytes.fromhex(found[0].text)
    except ValueError as problem:
        raise Misconfigured(
            f"the key of sensitive names cannot be opened: it is {found[0].text.strip('[]')}",
            hint="add that key to WEFT_SENSITIVE_KEY, after the one that seals",
        ) from problem


def _made(loom: Loom) -> bytes:
    """Makes it, once: of two who do so at the same time the second reads what the first made."""
    pos = loom.store.head(_reader(loom)).pos
    if (there := _read(loom)) is not None:
        return there
    key = os.urandom(KEY_BYTES)
    try:
        _write(loom, key, pos)
    except Moved:
        return _made(loom)
    return key


def check_key(loom: Loom) -> None:
    """Raises Misconfigured where the key that seals is another than the one the store knows by the same name.

    The store knows keys by the key of names: it has a version sealed with each key that anything here was sealed with.
    """
    keys, pos = loom.screen.keys, loom.store.head(_reader(loom)).pos
    if not keys:
        return  # what is written says itself what is missing
    raw = opening(loom.store, Screen(keys=None)).history(_reader(loom), NAMES_KEY, limit=MAX_LIMIT)
    if not raw:
        _made(loom)
        return
    sealed = [row.text for row in raw if row.text.startswith(f"{PREFIX}{keys.first}:")]
    if any(keys.open(each, of=NAMES_KEY, field="text").text is None for each in sealed):
        raise Misconfigured(
            f"the store was sealed with another key {keys.first} than the one given here",
            hint="give the right key as WEFT_SENSITIVE_KEY, or a new one of another name before it: `weft key-new`",
        )
    opened = keys.open(raw[-1].text, of=NAMES_KEY, field="text").text
    if not sealed and opened is not None:
        with suppress(Moved):  # whoever came in between has sealed it
            _write(loom, bytes.fromhex(opened), pos)


def _write(loom: Loom, key: bytes, pos: int) -> None:
    """Seals the key of names with the first key. Raises Moved where somebody else did something to it since."""
    node = graph.NodeAssertion(id=NAMES_KEY, kind=KEY, text=key.hex(), sensitive=True, valid_from=ALWAYS)
    draft = Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(node,)))
    fence = Fence(pos=pos, slots=(NAMES_KEY,))
    append(loom.store, loom.writer, [draft], clock=loom.clock, fence=fence, screen=loom.screen)


def _reader(loom: Loom) -> Viewer:
    return Viewer(account=loom.writer.account, scopes=frozenset(SCOPES), sensitive=True)
