"""One variable over two axes: what an eye, or a table on paper, takes in at once."""

import numpy as np
import xarray as xr

from .names import BEFORE_NATURES, NATURE, NATURES, OF_RUNS
from .verify import has_words

SAME = 1e-9  # two values of an axis that are nearer than this, relative, are one


def pivot(dataset, variable="norm_growth", **at):
    """The values of a variable over `ds.sweep.plane`, rows along y and columns along x, numbers ascending.

    `at` takes one value of an axis, or of any other dimension of the variable (layer=0, step=100). What is left besides
    the plane becomes one: over `step` the last value measured in each run; then the mean of what is not NaN,
    that of a ratio, as norm_growth, geometric, and of flags and texts the most frequent word, the first of equals.
    Where the part has fewer axes with several values, the result has as few dimensions.

    What was measured counts in runs that are sound: numbers in those that have neither diverged nor failed, classes
    (dynamics) in those that are done. What every run has, however it ended, counts in all: names.OF_RUNS, as outcome,
    phase, seconds.

    >>> ds.sweep.pivot(norm_placement="pre").round(3).sel(learning_rate=1e-2).values
    array([3.162, 1.   , 0.316, 0.1  , 0.032])
    >>> ds.sweep.pivot("phase", norm_placement="pre").sel(learning_rate=1e-2, weight_decay=1e-3).item()
    'growing'

    KeyError names a variable, dimension or value that is none of the dataset's.
    """
    if variable not in dataset.variables:
        raise KeyError(f"{variable}: no variable of this dataset")
    part = select(dataset[[variable, "outcome"]], at)
    return reduced(part, variable, part.sweep.plane)


def reduced(dataset, variable, plane):
    """pivot over any axes (x, y) of the dataset, or fewer, in place of its own plane."""
    values = of_sound_runs(dataset, variable)
    axes = [name for name in plane if name in values.dims]
    if "step" in values.dims:
        values = last(values)
    others = [dim for dim in values.dims if dim not in axes]
    if has_words(values) or values.dtype.kind in "OSTU":
        values = most_frequent(as_words(values) if has_words(values) else values, others)
    elif is_geometric(values):
        with np.errstate(divide="ignore"):
            values = np.exp(np.log(values).mean(others)).assign_attrs(values.attrs)
    else:
        values = values.mean(others, keep_attrs=True)
    ascending = [name for name in axes if values[name].dtype.kind in "iuf"]
    return values.transpose(*axes[::-1]).sortby(ascending).rename(variable)


def is_linear(variable):
    """Is it one that no logarithm is taken of, as a cosine or a share?"""
    return nature_of(variable)[0]


def is_geometric(variable):
    """Is its mean the geometric one?"""
    return nature_of(variable)[1]


def nature_of(variable):
    word = variable.attrs.get(NATURE, BEFORE_NATURES.get(variable.name))
    return NATURES.get(word, (False, False))


def select(dataset, at):
    """The part of a dataset at one value of each dimension that `at` names; KeyError if there is none such."""
    for name, value in at.items():
        if name not in dataset.dims:
            raise KeyError(f"{name}: no dimension with several values; there are {', '.join(map(str, dataset.dims))}")
        places = np.flatnonzero(equal(dataset[name].values, value))
        if len(places) != 1:
            raise KeyError(f"{name}: no {value}; there are {', '.join(map(str, dataset[name].values))}")
        dataset = dataset.isel({name: places[0]})
    return dataset


def equal(values, value):
    if values.dtype.kind in "iuf" and isinstance(value, (int, float, np.number)):
        return np.abs(values - value) <= SAME * np.abs(value)
    return values == value


def of_sound_runs(dataset, name):
    """A variable without the runs that say nothing of it; see pivot. Missing numbers are NaN, missing classes too."""
    values, stands = dataset[name], dataset.sweep
    if name in OF_RUNS or values.dtype.kind not in "iuf":
        return values
    sound = stands.done if has_words(values) else ~(stands.diverged | stands.failed)
    return values.where(sound.any([axis for axis in stands.axes if axis not in values.dims]))


def last(values):
    """The value of each run at the last step at which there is one."""
    places = xr.where(values.notnull(), xr.DataArray(np.arange(values.sizes["step"]), dims="step"), 0).max("step")
    return values.isel(step=places).drop_vars("step", errors="ignore")


def most_frequent(words, dims):
    """The word that stands most often along `dims`, "" where there is none; the first in the alphabet of those that
    stand as often."""
    def winner(row):
        found, count = np.unique([word for word in row.ravel().astype(str) if word], return_counts=True)
        return found[count.argmax()] if len(found) else ""
    if not dims:
        return words
    return xr.apply_ufunc(winner, words, input_core_dims=[dims], vectorize=True, output_dtypes=[object],
                          keep_attrs=True)


def as_words(variable):
    """A variable of flags in words; "" where it is none of them."""
    attributes = dict(variable.attrs)
    meaning = dict(zip(np.ravel(attributes.pop("flag_values")).tolist(), attributes.pop("flag_meanings").split()))
    words = np.array([meaning.get(code, "") for code in variable.values.ravel().tolist()], dtype=object)
    return xr.DataArray(words.reshape(variable.shape), variable.coords, variable.dims, variable.name, attributes)
