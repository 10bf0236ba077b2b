"""analysis/log: a tracker's own reader finds what the dataset has, and a second call writes only what is new."""

import json
import math
import os
import sys
import types

import missing
import numpy as np
import pytest
from conftest import PROJECT, run, script
from made_up import made_up
from normsweep import logged

DONE, RUNNING, FAILED = 2, 1, 4
GRID = {"learning_rate": [0, 1], "weight_decay": [1, 3], "norm_placement": [0, 1]}
TOOLS = {"tensorboard": ["tensorboardX", "tensorboard"], "mlflow": ["mlflow"], "wandb": ["wandb"]}
INSTALL = "pip install tensorboardX tensorboard mlflow wandb"


def sweep(running=(), failed=()):
    """Eight cells of two seeds. Runs of `running`, given by their indices, have not come to the last step."""
    ds = made_up().isel(GRID).copy(deep=True)
    for at in running:
        ds["outcome"][at], ds["norm_growth"][at] = RUNNING, np.nan
        ds["end"][at] = np.nan
        for name in ("rate_sum", "param_norm"):
            ds[name][(*at, -1)] = np.nan
    for at in failed:
        ds["outcome"][at], ds["reason"][at] = FAILED, "no memory"
    return ds


def write(folder, ds, tool, told=None):
    """Writes the dataset and then its runs."""
    ds.to_netcdf(folder / "first.nc")
    said = script("log", "first.nc", "--to", tool, "out", cwd=folder).stdout
    assert told is None or said.splitlines()[0] == f"out: {told}"
    return said


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def need(tool):
    for name in TOOLS[tool]:
        missing.module(name, f"what analysis/log writes for {tool}", INSTALL)


# ---- readers of the trackers: {run: ({series: {step: value}}, {final: value}, axes, words)} ----

