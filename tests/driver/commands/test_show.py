"""`show` on datasets with known numbers: pictures, and messages if they cannot be drawn."""

import itertools
import os
import re

import missing
import numpy as np
import pytest
from conftest import NORMSWEEP, run
import waited
from test_dataset import drawn as cells, sample

pytestmark = pytest.mark.thorough("starts the program for every picture")

netCDF4 = missing.module("netCDF4", "show", "apt-get install python3-netcdf4")

SWEEP = """title: A sweep
corpus: markov
steps: 40
measure: {every: 10}
layers: 2
learning_rate: [1e-2, 1e-3, 1e-4]
weight_decay: [0, 0.1]
norm_placement: [pre, out]
seed: [0, 1, 2]
together:
  model:
    small: {width: 16, heads: 2}
    large: {width: 32, heads: 4}
"""
RATES, DECAYS, PLACEMENTS, SEEDS, MODELS, STEPS = 3, 2, 2, 3, 2, 5
SHAPE = (RATES, DECAYS, PLACEMENTS, SEEDS, MODELS)
DONE, DIVERGED, RUNNING, SKIPPED = 2, 3, 1, 5


@pytest.fixture(scope="module")
def norms():
    """Values over the grid and steps, different in each cell."""
    return np.random.default_rng(7).uniform(10, 20, SHAPE + (STEPS,))


@pytest.fixture(scope="module")
def path(tmp_path_factory, norms):
    file = sample(tmp_path_factory.mktemp("show") / "s.nc", SWEEP)
    with netCDF4.Dataset(file, "r+") as ds:
        ds["outcome"][:] = DONE
        ds["param_norm"][:] = norms
        ds["norm_growth"][:] = norms[..., -1] / norms[..., 0]
    return file


def plane(values):
    """In the order drawn: weight decays descending, learning rates ascending."""
    return values[::-1, ::-1].T


def panels(shown):
    """{title: cells} of the panels, one for each combination of the axes that are not drawn, except the seed."""
    parts = re.split(r"^(\w+=\S+(?:, \w+=\S+)*)$", shown, flags=re.M)[1:]
    return {title: cells(part) for title, part in zip(parts[::2], parts[1::2])}


def is_close(drawn, expected):
    np.testing.assert_allclose(np.array(drawn, float), expected, rtol=6e-4)


def test_at_fixes_axes_and_other_dimensions(path, norms, normsweep):
    shown = normsweep("show", path, "param_norm", "--at", "seed=2,norm_placement=out", "--at", "step=20").stdout
    drawn = panels(shown)
    assert list(drawn) == ["model=small", "model=large"]
    for model, rows in enumerate(drawn.values()):
        is_close(rows, plane(norms[:, :, 1, 2, model, 2]))
    title = shown.splitlines()[0]
    assert title == f"{path}: param_norm at norm_placement=out, seed=2, step=20: A sweep"
    assert "mean" not in shown and "last step" not in shown


@pytest.mark.parametrize("label, index", [("small", 0), ("large", 1)])
def test_at_takes_labels(path, norms, normsweep, label, index):
    shown = normsweep("show", path, "param_norm", "--at", f"model={label},norm_placement=pre").stdout
    is_close(cells(shown), plane(norms[:, :, 0, :, index, -1].mean(axis=2)))
    assert shown.splitlines()[-1] == "mean over seed"


@pytest.mark.parametrize("value", ["0.001", "1e-3", ".001", "0.0010000000005"])
def test_at_matches_numbers(path, norms, normsweep, value):
    at = f"learning_rate={value},weight_decay=0.1,norm_placement=out,model=small"
    shown = normsweep("show", path, "param_norm", "--at", at, "--over", "seed").stdout
    is_close(cells(shown), [norms[1, 1, 1, :, 0, -1]])


def changed(path, tmp_path, change):
    file = tmp_path / "c.nc"
    file.write_bytes(path.read_bytes())
    with netCDF4.Dataset(file, "r+") as ds:
        change(ds)
    return file


