"""Processes that create and revoke tokens of one store at once, and a server that admits by them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from weft.access.tokens import TokenBook
from weft.core.clock import SystemClock

EACH = 40
PROCESSES = 3
# Creates tokens and revokes every other one; then says which are live and which are not.
WRITER = """
import json, sys
from pathlib import Path
from weft.core.clock import SystemClock, to_iso
from weft.access.tokens import Token, TokenBook, mint
book, clock = TokenBook(Path(sys.argv[1])), SystemClock()
live, gone = [], []
for number in range(int(sys.argv[2])):
    now = clock.now_us()
    token, bearer = mint(Token(id="", hash="", account="default", agent="racer", created=to_iso(now)))
    book.add(token, now)
    assert book.admit(bearer, now) == token
    if number % 2:
        book.revoke(token.id, now)
        assert book.admit(bearer, now) is None
    (gone if number % 2 else live).append(bearer)
print(json.dumps([live, gone]))
"""


def test_nothing_that_several_processes_write_at_once_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    server, clock = TokenBook(file), SystemClock()
    started = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(file), str(EACH)], stdout=subprocess.PIPE)
        for _ in range(PROCESSES)
    ]
    sizes = []
    while any(each.poll() is None for each in started):
        sizes.append(len(server.tokens()))  # never half a file, never fewer than before
    said = [json.loads(each.communicate()[0]) for each in started]
    assert [each.returncode for each in started] == [0] * PROCESSES
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 5, "it was read while it was written"
    now_us = clock.now_us()
    for live, gone in said:
        assert len(live) == len(gone) == EACH // 2
        assert all(server.admit(bearer, now_us) for bearer in live)
        assert not any(server.admit(bearer, now_us) for bearer in gone)
    assert len(server.tokens()) == EACH * PROCESSES
