"""Deduplication of decisions and patterns: by content hash, then by the words of the title.

Only current nodes take part that the caller may see and that everybody sees who would see the new one. So hidden nodes
neither block a write nor are revealed, and nobody misses a text because others have it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from weft.core.queries import TextQuery
from weft.core.types import NOW, SCOPES, Find, Guard, NodeVersion
from weft.runtime.call_context import CallContext
from weft.text.lexical import STOP_WORDS, fold_case, name_key, query_terms, stems, tokens
from weft.writing.build.references import covers
from weft.writing.checks.novelty import jaccard

SUPERSEDE_AT: Final = 0.70
REVIEW_AT: Final = 0.50
CANDIDATES: Final = 5
LOOKED_AT: Final = 1_000  # texts with some of the title's words, the rarest first
SEARCHED: Final = 25  # hits, before superseded ones and those for others are dropped
SAME_NAME: Final = 1_000  # nodes of one title that are compared by hash, newest first
MIN_ABBREVIATION: Final = 4  # letters
MAX_STEPS: Final = 20  # from a superseded node to the current one
RELATION: Final = "SUPERSEDES"
HASH: Final = "content_hash"

_NEGATION_TEXT = """
not no never none neither nor cannot dont doesnt didnt cant couldnt wont wouldnt shouldnt mustnt isnt arent wasnt werent
hasnt havent without instead except unless against stop stops stopped stopping disable disables disabled disabling
remove removes removed removing drop drops dropped dropping avoid avoids avoided avoiding reject rejects rejected
rejecting forbid forbids forbidden ban bans banned abandon abandons abandoned deprecate deprecates deprecated undo
revert reverts reverted
nicht kein keine keinen keinem keiner nie niemals ohne ne pas jamais sans sin nunca non senza
"""
_NUMBER_TEXT = """
zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million
once twice half double triple single both
"""
_TURNING: Final = ("un", "dis", "non", "de", "in", "im")  # prefixes that reverse a word's meaning
_AGAINST: Final = (("en", "dis"), ("en", "de"), ("in", "ex"), ("im", "ex"), ("in", "de"), ("up", "down"))
_OPPOSITE_TEXT = """
open/close start/stop begin/end increase/decrease increase/reduce raise/lower raise/reduce show/hide allow/block
allow/forbid allow/ban grant/revoke public/private internal/external lock/unlock accept/refuse accept/reject
approve/decline add/remove use/avoid use/drop use/abandon adopt/abandon adopt/drop adopt/reject keep/drop keep/delete
keep/abandon more/less more/fewer
"""
_SWITCHED = re.compile(
    r"\b(?:switch|turn|shut)(?:es|s|ed|ing)?\b(?P<what>(?: (?!to\b|from\b|over\b|into\b)[\w-]+){0,3}?)"
    r" (?P<way>on|off|down)\b"
)
_ELISION = re.compile(r"\bn['’](?=\w)", re.IGNORECASE)
_ROMAN = re.compile(
    r"\b(?=[IVX]{2,}\b)X{0,3}(?:IX|IV|V?I{0,3})\b"
    r"|(?<=\b(?i:part) )(?=[ivxIVX])(?i:x{0,3}(?:ix|iv|v?i{0,3}))\b"
    r"|(?<=\b(?i:phase) )(?=[ivxIVX])(?i:x{0,3}(?:ix|iv|v?i{0,3}))\b"
    r"|(?<=\b(?i:version) )(?=[ivxIVX])(?i:x{0,3}(?:ix|iv|v?i{0,3}))\b"
)
_ROMAN_VALUES: Final = {"i": 1, "v": 5, "x": 10}
NEGATIONS: Final = frozenset(_NEGATION_TEXT.split())
ORDERING: Final = frozenset({"over", "than", "rather", "before", "after", "from"})  # with these, word order matters
_NUMBER_WORDS: Final = frozenset(_NUMBER_TEXT.split())
_NO_TOPIC: Final = STOP_WORDS | NEGATIONS | _NUMBER_WORDS
_VERSION = re.compile(r"v?\d")
_NUMBER = re.compile(r"(?:(?<!\w)[-−])?\d[\d.,]*(?<=\d)[a-z%]*")
_COUNTS = re.compile(r"\d|[IVX]{2}")
_COUNTING: Final = _NUMBER_WORDS | {"part", "phase", "version"}
_SIGNED = re.compile(r"[+#<>=]")
_SIGN = re.compile(r"\w[+#]+|[<>=≤≥]+")  # C++ and C#, comparison signs: not part of a word token


class NewEntry(Struct, frozen=True, kw_only=True):
    """A text to be written, as far as it is compared: `words` are the rationale of a decision."""

    kind: str
    title: str
    words: str
    guard: Guard
    focus: str | None = None

    @property
    def content_hash(self) -> str:
        """SHA-256 of title and words, ignoring case, accents, spaces and outer punctuation."""
        return _hash(self.title, self.words)


class SimilarEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An existing node with a similar title: its score, and the difference that matters, if any."""

    id: str
    title: str
    citation: str
    score: float
    differs_in: str = ""


