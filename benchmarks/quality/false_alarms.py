"""How often documentation is taken for an attack or for a secret.

    python -m benchmarks.quality.false_alarms DIR... [--show]

Reads the .rst, .md and .txt files under the folders, such as unpacked source distributions from a package index, by
passages of about MAX_CHARACTERS. Counts the passages flagged as instructions to an assistant, and the secrets redacted,
per folder and per thousand passages.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from weft.text.injection.detect import find, looks_like_instructions
from weft.text.redaction import find_secrets

SUFFIXES: Final = (".rst", ".md", ".txt")
MAX_CHARACTERS: Final = 800
AROUND: Final = 60  # characters shown before a secret


def passages(folder: Path) -> Iterator[str]:
    """The paragraphs of a folder's documents, joined up to MAX_CHARACTERS."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in SUFFIXES or not path.is_file():
            continue
        held = ""
        for paragraph in path.read_text(encoding="utf-8", errors="replace").split("\n\n"):
            if held and len(held) + len(paragraph) > MAX_CHARACTERS:
                yield held
                held = ""
            held = f"{held}\n\n{paragraph}" if held else paragraph
        if held.strip():
            yield held


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--show", action="store_true", help="print what was flagged and redacted")
    asked = parser.parse_args()
    totals = [0, 0, 0]
    for folder in asked.folders:
        read = list(passages(folder))
        flagged = [each for each in read if looks_like_instructions(each)]
        secrets = [(each, secret) for each in read for secret in find_secrets(each)]
        if asked.show:
            for each in flagged:
                print("  flag   ", [(hit.category, hit.words) for hit in find(each)])
            for each, secret in secrets:
                shown = each[max(0, secret.start - AROUND) : secret.end].replace("\n", "\\n")
                print("  secret ", secret.sort, "|", shown[-200:])
        print(f"{folder.name:<24} {len(read):>6} passages  {len(flagged):>4} flagged  {len(secrets):>4} redacted")
        for at, count in enumerate((len(read), len(flagged), len(secrets))):
            totals[at] += count
    if totals[0]:
        per = [1000 * count / totals[0] for count in totals[1:]]
        print(f"{'all':<24} {totals[0]:>6} passages  {per[0]:.2f} flagged and {per[1]:.2f} redacted of 1,000")
    return 0


if __name__ == "__main__":
    sys.exit(main())
