"""What a person and an agent read after an ingest."""

from __future__ import annotations

import pytest

import weft
from tests.places import Place
from weft.surfaces.cli.printing import render
from weft.surfaces.render import render as in_words


def test_skipped_files_are_told_by_reason_with_the_first_names(
    place: Place, memory: weft.Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    (place.root / "good.md").write_text("# Good\n\nwords\n")
    (place.root / "lone.md").write_bytes(b"caf\xe9")
    for number in range(120):
        (place.root / f"{number:03}.md").write_bytes(b"ab\x00c" * (number + 1))
    (place.root / "old.md").write_text("# Old\n\nwords\n")
    (place.root / ".gitignore").write_text("junk/\n")
    (place.root / "junk").mkdir()
    memory.ingest(place.root / "old.md")
    (place.root / "old.md").unlink()
    done = memory.ingest(place.root)
    render(done)
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "Read 1 document in 1 section and 1 chunk; 0 unchanged, 121 skipped, 1 ignored."
    groups = [line for line in lines if "000.md, 001.md, 002.md and 117 more" in line]
    assert len(groups) == 1
    assert groups[0].strip().startswith("skipped 120 ")
    assert any(line.strip().startswith("skipped lone.md: ") for line in lines)
    assert any("`weft ingest . --gone`" in line for line in lines)
    assert len(lines) < 8
    told = in_words(done, "model")
    assert "121 skipped" in told.summary
    memory.ingest(place.root, gone=True)
    render(memory.ingest(place.root, gone=True))
    assert "gone" not in capsys.readouterr().out
