"""Who is told of what; booking and notices import each other."""

import functools
import sys

from . import booking

LISTENERS = []

if sys.platform == "win32":

    def beep():
        return None

else:

    def beep():
        return 1


def listener(function):
    LISTENERS.append(function)
    return function


@listener
def log(message):
    beep()
    return message


@functools.lru_cache
def desk():
    return booking.Desk(None)


def broadcast(message, log=None):
    log(message)  # the parameter, not the function above
    for each in LISTENERS:
        each(message)
    later = functools.partial(log, message)
    later()
    return desk().report()
