"""Reads a constant of an ONNX file, which is protobuf: a list of fields, one of which is the graph, a list as well."""

from __future__ import annotations

from collections.abc import Iterator

_LENGTH_DELIMITED = 2
_FIXED = {1: 8, 5: 4}  # wire types of a set size
_GRAPH_FIELD = 7  # of ModelProto
_INITIALIZER_FIELD = 5  # of GraphProto
_TENSOR_NAME_FIELD, _TENSOR_RAW_FIELD = 8, 9  # of TensorProto


def _varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("not an ONNX model")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def initializer(model: bytes | memoryview, name: str) -> memoryview:
    """The raw bytes of a constant of the model's graph. Raises ValueError if there is none of that name."""
    graph = next((content for number, content in _fields(memoryview(model)) if number == _GRAPH_FIELD), None)
    wanted = name.encode()
    for number, tensor in _fields(graph) if graph is not None else ():
        if number != _INITIALIZER_FIELD:
            continue
        parts = dict(_fields(tensor))
        if bytes(parts.get(_TENSOR_NAME_FIELD, b"")) == wanted and _TENSOR_RAW_FIELD in parts:
            return parts[_TENSOR_RAW_FIELD]
    raise ValueError(f"the model holds no constant {name!r}")


def _fields(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """The length-delimited fields of a message, by number; others are skipped."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag & 7 == _LENGTH_DELIMITED:
            size, at = _varint(data, at)
            yield tag >> 3, data[at : at + size]
            at += size
        elif tag & 7 == 0:
            _, at = _varint(data, at)
        elif tag & 7 in _FIXED:
            at += _FIXED[tag & 7]
        else:
            raise ValueError("not an ONNX model")
