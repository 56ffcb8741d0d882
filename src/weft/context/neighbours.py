"""The turn before a turn that answers it: "Yes, the second one" says little without what was asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from weft.context.arrange import Before, Line
from weft.errors import StoreError
from weft.gateway import flags_of, mark_of
from weft.loom import Loom
from weft.retrieval.flow import turn_beside
from weft.retrieval.pipeline import Answer
from weft.retrieval.subscriptions import cited, readable
from weft.types import NodeVersion

MESSAGE: Final = "Message"
FEW_WORDS: Final = 12  # a turn of fewer leans on the one before it
_ANSWERS: Final = re.compile(
    r"(?:yes|no|yeah|yep|yup|nope|nah|ok|okay|sure|exactly|right|correct|true|agreed|absolutely|definitely|of course"
    r"|neither|either|both|none|all of them|maybe|perhaps|probably|not really|not yet|me too|same here|because"
    r"|(?:the|that|this) (?:first|second|third|last|former|latter|other|same|one)|i (?:do|don't|did|didn't|will|won't)"
    r"|it (?:is|isn't|was|wasn't|does|doesn't))\b",
    re.IGNORECASE,
)


def with_turns_before(loom: Loom, answer: Answer, lines: Sequence[Line]) -> tuple[list[Line], tuple[str, ...]]:
    """The lines, those of turns that answer with what they answer; a note where the store cannot tell that.

    A turn that is a line of its own is not told twice. Of an answer from the log nothing is known.
    """
    marked = [_judged(line) for line in lines]
    shown = {line.node.id for line in lines}
    beside = {line.node.id: turn_beside(line.node.id, -1) for line in lines if leans_back(line.node)}
    wanted = [each for each in beside.values() if each is not None and each not in shown]
    if answer.degraded or not wanted:
        return marked, ()
    try:
        turns = readable(loom, answer.ask.when, wanted, followed=answer.followed)
        citations = cited(loom, turns, followed=answer.followed)
    except StoreError as problem:
        return marked, (f"the context is without the turns before those that answer: {problem.message}",)
    before = {turn.id: turn for turn in turns if turn.kind == MESSAGE and turn.event in citations}
    return [_joined(line, before.get(beside.get(line.node.id) or ""), citations) for line in marked], ()


def leans_back(node: NodeVersion) -> bool:
    """Whether a node is a turn that says little without the one before it: it is short, or begins as answers do."""
    if node.kind != MESSAGE:
        return False
    said = _said(node)
    return len(said.split(maxsplit=FEW_WORDS)) < FEW_WORDS or _ANSWERS.match(said) is not None


def _said(node: NodeVersion) -> str:
    """The words, without the name in front of them."""
    speaker = node.props.get("speaker")
    return node.text.removeprefix(f"{speaker}:").strip() if isinstance(speaker, str) else node.text.strip()


def _judged(line: Line) -> Line:
    """A message that came from outside and was not clean says so, whoever reads it later."""
    verdict = line.node.props.get("verdict") if line.node.kind == MESSAGE else None
    told = f"when it came in, it was found {verdict}"
    return replace(line, marks=(*line.marks, told)) if verdict in ("SUSPICIOUS", "DISCARD") else line


def _joined(line: Line, turn: NodeVersion | None, citations: Mapping[int, str]) -> Line:
    if turn is None or turn.props.get("conversation") != line.node.props.get("conversation"):
        return line
    by = turn.props.get("speaker") or turn.props.get("role")
    words = turn.text if not isinstance(by, str) or turn.text.startswith(f"{by}:") else f"{by}: {turn.text}"
    flags = flags_of(turn.text)
    marks = (*line.marks, mark_of(flags)) if flags else line.marks
    return replace(line, before=Before(words=words, citation=citations[turn.event]), marks=marks)
