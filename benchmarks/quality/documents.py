"""How well documents are found: weft's own, by questions whose answer is known by file, heading and words.

    python -m benchmarks.quality.documents [--docs DIR] [--limit 5] [--show] [--contexts]

The same files twice: as `weft ingest` reads them now, and as early versions wrote them, a section a node. `found` is a
hit under the right heading of the right file, `told` one whose own words hold the answer; `characters` is what the
first five hits cost a reader. The questions are worded otherwise than the documents are.

--contexts asks instead whether the answer's words are in what an agent reads, of `recall` and of `memory_checkout`,
within so many tokens: those that profiles compact and balanced leave for a context, and the profiles' own.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import weft
from weft.context.budget import context_tokens
from weft.context.tokens import count_tokens
from weft.log.draft import Draft
from weft.log.kinds import document
from weft.memory.facade import Memory
from weft.recall.request import Hit
from weft.text.one_line import flat

LIMIT: Final = 5
PLACES: Final = (1, 3, 5)
BUDGETS: Final = (context_tokens("compact"), 300, context_tokens("balanced"), 1_200)


class Wanted(NamedTuple):
    """A question, the file and the heading that answer it, and words of the answer."""

    question: str
    file: str
    heading: str
    says: str


QUESTIONS: Final = (
    Wanted("how can I undo removing a document?", "governance.md", "Deleting", "`weft restore` undoes one"),
    Wanted("which cipher protects confidential notes on disk?", "governance.md", "Sensitive", "AES-256-GCM"),
    Wanted(
        "are passwords that look like normal words caught?", "governance.md", "Secrets", "looks like an ordinary word"
    ),
    Wanted("how do I replace the encryption key by a new one?", "governance.md", "Sensitive", "weft key-rotate"),
    Wanted("remove everything about one person for ever", "governance.md", "Erasing", 'weft erase --subject "Odile'),
    Wanted("what copies can an erasure not reach?", "governance.md", "Erasing", "cannot reach backups"),
    Wanted("how does an agent get permission to write for every project?", "governance.md", "all projects", "token"),
    Wanted("how long is the half-life when memories fade with age?", "governance.md", "Retention", "half-life 30 days"),
    Wanted("does finding duplicates change anything by itself?", "governance.md", "Hygiene", "It changes nothing"),
    Wanted("what happens to an assertion that is backdated?", "concepts.md", "Slots", "backdated to 2015"),
    Wanted("difference between valid time and record time", "concepts.md", "Valid time", "(valid time)"),
    Wanted("why is the hash of a payload salted?", "concepts.md", "Log", "cannot be guessed from it"),
    Wanted(
        "what is a visibility group, and why are word statistics kept by it?",
        "concepts.md",
        "Guards",
        "*visibility group* is",
    ),
    Wanted("two folders have the same project name, who owns it?", "concepts.md", "levels", "used it first"),
    Wanted("run it in a container with a volume", "deploy.md", "Docker", "docker run -d"),
    Wanted("where are settings kept when it is started by systemd?", "deploy.md", "systemd", "/etc/weft/environment"),
    Wanted("proxy buffering for streamed answers in nginx", "deploy.md", "TLS", "proxy_buffering off"),
    Wanted("may the store lie on a network drive?", "deploy.md", "Operation", "network file"),
    Wanted("which probe tells that the server is overloaded or its disk full?", "deploy.md", "Operation", "503 while"),
    Wanted("after how many days does an access token stop working?", "security.md", "Tokens", "90 days"),
    Wanted("which HTTP status when too many requests come from one token?", "security.md", "Checks", "rate_limit"),
    Wanted("a token leaked, what now?", "security.md", "What you should do", "If a token leaks"),
    Wanted("how many sessions may one token hold open?", "security.md", "Limits", "MCP sessions"),
    Wanted("does a suspicious message from the operator get thrown away?", "gateway.md", "Screening", "never DISCARD"),
    Wanted("are look-alike letters of other alphabets detected?", "gateway.md", "found", "look-alike letters"),
    Wanted("hide some tools from an agent", "mcp.md", "Which tools may be called", "WEFT_EXCLUDE"),
    Wanted("how much of a model's window does listing every tool cost?", "mcp.md", "toolsets", "69,400"),
    Wanted("uninstall and get my configuration file back byte for byte", "clients.md", "treated", "old bytes if"),
    Wanted("when month and day could be swapped, which is taken?", "records.md", "Dates", "month was taken first"),
    Wanted("print an earlier answer again exactly as it was", "recall.md", "same answer again", "--receipt"),
)


class Told(NamedTuple):
    """In how many of the contexts the answer's words are, what these cost, and how long the whole call took."""

    operation: str
    budget: int
    answered: int
    tokens: float
    milliseconds: float


class Figures(NamedTuple):
    """Shares of questions by place, and the mean number of characters that the first hits have."""

    found: dict[int, float]
    told: dict[int, float]
    characters: int
    missed: tuple[str, ...]


