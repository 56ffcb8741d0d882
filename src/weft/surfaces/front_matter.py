"""A parser of the `tools` key in the YAML front matter of an agent's file.

It reads the forms that such files use: names separated by commas, a list in brackets, a list of `- name`, and text over
several lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from weft.core.errors import Invalid

_KEY: Final = re.compile(r"""(["']?)tools\1\s*:(?=\s|$)(.*)""")
_ITEM: Final = re.compile(r"\s*-(?:\s+(.*))?$")
_BLOCK: Final = re.compile(r"[|>][+-]?\d?[+-]?$")
_NAME: Final = re.compile(r"(?:[^\s,()]|\([^()]*\))+")  # commas and blanks part names, but not inside `Bash(git log:*)`
_QUOTED: Final = re.compile(r"""(["'])(.*?)\1""")


def tools_of(text: str) -> tuple[str, ...]:
    """The names under `tools`, in order; none if the file has no front matter or that has no tools.

    Raises Invalid if they cannot be parsed, with a message that continues the path of the file.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != "---":
        return ()
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() in ("---", "...")), None)
    within = lines[1:end]
    found = [(at, match[2]) for at, line in enumerate(within) if (match := _KEY.match(line))]
    if found and end is None:
        raise Invalid("its front matter has no closing --- line")
    return tuple(name for at, value in found for name in _names(value, within[at + 1 :]))


def _names(value: str, after: Sequence[str]) -> list[str]:
    value = _bare(value)
    more = [line for line in _belonging(after) if _bare(line)]
    if value.startswith("["):
        return _in_brackets(" ".join([value, *map(_bare, more)]))
    if value and not _BLOCK.match(value):
        return _parted(" ".join([value, *map(_bare, more)]))
    if value:
        return _parted(" ".join(map(_bare, more)))
    items = [_ITEM.match(_bare(line)) for line in more]
    if all(items):
        return [name for item in items if item and item[1] for name in _parted(item[1])]
    if not any(items) and not any(re.search(r":(\s|$)", line) for line in more):
        return _parted(" ".join(map(_bare, more)))
    raise Invalid("its tools are neither comma-separated names nor a list")


def _belonging(after: Sequence[str]) -> list[str]:
    """The lines of a value that begins on the line before: indented ones; items and the end of a list need not be."""
    kept = []
    for line in after:
        if _bare(line) and not line[0].isspace() and line[0] != "]" and not _ITEM.match(line):
            break
        kept.append(line)
    return kept


def _in_brackets(written: str) -> list[str]:
    inside, closed, rest = written[1:].partition("]")
    if not closed or _bare(rest):
        raise Invalid("its list of tools has no closing ]")
    return _parted(inside)


def _parted(written: str) -> list[str]:
    """Names, without the quotes around each or around all."""
    plain = _QUOTED.sub(lambda match: f" {match[2]} ", written)
    if '"' in plain or "'" in plain or plain.count("(") != plain.count(")"):
        raise Invalid("a quote or bracket among its tools is not closed")
    return _NAME.findall(plain)


def _bare(line: str) -> str:
    """The text without surrounding blanks and comment; a comment is a # at the start or after a blank."""
    quote = ""
    for at, sign in enumerate(line):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign == "#" and (at == 0 or line[at - 1].isspace()):
            return line[:at].strip()
    return line.strip()
