"""The house around the code: ready-made sweeps, README, man page, figures, installation."""

import pathlib
import re
import shutil
import struct

import netCDF4
import numpy as np
import pytest
import xarray as xr
from conftest import BUILD, PROJECT, run

SWEEPS = sorted((PROJECT / "sweeps").glob("*.yaml"))


def test_man_page_names_every_command(normsweep):
    page = (PROJECT / "docs" / "normsweep.1").read_text()
    commands = re.findall(r"^\s*normsweep ([a-z]+)", normsweep("help").stdout, re.M)
    assert {"run", "plan", "check", "status", "show", "inspect", "help"} <= set(commands)
    for command in commands:
        assert re.search(rf"^\.It Cm {command}\b", page, re.M), command


def test_one_version():
    makefile = re.search(r"^VERSION = (.*)$", (PROJECT / "Makefile").read_text(), re.M)[1]
    assert re.search(r"^## (\S+)", (PROJECT / "CHANGELOG.md").read_text(), re.M)[1] == makefile


def made_up_dataset(path):
    """Every kind of cell: growing, shrinking, diverged, pending; a zero, words and seeds among the axes."""
    axes = {"learning_rate": [1e-1, 1e-2, 1e-3], "weight_decay": [1.0, 1e-2, 0.0], "norm_placement": ["pre", "post"],
            "seed": [0, 1]}
    shape = [len(values) for values in axes.values()]
    growth = np.exp(np.random.default_rng(0).normal(size=shape))
    outcome = np.full(shape, 2, np.int8)
    outcome[0, 0], outcome[2, 2, 0] = 3, 0
    growth[outcome != 2] = np.nan
    norms = 1 + (growth[..., np.newaxis] - 1) * np.linspace(0, 1, 5)
    xr.Dataset({"outcome": (list(axes), outcome), "norm_growth": (list(axes), growth),
                "param_norm": ([*axes, "step"], norms)}, {**axes, "step": range(5)},
               {"source": "normsweep"}).to_netcdf(path)


def test_figures(tmp_path):
    made_up_dataset(tmp_path / "made up.nc")
    drawn = run(PROJECT / "analysis" / "figures", tmp_path / "made up.nc", "-o", tmp_path).stdout.splitlines()
    assert [pathlib.Path(path).name for path in drawn] == ["made up-phase.png", "made up-norms.png"]
    for path in drawn:
        head = pathlib.Path(path).read_bytes()[:24]
        width, height = struct.unpack(">II", head[16:])
        assert head.startswith(b"\x89PNG") and width > 500 and height > 300


def test_figures_of_no_dataset(tmp_path):
    error = run(PROJECT / "analysis" / "figures", tmp_path / "none.nc", status=1).stderr
    assert error == f"figures: {tmp_path}/none.nc: No such file or directory\n"


@pytest.mark.skipif(not shutil.which("make"), reason="no make")
def test_install_and_uninstall(tmp_path):
    variant = "VARIANT=" + (BUILD.name if BUILD.name != "build" else "release")
    place = ["DESTDIR=" + str(tmp_path / "a b"), "PREFIX=/usr", variant]
    run("make", "-s", "install", *place, cwd=PROJECT, timeout=600)
    installed = {str(path.relative_to(tmp_path / "a b")) for path in (tmp_path / "a b").rglob("*") if path.is_file()}
    assert installed == {"usr/bin/normsweep", "usr/share/man/man1/normsweep.1",
                         "usr/share/normsweep/slurm/submit", "usr/share/normsweep/slurm/normsweep.sbatch",
                         *(f"usr/share/normsweep/sweeps/{path.name}" for path in SWEEPS)}
    run("make", "-s", "uninstall", *place, cwd=PROJECT)
    assert not [path for path in (tmp_path / "a b").rglob("*") if path.is_file()]


def test_figures_of_a_foreign_file(tmp_path, normsweep):
    netCDF4.Dataset(tmp_path / "foreign.nc", "w").close()
    error = run(PROJECT / "analysis" / "figures", tmp_path / "foreign.nc", status=1).stderr
    assert error == f"figures: {tmp_path}/foreign.nc: no dataset of normsweep\n"


def test_figures_without_norms(tmp_path, normsweep):
    (tmp_path / "a.yaml").write_text("corpus: markov\nsteps: 2\nwidth: 8\nmeasure: {metrics: [alignment]}\n"
                                     "learning_rate: [1e-3, 1e-2]\nweight_decay: [0, 0.1]\n")
    normsweep("run", "a.yaml", "-j", "0")
    assert run(PROJECT / "analysis" / "figures", tmp_path / "a.nc", "-o", tmp_path).stdout.endswith("a-phase.png\n")
