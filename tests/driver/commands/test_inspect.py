"""`normsweep inspect`: every number against PyTorch in float64, and the error message of every bad file."""
import copy
import json
import math
import re
import struct
import subprocess

import missing
import numpy as np
import pytest
import torch

import gpt2
from conftest import BUILD, run

pytestmark = pytest.mark.thorough("measures networks of every family in PyTorch as well")

HEADS, CONTEXT = 4, 12
IDS = [int(i) for i in np.random.default_rng(1).integers(0, 40, 9 * CONTEXT + 5)]
PROGRAMS = {"normsweep": 1e-4, "normsweep-double": 1e-8}
CONFIG = {"n_head": HEADS, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05, "model_type": "gpt2",
          "architectures": ["GPT2LMHeadModel"], "scale_attn_weights": True, "summary_type": None}


def table(text):
    """The lines of --values for a network of one stack, without the number of its parameters."""
    lines = text.splitlines()
    assert lines[0] == "name\tstack\tlayer\ttensor\thead\tvalue"
    rows = [line.split("\t") for line in lines[1:]]
    out = {(name, layer if layer == "-" else int(layer), tensor, head if head == "-" else int(head)): float(value)
           for name, stack, layer, tensor, head, value in rows if name != "parameters"}
    assert len(out) == len(rows) - 1 and {row[1] for row in rows} == {"-"}
    return out


def compare(found, expected, tolerance):
    assert found.keys() == expected.keys()
    apart = {key: (found[key], value) for key, value in expected.items()
             if not abs(found[key] - value) <= tolerance * max(1, abs(value))}
    assert not apart


def write(folder, weights, dtype="F32", prefix="", config=None, ids=IDS, metadata=None):
    """The files in a folder, and the weights that they hold."""
    entries, data, rounded = gpt2.entries_of(weights, dtype, prefix)
    (folder / "model.safetensors").write_bytes(gpt2.pack(entries, data, metadata))
    (folder / "ids.txt").write_text("\n".join(" ".join(map(str, ids[i : i + 7])) for i in range(0, len(ids), 7)))
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config, indent=2))
    return rounded


def inspect(folder, *arguments, program="normsweep", **options):
    return run(BUILD / program, "inspect", "model.safetensors", *arguments, "--values", cwd=folder, **options)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("activation", gpt2.ACTIVATIONS)
@pytest.mark.parametrize("tied", [True, False])
def test_every_number(tmp_path, program, activation, tied):
    prefix = "" if tied else "transformer."
    config = CONFIG | {"activation_function": activation}
    weights = write(tmp_path, gpt2.random_weights(tied=tied), "F32", prefix, config)
    found = table(inspect(tmp_path, "--tokens", "ids.txt", program=program).stdout)
    expected = gpt2.norms(weights) | gpt2.text_measures(weights, IDS, HEADS, activation, CONTEXT)
    compare(found, expected, PROGRAMS[program])


@pytest.mark.parametrize("dtype", ["F32", "F16", "BF16", "F64"])
def test_types(tmp_path, dtype):
    weights = gpt2.random_weights(seed=2)
    weights["wpe.weight"][0, :4] = torch.tensor([6e-8, -3e-5, 0.0, -60000.0])  # F16: subnormal, and near its end
    weights = write(tmp_path, weights, dtype)
    found = table(inspect(tmp_path, "--tokens", "ids.txt", "--heads", "2", program="normsweep-double").stdout)
    expected = gpt2.norms(weights) | gpt2.text_measures(weights, IDS, 2, "gelu_new", CONTEXT)
    compare(found, expected, 1e-8)


def test_smaller_windows(tmp_path):
    weights = write(tmp_path, gpt2.random_weights(seed=3))
    found = table(inspect(tmp_path, "--tokens=ids.txt", "--heads=8", "--context=5").stdout)
    compare(found, gpt2.norms(weights) | gpt2.text_measures(weights, IDS, 8, "gelu_new", 5), 1e-4)


