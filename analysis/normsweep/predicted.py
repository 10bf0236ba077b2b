"""The boundary between growing and shrinking, predicted from the norms of one run, or of two, of each column: the runs
that differ in weight decay alone.

The decay takes a known share from the square of the norm, rho; the rest of what happens to it is a source. With h the
sum of the learning rates between two measured steps k and k + 1 (decay_rule corrected: of their squares, over the peak
rate), that of run i is
S_k = e^(lambda_i h) (rho_(k+1) - e^(-2 lambda_i h) rho_k), counted in the middle of the interval, and another decay
would have led to rho'_(k+1) = e^(-2 lambda h) rho'_k + e^(-lambda h) S_k. One run says what the source is at its own
decay, which is taken to hold for all. Two say how it changes: linearly in rho_k, or in lambda. docs/boundary.md derives
this, and says how good it is."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import xarray as xr

from .hints import Array, Numbers
from .memory import loaded
from .names import DERIVED, DONE, OUTCOMES, REPEAT
from .plane import phase_axes
from .schedule import KEYS, rates
from .slope import over_repeats, repeats_along

PREDICTED, SHRINKING, DIVERGED, UNKNOWN, COARSE, UNSTABLE, COUPLED, UNEVEN, EARLY = REASONS = (
    "predicted", "shrinking", "diverged", "unknown", "coarse", "unstable", "coupled", "uneven", "early")
SKIPPED = OUTCOMES.index("skipped")
WEAKEST = 1e-6  # decay times the sum of rates, below which a norm loses nothing
HALVINGS = 60
SAME = 1e-6  # two squares that differ by less, relative to their size, do not say how a source depends on them
AMPLIFIED = 1e8  # the factor by which an error in a square may grow until the end
SQUARE, DECAY = LINEAR_IN = "square", "decay"


def predicted_boundary(dataset: xr.Dataset, runs: int = 2, decays: Numbers | None = None, over: str | None = REPEAT,
                       linear_in: str = SQUARE, at: float = 1.0) -> xr.Dataset:
    """The weight decay at which norm_growth would be 1, predicted for every learning rate and every value of the other
    axes, as a Dataset; along timescale, that timescale.

    From one run, that of the smallest weight decay of the column; or from two: that one, and the run of the largest
    weight decay below what the first alone predicts. `decays` names the values of weight_decay to use instead,
    one or two, or of
    timescale; then `runs` is not needed. Between two runs the source is linear in the square of the norm at each
    moment, or in the weight decay: `linear_in` is "square" or "decay". `at` is a norm_growth other than 1. The runs
    have to be done. Where there is no prediction it is NaN; cells that the sweep skips do not count:

    shrinking   the run of the smaller decay does not grow
    diverged    a run that is needed has diverged
    unknown     a run that is needed is not done, or its norm was not measured
    coarse      the axis has no second value below the first prediction
    unstable    the norms of the two runs part so quickly that errors would decide
    coupled     the optimiser's decay (adam's) is not a factor on the parameters
    uneven      weights do not lose the same share: decay_on leaves tensors of the layers out; decay_rule cautious; a
                norm_rule, which undoes decay; mup at another width than base_width, unless decay_rule is independent;
                weights bfloat16, whose rounding loses it
    early       stop_when may have ended the runs at different steps

    `over` names the axis of repeats; None if there is none. Variables, each over learning_rate and the other axes:

    boundary, spread, low, high, repeats    as of boundary
    each, each_reason   prediction and reason of each repeat, along `over` too
    first, second       the weight decays, or timescales, of its runs; NaN for a run that is not used

    >>> found = ds.sel(norm_placement="pre").sweep.predicted_boundary(runs=1)
    >>> found.boundary.round(2).values
    array([ 4.23, 17.08,   nan])
    >>> found.each_reason.sel(seed=0).values.tolist()
    ['predicted', 'predicted', 'shrinking']

    Raises ValueError if the dataset has no param_norm, if neither weight_decay nor timescale is an axis, or it does not
    have `decays`, if
    `runs` is neither 1 nor 2, or if `over` is not one of the other axes, or `linear_in` neither of its words.
    """
    axis = phase_axes(dataset)[1]
    if "param_norm" not in dataset or axis not in dataset.param_norm.dims:
        raise ValueError(f"{axis} is not an axis of the measured norms, so there is nothing to predict from")
    if decays is None and runs not in (1, 2):
        raise ValueError(f"runs={runs}: a prediction is made from 1 run or from 2")
    if linear_in not in LINEAR_IN:
        raise ValueError(f"linear_in={linear_in}: a source is linear in one of {', '.join(LINEAR_IN)}")
    dataset = loaded(dataset, ("param_norm", "outcome", "rate_sum", "last_step"))
    places = None if decays is None else places_of(dataset[axis], decays)
    along = [axis, "step"]
    norm = dataset.param_norm.astype(float)
    time = decay_times(dataset).broadcast_like(norm)
    each, reason, first, second = xr.apply_ufunc(
        functools.partial(predict_column, runs=runs, places=places, linear_in=linear_in, at=at),
        dataset[axis], dataset[DERIVED], decay_factor(dataset), hindrance(dataset), dataset.outcome, norm ** 2, time,
        input_core_dims=[along[:1], along[:1], [], [], along[:1], along, along],
        output_core_dims=[[]] * 4, vectorize=True, output_dtypes=[float, object, float, float])
    if axis != DERIVED:  # the decay times the timescale is the same in a column
        each = (dataset[axis] * dataset[DERIVED]).isel({axis: 0}, drop=True).drop_vars(DERIVED, errors="ignore") / each
    order = [axis for axis in norm.dims if axis not in along]
    each, reason, first, second = (values.transpose(*order) for values in (each, reason, first, second))
    found = xr.Dataset({**over_repeats(each, repeats_along(each, over)), "each": each, "each_reason": reason,
                        "first": first, "second": second})
    describe(found, axis.replace("_", " "))
    return found


def places_of(axis: xr.DataArray, decays: Numbers) -> list[int]:
    """Places on the axis of one or two weight decays, the smaller one first, or of timescales, the larger one."""
    wanted = np.unique(decays)[::1 if axis.name == DERIVED else -1]
    known = axis.values
    missing = [value for value in wanted if value not in known]
    if missing or len(wanted) not in (1, 2):
        raise ValueError(f"decays: one or two of {', '.join(f'{value:g}' for value in known)}")
    return [int(np.flatnonzero(known == value)[0]) for value in wanted]


# ---- what the sweep says ----

def key(dataset: xr.Dataset, name: str) -> xr.DataArray:
    """The value of a key of the sweep file: a coordinate if there are several values, an attribute if there is one."""
    return dataset[name] if name in dataset.coords else xr.DataArray(dataset.attrs[name])


def decays_whole(dataset: xr.Dataset) -> xr.DataArray:
    """Do all tensors of the layers decay?"""
    layers = {"attention", "feedforward", "gains", "biases"}
    words = key(dataset, "decay_on")
    found = [not {"all", "hidden"}.isdisjoint(text.split("+")) or layers <= {*text.split("+")}
             for text in words.values.astype(str).ravel()]
    return words.copy(data=np.reshape(found, words.shape))


def decay_factor(dataset: xr.Dataset) -> xr.DataArray:
    """lambda / weight_decay, where a step of time h without an update leaves 1 - h lambda of the parameters: h is its
    rate, or what decay_times makes of it. A momentum repeats each step's decay, 1 / (1 - momentum) times in total."""
    factor = xr.where(key(dataset, "optimiser") == "sgd", 1 / (1 - key(dataset, "momentum")), 1.0)
    independent = key(dataset, "decay_rule") == "independent"
    return xr.where(independent, factor / key(dataset, "learning_rate"), factor)


