"""`weft completion`: the script with which a shell completes commands, options and choices."""

from __future__ import annotations

from typing import Final

import click

VARIABLE: Final = "_WEFT_COMPLETE"  # in which the script asks


HELP: Final = """Prints the script with which a shell completes commands, options and choices.

\b
bash:  weft completion bash > ~/.local/share/bash-completion/completions/weft
zsh:   weft completion zsh > ~/.zfunc/_weft    (~/.zfunc in fpath, before compinit)
fish:  weft completion fish > ~/.config/fish/completions/weft.fish

For the shell that is open only: eval "$(weft completion bash)".
"""


@click.command("completion", help=HELP, short_help="print the script that completes commands in bash, zsh or fish")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Prints the script that a shell reads. The script asks `weft` itself what may follow."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(ctx.find_root().command, {}, "weft", VARIABLE).source())
