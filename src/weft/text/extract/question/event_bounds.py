"""Events by which a question bounds its time: after Lena left, since the outage, between the launch and the audit.

Only the words are read here. When the event was, the notes tell: see `weft.retrieval.question.date_events`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.text.extract.time.windows import TimeWindow
from weft.text.lexical import STOP_WORDS, tokens

MAX_CHARACTERS: Final = 120  # of what names an event
_JOINT: Final = re.compile(r"\b(since|after|before|until|till|prior to|following|(?:day|week|weekend) of)\s+", re.I)
_BETWEEN: Final = re.compile(r"\b(between|from)\s+([^,;.?!]+?)\s+(and|to|until|till)\s+([^,;.?!]+)", re.I)
_ENDS: Final = re.compile(
    r"[,;?!]|\.(?!\d)|\s+(?:and|or|but)\s+(?:who|what|when|where|which|how|why|did|was|were|is|are|has|have)\b"
    r"|\s+(?:so far|until now|till now|up to now|please|again)\b",
    re.I,
)
_QUESTION: Final = re.compile(r"\s(?:what|who|which|where|when|how|did|have|has)\s", re.I)
_NO_EVENT: Final = re.compile(
    r"(?:a|an|any|each|every|this|that|these|those|then|now|all|when|which|what|whom?|long|ages|later|it|noon|midnight"
    r"|(?:the|my|our) (?:week|month|year|day|weekend|season|end|time|start|beginning|moment|rest)\b"
    r"(?! (?:of|when|we|I) )"
    r"|breakfast|lunch|dinner|bed|work|school|\d+)\b",
    re.I,
)
_NO_JOINT_AFTER: Final = frozenset(
    ["look", "looks", "looking", "looked", "named", "called", "take", "takes", "took", "day", "week", "one", "soon"]
)
_WORDS: Final = re.compile(r"[^\W_]+(?:['’]\w+)?")
_PAST: Final = re.compile(
    r"\b(?:did|was|were|had|has|have|been|happened|went|came|got|took|made|left|met|bought|sold|broke|ran|wrote|said|led"
    r"|(?!need)[a-z]{2,}ed)\b|['’]ve\b"
)
_PRESENT: Final = re.compile(
    r"\b(?:do|does|is|are|am|should|can|could|must|will|would|need|needs|may|might|shall|going)\b|['’](?:s|re|ll)\b"
)
_NEW_NOW: Final = re.compile(r"\b(?:is|are|['’]?s)\b.*\b(?:new|different|better|worse|changed)\b")
_OPEN_END: Final = re.compile(
    r"\b(?:why|how come|reasons?|because|how (?:long|often)|how many (?:day|week|month|hour|year)s)\b"
)


class EventBound(Struct, frozen=True, kw_only=True):
    """An event as the question names it, `question[start:stop]`, after which word: since, after, between and so on.

    `windows` are times named within it: the outage in September.
    """

    words: str
    joint: str
    start: int
    stop: int
    windows: tuple[TimeWindow, ...] = ()


def event_bounds(question: str, windows: Sequence[TimeWindow]) -> tuple[EventBound, ...]:
    """The one or two events by which a question about the past bounds its time; none where it names its time itself."""
    found = _between(question) or _one(question)
    if not found:
        return ()
    begin, end = found[0].start, found[-1].stop
    if any(each.kind != "recent" and not begin <= each.start < end for each in windows):
        return ()
    rest = f"{question[:begin]} {question[end:]}".lower()
    if _OPEN_END.search(rest) or not _asks_of_past(rest, found[0].joint):
        return ()
    within = [_with_windows(each, windows) for each in found]
    events = tuple(each for each in within if _content(_without(question, each)))
    return events if all(_is_event(each.words) for each in events) else ()


def names_event(question: str, bound: EventBound) -> str:
    """The words of an event without the times among them."""
    return " ".join(_without(question, bound).split())


def _between(question: str) -> tuple[EventBound, ...]:
    match = _BETWEEN.search(question)
    if match is None or (match[1].lower() == "between") != (match[3].lower() == "and"):
        return ()
    end = _ENDS.search(question, match.start(4))
    stop = min(end.start() if end else len(question), match.end(4))
    if match[1].lower() == "from" and not re.match(r"(?:the|our|my|when)\b", match[2], re.I):
        return ()  # from Lisbon to Rome
    sides = ((match.start(2), match.end(2)), (match.start(4), stop))
    return tuple(
        EventBound(words=question[start:stop].strip(), joint=match[1].lower(), start=start, stop=stop)
        for start, stop in sides
    )


def _one(question: str) -> tuple[EventBound, ...]:
    for match in _JOINT.finditer(question):
        before = _WORDS.findall(question[: match.start()].lower())[-1:]
        joint = match[1].lower()
        if joint == "after" and before and before[0] in _NO_JOINT_AFTER - {"day", "week"}:
            continue
        end = _ENDS.search(question, match.end())
        stop = end.start() if end else len(question)
        if not before and (asked := _QUESTION.search(question, match.end(), stop)):
            stop = asked.start()  # after the outage what did we change?
        words = question[match.end() : stop].strip()
        if 0 < len(words) <= MAX_CHARACTERS:
            return (EventBound(words=words, joint=joint, start=match.end(), stop=match.end() + len(words)),)
    return ()


def _asks_of_past(rest: str, joint: str) -> bool:
    if _PAST.search(rest):
        return True
    return not _PRESENT.search(rest) or (joint == "since" and _NEW_NOW.search(rest) is not None)


def _with_windows(bound: EventBound, windows: Sequence[TimeWindow]) -> EventBound:
    inside = tuple(each for each in windows if each.kind != "recent" and bound.start <= each.start < bound.stop)
    return replace(bound, windows=inside)


def _without(question: str, bound: EventBound) -> str:
    named = question[bound.start : bound.stop]
    for window in sorted(bound.windows, key=lambda each: -each.start):
        named = f"{named[: window.start - bound.start]} {named[window.stop - bound.start :]}"
    return re.sub(r"\b(?:in|on|at|of|from)\s*$", "", named.strip()) if bound.windows else named


def _content(words: str) -> set[str]:
    return set(tokens(words)) - STOP_WORDS


def _is_event(words: str) -> bool:
    """Whether the words may name an event of one's own: not any outage, not habits such as lunch."""
    return _NO_EVENT.match(words) is None
