"""One judge of several students: the mean of their weights, its logits scaled as sure as its answers are right.

    python mean.py STUDENT STUDENT … --body model.onnx --scale 1.97 1.91 --shift -0.15 0.02 --out DIR

Students of the same body that differ by their seed lie close together: their mean reads as two models and costs as
one, but is less sure of what it says. Scale and shift of the two logits are fitted on histories kept apart.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from export import export
from model import Judge, encoder


def mean(students: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    return {name: torch.stack([each[name].float() for each in students]).mean(0) for name in students[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("students", nargs="+", help="files that train.py kept with --save")
    parser.add_argument("--body", type=Path, required=True)
    parser.add_argument("--scale", nargs=2, type=float, default=(1.0, 1.0), help="of the two logits")
    parser.add_argument("--shift", nargs=2, type=float, default=(0.0, 0.0))
    parser.add_argument("--out", type=Path, required=True)
    wanted = parser.parse_args()
    kept = [torch.load(file, weights_only=False, map_location="cpu") for file in wanted.students]
    judge = Judge(encoder(wanted.body))
    weights = mean([each.get("weights", each) for each in kept])
    unknown = judge.load_state_dict(weights, strict=False).unexpected_keys
    if unknown:
        raise SystemExit(f"not of this body: {unknown}")
    with torch.no_grad():
        judge.head.weight *= torch.tensor(wanted.scale)[:, None]
        judge.head.bias *= torch.tensor(wanted.scale)
        judge.head.bias += torch.tensor(wanted.shift)
    export(judge, wanted.out, wanted.body)


if __name__ == "__main__":
    main()
