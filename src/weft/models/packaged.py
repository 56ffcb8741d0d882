"""The models inside the package: their files checked, and opened. The tokenizer is one for all of them.

An ONNX file is protobuf: a model is a list of fields, one of which is the graph, itself a list of fields.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from weft.core.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_SUMS = "SHA256SUMS"
_MODEL, _TOKENIZER = "model.onnx", "tokenizer.json"
_WITH_TOKENIZER = Path(__file__).parent / "minilm_l6_v2"
_tokenizer_lock = Lock()

_LENGTH_DELIMITED = 2
_FIXED = {1: 8, 5: 4}  # wire types of a set size
_GRAPH_FIELD = 7  # of ModelProto
_INITIALIZER_FIELD = 5  # of GraphProto
_TENSOR_NAME_FIELD, _TENSOR_RAW_FIELD = 8, 9  # of TensorProto


def packaged_session(directory: Path, what: str, instead: str) -> tuple[Any, tuple[type[Exception], ...]]:
    """A session of one thread on a directory's model, and onnxruntime's exceptions, which have no common base.

    Raises ModelError, which names the model and says what to do instead.
    """
    os.putenv("ORT_DISABLE_TELEMETRY", "1")  # otherwise it sends telemetry from its import on
    try:
        # First, and whole: onnxruntime imports a part of it, and two threads that import a part and the whole at the
        # same time get halves of both.
        import numpy  # noqa: F401
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as kinds
    except ImportError as error:
        raise ModelError(f"{what} cannot be loaded: {error}", hint=instead) from error
    if problems := verify_model_files(directory, _MODEL):
        raise ModelError("; ".join(problems), hint=instead)
    faults = (kinds.Fail, kinds.InvalidGraph, kinds.NotImplemented, kinds.RuntimeException)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: stderr belongs to the surfaces
    # The file's operations are as they should run: more fusing makes them slower, and loading too.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        session = onnxruntime.InferenceSession(str(directory / _MODEL), options, providers=["CPUExecutionProvider"])
    except (*faults, OSError, ValueError) as error:
        raise ModelError(f"onnxruntime cannot read {what}: {error}", hint=instead) from error
    return session, faults


def packaged_tokenizer() -> Tokenizer:
    """The process's tokenizer, which threads share; the first caller loads it while others wait. Raises ModelError."""
    with _tokenizer_lock:
        return _loaded_tokenizer()


@lru_cache(maxsize=1)
def _loaded_tokenizer() -> Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ModelError(f"the tokenizer cannot be loaded: {error}", hint="reinstall weft") from error
    if problems := verify_model_files(_WITH_TOKENIZER, _TOKENIZER):
        raise ModelError("; ".join(problems), hint="reinstall weft")
    return Tokenizer.from_file(str(_WITH_TOKENIZER / _TOKENIZER))


def verify_model_files(directory: Path, *names: str) -> tuple[str, ...]:
    """Problems of these files of a packaged model, or of all, against their SHA256SUMS, one line each; 20 ms each."""
    problems = []
    try:
        lines = (directory / _SUMS).read_text(encoding="ascii").splitlines()
    except OSError as error:
        return (f"{_SUMS} of the built-in model cannot be read: {error}",)
    for line in lines:
        expected, name = line.split()
        if names and name not in names:
            continue
        try:
            with (directory / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            problems.append(f"{name} of the built-in model cannot be read: {error}")
            continue
        if found != expected:
            problems.append(f"{name} of the built-in model is damaged: sha256 is {found}, not {expected}")
    return tuple(problems)


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
