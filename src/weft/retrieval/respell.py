"""Where a name in the question was misspelt, goes on with it spelt as the names here are."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from weft.lexical import fold_case
from weft.loom import Loom
from weft.retrieval.pipeline import Answer, Mention
from weft.retrieval.text import Text
from weft.retrieval.understand import Understand

_WORD = re.compile(r"[^\W_]+")


class Respell(Struct, frozen=True):
    """Reads the corrected question and looks for its words again; the answer says so."""

    name: str = "respell"

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        slips = [mention for mention in answer.mentions if mention.written]
        if not slips:
            return answer
        meant = {mention.written: _meant(mention) for mention in slips}
        query = _WORD.sub(lambda word: meant.get(fold_case(word.group()), word.group()), answer.query)
        if query == answer.query:
            return answer
        told = ", ".join(f"{written!r} as {right!r}" for written, right in meant.items())
        again = Understand()(loom, replace(answer, query=query))
        return Text()(loom, again).noted(f"read {told}")


def _meant(mention: Mention) -> str:
    """The word of the name that stands where the misspelt one was written."""
    return mention.key.split()[mention.slip]
