"""The panels of `show`, one for each combination of words and other axes that are not drawn; and values as it writes
them, which --at takes."""

import re

import pytest
import netCDF4
import numpy as np

from conftest import NORMSWEEP, run
from test_show import DECAYS, MODELS, PLACEMENTS, SWEEP, cells, is_close, panels, plane, sample
from test_show import norms, path  # noqa: F401

pytestmark = pytest.mark.thorough("starts the program for every picture")


def test_words_are_not_averaged(path, norms, normsweep):  # noqa: F811
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
