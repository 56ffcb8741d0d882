import pytest

import harbour
from harbour.booking import Desk, NoBerth, biggest
from harbour_plugins.weather import report


@pytest.fixture
def desk():
    return Desk(harbour.open())


def make(name):
    return harbour.Boat(name)


def test_books(desk: Desk):
    berth = desk.book("Berta", 1)
    assert berth.free() is not None
    with pytest.raises(NoBerth):
        desk.book("Carla", 1)


class TestStorm:
    def test_storm(self):
        report.storm(harbour.Ferry("Dora"))
        assert biggest([make("Emil")]).check()
