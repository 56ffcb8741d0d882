"""Addresses in a text: URLs, e-mails, handles, file paths and code names, with their spans."""

from __future__ import annotations

import re
from typing import Final

from weft.text.extract.findings import FoundMark, Span, overlaps
from weft.text.extract.identifiers import identifiers

MAX_MARKS: Final = 64  # of one sentence
_URL = re.compile(r"(?:https?|ftp)://[^\s<>\"'`)\]}]{1,500}|\bwww\.[^\s<>\"'`)\]}]{1,300}", re.IGNORECASE)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}")
_HANDLE = re.compile(r"(?<![\w@./])@[A-Za-z_][\w.-]{0,38}\w")
_HASHTAG = re.compile(r"(?<![\w#&/])#[^\W\d_]\w{1,60}")
_DOMAIN = re.compile(
    r"(?<![\w@./-])(?:[A-Za-z0-9-]{1,63}\.){1,4}(?:com|org|net|io|edu|gov|dev|app|ai|co\.uk|de"
    r"|info)\b(?![\w@])(?:/[\w./-]*\w)?"
)
_EXTENSION = (
    "py|js|ts|tsx|jsx|go|rs|rb|c|h|cc|cpp|hpp|java|kt|swift|php|cs|sh|sql|md|txt|rst|json|yaml|yml|toml|ini|cfg|csv"
    "|html"
    "|css|xml|lock|log|ipynb|pdf|docx?|xlsx?|pptx?|png|jpe?g|svg|env|proto|zip|gz"
)
_PATH = re.compile(
    r"(?<![\w./~:-])(?:"
    r"(?:~|\.{1,2})?/(?:[\w.+-]{1,100}/){1,20}[\w.+-]{0,100}"  # /etc/hosts, ~/notes/, ./a/b
    r"|[A-Za-z]:\\(?:[\w.+ -]{1,100}\\){0,20}[\w.+-]{1,100}"  # C:\Users\ada
    rf"|(?:[\w.+-]{{1,100}}/){{1,20}}[\w+-]{{1,100}}\.(?:{_EXTENSION})"  # src/app/main.py
    r"|(?:[\w+-]{1,100}/){2,20}[\w+-]{1,100}/?"  # a/b/c
    rf"|[\w+-]{{1,100}}\.(?:{_EXTENSION})"  # notes.md
    r")(?![\w/])"
)
_SLASHED_NUMBERS = re.compile(r"[\d/.]+")
_PASCAL = re.compile(r"[A-Z][A-Za-z0-9]*|[a-z]{1,2}[A-Z][a-z0-9]+")
_NO_BLANK = re.compile(r"[A-Za-z]+\.[A-Z][a-z]*")  # two sentences without a space between them
_CODE_HINT = re.compile(r"_|`|\w\(|[a-z][A-Z]|\w\.[a-z]")


def marks(sentence: str) -> list[FoundMark]:
    """The addresses of a sentence in order, not nested, at most MAX_MARKS.

    A single CamelCase word is a brand as often as a class ("YouTube"): it counts only in backticks or before brackets.
    """
    found: list[FoundMark] = []
    spans: list[Span] = []

    def add(span: Span, kind: str) -> None:
        if len(found) < MAX_MARKS and not overlaps(span, spans):
            spans.append(span)
            found.append(FoundMark(span=span, text=sentence[slice(*span)], kind=kind))  # type: ignore[arg-type]

    if "://" in sentence or "www." in sentence:
        for match in _URL.finditer(sentence):
            add((match.start(), match.start() + len(match[0].rstrip(".,;:!?*"))), "url")
    if "@" in sentence:
        for match in _EMAIL.finditer(sentence):
            add(match.span(), "email")
        for match in _HANDLE.finditer(sentence):
            add(match.span(), "handle")
    if "#" in sentence:
        for match in _HASHTAG.finditer(sentence):
            add(match.span(), "hashtag")
    if "." in sentence[:-1]:
        for match in _DOMAIN.finditer(sentence):
            add(match.span(), "url")
    if "/" in sentence or "\\" in sentence or "." in sentence:
        for match in _PATH.finditer(sentence):
            if not _SLASHED_NUMBERS.fullmatch(match[0]):
                add((match.start(), match.start() + len(match[0].rstrip("."))), "path")
    if _CODE_HINT.search(sentence):
        for span in _code(sentence):
            add(span, "identifier")
    found.sort(key=lambda mark: mark.span)
    return found


def _code(sentence: str) -> list[Span]:
    spans = []
    at = 0
    for name in identifiers(sentence):
        start = sentence.find(name, at)
        if start < 0:
            continue
        stop = start + len(name)
        if (_PASCAL.fullmatch(name) or _NO_BLANK.fullmatch(name)) and sentence[stop : stop + 1] not in {"(", "`"}:
            continue
        if sentence.startswith("( ", stop) or (sentence.startswith("(", stop) and name.istitle()):
            continue  # a bracket in prose that lacks the space before it
        at = start
        spans.append((start, stop))
    return spans