def hindrance(dataset: xr.Dataset) -> xr.DataArray:
    """Which of REASONS keeps runs from being predicted, whatever their norms are; "": none."""
    optimiser, rule = key(dataset, "optimiser"), key(dataset, "decay_rule")
    narrower = (key(dataset, "parametrization") == "mup") & (key(dataset, "width") != key(dataset, "base_width"))
    uneven = ~decays_whole(dataset) | (rule == "cautious") | (key(dataset, "norm_rule") != "free")
    uneven = uneven | narrower & (rule != "independent") | (key(dataset, "weights") == "bfloat16")
    early = (key(dataset, "stop_when") == "phase") & has_bounded_steps(dataset)
    found = xr.where(early, EARLY, "")
    for there, reason in (uneven, UNEVEN), (optimiser == "adam", COUPLED):
        found = xr.where(there, reason, found)
    return found.astype(object)


def has_bounded_steps(dataset: xr.Dataset) -> xr.DataArray:
    """Other runs take all their steps, whatever stop_when says."""
    optimiser = key(dataset, "optimiser")
    bounded = key(dataset, "beta1") ** 2 < key(dataset, "beta2")
    bounded = xr.where(optimiser.isin(["adam", "adamw", "muon"]), bounded, True)
    return xr.where(optimiser == "sgd", key(dataset, "gradient_clip") > 0, bounded)


