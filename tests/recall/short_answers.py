"""Answers in few words."""

from __future__ import annotations

import weft
from weft.log.draft import Draft
from weft.log.kinds import graph, transaction
from weft.recall.recall import Recalled

SHA = "abcdef0123456789abcdef0123456789abcdef01"


def texts(answer: Recalled) -> list[str]:
    return [hit.node.text for hit in answer.hits]


def note_commit(memory: weft.Memory, node_id: str, sha: str, text: str = "code") -> None:
    """What an indexer will do: a commit of nodes that says which git commit it belongs to."""
    assertion = graph.NodeAssertion(id=node_id, kind="File", name=node_id, text=text)
    memory.ctx.append(
        [
            Draft(kind="tx.noted", payload=transaction.Noted(tx_kind="incremental", git_commit=sha, files=("a.py",))),
            Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(assertion,))),
        ]
    )
