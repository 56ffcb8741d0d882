"""Trains the answer judge and measures it on histories kept apart.

    python train.py --train DIR [DIR …] --test DIR [DIR …] --body model.onnx --tokenizer tokenizer.json
                    [--teachers FILE …] [--samples FILE] [--save FILE] [--out DIR]

A teacher is a body trained alone and kept with --save; a student is trained on the labels and on what its
teachers say of the same pairs, and written with --out as the int8 ONNX file that weft ships. One GPU, minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from data import SUPPORTS, TELLS, UNKNOWN, UNRELATED, Case, beside, cases, names, varied, with_note
from model import Judge, encoder
from tokenizers import Encoding, Tokenizer

MAX_TOKENS = 128
BATCHES = 2  # of a step, each with pairs of like length
NOTHING = 0.5  # weight of the loss in which "no note tells" competes with the notes of a question

# The gradients of cuDNN's attention were NaN in bfloat16 with padded batches (torch 2.11).
torch.backends.cuda.enable_cudnn_sdp(enabled=False)


class Pairs:
    def __init__(self, tokenizer: Path) -> None:
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)

    def batches(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[list[int], list[torch.Tensor]]]:
        """Pairs of like length together, with their places: half of one wide batch would be padding."""
        read = self.tokenizer.encode_batch(list(pairs))
        order = sorted(range(len(read)), key=lambda at: len(read[at].ids))
        size = math.ceil(len(order) / BATCHES)
        parts = [order[begin : begin + size] for begin in range(0, len(order), size)]
        return [(part, self.tensors([read[at] for at in part])) for part in parts]

    def batch(self, pairs: Sequence[tuple[str, str]]) -> list[torch.Tensor]:
        return self.tensors(self.tokenizer.encode_batch(list(pairs)))

    def tensors(self, read: Sequence[Encoding]) -> list[torch.Tensor]:
        width = max(len(each.ids) for each in read)
        ids = np.zeros((len(read), width), np.int64)
        mask, kinds = np.zeros_like(ids), np.zeros_like(ids)
        for at, each in enumerate(read):
            ids[at, : len(each.ids)] = each.ids
            mask[at, : len(each.ids)] = 1
            kinds[at, : len(each.ids)] = each.type_ids
        return [torch.tensor(each, device="cuda") for each in (ids, mask, kinds)]


def in_place(places: Sequence[Sequence[int]], parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """Rows of several batches in the order of the pairs."""
    order = torch.tensor([at for part in places for at in part], device="cuda")
    return torch.cat(list(parts))[torch.argsort(order)].float()


def loss_of(logits: torch.Tensor, labels: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    known = labels != UNKNOWN
    tells, relevant = (labels == TELLS).float(), (labels >= SUPPORTS).float()
    weight = 1.0 + tells
    point = F.binary_cross_entropy_with_logits(logits[:, 0], tells, weight, reduction="none")[known].mean()
    also = F.binary_cross_entropy_with_logits(logits[:, 1], relevant, weight, reduction="none")[known].mean()
    listed, begin = [], 0
    for size in sizes:
        rows = slice(begin, begin + size)
        begin += size
        scores = torch.where(known[rows], logits[rows, 0], torch.full_like(logits[rows, 0], -1e4))
        scores = torch.cat([scores, scores.new_zeros(1)])  # the last one: no note tells
        right = torch.cat([labels[rows] == TELLS, torch.zeros(1, dtype=torch.bool, device=labels.device)])
        if not right.any():
            right[-1] = True
        listed.append(torch.logsumexp(scores, 0) - torch.logsumexp(scores[right], 0))
    return point + 0.5 * also + NOTHING * torch.stack(listed).mean()


@dataclass
class Sample:
    """A question with notes, their labels, and what the teachers say of each."""

    rows: list[tuple[str, str]]
    labels: list[int]
    told: np.ndarray | None = None


def samples(judge: Judge, pairs: Pairs, found: Sequence[Case], wanted: argparse.Namespace) -> list[list[Sample]]:
    """Each question in several variants: a part beside a note that tells it, all with notes of other histories."""
    chance = random.Random(wanted.seed)
    everything = [note for case in found for note in case.notes]
    others = names(found)
    near = mined(found, everything, judge, pairs, wanted.mined) if wanted.teachers and wanted.mined else {}
    made = []
    for case in found:
        variants = []
        for _ in range(wanted.variants):
            each = varied(case, chance, others)
            each = (chance.random() < wanted.second and with_note(each, chance)) or each
            foreign = [chance.choice(everything) for _ in range(wanted.foreign)]
            like = near[case.history, case.asked] if near else []
            rows = [(each.question, note) for note in (*each.notes, *foreign, *like)]
            labels = [*each.labels, *([UNRELATED] * len(foreign)), *([UNKNOWN] * len(like))]
            variants.append(Sample(rows, labels))
        made.append(variants)
    return made


def taught(teachers: Sequence[Judge], pairs: Pairs, made: Sequence[Sequence[Sample]]) -> None:
    """Writes into each sample what the teachers say, on average: read once, whatever number of students learn it."""
    everything = [sample for variants in made for sample in variants]
    rows = sorted({row for sample in everything for row in sample.rows}, key=lambda row: len(row[0]) + len(row[1]))
    told = []
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
        for begin in range(0, len(rows), 1024):
            batch = pairs.batch(rows[begin : begin + 1024])
            verdicts = [torch.sigmoid(teacher(*batch).float()) for teacher in teachers]
            told.append(torch.stack(verdicts).mean(0).cpu().numpy())
    places = dict(zip(rows, np.concatenate(told), strict=True))
    for sample in everything:
        sample.told = np.stack([places[row] for row in sample.rows])


def train(judge: Judge, pairs: Pairs, made: Sequence[Sequence[Sample]], wanted: argparse.Namespace) -> None:
    chance = random.Random(wanted.seed)
    torch.manual_seed(wanted.seed)
    steps = max(1, wanted.epochs * math.ceil(len(made) / wanted.at_once))
    body = [each for name, each in judge.named_parameters() if each.requires_grad and not name.startswith("head")]
    optimiser = torch.optim.AdamW(
        [{"params": body, "lr": wanted.rate}, {"params": judge.head.parameters(), "lr": 1e-3}], weight_decay=0.01
    )
    plan = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda at: min(1.0, at / (0.1 * steps)) * max(0.0, 1.0 - at / steps) + 1e-3
    )
    judge.train()
    for epoch in range(wanted.epochs):
        order, total = [variants[epoch % len(variants)] for variants in made], 0.0
        chance.shuffle(order)
        for begin in range(0, len(order), wanted.at_once):
            some = order[begin : begin + wanted.at_once]
            labels = torch.tensor([label for sample in some for label in sample.labels], device="cuda")
            places, batches = zip(*pairs.batches([row for sample in some for row in sample.rows]), strict=True)
            with torch.autocast("cuda", torch.bfloat16):
                logits = in_place(places, [judge(*batch) for batch in batches])
            loss = loss_of(logits, labels, [len(sample.rows) for sample in some])
            if some[0].told is not None:
                soft = torch.tensor(np.concatenate([sample.told for sample in some]), device="cuda")
                loss = wanted.labels * loss + wanted.soft * F.binary_cross_entropy_with_logits(logits, soft)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
            optimiser.step()
            plan.step()
            total += loss.detach()
        print(f"epoch {epoch + 1}: loss {float(total) * wanted.at_once / len(order):.4f}", file=sys.stderr, flush=True)
    judge.eval()


def mined(
    found: Sequence[Case], notes: Sequence[str], judge: Judge, pairs: Pairs, count: int
) -> dict[tuple[str, str], list[str]]:
    """For each question the nearest notes of other histories: only the teachers say whether they tell it."""
    own = {case.history: set(case.notes) for case in found}
    notes = sorted(set(notes))
    questions = sorted({(case.history, case.asked) for case in found})
    vectors = []
    for texts in (notes, [question for _, question in questions]):
        parts = []
        with torch.no_grad():
            for begin in range(0, len(texts), 256):
                ids, mask, kinds = pairs.batch([(text, "") for text in texts[begin : begin + 256]])
                words = judge.body.embeddings.word_embeddings(ids)
                states = judge.body(inputs_embeds=words, attention_mask=mask, token_type_ids=kinds).last_hidden_state
                mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
                parts.append(F.normalize(mean, dim=1))
        vectors.append(torch.cat(parts))
    order = (vectors[1] @ vectors[0].T).topk(count + 20).indices.tolist()
    return {
        key: [notes[at] for at in row if notes[at] not in own[key[0]]][:count]
        for key, row in zip(questions, order, strict=True)
    }


READINGS = {
    "once": lambda first, second: first,
    "most": np.maximum,
    "mean": lambda first, second: (first + second) / 2,
    "second": lambda first, second: second,
}


def judged(judges: Sequence[Judge], pairs: Pairs, found: Sequence[Case], reading: str) -> list[np.ndarray]:
    """Probabilities for each note, with a second reading beside the note that tells the most."""
    out = []
    for case in found:
        first = probabilities(judges, pairs, case.question, case.notes)
        best = int(first[:, 0].argmax())
        if reading != "once" and first[best, 0] >= 0.3:
            second = probabilities(judges, pairs, beside(case.question, case.notes[best]), case.notes)
            second[best] = first[best]
            first = READINGS[reading](first, second)
        out.append(first)
    return out


def probabilities(judges: Sequence[Judge], pairs: Pairs, question: str, notes: Sequence[str]) -> np.ndarray:
    batch = pairs.batch([(question, note) for note in notes])
    with torch.no_grad():
        return np.mean([torch.sigmoid(judge(*batch)).float().cpu().numpy() for judge in judges], axis=0)


def measure(found: Sequence[Case], probabilities: Sequence[np.ndarray]) -> dict[str, object]:
    """First lines by a plain rule, questions told unanswerable at several thresholds, lines that must not appear."""
    best = np.array([p[:, 0].max() for p in probabilities])
    asked = np.array([case.kind != "none" for case in found])
    right: dict[str, list[bool]] = {}
    padding = []
    for case, p in zip(found, probabilities, strict=True):
        if case.kind == "none":
            continue
        order, pick = np.argsort(-p[:, 0]), int(p[:, 0].argmax())
        if case.kind == "now":
            close = [at for at in range(len(p)) if p[at, 0] >= 0.5 * p[:, 0].max()]
            pick = max(close, key=lambda at: (case.dates[at], p[at, 0]))
        right.setdefault(case.kind, []).append(case.first[pick])
        right.setdefault("tells", []).append(case.labels[int(order[0])] == TELLS)
        padding.append(sum(case.labels[at] == 0 for at in range(len(p)) if p[at].max() >= 0.3))
    told = {
        f"at {share} wrongly": round(100 * float(np.mean(best[~asked] < np.quantile(best[asked], share))), 1)
        for share in (0.02, 0.03, 0.05, 0.1)
    }
    fixed = {
        f"t={t}": (round(100 * float(np.mean(best[~asked] < t)), 1), round(100 * float(np.mean(best[asked] < t)), 1))
        for t in (0.05, 0.1, 0.2, 0.3, 0.5)
    }
    kinds = {kind: round(100 * float(np.mean(rows)), 1) for kind, rows in sorted(right.items())}
    return {**kinds, "padding": round(float(np.mean(padding)), 2), **told, **fixed}


def loaded(file: str) -> Judge:
    """A kept teacher: its body's file, and its weights."""
    kept = torch.load(file, weights_only=False)
    judge = Judge(encoder(Path(kept["body"])))
    judge.load_state_dict(kept["weights"])
    return judge.cuda().eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", nargs="*", type=Path, default=[])
    parser.add_argument("--test", nargs="*", type=Path, default=[])
    parser.add_argument("--body", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--layers", nargs="*", type=int)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--rate", type=float, default=6e-5)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--foreign", type=int, default=4)
    parser.add_argument("--mined", type=int, default=6, help="like notes of other histories, for a student")
    parser.add_argument("--variants", type=int, default=4, help="of each question, taken in turn")
    parser.add_argument("--samples", type=Path, help="file of samples that several students share")
    parser.add_argument("--second", type=float, default=0.35, help="share of questions beside a note that tells them")
    parser.add_argument("--readings", nargs="*", choices=READINGS, default=list(READINGS))
    parser.add_argument("--name", default="judge", help="of the run, in its output")
    parser.add_argument("--labels", type=float, default=0.4)
    parser.add_argument("--soft", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--teachers", nargs="*", default=[])
    parser.add_argument("--save", type=Path)
    parser.add_argument("--out", type=Path)
    wanted = parser.parse_args()
    pairs, teachers = Pairs(wanted.tokenizer), [loaded(each) for each in wanted.teachers]
    if wanted.train:
        found = [case for directory in wanted.train for case in cases(directory)]
        judge = Judge(encoder(wanted.body, tuple(wanted.layers) if wanted.layers else None)).cuda()
        if wanted.samples is not None and wanted.samples.exists():
            made = torch.load(wanted.samples, weights_only=False)
        else:
            made = samples(judge, pairs, found, wanted)
            if teachers:
                taught(teachers, pairs, made)
            if wanted.samples is not None:
                torch.save(made, wanted.samples)
        train(judge, pairs, made, wanted)
        judges = [judge]
    else:
        judges = teachers
    for directory in wanted.test:
        test = cases(directory)
        for reading in wanted.readings:
            figures = json.dumps(measure(test, judged(judges, pairs, test, reading)))
            print(wanted.name, directory.name, reading, figures, flush=True)
    if wanted.save is not None:
        torch.save({"body": str(wanted.body), "weights": judges[0].state_dict()}, wanted.save)
    if wanted.out is not None:
        from export import export

        export(judges[0], wanted.out, wanted.body)


if __name__ == "__main__":
    main()
