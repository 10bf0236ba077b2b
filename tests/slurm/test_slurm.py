"""slurm/submit and slurm/normsweep.sbatch with a fake Slurm that only records its calls.

Sweeps on a real one are in check_slurm.py.
"""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import NORMSWEEP, PROJECT

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
PLAN = {"runs": 5, "workers": 3, "seconds": "14399.5", "core_seconds": "35999.5", "longest_seconds": "7199.5",
        "checkpoint_seconds": "300.000", "output": "sweep.nc"}
PARTITION = ("PartitionName={name} Default={default} DefaultTime={usual} MaxNodes=UNLIMITED MaxTime={most} "
             "TotalCPUs=64 TotalNodes=4")


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
        self.command("sinfo", "echo 16+; echo 8")
        self.command("sbatch", 'grep -c ^sbatch "$CALLS"')
        self.command("squeue", 'echo "7 normsweep-chain-5"; echo "8 other"; echo "9 normsweep-chain-5"')
        self.command("scancel", "")
        self.command("srun", 'while [[ $1 == --* ]]; do shift; done; exec "$@"')
        self.command("sleep", "")
        self.environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "CALLS": str(self.calls),
                            "NORMSWEEP": str(NORMSWEEP), "SLURM_JOB_ID": "5", "SLURM_NTASKS": "4"}

    def command(self, name, body):
        path = self.bin / name
        path.write_text(f'#!/bin/bash\necho "{name}$(printf " [%s]" "$@")" >>"$CALLS"\n{body}\n')
        path.chmod(0o755)
        return path

    def called(self, name):
        """The arguments of each call."""
        lines = [line.split(" [") for line in self.calls.read_text().splitlines()]
        return [[word[:-1] for word in line[1:]] for line in lines if line[0] == name]

    def start(self, *command, **variables):
        return subprocess.Popen([str(each) for each in command], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**self.environment, **variables})

    def run(self, *command, status=0, **variables):
        process = self.start(*command, **variables)
        out, err = process.communicate(timeout=60)
        assert process.returncode == status, f"{process.returncode}\n{out}{err}"
        return out, err

    def submit(self, *options, status=0):
        return self.run(SUBMIT, "sweep.yaml", "--calibrated", "plan", *options, status=status)

    def batch(self, status, **variables):
        return self.run(BATCH, "sweep.yaml", "-o", "a b.nc", status=status, **variables)[0].splitlines()


