"""Weights of GPT-2, what tests/reference.py measures of them, and their safetensors file, for the tests of `normsweep
inspect`. Neither transformers nor safetensors is needed. Weights are a dict by Hugging Face's names.
"""
import importlib
import json
import math
import struct

import netCDF4
import numpy as np
import torch
import xarray as xr

import exported
import reference_measures
from conftest import script

def printed(text):
    """What `inspect --json` prints, as {(name, stack, layer, tensor, head): value}, "-" where one does not apply;
    without histograms, and without the tensors and layers that the network lacks."""
    told, out = xr.Dataset.from_dict(json.loads(text)).astype(float), {}
    for name in told:
        if "attended" in told[name].dims:
            continue
        for at in np.ndindex(told[name].shape):
            place = {dimension: told[dimension].values[i] for dimension, i in zip(told[name].dims, at)}
            if not np.isnan(value := float(told[name].values[at])):
                out[name, *(place.get(dimension, "-") for dimension in ("stack", "layer", "tensor", "head"))] = value
    whole = [name for name in ("tokens", "parameters") if name in told.attrs]
    return out | {(name, "-", "-", "-", "-"): told.attrs[name] for name in whole}


def query(weights, layer, columns, factor):
    for name in ("weight", "bias"):
        weights[f"h.{layer}.attn.c_attn.{name}"][..., columns] *= factor


def random_weights(seed=0, vocabulary=40, context=12, width=16, inner=24, layers=3, tied=True, embedded=3):
    """Embeddings are large: beside what saturated blocks add to them, float would not tell two positions apart that
    have attended to the same one, and they would tie where in double they do not."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape, mean=0.0, scale=0.3):
        return mean + scale * torch.randn(*shape, generator=generator, dtype=torch.float64)

    weights = {"wte.weight": draw(vocabulary, width, scale=embedded),
               "wpe.weight": draw(context, width, scale=embedded)}
    for layer in range(layers):
        weights |= {f"h.{layer}.{name}": tensor for name, tensor in {
            "ln_1.weight": draw(width, mean=1), "ln_1.bias": draw(width),
            "attn.c_attn.weight": draw(width, 3 * width), "attn.c_attn.bias": draw(3 * width),
            "attn.c_proj.weight": draw(width, width), "attn.c_proj.bias": draw(width),
            "ln_2.weight": draw(width, mean=1), "ln_2.bias": draw(width),
            "mlp.c_fc.weight": draw(width, inner), "mlp.c_fc.bias": draw(inner),
            "mlp.c_proj.weight": draw(inner, width), "mlp.c_proj.bias": draw(width)}.items()}
    # Saturated, a random head attends to one position: here is one that attends to all, and one to some.
    query(weights, 0, slice(width // 4, width // 2), 0)
    query(weights, layers - 1, slice(width // 2, width), 1e-11)
    weights |= {"ln_f.weight": draw(width, mean=1), "ln_f.bias": draw(width)}
    if not tied:
        weights["lm_head.weight"] = draw(vocabulary, width)
    return weights


# What is to be printed: {(name, layer, tensor, head): value}, "-" where a column does not apply


def as_reference(weights, heads, activation="gelu_new"):
    """(configuration, weights) of the same network in tests/reference.py."""
    width, inner = weights["h.0.mlp.c_fc.weight"].shape
    layers = sum(name.endswith("ln_1.weight") for name in weights)
    config = {"n_layer": layers, "n_head": heads, "n_embd": width, "n_inner": inner,
              "n_positions": len(weights["wpe.weight"]), "activation_function": activation,
              "layer_norm_epsilon": 1e-5, "scale_attn_weights": True}
    tensors = {"transformer." + name: tensor for name, tensor in weights.items()}
    output = tensors.pop("transformer.lm_head.weight", None)
    ours, theirs = exported.read_gpt2(config, tensors)
    if output is not None:
        theirs["output", -1] = output
    return ours | {"norm_placement": "pre", "attention_mask": "causal", "tied": output is None,
                   "output_bias": False}, theirs


def norms(weights):
    config, theta = as_reference(weights, heads=1)
    found = reference_measures.norm_measures(config, theta, None)
    out = {(name, "-", "-", "-"): found[name] for name in ("param_norm", "embedding_norm", "output_norm",
                                                           "total_norm")}
    for layer, of_layer in enumerate(found["tensor_norm"][0]):
        out["layer_norm", layer, "-", "-"] = found["layer_norm"][0][layer]
        out |= {("tensor_norm", layer, name, "-"): value
                for name, value in zip(reference_measures.kinds(config), of_layer) if not math.isnan(value)}
    return out


def text_measures(weights, ids, heads, activation, context):
    config, theta = as_reference(weights, heads, activation)
    sequences = [(ids[at : at + context], ids[at + 1 : at + context + 1])
                 for at in range(0, len(ids) - context, context)]
    found = reference_measures.validation_measures(config, theta, sequences)
    found |= reference_measures.saturation_measures(config, theta, sequences)
    out = {("tokens", "-", "-", "-"): context * len(sequences)}
    for name in ("valid_loss", "accuracy", "predicted_entropy"):
        out[name, "-", "-", "-"] = found[name]
    for name in ("saturation", "hard_saturation"):
        out[name + "_final", "-", "-", "-"] = found[name + "_final"][0]
        out |= {(name, layer, "-", "-"): value for layer, value in enumerate(found[name][0])}
    for name in ("positions_attended", "fraction_attended", "share_above_one"):
        out |= {(name, layer, "-", head): value for (layer, head), value in np.ndenumerate(found[name][0])}
    return out


# The file


def elements(tensor, dtype):
    """The bytes of a tensor, little-endian, and its values after rounding."""
    if dtype == "BF16":
        rounded = tensor.to(torch.bfloat16)
        return (rounded.float().numpy().view(np.uint32) >> 16).astype("<u2").tobytes(), rounded.double()
    numpy = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}[dtype]
    array = tensor.numpy().astype(numpy)
    return array.tobytes(), torch.from_numpy(array.astype(np.float64))


def pack(entries, data, metadata=None):
    """A file from entries {name: {dtype, shape, data_offsets}} and the bytes after the header."""
    header = json.dumps(({"__metadata__": metadata} if metadata else {}) | entries, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + data


def entries_of(weights, dtype="F32", prefix=""):
    """The entries of a file, its data, and the weights that it holds."""
    entries, data, rounded = {}, b"", {}
    for name, tensor in weights.items():
        content, rounded[name] = elements(tensor, dtype)
        place = name if name == "lm_head.weight" else prefix + name
        extent = [len(data), len(data) + len(content)]
        entries[place] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": extent}
        data += content
    return entries, data, rounded


def imported(folder, *arguments):
    """Converts the network in a folder to net.weights.nc, as which the program reads it."""
    (folder / "net.weights.nc").unlink(missing_ok=True)
    return script("weights", "import", ".", "-o", "net.weights.nc", *arguments, cwd=folder)


def alter(folder, variable, value):
    """Sets the last number of a variable of net.weights.nc, and seals the file again."""
    with netCDF4.Dataset(folder / "net.weights.nc", "r+") as file:
        file[variable][(-1,) * file[variable].ndim] = value
    importlib.import_module("normsweep.weights").seal(folder / "net.weights.nc")
