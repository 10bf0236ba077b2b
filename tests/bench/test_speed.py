"""`make bench`: that its figures are well-formed and of the same model on both sides. Times are not judged."""
import os
import re
import subprocess
import sys

import pytest
import reference
import speed_machine
import speed_torch
import torch
from conftest import BUILD, PROJECT, run
from replay import replay

pytestmark = pytest.mark.thorough("runs the benchmarks")

SPEED = BUILD / "speed"
SHAPE = {"vocabulary": 11, "width": 8, "heads": 2, "feedforward": 12, "layers": 2, "context": 5, "batch": 3}
NUMBERS = ",".join(map(str, SHAPE.values()))
PARAMETERS = 2 * (448 + 52 + 32) + 128 + 16 + 99  # layers: matrices, biases, LayerNorms; embeddings, final, output


def ask(*requests):
    """The answers, and the line that comes first, as dicts."""
    lines = "".join(f"{request}\n" for request in requests)
    done = subprocess.run([SPEED], input=lines, capture_output=True, text=True, timeout=600)
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
    (["jump", "tiny", "1"], "no request 'jump': step, forward, measure, hessian, optimiser, sgemm, shapes, levels"),
    (["step", "tiny"],
     "a request is step, forward, measure, hessian or optimiser with SHAPE and SECONDS, sgemm with SECONDS, shapes, or "
     "levels"),
])
def test_a_wrong_request_is_one_line(request_words, message):
    assert run(SPEED, *request_words, status=1).stderr == f"speed: {message}\n"


def test_threads_are_a_number():
    assert run(SPEED, "-t", "0", "sgemm", "0", status=1).stderr == "speed: -t: threads: 0 is below 1\n"


def test_levels():
    levels, = ask("levels")[1:]
    assert list(levels)[0] == "baseline" and levels["baseline"] == "1" and set(levels.values()) <= {"0", "1"}


def bench(*arguments, **environment):
    """What `make bench` runs: {heading of the first line: rows} of its tables, each row a dict by the table's head, and
    the whole output."""
    done = run(sys.executable, PROJECT / "tests" / "speed.py", "-r", "3", "-s", "0", *arguments, timeout=600,
               env=os.environ | {"NORMSWEEP_BUILD": str(BUILD)} | environment)
    tables, head = {}, None
    for line in done.stdout.splitlines():
        cells = line.strip("| ").split(" | ")
        if not line.startswith("|"):
            head = None
        elif head is None:
            head, tables[cells[1]] = cells, []
        elif not set(cells) <= {"---"}:
            assert len(cells) == len(head), line
            tables[head[1]].append(dict(zip(head, cells)))
    return tables, done.stdout


NUMBER = r"\d+(\.\d+)?"
SPREAD = rf"{NUMBER} \({NUMBER} to {NUMBER}\)"
OWN = {"ms per step": NUMBER, "tokens/s": NUMBER, "GFLOP/s": NUMBER, "% of sgemm": SPREAD, "bfloat16, ms": NUMBER,
       "x float": SPREAD, "forward / step": NUMBER, "measuring, %": NUMBER, "Hessian product / gradient": NUMBER}
COMPILED = NUMBER if hasattr(torch, "compile") else f"{NUMBER}|-"
PEER = {"as installed, ms": NUMBER, "float eager, ms": NUMBER, "float compile, ms": COMPILED,
        "bfloat16 eager, ms": NUMBER, "bfloat16 compile, ms": COMPILED, "float: normsweep x": SPREAD,
        "bfloat16: normsweep x": SPREAD, "normsweep's float x bfloat16": SPREAD}


def check_rows(rows, shapes, forms):
    assert [row["shape"] for row in rows] == shapes
    for row in rows:
        assert list(row) == ["shape", *forms]
        for name, form in forms.items():
            assert re.fullmatch(form, row[name]), (name, row)


@pytest.mark.long(15)
def test_the_tables():
    """Both precisions of each shape; a precision behind a shape changes nothing."""
    shapes = [NUMBERS, NUMBERS + ",gelu"]
    tables, output = bench(*shapes, NUMBERS + ",bfloat16", "--levels", "--pytorch", sys.executable,
                           OPENBLAS_CORETYPE="Haswell")
    own, peer, levels = tables.values()
    check_rows(own, shapes, OWN)
    check_rows(peer, shapes, PEER)
    assert [row["shape"] for row in levels] == shapes
    assert all(re.fullmatch(NUMBER, row["baseline, float"]) for row in levels)
    version = re.escape(torch.__version__)
    assert re.search(rf"^PyTorch {version}; products as installed: \w+$", output, re.M)
    assert re.search(rf"GFLOP/s: sgemm {SPREAD}; PyTorch {version} float {NUMBER}, bfloat16 {NUMBER}\.$", output, re.M)
    assert re.search(r"^Chosen for .*: optimiser \w+; attention/products: float eager \w+/\w+, ", output, re.M)
    assert re.search(r"^Left out of the environment: .*OPENBLAS_CORETYPE=Haswell", output, re.M)
    if not hasattr(torch, "compile"):
        assert re.search(rf"^PyTorch {version}, float compile: not measured: .*no attribute 'compile'$", output, re.M)