class DedupVerdict(Struct, frozen=True, kw_only=True):
    """What to do with an entry, and the nodes that it is compared with. `newer` superseded a duplicate."""

    outcome: Literal["new", "duplicate", "supersede", "review"]
    nodes: tuple[NodeVersion, ...] = ()
    alike: tuple[SimilarEntry, ...] = ()
    newer: NodeVersion | None = None


def judge_entry(ctx: CallContext, entry: NewEntry, *, by_title: bool) -> DedupVerdict:
    """Compares an entry with existing nodes; without `by_title` by hash only. Read-only."""
    copies = _copies(ctx, entry)
    if copies:
        newer = {node.id: _stands(ctx, node) for node in copies}
        for node in copies:
            if newer[node.id].id == node.id:
                return DedupVerdict(outcome="duplicate", nodes=(node,))
        return DedupVerdict(outcome="duplicate", nodes=copies[:1], newer=newer[copies[0].id])
    return _judge_title(ctx, entry) if by_title else DedupVerdict(outcome="new")


def may_change_verdict(
    ctx: CallContext, entry: NewEntry, *, by_title: bool, relied_on: Sequence[str] = ()
) -> Callable[[NodeVersion], bool]:
    """A pure test, run inside the lock, whether a node that was changed meanwhile could change the verdict."""
    wanted = entry.content_hash

    def matters(node: NodeVersion) -> bool:
        if node.id in relied_on:
            return True
        if not ctx.viewer.admits(node.guard) or not _takes_part(node, entry):
            return False
        if wanted in _hashes(node):
            return True
        return by_title and _compare(entry.title, node.name)[0] >= REVIEW_AT

    return matters


def _judge_title(ctx: CallContext, entry: NewEntry) -> DedupVerdict:
    found = [(node, *_compare(entry.title, node.name)) for node in _titled_alike(ctx, entry)]
    found = sorted((each for each in found if each[1] >= REVIEW_AT), key=lambda each: (-each[1], -each[0].row))
    if not found:
        return DedupVerdict(outcome="new")
    nodes = tuple(node for node, _, _ in found[:CANDIDATES])
    if found[0][1] >= SUPERSEDE_AT and not any(differs_in for _, _, differs_in in found):
        return DedupVerdict(outcome="supersede", nodes=nodes[:1])
    citations = ctx.store.citations(ctx.viewer, [node.event for node in nodes])
    alike = tuple(
        SimilarEntry(
            id=node.id,
            title=node.name,
            citation=citations.get(node.event, ""),
            score=round(score, 3),
            differs_in=differs_in,
        )
        for node, score, differs_in in found[:CANDIDATES]
    )
    return DedupVerdict(outcome="review", nodes=nodes, alike=alike)


def _copies(ctx: CallContext, entry: NewEntry) -> tuple[NodeVersion, ...]:
    """Current nodes that say the same, newest first. Equal hashes have equal names, which are indexed."""
    find = Find(names=(entry.title,), kinds=(entry.kind,), projects=(entry.guard.project,), focuses=(entry.focus,))
    wanted = entry.content_hash
    named = ctx.store.find(ctx.viewer, NOW, find, limit=SAME_NAME).nodes
    return tuple(node for node in named if wanted in _hashes(node) and _takes_part(node, entry))


def listed(heading: str, lines: Sequence[str]) -> str:
    """Alternatives, tradeoffs or examples as they are appended to the text of a decision or pattern."""
    return "\n".join((f"{heading}:", *(f"- {line}" for line in lines))) if lines else ""


