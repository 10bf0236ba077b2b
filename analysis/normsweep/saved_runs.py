"""The saved weights of a sweep's runs, found by the values of its axes: OUT.nc.d has a file for each run that is done,
named by a digest, with the run's parameters as attributes."""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import netCDF4
import numpy as np
import xarray as xr

from .families import tensors_of
from .hints import Array, Path
from .names import DERIVED, GENERAL, MEASURING, TRUTHS
from .parts import files_of
from .plane import derives, no_axis, place_of, select
from .weights import open_saved
from .words import value_text

ENDING = ".weights.nc"


def weights(dataset: xr.Dataset, cell: Mapping[str, Any] | None = None, **values: Any) -> dict[str, Array]:
    """The final weights of a run of a sweep with `save_weights`, {tensor: values}. `cell`, or keywords, select the run
    by a value of each axis; axes of one value may be left out. A tensor of the layers has the block in front: "q" is
    [block, out, in]. docs/formats.md has the names.

        w = ds.sweep.weights(learning_rate=1e-3, weight_decay=0.1, seed=0)
        np.linalg.norm(w["q"], axis=(1, 2))  # of each block

    Raises KeyError for a value that is not there, or if several runs have these values; FileNotFoundError if the run
    has no weights; ValueError if their file is damaged.
    """
    path = path_of(one_run(dataset, {**(cell or {}), **values}))
    with open_saved(path) as saved:
        return {kind: np.asarray(saved.file[kind][...])
                for kind in dict.fromkeys(kind for kind, _ in tensors_of(saved.architecture))}


def one_run(dataset: xr.Dataset, values: Mapping[str, Any]) -> xr.Dataset:
    """The part of a dataset that is one run; KeyError if these values are those of several."""
    part = select(dataset, values)
    several = [axis for axis in part.sweep.axes if part.sizes[axis] > 1]
    if several:
        raise KeyError(f"{part.outcome.size} runs have these values; add a value of {', '.join(several)}")
    return part.isel({axis: 0 for axis in part.sweep.axes})


def run_at(dataset: xr.Dataset, texts: Sequence[str]) -> xr.Dataset:
    """The run that texts such as "learning_rate=1e-3,seed=0" name; KeyError if there is none, or several."""
    places: dict[str, int] = {}
    for text in texts:
        for pair in pairs_of(text):
            name, sign, value = pair.partition("=")
            if not sign or name not in dataset.sweep.axes:
                raise no_axis(dataset, pair)
            if name in places:
                raise KeyError(f"{pair}: {name} is selected twice")
            places[name] = place_of(dataset[name], value)
    return one_run(dataset.isel(places), {})


def pairs_of(text: str) -> list[str]:
    """What commas separate; a piece without = belongs to the label before it."""
    found: list[str] = []
    for piece in text.split(","):
        if "=" in piece or not found:
            found.append(piece)
        else:
            found[-1] += f",{piece}"
    return found


def path_of(run: xr.Dataset) -> str:
    """The file of a run's weights, the newest if there are several. FileNotFoundError if there is none."""
    wanted = parameters_of(run)
    source = run.encoding.get("source", "")
    folders = [f"{os.fspath(path)}.d" for path in files_of(source) or [source]]
    found = [(changed, path) for folder in folders for changed, path, has in files_in(folder, changed_at(folder))
             if all(has[name] == value for name, value in wanted.items() if name in has)]
    if found:
        return max(found)[1]
    axes = " ".join(f"{name}={value_text(run[name].item())}" for name in run.coords if run[name].ndim == 0)
    raise FileNotFoundError(errno.ENOENT, f"no weights of {axes or 'the run'}; a sweep with save_weights: true keeps "
                            "those of each run that is done", " or ".join(folders[:1]))


def parameters_of(run: xr.Dataset) -> dict[str, Any]:
    """{key: value} as the attributes of a weights file have them."""
    found = {str(name): value for name, value in run.attrs.items() if name not in (*GENERAL, *MEASURING)
             and not (name == DERIVED and derives(run))}
    found |= {str(name): run[name].item() for name in run.coords if run[name].ndim == 0}
    return {name: as_attribute(name, value) for name, value in found.items()}


def as_attribute(name: str, value: Any) -> Any:
    if name in TRUTHS:
        return "true" if value else "false"
    return value.item() if isinstance(value, np.generic) else value


def changed_at(folder: Path) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


@functools.lru_cache(maxsize=8)
def files_in(folder: str, _changed: int) -> list[tuple[float, str, dict[str, Any]]]:
    """(time of the last change, path, parameters) of each weights file in a folder."""
    found = []
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for name in names:
        path = os.path.join(folder, name)
        if not name.endswith(ENDING):
            continue
        try:
            with netCDF4.Dataset(path) as file:
                has = {key: as_attribute(key, file.getncattr(key)) for key in file.ncattrs() if key not in TRUTHS}
                has |= {key: file.getncattr(key) for key in TRUTHS if key in file.ncattrs()}
            found.append((os.stat(path).st_mtime, path, has))
        except OSError:  # being written, or removed
            continue
    return found
