"""Code names in a passage, which may link it to a symbol or a file."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator

from weft.files.document_suffixes import FormName

MAX_MENTIONS = 40
MAX_SCANNED_CHARACTERS = 20_000  # of one passage; only a single long line has more

_MARKDOWN = re.compile(r"(?<![`\\])(`{1,3})(?!`)([^`\n]{1,200})(?<!`)\1(?!`)")
_RST = re.compile(
    r"``([^`\n]{1,200})``"
    r"|:(?:[a-z]{1,10}:)?(?:func|class|meth|mod|file|attr|exc|data|const|obj|program|cmd|macro|type|member|py)"
    r":`([^`\n]{1,200})`"
    r"|^\.\. (?:[a-z]{1,10}:)?(?:function|class|method|module|attribute|exception|data|classmethod|staticmethod|"
    r"decorator|currentmodule|automodule|autoclass|autofunction):: +([^\n]{1,200})$",
    re.MULTILINE,
)
_PATH = re.compile(r"(?<![\w/.:@-])(?:[\w.-]{1,60}/){1,12}[\w.-]{1,60}\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/])")

_CALL = re.compile(r"\([^()]{0,150}\)?$")
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)*$")
_FILE = re.compile(r"(?:\.{0,2}/)?(?:[\w.@+-]{1,100}/){0,15}[\w.@+-]{1,100}$")
_OPTION = re.compile(r"--?[a-z0-9]")
# Keywords of Python and JavaScript.
_WORDS_OF_LANGUAGES = """
self cls this super nil null undefined NaN Infinity true false NULL TRUE FALSE
case catch const debugger default delete do enum export extends function instanceof let new switch throw typeof var void
"""
_OF_LANGUAGES = frozenset([*keyword.kwlist, *_WORDS_OF_LANGUAGES.split()])
_TARGET = re.compile(r"^[^<>]*<([^<>]+)>$")


def mentions(text: str, form: FormName) -> tuple[str, ...]:
    """Distinct code names in order, in the form in which code is searched: `weft.open()` is `weft.open`."""
    found: dict[str, None] = {}
    for written in _written(text[:MAX_SCANNED_CHARACTERS], form):
        name = _name(written)
        if name:
            found[name] = None
            if len(found) >= MAX_MENTIONS:
                break
    return tuple(found)


def _written(text: str, form: FormName) -> Iterator[str]:
    if form == "rst":
        if "`" in text or "\n.." in text or text.startswith(".."):
            for match in _RST.finditer(text):
                yield match[1] or _role(match[2] or "") or match[3] or ""
    elif form in ("text", "pdf"):
        if "/" in text:
            yield from _PATH.findall(text)
    elif "`" in text:
        for match in _MARKDOWN.finditer(text):
            yield match[2]


def _role(words: str) -> str:
    """The target of a role: of `text <target>` the target, of `~a.b` and `!a.b` `a.b`."""
    target = _TARGET.match(words)
    return (target[1] if target else words).lstrip("~!")


def _name(written: str) -> str | None:
    words = _CALL.sub("", written.strip()).strip()
    if words != written.strip():
        words = words.removeprefix(".")  # `.write()`: a method
    elif words in _OF_LANGUAGES:
        return None  # but `delete()` is a function
    if len(words) < 2 or any(map(str.isspace, words)) or _OPTION.match(words):
        return None
    if _NAME.match(words):
        return words
    return words.removeprefix("./") if _FILE.match(words) and _is_path(words) else None


def _is_path(words: str) -> bool:
    last = words.rpartition("/")[2]
    _, dot, suffix = last.rpartition(".")
    return bool((dot and suffix[:1].isalpha()) or ("/" in words and last and not last[0].isdigit()))
