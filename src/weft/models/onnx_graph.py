"""Shows one more value of an ONNX model as an output, by writing the few bytes that say so.

The packaged model gives one vector a text. The vectors of its tokens are inside; with their name among the outputs the
same run gives both. An ONNX file is protobuf: a model is a list of fields, one of which is the graph, which is a list
of fields itself, so an output is added by appending a field to the graph and writing the graph's new length.
"""

from __future__ import annotations

_LENGTH_DELIMITED = 2
_GRAPH_FIELD = 7  # of ModelProto
_OUTPUT_FIELD = 12  # of GraphProto
_NAME_FIELD = 1  # of ValueInfoProto


def with_output(model: bytes, name: str) -> bytes:
    """The model with a value of its graph among its outputs. Raises ValueError for bytes that are no such model."""
    at = 0
    while at < len(model):
        start = at
        tag, at = _varint(model, at)
        if tag & 7 != _LENGTH_DELIMITED:
            if tag & 7:
                raise ValueError("not an ONNX model")
            _, at = _varint(model, at)
            continue
        size, at = _varint(model, at)
        if at + size > len(model):
            raise ValueError("not an ONNX model, or one cut short")
        if tag >> 3 == _GRAPH_FIELD:
            output = _field(_OUTPUT_FIELD, _field(_NAME_FIELD, name.encode()))
            head = _written(tag) + _written(size + len(output))
            return b"".join((model[:start], head, model[at : at + size], output, model[at + size :]))
        at += size
    raise ValueError("an ONNX model without a graph")


def _field(number: int, content: bytes) -> bytes:
    return _written(number << 3 | _LENGTH_DELIMITED) + _written(len(content)) + content


def _varint(data: bytes, at: int) -> tuple[int, int]:
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


def _written(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
