"""PDF, DOCX and HTML: what is taken out of them, and what is left out."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from pypdf import PdfReader, PdfWriter
from tests.documents.files import docx, paragraph, pdf, table
from tests.documents.outlines import FORM, check_passages, outlined, passages, sections, titles

from weft.documents.forms import HTML, PDF
from weft.documents.outline import Outline
from weft.documents.reading import read_outline, read_text
from weft.errors import Invalid, TooLarge


def text_of(raw: bytes, form: str) -> str:
    return read_text(raw, FORM[form])


def page_outline(raw: bytes) -> Outline:
    return read_outline(read_text(raw, PDF), PDF)


# PDF


def test_pdf_passages_know_their_page() -> None:
    raw = pdf([["Apples are red.", "They grow on trees."], ["Pears are green.", "2"], ["Plums are blue."]])
    found = [(p.page, p.text) for part in page_outline(raw).parts for p in part.passages]
    assert found == [(1, "Apples are red.\nThey grow on trees."), (2, "Pears are green."), (3, "Plums are blue.")]
    check_passages(text_of(raw, "pdf"), "pdf")


def with_bookmarks() -> bytes:
    pages = [["Intro", "Words of it."], ["1 Setup", "# not a heading", "More words."], ["Details", "The end."]]
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(pages))))
    writer.add_outline_item("Intro", 0)
    setup = writer.add_outline_item("Setup", 1)
    writer.add_outline_item("Details", 2, parent=setup)
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def test_pdf_bookmarks_are_headings() -> None:
    outline = page_outline(with_bookmarks())
    assert [(part.title, part.level) for part in outline.parts] == [("Intro", 1), ("1 Setup", 1), ("Details", 2)]
    assert outline.parts[1].passages[0].text == "\\# not a heading\nMore words."


def test_pdf_without_text_says_what_to_do() -> None:
    with pytest.raises(Invalid, match="holds no text: scanned pages"):
        text_of(pdf([[], []]), "pdf")


def test_an_encrypted_pdf_is_refused_unless_its_password_is_empty() -> None:
    for password, readable in (("secret", False), ("", True)):
        writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf([["Quiet words."]]))))
        writer.encrypt(user_password=password, owner_password="owner", algorithm="RC4-128")
        made = io.BytesIO()
        writer.write(made)
        if readable:
            assert "Quiet words." in text_of(made.getvalue(), "pdf")
        else:
            with pytest.raises(Invalid, match="is encrypted"):
                text_of(made.getvalue(), "pdf")


@pytest.mark.parametrize("raw", [b"", b"%PDF-1.7\n", b"not a pdf at all", pdf([["x"]])[:200], pdf([["x"]])[300:]])
def test_a_broken_pdf_is_refused(raw: bytes) -> None:
    with pytest.raises(Invalid):
        text_of(raw, "pdf")


def test_a_page_that_cannot_be_read_is_noted_and_the_rest_is_read() -> None:
    raw = pdf([["x"], ["Good words."]], content=b"BT /F1 9 Tf " + b"(abc) Tj " * 200_000)
    outline = page_outline(raw)
    assert outline.notes == ("page 1 could not be read",)
    assert [p.text for part in outline.parts for p in part.passages] == ["Good words."]


def test_a_page_that_unpacks_without_end_is_left_out() -> None:
    outline = page_outline(pdf([["x"], ["Good words."]], content=b" " * 60_000_000))
    assert outline.notes == ("page 1 could not be read",)


def test_pages_that_draw_too_much_together_are_refused() -> None:
    raw = pdf([["x"]] * 8, content=b"q " * 4_900_000, shared=True)
    assert len(raw) < 512 * 1024
    with pytest.raises(TooLarge, match="stopped at page 5"):
        text_of(raw, "pdf")


def test_too_many_pages_are_refused() -> None:
    with pytest.raises(TooLarge, match="1,001 pages"):
        text_of(pdf([["x"]] * 1_001), "pdf")


# DOCX


def test_docx_headings_by_style_lists_and_tables() -> None:
    body = (
        paragraph("The plan", "Titel") + paragraph("Why", "berschrift1") + paragraph("First reason. Second reason.")
        + paragraph("one", listed=True) + paragraph("two", listed=True) + paragraph("How", "berschrift2")
        + table([["name", "value"], ["a|b", "1"]]) + paragraph("# no heading") + paragraph("1. no item")
    )  # fmt: skip
    text = text_of(docx(body), "docx")
    assert [(title, level) for title, level, *_ in sections(text, "docx")] == [("The plan", 1), ("Why", 2), ("How", 3)]
    assert "First reason.\nSecond reason.\n\n- one\n- two\n" in text
    assert "| name | value |\n| --- | --- |\n| a\\|b | 1 |\n" in text
    assert outlined(text, "docx").title == "The plan"
    check_passages(text, "docx")


def test_docx_leaves_out_what_was_deleted() -> None:
    body = f"<w:p><w:r><w:t>kept</w:t></w:r><w:del>{paragraph('gone')}</w:del></w:p>"
    assert text_of(docx(body), "docx") == "kept\n"


def test_a_docx_that_unpacks_without_end_is_refused() -> None:
    raw = docx(paragraph("x" * 50_000_000))
    assert len(raw) < 512 * 1024
    with pytest.raises(TooLarge, match="unpacks to more than"):
        text_of(raw, "docx")


def test_a_docx_that_declares_entities_is_refused() -> None:
    head = '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>'
    with pytest.raises(Invalid, match="document type"):
        text_of(docx(paragraph("&b;"), head=head), "docx")


@pytest.mark.parametrize(
    "raw", [b"", b"PK\x03\x04", b"no zip", docx(paragraph("x"))[:-40], docx("<w:p>"), docx("<w:p>" * 600)]
)
def test_a_broken_docx_is_refused(raw: bytes) -> None:
    with pytest.raises(Invalid):
        text_of(raw, "docx")


# HTML


def test_html_as_a_reader_sees_it() -> None:
    page = """<html><head><title>Weft &amp; warp</title><meta name="description" content="About looms.">
    <style>p {color: red}</style></head><body><nav>menu</nav><h1>Looms<a href="#l">¶</a></h1>
    <p>They <b>weave</b> <code>cloth()</code>.   And more. <script>alert(1)</script><span hidden>secret</span>
    <div style="display: none">secret</div><template>secret</template><noscript>secret</noscript>
    <h2>Parts</h2><ul><li>warp<li>weft <ol><li>first</ol></ul><pre>a = 1
    # b</pre><table><tr><th>n<th>v<tr><td>x<td>1|2</table><blockquote>Quoted words.</blockquote>- dash</body>"""
    text = text_of(page.encode(), "html")
    assert "secret" not in text
    assert "menu" not in text
    assert "alert" not in text
    assert "They weave `cloth()`.\nAnd more." in text
    assert "- warp\n- weft\n  1. first\n" in text
    assert "```\na = 1\n    # b\n```" in text
    assert "| n | v |\n| --- | --- |\n| x | 1\\|2 |" in text
    assert "> Quoted words.\n\n\\- dash" in text
    outline = outlined(text, "html")
    assert outline.title == "Weft & warp"
    assert outline.summary.startswith("About looms.")
    assert titles(text, "html") == ["Looms", "Parts"]
    assert passages(text, "html")[0].mentions == ("cloth",)
    check_passages(text, "html")


