"""Writes a quantised BERT encoder with few, quick operations: the same weights, the same sums.

    python lean.py model.onnx lean.onnx [--first-only] [--also NAME]

An exported layer is about sixty operations, most of which reshape or compute shapes. Here it is ten: a quantised
attention over queries, keys and values together, three matrix products, two norms and a Gelu. Sums and norms stay
apart: onnxruntime's fused kernel takes six times as long as the two, so sessions on these files optimise at the level
BASIC, which fuses nothing. What comes before the first layer and after the last is kept as it is.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

OF_A_LAYER = 6  # matrix products: query, key, value, output, intermediate, output
HEADS = 12
EPSILON = 1e-12
MICROSOFT = "com.microsoft"


class Graph:
    """A graph that is read, and the nodes and constants of the one that is written."""

    def __init__(self, read: onnx.GraphProto) -> None:
        self.read = read
        self.raw = {each.name: numpy_helper.to_array(each) for each in read.initializer}
        self.makers = {name: node for node in read.node for name in node.output}
        self.readers = {name: node for node in read.node for name in node.input}  # the last, where there are several
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, operation: str, given: list[str], *made: str, **more: Any) -> str:
        self.nodes.append(helper.make_node(operation, given, made, name=f"{made[0]}.{operation}", **more))
        return made[0]

    def constant(self, name: str, data: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(data), name))
        return name

    def of(self, operation: str) -> list[onnx.NodeProto]:
        return [node for node in self.read.node if node.op_type == operation]

    def that_make(self, names: Collection[str], *, without: Collection[str] = ()) -> list[onnx.NodeProto]:
        """The nodes read that these values need, in order, but for those that make the values `without`."""
        wanted, seen = list(names), set(without)
        while wanted:
            name = wanted.pop()
            if name not in seen and name in self.makers:
                seen |= set(self.makers[name].output)
                wanted += self.makers[name].input
        return [node for node in self.read.node if node.output[0] in seen and node.output[0] not in without]

    def product(self, node: onnx.NodeProto) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Weights, scales, zero points and bias of a quantised matrix product: the bias is in the sum that follows."""
        stem = node.input[1].removesuffix("_quantized")
        weights, scale, zero = (self.raw[f"{stem}_{part}"] for part in ("quantized", "scale", "zero_point"))
        after = node
        while after.op_type != "Add":
            after = self.readers[after.output[0]]
        bias = next(self.raw[name] for name in after.input if name in self.raw)
        return weights, scale, zero, bias

    def times(self, given: str, node: onnx.NodeProto, name: str) -> str:
        parts = zip(("weights", "scale", "zero", "bias"), self.product(node), strict=True)
        constants = [self.constant(f"{name}.{part}", data) for part, data in parts]
        return self.add("DynamicQuantizeMatMul", [given, *constants], name, domain=MICROSOFT)

    def normed(self, one: str, other: str, node: onnx.NodeProto, name: str) -> str:
        """The norm of a sum."""
        scale, bias = (self.constant(f"{name}.{part}", self.raw[node.input[at]]) for at, part in ((1, "w"), (2, "b")))
        total = self.add("Add", [one, other], f"{name}.sum")
        return self.add("LayerNormalization", [total, scale, bias], name, epsilon=EPSILON)


def lean(model: onnx.ModelProto, *, first_only: bool = False, also: str = "") -> onnx.ModelProto:
    """The model with its layers written anew; of the last one the first token alone, if no other is read.

    `also` names the states of the last layer among the outputs.
    """
    graph = Graph(model.graph)
    if also:
        shape = ("batch", "length", None)
        graph.read.output.append(helper.make_tensor_value_info(also, onnx.TensorProto.FLOAT, shape))
    norms, products = graph.of("LayerNormalization"), graph.of("MatMulInteger")
    layers = (len(norms) - 1) // 2
    begins, ends = norms[0].output[0], norms[-1].output[0]
    graph.add("Cast", ["mask"], "attended", to=onnx.TensorProto.INT32)
    state = begins
    for layer in range(layers):
        name = f"{layer}"
        own = products[OF_A_LAYER * layer : OF_A_LAYER * (layer + 1)]
        seen = _attention(graph, state, own[:3], name)
        if first_only and layer == layers - 1:
            seen, state = _first(graph, seen), _first(graph, state)
        told = graph.times(seen, own[3], f"{name}.told")
        told = graph.normed(told, state, norms[1 + 2 * layer], f"{name}.seen.norm")
        wide = graph.add("Gelu", [graph.times(told, own[4], f"{name}.wide")], f"{name}.turned", domain=MICROSOFT)
        narrow = graph.times(wide, own[5], f"{name}.narrow")
        state = graph.normed(narrow, told, norms[2 + 2 * layer], ends if layer == layers - 1 else f"{name}.state")
    if also:
        graph.add("Identity", [ends], also)
    before = graph.that_make([begins])
    made = {name for node in before for name in node.output}
    after = graph.that_make([each.name for each in graph.read.output], without={ends, *made})
    nodes = [*before, *graph.nodes, *after]
    used = {name for node in nodes for name in node.input}
    constants = [each for each in graph.read.initializer if each.name in used] + graph.constants
    written = helper.make_graph(nodes, "lean", graph.read.input, graph.read.output, constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(written, opset_imports=opsets, ir_version=8)


def _attention(graph: Graph, state: str, products: list[onnx.NodeProto], layer: str) -> str:
    """Queries, keys and values by one matrix product, then what each token sees of the others."""
    read = [graph.product(node) for node in products]
    weights, scales, zeros, bias = (
        graph.constant(f"{layer}.{name}", np.concatenate(parts, axis=-1))
        for name, parts in zip(("qkv", "qkv.scale", "qkv.zero", "qkv.bias"), zip(*read, strict=True), strict=True)
    )
    rounded = f"{layer}.rounded"
    graph.add("DynamicQuantizeLinear", [state], rounded, f"{rounded}.scale", f"{rounded}.zero")
    given = [rounded, weights, bias, f"{rounded}.scale", scales, "attended", f"{rounded}.zero", zeros]
    return graph.add("QAttention", given, f"{layer}.seen", domain=MICROSOFT, num_heads=HEADS, unidirectional=0)


def _first(graph: Graph, state: str) -> str:
    """The state of the first token."""
    ends = [graph.constant(f"{state}.first.{at}", np.array([at], np.int64)) for at in (0, 1)]
    return graph.add("Slice", [state, *ends, ends[1]], f"{state}.first")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("read")
    parser.add_argument("written")
    parser.add_argument("--first-only", action="store_true", help="of the last layer the first token alone")
    parser.add_argument("--also", default="", help="the name of an output with the states of all tokens")
    given = parser.parse_args()
    written = lean(onnx.load(given.read), first_only=given.first_only, also=given.also)
    onnx.checker.check_model(written)
    onnx.save(written, given.written)


if __name__ == "__main__":
    main()
