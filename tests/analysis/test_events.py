"""read_log: the table of the log of `run --log` has what the lines say."""

import json

import pandas as pd
import pytest
from conftest import NORMSWEEP, run, tiny
from normsweep import open_sweep, read_log

SWEEP = tiny() + """\
steps: 8
learning_rate: [0.01, 0.001]
norm_placement: [pre, post]
seed: [7]
measure: {every: 4}
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("events")
    (folder / "sweep.yaml").write_text(SWEEP)
    for only in ("learning_rate=0.01", "learning_rate=0.001"):
        run(NORMSWEEP, "run", "sweep.yaml", "-j", "0", "--log", "log", "--only", only, cwd=folder)
    return folder


def test_every_event_is_a_row(trained):
    lines = [json.loads(line) for line in (trained / "log").read_text().splitlines()]
    frame = read_log(trained / "log")
    assert list(frame.event) == [line["event"] for line in lines]
    assert {"sweep_started", "sweep_resumed", "run_started", "run_ended", "sweep_ended"} == set(frame.event)
    assert list(frame.columns[:6]) == ["time", "event", "cell", "learning_rate", "norm_placement", "seed"]
    assert [time.isoformat(timespec="milliseconds").replace("+00:00", "Z") for time in frame.time] == [
        line["time"] for line in lines]
    for name in ("cell", "worker", "step", "seconds", "outcome", "message", "exit_status"):
        assert [None if pd.isna(value) else value for value in frame[name]] == [line.get(name) for line in lines], name
    assert list(frame.process_pid) == [line["process"]["pid"] for line in lines]
    assert frame.counts_done.dropna().tolist() == [line["counts"]["done"] for line in lines if "counts" in line]
    assert all(str(frame[name].dtype) == "Int64" for name in ("cell", "worker", "seed", "process_pid", "counts_done"))


def test_its_runs_are_those_of_the_dataset(trained):
    ended = read_log(trained / "log").query("event == 'run_ended'")
    with open_sweep(trained / "sweep.nc") as ds:
        table = ds.sweep.table().set_index(["learning_rate", "norm_placement", "seed"])
    assert len(ended) == 4
    for row in ended.itertuples():
        one = table.loc[(row.learning_rate, row.norm_placement, row.seed)]
        assert (row.outcome, row.norm_growth, row.seconds) == (one.outcome, one.norm_growth, one.seconds)


def test_a_log_that_is_being_written(trained, tmp_path):
    whole = (trained / "log").read_bytes()
    (tmp_path / "log").write_bytes(whole[:-20])
    assert len(read_log(tmp_path / "log")) == len(read_log(trained / "log")) - 1
    (tmp_path / "log").write_bytes(b"")
    assert list(read_log(tmp_path / "log").columns) == ["time", "event", "cell"]


@pytest.mark.parametrize("line", ["no JSON", "3", '{"event": "run_ended"}', '{"time": 1, "event": "x", "axes": 3}'])
def test_what_is_not_a_log(tmp_path, line):
    (tmp_path / "log").write_text(f'{{"time": "2030-01-01T00:00:00.000Z", "event": "a"}}\n{line}\n')
    with pytest.raises(ValueError, match=r"log:2: not a line of normsweep run --log$"):
        read_log(tmp_path / "log")
