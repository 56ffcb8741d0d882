"""Lines of code in a bug report: an example, a traceback, program output."""

from __future__ import annotations

import re
from typing import Final

DENSE: Final = 0.2  # share of a line's characters: with more punctuation than this it is not a sentence
_SIGNS: Final = re.compile(r"[(){}\[\]=<>_/\\:;\"'`#@$%&*|+]")
_STATEMENT: Final = re.compile(
    r"\s*(?:from \S+ import|import \w|class \w+\s*[(:{]|(?:async )?def \w+\(|func(?:tion)? \w+\(|fn \w+[(<]|return\b"
    r"|@\w|(?:const|let|var) \w+ =|(?:public|private|protected) \w|#include\b|>>>|\.\.\. |File \"|Traceback|raise \w"
    r"|\$ |\w+ = |SELECT |INSERT |ALTER |CREATE )"
)


def prose_of(text: str) -> str:
    """A report without its lines of code. The first line, its title, stays."""
    first, mark, rest = text.partition("\n")
    return first + mark + "\n".join([line for line in rest.split("\n") if not is_code_line(line)])


def is_code_line(line: str) -> bool:
    """Whether a line is a statement or a traceback frame, or has more punctuation than sentences do."""
    words = line.strip()
    if not words:
        return False
    return _STATEMENT.match(line) is not None or len(_SIGNS.findall(words)) > DENSE * len(words)
