"""Writes a trained judge as an int8 ONNX file and compares it with the float model."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from lean import lean
from model import Judge
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic


class Probabilities(torch.nn.Module):
    """Two probabilities instead of logits. Word pieces are given as rows of the body's 8-bit table."""

    def __init__(self, judge: Judge, scale: float, zero: int) -> None:
        super().__init__()
        self.judge, self.scale, self.zero = judge, scale, zero

    def forward(self, words: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
        vectors = (words.float() - self.zero) * self.scale
        return torch.sigmoid(self.judge.of_words(vectors, mask, kinds))


def export(judge: Judge, out: Path, body: Path) -> Path:
    """The path of the int8 file: weights per channel, in reduced range, which needs no VNNI."""
    raw = {each.name: numpy_helper.to_array(each) for each in onnx.load(str(body)).graph.initializer}
    words = "we" if "we_scale" in raw else "embeddings.word_embeddings.weight"
    scale, zero = float(raw[f"{words}_scale"]), int(raw[f"{words}_zero_point"])
    table = torch.tensor(raw[f"{words}_quantized"])
    out.mkdir(parents=True, exist_ok=True)
    judge = judge.cpu().eval().float()
    judge.body.config._attn_implementation = "eager"
    words = table[torch.randint(999, 2000, (2, 16))]
    example = (words, torch.ones(2, 16, dtype=torch.int64), torch.zeros(2, 16, dtype=torch.int64))
    judge.body.embeddings.word_embeddings = torch.nn.Embedding(1, words.shape[2])  # not part of the file
    axes = {name: {0: "batch", 1: "length"} for name in ("words", "mask", "kinds")}
    target = out / "model.onnx"
    with tempfile.TemporaryDirectory() as place:
        plain = Path(place) / "plain.onnx"
        torch.onnx.export(
            Probabilities(judge, scale, zero),
            example,
            str(plain),
            input_names=["words", "mask", "kinds"],
            output_names=["p"],
            dynamic_axes={**axes, "p": {0: "batch"}},
            opset_version=17,
            dynamo=False,
        )
        quantize_dynamic(
            str(plain),
            str(target),
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul", "Gather"],
            extra_options={"MatMulConstBOnly": True},
        )
    pieces = torch.randint(999, 2000, (2, 16))
    words, mask, kinds = table[pieces], *example[1:]
    with torch.no_grad():
        want = Probabilities(judge, scale, zero)(words, mask, kinds).numpy()
    finish(target, table.numpy())
    session = onnxruntime.InferenceSession(str(target))
    got = session.run(None, {"ids": pieces.numpy(), "mask": mask.numpy(), "kinds": kinds.numpy()})[0]
    print("int8 differs by", float(np.abs(want - got).max()), "size", target.stat().st_size, flush=True)
    return target


def finish(file: Path, table: np.ndarray) -> None:
    """Puts the 8-bit table of word pieces into the file, which then reads their ids instead of their vectors.

    The layers are written with fewer operations: see `lean`.
    """
    model = onnx.load(str(file))
    graph = model.graph
    inputs = [each for each in graph.input if each.name != "words"]
    del graph.input[:]
    graph.input.append(helper.make_tensor_value_info("ids", onnx.TensorProto.INT64, ("batch", "length")))
    graph.input.extend(inputs)
    graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(table), "table"))
    graph.node.insert(0, helper.make_node("Gather", ["table", "ids"], ["words"], name="look_up_words", axis=0))
    model = lean(model, first_only=True)
    onnx.checker.check_model(model)
    onnx.save(model, str(file))
