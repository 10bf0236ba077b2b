"""Datasets follow the CF conventions, as two checkers see it: `make check-thorough` installs them where pip has an
index."""

import functools
import json
import os
import pathlib
import shutil
import subprocess

import netCDF4
import numpy as np
import pytest

import missing
from conftest import PROJECT, train_sweep

pytestmark = pytest.mark.thorough("runs the CF checkers")

# By its name alone, compliance-checker takes this dimension for a depth in the sea and wants a standard_name. CF gives
# names no meaning (1.3), and `depth` counts sub-layers.
NOT_A_FAULT = "Coordinate variable 'depth' should have standard_name='depth', found: 'None'"

BASE = "corpus: markov\nvocabulary: 9\ncorpus_tokens: 1000\ncontext: 8\nbatch: 2\nsteps: 4\nwidth: 8\nheads: 2\n"
BASE += "layers: 1\nmeasure: {every: 2}\n"
STACKS = """\
  kind:
    right: {network: encoder, objective: masked, decoder_layers: 0}
    left: {network: decoder, objective: next, decoder_layers: 0}
    both: {network: encoder_decoder, objective: spans, decoder_layers: 3}
"""
SWEEPS = {
    "no axis": "seed: 3\n",
    "values out of order, words and labels":
        "learning_rate: [0.01, 0.1, 0.03]\nseed: [3, 1, 2]\nbias: [true, false]\nnorm_placement: [pre, out]\n"
        "weight_decay: {log: [1e-2, 10], points: 2, plus: [0]}\noptimiser: [sgd, adamw]\ntogether:\n  model:\n"
        "    größer: {feedforward: 16, beta1: 0.8}\n    small: {feedforward: 8, beta1: 0.9}\n",
    "lines of a search": "learning_rate: [0.1, 0.01]\nweight_decay: {log: [0.01, 10], points: 9, plus: [0]}\n"
                         "seed: [2, 1]\nrefine: {axis: weight_decay}\n",
    "planes of a search": "learning_rate: [0.01, 0.1]\nweight_decay: {log: [0.01, 10], points: 9}\n"
                          "refine: {axes: [learning_rate, weight_decay]}\n",
    "slopes over steps, descending with plus":
        "steps: [10, 5, 20]\nlearning_rate: [0.1, 0.01, 0.3]\ncontext: {range: [9, 7]}\n"
        "weight_decay: {log: [10, 1e-2], points: 3, plus: [0, 3]}\n",
    "two stacks, all that is measured of them":
        "layers: 2\nlearning_rate: [0.1, 0.01]\ntogether:\n" + STACKS + "gradient_batches: 2\n"
        "hessian: {probes: 2, steps: 3}\nmeasure: {every: 2, metrics: [norms, alignment, saturation, heads, attention, "
        "homogeneity, gradients, hessian, residual, equilibrium, forces, spectra]}\n",
    "one stack, everything": "layers: 2\nseed: [1, 0]\nhessian: {probes: 2, steps: 3}\nlyapunov_exponents: 2\n"
                             "measure: {every: 2, metrics: [norms, alignment, saturation, heads, attention, "
                             "homogeneity, gradients, hessian, hessian_layers, residual, lyapunov, equilibrium, "
                             "forces, sharpness, spectra, spectra_values]}\n",
}


FAULTY = "one with a fault"


@functools.cache
def starts(program):
    return bool(program) and subprocess.run([program, "-h"], capture_output=True).returncode == 0


def checker(name):
    """The path of a checker; without it or a library that it needs the test is skipped."""
    __tracebackhide__ = True
    found = shutil.which(name, path=os.pathsep.join([os.environ["PATH"], str(PROJECT / "build" / "checker" / "bin")]))
    if not starts(found):
        missing.skip(f"{name} is not installed or does not start", "that datasets follow the CF conventions",
                     "run .ci/checker, with pip")
    return found


# For each variable, compliance-checker searches the whole dataset for coordinates again. With the answers kept it says
# the same in a tenth of the time.
KEEPING_ANSWERS = """
import functools, inspect, sys
from cchecker import main
from compliance_checker.cf import util
for name, function in inspect.getmembers(util, inspect.isfunction):
    if name.startswith("get_") and len(inspect.signature(function).parameters) == 1:
        setattr(util, name, functools.cache(function))
sys.exit(main())
"""


