"""A process that erases or changes keys beside another: `python -m tests.erasure.rival DIRECTORY erase|rotate NAME`.

It says that it is ready, waits for a line, does it, and prints the answer.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import msgspec

import weft
from tests.append.privacy.harbour import KEYS

MARA: Final = "Mara Quill"
TOM: Final = "Tom Tarn"
ROOMS: Final = 12


def memory_at(root: Path, keys: str) -> weft.Memory:
    environment = {
        "HOME": str(root),
        "WEFT_EMBEDDER": "none",
        "WEFT_AUDIT": "off",
        "WEFT_PROJECT": "ferry",
        "WEFT_SENSITIVE": "1",
        "WEFT_SENSITIVE_KEY": keys,
    }
    return weft.open(f"sqlite://{root}/store", directory=root, environment=environment)


if __name__ == "__main__":
    place, what, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    order = ("new", "old") if what == "rotate" else ("old", "new")
    opened = memory_at(place, ",".join(KEYS[each] for each in order))
    print("ready", flush=True)
    sys.stdin.readline()
    given = {"subject": name, "yes": True, "confirm": "default"} if what == "erase" else {}
    told = opened.call("erase" if what == "erase" else "key_rotate", **given)
    print(msgspec.json.encode(told).decode())
    opened.close()