@pytest.fixture
def slurm(tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    plan(tmp_path)
    return Slurm(tmp_path)


def plan(folder, **values):
    (folder / "plan").write_text("".join(f"{key}={value}\n" for key, value in {**PLAN, **values}.items()))


# ---- submit ----

def test_chain_is_as_long_as_the_plan_and_a_quarter(slurm):
    out, _ = slurm.submit("--ntasks-per-node=4", "--time=1:02:00")
    assert out == ("sweep.nc: 5 runs, 0 have ended; 4:00:01 expected on 3 workers, 1 x 4 tasks; plan in plan\n"
                   "partition all, time 1:02:00, a chain of 6: 1 2 3 4 5 6\n")
    common = ["--parsable", "--partition=all", "--ntasks-per-node=4", "--nodes=1", "--time=1:02:00",
              "--signal=B:USR1@120"]
    calls = slurm.called("sbatch")
    assert calls[0] == [*common, str(BATCH), "sweep.yaml"] and len(calls) == 6
    for last, call in enumerate(calls[1:], 1):
        follows = [f"--dependency=afterany:{last}", "--comment=normsweep-chain-1"]
        assert call == [*common, *follows, str(BATCH), "sweep.yaml"]


@pytest.mark.parametrize("options, workers, expected", [
    (["--nodes=2", "--ntasks-per-node=2"], 3, "4:00:01"),
    (["--nodes", "4"], 31, "2:19:22"),  # on other workers: at most their share and the longest run
    (["-N", "4", "-c", "4"], 7, "3:25:43"),
    (["--ntasks-per-node=1"], 1, "12:00:01"),
    (["-N4"], 31, "2:19:22"),
    (["-N4", "-c4"], 7, "3:25:43"),
    (["-HN4"], 31, "2:19:22"),
    (["-HQN", "4"], 31, "2:19:22"),
    (["-J", "-N2", "-N4"], 31, "2:19:22"),
    (["-n4"], 3, "4:00:01"),
    (["-N2", "--ntasks", "4"], 3, "4:00:01"),
    (["-N2", "-n4", "--tasks-per-node=2"], 3, "4:00:01"),
])
def test_workers_are_the_allocations(slurm, options, workers, expected):
    out, _ = slurm.submit(*options)
    assert f" {expected} expected on {workers} workers" in out
    assert "time no limit, a chain of 1: 1" in out


def test_other_options_are_of_sbatch(slurm):
    slurm.submit("--account", "us", "--dataset", "a b.nc", "-A", "x", "--set", "seed=[0, 1]", "-t", "20:00:00",
                 "--mem=4G", "--partition=short", "--lead", "60")
    call = slurm.called("sbatch")[0]
    assert call[:6] == ["--parsable", "--account", "us", "-A", "x", "--mem=4G"]
    assert call[-6:] == [str(BATCH), "sweep.yaml", "-o", "a b.nc", "--set", "seed=[0, 1]"]
    assert {"--partition=short", "--time=20:00:00", "--signal=B:USR1@60"} <= set(call)


def test_what_is_of_run_alone(slurm):
    slurm.submit("--notify", "mail -s 'a b' me", "--set", "seed=[0, 1]", "--log=a b.jsonl")
    end = [str(BATCH), "sweep.yaml", "--set", "seed=[0, 1]", "--notify", "mail -s 'a b' me", "--log", "a b.jsonl"]
    calls = slurm.called("sbatch")
    assert calls and all(call[-len(end):] == end for call in calls)


@pytest.mark.parametrize("options, passed", [
    (["-Jname"], ["-J", "name"]), (["-J", "name"], ["-J", "name"]), (["-Hvo", "out"], ["-H", "-v", "-o", "out"]),
    (["-Hkoff"], ["-H", "-koff"]),
    (["-QJname", "-A", "-x"], ["-Q", "-J", "name", "-A", "-x"]), (["--hold", "-t20:00:00"], ["--hold"]),
    (["--mem", "4G", "--exclusive=user"], ["--mem", "4G", "--exclusive=user"]), (["-k"], ["-k"]),
    (["--nice", "--requeue", "--begin", "now"], ["--nice", "--requeue", "--begin", "now"])])
def test_what_is_of_sbatch_keeps_its_values(slurm, options, passed):
    slurm.submit(*options)
    call = slurm.called("sbatch")[0]
    assert call[1:1 + len(passed)] == passed and call[1 + len(passed)] == "--partition=all"


@pytest.mark.parametrize("options", [["-pshort", "-t10:00:00", "-N4"], ["-t", "10:00:00", "-Hp", "short", "-N4"]])
def test_letters_are_read(slurm, options):
    assert "partition short, time 10:00:00, a chain of 1" in slurm.submit(*options)[0]
    call = slurm.called("sbatch")[0]
    assert {"--partition=short", "--time=10:00:00", "--nodes=4"} <= set(call)
    assert not {"-N4", "-pshort", "-t10:00:00"} & set(call)


def test_variables_of_sbatch_are_read(slurm):
    variables = {"SBATCH_PARTITION": "short", "SBATCH_TIMELIMIT": "10:00:00"}
    out, _ = slurm.run(SUBMIT, "sweep.yaml", "--calibrated", "plan", "-N4", **variables)
    assert "partition short, time 10:00:00, a chain of 1" in out
    out, _ = slurm.run(SUBMIT, "sweep.yaml", "--calibrated", "plan", "-N4", "-t", "20:00:00", "-pall", **variables)
    assert "partition all, time 20:00:00, a chain of 1" in out


@pytest.mark.parametrize("text, said", [
    ("300", "5:00:00"), ("300:30", "5:00:30"), ("5:00:30", "5:00:30"), ("0-5", "5:00:00"), ("0-08:09", "8:09:00"),
    ("1-00:00:00", "24:00:00")])
def test_times_are_slurms(slurm, text, said):
    assert f", time {said}, a chain of " in slurm.submit("--partition=short", "--time", text)[0]


def test_time_is_the_partitions_where_none_is_given(slurm):
    assert "partition short, time 1:00:00, a chain of 4" in slurm.submit("-p", "short", "--nodes=4")[0]
    assert not any(word.startswith("--time") for word in slurm.called("sbatch")[0])


REFUSED = {
    (): "the sweep file comes first; see submit --help",
    ("--nodes=2",): "the sweep file comes first; see submit --help",
    ("sweep.yaml", "--chain=0"): "--chain must be an integer >= 1, not '0'",
    ("sweep.yaml", "--nodes", "two"): "--nodes must be an integer >= 1, not 'two'",
    ("sweep.yaml", "--nodes"): "a value is missing after --nodes",
    ("sweep.yaml", "-N2-4"): "--nodes must be an integer >= 1, not '2-4'",
    ("sweep.yaml", "--nodes=2-4"): "--nodes must be an integer >= 1, not '2-4'",
    ("sweep.yaml", "-N"): "a value is missing after --nodes",
    ("sweep.yaml", "-HJ"): "a value is missing after -J",
    ("sweep.yaml", "-N2", "-n5"): "--ntasks: 5 tasks cannot be divided equally among 2 nodes",
    ("sweep.yaml", "-N2", "-n8", "--ntasks-per-node=2"):
        "--ntasks: 8 tasks are not 2 on each of 2 nodes, as --ntasks-per-node says",
    ("sweep.yaml", "-nx"): "--ntasks must be an integer >= 1, not 'x'",
    ("sweep.yaml", "-t10", "--lead=600"): "a job of 0:10:00 is not longer than --lead, 600 s",
    ("sweep.yaml", "-H"): "--hold: the job that plans the sweep would wait, too; give --calibrated",
    ("sweep.yaml", "--hold"): "--hold: the job that plans the sweep would wait, too; give --calibrated",
    ("sweep.yaml", "-t1"): "a job of 0:01:00 is not longer than --lead, 120 s",
    ("sweep.yaml", "-pnone"): "Slurm has no partition none",
    ("sweep.yaml", "--part=short"): "--part: sbatch's options are written in full here",
    ("sweep.yaml", "--nod", "4"): "--nod: sbatch's options are written in full here",
    ("sweep.yaml", "--signal=USR2@60"):
        "--signal cannot be given: --lead says how early runs are saved",
    ("sweep.yaml", "-Ha1-4"): "--array cannot be given: every job of the array would run the whole sweep",
    ("sweep.yaml", "--dry-run"): "submit has no --dry-run: normsweep run sweep.yaml --dry-run",
    ("a & b.yaml", "--nodes", "2", "--dry-run"): "submit has no --dry-run: normsweep run a & b.yaml --dry-run",
    ("sweep.yaml", "--fresh"): "submit has no --fresh: rename the dataset, or give another one with --dataset",
    ("sweep.yaml", "--retry-failed"): "submit has no --retry-failed: normsweep run sweep.yaml --retry-failed, in an "
                                      "allocation",
    ("sweep.yaml", "--jobs=4"): "submit has no --jobs: --ntasks-per-node says how many tasks a node has",
    ("sweep.yaml", "--wait"): "--wait cannot be given: the jobs of a chain are submitted together",
    ("sweep.yaml", "-W"): "--wait cannot be given: the jobs of a chain are submitted together",
    ("sweep.yaml", "--test-only"): "--test-only cannot be given: nothing would be submitted",
    ("sweep.yaml", "--wrap=true"): "--wrap cannot be given: what the jobs run is normsweep.sbatch",
    ("sweep.yaml", "--comment", "mine"):
        "--comment cannot be given: the comment names the chain that a job belongs to",
    ("sweep.yaml", "--time-min=1"):
        "--time-min cannot be given: a chain of jobs that Slurm may shorten has no known length",
    ("sweep.yaml", "-D/tmp"):
        "--chdir cannot be given: jobs run in the folder where submit is called; change to it",
    ("sweep.yaml", "other.yaml"): "'other.yaml' is not an option; one sweep file is submitted at a time",
    ("sweep.yaml", "--hold", "other.yaml"): "'other.yaml' is not an option; one sweep file is submitted at a time",
    ("sweep.yaml", "--", "-N4"): "'--' is not an option; one sweep file is submitted at a time",
    ("sweep.yaml", "-"): "'-' is not an option; one sweep file is submitted at a time",
    ("sweep.yaml", "--account", "-N4"): "--account: write a value that begins with - as --account=VALUE",
    ("sweep.yaml", "--nodes=5"): "partition all gives at most 4 nodes, not 5",
    ("sweep.yaml", "--mode=ssh"): "--mode must be mpirun or srun, not 'ssh'",
    ("sweep.yaml", "--time=soon"): "--time: 'soon' is not a time, such as 8:00:00 or 2-12",
    ("sweep.yaml", "--time=2"): "a job of 0:02:00 is not longer than --lead, 120 s",
    ("sweep.yaml", "-p", "none"): "Slurm has no partition none",
    ("sweep.yaml", "-p", "short", "-t", "2-0"): "partition short ends jobs after 24:00:00, and --time is 48:00:00",
    ("sweep.yaml", "-c", "9"): "a node of partition all has fewer than 9 processors",
    ("sweep.yaml", "--calibrated=none"): "--calibrated: none: no such file",
    ("sweep.yaml", "--calibrated=sweep.yaml"): "sweep.yaml: not the output of normsweep plan --values",
    ("sweep.yaml", "--calibrated=plan", "--set", "learning_rate=0.1"):
        "plan: the plan is for 5 runs, but sweep.yaml has 1",
    ("sweep.yaml", "--calibrated=plan", "-t", "8:00:00", "--nodes=4", "--chain=1"): None,
    ("sweep.yaml", "--calibrated=plan", "-t", "1:02:00", "--ntasks-per-node=4", "--chain=5"):
        "4:00:01 of training do not fit in 5 jobs of 1:02:00 with a quarter to spare; give --chain 6",
    ("sweep.yaml", "--calibrated=plan", "-t", "0:06:00", "--ntasks-per-node=1"):
        "a run takes 2:00:00 and is saved only every 0:05:00, but a job trains for 0:04:00: lower checkpoint_minutes "
        "or raise --time",
    ("sweep.yaml", "--calibrated=plan", "-t", "0:08:00", "--ntasks-per-node=1"):
        "12:00:01 of training need 151 jobs of --time 0:08:00; give --chain 151 if you mean it",
}


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_impossible_requests_are_refused(slurm, arguments):
    said = REFUSED[arguments]
    out, err = slurm.run(SUBMIT, *arguments, status=2 if said else 0)
    assert err == (f"submit: {said}\n" if said else "")
    assert bool(slurm.called("sbatch")) == (said is None) and (out == "") == (said is not None)


def without(slurm, name):
    """A folder of what PATH has, and of this Slurm without one of its commands."""
    folder = slurm.folder / "elsewhere"
    folder.mkdir()
    for path in [*slurm.bin.iterdir(), *(Path(shutil.which(tool)) for tool in ["bash", "dirname", "realpath", "sed"])]:
        if path.name != name:
            (folder / path.name).symlink_to(path)
    return str(folder)


@pytest.mark.parametrize("name", ["sbatch", "scontrol", "sinfo", "scancel"])
def test_no_slurm(slurm, name):
    _, err = slurm.run(SUBMIT, "sweep.yaml", status=3, PATH=without(slurm, name))
    assert err == (f"submit: {name} is not on the PATH: submit needs Slurm, on its login node; "
                   "elsewhere: normsweep run sweep.yaml\n")
    assert slurm.called("sbatch") == []


def test_a_slurm_that_does_not_answer(slurm):
    slurm.command("scontrol", 'echo "slurm_load_partitions error: Unable to contact slurm controller" >&2; exit 1')
    _, err = slurm.submit(status=3)
    assert err == ("submit: Slurm does not answer: slurm_load_partitions error: Unable to contact slurm controller; "
                   "without Slurm: normsweep run sweep.yaml\n")
    assert slurm.called("sbatch") == []


def test_check_speaks_of_the_sweep(slurm):
    err = slurm.submit("--set", "stepz=1", status=2)[1]
    assert err.count("\n") == 1 and "unknown key 'stepz'" in err
    assert not slurm.called("sbatch")


def test_what_has_ended_is_not_expected_again(slurm):
    slurm.run(NORMSWEEP, "run", "sweep.yaml", "-j", "0", "--set", "learning_rate=[0.1, 0.01]")
    out, _ = slurm.submit("--ntasks-per-node=4")
    assert "5 runs, 3 have ended; 1:36:01 expected" in out
    slurm.run(NORMSWEEP, "run", "sweep.yaml", "-j", "0")
    assert slurm.submit()[0] == "sweep.nc: nothing left to do: 5 runs have ended\n"
    assert len(slurm.called("sbatch")) == 1


def test_a_sweep_that_runs_is_not_submitted_again(slurm):
    command = [NORMSWEEP, "run", "sweep.yaml", "-j", "0", "--set", "steps=100000000", "--set", "measure={steps: [0]}"]
    with subprocess.Popen(command, cwd=slurm.folder) as sweep:
        try:
            while not (slurm.folder / "sweep.nc").exists():
                time.sleep(0.01)
            assert "sweep.nc: another sweep is writing to it" in slurm.submit(status=2)[1]
        finally:
            sweep.kill()
    assert slurm.called("sbatch") == []
    slurm.submit()
    assert slurm.called("sbatch")


def test_a_chain_is_submitted_whole_or_not_at_all(slurm):
    slurm.command("sbatch", 'count=$(grep -c ^sbatch "$CALLS"); [ "$count" -eq 3 ] || exec echo "$count"\n'
                            'echo no >&2; exit 1')
    err = slurm.submit("--ntasks-per-node=4", "--time=1:02:00", status=3)[1]
    assert err == "no\nsubmit: sbatch refused job 3 of 6; the others are cancelled\n"
    assert slurm.called("scancel") == [["1", "2"]]


def test_a_first_job_plans(slurm):
    slurm.command("sbatch", '[[ $* == *--wait* ]] || exec echo 7\n'
                            'for word; do [[ $word == --wrap=* ]] && wrap=${word#*=}; done\n'
                            'for word; do [[ $word == --output=* ]] && bash -c "$wrap" >"${word#*=}"; done; :')
    out, _ = slurm.run(SUBMIT, "sweep.yaml", "--nodes=2", "--ntasks-per-node=2", "--dataset", "a b.nc", "--qos=low",
                       "--notify", "true", "--log=x")
    assert not {"--notify", "--log"} & set(" ".join(slurm.called("sbatch")[0]).split())
    assert "a b.nc: 5 runs" in out and "on 3 workers" in out and "plan in a b.nc.plan" in out
    assert {"--qos=low", "--nodes=1", "--ntasks-per-node=2", "--wait"} <= set(slurm.called("sbatch")[0])
    assert "workers=3\n" in (slurm.folder / "a b.nc.plan").read_text()
    assert not list(slurm.folder.glob(".normsweep-plan-*"))


def test_a_first_job_that_fails(slurm):
    slurm.command("sbatch", "echo no partition >&2; exit 1")
    err = slurm.run(SUBMIT, "sweep.yaml", status=3)[1]
    assert err == "no partition\nsubmit: the job that plans the sweep failed, see above\n"
    assert not list(slurm.folder.glob(".normsweep-plan-*"))


def test_help_names_every_option(slurm):
    said = slurm.run(SUBMIT, "--help")[0]
    for option in ["nodes", "ntasks-per-node", "time", "partition", "chain", "calibrated", "mode", "dataset", "set",
                   "notify", "log"]:
        assert f"  --{option} " in said


# ---- the batch script ----

def program(slurm, body):
    return str(slurm.command("program", body))


@pytest.mark.parametrize("status, chain_ends", [(0, True), (1, True), (2, True), (3, True), (75, False), (130, False),
                                                (137, False)])
def test_exit_status_is_the_programs(slurm, status, chain_ends):
    lines = slurm.batch(status, NORMSWEEP=program(slurm, f"echo speaks; exit {status}"))
    assert " job 5: " in lines[0] and "program run sweep.yaml -o a b.nc; mpirun, 4 tasks on " in lines[0]
    assert f" job 5: status {status}: " in lines[-1]
    assert slurm.called("scancel") == ([["7", "9"]] if chain_ends else [])
    assert any("cancelling the rest of the chain, 7 9" in line for line in lines) == chain_ends
    assert slurm.called("program") == [["run", "sweep.yaml", "-o", "a b.nc"]] * (2 if status == 3 else 1)
    assert slurm.called("sleep") == ([["65"]] if status == 3 else [])


def test_other_jobs_are_left_alone(slurm):
    slurm.command("squeue", '[[ $* == *--jobs* ]] || echo "7 normsweep-chain-4"; echo "8 other"')
    slurm.batch(0, NORMSWEEP=program(slurm, "exit 0"))
    assert slurm.called("scancel") == []


@pytest.mark.parametrize("mode", ["mpirun", "srun"])
@pytest.mark.parametrize("signals", [[signal.SIGUSR1], [signal.SIGTERM], [signal.SIGUSR1, signal.SIGUSR1]])
def test_signals_are_passed_on_and_waited_for(slurm, signals, mode):
    slurm.command("pause", 'read -rt "$1" <> <(:); :')
    body = 'trap "stop=yes" USR1; touch ready; until [ "$stop" ]; do pause 0.05; done; pause 0.5; exit 75'
    job = slurm.start(BATCH, "sweep.yaml", NORMSWEEP=program(slurm, body), NORMSWEEP_MODE=mode)
    try:
        end = time.monotonic() + 60
        while not (slurm.folder / "ready").exists():
            assert time.monotonic() < end
            time.sleep(0.02)
        for number in signals:
            job.send_signal(number)
            time.sleep(0.05)
        out, err = job.communicate(timeout=60)
    finally:
        job.kill()
    assert job.returncode == 75 and "status 75: stopped with all runs saved" in out, out + err


def test_srun_starts_the_tasks(slurm):
    path = program(slurm, "exit 0")
    lines = slurm.batch(0, NORMSWEEP=path, NORMSWEEP_MODE="srun", SLURM_CPUS_PER_TASK="2")
    assert slurm.called("srun") == [["--mpi=pmix", "--cpus-per-task=2", path, "run", "sweep.yaml", "-o", "a b.nc"]]
    assert "; srun, 4 tasks on " in lines[0]


def test_steps_of_mpirun_survive_a_node(slurm):
    lines = slurm.batch(0, NORMSWEEP=program(slurm, 'echo "no kill: $SLURM_NO_KILL"'))
    assert "no kill: set" in lines


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


def test_unknown_mode(slurm):
    lines = slurm.batch(2, NORMSWEEP_MODE="ssh")
    assert "NORMSWEEP_MODE must be mpirun or srun, not 'ssh'" in lines[1]


@pytest.mark.parametrize("option", ["-j4", "--jobs=4"])
def test_workers_are_the_tasks_under_srun(slurm, option):
    path = program(slurm, "exit 0")
    lines = slurm.run(BATCH, "sweep.yaml", option, status=2, NORMSWEEP=path, NORMSWEEP_MODE="srun")[0].splitlines()
    assert lines[1].endswith(f" {option} cannot be given: under srun every task but one is a worker")
    assert slurm.called("srun") == slurm.called("program") == []
    slurm.run(BATCH, "sweep.yaml", option, NORMSWEEP=path)
    assert slurm.called("program") == [["run", "sweep.yaml", option]]


def test_no_program(slurm):
    lines = slurm.batch(2, NORMSWEEP="/nowhere/normsweep")
    assert lines[1].endswith(": /nowhere/normsweep: program not found; set NORMSWEEP to its path")
    assert slurm.called("scancel") == [["7", "9"]]


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
