"""Real packages as workspaces: wheels that pip fetches by name, unpacked, indexed, embedded; kept for the next run.

Nothing of them is part of this repository, and nothing of them is run. Tests, documentation and examples are left out
when they are unpacked: what is measured is the source.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import weft
from weft.code.ask.lookup import is_test_path
from weft.code.index.index import index_workspace
from weft.writing.build.missing_vectors import backfill

LEFT_OUT = frozenset({"doc", "docs", "example", "examples", "test", "tests", "benchmarks", "bench", "scripts", "tools"})
MOST_TEXTS = 1_000_000


def unpacked(place: Path, package: str, version: str) -> Path:
    """The directory of a version's sources, downloaded and unpacked if it is not there."""
    root = place / "trees" / f"{package}-{version}"
    if root.exists():
        return root
    making = root.with_name(f"{root.name}.part")
    shutil.rmtree(making, ignore_errors=True)
    with zipfile.ZipFile(_wheel(place / "wheels" / root.name, package, version)) as held:
        for path in held.namelist():
            if path.endswith(".py") and not is_test_path(path) and not LEFT_OUT & set(path.split("/")[:-1]):
                held.extract(path, making)
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
        index_workspace(memory.ctx)
        viewer = memory.ctx.operator("measure")
        backfill(memory.ctx, viewer, limit=MOST_TEXTS)
        done.touch()
    return memory


def _wheel(folder: Path, package: str, version: str) -> Path:
    """The wheel of a version for this Python, downloaded if it is not there."""
    if not any(folder.glob("*.whl")):
        only_wheels = ("--no-deps", "--only-binary", ":all:")
        command = (sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", *only_wheels)
        subprocess.run([*command, "--dest", str(folder), f"{package}=={version}"], check=True)
    return next(iter(folder.glob("*.whl")))
