"""What each worker did: utilisation and idle tail in closed form, the chart, and the times of real sweeps."""

import numpy as np
import pytest
import xarray as xr
from conftest import NORMSWEEP, run, tiny
from drawn import drawing, legend, panels
from made_up import made_up
from matplotlib.collections import PolyCollection
from normsweep import account, open_sweep
from normsweep.workers import course, lanes, natural, without_gaps

DONE, DIVERGED, RUNNING = 2, 3, 1


def by_hand():
    """Two sessions of four workers, of 10 s and 20 s, the second one day later. In the first, worker 1 trains for 4 s
    and 5 s, worker 2 for 8 s, and the others nothing; worker 2 loses a run, which worker 3 begins again in the second
    and trains for all of its 20 s; worker 1 is still busy with a run that began 5 s before the end."""
    dataset = made_up().isel(learning_rate=[0], norm_placement=0, seed=0).isel(weight_decay=slice(5))
    rows = {  # session, worker, begin, end, outcome, attempts
        0: (0, 1, 0, 4, DONE, 1), 1: (0, 1, 5, 10, DIVERGED, 1), 2: (0, 2, 0, 8, DONE, 1),
        3: (1, 3, 100, 120, DONE, 2), 4: (1, 1, 115, np.nan, RUNNING, 1)}
    names = ("session", "worker", "begin", "end", "outcome", "attempts")
    for name, values in zip(names, zip(*rows.values())):
        dataset[name] = dataset[name].copy(data=np.reshape(values, dataset[name].shape).astype(dataset[name].dtype))
    for name, values in (("session_begin", [0, 100, np.nan]), ("session_end", [10, 120, np.nan]),
                         ("session_workers", [4, 4, np.nan])):
        dataset[name] = dataset[name].copy(data=values)
    return dataset


def test_utilisation_and_idle_tail_are_those_of_a_closed_form():
    found = course(by_hand())
    assert found.available == 4 * 10 + 4 * 20
    assert found.busy == 4 + 5 + 8 + 20 + 5
    assert found.tail == (0 + 2 + 10 + 10) + (0 + 0 + 20 + 20)
    assert found.seconds == 30
    assert str(found) == "4 workers: 35.0 % busy in 30 s, idle tail 51.7 %"
    assert dict(account.effort(by_hand()))["workers"] == str(found)


def test_turns_of_two_workers():
    """made_up: a run of 2 s begins each second, so that two workers are busy but for 1 s at each end of a session."""
    found = course(made_up())
    first, second = (found.session == 0).sum(), (found.session == 1).sum()
    assert found.workers.tolist() == [2, 2, 0]
    assert found.busy == 2 * (first + second) and found.available == 2 * (first + 1 + second + 1)
    assert found.tail == 2


def test_a_session_lasts_as_long_as_its_runs_say():
    """Its end is written with each begin and end of a run, but a crash may keep it from the disk."""
    dataset = by_hand()
    dataset["session_end"] = dataset.session_end.copy(data=[np.nan, 110, np.nan])
    dataset["session_workers"] = dataset.session_workers.copy(data=[np.nan, 1, np.nan])
    found = course(dataset)
    assert found.sessions.tolist() == [[0, 10], [100, 120], [0, 0]] and found.workers.tolist() == [2, 2, 0]
    assert found.available == 2 * 10 + 2 * 20


@pytest.mark.parametrize("change", [
    lambda dataset: dataset.drop_vars("session_end"), lambda dataset: dataset.drop_vars("worker"),
    lambda dataset: dataset.assign(begin=dataset.begin * np.nan),
    lambda dataset: dataset.assign(worker=dataset.worker * np.nan),
    lambda dataset: dataset.assign(session=dataset.session * np.nan)])
def test_nothing_is_said_without_times(change):
    dataset = change(by_hand())
    assert course(dataset) is None and "workers" not in dict(account.effort(dataset))


def test_parts_that_ran_beside_each_other_have_one_clock(tmp_path):
    """The second part began an hour after the first, by the dates of their sessions, and overlaps it in time."""
    whole, paths = made_up(), []
    for seed, date in ((0, "2030-01-01T00:00:00Z"), (1, "2030-01-01T01:00:00Z")):
        part = whole.sel(seed=[seed])
        part["session_start"] = part.session_start.copy(data=np.array([date, "2030-01-02T00:00:00Z", ""], object))
        part["session_end"] = part.session_end.copy(data=[4000, 5000, np.nan])
        paths.append(tmp_path / f"{seed}.nc")
        part.to_netcdf(paths[-1], engine="netcdf4", format="NETCDF3_64BIT_DATA")
    with open_sweep(paths) as joined:
        joined = joined.reindex_like(whole)
        np.testing.assert_array_equal(joined.begin.values - whole.begin.values,
                                      np.where(whole.outcome > 0, [0, 3600], np.nan))
        assert joined.session_begin.values.tolist() == [0, 100, 3600, 3700]
        found = course(joined)
        assert lanes(found.sessions, found.session, found.worker).tolist() == [0, 1, 2, 1]  # workers 1, 2; 1; 1, 2; 2


def test_lanes_gaps_and_names_of_hosts():
    sessions = np.array([[0, 10], [100, 120], [5, 12], [12, 15]])
    assert lanes(sessions, np.arange(4), np.ones(4)).tolist() == [0, 0, 1, 0]
    assert lanes(sessions, np.arange(4), np.array([1, 1, 2, 2])).tolist() == [0, 0, 0, 0]
    assert without_gaps(sessions, np.array([0, 7, 15, 50, 100, 120])).tolist() == [0, 7, 15, 15, 15, 35]
    assert without_gaps(sessions[1:2], np.array([100, 110])).tolist() == [0, 10]
    assert sorted(["n10", "n2", "m3"], key=natural) == ["m3", "n2", "n10"]


