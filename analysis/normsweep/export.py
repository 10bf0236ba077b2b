"""Weights files of this program as files of the transformers library: a run, or a network of others on its way back."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Iterator

import numpy as np

from . import tensor_files
from .families import BIASES, FAMILIES, TENSORS, Row, any_of, lengths, tensors_of
from .hints import Array
from .published import Network, field_value
from .tensor_files import Refused, parse
from .weights import Saved
from .words import shown

RUN = "normsweep"  # the family of weights that a run has left
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
        step = max(1, tensor_files.PIECE // (self.dtype.itemsize * math.prod(of[1:])))
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
