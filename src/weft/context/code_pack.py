"""A briefing for a piece of work on code: what it holds, and how it reads. Pure.

Names, signatures and lines of source are data: they are in quotes, or on lines that begin with `> `; a name that can
be no words stands as it is. The path of a file is written once: `:12-40` below it are lines of the same file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from weft.context.wording import cut, quoted, visible
from weft.text.one_line import flat

SIGNATURE_CHARACTERS: Final = 120
SHORT_SIGNATURE_CHARACTERS: Final = 90
SUMMARY_CHARACTERS: Final = 110
SHORT_SUMMARY_CHARACTERS: Final = 80
WORDS_CHARACTERS: Final = 240  # of a decision, an episode, a plan
REFS_SHOWN: Final = 3  # callers, callees and tests on one line
_NAME: Final = re.compile(r"[\w./:#@+=,~%$()\[\]-]{1,200}")


class SymbolRef(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A related symbol: its name, its file, and the line where it begins; for a caller, the line of the call."""

    name: str
    file: str
    line: int
    citation: str


class CodeSlice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A symbol: its place, signature, summary, and its code where there is room for all of it.

    `callers` are by the line of the call, `callees` and `tests` by their first line, with the number of further ones.
    `decisions` and `learnings` are ids. `ppr_score` is its personalised PageRank from the symbols that the task names.
    A short pack has the signature of the first symbol only.
    """

    symbol_name: str
    kind: str
    file: str
    start_line: int
    end_line: int
    citation: str
    signature: str = ""
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
    """One briefing: the starting point, the important symbols, their relations, and decisions about them.

    `learnings` are those of agents on these files, `active_blockers` claims of others on them. A budget applies to
    `text`; `token_estimate` is the cost as text or as data, whichever is more.
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
    """A name or a path in a sentence of weft, in quotes if it could be read as prose."""
    return written if _NAME.fullmatch(written) else quoted(cut(flat(written), SIGNATURE_CHARACTERS))


def pack_text(pack: ContextPack) -> str:
    """The lines of a pack below its summary: symbols by file, in the order of the best of each."""
    of_files: dict[str, list[CodeSlice]] = {}
    for each in pack.core_symbols:
        of_files.setdefault(each.file, []).append(each)
    roomy = sum(bool(each.summary) for each in pack.core_symbols) > 1
    rows = [
        line
        for found in of_files.values()
        for at, each in enumerate(found)
        for line in _slice_lines(each, roomy=roomy, below=at > 0, placed=each.citation in pack.summary)
    ]
    blocks = ["\n".join(rows)] if rows else []
    sections = {
        "Joined to them": [dependency_line(each) for each in pack.dependencies],
        "Decisions": [known_line(each) for each in pack.decisions],
        "Learnt here": [known_line(each) for each in pack.learnings],
        "Plan": [known_line(pack.plan)] if pack.plan is not None else [],
        "Episodes": [known_line(each) for each in pack.episodes],
        "Held by others": [quoted(each) for each in pack.active_blockers],
    }
    blocks += ["\n".join([f"{title}:", *lines]) for title, lines in sections.items() if lines]
    return "\n\n".join(blocks)


def _slice_lines(slice_: CodeSlice, *, roomy: bool, below: bool, placed: bool) -> Iterator[str]:
    if line := head_line(slice_) if placed else row_line(slice_, roomy=roomy, below=below):
        yield line
    for told, refs, more in beside_of(slice_):
        if refs:
            yield f"{'  ' if below else ''}{refs_line(slice_, told, refs, more)}"
    if slice_.code:
        yield quoted_code(slice_.code)


def row_line(slice_: CodeSlice, *, roomy: bool, below: bool) -> str:
    """A symbol in a line; `below` another of the same file the path is not repeated."""
    head = short_form(slice_, SIGNATURE_CHARACTERS if roomy else SHORT_SIGNATURE_CHARACTERS)
    said = cut(slice_.summary, SUMMARY_CHARACTERS if roomy else SHORT_SUMMARY_CHARACTERS)
    place = f"  :{slice_.citation.rpartition(':')[2]}" if below else slice_.citation
    named = "(file)" if slice_.kind == "File" else quoted(head) if slice_.signature else shown_name(slice_.symbol_name)
    return f"{place} {named}{f' {quoted(said)}' if said else ''}"


def head_line(slice_: CodeSlice) -> str:
    """The signature and summary of a symbol whose place the pack's summary has; empty where it has neither."""
    head = quoted(short_form(slice_, SHORT_SIGNATURE_CHARACTERS)) if slice_.signature else ""
    said = quoted(cut(slice_.summary, SHORT_SUMMARY_CHARACTERS)) if slice_.summary else ""
    told = " ".join(filter(None, (head, said)))
    return f"  {told}" if told else ""


def beside_of(slice_: CodeSlice) -> tuple[tuple[str, Sequence[SymbolRef], int], ...]:
    """Callers, callees and tests: the label of each line, its symbols, the number of further ones."""
    return (
        ("called by", slice_.callers, slice_.more_callers),
        ("calls", slice_.callees, slice_.more_callees),
        ("tested by", slice_.tests, slice_.more_tests),
    )


def refs_line(slice_: CodeSlice, told: str, refs: Sequence[SymbolRef], more: int) -> str:
    """A few on one line; of those in the same file the line alone."""
    named = ", ".join(
        f"{shown_name(each.name)} {f':{each.line}' if each.file == slice_.file else each.citation}"
        for each in refs[:REFS_SHOWN]
    )
    more += max(len(refs) - REFS_SHOWN, 0)
    return f"  {told} {named}{f' and {more} more' if more else ''}"


def dependency_line(each: Dependency) -> str:
    """A relation on one line."""
    relation = each.relation.lower().replace("_", " ")
    return f"  {shown_name(each.source)} {relation} {shown_name(each.target)} {each.citation}"


def known_line(each: Known) -> str:
    """A decision, an episode or a plan on one line."""
    said = f": {quoted(cut(flat(each.text), WORDS_CHARACTERS))}" if each.text and each.text != each.title else ""
    about = ", ".join(filter(None, (each.status, each.at[:10])))
    return f"  {quoted(each.title)}{said}{f' ({about})' if about else ''} {each.citation}"


def quoted_code(code: str) -> str:
    """Lines of source, each marked as not weft's own."""
    return "\n".join(f"> {visible(line)}".rstrip() for line in code.split("\n"))
