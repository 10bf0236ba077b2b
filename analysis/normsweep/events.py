"""The log of `normsweep run --log`, one JSON object a line, as a table."""

from __future__ import annotations

import json
import os
from typing import Any

import pandas as pd

from .hints import Path

FIRST = ("time", "event", "cell")  # columns, before those of the axes
NESTED = ("process", "counts")  # objects of which each member has a column


def read_log(path: Path) -> pd.DataFrame:
    """The events in a file of `normsweep run --log FILE`, one row each, in the order in which they happened; also while
    the sweep runs.

    Columns: `time`, with UTC as its zone; `event`, as in docs/log.schema.json; `cell`; a column for each axis, with the
    value of the run that the event is about; then the other fields, missing where an event does not have them. Members
    of `process` and `counts` have columns such as process_host and counts_done; `session` is a dict. Integers are
    Int64, with NA for a missing value.

        log = read_log("sweep.jsonl")
        log[log.event == "run_ended"].groupby("host").seconds.describe()

    A line that is not complete, at the end of the file, is left out. Raises ValueError for a file that is not a log.
    """
    rows: list[dict[str, Any]] = []
    axes: dict[str, None] = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith("\n"):
                break
            rows.append(row_of(line, f"{os.fspath(path)}:{number}", axes))
    columns = dict.fromkeys((*FIRST, *axes, *(name for row in rows for name in row)))
    frame = pd.DataFrame({name: column([row.get(name) for row in rows]) for name in columns})
    return frame.assign(time=pd.to_datetime(frame["time"], utc=True))


def row_of(line: str, place: str, axes: dict[str, None]) -> dict[str, Any]:
    """The columns of a line; adds the names of its axes."""
    try:
        event = json.loads(line)
        row = {name: value for name, value in event.items() if name not in ("version", "axes", *NESTED)}
        row |= {f"{name}_{member}": value for name in NESTED for member, value in (event.get(name) or {}).items()}
        values = {f"axis_{name}" if name in event else name: value for name, value in (event.get("axes") or {}).items()}
        axes |= dict.fromkeys(values)
        return {"time": event["time"], "event": event["event"], **row, **values}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{place}: not a line of normsweep run --log") from error


def column(values: list[Any]) -> Any:
    """Values in one type: Int64 if all that are not missing are integers."""
    kinds = {type(value) for value in values if value is not None}
    return pd.array(values, dtype="Int64") if kinds == {int} else values
