"""Datasets in pieces, as dask has them: what a calculation needs is read at once, the rest stays where it is."""

from __future__ import annotations

from collections.abc import Iterable

import xarray as xr


def loaded(dataset: xr.Dataset, names: Iterable[str]) -> xr.Dataset:
    """The dataset with its coordinates and these of its variables in memory. What is not in pieces stays as it is:
    xarray reads that when it is needed."""
    found = dataset.copy()
    for name in {*names, *map(str, dataset.coords)}:
        if name in found.variables and found.variables[name].chunks is not None:
            found.variables[name].load()
    return found


def of_runs(dataset: xr.Dataset) -> list[str]:
    """The variables with one value for each run, or fewer, and those of sessions: small beside those over steps."""
    axes = set(dataset["outcome"].dims)
    return [str(name) for name, variable in dataset.data_vars.items()
            if set(variable.dims) <= axes or variable.ndim < 2]
