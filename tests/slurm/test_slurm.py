"""slurm/submit and slurm/normsweep.sbatch with a fake Slurm that only records its calls.

Sweeps on a real one are in check_slurm.py.
"""

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import NORMSWEEP, PROJECT
from slurm_cluster import die_with_parent

SUBMIT = PROJECT / "slurm" / "submit"
BATCH = PROJECT / "slurm" / "normsweep.sbatch"
SWEEP = """\
corpus: markov
steps: 10
learning_rate: [0.1, 0.01, 0.001]
seed: [0, 1]
skip: [{seed: 1, learning_rate: 0.1}]
"""
# 5 runs, of 10 hours on one worker.
PLAN = {"cells": 6, "runs": 5, "workers": 3, "seconds": "14399.5", "core_seconds": "35999.5",
        "longest_seconds": "7199.5", "checkpoint_seconds": "300.000", "output": "sweep.nc"}
PARTITION = ("PartitionName={name} Default={default} DefaultTime={usual} MaxNodes=UNLIMITED MaxTime={most} "
             "TotalCPUs=64 TotalNodes=4")


MPI_TYPES = ("MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix\n"
             "specific pmix plugin versions available: pmix_v4")


class Slurm:
    """Slurm commands that record each call as a line in `calls`, and give prepared answers."""

    def __init__(self, folder):
        self.folder, self.bin = folder, folder / "bin"
        self.bin.mkdir()
        self.calls = folder / "calls"
        self.calls.touch()
        lines = [PARTITION.format(name="all", default="YES", usual="NONE", most="UNLIMITED"),
                 PARTITION.format(name="short", default="NO", usual="01:00:00", most="1-00:00:00")]
        listed = "\n".join(lines)
        self.command("scontrol", '[[ $2 == hostnames ]] && exec echo n1\n'
                                 f'cat <<END | {{ [ -z "$4" ] && cat || grep "Name=$4 "; }}\n{listed}\nEND')
        self.command("sinfo", "echo 2 8; echo 1 8")
        self.command("sbatch", 'grep -c ^sbatch "$CALLS"')
        self.command("squeue", "")
        self.command("scancel", "")
        self.command("srun", f'[[ $1 != --mpi=list ]] || exec echo "{MPI_TYPES}"\n'
                             'while [[ $1 == --* ]]; do shift; done; exec "$@"')
        self.command("sleep", "")
        self.environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "CALLS": str(self.calls),
                            "NORMSWEEP": str(NORMSWEEP), "SLURM_JOB_ID": "5", "SLURM_NTASKS": "4"}

    def command(self, name, body):
        path = self.bin / name
        path.write_text(f'#!/bin/bash\necho "{name}$(printf " [%s]" "$@")" >>"$CALLS"\n{body}\n')
        path.chmod(0o755)
        return path

    def called(self, name):
        lines = [line.split(" [") for line in self.calls.read_text().splitlines()]
        return [[word[:-1] for word in line[1:]] for line in lines if line[0] == name]

    @contextlib.contextmanager
    def running(self, *command, **variables):
        """A process. It and all that it has started end with the block; if pytest is killed, it gets SIGTERM."""
        with subprocess.Popen([str(each) for each in command], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**self.environment, **variables},
                              start_new_session=True, preexec_fn=die_with_parent) as process:
            try:
                yield process
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def run(self, *command, status=0, **variables):
        with self.running(*command, **variables) as process:
            out, err = process.communicate(timeout=600)
        assert process.returncode == status, f"{process.returncode}\n{out}{err}"
        return out, err

    def submit(self, *options, status=0, **variables):
        return self.run(SUBMIT, "sweep.yaml", "--calibrated", "plan", *options, status=status, **variables)

    def batch(self, status, **variables):
        return self.run(BATCH, "sweep.yaml", "-o", "a b.nc", status=status, **variables)[0].splitlines()


slow = pytest.mark.thorough("starts dozens of commands")


