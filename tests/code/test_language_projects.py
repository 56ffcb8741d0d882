"""Every language by one small project: `<language>/project`, and what its files refer to, written down by hand.

`<language>/expected.jsonl` holds one link a line: `{"src": …, "rel": …, "dst": …}`. A file is its path, a
definition `path::key`, what is outside `external:name`. All links of all files are there, and no others.
`<language>/unresolved.jsonl` holds references that must stay unresolved: `{"src": path, "chain": …}`, as in the facts.
Lines that are empty or begin with `//` are passed over.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft.code.resolve import Target
from weft.code.resolve.tree import Tree

HERE = Path(__file__).parent
LANGUAGES = sorted(found.parent.name for found in HERE.glob("*/expected.jsonl"))


def lines(path: Path) -> list[dict[str, str]]:
    kept = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and line[:2] != "//"]
    return [json.loads(line) for line in kept]


def name(target: Target) -> str:
    if target.external:
        return f"external:{target.external}"
    return f"{target.path}::{target.key}" if target.key else target.path


@pytest.mark.parametrize("language", LANGUAGES)
def test_links_of_a_project(language: str) -> None:
    tree = Tree(HERE / language / "project")
    found: dict[str, str] = {}  # the link, and where it stands
    doubled = []
    for path in tree.paths:
        for link in tree.links(path).links:
            src = f"{path}::{link.key}" if link.key else path
            edge = f"{src}  {link.relation}  {name(link.target)}"
            doubled += [edge] if edge in found else []
            found[edge] = f"{path}:{link.line}"
    listed = [f"{each['src']}  {each['rel']}  {each['dst']}" for each in lines(HERE / language / "expected.jsonl")]
    missing = sorted(set(listed) - set(found))
    wrong = sorted(f"{edge}   ({at})" for edge, at in found.items() if edge not in set(listed))
    said = [f"missing  {edge}" for edge in missing] + [f"wrong    {edge}" for edge in wrong]
    assert not said, "\n".join(["what is linked is not what is expected:", *said])
    assert not doubled, "\n".join(["each link is told once:", *doubled])
    assert len(listed) == len(set(listed)), "expected.jsonl says a link twice"


@pytest.mark.parametrize("language", [each for each in LANGUAGES if (HERE / each / "unresolved.jsonl").exists()])
def test_what_cannot_be_told_stays_unresolved(language: str) -> None:
    tree = Tree(HERE / language / "project")
    found = {(path, chain) for path in tree.paths for chain, _ in tree.links(path).unresolved}
    listed = {(each["src"], each["chain"]) for each in lines(HERE / language / "unresolved.jsonl")}
    assert listed
    assert not listed - found, "\n".join(["not among the unresolved:", *map(str, sorted(listed - found))])


def test_every_language_that_has_a_project_says_what_is_expected() -> None:
    projects = {found.parent.name for found in HERE.glob("*/project")}
    assert projects == set(LANGUAGES)
