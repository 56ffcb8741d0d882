"""Words that are written as sensitive."""

from __future__ import annotations

from typing import Any

import weft


def write_of_all_sorts(memory: weft.Memory) -> str:
    """Writes the words in every way there is, as sensitive; returns the id of the first memory."""
    sealed: dict[str, Any] = {"sensitive": True, "keywords": ["palpitations"]}
    first = memory.remember("Halvorsen takes Metoprolol", name="on Ostergaard", speaker="Halvorsen", **sealed)
    memory.remember("Ostergaard again", props={"illness": "arrhythmia"}, request_id="r", **sealed)
    memory.add_entity("Halvorsen", kind="Person", aliases=["Ostergaard"], description="a cardiologist", **sealed)
    memory.add_fact("Halvorsen", "has bradycardia since", "the palpitations", cardinality="one", **sealed)
    memory.add_fact("Halvorsen", "has bradycardia since", "the arrhythmia", cardinality="one", **sealed)
    memory.add_event("Halvorsen saw the cardiologist", "2024-05-01", entities=["Halvorsen"], **sealed)
    memory.add_causal_link("the arrhythmia", "the Metoprolol", **sealed)
    memory.add_concept("bradycardia", description="of Halvorsen", **sealed)
    memory.memory_write("Illness", "arrhythmia of Ostergaard", name="Metoprolol", **sealed)
    memory.call("save_decision", title="Metoprolol for Halvorsen", rationale="the arrhythmia", **sealed)
    memory.call("save_preference", subject="Halvorsen", preference="dislikes Metoprolol", **sealed)
    memory.call("memory_feedback", id=first.id, outcome="confirmed", note="says the cardiologist Ostergaard")
    memory.call("memory_edit", id=first.id, text="Halvorsen takes half the Metoprolol")
    memory.forget(first.id, reason="Ostergaard asked for it")
    memory.forget(first.id, undo=True, reason="the cardiologist asked for it")
    return first.id
