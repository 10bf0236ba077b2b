"""Compares two datasets bit for bit, in everything that was measured.

All variables count except CLOCKS and SESSIONS, which say when, where and in how many attempts a run was made. NaNs are
compared by their bits, too, so that a NaN differs from any number and from any other NaN.
"""

import pathlib

import netCDF4
import numpy as np

CLOCKS = {"seconds", "tokens_per_second", "host", "session", "attempts", "deaths", "worker", "begin", "end"}
SESSIONS = "session_"
PENDING, RUNNING, DONE, DIVERGED, FAILED, SKIPPED = range(6)


class Values:
    """A variable as stored in the file: `bits` (uint8) has one more dimension, the bytes of a value."""

    def __init__(self, variable):
        self.dimensions = variable.dimensions
        self.values = np.ascontiguousarray(variable[...])
        self.bits = self.values.view(np.uint8).reshape(*self.values.shape, self.values.dtype.itemsize)
        fill = np.asarray(getattr(variable, "_FillValue", np.zeros((), self.values.dtype)), self.values.dtype)
        self.empty = (self.bits == fill.reshape(1).view(np.uint8)).all(-1)


def read(path):
    """{name: Values} of all variables that have to be the same."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        return {name: Values(variable) for name, variable in file.variables.items()
                if name not in CLOCKS and not name.startswith(SESSIONS)}


def first(places):
    return tuple(int(i) for i in np.argwhere(places)[0])


def differences(left, right):
    """One line for each variable in which two datasets (as read) differ."""
    found = [f"{name}: only in one of them" for name in sorted(left.keys() ^ right.keys())]
    for name in sorted(left.keys() & right.keys()):
        a, b = left[name], right[name]
        if a.dimensions != b.dimensions or a.values.dtype != b.values.dtype or a.bits.shape != b.bits.shape:
            found.append(f"{name}: of another shape or type")
        elif not np.array_equal(a.bits, b.bits):
            apart = (a.bits != b.bits).any(-1)
            at = first(apart)
            found.append(f"{name}: {apart.sum()} of {apart.size} values differ, the first at {at}: "
                         f"{a.values[at]!r} and {b.values[at]!r}")
    return found


def assert_equal(left, right):
    """Two files have the same values."""
    assert differences(read(left), read(right)) == []


def read_weights(output):
    """{name: (steps, values)} of the final weights beside a dataset."""
    found = {}
    for path in pathlib.Path(f"{output}.d").glob("*.weights.nc"):
        with netCDF4.Dataset(path) as file:
            found[path.name] = file.step, {name: value.bits.tobytes() for name, value in read(path).items()}
    return found


def ended(dataset):
    return dataset["outcome"].values >= DONE


def strays(part, whole):
    """One line for each variable of a sweep under way that is wrong: every value must equal that of the `whole` sweep,
    or be unwritten; runs that have ended must be complete."""
    found = [f"{name}: only in one of them" for name in sorted(part.keys() ^ whole.keys())]
    axes, over = part["outcome"].dimensions, ended(part)
    if (part["outcome"].values == FAILED).any():
        found.append(f"outcome: failed at {first(part['outcome'].values == FAILED)}")
    for name in sorted(part.keys() & whole.keys()):
        a, b = part[name], whole[name]
        if a.bits.shape != b.bits.shape:
            found.append(f"{name}: of another shape")
            continue
        apart = (a.bits != b.bits).any(-1)
        if a.dimensions[:len(axes)] == axes:
            waits = ~over.reshape(*over.shape, *[1] * (apart.ndim - over.ndim))
            unwritten = a.values <= RUNNING if name == "outcome" else a.empty
            apart &= ~(waits & unwritten)
        if apart.any():
            at = first(apart)
            found.append(f"{name}: {a.values[at]!r} at {at} is neither empty nor {b.values[at]!r}")
    return found
