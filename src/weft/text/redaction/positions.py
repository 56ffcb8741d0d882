"""Secrets found by position: after an option of a known command, in a file of a known format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from weft.text.redaction import forms
from weft.text.redaction.named_values import Secret, is_mixed, is_pair, is_random

_WORD = r"[\"']?(?P<secret>[^\s\"'<>|;&]{3,120})"
_REST = r"(?:[^\n|;&]|\\\n){0,300}?\s"  # a command up to the option


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
