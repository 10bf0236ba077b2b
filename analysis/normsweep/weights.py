"""Networks of others as weights files of this program, and back: `analysis/weights` calls read_network, write_network
and export_network.

Tensors pass one at a time, large ones in pieces, so that a network larger than the memory converts. Files of
safetensors are read and written here: the library of this name maps files whole, gives numpy no bfloat16, and writes
only what is in memory. A weights file has the form that docs/formats.md describes, and a checksum over all of it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import re
from typing import Any, BinaryIO, Callable, Iterator, Optional, Union

import netCDF4
import numpy as np

from .families import (ARCHITECTURE, BASE, BIASES, BLOCKS, CHOICES, FAMILIES, QUERIES, SIZE, TENSORS, WORDS, Family,
                       Row, any_of, lengths, stacks, tensors_of)
from .hints import Array
from .names import FORMAT
from .words import shown

TITLE, RUN = "weights of a network", "normsweep"
CONFIG, ONE, BIN = "config.json", "model.safetensors", "pytorch_model.bin"
INDEX = ".index.json"
HEADER_MOST = 16 << 20  # bytes of a header, an index or a configuration
PIECE = 16 << 20  # bytes that pass at once
DTYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "F64": "<f8"}
SIZES = {"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4,
         "U32": 4, "F32": 4, "I64": 8, "U64": 8, "F64": 8}
ACTIVATIONS = {"gelu": "gelu", "gelu_python": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh",
               "gelu_fast": "gelu_tanh", "silu": "silu", "swish": "silu", "relu": "relu"}


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
    """A file for reading; one that is no regular file might never end."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise Refused(f"{path}: is no regular file")
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


# ---- config.json ----


class Config:
    """A config.json, or an object in it. A key that is absent or null has the value `initial`."""

    def __init__(self, path: str, values: dict[str, Any], place: str = ""):
        self.path, self.values, self.place = path, values, place

    def has(self, key: str) -> bool:
        return self.values.get(key) is not None

    def is_null(self, key: str) -> bool:
        return key in self.values and self.values[key] is None

    def fail(self, message: str) -> None:
        raise Refused(f"{self.path}: {self.place}{message}")

    def refuse(self, key: str, taken: str) -> None:
        value = self.values[key]
        text = f"{value:.6g}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False,
                                                                          separators=(",", ":"))
        self.fail(f"{key}: {shown(text)[:80]} is not {taken}")

    def within(self, key: str) -> Optional[Config]:
        if self.has(key) and not isinstance(self.values[key], dict):
            self.refuse(key, "an object")
        return Config(self.path, self.values[key], f"{key}: ") if self.has(key) else None

    def whole(self, key: str, least: int, most: int, initial: int) -> int:
        value = self.values.get(key)
        if value is None:
            return initial
        if type(value) is not int or value < least:
            self.refuse(key, f"a whole number from {least} on")
        if value > most:
            self.refuse(key, f"a whole number up to {most}")
        return int(value)

    def positive(self, key: str, initial: float) -> float:
        value = self.values.get(key)
        if value is not None and (type(value) not in (int, float) or not value > 0):
            self.refuse(key, "a number above 0")
        if value is not None and value > BASE:
            self.refuse(key, f"a number up to {BASE:g}")
        return initial if value is None else float(value)

    def real(self, key: str, least: float, most: float, initial: float) -> float:
        value = self.values.get(key)
        if value is not None and (type(value) not in (int, float) or not least <= value <= most):
            self.refuse(key, f"a number from {least:g} to {most:g}")
        return float(initial if value is None else value)

    def true(self, key: str, initial: bool) -> bool:
        if self.has(key) and type(self.values[key]) is not bool:
            self.refuse(key, "true or false")
        return bool(self.values[key]) if self.has(key) else initial

    def word(self, key: str, initial: str) -> str:
        if self.has(key) and not isinstance(self.values[key], str):
            self.refuse(key, "a word")
        return str(self.values[key]) if self.has(key) else initial

    def activation(self, key: str, initial: str) -> str:
        if not self.has(key):
            return initial
        word = self.values[key]
        if not isinstance(word, str) or word not in ACTIVATIONS:
            self.refuse(key, any_of(ACTIVATIONS))
        return ACTIVATIONS[word]

    def only(self, values: dict[str, Any]) -> None:
        """Refuses anything but these values."""
        for key, value in values.items():
            if self.has(key) and (type(self.values[key]), self.values[key]) != (type(value), value):
                self.refuse(key, json.dumps(value).strip('"'))

    def field(self, key: str, name: str, kind: Any, a: dict[str, Any]) -> None:
        """Sets an attribute of an architecture to what a key says."""
        if isinstance(kind, int):
            a[name] = self.whole(key, 1, kind, a[name])
        elif kind == "positive":
            a[name] = self.positive(key, a[name])
        elif kind == "activation":
            a[name] = self.activation(key, a[name])
        elif kind == "scaled":
            a[name] = "sqrt" if self.true(key, a[name] == "sqrt") else "none"
        else:
            a.update({bias: self.true(key, a[bias]) for bias in name.split()})