def test_many_batches(tmp_path):
    """More windows than a batch holds, with a smaller last batch. Threads change only the last digits."""
    ids = [int(i) for i in np.random.default_rng(2).integers(0, 40, 100 * CONTEXT + 3)]
    weights = write(tmp_path, gpt2.random_weights(seed=4, layers=1), ids=ids)
    for threads in "12":
        found = table(inspect(tmp_path, "--tokens", "ids.txt", "--heads", "4", "--threads", threads).stdout)
        compare(found, gpt2.norms(weights) | gpt2.text_measures(weights, ids, HEADS, "gelu_new", CONTEXT), 1e-4)


def test_norms_alone(tmp_path):
    """Norms need neither a text nor the number of heads."""
    weights = write(tmp_path, gpt2.random_weights())
    compare(table(inspect(tmp_path).stdout), gpt2.norms(weights), 1e-5)


def test_an_output_layer_that_is_the_embedding(tmp_path):
    """An lm_head.weight equal to wte.weight is not a second tensor."""
    weights = gpt2.random_weights()
    rounded = write(tmp_path, weights | {"lm_head.weight": weights["wte.weight"]}, prefix="transformer.")
    del rounded["lm_head.weight"]
    compare(table(inspect(tmp_path).stdout), gpt2.norms(rounded), 1e-5)


def test_masks_and_metadata_are_no_weights(tmp_path):
    weights = gpt2.random_weights()
    entries, data, rounded = gpt2.entries_of(weights)
    for name, dtype, size in (("h.0.attn.bias", "U8", 144), ("h.2.attn.masked_bias", "F32", 4)):
        shape = [1, 1, 12, 12] if size == 144 else []
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + size]}
        data += bytes(size)
    content = gpt2.pack(dict(sorted(entries.items())), data, {"format": "pt", "note": "a \"b\"\\ \n/\u00e9"})
    (tmp_path / "model.safetensors").write_bytes(content)
    compare(table(inspect(tmp_path).stdout), gpt2.norms(rounded), 1e-5)


# What is refused: name: (what is done to the entries, their data and the file, the line behind the file's name)


def small():
    return gpt2.entries_of(gpt2.random_weights(vocabulary=3, context=4, width=2, inner=6, layers=2))[:2]


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


def added(name, dtype="F32", count=2):
    def change(entries, data):
        size = count * {"F32": 4, "I64": 8}[dtype]
        entries[name] = {"dtype": dtype, "shape": [count], "data_offsets": [len(data), len(data) + size]}
        return data + bytes(size)
    return change


def replaced(name, shape):
    """A tensor of another shape, with the right number of bytes."""
    def change(entries, data):
        return_data = removed(name)(entries, data)
        size = 4 * int(np.prod(shape))
        entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(return_data), len(return_data) + size]}
        return return_data + bytes(size)
    return change


def element(name, value):
    def change(entries, data):
        begin = entries[name]["data_offsets"][0]
        return data[: begin + 4] + struct.pack("<f", value) + data[begin + 8 :]
    return change


