"""Asks a language server: the protocol over pipes, as much of it as a judge of call targets needs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

MAX_WAITING = 40  # questions that are asked before the first is answered: fewer than a pipe holds

Question = tuple[str, dict[str, Any]]  # a method, and what it is given


class LanguageServer:
    """One running server for one folder; `settings` is what it hears of each section that it asks for."""

    def __init__(self, command: Sequence[str], root: Path, settings: dict[str, Any], ready: str) -> None:
        """Returns as soon as the server's log holds `ready`."""
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._settings = settings
        self._last = 0
        self._log = ""
        folder = {"uri": root.as_uri(), "name": root.name}
        able = {"workspace": {"configuration": True, "workspaceFolders": True}}
        started = {
            "processId": os.getpid(),
            "rootUri": root.as_uri(),
            "workspaceFolders": [folder],
            "capabilities": able,
        }
        self.ask([("initialize", started)])
        self.tell("initialized", {})
        while ready not in self._log:
            self._take(self._read())

    def tell(self, method: str, given: dict[str, Any]) -> None:
        """Says something that has no answer."""
        self._write({"method": method, "params": given})

    def ask(self, questions: Iterable[Question]) -> list[Any]:
        """The answers, in the order of the questions; None where the server fails."""
        waiting = list(questions)
        answers: dict[int, Any] = {}
        first = self._last + 1
        asked = 0
        while len(answers) < len(waiting):
            while asked < len(waiting) and asked - len(answers) < MAX_WAITING:
                self._last += 1
                method, given = waiting[asked]
                self._write({"id": self._last, "method": method, "params": given})
                asked += 1
            message = self._read()
            if "id" in message and "method" not in message:
                answers[message["id"]] = message.get("result")
            else:
                self._take(message)
        return [answers[first + place] for place in range(len(waiting))]

    def processor_seconds(self) -> float:
        """What it has cost so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Stops it."""
        self._process.terminate()
        self._process.wait()

    def _take(self, message: dict[str, Any]) -> None:
        """What the server says or asks by itself."""
        if message["method"] == "window/logMessage":
            self._log += message["params"]["message"] + "\n"
        if "id" not in message:
            return
        result = None
        if message["method"] == "workspace/configuration":
            result = [self._settings.get(each.get("section"), {}) for each in message["params"]["items"]]
        self._write({"id": message["id"], "result": result})

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise ConnectionError("the language server ended; start it by hand to see why")
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return message
