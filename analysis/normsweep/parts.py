"""The parts of one sweep, `run --part I/N`, as one dataset, and their files as one file.

All parts have the same layout, that of the whole sweep; in each, the runs of the others are skipped, with a reason that
names their part. The attribute `part` says which part a file is, and has a digest of the division, by which parts of
another one are told. A run counts as the part has it that trains it; if that is not there yet, it is pending.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from .hints import Path
from .join import WEAKEST_FIRST, DifferentSweeps, describe, listed, table_of_sessions
from .names import OUTCOMES, PART, SESSION_START, SESSIONS
from .words import texts

FILE = re.compile(r"(\d+)-of-(\d+)\.nc")
ELSEWHERE = "trained by part "  # how the reason of such a cell begins
PENDING, SKIPPED = OUTCOMES.index("pending"), OUTCOMES.index("skipped")
MOMENTS = ("begin", "end", "session_begin", "session_end")  # seconds on a part's own clock
RANK = np.array([WEAKEST_FIRST.index(word) for word in OUTCOMES])


def files_of(path: Path) -> list[Path]:
    """The parts in a folder, in their order; none if it is not a folder with parts."""
    try:
        found = [match for match in map(FILE.fullmatch, os.listdir(path)) if match]
    except OSError:  # not a folder: whoever opens it says what is wrong
        return []
    return [os.path.join(path, match[0]) for match in sorted(found, key=lambda match: int(match[1]))]


def missing(path: Path) -> str:
    """Which parts of a folder are not there, and that their runs are pending, in words; "" if it is not a folder with
    parts, or all are there."""
    found = [FILE.fullmatch(os.path.basename(file)) for file in files_of(path)]
    there = {int(match[1]) for match in found if match}
    count = max((int(match[2]) for match in found if match), default=0)
    lost = [str(number) for number in range(1, count + 1) if number not in there]
    if not lost:
        return ""
    one = len(lost) == 1
    return (f"part{'s' * (not one)} {listed(lost)} of {count} {'is' if one else 'are'} not there; "
            f"{'its' if one else 'their'} runs are pending")


def is_part(dataset: xr.Dataset) -> bool:
    return PART in dataset.attrs


def of(attributes: Any) -> tuple[int, int, str]:
    """Which part a dataset is, of how many, and the digest of the division."""
    numbers, _, digest = str(attributes[PART]).partition(" ")
    number, _, count = numbers.partition("/")
    return int(number), int(count), digest


def check(attributes: Sequence[Any], paths: Sequence[Path]) -> None:
    """Raises DifferentSweeps unless these are the attributes of different parts of one division."""
    first = of(attributes[0])
    seen: dict[int, Path] = {}
    for found, path in zip(map(of, attributes), paths):
        if found[1:] != first[1:]:
            raise DifferentSweeps(f"{path}: not a part of the sweep, divided in the same way, that {paths[0]} is of")
        if found[0] in seen:
            raise DifferentSweeps(f"{path}: part {found[0]} of {found[1]}, and so is {seen[found[0]]}")
        seen[found[0]] = path


def owners(outcomes: Iterable[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """The index of the part that has each cell: of several, that in which its run got furthest."""
    ranks = (RANK[outcome] for outcome in outcomes)
    best = next(ranks)
    owner = np.zeros(best.shape, dtype=np.int64)
    for index, rank in enumerate(ranks, 1):
        owner, best = np.where(rank > best, index, owner), np.maximum(best, rank)
    return owner


def order_of_sessions(starts: Sequence[np.ndarray[Any, Any]]) -> tuple[list[np.ndarray[Any, Any]], list[float]]:
    """For each part the rows of its sessions in a table of all, in which they are in the order of their beginning; and
    the seconds after the first session of all at which the part's first one began. starts: texts of each part."""
    number = [np.full(len(each), index) for index, each in enumerate(starts)]
    begin = pd.to_datetime(np.concatenate(starts) if starts else [], utc=True)
    order = np.lexsort((np.concatenate(number), begin))
    rows = np.empty(len(order), dtype=np.int64)
    rows[order] = np.arange(len(order))
    ends = np.cumsum([len(each) for each in starts])[:-1]
    each = [begin[np.concatenate(number) == index] for index in range(len(starts))]
    return np.split(rows, ends), [float((own.min() - begin.min()).total_seconds()) if len(own) else 0.0 for own in each]


def merged(parts: Sequence[xr.Dataset], paths: Sequence[Path]) -> xr.Dataset:
    """One dataset of datasets that are parts."""
    check([part.attrs for part in parts], paths)
    parts = sorted(parts, key=lambda part: of(part.attrs))
    axes = parts[0]["outcome"].dims
    # With the labels of the runs, as masks below: xarray 2022.9 does not align arrays without.
    owner = parts[0]["outcome"].copy(data=owners([part["outcome"].values for part in parts]))
    starts = [texts(part[SESSION_START].values) if SESSION_START in part else np.array([], dtype=object)
              for part in parts]
    rows, after = order_of_sessions(starts)
    workers = np.cumsum([0, *(workers_of(part) for part in parts)])
    parts = [renumbered(part, rows[index], after[index], int(workers[index])) for index, part in enumerate(parts)]
    whole = parts[0].drop_dims(SESSIONS, errors="ignore")
    found = {}
    for name in whole.data_vars:
        if set(axes) <= set(whole[name].dims):
            value = whole[name]
            for index in np.unique(owner.values[owner.values > 0]):
                value = value.where(owner != index, parts[index][name])
            found[name] = value.transpose(*whole[name].dims)
    whole = whole.assign(found)
    elsewhere = whole["outcome"].values == SKIPPED
    if "reason" in whole and elsewhere.any():
        elsewhere &= np.char.startswith(texts(whole["reason"].values).astype(str), ELSEWHERE)
        missing = whole["outcome"].copy(data=elsewhere)
        whole = whole.assign(outcome=whole["outcome"].where(~missing, whole["outcome"].dtype.type(PENDING)),
                             reason=whole["reason"].where(~missing, ""))
    if SESSIONS in parts[0].dims:
        tables = xr.concat([table_of_sessions(part) for part in parts], SESSIONS)
        whole = whole.merge(tables.isel({SESSIONS: np.argsort(np.concatenate(rows))}), combine_attrs="override")
    whole.attrs = {name: value for name, value in parts[0].attrs.items() if name != PART}
    describe(whole, parts)
    return whole


def workers_of(part: xr.Dataset) -> int:
    """The number of the last worker that has trained a run of a part."""
    last = np.nanmax(part["worker"].values, initial=0) if "worker" in part else 0
    return max(int(last), 0)


def renumbered(part: xr.Dataset, rows: np.ndarray[Any, Any], after: float, workers: int) -> xr.Dataset:
    """A part whose runs name sessions and workers of the whole, and whose moments are on the whole's clock."""
    changed = {name: part[name] + after for name in MOMENTS if name in part}
    if "worker" in part:
        changed["worker"] = part["worker"] + workers
    if "session" in part and len(rows):
        number = part["session"]
        known = number.notnull() & (number >= 0)
        changed["session"] = xr.where(known, number.copy(data=rows[number.where(known, 0).values.astype(int)]), number)
    return part.assign({name: value.assign_attrs(part[name].attrs) for name, value in changed.items()})
