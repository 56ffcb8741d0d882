"""Document formats, by file name suffix."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

FormName = Literal["markdown", "rst", "text", "pdf", "docx", "html"]


class DocumentForm(Struct, frozen=True, kw_only=True):
    """A document format. `package` is the package needed to read it, if any.

    Line numbers of an `extracted` format refer to the text that `read_text` extracts: the file itself has no lines.
    """

    name: FormName
    suffixes: tuple[str, ...]
    package: str | None = None
    extracted: bool = False


MARKDOWN = DocumentForm(name="markdown", suffixes=(".md", ".markdown"))
RST = DocumentForm(name="rst", suffixes=(".rst",))
TEXT = DocumentForm(name="text", suffixes=(".txt",))
PDF = DocumentForm(name="pdf", suffixes=(".pdf",), package="pypdf", extracted=True)
DOCX = DocumentForm(name="docx", suffixes=(".docx",), extracted=True)
HTML = DocumentForm(name="html", suffixes=(".html", ".htm"), package="selectolax", extracted=True)

FORMS = (MARKDOWN, RST, TEXT, PDF, DOCX, HTML)
_BY_SUFFIX = {suffix: form for form in FORMS for suffix in form.suffixes}


def form_of(name: str) -> DocumentForm | None:
    """The format of a file by its name, or None if it is no document. The inner suffix counts in
    `guide.rst.txt`, as Sphinx copies its sources.
    """
    stem, dot, last = name.rsplit("/", 1)[-1].lower().rpartition(".")
    if not stem:
        return None
    if last == "txt":
        inner = _BY_SUFFIX.get("." + stem.rpartition(".")[2]) if "." in stem else None
        if inner is not None and not inner.extracted:
            return inner
    return _BY_SUFFIX.get(dot + last)
