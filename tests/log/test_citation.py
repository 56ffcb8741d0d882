"""Citations are written, read back and refused."""

from __future__ import annotations

import pytest

from weft.core.errors import Invalid
from weft.log.citation import EventCitation, FileCitation, file_citation, parse_citation
from weft.testing.scribe import Scribe, node


def test_an_event_cites_itself_in_a_form_that_reads_back(scribe: Scribe) -> None:
    event = scribe.one(node("a", "words"), session="team.chat:2026@lab+x-1")
    assert parse_citation(event.citation) == EventCitation(
        session="team.chat:2026@lab+x-1", seq=1, prefix=event.hash.hex()[:8]
    )


def test_the_hash_may_be_left_out() -> None:
    assert parse_citation(" weft://main/events/12\n") == EventCitation(session="main", seq=12, prefix=None)


def test_lines_of_files() -> None:
    assert parse_citation("file://docs/a.md:7") == FileCitation(path="docs/a.md", line=7, end_line=None)
    assert parse_citation("file://docs/a.md:7-12") == FileCitation(path="docs/a.md", line=7, end_line=12)


@pytest.mark.parametrize(
    "path",
    ["a.md", "a b.md", "dir/ü 東京.md", "50%.md", "%41.md", "a:12.md", "x#y?z&.md", "a-3.md", "q'\"<>.md", "a\nb.md"],
)
def test_any_path_survives_being_cited(path: str) -> None:
    assert parse_citation(file_citation(path, 3)) == FileCitation(path=path, line=3, end_line=None)
    assert not any(sign.isspace() for sign in file_citation(path, 3)), "a path stands outside of quotes"


def test_a_path_that_was_cited_with_its_blanks_reads_back() -> None:
    assert parse_citation("file://docs/a b.md:7") == parse_citation("file://docs/a%20b.md:7")


@pytest.mark.parametrize(
    "written",
    [
        "",
        "weft://",
        "weft://main",
        "weft://main/events/",
        "weft://main/events/0",
        "weft://main/events/-1",
        "weft://main/events/1#",
        "weft://main/events/1#abc",
        "weft://main/events/1#ABCDEF01",
        "weft://main/events/1#abcdef012",
        "weft:///events/1",
        "weft://a/b/events/1",
        "weft://-x/events/1",
        "weft://main/events/99999999999999999999",
        "file://a.md",
        "file://a.md:0",
        "file://:3",
        "file://a.md:1-0",
        "https://example.org/events/1",
        "main/events/1",
        "x" * 4000,
    ],
)
def test_anything_else_is_refused_with_the_form_to_use(written: str) -> None:
    with pytest.raises(Invalid, match="not a citation") as caught:
        parse_citation(written)
    assert "weft://<session>/events/<seq>" in caught.value.hint
    assert len(caught.value.message) < 150
