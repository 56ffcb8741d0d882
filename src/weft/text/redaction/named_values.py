"""Secrets found by the name they are assigned to: `password = …`, `api_key: …`, "the token is …"."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from weft.text.redaction import forms

MARK: Final = "[redacted: "
RANDOM_PIECE: Final = 3.2  # most letters per piece (a word, a number) of a generated value; names have four and more

# First words of two-word names: "api key", "client secret".
_FIRST_WORDS = (
    *("api", "access", "auth", "client", "secret", "private"),
    *("signing", "refresh", "session", "bot", "deploy", "service"),
)
_IN_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
# Fast checks of a name: characters that may follow it, its possible endings, and words too plain alone.
_AFTER_NAMES = frozenset((*" \t\n:=-(\"'`]>,.", ""))
_LAST_WORDS = (
    *("word", "wd", "pw", "pass", "passe", "wort", "phrase", "secret", "token", "key", "credential", "credentials"),
    *("contraseña", "contrasena"),
)
_TOO_PLAIN = frozenset(("key", "Key", "KEY"))
_NAME_AFTER = re.compile(r"[\w-]{0,40}")
_LETTER, _DIGIT = re.compile(r"[A-Za-z]"), re.compile(r"\d")
_SIGN, _SHOUT = re.compile(r"[!@#$%^&*+=?~]"), re.compile(r"[!#$%^&*~]")
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]*$")
_REFERENCE = re.compile(r"[A-Za-z_][A-Za-z_-]*(?:[./][A-Za-z_][\w-]*)*$")
_NEXT_FIELD = re.compile(r"&[\w.-]{1,40}=")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TOLD = ("is", "was", "are", "lautet", "ist", "est", "es", "")


class Secret(NamedTuple):
    """The span and the sort of a secret."""

    start: int
    end: int
    sort: str


def given_secrets(text: str, lower: bytes) -> Iterator[Secret]:
    """The values assigned to names of secrets. `lower` is the text in lower case, one byte per character."""
    for part in forms.NAME_PARTS:
        wanted = part.encode("latin-1")
        at = lower.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            if (secret := _given_at(text, at, part)) is not None:
                yield secret
                end = secret.end  # skip names inside a secret
            at = lower.find(wanted, end)


def named_secret(name: str, value: str) -> str:
    """The sort of secret in a property of this name and value; empty if it is none."""
    if len(value) < 6 or value.startswith(MARK):
        return ""
    return _sort(name) if _is_secret(name, value, ":", bare=False) else ""


def is_pair(value: str) -> bool:
    """Whether this is base64 of user:password, as in headers and configuration files."""
    try:
        pair = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in pair and pair.isprintable()


def is_mixed(value: str) -> bool:
    """Whether it has a letter and a digit, as most secrets do."""
    return bool(_LETTER.search(value) and _DIGIT.search(value))


def is_random(value: str) -> bool:
    """Whether letters and digits alternate as in no name: Ed25519PrivateKey has long pieces."""
    if not is_mixed(value):
        return False
    pieces = forms.PIECES.findall(value)
    return sum(map(len, pieces)) < RANDOM_PIECE * len(pieces)


def _given_at(text: str, at: int, part: str) -> Secret | None:
    if part in ("bearer", "basic "):
        return _header(text, at, part)
    end = _NAME_AFTER.match(text, at).end()  # type: ignore[union-attr]  # it matches anything
    if text[end : end + 1] not in _AFTER_NAMES or not text[at:end].lower().endswith(_LAST_WORDS):
        return None
    name, first = _name(text, at, end)
    if name in _TOO_PLAIN or not forms.NAME.search(_called(name)):
        return None
    match = forms.GIVEN.match(text, at)
    if match is None:
        return _in_markup(text, at, name, first)
    by, start = match["by"], match.start("bare")
    if match["bare"] is None:
        if (match["prefix"] and "{" in match["quoted"]) or not _is_secret(name, match["quoted"], by, bare=False):
            return None
        return Secret(*match.span("quoted"), _sort(name))
    bare = True
    if by.isspace():
        if text[match.start("by") - 1] in "\"'":
            return _in_markup(text, at, name, first)
        bare = forms.SET_BEFORE.search(text, max(0, first - 40), first) is None
        if bare and not _blank_gives(name, match["bare"]):
            return None
    end = _bare_end(text, first, name, match)
    value = text[start:end]
    if len(value) < 6 or MARK.strip() in value or not _is_secret(name, value, by, bare=bare):
        return None
    return Secret(start, end, _sort(name))


def _name(text: str, at: int, end: int) -> tuple[str, int]:
    """(name, start) of the name of which a part is here and that ends at `end`."""
    first, least = at, max(0, at - 60)
    while first > least and text[first - 1] in _IN_NAME:
        first -= 1
    word = ""
    if (
        first == at
        and text[first - 1 : first] == " "
        and text[max(0, first - 9) : first - 1].lower().endswith(_FIRST_WORDS)
    ):
        word = text[max(0, first - 9) : first].rpartition(" ")[0].rpartition(" ")[2] + " "
    return word + text[first:end], first - len(word)


def _called(name: str) -> str:
    return _CAMEL.sub("_", name).lower()


def _sort(name: str) -> str:
    return "password" if forms.SURE_NAME.search(_called(name)) else "secret"


def _blank_gives(name: str, value: str) -> bool:
    """Whether a space assigns the value to this name: after an option, or if it can only be a password."""
    if name.startswith("-"):
        return not value.startswith("-")
    return bool(is_mixed(value) and _SHOUT.search(value) and forms.SURE_NAME.search(_called(name)))


def _bare_end(text: str, first: int, name: str, match: re.Match[str]) -> int:
    """The end of an unquoted value; its beginning if it is a call or part of one."""
    start, end = match.span("bare")
    if not forms.SURE_NAME.search(_called(name)):
        found = forms.TOKEN_VALUE.match(text, start, end)
        end = found.end() if found else start
        return start if text[end : end + 1] in ("(", "[", "{") else start + len(text[start:end].rstrip(".:!"))
    whole = forms.WHOLE_LINE.match(text, start)
    if whole and whole.end() > end and not forms.CALL.match(text, start, whole.end()):
        alone = forms.LINE_BEFORE.search(text, max(0, first - 40), first) and forms.LINE_AFTER.match(text, whole.end())
        if alone or (_ENV_NAME.match(name) and match["by"] == "="):
            return whole.end()
    value = _NEXT_FIELD.split(match["bare"], 1)[0]
    return start if match["after"] and len(value) == end - start else start + len(value.rstrip(".,;:"))


def _in_markup(text: str, at: int, name: str, first: int) -> Secret | None:
    """`<password>value</password>`, or a pair of attributes for name and value."""
    match = forms.PAIR.match(text, at) or forms.ELEMENT.match(text, at)
    if match is None:
        return None
    if match.re is forms.ELEMENT and text[first - 1 : first] != "<":
        return None
    if MARK in match["secret"] or not _is_secret(name, match["secret"], "=", bare=False):
        return None
    return Secret(*match.span("secret"), _sort(name))


def _header(text: str, at: int, part: str) -> Secret | None:
    match = (forms.BEARER if part == "bearer" else forms.BASIC).match(text, at)
    if match is None or forms.NO_VALUE.match(match["secret"]):
        return None
    if part == "bearer":
        return Secret(*match.span("secret"), "bearer token") if is_mixed(match["secret"]) else None
    return Secret(*match.span("secret"), "password") if is_pair(match["secret"]) else None


def _is_secret(name: str, value: str, by: str, *, bare: bool) -> bool:
    """Whether a value is chosen or generated, rather than a placeholder, a reference or a plain word."""
    called = _called(name)
    if forms.ABOUT.search(called) or forms.NO_VALUE.match(value) or forms.UUID.match(value):
        return False
    if bare and _REFERENCE.match(value) and not (_ENV_NAME.match(name) and by == "="):
        return False
    if forms.SURE_NAME.search(called):
        return _is_password(name, value, by, bare=bare)
    likely = forms.LIKELY_NAME.search(called)
    least = (12 if _ENV_NAME.match(name) else 16) if likely else 20 if forms.POSSIBLE_NAME.search(called) else 0
    if not least or len(value) < least or " " in value or by == "(":
        return False
    return is_random(value) if bare else is_mixed(value)


def _is_password(name: str, value: str, by: str, *, bare: bool) -> bool:
    told = by.strip().rstrip(":") in _TOLD and by.strip() != ":"
    if " " in value:
        return not bare and not told and (("phrase" in name.lower()) or (by != "(" and _is_phrase(value)))
    mixed = is_mixed(value) or bool(_LETTER.search(value) and _SIGN.search(value))
    if told and name.lower() in ("pass", "pwd", "pw"):  # "pass `limit=3`", "pwd is where you are"
        return False
    if bare:
        plain = by == "=" and _ENV_NAME.match(name) is not None and len(value) >= 8
        return len(value) >= 6 and (mixed or (plain and not told))
    if by == "(":
        return len(value) >= 6 and is_mixed(value)
    return len(value) >= 6 and (mixed or (len(value) >= 8 and not told and not _REFERENCE.match(value)))


def _is_phrase(value: str) -> bool:
    """Whether several words may be a passphrase: a few, and not a message or label, which begin with a capital."""
    words = value.split()
    if not 2 <= len(words) <= 8 or (value[:1].isupper() and not _DIGIT.search(value)):
        return False
    return forms.OF_MESSAGES.isdisjoint(value.lower().split())
