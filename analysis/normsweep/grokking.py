"""When the held-out part is learned: the first step at which accuracy reaches a level, how that depends on the weight
decay, and the smallest decay with which it does."""

from __future__ import annotations

import numpy as np
import xarray as xr

from .hints import Array
from .memory import loaded
from .names import DONE, REPEAT
from .slope import interval, straight_line

DECAY = "weight_decay"
LEVEL = 0.99


def grokking(dataset: xr.Dataset, level: float = LEVEL, over: str = REPEAT) -> xr.Dataset:
    """The step at which accuracy reaches `level`, and the weight decay that it takes, as a Dataset.

    `over` names the axis of repeats. Variables, over all axes of the sweep, and over those without weight_decay:

    reached             the first measured step with an accuracy of `level` or more; NaN if there is none
    before              the measured step before it, so that the true one is between the two
    low, high           for each repeat, the smallest decay of a run that reaches it, and the next smaller decay, of a
                        run that is done and does not: the critical decay of runs of this length is between the two.
                        Both NaN if no run reaches it, low NaN if that of the smallest decay does.
    slope               slope of log reached over log weight_decay, the mean over repeats of each, at the decays above 0
                        with which all repeats reach it; select fewer with ds.sel first
    slope_low, slope_high   an interval that covers it with a probability of about 95 %: repeats are resampled, and each
                        step is anywhere between `before` and `reached`; NaN with one repeat, which does not say how
                        much repeats differ

    With a constant learning rate the first steps of a long run are those of a short one, so `reached` also says with
    which decays shorter runs would.

    Raises ValueError if weight_decay is not an axis, or accuracy was not measured over the steps.
    """
    if "accuracy" not in dataset or not {DECAY, "step"} <= set(dataset.accuracy.dims):
        raise ValueError("accuracy was not measured over weight_decay and step")
    dataset = loaded(dataset[["accuracy", "outcome"]], ("accuracy", "outcome")).sortby(DECAY)
    measured = dataset.step.where(dataset.accuracy.notnull())
    reached = measured.where(dataset.accuracy >= level).min("step")
    found = xr.Dataset({"reached": reached, "before": measured.where(measured < reached).max("step")})
    known = reached.notnull() | (dataset.outcome == DONE)
    found["low"], found["high"] = xr.apply_ufunc(
        critical, found[DECAY], reached, known, input_core_dims=[[DECAY]] * 3, output_core_dims=[[], []],
        vectorize=True, output_dtypes=[float, float])
    found = found.assign(slopes(found, over))
    describe(found, level)
    return found


def critical(decay: Array, reached: Array, known: Array) -> tuple[float, float]:
    """(the largest decay below the smallest that reaches it, that one) of one row; decay [n] ascends."""
    decay, reached = decay[known], reached[known]
    places = np.flatnonzero(~np.isnan(reached))
    if not len(places):
        return np.nan, np.nan
    return decay[places[0] - 1] if places[0] else np.nan, decay[places[0]]


def slopes(found: xr.Dataset, over: str) -> dict[str, xr.DataArray]:
    """The slope over the decay and its interval, by name."""
    there = found.sel({DECAY: found[DECAY] > 0})
    with np.errstate(divide="ignore"):
        y = np.log(there.reached.where(there.reached > 0))
        low = np.log(there.before.clip(min=1))
    parts = [part if over in part.dims else part.expand_dims(REPEAT) for part in (y, low)]
    along = over if over in parts[0].dims else REPEAT
    everywhere = (parts[0].notnull() & parts[1].notnull()).all(along)
    y, low = (part.where(everywhere) for part in parts)
    x = np.log(there[DECAY].astype(float))
    slope = xr.apply_ufunc(lambda x, y: straight_line(x, y)[0], x, y.mean(along), input_core_dims=[[DECAY]] * 2,
                           vectorize=True, output_dtypes=[float])
    low, high = xr.apply_ufunc(interval, x, y, low, y, input_core_dims=[[DECAY], *[[DECAY, along]] * 3],
                               output_core_dims=[[]] * 2, vectorize=True, output_dtypes=[float] * 2)
    return {"slope": slope, "slope_low": low, "slope_high": high}


def describe(found: xr.Dataset, level: float) -> None:
    """Sets long names and units, for labels and tables."""
    names = {
        "reached": f"steps to an accuracy of {level:g}",
        "before": f"last measured step below an accuracy of {level:g}",
        "low": f"largest weight decay without an accuracy of {level:g}",
        "high": f"smallest weight decay with an accuracy of {level:g}",
        "slope": "log-log slope of these steps over the weight decay",
        "slope_low": "lower end of its interval",
        "slope_high": "upper end of its interval",
    }
    for name, text in names.items():
        found[name].attrs = {"long_name": text, "units": "1"}
