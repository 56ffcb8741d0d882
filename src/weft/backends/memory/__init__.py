"""The reference model: a store in plain Python lists, written to be obviously right rather than fast.

Every read walks all rows and asks each guard in turn. Other backends are compared with this one. Nothing survives
the process.

`account` is the state; `visible` says what a viewer sees of it, and when; `reading`, `search`, `walk`, `changes` and
`figures` answer questions about what is visible; `store` puts them behind one lock.
"""

from weft.backends.memory.store import MemoryStore

__all__ = ["MemoryStore"]
