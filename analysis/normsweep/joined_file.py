"""One dataset, written from the files of the parts of a sweep: value by value as they are in the files, so that the
program continues it as one of its own."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from typing import Any

import netCDF4
import numpy as np

from .hints import Path
from .join import listed
from .names import OUTCOMES, PART, SESSION, SESSION_START, SESSIONS
from .parts import ELSEWHERE, MOMENTS, PENDING, SKIPPED, order_of_sessions, owners
from .verify import MAGIC, extents

RUNNING = OUTCOMES.index("running")
Values = Any  # arrays of numpy, of any type


def write_joined(files: Sequence[netCDF4.Dataset], path: Path) -> int:
    """Writes the whole of open files, those of parts, which `parts.check` has passed. Returns the number of runs that
    had begun and not ended: they are pending in it."""
    for file in files:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
    first, outcomes = files[0], [file["outcome"][...] for file in files]
    axes, owner = first["outcome"].dimensions, owners(outcomes)
    starts = [words(file[SESSION_START][...]) for file in files]
    starts = [start[start != ""] for start in starts]
    rows, after = order_of_sessions(starts)
    workers = np.cumsum([0, *(max(int(file["worker"][...].max(initial=0)), 0) for file in files)])
    order, spare = np.argsort(np.concatenate(rows)), len(first.dimensions[SESSIONS])
    sessions = max(spare, -(-(len(order) + 1) // spare) * spare)

    def of_part(name: str, index: int) -> Values:
        """The values in a part, as the whole numbers and times them."""
        value = files[index][name][...]
        if name in MOMENTS:
            return value + after[index]
        if name == "worker":
            return np.where(value > 0, value + workers[index], value)
        if name == "session" and len(rows[index]):
            return np.where(value >= 0, rows[index][np.clip(value, 0, len(rows[index]) - 1)], value)
        return value

    def of_whole(name: str) -> Values:
        dimensions = first[name].dimensions
        value = of_part(name, 0)
        if dimensions[:1] == (SESSIONS,):
            used = [of_part(name, index)[:len(start)] for index, start in enumerate(starts)]
            whole = np.full((sessions, *value.shape[1:]), empty(first[name]), value.dtype)
            whole[:len(order)] = np.concatenate(used)[order]
            return whole
        if not name.startswith(SESSION) and dimensions[:len(axes)] == axes and name not in axes:
            value = np.array(value)  # without axes a single number
            for index in np.unique(owner[owner > 0]):
                value[owner == index] = of_part(name, index)[owner == index]
        return value

    outcome, reason = of_whole("outcome"), of_whole("reason")
    missing = (outcome == SKIPPED) & np.char.startswith(words(reason), ELSEWHERE)
    left = int((outcome == RUNNING).sum())
    outcome[missing | (outcome == RUNNING)] = PENDING
    reason[missing] = b"\0"
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    for its in ("", "its "):  # four bytes: with one of the two texts numbers of 8 bytes lie at multiples of 8
        define(first, path, sessions, f"{now} joined from {its}{len(files)} parts\n{first.history}")
        with open(path, "rb") as written:
            written.read(len(MAGIC))
            begins = [begin for begin, _ in extents(written).values()]
        if min(begins) % 8 == 0:
            break
    with netCDF4.Dataset(path, "r+") as whole:
        whole.set_fill_off()
        whole.set_auto_maskandscale(False)
        whole.set_auto_chartostring(False)
        for name in first.variables:
            whole[name][...] = {"outcome": outcome, "reason": reason}[name] if name in ("outcome", "reason") else \
                of_whole(name)
    return left


def define(first: netCDF4.Dataset, path: Path, sessions: int, history: str) -> None:
    """Writes a file with the dimensions, attributes and variables of a part, and no values yet."""
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as whole:
        whole.set_fill_off()
        for name, dimension in first.dimensions.items():
            whole.createDimension(name, sessions if name == SESSIONS else len(dimension))
        whole.setncatts({name: history if name == "history" else first.getncattr(name)
                         for name in first.ncattrs() if name != PART})
        for name, variable in first.variables.items():
            made = whole.createVariable(name, variable.dtype, variable.dimensions,
                                        fill_value=getattr(variable, "_FillValue", None))
            made.setncatts({key: variable.getncattr(key) for key in variable.ncattrs() if key != "_FillValue"})


def different_levels(files: Sequence[netCDF4.Dataset], paths: Sequence[Path]) -> str:
    """Which parts were trained at which vector level, with which BLAS kernel; "" if all sessions had the same."""
    found: dict[str, list[str]] = {}
    for file, path in zip(files, paths):
        level, kernel, start = (words(file[SESSION + name][...]) for name in ("vector_level", "blas_kernel", "start"))
        for one, other in sorted(set(zip(level[start != ""].tolist(), kernel[start != ""].tolist()))):
            found.setdefault(f"vector level {one} with BLAS kernel {other}", []).append(os.path.basename(path))
    return "; ".join(f"{used} in {listed(names)}" for used, names in found.items()) if len(found) > 1 else ""


def words(characters: Values) -> Values:
    """Texts, of characters along the last dimension."""
    return np.char.decode(np.ascontiguousarray(characters).view(f"S{characters.shape[-1]}")[..., 0], "utf-8")


def empty(variable: netCDF4.Variable) -> Any:
    """What a row of the table of sessions has before its session."""
    return getattr(variable, "_FillValue", b"\0" if variable.dtype.kind == "S" else 0)
