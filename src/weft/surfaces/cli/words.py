"""Words of the command line for the arguments of operations: `as_of` becomes `--as-of`."""

from __future__ import annotations

import re
from functools import cache

from weft.runtime.operation import Operation

_ABOUT_ONE = re.compile(r"(?:^|(?<=: ))([a-z]+)(?= (?:is|has|cannot)\b)")


def in_option_words(text: str, operation: Operation | None) -> str:
    """Rewrites a message, a hint or a note for the command line, where arguments are options.

    A name of one word may be an ordinary word, so it counts as an argument only at the beginning: `limit is less than
    1`.
    """
    if operation is None:
        return text
    options = frozenset(operation.input.__struct_fields__) - frozenset(operation.arguments)

    def option(match: re.Match[str]) -> str:
        name = match[1]
        return f"--{name.replace('_', '-')}" if name in options else match[0]

    spelt = _names(tuple(sorted(each for each in options if "_" in each)))
    return _ABOUT_ONE.sub(option, spelt.sub(option, text) if spelt else text)


@cache
def _names(names: tuple[str, ...]) -> re.Pattern[str] | None:
    return re.compile(rf"(?<![\w'-])({'|'.join(names)})(?![\w'-])") if names else None
