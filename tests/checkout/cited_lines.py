"""Checks that a rendered context can be traced: every line of it cites a source, and the source says what is quoted.

A context is made of numbered lines, headings, remarks of weft's own and a footer of sources. This reads it as an agent
would, without looking at how it was made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import weft
from weft.text.markup.plain_lines import plain_lines
from weft.text.one_line import flat

Cite = Callable[[str], str]  # a citation to all the words that it points at

_NUMBERED = re.compile(r"\d+\. \[[^\]]+\] ")
_QUOTE = re.compile(r'"((?:[^"\\]|\\.)*)"')
_MARKS = re.compile(r" ((?:\[\d+\])+)$")
_INLINE = re.compile(r" \[((?:weft|file)://[^\]]+)\]$")
_AFTER = re.compile(r' after "((?:[^"\\]|\\.)*)" \[(\d+)\]')
_ENTRY = re.compile(r"\[(\d+)\] (.+)")
_SPEAKER = re.compile(r"[^:]{0,80}: ")


class Untraceable(AssertionError):
    """A line that cannot be traced to what it quotes."""


def reader_of(memory: weft.Memory) -> Cite:
    """Resolves citations through the `cite` operation, each once: as written, and as documents are shown."""
    told: dict[str, str] = {}

    def cite(citation: str) -> str:
        if citation not in told:
            found = memory.cite(citation)
            words: list[str] = [*found.lines, *plain_lines("\n".join(found.lines), "markdown")]
            for node in found.nodes:
                words += [node.name, node.summary, node.text]
            told[citation] = flat(" ".join(words))
        return told[citation]

    return cite


def check_context(text: str, cite: Cite) -> int:
    """Raises Untraceable for the first line that is not cited, or whose source does not say it; else counts lines."""
    body, sources = parted(text)
    body, code = without_code(body)
    checked = 0
    for at, line in enumerate(body):
        if _NUMBERED.match(line):
            said = _check_line(line, sources, cite)
            for block in code.get(at, ()):
                for piece in filter(None, (flat(each) for each in block.split("…"))):
                    _check_words(piece, said, line)
            checked += 1
        else:
            _check_remark(line)
    unused = set(sources) - _named(body)
    if unused:
        raise Untraceable(f"sources {sorted(unused)} belong to no line")
    return checked


def without_code(lines: list[str]) -> tuple[list[str], dict[int, list[str]]]:
    """The lines without fenced code, and the blocks of code by the number of the line that they stand below."""
    kept: list[str] = []
    code: dict[int, list[str]] = {}
    rest = iter(lines)
    for line in rest:
        if opening := re.match(r"(`{3,})[\w+#.-]*$", line):
            block = list(iter(lambda: next(rest), opening[1]))
            code.setdefault(len(kept) - 1, []).append("\n".join(block))
        else:
            kept.append(line)
    return kept, code


def parted(text: str) -> tuple[list[str], dict[int, str]]:
    """The lines before the footer, and the citations of the footer by number."""
    lines = text.split("\n")
    at = len(lines) - 1 - lines[::-1].index("Sources") if "Sources" in lines else len(lines)
    sources: dict[int, str] = {}
    for line in filter(None, lines[at + 1 :]):
        if line.startswith("</"):  # the end of a block of a client
            continue
        stem = ""
        for entry in re.split(r", (?=\[\d+\] )", line):
            found = _ENTRY.fullmatch(entry)
            if found is None:
                raise Untraceable(f"not a source: {entry!r}")
            citation = stem + found[2][1:] if found[2].startswith("…") else found[2]
            stem = stem or re.match(r"weft://[^/]+/events/|file://.+:|", citation)[0]  # type: ignore[index]
            sources[int(found[1])] = citation
    return lines[:at], sources


def _check_line(line: str, sources: dict[int, str], cite: Cite) -> str:
    if found := _INLINE.search(line):
        cited = [found[1]]
    elif marks := _MARKS.search(line):
        numbers = [int(each) for each in re.findall(r"\d+", marks[1])]
        if missing := [each for each in numbers if each not in sources]:
            raise Untraceable(f"there is no source {missing}: {line}")
        cited = [sources[each] for each in numbers]
    else:
        raise Untraceable(f"no citation: {line}")
    said = " ".join(map(cite, cited))
    for gist, number in _AFTER.findall(line):
        _check_words(_unescaped(gist), cite(sources[int(number)]), line)
    for words in _quotes(line):
        _check_words(words, said, line)
    return said


def _quotes(line: str) -> Iterable[str]:
    """What the line quotes of its own node: its name and its words, at its beginning."""
    rest = line[_NUMBERED.match(line).end() :]  # type: ignore[union-attr]
    if rest.startswith(("(no words)", "(code below)")):
        return ()
    first = _QUOTE.match(rest)
    if first is None:
        raise Untraceable(f"nothing is quoted: {line}")
    second = _QUOTE.match(rest, first.end() + 2) if rest[first.end() : first.end() + 2] == ": " else None
    return [_unescaped(each[1]) for each in (first, second) if each is not None]


def _unescaped(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted)


def _check_words(words: str, said: str, line: str) -> None:
    """Each piece between dots stands in the source; a turn may have its speaker's name before it."""
    said = _inert(said)
    for piece in filter(None, (each.strip() for each in _inert(words).split("…"))):
        bare = _SPEAKER.sub("", piece, count=1)
        if piece not in said and bare not in said:
            raise Untraceable(f"the source does not say {piece!r}: {line}")


def _inert(text: str) -> str:
    return text.replace("<", "‹").replace(">", "›")


def _check_remark(line: str) -> None:
    """Anything else is weft's own: it quotes names in headings, and nothing that could pass for a memory."""
    if len(_QUOTE.sub("", line)) > 400:
        raise Untraceable(f"a long line without a number: {line}")


def _named(body: Iterable[str]) -> set[int]:
    return {
        int(number)
        for line in body
        for marks in re.findall(r"((?:\[\d+\])+)", line)
        for number in re.findall(r"\d+", marks)
    }
