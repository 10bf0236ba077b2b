"""Zarr stores in folders, as xarray's to_zarr writes them."""

from __future__ import annotations

import importlib.util
import json
import os
from typing import Any

import numpy as np
import xarray as xr

from .hints import Path
from .names import TRUTHS

MARKS = ("zarr.json", ".zgroup", ".zmetadata")  # one of these is in the folder of every store


def is_zarr(path: Path) -> bool:
    return any(os.path.exists(os.path.join(path, mark)) for mark in MARKS)


def zarr_keywords(path: Path) -> dict[str, Any]:
    """Keywords with which xarray opens a store without a warning; ModuleNotFoundError without zarr."""
    if importlib.util.find_spec("zarr") is None:
        raise ModuleNotFoundError(f"{os.fspath(path)}: a Zarr store; no module zarr here: pip install zarr",
                                  name="zarr")
    return {"engine": "zarr", "consolidated": is_consolidated(path)}


def restore_truths(dataset: xr.Dataset) -> None:
    """Gives attributes that hold truth values the type that they have in a dataset: a store keeps 0 and 1 of it."""
    dataset.attrs.update({name: np.int8(dataset.attrs[name]) for name in TRUTHS if name in dataset.attrs})


def is_consolidated(path: Path) -> bool:
    """Does the store have the metadata of all its arrays in one place?"""
    if os.path.exists(os.path.join(path, ".zmetadata")):
        return True
    try:
        with open(os.path.join(path, "zarr.json"), encoding="utf-8") as file:
            return bool(json.load(file).get("consolidated_metadata"))
    except (OSError, ValueError, AttributeError):
        return False
