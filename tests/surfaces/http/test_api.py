"""`/api` as programs meet it: over a real socket."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.surfaces.http.conftest import WEFT, House, Server

QUESTION = b'{"query": "why redis?"}'


def test_what_is_remembered_is_recalled_with_the_answer_that_json_prints(
    house: House, server: Server, token: str
) -> None:
    saved = server.call(token, "remember", text="We chose Redis for sessions because Postgres locks were slow.")
    assert saved.status == 200
    assert saved.json["status"] == "saved"
    cited = server.call(token, "cite", citation=saved.json["citation"])
    printed = subprocess.run(
        [WEFT, "cite", saved.json["citation"], "--json"],
        cwd=house.root,
        env=house.environment(),
        capture_output=True,
        check=True,
    )
    assert cited.headers["content-type"] == "application/json"
    assert cited.json == json.loads(printed.stdout)
    found = server.post(token, "/api/recall", QUESTION)
    assert saved.json["id"] in [hit["node"]["id"] for hit in found.json["hits"]]
    assert found.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"{", "not JSON"),
        (b"query=redis", "not JSON"),
        (b'{"query": NaN}', "NaN"),
        (b'{"query": 1e999}', "is too large"),
        (b'{"query": %s}' % (b"9" * 5_000), "not JSON"),
        (b'{"query": "a", "query": "b"}', "query is given twice"),
        (b'{"query": "a", "when": {"x": 1, "x": 2}}', "x is given twice"),
        (b'{"query": "\\ud800"}', "lone surrogate"),
        (b'{"\\udfff": 1}', "lone surrogate"),
        (b'{"query": "\xff"}', "not UTF-8"),
        ('{"query": "redis"}'.encode("utf-16"), "not UTF-8"),
        (b'["query"]', "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"7", "not a JSON object"),
        (b'{"query": ' + b"[" * 100 + b"]" * 100 + b"}", "nested too deeply"),
        (b'{"query": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"query": "a", "colour": "red"}', "has no argument colour"),
        (b'{"question": "why"}', "has no argument question"),
        (b"{}", "query is missing"),
        (b'{"query": 7}', "query"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value,
)
def test_a_body_that_is_no_call_is_refused_in_words(server: Server, token: str, body: bytes, said: str) -> None:
    answer = server.post(token, "/api/recall", body)
    assert answer.status == 400
    assert set(answer.json) == {"ok", "error_code", "error", "hint"}
    assert answer.json["ok"] is False
    assert answer.json["error_code"] == "invalid"
    assert said in answer.json["error"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/json; charset=x"])
def test_another_type_of_body_is_refused(server: Server, token: str, kind: str) -> None:
    answer = server.post(token, "/api/recall", QUESTION, kind)
    assert (answer.status, answer.json["error_code"]) == (415, "wrong_type")


def test_json_may_say_that_it_is_utf_8(server: Server, token: str) -> None:
    assert server.post(token, "/api/recall", QUESTION, "Application/JSON; charset=UTF-8").status == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("operation", ["recall", "nothing_of_that_name"])
def test_another_method_is_refused_with_the_one_that_is_meant(
    server: Server, token: str, method: str, operation: str
) -> None:
    answer = server.send(method, f"/api/{operation}", authorization=f"Bearer {token}")
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert answer.json["error_code"] == "wrong_method"


def test_what_a_caller_may_not_call_is_as_if_it_were_not_there(house: House, server: Server) -> None:
    public = house.token("visitor", allow=("public",))
    missing = server.call(public, "nothing_of_that_name")
    for kept in ("remember", "erase", "token_create", "ingest", "key_new"):
        refused = server.call(public, kept)
        assert refused.status == missing.status == 404
        assert refused.body == missing.body
    assert server.post(public, "/api/recall", QUESTION).status == 200


def test_the_list_of_operations_is_the_callers_own(house: House, server: Server, token: str) -> None:
    def listed(bearer: str) -> set[str]:
        return {each["name"] for each in server.get("/api", bearer).json["operations"]}

    few = listed(house.token("visitor", allow=("recall", "cite")))
    assert few == {"recall", "cite"}
    assert few < listed(token)
    assert {"ingest", "key_new", "token_create"}.isdisjoint(listed(token)), "these are for this machine alone"


@pytest.mark.parametrize("name", ["account", "agent_id", "sessionId", "role", "scopes"])
def test_who_is_asking_is_no_argument(server: Server, token: str, name: str) -> None:
    answer = server.call(token, "recall", query="redis", **{name: "somebody-else"})
    assert (answer.status, answer.json["error_code"]) == (403, "forbidden")
    assert answer.json["hint"] == f"omit {name}; your token identifies you"


def test_what_is_not_there_and_what_the_operator_alone_may_do(server: Server, token: str) -> None:
    assert server.call(token, "show", id="01a1e416-0094-78e4-9b59-24775b3db1a5").status == 404
    assert server.call(token, "doctor").status in (403, 404)


def test_without_a_token_nothing_is_told(server: Server) -> None:
    for path in ("/api", "/api/recall", "/api/nothing", "/mcp", "/metrics"):
        answer = server.send("POST", path, b"{}", content_type="application/json")
        assert answer.status == 401, path
        assert answer.json["error_code"] == "unauthorized"
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert server.call("weft_0123456789ab_" + "0" * 64, "recall", query="redis").status == 401


def test_a_token_that_is_revoked_is_refused_with_the_next_request(house: House, server: Server) -> None:
    bearer = house.token("leaver")
    connection = server.connect()
    headers = {"authorization": f"Bearer {bearer}", "content-type": "application/json"}
    statuses = []
    for revoking in (False, True):
        if revoking:
            house.book.revoke(bearer.split("_")[1], 1_800_000_000_000_000)
        connection.request("POST", "/api/recall", QUESTION, headers)
        response = connection.getresponse()
        response.read()
        statuses.append(response.status)
    connection.close()
    assert statuses == [200, 401]


def test_two_accounts_on_one_server_never_see_each_other(house: House, server: Server) -> None:
    left, right = house.token("ann", account="left"), house.token("ben", account="right")
    secret = server.call(left, "remember", text="The vault opens with heliotrope.").json
    server.call(right, "remember", text="The garden is watered at noon.")
    found = server.call(right, "recall", query="what opens the vault, heliotrope?")
    assert b"heliotrope." not in found.body
    assert secret["id"] not in found.body.decode()
    for operation, arguments in (
        ("cite", {"citation": secret["citation"]}),
        ("show", {"id": secret["id"]}),
        ("forget", {"id": secret["id"]}),
    ):
        answer = server.call(right, operation, **arguments)
        assert answer.status in (403, 404), operation
        assert b"heliotrope" not in answer.body
    recent = server.call(right, "recent")
    assert b"noon" in recent.body
    assert b"heliotrope" not in recent.body
    assert server.call(left, "cite", citation=secret["citation"]).status == 200


def test_a_request_that_is_too_large_is_refused_and_the_server_goes_on(server: Server, token: str) -> None:
    answer = server.post(token, "/api/remember", b'{"text": "' + b"a" * 10_000_000 + b'"}')
    assert (answer.status, answer.json["error_code"]) == (413, "too_large")
    assert server.post(token, "/api/recall", QUESTION).status == 200


def test_a_name_that_is_not_the_servers_is_refused(server: Server, token: str) -> None:
    for path in ("/", "/health", "/api", "/mcp", "/openapi.json", "/.well-known/agent.json"):
        answer = server.get(path, token, host="evil.example.org")
        assert (answer.status, answer.json["error_code"]) == (421, "wrong_host")
    assert server.get("/api", token, origin="https://evil.example.org").status == 403


PREFIXES = ("/", "/api/", "/mcp/", "/sites/", "/.well-known/", "/health/", "/openapi.json/")
CLIMBS = (
    "../../../../etc/passwd",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "%252e%252e%252fetc%252fpasswd",
    "..\\..\\etc\\passwd",
    "..%5c..%5cetc%5cpasswd",
    "%c0%ae%c0%ae/%c0%ae%c0%ae/etc/passwd",
    "....//....//etc/passwd",
    "%00/etc/passwd",
    "//etc/passwd",
    "./../../weft-store.json",
)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_no_path_leads_out(house: House, prefix: str) -> None:
    """Against a server that shows a directory, beside which lies what nobody may see."""
    server, bearer = _with_sites(house)
    for climb in CLIMBS:
        for token in (bearer, ""):
            with server.socket() as raw:
                shown = f"Authorization: Bearer {token}\r\n" if token else ""
                raw.sendall(
                    f"GET {prefix}{climb} HTTP/1.1\r\nHost: localhost\r\n{shown}Connection: close\r\n\r\n".encode()
                )
                answer = b"".join(iter(lambda raw=raw: raw.recv(65_536), b""))
            status = int(answer.split()[1])
            assert status in (400, 401, 404, 405, 429), (prefix, climb, answer[:200])
            assert b"root:" not in answer
            assert b"beside" not in answer
            assert b'"layout"' not in answer


_SITES: dict[House, tuple[Server, str]] = {}


def _with_sites(house: House) -> tuple[Server, str]:
    if house not in _SITES:
        (house.scratch / "public").mkdir()
        (house.scratch / "public" / "index.html").write_text("<p>shown</p>")
        (house.scratch / "secret.txt").write_text("beside")
        _SITES[house] = house.serve(sites=str(house.scratch / "public")), house.token("reader")
        assert b"shown" in _SITES[house][0].get("/sites/").body
    return _SITES[house]
