"""Questions whose receipts are read, and a world to ask them of."""

from __future__ import annotations

import msgspec
import pytest

import weft
from tests.context.test_synthesis import Writer, writer  # noqa: F401 - a fixture
from weft.ingest.ingest_records import ingest_records
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.recall.recall import Recalled
from weft.upkeep.store import OPERATIONS as UPKEEP

QUESTION = "what is the status of the tide gauge?"


def recall(memory: weft.Memory, query: str = QUESTION, **more: object) -> tuple[Recalled, str]:
    """An answer, and its receipt."""
    answer = memory.recall(query, receipt=True, **more)
    assert answer.receipt.startswith("receipt:")
    return answer, answer.receipt


def delete(memory: weft.Memory, *ids: str) -> None:
    memory.ctx.append([Draft(kind="graph.deleted", payload=graph.Deleted(nodes=ids))])


def rebuild(memory: weft.Memory) -> None:
    memory.run(next(each for each in UPKEEP if each.name == "rebuild"), {})


@pytest.fixture
def gauge(memory: weft.Memory) -> weft.Memory:
    memory.add_fact("tide gauge", "status", "broken", valid_from="2025-11-01")
    memory.remember("The tide gauge at the north quay was bought in 2019.", props={"price": 4, "shop": "Tarn & Co"})
    memory.remember("Status of the ferry: fine.", name="Ferry")
    row = {"id": "s1", "text": "user: the status of the tide gauge is bad\n\nassistant: I told the office."}
    ingest_records(memory.ctx, [row], project="ferry")
    return memory


def written(answer: object) -> str:
    return msgspec.json.encode(answer).decode()
