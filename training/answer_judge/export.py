"""Writes a trained judge as an int8 ONNX file and compares it with the float model."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from model import Judge
from onnxruntime.quantization import QuantType, quantize_dynamic


class Probabilities(torch.nn.Module):
    """Two probabilities instead of logits."""

    def __init__(self, judge: Judge) -> None:
        super().__init__()
        self.judge = judge

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.judge(ids, mask, kinds))


def export(judge: Judge, out: Path) -> Path:
    """The path of the int8 file: weights per channel, in reduced range, which needs no VNNI."""
    out.mkdir(parents=True, exist_ok=True)
    judge = judge.cpu().eval().float()
    judge.body.config._attn_implementation = "eager"
    example = (torch.randint(999, 2000, (2, 16)), torch.ones(2, 16, dtype=torch.int64), torch.zeros(2, 16, dtype=torch.int64))
    axes = {name: {0: "batch", 1: "length"} for name in ("ids", "mask", "kinds")}
    target = out / "model.onnx"
    with tempfile.TemporaryDirectory() as place:
        plain = Path(place) / "plain.onnx"
        torch.onnx.export(
            Probabilities(judge), example, str(plain), input_names=["ids", "mask", "kinds"], output_names=["p"],
            dynamic_axes={**axes, "p": {0: "batch"}}, opset_version=17, dynamo=False,
        )
        quantize_dynamic(
            str(plain), str(target), per_channel=True, reduce_range=True, weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul", "Gather"], extra_options={"MatMulConstBOnly": True},
        )
    session = onnxruntime.InferenceSession(str(target))
    ids, mask, kinds = (each.numpy() for each in example)
    with torch.no_grad():
        want = Probabilities(judge)(*example).numpy()
    got = session.run(None, {"ids": ids, "mask": mask, "kinds": kinds})[0]
    print("int8 differs by", float(np.abs(want - got).max()), "size", target.stat().st_size, flush=True)
    return target
