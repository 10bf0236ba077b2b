"""One dataset, written from the files of the parts of a sweep: value by value as they are in the files, so that the
program continues it as one of its own."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import netCDF4
import numpy as np

from .hints import Path
from .names import OUTCOMES, PART, SESSION, SESSION_START, SESSIONS
from .parts import ELSEWHERE, MOMENTS, PENDING, SKIPPED, order_of_sessions, owners

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
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as whole:
        whole.set_fill_off()
        for name, dimension in first.dimensions.items():
            whole.createDimension(name, sessions if name == SESSIONS else len(dimension))
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        history = f"{now} joined from {len(files)} parts\n{first.history}"
        whole.setncatts({name: history if name == "history" else first.getncattr(name)
                         for name in first.ncattrs() if name != PART})
        for name, variable in first.variables.items():
            made = whole.createVariable(name, variable.dtype, variable.dimensions,
                                        fill_value=getattr(variable, "_FillValue", None))
            made.setncatts({key: variable.getncattr(key) for key in variable.ncattrs() if key != "_FillValue"})
        whole.set_auto_maskandscale(False)
        whole.set_auto_chartostring(False)
        for name in first.variables:
            whole[name][...] = {"outcome": outcome, "reason": reason}[name] if name in ("outcome", "reason") else \
                of_whole(name)
    return left


def words(characters: Values) -> Values:
    """Texts, of characters along the last dimension."""
    return np.char.decode(np.ascontiguousarray(characters).view(f"S{characters.shape[-1]}")[..., 0], "utf-8")


def empty(variable: netCDF4.Variable) -> Any:
    """What a row of the table of sessions has before its session."""
    return getattr(variable, "_FillValue", b"\0" if variable.dtype.kind == "S" else 0)
