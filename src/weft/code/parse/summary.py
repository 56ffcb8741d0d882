"""The purpose of a symbol in one line: the first sentence of its documentation, or its name, parameters and calls.

A pure function of the source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from weft.code.parse.facts import CLASS_SORTS
from weft.code.parse.symbols import Symbol
from weft.text.sentences import sentence_spans

MAX_PURPOSE_CHARACTERS: Final = 160
MAX_CALLS_NAMED: Final = 4
MAX_PARAMETERS_NAMED: Final = 4

_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_SPECIAL: Final = {
    "init": "makes a new {owner}",
    "new": "makes a new {owner}",
    "constructor": "makes a new {owner}",
    "call": "runs when the {owner} is called",
    "enter": "begins a with block",
    "exit": "ends a with block",
    "repr": "shows the {owner} to a developer",
    "str": "shows the {owner} as text",
    "eq": "compares two of {owner}",
    "hash": "hashes the {owner}",
    "len": "counts what the {owner} holds",
    "iter": "goes through the {owner}",
    "main": "runs the program",
}
# What a function's name begins with, and what that says; others are read as a verb only if they are listed as one.
_BEGINNINGS: Final = {
    "is": "tells whether it is",
    "are": "tells whether they are",
    "has": "tells whether it has",
    "can": "tells whether it can",
    "should": "tells whether it should",
    "to": "converts to",
    "as": "gives it as",
    "from": "makes it from",
    "on": "reacts to",
    "with": "gives it with",
    "test": "tests",
}
_VERB_TEXT: Final = """
accept add adjust allow append apply ask assert assign attach authenticate authorize begin bind block build cache
calculate call cancel change check choose clean clear click clone close collect combine commit compare compile
compute configure confirm connect consume convert copy count create cut decode decorate decrypt define delete
deliver deny describe deserialize detach detect disable disconnect dispatch display divide do download draw drop
dump emit enable encode encrypt end ensure enqueue escape evaluate exclude execute exit expand expire explain export
expose extend extract fail fetch fill filter find finish fire fit fix flush fold follow forget format forward free
freeze generate get give go grant group guess handle hash hide hold ignore import include increment index infer
inherit initialize inject insert inspect install instantiate invalidate invoke iterate join jump keep kill
leave lex limit link list listen load lock log look make map mark match measure merge migrate mock modify
monitor mount move need negotiate normalize notify open order pack pad parse pass patch perform persist pick place
poll pop populate post prepare prepend print process produce prune publish pull purge push put query queue quote
raise randomize rank read rebuild receive reconnect record redirect reduce refresh refuse register reject release
reload remember remove rename render replace reply report request require reset resize resolve respond restart
restore resume retry return reverse revoke rewrite rotate round route run sample sanitize save scale scan schedule
score search seek select send serialize serve set setup show shut shuffle sign skip slice sort spawn split start
stop store strip submit subscribe substitute subtract sum swap sync synchronize tag take tell terminate throw toggle
tokenize touch trace track train transform translate traverse trigger trim truncate try turn undo unlock unpack
unregister unsubscribe unwrap update upgrade upload use validate verify visit wait walk warn watch wrap write yield
"""
_VERBS: Final = frozenset(_VERB_TEXT.split())
_CONSONANT_Y: Final = re.compile(r"[^aeiou]y$")
_HISSING: Final = re.compile(r"(?:s|x|z|ch|sh|o)$")
# Where the author's own words end and lists of parameters begin.
_TAG_LINE: Final = re.compile(
    r"^\s*(?:[@\\:]\w|Args:|Arguments:|Parameters\b|Returns?:|Raises:|Examples?:|>>>|---|===|```)"
)
_BRACKETS: Final = re.compile(r"[()\[\]{}]")
_NESTING: Final = re.compile(r"[()\[\]{}<>]")
_STEP: Final = re.compile(r"\.|::")
_NAME: Final = re.compile(r"[^\W\d]\w*")
_TYPE_OR_VALUE: Final = re.compile(r"[:=]")
_MARKUP: Final = re.compile(r"</?\w+[^<>]{0,80}>|\{@\w+\s+([^{}]{0,80})\}|:\w+:(?=`)|``?")


def purpose_of(symbol: Symbol, calls: Sequence[str] = ()) -> str:
    """The purpose of a symbol: the first sentence of its documentation, or else derived from the source.

    `calls` are its references as chains; without documentation the first few are named.
    """
    return _cut(_first_sentence(symbol.docstring) or _told_by_names(symbol, calls), MAX_PURPOSE_CHARACTERS)


def _first_sentence(doc: str) -> str:
    """The first sentence of the documentation, without markup; lines of a paragraph are joined."""
    if not doc:
        return ""
    lines: list[str] = []
    for line in doc.splitlines():
        if _TAG_LINE.match(line) or (lines and not line.strip()):
            break
        if line.strip():
            lines.append(line.strip())
    text = " ".join(_MARKUP.sub(lambda found: found[1] or "", " ".join(lines)).split())
    spans = sentence_spans(text)
    sentence = text[spans[0][0] : spans[0][1]] if spans else ""
    return sentence.rstrip(" .:;") if re.search(r"\w", sentence) else ""


def _told_by_names(symbol: Symbol, calls: Sequence[str]) -> str:
    name = symbol.name.rpartition(".")[2]
    if symbol.sort in CLASS_SORTS or symbol.kind == "Class":
        told = [f"{_spaced(name)}, {_article(symbol.sort or 'class')}"]
    else:
        told = [_does(name, symbol.name.rpartition(".")[0].rpartition(".")[2])]
        parameters = parameter_names(symbol.signature)[:MAX_PARAMETERS_NAMED]
        told += [f"takes {', '.join(parameters)}"] if parameters else []
    named = _called(calls, name)
    told += [f"calls {', '.join(named)}"] if named else []
    return "; ".join(told)


def _does(name: str, owner: str) -> str:
    """The action of a function, from its name: `validate_token` validates token."""
    words = [part.lower() for part in _PARTS.findall(name)]
    if not words:
        return name or "a function"
    if len(words) == 1 and words[0] in _SPECIAL and (owner or words[0] == "main"):
        return _SPECIAL[words[0]].format(owner=owner)
    first, rest = words[0], " ".join(words[1:])
    if first in _BEGINNINGS and rest:
        return f"{_BEGINNINGS[first]} {rest}"
    if first in _VERBS:
        done = _third_person(first)
        return f"{done} {rest or _spaced(owner)}".strip()
    return f"{' '.join(words)} of {_spaced(owner)}" if owner else " ".join(words)


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _third_person(verb: str) -> str:
    if _CONSONANT_Y.search(verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if _HISSING.search(verb) else f"{verb}s"


def _spaced(name: str) -> str:
    return " ".join(part.lower() for part in _PARTS.findall(name)) or name


def parameter_names(signature: str) -> list[str]:
    """The parameter names of a function's signature, without self."""
    inside = _outer_brackets(signature)
    names = []
    for part in _at_commas(inside):
        # `name: type = value`, `type name`, `mut name: T`, `...name`: the word before a colon, else the last one.
        words = _NAME.findall(_TYPE_OR_VALUE.split(part, maxsplit=1)[0])
        if words and words[-1] not in ("self", "cls", "this", "mut"):
            names.append(words[-1])
    return names


def _outer_brackets(signature: str) -> str:
    start = signature.find("(")
    if start < 0:
        return ""
    depth = 0
    for found in _BRACKETS.finditer(signature, start):
        depth += 1 if found[0] in "([{" else -1
        if depth == 0:
            return signature[start + 1 : found.start()]
    return ""


def _at_commas(text: str) -> list[str]:
    if not _NESTING.search(text):
        return text.split(",")
    parts, depth, begin = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{<") - (character in ")]}>" and text[at - 1 : at] not in ("-", "="))
        if character == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [*parts, text[begin:]]


def _called(calls: Sequence[str], own: str) -> list[str]:
    """The last names of the first few calls, each once, without the function's own."""
    named: dict[str, None] = {}
    for chain in calls:
        last = _STEP.split(chain.removesuffix("()").removesuffix("[]"))[-1]
        if _NAME.fullmatch(last) and last != own:
            named[last] = None
        if len(named) == MAX_CALLS_NAMED:
            break
    return list(named)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return text[: most - 1].rpartition(" ")[0].rstrip(" ,;:") + "…"
