"""Runs that `analysis/weights export` has written, read back by hand, and the logits of both by tests/reference.py."""
import json
import math
import pathlib
import struct

import netCDF4
import numpy as np
import torch

import reference
from conftest import BUILD, run, script

LAYERS, HEADS, CONTEXT, WORDS = 2, 4, 12, 23
BASE = {"corpus": "markov", "vocabulary": WORDS, "corpus_tokens": 2000, "layers": LAYERS, "width": 16, "heads": HEADS,
        "feedforward": 20, "context": CONTEXT, "batch": 4, "steps": 12, "learning_rate": 0.02, "output_bias": False,
        "save_weights": True}
LLAMA = {"norm": "rmsnorm", "positions": "rotary", "gated": True, "activation": "silu"}

# What is exported: {name: (model_type, what differs from BASE)}.
CASES = {f"gpt2-{name}": ("gpt2", config) for name, config in {
    "plain": {},
    "small": {"layers": 1, "heads": 1, "batch": 1},
    "tied": {"tied": True, "init": "normal", "activation": "gelu_tanh"},
    "gelu": {"activation": "gelu"},
    "silu": {"activation": "silu"},
    "no biases": {"bias": False},
    "sinusoidal": {"positions": "sinusoidal"},
    "no positions": {"positions": "none"},
    "shared keys": {"kv_heads": 2},
    "one key": {"kv_heads": 1, "bias": False},
    "unscaled": {"score_scale": "none", "width": 12},
    "residual": {"residual_scale": 0.6},
    "all folded": {"residual_scale": 1.7, "score_scale": "none", "width": 20, "kv_heads": 2, "tied": True,
                   "positions": "sinusoidal", "zero_query_key": False},
    "mup": {"parametrization": "mup", "base_width": 6, "z_loss": 0.01},
    "mup tied": {"parametrization": "mup", "base_width": 50, "tied": True, "bias": False},
    "output bias of 0": {"output_bias": True, "init": "xavier", "optimiser": "sgd", "learning_rate": 5e-324},
}.items()} | {f"llama-{name}": ("llama", LLAMA | config) for name, config in {
    "plain": {},
    "no biases": {"bias": False},
    "tied": {"tied": True, "bias": False},
    "relu": {"activation": "relu"},
    "gelu": {"activation": "gelu"},
    "gelu_tanh": {"activation": "gelu_tanh"},
    "shared keys": {"kv_heads": 2, "bias": False},
    "one key": {"kv_heads": 1},
    "unscaled": {"score_scale": "none", "width": 24},
    "residual": {"residual_scale": 0.6},
    "mup": {"parametrization": "mup", "base_width": 6, "width": 24, "tied": True},
    "all folded": {"residual_scale": 1.7, "score_scale": "none", "width": 24, "kv_heads": 2, "tied": True},
}.items()}


def train(folder, unused=(), program="normsweep", **keys):
    """The saved weights of one run; unused: keys of BASE that its corpus does not take."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "sweep.yaml"
    config = {key: value for key, value in (BASE | keys).items() if key not in unused}
    path.write_text(json.dumps(config, indent=1))  # JSON is YAML
    run(BUILD / program, "run", path.name, "-j", "0", cwd=folder)
    saved, = (folder / "sweep.nc.d").glob("*.weights.nc")
    return saved


def export(saved, folder, **options):
    return script("weights", "export", saved, "-o", folder, **options)


# The run's own file


def config_of_run(file):
    def value(name):
        found = file.getncattr(name)
        return found == "true" if found in ("true", "false") else found

    return {name: value(name) for name in file.ncattrs()}


def read_run(path):
    """(configuration, {(tensor, layer)}) of saved weights, in float64."""
    weights = {}
    with netCDF4.Dataset(path) as file:
        for name, variable in file.variables.items():
            if name == "architecture":
                continue
            values = torch.from_numpy(np.array(variable[:], dtype=np.float64))
            parts = enumerate(values) if variable.dimensions[0] == "layer" else [(-1, values)]
            weights |= {(name, layer): tensor for layer, tensor in parts}
        return config_of_run(file), weights


# The exported files

TYPES = {"F32": "<f4", "F64": "<f8"}


def read_safetensors(path):
    """{name: tensor} in float64, and the type; checks the file's form."""
    content, tensors, end = path.read_bytes(), {}, 0
    length, = struct.unpack("<Q", content[:8])
    assert length % 8 == 0
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    assert header.pop("__metadata__") == {"format": "pt"}
    types = {entry["dtype"] for entry in header.values()}
    assert len(types) == 1
    kind = TYPES[types.pop()]
    for name, entry in header.items():
        begin, after = entry["data_offsets"]
        assert begin == end and set(entry) == {"dtype", "shape", "data_offsets"}
        array = np.frombuffer(data[begin:after], kind).astype(np.float64)
        tensors[name], end = torch.from_numpy(array.reshape(entry["shape"])), after
    assert end == len(data)
    return tensors, kind


