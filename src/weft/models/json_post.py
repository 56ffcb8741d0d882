"""JSON requests to model servers: bounded in time and size, retried once, the key never shown.

Plain `http.client`: it follows no redirects (which would leak the key) and reads no proxy settings from the
environment.
"""

from __future__ import annotations

import http.client
import re
import socket
import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Final
from urllib.parse import urlsplit

import msgspec

from weft.core.errors import Misconfigured, ModelError

DEFAULT_TIMEOUT_S = 5.0
MAX_TIMEOUT_S = 600.0
RETRY_PAUSE_S = 0.2
MAX_RESPONSE_BYTES = 64_000_000
SHOWN_CHARACTERS = 200  # of a server's error message
_READ_BYTES = 65_536
_CHECK = "check the url, the key, the model's name and the length of the texts"
_REFUSALS: Final = frozenset({400, 413, 422})
# Messages of servers about a text over the model's context; some send them with a 5xx status.
_TOO_LONG: Final = re.compile(r"context|too (?:long|large|many)|exceed|maximum|max_|physical batch", re.IGNORECASE)


class RefusedError(Exception):
    """Cause of a ModelError if the server refuses the request; a smaller one may succeed."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model server. Raises Misconfigured for an unusable url, key or timeout. The key stays out of its repr."""

    url: str
    key: str = field(default="", repr=False)
    timeout_s: float = DEFAULT_TIMEOUT_S

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.username is not None or parts.password is not None:
            raise Misconfigured("the model server's url holds credentials", hint="pass the key as its own setting")
        try:
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # a port that is no number
            usable = False
        if not usable or parts.query or parts.fragment or not (self.url.isascii() and self.url.isprintable()):
            raise Misconfigured(
                f"{self.url!r} is not the url of a model server", hint="for example http://127.0.0.1:11434"
            )
        if not (self.key.isascii() and self.key.isprintable()):
            raise Misconfigured("the model server's key has characters that no header can carry", hint="set it again")
        if not 0 < self.timeout_s <= MAX_TIMEOUT_S:
            raise Misconfigured(f"a model server's timeout must be over 0 and at most {MAX_TIMEOUT_S} s")

    def post(self, path: str, body: object) -> bytes:
        """The body of a 200 answer to `POST {url}{path}`, within `timeout_s` in all.

        A refused or broken connection, 429 and 5xx are retried once if there is time; a timeout is not. Raises
        ModelError with the server's message, with RefusedError as its cause if the request may be too long.
        """
        encoded = msgspec.json.encode(body)
        ends_s = time.monotonic() + self.timeout_s
        sockets: list[socket.socket] = []
        done: Future[bytes] = Future()

        def work() -> None:
            try:
                done.set_result(self._twice(path, encoded, ends_s, sockets))
            except BaseException as problem:  # noqa: BLE001 - not lost: raised to whoever waits
                done.set_exception(problem)

        # On its own thread: socket timeouts bound each wait, but neither their sum nor name lookups.
        Thread(target=work, name="weft-model-call", daemon=True).start()
        try:
            return done.result(max(0.0, ends_s - time.monotonic()))
        except TimeoutError as error:
            for each in sockets:  # ends the abandoned request
                with suppress(OSError):
                    socket.socket.shutdown(each, socket.SHUT_RDWR)
            raise self._late() from error

    def _twice(self, path: str, body: bytes, ends_s: float, sockets: list[socket.socket]) -> bytes:
        try:
            return self._attempt(path, body, ends_s, sockets)
        except _TransientError as fault:
            if time.monotonic() + RETRY_PAUSE_S >= ends_s:
                raise self._given_up(fault) from fault.__cause__
            time.sleep(RETRY_PAUSE_S)
        try:
            return self._attempt(path, body, ends_s, sockets)
        except _TransientError as fault:
            raise self._given_up(fault) from fault.__cause__

    def _attempt(self, path: str, body: bytes, ends_s: float, sockets: list[socket.socket]) -> bytes:
        parts = urlsplit(self.url)
        connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = connect(parts.hostname or "", parts.port, timeout=max(0.001, ends_s - time.monotonic()))
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            connection.connect()
            sockets.append(connection.sock)
            connection.request("POST", f"{parts.path.rstrip('/')}{path}", body, headers)
            with connection.getresponse() as response:  # owns the socket once the server closes
                answer = self._read(response, ends_s)
        except TimeoutError as error:
            raise self._late() from error
        except (OSError, http.client.HTTPException) as error:
            raise _TransientError(f"{self.url} cannot be reached: {error!r}") from error
        finally:
            connection.close()
        if response.status == 200:
            return answer
        said = f"{self.url} answered {response.status}: {self._shown(answer)}"
        if response.status in _REFUSALS or (response.status >= 500 and _TOO_LONG.search(said)):
            raise ModelError(said, hint=_CHECK) from RefusedError(said)
        if response.status == 429 or response.status >= 500:
            raise _TransientError(said)
        raise ModelError(said, hint=_CHECK)

    def _late(self) -> ModelError:
        return ModelError(
            f"{self.url} did not answer within {self.timeout_s} s", hint="raise the timeout or send less at a time"
        )

    def _given_up(self, fault: _TransientError) -> ModelError:
        return ModelError(str(fault), hint="check that the server is up and has capacity, then retry")

    def _read(self, response: http.client.HTTPResponse, ends_s: float) -> bytes:
        """The whole body. Raises TimeoutError past the deadline, ModelError over the size limit."""
        answer = bytearray()
        while chunk := response.read1(_READ_BYTES):
            answer += chunk
            if len(answer) > MAX_RESPONSE_BYTES:
                raise ModelError(f"{self.url} answered more than {MAX_RESPONSE_BYTES} bytes", hint="check the url")
            if time.monotonic() > ends_s:
                raise TimeoutError
        return bytes(answer)

    def _shown(self, answer: bytes) -> str:
        """The start of a server's message, without the key."""
        text = answer.decode("utf-8", "replace")
        if self.key:
            text = text.replace(self.key, "[key]")
        return " ".join(text[:SHOWN_CHARACTERS].split())


class _TransientError(Exception):
    """Worth one more attempt."""
