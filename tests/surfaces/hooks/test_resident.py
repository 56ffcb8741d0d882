"""A hook asks a live process of the same store: the same answer, sooner; and its own one, whatever goes wrong."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.surfaces.hooks.conftest import WEFT, Machine, Ran, claude, lines
from tests.waiting import wait_for
from weft.surfaces import frames
from weft.surfaces.resident import ask as asking
from weft.surfaces.resident import listen, place

FOLDER, TAKEN = place.FOLDER, frames.TAKEN
ask, request = asking.ask, asking.request

ASKED = "why did we choose Redis for sessions?"
KEPT = "We chose Redis for sessions because Postgres locks were slow."
ASK_ONLY = """
import sys
from weft.surfaces.resident import ask
from weft.surfaces.resident.ask import answered
ask.TAKEN_WITHIN_S = 20.0  # a busy machine takes longer than a hook waits
sys.exit(0 if answered(sys.argv[1:]) else 9)
"""
NOT_ANSWERED = 9


@pytest.fixture
def known(machine: Machine) -> Machine:
    with machine.open() as memory:
        memory.remember(KEPT)
        memory.remember("The admin password hint for Redis sessions is a ferry.", scope="admin")
    return machine


def asked(machine: Machine, *arguments: str, stdin: bytes = b"", **environment: str) -> Ran:
    """Asks a resident and nobody else."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", ASK_ONLY, *arguments],
        input=stdin,
        capture_output=True,
        cwd=machine.root,
        env=machine.environment(**environment),
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode(), time.monotonic() - begun)


