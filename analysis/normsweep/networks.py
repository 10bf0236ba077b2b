"""Networks of others, as `normsweep inspect -o` has measured them: one small dataset for each."""

import os
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from . import verify
from .names import NETWORK_SOURCE
from .verify import NotASweep


def open_network(path):
    """The dataset of a network, decoded. Raises OSError if the file cannot be read, and NotASweep if it is not from
    `normsweep inspect`."""
    verify.check_file(path)
    try:
        dataset = xr.open_dataset(path, engine="netcdf4")
    except (OSError, ValueError) as error:
        raise NotASweep(f"{path}: not a file of normsweep inspect") from error
    if dataset.attrs.get("source") == NETWORK_SOURCE:
        return dataset
    dataset.close()
    raise NotASweep(f"{path}: not a file of normsweep inspect")


def is_network(path):
    """Is this a file of `normsweep inspect`? Faults are for those who open it."""
    try:
        open_network(path).close()
    except (OSError, NotASweep):
        return False
    return True


@dataclass(frozen=True)
class Stack:
    """One stack of a network: its label in figures, and its variables, without the dimension `stack`."""

    label: str
    dataset: Any

    def measured(self, name):
        """The values of a variable over layers, without those that the stack does not have; None without any."""
        if name not in self.dataset:
            return None
        values = self.dataset[name].values
        seen = np.isfinite(values.reshape(len(values), -1)).any(axis=1) if values.ndim else np.isfinite(values)
        return values[seen] if values.ndim and seen.any() else values if not values.ndim and seen else None


def stacks(networks):
    """The stacks of {path: dataset}, in order, each under the label of its network."""
    found = []
    for dataset, name in zip(networks.values(), labels(networks)):
        if "stack" not in dataset.dims:
            found.append(Stack(name, dataset))
            continue
        found += [Stack(f"{name} {word}", dataset.sel(stack=word)) for word in map(str, dataset["stack"].values)]
    return found


def labels(networks):
    """A network is called by its family, or by its file if another one of the same family is there, with its folders
    if another such file is there; with its window if another one has another window."""
    families = Counter(map(family, networks.values()))
    stems = {path: os.path.splitext(os.path.basename(path))[0] for path in networks}
    files, windows = Counter(stems.values()), {dataset.attrs.get("window") for dataset in networks.values()}
    found = []
    for path, dataset in networks.items():
        name = family(dataset)
        if families[name] > 1:
            name = stems[path] if files[stems[path]] == 1 else os.path.splitext(path)[0]
        found.append(f"{name}, window {dataset.attrs.get('window')}" if len(windows) > 1 else name)
    return found


def has_text(dataset):
    """Was there a text to measure saturation and heads on?"""
    return "saturation" in dataset


def family(dataset):
    return str(dataset.attrs.get("family", ""))
