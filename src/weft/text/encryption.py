"""Encryption of sensitive text as `weft-sealed:1:<key name>:<base64>` with AES-256-GCM.

The nonce is synthetic: an HMAC of the text and its place (node and field). A retried request gives the same bytes, and
no two places share a nonce. The place is authenticated too: a string copied to another place does not decrypt.
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

from weft.core.errors import Invalid, Misconfigured

PREFIX: Final = "weft-sealed:1:"
PROPS: Final = "sealed"  # the property that holds all properties, encrypted together
KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
MAX_KEYS: Final = 16
NO_KEY_HINT: Final = 'export WEFT_SENSITIVE_KEY="$(weft key-new)" and keep that key: without it they stay unreadable'
_SEALED = re.compile(r"weft-sealed:1:([A-Za-z0-9][A-Za-z0-9._-]{0,31}):([A-Za-z0-9+/]{38,}={0,2})")
_IN_BYTES = re.compile(_SEALED.pattern.encode())
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
_OPENED = 8_192  # decrypted strings cached for repeated searches


class Decrypted(NamedTuple):
    """The decrypted text, or the name of the missing or wrong key."""

    text: str | None
    key: str
    problem: str = ""


def is_sealed(text: str) -> bool:
    """Whether a string is a well-formed encrypted text."""
    return text.startswith(PREFIX) and _SEALED.fullmatch(text) is not None


def keys_in(payload: bytes) -> set[str]:
    """The names of the keys needed for the encrypted strings of a payload."""
    return {name.decode() for name, _ in _IN_BYTES.findall(payload)}


def holds_sealed(name: str, summary: str, body: str) -> bool:
    """Whether any field of a text is encrypted: then none of it goes into an index."""
    return any(map(is_sealed, (name, summary, body)))


def stand_in(key: str) -> str:
    """The placeholder shown to those who may see an encrypted text but lack the key."""
    return f"[encrypted with key {key}]"


def new_key(name: str) -> str:
    """A fresh key in the form of the setting. Raises Invalid for an invalid name."""
    if not _NAME.fullmatch(name):
        raise Invalid(f"{name[:60]!r} is not a valid key name", hint="use 1 to 32 letters, digits and . _ -")
    return f"{name}:{base64.b64encode(os.urandom(KEY_BYTES)).decode()}"


def check_keys(written: str) -> str:
    """The setting as it was written. Raises Invalid, without quoting it, unless it is a list of named 32-byte keys."""
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
            raise Invalid("must be name:base64-of-32-bytes, separated by commas")
        if name in keys:
            raise Invalid(
                f"has two keys named {name}: give each its own name (`weft key-new --name`);"
                " a key that has encrypted something must keep its name"
            )
        keys[name] = key
    if len(keys) > MAX_KEYS:
        raise Invalid(f"has {len(keys)} keys; the limit is {MAX_KEYS}")
    return keys


class Keyring:
    """The keys of a process. The first one encrypts, all of them decrypt; without any, neither is possible."""

    def __init__(self, written: str = "") -> None:
        self._keys = _read(written)
        self._ciphers: dict[str, Any] = {}
        self._open = lru_cache(maxsize=_OPENED)(self._opened)

    def __bool__(self) -> bool:
        return bool(self._keys)

    @property
    def first(self) -> str | None:
        """The name of the key that encrypts."""
        return next(iter(self._keys), None)

    def seal(self, text: str, *, of: str, field: str) -> str:
        """The text encrypted with the first key for this place. Raises Misconfigured if there is no key."""
        name = self.first
        if name is None:
            raise Misconfigured("sensitive memories are stored encrypted, and no key is configured", hint=NO_KEY_HINT)
        said, place = text.encode(), _place(of, field)
        nonce = hmac.digest(_derived(self._keys[name], b"nonce"), _framed(place) + said, "sha256")[:NONCE_BYTES]
        made = nonce + self._cipher(name).encrypt(nonce, said, place)
        return f"{PREFIX}{name}:{base64.b64encode(made).decode()}"

    def open(self, sealed: str, *, of: str, field: str) -> Decrypted:
        """The decrypted text. Never raises: a missing or wrong key is part of the result."""
        return self._open(sealed, of, field)

    def _opened(self, sealed: str, of: str, field: str) -> Decrypted:
        from cryptography.exceptions import InvalidTag

        match = _SEALED.fullmatch(sealed)
        name = match[1] if match else "?"
        if match is None or name not in self._keys:
            return Decrypted(None, name, "missing")
        try:
            raw = base64.b64decode(match[2], validate=True)
            said = self._cipher(name).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], _place(of, field))
            return Decrypted(said.decode(), name)
        except (InvalidTag, binascii.Error, UnicodeDecodeError):
            return Decrypted(None, name, "wrong")

    def _cipher(self, name: str) -> Any:
        if name not in self._ciphers:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM

            self._ciphers[name] = AESGCM(_derived(self._keys[name], b"seal"))
        return self._ciphers[name]


def next_step(unopened: Mapping[str, str]) -> tuple[str, ...]:
    """What to do about each missing or wrong key, a line per key. `unopened` maps key names to problems."""
    lines = {
        "missing": "some of it is encrypted with key {name}, which is not configured: add it to WEFT_SENSITIVE_KEY",
        "wrong": "some of it does not decrypt with the configured key {name} (another key, or altered data): "
        "put the right key into WEFT_SENSITIVE_KEY",
    }
    return tuple(lines[problem].format(name=name) for name, problem in sorted(unopened.items()))


def _derived(key: bytes, purpose: bytes) -> bytes:
    """A subkey for one purpose."""
    return hmac.digest(key, b"weft " + purpose, hashlib.sha256)


def _place(of: str, field: str) -> bytes:
    return f"{of}\x1f{field}".encode()


def _framed(part: bytes) -> bytes:
    return len(part).to_bytes(8, "big") + part
