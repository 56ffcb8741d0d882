"""Sealed words: what is sensitive is kept as `weft-sealed:1:<key name>:<base64>`, and opened only with that key.

AES-256-GCM. The nonce is synthetic (an HMAC of what is sealed, and of where it stands), so that a retried request gives
the same bytes; no two places share one. Where a string stands (node and field) is bound to it: put anywhere else, it
does not open.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from weft.errors import Invalid, Misconfigured

PREFIX: Final = "weft-sealed:1:"
PROPS: Final = "sealed"  # the property that holds all those that are sealed together
KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
MAX_KEYS: Final = 16
NO_KEY_HINT: Final = 'export WEFT_SENSITIVE_KEY="$(weft key-new)" and keep that key: without it nobody reads them again'
_SEALED = re.compile(r"weft-sealed:1:([A-Za-z0-9][A-Za-z0-9._-]{0,31}):([A-Za-z0-9+/]{38,}={0,2})")
_IN_BYTES = re.compile(_SEALED.pattern.encode())
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
_OPENED = 8_192  # strings that are kept open, so that a search need not open all of them again


class Opened(NamedTuple):
    """What a sealed string says, or the name of the key it wants and why that is not at hand."""

    text: str | None
    key: str
    problem: str = ""


def is_sealed(text: str) -> bool:
    """Whether a string is sealed words, whole and in form."""
    return text.startswith(PREFIX) and _SEALED.fullmatch(text) is not None


def keys_in(payload: bytes) -> set[str]:
    """The names of the keys that sealed strings of a payload want."""
    return {name.decode() for name, _ in _IN_BYTES.findall(payload)}


def holds_sealed(name: str, summary: str, body: str) -> bool:
    """Whether any field of a text is sealed: none of it is for an index then."""
    return any(map(is_sealed, (name, summary, body)))


def stand_in(key: str) -> str:
    """What is shown to those who may see a sealed text and cannot open it."""
    return f"[sealed with key {key}]"


def new_key(name: str) -> str:
    """A fresh key, as the setting takes it. Raises Invalid for a name that is none."""
    if not _NAME.fullmatch(name):
        raise Invalid(f"{name[:60]!r} cannot name a key", hint="1 to 32 letters, digits and . _ -")
    return f"{name}:{base64.b64encode(os.urandom(KEY_BYTES)).decode()}"


def check_keys(written: str) -> str:
    """The setting as it was written. Raises Invalid, without a word of it, unless it is keys of 32 bytes with names."""
    _read(written)
    return written


def _read(written: str) -> dict[str, bytes]:
    keys: dict[str, bytes] = {}
    for each in (part.strip() for part in written.split(",")):
        if not each:
            continue
        name, _, encoded = each.partition(":")
        try:
            key = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if not _NAME.fullmatch(name) or len(key) != KEY_BYTES:
            raise Invalid("must be name:base64-of-32-bytes, several with commas, each with a name of its own")
        if name in keys:
            raise Invalid(
                f"has two keys of one name, {name}: each needs a name of its own, by which it is found again"
                " (`weft key-new --name` gives one); a key that has sealed something must keep its name"
            )
        keys[name] = key
    if len(keys) > MAX_KEYS:
        raise Invalid(f"has {len(keys)} keys; the limit is {MAX_KEYS}")
    return keys


class Keyring:
    """The keys of one process. The first seals, all open. Without any, nothing can be sealed and nothing opened."""

    def __init__(self, written: str = "") -> None:
        self._keys = _read(written)
        self._ciphers: dict[str, Any] = {}
        self._open = lru_cache(maxsize=_OPENED)(self._opened)

    def __bool__(self) -> bool:
        return bool(self._keys)

    @property
    def first(self) -> str | None:
        """The name of the key that seals."""
        return next(iter(self._keys), None)

    def seal(self, text: str, *, of: str, field: str) -> str:
        """The text, sealed with the first key for this place. Raises Misconfigured where there is no key."""
        name = self.first
        if name is None:
            raise Misconfigured("sensitive memories are kept encrypted, and there is no key", hint=NO_KEY_HINT)
        said, place = text.encode(), _place(of, field)
        nonce = hmac.digest(_derived(self._keys[name], b"nonce"), _framed(place) + said, "sha256")[:NONCE_BYTES]
        made = nonce + self._cipher(name).encrypt(nonce, said, place)
        return f"{PREFIX}{name}:{base64.b64encode(made).decode()}"

    def open(self, sealed: str, *, of: str, field: str) -> Opened:
        """What a sealed string says. Never raises: a key that is missing or wrong is told."""
        return self._open(sealed, of, field)

    def _opened(self, sealed: str, of: str, field: str) -> Opened:
        from cryptography.exceptions import InvalidTag

        match = _SEALED.fullmatch(sealed)
        name = match[1] if match else "?"
        if match is None or name not in self._keys:
            return Opened(None, name, "missing")
        try:
            raw = base64.b64decode(match[2], validate=True)
            said = self._cipher(name).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], _place(of, field))
            return Opened(said.decode(), name)
        except (InvalidTag, binascii.Error, UnicodeDecodeError):
            return Opened(None, name, "wrong")

    def _cipher(self, name: str) -> Any:
        if name not in self._ciphers:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM

            self._ciphers[name] = AESGCM(_derived(self._keys[name], b"seal"))
        return self._ciphers[name]


def next_step(unopened: Mapping[str, str]) -> tuple[str, ...]:
    """A line for each key that was wanted and not at hand: what to do. `unopened` is key name to problem."""
    lines = {
        "missing": "some of it is sealed with key {name}, which is not given here: add it to WEFT_SENSITIVE_KEY",
        "wrong": "some of it is sealed with another key {name} than the one given here (or was changed): "
        "put the right one into WEFT_SENSITIVE_KEY",
    }
    return tuple(lines[problem].format(name=name) for name, problem in sorted(unopened.items()))


def _derived(key: bytes, purpose: bytes) -> bytes:
    """A key for one purpose only."""
    return hmac.digest(key, b"weft " + purpose, hashlib.sha256)


def _place(of: str, field: str) -> bytes:
    return f"{of}\x1f{field}".encode()


def _framed(part: bytes) -> bytes:
    return len(part).to_bytes(8, "big") + part
