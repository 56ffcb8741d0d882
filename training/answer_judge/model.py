"""The network of the answer judge: a BERT encoder over (question, note) with two logits, from quantised weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn
from transformers import BertConfig, BertModel

ORDER = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
NORMS = {"n1": "attention.output.LayerNorm", "n2": "output.LayerNorm"}


def encoder(path: Path, layers: tuple[int, ...] | None = None) -> BertModel:
    """The encoder of a quantised ONNX file, its weights as floats, with these of its layers."""
    graph = onnx.load(str(path)).graph
    raw = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    weights: dict[str, np.ndarray] = {}
    matmuls = [node for node in graph.node if node.op_type == "MatMulInteger"]
    for place, node in enumerate(matmuls):
        stem = node.input[1].removesuffix("_quantized")
        data = raw[f"{stem}_quantized"].astype(np.float32) - raw[f"{stem}_zero_point"].astype(np.float32)
        layer, part = divmod(place, len(ORDER))
        weights[f"encoder.layer.{layer}.{ORDER[part]}.weight"] = (data * raw[f"{stem}_scale"]).T
    for name in list(raw):
        if name.endswith("_quantized") and raw[name].ndim == 2 and "MatMul" not in name:
            stem = name.removesuffix("_quantized")
            zero = raw[f"{stem}_zero_point"].astype(np.float32)
            raw[stem] = (raw[name].astype(np.float32) - zero) * raw[f"{stem}_scale"]
    for name, data in raw.items():
        if name.startswith("encoder.layer.") and data.dtype == np.float32:
            weights[name] = data
        elif name.startswith("l."):
            _, layer, part, what = name.split(".")
            inner = NORMS.get(part) or ORDER["qkvoif".index(part)]
            weights[f"encoder.layer.{layer}.{inner}.{what}"] = data
    kinds = raw["te"] if "te" in raw else raw["embeddings.token_type_embeddings.weight"]
    weights["embeddings.token_type_embeddings.weight"] = np.stack([kinds, kinds]) if kinds.ndim == 1 else kinds
    weights["embeddings.position_embeddings.weight"] = first(raw, "pe", "embeddings.position_embeddings.weight")
    weights["embeddings.word_embeddings.weight"] = first(raw, "we", "embeddings.word_embeddings.weight")
    weights["embeddings.LayerNorm.weight"] = first(raw, "n.weight", "embeddings.LayerNorm.weight")
    weights["embeddings.LayerNorm.bias"] = first(raw, "n.bias", "embeddings.LayerNorm.bias")
    depth = len(matmuls) // len(ORDER)
    config = BertConfig(hidden_size=384, num_hidden_layers=depth, num_attention_heads=12, intermediate_size=1536)
    model = BertModel(config, add_pooling_layer=False)
    missing, unexpected = model.load_state_dict({k: torch.tensor(v) for k, v in weights.items()}, strict=False)
    if unexpected or any("position_ids" not in each for each in missing):
        raise SystemExit(f"not loaded: missing {missing}, unexpected {unexpected}")
    if layers is not None:
        model.encoder.layer = nn.ModuleList(model.encoder.layer[at] for at in layers)
        model.config.num_hidden_layers = len(layers)
    return model


def first(raw: dict[str, np.ndarray], *names: str) -> np.ndarray:
    return next(raw[name] for name in names if name in raw)


class Judge(nn.Module):
    """Two logits of a pair: whether the note tells what is asked, and whether it belongs to an answer at all."""

    def __init__(self, body: BertModel) -> None:
        super().__init__()
        self.body = body
        # Frozen: the shipped judge looks its words up in the table of the packaged embedder.
        body.embeddings.word_embeddings.weight.requires_grad = False
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(384, 2)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
        return self.of_words(self.body.embeddings.word_embeddings(ids), mask, kinds)

    def of_words(self, words: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
        """The logits of pairs whose word pieces are given as their vectors."""
        states = self.body(inputs_embeds=words, attention_mask=mask, token_type_ids=kinds).last_hidden_state
        return self.head(self.drop(states[:, 0]))
