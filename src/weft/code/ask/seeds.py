"""Ranking of the files and symbols that a task begins with, by its words and their neighbours in the graph.

One run of the ordinary search ranks files, and returns which symbols of each matched by words and by meaning. A random
walk from the best of them adds what they call, extend and import, whatever its names.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from weft.code.ask.lookup import find_files, is_test, joined, named_at_once, projects_of
from weft.context.wording import quoted
from weft.core.queries import TextQuery
from weft.core.types import NodeVersion, When
from weft.documents.keep.source_lines import CODE_KINDS, end_of, file_of, path_of
from weft.files.languages import language_of
from weft.retrieval.citations.file_ids import SYMBOL_KINDS
from weft.retrieval.pipeline import Answer, Ask, run
from weft.retrieval.recipes import DEFAULT
from weft.retrieval.scoring.words_and_meaning import hits_by_id
from weft.runtime.call_context import CallContext
from weft.text.lexical import stems

FILES: Final = 24  # that the search ranks
SYMBOLS_OF_ONE: Final = 4  # of a file that are looked at closely
SEEDS: Final = 8  # that a walk begins with
REACHED: Final = 60
MAX_NAMED: Final = 12  # identifiers of a task that are looked up
MEANT_BY_ONE: Final = 3  # symbols that a name may mean and still count as named
PLAIN_WORDS: Final = 0.15  # what words count beside meaning where the task holds no identifier
NAMED: Final = 0.5  # for a symbol whose name stands in the task; the best that the search finds has 1
NAMED_FILE: Final = 1.0  # for a file whose path stands in it
NAMED_IN_FILE: Final = 0.1  # for a file that holds a symbol whose name stands in it
FILE_SHARE: Final = 0.7  # of a symbol's score that is its file's
BY_WALK: Final = 0.3  # for the file that most of a walk stays in
OWN_WALK: Final = 0.2  # of that, for the symbol that it stays with most
FILES_BETWEEN: Final = 6
LEAST_SHARE: Final = 0.25  # of the best one's score: what has less is left out, unless the task names it
MAX_CONCRETE: Final = 8  # classes that implement one
CONCRETE_OF_BEST: Final = 3
INTERFACES: Final = frozenset({"interface", "abstract", "trait"})
_PATHS: Final = re.compile(r"[\w./-]+\.[A-Za-z]{1,4}\b")
_OF_TESTS: Final = re.compile(r"\btests?\b|\btest suite\b|\bfixtures?\b", re.IGNORECASE)


class TaskSeeds(Struct, frozen=True, kw_only=True):
    """Symbols and files for a task, best first, with scores, and the weights of a random walk from them.

    `unknown` are notes on names in the task that match nothing here.
    """

    ranked: tuple[tuple[NodeVersion, float], ...]
    walked: Mapping[str, float]
    answer: Answer
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def seeds_of(ctx: CallContext, when: When, task: str) -> TaskSeeds:
    """Files and symbols for a task. Each file contributes one symbol before any contributes a second."""
    ask = Ask(query=task, when=when, limit=FILES, projects=projects_of(ctx), kinds=("File",), min_score=0.0)
    answer = run(DEFAULT, ctx, ask)
    files = {each.node.id: each.score for each in answer.ranked or () if each.node.kind == "File"}
    meant, unknown = _named(ctx, when, answer, task)
    scores = _symbol_scores(answer, files)
    most = max(files.values(), default=0.0) or 1.0
    for node in meant:
        whole = node.kind == "File"
        files[file_of(node)] = files.get(file_of(node), 0.0) + (NAMED_FILE if whole else NAMED_IN_FILE) * most
        scores[node.id] = scores.get(node.id, 0.0) + NAMED
    nodes = _loaded(ctx, when, files, scores)
    ranked = _ranked(nodes, files, scores, with_tests=_OF_TESTS.search(task) is not None)
    seeds = list(ranked[:SEEDS])
    least = min((score for _, score in seeds), default=0.0)
    known = {node.id for node, _ in seeds}
    concrete = implementations(ctx, when, [node for node, _ in seeds])
    seeds += [(node, least) for found in concrete.values() for node in found if node.id not in known]
    weights = {node.id: max(score, 0.01) for node, score in seeds}
    walked = ctx.store.walk(ctx.viewer, when, weights, limit=REACHED) if weights else None
    reached = dict(walked.scores) if walked is not None else {}
    beside = _with_concrete(_with_reached(ctx, when, ranked, reached), concrete)
    least = LEAST_SHARE * max((score for _, score in beside[:1]), default=0.0)
    wanted = {node.id for node in meant}
    notes = (*answer.notes, *(walked.notes if walked is not None else ()))
    return TaskSeeds(
        ranked=tuple((node, score) for node, score in beside if score >= least or node.id in wanted),
        walked=reached,
        answer=answer,
        unknown=unknown,
        notes=tuple(dict.fromkeys(notes)),
    )


def _named(ctx: CallContext, when: When, answer: Answer, task: str) -> tuple[list[NodeVersion], tuple[str, ...]]:
    """Names in the task that are written as code: paths, and identifiers with few matches.

    Also returns a note on names that match neither a symbol nor a file and occur nowhere in the code.
    """
    found: dict[str, NodeVersion] = {}
    unknown: list[str] = []
    paths = list(dict.fromkeys(_PATHS.findall(task)))
    of_files: list[str] = []
    for path in paths[:MAX_NAMED]:
        is_path = "/" in path
        files = find_files(ctx, when, path) if is_path or language_of(path) is not None else []
        of_files += [path] if files else []
        found |= {node.id: node for node in files[:1] if is_path}
        unknown += [] if files or not is_path or path.startswith("/") else [path]
    names = [
        name for name in answer.question.identifiers if not any(f"/{path}".endswith(f"/{name}") for path in of_files)
    ]
    for name in names[:MAX_NAMED]:  # a file's name is no symbol's: `py` would be looked for in all of them
        symbols, many = named_at_once(ctx, when, name)
        meant = [node for node in symbols if not is_test(node)]
        if many:  # a name like it is common here: it means those that go by all of it, or none in particular
            meant = [node for node in meant if f".{name}".endswith(f".{node.name}")]
        if len(meant) <= MEANT_BY_ONE:
            found |= {node.id: node for node in meant}
        if not (symbols or many or hasattr(builtins, name) or any(name in path for path in paths)):
            unknown += [] if _is_mentioned(ctx, when, name) else [name]
    listed = ", ".join(quoted(each) for each in unknown)
    return list(found.values()), (f"no symbol or file here is named {listed}",) if unknown else ()


def _is_mentioned(ctx: CallContext, when: When, name: str) -> bool:
    """Whether indexed code contains the word, such as a parameter, an attribute or an external module."""
    words = stems(name.rpartition(".")[2])[:1]  # an identifier itself comes before its parts
    query = TextQuery(terms=tuple((word, 1.0) for word in words), kinds=CODE_KINDS, projects=projects_of(ctx))
    return bool(words and ctx.store.search_text(ctx.viewer, when, query, limit=1).hits)


def _symbol_scores(answer: Answer, files: Mapping[str, float]) -> dict[str, float]:
    """The match of each found symbol in these files, by words and by meaning; the best scores 1."""
    pool, hits = answer.pool, hits_by_id(answer)
    best = max((hit.score for hit in hits.values()), default=0.0) or 1.0
    words = 1.0 if answer.question.identifiers or answer.vector is None else PLAIN_WORDS
    scores: dict[str, float] = {}
    for at, node in enumerate(pool.nodes):
        for lead in pool.leads[at] if node.id in files else ():
            if lead.kind in SYMBOL_KINDS:
                said = hits[lead.id].score / best if lead.id in hits else 0.0
                scores[lead.id] = pool.cosine(lead.content_hash) + words * said
    most = max(scores.values(), default=0.0) or 1.0
    return {each: score / most for each, score in scores.items()}


def _loaded(ctx: CallContext, when: When, files: Mapping[str, float], scores: Mapping[str, float]) -> list[NodeVersion]:
    """The files, each with its best symbols."""
    best: dict[str, list[str]] = {}
    for each in sorted(scores, key=lambda one: -scores[one]):
        best.setdefault(each.partition("::")[0], []).append(each)
    ids = [*files, *(each for file in files for each in best.get(file, ())[:SYMBOLS_OF_ONE])]
    return [node for node in ctx.store.nodes(ctx.viewer, when, ids) if node.kind in CODE_KINDS]


def _ranked(
    nodes: Sequence[NodeVersion], files: Mapping[str, float], scores: Mapping[str, float], *, with_tests: bool
) -> list[tuple[NodeVersion, float]]:
    """Symbols ranked by their own score and their file's; a file without symbols stays itself; no tests."""
    most = max(files.values(), default=0.0) or 1.0
    nodes = [node for node in nodes if not _says_nothing(node, scores)]
    kept = [node for node in nodes if with_tests or not is_test(node)] or nodes
    having = {file_of(node) for node in kept if node.kind != "File"}
    scored = []
    for node in kept:
        if node.kind == "File" and node.id in having:
            continue
        of_file = files.get(file_of(node), 0.0) / most
        own = of_file if node.kind == "File" else scores.get(node.id, 0.0)  # it is all that it holds
        scored.append((node, FILE_SHARE * of_file + (1.0 - FILE_SHARE) * own))
    scored.sort(key=lambda each: (-each[1], each[0].id))
    return _spread(scored)


