"""Finds secrets in a text. Quick looks first, each at the speed of a copy; rules run only where one of them strikes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from weft.redaction import forms
from weft.redaction.given import MARK, Secret, given_secrets
from weft.redaction.places import placed_secrets

RUN: Final = 20  # characters without a gap that a token has at least
AROUND: Final = 160  # characters beside a run that a form of detect-secrets may need
LONGEST: Final = 2_000  # of a run: what is longer is an image or a dump, of which the beginning is looked at

_IN_RUNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=.:"
_RUNS = bytes(120 if each in _IN_RUNS else 32 for each in range(256))  # x for what a token may hold, else a blank
_DIGITS = bytes(100 if 48 <= each <= 57 else 32 for each in range(256))
_WANTED_RUN, _GAP, _FOUR = b"x" * RUN, b" ", b"dddd"
_TOKENS = re.compile(  # the look behind spares it forty looks ahead at every letter inside a word
    f"(?<![A-Za-z0-9])(?:{'|'.join(f'(?P<t{n}>{form})' for n, (_, form) in enumerate(forms.TOKENS))})"
)
_HASH = re.compile(
    r"(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{56}|[0-9a-fA-F]{64}|[0-9a-fA-F]{96}|[0-9a-fA-F]{128}"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"
)
_JOINED = re.compile(r"[A-Za-z0-9]")
_WIDE = re.compile("[\uff01-\uff5e]")
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
_NOT_DIGIT = re.compile(r"\D")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}\Z")


def find_secrets(text: str) -> list[Secret]:
    """The secrets of a text, in order, none inside another."""
    if len(text) < 6:
        return []
    if not text.isascii() and _WIDE.search(text):
        text = text.translate(_NARROW)  # full-width letters, as East Asian keyboards give them: places are the same
    raw = text.encode("latin-1", "replace")  # one byte a character: places are the same
    lower, digits = raw.lower(), raw.translate(_DIGITS)
    found = [*_tokens(text, raw, lower, digits), *given_secrets(text, lower), *placed_secrets(text, lower)]
    found += _cards(text, digits)
    if "://" in text:
        found += _addresses(text)
    if "PRIVATE KEY" in text:
        found += (Secret(*each.span(), "private key") for each in forms.PRIVATE_KEY.finditer(text))
    if "Private-Lines" in text:
        found += (Secret(*each.span("secret"), "private key") for each in forms.PUTTY_KEY.finditer(text))
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
            if _stands_alone(run, *match.span()) and forms.MANUAL not in match[0]:
                sort = forms.TOKENS[int((match.lastgroup or "t0")[1:])][0]
                yield Secret(start + match.start(), start + match.end(), sort)
        begin = max(0, start - AROUND)
        if not (forms.HINTS.search(run) or any(lower.find(name, begin, end) >= 0 for name in named)):
            continue
        around = text[begin : min(end, start + LONGEST) + 2]
        for match in detectors().finditer(around):
            first, last = _value(match)
            if last <= start - begin or forms.MANUAL in around[first:last]:
                continue
            if _stands_alone(around, first, last):
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


# ---- addresses


def _addresses(text: str) -> Iterator[Secret]:
    for match in forms.ADDRESS.finditer(text):
        which = "secret" if match["secret"] is not None else "slashed"
        if forms.NO_VALUE.match(match[which]):
            continue
        if which == "slashed":  # on the web, what follows a host and a slash is a path
            scheme = _SCHEME.search(text, max(0, match.start() - 31), match.start())
            if scheme is None or scheme[0].lower() in forms.WEB:
                continue
        yield Secret(*match.span(which), "password")


# ---- cards


def _cards(text: str, digits: bytes) -> Iterator[Secret]:
    end = 0
    while (start := digits.find(_FOUR, end)) >= 0:
        end = digits.find(_GAP, start)
        end = len(digits) if end < 0 else end
        if (match := forms.CARD.match(text, start)) is None:
            continue
        number = _NOT_DIGIT.sub("", match[0])
        if forms.CARD_ISSUERS.match(number) and _luhn(number):
            yield Secret(*match.span(), "card number")
            end = match.end()


def _luhn(digits: str) -> bool:
    values = [int(each) for each in reversed(digits)]
    doubled = [each * 2 - 9 if each > 4 else each * 2 for each in values[1::2]]
    return (sum(values[::2]) + sum(doubled)) % 10 == 0
