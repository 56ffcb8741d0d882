"""A briefing for a piece of work on code: what it holds, how it reads, and what of it fits a budget. Pure.

Names, signatures and lines of source are data: they stand in quotes, or on lines that begin with `> `.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.context.budget import Slot, fill
from weft.context.tokens import count_tokens
from weft.context.wording import cut, quoted, visible
from weft.retrieval.views.ground import flat

FIRST_ROWS: Final = 3  # symbols that come before the first body, which is one of theirs
FIRST_BODY_SHARE: Final = 0.25  # of the budget that it may take at most before other symbols are told
SIGNATURE_CHARACTERS: Final = 120
SHORT_SIGNATURE_CHARACTERS: Final = 90
SUMMARY_CHARACTERS: Final = 110
WORDS_CHARACTERS: Final = 240  # of a decision, an episode, a plan
REFS_SHOWN: Final = 3  # callers, callees and tests on one line
ROOMY_TOKENS: Final = 600  # with fewer, a row is a place and a signature
MOST_ROUNDS: Final = 8
ROOM_FOR_COUNT: Final = 99_999  # stands for the count while that is not known
_NAME: Final = re.compile(r"[\w./:#@+=,~%$()\[\]-]{1,200}")

BESIDE: Final = ("callers", "callees", "tests")

Piece = tuple[Literal["row", "body", "callers", "callees", "tests", "dependency", "decision", "plan", "episode"], int]


class SymbolRef(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A symbol beside another: its name, its file, and the line that matters: of a caller, where it calls."""

    name: str
    file: str
    line: int
    citation: str


class CodeSlice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A symbol: where it is, its head, what it is for, and its lines where there is room for all of them.

    `callers` are by the line where they call, `callees` and `tests` by where they begin; how many more there are than
    these is told beside them. `decisions` and `learnings` are ids. `ppr_score` is how much of a walk from what the task
    names stays with it.
    """

    symbol_name: str
    kind: str
    file: str
    start_line: int
    end_line: int
    citation: str
    signature: str
    summary: str = ""
    code: str = ""
    callers: tuple[SymbolRef, ...] = ()
    callees: tuple[SymbolRef, ...] = ()
    tests: tuple[SymbolRef, ...] = ()
    more_callers: int = 0
    more_callees: int = 0
    more_tests: int = 0
    decisions: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    ppr_score: float = 0.0
    valid_from: str = ""
    id: str = ""


class Dependency(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A relation between a core symbol and another: `source` calls, extends, implements or imports `target`.

    The place is that of the other one.
    """

    source: str
    relation: str
    target: str
    file: str
    line: int
    citation: str