def _says_nothing(node: NodeVersion, scores: Mapping[str, float]) -> bool:
    """Whether a file is no place to begin: it is empty, or in an unsupported language that the task does not name."""
    if node.kind != "File":
        return False
    is_empty = not node.text.strip() and end_of(node) <= 1
    return is_empty if node.props.get("language") else node.id not in scores


def _spread(scored: Sequence[tuple[NodeVersion, float]]) -> list[tuple[NodeVersion, float]]:
    """Spreads results over files: each further symbol of a file is ranked some places lower."""
    turns: dict[str, int] = {}
    order: dict[str, int] = {}
    placed = []
    for at, (node, score) in enumerate(scored):
        file = file_of(node)
        place = order.setdefault(file, len(order)) + FILES_BETWEEN * turns.get(file, 0)
        turns[file] = turns.get(file, 0) + 1
        placed.append((place, at, node, score))
    return [(node, score) for _, _, node, score in sorted(placed, key=lambda each: each[:2])]


def implementations(ctx: CallContext, when: When, nodes: Sequence[NodeVersion]) -> dict[str, list[NodeVersion]]:
    """Implementations of interfaces, abstract classes and traits; for a method, the same method there."""
    owners = {node.id: node.id.rpartition("::")[0] for node in nodes if node.props.get("sort") == "method"}
    classes = {node.id: node for node in ctx.store.nodes(ctx.viewer, when, tuple(set(owners.values())))}
    classes |= {node.id: node for node in nodes if node.kind == "Class"}
    abstract = [each for each, node in classes.items() if node.props.get("sort") in INTERFACES]
    if not abstract:
        return {}
    below = joined(ctx, when, abstract, ("IMPLEMENTS", "EXTENDS"), "in", limit=MAX_CONCRETE)
    wanted = {
        node.id: [
            f"{step.node.id}::{node.id.rpartition('::')[2]}" if node.id in owners else step.node.id
            for step in below.get(owners.get(node.id, node.id), ())
        ]
        for node in nodes
    }
    ids = list(dict.fromkeys(each for some in wanted.values() for each in some))
    there = {node.id: node for node in ctx.store.nodes(ctx.viewer, when, ids)}
    found = {each: [there[one] for one in some if one in there] for each, some in wanted.items()}
    return {each: some for each, some in found.items() if some}