def decay_times(dataset: xr.Dataset) -> xr.DataArray:
    """What multiplies lambda, summed over the steps before each measured step: the rate, or, with decay_rule corrected,
    its square over the peak rate."""
    corrected = key(dataset, "decay_rule") == "corrected"
    if not corrected.any():
        return dataset.rate_sum
    own = xr.apply_ufunc(
        corrected_sums, dataset.step, dataset.last_step, *(key(dataset, name) for name in KEYS),
        input_core_dims=[["step"], *[[]] * (1 + len(KEYS))], output_core_dims=[["step"]], vectorize=True)
    return xr.where(corrected, own, dataset.rate_sum)


def corrected_sums(step: Array, last_step: float, learning_rate: float, *schedule: Any) -> Array:
    """Sums of the squares of the rates over the peak rate, at steps up to the last one, and NaN beyond."""
    if not last_step > 0:
        return np.full(step.size, np.nan)
    last_step = int(last_step)
    sums = np.append(0, np.cumsum(rates(last_step, learning_rate, *schedule) ** 2 / learning_rate))
    return np.where(step <= last_step, sums[np.minimum(step, last_step).astype(int)], np.nan)


# ---- one column ----

class NoPrediction(Exception):
    """Its argument is one of REASONS."""


def predict_column(axis: Array, decay: Array, factor: float, hindered: str, outcome: Array, square: Array,
                   time: Array, *, runs: int, places: list[int] | None, linear_in: str, at: float
                   ) -> tuple[float, str, float, float]:
    """(predicted decay, reason, axis of the first and the second run) of runs that differ in their decay [n]; square
    and time are [n, steps]. `hindered` is the reason why there is none, or ""."""
    used = [np.nan, np.nan]
    try:
        if hindered:
            raise NoPrediction(hindered)
        first = places[0] if places else first_place(decay, outcome)
        used[0] = axis[first]
        gains = [Gain(decay[first] * factor, outcome[first], square[first], time[first])]
        found = root(gains, linear_in, at) / factor
        if len(places or range(runs)) == 2:
            second = places[1] if places else second_place(decay, outcome, first, found)
            used[1] = axis[second]
            gains.append(Gain(decay[second] * factor, outcome[second], square[second], time[second]))
            found = root(gains, linear_in, at) / factor
        return found, PREDICTED, used[0], used[1]
    except NoPrediction as nothing:
        return np.nan, nothing.args[0], used[0], used[1]


def first_place(decay: Array, outcome: Array) -> int:
    """The place of the smallest decay that the sweep does not skip."""
    taken = np.where(outcome == SKIPPED, np.inf, decay)
    if np.isinf(taken.min()):
        raise NoPrediction(UNKNOWN)
    return int(np.argmin(taken))


