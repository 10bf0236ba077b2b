"""What a sweep has for experiment trackers: for each run its parameters, its series over the steps, and its final
values; and the file that remembers what a tracker has got already, so that the next call writes only what is new.

Of a run under way the series are not equally far: the program writes, and this module reads, one after the other. So
each series has a last step of its own. When the run has ended, a series of which a step was missed is given whole.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from .names import DERIVED, DIGEST, GENERAL, OF_RUNS, OUTCOMES, SESSION_START, TRUTHS
from .plane import as_words, derives
from .table import step_variables
from .verify import has_words
from .words import texts, value_text

VERSION = 1
TIME = "seconds"  # of the bookkeeping of runs, what people compare
ENDED = ("done", "diverged", "failed")
WORDS = ("outcome", "phase", "dynamics", "reason")  # what a run has in words, if the dataset has it


@dataclasses.dataclass
class News:
    """What is new of one run."""

    name: str  # "learning_rate=0.001,weight_decay=0.1,seed=0"
    key: str  # the same with all digits
    axes: dict[str, Any]  # the values of the axes, and of the keys that change along them
    settings: dict[str, Any]  # those of keys that are the same in all runs
    rows: list[tuple[int, dict[str, float]]]  # (step, {series: value}), ascending
    series: dict[str, list[int]]  # of each, the last step that it has now, and the number of its values until then
    finals: dict[str, float]  # {} as long as it runs
    measures: list[str]  # the names of final values that the dataset has
    words: dict[str, str]
    outcome: str
    last_step: int  # of those that are there
    begin: float | None  # time since 1970, in seconds; None: not known
    end: float | None

    @property
    def ended(self) -> bool:
        return self.outcome in ENDED

    @property
    def values(self) -> int:
        return sum(len(row) for _, row in self.rows) + len(self.finals)

    def time_of(self, step: int) -> float | None:
        """About when a step was trained; None if the run has not ended."""
        if self.begin is None or self.end is None:
            return None
        return self.begin + (self.end - self.begin) * (step / self.last_step if self.last_step else 1)


class OtherRuns(ValueError):
    """The file that remembers is of another sweep or another tracker."""


class Memory:
    """The file in the tracker's folder: for each run how it had ended by then; if that may change, how far each series
    was; and what the tracker calls it."""

    def __init__(self, path: str, tool: str, dataset: xr.Dataset):
        self.path = path
        fixed = {str(name): plain(value) for name, value in dataset.attrs.items()
                 if name == DIGEST or name not in GENERAL}
        self.found: dict[str, Any] = {"version": VERSION, "tool": tool, "axes": list(dataset.sweep.axes),
                                      "fixed": fixed, "runs": {}}
        try:
            with open(path, encoding="utf-8") as file:
                there = json.load(file)
        except FileNotFoundError:
            return
        except ValueError:
            there = {}
        try:
            self.check(there)
            self.found["runs"] = {key: dict(run) for key, run in there["runs"].items()}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, OtherRuns):
                raise
            raise OtherRuns(f"{path}: is not what this command has written; give another folder") from error

    def check(self, there: Mapping[str, Any]) -> None:
        if there["version"] != VERSION:
            raise OtherRuns(f"{self.path}: of another version of this package; give another folder")
        if there["tool"] != self.found["tool"]:
            raise OtherRuns(f"{self.path}: the folder has runs for {there['tool']}; give another one")
        if there["axes"] != self.found["axes"]:
            axes = ", ".join(there["axes"]) or "no axes"
            raise OtherRuns(f"{self.path}: of a sweep over {axes}; give another folder")
        differs = next((name for name, value in self.found["fixed"].items()
                        if name in there["fixed"] and there["fixed"][name] != value), None)
        if differs:
            raise OtherRuns(f"{self.path}: of a sweep with another {differs}; give another folder")

    def of(self, key: str) -> dict[str, Any]:
        """What is remembered of a run: `outcome`, `series`, and the tracker's own."""
        run: dict[str, Any] = self.found["runs"].setdefault(key, {})
        return run

    def save(self) -> None:
        new = f"{self.path}.new"
        with open(new, "w", encoding="utf-8") as file:
            json.dump(self.found, file, separators=(",", ":"))
            file.write("\n")
        os.replace(new, self.path)


