"""What scripts read and wait for: status --json, status --wait, and the exit statuses of all commands."""

import json
import os
import re
import shutil
import signal
import time

import netCDF4
import numpy
import pytest

import schemas
from conftest import NORMSWEEP, PROJECT, run, tables
from preloaded import preload
from waited import ENDLESS, RUNS, SWEEP, Background, let_one_fail, wait_until

pytestmark = pytest.mark.thorough("waits for sweeps")


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ended")
    (folder / "a.yaml").write_text(SWEEP)
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", cwd=folder)
    return folder / "a.nc"


def status(path, *options, expected=0):
    return schemas.read(run(NORMSWEEP, "status", path, "--json", *options, status=expected).stdout, "status")


def test_schemas_are_strict():
    """No object may have a property that its schema does not name, except axes, whose names are those of the sweep."""
    for name in ("status", "log"):
        found = list(schemas.parts(schemas.schema(name)))
        objects = [part for part in found if part.get("type") == "object"]
        assert len(objects) > 4
        for part in objects:
            open_ = part["additionalProperties"] is not False
            assert open_ == (part is schemas.schema(name)["$defs"]["axes"])
        assert all(not isinstance(part.get("type"), list) or "object" not in part["type"] for part in found)


@pytest.mark.parametrize("change", [{"more": 1}, {"version": 2}, {"state": "done"}, {"state": None}, {"cells": -1},
                                    {"cells": 1.5}, {"cells": True}, {"time": "2026-11-23 02:45:17"},
                                    {"counts": {}}, {"session": {}}, {"grid": [{}]}, {"seconds": 1.0},
                                    {"event": "sweep_ended"}, {"tokens_per_second": "1"}, {"failures": {}}])
def test_schemas_refuse(ended, change):
    value = status(ended)
    with pytest.raises(schemas.Wrong):
        schemas.read(json.dumps(value | change), "status")
    for name in value:
        with pytest.raises(schemas.Wrong):
            schemas.read(json.dumps({key: kept for key, kept in value.items() if key != name}), "status")


def test_json_of_a_complete_sweep(ended):
    found = status(ended)
    assert found["state"] == "complete" and found["title"] == 'waited "for"' and found["path"] == str(ended)
    assert found["cells"] == found["runs"] == found["expected_runs"] == found["ended"] == RUNS
    assert found["counts"] == dict.fromkeys(found["counts"], 0) | {"done": RUNS}
    with netCDF4.Dataset(ended) as dataset:
        assert list(found["counts"]) == dataset["outcome"].flag_meanings.split()
        names = [name for name in dataset.variables if name.startswith("session_")
                 and dataset[name].dtype.kind == "S"]
        assert found["session"].keys() - {"number", "age_seconds"} == {name[len("session_"):] for name in names}
        for name in names:
            assert found["session"][name[len("session_"):]] == str(dataset[name][0])
        assert found["mean"]["seconds"] == pytest.approx(numpy.mean(dataset["seconds"][:]), rel=1e-12)
        assert found["grid"] == [{"name": name, "length": len(dataset.dimensions[name])}
                                 for name in dataset["outcome"].dimensions]
        assert found["format_version"] == dataset.format_version
    assert found["bytes"] == ended.stat().st_size and not found["copy"] and found["fault"] is None
    assert (found["sessions"], found["session"]["number"]) == (1, 0)
    assert found["under_way"] == found["failures"] == [] and found["saved"] is None and found["seconds_left"] is None


def test_json_is_one_line_and_the_path_is_absolute(ended, tmp_path):
    text = run(NORMSWEEP, "status", "a.nc", "--json", cwd=ended.parent).stdout
    assert text.count("\n") == 1 and schemas.read(text, "status")["path"] == str(ended)
    (tmp_path / "link.nc").symlink_to(ended)
    assert status(tmp_path / "link.nc")["path"] == str(ended)
    odd = os.fsencode(tmp_path) + b"/\xff\x01 \xc3\xa4\"\\.nc"
    shutil.copy(ended, odd)
    assert status(os.fsdecode(odd))["path"] == f'{tmp_path}/\ufffd\x01 ä"\\.nc'


def test_json_of_failed_runs(ended, tmp_path):
    path = shutil.copy(ended, tmp_path)
    let_one_fail(path, 'it "failed"')
    found = status(path)
    assert found["state"] == "failed" and found["counts"]["failed"] == 1 and found["counts"]["done"] == RUNS - 1
    assert found["failures"] == [{"cell": 0, "reason": 'it "failed"',
                                  "axes": {"learning_rate": 0.1, "bias": True, "norm_placement": "out"}}]
    assert status(path, "--wait", expected=1)["state"] == "failed"


