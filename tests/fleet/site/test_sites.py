"""/sites/: the files of a directory and nothing else, however a path is written."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from weft.surfaces.http.app import sites_app


@pytest.fixture
def sites(tmp_path: Path) -> Starlette:
    shown = tmp_path / "sites"
    (shown / "news" / "sub").mkdir(parents=True)
    (shown / "news" / "index.html").write_text("<h1>news</h1>")
    (shown / "news" / "sub" / "index.html").write_text("<h1>sub</h1>")
    (shown / "news" / ".hidden").write_text("secret words")
    (tmp_path / "outside.txt").write_text("secret words")
    (shown / "news" / "link.txt").symlink_to(tmp_path / "outside.txt")
    (shown / "up").symlink_to(tmp_path)
    (shown / "loop").symlink_to(shown / "loop")
    return Starlette(routes=[Mount("/sites", sites_app(shown))])


def get(app: Starlette, path: str, method: str = "GET", raw: bytes | None = None) -> tuple[int, dict[str, str], bytes]:
    """One request as a server passes it on: `raw` is the path as it was on the wire."""
    sent: list[dict[str, object]] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": raw or path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"localhost")],
        "server": ("localhost", 80),
        "client": ("127.0.0.1", 1),
    }

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: object) -> None:
        assert isinstance(message, dict)
        sent.append(message)

    anyio.run(app, scope, receive, send)
    start = sent[0]
    headers = {key.decode(): value.decode() for key, value in start["headers"]}  # type: ignore[attr-defined]
    body = b"".join(bytes(each.get("body", b"")) for each in sent[1:])  # type: ignore[call-overload]
    return int(str(start["status"])), headers, body


def test_pages_and_directories(sites: Starlette) -> None:
    status, headers, body = get(sites, "/sites/news/")
    assert (status, body) == (200, b"<h1>news</h1>")
    assert "script-src" not in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    status, headers, _ = get(sites, "/sites/news/sub")
    assert status in (301, 302, 307, 308)
    assert headers["location"].endswith("/sites/news/sub/")


@pytest.mark.parametrize(
    "path",
    [
        "/sites/../outside.txt",
        "/sites/news/../../outside.txt",
        "/sites/news/..\\..\\outside.txt",
        "/sites/%2e%2e/outside.txt",
        "/sites/news/%2e%2e%2f%2e%2e%2foutside.txt",
        "/sites/news/..%c0%af../outside.txt",
        "/sites//etc/passwd",
        "/sites/news/link.txt",
        "/sites/up/outside.txt",
        "/sites/loop",
        "/sites/loop/x",
        "/sites/news/.hidden",
        "/sites/news/\0",
        "/sites/news/" + "a" * 5000,
        "/sites/" + "a/" * 3000,
        "/sites/news/\udc80",
    ],
)
def test_nothing_outside_is_shown(sites: Starlette, path: str) -> None:
    status, _, body = get(sites, path, raw=path.encode(errors="surrogateescape"))
    assert status in (400, 404)
    assert b"secret" not in body
    assert b"root:" not in body


def test_only_reading(sites: Starlette) -> None:
    assert get(sites, "/sites/news/", "POST")[0] == 405
    assert get(sites, "/sites/news/", "HEAD")[::2] == (200, b"")
