"""Communities of files that work together (Leiden), each with a label and a one-line summary.

Files are joined by the calls and imports between them. Files rather than symbols: members of a file belong together
anyway, symbols without calls have a place too, and there are few memberships to store. Pure and deterministic.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from weft.code.resolve.texts import folders_above
from weft.files.test_files import is_test_file

SEED: Final = 7
TRIALS: Final = 3
MAX_LABEL_CHARACTERS: Final = 60
DOMINANT: Final = 0.25  # of a community's files: a folder that holds as many may name it
HEARTS: Final = 5  # best connected files that may give a community their name
SYMBOLS_NAMED: Final = 5  # in a summary
SYMBOLS_TOLD: Final = 12  # in the text, with what each is for
FILES_TOLD: Final = 40
# Segments that say how a project is laid out, not what a part of it is about.
_GENERIC_TEXT: Final = """
src lib libs dist build out target bin pkg packages package internal cmd app apps main java kotlin python resources test
tests testing __tests__ spec specs e2e node_modules vendor site-packages com org io net github code source sources
include
"""
GENERIC_SEGMENTS: Final = frozenset(_GENERIC_TEXT.split())
GENERIC_STEMS: Final = frozenset({"__init__", "index", "mod", "lib", "main", "__main__", "conftest"})


class LinkedFiles(Struct, frozen=True, kw_only=True):
    """Files of a project and the links between them, by id; `paths` are by file.

    `weights` are link strengths by pair of files, in order of their ids. `degrees` and `called` are by symbol or file:
    the number of links, and of callers.
    """

    paths: Mapping[str, str]
    weights: Mapping[tuple[str, str], float]
    degrees: Mapping[str, int] = {}
    called: Mapping[str, int] = {}
    symbols: Mapping[str, Sequence[str]] = {}


class Community(Struct, frozen=True, kw_only=True):
    """Files that work together, best connected first. `central` is the symbol or file with the most links among them.

    `top` are its symbols that are called most, best first; `symbols` counts all of them.
    """

    label: str
    files: tuple[str, ...]
    central: str
    top: tuple[str, ...]
    symbols: int


def weight_of(calls: int, imports: int, users: int) -> float:
    """The strength of a link between two files, from the number of calls and imports and the number of users of the
    target.

    Grows with the number of calls, less than linearly; a file that every file uses joins none of them.
    """
    return (math.log2(1 + calls) + imports) / math.sqrt(max(users, 1))


def communities_of(linked: LinkedFiles) -> tuple[Community, ...]:
    """The communities of a project, largest first; every file is in exactly one."""
    groups = _joined_by_folder(linked.paths, _leiden(linked))
    inner = [_inner_weight(linked, group) for group in groups]
    ordered = [
        tuple(sorted(group, key=lambda each: (-weight[each], linked.paths[each])))
        for group, weight in zip(groups, inner, strict=True)
    ]
    ordered.sort(key=lambda files: (-len(files), linked.paths[files[0]]))
    labels = labels_of([[linked.paths[each] for each in files] for files in ordered])
    return tuple(_community(linked, label, files) for label, files in zip(labels, ordered, strict=True))


def _leiden(linked: LinkedFiles) -> list[list[str]]:
    """Files with links, by community."""
    edges = [(one, other, weight) for (one, other), weight in sorted(linked.weights.items()) if weight > 0]
    if not edges:
        return []
    from graspologic_native import leiden

    _, found = leiden(edges, seed=SEED, trials=TRIALS)
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for file in sorted(found):
        groups[found[file]].append(file)
    return list(groups.values())


def _joined_by_folder(paths: Mapping[str, str], groups: list[list[str]]) -> list[list[str]]:
    """Adds files without links to the community of most files in their folder, or in the folder around it."""
    placed = {file: at for at, group in enumerate(groups) for file in group}
    held: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for file, at in placed.items():
        for folder in folders_above(paths[file]):
            held[folder][at] += 1
    alone: defaultdict[str, list[str]] = defaultdict(list)
    for file in sorted(paths):
        if file in placed:
            continue
        near = next((folder for folder in folders_above(paths[file]) if folder and held[folder]), None)
        if near is None:
            alone[paths[file].partition("/")[0] if "/" in paths[file] else ""].append(file)
        else:
            groups[min(held[near].items(), key=lambda each: (-each[1], each[0]))[0]].append(file)
    return groups + list(alone.values())


def _inner_weight(linked: LinkedFiles, group: Sequence[str]) -> Mapping[str, float]:
    inside = set(group)
    found: defaultdict[str, float] = defaultdict(float)
    if len(group) > 1:
        for (one, other), weight in linked.weights.items():
            if one in inside and other in inside:
                found[one] += weight
                found[other] += weight
    return found


def _community(linked: LinkedFiles, label: str, files: tuple[str, ...]) -> Community:
    symbols = [
        symbol for file in files if not is_test_file(linked.paths[file]) for symbol in linked.symbols.get(file, ())
    ]
    counted = sum(len(linked.symbols.get(file, ())) for file in files)
    symbols = symbols or [symbol for file in files for symbol in linked.symbols.get(file, ())]
    central = min((*symbols, *files), key=lambda each: (-linked.degrees.get(each, 0), each))
    top = sorted((each for each in symbols if linked.called.get(each)), key=lambda each: (-linked.called[each], each))
    return Community(label=label, files=files, central=central, top=tuple(top[:SYMBOLS_TOLD]), symbols=counted)


def labels_of(groups: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """A unique label for each group of paths: its own folder, or else the name of its best connected file.

    Each group is sorted, best connected file first.
    """
    own = [[path for path in paths if not is_test_file(path)] or list(paths) for paths in groups]
    sizes = Counter(folder for paths in own for path in paths for folder in folders_above(path))
    everywhere = {folder for folder, size in sizes.items() if size == sum(map(len, own))} if len(own) > 1 else set()
    folders = [_own_folder(paths, sizes, everywhere) for paths in own]
    shared = Counter(folders)
    labels: dict[str, None] = {}
    for paths, folder in zip(own, folders, strict=True):
        tried = [folder] if folder and shared[folder] == 1 else []
        tried += [_with_heart(folder, stem) for stem in _hearts(paths)]
        cut = [label[-MAX_LABEL_CHARACTERS:].strip("/ ") or "misc" for label in tried]
        free = next((label for label in cut if label not in labels), "")
        number = 2
        while not free:
            free, number = f"{cut[0]} {number}" if f"{cut[0]} {number}" not in labels else "", number + 1
        labels[free] = None
    return tuple(labels)


def _own_folder(paths: Sequence[str], sizes: Mapping[str, int], everywhere: Collection[str]) -> str:
    """The last two names of the folder that holds many of the group's files and few others."""
    counts = Counter(folder for path in paths for folder in folders_above(path) if folder not in everywhere)
    enough = [
        folder
        for folder, count in counts.items()
        if count >= DOMINANT * len(paths) and folder.rpartition("/")[2].lower() not in GENERIC_SEGMENTS
    ]
    if not enough:
        return ""
    best = min(enough, key=lambda each: (-(counts[each] ** 2) / sizes[each], -each.count("/"), each))
    around = max((folder for folder in everywhere if best.startswith(f"{folder}/")), key=len, default="")
    names = best.removeprefix(around).strip("/").split("/")
    return "/".join([name for name in names if name.lower() not in GENERIC_SEGMENTS][-2:])


