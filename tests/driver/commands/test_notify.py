"""run --notify: who is told of what, and that a script can do the sweep no harm."""

import os
import pathlib
import re
import signal

import pytest

import same
import schemas
from conftest import NORMSWEEP, run
from waited import ENDLESS, RUNS, SWEEP, Background, let_one_fail, wait_until

pytestmark = pytest.mark.thorough("starts dozens of sweeps")

WRITE = 'cat >>"told.json"'
NUMBERS = {"event", "exit_status", "message", "seconds"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.yaml").write_text(SWEEP)
    return tmp_path


def told(folder):
    """What the one call of the script got."""
    line, = (folder / "told.json").read_text().splitlines()
    (folder / "told.json").unlink()
    return schemas.read(line, "status")


@pytest.mark.parametrize("workers", ["0", "2"])
def test_end(folder, workers):
    run(NORMSWEEP, "run", "a.yaml", "-j", workers, "--notify", WRITE, cwd=folder)
    found = told(folder)
    assert (found["event"], found["exit_status"], found["message"]) == ("sweep_ended", 0, None)
    assert found["state"] == "complete" and found["ended"] == RUNS and found["path"] == str(folder / "a.nc")
    shown = schemas.read(run(NORMSWEEP, "status", "a.nc", "--json", cwd=folder).stdout, "status")
    assert found.keys() == shown.keys() | NUMBERS
    changing = {"time", "written_seconds", "session"}
    assert {key: found[key] for key in shown.keys() - changing} == {key: shown[key] for key in shown.keys() - changing}
    run(NORMSWEEP, "run", "a.yaml", "-j", workers, f"--notify={WRITE}", cwd=folder)  # nothing left to do
    assert told(folder)["event"] == "sweep_ended"
    let_one_fail(folder / "a.nc")
    run(NORMSWEEP, "run", "a.yaml", "-j", workers, "--notify", WRITE, cwd=folder, status=1)
    found = told(folder)
    assert (found["event"], found["exit_status"], found["state"]) == ("sweep_ended", 1, "failed")
    assert found["message"] is None and found["failures"][0]["reason"] == "no memory for 12 bytes"


@pytest.mark.parametrize("workers", ["0", "1"])
def test_stop(folder, workers):
    with Background(folder, "run", "a.yaml", "-j", workers, *ENDLESS, "--notify", WRITE) as sweep:
        wait_until((folder / "a.nc").exists, "there is a dataset")
        sweep.send(signal.SIGTERM)
        sweep.ended(75)
    found = told(folder)
    assert (found["event"], found["exit_status"], found["state"]) == ("sweep_stopped", 75, "stopped")


def test_a_foreign_mpirun_tells_once(folder):
    run("mpirun", "--oversubscribe", "-n", "3", NORMSWEEP, "run", "a.yaml", "--notify", WRITE, cwd=folder)
    assert told(folder)["exit_status"] == 0
    done = run("mpirun", "--oversubscribe", "-n", "3", NORMSWEEP, "run", "none.yaml", "--notify", WRITE, cwd=folder,
               status=2)
    assert told(folder)["message"] == "none.yaml: No such file or directory" and "none.yaml" in done.stderr


def refusals():
    """Options of run and its environment, with the exit status."""
    return {"no sweep file": (["none.yaml"], {}, 2), "bad sweep file": (["bad.yaml"], {}, 2),
            "bad log": (["a.yaml", "--log", "bad.yaml"], {}, 2), "no mpirun": (["a.yaml"], {"PATH": "/no"}, 3),
            "bad output": (["a.yaml", "-o", "bad.yaml", "-j", "0"], {}, 2),
            "no folder": (["a.yaml", "-o", "no/a.nc", "-j", "0"], {}, 2)}


@pytest.mark.parametrize("name", refusals())
def test_failure(folder, name):
    arguments, environment, number = refusals()[name]
    (folder / "bad.yaml").write_text("corpus: markow\n")
    done = run(NORMSWEEP, "run", *arguments, "--notify", "/bin/cat >>told.json", cwd=folder, status=number,
               env={**os.environ, **environment})
    found = told(folder)
    event = "sweep_failed" if name == "bad output" else "start_refused"  # it had the lease of the other file
    assert (found["event"], found["exit_status"]) == (event, number)
    assert found["message"] + "\n" == done.stderr and "state" not in found
    assert found["path"] is None or found["path"].startswith(str(folder))


def test_failure_of_the_ranks(folder):
    """The line comes from another process, and is told all the same."""
    with Background(folder, "run", "a.yaml", "-j", "1", *ENDLESS, "--notify", WRITE) as sweep:
        wait_until(lambda: "stage 2" in lease(folder), "the coordinator is ready")
        (folder / "a.nc.lease").unlink()
        err = sweep.ended(3)[1]
    found = told(folder)
    assert re.fullmatch(r"/.*a\.nc\.lease: No such file or directory", found["message"])
    assert found["message"] in err.splitlines()
    assert found["event"] == "sweep_failed" and found["ended"] == 0


def lease(folder):
    try:
        return (folder / "a.nc.lease").read_text()
    except FileNotFoundError:
        return ""


def test_wrong_usage_is_not_told(folder):
    run(NORMSWEEP, "run", "a.yaml", "--frsh", "--notify", WRITE, cwd=folder, status=2)
    run(NORMSWEEP, "run", "--notify", WRITE, cwd=folder, status=2)
    done = run(NORMSWEEP, "run", "a.yaml", "--notify", "", cwd=folder, status=2)
    assert done.stderr == "normsweep run: a value is missing after '--notify'\n"
    assert not (folder / "told.json").exists()


def test_a_second_interrupt_is_not_told(folder):
    with Background(folder, "run", "a.yaml", "-j", "1", *ENDLESS, "--notify", WRITE) as sweep:
        wait_until(lambda: "stage 1" in lease(folder), "ranks are starting")
        sweep.send(signal.SIGINT)
        wait_until(lambda: sweep.process.poll() is not None or interrupt(sweep), "it has ended")
        status = sweep.process.returncode
    assert (status == 130) != (folder / "told.json").exists()  # 75 if it was faster


def interrupt(sweep):
    sweep.send(signal.SIGINT)
    return False


@pytest.mark.parametrize("script, said", [
    ("exit 3", "ended with status 3"), ("kill -9 $$", "was ended by signal 9"), ("true", None), ("exec <&-", None),
    ("/no/such/program", "ended with status 127"), ("yes | head -n 1 >/dev/null", None),
    ("exec sh -c 'trap \"\" PIPE; exit 4'", "ended with status 4")])
def test_a_script_changes_nothing(folder, script, said):
    done = run(NORMSWEEP, "run", "a.yaml", "-j", "0", "--notify", script, cwd=folder)
    lines = [line for line in done.stderr.splitlines() if line.startswith("normsweep run: ")]
    shown = script if len(script) <= 40 else script[:40] + "..."
    assert lines == ([f"normsweep run: --notify '{shown}' {said}"] if said else [])
    if not said or said.endswith(("3", "9", "4")):
        assert done.stderr.count("\n") == len(lines)


def test_a_large_object_reaches_a_script_that_reads_late(folder):
    """More than a pipe holds: nobody waits for anybody."""
    title = "x" * 100000
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", "--set", f"title={title}", "--notify", f"sleep 0.3; {WRITE}", cwd=folder)
    assert told(folder)["title"] == title


def test_an_interrupt_ends_a_script_that_hangs(folder):
    script = "echo $$ >pid; sleep 1000 & wait"
    with Background(folder, "run", "a.yaml", "-j", "0", "--notify", script) as sweep:
        wait_until(lambda: (folder / "pid").exists() and (folder / "pid").read_text(), "the script runs")
        sweep.send(signal.SIGINT)
        err = sweep.ended(0)[1]
    assert err == f"normsweep run: --notify '{script}' was ended by a signal to this program\n"
    group = int((folder / "pid").read_text())
    wait_until(lambda: not members(group), "what the script has started is gone, too")


def test_a_stopped_sweep_needs_a_second_interrupt_for_it(folder):
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS, "--notify", "echo $$ >pid; sleep 1000") as sweep:
        wait_until((folder / "a.nc").exists, "there is a dataset")
        sweep.send(signal.SIGINT)
        wait_until(lambda: (folder / "pid").exists() and (folder / "pid").read_text(), "the script runs")
        wait_until(lambda: sweep.process.poll() is not None or interrupt(sweep), "it has ended")
        assert "was ended by a signal to this program" in sweep.ended(75)[1]