def tensorboard(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams import plugin_data_pb2
    found = {}
    for path in (folder / "first").iterdir():
        events = EventAccumulator(str(path), size_guidance={"scalars": 0, "tensors": 0})
        events.Reload()
        series, finals, words = {}, {}, {}
        for tag in events.Tags()["scalars"]:
            points = [(event.step, event.value) for event in events.Scalars(tag)]
            assert len(dict(points)) == len(points), (path, tag)  # each step once
            if tag.startswith("final/"):
                assert len(points) == 1
                finals[tag.removeprefix("final/")] = points[0][1]
            else:
                series[tag] = dict(points)
        for tag in events.Tags()["tensors"]:
            words[tag.removesuffix("/text_summary")] = events.Tensors(tag)[-1].tensor_proto.string_val[0].decode()
        data = plugin_data_pb2.HParamsPluginData.FromString(
            events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content)
        axes = {name: getattr(value, value.WhichOneof("kind"))
                for name, value in data.session_start_info.hparams.items()}
        assert "| optimiser | adamw |" in words.pop("settings")
        found[path.name] = series, finals, axes, words
    return found


def mlflow(folder):
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    from mlflow.tracking import MlflowClient
    client = MlflowClient(f"file:{folder}")
    experiment = client.get_experiment_by_name("first")
    assert experiment.tags["mlflow.note.content"] == "My first diagram"
    found = {}
    for one in client.search_runs([experiment.experiment_id]):
        series, finals = {}, {}
        for name in one.data.metrics:
            points = [(point.step, point.value) for point in client.get_metric_history(one.info.run_id, name)]
            assert len(dict(points)) == len(points), name
            if name in ("norm_growth", "seconds"):
                finals[name] = points[0][1]
            else:
                series[name] = dict(points)
        words = {name: text for name, text in one.data.tags.items() if not name.startswith("mlflow.")}
        status = {"done": "FINISHED", "diverged": "FINISHED", "failed": "FAILED"}.get(words["outcome"], "RUNNING")
        assert one.info.status == status and one.data.params.pop("optimiser") == "adamw"
        begun = {"1893456000": "2030-01-01"}.get(str(one.info.start_time // 100000 * 100), "")
        assert begun or one.info.start_time >= 1893456000000
        axes = {name: one.data.params[name] for name in ("learning_rate", "weight_decay", "norm_placement", "seed")}
        found[one.info.run_name] = series, finals, axes, words
    return found


def records(path):
    """The records of a file of Weights & Biases: the frames of LevelDB's log after a header of 7 bytes. In blocks of
    32 KiB each frame has a checksum, a length and a type, 1 for a whole record, 2, 3 and 4 for its first, middle and
    last part. (Its own reader is in the program that wandb calls, since it has left Python.)"""
    from wandb.proto import wandb_internal_pb2
    data, at, record = path.read_bytes(), 7, b""
    assert data[:4] == b":W&B"
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        length, kind = int.from_bytes(data[at + 4:at + 6], "little"), data[at + 6]
        record = (record if kind in (3, 4) else b"") + data[at + 7:at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            yield wandb_internal_pb2.Record.FromString(record)


def wandb(folder):
    found = {}
    listed = run(sys.executable, "-m", "wandb", "sync", "--dry-run", cwd=folder).stderr
    paths = list((folder / "wandb").glob("offline-run-*/*.wandb"))
    assert f"Would sync {len(paths)} run" in listed, listed
    for path in paths:
        series, summary, config, name = {}, {}, {}, ""
        for record in records(path):
            kind = record.WhichOneof("record_type")
            if kind == "run":
                name = record.run.display_name
                config = {item.key: json.loads(item.value_json) for item in record.run.config.update}
                assert record.run.project == "first" and record.run.notes == "My first diagram"
            elif kind == "history":
                row = {item.key or item.nested_key[0]: json.loads(item.value_json) for item in record.history.item}
                for key, value in row.items():
                    if not key.startswith("_"):
                        series.setdefault(key, {})[row["_step"]] = value
            elif kind == "summary":
                summary |= {item.key or item.nested_key[0]: json.loads(item.value_json)
                            for item in record.summary.update}
        assert config["optimiser"] == "adamw" and name not in found
        axes = {key: config[key] for key in ("learning_rate", "weight_decay", "norm_placement", "seed")}
        found[name] = (series, {key: summary[key] for key in ("norm_growth", "seconds") if key in summary}, axes,
                       {key: summary[key] for key in logged.WORDS if key in summary})
    return found


READERS = {"tensorboard": tensorboard, "mlflow": mlflow, "wandb": wandb}


def expected(ds, running_too):
    """What the dataset has, in the same form."""
    found = {}
    words = {name: ds.sweep.words(name) if name != "reason" else ds.reason for name in ("outcome", "phase", "reason")}
    for cell in np.ndindex(ds.outcome.shape):
        run_ = ds.isel(dict(zip(ds.outcome.dims, cell)))
        code = int(run_.outcome)
        if code == 0 or code == RUNNING and not running_too:
            continue
        count = 3 if code != RUNNING else 2
        series = {name: {int(step): float(value) for step, value in zip(ds.step.values[:count], run_[name].values)
                         if math.isfinite(value)} for name in ("rate_sum", "param_norm")}
        finals = {name: float(run_[name]) for name in ("norm_growth", "seconds")
                  if code != RUNNING and math.isfinite(run_[name])}
        axes = {name: run_[name].values.item() for name in ds.outcome.dims}
        name = ",".join(f"{axis}={value:.6g}" if isinstance(value, float) else f"{axis}={value}"
                        for axis, value in axes.items())
        found[name] = ({key: points for key, points in series.items() if points}, finals, axes,
                       {key: str(values.values[cell]) for key, values in words.items() if str(values.values[cell])})
    return found


def same(found, wanted, tool):
    assert found.keys() == wanted.keys()
    for name, (series, finals, axes, words) in wanted.items():
        read = found[name]
        exactly = (lambda value: float(np.float32(value))) if tool == "tensorboard" else float  # which has floats
        assert read[0] == {key: {step: exactly(value) for step, value in points.items()}
                           for key, points in series.items()}, name
        assert read[1] == {key: exactly(value) for key, value in finals.items()}, name
        assert read[2] == (axes if tool != "mlflow" else {key: str(value) for key, value in axes.items()})
        if words["outcome"] != "running" or tool == "mlflow":
            assert read[3] == words, name


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_tracker_reads_what_was_written(tmp_path, tool):
    need(tool)
    whole = tool == "wandb"
    under_way = sweep(running=[(0, 0, 1, 0), (1, 1, 0, 1)], failed=[(1, 0, 0, 0)])
    said = write(tmp_path, under_way, tool)
    assert said.startswith("out: ") and "\nto see them: " in said
    same(READERS[tool](tmp_path / "out"), expected(under_way, not whole), tool)
    before = contents(tmp_path / "out")
    assert write(tmp_path, under_way, tool) == "out: nothing new\n"
    assert contents(tmp_path / "out") == before
    ended = sweep(failed=[(1, 0, 0, 0)])
    new = 2 * (1 if not whole else 3) * 2 + 2 * 2  # rows and series of both runs, norm_growth and seconds
    write(tmp_path, ended, tool, f"{new} values of 2 runs")
    same(READERS[tool](tmp_path / "out"), expected(ended, True), tool)
    kept = contents(tmp_path / "out")
    assert write(tmp_path, ended, tool) == "out: nothing new\n" and contents(tmp_path / "out") == kept


# ---- what needs no tracker ----

@pytest.fixture
def memory(tmp_path):
    return lambda ds: logged.Memory(str(tmp_path / "memory.json"), "none", ds)


def take(ds, memory, whole=False):
    """What is new, which is then remembered."""
    kept, found = memory(ds), {}
    for one in logged.news(ds, kept, whole):
        logged.remember(kept, one)
        found[one.key] = one
    kept.save()
    return found


def test_a_run_under_way(memory):
    """It has no final values yet."""
    at = (0, 0, 1, 0)
    ds = sweep(running=[at])
    key = "learning_rate=0.1,weight_decay=1.0,norm_placement='post',seed=0"
    one = take(ds, memory)[key]
    assert [step for step, _ in one.rows] == [0, 10] and one.finals == {} and one.end is None
    assert take(ds, memory) == {}
    ds["param_norm"][(*at, 2)] = 5.0
    assert take(ds, memory)[key].rows == [(20, {"param_norm": 5.0})]
    ended = sweep()
    one, = take(ended, memory).values()
    assert [(step, [*row]) for step, row in one.rows] == [(20, ["rate_sum"])]
    assert set(one.finals) == {"norm_growth", "seconds"}
    assert one.time_of(20) == one.end and one.time_of(10) == (one.begin + one.end) / 2
    assert take(ended, memory) == {}


def test_a_step_that_was_missed(memory):
    """A reader may see a later value before an earlier one; at the end this series is given whole."""
    at = (0, 0, 1, 0)
    ds = sweep(running=[at])
    ds["param_norm"][(*at, 0)] = np.nan
    assert [(step, [*row]) for step, row in [*take(ds, memory).values()][2].rows] == [
        (0, ["rate_sum"]), (10, ["rate_sum", "param_norm"])]
    one, = take(sweep(), memory).values()
    assert [(step, sorted(row)) for step, row in one.rows] == [
        (0, ["param_norm"]), (10, ["param_norm"]), (20, ["param_norm", "rate_sum"])]


def test_a_failed_run_that_is_repeated_is_written_again(memory):
    assert len(take(sweep(failed=[(0, 0, 1, 0)]), memory)) == 16
    one, = take(sweep(), memory).values()
    assert one.outcome == "done" and one.finals and one.rows == []


def test_added_values_of_an_axis_are_new_runs(memory):
    some = sweep().isel(weight_decay=[0])
    first = take(some, memory)
    assert len(take(sweep(), memory)) == 16 - len(first) and take(sweep(), memory) == {}


def refused(folder, *arguments):
    return script("log", *arguments, cwd=folder, status=1).stderr


def test_what_is_refused(tmp_path, monkeypatch):
    """One line, and what is there stays as it is."""
    ds = sweep()
    ds.to_netcdf(tmp_path / "first.nc")
    folder = tmp_path / "out"
    folder.mkdir()
    kept = logged.Memory(str(folder / "first.normsweep-log.json"), "tensorboard", ds)
    for one in logged.news(ds, kept):
        logged.remember(kept, one)
    kept.save()
    path = "out/first.normsweep-log.json"
    for name in ("tensorboardX", "mlflow"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    assert script("log", "first.nc", "--to", "tensorboard", "out", cwd=tmp_path).stdout == "out: nothing new\n"
    assert refused(tmp_path, "first.nc", "--to", "mlflow", "out") == (
        f"log: {path}: the folder has runs for tensorboard; give another one\n")
    ds.assign_attrs(optimiser="sgd").to_netcdf(tmp_path / "first.nc")
    assert refused(tmp_path, "first.nc", "--to", "tensorboard", "out") == (
        f"log: {path}: of a sweep with another optimiser; give another folder\n")
    ds.isel(seed=0).to_netcdf(tmp_path / "first.nc")
    assert refused(tmp_path, "first.nc", "--to", "tensorboard", "out") == (
        f"log: {path}: of a sweep over learning_rate, weight_decay, norm_placement, seed; give another folder\n")
    (folder / "first.normsweep-log.json").write_text('{"version": 1}')
    assert refused(tmp_path, "first.nc", "--to", "tensorboard", "out") == (
        f"log: {path}: is not what this command has written; give another folder\n")
    assert refused(tmp_path, "first.nc", "--to", "tensorboard", "first.nc") == (
        "log: first.nc: is a file, not a folder\n")
    assert os.listdir(folder) == ["first.normsweep-log.json"]


@pytest.mark.parametrize("tool", TOOLS)
def test_without_its_package(tmp_path, tool):
    sweep().to_netcdf(tmp_path / "first.nc")
    name = TOOLS[tool][0]
    call = (f"import sys; sys.modules['{name}'] = sys.modules['torch'] = None; from normsweep.entry import log; "
            "sys.exit(log())")
    said = run(sys.executable, "-c", call, "first.nc", "--to", tool, "out", cwd=tmp_path, status=1,
               env={**os.environ, "PYTHONPATH": str(PROJECT / "analysis")}).stderr
    assert said == f"-c: no module {name} here: pip install {name}\n"
    assert os.listdir(tmp_path) == ["first.nc"]