NO_CONFIG = "no config.json beside it; without one only a GPT-2 is read, and wte.weight is missing"
NO_GPT2 = "is missing; expected the tensors of GPT-2 as Hugging Face names them"
CHANGED = {
    "dtype unknown": (entry("wte.weight", dtype="F7"), "wte.weight: unknown dtype 'F7'"),
    "dtype a list": (entry("wte.weight", dtype=[1]), "wte.weight: no dtype"),
    "dtype not read": (entry("wte.weight", dtype="I32"),
                       "wte.weight: dtype I32 is not supported; use F32, F16, BF16 or F64"),
    "shape a word": (entry("wte.weight", shape="6"), "wte.weight: shape is not a list of up to 8 whole numbers"),
    "shape negative": (entry("wte.weight", shape=[-3, -2]), "wte.weight: shape is not a list of up to 8 whole numbers"),
    "shape a fraction": (entry("wte.weight", shape=[3.0, 2]),
                         "wte.weight: shape is not a list of up to 8 whole numbers"),
    "shape quoted": (entry("wte.weight", shape=["3", 2]), "wte.weight: shape is not a list of up to 8 whole numbers"),
    "shape past 64 bits": (entry("wte.weight", shape=[2**63, 2]),
                           "header, line 1, column 57: JSON: too big integer near '9223372036854775808'"),
    "shape overflows": (entry("wte.weight", shape=[2**62, 2**62]),
                        "wte.weight: its shape has too many elements"),
    "bytes overflow": (entry("wte.weight", shape=[2**62, 1]), f"wte.weight: 24 bytes for {2**62} elements of F32"),
    "shape of 9": (entry("wte.weight", shape=[1] * 9), "wte.weight: shape is not a list of up to 8 whole numbers"),
    "shape too small": (entry("wte.weight", shape=[3, 1]), "wte.weight: 24 bytes for 3 elements of F32"),
    "one offset": (entry("wte.weight", data_offsets=[0]),
                   "wte.weight: data_offsets is not a list of two whole numbers"),
    "offset negative": (entry("wte.weight", data_offsets=[-24, 0]),
                        "wte.weight: data_offsets is not a list of two whole numbers"),
    "offsets reversed": (entry("wte.weight", data_offsets=[24, 0]),
                         "wte.weight: data_offsets [24, 0] are not within 584 bytes of data; is the file whole?"),
    "offset behind": (entry("wte.weight", data_offsets=[2**62, 2**62 + 24]),
                      f"wte.weight: data_offsets [{2**62}, {2**62 + 24}] are not within 584 bytes of data;"
                      " is the file whole?"),
    "overlap": (entry("wpe.weight", data_offsets=[16, 48]), "wpe.weight: overlaps wte.weight"),
    "gap": (lambda entries, data: entries.pop("wpe.weight") and data,
            "h.0.ln_1.weight: bytes before it belong to no tensor"),
    "bytes left over": (lambda entries, data: data + b"1234", "4 bytes at its end belong to no tensor"),
    "missing": (removed("h.1.mlp.c_fc.bias"), "h.1.mlp.c_fc.bias " + NO_GPT2),
    "missing layer": (removed("h.0.mlp.c_fc.weight"), "h.0.mlp.c_fc.weight " + NO_GPT2),
    "missing embedding": (removed("wte.weight"), NO_CONFIG),
    "a layer alone": (added("h.3.ln_1.weight"), "h.2.attn.c_attn.weight " + NO_GPT2),
    "extra": (added("adapter"), "adapter: GPT-2 has no such tensor"),
    "extra in a layer": (added("h.1.crossattention"), "h.1.crossattention: GPT-2 has no such tensor"),
    "leading zero": (added("h.01.ln_1.weight"), "h.01.ln_1.weight: GPT-2 has no such tensor"),
    "layer past all": (added("h.99999999999999999999.ln_1.weight"),
                       "h.99999999999999999999.ln_1.weight: GPT-2 has no such tensor"),
    "prefix on one": (added("transformer.wte.weight"),
                      "transformer.wte.weight: shape [2] is not that of a matrix of GPT-2"),
    "control characters": (added("a\nb\x1b"), "a\\nb\\x1b: GPT-2 has no such tensor"),
    "shape of c_attn": (replaced("h.0.attn.c_attn.weight", [2, 4]), "h.0.attn.c_attn.weight: shape [2, 4], not [2, 6]"),
    "turned": (replaced("h.1.mlp.c_proj.weight", [2, 6]), "h.1.mlp.c_proj.weight: shape [2, 6], not [6, 2]"),
    "vector as matrix": (replaced("ln_f.bias", [1, 2]), "ln_f.bias: shape [1, 2], not [2]"),
    "width of wpe": (replaced("wpe.weight", [4, 3]), "wpe.weight: shape [4, 3], not [4, 2]"),
    "no elements": (replaced("wte.weight", [0, 2]), "wte.weight: shape [0, 2] is not that of a matrix of GPT-2"),
    "head of another shape": (added("lm_head.weight"), "lm_head.weight: shape [2], not [3, 2]"),
    "NaN": (element("h.0.mlp.c_fc.weight", float("nan")), "h.0.mlp.c_fc.weight: not all values are finite as a float"),
    "infinity": (element("wpe.weight", float("-inf")), "wpe.weight: not all values are finite as a float"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_refused(tmp_path, name):
    change, line = CHANGED[name]
    entries, data = copy.deepcopy(small())
    data = change(entries, data)
    (tmp_path / "model.safetensors").write_bytes(gpt2.pack(entries, data))
    done = inspect(tmp_path, status=2)
    assert (done.stdout, done.stderr) == ("", f"model.safetensors: {line}\n")


def framed(header, length=None):
    return struct.pack("<Q", len(header) if length is None else length) + header


WHOLE = gpt2.pack(*small())
HEADER = struct.unpack("<Q", WHOLE[:8])[0]
OF_PYTORCH = "saved by PyTorch, not as safetensors; load it with transformers and save_pretrained() it again"
NO_LENGTH = "not a safetensors file: it does not begin with the length of a header"
RAW = {
    "empty": (b"", "not a safetensors file: only 0 bytes"),
    "seven bytes": (WHOLE[:7], "not a safetensors file: only 7 bytes"),
    "no header": (framed(b""), "not a safetensors file: its header does not begin with '{'"),
    "not JSON": (framed(b"hello"), "not a safetensors file: its header does not begin with '{'"),
    "half JSON": (framed(b'{"a":[1'), "header, line 1, column 7: JSON: ']' expected near end of file"),
    "more than JSON": (framed(b"{}{}"), "header, line 1, column 3: JSON: end of file expected near '{'"),
    "no object": (framed(b'{"a":1}'), "a: not an object with dtype, shape and data_offsets"),
    "twice": (framed(b'{"a":1,"a":2}'), "header, line 1, column 10: JSON: duplicate object key near '\"a\"'"),
    "deep": (framed(b'{"a":' + b"[" * 10**6),
             "header, line 1, column 2053: JSON: maximum parsing depth reached near '['"),
    "NUL": (framed(b'{"a\0":1}'), "header, line 1, column 3: JSON: control character 0x0 near '\"a'"),
    "half a surrogate pair": (framed(b'{"a":1,\n "\\ud83d":1}'),
                              "header, line 2, column 9: JSON: invalid Unicode '\\uD83D' near '\"\\ud83d\"'"),
    "YAML": (framed(b'{a: 1}'), "header, line 1, column 2: JSON: string or '}' expected near 'a'"),
    "no GPT-2": (framed(b"{}"), NO_CONFIG),
    "a zip archive": (b"PK\3\4\0\0\0\0\0\0\0\0" * 9, OF_PYTORCH),
    "a pickle": (b"\x80\2\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", OF_PYTORCH),
    "huge header": (framed(b"{}", 2**64 - 1), NO_LENGTH),
    "text": (b"Once upon a time", NO_LENGTH),
    "header cut": (WHOLE[: 8 + HEADER - 1], f"truncated: its header has {HEADER} bytes, but only {HEADER - 1} follow"),
    "data cut": (WHOLE[:-1], "ln_f.bias: data_offsets [576, 584] are not within 583 bytes of data; is the file whole?"),
}


@pytest.mark.parametrize("name", RAW)
def test_refused_bytes(tmp_path, name):
    content, line = RAW[name]
    (tmp_path / "model.safetensors").write_bytes(content)
    done = inspect(tmp_path, status=2)
    assert (done.stdout, done.stderr) == ("", f"model.safetensors: {line}\n")


def test_what_json_may_hold(tmp_path):
    """A config of other programs: a byte order mark, escapes above U+FFFF, very long keys."""
    entries, data = small()
    entries = {"__metadata__": {"smile \U0001f600": "x", "k" * 3000: "x"}, **entries}
    (tmp_path / "model.safetensors").write_bytes(gpt2.pack(entries, data))
    (tmp_path / "config.json").write_bytes(
        b'\xef\xbb\xbf{"n_head": 1, "smile": "\\ud83d\\ude00 \\/ \\\\ud83d", "'
        + b"k" * 3000 + b'":\t1}')
    (tmp_path / "ids.txt").write_text("0 1 2 0 1 2")
    assert "valid_loss" in inspect(tmp_path, "--tokens", "ids.txt").stdout


def test_every_prefix_is_refused(tmp_path):
    """A file truncated at any byte."""
    for length in range(0, len(WHOLE), 37):
        (tmp_path / "model.safetensors").write_bytes(WHOLE[:length])
        done = inspect(tmp_path, status=2)
        assert done.stdout == "" and done.stderr.startswith("model.safetensors: ") and done.stderr.count("\n") == 1


IDS_REFUSED = {
    "": "ids.txt: no tokens",
    " \n\t\n": "ids.txt: no tokens",
    "1 2\n\n0 3": "ids.txt:3: token 3 is not below the vocabulary of 3",
    "1 99999999999999999999999999 2": "ids.txt:1: token 99999999999999999999999999 is not below the vocabulary of 3",
    "1\n-1": "ids.txt:2: '-1' is not a token id",
    "0 1.0": "ids.txt:1: '1.0' is not a token id",
    "nan": "ids.txt:1: 'nan' is not a token id",
    "[1, 2]": "ids.txt:1: '[1,' is not a token id; separate ids by white space alone",
    "0 1,2": "ids.txt:1: '1,2' is not a token id; separate ids by white space alone",
    "0\n1\x1b[2J\n": "ids.txt:2: '1\\x1b[2J' is not a token id",
    "1": "ids.txt: a text needs a token and its target, but has one token",
    "0 1 2": "ids.txt: 3 tokens do not fill one window of 4 and its target; give a smaller --context",
}


@pytest.mark.parametrize("text", IDS_REFUSED)
def test_refused_ids(tmp_path, text):
    (tmp_path / "model.safetensors").write_bytes(WHOLE)
    (tmp_path / "ids.txt").write_text(text)
    done = inspect(tmp_path, "--tokens", "ids.txt", "--heads", "1", status=2)
    assert (done.stdout, done.stderr) == ("", IDS_REFUSED[text] + "\n")


def test_byte_order_marks_of_ids(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(WHOLE)
    (tmp_path / "ids.txt").write_bytes(b"\xef\xbb\xbf0 1 2 0 1")
    arguments = ("--tokens", "ids.txt", "--heads", "1")
    assert table(inspect(tmp_path, *arguments).stdout)["tokens", "-", "-", "-"] == 4
    (tmp_path / "ids.txt").write_text("0 1 2 0 1", "utf-16")
    assert inspect(tmp_path, *arguments, status=2).stderr == (
        "ids.txt: is UTF-16 and not UTF-8; save it as UTF-8\n")


def test_more_blocks_than_layers(tmp_path):
    write(tmp_path, gpt2.random_weights(layers=4), config=CONFIG | {"n_layer": 3})
    assert inspect(tmp_path, status=2).stderr == (
        "model.safetensors: h.3.attn.c_attn.bias: block 3, but config.json has 3 layers, from 0 on\n")


def test_the_file_of_a_broken_tensor(tmp_path):
    """Of several files, messages name the one that holds the tensor; of a folder, its file."""
    weights = gpt2.random_weights()
    weights["h.2.mlp.c_fc.bias"][3] = math.nan
    parts = {"a.safetensors": {}, "b.safetensors": {}}
    for name, tensor in weights.items():
        parts["b.safetensors" if name.startswith("h.2.") else "a.safetensors"][name] = tensor
    folder = tmp_path / "model.nc"  # a folder, whatever its name ends with
    folder.mkdir()
    for file, part in parts.items():
        (folder / file).write_bytes(gpt2.pack(*gpt2.entries_of(part)[:2]))
    places = {name: file for file, part in parts.items() for name in part}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    done = run(BUILD / "normsweep", "inspect", "model.nc", cwd=tmp_path, status=2)
    assert done.stderr == "model.nc/b.safetensors: h.2.mlp.c_fc.bias: not all values are finite as a float\n"


def limited(folder, mebibytes, *arguments):
    """With so much address space."""
    script = f'ulimit -v {mebibytes * 1024} && exec "$@"'
    command = ["sh", "-c", script, "sh", BUILD / "normsweep", "inspect", "model.safetensors", "--threads", "1"]
    return subprocess.run([*command, *arguments, "--values"], cwd=folder, capture_output=True, text=True, timeout=120)


def test_short_of_memory(tmp_path):
    """Batches are as large as there is memory for; where it is too little, one line says so."""
    write(tmp_path, gpt2.random_weights(layers=1, inner=1 << 17), ids=IDS * 10, config=CONFIG)
    least = next((size for size in range(100, 1200, 25) if limited(tmp_path, size).returncode == 0), None)
    if least is None:
        missing.skip("This build needs more address space than a limit can leave it (sanitizers do)",
                     "inspect when memory is short", "run make check without VARIANT=san")
    text = ("--tokens", "ids.txt")
    small, whole = limited(tmp_path, least + 150, *text), inspect(tmp_path, *text)
    assert small.returncode == 0, small.stderr
    compare(table(small.stdout), table(whole.stdout), 1e-4)
    none = limited(tmp_path, least, *text)
    assert (none.returncode, none.stdout) == (3, "")
    assert re.fullmatch(r"model.safetensors: no memory: the system does not give the [0-9.]+ MiB that are needed;"
                        r" see ulimit -v\n", none.stderr), none.stderr


ACTIVATIONS = "gelu, gelu_python, gelu_new, gelu_pytorch_tanh, gelu_fast, silu, swish or relu"
CONFIG_REFUSED = {
    '{"n_head": 0}': "config.json: n_head: 0 is not a whole number from 1 on",
    '{"n_head": "x"}': "config.json: n_head: \"x\" is not a whole number from 1 on",
    '{"n_head": [2]}': "config.json: n_head: [2] is not a whole number from 1 on",
    '{\n"n_head": 2,\n "activation_function": "quick_gelu"}':
        f"config.json: activation_function: \"quick_gelu\" is not {ACTIVATIONS}",
    '{"layer_norm_epsilon": 0}': "config.json: layer_norm_epsilon: 0 is not a number above 0",
    '{"layer_norm_epsilon": NaN}': "config.json:1:26: JSON: invalid token near 'NaN'",
    '{"scale_attn_weights": 1}': "config.json: scale_attn_weights: 1 is not true or false",
    '{"scale_attn_by_inverse_layer_idx": true}':
        "config.json: scale_attn_by_inverse_layer_idx: true is not false",
    '{"model_type": "gpt_neo"}': "config.json: model_type: \"gpt_neo\" is not gpt2, llama, mistral, qwen2, olmo2,"
                                 " bert, roberta, t5 or xlnet",
    "[1]": "config.json: not an object",
    "": "config.json:1:1: JSON: '[' or '{' expected near end of file",
    '{"n_head"': "config.json:1:9: JSON: ':' expected near end of file",
    '{"n_head": 1, }': "config.json:1:15: JSON: string or '}' expected near '}'",
    '{"n_head": 1,\n "x": "\\ude00"}': "config.json:2:14: JSON: invalid Unicode '\\uDE00' near '\"\\ude00\"'",
    '{"activation_function": "\\ud83d\\ude00"}':
        f"config.json: activation_function: \"\U0001f600\" is not {ACTIVATIONS}",
    '{"n_head": null}': "model.safetensors: unknown number of attention heads; give --heads N, or n_head in a"
                        " config.json beside it",
    '{"n_head": 3}': "model.safetensors: 3 heads do not divide the width of 2",
}


@pytest.mark.parametrize("text", CONFIG_REFUSED)
def test_refused_config(tmp_path, text):
    (tmp_path / "model.safetensors").write_bytes(WHOLE)
    (tmp_path / "config.json").write_text(text)
    (tmp_path / "ids.txt").write_text("0 1 2 0 1 2")
    done = inspect(tmp_path, "--tokens", "ids.txt", status=2)
    assert (done.stdout, done.stderr) == ("", CONFIG_REFUSED[text] + "\n")


OPTIONS_REFUSED = {
    ("--heads", "0"): "normsweep inspect: --heads takes a number of heads and not '0'",
    ("--threads", "x"): "normsweep inspect: --threads takes a number of threads and not 'x'",
    ("--context", ""): "normsweep inspect: --context takes a number of tokens and not ''",
    ("--tokens", "none", "--heads", "2", "--context", "5"):
        "model.safetensors: --context 5 is larger than the model's 4",
    ("--tokens=",): "normsweep inspect: a value is missing after '--tokens'",
    ("--tokens", "none"): "model.safetensors: unknown number of attention heads; give --heads N, or n_head in a"
                          " config.json beside it",
    ("--tokens", "none", "--heads", "2"): "none: No such file or directory",
}


@pytest.mark.parametrize("arguments", OPTIONS_REFUSED, ids=" ".join)
def test_refused_options(tmp_path, arguments):
    (tmp_path / "model.safetensors").write_bytes(WHOLE)
    done = inspect(tmp_path, *arguments, status=2)
    assert (done.stdout, done.stderr) == ("", OPTIONS_REFUSED[arguments] + "\n")


def test_no_file(tmp_path):
    assert inspect(tmp_path, status=2).stderr == (
        "model.safetensors: No such file or directory; normsweep reads files on disk and downloads nothing\n")
    (tmp_path / "model.safetensors").mkdir()
    (tmp_path / "model.safetensors" / "config.json").write_text("{}")
    assert inspect(tmp_path, status=2).stderr == (
        "model.safetensors: a folder without model.safetensors and without model.safetensors.index.json\n")
    for name in ("pytorch_model.bin.index.json", "pytorch_model.bin"):
        (tmp_path / "model.safetensors" / name).write_text("")
        assert inspect(tmp_path, status=2).stderr == f"model.safetensors/{name}: {OF_PYTORCH}\n"
    done = run(BUILD / "normsweep", "inspect", "model.safetensors/config.json", cwd=tmp_path, status=2)
    assert done.stderr == "model.safetensors/config.json: not an index of weights; give its folder\n"


def test_heads_that_contradict_the_configuration(tmp_path):
    write(tmp_path, gpt2.random_weights(), config=CONFIG)
    done = inspect(tmp_path, "--heads", "8", status=2)
    assert (done.stdout, done.stderr) == ("", "config.json: n_head: 4, but --heads 8; leave --heads out\n")
    assert inspect(tmp_path, "--heads", "4").stdout == inspect(tmp_path).stdout


def test_a_classifier(tmp_path):
    """What lies behind the base model, and is not the layer that predicts words, is refused."""
    weights = gpt2.random_weights()
    entries, data, _ = gpt2.entries_of(weights, prefix="transformer.")
    for name in ("score.weight", "transformer.score.weight"):
        extra = {name: {"dtype": "F32", "shape": [2], "data_offsets": [len(data), len(data) + 8]}}
        (tmp_path / "model.safetensors").write_bytes(gpt2.pack(entries | extra, data + bytes(8)))
        why = "not a part of GPT-2 or of its output; save the base_model alone"
        why = why if name == "score.weight" else "GPT-2 has no such tensor"
        assert inspect(tmp_path, status=2).stderr == f"model.safetensors: {name}: {why}\n"
