"""One variable over two axes: a plane that can be shown as a map or a table."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import xarray as xr

from .hints import Array
from .names import NATURE, NATURES, OF_RUNS, PHASE_AXES, TIMESCALE
from .verify import has_words
from .words import texts, value_text

MANY = 12  # values of an axis that an error lists
LEAST_DIGITS = 3  # of a rounded value
SAME = 1e-9  # relative difference below which two real values of an axis are the same; integers are exact


def derives(dataset: xr.Dataset) -> bool:
    """Does weight_decay follow from a timescale, which is an axis or the same in all runs?"""
    return TIMESCALE in dataset.coords or bool(dataset.attrs.get(TIMESCALE, 0))


def phase_axes(dataset: xr.Dataset) -> tuple[str, str]:
    """PHASE_AXES, or timescale in the place of weight_decay if that is the axis."""
    return (PHASE_AXES[0], TIMESCALE) if TIMESCALE in dataset.sizes else PHASE_AXES


def pivot(dataset: xr.Dataset, variable: str = "norm_growth", **at: Any) -> xr.DataArray:
    """The values of a variable over `ds.sweep.plane`, rows along y and columns along x, numbers ascending.

    `at` selects one value of an axis, or of any other dimension of the variable (layer=0, step=100). All other
    dimensions are reduced: `step` to the last value measured in each run; then numbers to the mean of the values that
    are not NaN (the geometric mean for ratios such as norm_growth), flags and texts to the most frequent word, the
    alphabetically first of equals. If fewer than two axes have several values, the result has fewer dimensions.

    Measured variables count only in sound runs: numbers in runs that neither diverged nor failed, classes (dynamics)
    in runs that are done. Variables that every run has, however it ended (names.OF_RUNS: outcome, phase, seconds,
    ...), count in all.

    >>> ds.sweep.pivot(norm_placement="pre").round(3).sel(learning_rate=1e-2).values
    array([3.162, 1.   , 0.316, 0.1  , 0.032])
    >>> ds.sweep.pivot("phase", norm_placement="pre").sel(learning_rate=1e-2, weight_decay=1e-3).item()
    'growing'

    Raises KeyError, with its name, for a variable, dimension or value that the dataset does not have.
    """
    if variable not in dataset.variables:
        raise KeyError(f"{variable}: not a variable of this dataset")
    part = select(dataset[[variable, "outcome"]], at)
    return reduced(part, variable, part.sweep.plane)


def reduced(dataset: xr.Dataset, variable: str, plane: Iterable[str]) -> xr.DataArray:
    """pivot over any axes (x, y) of the dataset, or fewer, instead of its own plane."""
    values = of_sound_runs(dataset, variable).compute()
    axes = [name for name in plane if name in values.dims]
    if "step" in values.dims:
        values = last(values)
    others = [dim for dim in values.dims if dim not in axes]
    if has_words(values) or values.dtype.kind in "OSTU":
        values = most_frequent(as_words(values) if has_words(values) else values, others)
    else:
        values = averaged(values, others)
    ascending = [name for name in axes if values[name].dtype.kind in "iuf"]
    return values.transpose(*axes[::-1]).sortby(ascending).rename(variable)


def averaged(values: xr.DataArray, dimensions: Sequence[Hashable]) -> xr.DataArray:
    """The mean over some dimensions: the geometric one of ratios, the arithmetic one of other numbers."""
    if not is_geometric(values):
        return values.mean(dimensions, keep_attrs=True)
    with np.errstate(divide="ignore"):
        logs = cast(xr.DataArray, np.log(values))
    return cast(xr.DataArray, np.exp(logs.mean(dimensions))).assign_attrs(values.attrs)


OVER_HEADS = {"max_logit": "max", "attention_entropy": "mean"}  # what one number for all heads of a network is


def over_heads(values: xr.DataArray) -> xr.DataArray:
    """The largest, or the mean, over layers and heads, as OVER_HEADS says."""
    parts = [dim for dim in values.dims if dim in ("layer", "head")]
    return cast(xr.DataArray, getattr(values, OVER_HEADS[str(values.name)])(parts, keep_attrs=True))


def is_linear(variable: xr.DataArray) -> bool:
    """True if its scale is never logarithmic: a cosine, a share."""
    return nature_of(variable)[0]


def is_geometric(variable: xr.DataArray) -> bool:
    """True if its mean is geometric: a ratio."""
    return nature_of(variable)[1]


def nature_of(variable: xr.DataArray) -> tuple[bool, bool]:
    """Variables that others have added have no nature."""
    return NATURES.get(variable.attrs.get(NATURE, ""), (False, False))


def select(dataset: xr.Dataset, at: Mapping[str, Any]) -> xr.Dataset:
    """The part of a dataset at one value of each dimension that `at` names; KeyError if there is no such value."""
    for name, value in at.items():
        if name not in dataset.dims:
            raise KeyError(f"{name}: not a dimension; the dimensions are {', '.join(map(str, dataset.dims))}")
        places = np.flatnonzero(equal(dataset[name].values, value))
        if len(places) != 1:
            raise no_value(dataset[name], value)
        dataset = dataset.isel({name: places[0]})
    return dataset


def part_at(dataset: xr.Dataset, pairs: Sequence[str]) -> xr.Dataset:
    """The part of a dataset that texts select, each of another axis; the part's title says so. KeyError for any other.

    NAME=VALUE takes one value, and the axis away, as select; NAME=VALUE,VALUE,... takes several, NAME=LOW..HIGH those
    from one number to another, with both ends, of which one may be missing.
    """
    at: dict[str, int | list[int]] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign or name not in dataset.sweep.axes:
            raise no_axis(dataset, pair)
        if name in at:
            raise KeyError(f"{pair}: {name} is selected twice")
        at[name] = places_of(dataset[name], text)
    title = " ".join(filter(None, [dataset.sweep.title, *([f"at {', '.join(pairs)}"] if pairs else [])]))
    return dataset.isel(at).assign_attrs(sweep_title=title) if pairs else dataset


def no_axis(dataset: xr.Dataset, pair: str) -> KeyError:
    """Why a text is not NAME=VALUE of an axis."""
    name, axes = pair.partition("=")[0], f"the axes are {', '.join(dataset.sweep.axes) or 'none'}"
    if name in dataset.attrs:
        return KeyError(f"{name} is not an axis: it is {value_text(dataset.attrs[name])} in all runs; {axes}")
    return KeyError(f"{pair}: not NAME=VALUE of an axis; {axes}")


def places_of(coordinate: xr.DataArray, text: str) -> int | list[int]:
    """The place of the value that a text means on an axis, or the places of the values of a list or a range, in the
    order of the axis. KeyError if it has none."""
    words = text.split(",")
    if is_one(coordinate, text) or len(words) == 1 and ".." not in text:
        return place_of(coordinate, text)
    return sorted({place for word in words for place in (
        range_of(coordinate, word) if ".." in word and not is_one(coordinate, word) else [place_of(coordinate, word)])})


def is_one(coordinate: xr.DataArray, text: str) -> bool:
    """Is a text as a whole a value? A label may have a comma or points in it."""
    return bool(equal(coordinate.values, value_of(coordinate, text)).any())


def place_of(coordinate: xr.DataArray, text: str) -> int:
    value = value_of(coordinate, text)
    places = np.flatnonzero(equal(coordinate.values, value))
    if len(places) != 1:
        raise no_value(coordinate, value)
    return int(places[0])


def no_value(coordinate: xr.DataArray, value: Any) -> KeyError:
    return KeyError(f"{coordinate.name}: no value {value_text(value)}; it has {some_values(coordinate.values, value)}")


def range_of(coordinate: xr.DataArray, text: str) -> list[int]:
    """The places from LOW to HIGH of a text LOW..HIGH, or HIGH..LOW."""
    ends = [value_of(coordinate, end) if end else limit for end, limit in zip(
        text.split("..", 1), (-np.inf, np.inf))]
    if coordinate.dtype.kind not in "iuf" or not all(isinstance(end, (int, float)) for end in ends):
        raise KeyError(f"{coordinate.name}: {text}: a range is LOW..HIGH of an axis of numbers")
    values, ends = coordinate.values, sorted(ends)
    within = (values > ends[0]) & (values < ends[1]) | equal(values, ends[0]) | equal(values, ends[1])
    if not within.any():
        raise KeyError(f"{coordinate.name}: no value in {text}; it has {some_values(values, ends[0])}")
    return [int(place) for place in np.flatnonzero(within)]


def some_values(values: Array, wanted: Any) -> str:
    """The values of an axis in words; of many numbers the ends and the two nearest to the wanted one."""
    if len(values) <= MANY or values.dtype.kind not in "iuf" or not isinstance(wanted, (int, float, np.number)):
        more = f" and {len(values) - MANY} more" if len(values) > MANY else ""
        return ", ".join(map(value_text, values[:MANY].tolist())) + more
    near = values[np.argsort(np.abs(values - wanted), kind="stable")[:2]]
    return (f"{len(values)} values from {value_text(values.min().item())} to {value_text(values.max().item())}, the "
            f"nearest {' and '.join(value_text(value) for value in sorted(near.tolist()))}")


def value_of(coordinate: xr.DataArray, text: str) -> bool | float | str:
    """The value that a text means on an axis, which may be rounded as long as it means one value; the text itself if it
    is none."""
    if coordinate.dtype.kind == "b":
        return {"true": True, "false": False}.get(text.lower(), text)
    if coordinate.dtype.kind not in "iuf":
        return text
    try:
        wanted = float(text)
    except ValueError:
        return text
    if coordinate.dtype.kind != "f":
        return whole(text, wanted)
    if equal(coordinate.values, wanted).any() or wanted == 0 or not np.isfinite(wanted):
        return wanted
    digits = len(re.sub(r"e.*|[^0-9]", "", text.lower()).lstrip("0"))
    alike = [value for value in coordinate.values.tolist() if float(f"{value:.{digits}g}") == wanted]
    return alike[0] if digits >= LEAST_DIGITS and len(alike) == 1 else wanted


def whole(text: str, wanted: float) -> float:
    """The integer that a text means; of 1e3, too. The number itself if it is not an integer."""
    try:
        return int(text)
    except ValueError:
        return int(wanted) if wanted.is_integer() else wanted


def equal(values: Array, value: Any) -> Array:
    if values.dtype.kind in "iuf" and isinstance(value, (int, float, np.number)):
        if values.dtype.kind != "f" or not np.isfinite(value):
            return np.asarray(values == value)
        return np.asarray(np.abs(values - value) <= SAME * np.abs(value))
    kinds = "OTU" if isinstance(value, str) else "b" if isinstance(value, (bool, np.bool_)) else ""
    if values.dtype.kind not in kinds:  # numpy warns where it compares numbers with texts
        return np.zeros(values.shape, bool)
    return np.asarray(values == value)


def of_sound_runs(dataset: xr.Dataset, name: str) -> xr.DataArray:
    """A variable with NaN in the runs that do not count; see pivot."""
    values, stands = dataset[name], dataset.sweep
    if name in OF_RUNS or values.dtype.kind not in "iuf":
        return values
    sound = stands.done if has_words(values) else ~(stands.diverged | stands.failed)
    return values.where(sound.any([axis for axis in stands.axes if axis not in values.dims]))


def last(values: xr.DataArray) -> xr.DataArray:
    """The last value over the steps that is not missing, for each run."""
    values = values.compute()
    places = xr.where(values.notnull(), xr.DataArray(np.arange(values.sizes["step"]), dims="step"), 0).max("step")
    return values.isel(step=places).drop_vars("step", errors="ignore")


def most_frequent(words: xr.DataArray, dims: list[Hashable]) -> xr.DataArray:
    """The most frequent word along `dims`, the alphabetically first of equals; "" if there is none."""
    def winner(row: Array) -> str:
        found, count = np.unique([word for word in texts(row.ravel()) if word], return_counts=True)
        return found[count.argmax()] if len(found) else ""
    if not dims:
        return words
    return xr.apply_ufunc(winner, words, input_core_dims=[dims], vectorize=True, output_dtypes=[object],
                          keep_attrs=True)


def as_words(variable: xr.DataArray) -> xr.DataArray:
    """A variable of flags in words; "" for a value without a word."""
    attributes = dict(variable.attrs)
    meaning = dict(zip(np.ravel(attributes.pop("flag_values")).tolist(), attributes.pop("flag_meanings").split()))
    words = np.array([meaning.get(code, "") for code in variable.values.ravel().tolist()], dtype=object)
    return xr.DataArray(words.reshape(variable.shape), variable.coords, variable.dims, variable.name, attributes)
