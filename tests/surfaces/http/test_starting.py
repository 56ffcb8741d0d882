"""`weft serve` as its operator meets it: what it says when it starts, and what it tells of itself."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from pathlib import Path

import jsonschema_rs
import pytest

from tests.surfaces.http.conftest import WEFT, House, Server
from weft.runtime.settings.load import load_settings
from weft.surfaces.http.start_record import StartRecord
from weft.surfaces.toolsets import offer
from weft.version import __version__


def refused(house: House, *arguments: str, **settings: str) -> tuple[int, str]:
    done = subprocess.run(
        [WEFT, "serve", *arguments],
        cwd=house.root,
        env=house.environment(**settings),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stderr


def test_every_part_says_in_a_line_how_it_is(house: House, server: Server) -> None:
    said = "\n".join(server.said)
    for part in ("store: ok", "embedder: none", "tools: ", "starts: ", "listening: http://127.0.0.1:"):
        assert part in said, said


def test_without_tokens_it_says_how_to_make_one(tmp_path: Path) -> None:
    house = House(tmp_path)
    try:
        server = house.serve()
        assert "tokens: none; create one with `weft token create`, calls are refused until then" in server.said
        bearer = house.token()
        assert server.call(bearer, "recall", query="anything").status == 200, "no restart is needed"
        assert server.stop() == 0
    finally:
        house.close()


def test_starts_are_counted_and_one_that_was_cut_short_is_told(tmp_path: Path) -> None:
    house = House(tmp_path)
    try:
        boss = house.token("boss", role="operator")
        first = house.serve()
        assert "starts: 1 on this store" in first.said
        assert first.stop() == 0
        second = house.serve()
        assert "starts: 2 on this store" in second.said
        second.process.kill()
        second.process.wait(10)
        third = house.serve()
        assert "starts: 3 on this store (the previous one did not shut down cleanly)" in third.said
        assert "\nweft_restarts_total 2\n" in third.get("/metrics", boss).body.decode()
        assert third.call(boss, "remember", text="The store is made after it was served.").json["status"] == "saved"
    finally:
        house.close()


def test_another_server_on_the_store_was_not_cut_short(tmp_path: Path) -> None:
    house = House(tmp_path)
    try:
        first, second = house.serve(), house.serve()
        assert "starts: 2 on this store" in second.said
        assert second.stop() == 0
        first.process.kill()
        first.process.wait(10)
        assert "starts: 3 on this store (the previous one did not shut down cleanly)" in house.serve().said
        shown = offer(("core",), network=True)
        assert f"tools: {len(shown.callable)} callable, {len(shown.listed) + 1} listed over MCP" in second.said
    finally:
        house.close()


def test_what_cannot_be_served_stops_with_the_fix(house: House, server: Server, tmp_path: Path) -> None:
    code, said = refused(house, "--port", str(server.port))
    assert code == 1
    assert f"port {server.port} on 127.0.0.1 is taken" in said
    assert "--port" in said
    code, said = refused(house, "--host", "192.0.2.1", "--port", "0")
    assert (code, "is not an address of this machine" in said) == (1, True)
    (tmp_path / "notes.txt").write_text("mine")
    code, said = refused(house, "--port", "0", store=f"sqlite://{tmp_path}", tokens=str(tmp_path / "none.json"))
    assert code == 1
    assert "holds other things" in said
    code, said = refused(house, "--port", "0", "--toolsets", "colours")
    assert code == 1
    assert "there is no toolset 'colours'" in said
    (tmp_path / "tokens.json").write_text("{")
    code, said = refused(house, "--port", "0", tokens=str(tmp_path / "tokens.json"))
    assert code == 1
    assert "nobody is admitted" in said


def test_beyond_this_machine_it_warns(house: House) -> None:
    server = house.serve("--host", "0.0.0.0")
    assert any(line.startswith("warning: this address is reachable from the network") for line in server.said)
    assert server.stop() == 0


def test_it_is_alive_and_ready_and_says_nothing_more(server: Server) -> None:
    alive, ready = server.get("/health"), server.get("/ready")
    assert (alive.status, alive.body) == (200, b"weft: ok\n")
    assert (ready.status, ready.body) == (200, b"store: ok\ntokens: ok\nthreads: ok\nserver: ok\n")


def test_with_tokens_that_cannot_be_trusted_it_is_not_ready(tmp_path: Path) -> None:
    house = House(tmp_path)
    try:
        bearer = house.token()
        server = house.serve()
        assert server.call(bearer, "recall", query="x").status == 200
        house.book.path.write_text("{")
        assert server.call(bearer, "recall", query="x").status == 503
        ready = server.get("/ready")
        assert ready.status == 503
        assert b"tokens: corrupt" in ready.body
        assert str(tmp_path).encode() not in ready.body
        assert server.get("/health").status == 200
    finally:
        house.close()


def test_metrics_count_what_was_served_and_nothing_of_what_was_said(house: House, server: Server) -> None:
    boss = house.token("boss", role="operator")
    server.call(boss, "recall", query="a question about heliotrope")
    server.call(boss, "heliotrope_operation")
    server.get("/heliotrope-path", boss)
    answer = server.get("/metrics", boss)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    text = answer.body.decode()
    assert 'weft_http_requests_total{route="/api/{operation}",operation="recall",status="2xx"}' in text
    assert 'weft_http_requests_total{route="/api/{operation}",operation="other",status="4xx"}' in text
    assert 'weft_http_refusals_total{code="not_found"}' in text
    assert f'weft_build_info{{version="{__version__}"' in text
    assert "heliotrope" not in text
    for line in text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"\\]*",?)+\})? [0-9.e+-]+', line), line
    buckets = [float(each) for each in re.findall(r'seconds_bucket\{route="/api/\{operation\}".*?\} ([0-9.]+)', text)]
    assert buckets == sorted(buckets)
    assert buckets[-1] >= 2


def test_metrics_are_the_operators(house: House, server: Server) -> None:
    assert server.get("/metrics", house.token("agent")).status == 403


@pytest.mark.parametrize("path", ["/.well-known/agent-card.json", "/.well-known/agent.json"])
def test_the_card_says_how_it_can_be_reached_and_claims_no_more(server: Server, path: str) -> None:
    card = server.get(path).json
    assert {"name", "description", "version", "capabilities", "skills", "supportedInterfaces"} <= set(card)
    assert {"defaultInputModes", "defaultOutputModes", "securitySchemes", "url", "protocolVersion"} <= set(card)
    bindings = {each["protocolBinding"] for each in card["supportedInterfaces"]} | {card["preferredTransport"]}
    assert bindings.isdisjoint({"JSONRPC", "GRPC", "HTTP+JSON"}), "it speaks none of these"
    assert [each["url"] for each in card["supportedInterfaces"]] == [f"{server.url}/mcp", f"{server.url}/api"]
    assert not any(card["capabilities"].values())
    assert {"remember", "recall", "cite"} <= {skill["id"] for skill in card["skills"]}
    for skill in card["skills"]:
        assert skill["name"]
        assert skill["description"]
        assert skill["tags"]


def test_behind_a_proxy_the_card_has_the_address_that_callers_use(house: House) -> None:
    server = house.serve(hosts="memory.example.org")
    card = server.get("/.well-known/agent-card.json", host="memory.example.org", x_forwarded_proto="https").json
    assert card["url"] == "https://memory.example.org/mcp"


def test_the_front_page_says_where_things_are(server: Server) -> None:
    page = server.get("/")
    assert page.status == 200
    for place in ("/mcp", "/api", "/openapi.json", "/health"):
        assert place in page.body.decode()
    assert "server" not in page.headers


def test_sites_are_shown_where_they_are_set(house: House, server: Server) -> None:
    shown = house.scratch / "shown"
    (shown / "guide").mkdir(parents=True)
    (shown / "guide" / "index.html").write_text("<p>a guide</p>")
    assert server.get("/sites/guide/").status == 404, "this one shows none"
    showing = house.serve(sites=str(shown))
    assert b"a guide" in showing.get("/sites/guide/").body
    assert showing.get("/sites").headers["location"] == "/sites/"


def test_a_store_in_memory_can_be_served(house: House, tmp_path: Path) -> None:
    bearer = house.token()
    kept = house.book.path
    server = house.serve(store="memory://", tokens=str(kept))
    assert server.call(bearer, "remember", text="For an hour only.").json["status"] == "saved"
    assert b"For an hour only." in server.call(bearer, "recall", query="what for an hour?").body
    assert server.stop() == 0


def test_the_port_is_free_again_at_once(house: House) -> None:
    first = house.serve()
    assert server_answers(first.port)
    assert first.stop() == 0
    again = house.popen("--port", str(first.port))
    assert again.stdout is not None
    said = []
    for line in again.stdout:
        said.append(line)
        if line.startswith("listening:"):
            break
    assert server_answers(first.port), said
    again.terminate()
    assert again.wait(20) == 0
    again.stdout.close()


def server_answers(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        raw.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return raw.recv(100).startswith(b"HTTP/1.1 200")


def test_the_openapi_document_is_known_by_its_tag(server: Server) -> None:
    first = server.get("/openapi.json")
    assert first.body == server.get("/api/openapi.json").body
    again = server.get("/openapi.json", if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")


def test_the_openapi_document_is_whole(server: Server) -> None:
    body = server.get("/openapi.json").body.decode()
    document = json.loads(body)
    assert document["openapi"].startswith("3.1")
    assert "/api/recall" in document["paths"]
    assert "/api/ingest" not in document["paths"], "it reads files of the server's machine"
    for reference in set(re.findall(r'"\$ref":"#/([^"]+)"', body)):
        part = document
        for step in reference.split("/"):
            part = part[step]
    for name, schema in document["components"]["schemas"].items():
        assert jsonschema_rs.meta.is_valid(schema), name
    names = [each["operationId"] for path in document["paths"].values() for each in path.values()]
    assert len(names) == len(set(names))


def test_a_start_that_cannot_be_counted_is_a_start(tmp_path: Path) -> None:
    """As on a file system that may only be read: nothing can be written, nor removed."""
    (tmp_path / "file").write_text("no directory")
    record = StartRecord(load_settings(tmp_path, {"WEFT_STORE": f"sqlite://{tmp_path / 'file' / 'store'}"}))
    assert record.begin(1_800_000_000_000_000).count == 1
    record.end()
