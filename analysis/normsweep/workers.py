"""What the workers of a sweep did: their runs on the sweep's clock, how busy they were, and the idle tail.

Of a run that was started more than once, the dataset has the times of the last attempt. What was lost of earlier ones
is not busy time, though a worker spent it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from .names import SESSION_TIMES, SESSION_WORKERS, TIMES
from .words import duration, several, texts

Array = np.ndarray[Any, Any]
MOST = 1e6  # workers; a larger number is not one of this program


@dataclass(frozen=True)
class Course:
    """Runs that were begun, [runs] each, in the order of their begins; sessions, [sessions] each. Times are seconds
    since the sweep began; a run without an end is under way, or was lost: it ends with its session."""

    session: Array  # index of a session
    worker: Array  # from 1
    host: Array
    begin: Array
    end: Array
    outcome: Array  # words
    attempts: Array
    sessions: Array  # [sessions, 2] begin and end
    workers: Array  # [sessions] number of workers

    @property
    def available(self) -> float:
        """Worker-seconds: workers times the duration of each session."""
        return float((self.workers * np.diff(self.sessions)[:, 0]).sum())

    @property
    def busy(self) -> float:
        """Worker-seconds in runs."""
        return float((self.end - self.begin).sum())

    @property
    def tail(self) -> float:
        """Worker-seconds from each worker's last run in a session to the session's end; of a worker without a run, the
        whole session."""
        last: dict[tuple[int, int], float] = {}
        for session, worker, end in zip(self.session.tolist(), self.worker.tolist(), self.end.tolist()):
            last[session, worker] = max(end, last.get((session, worker), end))
        used = sum(end - self.sessions[session, 0] for (session, _), end in last.items())
        return self.available - float(used)

    @property
    def seconds(self) -> float:
        """In which a session was under way."""
        return float(without_gaps(self.sessions, self.sessions[:, 1]).max())

    @property
    def most(self) -> int:
        """Workers at a time: those of sessions beside each other together."""
        moments = np.concatenate([self.sessions[:, 1], self.sessions[:, 0]])  # a session ends before another begins
        changes = np.concatenate([-self.workers, self.workers])[np.argsort(moments, kind="stable")]
        return max(int(self.workers.max()), int(np.cumsum(changes).max()))

    def __str__(self) -> str:
        hosts, rows = len(set(self.host.tolist())), len(set(zip(self.host.tolist(), self.worker.tolist())))
        return (several(self.most, "worker") + " at a time" * (rows > self.most) + f" on {hosts} hosts" * (hosts > 1)
                + f": {percent(self.busy, self.available)} busy in {duration(self.seconds)}, "
                f"idle tail {percent(self.tail, self.available)}")


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole > 0 else "– %"


def course(dataset: xr.Dataset) -> Course | None:
    """What the workers did; None if no run was begun, or the dataset does not say."""
    needed = (*TIMES, *SESSION_TIMES, SESSION_WORKERS, "session", "host", "attempts")
    if not all(name in dataset for name in needed):
        return None
    flat = {name: dataset[name].transpose(*dataset.sweep.axes).values.ravel()
            for name in (*TIMES, "session", "host", "attempts")}
    flat["outcome"] = dataset.sweep.outcome.transpose(*dataset.sweep.axes).values.ravel()
    table = np.stack([dataset[name].values.astype(float) for name in SESSION_TIMES], axis=-1)
    begun = np.isfinite(flat["begin"]) & (flat["worker"] >= 1) & (flat["worker"] <= MOST) & (
        flat["session"] >= 0) & (flat["session"] < len(table))
    order = np.flatnonzero(begun)[np.argsort(flat["begin"][begun], kind="stable")]
    if len(order) == 0:
        return None
    found = {name: values[order] for name, values in flat.items()}
    session, worker, begin = found["session"].astype(int), found["worker"].astype(int), found["begin"]
    known = np.nan_to_num(table[:, 1], nan=-np.inf)
    np.maximum.at(known, session, np.fmax(found["end"], begin))
    start = np.nan_to_num(table[:, 0], nan=np.inf)
    np.minimum.at(start, session, begin)
    used = np.isfinite(start) & np.isfinite(known)
    sessions = np.where(used[:, np.newaxis], np.stack([start, np.fmax(start, known)], axis=-1), 0)
    number = np.nan_to_num(dataset[SESSION_WORKERS].values.astype(float))
    workers = np.where(used & (number > 0) & (number <= MOST), number, 0).astype(int)
    seen = np.unique(np.stack([session, worker]), axis=1)  # workers of parts are numbered on from each other
    workers = np.maximum(workers, np.bincount(seen[0], minlength=len(workers)))
    end = np.where(np.isfinite(found["end"]), np.fmax(found["end"], begin), sessions[session, 1])
    return Course(session, worker, texts(found["host"]), begin, end, found["outcome"], found["attempts"], sessions,
                  workers)


def lanes(sessions: Array, session: Array, worker: Array) -> Array:
    """A number for each session, so that no worker is in two sessions of a lane at once: 0 for all sessions of one
    sweep, and of its parts; jobs beside each other whose workers have the same numbers have lanes of their own.
    session, worker: of each run."""
    members = [np.unique(worker[session == place]).tolist() for place in range(len(sessions))]
    ends: list[dict[int, float]] = []
    found = np.zeros(len(sessions), int)
    for place in np.argsort(sessions[:, 0], kind="stable").tolist():
        begin, end = sessions[place].tolist()
        free = [lane for lane, last in enumerate(ends)
                if all(last.get(each, begin) <= begin for each in members[place])]
        found[place] = free[0] if free else len(ends)
        if not free:
            ends.append({})
        ends[found[place]].update(dict.fromkeys(members[place], end))
    return found


def natural(name: str) -> list[Any]:
    """A key by which n2 comes before n10."""
    return [(int(word), "") if word.isdigit() else (-1, word) for word in re.split(r"(\d+)", name)]


def without_gaps(sessions: Array, times: Array) -> Array:
    """Times on a clock that stands still while no session is under way."""
    bounds = [[0.0, 0.0]]
    for begin, end in sessions[np.argsort(sessions[:, 0], kind="stable")].tolist():
        if begin > bounds[-1][1]:
            bounds.append([begin, end])
        else:
            bounds[-1][1] = max(bounds[-1][1], end)
    real = np.array(bounds)
    shown = np.concatenate([[0], np.cumsum(np.diff(real)[:, 0])])
    return np.interp(times, real.ravel(), np.stack([shown[:-1], shown[1:]], axis=-1).ravel())
