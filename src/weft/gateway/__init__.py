"""What comes in from outside: is it a message for an assistant, or an attempt to steer one?

`looks_like_instructions` tells it of any text and is used on everything that reads return; `screen_message` tells it of
one message, with what it is after and in which language. Both by words alone: no store, no model, no network.
"""

from weft.gateway.finding import Hit, find, looks_like_instructions
from weft.gateway.remark import mark_of, remark

__all__ = ["Hit", "find", "looks_like_instructions", "mark_of", "remark"]
