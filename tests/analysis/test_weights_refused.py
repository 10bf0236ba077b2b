"""What `analysis/weights` refuses, each with one line, and then writes nothing."""
import json
import os
import shutil

import netCDF4
import numpy as np
import pytest

import stored
from conftest import FORMAT, script


def refused(folder, line, *arguments):
    """Imports the network m, and expects a line in which the folder's name is left out."""
    done = script("weights", "import", "m", "-o", "n.weights.nc", *arguments, cwd=folder, status=1)
    assert done.stdout == "" and not list(folder.glob("*.nc"))
    assert done.stderr.replace("m/", "") == f"weights: {line}\n"


# A GPT-2 without config.json: {name: (what is done to the entries and their data, the line behind the file's name)}

HEADS = ("--heads", 2)
NO_CONFIG = "no config.json beside it; without one only a GPT-2 is read, and wte.weight is missing"
NO_GPT2 = "is missing; expected the tensors of GPT-2 as Hugging Face names them"
DAMAGED = "damaged (checksum); copy it again, or train or import it anew"
NO_SHAPE = "wte.weight: shape is not a list of up to 8 whole numbers"


def entry(name, **fields):
    def change(entries, data):
        entries[name].update(fields)
        return data
    return change


def removed(name):
    def change(entries, data):
        begin, end = entries.pop(name)["data_offsets"]
        for other in entries.values():
            other["data_offsets"] = [at - (end - begin) * (at >= end) for at in other["data_offsets"]]
        return data[:begin] + data[end:]
    return change


def added(name, shape=(2,)):
    def change(entries, data):
        size = 4 * int(np.prod(shape))
        entries[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(data), len(data) + size]}
        return data + bytes(size)
    return change


def replaced(name, shape):
    """A tensor of another shape, with the right number of bytes."""
    return lambda entries, data: added(name, shape)(entries, removed(name)(entries, data))


def element(name, value):
    def change(entries, data):
        begin = entries[name]["data_offsets"][0]
        return data[:begin + 4] + np.float32(value).tobytes() + data[begin + 8:]
    return change