def measure(memory: Memory, questions: Sequence[Wanted] = QUESTIONS, *, limit: int = LIMIT) -> Figures:
    """Asks every question and looks where the answer stands."""
    found: list[int] = []
    told: list[int] = []
    characters: list[int] = []
    missed: list[str] = []
    for wanted in questions:
        hits = memory.recall(wanted.question, limit=limit).hits
        found.append(_place(hits, lambda hit, wanted=wanted: _stands(hit, wanted)))
        told.append(_place(hits, lambda hit, wanted=wanted: _stands(hit, wanted) and wanted.says in _words(hit)))
        characters.append(sum(len(_words(hit)) for hit in hits))
        if found[-1] != 1:
            first = hits[0].node.id if hits else "nothing"
            missed.append(f"{found[-1] or '-'} {wanted.question} -> {wanted.file} {wanted.heading}; first: {first}")
    return Figures(_shares(found), _shares(told), sum(characters) // max(len(characters), 1), tuple(missed))


def measure_contexts(memory: Memory, questions: Sequence[Wanted] = QUESTIONS) -> list[Told]:
    """Asks every question within every budget, and looks for the answer's words in the text."""
    rows = []
    for name in ("recall", "memory_checkout"):
        for budget in BUDGETS:
            answered, tokens, began = 0, 0, time.perf_counter()
            for wanted in questions:
                text = _context(memory, name, wanted.question, budget)
                answered += flat(wanted.says) in flat(text.replace('\\"', '"').replace("\\\\", "\\"))
                tokens += count_tokens(text)
            spent = (time.perf_counter() - began) * 1000
            rows.append(Told(name, budget, answered, tokens / len(questions), spent / len(questions)))
    return rows


def _context(memory: Memory, name: str, question: str, budget: int) -> str:
    answer: Any = memory.call(name, query=question, max_tokens=budget)
    return str(answer.context if name == "recall" else answer.prompt)


def _shares(places: Sequence[int]) -> dict[int, float]:
    return {most: round(sum(0 < place <= most for place in places) / max(len(places), 1), 3) for most in PLACES}


def _place(hits: Sequence[Hit], fits: Callable[[Hit], bool]) -> int:
    return next((place for place, hit in enumerate(hits, start=1) if fits(hit)), 0)


def _stands(hit: Hit, wanted: Wanted) -> bool:
    """Under the heading: that of a section is its name, those of a chunk are its summary."""
    headings = hit.node.name if hit.node.kind == "Section" else hit.node.summary
    return str(hit.node.props.get("source", "")).endswith(wanted.file) and wanted.heading in headings


def _words(hit: Hit) -> str:
    return "\n".join((hit.node.text, *(part.text for part in hit.parts)))


def as_sections(memory: Memory, docs: Path) -> None:
    """As early versions wrote documents: all words of a section on one node, found by its heading."""
    for file in sorted(docs.rglob("*.md")):
        source = file.relative_to(docs).as_posix()
        made = [
            document.SectionText(
                id=f"docs/{source}#{number}",
                title=title,
                level=level,
                line=line,
                end_line=line + text.count("\n"),
                text=text,
            )
            for number, (title, level, line, text) in enumerate(_sections(file.read_text()))
        ]
        title = next((section.title for section in made if section.title), file.name)
        payload = document.Ingested(
            id=f"docs/{source}", source=source, title=title, sha256="0" * 64, sections=tuple(made), project="docs"
        )
        memory.ctx.append([Draft(kind="document.ingested", payload=payload)])


def _sections(text: str) -> list[tuple[str, int, int, str]]:
    """Title, level, first line and words of each section; a `#` within a fence is no heading."""
    found: list[tuple[str, int, int, list[str]]] = [("", 1, 1, [])]
    fenced = False
    for number, line in enumerate(text.split("\n"), start=1):
        fenced ^= line.startswith("```")
        marks = len(line) - len(line.lstrip("#"))
        if marks and not fenced and line[marks : marks + 1] == " ":
            found.append((line[marks:].strip(), marks, number, []))
        found[-1][3].append(line)
    return [(title, level, line, "\n".join(lines)) for title, level, line, lines in found if any(lines)]


def as_ingested(memory: Memory, docs: Path) -> None:
    """As `weft ingest` reads them."""
    memory.ingest(docs)


def run_contexts(docs: Path) -> list[Told]:
    """What agents read of the documents, as `weft ingest` reads them."""
    with tempfile.TemporaryDirectory() as scratch, _opened(docs, Path(scratch)) as memory:
        as_ingested(memory, docs)
        return measure_contexts(memory)


def _opened(docs: Path, scratch: Path) -> Memory:
    environment: dict[str, Any] = {"HOME": str(scratch), "WEFT_PROJECT": "docs", "WEFT_AUDIT": "off"}
    return weft.open(f"sqlite://{scratch}/store", directory=docs, environment=environment)


def run(docs: Path, *, limit: int = LIMIT) -> dict[str, Figures]:
    """Both ways, each in a store of its own."""
    figures = {}
    ways: dict[str, Callable[[Memory, Path], None]] = {"sections": as_sections, "chunks": as_ingested}
    for name, read in ways.items():
        with tempfile.TemporaryDirectory() as scratch:
            memory = _opened(docs, Path(scratch))
            read(memory, docs)
            figures[name] = measure(memory, limit=limit)
            memory.close()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=Path, default=Path(__file__).parents[2] / "docs")
    parser.add_argument("--limit", type=int, default=LIMIT)
    parser.add_argument("--show", action="store_true", help="name the questions whose answer is not first")
    parser.add_argument("--contexts", action="store_true", help="look for the answers in what an agent reads")
    given = parser.parse_args()
    if given.contexts:
        for row in run_contexts(given.docs):
            print(
                f"{row.operation:16} {row.budget:5} tokens: answered {row.answered} of {len(QUESTIONS)}, "
                f"{row.tokens:.0f} tokens used, {row.milliseconds:.0f} ms"
            )
        return
    for name, figures in run(given.docs, limit=given.limit).items():
        found = "  ".join(f"R@{place} {share:.2f}" for place, share in figures.found.items())
        told = "  ".join(f"{place}: {share:.2f}" for place, share in figures.told.items())
        print(f"{name:9} found {found}   told {told}   {figures.characters:,} characters in {given.limit} hits")
        for line in figures.missed if given.show else ():
            print(f"    {line}")


if __name__ == "__main__":
    main()