def read_gpt2(config, tensors):
    """A GPT-2 of the library as the reference has it; every tensor is taken."""
    ours = {"layers": config["n_layer"], "heads": config["n_head"], "width": config["n_embd"],
            "feedforward": config["n_inner"], "context": config["n_positions"],
            "activation": {"gelu_new": "gelu_tanh"}.get(config["activation_function"], config["activation_function"])}
    assert config["layer_norm_epsilon"] == 1e-5 and config["scale_attn_weights"] is True
    weights, body = {}, "transformer."
    for name, there in (("token", "wte"), ("position", "wpe")):
        weights[name, -1] = tensors.pop(f"{body}{there}.weight")

    def take(name, layer, there, turned=True):
        weight, bias = (tensors.pop(f"{there}.{part}") for part in ("weight", "bias"))
        weights[name, layer], weights[name + "_bias", layer] = weight.T if turned else weight, bias

    for layer in range(config["n_layer"]):
        block = f"{body}h.{layer}."
        weight, bias = (tensors.pop(f"{block}attn.c_attn.{part}").chunk(3, -1) for part in ("weight", "bias"))
        for i, name in enumerate("qkv"):
            weights[name, layer], weights[name + "_bias", layer] = weight[i].T, bias[i]
        for name, there in (("o", "attn.c_proj"), ("w1", "mlp.c_fc"), ("w2", "mlp.c_proj")):
            take(name, layer, block + there)
        for name, there in (("ln1", "ln_1"), ("ln2", "ln_2")):
            take(name, layer, block + there, turned=False)
    take("final", -1, body + "ln_f", turned=False)
    return ours | {"norm": "layernorm", "positions": "learned", "bias": True}, weights


def read_llama(config, tensors):
    ours = {"layers": config["num_hidden_layers"], "heads": config["num_attention_heads"],
            "kv_heads": config["num_key_value_heads"], "width": config["hidden_size"],
            "feedforward": config["intermediate_size"], "context": config["max_position_embeddings"],
            "activation": {"gelu_new": "gelu_tanh"}.get(config["hidden_act"], config["hidden_act"])}
    assert config["rms_norm_eps"] == 1e-5 and config["rope_theta"] == 10000
    assert config["attention_bias"] is config["mlp_bias"]
    assert config["head_dim"] * ours["heads"] == ours["width"]
    weights = {("token", -1): tensors.pop("model.embed_tokens.weight"), ("final", -1): tensors.pop("model.norm.weight")}
    names = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj",
             "w1": "mlp.gate_proj", "w3": "mlp.up_proj", "w2": "mlp.down_proj"}
    for layer in range(config["num_hidden_layers"]):
        block = f"model.layers.{layer}."
        for name, there in names.items():
            weights[name, layer] = tensors.pop(f"{block}{there}.weight")
            if config["mlp_bias"]:
                weights[name + "_bias", layer] = tensors.pop(f"{block}{there}.bias")
        weights["ln1", layer] = tensors.pop(block + "input_layernorm.weight")
        weights["ln2", layer] = tensors.pop(block + "post_attention_layernorm.weight")
    return ours | {"norm": "rmsnorm", "positions": "rotary", "gated": True, "bias": config["mlp_bias"]}, weights


HOMES = {"gpt2": ("GPT2LMHeadModel", read_gpt2), "llama": ("LlamaForCausalLM", read_llama)}


def read_home(folder):
    """(the library's configuration, ours, {(tensor, layer)}) of exported files."""
    config = json.loads((pathlib.Path(folder) / "config.json").read_text())
    tensors, kind = read_safetensors(pathlib.Path(folder) / "model.safetensors")
    assert config["torch_dtype"] == {"<f4": "float32", "<f8": "float64"}[kind]
    name, read = HOMES[config["model_type"]]
    assert config["architectures"] == [name]
    ours, weights = read(config, tensors)
    if not config["tie_word_embeddings"]:
        weights["output", -1] = tensors.pop("lm_head.weight")
    assert not tensors
    ours |= {"tied": config["tie_word_embeddings"], "norm_placement": "pre", "attention_mask": "causal",
             "output_bias": False}
    assert {(name, layer): shape for name, layer, shape in reference.layout(ours, config["vocab_size"])} == {
        key: tuple(tensor.shape) for key, tensor in weights.items()}
    return config, ours, weights


# Logits


def tokens(vocabulary=WORDS, length=CONTEXT, rows=5):
    return torch.from_numpy(np.random.default_rng(4).integers(0, vocabulary, (rows, length)))


@torch.no_grad()
def logits(config, weights, inputs):
    real = torch.ones(inputs.shape, dtype=torch.bool)
    return reference.logits(config, weights, [reference.Sequences(inputs, real)])


def apart(got, want):
    """The largest difference; infinite where one is not a number."""
    worst = float((got - want).abs().max())
    return math.inf if math.isnan(worst) else worst