CHANGED = {
    "dtype unknown": (entry("wte.weight", dtype="F7"), "wte.weight: unknown dtype 'F7'"),
    "dtype a list": (entry("wte.weight", dtype=[1]), "wte.weight: no dtype"),
    "dtype not read": (entry("wte.weight", dtype="I32"),
                       "wte.weight: dtype I32 is not supported; use F32, F16, BF16 or F64"),
    "shape a word": (entry("wte.weight", shape="6"), NO_SHAPE),
    "shape negative": (entry("wte.weight", shape=[-3, -2]), NO_SHAPE),
    "shape a fraction": (entry("wte.weight", shape=[3.0, 2]), NO_SHAPE),
    "shape quoted": (entry("wte.weight", shape=["3", 2]), NO_SHAPE),
    "shape of 9": (entry("wte.weight", shape=[1] * 9), NO_SHAPE),
    "shape past 64 bits": (entry("wte.weight", shape=[2**63, 1]), f"wte.weight: 24 bytes for {2**63} elements of F32"),
    "shape too small": (entry("wte.weight", shape=[3, 1]), "wte.weight: 24 bytes for 3 elements of F32"),
    "one offset": (entry("wte.weight", data_offsets=[0]),
                   "wte.weight: data_offsets is not a list of two whole numbers"),
    "offset negative": (entry("wte.weight", data_offsets=[-24, 0]),
                        "wte.weight: data_offsets is not a list of two whole numbers"),
    "offsets reversed": (entry("wte.weight", data_offsets=[24, 0]),
                         "wte.weight: data_offsets [24, 0] are not within 268 bytes of data; is the file whole?"),
    "overlap": (entry("wpe.weight", data_offsets=[16, 48]), "wpe.weight: overlaps wte.weight"),
    "gap": (lambda entries, data: entries.pop("wpe.weight") and data,
            "ln_f.weight: bytes before it belong to no tensor"),
    "bytes left over": (lambda entries, data: data + b"1234", "4 bytes at its end belong to no tensor"),
    "missing": (removed("h.0.mlp.c_fc.bias"), "h.0.mlp.c_fc.bias " + NO_GPT2),
    "missing embedding": (removed("wte.weight"), NO_CONFIG),
    "a layer alone": (added("h.2.ln_1.weight"), "h.1.attn.c_attn.weight " + NO_GPT2),
    "extra": (added("adapter"), "adapter: GPT-2 has no such tensor"),
    "extra in a layer": (added("h.0.crossattention"), "h.0.crossattention: GPT-2 has no such tensor"),
    "leading zero": (added("h.01.ln_1.weight"), "h.01.ln_1.weight: GPT-2 has no such tensor"),
    "layer past all": (added("h.99999999999999999999.ln_1.weight"),
                       "h.99999999999999999999.ln_1.weight: GPT-2 has no such tensor"),
    "prefix on one": (added("transformer.wte.weight"),
                      "transformer.wte.weight: shape [2] is not that of a matrix of GPT-2"),
    "control characters": (added("a\nb\x1b"), "a\\nb\\x1b: GPT-2 has no such tensor"),
    "shape of c_attn": (replaced("h.0.attn.c_attn.weight", [2, 4]), "h.0.attn.c_attn.weight: shape [2, 4], not [2, 6]"),
    "turned": (replaced("h.0.mlp.c_proj.weight", [2, 3]), "h.0.mlp.c_proj.weight: shape [2, 3], not [3, 2]"),
    "vector as matrix": (replaced("ln_f.bias", [1, 2]), "ln_f.bias: shape [1, 2], not [2]"),
    "width of wpe": (replaced("wpe.weight", [4, 3]), "wpe.weight: shape [4, 3], not [4, 2]"),
    "no elements": (replaced("wte.weight", [0, 2]), "wte.weight: shape [0, 2] is not that of a matrix of GPT-2"),
    "head of another shape": (added("lm_head.weight"), "lm_head.weight: shape [2], not [3, 2]"),
    "NaN": (element("h.0.mlp.c_fc.weight", "nan"), "h.0.mlp.c_fc.weight: not all values are finite as a float"),
    "infinity": (element("wpe.weight", "-inf"), "wpe.weight: not all values are finite as a float"),
}


@pytest.mark.parametrize("change, line", CHANGED.values(), ids=CHANGED)
def test_tensors(tmp_path, change, line):
    entries, data = stored.entries(stored.GPT2)
    data = change(entries, data)
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "model.safetensors").write_bytes(stored.packed(entries, data))
    refused(tmp_path, f"model.safetensors: {line}", *HEADS)


WHOLE = stored.packed(*stored.entries(stored.GPT2))
HEADER = int.from_bytes(WHOLE[:8], "little")
NO_LENGTH = "not a safetensors file: it does not begin with the length of a header"
NO_BRACE = "not a safetensors file: its header does not begin with '{'"
RAW = {
    "empty": (b"", "not a safetensors file: only 0 bytes"),
    "seven bytes": (WHOLE[:7], "not a safetensors file: only 7 bytes"),
    "no header": (stored.framed(b""), NO_BRACE),
    "half JSON": (stored.framed(b'{"a":[1'), "header 1:8: JSON: Expecting ',' delimiter"),
    "no object": (stored.framed(b'{"a":1}'), "a: not an object with dtype, shape and data_offsets"),
    "twice": (stored.framed(b'{"a":1,"a":2}'), "header: JSON: 'a' is there twice"),
    "deep": (stored.framed(b'{"a":' + b"[" * 10**6), "header: JSON: nested too deeply"),
    "not UTF-8": (stored.framed(b'{"\xff":1}'), "header: JSON: not UTF-8"),
    "no GPT-2": (stored.framed(b"{}"), NO_CONFIG),
    "huge header": (stored.framed(b"{}", 2**64 - 1), NO_LENGTH),
    "text": (b"Once upon a time", NO_LENGTH),
    "header cut": (WHOLE[:8 + HEADER - 1],
                   f"truncated: its header has {HEADER} bytes, but only {HEADER - 1} follow"),
    "data cut": (WHOLE[:-1], "h.0.mlp.c_proj.bias: data_offsets [260, 268] are not within 267 bytes of data; is the"
                             " file whole?"),
}


