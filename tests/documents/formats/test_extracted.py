"""PDF, DOCX and HTML: what is taken out of them, and what is left out."""

from __future__ import annotations

import io
import subprocess
import sys
import time

import pytest
from pypdf import PdfReader, PdfWriter

from tests.documents.formats.files import docx, paragraph, pdf, table
from tests.documents.formats.outlines import FORM, check_passages, outlined, passages, sections, titles
from weft.core.errors import Invalid, TooLarge
from weft.documents.formats import pdf as extractor
from weft.documents.formats.read import read_outline, read_text
from weft.files.document_suffixes import HTML, PDF
from weft.text.markup.outline import DocumentOutline


def text_of(raw: bytes, form: str) -> str:
    return read_text(raw, FORM[form])


def page_outline(raw: bytes) -> DocumentOutline:
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
    writer.add_outline_item(title="Intro", page_number=0)
    setup = writer.add_outline_item(title="Setup", page_number=1)
    writer.add_outline_item(title="Details", page_number=2, parent=setup)
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def test_pdf_bookmarks_are_headings() -> None:
    outline = page_outline(with_bookmarks())
    assert [(part.title, part.level) for part in outline.parts] == [("Intro", 1), ("1 Setup", 1), ("Details", 2)]
    assert outline.parts[1].passages[0].text == "\\# not a heading\nMore words."


def test_pdf_without_text_says_what_to_do() -> None:
    with pytest.raises(Invalid, match="has no text: scanned pages"):
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


def test_a_small_pdf_whose_pages_share_a_heavy_one_is_read_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extractor, "MAX_OPERATIONS", 50_000)
    raw = pdf([["x"]] * 900, content=b"BT /F1 12 Tf (Good words.) Tj " + b"0 0 Td " * 15_000 + b"ET", shared=True)
    before = time.process_time()
    outline = page_outline(raw)
    assert time.process_time() - before < 10
    assert outline.notes == ("pages 4 to 900 were not read: too much is drawn",)
    assert [p.page for part in outline.parts for p in part.passages] == [1, 2, 3]


def test_a_pdf_is_given_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extractor, "MAX_READING_S", 0.2)
    raw = pdf([["Good words."], *[["x"]] * 900], content=None)
    heavy = pdf([["x"]] * 900, content=b"BT /F1 12 Tf (x) Tj " + b"0 0 Td " * 25_000 + b"ET", shared=True)
    assert "Good words." in text_of(raw, "pdf")
    before = time.process_time()
    with pytest.raises(TooLarge, match="takes too long"):
        text_of(heavy, "pdf")
    assert time.process_time() - before < 5


def test_many_damaged_pages_end_the_reading_and_what_was_read_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extractor, "MAX_PAGE_OPERATIONS", 1_000)
    raw = pdf([["x"]] * 40, content=b"BT /F1 9 Tf " + b"(abc) Tj " * 2_000, shared=True)
    with pytest.raises(Invalid, match="no page can be read"):
        text_of(raw, "pdf")
    outline = page_outline(with_damage([1, 3, *range(5, 30)], 40))
    assert outline.notes[:2] == ("page 1 could not be read", "page 3 could not be read")
    assert outline.notes[-1] == "pages 10 to 40 were not read: too many pages before are damaged"
    assert [p.page for part in outline.parts for p in part.passages] == [2, 4]


def with_damage(damaged: list[int], count: int) -> bytes:
    """Of these pages each draws what the first does, which is too much."""
    pages = [[f"Words of {number}."] for number in range(1, count + 1)]
    raw = pdf(pages, content=b"BT /F1 9 Tf " + b"(abc) Tj " * 2_000)
    for number in damaged:
        own = b"/Contents %d 0 R>>" % (3 + 2 * number)
        raw = raw.replace(own, b"/Contents 5 0 R>>".ljust(len(own)))
    return raw


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


def test_a_docx_in_an_encoding_of_its_own_is_refused() -> None:
    for name in ("x-user-defined", "undefined", "unicode_escape"):
        with pytest.raises(Invalid, match=f"declares the encoding {name}"):
            text_of(docx(paragraph("x"), head=f'<?xml version="1.0" encoding="{name}"?>'), "docx")
    assert text_of(docx(paragraph("x"), head='<?xml version="1.0" encoding="UTF-8"?>'), "docx") == "x\n"


@pytest.mark.parametrize("body", [paragraph("a") * 400_000, "<w:p/>" * 1_600_000])
def test_a_docx_of_very_many_paragraphs_is_refused_soon(body: str) -> None:
    raw = docx(body)
    assert len(raw) < 512 * 1024
    before = time.process_time()
    with pytest.raises(TooLarge):
        text_of(raw, "docx")
    assert time.process_time() - before < 12


