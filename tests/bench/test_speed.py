"""`make bench`: that its figures are well-formed and of the same model on both sides. Times are not judged."""
import os
import re
import subprocess
import sys

import pytest
import reference
import speed_torch
import torch
from conftest import BUILD, PROJECT, run

SPEED = BUILD / "speed"
SHAPE = {"vocabulary": 11, "width": 8, "heads": 2, "feedforward": 12, "layers": 2, "context": 5, "batch": 3}
NUMBERS = ",".join(map(str, SHAPE.values()))
PARAMETERS = 2 * (448 + 52 + 32) + 128 + 16 + 99  # layers: matrices, biases, LayerNorms; embeddings, final, output


def ask(*requests):
    """The answers, and the line that comes first, as dicts."""
    lines = "".join(f"{request}\n" for request in requests)
    done = subprocess.run([SPEED], input=lines, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == ""
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 1 + len(requests)
    return [dict(zip(words[::2], words[1::2])) for words in lines]


def model_arithmetic(vocabulary, width, feedforward, layers, context, batch, **_):
    """GFLOP of a training step, the causal half of attention counted."""
    block = 4 * width**2 + 2 * width * feedforward
    return 1e-9 * (6 * (layers * block + vocabulary * width) + 6 * layers * context * width) * batch * context


def test_a_server_answers_each_line():
    about, step, gelu, forward, measure, hessian, sgemm, again = ask(
        f"step {NUMBERS} 0.2", f"step {NUMBERS},gelu 0", f"forward {NUMBERS} 0", f"measure {NUMBERS} 0",
        f"hessian {NUMBERS} 0.5", "sgemm 0", f"step {NUMBERS} 0")
    assert about["threads"] == "1" and {"BLAS_kernel", "vector_level", "processors"} <= set(about)
    for answer, share in (step, 1), (gelu, 1), (forward, 1 / 3), (again, 1):
        seconds = float(answer["seconds"])
        assert seconds > 0 and int(answer["parameters"]) == PARAMETERS
        assert float(answer["GFLOP/s"]) * seconds == pytest.approx(share * model_arithmetic(**SHAPE), rel=1e-3)
        assert float(answer["tokens/s"]) * seconds == pytest.approx(SHAPE["batch"] * SHAPE["context"], rel=1e-3)
    assert int(step["count"]) > int(again["count"]) == 1
    assert float(measure["seconds"]) > 0 and measure["every"] == "100"
    assert float(hessian["ratio"]) > 0 and int(hessian["parameters"]) == PARAMETERS and int(hessian["count"]) > 1
    assert float(sgemm["GFLOP/s"]) * float(sgemm["seconds"]) == pytest.approx(2e-9 * 1024**3, rel=1e-3)


def test_named_shapes():
    done = run(SPEED, "shapes").stdout.splitlines()[1].split()
    shapes = dict(zip(done[::2], done[1::2]))
    assert list(shapes) == ["tiny", "small", "small-gelu", "mid", "paper", "long"]
    assert shapes["tiny"] == "512,64,4,256,2,64,16" and shapes["small-gelu"] == shapes["small"] + ",gelu"
    assert "parameters 170240" in run(SPEED, "-t", "1", "step", "tiny", "0").stdout


@pytest.mark.parametrize("request_words, message", [
    (["step", "tini", "1"], "shape 'tini' is neither a known name nor V,C,H,F,L,T,B: no number for vocabulary"),
    (["step", "11,8,2,12,2,5", "1"],
     "shape '11,8,2,12,2,5' is neither a known name nor V,C,H,F,L,T,B: no number for batch"),
    (["step", "11,8,3,12,2,5,3", "1"], "shape '11,8,3,12,2,5,3': heads: 3 does not divide width 8"),
    (["step", "11,8,2,12,2,0,3", "1"], "shape '11,8,2,12,2,0,3': context: 0 is below 1"),
    (["step", NUMBERS + ",tanh", "1"], f"shape '{NUMBERS},tanh': what is 'tanh' after its seven numbers?"),
    (["step", "tiny", "nan"], "'nan' is not a number of seconds"),
    (["jump", "tiny", "1"], "no request 'jump': step, forward, measure, hessian, optimiser, sgemm, shapes"),
    (["step", "tiny"],
     "a request is step, forward, measure, hessian or optimiser with SHAPE and SECONDS, sgemm with SECONDS, or "
     "shapes"),
])
def test_a_wrong_request_is_one_line(request_words, message):
    assert run(SPEED, *request_words, status=1).stderr == f"speed: {message}\n"


def test_threads_are_a_number():
    assert run(SPEED, "-t", "0", "sgemm", "0", status=1).stderr == "speed: -t: threads: 0 is below 1\n"


def bench(*arguments, **environment):
    """What `make bench` runs: the lines of the table below its head, each a list of cells, and the whole output."""
    done = run(sys.executable, PROJECT / "tests" / "speed.py", "-r", "3", "-s", "0", *arguments, timeout=300,
               env=os.environ | {"NORMSWEEP_BUILD": str(BUILD)} | environment)
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("|")]
    return rows, done.stdout