@pytest.mark.parametrize("content, line", RAW.values(), ids=RAW)
def test_bytes(tmp_path, content, line):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "model.safetensors").write_bytes(content)
    refused(tmp_path, f"model.safetensors: {line}", *HEADS)


def test_every_prefix(tmp_path):
    """A file truncated at any byte."""
    (tmp_path / "m").mkdir()
    for length in range(0, len(WHOLE), 97):
        (tmp_path / "m" / "model.safetensors").write_bytes(WHOLE[:length])
        done = script("weights", "import", "m", "-o", "n.weights.nc", "--heads", "2", cwd=tmp_path, status=1)
        assert done.stderr.startswith("weights: m/model.safetensors: ") and done.stderr.count("\n") == 1


def test_what_json_may_hold(tmp_path):
    """A config of other programs: a byte order mark, escapes above U+FFFF, very long keys."""
    entries, data = stored.entries(stored.GPT2)
    (tmp_path / "m").mkdir()
    entries["__metadata__"] = {"smile \U0001f600": "x", "k" * 3000: "x"}
    (tmp_path / "m" / "model.safetensors").write_bytes(stored.packed(entries, data))
    (tmp_path / "m" / "config.json").write_bytes(
        b'\xef\xbb\xbf{"n_head": 1, "smile": "\\ud83d\\ude00 \\/ \\\\ud83d", "' + b"k" * 3000 + b'":\t1}')
    script("weights", "import", "m", "-o", "n.weights.nc", cwd=tmp_path)


# Configurations

ACTIVATIONS = "gelu, gelu_python, gelu_new, gelu_pytorch_tanh, gelu_fast, silu, swish or relu"
FILE = "model.safetensors: "
GPT2 = {
    '{"n_head": 0}': "config.json: n_head: 0 is not a whole number from 1 on",
    '{"n_head": true}': "config.json: n_head: true is not a whole number from 1 on",
    '{"n_head": [2]}': "config.json: n_head: [2] is not a whole number from 1 on",
    '{"n_head": 2, "activation_function": "quick_gelu"}':
        f"config.json: activation_function: \"quick_gelu\" is not {ACTIVATIONS}",
    '{"layer_norm_epsilon": 0}': "config.json: layer_norm_epsilon: 0 is not a number above 0",
    '{"layer_norm_epsilon": NaN}': "config.json: JSON: NaN is not a number of JSON",
    '{"scale_attn_weights": 1}': "config.json: scale_attn_weights: 1 is not true or false",
    '{"scale_attn_by_inverse_layer_idx": true}':
        "config.json: scale_attn_by_inverse_layer_idx: true is not false",
    '{"add_cross_attention": true}': "config.json: add_cross_attention: true is not false",
    '{"model_type": "gpt_neo"}': "config.json: model_type: \"gpt_neo\" is not gpt2, llama, mistral, qwen2, olmo2,"
                                 " bert, roberta, t5 or xlnet",
    '{"model_type": 1}': "config.json: model_type: 1 is not a word",
    "[1]": "config.json: not an object",
    "": "config.json:1:1: JSON: Expecting value",
    '{"n_head"': "config.json:1:10: JSON: Expecting ':' delimiter",
    '{"n_head": null}': FILE + "unknown number of attention heads; give --heads N, or n_head in a config.json beside"
                               " it",
    '{"n_head": 3}': FILE + "3 heads do not divide the width of 2",
    '{"n_head": 1, "n_layer": 2}': FILE + "h.1.attn.c_attn.weight " + NO_GPT2,
}


@pytest.mark.parametrize("text, line", GPT2.items(), ids=GPT2)
def test_configurations_of_a_gpt2(tmp_path, text, line):
    stored.save(tmp_path / "m", text, stored.GPT2)
    refused(tmp_path, line)


def llama(**more):
    return {"model_type": "llama"} | stored.KIN_CONFIG | more


def encoder(model_type, **more):
    return {"model_type": model_type} | stored.ENCODER_CONFIG | more


def t5(**more):
    return {"model_type": "t5"} | stored.T5_CONFIG | more


