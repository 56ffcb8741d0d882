import unittest

from harbour.models import Berth, Size, _hidden


class SizeCase(unittest.TestCase):
    def setUp(self):
        self.berth = Berth()

    def test_metres(self):
        self.assertEqual(Size.LARGE.metres(), 20)
        self.berth.free()
        _hidden()
