"""Which names a server goes by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.surfaces.http.hosts import Hosts, parse_host

HOSTS = Hosts("127.0.0.1", ["memory.example.com", "10.0.0.5:8420", "[fd00::5]", "pinned.example.com:443"])


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LocalHost:8420",
        "localhost.:8420",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.8.9.1:8420",
        "[::1]",
        "[::1]:8420",
        "[0:0:0:0:0:0:0:1]:8420",
        "[::ffff:127.0.0.1]",
        "memory.example.com",
        "MEMORY.example.com:443",
        "memory.example.com.",
        "10.0.0.5:8420",
        "[fd00:0::5]:9",
        "pinned.example.com:443",
        "192.168.1.7:8420",
    ],
)
def test_names_of_this_machine_and_those_that_were_set(host: str) -> None:
    assert HOSTS.admits(host, address="192.168.1.7")


@pytest.mark.parametrize(
    "host",
    [
        "",
        " ",
        ":8420",
        "evil.example.com",
        "localhost.evil.example.com",
        "memory.example.com.evil.com",
        "evil-memory.example.com",
        "evil@localhost",
        "localhost@evil.com",
        "localhost:8420@evil.com",
        "localhost evil.com",
        "localhost,evil.com",
        "localhost/",
        "localhost:99999",
        "localhost:",
        "localhost:80:80",
        "localhost:８０",
        "lоcalhost",  # with a Cyrillic о
        "::1",
        "[::1",
        "[localhost]",
        "[::1%lo]",
        "127.1",
        "0177.0.0.1",
        "2130706433",
        "0.0.0.0:8420",
        "[::]",
        "10.0.0.5",
        "10.0.0.5:80",
        "pinned.example.com",
        "192.168.1.8",
        "http://localhost",
        "localhost\0",
        "x" * 100_000,
    ],
)
def test_other_names_and_what_is_none(host: str) -> None:
    assert not HOSTS.admits(host, address="192.168.1.7")


def test_the_address_that_is_listened_on_is_one_and_every_address_is_none() -> None:
    assert Hosts("192.168.1.7", []).admits("192.168.1.7:8420")
    assert Hosts("fd00::7", []).admits("[fd00::7]:8420")
    for every in ("0.0.0.0", "::"):
        hosts = Hosts(every, [])
        assert not hosts.admits("0.0.0.0:8420", address=every)
        assert not hosts.admits("evil.example.com", address="192.168.1.7")
        assert hosts.admits("192.168.1.7:8420", address="192.168.1.7")
        assert hosts.admits("[fd00::7]:8420", address="fd00::7")


@pytest.mark.parametrize(
    ("origin", "admitted"),
    [
        ("http://localhost:3000", True),
        ("https://memory.example.com", True),
        ("http://[::1]:8420", True),
        ("null", False),
        ("", False),
        ("https://evil.example.com", False),
        ("https://localhost.evil.example.com", False),
        ("file://", False),
        ("chrome-extension://localhost", False),
        ("http://localhost/path", False),
        ("http://user@localhost", False),
        ("localhost", False),
    ],
)
def test_pages_of_those_names_may_call(origin: str, admitted: bool) -> None:
    assert HOSTS.admits_origin(origin) is admitted


@given(st.text(max_size=60) | st.text(alphabet="localhst127.:[]0%@/", max_size=30))
def test_any_text_is_a_host_or_none(text: str) -> None:
    parsed = parse_host(text)
    if parsed is not None:
        name, port = parsed
        again = parse_host(f"[{name}]" if ":" in name else name)
        assert again == (name, None)
        assert port is None or 0 <= port <= 65_535
    HOSTS.admits(text)