def scaling(**more):
    return llama(rope_scaling=more)


# {name: (the configuration, the line behind the name of its file)}
CONFIGURATIONS = {
    "activation": (llama(hidden_act="relu2"), f"hidden_act: \"relu2\" is not {ACTIVATIONS}"),
    "epsilon": (llama(rms_norm_eps=-1), "rms_norm_eps: -1 is not a number above 0"),
    "large": (llama(rms_norm_eps=10**400), f"rms_norm_eps: 1{'0' * 79} is not a number up to 1e+12"),
    "truth": (llama(mlp_bias=1), "mlp_bias: 1 is not true or false"),
    "odd heads": (llama(head_dim=1), "rotary positions need an even width of heads"),
    "wide heads": (llama(head_dim=99999999), "head_dim: 99999999 is not a whole number up to 1048576"),
    "partial": (llama(partial_rotary_factor=0.5), "partial_rotary_factor: 0.5 is not 1"),
    "no object": (llama(rope_scaling=2), "rope_scaling: 2 is not an object"),
    "dynamic": (scaling(type="dynamic", factor=2), "rope_scaling: type: \"dynamic\" is not default, linear or llama3"),
    "yarn": (scaling(rope_type="yarn"), "rope_scaling: rope_type: \"yarn\" is not default, linear or llama3"),
    "base": (llama(rope_theta=1e-300), "rope_theta: 1e-300 is not a number from 1 to 1e+12"),
    "factor": (
        scaling(rope_type="linear", factor=1e-300), "rope_scaling: factor: 1e-300 is not a number from 1 to 1e+06"),
    "low": (scaling(rope_type="llama3", factor=8, low_freq_factor=2e-7),
            "rope_scaling: low_freq_factor: 2e-07 is not a number from 1e-06 to 1e+06"),
    "low and high": (scaling(rope_type="llama3", factor=8, low_freq_factor=4, high_freq_factor=4),
                     "rope_scaling: high_freq_factor: 4 is not above low_freq_factor"),
    "scaled context": (scaling(rope_type="llama3", original_max_position_embeddings=0.5),
                       "rope_scaling: original_max_position_embeddings: 0.5 is not a number from 1 to 2.14748e+09"),
    "scaled mistral": (scaling(type="linear", factor=2) | {"model_type": "mistral"},
                       "rope_scaling: {\"type\":\"linear\",\"factor\":2} is not null, which all versions of the"
                       " library take alike"),
    "bert decodes": (encoder("bert", is_decoder=True), "is_decoder: true is not false"),
    "bert attends": (encoder("bert", add_cross_attention=True), "add_cross_attention: true is not false"),
    "bert positions": (encoder("bert", position_embedding_type="relative_key"),
                       "position_embedding_type: \"relative_key\" is not absolute"),
    "roberta positions": (
        encoder("roberta", max_position_embeddings=2), "max_position_embeddings: 2 is not above pad_token_id + 1"),
    "t5 buckets": (t5(relative_attention_num_buckets=16), "relative_attention_num_buckets: 16 is not 32"),
    "t5 distance": (t5(relative_attention_max_distance=64), "relative_attention_max_distance: 64 is not 128"),
    "t5 gate": (t5(feed_forward_proj="gated-tanh"),
                "feed_forward_proj: \"gated-tanh\" is not relu, gelu, silu, gated-gelu, gated-silu or gated-relu"),
    "t5 activation": (t5(dense_act_fn="tanh"), f"dense_act_fn: \"tanh\" is not {ACTIVATIONS}"),
    "t5 start": (t5(decoder_start_token_id=3), "decoder_start_token_id: 3 is not a whole number up to 2"),
    "t5 encodes": (t5(is_encoder_decoder=False), "is_encoder_decoder: false is not true"),
    "xlnet one way": (stored.XLNET_CONFIG | {"attn_type": "uni"}, "attn_type: \"uni\" is not bi"),
    "xlnet odd": (stored.XLNET_CONFIG | {"d_model": 3, "n_head": 1}, "d_model: 3 is not an even number"),
    "xlnet both ways": (stored.XLNET_CONFIG | {"bi_data": True}, "bi_data: true is not false"),
    "xlnet clamped": (stored.XLNET_CONFIG | {"clamp_len": 5}, "clamp_len: 5 is not a whole number up to 0"),
}
TENSORS = {"llama": stored.LLAMA, "mistral": stored.LLAMA, "bert": stored.ENCODER, "roberta": stored.ENCODER,
           "t5": stored.T5, "xlnet": stored.XLNET}


