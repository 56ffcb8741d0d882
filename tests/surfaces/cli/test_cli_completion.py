"""Completion, in real shells."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.surfaces.conftest import WEFT, Cli

BASH = """
eval "$(weft completion bash)"
complete -p weft > /dev/null || exit 3
words={words}
COMP_WORDS=("${{words[@]}}"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()
_weft_completion weft "${{COMP_WORDS[COMP_CWORD]}}" ""
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(cli: Cli, *words: str) -> list[str]:
    """What bash offers after these words, of which the last is not finished."""
    bash = shutil.which("bash")
    assert bash is not None
    written = "(" + " ".join(f"'{word}'" for word in ("weft", *words)) + ")"
    done = subprocess.run(
        [bash, "--norc", "-c", BASH.format(words=written)],
        capture_output=True,
        text=True,
        check=True,
        cwd=cli.root,
        env=cli.environment() | {"PATH": f"{WEFT.parent}:{cli.environment()['PATH']}"},
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_commands_options_and_choices(cli: Cli) -> None:
    assert completed(cli, "rememb") == ["remember", "remember-many"]
    assert completed(cli, "log", "") == ["show", "verify", "head", "export", "import"]
    assert completed(cli, "recall", "--know") == ["--known-at"]
    assert completed(cli, "recall", "--intent", "WH") == ["WHY", "WHEN", "WHO", "WHAT"]
    assert completed(cli, "proposal-review", "some-id", "re") == ["reject"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_a_group_that_runs_by_itself_completes_both(cli: Cli) -> None:
    assert completed(cli, "hygiene", "") == ["run", "apply"]
    assert "--json" in completed(cli, "hygiene", "--js")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_that_shell(cli: Cli, tmp_path: Path, shell: str) -> None:
    script = cli("completion", shell).stdout
    assert "_WEFT_COMPLETE" in script
    found = shutil.which(shell)
    if found is None:
        return
    file = tmp_path / f"weft.{shell}"
    file.write_text(script)
    assert subprocess.run([found, "-n", str(file)], check=False).returncode == 0


def test_help_says_where_it_goes(cli: Cli) -> None:
    shown = cli("completion", "--help").stdout
    assert "bash-completion/completions/weft" in shown
    assert cli("completion", "csh").exit_code == 2
