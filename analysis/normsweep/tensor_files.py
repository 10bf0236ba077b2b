"""Tensors in the files of others: safetensors, what torch.save wrote, several files with an index, a folder, a name of
Hugging Face's hub; and their JSON. Nothing in a file is trusted.

Tensors pass one at a time, large ones in pieces, so that a network larger than the memory converts. Files of
safetensors are read here: the library of this name maps files whole, and gives numpy no bfloat16.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
from typing import Any, BinaryIO, Callable, Iterator

import numpy as np

from .hints import Array
from .words import shown

CONFIG, ONE, BIN = "config.json", "model.safetensors", "pytorch_model.bin"
INDEX = ".index.json"
HEADER_MOST = 16 << 20  # bytes of a header, an index or a configuration
PIECE = 16 << 20  # bytes that pass at once
DTYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "F64": "<f8"}
SIZES = {"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4,
         "U32": 4, "F32": 4, "I64": 8, "U64": 8, "F64": 8}


class Refused(ValueError):
    """A file that is not read, or a network that is not written, in one line."""


# ---- JSON ----


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"'{key}' is there twice")
        found[key] = value
    return found


def no_number(word: str) -> None:
    raise ValueError(f"{word} is not a number of JSON")


def parse(content: bytes, place: str, between: str = ":") -> Any:
    """JSON as it is defined: no key twice, no NaN. place: the name of the text in messages."""
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=unique, parse_constant=no_number)
    except json.JSONDecodeError as error:
        raise Refused(f"{place}{between}{error.lineno}:{error.colno}: JSON: {error.msg}") from None
    except RecursionError:
        raise Refused(f"{place}: JSON: nested too deeply") from None
    except UnicodeDecodeError:
        raise Refused(f"{place}: JSON: not UTF-8") from None
    except ValueError as error:
        raise Refused(f"{place}: JSON: {error}") from None


def opened(path: str) -> BinaryIO:
    """A file for reading; one that is not a regular file might never end."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise Refused(f"{path}: is not a regular file")
    return open(path, "rb")


def parse_file(path: str) -> Any:
    with opened(path) as file:
        content = file.read(HEADER_MOST + 1)
    if len(content) > HEADER_MOST:
        raise Refused(f"{path}: larger than {HEADER_MOST} bytes")
    return parse(content, path)


# ---- tensors in files ----


