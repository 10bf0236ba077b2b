"""Sweeps on MPICH: under its mpiexec and started plainly, stopped by signals, with killed ranks; and programs that the
mpiexec of another MPI starts."""

import os
import re
import signal
import time

import netCDF4
import pytest

import missing
import mpich
import same
from conftest import NORMSWEEP, run, sets, stand_in, train_sweep
from test_faults import SWEEP, outcomes
from watched import Watched

pytestmark = pytest.mark.thorough("builds the program with MPICH")

LONG = SWEEP.replace("steps: 2000", "steps: 8000\ncheckpoint_minutes: 0.002")
SHORT = sets("steps=20", "measure={every: 10}")
STARTS = pytest.mark.parametrize("start", ["mpiexec", "plainly"])


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    mpich.require()
    return mpich.build(tmp_path_factory.mktemp("mpich"))


@pytest.fixture(scope="module")
def whole(program, tmp_path_factory):
    """The undisturbed results of LONG, without MPI."""
    return same.read(train_sweep(tmp_path_factory.mktemp("whole"), LONG, program=program))


@pytest.fixture
def sweep(tmp_path):
    (tmp_path / "sweep.yaml").write_text(LONG)
    return "sweep.yaml"


def words(start, program):
    return [mpich.MPIEXEC, "-n", "3", program, "run"] if start == "mpiexec" else [program, "run", "-j", "2"]


def begun(command, folder):
    """Waits until a run of the sweep has a checkpoint."""
    command.wait_until(lambda: any((folder / "sweep.nc.d").glob("*.nc")), "a run is saved")


def is_whole(folder, whole):
    return same.differences(same.read(folder / "sweep.nc"), whole) == [] and not (folder / "sweep.nc.d").exists()


def test_the_version_names_the_library(program):
    assert "\nMPI       MPICH " in run(program, "--version").stdout


@STARTS
def test_a_sweep(program, sweep, whole, tmp_path, monkeypatch, start):
    """No line on stderr, the numbers of -j 0, and nothing left behind; MPICH has nothing against root."""
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.delenv(name, raising=False)
    done = run(*words(start, program), sweep, cwd=tmp_path, env=mpich.environment(tmp_path))
    assert done.stderr == "" and "sweep.nc: 2 workers of 1 thread" in done.stdout and "4 runs: " in done.stdout
    assert is_whole(tmp_path, whole)
    assert sorted(os.listdir(tmp_path)) == ["bin", "sweep.nc", "sweep.yaml"]


@pytest.mark.parametrize("start, number", [
    ("mpiexec", signal.SIGINT), ("mpiexec", signal.SIGTERM), ("mpiexec", signal.SIGUSR1), ("plainly", signal.SIGTERM)])
def test_a_signal_saves_all_runs(program, sweep, whole, tmp_path, start, number):
    """mpiexec hands each of them on to its ranks and waits for them; the same command continues. On a busy machine
    mpiexec itself now and then ends with 0, whatever its ranks returned (2 of 96, MPICH 4.0.2)."""
    environment = mpich.environment(tmp_path)
    with Watched([*words(start, program), sweep], environment, cwd=tmp_path) as command:
        begun(command, tmp_path)
        command.process.send_signal(number)
        assert command.ends() in ((75, 0) if start == "mpiexec" else (75,)), command.text
    assert "saved; run the same command again to continue" in command.text["out"]
    assert (outcomes(tmp_path / "sweep.nc") <= same.RUNNING).any()
    run(*words(start, program), sweep, cwd=tmp_path, env=environment)
    assert is_whole(tmp_path, whole)


@pytest.mark.parametrize("role", ["worker", "coordinator"])
def test_a_killed_rank_ends_all_ranks_of_mpiexec(program, sweep, whole, tmp_path, role):
    """mpiexec ends with the signal's number; the same command continues."""
    with Watched([*words("mpiexec", program), sweep], cwd=tmp_path) as command:
        begun(command, tmp_path)
        assert command.of(role)[0].kill(signal.SIGKILL)
        assert command.ends() != 0, command.text
    assert (outcomes(tmp_path / "sweep.nc") <= same.RUNNING).any()
    run(*words("mpiexec", program), sweep, cwd=tmp_path)
    assert is_whole(tmp_path, whole)


@pytest.mark.parametrize("role", ["worker", "mpirun"])
def test_a_killed_rank_is_started_again(program, sweep, whole, tmp_path, role):
    """Without a second command, and with one line that says so."""
    with Watched([*words("plainly", program), sweep], mpich.environment(tmp_path), cwd=tmp_path) as command:
        begun(command, tmp_path)
        assert command.of(role)[0].kill(signal.SIGKILL)
        assert command.ends() == 0, command.text
    assert command.text["err"] == "sweep.nc: a rank was lost, and with it all others; starting again\n"
    assert len(command.text["out"].splitlines()) == 3 and "" not in command.text["out"].splitlines()
    assert is_whole(tmp_path, whole)


