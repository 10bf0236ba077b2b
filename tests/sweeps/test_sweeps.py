"""The ready-made sweeps: valid, and as their headers say. The commands of the headers are run as they stand there."""
import os
import re
import shlex
import shutil

import numpy as np
import pytest
import xarray as xr
from conftest import NORMSWEEP, PROJECT, run

pytestmark = pytest.mark.thorough("trains a small variant of every sweep")

SWEEPS = sorted((PROJECT / "sweeps").glob("*.yaml"))
# It is small itself.
LARGE = [path for path in SWEEPS if path.stem != "quickstart"]
LONG = [path for path in SWEEPS if "\n# Long " in path.read_text()]
TEXT = "= Heading =\n" + "the lobster is a large crustacean , and <unk> knows it by its claws\n" * 200
# What the headers call the texts, and the pairs of texts.
TEXTS = ("wiki.valid.tokens", "wiki.test.tokens")
PAIRS = ("val.de", "val.en")

each_sweep = pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
each_large_sweep = pytest.mark.parametrize("path", LARGE, ids=lambda path: path.stem)


def header(path):
    """The comment at the top, without its marks."""
    lines = path.read_text().splitlines()
    end = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    return "\n".join(line[2:] for line in lines[:end])


def command(path, variant):
    """The words of the header's command line."""
    small = header(path).partition(f"\n{variant}")[2]
    return shlex.split(re.search(r"^ +(normsweep run (?:.*\\\n)*.*)$", small, re.M)[1].replace("\\\n", " "))


def reads_text(path):
    return re.search(r"^corpus: (text|bytes)$", path.read_text(), re.M) is not None


def reads_pairs(path):
    return "\ncorpus: pairs\n" in path.read_text()


def starts(path):
    """The files of weights from which runs start, as the list stands there."""
    found = re.search(r"^initial_weights: (.*)$", path.read_text(), re.M)
    return found and found[1]


def train_starts(path, folder):
    """Runs the commands that the header has for them."""
    needs = re.search(r"^Needs(?:.*\n)*?(?=\w)", header(path), re.M)[0]
    commands = "".join(re.findall(r"^ {13}\S(?:.*\\\n)*.*\n", needs, re.M))
    shutil.copy(path, folder)
    run("sh", "-ec", commands, cwd=folder, env={**os.environ, "PATH": f"{NORMSWEEP.parent}:{os.environ['PATH']}"})


@pytest.fixture
def folder(request, tmp_path):
    for name in TEXTS + PAIRS:
        (tmp_path / name).write_text(TEXT)
    path = getattr(request.node, "callspec", None) and request.node.callspec.params["path"]
    if path and starts(path):
        train_starts(path, tmp_path)
    return tmp_path


def cells(normsweep, path, *options):
    settings = ["--set", f"train_text={TEXTS[0]}", "--set", f"valid_text={TEXTS[1]}"] if reads_text(path) else []
    settings += ["--set", f"train_text=[{', '.join(PAIRS)}]"] if reads_pairs(path) else []
    settings += ["--set", f"initial_weights={starts(path)}"] if starts(path) else []
    return int(re.search(r": valid: .*, (\d+) cells[,;\n]", normsweep("check", path, *settings, *options).stdout)[1])


@each_sweep
def test_is_valid_and_has_as_many_runs_as_it_says(path, normsweep, folder):
    assert cells(normsweep, path) == int(re.search(r"^Costs +(\d+) (?:runs|cells)\b", header(path), re.M)[1])


@each_sweep
def test_header_says_what_it_shows_needs_and_costs(path):
    words = re.findall(r"^([A-Z][a-z]+)  +\S", header(path), re.M)
    assert words == ["Shows", "Needs", "Costs"] + ["Small"] * (path in LARGE) + ["Long"] * (path in LONG)
    assert re.search(r"^Needs +no text\.", header(path), re.M) or reads_text(path) or reads_pairs(path)
    assert "cores" in header(path)
    assert max(map(len, path.read_text().splitlines())) <= 120


@each_sweep
def test_writes_a_dataset_of_its_own_name(path):
    assert f"\noutput: {path.stem}.nc\n" in path.read_text()


def fewer_points(text):
    return re.sub(r"\bpoints: (\d+)", lambda match: f"points: {min(int(match[1]), 3)}", text)


@each_large_sweep
@pytest.mark.long(10)
def test_small_variant(path, normsweep, folder):
    """As written, but on a tiny text, of four steps and one seed, with three points of an axis, and with fewer products
    and batches where a run repeats them."""
    program, run, name, *options = map(fewer_points, command(path, "Small"))
    assert (program, run, name) == ("normsweep", "run", path.name)
    assert reads_text(path) == all(name in header(path) for name in TEXTS)
    (folder / name).write_text(fewer_points(path.read_text()))
    short = ["--set", "epochs=0", "--set", "steps=4", "-j", "0"]
    if "seeds:" not in path.read_text():  # which needs several
        short += ["--set", "seed=0"]
    if "\nhessian:" in path.read_text():  # the products of one spectrum take longer than a whole run of four steps
        options = [word for pair in zip(options[::2], options[1::2]) if not pair[1].startswith("hessian=")
                   for word in pair]
        short += ["--set", "hessian={probes: 1, steps: 3}"]
    if "\ngradient_batches:" in path.read_text():
        short += ["--set", "gradient_batches=2"]
    normsweep("run", name, *options, *short, timeout=600)
    with xr.open_dataset(folder / options[options.index("-o") + 1]) as dataset:
        skips = re.search("^(refine|skip):", path.read_text(), re.M)
        assert np.isin(dataset.outcome, (2, 3, 5) if skips else (2, 3)).all()
        assert np.isin(dataset.outcome, (2, 3)).any()
        assert dataset.outcome.size <= cells(normsweep, path)
        assert (dataset.step[0], dataset.step[-1]) == (0, 4)


@pytest.mark.parametrize("path", LONG, ids=lambda path: path.stem)
def test_variant_of_hours_is_valid(path, normsweep, folder):
    program, run, name, *options = command(path, "Long")
    assert (program, run, name) == ("normsweep", "run", path.name)
    options[options.index("-o"):options.index("-o") + 2] = []
    shutil.copy(path, folder)
    normsweep("check", name, *options)


def test_figure6_is_the_papers_grid(normsweep, folder):
    sweep = PROJECT / "sweeps" / "figure6-phase.yaml"
    settings = [f"--set={key}={name}" for key, name in zip(("train_text", "valid_text"), TEXTS)]
    assert normsweep("check", sweep, *settings).stdout == (
        f"{sweep}: valid: 20 learning_rate x 20 weight_decay, 400 cells; 6.66 % of the validation tokens are <unk>\n")