def test_words_of_a_docx_that_look_like_front_matter_are_kept() -> None:
    body = paragraph("+++") + paragraph("title = 'x'") + paragraph("+++")
    assert [p.text for p in passages(text_of(docx(body), "docx"), "docx")] == ["\\+++\n\ntitle = 'x'\n\n\\+++"]


# HTML


def test_html_as_a_reader_sees_it() -> None:
    page = """<html><head><title>Weft &amp; warp</title><meta name="description" content="About contexts.">
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
    assert outline.summary.startswith("About contexts.")
    assert titles(text, "html") == ["Looms", "Parts"]
    assert passages(text, "html")[0].mentions == ("cloth",)
    check_passages(text, "html")


def test_html_in_the_encoding_it_names() -> None:
    page = "<meta charset=iso-8859-1><p>Grüße aus Köln"
    assert "Grüße aus Köln" in text_of(page.encode("latin-1"), "html")
    with pytest.raises(Invalid, match="not UTF-8"):
        text_of("<p>Grüße".encode("latin-1"), "html")


@pytest.mark.parametrize(
    "name", ["undefined", "unicode_escape", "raw_unicode_escape", "rot13", "zlib", "idna", "no-such"]
)
def test_html_in_what_is_no_encoding_is_refused(name: str) -> None:
    with pytest.raises(Invalid, match=f"declares the encoding {name}"):
        text_of(f"<meta charset={name}><p>Grüße \\x41".encode("latin-1"), "html")


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<ol><li>one<ul hidden><li>h</li></ul></li><li>two</li></ol><p>after", "1. one\n2. two\n\nafter\n"),
        ("<table><tr><td>a<table hidden><tr><td>z</table><td>b<tr><td>c<td>d</table>after",
         "| a | b |\n| --- | --- |\n| c | d |\n\nafter\n"),
        ("<table><tr><td>a<td hidden>z<td>c<tr hidden><td>x</table>", "| a | c |\n| --- | --- |\n"),
        ("<p>use <code>a<code hidden>b</code>c</code> now", "use `ac` now\n"),
        ("<blockquote>one <blockquote hidden>x</blockquote>two</blockquote>", "> one two\n"),
        ("<pre>a<pre hidden>b</pre>\nc</pre>", "```\na\nc\n```\n"),
    ],
)  # fmt: skip
def test_what_is_hidden_leaves_what_is_around_it_alone(page: str, text: str) -> None:
    assert text_of(page.encode(), "html") == text


def test_html_without_text_is_refused() -> None:
    with pytest.raises(Invalid, match="has no text"):
        text_of(b"<html><body><div id=app></div><script>render()</script>", "html")


@pytest.mark.parametrize(
    "page",
    ["<div>" * 100_000, "<form><div>" * 40_000, "<a " + " ".join(f"x{n}" for n in range(60_000)) + ">words",
     "<x>" * 60_000 + "</y>" * 60_000, "<b><i><p>x" * 40_000, "<i></b>" * 71_000, "<rt>" * 100_000, "<rp>" * 100_000,
     "<optgroup>" * 50_000, "<span><div></span></div>" * 20_000, "<span><p></span></p>" * 25_000,
     "<i><!--</i>-->" * 35_000, "<!-->" + "<rt>" * 90_000, "<i><!</i>" * 50_000, "<i></ </i>" * 50_000,
     "<!--x--!>" + "<rt>" * 90_000, "<!-- " * 90_000 + "--><p>words" + "<i></b>" * 9_000],
)  # fmt: skip
def test_html_that_would_take_minutes_is_refused_at_once(page: str) -> None:
    with pytest.raises(TooLarge):
        text_of(page.encode(), "html")


@pytest.mark.parametrize(
    "page", ["<p>word " * 20_000, "<li>x" * 30_000, "<" * 500_000 + "p>x", "<td>x" * 50_000, "&amp;" * 100_000,
             "<ul>" + "<li><p>x</li>" * 9_000, "<table>" + "<tr><td><p>x</td></tr>" * 9_000, "<h2><p>x</h2>y" * 9_000,
             "<p>a<!-- <i> --><br>" * 9_000,
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
        "from weft.documents.formats.read import read_text; from weft.files.document_suffixes import PDF, HTML\n"
        "from weft.core.errors import Invalid\n"
        "for form in (PDF, HTML):\n"
        "    try: read_text(b'<p>x', form)\n"
        "    except Invalid as error: print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.count("`pip install '.[documents]'`") == 2  # a skipped file is told by the message alone
    assert PDF.package in done.stdout
    assert HTML.package in done.stdout
