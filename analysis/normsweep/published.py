"""A network of others: its config.json, its architecture, and where each tensor of its family is. read_network finds
and checks them all, and reads none yet."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from typing import Any, Iterator, Optional, Union

import numpy as np

from .families import (ARCHITECTURE, BASE, BLOCKS, FAMILIES, QUERIES, SIZE, TENSORS, WORDS, Family, Row, any_of,
                       lengths, stacks, tensors_of)
from .hints import Array
from .tensor_files import CONFIG, DTYPES, Refused, Stored, locate, open_file, open_index, parse_file
from .words import shown

ACTIVATIONS = {"gelu": "gelu", "gelu_python": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh",
               "gelu_fast": "gelu_tanh", "silu": "silu", "swish": "silu", "relu": "relu"}


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
