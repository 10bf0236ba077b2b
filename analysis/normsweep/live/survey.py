"""The state of a sweep at one moment: counts, runs under way, times, and the steps of a few runs."""

import calendar
import os
import re
import time
from dataclasses import dataclass, field

import numpy as np

from ..account import labels, plain
from ..names import OUTCOMES

MOST_RUNS = 24  # under way, in the table and in the curves
MOST_LINES = 24  # of ended runs
CHECKPOINT = re.compile(r"([0-9a-f]{32})-[0-9]{6,}-[0-9]{12,}-[0-9]{12,}\.nc")  # its run, session, order, step
PENDING, RUNNING, DONE, DIVERGED, FAILED, SKIPPED = range(len(OUTCOMES))


@dataclass
class Run:
    """A run under way. step: of its last measured row, 0 before the first; heard: seconds since this row was seen."""

    cell: int
    label: list
    host: str = ""
    step: int = 0
    last_step: int = 0  # of the complete run; 0: unknown
    loss: float = np.nan
    heard: float = 0.0


@dataclass
class Survey:
    """held: a process writes the dataset. written: seconds since its last write. runs: without skipped cells;
    expected: fewer, if a search chooses among them. started, left, speed, workers: of the last session; NaN if unknown.
    """

    held: bool
    written: float
    outcome: np.ndarray  # of all cells, in the order of the grid
    under_way: list = field(default_factory=list)
    sessions: int = 0
    started: float = np.nan  # seconds since 1970
    session_host: str = ""
    left: float = np.nan
    speed: float = np.nan
    workers: float = np.nan
    expected: float = np.nan
    saved: int = 0  # runs that a stopped sweep resumes from their checkpoints

    def count(self, outcome):
        return int((self.outcome == outcome).sum())

    @property
    def runs(self):
        return self.outcome.size - self.count(SKIPPED)

    @property
    def ended(self):
        return self.count(DONE) + self.count(DIVERGED) + self.count(FAILED)

    @property
    def searches(self):
        """Does a search choose among the cells, so that not all of them will be trained?"""
        return self.expected < self.runs and self.ended < self.runs

    @property
    def all_runs(self):
        """The number of runs in all; of a search, its last estimate."""
        return max(int(self.expected), self.ended) if self.searches else self.runs

    @property
    def is_complete(self):
        return self.ended == self.runs

    @property
    def is_going(self):
        return self.held and not self.is_complete


class Surveyor:
    """Surveys the same dataset again and again; remembers when the last row of each run was first seen."""

    def __init__(self):
        self.heard = {}  # {cell: (step, clock)}

    def survey(self, dataset, path, held):
        """held: asked before the dataset was opened, because a sweep that ends meanwhile must not appear stopped."""
        outcome = dataset.outcome.values.ravel()
        if not held:  # nothing runs; the next start begins with these
            outcome = np.where(outcome == RUNNING, PENDING, outcome)
        found = Survey(held, max(0.0, time.time() - os.path.getmtime(path)), outcome)
        self.add_session(found, dataset)
        self.add_runs(found, dataset)
        if not held:
            found.saved = min(saved_runs(path), found.count(PENDING))
        return found

    def add_session(self, found, dataset):
        starts = texts(dataset, "session_start")
        found.sessions = sum(text != "" for text in starts)
        if not found.sessions:
            return
        last = found.sessions - 1
        found.started = seconds_of(starts[last])
        hosts = texts(dataset, "session_host")
        found.session_host = hosts[last] if len(hosts) > last else ""
        for name, variable in (("left", "session_seconds_left"), ("speed", "session_tokens_per_second"),
                               ("workers", "session_workers"), ("expected", "session_runs")):
            if variable in dataset and dataset[variable].size > last:
                setattr(found, name, float(dataset[variable].values[last]))

    def add_runs(self, found, dataset):
        now, heard = time.monotonic(), {}
        cells = np.flatnonzero(found.outcome == RUNNING)
        names, hosts, ends = labels(dataset), grid_texts(dataset, "host"), last_steps(dataset, found.outcome)
        for cell in map(int, cells[:MOST_RUNS]):
            place = dict(zip(dataset.sweep.axes, np.unravel_index(cell, dataset.outcome.shape)))
            run = Run(cell, [plain(dataset[name].values[place[name]]) for name in names], hosts[cell])
            run.step, run.loss = last_row(dataset, cell)
            run.last_step = int(ends[cell])
            step, since = self.heard.get(cell, (None, now))
            heard[cell] = (run.step, since if step == run.step else now)
            run.heard = now - heard[cell][1]
            found.under_way.append(run)
        self.heard = heard


def saved_runs(path):
    """The number of runs with checkpoints in the dataset's folder; 0 if there is none, or it cannot be read."""
    try:
        return len({found[1] for found in map(CHECKPOINT.fullmatch, os.listdir(f"{path}.d")) if found})
    except OSError:
        return 0


def texts(dataset, name):
    return dataset[name].values.astype(str).tolist() if name in dataset else []


def grid_texts(dataset, name):
    if name not in dataset:
        return [""] * dataset.outcome.size
    return dataset[name].transpose(*dataset.sweep.axes).values.astype(str).ravel().tolist()


def seconds_of(start):
    """Seconds since 1970 of a session's start; NaN if the text is not a time."""
    try:
        return float(calendar.timegm(time.strptime(start, "%Y-%m-%dT%H:%M:%SZ")))
    except ValueError:
        return np.nan


def last_steps(dataset, outcome):
    """The last step of the complete run of each cell; 0 where it is unknown because runs of so many epochs differ."""
    axes = dataset.sweep.axes
    steps = dataset.coords.get("steps")
    if steps is not None and steps.ndim == 1 and steps.dims[0] in axes:
        steps = steps.drop_vars(list(steps.coords)).broadcast_like(dataset.outcome.drop_vars(list(dataset.coords)))
        return steps.transpose(*axes).values.ravel()
    fixed = int(dataset.attrs.get("steps", 0) or 0)
    if fixed <= 0 and "step" in dataset.coords and dataset.step.size:
        fixed = int(dataset.step.values[-1])
        taken = dataset.last_step.transpose(*axes).values.ravel()[outcome == DONE]
        fixed = fixed if (taken == fixed).all() else 0
    return np.full(dataset.outcome.size, max(fixed, 0))


def is_over_steps(dataset, name):
    return name in dataset and set(dataset[name].dims) == {*dataset.sweep.axes, "step"} and \
        dataset[name].dtype.kind == "f"


def row(dataset, name, cell):
    """A variable over the steps of one run."""
    place = dict(zip(dataset.sweep.axes, map(int, np.unravel_index(cell, dataset.outcome.shape))))
    return dataset[name].isel(place).values


def last_row(dataset, cell):
    """(step, loss) of the last measured row of a run; (0, NaN) before the first."""
    if not is_over_steps(dataset, "train_loss"):
        return 0, np.nan
    losses = row(dataset, "train_loss", cell)
    seen = np.flatnonzero(~np.isnan(losses))
    return (int(dataset.step.values[seen[-1]]), float(losses[seen[-1]])) if len(seen) else (0, np.nan)


def chosen(outcome):
    """(cells of runs under way, cells of runs that are done) for curves: few, and of the second the same ones whenever
    possible, so that a picture changes little from one rewrite to the next."""
    order = np.random.default_rng(0).permutation(len(outcome))
    done = order[outcome[order] == DONE][:MOST_LINES]
    return np.flatnonzero(outcome == RUNNING)[:MOST_RUNS].tolist(), sorted(done.tolist())
