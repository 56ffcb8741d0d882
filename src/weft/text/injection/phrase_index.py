"""Compiled phrases: each vocabulary word is one character ("sign"), so a text becomes a short string of signs.

Unknown words are a dot, sentence ends a line break. A phrase becomes a regular expression over signs with bounded gaps,
which reads any text in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from weft.text.injection import phrases
from weft.text.injection import phrases_other_languages as phrases_abroad
from weft.text.injection.categories import Category, Phrase
from weft.text.injection.normalize import compiled, latin, unleet
from weft.text.lexical import STOP_WORDS

OTHER: Final = "."
LETTER: Final = ","  # a single letter: several in a row are a spelt-out word
PAIR: Final = ";"  # two hexadecimal digits: many in a row are encoded text
LONG: Final = "!"  # a long unknown word: it may be encoded text
END: Final = "\n"
ADDRESS: Final = "ADDRESS"  # in phrases: an address of mail or of the web
ADDRESS_WORD: Final = "xxaddressxx"
FIRST_SIGN: Final = 0x4E00  # characters without a meaning in regular expressions
MAX_WORDS_KEPT: Final = 100_000
MAX_WORD_CHARACTERS: Final = 64  # longer words are not cached
MAX_GLUED_CHARACTERS: Final = 400  # longer strings are not words written as one
LEAST_GLUED_CHARACTERS: Final = 12
LEAST_LONG_CHARACTERS: Final = 18
LEAST_SCRAMBLED_CHARACTERS: Final = 6
_HEX_PAIR: Final = re.compile(r"[0-9a-f]{2}")
# Common words: a phrase is looked for at its rarest word.
_EVERYDAY_TEXT: Final = """
add all answer any are ask attention call can code copy current data day do email end every file first function give
have history home image include key keys language like link list make message messages model my name new next note
notes online order orders per post print put read record records reply return root rules run safety say see send server
set share show start state system tell text tool tools type url use user users want week what when which will win with
without word write you your zeige gib sag die der das alle de la le les tu es no se del que un una il di en het een je
"""
_EVERYDAY: Final = frozenset(_EVERYDAY_TEXT.split())
LISTS: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: tuple(words.split()) for name, words in {**phrases.LISTS, **phrases_abroad.LISTS}.items()},
    ADDRESS: (ADDRESS_WORD,),
}
# Words recognised with their inner letters in any order.
SCRAMBLED: Final = (
    "ignore",
    "disregard",
    "previous",
    "instructions",
    "instruction",
    "system",
    "prompt",
    "reveal",
    "bypass",
)


class Compiled(Struct, frozen=True):
    """A phrase over signs. `anchor` are signs of its rarest word, one of which every match contains."""

    category: Category
    reason: str
    everywhere: bool
    pattern: str
    anchor: frozenset[str]

    @property
    def matches(self) -> re.Pattern[str]:
        """The expression, compiled on first use: a text needs few, and compiling all takes longer than a recall."""
        return compiled(self.pattern)


@cache
def words_of(part: str) -> tuple[str, ...]:
    """The words that match at one position of a phrase."""
    found = [LISTS[each] if each.isupper() else (each,) for each in part.split("|")]
    return tuple(word for words in found for word in words)


class Signs(dict[str, str]):
    """Word → sign. Unknown words are classified once; a disguised word has the sign of the plain one.

    Bounded: when full, everything except the vocabulary is forgotten.
    """

    def __init__(self, vocabulary: Iterable[str]) -> None:
        known = sorted(set(vocabulary))
        super().__init__({word: chr(FIRST_SIGN + at) for at, word in enumerate(known)})
        self[END] = END
        self[""] = ""
        self._known = dict(self)
        self._longest = max(map(len, known))
        self._scrambled = {_scramble(word): self[word] for word in SCRAMBLED}
        self.turned = frozenset(turned for word in SCRAMBLED for turned in (word[::-1], _moved(word)))

    def __missing__(self, word: str) -> str:
        sign = self._work_out(word)
        if len(word) <= MAX_WORD_CHARACTERS:
            if len(self) >= MAX_WORDS_KEPT:
                self.clear()
                self.update(self._known)
            self[word] = sign
        return sign

    def _work_out(self, word: str) -> str:
        if not word[0].isalnum():
            return END  # sentence end
        if len(word) <= 2:
            return LETTER if len(word) == 1 else PAIR if _HEX_PAIR.fullmatch(word) else OTHER
        for plain in self._undisguised(word):
            if plain in self._known:
                return self._known[plain]
            if (sign := self._scrambled.get(_scramble(plain))) and len(plain) >= LEAST_SCRAMBLED_CHARACTERS:
                return sign
        glued = self._unglued(latin(word)) if LEAST_GLUED_CHARACTERS <= len(word) <= MAX_GLUED_CHARACTERS else ""
        return glued or (LONG if len(word) >= LEAST_LONG_CHARACTERS else OTHER)

    def _undisguised(self, word: str) -> tuple[str, ...]:
        if len(word) > MAX_WORD_CHARACTERS:
            return ()
        plain = word if word.isascii() else latin(word)
        return (plain,) if plain.isalpha() else (plain, *unleet(plain))

    def _unglued(self, word: str) -> str:
        """The signs of several words written as one, longest first; empty unless they cover the whole word."""
        signs, at = [], 0
        while at < len(word):
            ends = range(min(len(word), at + self._longest), at, -1)
            end = next((end for end in ends if word[at:end] in self._known and (end - at > 1)), 0)
            if not end:
                return ""
            signs.append(self._known[word[at:end]])
            at = end
        return "".join(signs)


def _frequency(word: str) -> int:
    """A rough frequency class."""
    return 10 if word in STOP_WORDS else 2 if word in _EVERYDAY else 0


def _scramble(word: str) -> str:
    return word[:1] + "".join(sorted(word[1:-1])) + word[-1:]


def _moved(word: str) -> str:
    return "".join(chr((ord(c) - 97 + 13) % 26 + 97) for c in word)


def compile_phrases(listed: Iterable[Phrase], signs: Mapping[str, str]) -> tuple[Compiled, ...]:
    """The phrases as expressions over signs."""
    made = []
    for phrase in listed:
        pattern, anchors = "", []
        for part in phrase.words.split():
            if part.startswith("~"):
                pattern += f".{{0,{int(part[1:])}}}?"
                continue
            if part.startswith("!"):
                pattern += f"(?<![{''.join(dict.fromkeys(signs[word] for word in words_of(part[1:])))}])"
                continue
            optional = part.endswith("?")
            words = words_of(part.removesuffix("?"))
            held = "".join(dict.fromkeys(signs[word] for word in words))
            pattern += f"[{held}]?" if optional else f"[{held}]"
            if not optional:
                anchors.append((sum(_frequency(word) for word in words), len(words), held))
        anchor = frozenset(min(anchors)[2])
        made.append(Compiled(phrase.category, phrase.reason, phrase.everywhere, pattern, anchor))
    return tuple(made)


def vocabulary(listed: Iterable[Phrase]) -> set[str]:
    """Every word that a phrase contains."""
    return {
        word
        for phrase in listed
        for part in phrase.words.split()
        if not part.startswith("~")
        for word in words_of(part.removeprefix("!").removesuffix("?"))
    }
