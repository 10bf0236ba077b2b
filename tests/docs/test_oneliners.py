"""The ten lines of docs/oneliners.py on a short quickstart: each answer again, from the bare arrays of the file."""

import contextlib
import io
import os
import re
import runpy

import matplotlib
import matplotlib.pyplot as plt
import netCDF4
import numpy as np
import pytest
from conftest import NORMSWEEP, PROJECT, run, sets

pytestmark = pytest.mark.thorough("runs every line of the page")

DONE, DIVERGED = 2, 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("quickstart")
    short = sets("steps=40", "corpus_tokens=20000", "layers=1", "width=16", "feedforward=32", "batch=8")
    run(NORMSWEEP, "run", PROJECT / "sweeps" / "quickstart.yaml", "-j", "0", *short, cwd=path, timeout=600)
    return path


@pytest.fixture(scope="module")
def said(folder):
    """What the script has found, by name, and what it has printed."""
    matplotlib.use("Agg")
    plt.close("all")  # the test of the pictures takes all that are open
    out, here = io.StringIO(), os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out):
            names = runpy.run_path(str(PROJECT / "docs" / "oneliners.py"))
    finally:
        os.chdir(here)
    return names | {"printed": out.getvalue()}


@pytest.fixture(scope="module")
def file(folder):
    with netCDF4.Dataset(folder / "quickstart.nc") as dataset:
        dataset.set_auto_mask(False)
        yield {name: variable[:] for name, variable in dataset.variables.items()}


def test_every_question_has_its_answer(said, folder):
    source = (PROJECT / "docs" / "oneliners.py").read_text()
    numbers = [str(number) for number in range(1, 11)]
    assert re.findall(r"^# (\d+)\. .*\?", source, re.M) == numbers
    assert re.findall(r"^ ?(\d+)\. ", said["printed"], re.M) == numbers
    for name in re.findall(r"oneliners-\w+\.png", said["printed"]):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")


def test_ends(said, file):
    outcome = file["outcome"]
    assert said["ends"] == {"pending": 0, "running": 0, "done": np.sum(outcome == DONE),
                            "diverged": np.sum(outcome == DIVERGED), "failed": 0, "skipped": 0}
    assert said["ends"]["diverged"] > 0 and sum(said["ends"].values()) == 169


def test_growing(said, file):
    growth = file["norm_growth"][file["outcome"] == DONE]
    assert said["growing"] == pytest.approx(np.mean(growth > 1), abs=1e-12) and 0.2 < said["growing"] < 0.9


def test_default(said, file):
    rate, decay = (np.argmin(abs(file[name] - value)) for name, value in (("learning_rate", 1e-3),
                                                                          ("weight_decay", 1e-2)))
    assert float(said["default"]) == file["norm_growth"][rate, decay]
    assert abs(np.log10(said["default"].learning_rate / 1e-3)) < 0.2


def test_boundary(said, file):
    for rate in range(13):
        growing = [decay for decay, growth in zip(file["weight_decay"], file["norm_growth"][rate]) if growth > 1]
        found = float(said["boundary"][rate])
        assert found == max(growing) if growing else np.isnan(found)
    assert np.nanmin(said["boundary"]) < np.nanmax(said["boundary"])


def test_best(said, file):
    loss = file["final_valid_loss"]
    place = np.unravel_index(np.nanargmin(loss), loss.shape)
    assert float(said["best"]) == loss[place] < np.log(129)
    assert (said["best"].learning_rate, said["best"].weight_decay) == (file["learning_rate"][place[0]],
                                                                      file["weight_decay"][place[1]])


def test_unlearned(said, file):
    assert said["unlearned"] == np.sum(file["final_valid_loss"] >= file["unigram_loss"]) > 0


def test_diverged(said, file):
    expected = {(file["learning_rate"][i], file["weight_decay"][j]): file["diverged_step"][i, j]
                for i, j in zip(*np.nonzero(file["outcome"] == DIVERGED))}
    assert said["diverged"].to_dict() == expected
    # What multiplies a norm by 1 - rate * decay < -1 in each step is what diverges.
    assert all(rate * decay > 2 for rate, decay in expected)


def test_grown(said, file):
    names = list(file["tensor"])
    growing = file["norm_growth"] > 1
    for name in ["q", "k", "v", "o", "w1", "w2"]:
        norm = file["tensor_norm"][growing][..., names.index(name)]
        expected = np.exp(np.mean(np.log(norm[:, -1] / norm[:, 0])))
        assert float(said["grown"].sel(tensor=name)) == pytest.approx(expected, rel=1e-12)


def test_angles(said, file):
    cosine = file["update_alignment"]
    expected = [np.nanmean(cosine[rate]) for rate in range(13)]
    assert np.allclose(said["angles"], expected, rtol=1e-12) and np.all(np.abs(said["angles"]) <= 1)


def test_pictures_say_what_they_show(said, file):
    """The bar's ticks are ratios that stand at their logarithms; the lines' legend is short and beside them."""
    phase, lines = (plt.figure(number) for number in plt.get_fignums())
    bar = phase.axes[1]
    phase.draw_without_rendering()
    ticks = {float(text.get_text()): place for text, place in zip(bar.get_yticklabels(), bar.get_yticks())}
    assert bar.get_ylabel() == "norm growth, end over start" and {0.5, 1, 2} <= set(ticks)
    assert np.allclose(list(ticks.values()), np.log(list(ticks)), atol=1e-12)
    axes, = lines.axes
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == [f"{rate:.3g}" for rate in file["learning_rate"][::2]] and len(names) == len(axes.lines) <= 8
    assert all(np.array_equal(line.get_ydata(), norms, equal_nan=True)
               for line, norms in zip(axes.lines, file["param_norm"][::2, 0]))
    lines.draw_without_rendering()
    assert axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1