def second_place(decay: Array, outcome: Array, first: int, found: float) -> int:
    """The place of the largest decay below the first prediction that the sweep does not skip."""
    below = np.where((outcome != SKIPPED) & (decay > decay[first]) & (decay < found), decay, -np.inf)
    if np.isinf(below.max()):
        raise NoPrediction(COARSE)
    return int(np.argmax(below))


class Gain:
    """What a run gained between its measured steps."""

    def __init__(self, decay: float, outcome: int, square: Array, time: Array) -> None:
        """square and time [steps] are NaN where the run was not measured."""
        if outcome != DONE:
            raise NoPrediction(DIVERGED if OUTCOMES[int(outcome)] == DIVERGED else UNKNOWN)
        known = np.isfinite(square)
        if known.sum() < 2:
            raise NoPrediction(UNKNOWN)
        self.decay = decay
        self.square, self.end = square[known][:-1], square[known][-1]  # [n] at the beginning of each span
        self.span = np.diff(time[known])  # [n] sums of rates
        bare = square[known][1:] - np.exp(-2 * decay * self.span) * self.square
        self.source = np.exp(decay * self.span) * bare  # [n] S_k


def source_line(decay: float, gains: list[Gain], linear_in: str) -> tuple[Array, Array]:
    """(source of each span at a square of 0, its slope over the square), at a decay."""
    one, two = gains[0], gains[-1]
    if one is two:
        return one.source, np.zeros_like(one.source)
    change = two.source - one.source
    by_decay = one.source + (decay - one.decay) / (two.decay - one.decay) * change
    apart = two.square - one.square
    tells = (linear_in == SQUARE) & (np.abs(apart) > SAME * one.square)  # at the start both runs are one
    slope = np.divide(change, apart, out=np.zeros_like(change), where=tells)
    return np.where(tells, one.source - slope * one.square, by_decay), slope


def end_square(decay: float, gains: list[Gain], linear_in: str) -> float:
    """The square of the norm at the end, at any decay, from the gains of one run or of two."""
    span, square = gains[0].span, gains[0].square[0]
    source, slope = source_line(decay, gains, linear_in)
    half = np.exp(-decay * span)  # of a source in the middle of a span this is left; of a square, twice
    for kept, gained in zip((half * (half + slope)).tolist(), (half * source).tolist()):
        square = kept * square + gained
    return square


def amplification(decay: float, gains: list[Gain], linear_in: str) -> float:
    """By how much an error in a square has grown at the end. Where two courses part quickly, their slope gives more at
    each step than decay takes away."""
    half = np.exp(-decay * gains[0].span)
    _, slope = source_line(decay, gains, linear_in)
    grown = 1.0
    for kept in np.abs(half * (half + slope)).tolist():
        grown = max(1.0, grown * kept)
    return grown


def root(gains: list[Gain], linear_in: str, at: float) -> float:
    """The decay from that of the first run upwards at which the norm ends `at` times as large as it began, in log
    decay."""
    wanted, total = at ** 2 * gains[0].square[0], gains[0].span.sum()
    if not gains[0].end > wanted:
        raise NoPrediction(SHRINKING)
    if any(not amplification(gain.decay, gains, linear_in) <= AMPLIFIED for gain in gains):
        raise NoPrediction(UNSTABLE)
    low = high = gains[0].decay or WEAKEST / total
    while end_square(high, gains, linear_in) > wanted:  # a decay that is large enough leaves nothing of norm and source
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if end_square(middle, gains, linear_in) > wanted else (low, middle)
    return np.sqrt(low * high)


def describe(found: xr.Dataset, along: str) -> None:
    """Sets long names and units, for labels and tables."""
    names = {
        "boundary": f"predicted {along} at which growth stops",
        "spread": "standard deviation of log10 of the predicted boundary",
        "low": "smallest predicted boundary",
        "high": "largest predicted boundary",
        "repeats": "boundaries predicted",
        "each": f"predicted {along} at which growth stops",
        "each_reason": "why there is no prediction",
        "first": f"{along} of the run that predicts",
        "second": f"{along} of the second run that predicts",
    }
    for name, text in names.items():
        found[name].attrs = {"long_name": text, "units": "1"}
