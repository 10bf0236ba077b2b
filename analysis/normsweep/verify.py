"""Checks once, when a dataset is opened, that normsweep wrote it; all other code relies on this."""

from __future__ import annotations

import os
import stat
from collections.abc import Hashable, Iterable

import numpy as np
import xarray as xr

from .header import check_length
from .hints import Path
from .names import FITTED, FLAGS, NUMBERS, OF_RUNS, OUTCOMES, SESSION, SESSION_NUMBERS, SESSIONS, TEXTS

KINDS = {FLAGS: "integers", NUMBERS: "numbers", TEXTS: "texts"}


class NotASweep(ValueError):
    """The file or dataset is not from normsweep, or another program has changed it."""


def check_file(path: Path) -> None:
    """Raises NotASweep unless the file is a regular one, and as long as its header says. Opening a pipe could block for
    ever."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        mode = os.fstat(handle).st_mode
    finally:
        os.close(handle)
    if stat.S_ISDIR(mode):
        open(path, "rb").close()  # raises an OSError that says so
    if not stat.S_ISREG(mode):
        raise NotASweep(f"{path}: not a regular file")
    try:
        check_length(path)
    except EOFError:
        raise NotASweep(f"{path}: is cut short at {os.path.getsize(path)} bytes") from None
    except ValueError:
        raise NotASweep(f"{path}: not a normsweep dataset") from None


def check_variables(dataset: xr.Dataset, path: Path) -> None:
    """Raises NotASweep unless the variables of runs and sessions have the types and dimensions of every sweep."""
    for name, kinds in (OF_RUNS | FITTED).items():
        if name in dataset.variables:
            check(dataset, path, name, kinds, dataset["outcome"].dims)
    for name in map(str, dataset.variables):
        if name.startswith(SESSION):
            check(dataset, path, name, NUMBERS if name in SESSION_NUMBERS else TEXTS, (SESSIONS,))
    if dataset["outcome"].attrs["flag_meanings"].split() != list(OUTCOMES):
        raise altered(path, "the words of outcome are not " + " ".join(OUTCOMES))


def check(dataset: xr.Dataset, path: Path, name: str, kinds: str, dims: Iterable[Hashable]) -> None:
    variable = dataset[name]
    if variable.dtype.kind not in kinds:
        raise altered(path, f"{name} has type {variable.dtype}, not {KINDS[kinds]}")
    if set(variable.dims) != set(dims):
        raise altered(path, f"{name} has dimensions ({', '.join(map(str, variable.dims))}), not "
                            f"({', '.join(map(str, dims))})")
    if kinds == FLAGS and not has_words(variable):
        raise altered(path, f"{name} has no flag_meanings for its flag_values")


def altered(path: Path, what: str) -> NotASweep:
    return NotASweep(f"{path}: {what}; normsweep did not write this")


def has_words(variable: xr.DataArray) -> bool:
    """True for a variable of flags with a word for each value."""
    meanings, values = variable.attrs.get("flag_meanings"), variable.attrs.get("flag_values")
    return isinstance(meanings, str) and values is not None and len(meanings.split()) == np.size(values)
