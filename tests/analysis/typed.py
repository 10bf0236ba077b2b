"""A user's program, for `mypy --strict`: it is checked, not run."""

from __future__ import annotations

import pathlib

import pandas as pd
import xarray as xr

from normsweep import (
    DifferentSweeps, NotASweep, NothingInCommon, Sweep, boundary, compare, comparison_table, comparison_text,
    collapse, gradient_slopes, grokking, lr_sensitivity, open_sweep, optimum, predicted_boundary, scaling, sweep_of)


def look(path: pathlib.Path) -> float:
    try:
        ds: xr.Dataset = open_sweep(path)
        whole: xr.Dataset = open_sweep([path, "other.nc"], chunks={"seed": 1}, cache=False)
    except (NotASweep, DifferentSweeps, OSError):
        return float("nan")
    print(ds.sweep.boundary(), whole.sweep.axes)
    sweep: Sweep = sweep_of(ds)
    bound: xr.Dataset = sweep.boundary(over=None)
    axes: tuple[str, ...] = sweep.axes
    together: dict[str, tuple[str, ...]] = sweep.together
    done: xr.DataArray = sweep.done & ~sweep.diverged & ~sweep.collapsed
    compared: xr.Dataset = compare(ds, open_sweep("parts/*.nc"), ["norm_growth"], without_collapsed=True)
    rows: pd.DataFrame = comparison_table(compared)
    print(comparison_text(compared, cells=3), len(rows))
    frame: pd.DataFrame = sweep.table()
    print(axes, together, frame.columns, sweep.title.upper(), sweep.words("phase"), sweep.pivot("phase", seed=1))
    print(sweep.predicted_boundary(decays=[0.1, 1]), sweep.gradient_slopes("w2"), sweep.grokking(0.9),
          sweep.lr_sensitivity(), sweep.optimum("norm_growth", repeats=None), sweep.collapse(where=ds.seed > 1))
    print(sweep.scaling("tensor_norm", over=["learning_rate", "width"], where=ds.learning_rate > 1e-3).exponent)
    for found in (boundary(ds), predicted_boundary(ds, runs=1), gradient_slopes(ds, over=None), grokking(ds),
                  lr_sensitivity(ds), scaling(ds), optimum(ds, over="learning_rate"),
                  collapse(ds, of=("timescale", "width"))):
        print(found.attrs)
    return float(done.sum()) + float(bound["slope"].mean())


def beside(one: xr.Dataset, other: xr.Dataset) -> pd.DataFrame:
    try:
        found: xr.Dataset = compare(one, other, ["norm_growth"], paired=None, names=("one", "other"))
        compare(one, other, "seconds", False)
        compare(one, other, (name for name in ("seconds", "attempts")))
    except NothingInCommon as error:
        raise SystemExit(str(error)) from error
    text: str = comparison_text(found, cells=3)
    table: pd.DataFrame = comparison_table(found)
    print(text.splitlines(), table.columns)
    return table