@pytest.fixture
def slurm(tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    plan(tmp_path)
    return Slurm(tmp_path)


def plan(folder, **values):
    (folder / "plan").write_text("".join(f"{key}={value}\n" for key, value in {**PLAN, **values}.items()))


# ---- submit ----

def name_of(dataset):
    digest = hashlib.sha256(os.path.realpath(dataset).encode() + b"\n").hexdigest()[:8]
    return re.sub(rb"[^A-Za-z0-9._-]", b"_", dataset.name.encode()).decode() + f"-{digest}"


def common(slurm, *options):
    return ["--parsable", f"--job-name={name_of(slurm.folder / 'sweep.nc')}", "--dependency=singleton", *options,
            "--partition=all", "--ntasks-per-node=4", "--nodes=1", "--time=1:02:00", "--signal=B:USR1@120"]


def test_chain_is_as_long_as_the_plan_and_a_quarter(slurm):
    out, _ = slurm.submit("--ntasks-per-node=4", "--time=1:02:00")
    assert out == ("sweep.nc: 5 runs, 0 have ended; 4:00:01 expected on 3 workers, 1 x 4 tasks; plan in plan\n"
                   "partition all, time 1:02:00, a chain of 6 at most, each of which submits the next: 1\n")
    assert slurm.called("sbatch") == [[*common(slurm, "--threads-per-core=1"), str(BATCH), "sweep.yaml"]]


@slow
def test_all_jobs_at_once(slurm):
    slurm.command("sbatch", 'echo "$NORMSWEEP_LEFT" >>left; grep -c ^sbatch "$CALLS"')
    out, _ = slurm.submit("--ntasks-per-node=4", "--time=1:02:00", "--at-once", "--begin=20:00", "-d", "afterok:9")
    assert out.endswith(", a chain of 6: 1 2 3 4 5 6\n")
    options = common(slurm, "--threads-per-core=1")
    script = [str(BATCH), "sweep.yaml"]
    first = [*options, "--begin=20:00", "--dependency", "afterok:9", *script]
    assert slurm.called("sbatch") == [first] + [[*options, *script]] * 5
    assert (slurm.folder / "left").read_text() == "0\n" * 6


def test_each_job_submits_the_next(slurm):
    """The first one is delayed as its options say; a requeued job whose successor waits submits none."""
    slurm.command("sbatch", 'echo "$NORMSWEEP_LEFT" >left; printf "%s" "$NORMSWEEP_NEXT" >next; echo 6')
    odd = "it's $HOME \u00e9\t`x`"
    slurm.submit("--chain=3", "--set", "seed=[0, 1]", "--log", odd, "--hold", "--begin=20:00", LC_ALL="C")
    left, following = (slurm.folder / "left").read_text().strip(), (slurm.folder / "next").read_text()
    assert left == "2" and "--hold" not in following
    job = {"NORMSWEEP": program(slurm, "exit 75"), "NORMSWEEP_NEXT": following, "SLURM_JOB_NAME": "name"}
    lines = slurm.batch(75, NORMSWEEP_LEFT="2", SLURM_RESTART_COUNT="1", **job)
    assert lines[0].endswith(" job 5: job 6 goes on when this one ends; 1 more may follow")
    first, second = slurm.called("sbatch")
    assert second == [word for word in first if word not in ("--hold", "--begin=20:00")]
    assert second[-5:] == ["sweep.yaml", "--set", "seed=[0, 1]", "--log", odd]
    assert (slurm.folder / "left").read_text() == "1\n" and (slurm.folder / "next").read_text() == following
    slurm.batch(75, NORMSWEEP_LEFT="0", **job)
    slurm.command("squeue", "echo 6")
    slurm.batch(75, NORMSWEEP_LEFT="2", **job)
    assert len(slurm.called("sbatch")) == 2
    assert slurm.called("squeue")[-1] == ["--noheader", f"--user={os.getuid()}", "--name=name", "--states=PENDING",
                                          "--format=%i"]


@slow
def test_a_node_that_may_not_submit(slurm):
    """The job trains; if the job that plans has found it out, the chain is refused, or submitted at once."""
    slurm.command("sbatch", "echo 'Access/permission denied' >&2; exit 1")
    lines = slurm.batch(75, NORMSWEEP_LEFT="2", NORMSWEEP_NEXT="x", NORMSWEEP=program(slurm, "exit 75"))
    assert "submit again when this one has ended, with --at-once if" in lines[0] and "status 75" in lines[-1]
    plan(slurm.folder, next="no")
    slurm.command("sbatch", "echo 1")
    _, err = slurm.submit("--chain=3", status=2)
    assert err == "submit: plan: the plan says that jobs cannot submit the next ones: give --at-once\n"
    slurm.submit("--chain=3", "--at-once")
    slurm.submit("--chain=1", "--plan-time=none")


@slow
def test_jobs_are_named_after_the_dataset(slurm):
    """By its path, through symbolic links."""
    def name_with(*options, folder=""):
        slurm.run("bash", "-c", f'cd "./{folder}" && exec "$@"', "bash", SUBMIT, slurm.folder / "sweep.yaml",
                  "--calibrated", slurm.folder / "plan", *options)
        return next(word for word in slurm.called("sbatch")[-1] if word.startswith("--job-name="))[11:]

    (slurm.folder / "a").mkdir()
    (slurm.folder / "b").symlink_to("a")
    assert name_with() == name_of(slurm.folder / "sweep.nc") == name_with("--dataset", slurm.folder / "sweep.nc")
    assert name_with(folder="a") == name_of(slurm.folder / "a" / "sweep.nc") == name_with(folder="b")
    odd = "a,b \u00e9.nc"
    assert name_with("--dataset", odd) == name_of(slurm.folder / odd)
    assert name_with("--dataset", odd).startswith("a_b___.nc-")


def test_a_second_chain_is_refused(slurm):
    """Before anything is submitted, the job that plans included."""
    slurm.command("squeue", "echo 5; echo 6")
    _, err = slurm.run(SUBMIT, "sweep.yaml", status=2)
    assert err == "submit: sweep.nc: already submitted: 5 6; wait, or scancel 5 6, or give another --dataset\n"
    assert slurm.called("squeue") == [["--noheader", f"--name={name_of(slurm.folder / 'sweep.nc')}", "--format=%i"]]
    assert slurm.called("sbatch") == []


@slow
def test_the_dataset_is_the_command_lines(slurm):
    """And not the plan's, which may have been made for another one."""
    slurm.run(NORMSWEEP, "run", "sweep.yaml", "-j", "0")
    assert slurm.submit()[0] == "sweep.nc: nothing left to do: 5 runs have ended\n"
    assert slurm.called("sbatch") == []
    assert slurm.submit("--dataset", "u.nc")[0].startswith("u.nc: 5 runs, 0 have ended; ")
    assert slurm.called("sbatch")[0][-2:] == ["-o", "u.nc"]


def test_dry_run_prints_what_would_be_submitted(slurm):
    """As a script that every shell understands, whatever the locale."""
    odd = "it's $HOME \u00e9\t`x`"
    options = ["--log", odd, "--chain=3", "--dry-run"]
    out, _ = slurm.run(SUBMIT, "sweep.yaml", "--setup", "plan", *options, LC_ALL="C")
    assert slurm.called("sbatch") == [] and [path.name for path in slurm.folder.glob("*plan*")] == ["plan"]
    slurm.command("sbatch", 'echo "$NORMSWEEP_LEFT $NORMSWEEP_MODE $NORMSWEEP_SETUP"')
    said = slurm.run("/bin/sh", "-c", out)[0].splitlines()
    assert said == [f" mpirun {slurm.folder}/plan", f"2 mpirun {slurm.folder}/plan"]
    planning, job = slurm.called("sbatch")
    assert "--wait" in planning and planning[-6:] == [str(BATCH), "--plan", "sweep.yaml", "--values", "-j", "7"]
    assert job[-4:] == [str(BATCH), "sweep.yaml", "--log", odd]
    out, _ = slurm.submit(*options, "--at-once")
    assert out.count("sbatch") == 3 and out.startswith("# 3 times\nNORMSWEEP=") and " NORMSWEEP_LEFT=0 " in out


# ---- parts, and a budget ----

def test_an_array_of_parts(slurm):
    """With a plan of 10 hours of work; each of 3 parts on 3 workers takes 80 minutes."""
    out, _ = slurm.submit("--spread=3", "--ntasks-per-node=4", "--time=1:02:00", "--mem=2G", "--log=l")
    assert out == ("sweep.parts: 5 runs, 0 have ended; 1:20:01 expected for each of 3 parts on 3 workers; plan in "
                   "plan\npartition all, time 1:02:00, an array of 3 jobs, each of which starts at most 2 times: 1\n")
    assert slurm.called("sbatch") == [[
        "--parsable", f"--job-name={name_of(slurm.folder / 'sweep.nc')}", "--array=1-3", "--mem=2G",
        "--threads-per-core=1", "--partition=all", "--ntasks-per-node=4", "--nodes=1", "--time=1:02:00",
        "--signal=B:USR1@120", str(BATCH), "sweep.yaml", "--log", "l"]]
    out, _ = slurm.submit("--spread=3", "--ntasks-per-node=4", "--time=1:02:00", "--dry-run")
    assert " NORMSWEEP_LEFT=1 " in out and " NORMSWEEP_SPREAD=3 sbatch " in out and len(slurm.called("sbatch")) == 1
    slurm.command("squeue", "echo 1_2")
    assert slurm.submit("--spread=3", status=2)[1].startswith("submit: sweep.nc: already submitted: 1_2; ")


@pytest.mark.parametrize("options, said", [
    (["--spread=3", "--nodes=2"], "--nodes: each job of --spread has one node, not 2"),
    (["--spread=0"], "--spread must be an integer >= 1, not '0'"),
    (["--spread=3", "--at-once"], "--at-once: jobs of --spread continue themselves"),
    (["--budget=soon"], "--budget takes a time such as 90m or 1h30m, not 'soon'"),
    (["--budget=0m"], "--budget takes a time such as 90m or 1h30m, not '0m'"),
    (["--budget=1h", "--chain=2"], "--chain: a sweep with --budget is one job, not 2"),
    (["--budget=59m", "--time=1:00:00"],
     "--budget 59m does not fit in a job of 1:00:00, which stops --lead, 120 s, before its end: raise --time")])
def test_impossible_parts_and_budgets(slurm, options, said):
    assert slurm.submit(*options, status=2) == ("", f"submit: {said}\n") and slurm.called("sbatch") == []


@pytest.mark.parametrize("budget", ["58m", "3480", "57m60s", "0d0h58m"])
def test_a_budget_is_one_job(slurm, budget):
    out, _ = slurm.submit("--budget", budget, "--time=1:00:00", "--ntasks-per-node=4")
    assert out.endswith(", a chain of 1: 1\n")
    assert slurm.called("sbatch")[0][-4:] == [str(BATCH), "sweep.yaml", "--budget", budget]


def test_parts_that_have_ended_are_not_submitted(slurm):
    for part in (1, 2):
        slurm.run(NORMSWEEP, "run", "sweep.yaml", "--part", f"{part}/2", "-j", "0")
    out, _ = slurm.submit("--spread=2")
    assert out == "sweep.parts: nothing left to do: 5 runs have ended\n"
    said = slurm.submit("--spread=3", status=2)[1]
    assert re.fullmatch(r"submit: sweep.parts/[12]-of-2.nc is not a part of 3: give the --spread that it has, or "
                        r"another --dataset\n", said)
    (slurm.folder / "sweep.parts/1-of-2.nc").unlink()
    out, _ = slurm.submit("--spread=2")
    assert out.startswith("sweep.parts: 5 runs, 2 have ended; ") and slurm.called("sbatch")[0][2] == "--array=1-2"


def test_a_job_of_an_array_goes_on_by_itself(slurm):
    part = {"NORMSWEEP_SPREAD": "8", "NORMSWEEP_LEFT": "2", "SLURM_ARRAY_JOB_ID": "4", "SLURM_ARRAY_TASK_ID": "3",
            "NORMSWEEP_NEXT": "x"}
    slurm.command("scontrol", "")
    slurm.command("squeue", "echo 4_7")  # other parts wait; they are not the rest of a chain

    def requeues(status, **variables):
        before = len(slurm.called("scontrol"))
        lines = slurm.batch(status, NORMSWEEP=program(slurm, f'echo "$@" >said; exit {status}'), **part, **variables)
        assert (slurm.folder / "said").read_text() == "run sweep.yaml -o a b.nc --part 3/8\n"
        assert slurm.called("sbatch") == slurm.called("scancel") == []
        found = [call for call in slurm.called("scontrol")[before:] if call[0] == "requeue"]
        assert found in ([], [["requeue", "4_3"]])
        return lines[-1].partition(": ")[2] if found else ""

    assert requeues(75) == "requeued; 1 more starts may follow"
    assert requeues(137, SLURM_RESTART_COUNT="1") == "requeued; 0 more starts may follow"
    assert requeues(75, SLURM_RESTART_COUNT="2") == ""
    assert requeues(0) == requeues(1) == requeues(2) == ""


OURS = "NORMSWEEP,NORMSWEEP_MODE,NORMSWEEP_SETUP,NORMSWEEP_LEFT,NORMSWEEP_NEXT,NORMSWEEP_SPREAD"


@slow
@pytest.mark.parametrize("given, passed, variables", [
    ("NONE", OURS, {}), ("ALL", f"ALL,{OURS}", {}), ("NAME,OTHER=a b", f"NAME,OTHER=a b,{OURS}", {}), (None, None, {}),
    ("NONE", f"{OURS},SBATCH_ACCOUNT,SBATCH_QOS", {"SBATCH_QOS": "low", "SBATCH_ACCOUNT": "us"})])
def test_jobs_have_the_variables_that_they_need(slurm, given, passed, variables):
    """Those of sbatch among them, as a job submits the next one."""
    def exported():
        return [word for word in slurm.called("sbatch")[-1] if word.startswith("--export")]

    expected = [f"--export={passed}"] if passed else []
    slurm.submit(*(["--export", given] if given else []), **variables)
    assert exported() == expected
    slurm.run(SUBMIT, "sweep.yaml", "--calibrated", "plan", SBATCH_EXPORT=given or "", **variables)
    assert exported() == expected


@slow
@pytest.mark.parametrize("options, workers, expected", [
    (["--nodes=2", "--ntasks-per-node=2"], 3, "4:00:01"),
    (["--nodes", "4"], 31, "2:19:22"),  # on other workers: at most their share and the longest run
    (["-N", "4", "-c", "4"], 7, "3:25:43"),
    (["--ntasks-per-node=1"], 1, "12:00:01"),
    (["-N4"], 31, "2:19:22"),
    (["-N4", "-c4"], 7, "3:25:43"),
    (["-HN4"], 31, "2:19:22"),
    (["-HQN", "4"], 31, "2:19:22"),
    (["-A", "-N2", "-N4"], 31, "2:19:22"),
    (["-n4"], 3, "4:00:01"),
    (["-N2", "--ntasks", "4"], 3, "4:00:01"),
    (["-N2", "-n4", "--tasks-per-node=2"], 3, "4:00:01"),
])
def test_workers_are_the_allocations(slurm, options, workers, expected):
    out, _ = slurm.submit(*options)
    assert f" {expected} expected on {workers} workers" in out
    assert "time no limit, a chain of 1: 1" in out


@slow
@pytest.mark.parametrize("options, restricted", [
    ([], True), (["-c2"], True), (["--ntasks-per-node=8"], True), (["--ntasks-per-node=9"], False),
    (["--ntasks-per-node=5", "-c2"], False), (["--hint=multithread"], False), (["--hint", "x"], False),
    (["-B", "1:1:2"], False), (["--ntasks-per-core=2"], False), (["--threads-per-core=2"], False)])
def test_tasks_have_physical_cores(slurm, options, restricted):
    """As long as there are enough, and unless options say otherwise; nodes have 8 cores at least."""
    slurm.submit(*options)
    assert ("--threads-per-core=1" in slurm.called("sbatch")[0]) == restricted
    assert slurm.called("sinfo") == [["--noheader", "--exact", "--partition=all", "--format=%X %Y"]]


@slow
def test_other_options_are_of_sbatch(slurm):
    slurm.submit("--account", "us", "--dataset", "a b.nc", "-A", "x", "--set", "seed=[0, 1]", "-t", "20:00:00",
                 "--mem=4G", "--partition=short", "--lead", "60")
    call = slurm.called("sbatch")[0]
    assert call[3:8] == ["--account", "us", "-A", "x", "--mem=4G"]
    assert call[-6:] == [str(BATCH), "sweep.yaml", "-o", "a b.nc", "--set", "seed=[0, 1]"]
    assert {"--partition=short", "--time=20:00:00", "--signal=B:USR1@60"} <= set(call)


@slow
@pytest.mark.parametrize("options, passed", [
    (["-Aname"], ["-A", "name"]), (["-A", "name"], ["-A", "name"]), (["-Qvo", "out"], ["-Q", "-v", "-o", "out"]),
    (["-Qkoff"], ["-Q", "-koff"]), (["--comment=mine"], ["--comment=mine"]),
    (["-QAname", "-q", "-x"], ["-Q", "-A", "name", "-q", "-x"]), (["--exclusive", "-t20:00:00"], ["--exclusive"]),
    (["--mem", "4G", "--exclusive=user"], ["--mem", "4G", "--exclusive=user"]), (["-k"], ["-k"]),
    (["--nice", "--requeue", "--qos", "low"], ["--nice", "--requeue", "--qos", "low"])])
def test_what_is_of_sbatch_keeps_its_values(slurm, options, passed):
    slurm.submit(*options)
    call = slurm.called("sbatch")[0]
    assert call[3:4 + len(passed)] == [*passed, "--threads-per-core=1"]


@slow
@pytest.mark.parametrize("options", [["-pshort", "-t10:00:00", "-N4"], ["-t", "10:00:00", "-Hp", "short", "-N4"]])
def test_letters_are_read(slurm, options):
    assert "partition short, time 10:00:00, a chain of 1" in slurm.submit(*options)[0]
    call = slurm.called("sbatch")[0]
    assert {"--partition=short", "--time=10:00:00", "--nodes=4"} <= set(call)
    assert not {"-N4", "-pshort", "-t10:00:00"} & set(call)


@slow
@pytest.mark.parametrize("options, said", [
    (["-N4"], "partition short, time 10:00:00, a chain of 1"),
    (["-N4", "-t", "20:00:00", "-pall"], "partition all, time 20:00:00, a chain of 1"),
    *((["--time", text], f"partition short, time {said}, a chain of ") for text, said in (
        ("300", "5:00:00"), ("300:30", "5:00:30"), ("5:00:30", "5:00:30"), ("0-5", "5:00:00"), ("0-08:09", "8:09:00"),
        ("1-00:00:00", "24:00:00")))])
def test_variables_of_sbatch_and_times_of_slurm_are_read(slurm, options, said):
    assert said in slurm.submit(*options, SBATCH_PARTITION="short", SBATCH_TIMELIMIT="10:00:00")[0]


@slow
def test_time_is_the_partitions_where_none_is_given(slurm):
    assert "partition short, time 1:00:00, a chain of 4" in slurm.submit("-p", "short", "--nodes=4")[0]
    assert not any(word.startswith("--time") for word in slurm.called("sbatch")[0])


# After the sweep file.
REFUSED = {
    "--chain=0": "--chain must be an integer >= 1, not '0'",
    "--nodes two": "--nodes must be an integer >= 1, not 'two'",
    "--nodes": "a value is missing after --nodes",
    "-N2-4": "--nodes must be an integer >= 1, not '2-4'",
    "--nodes=2-4": "--nodes must be an integer >= 1, not '2-4'",
    "-N": "a value is missing after --nodes",
    "-HA": "a value is missing after -A",
    "-N2 -n5": "--ntasks: 5 tasks cannot be divided equally among 2 nodes",
    "-N2 -n8 --ntasks-per-node=2": "--ntasks: 8 tasks are not 2 on each of 2 nodes, as --ntasks-per-node says",
    "-nx": "--ntasks must be an integer >= 1, not 'x'",
    "-t10 --lead=600": "a job of 0:10:00 is not longer than --lead, 600 s",
    "-H": "--hold: the job that plans the sweep would wait, too; give --calibrated",
    "--hold": "--hold: the job that plans the sweep would wait, too; give --calibrated",
    "-t1": "a job of 0:01:00 is not longer than --lead, 120 s",
    "-pnone": "Slurm has no partition none",
    "--part=short": "--part: sbatch's options are written in full here",
    "--nod 4": "--nod: sbatch's options are written in full here",
    "--signal=USR2@60": "--signal cannot be given: --lead says how early runs are saved",
    "-Ha1-4": "--array cannot be given: every job of the array would run the whole sweep",
    "--dry-run=no": "--dry-run takes no value",
    "--dry": "--dry: sbatch's options are written in full here",
    "--depend=singleton": "--depend: sbatch's options are written in full here",
    "--setup=none": "--setup: none: not a file that can be read",
    "--plan-time=soon": "--plan-time: 'soon' is not a time, such as 10 or 0:10:00",
    "-pshort --plan-time=2-0": "partition short ends jobs after 24:00:00, and --plan-time is 48:00:00",
    "--fresh": "submit has no --fresh: rename the dataset, or give another one with --dataset",
    "--retry-failed": "submit has no --retry-failed: normsweep run sweep.yaml --retry-failed, in an allocation",
    "--only seed=0": "submit has no --only: normsweep run sweep.yaml --only NAME=VALUE, in an allocation",
    "--jobs=4": "submit has no --jobs: --ntasks-per-node says how many tasks a node has",
    "--wait": "--wait cannot be given: the jobs of a chain are submitted together",
    "-W": "--wait cannot be given: the jobs of a chain are submitted together",
    "--test-only": "--test-only cannot be given: nothing would be submitted",
    "--wrap=true": "--wrap cannot be given: what the jobs run is normsweep.sbatch",
    "-J mine": "--job-name cannot be given: jobs are named after their dataset, so that its chain is found",
    "--export-file=x": "--export-file cannot be given: --export names variables for the jobs",
    "--export=NIL": "--export=NIL cannot be given: jobs need variables of submit; give --export=NONE",
    "--time-min=1": "--time-min cannot be given: a chain of jobs that Slurm may shorten has no known length",
    "-D/tmp": "--chdir cannot be given: jobs run in the folder where submit is called; change to it",
    "other.yaml": "'other.yaml' is not an option; one sweep file is submitted at a time",
    "--hold other.yaml": "'other.yaml' is not an option; one sweep file is submitted at a time",
    "-- -N4": "'--' is not an option; one sweep file is submitted at a time",
    "-": "'-' is not an option; one sweep file is submitted at a time",
    "--account -N4": "--account: write a value that begins with - as --account=VALUE",
    "--nodes=5": "partition all gives at most 4 nodes, not 5",
    "--mode=ssh": "--mode must be mpirun or srun, not 'ssh'",
    "--time=soon": "--time: 'soon' is not a time, such as 8:00:00 or 2-12",
    "--time=2": "a job of 0:02:00 is not longer than --lead, 120 s",
    "-p none": "Slurm has no partition none",
    "-p short -t 2-0": "partition short ends jobs after 24:00:00, and --time is 48:00:00",
    "-c 9": "a node of partition all has fewer than 9 cores",
    "--calibrated=none": "--calibrated: none: no such file",
    "--calibrated=sweep.yaml": "sweep.yaml: not the output of normsweep plan --values",
    "--calibrated=plan --set learning_rate=0.1": "plan: the plan is for 6 cells, but sweep.yaml has 2",
    "--calibrated=plan -t 8:00:00 --nodes=4 --chain=1": None,
    "--calibrated=plan -t 1:02:00 --ntasks-per-node=4 --chain=5":
        "4:00:01 of training do not fit in 5 jobs of 1:02:00 with a quarter to spare; give --chain 6",
    "--calibrated=plan -t 0:06:00 --ntasks-per-node=1":
        "a run takes 2:00:00 and is saved only every 0:05:00, but a job trains for 0:04:00: lower "
        "checkpoint_minutes or raise --time",
    "--calibrated=plan -t 0:08:00 --ntasks-per-node=1":
        "12:00:01 of training need 151 jobs of --time 0:08:00; give --chain 151 if you mean it",
}


@slow
@pytest.mark.parametrize("options", REFUSED)
def test_impossible_requests_are_refused(slurm, options):
    said = REFUSED[options]
    out, err = slurm.run(SUBMIT, "sweep.yaml", *options.split(), status=2 if said else 0)
    assert err == (f"submit: {said}\n" if said else "")
    assert bool(slurm.called("sbatch")) == (said is None) and (out == "") == (said is not None)


@slow
@pytest.mark.parametrize("arguments, said", [
    ([], "the sweep file comes first; see submit --help"),
    (["--nodes=2"], "the sweep file comes first; see submit --help"),
    (["a & b.yaml", "-N2", "--retry-failed"],
     "submit has no --retry-failed: normsweep run a & b.yaml --retry-failed, in an allocation")])
def test_sweep_files_in_requests_that_are_refused(slurm, arguments, said):
    assert slurm.run(SUBMIT, *arguments, status=2) == ("", f"submit: {said}\n") and slurm.called("sbatch") == []


def without(slurm, name):
    """A folder of what PATH has, and of this Slurm without one of its commands."""
    folder = slurm.folder / "elsewhere"
    folder.mkdir()
    for path in [*slurm.bin.iterdir(), *(Path(shutil.which(tool)) for tool in ["bash", "dirname", "realpath", "sed"])]:
        if path.name != name:
            (folder / path.name).symlink_to(path)
    return str(folder)


@slow
@pytest.mark.parametrize("name", ["sbatch", "scontrol", "sinfo", "squeue", "scancel"])
def test_no_slurm(slurm, name):
    _, err = slurm.run(SUBMIT, "sweep.yaml", status=3, PATH=without(slurm, name))
    assert err == (f"submit: {name} is not on the PATH: submit needs Slurm, on its login node; "
                   "elsewhere: normsweep run sweep.yaml\n")
    assert slurm.called("sbatch") == []


@slow
@pytest.mark.parametrize("name, body, said", [
    ("squeue", "echo no controller >&2", "no controller\nsubmit: squeue does not answer, see above\n"),
    ("scontrol", 'echo "slurm_load_partitions error: Unable to contact slurm controller" >&2',
     "submit: Slurm does not answer: slurm_load_partitions error: Unable to contact slurm controller; "
     "without Slurm: normsweep run sweep.yaml\n")])
def test_a_slurm_that_does_not_answer(slurm, name, body, said):
    slurm.command(name, f"{body}; exit 1")
    assert slurm.submit(status=3)[1] == said and slurm.called("sbatch") == []


@slow
def test_a_program_that_is_not_there(slurm):
    err = slurm.run(SUBMIT, "sweep.yaml", status=3, NORMSWEEP="none/normsweep")[1]
    assert err == "submit: none/normsweep: program not found; set NORMSWEEP to its path\n"


@slow
def test_check_speaks_of_the_sweep(slurm):
    err = slurm.submit("--set", "stepz=1", status=2)[1]
    assert err.count("\n") == 1 and "unknown key 'stepz'" in err
    assert not slurm.called("sbatch")


@slow
def test_what_has_ended_is_not_expected_again(slurm):
    slurm.run(NORMSWEEP, "run", "sweep.yaml", "-j", "0", "--set", "learning_rate=[0.1, 0.01]")
    assert "5 runs, 3 have ended; 1:36:01 expected" in slurm.submit("--ntasks-per-node=4")[0]
    assert len(slurm.called("sbatch")) == 1


SEARCH = """\
corpus: markov
steps: 1
batch: 1
context: 8
width: 8
layers: 1
learning_rate: 0.1
weight_decay: {log: [1e-3, 0.1], points: 7}
refine: {axis: weight_decay}
"""


@pytest.mark.parametrize("grown", [False, pytest.param(True, marks=slow)])
def test_a_search_that_has_ended_is_not_submitted_again(slurm, grown):
    """Though most of its cells never had a run; unless it has grown."""
    (slurm.folder / "sweep.yaml").write_text(SEARCH)
    slurm.run(NORMSWEEP, "run", "sweep.yaml", "-j", "0")
    plan(slurm.folder, cells=14)
    out, _ = slurm.submit(*(["--set", "learning_rate=[0.1, 0.2]"] if grown else []))
    assert grown or re.fullmatch(r"sweep\.nc: nothing left to do: [2-5] runs have ended\n", out)
    assert len(slurm.called("sbatch")) == grown


@slow
def test_a_dataset_of_another_sweep_is_refused(slurm):
    slurm.run(NORMSWEEP, "run", "sweep.yaml", "-j", "0", "--set", "steps=1", "--set", "batch=1")
    _, err = slurm.run(SUBMIT, "sweep.yaml", status=2)
    said = "submit: the jobs would refuse: sweep.nc: holds another sweep: batch is 1 in sweep.nc and "
    assert err.startswith(said) and err.count("\n") == 1
    assert slurm.called("sbatch") == []


@slow
def test_a_search_trains_fewer_runs_than_it_has_cells(slurm):
    (slurm.folder / "sweep.yaml").write_text(
        "corpus: markov\nsteps: 10\nlearning_rate: {log: [1e-3, 1], points: 7}\n"
        "weight_decay: {log: [1e-3, 0.1], points: 7}\nrefine: {axis: weight_decay}\n")
    plan(slurm.folder, cells=49, runs=14)
    assert slurm.submit()[0].startswith("sweep.nc: 14 runs, 0 have ended; ")
    plan(slurm.folder, cells=48, runs=14)
    assert slurm.submit(status=2)[1] == "submit: plan: the plan is for 48 cells, but sweep.yaml has 49\n"


@slow
def test_a_sweep_that_runs_is_not_submitted_again(slurm):
    options = ["--set", "steps=100000000", "--set", "measure={steps: [0]}"]
    with slurm.running(NORMSWEEP, "run", "sweep.yaml", "-j", "0", *options) as sweep:
        while not (slurm.folder / "sweep.nc").exists():
            assert sweep.poll() is None
            time.sleep(0.01)
        assert "sweep.nc: another sweep is writing to it" in slurm.submit(status=2)[1]
    assert slurm.called("sbatch") == []
    slurm.submit(*options)
    assert slurm.called("sbatch")


@slow
def test_a_chain_is_submitted_whole_or_not_at_all(slurm):
    slurm.command("sbatch", 'count=$(grep -c ^sbatch "$CALLS"); [ "$count" -eq 3 ] || exec echo "$count"\n'
                            'echo no >&2; exit 1')
    err = slurm.submit("--ntasks-per-node=4", "--time=1:02:00", "--at-once", status=3)[1]
    assert err == "no\nsubmit: sbatch refused job 3 of 6; the others are cancelled\n"
    assert slurm.called("scancel") == [["1", "2"]]


PLANNING = r"""
[[ $* == *--test-only* ]] && exit "$FAULT"
[[ $* == *--wait* ]] || exec echo 7
for word; do [[ $word == --output=* ]] && out=${word#*=}; done
while [[ $1 != */normsweep.sbatch ]]; do shift; done
"$@" >"$out"
"""


@slow
@pytest.mark.parametrize("fault", [0, 1])
def test_a_first_job_plans(slurm, fault):
    slurm.command("sbatch", PLANNING)
    dataset = "it's \u00e9.nc"
    out, _ = slurm.run(SUBMIT, "sweep.yaml", "--nodes=2", "--ntasks-per-node=2", "--dataset", dataset, "--qos=low",
                       "--log=x", "--plan-time=5", LC_ALL="C", FAULT=str(fault))
    planning, probe = slurm.called("sbatch")[:2]
    assert "--log" not in planning and probe[0] == "--test-only" and "--log" in probe
    assert {"--qos=low", "--nodes=1", "--ntasks-per-node=2", "--wait", "--time=5"} <= set(planning)
    assert f"--job-name={name_of(slurm.folder / dataset)}" in planning
    assert f"{dataset}: 5 runs" in out and "on 3 workers" in out and f"plan in {dataset}.plan" in out
    text = (slurm.folder / f"{dataset}.plan").read_text()
    assert "workers=3\n" in text and ("next=no\n" in text) == bool(fault)
    assert not list(slurm.folder.glob(".normsweep-plan-*"))


@slow
@pytest.mark.parametrize("said, why", [
    ("no partition", ", see above"), ("CANCELLED DUE TO TIME LIMIT", ": it takes longer than --plan-time 2")])
def test_a_first_job_that_fails(slurm, said, why):
    slurm.command("sbatch", f'for word; do [[ $word == --error=* ]] && echo {said} >"${{word#*=}}"; done; exit 1')
    err = slurm.run(SUBMIT, "sweep.yaml", status=3)[1]
    assert err == f"{said}\nsubmit: the job that plans the sweep failed{why}\n"
    assert not list(slurm.folder.glob(".normsweep-plan-*"))


def test_help_names_every_option(slurm):
    said = slurm.run(SUBMIT, "--help")[0]
    for option in ["nodes", "ntasks-per-node", "time", "partition", "chain", "at-once", "calibrated", "plan-time",
                   "mode", "setup", "dataset", "set", "log", "dry-run"]:
        assert f"  --{option} " in said


# ---- the batch script ----

def program(slurm, body, library="Open MPI v4.1.4, package: Debian"):
    return str(slurm.command("program", f'[[ $1 != --version ]] || {{ echo "MPI       {library}" && exit; }}\n{body}'))


RUN = ["run", "sweep.yaml", "-o", "a b.nc"]


@pytest.mark.parametrize("status, chain_ends", [
    (0, True), pytest.param(1, True, marks=slow), pytest.param(2, True, marks=slow), (3, True), (75, False),
    pytest.param(130, False, marks=slow), pytest.param(137, False, marks=slow)])
def test_exit_status_is_the_programs(slurm, status, chain_ends):
    slurm.command("squeue", "echo 7; echo 9")
    lines = slurm.batch(status, NORMSWEEP=program(slurm, f"echo speaks; exit {status}"), NORMSWEEP_LEFT="0",
                        SLURM_JOB_NAME="name")
    assert " job 5: " in lines[0] and "program run sweep.yaml -o a b.nc; mpirun, 4 tasks on " in lines[0]
    assert f" job 5: status {status}: " in lines[-1]
    assert slurm.called("scancel") == ([["7", "9"]] if chain_ends else [])
    assert any("cancelling the rest of the chain, 7 9" in line for line in lines) == chain_ends
    assert [call for call in slurm.called("program") if "--dry-run" not in call] == [RUN]
    assert slurm.called("sleep") == []


@slow
def test_a_lease_of_a_dead_node_is_waited_for(slurm):
    """Other faults of the environment do not go away by themselves."""
    body = '[[ $* == *--dry-run* ]] && echo "a b.nc: in use by process 5 on n1 (a b.nc.lease)" >&2; exit 3'
    lines = slurm.batch(3, NORMSWEEP=program(slurm, body))
    assert slurm.called("program") == [RUN, [*RUN, "--dry-run", "-j", "0"], RUN] and slurm.called("sleep") == [["65"]]
    assert lines[1].endswith(" status 3: one more attempt in 65 s, when the lease of a dead node has expired")
    slurm.run(BATCH, "sweep.yaml", "-j4", status=3, NORMSWEEP=program(slurm, body))
    assert slurm.called("program")[-2:] == [["run", "sweep.yaml", "-j4", "--dry-run"], ["run", "sweep.yaml", "-j4"]]


@pytest.mark.parametrize("dead, library, status", [
    ("n2", "Open MPI v4.1.4, package: Debian", 0), pytest.param("n2", "MPICH Version:\t4.0.2", 134, marks=slow),
    pytest.param("n*", "Open MPI v4.1.4", 3, marks=slow), ("none", "Open MPI v4.1.4", 3)])
def test_a_node_that_does_not_answer_is_left_out(slurm, dead, library, status):
    """Slurm takes it for alive until SlurmdTimeout is over. The chain ends if it is not the node's fault."""
    slurm.command("scontrol", '[[ $2 != hostnames ]] || printf "%s\\n" ${3//,/ }')
    slurm.command("srun", f'[[ $* != *--nodelist={dead}\\ * ]]')
    slurm.command("squeue", "echo 7")
    path = program(slurm, '[[ $3 == --hosts ]] || exit 3; cat "$4" >on; echo "$4" >list', library)
    lines = slurm.run(BATCH, "sweep.yaml", status=status, NORMSWEEP=path, NORMSWEEP_LEFT="0",
                      SLURM_JOB_NODELIST="n1,n2,n3")[0].splitlines()
    assert any(line.endswith(" status 3: the program does not start on n2") for line in lines) == (status != 3)
    assert slurm.called("scancel") == ([] if status == 134 else [["7"]])
    if status == 0:
        assert (slurm.folder / "on").read_text() == "n1\nn3\n"
        assert not os.path.exists((slurm.folder / "list").read_text().strip())


def test_a_job_without_a_chain_leaves_others_alone(slurm):
    slurm.command("squeue", "echo 7")
    slurm.batch(0, NORMSWEEP=program(slurm, "exit 0"))
    assert slurm.called("scancel") == slurm.called("sbatch") == []


@slow
@pytest.mark.parametrize("setup, status", [
    ("export LOADED=yes", 0), ("set -euo pipefail; declare LOADED=yes; export LOADED", 0), ("false", 2),
    ("module load none", 2)])
def test_setup_runs_in_the_jobs_shell(slurm, setup, status):
    path = slurm.folder / "set up.sh"
    path.write_text(setup + "\n")
    slurm.command("squeue", "echo 7")
    lines = slurm.batch(status, NORMSWEEP=program(slurm, 'echo "loaded: $LOADED $SLURM_EXPORT_ENV"'),
                        NORMSWEEP_SETUP=str(path), NORMSWEEP_LEFT="1")
    assert ("loaded: yes ALL" in lines) == (status == 0)
    assert any(line.endswith(f"{path}: its last command has failed") for line in lines) == (status == 2)
    assert slurm.called("scancel") == [["7"]]


@pytest.mark.parametrize("arguments, submitted", [
    pytest.param(["--plan", "sweep.yaml"], ["--test-only", "x"], marks=slow), (["sweep.yaml", "-o", "a b.nc"], ["x"])])
def test_setup_is_apart_from_arguments_and_chain(slurm, arguments, submitted):
    """A job submits the next one, or finds out whether it could, before the setup, which does not see its arguments."""
    path = slurm.folder / "setup"
    path.write_text('echo "setup [$#]" >>"$CALLS"\nset -- other arguments\nshift\n')
    slurm.run(BATCH, *arguments, NORMSWEEP=program(slurm, ""), NORMSWEEP_SETUP=str(path), NORMSWEEP_LEFT="1",
              NORMSWEEP_NEXT="x")
    called = [line.split(" [")[0] for line in slurm.calls.read_text().splitlines()]
    assert [name for name in called if name in ("sbatch", "setup", "program")] == ["sbatch", "setup", "program"]
    assert slurm.called("sbatch") == [submitted] and slurm.called("setup") == [["0"]]
    assert slurm.called("program") == [["plan", "sweep.yaml"] if arguments[0] == "--plan" else ["run", *arguments]]


@slow
@pytest.mark.parametrize("mode", ["mpirun", "srun"])
@pytest.mark.parametrize("signals", [[signal.SIGUSR1], [signal.SIGTERM], [signal.SIGUSR1, signal.SIGUSR1]])
def test_signals_are_passed_on_and_waited_for(slurm, signals, mode):
    body = ('trap "stop=yes" USR1; touch ready; end=$((SECONDS + 120))\n'
            'until [[ $stop || $SECONDS -ge end ]]; do command -p sleep 0.05; done; command -p sleep 0.5; exit 75')
    with slurm.running(BATCH, "sweep.yaml", NORMSWEEP=program(slurm, body), NORMSWEEP_MODE=mode) as job:
        end = time.monotonic() + 600
        while not (slurm.folder / "ready").exists():
            assert time.monotonic() < end
            time.sleep(0.02)
        for number in signals:
            job.send_signal(number)
            time.sleep(0.05)
        out, err = job.communicate(timeout=600)
    assert job.returncode == 75 and "status 75: stopped with all runs saved" in out, out + err


@slow
def test_srun_starts_the_tasks(slurm):
    path = program(slurm, "exit 0")
    lines = slurm.batch(0, NORMSWEEP=path, NORMSWEEP_MODE="srun", SLURM_CPUS_PER_TASK="2")
    assert slurm.called("srun") == [
        ["--mpi=list"], ["--mpi=pmix", "--cpus-per-task=2", path, "run", "sweep.yaml", "-o", "a b.nc"]]
    assert "; srun, 4 tasks on " in lines[0]


@slow
@pytest.mark.parametrize("left, status", [(0, 134), (1, 1), (3, 134)])
def test_an_mpi_that_aborts_under_srun_is_not_an_end(slurm, left, status):
    """It ends with 1, which is also the status of a sweep whose runs have all ended."""
    path = program(slurm, f'[[ $* != *--dry-run* ]] || exit {left}; exit 1')
    lines = slurm.batch(status, NORMSWEEP=path, NORMSWEEP_MODE="srun", NORMSWEEP_LEFT="0")
    assert ("lost; run the same command again" in lines[-1]) == (status == 134)


OLDER = "srun: MPI types are...\nsrun: {}"
OPEN_MPI_4, OPEN_MPI_5, MPICH = "Open MPI v4.1.4, package: Debian", "Open MPI v5.0.11, package", "MPICH Version:\t4.0.2"


@slow
@pytest.mark.parametrize("library, offered, chosen", [
    (OPEN_MPI_4, MPI_TYPES, "pmix"),
    (OPEN_MPI_4, OLDER.format("pmix_v2\nsrun: none\nsrun: pmix\nsrun: pmi2"), "pmix"),
    (OPEN_MPI_4, OLDER.format("none\nsrun: pmix_v2\nsrun: pmix_v10\nsrun: pmi2"), "pmix_v10"),
    (OPEN_MPI_4, "MPI plugin types are...\n\tcray_shasta\n\tpmi2\n\tnone", "pmi2"),
    (OPEN_MPI_4, "MPI plugin types are...\n\tnone", None),
    (OPEN_MPI_5, MPI_TYPES, "pmix"),
    (OPEN_MPI_5, "types...\n\tnone\nspecific pmix plugin versions available: pmix_v3,pmix_v4", "pmix_v4"),
    (OPEN_MPI_5, "MPI plugin types are...\n\tcray_shasta\n\tpmi2\n\tnone", None),
    (MPICH, MPI_TYPES, "pmi2"), (MPICH, OLDER.format("none\nsrun: pmix"), "pmix"), (MPICH, OLDER.format("none"), None),
    ("MPI VERSION    : CRAY MPICH version 8.1.29 (ANL base 3.4a2)", "types\n\tpmi2\n\tcray_shasta", "cray_shasta"),
    ("MPI VERSION    : CRAY MPICH version 8.1.29 (ANL base 3.4a2)", MPI_TYPES, "pmi2"),
    ("Intel(R) MPI Library 2021.9 for Linux* OS", MPI_TYPES, "pmi2"),
    ("MVAPICH2 Version      :\t2.3.7", OLDER.format("pmix_v3"), "pmix_v3"),
])
def test_srun_connects_tasks_as_the_library_can(slurm, library, offered, chosen):
    slurm.command("srun", f'[[ $1 != --mpi=list ]] || exec echo "{offered}"')
    path = program(slurm, "exit 0", library)
    lines = slurm.batch(0 if chosen else 2, NORMSWEEP=path, NORMSWEEP_MODE="srun")
    assert [call[0] for call in slurm.called("srun")[1:]] == ([f"--mpi={chosen}"] if chosen else [])
    assert bool(chosen) or re.search(r": srun --mpi=list offers none of pm.*, which .*; mode mpirun does ", lines[1])
    slurm.batch(0, NORMSWEEP=path, NORMSWEEP_MODE="srun", SLURM_MPI_TYPE="sites")
    assert slurm.called("srun")[-1][0] == "--mpi=sites"


@slow
def test_steps_of_mpirun_survive_a_node(slurm):
    lines = slurm.batch(0, NORMSWEEP=program(slurm, 'echo "no kill: $SLURM_NO_KILL"'))
    assert "no kill: set" in lines


@slow
def test_last_node_watches_the_first(slurm):
    """If the job has lost its first node, the guard on the last node requeues it, or cancels it."""
    slurm.command("scontrol", '[[ $2 == hostnames ]] && printf "%s\\n" ${3//,/ }; [[ $1 != requeue ]]')
    slurm.command("squeue", '[[ $* != *%N* ]] || tail -n 1 nodes')
    slurm.command("sleep", 'if [ -e once ]; then exit 1; elif [ -e nodes ]; then echo n2 >nodes; touch once\n'
                           'else echo n1,n2 >nodes; fi')
    body = 'for i in {1..100}; do grep -q "^scancel" "$CALLS" && exit 75; read -rt 0.1 <> <(:); done'
    slurm.batch(75, NORMSWEEP=program(slurm, body), SLURM_JOB_NODELIST="n1,n2")
    watch = slurm.called("srun")[0]
    assert {"--overlap", "--nodelist=n2"} <= set(watch)
    assert ["requeue", "5"] in slurm.called("scontrol") and ["5"] in slurm.called("scancel")


@slow
def test_unknown_mode(slurm):
    lines = slurm.batch(2, NORMSWEEP_MODE="ssh")
    assert "NORMSWEEP_MODE must be mpirun or srun, not 'ssh'" in lines[1]


@slow
@pytest.mark.parametrize("option", ["-j4", "--jobs=4"])
def test_workers_are_the_tasks_under_srun(slurm, option):
    path = program(slurm, "exit 0")
    lines = slurm.run(BATCH, "sweep.yaml", option, status=2, NORMSWEEP=path, NORMSWEEP_MODE="srun")[0].splitlines()
    assert lines[1].endswith(f" {option} cannot be given: under srun every task but one is a worker")
    assert slurm.called("srun") == slurm.called("program") == []
    slurm.run(BATCH, "sweep.yaml", option, NORMSWEEP=path)
    assert slurm.called("program") == [["run", "sweep.yaml", option]]


@slow
def test_no_program(slurm):
    slurm.command("squeue", "echo 7")
    lines = slurm.batch(2, NORMSWEEP="/nowhere/normsweep", NORMSWEEP_LEFT="1")
    assert lines[0].endswith(": /nowhere/normsweep: program not found; set NORMSWEEP to its path")
    assert slurm.called("scancel") == [["7"]]


@slow
def test_program_of_the_checkout(slurm):
    """Slurm runs a copy of the script, and says where the original is."""
    copy = slurm.folder / "spool" / "slurm_script"
    place = slurm.folder / "check out" / "slurm"
    for folder in [copy.parent, place, place.parent / "build"]:
        folder.mkdir(parents=True)
    copy.write_text(BATCH.read_text())
    copy.chmod(0o755)
    found = place.parent / "build" / "normsweep"
    found.symlink_to(slurm.command("program", "echo found"))
    slurm.command("scontrol", f'[[ $2 == hostnames ]] || echo "   Command={place}/normsweep.sbatch sweep.yaml"')
    out, _ = slurm.run(copy, "sweep.yaml", NORMSWEEP="")
    assert "found\n" in out
