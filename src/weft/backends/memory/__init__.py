"""The reference store: plain Python lists, written to be obviously right rather than fast.

Every read scans all rows and checks each guard. Other backends are compared with this one. Nothing outlives the
process.

`account` is the state; `visible` what a viewer sees of it, and when; `reads`, `search` and `changes` answer questions
about what is visible; `store` puts them behind one lock.
"""

from weft.backends.memory.store import MemoryStore

__all__ = ["MemoryStore"]
