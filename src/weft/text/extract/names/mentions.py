"""Things that a message mentions: code and files, quoted titles, names, and plain nouns.

Decided by spelling and position, without lists of names: guesses that are good enough for a search.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, Literal, NamedTuple

from weft.text.extract.identifiers import identifiers
from weft.text.extract.quoted import quoted_spans
from weft.text.extract.time.time_words import HOLIDAYS, MONTHS, WEEKDAYS
from weft.text.lexical import STOP_WORDS, fold_case

MAX_MESSAGE_CHARACTERS: Final = 2_000  # of each message, its end
MAX_MENTION_CHARACTERS: Final = 80
MAX_MENTIONS: Final = 64  # of one message

Sort = Literal["person", "place", "thing", "code"]


class MessageMention(NamedTuple):
    """Something that a sentence mentions. `likely` are the sorts that its position allows."""

    text: str
    likely: frozenset[Sort]
    sentence: str
    is_plain: bool = False  # an ordinary noun ("a new bike")


_ROLE = re.compile(r"^\s*(?:user|assistant|human|ai|system|agent|bot)\s*:\s*", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?](?=\S)[^.!?\n]*)*[.!?\n]?")
_NAME = re.compile(
    r"\b[^\W\d_a-zß-öø-ÿ][\w'’&-]*(?:(?:[ ]|(?<=[A-Z])\.[ ])(?:(?:of|the|de|la|le|di|da|von|van|der|del|bin|al) ){0,2}"
    r"[^\W\d_a-zß-öø-ÿ][\w'’&-]*){0,4}"
)
_PATH = re.compile(
    r"(?<![\w./~-])(?:~?/|\.{1,2}/)?(?:[\w.-]{1,100}/){1,20}[\w.-]{0,100}\w|(?<![\w./~-])[\w-]{1,100}\.[a-z]{1,5}(?![\w/])"
)
_PLAIN = re.compile(r"\b(?i:a|an|the|my|our|your|his|her|their|some)((?: [a-z][a-z'-]+){1,3})")
_PLACE_LEADS_TEXT = "in at to from near visit visited visiting around leave left reach reached via"
_PLACE_LEADS: Final = frozenset(_PLACE_LEADS_TEXT.split())
_GOES_ON = re.compile(r"\W*(?:it|he|she|they|this|that|these|those)\b", re.IGNORECASE)
_TITLES: Final = frozenset(["mr", "mrs", "ms", "dr", "prof", "professor", "aunt", "uncle", "sir", "lady"])
_NO_NAMES_TEXT = """
yes no ok okay sure thanks thank please hello hi hey well oh great good nice perfect right maybe perhaps also however
actually still today yesterday tomorrow let lets show tell give find did what note sorry sounds looks got yeah yep nope
first second third finally next last one two three additionally meanwhile then later earlier everything nothing
something someone everyone anyone nobody congrats congratulations true false none many most several both another i
"""
_NO_NAMES: Final = STOP_WORDS.union(_NO_NAMES_TEXT.split(), MONTHS, WEEKDAYS, HOLIDAYS)
_ADVERBS_TEXT = """
yesterday today tomorrow now then here there again recently lately already soon later earlier just also too very really
last next ago
"""
_ADVERBS: Final = frozenset(_ADVERBS_TEXT.split()).union(MONTHS, WEEKDAYS)
_VERBS_TEXT = (
    "happens means works looks sounds takes took costs starts fails breaks broke came went got says runs closes"
)
_VERBS: Final = frozenset(_VERBS_TEXT.split())
_EXTENSIONS_TEXT = """
py js ts tsx jsx go rs rb c h cc cpp hpp java kt swift php cs sh sql md txt rst json yaml yml toml ini cfg csv html css
xml lock log ipynb pdf doc docx xls xlsx ppt png jpg svg env proto
"""
_EXTENSIONS: Final = frozenset(_EXTENSIONS_TEXT.split())


def said(message: str) -> str:
    """The end of a message, without its author label."""
    return _ROLE.sub("", message[-MAX_MESSAGE_CHARACTERS:]).strip()


def mentions_of(message: str) -> list[MessageMention]:
    """The mentions of a message, last sentence first: code, quoted titles and names, then plain nouns."""
    return list(islice(_found_in(message[-MAX_MESSAGE_CHARACTERS:]), MAX_MENTIONS))


def _found_in(message: str) -> Iterator[MessageMention]:
    sentences = [found[0] for found in _SENTENCE.finditer(message) if found[0].strip()]
    for sentence in reversed(sentences):
        paths = [found[0] for found in _PATH.finditer(sentence) if _is_path(found[0])]
        inside = " ".join(paths)
        for each in (*paths, *(name for name in identifiers(sentence) if name not in inside)):
            yield MessageMention(each, frozenset(["code", "thing"]), sentence)
        for start, stop in quoted_spans(sentence):
            if stop - start <= MAX_MENTION_CHARACTERS:
                yield MessageMention(sentence[start:stop], frozenset(["thing"]), sentence)
        yield from _names(sentence, inside)
    for sentence in reversed(sentences):
        if _GOES_ON.match(sentence):  # it refers to something mentioned before
            continue
        for found in _PLAIN.finditer(sentence):
            words = found[1].split()
            kept = words[: next((at for at, word in enumerate(words) if _ends_noun(word)), len(words))]
            if kept:
                yield MessageMention(" ".join(kept), frozenset(["thing"]), sentence, is_plain=True)


def _ends_noun(word: str) -> bool:
    return word in STOP_WORDS or word in _ADVERBS or word in _VERBS or (word.endswith("ed") and len(word) > 4)


def _is_path(text: str) -> bool:
    return "/" in text or text.rpartition(".")[2] in _EXTENSIONS


def _names(sentence: str, paths: str) -> Iterator[MessageMention]:
    """Runs of capitalised words, without words capitalised only by position."""
    for found in _NAME.finditer(sentence):
        text = re.sub(r"['’]s$", "", found[0])
        if not text[0].isupper() or text in paths:
            continue
        words = text.split()
        while words and not (words[0][0].isupper() and may_be_name(words[0])):
            del words[0]
        text = " ".join(words)
        if not 2 <= len(text) <= MAX_MENTION_CHARACTERS:
            continue
        lead = sentence[: found.start()].rsplit(maxsplit=1)
        before = lead[-1].strip(",.;:").lower() if lead else ""
        likely: set[Sort] = {"thing"}
        if before in _PLACE_LEADS:
            likely.add("place")
        elif not (text.isupper() and len(text) > 1) and not any(letter.isdigit() for letter in text):
            likely.add("person")
        yield MessageMention(text, frozenset(likely), sentence)


def may_be_name(word: str) -> bool:
    """Whether a capitalised word may be part of a name rather than an ordinary word at the start of a sentence."""
    key = fold_case(word).replace("’", "'").partition("'")[0]
    return key not in _NO_NAMES and key not in _TITLES and not key.endswith("ly")