def test_the_table_of_two_threads_without_pytorch(tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError\n")
    tables, output = bench("--threads", "2", NUMBERS, PYTHONPATH=str(tmp_path))
    (row,), = tables.values()
    assert not any("PyTorch" in name for name in row) and re.fullmatch(SPREAD, row["x one thread"])
    assert "PyTorch: none found, so no comparison with it; PYTORCH=python names a Python that has one\n" in output


@pytest.mark.parametrize("arguments, message", [
    (["--pytorch", "/bin/false"], "/bin/false cannot import torch: name a Python that can, or pip install torch there"),
    (["tini"], "speed: no shape 'tini': tiny, small, small-gelu, mid, paper, long, or V,C,H,F,L,T,B"),
])
def test_what_the_tables_refuse(tmp_path, arguments, message):
    (tmp_path / "torch.py").write_text("raise ImportError\n")
    done = run(sys.executable, PROJECT / "tests" / "speed.py", *arguments, status=1,
               env=os.environ | {"NORMSWEEP_BUILD": str(BUILD), "PYTHONPATH": str(tmp_path)})
    assert done.stderr == message + "\n"


def fake_python(path, version):
    """A Python whose PyTorch says this version; None: it has none."""
    path.write_text(f"#!/bin/sh\necho {version}\n" if version else "#!/bin/sh\nexit 1\n")
    path.chmod(0o755)
    return str(path)


def test_the_newest_pytorch_is_chosen(tmp_path, monkeypatch):
    """By its numbers, not its letters."""
    versions = {"old": "2.9.1", "new": "2.15.0+cpu", "ancient": "1.13.0a0+gitunknown", "none": None}
    pythons = [fake_python(tmp_path / name, version) for name, version in versions.items()]
    monkeypatch.setattr(speed_machine, "candidates", lambda: pythons)
    assert speed_machine.pythons_with_torch([]) == [(pythons[1], "2.15.0+cpu")]
    assert speed_machine.pythons_with_torch(pythons[:1]) == [(pythons[0], "2.9.1")]
    monkeypatch.setattr(speed_machine, "candidates", lambda: pythons[3:])
    assert speed_machine.pythons_with_torch([]) == []


# PyTorch's side


CONFIG = SHAPE | speed_torch.WORDS


@pytest.mark.parametrize("attention", speed_torch.ATTENTIONS)
@pytest.mark.parametrize("activation, layer", [("relu", torch.nn.ReLU), ("gelu", torch.nn.GELU)])
def test_pytorchs_model_is_the_same(activation, layer, attention):
    torch.manual_seed(0)
    sizes = {key: value for key, value in SHAPE.items() if key != "batch"}
    model = speed_torch.Transformer(**sizes, activation=layer).double()
    model.use(attention)
    config = CONFIG | {"activation": activation}
    tokens = torch.randint(SHAPE["vocabulary"], (SHAPE["batch"], SHAPE["context"]))
    inputs = [reference.Sequences(tokens, torch.ones_like(tokens, dtype=torch.bool))]
    want = reference.logits(config, model.own_names(), inputs)
    assert sum(parameter.numel() for parameter in model.parameters()) == PARAMETERS
    assert float((model(tokens) - want).abs().max()) < 1e-12


STEPS = 6


@pytest.mark.parametrize("mode, scalar, tolerance", [
    ("float-eager", "double", 1e-9), ("float-eager", "float", 1e-5), ("bfloat16-eager", "float", 0.05)])
@pytest.mark.parametrize("attention", speed_torch.ATTENTIONS)
def test_pytorchs_steps_are_the_same(mode, scalar, tolerance, attention):
    """From the same weights on the same batches, the losses of the first steps."""
    rates = {"learning_rate": 1e-2, "weight_decay": 0.1}
    dump = replay(scalar, **SHAPE, **rates, corpus="markov", corpus_tokens=600, steps=STEPS, record=1)
    model = speed_torch.Transformer(**{key: value for key, value in SHAPE.items() if key != "batch"})
    model.load(reference.weights_from(dump["initial"][0], CONFIG, SHAPE["vocabulary"]))
    training = speed_torch.Training(model.double() if scalar == "double" else model.float())
    training.options = {"lr": rates["learning_rate"], "weight_decay": rates["weight_decay"]}
    training.optimise_with("loop")
    training.ways[mode] = training.ways[mode]._replace(attention=attention)
    for step in range(STEPS):
        tokens, target = (torch.tensor(dump[name][step]) for name in ("tokens", "target"))
        loss = training.step(mode, tokens.view(SHAPE["batch"], SHAPE["context"]), target)
        assert abs(loss.item() - dump["loss"][step][0]) < tolerance