class Known(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A decision, an episode or a plan in a few words, with its citation."""

    id: str
    kind: str
    title: str
    citation: str
    text: str = ""
    at: str = ""
    status: str = ""


class ContextPack(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One briefing: where to start, the symbols that matter, what they are joined to, what was decided about them.

    `learnings` and `active_blockers` are for what agents learn and claim: there is none yet. A budget is of `text`;
    `token_estimate` is what all of it costs to read, in words or as data, whichever is more.
    """

    summary: str
    entry_point: str = ""
    core_symbols: tuple[CodeSlice, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    decisions: tuple[Known, ...] = ()
    learnings: tuple[Known, ...] = ()
    active_blockers: tuple[str, ...] = ()
    plan: Known | None = None
    episodes: tuple[Known, ...] = ()
    token_estimate: int = 0
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All of it in words, as an agent reads it."""
        return "\n\n".join(filter(None, (self.summary, pack_text(self))))


# How it reads


def short_form(slice_: CodeSlice, most: int = SIGNATURE_CHARACTERS) -> str:
    """A symbol's head with its qualified name: `Store.find(self, key: str) -> Node`, `class Store(Base)`."""
    name, head = flat(slice_.symbol_name), flat(slice_.signature)
    last = name.rpartition(".")[2]
    at = head.find(f"{last}(")
    if slice_.kind in ("function", "method", "Function", "Test") and at >= 0:
        head = name + head[at + len(last) :]
    elif "." in name and last in head:
        head = head.replace(last, name, 1)
    return cut(head or name, most)


def shown_name(written: str) -> str:
    """A name or a path in a sentence of ours: as it is where it can be no words, else in quotes."""
    return written if _NAME.fullmatch(written) else quoted(cut(flat(written), SIGNATURE_CHARACTERS))


def pack_text(pack: ContextPack) -> str:
    """The lines of a pack below its summary."""
    roomy = any(each.summary for each in pack.core_symbols)
    rows = [line for each in pack.core_symbols for line in _slice_lines(each, roomy=roomy)]
    blocks = ["\n".join(rows)] if rows else []
    sections = {
        "Joined to them": [_dependency_line(each) for each in pack.dependencies],
        "Decisions": [known_line(each) for each in (*pack.decisions, *pack.learnings)],
        "Plan": [known_line(pack.plan)] if pack.plan is not None else [],
        "Episodes": [known_line(each) for each in pack.episodes],
        "Held by others": [quoted(each) for each in pack.active_blockers],
    }
    blocks += ["\n".join([f"{title}:", *lines]) for title, lines in sections.items() if lines]
    return "\n\n".join(blocks)


def _slice_lines(slice_: CodeSlice, *, roomy: bool) -> Iterator[str]:
    yield _row(slice_, roomy=roomy)
    yield from refs_lines(slice_)
    if slice_.code:
        yield quoted_code(slice_.code)


def _row(slice_: CodeSlice, *, roomy: bool) -> str:
    head = short_form(slice_, SIGNATURE_CHARACTERS if roomy else SHORT_SIGNATURE_CHARACTERS)
    said = f" {quoted(cut(slice_.summary, SUMMARY_CHARACTERS))}" if slice_.summary and roomy else ""
    end = f"-{slice_.end_line}" if slice_.end_line > slice_.start_line else ""
    return f"{slice_.citation}{end} {quoted(head) if slice_.signature else '(file)'}{said}"


def refs_lines(slice_: CodeSlice) -> Iterator[str]:
    """Who calls it, what it calls, what tests it: a line each, a few of each."""
    for told, refs, more in _beside(slice_):
        if refs:
            yield _refs(told, refs, more)


def _beside(slice_: CodeSlice) -> tuple[tuple[str, Sequence[SymbolRef], int], ...]:
    return (
        ("called by", slice_.callers, slice_.more_callers),
        ("calls", slice_.callees, slice_.more_callees),
        ("tested by", slice_.tests, slice_.more_tests),
    )


def _refs(told: str, refs: Sequence[SymbolRef], more: int) -> str:
    named = ", ".join(f"{quoted(each.name)} {each.citation}" for each in refs[:REFS_SHOWN])
    more += max(len(refs) - REFS_SHOWN, 0)
    return f"  {told} {named}{f' and {more} more' if more else ''}"


def _dependency_line(each: Dependency) -> str:
    relation = each.relation.lower().replace("_", " ")
    return f"  {quoted(each.source)} {relation} {quoted(each.target)} {each.citation}"


def known_line(each: Known) -> str:
    """A decision, an episode or a plan on one line."""
    said = f": {quoted(cut(flat(each.text), WORDS_CHARACTERS))}" if each.text and each.text != each.title else ""
    about = ", ".join(filter(None, (each.status, each.at[:10])))
    return f"  {quoted(each.title)}{said}{f' ({about})' if about else ''} {each.citation}"


def quoted_code(code: str) -> str:
    """Lines of source, each marked as not weft's own."""
    return "\n".join(f"> {visible(line)}".rstrip() for line in code.split("\n"))


# What fits


def fitted(whole: ContextPack, budget_tokens: int) -> ContextPack:
    """As much of a pack as costs no more than the budget: whole lines and whole bodies, the best first.

    The shares of `weft.context.budget` decide. A body that has no room stays out; its row stays. The first row always
    stays.
    """
    room = budget_tokens
    made = whole
    for _ in range(MOST_ROUNDS):
        made = _with(whole, room, roomy=budget_tokens >= ROOMY_TOKENS)
        over = count_tokens(made.text) - budget_tokens
        if over <= 0 or room <= 0:
            break
        room -= max(over, 8)
    said = "\n".join((made.text, *made.notes))
    data = msgspec.json.encode(replace(made, token_estimate=ROOM_FOR_COUNT)).decode()
    return replace(made, token_estimate=max(count_tokens(said), count_tokens(data)))


def _with(whole: ContextPack, budget_tokens: int, *, roomy: bool) -> ContextPack:
    told = whole if roomy else _bare(whole)
    overhead = count_tokens(f"{whole.summary}\n\n")
    room = max(budget_tokens - overhead, 0)
    costs = {piece: _cost(told, piece, roomy=roomy) for piece in _all_pieces(told)}
    found = fill(_pieces(told, costs, room), costs.__getitem__, room)
    taken = {piece for slot in found.slots.values() for piece in slot}
    rows = [at for at in range(len(told.core_symbols)) if ("row", at) in taken] or [0][: len(told.core_symbols)]
    return replace(
        told,
        core_symbols=tuple(_of_slice(told.core_symbols[at], at, taken) for at in rows),
        dependencies=tuple(each for at, each in enumerate(told.dependencies) if ("dependency", at) in taken),
        decisions=tuple(each for at, each in enumerate(told.decisions) if ("decision", at) in taken),
        plan=told.plan if ("plan", 0) in taken else None,
        episodes=tuple(each for at, each in enumerate(told.episodes) if ("episode", at) in taken),
    )


def _bare(whole: ContextPack) -> ContextPack:
    """Without what a short pack has no room to say of each symbol: no summary, a body only of the best."""
    rows = enumerate(whole.core_symbols)
    return replace(
        whole,
        core_symbols=tuple(replace(each, summary="", code=each.code if at == 0 else "") for at, each in rows),
    )


def _all_pieces(pack: ContextPack) -> list[Piece]:
    return [piece for pieces in _pieces(pack, {}, 0).values() for piece in pieces]


def _pieces(pack: ContextPack, costs: Mapping[Piece, int], room_tokens: int) -> Mapping[Slot, Sequence[Piece]]:
    """What may be told, by slot, the best first: some rows, the first body that is not too long, then the others."""
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
        "decisions": [("decision", at) for at in range(len(pack.decisions))],
        "plan": [("plan", 0)] if pack.plan is not None else [],
        "episodes": [("episode", at) for at in range(len(pack.episodes))],
    }


def _cost(pack: ContextPack, piece: Piece, *, roomy: bool) -> int:
    sort, at = piece
    match sort:
        case "row":
            text = _row(pack.core_symbols[at], roomy=roomy)
        case "body":
            text = quoted_code(pack.core_symbols[at].code)
        case "callers" | "callees" | "tests":
            text = _refs(*_beside(pack.core_symbols[at])[BESIDE.index(sort)])
        case "dependency":
            text = _dependency_line(pack.dependencies[at])
        case "plan":
            text = known_line(pack.plan) if pack.plan is not None else ""
        case "decision" | "episode":
            text = known_line((pack.decisions if sort == "decision" else pack.episodes)[at])
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
