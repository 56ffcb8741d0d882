"""The questions about weft's own documents ask for what stands there; and figures are worked out right."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.quality.documents import QUESTIONS, Wanted, as_ingested, as_sections, measure

import weft

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("wanted", QUESTIONS, ids=lambda wanted: wanted.question)
def test_the_answer_stands_under_its_heading(wanted: Wanted) -> None:
    heading, told = "", False
    for line in (DOCS / wanted.file).read_text(encoding="utf-8").splitlines():
        heading = line if line.startswith("#") else heading
        told = told or (wanted.heading in heading and wanted.says in line)
    assert told, "the document changed: word the question's gold anew"


@pytest.mark.parametrize(("read", "told"), [(as_sections, 1.0), (as_ingested, 1.0)])
def test_a_document_is_measured_both_ways(tmp_path: Path, read: object, told: float) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "tides.md").write_text("# Tides\n\n## Springs\n\nThe spring tide is high.\n\n## Neaps\n\nIt is low.\n")
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off", "WEFT_PROJECT": "docs"}
    memory = weft.open("memory://", directory=docs, environment=environment)
    assert callable(read)
    read(memory, docs)
    asked = [
        Wanted("how high is the spring tide?", "tides.md", "Springs", "spring tide is high"),
        Wanted("how high is the spring tide?", "tides.md", "Neaps", "It is low"),
    ]
    figures = measure(memory, asked[:1])
    assert (figures.found[1], figures.told[1], figures.missed) == (1.0, told, ())
    missed = measure(memory, asked[1:])
    assert (missed.found[1], len(missed.missed)) == (0.0, 1)
    memory.close()