def field_value(name: str, kind: Any, a: dict[str, Any]) -> Any:
    """The value of a key for an architecture: Config.field the other way round."""
    if kind == "activation":
        return next(word for word, activation in ACTIVATIONS.items() if activation == a[name])
    if kind == "scaled":
        return a[name] == "sqrt"
    return a[name.split()[0]] if kind == "biases" else a[name]


# ---- a network of others ----


@dataclasses.dataclass
class Network:
    """What the files of a network say; `tensors` are those of its architecture, `left_out` what else they hold."""
    model_type: str
    family: Family
    path: str  # of the file, or of the index
    config: Optional[str]  # the text of config.json
    architecture: dict[str, Any]
    stored: dict[str, Stored]
    prefixed: bool = False
    has_output: bool = False
    start: int = -1  # tokens
    end: int = -1
    padding: int = -1
    padded_rows: int = 0
    tied: bool = False
    surely_tied: bool = False
    gelu_transform: bool = False
    tensors: list[tuple[str, int, Row, Stored]] = dataclasses.field(default_factory=list)
    left_out: list[str] = dataclasses.field(default_factory=list)

    # -- names --

    def prefix(self, outside: bool) -> str:
        return self.family.prefix if self.prefixed and not outside else ""

    def name(self, row: Row, block: int) -> str:
        return self.prefix(row.outside) + row.name.replace("#", str(block))

    def row(self, kind: str, layer: int) -> Optional[Row]:
        first, gated = self.architecture["layers"], self.architecture["gated"]
        of_decoder = len(stacks(self.architecture)) > 1 and layer >= first
        for row in self.family.rows:
            if row.kind == kind and row.gated in (None, gated) and (
                    TENSORS[kind][0] != "layer" or row.of_decoder == of_decoder):
                return row
        return None

    def find(self, row: Row, block: int = -1) -> Optional[Stored]:
        """Files of the first years call a norm's tensors gamma and beta."""
        name = self.name(row, block)
        older = re.sub("weight$", "gamma", re.sub("bias$", "beta", name))
        norm = row.kind.startswith(("ln", "cross_ln")) or "norm" in row.kind or "final" in row.kind
        return self.stored.get(name) or (self.stored.get(older) if norm else None)

    def find_kind(self, kind: str) -> Optional[Stored]:
        row = self.row(kind, -1)
        return self.find(row) if row else None

    def need(self, row: Row, block: int = -1) -> Stored:
        found = self.find(row, block)
        if found:
            return found
        if self.prefixed and row.outside:
            raise Refused(f"{self.name(row, block)} is missing; if the network has another output, save its "
                          "base_model alone")
        raise Refused(f"{self.name(row, block)} is missing; expected the tensors of {self.family.title} as Hugging "
                      "Face names them")

    # -- shapes --

    def shape(self, row: Row) -> tuple[int, ...]:
        """In files."""
        a, of = self.architecture, lengths(self.architecture)

        def length(name: str, times: int) -> list[int]:
            if row.heads and name in ("queries", "keys"):
                return [of[name] // a["head_width"], a["head_width"]]
            return [times * of[name]]
        *out, last = TENSORS[row.kind][1]
        if not out:
            return tuple(length(last, row.parts))
        if row.turned:
            return (*length(last, 1), *length(out[0], row.parts))
        first, *rest = length(out[0], row.parts)
        return (first + (self.padded_rows if row.padded else 0), *rest, *length(last, 1))

    def check(self, row: Row, stored: Stored) -> None:
        self.check_type(stored)
        self.check_shape(stored, self.shape(row))

    def check_type(self, stored: Stored) -> None:
        if stored.dtype not in DTYPES:
            raise Refused(f"{self.of_file(stored)}{stored.name}: dtype {stored.dtype} is not supported; use F32, F16, "
                          "BF16 or F64")

    def check_shape(self, stored: Stored, shape: tuple[int, ...]) -> None:
        if stored.shape != shape:
            raise Refused(f"{self.of_file(stored)}{stored.name}: shape {list(stored.shape)}, not {list(shape)}")

    def of_file(self, stored: Stored) -> str:
        """Of several files, names the one that holds a tensor."""
        several = len({one.file for one in self.stored.values()}) > 1
        return f"{os.path.basename(stored.file)}: " if several else ""

    # -- the architecture --

    def read_sizes(self) -> None:
        """From the tensors: for a configuration that is lost or lacks them."""
        def lengths_of(kind: str) -> tuple[int, int]:
            row = next(row for row in self.family.rows if row.kind == kind)
            stored = self.need(row, 0)
            self.check_type(stored)
            most = (WORDS if kind == "token" else SIZE, SIZE)
            if len(stored.shape) != 2 or not all(0 < there <= at for there, at in zip(stored.shape, most)):
                raise Refused(f"{stored.name}: shape {list(stored.shape)} is not that of a matrix of "
                              f"{self.family.title}")
            out, width = reversed(stored.shape) if row.turned else stored.shape
            return out, width
        rows: list[Union[Row, str]] = [*self.family.rows, *self.family.others]
        matches = [self.pattern(row).fullmatch(name) for row in rows for name in self.stored]
        blocks = [int(found[1]) for found in matches if found and found.groups()]
        vocabulary, width = lengths_of("token")
        self.architecture.update(vocabulary=vocabulary, width=width, context=lengths_of("position")[0],
                                 feedforward=lengths_of("w1")[0],
                                 layers=1 + max((block for block in blocks if block < BLOCKS), default=0))

    def pattern(self, row: Union[Row, str]) -> re.Pattern[str]:
        """Of the names of a row, or of one of the other tensors; its group is the block."""
        name = self.prefix(False) + row if isinstance(row, str) else self.prefix(row.outside) + row.name
        return re.compile(re.escape(name).replace(r"\#", "(0|[1-9][0-9]{0,9})"))

    def settle_heads(self, heads: int) -> None:
        a = self.architecture
        if heads and not self.family.sized:
            raise Refused(f"config.json has the number of heads of a {self.family.title}; leave out --heads")
        a["heads"] = heads or a["heads"]
        if not a["heads"]:
            raise Refused("unknown number of attention heads; give --heads N, or n_head in a config.json beside it")
        a["kv_heads"] = a["kv_heads"] or a["heads"]
        if not a["head_width"] and a["width"] % a["heads"]:
            raise Refused(f"{a['heads']} heads do not divide the width of {a['width']}")
        a["head_width"] = a["head_width"] or a["width"] // a["heads"]
        if a["heads"] % a["kv_heads"]:
            raise Refused(f"{a['kv_heads']} heads of keys and values do not divide the {a['heads']} heads")
        if a["heads"] * a["head_width"] > QUERIES:
            raise Refused(f"{a['heads']} heads of {a['head_width']} are more than {QUERIES} together")

    def predicts(self) -> bool:
        """Has the network an output layer? Language models have one if it is tied, and then no tensor for it, or if its
        matrix is there; with the prefix of a model that has one, it must be. Others have more tensors behind the
        stacks, all or none of them."""
        if self.architecture["transform"]:
            return any(self.find_kind(kind) for kind, (place, *_) in TENSORS.items() if place == "output")
        return self.row("output", -1) is not None and bool(self.tied or self.prefixed or self.find_kind("output"))

    def settle_output(self) -> None:
        a, output = self.architecture, self.find_kind("output")
        self.has_output = self.predicts()
        a["tied"] = self.tied or not self.has_output
        if not self.has_output:
            a.update(output_bias=False, transform=False, output_scale=0.0)
            return
        if self.gelu_transform and a["activation"] != "gelu":
            raise Refused("its prediction layer has gelu, but hidden_act in config.json is another activation")
        if output:
            a["tied"], token = self.equals(output, "token")
            if not a["tied"] and self.surely_tied:
                raise Refused(f"{output.name} differs from {token.name}, but tie_word_embeddings in config.json makes "
                              "them one")

    def equals(self, stored: Stored, kind: str) -> tuple[bool, Stored]:
        """Is it the same as another tensor of the network, whose name it also gives? Checks the type and shape of
        both."""
        row = self.row(kind, -1)
        assert row
        other = self.need(row)
        self.check(row, other)
        self.check_type(stored)
        self.check_shape(stored, other.shape)
        return all(np.array_equal(part, other.rows(at, at + len(part))) for at, part in stored.pieces()), other

    # -- all tensors --

    def match(self) -> None:
        """Finds all tensors of the architecture; the files may hold no others but those that the family names."""
        first = self.architecture["layers"]
        for kind, layer in tensors_of(self.architecture):
            row = self.row(kind, layer)
            assert row, (kind, self.model_type)
            block = layer - first if row.of_decoder else layer
            stored = self.need(row, block)
            self.check(row, stored)
            self.tensors.append((kind, layer, row, stored))
        known = {stored.name for *_, stored in self.tensors}
        output = self.find_kind("output")
        known |= {output.name} if output else set()  # tied: it has been compared with the embedding
        for name in sorted(self.stored.keys() - known):
            self.check_other(self.stored[name])

    def check_other(self, stored: Stored) -> None:
        """A tensor that does not belong to the model: a copy, or one that need not be read."""
        name, where = stored.name, self.of_file(stored) + stored.name
        kind = self.family.copies.get(name)
        found = [match for other in self.family.others if (match := self.pattern(other).fullmatch(name))]
        if name in self.family.outside or any(not match.groups() or int(match[1]) < BLOCKS for match in found):
            self.left_out.append(name)
        elif kind is None:
            self.refuse_other(name, where)
        else:
            row = self.row(kind, -1)
            if row and self.find(row):
                same, other = self.equals(stored, kind)
                if not same:
                    raise Refused(f"{where}: not a copy of {other.name}, which it has to be")

    def refuse_other(self, name: str, where: str) -> None:
        for row in self.family.rows:
            found = self.pattern(row).fullmatch(name)
            if found and found.groups() and int(found[1]) < BLOCKS:
                blocks = stacks(self.architecture)[1 if row.of_decoder else 0]
                if int(found[1]) >= blocks:
                    raise Refused(f"{where}: block {found[1]}, but config.json has {blocks} layer"
                                  f"{'s' if blocks > 1 else ''}, from 0 on")
        if self.prefixed and not name.startswith(self.family.prefix):
            raise Refused(f"{where}: not a part of {self.family.title} or of its output; save the base_model alone")
        raise Refused(f"{where}: {self.family.title} has no such tensor")

    def values(self, row: Row, stored: Stored) -> Iterator[tuple[int, Array]]:
        """A tensor of the network as it has it, [out, in], in pieces of some rows."""
        *out, last = (lengths(self.architecture)[name] for name in TENSORS[row.kind][1])
        if row.turned and out:
            part = slice(row.part * out[0], (row.part + 1) * out[0])
            whole = np.empty((out[0], last), "f8" if stored.dtype == "F64" else "f4")
            for at, piece in stored.pieces():
                whole[:, at:at + len(piece)] = piece.reshape(len(piece), -1)[:, part].T
            yield 0, whole
        elif out:
            skipped = self.padded_rows if row.padded else 0
            for at, piece in stored.pieces(skipped):
                yield at - skipped, piece.reshape(len(piece), last)
        else:
            yield 0, stored.all().reshape(-1)[row.part * last:(row.part + 1) * last]


def read_network(path: str, heads: int = 0) -> Network:
    """Opens a folder, a file or an index, or a name of the hub. Every tensor is checked for its name, type and shape,
    none is read yet. heads: of a GPT-2 without config.json. Raises Refused, or OSError."""
    path = locate(path)
    tensors = open_index(path) if path.endswith(".json") else open_file(path)
    beside, text = os.path.join(os.path.dirname(path), CONFIG), None
    if os.path.exists(beside):
        values = parse_file(beside)
        if not isinstance(values, dict):
            raise Refused(f"{beside}: not an object")
        text = json.dumps(values, ensure_ascii=True, sort_keys=True)
    config = Config(beside, values if text else {})
    model_type = config.word("model_type", "gpt2")
    if model_type not in FAMILIES:
        config.refuse("model_type", any_of(FAMILIES))
    family = FAMILIES[model_type]
    network = Network(model_type, family, path, text, ARCHITECTURE | family.initial,
                      {tensor.name: tensor for tensor in tensors})
    token = next(row for row in family.rows if row.kind == "token")
    network.prefixed = bool(family.prefix) and family.prefix + token.name in network.stored
    try:
        if text is None and not network.find(token):
            raise Refused(f"no config.json beside it; without one only a {family.title} is read, and "
                          f"{network.name(token, -1)} is missing")
        if family.sized:
            network.read_sizes()
        read_config(network, config, heads)
        network.settle_heads(heads)
        network.settle_output()
        network.match()
    except Refused as error:
        raise error if str(error).startswith(beside) else Refused(f"{path}: {error}") from None
    return network


def read_config(network: Network, config: Config, heads: int) -> None:
    family, a = network.family, network.architecture
    for key, name, kind in family.keys:
        if key in family.needed and not config.has(key):
            config.fail(f"{key} is missing")
        config.field(key, name, kind, a)
    config.only(family.only)
    network.tied = config.true("tie_word_embeddings", family.tied)
    network.surely_tied = network.tied and (family.surely_tied or config.has("tie_word_embeddings"))
    if family.read:
        family.read(config, network)
    if heads and family.sized and a["heads"] and a["heads"] != heads:
        config.fail(f"n_head: {a['heads']}, but --heads {heads}; leave --heads out")


# ---- the checksum of a weights file: worker/checkpoint/checksum.c, with the place of seal.c ----

LANES = 1024
PRIME, BASIS, SHIFT = np.uint64(0x100000001b3), np.uint64(0xcbf29ce484222325), np.uint64(29)
MARKER = b"\0\0\0\0\0\0\0\x08checksum\0\0\0\x02\0\0\0\0\0\0\0\x10"
BLANK = "-" * 16


def mix(hashed: Array, word: Array) -> Array:
    hashed = (hashed ^ word) * PRIME
    return hashed ^ hashed >> SHIFT


def checksum(file: BinaryIO) -> tuple[int, bytes]:
    """(the place of the checksum in an open file, what it should be); place -1: it has none."""
    lanes, size, place = BASIS + np.arange(LANES, dtype="u8"), 0, -1
    file.seek(0)
    while block := file.read(1 << 20):
        if size == 0:
            place = block.find(MARKER)
            if place < 0:
                return -1, b""
            place += len(MARKER)
            block = block[:place] + bytes(16) + block[place + 16:]
        size += len(block)
        for words in np.frombuffer(block + bytes(-len(block) % (8 * LANES)), "<u8").reshape(-1, LANES):
            lanes = mix(lanes, words)
    value = np.full(1, BASIS)
    for word in (np.full(1, size, "u8"), *lanes.reshape(-1, 1)):
        value = mix(value, word)
    return place, b"%016x" % int(value[0])


def seal(path: str) -> None:
    with open(path, "r+b") as file:
        place, value = checksum(file)
        file.seek(place)
        file.write(value)
        file.flush()
        os.fsync(file.fileno())


# ---- the weights file ----

ROOM = 1 << 16  # bytes of a header, beside those of its texts
INPUT = "input"  # the dimension of a matrix's columns, where its rows have the same one


def write_network(network: Network, path: str) -> int:
    """Writes a new weights file. Returns the number of weights. Raises Refused, or OSError, and then leaves a file."""
    a, kinds = network.architecture, list(dict.fromkeys(kind for kind, *_ in network.tensors))
    double = any(stored.dtype == "F64" for *_, stored in network.tensors)
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as file:
        file.set_fill_off()
        file.setncattr("checksum", BLANK)  # first, so that it is in the file's first bytes
        define(file, network, "double" if double else "float")
        file.setncattr("room", " " * ROOM)  # so that no header that grows moves all data, which it would each time
        described = file.createVariable("architecture", "i4")
        file.delncattr("room")
        for name, value in a.items():
            described.setncattr(name, attribute(value))
        described[...] = 0
        for kind in kinds:
            file.createVariable(kind, "f8" if double else "f4", dimensions_of(file, kind, a))
        for kind, layer, row, stored in sorted(network.tensors, key=lambda tensor: kinds.index(tensor[0])):
            where = (layer,) if layer >= 0 else ()
            for at, values in network.values(row, stored):
                if not np.isfinite(values).all():
                    raise Refused(f"{network.path}: {network.of_file(stored)}{stored.name}: not all values are finite "
                                  f"as a {'double' if double else 'float'}")
                file[kind][(*where, slice(at, at + len(values)))] = values
    seal(path)
    return sum(math.prod(lengths(a)[name] for name in TENSORS[kind][1]) for kind, *_ in network.tensors)


def define(file: Any, network: Network, scalar: str) -> None:
    texts = {"title": TITLE, "format_version": np.int64(FORMAT), "family": network.model_type, "scalar": scalar,
             "has_output": attribute(network.has_output), "start_token": np.int64(network.start),
             "end_token": np.int64(network.end), "padding_token": np.int64(network.padding)}
    for name, value in texts.items():
        file.setncattr(name, value)
    file.setncattr("file", os.path.basename(os.path.dirname(os.path.abspath(network.path))))
    if network.config is not None:
        file.setncattr("config", network.config)


def attribute(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return np.int64(value) if isinstance(value, int) else value


def dimensions_of(file: Any, kind: str, a: dict[str, Any]) -> list[str]:
    """The names of a variable's dimensions, which are made where they are not there."""
    place, names, _ = TENSORS[kind]
    of = {**lengths(a), "block": sum(stacks(a))}
    used = ["block"] * (place == "layer") + list(names)
    if len(names) == 2 and names[0] == names[1]:
        used[-1], of[INPUT] = INPUT, of[names[1]]
    for name in used:
        if name not in file.dimensions:
            file.createDimension(name, of[name])
    return used


@dataclasses.dataclass
class Saved:
    """An open weights file."""
    path: str
    file: Any
    architecture: dict[str, Any]

    def rows(self, kind: str, layer: int, first: int, last: int) -> Array:
        where = (layer,) if layer >= 0 else ()
        found: Array = self.file[kind][(*where, slice(first, last))]
        return found

    def get(self, name: str) -> Any:
        return getattr(self.file, name, None)


@contextlib.contextmanager
def open_saved(path: str) -> Iterator[Saved]:
    """Opens a weights file whose checksum is right."""
    where = (f"{path}: not a weights file, which save_weights: true keeps as OUT.nc.d/<digest>.weights.nc, or "
             "analysis/weights import writes")
    with opened(path) as raw:
        place, value = checksum(raw)
        raw.seek(max(place, 0))
        if place < 0:
            raise Refused(where)
        if raw.read(16) != value:
            raise Refused(f"{path}: damaged (checksum); copy it again, or train or import it anew")
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        title, version = (getattr(file, name, None) for name in ("title", "format_version"))
        if title == "checkpoint of a run":
            raise Refused(f"{path}: a checkpoint of a run under way, not its final weights")
        if title != TITLE or "architecture" not in file.variables:
            raise Refused(where)
        if version != FORMAT:
            raise Refused(f"{path}: format version {version} is of another version of this program, which reads "
                          f"{FORMAT}; train or import it anew")
        yield Saved(path, file, checked(path, file))


def checked(path: str, file: Any) -> dict[str, Any]:
    """The architecture of an open weights file, whose attributes and variables fit each other."""
    said, a = file["architecture"], {}
    for name, initial in ARCHITECTURE.items():
        value = getattr(said, name, None)
        if isinstance(initial, bool):
            good = value in ("true", "false")
            a[name] = value == "true"
        elif isinstance(initial, str):
            good = value in CHOICES[name]
            a[name] = value
        else:
            kind = np.integer if isinstance(initial, int) else np.floating
            least = 1 if name in ("vocabulary", "context", "width", "heads", "kv_heads", "head_width", "feedforward",
                                  "layers") else 0
            good = isinstance(value, kind) and least <= value <= (WORDS if kind is np.integer else BASE)
            a[name] = type(initial)(value) if good else initial
        if not good:
            raise Refused(f"{path}: the attribute architecture:{name} is missing or not what it can be")
    if a["heads"] % a["kv_heads"] or a["layers"] + a["decoder_layers"] > BLOCKS:
        raise Refused(f"{path}: the attributes of architecture contradict each other")
    if (a["network"] == "encoder_decoder") != (a["decoder_layers"] > 0):
        raise Refused(f"{path}: decoder_layers are for an encoder_decoder, which needs them")
    for name in ("start_token", "end_token", "padding_token"):
        value = getattr(file, name, None)
        if not isinstance(value, np.integer) or not -1 <= value < a["vocabulary"]:
            raise Refused(f"{path}: the attribute {name} is missing or no token")
    if getattr(file, "scalar", None) not in ("float", "double"):
        raise Refused(f"{path}: the attribute scalar is neither float nor double")
    for kind in dict.fromkeys(kind for kind, _ in tensors_of(a)):
        place, names, _ = TENSORS[kind]
        shape = [sum(stacks(a))] * (place == "layer") + [lengths(a)[name] for name in names]
        if kind not in file.variables or list(file[kind].shape) != shape or file[kind].dtype.kind != "f":
            raise Refused(f"{path}: variable {kind} does not fit the architecture")
    return a


# ---- a run, or a network of others, as files of the library ----

# What each of the two needs that a run can be written as; a key that is not here fits both.
HOMES: dict[str, dict[str, tuple[str, ...]]] = {
    "gpt2": {"network": ("decoder",), "norm_placement": ("pre",), "qk_norm": ("false",), "attention_mask": ("causal",),
             "positions": ("learned", "sinusoidal", "none"), "norm": ("layernorm",), "gated": ("false",)},
    "llama": {"network": ("decoder",), "norm_placement": ("pre",), "qk_norm": ("false",), "attention_mask": ("causal",),
              "positions": ("rotary",), "norm": ("rmsnorm",), "gated": ("true",)}}
CLASSES = {"gpt2": "GPT2LMHeadModel", "llama": "LlamaForCausalLM"}
DROPOUTS = {"gpt2": ("attn_pdrop", "embd_pdrop", "resid_pdrop"), "llama": ("attention_dropout",)}  # a run has none


def home_of(saved: Saved) -> str:
    """The model_type that computes what a run computes. Raises Refused, naming the key that is in the way."""
    unmet = {home: [key for key, words in needs.items() if saved.get(key) not in words]
             for home, needs in HOMES.items()}
    for home, keys in unmet.items():
        if not keys:
            return home
    both = [key for key in unmet["gpt2"] if key in unmet["llama"]]
    need = {home: {key: " or ".join(words) for key, words in needs.items()} for home, needs in HOMES.items()}
    if both:
        key, value = both[0], saved.get(both[0])
        first, second = need["gpt2"][key], need["llama"][key]
        if first == second:
            raise Refused(f"{saved.path}: {key}: {value} fits neither gpt2 nor llama, which need {first}")
        raise Refused(f"{saved.path}: {key}: {value} fits neither gpt2, which needs {first}, nor llama, which needs "
                      f"{second}")
    said = [f"{home} needs {keys[0]}: {need[home][keys[0]]}, not {saved.get(keys[0])}" for home, keys in unmet.items()]
    raise Refused(f"{saved.path}: {'; '.join(said)}")


class Export:
    """A weights file as its family names and shapes it. Three things that homes of runs do not have are folded into
    the weights, in double, rounded once: the scale of the sub-layers into what writes to the residual stream; scores
    without 1 / sqrt(D) into the queries; for GPT-2, keys and values that heads share by repeating them. Tensors that
    GPT-2 has and the run lacks are zeros, or fixed positions."""

    def __init__(self, saved: Saved):
        self.saved, self.run = saved, saved.architecture
        of_run = saved.get("family") == RUN
        self.model_type = home_of(saved) if of_run else str(saved.get("family"))
        if self.model_type not in FAMILIES:
            raise Refused(f"{saved.path}: family {shown(self.model_type)} is not {any_of(FAMILIES)}")
        self.dtype = np.dtype("<f8" if saved.get("scalar") == "double" else "<f4")
        a = dict(self.run)
        if of_run:
            self.check_output_bias()
            a.update(residual_scale=1.0, score_scale="sqrt", output_scale=0.0, output_bias=False)
            if self.model_type == "gpt2":
                a.update(positions="learned", kv_heads=a["heads"], **dict.fromkeys(BIASES[:4], True))
        text = saved.get("config")
        self.network = Network(self.model_type, FAMILIES[self.model_type], saved.path, text, a, {}, prefixed=True,
                               padding=int(saved.get("padding_token")))
        self.network.padded_rows = self.network.padding + 1
        self.config = self.config_of_run() if of_run else self.config_of_file(text) if text else self.config_of_sizes()
        # [(name, shape, [(tensor, block, its row)])]: the parts of one tensor of the files are neighbours.
        self.tensors: dict[str, tuple[tuple[int, ...], list[tuple[str, int, Row]]]] = {}
        for kind, layer in tensors_of(a):
            row = self.network.row(kind, layer)
            if not row:
                raise Refused(f"{saved.path}: a {self.network.family.title} has no {kind}; is the family right?")
            name = self.network.name(row, layer - a["layers"] if row.of_decoder else layer)
            self.tensors.setdefault(name, (self.network.shape(row), []))[1].append((kind, layer, row))

    def check_output_bias(self) -> None:
        """A bias of the output that is 0 everywhere does no harm."""
        if self.run["output_bias"] and np.any(self.saved.rows("output_bias", -1, 0, self.run["vocabulary"])):
            raise Refused(f"{self.saved.path}: output_bias: true fits neither gpt2 nor llama, whose logits have no "
                          "bias; train with output_bias: false")

    def config_of_file(self, text: Any) -> dict[str, Any]:
        found = parse(str(text).encode(), f"{self.saved.path}: the attribute config", " ")
        if not isinstance(found, dict):
            raise Refused(f"{self.saved.path}: the attribute config is not an object of JSON")
        return found

    def config_of_sizes(self) -> dict[str, Any]:
        return {"model_type": self.model_type, **{key: field_value(name, kind, self.network.architecture)
                                                  for key, name, kind in self.network.family.keys}}

    def config_of_run(self) -> dict[str, Any]:
        end = int(self.saved.get("end_token"))
        token = end if end >= 0 else None  # it both begins and ends texts, as in GPT-2
        return {**self.config_of_sizes(), **dict.fromkeys(DROPOUTS[self.model_type], 0.0),
                "architectures": [CLASSES[self.model_type]], "tie_word_embeddings": self.run["tied"],
                "torch_dtype": "float64" if self.dtype.itemsize == 8 else "float32", "bos_token_id": token,
                "eos_token_id": token}

    def factor(self, kind: str) -> float:
        """What is folded into a tensor."""
        its, root = self.network.architecture, math.sqrt(self.run["head_width"])
        if kind in ("q", "q_bias") and self.run["score_scale"] != its["score_scale"]:
            return root if self.run["score_scale"] == "none" else 1 / root
        if kind in ("final", "final_bias") and self.run["output_scale"] != its["output_scale"]:
            return float(self.run["output_scale"])
        return float(self.run["residual_scale"] / its["residual_scale"]) if kind in (
            "o", "o_bias", "w2", "w2_bias") else 1.0

    def part(self, kind: str, layer: int, first: int, last: int) -> Array:
        """Rows of a tensor as the network has them, or elements of a vector."""
        its, of = self.network.architecture, TENSORS[kind][1]
        if kind not in self.saved.file.variables:
            columns = [lengths(its)[name] for name in of[1:]]
            if kind == "position" and self.run["positions"] == "sinusoidal":
                return sinusoidal(first, last, columns[0]).astype(self.dtype)
            return np.zeros((last - first, *columns), self.dtype)
        depth, group = its["head_width"], its["kv_heads"] // self.run["kv_heads"]
        if of[0] == "keys" and group > 1:  # each head repeats those of its group
            rows = np.arange(first, last)
            whole = self.saved.rows(kind, layer, 0, depth * self.run["kv_heads"])
            found: Array = whole[rows // depth // group * depth + rows % depth]
        else:
            found = self.saved.rows(kind, layer, first, last)
        factor = self.factor(kind)
        return found if factor == 1 else (factor * found.astype("f8")).astype(self.dtype)

    def pieces(self, shape: tuple[int, ...], parts: list[tuple[str, int, Row]]) -> Iterator[Array]:
        """A tensor of the files, from its first element to its last."""
        kind, layer, row = parts[0]
        of = [lengths(self.network.architecture)[name] for name in TENSORS[kind][1]]
        if row.turned and len(of) == 2:
            whole = np.empty((of[1], of[0] * row.parts), self.dtype)
            for kind, layer, row in parts:
                whole[:, row.part * of[0]:(row.part + 1) * of[0]] = self.part(kind, layer, 0, of[0]).T
            yield whole
            return
        if row.padded:
            yield np.zeros((self.network.padded_rows, *of[1:]), self.dtype)
        step = max(1, PIECE // (self.dtype.itemsize * math.prod(of[1:])))
        for kind, layer, row in parts:
            for first in range(0, of[0], step):
                yield self.part(kind, layer, first, min(first + step, of[0]))

    def write(self, path: str) -> int:
        """Writes a safetensors file. Returns the number of weights."""
        entries, end = {}, 0
        for name, (shape, _) in self.tensors.items():
            begin, end = end, end + math.prod(shape) * self.dtype.itemsize
            entries[name] = {"dtype": f"F{8 * self.dtype.itemsize}", "shape": list(shape), "data_offsets": [begin, end]}
        header = json.dumps({"__metadata__": {"format": "pt"}, **entries}, separators=(",", ":")).encode()
        header += b" " * (-len(header) % 8)
        with open(path, "wb") as file:
            file.write(len(header).to_bytes(8, "little") + header)
            for shape, parts in self.tensors.values():
                for piece in self.pieces(shape, parts):
                    file.write(np.ascontiguousarray(piece, self.dtype).data)
            file.flush()
            os.fsync(file.fileno())
        return end // self.dtype.itemsize


def sinusoidal(first: int, last: int, width: int) -> Array:
    """Rows of the fixed positions of Vaswani et al. 2017."""
    column = np.arange(width)
    angle = np.arange(first, last)[:, None] * np.power(10000.0, -(column - column % 2) / width)
    return np.where(column % 2, np.cos(angle), np.sin(angle))
