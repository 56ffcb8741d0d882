from .files import FileStore
from .memory import MemoryStore
from .port import Store


def open_store(path: str = "") -> Store:
    if path:
        return FileStore(path)
    return MemoryStore()
