"""The time frame of a question: what holds now, what held then, everything within a window, before or after something.

where do I live?                    now
where did I live in July 2025?      state    the last value known by the end of the window
what did Kim buy in March?          within   only what falls into the window
what happened last week?            listing  everything in the window, in order of time
list our decisions since May        listing  everything of a kind
where did I live before Arnhem?     before   the value that came before the one that is named
who led billing first?              first
when did we last deploy?            last
has Ana ever lived in Oslo?         past     any time until now

English questions and key words have one. A task ("add a retry to payments"), a statement and other languages have none:
their words would be misread.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct

from weft.text.extract.question.event_bounds import EventBound
from weft.text.extract.question.kinds_asked import kind_asked, subject_of_kind
from weft.text.extract.time.windows import TimeWindow
from weft.text.injection.language import UNKNOWN, language_of
from weft.text.lexical import STOP_WORDS, tokens

Frame = Literal["any", "now", "past", "state", "within", "listing", "before", "after", "first", "last"]
# Words that say when and nothing else: a note that holds "now" is no better an answer to "where do I live now?".
_NOW_TEXT: Final = "now nowadays currently current today presently still latest newest these days anymore moment ever"
NOW_WORDS: Final = frozenset(_NOW_TEXT.split())
_FRAME_TEXT: Final = """
what which happened happen happens happening went going gone go did do does done doing we i you they us me my our
was were is are be been there here anything something everything nothing all any note notes noted record records
recorded remember remembered memory memories write wrote written say said tell told talk talked log logged event
events thing things stuff news new change changed changes update updates updated occur occurred took take place
list show give about on in at of the a an and during between from to since until till by before after up so far
around over this that these those last next past previous day days week weeks month months year years weekend
yesterday today tomorrow morning evening night afternoon anyone someone people have has had get got please
versus vs compare compared comparing comparison difference different differ recap summary summarise summarize overview
both each whole entire everybody everyone new newly else just really exactly
"""
_FRAME_WORDS: Final = frozenset(_FRAME_TEXT.split())
_STATE: Final = re.compile(
    r"\b(?:was|were|is|are|am|be|live[ds]?|stay(?:ed|s)?|resid\w+|work(?:ed|s|ing)?|us(?:e|ed|es|ing)|ha(?:d|s|ve)"
    r"|own(?:ed|s)?|costs?|lead|leads|led|r[au]n|runs|host(?:ed|s)?|handle[ds]?|manage[ds]?|charge[ds]?|pay|pays|paid"
    r"|drive|drove|drives|belong\w*|suppl(?:y|ies|ied)|prefer\w*|like[ds]?|know|knew|keep|kept|responsible|in charge)\b"
)
_HAPPENS: Final = re.compile(r"\b(?:happen\w*|took place|occur\w*|going on|went (?:on|wrong))\b")
_HAPPENED: Final = re.compile(r"\b(?:happened|took place|occurred|went (?:on|wrong))\b")
_LISTS: Final = re.compile(
    r"what(?:'s| (?:has|have|had|is|was|all))*(?: else)? (?:happen\w*|occur\w*|took place|(?:been )?going on|went on)\b"
    r"|what (?:\w+ ){0,3}?(?:did|have|has|had) .{1,60}\b(?:do|done|doing|work(?:ed)? on|get up to)\b"
)
_HABIT: Final = re.compile(
    r"\b(?:on|every) (?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|the (?:\d{1,2}(?:st|nd|rd|th)|first|last)(?! of \w))\b"
)
_VERBLESS: Final = re.compile(
    r"(?:and |so )?(?:any(?:thing|one|body)?|something|notes?|news|events?|everything|all)\b"
    r"(?!.*\b(?:is|are|do|does|can|should|works?|comes?|goes|happens?)\b)"
)  # anything on Monday?
_REVIEW: Final = re.compile(
    r"(?:please )?(?:compare|contrast|summari[sz]e|recap|review|list|show|everything|anything|all|how do(?:es)?)\b"
)
_DURATION: Final = re.compile(r"how (?:long|soon|many (?:hours?|days?|weeks?|months?|years?))\b")
_NUMBERED: Final = re.compile(r",? the \d")  # "Friday the 27th" is not last Friday
_EVENT: Final = re.compile(
    r"\b(?:did|was|were) .{0,80}\b(?:buy|bought|do|done|go|visit\w*|meet|met|decide[d]?|book(?:ed)?|order(?:ed)?"
    r"|send|sent|call(?:ed)?|see|seen|say|said|win|won|lose|lost|break|broken|fix(?:ed)?|ship(?:ped)?|release[d]?|deploy(?:ed)?)\b"
)
_PAST: Final = re.compile(
    r"\b(?:did|was|were|had|used to|ago|previous(?:ly)?|former(?:ly)?|originally|initially|earlier|back then|once"
    r"|ever|before|no longer|anymore)\b"
)
_PAST_VERB: Final = re.compile(
    r"^(?:who|what|which(?: \w+)?) (?:\w+ed|led|ran|took|made|built|wrote|won|bought|sold|said|told|found|paid|chose"
    r"|broke|caused|brought|came|went|gave|got|held|kept|left|lost|met|sent|spoke|taught|thought|wore|drove|put|cut)\b"
)
_BESIDE: Final = re.compile(
    r"(?<!look )(?<!looks )(?<!looking )(?<!looked )\b(before|prior to|after)\b\s+"
    r"(?:the\s+|it was\s+|that was\s+)?([^?.!]+)",
    re.IGNORECASE,
)
_FIRST: Final = re.compile(
    r"\b(?:did .{0,60}\bfirst|(?:had|was|were|got|took|came) .{0,60}\bfirst(?=\W*$)"
    r"|who first (?:had|was|got|took|\w+ed)"
    r"|first (?:time|place|job|home|house|flat|version|choice|supplier|provider|owner)"
    r"|originally|initially|at first|in the beginning|to begin with|earliest)\b"
)
_LAST: Final = re.compile(
    r"\b(?:last time|in the end|finally|eventually|most recent(?:ly)?|the latest|the last"
    r"|(?:did|was|were) .{0,60}\blast)\b"
)
_FUTURE: Final = re.compile(r"\b(?:will|going to|upcoming)\b|\w'll\b")
_REASONS: Final = re.compile(r"\b(?:why|how come|reason|because|what (?:caused|led|made))\b")


_ASKS: Final = re.compile(
    r"(?:please )?(?:(?:in|on|at|for|from|to|by|with|of|since|until|till|about|under|through)(?= (?:wh|how)) )?"
    r"(?:who|whom|whose|what|which|when|where|why|how|do|does|did|is|are|was|were|am|has|have|had|can|could|will|would"
    r"|should|may|might|(?:tell|show|give|remind) (?:me|us)|list)(?:'s|'re|'d|'ve|n't)?\b"
)
_TASK_TEXT: Final = """
add fix implement write make build create refactor update upgrade remove delete change rename move migrate test review
deploy improve investigate debug document clean set prepare plan draft design finish continue check run read open use
"""
_TASKS: Final = frozenset(_TASK_TEXT.split())
MAX_KEY_WORDS: Final = 4
_IN_KEY_WORDS: Final = frozenset(
    ["the", "a", "an", "my", "our", "of", "for", "about", "in", "on", "at", "from", "with"]
)  # "the key of the shed"


class TimeFrame(Struct, frozen=True, kw_only=True):
    """Which states or events a question asks for. `windows` for a frame with dates, `beside` for before and after.

    `subject` are the words that say what the listed events are about: "what happened with the bees in July?" `kind`
    is the kind that is to be listed: "list our decisions".
    """

    frame: Frame = "any"
    windows: tuple[TimeWindow, ...] = ()
    beside: str = ""
    subject: frozenset[str] = frozenset()
    kind: str = ""


def read_time_frame(question: str, windows: Sequence[TimeWindow]) -> TimeFrame:
    """The time frame of a question whose time expressions are `windows`. Linear in its length."""
    rest = without_times(question.lower().replace("’", "'").strip(), windows)
    if kind := kind_asked(rest):
        hard = tuple(window for window in windows if window.kind != "recent")
        return TimeFrame(frame="listing", windows=hard or tuple(windows), subject=subject_of_kind(rest), kind=kind)
    return read_times(question, windows)


def read_times(question: str, windows: Sequence[TimeWindow]) -> TimeFrame:
    """The same for a question that asks for no kind of memories."""
    low = question.lower().replace("’", "'").strip()
    hard = tuple(window for window in windows if window.kind != "recent")
    habit = _HABIT.search(low) and not (_PAST.search(low) or _HAPPENED.search(low) or _VERBLESS.match(low))
    numbered = any(low[: each.stop].endswith("day") and _NUMBERED.match(low, each.stop) for each in hard)
    if hard and (habit or numbered):
        hard, windows = (), ()  # "who cooks on Wednesday?" asks for every Wednesday
    rest = without_times(low, windows)
    subject = subject_of(rest)
    reviews = windows and (_REVIEW.match(low) or not subject)
    if not is_question(question) and not is_key_words(rest) and not reviews:
        return TimeFrame()
    if windows and (reviews or _LISTS.match(rest.strip())):
        return TimeFrame(frame="listing", windows=hard or tuple(windows), subject=subject)
    if _FUTURE.search(low):
        return TimeFrame() if windows else TimeFrame(frame="last")
    if hard:
        frame: Frame = "state" if _STATE.search(rest) and not _HAPPENS.search(rest) else "within"
        return TimeFrame(frame=frame, windows=hard)
    if _REASONS.search(low):
        return TimeFrame()
    if (beside := _BESIDE.search(low)) and not _DURATION.match(low):
        return TimeFrame(frame="after" if beside[1] == "after" else "before", beside=beside[2].strip())
    if _FIRST.search(low):
        return TimeFrame(frame="first")
    if _LAST.search(low):
        return TimeFrame(frame="last")
    if _PAST.search(low) or _PAST_VERB.search(low) or _HAPPENS.search(low):
        return TimeFrame(frame="past")
    return TimeFrame(frame="now")


def subject_of(question: str) -> frozenset[str]:
    """The words of a question that say what it is about, besides that something happened at some time."""
    return frozenset(tokens(question)) - _FRAME_WORDS - STOP_WORDS


def is_listing(question: str, bounds: Sequence[EventBound]) -> bool:
    """Whether all that happened before or after some events is asked for."""
    low = f"{question[: bounds[0].start]} {question[bounds[-1].stop :]}".lower()
    return not subject_of(low) or _LISTS.match(low.strip()) is not None or kind_asked(low) != ""


@lru_cache(maxsize=64)
def is_happening(question: str) -> bool:
    """Whether a question asks for something that happened, rather than for how things were."""
    low = question.lower()
    return _HAPPENS.search(low) is not None or _EVENT.search(low) is not None


def is_question(text: str) -> bool:
    """Whether a text is an English question, and no key words, statement, task, or text in another language."""
    low = text.lower().replace("’", "'").strip()
    if _ASKS.match(low):
        return language_of(text) in ("en", UNKNOWN)
    return low.endswith("?") and language_of(text) == "en"


@lru_cache(maxsize=64)
def is_key_words(text: str) -> bool:
    """Whether a text is a few words of a topic, such as "home address", without the verb of a task."""
    words = [word for word in tokens(text) if word not in _IN_KEY_WORDS]
    if len(words) > MAX_KEY_WORDS or not text.isascii() or language_of(text) not in ("en", UNKNOWN):
        return False
    return not words or (words[0] not in _TASKS and STOP_WORDS.isdisjoint(words))


def without_times(question: str, windows: Sequence[TimeWindow]) -> str:
    """The question without its time expressions and what it names after "before" or "after"."""
    for window in sorted(windows, key=lambda each: -each.start):
        question = f"{question[: window.start]} {question[window.stop :]}"
    return _BESIDE.sub(" ", question)
