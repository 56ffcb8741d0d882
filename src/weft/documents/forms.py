"""Which files are documents, by the end of their names."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

FormName = Literal["markdown", "rst", "text", "pdf", "docx", "html"]


class Form(Struct, frozen=True, kw_only=True):
    """A kind of document. `package` is what must be installed to read it, or nothing.

    Of an `extracted` form the lines that passages and citations count are those of the text that `read_text` makes of
    the file: the file itself has none a reader could find.
    """

    name: FormName
    suffixes: tuple[str, ...]
    package: str | None = None
    extracted: bool = False


MARKDOWN = Form(name="markdown", suffixes=(".md", ".markdown"))
RST = Form(name="rst", suffixes=(".rst",))
TEXT = Form(name="text", suffixes=(".txt",))
PDF = Form(name="pdf", suffixes=(".pdf",), package="pypdf", extracted=True)
DOCX = Form(name="docx", suffixes=(".docx",), extracted=True)
HTML = Form(name="html", suffixes=(".html", ".htm"), package="selectolax", extracted=True)

FORMS = (MARKDOWN, RST, TEXT, PDF, DOCX, HTML)
_BY_SUFFIX = {suffix: form for form in FORMS for suffix in form.suffixes}


def form_of(name: str) -> Form | None:
    """The form of a file by its name, or None for one that is no document. `guide.rst.txt`, as Sphinx copies its
    sources, is what its inner suffix says.
    """
    stem, dot, last = name.rsplit("/", 1)[-1].lower().rpartition(".")
    if not stem:
        return None
    if last == "txt":
        inner = _BY_SUFFIX.get("." + stem.rpartition(".")[2]) if "." in stem else None
        if inner is not None and not inner.extracted:
            return inner
    return _BY_SUFFIX.get(dot + last)
