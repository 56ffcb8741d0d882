"""Real packages as workspaces: source distributions from PyPI, unpacked, indexed, embedded; each kept for the next run.

Nothing of them is part of this repository. Tests, documentation and examples are left out when they are unpacked:
what is measured is the source.
"""

from __future__ import annotations

import json
import shutil
import tarfile
import urllib.request
from pathlib import Path
from typing import Any

import weft
from weft.operations.backfilling import backfill
from weft.operations.code_indexing import index_workspace
from weft.operations.code_lookup import is_test_path

HOSTED = "https://files.pythonhosted.org/"
LEFT_OUT = frozenset({"doc", "docs", "example", "examples", "test", "tests", "benchmarks", "bench", "scripts", "tools"})
MOST_TEXTS = 1_000_000


def unpacked(place: Path, package: str, version: str) -> Path:
    """The directory of a version's sources, downloaded and unpacked if it is not there."""
    root = place / "trees" / f"{package}-{version}"
    if root.exists():
        return root
    archive = place / "archives" / f"{package}-{version}.tar.gz"
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        archive.write_bytes(_fetched(_sdist_url(package, version)))
    making = root.with_name(f"{root.name}.part")
    shutil.rmtree(making, ignore_errors=True)
    with tarfile.open(archive) as held:
        for member in held:
            path = member.name.partition("/")[2]
            wanted = member.isfile() and path.endswith(".py") and not is_test_path(path)
            if wanted and not LEFT_OUT & set(path.split("/")[:-1]):
                target = making / path
                target.parent.mkdir(parents=True, exist_ok=True)
                read = held.extractfile(member)
                target.write_bytes(read.read() if read is not None else b"")
    making.rename(root)
    return root


def opened(place: Path, package: str, version: str) -> weft.Memory:
    """The memory of an indexed version: with links, and with a vector of every symbol by the built-in embedder."""
    root = unpacked(place, package, version)
    store = place / "stores" / root.name
    done = store / "done"
    if not done.exists():
        shutil.rmtree(store, ignore_errors=True)
        store.mkdir(parents=True)
    environment = {"HOME": str(store), "WEFT_PROJECT": package, "WEFT_AUDIT": "off"}
    memory = weft.open(f"sqlite://{store / 'store'}", directory=root, environment=environment)
    if not done.exists():
        index_workspace(memory.loom)
        viewer = memory.loom.operator("measure")
        backfill(memory.loom, viewer, memory.loom.embedding.wanted, limit=MOST_TEXTS, but=frozenset())
        done.touch()
    return memory


def _sdist_url(package: str, version: str) -> str:
    told: dict[str, Any] = json.loads(_fetched(f"https://pypi.org/pypi/{package}/{version}/json"))
    url: str = next(each["url"] for each in told["urls"] if each["packagetype"] == "sdist")
    return HOSTED + url.partition("packages/")[2] if url.startswith("..") else url


def _fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        body: bytes = answer.read()
    return body
