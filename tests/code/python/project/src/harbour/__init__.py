"""Berths, boats and who lies where."""

from .models import *
from .booking import Desk
from .store import Store, open_store as open

__all__ = ["Desk", "Store", "open"]
