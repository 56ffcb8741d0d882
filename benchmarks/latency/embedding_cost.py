"""What weft adds to its embedder: bulk ingest against bare embedding, and one `remember` against one embedding."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import weft
from benchmarks.latency.corpus import Words
from benchmarks.latency.measure import percentiles, rate, save
from weft.log.draft import Draft
from weft.log.kinds import memory
from weft.models.builtin import BuiltinEmbedder

BATCH = 200
SENTENCE = "the service keeps every parcel label under its own name and sends a note when one of them is late again"


def english(words: Words, length: int) -> str:
    """Common English words, so that the tokenizer sees what it was made for."""
    common = SENTENCE.split()
    return " ".join(common[(at * 7 + len(words.text(1, 3))) % len(common)] for at in range(length))


def measure(directory: Path) -> dict[str, Any]:
    words, embedder = Words(seed=3), BuiltinEmbedder()
    embedder.embed(["warm"])
    result: dict[str, Any] = {}
    environment = {"HOME": str(directory), "WEFT_STORE": f"sqlite://{directory}/store"}
    with weft.open(directory=directory, environment=environment) as mem:
        mem.remember("warm")
        for length, count in ((8, 1000), (25, 600), (100, 200)):
            texts = [f"{english(words, length)} {number}" for number in range(count)]
            bare = rate(count, lambda texts=texts: embedder.embed([text + "." for text in texts]))
            drafts = [
                Draft(kind="memory.remembered", payload=memory.Remembered(id=f"{length}-{n}", text=text))
                for n, text in enumerate(texts)
            ]

            def ingest(drafts: list[Draft] = drafts) -> None:
                for start in range(0, len(drafts), BATCH):
                    mem.ctx.append(drafts[start : start + BATCH])

            whole = rate(count, ingest)
            result[f"{length} words: embedder alone"] = bare
            result[f"{length} words: ingest"] = whole | {
                "of_embedder": round(whole["per_second"] / bare["per_second"], 3)
            }
        long = [f"{english(words, 100)} number {number}" for number in range(60)]
        result["one embedding of 100 words"] = percentiles([lambda t=t: embedder.embed([t + "!"]) for t in long])
        result["remember of 100 words"] = percentiles([lambda t=t: mem.remember(t) for t in long])
    return result


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        result = measure(Path(scratch))
    for name, figures in result.items():
        print(f"{name:40} {figures}")
    print(save("embedding-cost", result))


if __name__ == "__main__":
    main()
