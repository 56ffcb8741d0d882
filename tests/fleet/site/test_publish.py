"""`weft publish`: what is chosen and public becomes pages; nothing else does, and no markup of a memory is ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import weft
from weft.core.errors import Conflict, Invalid, NotFound
from weft.fleet import publish as publishing
from weft.fleet import reports
from weft.fleet.site import Page, page_html
from weft.memory.facade import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    project = tmp_path / "work"
    project.mkdir()
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none", "WEFT_OUTBOX": ""}
    with weft.open(f"sqlite://{tmp_path / 'store'}", directory=project, environment=environment) as opened:
        yield opened


def report(memory: Memory, title: str, body: str, **more: object) -> str:
    done = memory.run(reports.OPERATIONS[0], {"title": title, "body": body, "keywords": ["daily"], **more})
    return str(getattr(done, "id"))  # noqa: B009 - the answer's type is the operation's


def publish(memory: Memory, where: Path, **more: object) -> publishing.SitePublished:
    made = memory.run(publishing.OPERATIONS[0], {"name": "news", "directory": str(where), **more})
    assert isinstance(made, publishing.SitePublished)
    return made


def test_a_public_report_becomes_a_page(memory: Memory, tmp_path: Path) -> None:
    report(memory, "Morning report", "The **build** is green.\n\n| a | b |\n|---|---|\n| 1 | 2 |", scope="public")
    made = publish(memory, tmp_path / "sites", reports=["daily"], title="Daily news")
    site = tmp_path / "sites" / "news"
    (page,) = made.pages
    assert "<strong>build</strong>" in (site / page.file).read_text()
    assert "<td>1</td>" in (site / page.file).read_text()
    index = (site / "index.html").read_text()
    assert "Daily news" in index
    assert page.file in index
    assert memory.cite(page.citation).matches


def test_what_is_narrower_is_left_out_and_said(memory: Memory, tmp_path: Path) -> None:
    report(memory, "For everybody", "hello", scope="public")
    report(memory, "For us", "the plan", scope="admin")
    made = publish(memory, tmp_path, reports=["daily"])
    assert [page.title for page in made.pages] == ["For everybody"]
    assert "1 reports" in made.notes[0]
    everything = "".join(file.read_text() for file in (tmp_path / "news").iterdir())
    assert "the plan" not in everything
    assert "For us" not in everything
    wider = publish(memory, tmp_path, reports=["daily"], scope="admin")
    assert {page.title for page in wider.pages} == {"For everybody", "For us"}


def test_a_document_is_published_as_it_was_read(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "work" / "guide.md").write_text(
        "# Guide\n\nBegin.\n\n## Then\n\nGo [on](other.md) or [out](https://a.b/).\n"
    )
    memory.ingest(tmp_path / "work" / "guide.md", scope="public")
    made = publish(memory, tmp_path / "sites", documents=["guide.md", "never.md"])
    (page,) = made.pages
    html = (tmp_path / "sites" / "news" / page.file).read_text()
    assert html.index("Begin.") < html.index("Then") < html.index("Go on or")
    assert 'href="https://a.b/"' in html
    assert "other.md" not in html
    assert "never.md" in made.notes[0]


def test_publishing_again_replaces_the_site(memory: Memory, tmp_path: Path) -> None:
    first = report(memory, "Old", "old words", scope="public")
    publish(memory, tmp_path, report_ids=[first])
    memory.delete(first)
    report(memory, "New", "new words", scope="public")
    publish(memory, tmp_path, reports=["daily"])
    pages = [file.read_text() for file in (tmp_path / "news").glob("*.html")]
    assert not any("old words" in page for page in pages)
    assert any("new words" in page for page in pages)
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".news")] == []


def test_other_peoples_files_are_never_replaced(memory: Memory, tmp_path: Path) -> None:
    report(memory, "Morning", "words", scope="public")
    (tmp_path / "news").mkdir()
    (tmp_path / "news" / "thesis.txt").write_text("years of work")
    with pytest.raises(Conflict, match="did not write"):
        publish(memory, tmp_path, reports=["daily"])
    assert (tmp_path / "news" / "thesis.txt").read_text() == "years of work"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Conflict):
        publish(memory, tmp_path, reports=["daily"], name="link")


@pytest.mark.parametrize("theirs", ["CNAME", ".git/config"])
def test_what_somebody_added_to_a_site_stops_its_replacement(memory: Memory, tmp_path: Path, theirs: str) -> None:
    report(memory, "Morning", "words", scope="public")
    publish(memory, tmp_path, reports=["daily"])
    (tmp_path / "news" / theirs).parent.mkdir(exist_ok=True)
    (tmp_path / "news" / theirs).write_text("mine")
    with pytest.raises(Conflict, match=theirs.partition("/")[0]):
        publish(memory, tmp_path, reports=["daily"])
    assert (tmp_path / "news" / theirs).read_text() == "mine"


def test_a_marker_alone_gives_nothing_away(memory: Memory, tmp_path: Path) -> None:
    report(memory, "Morning", "words", scope="public")
    (tmp_path / "news").mkdir()
    (tmp_path / "news" / "weft-site.json").write_text("{}")
    (tmp_path / "news" / "thesis.txt").write_text("years of work")
    with pytest.raises(Conflict):
        publish(memory, tmp_path, reports=["daily"])


def test_a_run_that_was_killed_between_two_renames_is_put_right(memory: Memory, tmp_path: Path) -> None:
    report(memory, "Morning", "words", scope="public")
    publish(memory, tmp_path, reports=["daily"])
    (tmp_path / "news").rename(tmp_path / ".news.old-0badc0de")
    publish(memory, tmp_path, reports=["daily"])
    assert (tmp_path / "news" / "index.html").is_file()
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".news")] == []


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", "", "A", "a b", "x" * 65])
def test_a_name_is_never_a_path(memory: Memory, tmp_path: Path, name: str) -> None:
    with pytest.raises(Invalid):
        publish(memory, tmp_path, reports=["daily"], name=name)


def test_nothing_chosen_or_nothing_there(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="nothing to publish was given"):
        publish(memory, tmp_path)
    with pytest.raises(NotFound):
        publish(memory, tmp_path, reports=["daily"])
    nowhere = memory.serving(replace(memory.ctx.settings, sites=""))
    with pytest.raises(Invalid, match="no directory for sites"):
        nowhere.run(publishing.OPERATIONS[0], {"name": "news", "reports": ["daily"]})


def test_without_a_directory_it_goes_where_the_server_looks(memory: Memory, tmp_path: Path) -> None:
    report(memory, "Morning", "words", scope="public")
    memory.run(publishing.OPERATIONS[0], {"name": "news", "reports": ["daily"]})
    assert (tmp_path / ".local" / "share" / "weft-sites" / "news" / "index.html").is_file()


HOSTILE = [
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "![x](https://evil.example/p.png)",
    "<img src=x onerror=a>",
]


@pytest.mark.parametrize("words", HOSTILE)
@pytest.mark.parametrize("plain", [True, False])
def test_markup_of_a_memory_stays_text(words: str, plain: bool) -> None:
    html = page_html(Page(name="n", title=words, text=words, about=(words,), plain=plain), words).lower()
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html
    assert "onerror=a>" not in html


@given(st.text(max_size=300))
def test_any_words_make_a_page_without_scripts(words: str) -> None:
    html = page_html(Page(name="n", title=words, text=words), "site").lower()
    assert "<script" not in html
    assert html.endswith("</html>\n")


def test_an_erasure_takes_the_pages_that_hold_it_and_the_index(memory: Memory, tmp_path: Path) -> None:
    memory.add_entity("Orlaith Quay", kind="Person")
    (tmp_path / "work" / "rota.md").write_text("# Rota\n\n## Monday\n\nOrlaith Quay has the desk.\n")
    memory.ingest(str(tmp_path / "work" / "rota.md"), scope="public")
    report(memory, "Tides", "High at noon.", scope="public")
    made = publish(memory, tmp_path / "sites", reports=["daily"], documents=["rota.md"])
    site = tmp_path / "sites" / "news"
    held = {page.title: site / page.file for page in made.pages}
    rota, tides = held["Rota"], held["Tides"]
    assert "Orlaith" in rota.read_text()
    told = memory.erase(subject="Orlaith Quay", yes=True, confirm="default")
    assert set(told.files) == {str(rota), str(site / "index.html")}
    assert (rota.exists(), (site / "index.html").exists(), tides.exists()) == (False, False, True)
    publish(memory, tmp_path / "sites", reports=["daily"])
    assert "Tides" in (site / "index.html").read_text()