def test_json_of_an_altered_dataset_says_so(ended, tmp_path):
    path = shutil.copy(ended, tmp_path)
    with netCDF4.Dataset(path, "a") as dataset:
        dataset["attempts"][0, 0, 0] = -5
    assert "attempts" in status(path)["fault"] and status(path)["state"] == "altered"
    waited = run(NORMSWEEP, "status", path, "--json", "--wait", "--limit", "0", status=2)
    assert schemas.read(waited.stdout, "status")["state"] == "altered" and waited.stderr == ""
    assert "altered   " in run(NORMSWEEP, "status", path, "--wait", "--limit", "0", status=2).stdout


@pytest.mark.parametrize("outcome", [77, -1])
def test_an_unknown_outcome_is_a_fault(ended, tmp_path, outcome):
    """Like any other: its run counts as pending, and what the dataset holds is shown."""
    path = shutil.copy(ended, tmp_path)
    with netCDF4.Dataset(path, "a") as dataset:
        dataset["outcome"][0, 0, 0] = outcome
    found = status(path)
    assert found["state"] == "altered" and f"outcome is {outcome} at " in found["fault"]
    assert found["counts"]["pending"] == 1 and sum(found["counts"].values()) == RUNS
    assert "altered   " in run(NORMSWEEP, "status", path).stdout
    for arguments in [], ["final_train_loss"]:
        done = run(NORMSWEEP, "show", path, *arguments)
        assert done.stdout and done.stderr == found["fault"] + "\n"


def test_values_of_axes_come_back_to_the_bit(tmp_path):
    rates = [0.1 + 0.2, 1 / 3, 1e-5, 2.0, 5e-324]
    (tmp_path / "a.yaml").write_text(SWEEP.replace("[0.1, 0.001]", json.dumps(rates)).replace("steps: 20", "steps: 2")
                                     .replace("norm_placement: [out, pre]", "together: {model: {one: {beta2: 0.9}}}\n"
                                                                            "seed: [9007199254740993]"))
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", cwd=tmp_path)
    axes = {}
    with netCDF4.Dataset(tmp_path / "a.nc", "a") as dataset:
        dataset["outcome"][:] = 4
        stored = {name: dataset[name][:].tolist() for name in ("learning_rate", "bias")}
    for failure in status(tmp_path / "a.nc")["failures"]:
        for name, value in failure["axes"].items():
            axes.setdefault(name, set()).add(value)
    assert axes == {"learning_rate": set(stored["learning_rate"]), "bias": {True, False}, "model": {"one"},
                    "seed": {9007199254740993}}
    assert set(stored["learning_rate"]) == set(rates)


def test_json_of_a_refined_sweep(folder):
    (folder / "r.yaml").write_text(SWEEP.replace("learning_rate: [0.1, 0.001]", "weight_decay: {log: [1e-3, 10], "
                                                 "points: 8}\nrefine: {axis: weight_decay, variable: norm_growth, "
                                                 "at: 1}"))
    run(NORMSWEEP, "run", "r.yaml", "-j", "0", cwd=folder)
    found = status(folder / "r.nc")
    assert found["state"] == "complete" and found["counts"]["skipped"] > 0
    assert found["runs"] == found["expected_runs"] == found["ended"] == 32 - found["counts"]["skipped"]


def test_json_of_a_sweep_that_was_killed_at_once(folder):
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS) as sweep:
        wait_until((folder / "a.nc").exists, "there is a dataset")
        sweep.send(signal.SIGKILL)
        sweep.ended(-signal.SIGKILL)
    found = status(folder / "a.nc")
    assert found["state"] == "stopped" and found["ended"] == 0 and found["counts"]["pending"] == RUNS
    assert found["mean"] == {"seconds": None, "tokens_per_second": None}


def test_json_of_a_running_and_of_a_stopped_sweep(folder):
    path = folder / "a.nc"
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS) as sweep:
        wait_until(lambda: path.exists() and status(path)["under_way"], "a run trains")
        wait_until(lambda: status(path)["tokens_per_second"] is not None, "its pace is known")
        found = status(path)
        assert found["state"] == "running" and found["saved"] is None and found["fault"] is None
        assert found["counts"]["running"] == 1 and found["seconds_left"] > 0
        way, = found["under_way"]
        assert way["axes"].keys() == {"learning_rate", "bias", "norm_placement"} and way["last_step"] == 100000000
        assert way["step"] == 0 and way["host"] == found["session"]["host"]
        with Background(folder, "status", "a.nc", "--json", "--watch") as watch:
            wait_until(lambda: watch.text["out"].count("\n") > 1, "it has looked twice")
            sweep.send(signal.SIGTERM)
            sweep.ended(75)
            states = [schemas.read(line, "status")["state"] for line in watch.ended(0)[0].splitlines()]
        assert states[:2] == ["running"] * 2 and states[-1] == "stopped"
    found = status(path)
    assert found["state"] == "stopped" and found["saved"] == 1 and found["under_way"] == []
    assert found["seconds_left"] is None and found["counts"]["pending"] == RUNS