def bars(axes):
    return sum(len(each.get_paths()) for each in axes.collections if isinstance(each, PolyCollection))


def test_the_chart_has_a_row_for_each_worker_and_a_bar_for_each_run():
    found = drawing(by_hand(), "workers")
    axes, = panels(found)
    assert axes.get_title() == str(course(by_hand())) and axes.get_xlim() == (0, 30)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "2", "3"]
    assert bars(axes) == 5 + 4  # runs; workers 1 of both sessions, 2 and 3 behind them
    assert legend(found) == ["done", "diverged", "under way", "idle", "started again", "new session"]
    again, = axes.lines
    assert again.get_xydata().tolist() == [[10, 2]]
    assert "1 worker without a run is not shown." in found.caption
    assert "1 run started more than once: a bar is the last start" in found.caption
    assert "Time between sessions is left out." in found.caption


def test_parts_beside_each_other_have_no_new_session():
    """The second session is of other workers, and begins 5 s before the end of the first."""
    dataset = by_hand()
    dataset["worker"] = dataset.worker + 4 * (dataset.session == 1)
    for name in ("begin", "end"):
        dataset[name] = dataset[name] - 95 * (dataset.session == 1)
    dataset["session_begin"], dataset["session_end"] = (dataset.session_begin.copy(data=[0, 5, np.nan]),
                                                        dataset.session_end.copy(data=[10, 25, np.nan]))
    found = drawing(dataset, "workers")
    assert str(course(dataset)) == "8 workers: 35.0 % busy in 25 s, idle tail 51.7 %"
    assert panels(found)[0].get_xlim() == (0, 25) and len(panels(found)[0].get_yticks()) == 4
    assert "new session" not in legend(found) and "Time between" not in found.caption
    assert "4 workers without a run are not shown." in found.caption


@pytest.mark.parametrize("hosts", [1, 3, 100])
def test_rows_of_many_workers_are_named_by_host(hosts):
    """400 workers, one run each."""
    axes_of = {"weight_decay": np.logspace(-4, 4, 400)}
    workers = np.arange(400)
    dataset = made_up().isel(learning_rate=0, norm_placement=0, seed=0)
    dataset = dataset.isel(weight_decay=np.zeros(400, int)).assign_coords(axes_of)
    values = {"outcome": np.full(400, DONE, np.int8), "worker": workers + 1.0, "begin": workers / 100,
              "end": 10 + workers / 100, "session": np.zeros(400), "attempts": np.ones(400, int),
              "host": np.array([f"node{worker * hosts // 400 + 1}" for worker in workers], object)}
    dataset = dataset.assign({name: ("weight_decay", value, dataset[name].attrs) for name, value in values.items()})
    axes, = panels(drawing(dataset, "workers"))
    names = [label.get_text() for label in axes.get_yticklabels()]
    if hosts == 1:
        steps = np.diff([int(name) for name in names])
        assert len(steps) > 20 and len(set(steps)) == 1 and axes.get_ylabel() == "worker (–)"
    else:
        assert names == [f"node{host}" for host in range(1, 4)] if hosts == 3 else 20 < len(names) < 60
        assert axes.get_ylabel() == "host"
    assert axes.figure.get_size_inches()[1] < 9 and bars(axes) == 800


def check_times(dataset):
    """Every run was trained by a worker, within its session; the runs of a worker in a session do not overlap."""
    found = course(dataset)
    assert len(found.begin) == int((dataset.sweep.done | dataset.sweep.diverged).sum()) == dataset.outcome.size
    assert (found.begin >= found.sessions[found.session, 0]).all() and (found.end > found.begin).all()
    assert (found.end <= dataset.session_end.values[found.session]).all()
    for session in set(found.session.tolist()):
        for worker in set(found.worker.tolist()):
            these = (found.session == session) & (found.worker == worker)
            assert (found.begin[these][1:] >= found.end[these][:-1]).all()
    assert 0 < found.busy <= found.available and 0 <= found.tail < found.available
    return found


def test_times_of_a_real_sweep_in_two_sessions(tmp_path):
    """The second session has more seeds, and so a file that is written anew, and another number of workers."""
    text = tiny(steps=400, learning_rate="[0.1, 0.01, 0.001]", weight_decay="[0.1, 1e9]")
    (tmp_path / "a.yaml").write_text(text + "seed: {range: [1, 4]}\n")
    run(NORMSWEEP, "run", "a.yaml", "-j", "2", cwd=tmp_path)
    with open_sweep(tmp_path / "a.nc") as dataset:
        first = check_times(dataset)
        assert set(first.worker.tolist()) == {1, 2} and first.workers.tolist() == [2]
        before = dataset.load()
    run(NORMSWEEP, "run", "a.yaml", "-j", "1", "--set", "seed={range: [1, 5]}", cwd=tmp_path)
    with open_sweep(tmp_path / "a.nc") as dataset:
        found = check_times(dataset)
        assert found.workers.tolist() == [2, 1] and (found.session == 1).sum() == 6
        assert found.begin[found.session == 1].min() > first.end.max()
        xr.testing.assert_equal(dataset[["worker", "begin", "end"]].sel(seed=[1, 2, 3, 4]).load(),
                                before[["worker", "begin", "end"]])


def test_without_mpi_there_is_one_worker(tmp_path):
    (tmp_path / "a.yaml").write_text(tiny(steps=50, learning_rate="[0.1, 0.01, 0.001]"))
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", cwd=tmp_path)
    with open_sweep(tmp_path / "a.nc") as dataset:
        found = check_times(dataset)
        assert found.worker.tolist() == [1, 1, 1] and set(found.host.tolist()) == set(
            dataset.session_host.values.tolist())
