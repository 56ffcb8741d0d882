"""Real files of other formats, made on the spot."""

from __future__ import annotations

import io
import zipfile
import zlib

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STYLES = (
    f"<w:styles {WORD}>"
    '<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>'
    "</w:styles>"
)


def paragraph(words: str, style: str = "", *, listed: bool = False) -> str:
    number = '<w:numPr><w:ilvl w:val="0"/></w:numPr>' if listed else ""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{number}</w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>"


def table(rows: list[list[str]]) -> str:
    cells = ["<w:tr>" + "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>" for row in rows]
    return "<w:tbl>" + "".join(cells) + "</w:tbl>"


def docx(body: str, *, head: str = "") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/styles.xml", STYLES)
        packed.writestr("word/document.xml", f"{head}<w:document {WORD}><w:body>{body}</w:body></w:document>")
    return made.getvalue()


def pdf(pages: list[list[str]], *, content: bytes | None = None, shared: bool = False) -> bytes:
    """A PDF with a line of text for each line of each page; `content` replaces what the first page draws, and all if
    it is `shared`.
    """
    objects: list[bytes] = [b"<</Type/Catalog/Pages 2 0 R>>", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids = []
    for at, lines in enumerate(pages):
        drawn = b"BT /F1 12 Tf 72 720 Td 14 TL " + b"".join(b"(%s) Tj T* " % line.encode() for line in lines) + b"ET"
        stream = zlib.compress(content if content is not None and at == 0 else drawn)
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
            % (5 if shared else len(objects) + 2)
        )
        objects.append(b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(stream), stream))
    objects[1] = f"<</Type/Pages/Count {len(pages)}/Kids[{' '.join(kids)}]>>".encode()
    made = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    made += b"".join(b"%010d 00000 n \n" % place for place in places)
    return made + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