@pytest.fixture(scope="module")
def reports(paths, tmp_path_factory):
    """{name: what compliance-checker says of the dataset, in CF 1.10}. To start it takes as long as one of them."""
    folder = tmp_path_factory.mktemp("reports")
    files = {name: folder / f"{place}.json" for place, name in enumerate(paths)}
    program = pathlib.Path(checker("compliance-checker"))
    interpreter = program.read_text().splitlines()[0].removeprefix("#!")
    subprocess.run([interpreter, "-c", KEEPING_ANSWERS, "--test", "cf:1.10", "--format", "json",
                    *(f"--output={file}" for file in files.values()), *paths.values()], capture_output=True,
                   timeout=1200, stdin=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(program.parent)})
    found = {name: json.loads(file.read_text())["cf:1.10"] for name, file in files.items()}
    assert all(one["scored_points"] > 100 for one in found.values())  # it has looked at something
    return found


def messages(found, priority):
    return {message for check in found[f"{priority}_priorities"] for message in check["msgs"]}


def older_faults(path, folder):
    """What cfchecks, which ends at CF 1.8, calls an error or gives a warning of. Its tables are of the network; none of
    their names is used here."""
    table = folder / "table.xml"
    table.write_text('<table><version_number>1</version_number><last_modified>today</last_modified><date>today</date>'
                     '</table>')
    copy = shutil.copy(path, folder / "older.nc")
    with netCDF4.Dataset(copy, "r+") as file:
        file.Conventions = "CF-1.8"
    done = subprocess.run([checker("cfchecks"), "-s", table, "-a", table, "-r", table, "-v", "1.8", copy],
                          capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)
    lines = done.stdout.splitlines()
    assert "Checking variable: norm_growth" in lines and any(line.startswith("ERRORS detected: ") for line in lines)
    return [line for line in lines if line.startswith(("FATAL: ", "ERROR: ", "WARN: "))]


def trained(folder, sweep):
    """The dataset of a sweep; keys of the base that it has itself count there."""
    keys = {line.partition(":")[0] for line in sweep.splitlines()}
    base = "".join(line for line in BASE.splitlines(True) if line.partition(":")[0] not in keys)
    return train_sweep(folder, base + sweep)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """{name: path} of the datasets of all sweeps, and of one with a fault."""
    found = {name: trained(tmp_path_factory.mktemp("conventions"), sweep) for name, sweep in SWEEPS.items()}
    found[FAULTY] = shutil.copy(found["lines of a search"], tmp_path_factory.mktemp("conventions"))
    with netCDF4.Dataset(found[FAULTY], "r+") as file:
        file["weight_decay"][0] = 5
    return found


@pytest.fixture(params=SWEEPS)
def name(request):
    return request.param


@pytest.fixture
def path(paths, name):
    return paths[name]


def test_axes_of_numbers_are_strict(path):
    with netCDF4.Dataset(path) as file:
        for name in file["outcome"].dimensions:
            if name in file.variables and file[name].dtype.kind in "if":
                steps = np.diff(np.asarray(file[name][...], dtype=float))
                assert (steps > 0).all() or (steps < 0).all(), name


def test_compliance_checker(path, name, reports):
    """No error; and one kind of warning, which docs/formats.md tells of: axes of words have the names of dimensions."""
    found = reports[name]
    with netCDF4.Dataset(path) as file:
        words = {name for name in file.variables if file[name].dtype == "S1" and name in file.dimensions}
    assert "tensor" in words and messages(found, "high") <= {NOT_A_FAULT} and not messages(found, "low")
    assert messages(found, "medium") == {f"{name} shares the same name as one of its dimensions" for name in words}


def test_cfchecks(path, tmp_path):
    assert older_faults(path, tmp_path) == []


def test_the_checkers_see_a_fault(paths, reports, tmp_path):
    assert messages(reports[FAULTY], "high") - {NOT_A_FAULT} == {
        'Coordinate variable "weight_decay" must be strictly monotonic'}
    assert older_faults(paths[FAULTY], tmp_path) == ["ERROR: (5): co-ordinate variable not monotonic"]