def news(dataset: xr.Dataset, memory: Memory, whole: bool = False) -> Iterator[News]:
    """What is new of each run that has begun, in the order of the grid. whole: only of runs that have ended, and all of
    it. After the caller has written it, remember() keeps it."""
    axes = dataset.sweep.axes
    outcome = dataset.outcome.values  # first: of a run that has ended, all else is complete
    series = {name: variable.transpose(*axes, "step").values for name, variable in step_variables(dataset)}
    steps = dataset.step.values if "step" in dataset.coords else np.zeros(0, int)
    single = {str(name): variable.transpose(*axes) for name, variable in dataset.data_vars.items()
              if set(variable.dims) == set(axes)}
    finals = {name: variable.values for name, variable in single.items()
              if variable.dtype.kind in "iuf" and not has_words(variable) and (name not in OF_RUNS or name == TIME)}
    words = {name: texts(as_words(single[name]).values if has_words(single[name]) else single[name].values)
             for name in WORDS if name in single}
    keys = {axis: [axis, *dataset.sweep.together.get(axis, ())] for axis in axes}
    clock = clock_of(dataset)
    settings = {str(name): setting(str(name), value) for name, value in dataset.attrs.items()
                if name not in GENERAL and not (name == DERIVED and derives(dataset))}
    for cell in np.ndindex(outcome.shape):
        word = OUTCOMES[int(outcome[cell])]
        at = dict(zip(axes, cell))
        values = {key: plain(dataset[key].values[at[axis]]) for axis in axes for key in keys[axis]}
        if DERIVED in dataset.coords and derives(dataset):
            derived = dataset[DERIVED]
            values[DERIVED] = plain(derived.isel({dim: at[str(dim)] for dim in derived.dims}).values[()])
        key = label(values, axes, repr)
        known = memory.found["runs"].get(key, {})
        ended = word in ENDED
        if word in ("pending", "skipped") or (whole and not ended) or (
                ended and known.get("outcome") == word):
            continue
        before = {} if whole else known.get("series", {})
        rows, far = rows_of({name: column[cell] for name, column in series.items()}, steps, before, ended)
        if not rows and not ended:
            continue
        begin, end = (float(times[cell]) if np.isfinite(times[cell]) else None for times in clock)
        yield News(label(values, axes, value_text), key, values, settings, rows, far,
                   {name: float(found[cell]) for name, found in finals.items() if ended and np.isfinite(found[cell])},
                   [*finals],
                   {name: str(found[cell]) for name, found in words.items() if str(found[cell])}, word,
                   max((step for step, _ in far.values()), default=0), begin, end if ended else None)


def remember(memory: Memory, one: News) -> None:
    kept = memory.of(one.key)
    kept.update(outcome=one.outcome, series=one.series)
    if one.outcome in ("done", "diverged"):
        del kept["series"]


def rows_of(columns: Mapping[str, Any], steps: Any, before: Mapping[str, list[int]],
            ended: bool) -> tuple[list[tuple[int, dict[str, float]]], dict[str, list[int]]]:
    """([(step, {series: value})] of the finite values that are new, how far each series is); before: how far they were.
    """
    rows: dict[int, dict[str, float]] = {}
    far = {}
    for name, column in columns.items():
        there = np.flatnonzero(np.isfinite(column))
        last, count = before.get(name, [-1, 0])
        known = int((steps[there] <= last).sum())
        new = there if ended and known != count else there[known:]
        if len(there):
            far[name] = [int(steps[there[-1]]), (0 if new is there else count) + len(new)]
        for i in new:
            rows.setdefault(int(steps[i]), {})[name] = float(column[i])
    return sorted(rows.items()), far


def clock_of(dataset: xr.Dataset) -> tuple[Any, Any]:
    """When each run began and ended, in seconds since 1970; NaN where that is not known."""
    unknown = np.full(dataset.outcome.shape, np.nan)
    start: list[str] = texts(dataset[SESSION_START].values).ravel()[:1].tolist() if SESSION_START in dataset else []
    if not start or not {"begin", "end"} <= set(dataset.data_vars):
        return unknown, unknown
    try:
        zero = datetime.datetime.fromisoformat(start[0].replace("Z", "+00:00")).timestamp()
    except ValueError:
        return unknown, unknown
    begin, end = (zero + dataset[name].transpose(*dataset.sweep.axes).values.astype(float) for name in ("begin", "end"))
    return begin, end


def label(values: Mapping[str, Any], axes: tuple[str, ...], text: Any) -> str:
    return ",".join(f"{axis}={text(values[axis])}" for axis in axes) or "run"


def plain(value: Any) -> Any:
    """A value as Python has it."""
    return value.item() if isinstance(value, np.generic) or getattr(value, "shape", None) == () else value


def setting(name: str, value: Any) -> Any:
    return bool(value) if name in TRUTHS else plain(value)
