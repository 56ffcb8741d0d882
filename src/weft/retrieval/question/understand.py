"""Reads the question: its words, its shape, the times it names. Its vector is begun meanwhile."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.retrieval.pipeline import Answer, NameMention
from weft.retrieval.question.before_search import NO_WORDS
from weft.retrieval.sources.by_words import SearchWords
from weft.runtime.call_context import CallContext
from weft.text.extract.question.question import read_question
from weft.text.extract.question.time_frame import NOW_WORDS, TimeFrame, read_time_frame
from weft.text.extract.time.windows import time_windows
from weft.text.lexical import fold_case, query_terms

DENSE: Final = 0.2  # share of a line's characters: with more punctuation than this it is not a sentence
_SIGNS: Final = re.compile(r"[(){}\[\]=<>_/\\:;\"'`#@$%&*|+]")
_STATEMENT: Final = re.compile(
    r"\s*(?:from \S+ import|import \w|class \w+\s*[(:{]|(?:async )?def \w+\(|func(?:tion)? \w+\(|fn \w+[(<]|return\b"
    r"|@\w|(?:const|let|var) \w+ =|(?:public|private|protected) \w|#include\b|>>>|\.\.\. |File \"|Traceback|raise \w"
    r"|\$ |\w+ = |SELECT |INSERT |ALTER |CREATE )"
)

# Of a word that only the code in a report has: that code is its author's own.
CODE_LINE = 0.25
FIRST_LINE = 2.0  # more weight for terms of a report's first line, its title


class Understand(Struct, frozen=True):
    """Stems and weights of the question's words, its shape, and the windows of time it names."""

    name: str = "understand"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        query = answer.query
        ctx.embedding.begin(query)
        if ctx.judge is not None:
            ctx.judge.begin()
        question = read_question(query)
        weights = dict(query_terms(query))
        if question.is_report:
            told = dict(query_terms(prose_of(query)))
            weights = {term: max(told.get(term, 0.0), CODE_LINE * weight) for term, weight in weights.items()}
            for term, _ in query_terms(question.first_line):
                weights[term] = weights.get(term, 0.0) + FIRST_LINE
        windows = time_windows(question.first_line if question.is_report else query, answer.asked_at)
        frame = TimeFrame() if question.is_report else read_time_frame(query, windows)
        if frame.frame == "now" and (
            about := {term: weight for term, weight in weights.items() if term not in NOW_WORDS}
        ):
            weights = about
        notes = () if weights else (NO_WORDS,)
        return replace(
            answer,
            question=question,
            terms=tuple(weights.items()),
            windows=windows,
            frame=frame,
            notes=answer.notes + notes,
        )


_WORD = re.compile(r"[^\W_]+")


class Respell(Struct, frozen=True):
    """Reads the corrected question and searches for its words again, with a note."""

    name: str = "respell"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        slips = [mention for mention in answer.mentions if mention.written]
        if not slips:
            return answer
        meant = {mention.written: _meant(mention) for mention in slips}
        query = _WORD.sub(lambda word: meant.get(fold_case(word.group()), word.group()), answer.query)
        if query == answer.query:
            return answer
        told = ", ".join(f"{written!r} as {right!r}" for written, right in meant.items())
        again = Understand()(ctx, replace(answer, query=query))
        return SearchWords()(ctx, again).noted(f"misspelt words: {told}")


def _meant(mention: NameMention) -> str:
    """The word of the name in place of the misspelt one."""
    return mention.key.split()[mention.slip]


def prose_of(text: str) -> str:
    """A report without its lines of code. The first line, its title, stays."""
    first, mark, rest = text.partition("\n")
    return first + mark + "\n".join([line for line in rest.split("\n") if not is_code_line(line)])


def is_code_line(line: str) -> bool:
    """Whether a line is a statement or a traceback frame, or has more punctuation than sentences do."""
    words = line.strip()
    if not words:
        return False
    return _STATEMENT.match(line) is not None or len(_SIGNS.findall(words)) > DENSE * len(words)
