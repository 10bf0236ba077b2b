"""`normsweep inspect`: every number against PyTorch in float64, and the messages of options and texts."""
import json
import math
import os
import re
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
    """What --json prints of a network of one stack, without the number of its parameters."""
    rows = gpt2.printed(text)
    assert {stack for _, stack, *_ in rows} == {"-"}
    return {(name, *place): value for (name, _, *place), value in rows.items() if name != "parameters"}


def compare(found, expected, tolerance):
    assert found.keys() == expected.keys()
    apart = {key: (found[key], value) for key, value in expected.items()
             if not abs(found[key] - value) <= tolerance * max(1, abs(value))}
    assert not apart


def write(folder, weights, dtype="F32", prefix="", config=None, ids=IDS, heads=HEADS):
    """A weights file in a folder, and the weights that it holds."""
    entries, data, rounded = gpt2.entries_of(weights, dtype, prefix)
    (folder / "model.safetensors").write_bytes(gpt2.pack(entries, data))
    (folder / "ids.txt").write_text("\n".join(" ".join(map(str, ids[i : i + 7])) for i in range(0, len(ids), 7)))
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config, indent=2))
    gpt2.imported(folder, *(() if config else ("--heads", heads)))
    return rounded


def inspect(folder, *arguments, program="normsweep", **options):
    return run(BUILD / program, "inspect", "net.weights.nc", *arguments, "--json", cwd=folder, **options)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("activation", ["gelu_new", "gelu", "relu"])
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
    weights = write(tmp_path, weights, dtype, heads=2)
    found = table(inspect(tmp_path, "--tokens", "ids.txt", program="normsweep-double").stdout)
    expected = gpt2.norms(weights) | gpt2.text_measures(weights, IDS, 2, "gelu_new", CONTEXT)
    compare(found, expected, 1e-8)


def test_smaller_windows(tmp_path):
    weights = write(tmp_path, gpt2.random_weights(seed=3), heads=8)
    found = table(inspect(tmp_path, "--tokens=ids.txt", "--context=5").stdout)
    compare(found, gpt2.norms(weights) | gpt2.text_measures(weights, IDS, 8, "gelu_new", 5), 1e-4)


def test_many_batches(tmp_path):
    """More windows than a batch holds, with a smaller last batch. Threads change only the last digits."""
    ids = [int(i) for i in np.random.default_rng(2).integers(0, 40, 100 * CONTEXT + 3)]
    weights = write(tmp_path, gpt2.random_weights(seed=4, layers=1), ids=ids)
    for threads in "12":
        found = table(inspect(tmp_path, "--tokens", "ids.txt", "--threads", threads).stdout)
        compare(found, gpt2.norms(weights) | gpt2.text_measures(weights, ids, HEADS, "gelu_new", CONTEXT), 1e-4)


def test_an_output_layer_that_is_the_embedding(tmp_path):
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
    gpt2.imported(tmp_path, "--heads", HEADS)
    compare(table(inspect(tmp_path).stdout), gpt2.norms(rounded), 1e-5)


SMALL = {"vocabulary": 3, "context": 4, "width": 2, "inner": 6, "layers": 2}
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
    write(tmp_path, gpt2.random_weights(**SMALL), heads=1)
    (tmp_path / "ids.txt").write_text(text)
    done = inspect(tmp_path, "--tokens", "ids.txt", status=2)
    assert (done.stdout, done.stderr) == ("", IDS_REFUSED[text] + "\n")


def test_byte_order_marks_of_ids(tmp_path):
    write(tmp_path, gpt2.random_weights(**SMALL), heads=1)
    (tmp_path / "ids.txt").write_bytes(b"\xef\xbb\xbf0 1 2 0 1")
    arguments = ("--tokens", "ids.txt")
    assert table(inspect(tmp_path, *arguments).stdout)["tokens", "-", "-", "-"] == 4
    (tmp_path / "ids.txt").write_text("0 1 2 0 1", "utf-16")
    assert inspect(tmp_path, *arguments, status=2).stderr == (
        "ids.txt: is UTF-16 and not UTF-8; save it as UTF-8\n")


def limited(folder, mebibytes, *arguments):
    script = f'ulimit -v {mebibytes * 1024} && exec "$@"'
    command = ["sh", "-c", script, "sh", BUILD / "normsweep", "inspect", "net.weights.nc", "--threads", "1"]
    return subprocess.run([*command, *arguments, "--json"], cwd=folder, capture_output=True, text=True, timeout=600)


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
    assert re.fullmatch(r"net.weights.nc: no memory: the system does not give the [0-9.]+ MiB that are needed;"
                        r" see ulimit -v\n", none.stderr), none.stderr


OPTIONS_REFUSED = {
    ("--threads", "x"): "normsweep inspect: --threads takes a number of threads and not 'x'",
    ("--context", ""): "normsweep inspect: --context takes a number of tokens and not ''",
    ("--tokens", "none", "--context", "5"): "net.weights.nc: --context 5 is larger than the model's 4",
    ("--tokens=",): "normsweep inspect: a value is missing after '--tokens'",
    ("--tokens", "none"): "none: No such file or directory",
    ("--tokens", "."): ".: Is a directory",
    ("--tokens", "pipe"): "pipe: not a regular file",
}


@pytest.mark.parametrize("arguments", OPTIONS_REFUSED, ids=" ".join)
def test_refused_options(tmp_path, arguments):
    write(tmp_path, gpt2.random_weights(**SMALL), heads=2)
    os.mkfifo(tmp_path / "pipe")  # nobody writes to it, and it must not be waited for
    done = inspect(tmp_path, *arguments, status=2)
    assert (done.stdout, done.stderr) == ("", OPTIONS_REFUSED[arguments] + "\n")


@pytest.mark.parametrize("name", [".", "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"])
def test_a_network_of_others(tmp_path, name):
    """One line says which command converts it, whether or not it is there."""
    done = run(BUILD / "normsweep", "inspect", name, cwd=tmp_path, status=2)
    assert done.stderr == (
        f"{name}: not a weights file; convert it: analysis/weights import '{name}' -o NET.weights.nc\n")


def test_a_file_that_is_not_there(tmp_path):
    assert inspect(tmp_path, status=2).stderr == "net.weights.nc: No such file or directory\n"


@pytest.mark.parametrize("variable, name", [("w1", "w1 of block 2"), ("position", "position")])
def test_values_that_are_not_finite(tmp_path, variable, name):
    """What analysis/weights would refuse, under a good checksum."""
    write(tmp_path, gpt2.random_weights(), config=CONFIG)
    gpt2.alter(tmp_path, variable, math.nan)
    assert inspect(tmp_path, status=2).stderr == f"net.weights.nc: {name}: not all values are finite as a float\n"