@dataclasses.dataclass
class Stored:
    """A tensor in a file; `rows(first, last)` reads a part of it along its first dimension, as floats."""
    name: str
    file: str  # its path
    dtype: str
    shape: tuple[int, ...]
    rows: Callable[[int, int], Array]
    begin: int = 0
    end: int = 0

    def all(self) -> Array:
        return self.rows(0, self.shape[0]) if self.shape else self.rows(0, 1)

    def pieces(self, first: int = 0) -> Iterator[tuple[int, Array]]:
        step = max(1, PIECE // max(1, 4 * math.prod(self.shape[1:])))
        for at in range(first, self.shape[0] if self.shape else 1, step):
            yield at, self.rows(at, min(at + step, self.shape[0] if self.shape else 1))


def whole_numbers(value: Any, most: int) -> bool:
    return isinstance(value, list) and len(value) <= most and all(type(item) is int and item >= 0 for item in value)


def stored_of(path: str, name: str, entry: Any, data: int, room: int) -> Stored:
    """A tensor by its entry in the header; its elements are within the `room` bytes from `data` on."""
    if not isinstance(entry, dict):
        raise Refused("not an object with dtype, shape and data_offsets")
    shape: Any = entry.get("shape")
    offsets: Any = entry.get("data_offsets")
    dtype = entry.get("dtype")
    if not isinstance(dtype, str):
        raise Refused("no dtype")
    if dtype not in SIZES:
        raise Refused(f"unknown dtype '{shown(dtype)[:60]}'")
    if not whole_numbers(shape, 8):
        raise Refused("shape is not a list of up to 8 whole numbers")
    if not whole_numbers(offsets, 2) or len(offsets) != 2:
        raise Refused("data_offsets is not a list of two whole numbers")
    begin, end = offsets
    if begin > end or end > room:
        raise Refused(f"data_offsets {offsets} are not within {room} bytes of data; is the file whole?")
    if math.prod(shape) * SIZES[dtype] != end - begin:
        raise Refused(f"{end - begin} bytes for {math.prod(shape)} elements of {dtype}")

    def rows(first: int, last: int) -> Array:
        each = math.prod(shape[1:])
        with open(path, "rb") as file:
            file.seek(data + begin + first * each * SIZES[dtype])
            raw = np.fromfile(file, DTYPES[dtype], (last - first) * each)
        if len(raw) != (last - first) * each:
            raise Refused(f"{path}: changed while it was read")
        if dtype == "BF16":
            raw = (raw.astype("<u4") << 16).view("<f4")
        found: Array = raw.astype("f8" if dtype == "F64" else "f4", copy=False)
        return found.reshape((last - first, *shape[1:]) if shape else ())
    return Stored(name, path, dtype, tuple(shape), rows, begin, end)


def open_safetensors(path: str) -> list[Stored]:
    """Nothing in the file is trusted: tensors must neither overlap nor leave gaps, and together fill the file."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8:
            raise Refused(f"{path}: not a safetensors file: only {size} bytes")
        if length > HEADER_MOST:
            raise Refused(f"{path}: not a safetensors file: it does not begin with the length of a header")
        header = file.read(length)
    if len(header) < length:
        raise Refused(f"{path}: truncated: its header has {length} bytes, but only {len(header)} follow")
    if not header.startswith(b"{"):
        raise Refused(f"{path}: not a safetensors file: its header does not begin with '{{'")
    room, end, before, found = size - 8 - length, 0, "", []
    for name, entry in parse(header, f"{path}: header", " ").items():
        if name != "__metadata__":
            try:
                found.append(stored_of(path, name, entry, 8 + length, room))
            except Refused as error:
                raise Refused(f"{path}: {name}: {error}") from None
    for tensor in sorted(found, key=lambda tensor: (tensor.begin, tensor.end)):
        if tensor.begin > end:
            raise Refused(f"{path}: {tensor.name}: bytes before it belong to no tensor")
        if tensor.begin < end:
            raise Refused(f"{path}: {tensor.name}: overlaps {before}")
        end, before = tensor.end, tensor.name
    if end != room:
        raise Refused(f"{path}: {room - end} bytes at its end belong to no tensor")
    return found


def open_pytorch(path: str) -> list[Stored]:
    """What torch.save wrote, without running code that it may hold."""
    try:
        import torch
    except ModuleNotFoundError:
        raise Refused(f"{path}: saved by PyTorch; to read it: pip install torch") from None
    try:
        state = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except Exception:  # an older form, or an older torch, has no mmap
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:
            raise Refused(f"{path}: torch.load: {str(error).splitlines()[0] if str(error) else error!r}") from None
    if not isinstance(state, dict):
        raise Refused(f"{path}: not a dictionary of tensors")
    names = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.float64: "F64"}

    def stored(name: Any, tensor: Any) -> Stored:
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
            raise Refused(f"{path}: {name}: not a tensor")
        dtype = names.get(tensor.dtype, str(tensor.dtype).replace("torch.", ""))

        def rows(first: int, last: int) -> Array:
            part = tensor[first:last] if tensor.dim() else tensor
            found: Array = (part.double() if dtype == "F64" else part.float()).numpy()
            return found
        return Stored(name, path, dtype, tuple(tensor.shape), rows)
    return [stored(name, tensor) for name, tensor in state.items()]


def open_file(path: str) -> list[Stored]:
    with opened(path) as file:
        begin = file.read(4)
    return (open_pytorch if begin in (b"PK\3\4", b"\x80\2\x8a\n") else open_safetensors)(path)


def open_index(path: str) -> list[Stored]:
    """Several files: each tensor must be where the index says and nowhere else."""
    index, folder = parse_file(path), os.path.dirname(path)
    names = index.get("weight_map") if isinstance(index, dict) else None
    if os.path.basename(path) == CONFIG and names is None:
        raise Refused(f"{path}: not an index of weights; give its folder")
    if not isinstance(names, dict) or not names:
        raise Refused(f"{path}: no weight_map, an object from tensors to files")
    for name, file in names.items():
        if not isinstance(file, str) or shown(file, "") != file or not file or "/" in file or file in (".", ".."):
            raise Refused(f"{path}: weight_map: {name}: not the name of a file in this folder")
    found: dict[str, Stored] = {}
    for file in dict.fromkeys(names.values()):
        for tensor in open_file(os.path.join(folder, file)):
            if tensor.name in found:
                there = os.path.basename(found[tensor.name].file)
                raise Refused(f"{path}: {tensor.name} is in {there} and in {file}")
            found[tensor.name] = tensor
    for name, file in names.items():
        if name not in found or os.path.basename(found[name].file) != file:
            raise Refused(f"{os.path.join(folder, file)}: {name} is missing, which the index promises here")
    for name, tensor in found.items():
        if name not in names:
            raise Refused(f"{path}: {name} is in {os.path.basename(tensor.file)} and not in the index")
    return list(found.values())


def locate(path: str) -> str:
    """The file to read: `path`, what a folder of this name holds, or what the hub has under this name."""
    if not os.path.exists(path):
        path = from_hub(path)
    if not os.path.isdir(path):
        return path
    for name in (ONE, ONE + INDEX, BIN, BIN + INDEX):
        if os.path.exists(os.path.join(path, name)):
            return os.path.join(path, name)
    raise Refused(f"{path}: a folder without {ONE} and without {ONE + INDEX}, {BIN} or {BIN + INDEX}")


def from_hub(name: str) -> str:
    """The folder of a model of the hub, which the library downloads and keeps."""
    missing = f"{name}: No such file or directory"
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) or name.endswith((".safetensors", ".bin", ".json")):
        raise Refused(missing)
    try:
        import huggingface_hub as hub
    except ModuleNotFoundError:
        raise Refused(f"{missing}; to take it from Hugging Face's hub: pip install huggingface_hub") from None
    try:
        files = hub.list_repo_files(name)
        kind = ONE if any(file in (ONE, ONE + INDEX) for file in files) else BIN
        stem, end = kind.split(".")
        wanted = [CONFIG, f"{stem}*.{end}", kind + INDEX, "tokenizer*"]
        return str(hub.snapshot_download(name, allow_patterns=wanted))
    except Exception as error:
        raise Refused(f"{missing}, and not from the hub: {(str(error) or repr(error)).splitlines()[0]}") from None
