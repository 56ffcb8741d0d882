"""Detection of prompt injection in messages and memories, by words alone: no store, model or network.

`looks_like_instructions` checks any text that reads return (`flags_of`, `remark`); `find` checks a message and gives
the reasons. The operation `screen` combines them.
"""

from weft.text.injection.detect import InjectionHit, find, looks_like_instructions
from weft.text.injection.flags import flags_of, mark_of, remark

__all__ = ["InjectionHit", "find", "flags_of", "looks_like_instructions", "mark_of", "remark"]
