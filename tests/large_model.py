"""Writes a large network with random weights in bfloat16, as others save theirs, and a text for it: to measure the time
and memory of `normsweep inspect`.

    large_model.py FOLDER [--family gpt2|llama] [--layers N] [--width N] [--tokens N] [--seed N]

gpt2 (the default) has the sizes of GPT-2 XL, 1.56 billion weights in 3.1 GB; llama those of TinyLlama, 1.1 billion in
2.2 GB. FOLDER gets model.safetensors, config.json and ids.txt.
"""
import argparse
import json
import math
import pathlib
import struct

import numpy as np

PIECE = 1 << 24  # elements that are drawn at once


def gpt2(layers, width):
    """(config, [(tensor, shape, mean, deviation)])"""
    layers, width = layers or 48, width or 1600
    config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 50257, "n_positions": 1024,
              "n_embd": width, "n_layer": layers, "n_head": width // 64, "activation_function": "gelu_new",
              "layer_norm_epsilon": 1e-5}
    last = 0.02 / math.sqrt(2 * layers)  # of what writes to the residual stream
    tensors = [("wte.weight", (50257, width), 0, 0.02), ("wpe.weight", (1024, width), 0, 0.01)]
    for layer in range(layers):
        tensors += [(f"h.{layer}.{name}", *entry) for name, *entry in [
            ("ln_1.weight", (width,), 1, 0.1), ("ln_1.bias", (width,), 0, 0.1),
            ("attn.c_attn.weight", (width, 3 * width), 0, 0.02), ("attn.c_attn.bias", (3 * width,), 0, 0.1),
            ("attn.c_proj.weight", (width, width), 0, last), ("attn.c_proj.bias", (width,), 0, 0.1),
            ("ln_2.weight", (width,), 1, 0.1), ("ln_2.bias", (width,), 0, 0.1),
            ("mlp.c_fc.weight", (width, 4 * width), 0, 0.02), ("mlp.c_fc.bias", (4 * width,), 0, 0.1),
            ("mlp.c_proj.weight", (4 * width, width), 0, last), ("mlp.c_proj.bias", (width,), 0, 0.1)]]
    return config, tensors + [("ln_f.weight", (width,), 1, 0.1), ("ln_f.bias", (width,), 0, 0.1)]


def llama(layers, width):
    """The same."""
    layers, width = layers or 22, width or 2048
    inner = width * 11 // 4
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 32000, "hidden_size": width,
              "intermediate_size": inner, "num_hidden_layers": layers, "num_attention_heads": width // 64,
              "num_key_value_heads": width // 512 or 1, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5,
              "hidden_act": "silu", "tie_word_embeddings": False, "rope_theta": 10000.0, "attention_bias": False,
              "mlp_bias": False}
    keys = 64 * config["num_key_value_heads"]
    tensors = [("model.embed_tokens.weight", (32000, width), 0, 0.02)]
    for layer in range(layers):
        tensors += [(f"model.layers.{layer}.{name}.weight", *entry) for name, *entry in [
            ("input_layernorm", (width,), 1, 0.1), ("self_attn.q_proj", (width, width), 0, 0.02),
            ("self_attn.k_proj", (keys, width), 0, 0.02), ("self_attn.v_proj", (keys, width), 0, 0.02),
            ("self_attn.o_proj", (width, width), 0, 0.02), ("post_attention_layernorm", (width,), 1, 0.1),
            ("mlp.gate_proj", (inner, width), 0, 0.02), ("mlp.up_proj", (inner, width), 0, 0.02),
            ("mlp.down_proj", (width, inner), 0, 0.02)]]
    return config, tensors + [("model.norm.weight", (width,), 1, 0.1), ("lm_head.weight", (32000, width), 0, 0.02)]


def header(tensors):
    """The header of a safetensors file with these tensors in bfloat16."""
    entries, begin = {"__metadata__": {"format": "pt"}}, 0
    for name, shape, _, _ in tensors:
        end = begin + 2 * math.prod(shape)
        entries[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def write_weights(path, tensors, generator):
    with open(path, "wb") as file:
        file.write(header(tensors))
        for _, shape, mean, deviation in tensors:
            left = math.prod(shape)
            while left:
                piece = generator.standard_normal(min(left, PIECE), dtype=np.float32)
                left -= len(piece)
                piece *= deviation
                piece += mean
                file.write(piece.view("<u2")[1::2].tobytes())  # cut, not rounded


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--family", choices=["gpt2", "llama"], default="gpt2")
    parser.add_argument("--layers", type=int)
    parser.add_argument("--width", type=int)
    parser.add_argument("--tokens", type=int, default=4097)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    config, tensors = {"gpt2": gpt2, "llama": llama}[options.family](options.layers, options.width)
    generator = np.random.default_rng(options.seed)
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "config.json").write_text(json.dumps(config | {"torch_dtype": "bfloat16"}, indent=2))
    ids = generator.integers(0, config["vocab_size"], options.tokens)
    (options.folder / "ids.txt").write_text(" ".join(map(str, ids)) + "\n")
    write_weights(options.folder / "model.safetensors", tensors, generator)
    print(f"{sum(math.prod(shape) for _, shape, _, _ in tensors):,} weights in {options.folder}")


if __name__ == "__main__":
    main()