def test_a_metric_is_the_mean_of_what_has_not_diverged(tmp_path, normsweep):
    """Of twelve runs per cell first five, then seven diverged; their measurements do not enter the mean."""
    file = sample(tmp_path / "d.nc", SWEEP[:SWEEP.index("norm_placement")] + "seed: {range: [0, 11]}\n")
    norms = np.random.default_rng(7).uniform(10, 20, (RATES, DECAYS, 12, STEPS))
    norms[0, :, :4] = 1e9
    with netCDF4.Dataset(file, "r+") as ds:
        ds["outcome"][:] = DONE
        ds["outcome"][0, 0, :5] = ds["outcome"][0, 1, :7] = DIVERGED
        ds["param_norm"][:] = norms
        ds["param_norm"][2, 1] = np.nan
        ds["norm_growth"][:] = 2
        ds["norm_growth"][0, 0, 0] = 1.234
    shown = normsweep("show", file, "param_norm").stdout
    drawn = cells(shown)
    is_close([drawn[1][2]], [norms[0, 0, 5:, -1].mean()])
    assert drawn[0][0] == "." and drawn[0][2] == "!"
    assert shown.splitlines()[-3:] == ["! diverged   . no value", "at the last step that has a value",
                                       "mean over seed, without 12 runs that diverged"]
    assert "diverged" not in normsweep("show", file, "attempts").stdout
    at = ["--at", "seed=0,weight_decay=0,learning_rate=0.01"]
    one = normsweep("show", file, "param_norm", *at).stdout
    assert one.splitlines()[-1] == "of a run that diverged" and cells(one)[0].count("1e+09") == STEPS
    assert normsweep("show", file, "norm_growth", *at).stdout.splitlines()[1:] == ["1.234", "of a run that diverged"]


def test_a_scale_without_what_is_huge(path, tmp_path, normsweep):
    """A single outlier must not make all other cells look alike; its number is still shown."""
    def enlarge(ds):
        ds["final_train_loss"][:] = 2 + np.arange(np.prod(SHAPE)).reshape(SHAPE) / 100
        ds["final_train_loss"][0, 0, 0, 0, 0] = 125
    file = changed(path, tmp_path, enlarge)
    shown = bare(on_terminal(80, 24, TERMINALS[0], file, "final_train_loss", "--over", "learning_rate,seed",
                             "--at", "weight_decay=0,model=small,norm_placement=pre")).splitlines()
    assert any(re.search(r" 125 ", line) for line in shown)
    assert shown[-1].endswith(" above 2.52"), shown


def test_over_chooses_the_axes(path, norms, normsweep):
    at = "learning_rate=1e-4,weight_decay=0,model=large"
    shown = normsweep("show", path, "param_norm", "--over", "step,seed", "--at", at).stdout
    drawn = panels(shown)
    assert list(drawn) == ["norm_placement=pre", "norm_placement=out"] and "mean" not in shown
    for placement, rows in enumerate(drawn.values()):
        is_close(rows, norms[2, 0, placement, :, 1][::-1])


def test_the_diagram_at_and_over(path, norms, normsweep):
    growth = (norms[..., -1] / norms[..., 0])[:, 1, :, 0, 1]
    shown = normsweep("show", path, "--at", "weight_decay=0.1,seed=0,model=large",
                      "--over", "learning_rate,norm_placement").stdout
    marks = [[word[0] for word in row] for row in cells(shown)]
    assert marks == [["#" if growth[i, j] > 1 else "-" for i in (2, 1, 0)] for j in (1, 0)]
    assert "phase diagram at weight_decay=0.1, seed=0, model=large: A sweep" in shown and "mean" not in shown


def test_layers_and_tensors(path, normsweep):
    at = "learning_rate=0.01,weight_decay=0,norm_placement=pre,model=small"
    shown = normsweep("show", path, "tensor_norm", "--over", "layer,tensor", "--at", at).stdout
    rows = [line.partition("|")[0].strip() for line in shown.splitlines() if "|" in line]
    with netCDF4.Dataset(path) as ds:
        names = ["".join(np.asarray(name.compressed(), str)).rstrip("\0") if name.dtype.kind == "S" else str(name)
                 for name in ds["tensor"][:]]
        expected = ds["tensor_norm"][0, 0, 0, :, 0, -1].filled(np.nan).mean(axis=0).T
    assert rows == names[::-1]
    is_close(cells(shown), expected[::-1])
    one = normsweep("show", path, "tensor_norm", "--at", f"tensor={names[1]},layer=1").stdout
    assert f"at layer=1, tensor={names[1]}: " in one and "mean over seed" in one and len(panels(one)) == 4


