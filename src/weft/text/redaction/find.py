"""Finds secrets in a text. Fast byte-level checks come first; the rules run only where one of them matches."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, NamedTuple

from weft.text.redaction import forms
from weft.text.redaction.named_values import MARK, Secret, given_secrets, is_mixed, is_pair, is_random

_WORD = r"[\"']?(?P<secret>[^\s\"'<>|;&]{3,120})"
_REST = r"(?:[^\n|;&]|\\\n){0,300}?\s"  # a command up to the option

RUN: Final = 20  # least length of a token, in characters without a gap
AROUND: Final = 160  # characters around a run that detect-secrets may need
LONGEST: Final = 2_000  # of a run: of an image or a dump only the beginning is checked

_IN_RUNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=.:"
_RUNS = bytes(120 if each in _IN_RUNS else 32 for each in range(256))  # x for characters of tokens, else a space
_DIGITS = bytes(100 if 48 <= each <= 57 else 32 for each in range(256))
_WANTED_RUN, _GAP, _FOUR = b"x" * RUN, b" ", b"dddd"
_TOKENS = re.compile(  # the look-behind avoids forty look-aheads at every letter inside a word
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
    """The secrets of a text, in order, not nested."""
    if len(text) < 6:
        return []
    if not text.isascii() and _WIDE.search(text):
        text = text.translate(_NARROW)  # full-width letters of East Asian keyboards; positions are unchanged
    raw = text.encode("latin-1", "replace")  # one byte per character; positions are unchanged
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
    """Merges overlapping secrets; drops those already redacted."""
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
    """Whether a match is not part of a longer word."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before and _JOINED.match(before)) and not (after and _JOINED.match(after))


@cache
def detectors() -> re.Pattern[str]:
    """The patterns of detect-secrets as one, compiled on first use: loading them takes a sixth of a second."""
    import importlib

    made = []
    for number, (module, name, _) in enumerate(forms.DETECTORS):
        plugin = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)
        for at, form in enumerate(plugin.denylist):
            flags = "i" if form.flags & re.IGNORECASE else ""
            made.append(f"(?P<d{number}_{at}>(?{flags}:{form.pattern}))")
    return re.compile("|".join(made))


def _value(match: re.Match[str]) -> tuple[int, int]:
    """The span of the secret itself, if the pattern includes its surroundings."""
    groups = match.groups()
    own = next(at for at, said in enumerate(groups) if said is not None)  # the first group that matched
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
        if which == "slashed":  # in a web address, the part after the slash is a path
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


# ---- redaction


__all__ = ["redact"]


def redact(text: str, counts: Counter[str] | None = None) -> str:
    """The text with `[redacted: <sort>]` for each secret; line numbers are unchanged.

    Deterministic and idempotent. `counts` receives the number of secrets by sort.
    """
    found = find_secrets(text)
    if not found:
        return text
    pieces: list[str] = []
    done = 0
    for secret in found:
        lines = text.count("\n", secret.start, secret.end)
        pieces += (text[done : secret.start], MARK, secret.sort, "]", "\n" * lines)
        done = secret.end
        if counts is not None:
            counts[secret.sort] += 1
    return "".join((*pieces, text[done:]))


def _any(value: str) -> bool:
    return True


def _is_chosen(value: str) -> bool:
    return len(value) >= 8 or is_mixed(value)


class SecretPosition(NamedTuple):
    """Letters searched for first, the pattern around them, and the check of the secret."""

    looked_for: bytes
    form: re.Pattern[str]
    sort: str
    check: Callable[[str], bool] = _any
    back: int = 0  # characters of the secret before those searched for


def _place(looked_for: str, form: str, sort: str, check: Callable[[str], bool] = _any, back: int = 0) -> SecretPosition:
    return SecretPosition(looked_for.encode("latin-1"), re.compile(form, re.IGNORECASE), sort, check, back)


PLACES: Final = (
    _place("curl", rf"curl{_REST}(?:-u|--user)[ =]?[\"']?[^\s:\"'$]{{1,80}}:{_WORD}", "password"),
    _place("mysql", rf"mysql(?:dump|admin|import)?\b{_REST}(?-i:-p){_WORD}", "password", is_mixed),
    _place("sshpass", rf"sshpass\s+-p\s*{_WORD}", "password"),
    _place("er login", rf"er login{_REST}(?:-p|--password)[ =]{_WORD}", "password", is_mixed),
    _place("machine", rf"machine\s+\S{{1,200}}\s+login\s+\S{{1,100}}\s+password\s+{_WORD}", "password"),
    _place(
        "identified by",
        r"identified by\s+(?:password\s+)?[\"'](?P<secret>[^\"'\n]{3,120})[\"']",
        "password",
        _is_chosen,
    ),
    _place('"auth"', r"\"auth\"\s*:\s*\"(?P<secret>[a-z0-9+/]{8,400}={0,2})\"", "password", is_pair),
    _place("otpauth://", r"otpauth://[^\s\"'<>]{1,300}?[?&]secret=(?P<secret>[a-z2-7]{8,128})", "one-time secret"),
    _place("sig=", r"(?<=[?&])sig=(?P<secret>[a-z0-9%/+_-]{40,100}=?)", "Azure signature", is_random),
    _place(".atlasv1.", r"(?P<secret>[a-z0-9]{14}\.atlasv1\.[a-z0-9_=-]{60,200})", "Terraform token", back=14),
)
_COOKIES = re.compile(
    r"cookie[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<all>[^\s=;,\"']{1,80}=[^\n\"']{8,4000})", re.IGNORECASE
)
_COOKIE = re.compile(r"(?P<name>[^\s=;]{1,80})=(?P<secret>[^\s;,\"']{16,2000})")


def placed_secrets(text: str, lower: bytes) -> Iterator[Secret]:
    """Secrets in positions where only a secret can be. `lower` is the text in lower case, one byte per character."""
    for place in PLACES:
        at = lower.find(place.looked_for)
        while at >= 0:
            match = place.form.match(text, max(0, at - place.back))
            if match is not None and not forms.NO_VALUE.match(match["secret"]) and place.check(match["secret"]):
                yield Secret(*match.span("secret"), place.sort)
            at = lower.find(place.looked_for, at + len(place.looked_for))
    at = lower.find(b"cookie")
    while at >= 0:
        end = at + 6
        if (header := _COOKIES.match(text, at)) is not None:
            for each in _COOKIE.finditer(text, *header.span("all")):
                if is_random(each["secret"]) and not forms.NO_VALUE.match(each["secret"]):
                    yield Secret(*each.span("secret"), "cookie")
            end = header.end()
        at = lower.find(b"cookie", end)
