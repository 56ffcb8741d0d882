from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, Union

from . import notices
from .models import Berth, Boat, Ferry

try:
    from ._fast import price
except ImportError:

    def price(boat):
        return boat.length


if TYPE_CHECKING:
    from .store import Store

Craft = Union[Boat, Ferry]
B = TypeVar("B", bound=Boat)


class NoBerth(LookupError):
    pass


class Desk:
    """Takes bookings."""

    fee = 5

    def __init__(self, store: Store) -> None:
        self.store = store
        self.last = None

    def book(self, text: str, number: int) -> Berth:
        boat = Boat.parse(text)
        berth = self.store.berth(number)
        if berth.boat is not None:
            raise NoBerth(number)
        berth.boat = boat
        self.last = boat
        notices.broadcast(boat.hail())
        return berth

    def dock(self, ferry: "Ferry | None", *others: Boat):
        if ferry is not None and ferry.check():
            ferry.Deck().clean()
        for other in others:
            other.check()
        return self

    def leave(self, number):
        def free(berth: Berth):
            return berth.free()

        from .tides import table as tide_of

        tide_of(1).high()
        return free(self.store.berth(number))

    def report(self):
        from harbour.store import open_store

        store = open_store()
        with open_store("x") as opened:
            opened.close()
        lines = [berth.free() for berth in store.berths()]
        self.dock(None).report()
        return lines + [self.last.hail(), price(self.last)]

    def rename(self, boat: Craft, to, kind: type[Boat]) -> None:
        boat.check()
        kind.parse(to).check()
        to.strip()
        unknown(to)


def reprint(notices):
    notices.broadcast("again")  # the parameter, not the module


def biggest(boats: list[B]) -> B:
    best = max(boats)
    first = boats[0]
    first.hail()
    best.hail()
    return best or first
