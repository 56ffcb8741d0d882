"""What is moored, and where."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Optional, Self

__all__ = ["Berth", "Boat", "Ferry", "Size"]


class Size(enum.Enum):
    SMALL = 1
    LARGE = 2

    def metres(self) -> int:
        return self.value * 10


@dataclass
class Boat:
    name: str
    size: Size = Size.SMALL
    crew: list[Sailor] = field(default_factory=list)

    @classmethod
    def parse(cls, text: str) -> Self:
        made = cls(text.strip())
        made.check()
        return made

    def check(self) -> bool:
        return bool(self.name) and self.length > 0

    @property
    def length(self) -> int:
        return self.size.metres()

    @property
    def captain(self) -> Optional["Sailor"]:
        return self.crew[0] if self.crew else None

    def hail(self) -> str:
        for sailor in self.crew:
            sailor.shout()
        return self.captain.shout()


class Ferry(Boat):
    class Deck:
        def clean(self):
            return None

    def __init__(self, name: str) -> None:
        super().__init__(name, Size.LARGE)
        self.deck = Ferry.Deck()

    def check(self) -> bool:
        self.deck.clean()
        return super().check() and self.size.metres() > 10


class Sailor:
    def shout(self) -> str:
        return "ahoy"


class Berth:
    def __init__(self, boat: Boat | None = None) -> None:
        self.boat = boat

    def free(self):
        left, self.boat = self.boat, None
        return left


def _hidden() -> None: ...
