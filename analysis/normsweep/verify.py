"""Is a file what normsweep has written? It is asked once, when a dataset is opened: what comes after relies on it."""

import os
import stat

import numpy as np

from .header import is_whole
from .names import FITTED, FLAGS, NUMBERS, OF_RUNS, OUTCOMES, SESSION, SESSION_NUMBERS, SESSIONS, TEXTS

SAID = {FLAGS: "whole numbers", NUMBERS: "numbers", TEXTS: "texts"}


class NotASweep(ValueError):
    """The file, or the dataset, is none of normsweep's, or no longer what normsweep has written."""


def check_file(path):
    """A plain file, whole as far as its header tells. Opening another, as a pipe, might wait for ever."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        mode = os.fstat(handle).st_mode
    finally:
        os.close(handle)
    if stat.S_ISDIR(mode):
        open(path, "rb").close()  # whose OSError says so
    if not stat.S_ISREG(mode):
        raise NotASweep(f"{path}: not a regular file")
    if not is_whole(path):
        raise NotASweep(f"{path}: is cut short at {os.path.getsize(path)} bytes")


def check_variables(dataset, path):
    """Types and dimensions of what every sweep has: what is said of its runs, and of its sessions."""
    for name, kinds in (OF_RUNS | FITTED).items():
        if name in dataset.variables:
            check(dataset, path, name, kinds, dataset["outcome"].dims)
    for name in map(str, dataset.variables):
        if name.startswith(SESSION):
            check(dataset, path, name, NUMBERS if name in SESSION_NUMBERS else TEXTS, (SESSIONS,))
    if dataset["outcome"].attrs["flag_meanings"].split() != list(OUTCOMES):
        raise altered(path, "outcome does not mean " + " ".join(OUTCOMES))


def check(dataset, path, name, kinds, dims):
    variable = dataset[name]
    if variable.dtype.kind not in kinds:
        raise altered(path, f"{name} is of type {variable.dtype} and not of {SAID[kinds]}")
    if set(variable.dims) != set(dims):
        raise altered(path, f"{name} is over ({', '.join(map(str, variable.dims))}) and not over "
                            f"({', '.join(map(str, dims))})")
    if kinds == FLAGS and not has_words(variable):
        raise altered(path, f"{name} does not say what its values mean")


def altered(path, what):
    return NotASweep(f"{path}: {what}; normsweep did not write this")


def has_words(variable):
    """Is it a variable of flags, with a word for each value?"""
    meanings, values = variable.attrs.get("flag_meanings"), variable.attrs.get("flag_values")
    return isinstance(meanings, str) and values is not None and len(meanings.split()) == np.size(values)
