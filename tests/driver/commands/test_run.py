"""`normsweep run` from end to end: with MPI and without, stopped, continued, refused, killed."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import missing
import numpy as np
import pytest
import xarray as xr

from conftest import NORMSWEEP, run, stand_in, tiny
from fault_sweeps import said
from preloaded import preload
from same import assert_equal
from waited import ENDLESS
from watched import Watched

thorough = pytest.mark.thorough("starts and stops whole sweeps")

SWEEP = tiny(vocabulary=32, width=16, context=16) + """\
steps: 30
learning_rate: {log: [1e-1, 1e-3], points: 3}
weight_decay: [0, 3]
seed: [1, 2]
measure: {every: 10}
"""
RUNS = 12
# Four runs that take at least a second together, for tests that need time.
LONG = ["--set", "steps=4000", "--set", "measure={every: 1000}", "--set", "learning_rate=0.1"]


def outcomes(path):
    try:
        with xr.open_dataset(path) as dataset:
            return dataset.outcome.values.ravel()
    except OSError:  # not there yet
        return np.array([])


def start(sweep, *arguments):
    return Watched([NORMSWEEP, "run", sweep, *arguments], cwd=sweep.parent)


def test_numbers_do_not_depend_on_ranks(normsweep, sweep, tmp_path):
    for jobs in ["0", "1", "3"]:
        done = normsweep("run", sweep, "-j", jobs, "-o", f"j{jobs}.nc")
        assert f"j{jobs}.nc: {RUNS} runs: " in done.stdout
        assert f"\nto see the results: {NORMSWEEP} show j{jobs}.nc" in done.stdout
        assert done.stderr == ""
    assert_equal(tmp_path / "j0.nc", tmp_path / "j1.nc")
    assert_equal(tmp_path / "j0.nc", tmp_path / "j3.nc")
    assert not list(tmp_path.glob("*.lease*"))
    with xr.open_dataset(tmp_path / "j3.nc") as dataset:
        assert set(np.unique(dataset.outcome)) <= {2, 3}
        assert (dataset.attempts == 1).all()
        assert dataset["session_blas_kernel"].values[0]


@thorough
def test_numbers_of_a_team_repeat(normsweep, sweep, tmp_path):
    for name, jobs, threads in [("one", "0", 1), ("two", "0", 2), ("again", "0", 2), ("rank", "1", 2)]:
        normsweep("run", sweep, "-j", jobs, "-o", f"{name}.nc", "--set", f"threads={threads}",
                  "--set", "learning_rate=[1e-3, 1e-2]", "--set", "seed=1", "--set", "steps=10", "--set",
                  "measure={every: 2}", "--set", "width=64", "--set", "feedforward=256", "--set", "batch=16")
    assert_equal(tmp_path / "two.nc", tmp_path / "again.nc")
    assert_equal(tmp_path / "two.nc", tmp_path / "rank.nc")
    with xr.open_dataset(tmp_path / "one.nc") as one, xr.open_dataset(tmp_path / "two.nc") as two:
        assert (two.outcome == 2).all()
        for name in ["train_loss", "param_norm", "norm_growth"]:
            np.testing.assert_allclose(two[name], one[name], rtol=1e-4, err_msg=name)


@thorough
def test_says_what_it_trains_with(normsweep, sweep):
    one = {min(os.sched_getaffinity(0))}
    more = ": 2 THREADS SHARE 1 PROCESSOR, all that it may use; "
    for jobs, threads, text in [("0", "1", "1 worker of 1 thread; "), ("2", "1", "2 workers of 1 thread" + more),
                                ("0", "2", "1 worker of 2 threads" + more),
                                ("0", "[2, 1]", "1 worker of 1 to 2 threads" + more)]:
        done = normsweep("run", sweep, "-j", jobs, "--fresh", "--set", f"threads={threads}", "--set", "steps=2",
                         preexec_fn=lambda: os.sched_setaffinity(0, one))
        first = done.stdout.splitlines()[0]
        assert first.startswith("sweep.nc: " + text) and "kernel" in first and ", vector level " in first


@thorough
def test_says_which_vector_level_it_takes(normsweep, sweep):
    for asked, text in [("baseline", "vector level baseline"), ("", r"vector level \w+"),
                        ("sse", r"vector level (\w+) \(NORMSWEEP_VECTOR=sse is ignored; available: baseline.*\)")]:
        done = normsweep("run", sweep, "-j", "0", "--fresh", "--set", "steps=2",
                         env={**os.environ, "NORMSWEEP_VECTOR": asked})
        assert re.search(f", {text}$", done.stdout.splitlines()[0])


@thorough
def test_workers_fit_the_processors_with_their_threads(normsweep, sweep):
    cores = len(os.sched_getaffinity(0))
    done = normsweep("run", sweep, "--set", f"threads={cores}", "--set", "seed=1", "--set", "steps=2")
    assert done.stdout.startswith(f"sweep.nc: 1 worker of {cores} thread")


def test_finished_sweep_is_left_alone(normsweep, sweep, tmp_path):
    normsweep("run", sweep, "-j", "0")
    before = (tmp_path / "sweep.nc").read_bytes()
    done = normsweep("run", sweep, env={**os.environ, "PATH": "/nowhere"})  # no mpirun is needed
    assert "nothing left to do" in done.stdout
    assert (tmp_path / "sweep.nc").read_bytes() == before


def test_extended_sweep_keeps_what_has_ended(normsweep, sweep, tmp_path):
    normsweep("run", sweep, "-j", "0", "--set", "seed=[2]")
    normsweep("run", sweep, "-j", "2")
    with xr.open_dataset(tmp_path / "sweep.nc") as dataset:
        assert (dataset.attempts == 1).all() and (dataset.sel(seed=2).session == 0).all()
    normsweep("run", sweep, "-j", "0", "-o", "whole.nc")
    assert_equal(tmp_path / "sweep.nc", tmp_path / "whole.nc")


def test_fresh_begins_anew(normsweep, sweep, tmp_path):
    normsweep("run", sweep, "-j", "1")
    normsweep("run", sweep, "-j", "1", "--fresh")
    assert (tmp_path / "sweep.nc.old").exists()
    assert_equal(tmp_path / "sweep.nc", tmp_path / "sweep.nc.old")


@pytest.mark.parametrize("jobs, number", [
    ("0", signal.SIGINT), ("2", signal.SIGINT), pytest.param("2", signal.SIGTERM, marks=thorough)])
def test_carried_on(normsweep, sweep, tmp_path, jobs, number):
    status, steps = 0, 4000
    while status == 0:  # twice as long wherever the sweep has ended before it could be stopped
        arguments = [*LONG, "--set", f"steps={steps}"]
        (tmp_path / "sweep.nc").unlink(missing_ok=True)
        with start(sweep, "-j", jobs, *arguments) as command:
            command.wait(60, lambda: (outcomes(tmp_path / "sweep.nc") >= 2).any())
            command.process.send_signal(number)
            status, steps = command.ends(), 2 * steps
        assert steps < 10 ** 6, "it cannot be stopped"
    assert status == 75 and "run the same command again to continue" in command.text["out"]
    assert said(command.text["err"]) == [] and not list(tmp_path.glob("*.lease*"))
    left = outcomes(tmp_path / "sweep.nc")
    assert (left == 0).any() and (left >= 2).any() and not (left == 1).any()
    normsweep("run", sweep, "-j", "2", *arguments)
    normsweep("run", sweep, "-j", "0", *arguments, "-o", "whole.nc")
    assert_equal(tmp_path / "sweep.nc", tmp_path / "whole.nc")


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_a_budget_ends_it_like_a_signal(normsweep, sweep, tmp_path, jobs):
    arguments = [*LONG, "--set", "steps=100000000", "-j", jobs]
    saved = "1 run under way is saved" if jobs == "0" else "2 runs under way are saved"
    out, seconds = "", 2
    while saved not in out:  # twice as long wherever time is up before the runs have begun
        out = normsweep("run", sweep, *arguments, "--budget", f"{seconds}s", status=75).stdout
        assert "stopped: 0 of 4 runs" in out and seconds < 100
        seconds *= 2


def test_a_budget_is_a_time(normsweep, sweep):
    for wrong in ["soon", "2x", "0", "-1h"]:
        said = normsweep("run", sweep, "--budget", wrong, status=2).stderr
        assert said == f"normsweep run: --budget takes a time such as 90m or 1h30m and not '{wrong}'\n"


def test_coarse_grids_come_first(normsweep, sweep, tmp_path):
    """By seed, then by the largest of the reversed indices of the axes that are numbers."""
    def turn(cell):
        rate, decay, seed, _ = np.unravel_index(cell, (5, 3, 2, 2))
        return seed, max(int(f"{rate:03b}"[::-1], 2), int(f"{decay:02b}"[::-1], 2)), cell

    normsweep("run", sweep, "-j", "0", "--log", "log", "--set", "steps=1", "--set", "weight_decay=[0, 1, 2]", "--set",
              "learning_rate={log: [1e-1, 1e-3], points: 5}", "--set", "zero_query_key=[false, true]")
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    order = [line["cell"] for line in lines if line["event"] == "run_started"]
    assert order == sorted(range(60), key=turn)


@thorough
def test_early_signal_waits_for_the_ranks(sweep, tmp_path):
    with start(sweep, "-j", "2", *ENDLESS) as command:
        command.wait_until((tmp_path / "sweep.nc.lease").exists, "the lease is taken")
        command.process.send_signal(signal.SIGINT)
        assert command.ends() == 75
    assert said(command.text["err"]) == [] and "stopped" in command.text["out"]


@thorough
def test_lost_lease_is_told_once(sweep, tmp_path):
    with start(sweep, "-j", "1", *ENDLESS) as command:
        command.wait_until(lambda: 1 in outcomes(tmp_path / "sweep.nc"), "a run trains")
        (tmp_path / "sweep.nc.lease").unlink()
        assert command.ends() == 3
    line, = said(command.text["err"])
    assert "sweep.nc.lease: No such file or directory" in line


@thorough
@pytest.mark.parametrize("closed", ["0", "1", "2"])
def test_closed_streams(normsweep, sweep, tmp_path, closed):
    run("sh", "-c", f'exec "$0" run "$1" -j 0 {closed}>&-', NORMSWEEP, sweep, cwd=tmp_path)
    normsweep("run", sweep, "-j", "0", "-o", "whole.nc")
    assert_equal(tmp_path / "sweep.nc", tmp_path / "whole.nc")


@thorough
def test_many_arguments(normsweep, sweep):
    normsweep("run", sweep, "-j", "1", *(["--set", "learning_rate=0.1"] * 40))


@thorough
def test_readable_while_it_runs(sweep, tmp_path):
    def rows():
        with xr.open_dataset(tmp_path / "sweep.nc") as dataset:
            return int(np.isfinite(dataset.param_norm.values).sum())

    with start(sweep, "-j", "2", "--set", "steps=100000", "--set", "measure={every: 100}") as command:
        command.wait_until((tmp_path / "sweep.nc").exists, "there is a dataset")
        command.wait_until(lambda: rows() > 10, "rows are to be seen", seconds=30)
        command.process.send_signal(signal.SIGINT)
        assert command.ends() == 75


@thorough
@pytest.mark.skipif(os.geteuid() != 0, reason=missing.sentence(
    "The tests do not run as root", "the message on the two variables that Open MPI wants from root alone",
    "run make check as root, for example in a container"))
def test_root_without_the_variables(normsweep, sweep, tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_")}
    refused = normsweep("run", sweep, status=3, env=environment)
    assert refused.stderr.count("\n") == 1
    assert "OMPI_ALLOW_RUN_AS_ROOT=1" in refused.stderr and "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1" in refused.stderr
    assert os.listdir(tmp_path) == ["sweep.yaml"]


def test_without_mpirun(normsweep, sweep, tmp_path):
    refused = normsweep("run", sweep, status=3, env={**os.environ, "PATH": "/nowhere"})
    assert refused.stderr == "mpirun: not found; -j 0 trains without MPI\n"
    pathless = {name: value for name, value in os.environ.items() if name != "PATH"}
    refused = normsweep("run", sweep, status=3, env=pathless)
    assert refused.stderr == "mpirun: PATH is not set in the environment; set it, or train without MPI (-j 0)\n"
    assert os.listdir(tmp_path) == ["sweep.yaml"]


@pytest.mark.parametrize("place", ["lib", "lib64", "elsewhere"])
def test_the_mpirun_of_an_environment_that_is_not_activated(sweep, tmp_path, place):
    """The one beside the program, if that is the environment of the MPI library, too."""
    (tmp_path / "bin").mkdir(), (tmp_path / place).mkdir()
    program = shutil.copy(NORMSWEEP, tmp_path / "bin")
    libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    path, = re.findall(r"(libmpi\S*) => (\S+)", libraries)
    shutil.copy(path[1], tmp_path / place / path[0])
    text = "[ $1 = --version ] && exec mpirun --version\nexit 3"
    (tmp_path / "bin" / "mpirun").write_text(f"#!/bin/sh\nPATH=${{PATH#*:}}\necho own >>{tmp_path}/called\n{text}\n")
    (tmp_path / "bin" / "mpirun").chmod(0o755)
    done = run(program, "run", sweep, "--dry-run", cwd=tmp_path,
               env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path / place)})
    assert done.stderr == "" and (tmp_path / "called").exists() == place.startswith("lib")


@thorough
def test_mpirun_that_never_starts(normsweep, sweep, tmp_path):
    """What it says of itself is shown once, when it is given up. Lines of MPI in its ranks are not what they die of."""
    dashes, line = "-" * 60, "[host:00001] *** End of error message ***"
    path = stand_in(tmp_path, "\n".join([f'[ "$1" != --version ] || exec {shutil.which("mpirun")} "$@"',
                                         f"printf '\\000%s\n' {dashes} 'No room here.' {dashes} '{line}' >&2",
                                         "kill -9 $$"]))
    told = normsweep("run", sweep, status=3, env={**os.environ, **path}).stderr.splitlines()
    ended = "sweep.nc: mpirun ended before the sweep began"
    assert told == [line, f"{ended}; starting again"] * 3 + [line, dashes, "No room here.", dashes, (
        f"{ended}, 4 times in a row without progress; all results are kept, run the same command again to continue")]


@thorough
def test_no_folder_for_the_files_of_mpirun(normsweep, sweep, tmp_path):
    """Open MPI would say so on two pages, or make a folder that is not there, anywhere that root may."""
    environment = {**os.environ, "TMPDIR": str(sweep)}
    for folder, why in ((sweep, "Not a directory"), (tmp_path / "none" / "at all", "No such file or directory")):
        environment["TMPDIR"] = str(folder)
        for options in ([], ["--dry-run"]):
            refused = normsweep("run", sweep, "-j", "2", *options, status=3, env=environment)
            assert refused.stderr == (f"mpirun cannot write its files into {folder} ($TMPDIR): {why}; set TMPDIR to "
                                      "another folder, or train without MPI (-j 0)\n")
            assert os.listdir(tmp_path) == ["sweep.yaml"]
    normsweep("run", sweep, "-j", "0", "--set", "seed=1", env=environment)


# What a disk says of itself: what variables of the environment say, in KiB and files.
DISK = """
#include <sys/statvfs.h>
int statvfs(const char *path, struct statvfs *disk)
{
    *disk = (struct statvfs){.f_frsize = 1024, .f_blocks = 1 << 20, .f_files = atoi(getenv("FILES"))};
    disk->f_bfree = disk->f_bavail = atoi(getenv("KIB"));
    disk->f_ffree = disk->f_favail = atoi(getenv("FREE_FILES"));
    return 0;
}
"""


def test_no_room_for_the_files_of_mpirun(normsweep, sweep, tmp_path):
    """Four ranks need 9232 KiB and 24 files; a disk that does not count files has 0 of 0."""
    environment = {**preload(tmp_path, DISK), "TMPDIR": str(tmp_path)}
    for kib, files, free, why in [(9231, 100, 24, "9231 KiB are free, 9232 KiB are needed"),
                                  (9232, 100, 23, "there is room for 23 more files, 24 are needed"),
                                  (9232, 100, 24, None), (9232, 0, 0, None)]:
        environment |= {"KIB": str(kib), "FILES": str(files), "FREE_FILES": str(free)}
        told = normsweep("run", sweep, "-j", "2", "--dry-run", status=3 if why else 0, env=environment).stderr
        assert told == (f"mpirun cannot write its files into {tmp_path} ($TMPDIR): {why}; set TMPDIR to another "
                        "folder, or train without MPI (-j 0)\n" if why else "")


# A clock that runs ten times as fast: a wait of 15 s passes in one and a half.
FAST_CLOCK = """
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time)
{
    NEXT(int, clock_gettime, clockid_t, struct timespec *);
    int status = next(clock, time);
    long long now = 10 * (time->tv_sec * 1000000000LL + time->tv_nsec);
    if (clock == CLOCK_MONOTONIC)
        *time = (struct timespec){now / 1000000000, now % 1000000000};
    return status;
}
"""


@thorough
def test_a_start_that_takes_long_says_what_it_waits_for(sweep, tmp_path):
    """An mpirun that starts no rank for a while. It must not wait for an X server either."""
    environment = preload(tmp_path, FAST_CLOCK) | stand_in(
        tmp_path, "[ $1 = --version ] && exit\necho $HWLOC_COMPONENTS >components\n"
        "until grep -q 'was started' told; do sleep 0.1; done\nexit 1")
    with open(tmp_path / "told", "w", encoding="utf-8") as file:
        done = subprocess.run([NORMSWEEP, "run", sweep, "-j", "2", "-o", "a\x1b.nc"], stdin=subprocess.DEVNULL,
                              stderr=file, cwd=tmp_path, env=environment, timeout=600)
    assert done.returncode == 3
    told = (tmp_path / "told").read_text()
    assert re.fullmatch(r"a\\x1b.nc: mpirun was started (1[5-9]|[2-9]\d) s ago, and MPI_Init has not returned yet; "
                        "ranks on this machine: 0 of 3\n"
                        "mpirun: ended before the sweep could begin\n", told), told
    assert (tmp_path / "components").read_text() == "-gl,-opencl\n"


def test_spares_that_have_no_effect(normsweep, sweep, tmp_path):
    """One line says why. On an Open MPI of any release they have one, in an allocation, too."""
    line = "sweep.nc: --spares 3 has no effect: "
    assert normsweep("run", sweep, "-j", "0", "--spares", "3").stderr == f"{line}-j 0 starts no ranks\n"
    assert normsweep("run", sweep, "-j", "0", "--spares", "0", "--fresh").stderr == ""
    environment = {**os.environ, **stand_in(tmp_path, "echo 'mpirun (Open MPI) 5.0.3'")}
    command = "run", sweep, "-j", "2", "--spares", "3", "--dry-run", "--fresh"
    done = normsweep(*command, env=environment)
    assert "a coordinator and 3 spares" in done.stdout and done.stderr == ""
    done = normsweep(*command, env=environment | {"PE_HOSTFILE": "hosts"})
    assert "a coordinator and 3 spares" in done.stdout and done.stderr == ""


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_refused_before_anything_starts(normsweep, sweep, tmp_path, jobs):
    (tmp_path / "text.nc").write_text("no dataset\n")
    for arguments, line in [
            (["--set", "steps=0"], "steps"),
            (["-o", "no/dir/a.nc"], "no/dir/a.nc: the folder no/dir cannot be written: No such file or directory"),
            (["-o", "text.nc/a.nc"], "text.nc/a.nc: the folder text.nc cannot be written: Not a directory"),
            (["-o", "text.nc"], "text.nc: "),
    ]:
        refused = normsweep("run", sweep, "-j", jobs, *arguments, status=2)
        assert line in refused.stderr and refused.stderr.count("\n") == 1 and refused.stdout == ""
    normsweep("run", sweep, "-j", "0", "--set", "seed=1")
    refused = normsweep("run", sweep, "-j", jobs, "--set", "seed=1", "--set", "momentum=0.5", status=2)
    assert "momentum" in refused.stderr and refused.stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["sweep.nc", "sweep.yaml", "text.nc"]


@thorough
def test_joins_a_foreign_mpirun(normsweep, sweep, tmp_path):
    done = run("mpirun", "--oversubscribe", "-n", "3", NORMSWEEP, "run", sweep, cwd=tmp_path)
    assert f"{RUNS} runs: " in done.stdout
    run("mpirun", "-n", "1", NORMSWEEP, "run", sweep, "-o", "alone.nc", cwd=tmp_path)
    assert_equal(tmp_path / "sweep.nc", tmp_path / "alone.nc")
    before = (tmp_path / "sweep.nc").read_bytes()
    done = run("mpirun", "--oversubscribe", "-n", "3", NORMSWEEP, "run", sweep, "-j", "0", cwd=tmp_path)
    assert "nothing left to do" in done.stdout
    assert (tmp_path / "sweep.nc").read_bytes() == before
    refused = run("mpirun", "--oversubscribe", "-n", "3", NORMSWEEP, "run", sweep, "-j", "x", cwd=tmp_path, status=2)
    assert refused.stderr.count("-j") == 1


@thorough
def test_tasks_of_srun_without_mpi(normsweep, sweep, tmp_path):
    """Each of them would start mpirun on the whole allocation. Open MPI would say so on a page for each."""
    for rank, status in ((0, 3), (1, 0)):
        environment = {**os.environ, "SLURM_PROCID": str(rank), "SLURM_STEP_NUM_TASKS": "3"}
        done = normsweep("run", sweep, status=status, env=environment)
        assert done.stdout == "" and done.stderr.count("\n") == (rank == 0)
        assert rank or done.stderr.startswith("normsweep: 3 processes were started (SLURM_PROCID), but ")
    assert os.listdir(tmp_path) == ["sweep.yaml"]
    batch = {**os.environ, "SLURM_PROCID": "0"}  # as in a batch script, which is not a task of srun
    assert normsweep("run", sweep, "-j", "1", env=batch).stderr == ""


def test_final_weights(normsweep, sweep, tmp_path):
    normsweep("run", sweep, "-j", "2", "--set", "save_weights=true", "--set", "seed=1")
    saved = sorted((tmp_path / "sweep.nc.d").glob("*.weights.nc"))
    with xr.open_dataset(tmp_path / "sweep.nc") as dataset:
        norms = np.sort(dataset.output_norm.isel(step=-1).values.ravel())
    measured = []
    for path in saved:
        with xr.open_dataset(path) as weights:
            measured.append(np.sqrt(sum(float((weights[name].astype(float) ** 2).sum())
                                        for name in ["output", "output_bias"])))
    assert len(saved) == RUNS // 2
    np.testing.assert_allclose(np.sort(measured), norms, rtol=1e-6)


@thorough
def test_own_choice_of_blas_kernel_is_respected(normsweep, sweep, tmp_path):
    def kernel(name, **variables):
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("OPENBLAS_CORETYPE", "NORMSWEEP_BLAS")}
        normsweep("run", sweep, "-j", "0", "-o", name, "--set", "learning_rate=0.1", env={**environment, **variables})
        with xr.open_dataset(tmp_path / name) as dataset:
            return str(dataset.session_blas.values[0]), str(dataset.session_blas_kernel.values[0])
    blas, best = kernel("best.nc")
    if "DYNAMIC_ARCH" not in blas:
        missing.skip("The BLAS library has one kernel, or is not OpenBLAS", "that OPENBLAS_CORETYPE chooses its kernel",
                     "build with an OpenBLAS that has DYNAMIC_ARCH, as Debian's")
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    if "avx2" not in flags:
        missing.skip("This processor has no AVX2", "that OPENBLAS_CORETYPE chooses the kernel of OpenBLAS",
                     "run make check on a processor that has it")
    assert kernel("own.nc", OPENBLAS_CORETYPE="Haswell")[1] == "Haswell"
    if "avx512bw" in flags and "avx512vl" in flags:
        assert best not in ("Haswell", "Zen")
