from collections.abc import Iterator
from typing import Protocol

from ..models import Berth


class Store(Protocol):
    def berth(self, number: int) -> Berth: ...

    def berths(self) -> Iterator[Berth]: ...

    def close(self) -> None: ...
