"""Keep what belongs to the time frame of the question, and put the value that held then first.

A window filters. Of several values of the same thing the newest answers a question about now, the last one by the end
of the window a question about then. Only what agents and people wrote down as memories, facts and decisions is
reordered here: turns and sessions of conversations are told later than what they tell of, and are weighed by `times`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.retrieval.judging.answers import MAY_TELL, READ_TWICE, telling_rows
from weft.retrieval.pipeline import Answer, Judged
from weft.retrieval.pool import DATED_KINDS
from weft.retrieval.scoring.factors import without_rows
from weft.retrieval.scoring.prefer_newer import comparable, mark_older
from weft.retrieval.sources.listed import is_of_kind
from weft.runtime.call_context import CallContext
from weft.text.extract.question.question_names import names_in
from weft.text.extract.question.time_frame import TimeFrame, is_happening, is_question, without_times
from weft.text.extract.time.calendar import DAY_US
from weft.text.extract.time.windows import TimeWindow, stated_windows
from weft.text.lexical import stems, tokens
from weft.text.sentences import sentence_spans

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

TEMPORAL_PARTS: Final = frozenset({"when", "fresh", "recent", "views", "backlinks"})  # they do not say what it is about
RELEVANT: Final = 0.5  # of the best score: what is about the same thing as the best
NEARLY_BEST: Final = 0.7  # of the best probability: rows of which time alone decides, where only one of them answers
MONTH_LATER_US: Final = 100 * DAY_US  # after a month, notes that name it are of that one and not of the next year's
LISTED: Final = 0.25  # of the best probability in a window: rows about the subject of "what happened with …?"
STEP: Final = 1e-4
READ_CHARACTERS: Final = 2_000
_WHEN: Final = re.compile(r"(?:when|what day|(?:on )?(?:what|which) da(?:y|te)) (?:did|was|were)\b", re.IGNORECASE)
_CHANGED_FROM: Final = re.compile(
    r"\b(?:switch|mov|migrat|chang|renam|rais|lower|increas|reduc|cut)\w*\b[^.;!?]{0,40}? from\b"
    r"|\b(?:instead of|used to be)\b"
)
_GIVEN_UP: Final = re.compile(
    r"\b(?:over|instead of|rather than|away from|replac\w+|dropp?\w*|left|leaving|sold|ditch\w*|cancel\w*|stopped using"
    r"|(?:switch\w*|mov\w+|migrat\w+|chang\w+|renam\w+|hand\w*|transfer\w*|pass\w*)(?: \w+)? from|no longer (?:use )?"
    r"|in place of|succeeds?|takes? over (?:\w+ )?from)"
    r" (?:the )?([A-Z][\w.-]*\w)"
)


class InTimeFrame(Struct, frozen=True):
    """Filters and orders the dated rows by the time frame of the question."""

    name: str = "time_frame"
    relevant: float = RELEVANT

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        frame, pool = answer.frame, answer.pool
        rows = [at for at, node in enumerate(pool.nodes) if node.kind in DATED_KINDS]
        if frame.frame == "any" or not rows:
            return answer
        match frame.frame:
            case "listing":
                return _list(answer, rows, frame)
            case "within" | "state":
                return self._in_window(answer, rows, frame)
            case "before" | "after":
                return self._beside(answer, rows, frame)
            case "past":
                told = telling_rows(answer, rows, NEARLY_BEST) if _WHEN.match(answer.query.strip()) else []
                order = sorted(told, key=lambda at: _begin(answer, at), reverse=True)
                return _first(answer, order[:1], "the newest that tells when")
            case "first" | "last":
                newest = frame.frame == "last"
                about = telling_rows(answer, rows, NEARLY_BEST) or self._about(answer, rows)
                order = sorted(about, key=lambda at: _begin(answer, at), reverse=newest)
                return _first(answer, order[:1], "the newest of them" if newest else "the oldest of them")
            case _:
                return self._newest(ctx, answer, rows)

    def _about(self, answer: Answer, rows: Collection[int], *, best: float | None = None) -> list[int]:
        """The rows that are about what is asked, whenever they were, best first."""
        scores = _timeless(answer)
        if telling := telling_rows(answer, rows):
            return sorted(telling, key=lambda at: -scores[at])
        top = max(float(scores.max()), 0.0) if best is None else best
        about = [at for at in rows if scores[at] > 0.0 and scores[at] >= self.relevant * top]
        if not answer.judged:  # a note that says "September" tells nothing of the treasurer in September
            asked = set(stems(without_times(answer.query, answer.windows)))
            about = [at for at in about if asked & set(stems(answer.pool.nodes[at].text))] or about
        return sorted(about, key=lambda at: -scores[at])

    def _in_window(self, answer: Answer, rows: Sequence[int], frame: TimeFrame) -> Answer:
        about = self._about(answer, rows)
        if not about:
            return answer
        inside = [at for at in about if _falls(answer, at, frame.windows)]
        kept = [*inside]
        for window in frame.windows if frame.frame == "state" or not is_happening(answer.query) else ():
            if not any(_falls(answer, at, (window,)) for at in inside):
                before = [at for at in about if _begin(answer, at) < window.end_us]
                kept += [at for at in sorted(before, key=lambda at: -_begin(answer, at))[:1] if at not in kept]
        if not kept and frame.frame == "state":  # "renamed from master to trunk" tells what it was called before
            later = sorted((at for at in about if _names_former(answer, at)), key=lambda at: _begin(answer, at))
            kept = later[:1]
        if not kept and not is_question(answer.query):
            return answer
        if not kept:
            return _nothing(answer, rows, frame, about)
        answer, kept = _only(answer, rows, kept)
        return _first(answer, kept, "within the time asked about" if inside else "tells what held by then")

    def _beside(self, answer: Answer, rows: Sequence[int], frame: TimeFrame) -> Answer:
        """What came before or after the row that the question names."""
        wanted = set(stems(frame.beside))
        named = [at for at in rows if wanted and wanted <= set(stems(answer.pool.nodes[at].text))]
        if not named:  # of what the question names no note tells by its words: the first or the last value
            order = sorted(telling_rows(answer, rows, NEARLY_BEST), key=lambda at: _begin(answer, at))
            return _first(answer, order[:1] if frame.frame == "before" else order[-1:], f"{frame.frame} the others")
        anchor = max(named, key=lambda at: float(_timeless(answer)[at]))
        if before_words := frame.frame == "before" and _GIVEN_UP.search(answer.pool.nodes[anchor].text):
            return _first(answer, [anchor], f"tells what {before_words[1]} gave way to")
        begin = _begin(answer, anchor)
        before = frame.frame == "before"
        others = [at for at in rows if at not in named]
        others = [at for at in others if (_begin(answer, at) < begin) == before and _begin(answer, at) != begin]
        scores = _timeless(answer)
        about = self._about(answer, others, best=max((float(scores[at]) for at in others), default=0.0))
        if not about:
            return answer
        order = sorted(about, key=lambda at: _begin(answer, at), reverse=before)
        answer, kept = _only(answer, rows, [*order, anchor])
        return _first(answer, kept, f"{frame.frame} it")

    def _newest(self, ctx: CallContext, answer: Answer, rows: Sequence[int]) -> Answer:
        """Puts the newest value of what the best row tells of first."""
        about = [at for at in self._about(answer, rows) if _begin(answer, at) <= answer.asked_at]
        if not about:
            return answer
        wanted = frozenset(stems(answer.query))
        scores = _timeless(answer)
        best = max(rows, key=lambda at: float(scores[at]))
        newer = [at for at in about if _begin(answer, at) > _begin(answer, best) and _same_thing(answer, at, best)]
        newer += _dropped(answer, rows, best, wanted)
        newest = max(newer, key=lambda at: _begin(answer, at), default=best)
        older = [at for at in {*about, best} if _begin(answer, at) < _begin(answer, newest)]
        replaced = {at: newest for at in older if _both_tell(answer, newest, at) and _named_again(answer, newest, at)}
        answer = mark_older(ctx, answer, replaced)
        return _first(answer, [newest, best], "newer than the other values") if newer else answer


def _same_thing(answer: Answer, new: int, old: int) -> bool:
    """Whether two notes tell of one thing: both tell what is asked, or what the question names in the older one stands
    in the newer one. All of its names and key words do, and half of the other words of a question.
    """
    if not comparable(answer.pool.nodes[new], answer.pool.nodes[old]):
        return False
    if _both_tell(answer, new, old):
        return True
    new_text, old_text = answer.pool.nodes[new].text, answer.pool.nodes[old].text
    new_words, old_words = set(stems(new_text)), set(stems(old_text))
    named, shared = set(stems(answer.query)) & old_words, new_words & old_words
    if named and named <= new_words:
        return True
    if not is_question(answer.query) or any(
        name in old_text and name not in new_text for name in names_in(answer.query)
    ):
        return False
    return 2 * len(named & new_words) >= len(named) and len(shared) > (1 if named else 0)


def _both_tell(answer: Answer, new: int, old: int) -> bool:
    """Whether, to the answer judge, both tell what is asked, as notes of two values do."""
    comparably = comparable(answer.pool.nodes[new], answer.pool.nodes[old])
    return comparably and is_question(answer.query) and len(telling_rows(answer, (new, old))) == 2


def _named_again(answer: Answer, new: int, old: int) -> bool:
    """Whether the newer note names all that the question names in the older one: "production", "my dentist".

    To the answer judge values of two like things tell alike. A decision and a memory of its day tell of one choice.
    """
    newer, older = answer.pool.nodes[new], answer.pool.nodes[old]
    if newer.kind == "Fact":
        return True
    if newer.kind != older.kind and newer.happens_at // DAY_US == older.happens_at // DAY_US:
        return False
    named = set(stems(answer.query)) & set(stems(older.text))
    return bool(named) and named <= set(stems(newer.text))


def _dropped(answer: Answer, rows: Sequence[int], best: int, wanted: frozenset[str]) -> list[int]:
    """Newer rows that say that what the best row tells of what is asked was given up for something else."""
    text = answer.pool.nodes[best].text[:READ_CHARACTERS]
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    asked = [each for each in sentences if wanted & set(stems(each))] or sentences
    old = {word for each in asked for word in tokens(each)}
    return [
        at
        for at in rows
        if _begin(answer, best) < _begin(answer, at) <= answer.asked_at
        if any(set(tokens(each[1])) <= old for each in _GIVEN_UP.finditer(answer.pool.nodes[at].text[:READ_CHARACTERS]))
    ]


def _names_former(answer: Answer, at: int) -> bool:
    """Whether a row names the value that its own replaced."""
    return _CHANGED_FROM.search(answer.pool.nodes[at].text[:READ_CHARACTERS]) is not None


def _timeless(answer: Answer) -> Column:
    """The scores without the parts that only say when, or that something points at it."""
    total = answer.pool.scores() * 0.0
    for part in answer.pool.parts:
        if part.name not in TEMPORAL_PARTS:
            total = total + part.values
    return total


def _begin(answer: Answer, at: int) -> int:
    return answer.pool.nodes[at].happens_at


def _falls(answer: Answer, at: int, windows: Sequence[TimeWindow]) -> bool:
    """Whether a row was written in a window, or names a time in it."""
    node = answer.pool.nodes[at]
    if node.kind == "Fact":
        begin, end = node.interval.valid_from, node.interval.valid_to
        return any(begin < window.end_us and (end is None or end > window.begin_us) for window in windows)
    begin_us = node.happens_at
    end_us = begin_us + (DAY_US if begin_us % DAY_US == 0 else 1)  # at midnight: only the day was given
    if any(begin_us < window.end_us and end_us > window.begin_us for window in windows):
        return True
    closed = [window for window in windows if window.kind not in ("since", "until")]
    named = stated_windows(node.text[:READ_CHARACTERS], node.interval.valid_from) if closed else ()
    if any(
        window.begin_us <= each.begin_us and each.end_us <= window.end_us
        for each in named
        if each.kind not in ("recent", "since", "until")
        for window in closed
    ):
        return True
    months = [window for window in closed if window.kind == "month" and 0 <= begin_us - window.end_us < MONTH_LATER_US]
    return any(_names_month(node.text, answer.query[window.start : window.stop]) for window in months)


def _names_month(text: str, month: str) -> bool:
    """Whether a text is of a month that its words name: "bill for June", written in July."""
    return re.search(rf"\b(?:for|of|in) {re.escape(month.title())}\b(?! \d)", text[:READ_CHARACTERS]) is not None


def _happens(answer: Answer, at: int, windows: Sequence[TimeWindow]) -> bool:
    """Whether a row falls into a window. A fact happens when it begins: before and after that it only holds."""
    if answer.pool.nodes[at].kind != "Fact":
        return _falls(answer, at, windows)
    return any(window.begin_us <= _begin(answer, at) < window.end_us for window in windows)


def _list(answer: Answer, rows: Sequence[int], frame: TimeFrame) -> Answer:
    """What falls into the windows or is of the kind, of a question with a subject what is about that.

    Where nothing is, all that falls into the windows, but not all that is of the kind. In order of time; without
    windows, the newest first.
    """
    inside = [at for at in rows if not frame.windows or _happens(answer, at, frame.windows)]
    if frame.kind:
        inside = [at for at in inside if _is_listed(answer, at, frame)]
    if frame.subject:
        inside = _about_subject(answer, inside, frame) or ([] if frame.kind else inside)
    if not inside:
        return _nothing(answer, rows, frame, ())
    inside.sort(key=lambda at: _begin(answer, at), reverse=not frame.windows)
    shown = inside if answer.ask.min_score is not None else _shares(answer, inside, frame.windows)
    answer = _noting_empty(answer, inside, frame)
    if len(shown) < len(inside):
        answer = answer.noted(f"{_count(len(inside) - len(shown))} not shown: limit {len(inside)} shows all")
    answer, kept = _only(answer, range(len(answer.pool.nodes)), shown)
    return _first(answer, kept, "in order of time")


def _count(more: int) -> str:
    return "1 more is" if more == 1 else f"{more} more are"


def _is_listed(answer: Answer, at: int, frame: TimeFrame) -> bool:
    """Whether a row is of the kind that is asked for. What is known of somebody stands in facts and in notes."""
    node = answer.pool.nodes[at]
    if frame.kind == "Fact" and frame.subject:
        return node.kind in ("Fact", "Memory")
    return is_of_kind(node.kind, node.text, frame.kind)


def _shares(answer: Answer, inside: Sequence[int], windows: Sequence[TimeWindow]) -> list[int]:
    """As many rows as are asked for: of each window about as many, of an open one the newest or those right after."""
    limit = answer.ask.limit
    if len(inside) <= limit or not windows:
        return list(inside[:limit])
    groups = [[at for at in inside if _happens(answer, at, (window,))] for window in windows]
    for window, group in zip(windows, groups, strict=True):
        after = answer.query[window.start : window.start + len("after")].lower() == "after"
        if window.kind in ("since", "until", "past", "recent") and not after:
            group.reverse()
    taken: dict[int, None] = {}
    for turn in range(limit):
        for group in groups:
            if turn < len(group) and len(taken) < limit:
                taken[group[turn]] = None
    return [at for at in inside if at in taken]


def _noting_empty(answer: Answer, inside: Sequence[int], frame: TimeFrame) -> Answer:
    """With a note on the windows, of several, in which nothing is."""
    empty = [each for each in frame.windows if not any(_happens(answer, at, (each,)) for at in inside)]
    if len(frame.windows) < 2 or not empty:
        return answer
    return answer.noted(f"Nothing is recorded{_about_what(frame)} for {' or '.join(map(_span, empty))}.")


def _about_subject(answer: Answer, inside: Sequence[int], frame: TimeFrame) -> list[int]:
    """Rows that share a word with the subject, or that to the answer judge belong to the answer.

    All names of the question are in them where a kind is to be listed: facts about Ana.
    """
    names = names_in(without_times(answer.query, answer.windows)) if frame.kind else ()
    if names:
        return [at for at in inside if all(name in _told(answer, at) for name in names)]
    belongs = {at: max(judged.tells, judged.belongs) for at in inside if (judged := _judged(answer, at))}
    likely = READ_TWICE if frame.kind else MAY_TELL
    least = max(LISTED * max(belongs.values(), default=0.0), likely)
    return [at for at in inside if belongs.get(at, 0.0) >= least or _names(answer, at, frame.subject)]


def _told(answer: Answer, at: int) -> str:
    node = answer.pool.nodes[at]
    return f"{node.name} {node.text}"


def _judged(answer: Answer, at: int) -> Judged | None:
    return answer.judged.get(answer.pool.nodes[at].id)


def _names(answer: Answer, at: int, subject: frozenset[str]) -> bool:
    """Whether a row shares a word with the subject."""
    text = _told(answer, at)
    return not subject.isdisjoint(tokens(text)) or not set(stems(" ".join(subject))).isdisjoint(stems(text))


def _nothing(answer: Answer, rows: Sequence[int], frame: TimeFrame, about: Sequence[int]) -> Answer:
    """Without the rows outside the window, and with a note that says so.

    They stay where the caller gave the least score, and where without vectors it is unsure what they are about.
    """
    spans = " or ".join(_span(window) for window in frame.windows)
    what = _about_what(frame) if frame.frame == "listing" else " about this"
    note = f"Nothing is recorded{what}{' for ' if spans else ''}{spans}."
    if frame.kind:
        note = note.replace("Nothing", f"No {frame.kind.lower()}")
    if about:
        dates = sorted(_begin(answer, at) for at in about)
        note += f" What is known about it begins on {to_iso(dates[0])[:10]}."
    if answer.ask.min_score is not None or answer.vector is None:
        return answer.noted(f"{note} These are from other times.")
    return replace(without_rows(answer, set(rows)).noted(note), refused=note)


def _about_what(frame: TimeFrame) -> str:
    return f" about {', '.join(sorted(frame.subject))}" if frame.subject else ""


def _span(window: TimeWindow) -> str:
    first, last = to_iso(window.begin_us)[:10], to_iso(max(window.end_us - 1, window.begin_us))[:10]
    if window.kind == "until":
        return f"the time until {last}"
    return first if first == last else f"{first} to {last}"


def _only(answer: Answer, among: Collection[int], kept: Sequence[int]) -> tuple[Answer, list[int]]:
    """The answer without the rows of `among` that are not kept, and the new places of those that are.

    With a least score of the caller's all rows stay.
    """
    if answer.ask.min_score is not None:
        return answer, [*kept]
    ids = [answer.pool.nodes[at].id for at in kept]
    answer = without_rows(answer, set(among) - set(kept))
    places = answer.pool.places
    return answer, [places[each] for each in ids]


def _first(answer: Answer, order: Sequence[int], why: str) -> Answer:
    """With these rows first, in this order; the part says why."""
    import numpy as np

    if not order:
        return answer
    pool = answer.pool
    scores = pool.scores()
    top, raw = float(scores.max()), np.zeros(len(scores))
    for place, at in enumerate(order):
        raw[at] = top + (len(order) - place) * STEP - scores[at]
    return replace(answer, pool=pool.with_part("time_frame", raw, 1.0, lambda at: why))