REFUSED = [
    (["param_norm", "--at", "sed=1"], "param_norm has no dimension 'sed'; did you mean 'seed'?"),
    (["--at", "steps=40"], "the phase diagram: steps is 40 in all runs, and is not an axis; leave it out of --at"),
    (["--at", "optimiser=adamw"], "the phase diagram: optimiser is adamw in all runs, and is not an axis; leave it out "
                                  "of --at"),
    (["param_norm", "--over", "seed,batch"], "param_norm: batch is 16 in all runs, and is not an axis; leave it out of "
                                             "--over"),
    (["--at", "width=16"], "the phase diagram: width changes along model; --at takes that name"),
    (["--at", "lr=1e-3"], "the phase diagram has no dimension 'lr'; did you mean 'learning_rate'?"),
    (["final_loss"], "no variable final_loss; did you mean 'final_train_loss'? see normsweep help metrics"),
    (["param_norm", "--at", "colour=1"], "param_norm has no dimension 'colour'; it has learning_rate, weight_decay, "
                                         "norm_placement, seed, model, step"),
    (["--at", "step=1"], "the phase diagram has no dimension 'step'; it has learning_rate, weight_decay, "
                         "norm_placement, seed, model"),
    (["param_norm", "--at", "seed=5"], "param_norm: no seed '5'; it is one of 0, 1, 2"),
    (["param_norm", "--at", "seed="], "param_norm: no seed ''; it is one of 0, 1, 2"),
    (["param_norm", "--at", "learning_rate=0.00100001"],
     "param_norm: no learning_rate '0.00100001'; it is one of 0.01, 0.001, 0.0001"),
    (["param_norm", "--at", "norm_placement=per"], "param_norm: no norm_placement 'per'; did you mean 'pre'?"),
    (["param_norm", "--at", "model=medium"], "param_norm: no model 'medium'; it is one of small, large"),
    (["param_norm", "--at", "seed"], "param_norm: --at takes NAME=VALUE and not 'seed'"),
    (["param_norm", "--at", "=1"], "param_norm: --at takes NAME=VALUE and not '=1'"),
    (["param_norm", "--at", "seed=1,"], "param_norm: --at takes NAME=VALUE and not ''"),
    (["param_norm", "--at", "seed=1", "--at", "seed=1"], "param_norm: --at names seed twice"),
    (["param_norm", "--over", "step,sede"], "param_norm has no dimension 'sede'; did you mean 'seed'?"),
    (["param_norm", "--over", "step,step"], "param_norm: --over names step twice"),
    (["param_norm", "--over", "step,seed,model"], "param_norm: --over takes one or two names"),
    (["param_norm", "--over", "seed", "--at", "seed=1"], "param_norm: seed is both in --at and in --over"),
    (["saturation"],
     "saturation was not measured; to measure it, add 'saturation' to the metrics of measure in the sweep file"
     ": this makes another sweep, to be trained into another -o"),
    (["positions_attended"],
     "positions_attended was not measured; to measure it, add 'heads' to the metrics of measure in the sweep file"
     ": this makes another sweep, to be trained into another -o"),
    (["param_norm", "--at", "seed=\033[31m"], "param_norm: no seed '\\x1b[31m'; it is one of 0, 1, 2"),
]


@pytest.mark.parametrize("arguments, message", REFUSED)
def test_refused_in_one_line(path, normsweep, arguments, message):
    done = normsweep("show", path, *arguments, status=2)
    assert (done.stdout, done.stderr) == ("", f"{path}: {message}\n")


def test_many_values_are_not_all_listed(tmp_path, normsweep):
    file = sample(tmp_path / "m.nc", SWEEP.replace("seed: [0, 1, 2]", "seed: {range: [1, 40]}"))
    def refusal(value):
        return normsweep("show", file, "--at", f"seed={value}", status=2).stderr
    assert refusal("2.5").endswith("no seed '2.5'; the nearest of 40 are 2 and 3\n")
    assert refusal("0").endswith("no seed '0'; the nearest of 40 is 1\n")
    assert refusal("1e9").endswith("no seed '1e9'; the nearest of 40 is 40\n")
    assert refusal("x").endswith("no seed 'x'; it is one of 1, 2, 3, 4, 5, 6, ..., 40\n")


def test_the_diagram_of_one_run_says_its_number(path, tmp_path, norms, normsweep):
    at = ["--at", "seed=0,model=small,norm_placement=pre,weight_decay=0,learning_rate=0.01"]
    growth = norms[0, 0, 0, 0, 0, -1] / norms[0, 0, 0, 0, 0, 0]
    word = "growing" if growth > 1 else "shrinking"
    assert normsweep("show", path, *at).stdout.splitlines()[-1] == f"norm_growth {growth:.4g}, {word}"
    assert "norm_growth" not in normsweep("show", path).stdout.replace("mean of norm_growth", "")


