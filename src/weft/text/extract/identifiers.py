"""Code identifiers in prose."""

from __future__ import annotations

import re

MAX_IDENTIFIERS = 64
_NAME = re.compile(r"(?<![\w.@])[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_QUOTED = re.compile(r"`([^`\n]{1,120})`")
_ADDRESS = re.compile(r"(?:https?|ftp)://\S*")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_PLURAL = ("(s)", "(es)", "(ies)")


def identifiers(text: str) -> tuple[str, ...]:
    """Distinct names that look like code, in order, without brackets and backticks; at most MAX_IDENTIFIERS.

    These are `camelCase`, `under_score`, `dotted.name`, `call()`, and any single name in backticks.
    """
    if "://" in text:
        text = _ADDRESS.sub(lambda found: " " * len(found[0]), text)
    found: dict[str, int] = {}
    for quoted in _QUOTED.finditer(text) if "`" in text else ():
        inside = quoted[1].removesuffix("()")
        if (name := _NAME.fullmatch(inside)) and len(inside.strip("_")) > 1 and len(found) < MAX_IDENTIFIERS:
            found.setdefault(name[0], quoted.start(1))
    for match in _NAME.finditer(text):
        if match[0] not in found and _is_code(match[0], text, match.end()):
            found[match[0]] = match.start()
            if len(found) >= 2 * MAX_IDENTIFIERS:
                break
    return tuple(sorted(found, key=found.__getitem__)[:MAX_IDENTIFIERS])


def _is_code(name: str, text: str, end: int) -> bool:
    inner = name.strip("_")
    if len(inner) < 2:
        return False
    if text.startswith("(", end):
        return not text.startswith(_PLURAL, end)
    if name.islower() and name.isalpha():  # an ordinary word
        return False
    if "." in name:
        return max(map(len, name.split("."))) > 1  # not e.g., a.m.
    if "_" in inner or (name.startswith("_") and (name.startswith("__") or not name.endswith("_"))):
        return True
    return _CAMEL.search(name) is not None