def _with_heart(folder: str, heart: str) -> str:
    """The folder, with the name of the group's best connected file."""
    return f"{folder}/{heart}" if folder and folder.rpartition("/")[2] != heart else heart


def _hearts(paths: Sequence[str]) -> list[str]:
    """The names of the best connected files, descriptive ones first."""
    stems = [_stem(path) for path in paths[:HEARTS]]
    return [stem for stem in stems if stem.lower() not in GENERIC_STEMS] or stems


def _stem(path: str) -> str:
    """A file's name; for an index file such as __init__.py, its folder's."""
    name = path.rpartition("/")[2].partition(".")[0] or path.rpartition("/")[2]
    around = [each for each in path.split("/")[:-1] if each.lower() not in GENERIC_SEGMENTS]
    return around[-1] if name.lower() in GENERIC_STEMS and around else name


def summary_of_community(community: Community, names: Mapping[str, str], paths: Mapping[str, str]) -> str:
    """One line: the contents and the most called symbols. `names` are those of symbols that may be shown."""
    told = list(dict.fromkeys(names[each] for each in community.top if each in names))[:SYMBOLS_NAMED]
    folders = Counter(paths[file].rpartition("/")[0] or "." for file in community.files if file in paths)
    where = ", ".join(folder for folder, _ in folders.most_common(2))
    files, symbols = len(community.files), community.symbols
    line = f"{files:,} file{'s' * (files != 1)}, {symbols:,} symbol{'s' * (symbols != 1)} in {where}"
    if community.central in names or community.central in paths:
        line += f"; around {names.get(community.central) or paths[community.central]}"
    return f"{line}; most called: {', '.join(told)}" if told else line


def text_of_community(community: Community, told: Mapping[str, str], paths: Mapping[str, str]) -> str:
    """The searchable text: the purposes of the most called symbols, and the files. `told` has a line per symbol."""
    lines = [told[each] for each in community.top if each in told]
    lines += [paths[file] for file in community.files[:FILES_TOLD] if file in paths]
    return "\n".join(lines)