@pytest.mark.parametrize("config, line", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_configurations(tmp_path, config, line):
    stored.save(tmp_path / "m", config, TENSORS[config["model_type"]])
    refused(tmp_path, f"config.json: {line}")


NO_LLAMA = " is missing; expected the tensors of Llama as Hugging Face names them"
Q = "model.layers.0.self_attn.q_proj.weight 4,4 100\n"
OTHERS = {
    "no query": (llama(), stored.LLAMA.replace(Q, ""), FILE + "model.layers.0.self_attn.q_proj.weight" + NO_LLAMA),
    "no embedding": (llama(), stored.LLAMA.replace("model.embed_tokens.weight 3,4 0\n", ""),
                     FILE + "embed_tokens.weight" + NO_LLAMA),
    "no output": (llama(), stored.LLAMA.replace("lm_head.weight 3,4 20\n", ""),
                  FILE + "lm_head.weight is missing; if the network has another output, save its base_model alone"),
    "keys of all heads": (llama(num_key_value_heads=2), stored.LLAMA,
                          FILE + "model.layers.0.self_attn.k_proj.weight: shape [2, 4], not [4, 4]"),
    "another output": (llama(tie_word_embeddings=True), stored.LLAMA,
                       FILE + "lm_head.weight differs from model.embed_tokens.weight, but tie_word_embeddings in"
                              " config.json makes them one"),
    "more blocks": (llama(), stored.LLAMA + "model.layers.1.input_layernorm.weight 4 0\n",
                    FILE + "model.layers.1.input_layernorm.weight: block 1, but config.json has 1 layer, from 0 on"),
    "more tensors": (llama(), stored.LLAMA + "model.layers.0.self_attn.q_proj.bias 4 0\n",
                     FILE + "model.layers.0.self_attn.q_proj.bias: Llama has no such tensor"),
    "a classifier": (llama(), stored.LLAMA + "score.weight 4 0\n",
                     FILE + "score.weight: not a part of Llama or of its output; save the base_model alone"),
    "no bias": (llama(attention_bias=True), stored.LLAMA, FILE + "model.layers.0.self_attn.q_proj.bias" + NO_LLAMA),
    "heads of keys": (llama(num_key_value_heads=3), stored.LLAMA,
                      FILE + "3 heads of keys and values do not divide the 2 heads"),
    "many heads": (llama(num_attention_heads=2**10, num_key_value_heads=1, head_dim=2**20), stored.LLAMA,
                   FILE + "1024 heads of 1048576 are more than 16777216 together"),
    "no sizes": ({"model_type": "llama"}, stored.LLAMA, "config.json: vocab_size is missing"),
    "heads twice": (llama(), stored.LLAMA,
                    FILE + "config.json has the number of heads of a Llama; leave out --heads", "--heads", 2),
    "other heads": ({"n_head": 1}, stored.GPT2, "config.json: n_head: 1, but --heads 2; leave --heads out", *HEADS),
    "roberta activation": (encoder("roberta", hidden_act="relu"), stored.ENCODER + "lm_head.bias 3 0\n",
                           FILE + "its prediction layer has gelu, but hidden_act in config.json is another activation"),
    "t5 half": (t5(), "shared.weight 3,2 0\n",
                FILE + "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight is missing; expected the"
                       " tensors of T5 as Hugging Face names them"),
    "t5 copy": (t5(feed_forward_proj="gated-gelu"), stored.T5 + "decoder.embed_tokens.weight 3,2 1\n",
                FILE + "decoder.embed_tokens.weight: not a copy of shared.weight, which it has to be"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_families(tmp_path, name):
    config, lines, line, *arguments = OTHERS[name]
    stored.save(tmp_path / "m", config, lines)
    refused(tmp_path, line, *arguments)


# Several files

INDEX = "model.safetensors.index.json"
PARTS = dict(zip("ab", ("\n".join(stored.LLAMA.strip().splitlines()[:3]) + "\n",
                        "\n".join(stored.LLAMA.strip().splitlines()[3:]) + "\n")))
MAP = {line.split()[0]: f"{name}.safetensors" for name, part in PARTS.items() for line in part.splitlines()}
SHARDS = {
    "none": (None, {}, "m: a folder without model.safetensors and without model.safetensors.index.json,"
                       " pytorch_model.bin or pytorch_model.bin.index.json"),
    "half": ("[", {}, INDEX + ":1:2: JSON: Expecting value"),
    "a list": ([], {}, INDEX + ": no weight_map, an object from tensors to files"),
    "no map": ({}, {}, INDEX + ": no weight_map, an object from tensors to files"),
    "a number": ({"x": 1}, {}, INDEX + ": weight_map: x: not the name of a file in this folder"),
    "elsewhere": ({"x": "../a"}, {}, INDEX + ": weight_map: x: not the name of a file in this folder"),
    "above": ({"x": ".."}, {}, INDEX + ": weight_map: x: not the name of a file in this folder"),
    "one file": (MAP, {"a": PARTS["a"]}, "b.safetensors: No such file or directory"),
    "promised": (MAP, PARTS | {"b": PARTS["b"].replace(Q, "")},
                 "b.safetensors: model.layers.0.self_attn.q_proj.weight is missing, which the index promises here"),
    "twice": (MAP, PARTS | {"a": PARTS["a"] + Q},
              INDEX + ": model.layers.0.self_attn.q_proj.weight is in a.safetensors and in b.safetensors"),
    "not promised": (MAP, PARTS | {"a": PARTS["a"] + "x 2 0\n"},
                     INDEX + ": x is in a.safetensors and not in the index"),
    "not of it": (MAP | {"x": "a.safetensors"}, PARTS | {"a": PARTS["a"] + "x 2 0\n"},
                  INDEX + ": a.safetensors: x: not a part of Llama or of its output; save the base_model alone"),
    "a shape": (MAP, PARTS | {"b": PARTS["b"].replace("q_proj.weight 4,4", "q_proj.weight 2,4")},
                INDEX + ": b.safetensors: model.layers.0.self_attn.q_proj.weight: shape [2, 4], not [4, 4]"),
}


@pytest.mark.parametrize("index, parts, line", SHARDS.values(), ids=SHARDS)
def test_several_files(tmp_path, index, parts, line):
    (tmp_path / "m").mkdir()
    if index is not None:
        text = json.dumps({"weight_map": index} if isinstance(index, dict) and index else index)
        (tmp_path / "m" / INDEX).write_text(index if isinstance(index, str) else text)
    for part, lines in parts.items():
        stored.save(tmp_path / "m", llama(), lines, f"{part}.safetensors")
    refused(tmp_path, line)


def test_other_files(tmp_path):
    stored.save(tmp_path / "m", llama(), stored.LLAMA)
    for path, line in (("m/config.json", "m/config.json: not an index of weights; give its folder"),
                       ("m/none.safetensors", "m/none.safetensors: No such file or directory"),
                       ("a/b/c", "a/b/c: No such file or directory")):
        done = script("weights", "import", path, "-o", "n.weights.nc", cwd=tmp_path, status=1)
        assert done.stderr == f"weights: {line}\n"
    done = script("weights", "import", "m", "-o", "m/config.json/n.weights.nc", cwd=tmp_path, status=1)
    assert done.stderr == "weights: m/config.json: is a file, not a folder\n"


# Weights files

NOT_ONE = ("not a weights file, which save_weights: true keeps as OUT.nc.d/<digest>.weights.nc, or analysis/weights"
           " import writes")


def flipped(content):
    content[len(content) // 2] ^= 1
    return content


FILES = {
    "cut": (lambda content: content[:-8], DAMAGED),
    "altered": (flipped, DAMAGED),
    "longer": (lambda content: content + b"\0", DAMAGED),
    "cut in its header": (lambda content: content[:40], NOT_ONE),
    "empty": (lambda content: b"", NOT_ONE),
    "text": (lambda content: b"corpus: markov\n", NOT_ONE),
}


@pytest.fixture(name="whole", scope="module")
def whole_of(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    stored.save(folder / "m", llama(), stored.LLAMA)
    script("weights", "import", "m", "-o", "n.weights.nc", cwd=folder)
    return folder / "n.weights.nc"


def not_exported(folder, line):
    done = script("weights", "export", "n.weights.nc", "-o", "out", cwd=folder, status=1)
    assert done.stderr == f"weights: n.weights.nc: {line}\n" and not (folder / "out").exists()


@pytest.mark.parametrize("change, line", FILES.values(), ids=FILES)
def test_files_that_are_not_whole(tmp_path, whole, change, line):
    (tmp_path / "n.weights.nc").write_bytes(change(bytearray(whole.read_bytes())))
    not_exported(tmp_path, line)


CANNOT = "is missing or not what it can be"


@pytest.mark.parametrize("name, value, line", [
    ("title", "checkpoint of a run", "a checkpoint of a run under way, not its final weights"), ("title", "x", NOT_ONE),
    ("format_version", np.int64(FORMAT + 1),
     f"format version {FORMAT + 1} is of another version of this program, which reads {FORMAT}; train or import it "
     "anew"),
    ("family", "gpt_neo",
     "family gpt_neo is not gpt2, llama, mistral, qwen2, olmo2, bert, roberta, t5 or xlnet"),
    ("family", "bert", "a BERT has no w3; is the family right?"),
    ("scalar", "half", "the attribute scalar is neither float nor double"),
    ("padding_token", None, "the attribute padding_token is missing or no token"),
    ("config", '{"a":', "the attribute config 1:6: JSON: Expecting value"),
    ("config", "[1]", "the attribute config is not an object of JSON"),
    ("architecture:width", None, f"the attribute architecture:width {CANNOT}"),
    ("architecture:width", np.int64(16), "variable token does not fit the architecture"),
    ("architecture:heads", np.int64(0), f"the attribute architecture:heads {CANNOT}"),
    ("architecture:norm_epsilon", "small", f"the attribute architecture:norm_epsilon {CANNOT}"),
    ("architecture:activation", "step", f"the attribute architecture:activation {CANNOT}"),
    ("architecture:gated", "yes", f"the attribute architecture:gated {CANNOT}"),
    ("architecture:network", "encoder_decoder", "decoder_layers are for an encoder_decoder, which needs them"),
    ("variable:q", None, "variable q does not fit the architecture")])
def test_other_contents(tmp_path, whole, name, value, line):
    import normsweep.weights
    shutil.copy(whole, tmp_path / "n.weights.nc")
    with netCDF4.Dataset(tmp_path / "n.weights.nc", "r+") as file:
        kind, _, key = name.rpartition(":")
        of = file["architecture"] if kind == "architecture" else file
        if kind == "variable":
            file.renameVariable(key, "unknown")
        elif value is None:
            of.delncattr(key)
        else:
            of.setncattr(key, value)
    normsweep.weights.seal(tmp_path / "n.weights.nc")
    not_exported(tmp_path, line)


def test_what_is_no_regular_file(tmp_path):
    """A pipe is neither read nor written nor replaced."""
    os.mkfifo(tmp_path / "m")
    refused(tmp_path, "m: is not a regular file")
    stored.save(tmp_path / "whole", llama(), stored.LLAMA)
    done = script("weights", "import", "whole", "-o", "m", cwd=tmp_path, status=1)
    assert done.stderr == "weights: m: is not a regular file; choose another -o\n" and (tmp_path / "m").is_fifo()


def test_folders_that_cannot_be(tmp_path, whole):
    shutil.copy(whole, tmp_path / "n.weights.nc")
    (tmp_path / "file").write_text("mine")
    for path, line in (("file", "file: Not a directory"), ("none/out", "none/out: No such file or directory")):
        done = script("weights", "export", "n.weights.nc", "-o", path, cwd=tmp_path, status=1)
        assert done.stderr == f"weights: {line}\n"
