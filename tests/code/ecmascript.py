"""Projects in JavaScript and TypeScript, and what is read out of them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from weft.code.resolve.tree import Tree


def project(root: Path, files: dict[str, str]) -> Tree:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(dedent(text), encoding="utf-8")
    return Tree(root)