def attached(machine: Machine) -> subprocess.Popen[bytes]:
    """A `weft mcp` whose client does nothing, warm."""
    process = subprocess.Popen(
        [WEFT, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=machine.environment(),
        cwd=machine.root,
    )
    wait_for(lambda: asked(machine, "context", ASKED).code == 0, "resident that answers")
    return process


@pytest.fixture
def resident(known: Machine) -> Iterator[subprocess.Popen[bytes]]:
    process = attached(known)
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def stand_in(known: Machine) -> Iterator[Callable[[Callable[[socket.socket], None]], None]]:
    """Puts a socket into the store's folder, behind which a function does what it likes with each connection."""
    folder = known.store / FOLDER
    folder.mkdir(mode=0o700)
    listening = socket.socket(socket.AF_UNIX)
    opened = place.open_folder(str(known.store))
    assert opened is not None
    listening.bind(place.address(opened, "one"))
    listening.listen()
    held: list[socket.socket] = []

    def begin(behave: Callable[[socket.socket], None]) -> None:
        def serve() -> None:
            while True:
                try:
                    connected, _ = listening.accept()
                except OSError:
                    return
                held.append(connected)
                with suppress(OSError, frames.BrokenOff):  # on a busy machine a hook gives up first
                    behave(connected)

        threading.Thread(target=serve, daemon=True).start()

    yield begin
    listening.shutdown(socket.SHUT_RDWR)
    for each in (listening, *held):
        each.close()
    os.close(opened)


# ---- what it answers


@pytest.mark.usefixtures("resident")
def test_its_answer_is_that_of_the_hook_itself(known: Machine) -> None:
    prompt = json.dumps(known.said("claude-code", "s9", "UserPromptSubmit", prompt=ASKED)).encode()
    for arguments, stdin in (
        (("context", ASKED), b""),
        (("context", "--hook", "claude-code"), prompt),
        (("context", "--hook=cursor", "--budget", "500"), prompt.replace(b"UserPromptSubmit", b"beforeSubmitPrompt")),
        (("context", "--hook", "claude-code"), b'{"hook_event_name": "Stop"}'),
    ):
        told = asked(known, *arguments, stdin=stdin)
        itself = known.run(*arguments, stdin=stdin, WEFT_LOG=str(known.scratch / "log"))  # so it asks nobody
        assert (told.code, told.out, told.err) == (0, itself.out, itself.err)
    assert KEPT in asked(known, "context", ASKED).out


@pytest.mark.usefixtures("resident")
def test_who_asks_is_who_started_the_hook(known: Machine) -> None:
    secret = "password hint"
    assert secret in asked(known, "context", "the password hint for Redis sessions").out
    narrow = asked(known, "context", "the password hint for Redis sessions", WEFT_SCOPES="public")
    assert (narrow.code, secret in narrow.out) == (0, False)
    other = asked(known, "context", ASKED, WEFT_PROJECT="elsewhere")
    assert (other.code, KEPT in other.out) == (0, False)
    assert asked(known, "context", ASKED, WEFT_ACCOUNT="another").out == ""


@pytest.mark.usefixtures("resident")
def test_what_was_said_is_kept_once(known: Machine) -> None:
    path = lines(known.scratch / "t.jsonl", [claude("user", "Is the ferry late?", 1, cwd=str(known.root))])
    payload = json.dumps(known.said("claude-code", "s1", "Stop", transcript_path=path.name)).encode()
    payload = payload.replace(path.name.encode(), f"../{path.name}".encode())  # as the hook's own process means it
    for _ in range(2):
        done = asked(known, "capture", "--hook", "claude-code", stdin=payload)
        assert (done.code, done.err) == (0, "")
    assert known.messages("claude-code-s1") == ["user: Is the ferry late?"]


@pytest.mark.usefixtures("resident")
def test_command_lines_that_are_wrong_are_told_as_ever(known: Machine) -> None:
    for arguments in (
        ("context", "--budget", "7"),
        ("context", "--deadline", "soon"),
        ("capture",),
        ("context", "a", "b"),
    ):
        assert asked(known, *arguments).code == NOT_ANSWERED
        assert known.run(*arguments).err.startswith(f"weft {arguments[0]}: ")


# ---- what may go wrong


def test_a_resident_that_was_killed_leaves_a_socket_and_no_harm(
    known: Machine, resident: subprocess.Popen[bytes]
) -> None:
    begun = [
        subprocess.Popen([WEFT, "context", ASKED], stdout=subprocess.PIPE, env=known.environment(), cwd=known.root)
        for _ in range(4)
    ]
    resident.send_signal(signal.SIGKILL)
    assert all(KEPT in each.communicate(timeout=60)[0].decode() for each in begun)
    resident.wait()
    assert list((known.store / FOLDER).iterdir()) != []
    done = asked(known, "context", ASKED)
    assert done.code == NOT_ANSWERED
    assert KEPT in known.run("context", ASKED).out
    again = attached(known)  # which sweeps
    assert len(list((known.store / FOLDER).iterdir())) == 1
    again.terminate()
    again.communicate()
    assert list((known.store / FOLDER).iterdir()) == []


def test_a_resident_that_hangs_is_not_waited_for(known: Machine, resident: subprocess.Popen[bytes]) -> None:
    resident.send_signal(signal.SIGSTOP)
    try:
        waited = time.monotonic()
        head = request(str(known.store), str(known.root), known.environment(), {})
        assert ask(str(known.store), head, b"", until=waited + 5) is None
        assert time.monotonic() - waited < 1.0  # 30 ms, on a machine that has nothing else to do
        assert KEPT in known.run("context", ASKED).out
    finally:
        resident.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("ends", [False, True], ids=["hangs", "ends"])
def test_one_that_takes_and_never_answers(
    known: Machine, stand_in: Callable[[Callable[[socket.socket], None]], None], *, ends: bool
) -> None:
    def take(connected: socket.socket) -> None:
        frames.receive(connected, time.monotonic() + 10)
        connected.sendall(TAKEN)
        if ends:
            connected.sendall(b"\x00\x00\x00\x09")
            connected.close()

    stand_in(take)
    assert KEPT in known.run("context", ASKED, "--deadline", "60s").out
    late = known.run("context", ASKED, "--deadline", "20ms")  # less than importing takes
    assert (late.code, late.out) == (0, "")
    assert late.seconds < 5


@pytest.mark.parametrize(
    "noise", [b"-", b"", b"HTTP/1.1 200 OK\r\n", TAKEN + b"\xff" * 64, TAKEN + b"\0\0\0\2\0\0\0\0[]"]
)
def test_what_speaks_otherwise_is_no_resident(
    known: Machine, stand_in: Callable[[Callable[[socket.socket], None]], None], noise: bytes
) -> None:
    def behave(connected: socket.socket) -> None:
        frames.receive(connected, time.monotonic() + 10)
        connected.sendall(noise)
        connected.close()

    stand_in(behave)
    assert asked(known, "context", ASKED).code == NOT_ANSWERED
    assert KEPT in known.run("context", ASKED).out


def test_a_store_put_in_the_place_of_the_open_one_is_another(known: Machine, resident: subprocess.Popen[bytes]) -> None:
    assert resident.poll() is None
    old = known.scratch / "old"
    known.store.rename(old)
    with known.open() as memory:
        memory.remember("We chose Valkey for sessions because it is free.")
    (old / FOLDER).rename(known.store / FOLDER)
    assert asked(known, "context", ASKED).code == NOT_ANSWERED
    done = known.run("context", ASKED)
    assert "Valkey" in done.out
    assert "Postgres" not in done.out


@pytest.mark.usefixtures("resident")
def test_a_store_elsewhere_and_other_models_are_not_its_own(known: Machine) -> None:
    elsewhere = known.scratch / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / FOLDER).symlink_to(known.store / FOLDER)
    assert asked(known, "context", ASKED, WEFT_STORE=f"sqlite://{elsewhere}").code == NOT_ANSWERED
    for name, value in {"WEFT_ANSWER_JUDGE": "none", "WEFT_REDACTION": "off", "HOME": str(known.scratch)}.items():
        assert asked(known, "context", ASKED, **{name: value}).code == NOT_ANSWERED
    assert asked(known, "context", ASKED).code == 0


