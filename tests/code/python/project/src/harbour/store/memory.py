from harbour import models

from .port import Store


class MemoryStore(Store):
    def __init__(self):
        self._berths: dict[int, models.Berth] = {}

    def berth(self, number):
        if number not in self._berths:
            self._berths[number] = models.Berth()
        return self._berths[number]

    def berths(self):
        for number, berth in self._berths.items():
            berth.free()
            yield berth

    def close(self):
        self._berths.clear()

    def __enter__(self) -> "MemoryStore":
        return self

    def __exit__(self, *_):
        self.close()
