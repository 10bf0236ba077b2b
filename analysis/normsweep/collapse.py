"""Runs that have collapsed: they predict the same word whatever they read, and their norms say nothing of a model that
learns."""

from __future__ import annotations

import xarray as xr

from .names import DONE
from .plane import last

ENTROPY = "predicted_entropy"
COLLAPSED = 1e-3  # nats; one other word among 16384 predictions makes 0.00065


def collapsed(dataset: xr.Dataset) -> xr.DataArray:
    """Mask of the runs that are done and whose last predicted_entropy is below COLLAPSED; false where it was not
    measured."""
    done = dataset["outcome"] == DONE
    if ENTROPY not in dataset:
        return done & False
    entropy = dataset[ENTROPY].compute()
    return done & ((last(entropy) if "step" in entropy.dims else entropy) < COLLAPSED)
