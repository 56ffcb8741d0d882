"""Loads a small workspace into an embedded store, and asks it things. Run it with `make demo`.

Everything happens in a temporary directory: your own memories are not touched.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.error
import urllib.request
from pathlib import Path

import weft
from weft.operations import operation
from weft.recall.recall import Recalled

WORKSPACE = Path(__file__).parent / "workspace"
DOCS = Path(__file__).parent.parent / "docs"
CODE = Path(__file__).parent.parent / "src" / "weft"
DIM, BOLD, PLAIN = ("\033[2m", "\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "", "")


def say(text: str) -> None:
    print(f"\n{BOLD}{text}{PLAIN}")


def dim(text: str) -> None:
    print(f"{DIM}{text}{PLAIN}")


def asked(question: str) -> str:
    """Prints a question, and gives it back to be asked."""
    print(f"  {BOLD}? {question}{PLAIN}")
    return question


def show(answer: Recalled) -> None:
    for hit in answer.hits:
        node = hit.node
        until = f" to {node.valid_to[:10]}" if node.valid_to else ""
        print(f"  {hit.score:.2f}  [{node.kind}] {BOLD}{node.name or node.id}{PLAIN}")
        if node.text or node.name:
            print(textwrap.indent(textwrap.shorten(node.text or node.name, 220), "        "))
        for part in hit.parts[:1]:
            print(textwrap.indent(textwrap.shorten(f"{part.by}: {part.text}", 220), "        "))
        for mark in hit.marks:
            print(f"        {BOLD}! {mark}{PLAIN}")
        dim(f"        {node.citation}  holds from {node.valid_from[:10]}{until}")
        for source in hit.why:
            detail = f", {source.detail}" if source.detail else ""
            dim(f"        {source.part:.2f} from {source.name}: rank {source.rank}{detail}")
    for note in answer.notes:
        dim(f"  note: {note}")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="weft-demo-") as scratch:
        project = Path(scratch) / "ferry"
        shutil.copytree(WORKSPACE, project)
        environment = {"HOME": scratch, "WEFT_AGENT": "demo"}
        with weft.open(f"sqlite://{scratch}/store", directory=project, environment=environment) as memory:
            tell(memory, project)
            ask(memory)
            prove(memory)
            forget(memory)
        serve(scratch, project)
        read_own_docs(scratch)
        read_own_code(scratch)
    what_next()


def tell(memory: weft.Memory, project: Path) -> None:
    say("1. A workspace goes in: documents by section and passage, and what agents saw")
    read = memory.ingest(project)
    print(f"  {read.documents} documents in {read.sections} sections and {read.chunks} chunks")
    told = memory.ingest(project / "talks.jsonl")
    print(f"  {told.records} records: passages, a chat, two whole sessions")
    memory.remember(
        "Jonas measured Bluebird again: it starts to fail above 80 calls a second, not 50.",
        name="Bluebird limit, measured",
        occurred_at="2026-09-02",
    )
    memory.add_fact("Mira", "role", "tech lead of Ferry", valid_from="2025-01-10")
    changed = memory.add_fact("Mira", "role", "head of platform", valid_from="2026-06-01")
    print(f"  a newer fact {changed.status} an older one, which stays askable")
    tell_of_a_night(memory)


def tell_of_a_night(memory: weft.Memory) -> None:
    """What happened, and what led to what: the links are recorded one by one, as agents find them."""
    expired, booked = "The certificate of Lantern ran out unnoticed", "Nobody could book a crossing for two hours"
    retries, connections = "Every failed payment was repeated at once", "The retries used up all connections"
    memory.add_event("The certificate of Lantern ran out", "2026-03-03", entities=["Lantern"])
    memory.add_event("Tidebook stopped taking bookings", "2026-03-03T00:31:00Z", entities=["Tidebook"])
    memory.add_causal_link("Lantern's certificate was renewed by hand", expired, confidence=0.9, entities=["Lantern"])
    memory.add_causal_link(expired, retries, entities=["Lantern", "Tidebook"])
    memory.add_causal_link(retries, connections, confidence=0.8, entities=["Tidebook"])
    memory.add_causal_link(connections, booked, entities=["Tidebook"])
    read = memory.remember("Tidebook waits longer after each failed payment, because the retries took all connections.")
    print(f"  a free sentence names {len(read.linked)} thing and tells a cause, read without a model")


def ask(memory: weft.Memory) -> None:
    say("2. Why are rate limits kept in Redis?")
    show(memory.recall("Why are rate limits kept in Redis?", limit=2, explain=True))
    say("3. What happened with double charges?")
    show(memory.recall("What happened with double charges?", limit=2, explain=True))
    say("4. What is Mira's role? Today, and in 2025")
    print("  today:")
    show(memory.recall("What is Mira's role?", limit=1, kinds=["Fact"], explain=True))
    print("  on 1 August 2025:")
    show(memory.recall("What is Mira's role?", limit=1, kinds=["Fact"], explain=True, as_of="2025-08-01"))
    say("5. Three texts in a row: the question names the first, the third answers")
    chain = "Which quartet was founded by the husband of the director of The Lantern Ship?"
    show(memory.recall(asked(chain), limit=3, explain=True))
    say("6. Told twice: the newer first, the older marked")
    show(memory.recall(asked("What time is my team standup?"), limit=2))
    say("7. What is not there is not made up")
    show(memory.recall(asked("What is the boiling point of mercury?"), limit=2))
    say("8. Why could nobody book a crossing? Along the causes, as an agent reads it")
    print(textwrap.indent(memory.recall("Why could nobody book a crossing?", limit=8).context, "  "))


def prove(memory: weft.Memory) -> None:
    say("9. Every line can be checked")
    citation = memory.recall("bluebird measured again", limit=1).hits[0].node.citation
    cited = memory.cite(citation)
    print(f"  {citation} {'matches its hash' if cited.matches else 'DIFFERS'}")
    for check in memory.doctor().checks:
        dim(f"  {'ok  ' if check.ok else 'FAIL'} {check.name}: {check.detail}")


def forget(memory: weft.Memory) -> None:
    say("10. Secrets never get in, and a person can be forgotten")
    card = "".join(("4539", "1488", "0343", "6467"))  # a number that no bank gave out, in a form that is watched for
    told = memory.remember(f"Odile Fenn paid for her crossing with card {card}.")
    dim(f"  {told.notes[-1]}")
    show(memory.recall(asked("How did Odile Fenn pay?"), limit=1))
    gone = memory.erase(subject="Odile Fenn", yes=True)
    print(f"  {gone.status}: {gone.nodes} nodes in {gone.events} events, by {gone.by}")
    show(memory.recall(asked("How did Odile Fenn pay?"), limit=1))
    verified = memory.doctor().checks
    print(f"  the log: {next(check.detail for check in verified if check.name == 'log')}")


def serve(scratch: str, project: Path) -> None:
    say("11. The same memory for an agent elsewhere: a server, a token, MCP and HTTP")
    weft_command = str(Path(sys.executable).with_name("weft"))
    environment = {"HOME": scratch, "WEFT_STORE": f"sqlite://{scratch}/store", "PATH": os.environ["PATH"]}
    create = [weft_command, "token", "create", "--agent", "harbour-bot", "--project", "ferry", "--json"]
    made = subprocess.run(create, env=environment, cwd=project, check=True, capture_output=True, text=True)
    token = json.loads(made.stdout)["token"]
    command = [weft_command, "serve", "--port", "0"]
    server = subprocess.Popen(command, env=environment, cwd=project, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = next(found[0] for line in server.stdout if (found := re.findall(r"http://\S+\d", line)))
    try:
        asyncio.run(call_over_mcp(address, token))
        request = urllib.request.Request(f"{address}/api/recall", data=b'{"query": "which ferry is fastest?"}')
        request.add_header("Content-Type", "application/json")
        try:
            urllib.request.urlopen(request)
        except urllib.error.HTTPError as refused:
            print(f"  without the token: {refused.code}, {json.load(refused)['error']}")
    finally:
        server.terminate()
        print(f"  told to stop, it drains and leaves with {server.wait()}")


async def call_over_mcp(address: str, token: str) -> None:
    import httpx2
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client

    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"})
    async with Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client:
        tools = await client.list_tools()
        print(f"  tools: {', '.join(tool.name for tool in tools.tools)}")
        answer = await client.call_tool("recall", {"query": "Why could nobody book a crossing?", "limit": 5})
        print(textwrap.indent(str(getattr(answer.content[0], "text", "")), "  "))


def read_own_docs(scratch: str) -> None:
    say("12. This repository's own documents go in, and an agent checks out what it needs for a task")
    handbook = Path(scratch) / "weft"
    shutil.copytree(DOCS, handbook / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    environment = {"HOME": scratch, "WEFT_AGENT": "demo"}
    with weft.open(f"sqlite://{scratch}/store", directory=handbook, environment=environment) as memory:
        began = time.perf_counter()
        read = memory.ingest(handbook)
        took = time.perf_counter() - began
        print(f"  {read.documents} documents in {read.sections} sections and {read.chunks} chunks, {took:.1f} s")
        began = time.perf_counter()
        again = memory.ingest(handbook)
        percent = 100 * (time.perf_counter() - began) / took
        share = f"{percent:.1f} %" if percent >= 0.1 else "under 0.1 %"
        print(f"  read again: {again.unchanged} unchanged, in {share} of that time")
        task = "rotate the encryption key"
        print(f"  within 300 tokens, for the task: {task}\n")
        found = memory.memory_checkout(task, purpose="coding", max_tokens=300)
        print(textwrap.indent(found.prompt, "  "))
        cited = memory.cite(found.evidence[0].citation)
        print(f"\n  its first source again, as the file says it today ({'unchanged' if cited.matches else 'CHANGED'}):")
        print(textwrap.indent("\n".join(cited.lines[:4]), "    "))


def read_own_code(scratch: str) -> None:
    say("13. weft's own source code becomes a graph, and one call begins a piece of work on it")
    root = Path(scratch) / "source"
    shutil.copytree(CODE, root / "weft", ignore=shutil.ignore_patterns("models", "__pycache__"))
    environment = {"HOME": scratch, "WEFT_AGENT": "demo", "WEFT_EMBEDDER": "none"}
    with weft.open(f"sqlite://{scratch}/code", directory=root, environment=environment) as memory:
        began = time.perf_counter()
        done = memory.run(operation("graph_rebuild"), {})
        took = time.perf_counter() - began
        counts = done.job.counts
        print(f"  {counts['files']} files, {counts['symbols']:,} symbols, {counts['links']:,} relations, {took:.1f} s")
        task = "a citation whose hash does not match should say which line differs"
        print(f"  within 300 tokens, for the task: {task}\n")
        pack = memory.context_pack(task, budget=300)
        print(textwrap.indent(pack.text, "  "))
        slot = "weft/graph/timeline.py::take"
        hit = memory.run(operation("impact_analyze"), {"symbols": [slot], "depth": 2})
        print(f"\n  what a change to {slot} may break: {hit.summary}")


def what_next() -> None:
    say("What to do next")
    print(
        textwrap.dedent("""\
          . .venv/bin/activate
          weft remember "Deploys freeze on Fridays." && weft recall "when do deploys freeze?" --explain
          weft ingest docs                          # read documents, cited by file and line
          weft checkout "what I am about to do"     # what an agent should know before it begins
          weft index && weft context-pack "a task"  # this project's code as a graph, and where to begin
          weft mcp install claude-code              # or cursor, vscode, gemini, claude-desktop: shows the change first
          weft serve                                # MCP and HTTP for agents elsewhere, with tokens
          weft log verify && weft doctor            # prove that nothing was changed
          weft --help                               # the rest""")
    )


if __name__ == "__main__":
    main()