def _hashes(node: NodeVersion) -> tuple[str, ...]:
    """The hashes of a node's current title and words, which may have been edited since its own hash was stored."""
    words = node.text
    for heading, prop in (("Alternatives", "alternatives"), ("Examples", "examples"), ("Tradeoffs", "tradeoffs")):
        words = words.removesuffix(listed(heading, [str(each) for each in node.props.get(prop) or ()]))
    # Without a rationale the text equals the title at the time of writing.
    bare = words == node.name or node.props.get(HASH) == _hash(words, "")
    return (_hash(node.name, words), _hash(node.name, "")) if bare else (_hash(node.name, words),)


def _hash(title: str, words: str) -> str:
    return hashlib.sha256(f"{name_key(title)}\n{name_key(words)}".encode()).hexdigest()


def _titled_alike(ctx: CallContext, entry: NewEntry) -> Sequence[NodeVersion]:
    """Current nodes among the hits for the title's words, and among what superseded them."""
    wide_enough = SCOPES[: SCOPES.index(entry.guard.scope) + 1]
    viewer = replace(ctx.viewer, scopes=ctx.viewer.scopes & set(wide_enough))
    terms = query_terms(entry.title)
    query = TextQuery(
        terms=terms,
        projects=(entry.guard.project,),
        kinds=(entry.kind,),
        focuses=(entry.focus,),
        most=LOOKED_AT,
        # A title with half of its words in common has one of the rarer half, and one more.
        rarest=len(terms) // 2 + 1,
        in_names=True,
    )
    hits = ctx.store.search_text(viewer, NOW, query, limit=SEARCHED).hits
    found = ctx.store.nodes(viewer, NOW, [hit.node.id for hit in hits])
    likely = [node for node in found if _compare(entry.title, node.name)[0] >= REVIEW_AT]
    standing = {node.id: node for node in (_stands(ctx, each) for each in likely if _takes_part(each, entry))}
    return [node for node in standing.values() if _takes_part(node, entry)]


def _stands(ctx: CallContext, node: NodeVersion) -> NodeVersion:
    """The current node in a node's place: itself, or the last of those that superseded it."""
    passed = {node.id}
    for _ in range(MAX_STEPS):
        steps = ctx.store.neighbours(ctx.viewer, NOW, [node.id], rels=(RELATION,), direction="in")
        newer = [step.node for step in steps if step.node.id not in passed]
        if not newer:
            break
        node = max(newer, key=lambda each: each.row)
        passed.add(node.id)
    return node


def _takes_part(node: NodeVersion, entry: NewEntry) -> bool:
    """Whether a node has the same kind, project and focus, and is visible to everybody who would see the new one."""
    same_place = (node.kind, node.guard.project, node.focus) == (entry.kind, entry.guard.project, entry.focus)
    return same_place and node.deleted_at is None and covers(node.guard, entry.guard)


def _compare(one: str, other: str) -> tuple[float, str]:
    """The Jaccard similarity of two titles, and a difference that reverses the meaning, if any.

    With such a difference, titles with the same topic words count as similar enough for review.
    """
    first, second = _words(one), _split(other)
    score = jaccard(set(first), set(second))
    if score >= REVIEW_AT:
        return score, _differ_in(one, other, first, second)
    aside = _turned(first, second)
    topics = jaccard(_topic(one, first) - aside, _topic(other, second) - aside)
    differs_in = _differ_in(one, other, first, second) if topics >= SUPERSEDE_AT else ""
    return (topics, differs_in) if differs_in else (score, "")


@lru_cache(maxsize=64)
def _words(title: str) -> tuple[str, ...]:
    """The words of the title that all others are compared with."""
    return tuple(_split(title))


def _split(title: str) -> list[str]:
    """The words of a title, an identifier as one word; "switch off" and "turn … off" are read as "disable"."""
    whole = fold_case(_ELISION.sub("ne ", title)).replace("_", "")
    return tokens(_SWITCHED.sub(_as_one_word, whole))


def _as_one_word(switched: re.Match[str]) -> str:
    verb = "enable" if switched["way"] == "on" else "disable"
    return verb + switched["what"]