# ---- waiting ----

def test_wait_for_a_sweep_from_before_it_has_a_dataset(folder):
    with Background(folder, "status", "a.nc", "--wait", "--json", "--limit", "600") as wait:
        wait.wait_caught()
        run(NORMSWEEP, "run", "a.yaml", "-j", "2", cwd=folder)
        out, err = wait.ended(0)
    assert err == "" and schemas.read(out, "status")["ended"] == RUNS


def test_wait_for_the_target_of_a_link(folder):
    """A link to a dataset that does not exist yet; its folder may be missing, too."""
    (folder / "link.nc").symlink_to("later/b.nc")
    with Background(folder, "status", "link.nc", "--wait", "--limit", "1000") as waiting:
        (folder / "later").mkdir()
        run(NORMSWEEP, "run", "a.yaml", "-j", "0", "-o", "later/b.nc", cwd=folder)
        assert "8 of 8 runs" in waiting.ended(0)[0]
    (folder / "link.nc").unlink()
    (folder / "link.nc").symlink_to("none.nc")
    done = run(NORMSWEEP, "status", "link.nc", "--wait", "--limit", "0", cwd=folder, status=124)
    assert done.stderr == "link.nc: there was no dataset for 0 s; --limit SECONDS waits longer\n"


def test_wait_goes_on_through_a_stop_and_a_new_dataset(folder):
    with Background(folder, "run", "a.yaml", "-j", "1", *ENDLESS) as first:
        wait_until((folder / "a.nc").exists, "there is a dataset")
        with Background(folder, "status", "a.nc", "--wait", "--limit", "600") as wait:
            wait.wait_caught()
            first.send(signal.SIGTERM)
            first.ended(75)
            time.sleep(2.5)  # it looks at the stopped sweep at least once
            assert wait.process.poll() is None
            run(NORMSWEEP, "run", "a.yaml", "-j", "1", "--fresh", cwd=folder)
            out, err = wait.ended(0)
    assert err == "" and "ended     8 of 8 runs, 100.0 %\n" in out


def test_wait_for_a_process_that_holds_an_ended_dataset(ended, folder):
    """All runs have ended, and the process is still writing what follows from them."""
    shutil.copy(ended, folder)
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS, "-o", "other.nc") as holder:
        wait_until((folder / "other.nc.lease").exists, "there is a lease")
        shutil.copy(folder / "other.nc.lease", folder / "a.nc.lease")
        assert status(folder / "a.nc")["state"] == "running"
        with Background(folder, "status", "a.nc", "--wait", "--limit", "0") as wait:
            wait.wait_caught()
            time.sleep(2.5)
            assert wait.process.poll() is None
            holder.send(signal.SIGKILL)
            holder.ended(-signal.SIGKILL)
            wait.ended(0)


def test_wait_does_not_hurry(ended, tmp_path):
    environment = preload(tmp_path, """
#include <poll.h>
int poll(struct pollfd *file, nfds_t count, int pause)
{
    NEXT(int, poll, struct pollfd *, nfds_t, int);
    int log = open("pauses", O_WRONLY | O_CREAT | O_APPEND, 0666);
    dprintf(log, "%d\\n", pause);
    close(log);
    return next(file, count, pause);
}
""")
    with Background(tmp_path, "status", "a.nc", "--wait", "--limit", "600", env=environment) as wait:
        pauses = tmp_path / "pauses"
        wait_until(lambda: pauses.exists() and pauses.read_text().count("\n") > 2, "it has looked three times")
        shutil.copy(ended, tmp_path)
        assert "ended     8 of 8 runs" in wait.ended(0)[0]
    long = [900 < int(pause) <= 1000 for pause in pauses.read_text().split()]
    assert sum(long) >= 3 and sum(long) >= len(long) / 2


def test_wait_says_what_it_waited_for(folder):
    for path in ("none.nc", "none/none.nc"):
        done = run(NORMSWEEP, "status", path, "--wait", "--limit", "1", "--json", cwd=folder, status=124)
        assert done.stdout == ""
        assert done.stderr == f"{path}: there was no dataset for 1 s; --limit SECONDS waits longer\n"


def test_watch_waits_for_a_dataset(folder):
    assert run(NORMSWEEP, "status", "new.nc", "--watch", "--limit", "0", cwd=folder, status=2).stderr == (
        "new.nc: No such file or directory\n")
    with Background(folder, "status", "new.nc", "--watch") as watch:
        wait_until(lambda: watch.text["err"], "it says that it waits")
        run(NORMSWEEP, "run", "a.yaml", "-o", "new.nc", "-j", "0", cwd=folder)
        shown, said = watch.ended(0)
    assert said == "new.nc: not there yet; waiting for it\n" and shown.startswith("new.nc: waited ")


