"""Inline markup of Markdown and reStructuredText as plain text."""

from __future__ import annotations

import re

# Markdown. Every pattern is bounded, so that a long line without a closing mark costs little.
_MD_IMAGE = re.compile(r"!\[[^\]\n]{0,500}\](?:\([^()\s]{0,1000}[^()]{0,300}\)|\[[^\]\n]{0,200}\])")
_MD_LINK = re.compile(r"\[([^\[\]\n]{0,500})\](?:\([^()]{0,1000}\)|\[[^\]\n]{0,200}\])")
_MD_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)([^`]{1,500})\1(?!`)")
_MD_MARK = re.compile(r"(?<![\w*])[*_]{1,3}(?=[^\s*_])|(?<=[^\s*_])[*_]{1,3}(?![\w*])|~~")
_TAG = re.compile(r"<!--[^<]{0,2000}-->|</?[a-zA-Z][^<>]{0,500}>")
_MD_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")

# reStructuredText
_RST_ROLE = re.compile(
    r":(?P<role>[\w.:+-]{1,60}):`(?P<words>[^`]{1,300})`|`(?P<words_before>[^`]{1,300})`:(?P<role_after>[\w.:+-]{1,60}):"
)
_RST_LITERAL = re.compile(r"``(.{1,300}?)``", re.DOTALL)
_RST_REFERENCE = re.compile(r"`(?P<words>[^`]{1,300})`_{0,2}")
_RST_TARGET = re.compile(r"\s*<[^<>]*>$")
_RST_MARK = re.compile(r"(?<![\w*\\])(\*{1,2})(?=[^\s*])([^*]{1,300})(?<=[^\s\\])\1(?![\w*])")
_RST_SUBSTITUTION = re.compile(r"\|([^|\s][^|]{0,100})\|_{0,2}")
_RST_ESCAPE = re.compile(r"\\(.)")
_RST_MARKUP = re.compile(r"[`*|\\]")
_KEPT = re.compile("\0([0-9]+)\0")


def plain_markdown(text: str) -> str:
    """Text without marks, images and tags."""
    kept = _Kept()
    text = _MD_CODE.sub(lambda found: kept.put(found[2].strip()), text.replace("\0", ""))
    text = _MD_IMAGE.sub("", text)
    text = _TAG.sub("", _MD_LINK.sub(r"\1", text))
    return kept.back(_MD_ESCAPE.sub(r"\1", _MD_MARK.sub("", text)))


def plain_rst(text: str) -> str:
    """Text without marks; roles and references as they are displayed."""
    if not _RST_MARKUP.search(text):
        return text
    kept = _Kept()
    text = _RST_LITERAL.sub(lambda found: kept.put(found[1]), text.replace("\0", ""))
    text = _RST_ROLE.sub(lambda found: kept.put(_shown(found["role"] or found["role_after"], found)), text)
    text = _RST_REFERENCE.sub(lambda found: kept.put(_shown("", found)), text)
    text = _RST_SUBSTITUTION.sub(r"\1", _RST_MARK.sub(r"\2", text))
    return kept.back(_RST_ESCAPE.sub(r"\1", text))


class _Kept:
    """Replaced parts that later patterns must not match."""

    def __init__(self) -> None:
        self._words: list[str] = []

    def put(self, words: str) -> str:
        self._words.append(words)
        return f"\0{len(self._words) - 1}\0"

    def back(self, text: str) -> str:
        return _KEPT.sub(lambda found: self._words[int(found[1])], text) if self._words else text


def _shown(role: str, found: re.Match[str]) -> str:
    """Displayed text of a role or reference: `text <target>` its text, `~a.b` its last part, `:pep:` with its name."""
    words = found["words"] or found["words_before"]
    shown = (_RST_TARGET.sub("", words) or words).removeprefix("!")
    if shown.startswith("~"):
        return shown.rpartition(".")[2].lstrip("~")
    return f"{role.upper()} {shown}" if role in ("pep", "rfc") and shown[:1].isdigit() else shown
