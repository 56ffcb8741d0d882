"""Python: what a function shows to others, told without its locals.

`self.store = store` says the declared type of the parameter; `return rows` says what `rows` was made from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from weft.code.readers.python_chains import LOCAL_FUNCTION, MAX_CHAIN_CHARACTERS, UNKNOWN, Value

MAX_STEPS: Final = 4  # from one local name to the next
MAX_VALUES: Final = 4  # that one name may hold
HEAD: Final = re.compile(r"\w+")
_OPENINGS: Final = frozenset("[({")
_PART: Final = re.compile(r"([\[({;])(\w+)")
_PARTS: Final = re.compile(r"[\[({;]([^\W\d]\w*)")

Local = Mapping[tuple[int, str], Sequence[Value]]  # what a name holds, by the place of its function and itself


def heads_of(chain: str) -> list[str]:
    """The names that a chain begins with: one, or those of its parts."""
    head = HEAD.match(chain)
    if head is not None:
        return [head[0]]
    return _PARTS.findall(chain) if chain[:1] in _OPENINGS else []


def shown(local: Local, function: int, values: Sequence[Value]) -> list[Value]:
    """What values mean outside their function. What depends on a local that is not known is left out."""
    found: list[Value] = []
    waiting = [(value, 0) for value in reversed(values)]
    while waiting and len(found) < MAX_VALUES:
        (chain, declared), steps = waiting.pop()
        head = HEAD.match(chain)
        if declared:
            found += [(chain, True)] if chain else []
        elif head is None:
            if chain[:1] in _OPENINGS and not any((function, each) in local for each in heads_of(chain)):
                found.append((chain, False))
            elif chain[:1] in _OPENINGS and steps < MAX_STEPS:
                waiting.append(((_opened(local, function, chain), False), steps + 1))
            elif chain[:1] == "<":
                found.append((chain, False))
        elif (held := local.get((function, head[0]))) is None:
            found.append((chain, False))
        elif steps < MAX_STEPS:
            rest = chain[head.end() :]
            waiting += [(_followed(each, rest), steps + 1) for each in reversed(held) if each[0] != LOCAL_FUNCTION]
    return list(dict.fromkeys(found))


def _opened(local: Local, function: int, chain: str) -> str:
    """A literal that shows its parts, each without locals; of several that a name may hold, the first that is known."""

    def replaced(found: re.Match[str]) -> str:
        held = local.get((function, found[2]))
        if held is None:
            return found[0]
        known = (value for value in held if value[0] not in (UNKNOWN, LOCAL_FUNCTION))
        first, declared = next(known, (UNKNOWN, False))
        return found[1] + (f"<{first}>" if declared else first)

    opened = _PART.sub(replaced, chain)
    return opened if len(opened) <= MAX_CHAIN_CHARACTERS else UNKNOWN


def _followed(value: Value, rest: str) -> Value:
    """A chain that goes on after the value of its first name. A parameter's type is but one that a field may have."""
    chain, declared = value
    whole = f"<{chain}>{rest}" if declared else chain + rest
    return (whole if len(whole) <= MAX_CHAIN_CHARACTERS and chain != UNKNOWN else UNKNOWN), False