@pytest.mark.usefixtures("resident")
def test_a_folder_that_others_may_enter_is_not_trusted(known: Machine) -> None:
    (known.store / FOLDER).chmod(0o755)
    assert asked(known, "context", ASKED).code == NOT_ANSWERED


def test_an_older_version_and_strange_requests_are_declined(known: Machine, resident: subprocess.Popen[bytes]) -> None:
    assert resident.poll() is None
    work = {"command": "context", "client": None, "query": ASKED, "budget": 1_200}
    head = request(str(known.store), str(known.root), known.environment(), work)

    def answer(**changed: object) -> object:
        return ask(str(known.store), head | changed, b"", until=time.monotonic() + 10)

    assert wait_for(answer, "answer")
    strange: tuple[dict[str, object], ...] = (
        {"weft": "0.0.1"},
        {"store": [1, 2]},
        {"work": {"command": "purge"}},
        {"work": {**work, "budget": "many"}},
        {"environment": "none"},
        {"working": 7},
    )
    for changed in strange:
        assert answer(**changed) is None


def test_other_users_are_not_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weft-store.json").touch()
    took: list[frames.Frame] = []
    listener = listen.Listener(str(tmp_path), lambda frame: took.append(frame))  # type: ignore[func-returns-value]
    listener.begin()
    wait_for(lambda: list((tmp_path / FOLDER).glob("*")), "socket")
    head = request(str(tmp_path), str(tmp_path), {}, {})
    assert ask(str(tmp_path), head, b"", until=time.monotonic() + 10) is None
    wait_for(lambda: took, "request of this user")
    monkeypatch.setattr(listen, "user_of", lambda connected: os.geteuid() + 1)
    assert ask(str(tmp_path), head, b"", until=time.monotonic() + 10) is None
    assert len(took) == 1
    monkeypatch.undo()
    assert listener.close(5)
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_without_a_place_for_its_socket_a_server_serves_on(known: Machine) -> None:
    (known.store / FOLDER).write_text("in the way")
    process = subprocess.Popen(
        [WEFT, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=known.environment(),
        cwd=known.root,
    )
    out, _ = process.communicate(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n', timeout=60)
    assert json.loads(out)["id"] == 1
    assert KEPT in known.run("context", ASKED).out
