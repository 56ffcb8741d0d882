"""What comes in from outside: a message for an assistant, or an attempt to steer one.

`looks_like_instructions` tells it of any text, and is used on everything that reads return (`flags_of`, `remark`);
`find` tells it of a message, with the reasons. By words alone: no store, no model, no network. The operation `screen`
puts them together.
"""

from weft.gateway.finding import Hit, find, looks_like_instructions
from weft.gateway.flags import flags_of
from weft.gateway.remark import mark_of, remark

__all__ = ["Hit", "find", "flags_of", "looks_like_instructions", "mark_of", "remark"]
