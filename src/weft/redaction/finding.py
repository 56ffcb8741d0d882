"""Finds secrets in a text. Quick looks first, each at the speed of a copy; rules run only where one of them strikes."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from weft.redaction import forms

RUN: Final = 20  # characters without a gap that a token has at least
AROUND: Final = 160  # characters beside a run that a form of detect-secrets may need
LONGEST: Final = 2_000  # of a run: what is longer is an image or a dump, of which the beginning is looked at
MARK: Final = "[redacted: "

_IN_RUNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=.:"
_RUNS = bytes(120 if each in _IN_RUNS else 32 for each in range(256))  # x for what a token may hold, else a blank
_DIGITS = bytes(100 if 48 <= each <= 57 else 32 for each in range(256))
_WANTED_RUN, _GAP, _FOUR = b"x" * RUN, b" ", b"dddd"
_TOKENS = re.compile("|".join(f"(?P<t{n}>{form})" for n, (_, form) in enumerate(forms.TOKENS)))
_HASH = re.compile(
    r"(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{56}|[0-9a-fA-F]{64}|[0-9a-fA-F]{96}|[0-9a-fA-F]{128}"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"
)
_JOINED = re.compile(r"[A-Za-z0-9]")
_NAME_BEFORE = re.compile(r"[\w.-]{0,60}$")
_NAME_AFTER = re.compile(r"[\w-]{0,40}")
_LETTER, _DIGIT, _NUMBER = re.compile(r"[A-Za-z]"), re.compile(r"\d"), re.compile(r"\d+")
_SIGN = re.compile(r"[!@#$%^&*+=?~]")
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]*$")
_REFERENCE = re.compile(r"[A-Za-z_][A-Za-z_-]*(?:[./][A-Za-z_][\w-]*)*$")


class Secret(NamedTuple):
    """Where a secret stands in a text, and of what sort it is."""

    start: int
    end: int
    sort: str


def find_secrets(text: str) -> list[Secret]:
    """The secrets of a text, in order, none inside another."""
    if len(text) < 6:
        return []
    raw = text.encode("latin-1", "replace")  # one byte a character: places are the same
    lower, digits = raw.lower(), raw.translate(_DIGITS)
    found = [*_tokens(text, raw, lower, digits), *_given(text, lower), *_cards(text, digits)]
    if "://" in text:
        found += (
            Secret(*each.span("secret"), "password")
            for each in forms.ADDRESS.finditer(text)
            if not forms.NO_VALUE.match(each["secret"])
        )
    if "PRIVATE KEY" in text:
        found += (Secret(*each.span(), "private key") for each in forms.PRIVATE_KEY.finditer(text))
    return _apart(text, found) if found else found


def _apart(text: str, found: list[Secret]) -> list[Secret]:
    """Of those that overlap, one from the first beginning to the last end; none in what is redacted already."""
    found.sort(key=lambda each: (each.start, -each.end))
    kept: list[Secret] = []
    for each in found:
        if text.startswith(MARK, each.start):
            continue
        if kept and each.start < kept[-1].end:
            if each.end > kept[-1].end:
                kept[-1] = kept[-1]._replace(end=each.end)
        else:
            kept.append(each)
    return kept


# ---- tokens


def _tokens(text: str, raw: bytes, lower: bytes, digits: bytes) -> Iterator[Secret]:
    runs = raw.translate(_RUNS)
    named = [name for name in forms.HINTS_AROUND if name in lower]
    end = 0
    while (start := runs.find(_WANTED_RUN, end)) >= 0:
        end = runs.find(_GAP, start)
        end = len(runs) if end < 0 else end
        if digits.find(b"d", start, end) < 0:
            continue
        run = text[start : min(end, start + LONGEST)]
        if _HASH.match(run):
            continue
        for match in _TOKENS.finditer(run):
            if _stands_alone(run, *match.span()):
                sort = forms.TOKENS[int((match.lastgroup or "t0")[1:])][0]
                yield Secret(start + match.start(), start + match.end(), sort)
        begin = max(0, start - AROUND)
        if not (forms.HINTS.search(run) or any(lower.find(name, begin, end) >= 0 for name in named)):
            continue
        around = text[begin : min(end, start + LONGEST) + 2]
        for match in detectors().finditer(around):
            first, last = _value(match)
            if last > start - begin and _stands_alone(around, first, last):
                yield Secret(begin + first, begin + last, _sort_of(match))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Not a part of a longer word: a letter or digit just before or after makes it one."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before and _JOINED.match(before)) and not (after and _JOINED.match(after))


@cache
def detectors() -> re.Pattern[str]:
    """The forms of detect-secrets in one. They take a sixth of a second to load: only once something looks like one."""
    import importlib

    made = []
    for number, (module, name, _) in enumerate(forms.DETECTORS):
        plugin = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)
        for at, form in enumerate(plugin.denylist):
            flags = "i" if form.flags & re.IGNORECASE else ""
            made.append(f"(?P<d{number}_{at}>(?{flags}:{form.pattern}))")
    return re.compile("|".join(made))


def _value(match: re.Match[str]) -> tuple[int, int]:
    """Where the secret itself stands, if the form names what stands around it."""
    groups = match.groups()
    own = next(at for at, said in enumerate(groups) if said is not None)  # that of the form: the first that matched
    inner = [at for at in range(own + 1, len(groups)) if groups[at] is not None and len(groups[at]) >= RUN - 4]
    return match.span(inner[-1] + 1) if inner else match.span()


def _sort_of(match: re.Match[str]) -> str:
    name = next(name for name, said in match.groupdict().items() if said is not None)
    return forms.DETECTORS[int(name[1:].partition("_")[0])][2]


# ---- what a name is given


def _given(text: str, lower: bytes) -> Iterator[Secret]:
    for part in forms.NAME_PARTS:
        wanted = part.encode("latin-1")
        at = lower.find(wanted)
        while at >= 0:
            if (secret := _given_at(text, at, part)) is not None:
                yield secret
            at = lower.find(wanted, at + len(wanted))


def _given_at(text: str, at: int, part: str) -> Secret | None:
    if part in ("bearer", "basic "):
        return _header(text, at, part)
    match = forms.GIVEN.match(text, at)
    if match is None:
        return None
    before = _NAME_BEFORE.search(text, max(0, at - 60), at)
    name = (before[0] if before else "") + (_NAME_AFTER.match(text, at) or [""])[0]
    bare = match["bare"] is not None
    start, end = match.span("bare" if bare else "quoted")
    if bare:
        end = start + len(match["bare"].rstrip(".,;:!?"))
    value = text[start:end]
    if (
        (bare and match["after"])
        or (match["prefix"] and "{" in value)
        or not _is_secret(name, value, match["by"], bare=bare)
    ):
        return None
    sort = "password" if forms.SURE_NAME.search(name.lower()) else "secret"
    return Secret(start, end, sort)


def _header(text: str, at: int, part: str) -> Secret | None:
    match = (forms.BEARER if part == "bearer" else forms.BASIC).match(text, at)
    if match is None or forms.NO_VALUE.match(match["secret"]):
        return None
    value = match["secret"]
    if part == "bearer":
        return Secret(*match.span("secret"), "bearer token") if _is_mixed(value) else None
    try:
        pair = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return Secret(*match.span("secret"), "password") if ":" in pair and pair.isprintable() else None


def _is_secret(name: str, value: str, by: str, *, bare: bool) -> bool:
    """Whether a value is one that somebody chose or made, rather than a placeholder, a reference or a plain word."""
    called = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    if forms.ABOUT.search(called) or forms.NO_VALUE.match(value) or forms.UUID.match(value):
        return False
    if bare and _REFERENCE.match(value) and not (_ENV_NAME.match(name) and by == "="):
        return False
    if forms.SURE_NAME.search(called):
        return _is_password(name, value, by, bare=bare)
    least = 16 if forms.LIKELY_NAME.search(called) else 20 if forms.POSSIBLE_NAME.search(called) else 0
    if not least or len(value) < least or " " in value or not _is_mixed(value):
        return False
    return not bare or len(_NUMBER.findall(value)) >= 3  # Ed25519PrivateKey is a name, and has one or two


def _is_password(name: str, value: str, by: str, *, bare: bool) -> bool:
    if " " in value:
        return "phrase" in name.lower() and not bare
    mixed = _is_mixed(value) or bool(_LETTER.search(value) and _SIGN.search(value))
    told = by.strip() in ("is", "was", "are", "is:", "was:", "are:", "")
    if told and name.lower() in ("pass", "pwd"):  # "pass `limit=3`", "pwd is where you are"
        return False
    if bare:
        plain = by == "=" and _ENV_NAME.match(name) is not None and len(value) >= 8
        return len(value) >= 6 and (mixed or (plain and not told))
    return len(value) >= 6 and (mixed or (len(value) >= 8 and not told and not _REFERENCE.match(value)))


def _is_mixed(value: str) -> bool:
    return bool(_LETTER.search(value) and _DIGIT.search(value))


def named_secret(name: str, value: str) -> str:
    """The sort of secret that a property of this name and value is, or nothing."""
    if len(value) < 6 or value.startswith(MARK):
        return ""
    if not _is_secret(name, value, ":", bare=False):
        return ""
    return "password" if forms.SURE_NAME.search(name.lower()) else "secret"


# ---- cards


def _cards(text: str, digits: bytes) -> Iterator[Secret]:
    end = 0
    while (start := digits.find(_FOUR, end)) >= 0:
        end = digits.find(_GAP, start)
        end = len(digits) if end < 0 else end
        if (match := forms.CARD.match(text, start)) is None:
            continue
        number = match[0].replace(" ", "").replace("-", "")
        if forms.CARD_ISSUERS.match(number) and _luhn(number):
            yield Secret(*match.span(), "card number")
            end = match.end()


def _luhn(digits: str) -> bool:
    values = [int(each) for each in reversed(digits)]
    doubled = [each * 2 - 9 if each > 4 else each * 2 for each in values[1::2]]
    return (sum(values[::2]) + sum(doubled)) % 10 == 0