def test_wait_refuses_what_is_no_dataset(folder):
    for options in (["--wait"], ["--wait", "--json"], ["--json"], ["--json", "--watch"]):
        done = run(NORMSWEEP, "status", "a.yaml", *options, cwd=folder, status=2)
        assert done.stdout == "" and done.stderr == (
            "a.yaml: is not a normsweep dataset; if it is a sweep file, give the dataset that run writes\n")


@pytest.mark.parametrize("options, said", [
    (["--wait", "--watch"], "--watch and --wait exclude each other"),
    (["--limit", "3"], "--limit goes with --wait and --watch"),
    (["--wait", "--limit", "-3"], "--limit takes a number of seconds and not '-3'"),
    (["--wait", "--limit", "1.5"], "--limit takes a number of seconds and not '1.5'")])
def test_options_that_do_not_fit(ended, options, said):
    assert run(NORMSWEEP, "status", ended, *options, status=2).stderr == f"normsweep status: {said}\n"


def test_wait_bears_a_server_that_does_not_answer(ended, tmp_path):
    """EIO passes, up to the limit."""
    environment = preload(tmp_path, """
int stat(const char *path, struct stat *status)
{
    NEXT(int, stat, const char *, struct stat *);
    if (ends(path, ".nc") && access("gone", F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    return next(path, status);
}
int open(const char *path, int flags, ...)
{
    NEXT(int, open, const char *, int, int);
    if (ends(path, ".nc") && access("gone", F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    return next(path, flags, 0666);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
""")
    shutil.copy(ended, tmp_path)
    (tmp_path / "gone").touch()
    done = run(NORMSWEEP, "status", "a.nc", "--wait", "--limit", "0", cwd=tmp_path, env=environment, status=3)
    assert done.stdout == "" and done.stderr == "a.nc: Input/output error\n"
    with Background(tmp_path, "status", "a.nc", "--wait", "--limit", "600", env=environment) as wait:
        wait.wait_caught()
        time.sleep(2.5)
        assert wait.process.poll() is None
        (tmp_path / "gone").unlink()
        wait.ended(0)


# ---- exit statuses ----

def interrupted(folder):
    with Background(folder, "status", "none.nc", "--wait", "--limit", "600") as wait:
        wait.wait_caught()
        wait.send(signal.SIGINT)
        out, err = wait.ended(130)
        assert out == "" and err == "none.nc: no longer waited for; the sweep itself is not stopped by this\n"


def stopped(folder):
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS) as sweep:
        wait_until((folder / "a.nc").exists, "there is a dataset")
        sweep.send(signal.SIGTERM)
        sweep.ended(75)
    run(NORMSWEEP, "status", "a.nc", "--wait", "--limit", "0", cwd=folder, status=75)


def failed(folder):
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", cwd=folder)
    let_one_fail(folder / "a.nc")
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", cwd=folder, status=1)
    run(NORMSWEEP, "status", "a.nc", "--wait", cwd=folder, status=1)


TRIED = {0: lambda folder: run(NORMSWEEP, "check", "a.yaml", cwd=folder), 1: failed,
         2: lambda folder: run(NORMSWEEP, "check", "none.yaml", cwd=folder, status=2),
         3: lambda folder: run(NORMSWEEP, "run", "a.yaml", cwd=folder, env={**os.environ, "PATH": "/no"}, status=3),
         75: stopped, 124: lambda folder: run(NORMSWEEP, "status", "no.nc", "--wait", "--limit", "0", status=124),
         130: interrupted}


@pytest.mark.parametrize("number", TRIED)
def test_each_exit_status(folder, number):
    TRIED[number](folder)


def test_one_table_of_exit_statuses():
    rows = [(str(row["status"]), row["brief"]) for row in tables()["exit_statuses"]]
    assert [int(number) for number, _ in rows] == list(TRIED)
    brief = ", ".join(f"{number} {text}" for number, text in rows)
    assert f"\nexit status: {brief}\n" in run(NORMSWEEP, "help").stdout
    page = (PROJECT / "docs" / "normsweep.1").read_text()
    section = re.search(r"^\.Sh EXIT STATUS\n(.*?)^\.Sh ", page, re.M | re.S)[1]
    assert re.findall(r"^\.It (\d+)$", section, re.M) == [number for number, _ in rows]
    of_run, = [part["properties"]["exit_status"]["enum"] for part in schemas.schema("log")["oneOf"]
               if "exit_status" in part["properties"]]
    assert {str(number) for number in of_run} == {number for number, _ in rows} - {"124", "130"}