def test_html_in_the_encoding_it_names() -> None:
    page = "<meta charset=iso-8859-1><p>Grüße aus Köln"
    assert "Grüße aus Köln" in text_of(page.encode("latin-1"), "html")
    with pytest.raises(Invalid, match="not UTF-8"):
        text_of("<p>Grüße".encode("latin-1"), "html")


def test_html_without_text_is_refused() -> None:
    with pytest.raises(Invalid, match="holds no text"):
        text_of(b"<html><body><div id=app></div><script>render()</script>", "html")


@pytest.mark.parametrize(
    "page",
    ["<div>" * 100_000, "<form><div>" * 40_000, "<a " + " ".join(f"x{n}" for n in range(60_000)) + ">words",
     "<x>" * 60_000 + "</y>" * 60_000, "<b><i><p>x" * 40_000],
)  # fmt: skip
def test_html_that_would_take_minutes_is_refused_at_once(page: str) -> None:
    with pytest.raises(TooLarge):
        text_of(page.encode(), "html")


@pytest.mark.parametrize(
    "page", ["<p>word " * 20_000, "<li>x" * 30_000, "<" * 500_000 + "p>x", "<td>x" * 50_000, "&amp;" * 100_000,
             "<img src='data:" + "A" * 400_000 + "'>words", "<ul><li>x" * 900, "<table><td>x" * 900]
)  # fmt: skip
def test_html_that_is_odd_is_read(page: str) -> None:
    assert check_passages(text_of(page.encode(), "html"), "html")


def test_the_same_file_gives_the_same_text() -> None:
    raw = docx(paragraph("Some words. More words.") * 20)
    assert text_of(raw, "docx") == text_of(raw, "docx")


def test_without_the_extra_it_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['pypdf'] = sys.modules['selectolax'] = sys.modules['selectolax.lexbor'] = None\n"
        "from weft.documents.reading import read_text; from weft.documents.forms import PDF, HTML\n"
        "from weft.errors import Invalid\n"
        "for form in (PDF, HTML):\n"
        "    try: read_text(b'<p>x', form)\n"
        "    except Invalid as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.count('pip install "weft-memory[documents]"') == 2
    assert PDF.package in done.stdout
    assert HTML.package in done.stdout
