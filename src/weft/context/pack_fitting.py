"""Fitting a code briefing into a budget, and the short form of one. Pure.

A budget is a ceiling. A short pack says where to start and which other files to open, and stops there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from weft.context.budget import SHARES, Slot, context_tokens
from weft.context.code_pack import (
    SIGNATURE_CHARACTERS,
    CodeSlice,
    ContextPack,
    beside_of,
    dependency_line,
    head_line,
    known_line,
    quoted_code,
    refs_line,
    row_line,
)
from weft.context.fit import fit
from weft.context.tokens import count_tokens
from weft.context.wording import cut
from weft.text.one_line import flat

ROOMY_TOKENS: Final = 600  # with fewer, a row is a place and a signature
# Up to the tokens of the compact profile a row is a place and a name; the first also has summary and callers.
SHORT_TOKENS: Final = context_tokens("compact")
FIRST_ROWS: Final = 3  # symbols that come before the first body, which is one of theirs
FIRST_BODY_SHARE: Final = 0.25  # of the budget for the first body before other symbols
SHORT_REFS: Final = 1  # callers and tests of the first symbol that a short pack names
SHORT_DECISIONS: Final = 2
SHORT_LEARNINGS: Final = 1
SHORT_BLOCKERS: Final = 2
LEAST_TOLD: Final = 2  # words of a summary beyond those of the name, for a short pack to show it
MOST_ROUNDS: Final = 8
ROOM_FOR_COUNT: Final = 99_999  # a placeholder until the count is known
BESIDE: Final = ("callers", "callees", "tests")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_a-zA-Z]+")

Piece = tuple[
    Literal["row", "body", "callers", "callees", "tests", "dependency", "decision", "learning", "plan", "episode"], int
]


def fitted(whole: ContextPack, budget_tokens: int) -> ContextPack:
    """The most of a pack within the budget: whole lines and whole bodies, the best first.

    The shares of `weft.context.budget` decide. A body without room is omitted; its row stays. The first row always
    stays. A short form is shortened first, whatever the budget.
    """
    room = budget_tokens
    roomy = budget_tokens >= ROOMY_TOKENS
    told = whole if roomy else _bare(whole) if budget_tokens > SHORT_TOKENS else _short(whole)
    made = told
    for _ in range(MOST_ROUNDS):
        made = _with(told, room, roomy=roomy)
        over = count_tokens(made.text) - budget_tokens
        if over <= 0 or room <= 0:
            break
        room -= max(over, 8)
    said = "\n".join((made.text, *made.notes))
    data = msgspec.json.encode(replace(made, token_estimate=ROOM_FOR_COUNT)).decode()
    return replace(made, token_estimate=max(count_tokens(said), count_tokens(data)))


def _with(told: ContextPack, budget_tokens: int, *, roomy: bool) -> ContextPack:
    overhead = count_tokens(f"{told.summary}\n\n")
    room = max(budget_tokens - overhead, 0)
    first = {each.file: at for at, each in reversed(list(enumerate(told.core_symbols)))}
    costs = {piece: _cost(told, piece, first, roomy=roomy) for piece in _all_pieces(told)}
    taken = set(fit(_pieces(told, costs, room), costs.__getitem__, room, SHARES).kept)
    rows = [_of_slice(each, at, taken) for at, each in enumerate(told.core_symbols) if ("row", at) in taken]
    if ("row", 0) not in taken:  # no room for its details: the place to start is shown all the same
        rows = [_named(each) for each in told.core_symbols[:1]]
    return replace(
        told,
        core_symbols=tuple(rows),
        dependencies=tuple(each for at, each in enumerate(told.dependencies) if ("dependency", at) in taken),
        decisions=tuple(each for at, each in enumerate(told.decisions) if ("decision", at) in taken),
        learnings=tuple(each for at, each in enumerate(told.learnings) if ("learning", at) in taken),
        plan=told.plan if ("plan", 0) in taken else None,
        episodes=tuple(each for at, each in enumerate(told.episodes) if ("episode", at) in taken),
    )


def _bare(whole: ContextPack) -> ContextPack:
    """Without details that a small pack has no room for: no summaries, a body only of the best."""
    rows = enumerate(whole.core_symbols)
    return replace(
        whole,
        core_symbols=tuple(replace(each, summary="", code=each.code if at == 0 else "") for at, each in rows),
    )


def _all_pieces(pack: ContextPack) -> list[Piece]:
    return [piece for pieces in _pieces(pack, {}, 0).values() for piece in pieces]


def _pieces(pack: ContextPack, costs: Mapping[Piece, int], room_tokens: int) -> Mapping[Slot, Sequence[Piece]]:
    """The pieces, by slot, the best first: some rows, the first body that is not too long, then the others."""
    rows = range(len(pack.core_symbols))
    bodies: list[Piece] = [("body", at) for at in rows if pack.core_symbols[at].code]
    share = FIRST_BODY_SHARE * room_tokens if room_tokens >= ROOMY_TOKENS // 2 else 0
    early = [each for each in bodies if each[1] < FIRST_ROWS and costs.get(each, 0) <= share]
    core: list[Piece] = [("row", at) for at in rows]
    core[FIRST_ROWS:FIRST_ROWS] = early[:1]
    core += [each for each in bodies if each not in early[:1]]
    beside: list[Piece] = []
    for at, each in enumerate(pack.core_symbols):
        beside += [("callers", at)] if each.callers else []
        beside += [("callees", at)] if each.callees else []
        beside += [("tests", at)] if each.tests else []
    beside += [("dependency", at) for at in range(len(pack.dependencies))]
    return {
        "core": core,
        "dependencies": beside,
        "decisions": [
            *(("learning", at) for at in range(len(pack.learnings[:1]))),  # the surest one first
            *(("decision", at) for at in range(len(pack.decisions))),
            *(("learning", at) for at in range(1, len(pack.learnings))),
        ],
        "plan": [("plan", 0)] if pack.plan is not None else [],
        "episodes": [("episode", at) for at in range(len(pack.episodes))],
    }


def _cost(pack: ContextPack, piece: Piece, first: Mapping[str, int], *, roomy: bool) -> int:
    """The cost of a piece, if the `first` of each file is shown, which has its path."""
    sort, at = piece
    match sort:
        case "row" if pack.core_symbols[at].citation in pack.summary:
            text = head_line(pack.core_symbols[at])
        case "row":
            text = row_line(pack.core_symbols[at], roomy=roomy, below=first[pack.core_symbols[at].file] < at)
        case "body":
            text = quoted_code(pack.core_symbols[at].code)
        case "callers" | "callees" | "tests":
            text = refs_line(pack.core_symbols[at], *beside_of(pack.core_symbols[at])[BESIDE.index(sort)])
        case "dependency":
            text = dependency_line(pack.dependencies[at])
        case "plan":
            text = known_line(pack.plan) if pack.plan is not None else ""
        case "decision" | "learning" | "episode":
            known = {"decision": pack.decisions, "learning": pack.learnings, "episode": pack.episodes}
            text = known_line(known[sort][at])
    return count_tokens(f"{text}\n")


def _of_slice(slice_: CodeSlice, at: int, taken: set[Piece]) -> CodeSlice:
    return replace(
        slice_,
        code=slice_.code if ("body", at) in taken and ("row", at) in taken else "",
        callers=slice_.callers if ("callers", at) in taken else (),
        callees=slice_.callees if ("callees", at) in taken else (),
        tests=slice_.tests if ("tests", at) in taken else (),
        more_callers=slice_.more_callers if ("callers", at) in taken else 0,
        more_callees=slice_.more_callees if ("callees", at) in taken else 0,
        more_tests=slice_.more_tests if ("tests", at) in taken else 0,
    )


# A short one


def _short(whole: ContextPack) -> ContextPack:
    """The names of symbols, and of the first one its summary, a caller and a test: enough to open the right files."""
    return replace(
        whole,
        core_symbols=tuple(_first(each) if at == 0 else _named(each) for at, each in enumerate(whole.core_symbols)),
        dependencies=(),
        decisions=whole.decisions[:SHORT_DECISIONS],
        learnings=whole.learnings[:SHORT_LEARNINGS],
        active_blockers=whole.active_blockers[:SHORT_BLOCKERS],
        episodes=(),
    )


def _named(slice_: CodeSlice) -> CodeSlice:
    return replace(
        slice_,
        signature="",
        summary="",
        code="",
        callers=(),
        callees=(),
        tests=(),
        more_callers=0,
        more_callees=0,
        more_tests=0,
    )


def _first(slice_: CodeSlice) -> CodeSlice:
    within = f"{slice_.symbol_name}."
    told = [each for each in slice_.callers if each.name != slice_.file and not each.name.startswith(within)]
    callers = tuple(
        sorted(told, key=lambda each: each.file == slice_.file)[:SHORT_REFS]
    )  # callers in other files are more useful
    tests = slice_.tests[:SHORT_REFS]
    return replace(
        slice_,
        signature=cut(flat(slice_.signature), SIGNATURE_CHARACTERS),
        summary=slice_.summary if _says_more(slice_) else "",
        callees=(),
        more_callees=0,
        callers=callers,
        more_callers=slice_.more_callers + len(told) - len(callers),
        tests=tests,
        more_tests=slice_.more_tests + len(slice_.tests) - len(tests),
    )


def _says_more(slice_: CodeSlice) -> bool:
    """Whether a summary adds words to the name: `Create sockets.` adds nothing to `create_sockets`."""
    name = [word.casefold() for word in _WORD.findall(slice_.symbol_name)]
    said = [word.casefold() for word in _WORD.findall(slice_.summary)]
    new = {word for word in said if len(word) > 2 and not any(word.startswith(known[:4]) for known in name)}
    return len(new) >= LEAST_TOLD and "; takes " not in slice_.summary
