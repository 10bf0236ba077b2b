"""A sweep as a table with one row per run, for pandas, R or a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, IO

import numpy as np
import pandas as pd
import xarray as xr

from .hints import Array, Path
from .names import DERIVED, OF_RUNS
from .plane import OVER_HEADS, as_words, derives, last, over_heads
from .significance import error, moments
from .verify import has_words

PARTS = ("stack", "force")  # dimensions of words, each of which has a column
COUNTED = ("done", "diverged", "failed")  # outcomes


def run_table(dataset: xr.Dataset) -> pd.DataFrame:
    """A DataFrame with one row per run, in the order of the grid; skipped cells have no row.

    Columns, in this order: the axes, each `together` axis followed by its keys; the weight_decay that follows from a
    timescale; outcome; every other variable with one value per run, in the order of the dataset, flags as words; and
    NAME_last, the last measured value, for each metric NAME over the steps, or NAME_encoder_last and NAME_decoder_last
    for one that each stack of an encoder-decoder has, and forces_decay_last, forces_injection_last, ... of the last
    measured step's forces. Metrics by layer, tensor or head are left out, except max_logit_last, the largest of all
    heads, and attention_entropy_last, their mean. Integers are Int64, with NA for a missing value; a missing real is
    NaN, a missing text "".

    >>> frame = ds.sweep.table()
    >>> len(frame), list(frame.columns[:5])
    (60, ['learning_rate', 'weight_decay', 'norm_placement', 'seed', 'outcome'])
    >>> list(frame.columns[-2:])
    ['rate_sum_last', 'param_norm_last']
    """
    outcome = dataset.sweep.outcome
    runs = outcome.values.ravel() != "skipped"

    def column(variable: xr.DataArray) -> Any:
        if has_words(variable):
            variable = as_words(variable)
        return typed(variable.broadcast_like(outcome).transpose(*outcome.dims).values.ravel()[runs], variable)

    columns = {name: column(dataset[name]) for axis in dataset.sweep.axes
               for name in (axis, *dataset.sweep.together.get(axis, ()))}
    if derives(dataset):
        columns[DERIVED] = column(dataset[DERIVED])
    columns["outcome"] = column(outcome)
    columns |= {str(name): column(variable) for name, variable in dataset.data_vars.items()
                if set(variable.dims) <= set(dataset.sweep.axes) and name != "outcome"}
    columns |= {f"{name}_last": column(last(values)) for name, values in step_variables(dataset)}
    return pd.DataFrame(columns)


def mean_table(dataset: xr.Dataset, over: str) -> pd.DataFrame:
    """A DataFrame with one row for each cell of the grid without the axis `over`, such as the seed: what its runs have
    in common. Cells that are skipped for all of them have no row.

    Columns: the other axes, each `together` axis followed by its keys; the weight_decay that follows from a timescale,
    unless it depends on `over`; done, diverged and failed, the numbers of runs that ended so; and for each measured
    number with one value per run, or its last value NAME_last over the steps: NAME_n, the number of runs that are done
    and have a value; NAME_mean, their mean, an arithmetic one for every variable; and NAME_se, the standard error of
    the mean, NaN for fewer than two.

    >>> frame = ds.sweep.table(over="seed")
    >>> print(*frame.loc[1, ["learning_rate", "weight_decay", "norm_placement", "done"]])
    0.1 10.0 post 2
    >>> print(frame.norm_growth_n[1], frame.norm_growth_mean[1].round(3), frame.norm_growth_se[1].round(3))
    2 0.176 0.03

    Raises KeyError if `over` is not an axis.
    """
    axes = dataset.sweep.axes
    if over not in axes:
        raise KeyError(f"{over}: not an axis; the axes are {', '.join(axes) or 'none'}")
    outcome = dataset.sweep.outcome
    others = [axis for axis in axes if axis != over]
    cells = (outcome != "skipped").any(over).values.ravel()

    def column(variable: xr.DataArray) -> Any:
        like = outcome.isel({over: 0}, drop=True)
        return typed(variable.broadcast_like(like).transpose(*others).values.ravel()[cells], variable)

    columns = {name: column(dataset[name]) for axis in others
               for name in (axis, *dataset.sweep.together.get(axis, ()))}
    if derives(dataset) and over not in dataset[DERIVED].dims:
        columns[DERIVED] = column(dataset[DERIVED])
    columns |= {word: (outcome == word).sum(over).values.ravel()[cells] for word in COUNTED}
    measured = {str(name): variable for name, variable in dataset.data_vars.items()
                if set(variable.dims) == set(axes) and name not in OF_RUNS}
    measured |= {f"{name}_last": last(values) for name, values in step_variables(dataset)}
    for name, variable in measured.items():
        if variable.dtype.kind not in "iuf" or has_words(variable):
            continue
        values = variable.where(dataset.sweep.done).transpose(*others, over).values.astype(float)
        count, mean, variance = moments(values)
        for word, found in (("n", count), ("mean", mean), ("se", error(variance, count))):
            columns[f"{name}_{word}"] = found.ravel()[cells]
    return pd.DataFrame(columns)


def step_variables(dataset: xr.Dataset) -> Iterator[tuple[str, xr.DataArray]]:
    """(name, values) of each variable with one value per run and step, or with one for each stack or force."""
    for name, variable in dataset.data_vars.items():
        if name in OVER_HEADS:
            variable = over_heads(variable)
        if "step" not in variable.dims or not set(variable.dims) <= {*dataset.sweep.axes, "step", *PARTS}:
            continue
        part = next((dim for dim in PARTS if dim in variable.dims), None)
        words = map(str, variable[part].values) if part else ()
        yield from ((f"{name}_{word}", variable.sel({part: word})) for word in words)
        if part is None:
            yield str(name), variable


def typed(values: Array, variable: xr.DataArray) -> Any:
    """Values in the type that the file has: xarray reads integers as reals if some are missing."""
    if values.dtype.kind == "f" and np.dtype(variable.encoding.get("dtype", float)).kind in "iu":
        missing = np.isnan(values)
        return pd.arrays.IntegerArray(np.where(missing, 0, values).astype(np.int64), missing)
    if values.dtype.kind == "T":
        return values.astype(object)
    if values.dtype.kind in "iu":
        return pd.array(values, dtype="Int64")
    return values


def write_csv(frame: pd.DataFrame, file: Path | IO[str]) -> None:
    """Writes CSV with a header line; reals with enough digits to restore them exactly, truth values as in YAML."""
    for name in frame.columns[frame.dtypes == bool]:
        frame = frame.assign(**{name: np.where(frame[name], "true", "false")})
    frame.to_csv(file, index=False, lineterminator="\n")