def crash(command, folder, cell, crashed):
    """Crashes each worker that begins the run once those before it have ended, until the command has ended; adds it to
    those that were crashed."""
    end = time.monotonic() + 600
    while command.process.poll() is None:
        assert time.monotonic() < end, command.text
        for log in folder.glob("sweep.nc.d/worker-*.log"):
            try:
                begun = re.findall(r" pid (\d+) host \S+ begins run \S+ cell (\d+)\n", log.read_text())
            except FileNotFoundError:
                continue
            if begun and begun[-1] not in crashed and int(begun[-1][1]) == cell and \
                    (outcomes(folder / "sweep.nc")[:cell] >= same.DONE).all():
                crashed.add(begun[-1])
                try:
                    os.kill(int(begun[-1][0]), signal.SIGSEGV)
                except ProcessLookupError:
                    pass
        time.sleep(0.02)


@STARTS
def test_a_run_that_crashes_its_worker_each_time(program, tmp_path, start):
    """The coordinator dies with it, so the run does not fail: `run` gives up after four starts without progress."""
    endless = SWEEP.replace("steps: 2000", "steps: [100, 200, 300, 100000000]").replace("every: 100", "steps: [100]")
    (tmp_path / "sweep.yaml").write_text(re.sub("learning_rate: .*\nseed: .*\n", "", endless))
    crashed = set()
    for _ in range(4 if start == "mpiexec" else 1):
        with Watched([*words(start, program), "sweep.yaml"], mpich.environment(tmp_path), cwd=tmp_path) as command:
            crash(command, tmp_path, 3, crashed)
            assert command.ends() == (signal.SIGSEGV if start == "mpiexec" else 3), command.text
    assert len(crashed) >= 4 and outcomes(tmp_path / "sweep.nc").tolist()[:3] == [same.DONE] * 3
    assert outcomes(tmp_path / "sweep.nc")[3] <= same.RUNNING
    with netCDF4.Dataset(tmp_path / "sweep.nc") as dataset:
        assert not dataset["deaths"][:3].any() and dataset["deaths"][3] <= 2


def test_a_program_of_one_mpi_under_the_starter_of_another(program, sweep, tmp_path):
    """Each process would be alone and train the whole sweep."""
    if "Open MPI" not in run(NORMSWEEP, "--version").stdout:
        missing.skip("This build is not one with Open MPI", "that a program refuses the starter of another MPI",
                     "build with Open MPI and install MPICH beside it")
    cases = [(mpich.MPIEXEC, [], NORMSWEEP, "(PMI_RANK), but this program is built with Open MPI v", "pmix"),
             ("mpirun", ["--oversubscribe"], program, "(OMPI_COMM_WORLD_RANK), but this program is built with MPICH ",
              "pmi2")]
    for starter, options, built, words, plugin in cases:
        refused = run(starter, *options, "-n", "3", built, "run", sweep, cwd=tmp_path, status=3)
        assert refused.stderr.count("normsweep: 3 processes were started") == 1, refused.stderr
        assert words in refused.stderr
        assert f"start it with that library's mpiexec (srun --mpi={plugin})" in refused.stderr
        assert refused.stdout == "" and os.listdir(tmp_path) == ["sweep.yaml"]


def test_the_mpiexec_of_another_mpi_is_not_taken(program, sweep, tmp_path):
    """The program looks on for MPICH's under its other names; without one it says what to do."""
    environment = mpich.environment(tmp_path)
    for name in ("mpiexec", "mpirun"):
        stand_in(tmp_path, "echo 'mpirun (Open MPI) 4.1.4'", name)
    refused = run(program, "run", sweep, "-j", "2", cwd=tmp_path, status=3,
                  env={**environment, "PATH": str(tmp_path / "bin")})
    assert refused.stderr.startswith("mpiexec belongs to Open MPI, but this program is built with MPICH ")
    assert refused.stderr.count("\n") == 1 and "-j 0" in refused.stderr
    assert sorted(os.listdir(tmp_path)) == ["bin", "sweep.yaml"]


@pytest.mark.parametrize("variables", [
    {"PMI_RANK": "0", "PMI_SIZE": "4", "PMI_FD": "713"},  # in a container that mpiexec started: no such descriptor
    {"PMIX_RANK": "0", "SLURM_STEP_NUM_TASKS": "1"},  # in a shell that srun started
    {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"},
])
def test_variables_that_are_left_over(program, sweep, tmp_path, variables):
    """The sweep is started plainly, and its ranks are not misled."""
    environment = {**mpich.environment(tmp_path), **variables}
    done = run(program, "run", sweep, "-j", "2", *SHORT, cwd=tmp_path, env=environment)
    assert done.stderr == "" and "sweep.nc: 2 workers of 1 thread" in done.stdout and "4 runs: 4 done" in done.stdout


def test_a_number_of_workers_beside_that_of_mpiexec(program, sweep, tmp_path):
    """mpiexec decides; the line names the variable, which may be left over in a shell that mpiexec started."""
    command = [program, "run", sweep, *SHORT, "-j", "2"]
    done = run(mpich.MPIEXEC, "-n", "1", *command, cwd=tmp_path)
    assert done.stderr == "sweep.nc: -j 2 has no effect: 1 process was started before (PMI_RANK is set)\n"
    assert "sweep.nc: 1 worker of 1 thread" in done.stdout
    assert run(mpich.MPIEXEC, "-n", "3", *command, "--fresh", cwd=tmp_path).stderr == ""
