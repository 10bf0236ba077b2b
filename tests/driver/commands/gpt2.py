"""GPT-2 in PyTorch and float64, and its weights as a safetensors file, for the tests of `normsweep inspect`.

Written from the definitions of the model, of the measurements and of the file, with neither transformers nor
safetensors. Weights are a dict by Hugging Face's names.
"""
import importlib
import json
import math
import struct

import netCDF4
import numpy as np
import torch
import xarray as xr

from conftest import script

torch.set_num_threads(1)

PARTS = {"q": 0, "k": 1, "v": 2}
TENSORS = {  # normsweep's names of GPT-2's tensors
    "o": "attn.c_proj.weight", "w1": "mlp.c_fc.weight", "w2": "mlp.c_proj.weight", "ln1": "ln_1.weight",
    "ln2": "ln_2.weight", "o_bias": "attn.c_proj.bias", "w1_bias": "mlp.c_fc.bias", "w2_bias": "mlp.c_proj.bias",
    "ln1_bias": "ln_1.bias", "ln2_bias": "ln_2.bias",
}


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


def layer_count(weights):
    return sum(name.endswith("ln_1.weight") for name in weights)


# The model


def layer_norm(x, weights, name):
    y = (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5)
    return y * weights[name + ".weight"] + weights[name + ".bias"]


def conv1d(x, weights, name):
    return x @ weights[name + ".weight"] + weights[name + ".bias"]


ACTIVATIONS = {
    "gelu_new": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "gelu": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
    "relu": torch.relu,
}


def attention_weights(q, k, hard):
    """[B, H, T, T]; hard: the mean over the keys of largest score."""
    scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
    length = q.shape[2]
    scores = scores.masked_fill(torch.ones(length, length).tril() == 0, -math.inf)
    if not hard:
        return torch.softmax(scores, -1)
    largest = scores.max(-1, keepdim=True).values
    chosen = (scores >= largest - 1e-6 * largest.abs()).double()
    return chosen / chosen.sum(-1, keepdim=True)


def forward(weights, tokens, heads, activation, hard=False):
    """tokens [B, T]: states after every layer and the input of the output layer [B, T, C]; attention [B, H, T, T]."""
    batch, length = tokens.shape
    states, attention = [], []
    x = weights["wte.weight"][tokens] + weights["wpe.weight"][:length]
    for layer in range(layer_count(weights)):
        name = f"h.{layer}."
        qkv = conv1d(layer_norm(x, weights, name + "ln_1"), weights, name + "attn.c_attn")
        q, k, v = (part.view(batch, length, heads, -1).transpose(1, 2) for part in qkv.chunk(3, -1))
        attention.append(attention_weights(q, k, hard))
        mixed = (attention[-1] @ v).transpose(1, 2).reshape(batch, length, -1)
        x = x + conv1d(mixed, weights, name + "attn.c_proj")
        hidden = conv1d(layer_norm(x, weights, name + "ln_2"), weights, name + "mlp.c_fc")
        x = x + conv1d(ACTIVATIONS[activation](hidden), weights, name + "mlp.c_proj")
        states.append(x)
    return [*states, layer_norm(x, weights, "ln_f")], attention


# Measurements: {(name, layer, tensor, head): value}, "-" where a column does not apply


def norm(*tensors):
    return math.sqrt(sum(float((tensor**2).sum()) for tensor in tensors))


def norms(weights):
    layers = range(layer_count(weights))
    inside = {layer: [t for name, t in weights.items() if name.startswith(f"h.{layer}.")] for layer in layers}
    out = {name: norm(*tensors) for name, tensors in {
        "param_norm": [t for layer in layers for t in inside[layer]],
        "embedding_norm": [weights["wte.weight"], weights["wpe.weight"]],
        "output_norm": [weights[name] for name in ["lm_head.weight"] if name in weights],
        "total_norm": weights.values()}.items()}
    out = {(name, "-", "-", "-"): value for name, value in out.items()}
    for layer in layers:
        out["layer_norm", layer, "-", "-"] = norm(*inside[layer])
        for part, place in PARTS.items():
            for suffix in ("weight", "bias"):
                tensor = weights[f"h.{layer}.attn.c_attn.{suffix}"].chunk(3, -1)[place]
                out["tensor_norm", layer, part + "_bias" * (suffix == "bias"), "-"] = norm(tensor)
        for name, there in TENSORS.items():
            out["tensor_norm", layer, name, "-"] = norm(weights[f"h.{layer}.{there}"])
    return out


def windows(ids, context):
    count = (len(ids) - 1) // context
    return (torch.tensor(ids[first : first + count * context]).view(count, context) for first in (0, 1))


def cosines(name, states, others):
    """Per layer and, last, for the input of the output layer."""
    means = [float(torch.cosine_similarity(a, b, dim=-1).mean()) for a, b in zip(states, others)]
    return {(name, layer, "-", "-"): mean for layer, mean in enumerate(means[:-1])} | {
        (name + "_final", "-", "-", "-"): means[-1]}


def entropy(tokens):
    share = torch.bincount(tokens.flatten()).double() / tokens.numel()
    return -torch.special.xlogy(share, share).sum()


def text_measures(weights, ids, heads, activation, context):
    inputs, targets = windows(ids, context)
    states, _ = forward(weights, inputs, heads, activation)
    scaled = {name: 1000 * tensor for name, tensor in weights.items()}
    saturated, attention = forward(scaled, inputs, heads, activation)
    log_p = torch.log_softmax(states[-1] @ weights.get("lm_head.weight", weights["wte.weight"]).T, -1)
    predicted = log_p.argmax(-1)
    out = {(name, "-", "-", "-"): float(value) for name, value in {
        "tokens": targets.numel(),
        "valid_loss": -log_p.gather(2, targets[:, :, None]).mean(),
        "accuracy": (predicted == targets).double().mean(), "predicted_entropy": entropy(predicted)}.items()}
    out |= cosines("saturation", states, saturated)
    out |= cosines("hard_saturation", states, forward(scaled, inputs, heads, activation, hard=True)[0])
    for layer, weights_of_rows in enumerate(attention):
        count = (weights_of_rows > 1e-5).sum(-1).double()
        for head in range(heads):
            rows = count[:, head]
            out["positions_attended", layer, "-", head] = float(rows.mean())
            out["fraction_attended", layer, "-", head] = float((rows / torch.arange(1, context + 1)).mean())
            out["share_above_one", layer, "-", head] = float((rows > 1).double().mean())
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
