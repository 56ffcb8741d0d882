"""Pseudonyms of sensitive words: an HMAC that replaces them in ids and slots.

The HMAC key is random, created with the first sensitive name of an account and stored encrypted in its log. Key
rotation encrypts it again and keeps the pseudonyms.
"""

from __future__ import annotations

import hmac
import os
from contextlib import suppress
from typing import Final

from weft.append.append import AppendOptions, Fence, FenceMoved, append
from weft.append.decrypting_store import decrypting
from weft.append.privacy import PrivacyFilter
from weft.core.clock import MIN_INSTANT_US, to_iso
from weft.core.errors import Misconfigured
from weft.core.kinds import KEY
from weft.core.types import MAX_LIMIT, NOW, SCOPES, Guard, Viewer
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.runtime.call_context import CallContext
from weft.text.encryption import KEY_BYTES, NO_KEY_HINT, PREFIX

NAMES_KEY: Final = "weft:key-of-names"
TOKEN_CHARACTERS: Final = 32
ALWAYS: Final = to_iso(MIN_INSTANT_US)


def pseudonym(ctx: CallContext, words: str, guard: Guard) -> str:
    """The words, or a pseudonym if they are sensitive. Equal words give equal pseudonyms in one account.

    Raises Misconfigured without the key.
    """
    if not guard.sensitive or not words:
        return words
    return hmac.digest(_names_key(ctx), words.encode(), "sha256").hex()[:TOKEN_CHARACTERS]


def _names_key(ctx: CallContext) -> bytes:
    if not ctx.privacy.keys:
        raise Misconfigured("sensitive memories are stored encrypted, and no key is set", hint=NO_KEY_HINT)
    return _read(ctx) or _made(ctx)


def _read(ctx: CallContext) -> bytes | None:
    found = ctx.store.nodes(_reader(ctx), NOW, [NAMES_KEY])
    if not found:
        return None
    try:
        return bytes.fromhex(found[0].text)
    except ValueError as problem:
        raise Misconfigured(
            f"the key of sensitive names cannot be decrypted: it is {found[0].text.strip('[]')}",
            hint="append that key to WEFT_SENSITIVE_KEY, after the one that encrypts",
        ) from problem


def _made(ctx: CallContext) -> bytes:
    """Creates the key, once: of two processes that do so, the second reads the first one's key."""
    pos = ctx.store.head(_reader(ctx)).pos
    if (there := _read(ctx)) is not None:
        return there
    key = os.urandom(KEY_BYTES)
    try:
        _write(ctx, key, pos)
    except FenceMoved:
        return _made(ctx)
    return key


def check_key(ctx: CallContext) -> None:
    """Raises Misconfigured if the encryption key differs from the one that the store knows by the same name.

    The store holds the HMAC key encrypted with each key that was ever used here, and so recognises them.
    """
    keys, pos = ctx.privacy.keys, ctx.store.head(_reader(ctx)).pos
    if not keys:
        return  # the write itself reports the missing key
    raw = decrypting(ctx.store, PrivacyFilter(keys=None)).history(_reader(ctx), NAMES_KEY, limit=MAX_LIMIT)
    if not raw:
        _made(ctx)
        return
    sealed = [row.text for row in raw if row.text.startswith(f"{PREFIX}{keys.first}:")]
    if any(keys.open(each, of=NAMES_KEY, field="text").text is None for each in sealed):
        raise Misconfigured(
            f"the store was encrypted with another key named {keys.first} than the one given here",
            hint="give the right key in WEFT_SENSITIVE_KEY, or put a new one with another name first: `weft key-new`",
        )
    opened = keys.open(raw[-1].text, of=NAMES_KEY, field="text").text
    if not sealed and opened is not None:
        with suppress(FenceMoved):  # another process has written it
            _write(ctx, bytes.fromhex(opened), pos)


def _write(ctx: CallContext, key: bytes, pos: int) -> None:
    """Encrypts the HMAC key with the first key. Raises Moved if another process changed it since."""
    node = graph.NodeAssertion(id=NAMES_KEY, kind=KEY, text=key.hex(), sensitive=True, valid_from=ALWAYS)
    draft = Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(node,)))
    fence = Fence(pos=pos, slots=(NAMES_KEY,))
    append(ctx.store, ctx.writer, [draft], clock=ctx.clock, options=AppendOptions(fence=fence, privacy=ctx.privacy))


def _reader(ctx: CallContext) -> Viewer:
    return Viewer(account=ctx.writer.account, scopes=frozenset(SCOPES), sensitive=True)
