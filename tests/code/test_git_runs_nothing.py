"""What is asked of git runs no program that came with a clone, and fetches nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.code.test_history import git
from weft.files import git as asked

SIGNED = """tree {tree}
author Eve <eve@example.org> 1700000000 +0000
committer Eve <eve@example.org> 1700000000 +0000
gpgsig -----BEGIN PGP SIGNATURE-----
 nothing
 -----END PGP SIGNATURE-----

signed
"""


@pytest.fixture
def cloned(tmp_path: Path) -> Path:
    """A repository with a folder that git would take for another one, whose settings name a program to run."""
    root = tmp_path / "cloned"
    folder = root / "sub"
    folder.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    git(folder, "init", "-q", "--bare", "-b", "main", ".")
    tree = git(folder, "mktree", "--missing")
    made = subprocess.run(
        ["git", "-C", str(folder), "hash-object", "-t", "commit", "-w", "--stdin"],
        input=SIGNED.format(tree=tree),
        capture_output=True,
        text=True,
        check=True,
    )
    git(folder, "update-ref", "refs/heads/main", made.stdout.strip())
    program = folder / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n", encoding="utf-8")
    program.chmod(0o755)
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "gpg.program", str(program))
    (root / "own.py").write_text("def own(): ...\n", encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "-qm", "own")
    return root


def test_a_folder_that_looks_like_a_repository_is_not_asked(cloned: Path, tmp_path: Path) -> None:
    outer = git(cloned, "rev-parse", "HEAD")
    assert git(cloned / "sub", "rev-parse", "HEAD") != outer, "git itself would take the folder for a repository"
    assert asked.head_commit(cloned / "sub") == outer
    assert asked.commit_time_us(cloned / "sub", "main") == asked.commit_time_us(cloned, "main")
    entries = asked.tree_of(cloned / "sub", "main")
    assert entries is not None
    assert "evil.sh" in [entry.path for entry in entries]
    assert not (tmp_path / "ran").exists()


def test_what_a_clone_lacks_is_not_fetched(cloned: Path, tmp_path: Path) -> None:
    git(cloned, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{cloned}", str(partial))
    lacking = git(partial, "rev-list", "--objects", "--all", "--missing=print")
    assert "?" in lacking
    entries = asked.tree_of(partial, "HEAD")
    assert entries is not None
    assert "own.py" in [entry.path for entry in entries]
    assert list(asked.blobs_of(partial, [entry.blob for entry in entries])) == []
    assert git(partial, "rev-list", "--objects", "--all", "--missing=print") == lacking


def test_a_setting_of_the_repository_allows_no_transport(cloned: Path, tmp_path: Path) -> None:
    program = tmp_path / "fetch.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n", encoding="utf-8")
    program.chmod(0o755)
    commit = git(cloned, "rev-parse", "HEAD")
    for name, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::{program}"),
        ("protocol.ext.allow", "always"),
    ):
        git(cloned, "config", name, value)
    (cloned / ".git" / "objects" / commit[:2] / commit[2:]).unlink()
    assert asked.commit_of(cloned, "main") is None
    assert asked.commit_time_us(cloned, "main") is None
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser gives files away")
def test_a_repository_of_another_user_is_not_asked(cloned: Path) -> None:
    assert asked.head_commit(cloned) is not None
    for place in (cloned, cloned / ".git"):
        os.chown(place, 65534, 65534)
    assert asked.head_commit(cloned) is None


def test_an_empty_folder_by_that_name_hides_nothing(cloned: Path) -> None:
    (cloned / "pkg" / ".git").mkdir(parents=True)
    assert asked.head_commit(cloned / "pkg") == git(cloned, "rev-parse", "HEAD")