NUMBER = r"\d+(\.\d+)?"
SPREAD = rf"{NUMBER} \({NUMBER} to {NUMBER}\)"


def test_the_table():
    (head, _, *rows), output = bench(NUMBERS, NUMBERS + ",gelu", OPENBLAS_CORETYPE="Haswell")
    assert [row[0] for row in rows] == [NUMBERS, NUMBERS + ",gelu"]
    for row in rows:
        assert len(row) == len(head)
        for cell, form in zip(row[1:], [NUMBER] * 3 + [SPREAD] * 4 + [NUMBER] * 3):
            assert re.fullmatch(form, cell), row
    rates = rf"{SPREAD}, installed {NUMBER}, same {NUMBER}, tuned {NUMBER}"
    assert re.search(rf"^sgemm .* GFLOP/s: {rates}\.$", output, re.M)
    assert re.search(r"^Left out of the environment: .*OPENBLAS_CORETYPE=Haswell", output, re.M)


def test_the_table_of_two_threads_without_pytorch(tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError\n")
    (head, _, row), output = bench("--threads", "2", NUMBERS, PYTHONPATH=str(tmp_path))
    cells = dict(zip(head, row))
    assert [cells[name] for name in head if "PyTorch" in name] == ["-"] * 3
    assert re.fullmatch(SPREAD, cells["x one thread"])
    assert "PyTorch: none for " in output


# PyTorch's side


def own_names(model, layers):
    """The tensors of tests/speed_torch.py under the names of tests/reference.py."""
    weights = {("token", -1): model.token.weight, ("position", -1): model.position.weight}
    for name, layer in ("final", model.norm), ("output", model.output):
        weights[name, -1], weights[name + "_bias", -1] = layer.weight, layer.bias
    for i in range(layers):
        block = model.blocks[i]
        for kind, suffix in ("weight", ""), ("bias", "_bias"):
            for name, part in zip("qkv", getattr(block.attention.qkv, kind).chunk(3)):
                weights[name + suffix, i] = part
            for name, layer in (("o", block.attention.out), ("w1", block.feedforward[0]), ("w2", block.feedforward[2]),
                                ("ln1", block.norm1), ("ln2", block.norm2)):
                weights[name + suffix, i] = getattr(layer, kind)
    return weights


@pytest.mark.parametrize("activation, layer", [("relu", torch.nn.ReLU), ("gelu", torch.nn.GELU)])
def test_pytorchs_model_is_the_same(activation, layer):
    torch.manual_seed(0)
    sizes = {key: value for key, value in SHAPE.items() if key != "batch"}
    model = speed_torch.Transformer(**sizes, activation=layer).double()
    config = SHAPE | {"activation": activation, "bias": True, "tied": False, "norm_placement": "pre",
                      "attention_mask": "causal"}
    tokens = torch.randint(SHAPE["vocabulary"], (SHAPE["batch"], SHAPE["context"]))
    inputs = [reference.Sequences(tokens, torch.ones_like(tokens, dtype=torch.bool))]
    want = reference.logits(config, own_names(model, SHAPE["layers"]), inputs)
    assert sum(parameter.numel() for parameter in model.parameters()) == PARAMETERS
    assert float((model(tokens) - want).abs().max()) < 1e-12