WILD = "a\tb\x1b[31m\x9b1m\x07 é\u0085 träumerisch " + "lang " * 30
TERMINALS = [dict(TERM="xterm-256color", LANG="C.UTF-8"), dict(TERM="xterm-256color", LANG="C"),
             dict(TERM="dumb", LANG="C.UTF-8"),
             dict(TERM="xterm-256color", LANG="C.UTF-8", NO_COLOR="1")]


def on_terminal(columns, rows, environment, *arguments):
    status, _, text = waited.on_terminal("stdout", "show", *arguments, columns=columns, rows=rows,
                                         environment=environment)
    assert status == 0
    return text.decode().replace("\r\n", "\n")


def bare(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


PICTURES = [[], ["param_norm"], ["outcome"], ["tensor_norm", "--over", "tensor,seed"]]


@pytest.fixture(scope="module")
def wild(tmp_path_factory):
    file = sample(tmp_path_factory.mktemp("wild") / "w.nc", SWEEP)
    with netCDF4.Dataset(file, "r+") as ds:
        ds.sweep_title = WILD
    return file


@pytest.mark.parametrize("environment, arguments", itertools.product(TERMINALS, PICTURES))
def test_no_line_is_wider_than_the_terminal(wild, environment, arguments):
    for columns in (40, 80, 133):
        text = on_terminal(columns, 24, environment, wild, *arguments)
        shown = bare(text)
        assert ("\x1b" in text) == ("256" in environment["TERM"] and "NO_COLOR" not in environment)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)
        if environment["TERM"] != "dumb":
            assert max(len(line) for line in shown.splitlines()) <= columns