def _with_concrete(
    found: Sequence[tuple[NodeVersion, float]], concrete: Mapping[str, Sequence[NodeVersion]]
) -> list[tuple[NodeVersion, float]]:
    """Adds implementations right after an interface: several for the best result, one for the others."""
    placed: dict[str, tuple[NodeVersion, float]] = {}
    for at, (node, score) in enumerate(found):
        placed.setdefault(node.id, (node, score))
        for each in concrete.get(node.id, ())[: CONCRETE_OF_BEST if at == 0 else 1]:
            placed.setdefault(each.id, (each, score))
    return list(placed.values())


def _with_reached(
    ctx: CallContext, when: When, found: Sequence[tuple[NodeVersion, float]], walked: Mapping[str, float]
) -> list[tuple[NodeVersion, float]]:
    """Combines the ranks of the search with a random walk: a file counts by the share of the walk inside it.

    The best search result stays first, since the walk began there.
    """
    known = {node.id for node, _ in found}
    reached = ctx.store.nodes(ctx.viewer, when, [each for each in walked if each not in known])
    nodes = [node for node in reached if node.kind in SYMBOL_KINDS and path_of(node) and not is_test(node)]
    stays: dict[str, float] = {}
    for node in (*(node for node, _ in found), *nodes):
        stays[file_of(node)] = stays.get(file_of(node), 0.0) + walked.get(node.id, 0.0)
    most = max(stays.values(), default=0.0) or 1.0
    own = max((walked[node.id] for node in nodes), default=0.0) or 1.0
    scored = [(node, score + BY_WALK * stays[file_of(node)] / most) for node, score in found[1:]]
    scored += [(node, BY_WALK * (stays[file_of(node)] / most + OWN_WALK * walked[node.id] / own)) for node in nodes]
    scored.sort(key=lambda each: -each[1])
    return _spread([*found[:1], *scored])