def members(group):
    """Processes of a process group."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(path)
    return found


def test_the_script_may_start_the_next_sweep(folder):
    """The lease is free by then."""
    script = f"'{NORMSWEEP}' run a.yaml -j 0 --set seed='[0, 1]' >>said"
    run(NORMSWEEP, "run", "a.yaml", "-j", "1", "--notify", script, cwd=folder)
    assert re.search(r"^a.nc: 16 runs: 16 done", (folder / "said").read_text(), re.M)


def test_the_script_gets_no_variables_of_mpirun(folder):
    """With them a job on several hosts, started by the script, would not connect its ranks."""
    run(NORMSWEEP, "run", "a.yaml", "-j", "1", "--notify", "env >variables", cwd=folder)
    lines = (folder / "variables").read_text().splitlines()
    names = {line.partition("=")[0] for line in lines} - set(os.environ)
    assert lines and {name for name in names if name.startswith(("OMPI_", "NORMSWEEP_"))} <= {"NORMSWEEP_BLAS"}


def test_ranks_do_not_get_the_script(folder):
    with Background(folder, "run", "a.yaml", "-j", "1", "--notify", "true a-secret", *ENDLESS) as sweep:
        wait_until(lambda: "stage 2" in lease(folder), "the coordinator is ready")
        lines = [line for line in map(command_line, pathlib.Path("/proc").glob("[0-9]*"))
                 if os.fsencode(NORMSWEEP) in line and os.fsencode("steps=100000000") in line]
        assert len(lines) >= 3 and sum(b"a-secret" in line for line in lines) == 1
        sweep.send(signal.SIGTERM)
        sweep.ended(75)


def command_line(process):
    try:
        return (process / "cmdline").read_bytes() if os.path.realpath(process / "exe") else b""
    except OSError:
        return b""


def test_options_leave_no_trace_in_the_dataset(folder):
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", cwd=folder)
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", "-o", "b.nc", "--notify", "true", "--log", "log", cwd=folder)
    for name in ("a.nc", "b.nc"):
        assert b"notify" not in (folder / name).read_bytes()
    assert not same.strays(same.read(folder / "b.nc"), same.read(folder / "a.nc"))