@pytest.mark.parametrize("arguments", PICTURES)
def test_piped_output_is_plain(path, normsweep, arguments):
    shown = normsweep("show", path, *arguments, env={**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"}).stdout
    assert shown.isascii() and "\x1b" not in shown


def test_a_label_with_a_comma(tmp_path, normsweep):
    file = sample(tmp_path / "c.nc", SWEEP.replace("small:", '"a,b":'))
    assert normsweep("show", file, "--at", "model=a,b", "--at", "seed=0").returncode == 0
    assert "no model 'a'" in normsweep("show", file, "--at", "model=a,seed=0", status=2).stderr


def test_cells_with_skipped_runs_are_counted(tmp_path):
    """Means over cells that `skip` has thinned mix unlike runs."""
    file = sample(tmp_path / "s.nc", SWEEP)
    with netCDF4.Dataset(file, "r+") as ds:
        ds["outcome"][:] = DONE
        ds["outcome"][0, 0, 1, :2, 0] = ds["outcome"][1, 1, 0, 2, 0] = ds["outcome"][2, 1] = SKIPPED
        ds["norm_growth"][:], ds["param_norm"][:] = 2, 3
    for words in ((), ("norm_growth",), ("param_norm",)):
        assert "cells with fewer runs (skipped): 2\n" in run(NORMSWEEP, "show", file, *words).stdout, words
    assert "fewer runs" not in run(NORMSWEEP, "show", file, "--at", "norm_placement=pre,seed=0,model=small").stdout


def test_a_sweep_without_a_title_shows_its_file_alone(tmp_path):
    file = sample(tmp_path / "s.nc", SWEEP.replace("title: A sweep\n", ""))
    assert run(NORMSWEEP, "show", file, "norm_growth", "--at", "seed=0").stdout.splitlines()[0].endswith("seed=0")
    assert run(NORMSWEEP, "status", file).stdout.splitlines()[0] == str(file)


def test_words_are_not_averaged(path, norms, normsweep):
    """A panel for each combination of words, in one scale, and means over seeds alone, as in the figures."""
    growth = norms[..., -1] / norms[..., 0]
    places = [(i, j) for i in range(PLACEMENTS) for j in range(MODELS)]
    titles = [f"norm_placement={placement}, model={model}" for placement in ("pre", "out")
              for model in ("small", "large")]
    for words, note in (((), "cells: geometric mean of norm_growth over seed; diverged if most ended runs"),
                        (("norm_growth",), "geometric mean over seed")):
        shown = normsweep("show", path, *words).stdout
        drawn = panels(shown)
        assert list(drawn) == titles and shown.count(note) == 1 and "combinations" not in shown
        for (i, j), rows in zip(places, drawn.values()):
            means = np.exp(np.log(growth[:, :, i, :, j]).mean(axis=2))
            if words:
                is_close(rows, plane(means))
            else:
                assert [[mark[0] for mark in row] for row in rows] == np.where(plane(means) > 1, "#", "-").tolist()


def test_panels_are_bounded(tmp_path, normsweep):
    """Of nine placements and sizes six are drawn, evenly spaced, and a line says so."""
    file = sample(tmp_path / "b.nc",
                  SWEEP.replace("[pre, out]", "[pre, out, post]") + "    medium: {width: 8, heads: 1}\n")
    for words in ([], ["norm_growth"], ["outcome"]):
        shown = normsweep("show", file, *words).stdout
        titles = re.findall(r"^norm_placement=(\w+), model=(\w+)$", shown, re.M)
        assert titles == [("pre", "small"), ("pre", "medium"), ("out", "small"), ("out", "medium"), ("post", "small"),
                          ("post", "medium")], words
        assert shown.splitlines()[-1] == "6 of 9 combinations of norm_placement, model; --at chooses others"
        assert "combinations" not in normsweep("show", file, *words, "--at", "model=small").stdout


def test_seeds_are_not_drawn_unless_asked(tmp_path, normsweep):
    """Two numbers or one beside many seeds: means over these, as in the figures; seeds alone are drawn."""
    many = SWEEP[:SWEEP.index("norm_placement")] + "seed: {range: [0, 40]}\n"
    one = many.replace("weight_decay: [0, 0.1]\n", "")
    for number, (sweep, rows, note) in enumerate([
            (many, DECAYS, True), (one, 1, True), (one.replace("[1e-2, 1e-3, 1e-4]", "1e-3"), 1, False)]):
        shown = normsweep("show", sample(tmp_path / f"{number}.nc", sweep), "attempts").stdout
        assert len(cells(shown)) == rows and ("mean over seed" in shown) == note, shown
    assert re.search(r"^ +seed$", shown, re.M)
    over = normsweep("show", tmp_path / "0.nc", "attempts", "--over", "weight_decay,seed").stdout
    assert len(cells(over)) == 3 * 41 and "learning_rate=0.001\n" in over


def test_at_takes_the_values_that_are_shown(tmp_path):
    """As rounded in pictures; the same digits are in the label of a failed run."""
    file = sample(tmp_path / "v.nc", "corpus: markov\nsteps: 20\nmeasure: {every: 10}\n"
                  "learning_rate: {log: [1e-1, 1e-5], points: 11}\nweight_decay: [0.12345, 0.1234, 0.5]\n")
    shown = run(NORMSWEEP, "show", file, "attempts").stdout
    decays = [line.partition("|")[0].strip() for line in shown.splitlines() if "|" in line]
    rates = " ".join(re.findall(r"^[ 0-9.e-]+$", shown, re.M)).split()
    assert decays == ["0.5", "0.1235", "0.1234"] and {"1e-05", "0.000398"} < set(rates)
    for name, values in (("weight_decay", decays), ("learning_rate", rates)):
        for value in values:
            at = run(NORMSWEEP, "show", file, "--at", f"{name}={value}").stdout
            assert f"phase diagram at {name}={value}\n" in at, value
    with netCDF4.Dataset(file, "r+") as ds:
        ds["outcome"][4, 0] = 4
    assert "failed: learning_rate=0.00251 weight_decay=0.1234: " in run(NORMSWEEP, "status", file).stdout


def test_each_force_has_a_panel(tmp_path, normsweep):
    """Their mean would say nothing."""
    sweep = SWEEP[:SWEEP.index("norm_placement")].replace("{every: 10}", "{every: 10, metrics: [norms, forces]}")
    file = sample(tmp_path / "f.nc", sweep + "seed: [0, 1]\n")
    values = np.random.default_rng(7).uniform(1, 2, (RATES, DECAYS, 2, STEPS, 4))
    with netCDF4.Dataset(file, "r+") as ds:
        ds["outcome"][:] = DONE
        ds["forces"][:] = values
    drawn = panels(normsweep("show", file, "forces").stdout)
    assert list(drawn) == ["force=decay", "force=injection", "force=chance", "force=pull"]
    for i, rows in enumerate(drawn.values()):
        is_close(rows, plane(values[:, :, :, -1, i].mean(axis=2)))
    assert len(panels(normsweep("show", file, "forces", "--at", "force=pull").stdout)) == 0