def _topic(title: str, words: Sequence[str]) -> set[str]:
    aside = _NO_TOPIC | {fold_case(numeral) for numeral in _ROMAN.findall(title)}
    return {word for word in words if word not in aside and not _VERSION.match(word)}


def _turned(first: Sequence[str], second: Sequence[str]) -> set[str]:
    """Words of which the other title has the opposite, by prefix: allow and disallow, import and export."""
    ones, others = set(first) - set(second), set(second) - set(first)
    found: set[str] = set()
    for mine, theirs in ((ones, others), (others, ones)):
        pairs = [(word, f"{prefix}{word}") for word in mine if len(word) > 2 for prefix in _TURNING]
        for ahead, behind in _AGAINST:
            rests = [word.removeprefix(ahead) for word in mine if word.startswith(ahead)]
            pairs += [(f"{ahead}{rest}", f"{behind}{rest}") for rest in rests if len(rest) > 2]
        found.update(word for pair in pairs if pair[1] in theirs for word in pair)
    opposite = _opposites()
    found.update(
        word
        for mine in ones
        for theirs in others
        if (_stem(mine), _stem(theirs)) in opposite
        for word in (mine, theirs)
    )
    return found


@lru_cache(maxsize=1)
def _opposites() -> frozenset[tuple[str, str]]:
    pairs = [tuple(map(_stem, pair.split("/"))) for pair in _OPPOSITE_TEXT.split()]
    return frozenset((one, other) for first, second in pairs for one, other in ((first, second), (second, first)))


def _stem(word: str) -> str:
    return next(iter(stems(word)), word)


def _is_about_another(one: str, other: str, first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether each title has a word of its topic for which the other has another: frontend and backend.

    The beginning of a word stands for it: "auth" and "authentication", "Postgres" and "PostgreSQL".
    """
    ones, others = ({_stem(word) for word in _topic(*title)} for title in ((one, first), (other, second)))
    mine, theirs = ones - others, others - ones
    mine_only = [word for word in mine if not any(_abbreviates(word, each) for each in theirs)]
    return bool(mine_only) and any(not any(_abbreviates(word, each) for each in mine) for word in theirs)


def _abbreviates(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= MIN_ABBREVIATION and (one.startswith(other) or other.startswith(one))


def _differ_in(one: str, other: str, first: Sequence[str], second: Sequence[str]) -> str:
    if _count(first, NEGATIONS) != _count(second, NEGATIONS) or _turned(first, second):
        return "a negation"
    if _numbers(one, first) != _numbers(other, second):
        return "a number"
    if _SIGN.findall(fold_case(one)) != _SIGN.findall(fold_case(other)):
        return "a sign"
    if _count([*first, *second], NEGATIONS | ORDERING) and _shared(first, second) != _shared(second, first):
        return "the order of the words"
    return "what it is about" if _is_about_another(one, other, first, second) else ""


def turns_of(text: str, words: Sequence[str]) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Negations, numbers and signs of a text; texts that say the same have the same ones. `words` are its tokens."""
    plain = text.isascii()
    split = words if plain and "'" not in text else tokens(_ELISION.sub("ne ", text))
    # A quick test for digits and signs spares most texts the slower matching.
    counts = not plain or _COUNTS.search(text) or not _COUNTING.isdisjoint(words)
    signed = not plain or _SIGNED.search(text)
    numbers = tuple(_numbers(text, words)) if counts else ()
    return _count(split, NEGATIONS), numbers, tuple(_SIGN.findall(fold_case(text))) if signed else ()


def _count(words: Sequence[str], among: frozenset[str]) -> int:
    return sum(word in among for word in words)


def _numbers(title: str, words: Sequence[str]) -> list[str]:
    """The numbers of a title, including versions, Roman numerals and number words."""
    written = [number.replace(",", "") for number in _NUMBER.findall(fold_case(title))]
    roman = [str(_roman(fold_case(numeral))) for numeral in _ROMAN.findall(title)]
    return sorted([*written, *roman, *(word for word in words if word in _NUMBER_WORDS)])


def _roman(numeral: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in numeral]
    return sum(-each if each < max(values[at:]) else each for at, each in enumerate(values))


def _shared(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """Words that both have, once each, in the order of the first."""
    return [word for word in dict.fromkeys(words) if word in others]
