"""A worker of `weft serve`: runs calls that the server admitted, and ends when the server does.

Started by `pool.py` with a socket for each of its threads. It opens the store and loads the models before it says that
it is ready.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import msgspec
from msgspec.structs import replace

from weft.access.tokens import Token
from weft.core.errors import WeftError
from weft.runtime.settings.load import load_settings
from weft.surfaces.callers import Callers
from weft.surfaces.frames import BrokenOff, Frame, receive, send
from weft.surfaces.http.answering import CallAnswers

FOREVER_S = 86_400.0  # a day: calls end by their own bounds, and the server's end ends the wait for the next
MAX_BODY_BYTES = 256 << 20


def main() -> None:
    """Serves on the sockets whose numbers are the first argument; the second is the server's toolsets."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server's terminal tells all of its processes
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the server ends it when its calls are answered
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    settings = replace(load_settings(Path()), toolsets=tuple(json.loads(sys.argv[2])))
    callers = Callers("command")  # watchers and jobs are the server's
    answers = CallAnswers(settings, callers)
    sockets = [socket.socket(fileno=number) for number in json.loads(sys.argv[1])]
    try:
        memory = callers.operator()
        memory.call("recall", query="weft", limit=1)  # loads what calls need, before there are threads
    except WeftError as problem:  # each call says so
        sys.stderr.write(f"weft serve: a worker starts without its store: {problem.message}\n")
    threads = [threading.Thread(target=_serve, args=(answers, each), daemon=True) for each in sockets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    callers.close()
    os._exit(0)


def _serve(answers: CallAnswers, connected: socket.socket) -> None:
    """Answers one call after the other until the server closes the socket."""
    with connected:
        try:
            send(connected, Frame({"ready": os.getpid()}), _late())
            while True:
                asked = receive(connected, _late(), most=MAX_BODY_BYTES)
                token = msgspec.convert(asked.head["token"], Token)
                response = answers.answer(token, str(asked.head["operation"]), asked.body)
                headers = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in response.raw_headers]
                send(
                    connected,
                    Frame({"status": response.status_code, "headers": headers}, bytes(response.body)),
                    _late(),
                )
        except BrokenOff:
            return


def _late() -> float:
    return time.monotonic() + FOREVER_S


if __name__ == "__main__":
    main()
