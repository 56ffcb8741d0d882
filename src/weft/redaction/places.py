"""Secrets that are found by where they stand: after an option of a known command, in a file of a known form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from weft.redaction import forms
from weft.redaction.given import Secret, is_mixed, is_pair, is_random

_WORD = r"[\"']?(?P<secret>[^\s\"'<>|;&]{3,120})"
_REST = r"(?:[^\n|;&]|\\\n){0,300}?\s"  # of a command, up to the option


def _any(value: str) -> bool:
    return True


def _is_chosen(value: str) -> bool:
    return len(value) >= 8 or is_mixed(value)


class Place(NamedTuple):
    """Letters that are looked for first, what stands there, and what the secret must be like."""

    looked_for: bytes
    form: re.Pattern[str]
    sort: str
    check: Callable[[str], bool] = _any
    back: int = 0  # letters of the secret that stand before those looked for


def _place(looked_for: str, form: str, sort: str, check: Callable[[str], bool] = _any, back: int = 0) -> Place:
    return Place(looked_for.encode("latin-1"), re.compile(form, re.IGNORECASE), sort, check, back)


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
    """The secrets in a text that stand where only one can. `lower` is it in small letters, a byte for each."""
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
