"""Sweeps on a real Slurm: submitted, stopped by the time limit, continued, after the loss of a node, ended.

`make check-slurm` runs this; `make check` does not, as it takes minutes. Whatever happens to a sweep, its numbers are
those of one that ran undisturbed. No test depends on how fast the machine is: sweeps are sized by a plan, and are
made longer where one was over before it could be disturbed.
"""

import re

import pytest

from conftest import NORMSWEEP, PROJECT, run, script, tiny
from slurm_cluster import Cluster, lacking
from test_run import assert_equal, outcomes

if lacking():
    pytest.skip(lacking(), allow_module_level=True)

SUBMIT = PROJECT / "slurm" / "submit"
PATIENCE = 900  # seconds to wait for anything without a time limit of its own
RUNS = 16
PLAN = (f"cells={RUNS}\nruns={RUNS}\nworkers=1\nseconds=30\ncore_seconds=30\nlongest_seconds=2\n"
        "checkpoint_seconds=300\noutput=another.nc\n")
SWEEP = tiny(vocabulary=64, layers=2, width=32, feedforward=64, context=32, batch=8) + """\
learning_rate: {log: [1e-1, 1e-4], points: 4}
seed: {range: [0, 3]}
measure: {every: 50}
"""


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as cluster:
        cluster.environment["NORMSWEEP"] = str(NORMSWEEP)
        yield cluster


class Sweeps:
    """A sweep file that takes some time on this machine, and the dataset of an undisturbed sweep of it."""

    def __init__(self, folder, seconds):
        self.folder = folder
        self.steps = 100
        self.write()
        said = run(NORMSWEEP, "plan", self.path, "--values", "-j", "2", cwd=folder).stdout
        self.steps = max(100, int(self.steps * seconds / float(re.search(r"^seconds=(.*)$", said, re.M)[1])))
        self.write()
        self.reference = None

    @property
    def path(self):
        return self.folder / "sweep.yaml"

    def write(self):
        self.path.write_text(SWEEP + f"steps: {self.steps}\n")
        self.reference = None

    def longer(self):
        self.steps *= 2
        assert self.steps < 10 ** 7, "no sweep is long enough to be disturbed"
        self.write()

    def undisturbed(self):
        if not self.reference:
            self.reference = self.folder / f"undisturbed-{self.steps}.nc"
            run(NORMSWEEP, "run", self.path, "-j", "2", "-o", self.reference, cwd=self.folder, timeout=PATIENCE)
        return self.reference


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory):
    """Long enough to be disturbed, on most machines."""
    return Sweeps(tmp_path_factory.mktemp("sweeps"), seconds=8)


class Chain:
    """The jobs of one call of slurm/submit, in a folder of its own, and those that they submit."""

    def __init__(self, cluster, sweeps, folder, *options):
        folder.mkdir(exist_ok=True)
        self.cluster, self.folder = cluster, folder
        self.dataset = folder / "out.nc"
        (folder / "plan").write_text(PLAN)
        self.command = [SUBMIT, sweeps.path, "--dataset", "out.nc", "--calibrated", "plan", *options]
        done = cluster.run(*self.command, cwd=folder)
        self.name = self.shown(re.search(r": (\d+)[\d ]*$", done.stdout)[1], "JobName")

    def shown(self, job, field):
        """What Slurm says of a job."""
        return re.search(rf"\b{field}=(\S+)", self.cluster.run("scontrol", "--oneliner", "show", "job", job).stdout)[1]

    @property
    def jobs(self):
        return self.cluster.jobs_of(self.name)

    def log(self, job):
        path = self.folder / f"slurm-{job}.out"
        return path.read_text() if path.exists() else ""

    def logs(self):
        return [self.log(job) for job in self.jobs]

    def states(self):
        return [self.shown(job, "JobState") for job in self.jobs]

    def statuses(self):
        """The exit status in the last line of each job that has ended by itself."""
        found = [re.findall(r" job \d+: status (\d+): ", log) for log in self.logs()]
        return [int(each[-1]) for each in found if each]

    def is_over(self):
        return self.cluster.has_ended(self.jobs)

    def wait_over(self):
        self.cluster.wait(self.is_over, f"the jobs {self.name} are over", PATIENCE)

    def wait_trains(self):
        """Waits until a run trains while another has ended; False if the chain is over before."""
        def trains():
            seen = outcomes(self.dataset)
            return self.is_over() or (seen == 1).any() and (seen >= 2).any()
        self.cluster.wait(trains, "a run trains", PATIENCE)
        return not self.is_over()


def assert_complete(chain, sweeps):
    assert_equal(chain.dataset, sweeps.undisturbed())
    status = run(NORMSWEEP, "status", chain.dataset).stdout
    assert f"ended     {RUNS} of {RUNS} runs, 100.0 %" in status and "intact" in status


def disturbed(cluster, sweeps, tmp_path, disturb, *options):
    """A chain that was disturbed while it trained, and is over."""
    for attempt in range(10):
        chain = Chain(cluster, sweeps, tmp_path / str(attempt), *options)
        hit = chain.wait_trains() and disturb(chain)
        chain.wait_over()
        if hit:
            return chain
        sweeps.longer()
    raise AssertionError("no sweep could be disturbed in time")


def test_time_limit(cluster, tmp_path):
    """Jobs of a minute stop shortly before their time limit, each continued by the one that it has submitted; the one
    that completes the sweep cancels the next."""
    sweeps = Sweeps(tmp_path, seconds=60)  # of which each job trains for 40
    options = ["--ntasks-per-node=2", "--time=1", "--lead=20", "--chain=12"]
    while True:
        chain = Chain(cluster, sweeps, tmp_path / str(sweeps.steps), *options)
        chain.wait_over()
        if chain.statuses().count(75) >= 2:
            break
        sweeps.longer()
    statuses = chain.statuses()
    assert statuses == [75] * (len(statuses) - 1) + [0], "\n".join(chain.logs())
    assert chain.states() == ["FAILED"] * (len(statuses) - 1) + ["COMPLETED", "CANCELLED"]
    assert f"cancelling the rest of the chain, {chain.jobs[-1]}" in chain.log(chain.jobs[-2])
    assert_complete(chain, sweeps)


def test_node_lost(cluster, sweeps, tmp_path):
    """A node dies with all its processes; the sweep continues on the others, in the same job or the next."""
    def lose(chain):
        """Loses n3, which returns when the first job is over: the next, of four nodes too, waits for it."""
        job = chain.jobs[0]
        if len(cluster.node_processes("n3", job)) < 2:
            return False
        # A job that fails now would be followed at once by the next, on a node that Slurm takes for alive.
        cluster.run("scontrol", "update", "NodeName=n3", "State=DRAIN", "Reason=lost")
        cluster.lose_node("n3", job)
        cluster.run("scontrol", "update", "NodeName=n3", "State=DOWN", "Reason=lost")
        lost = (outcomes(chain.dataset) < 2).any()
        cluster.wait(lambda: cluster.has_ended([job]), f"job {job} is over", PATIENCE)
        cluster.start_node("n3")
        # Slurm refuses this of a node that has returned by itself meanwhile.
        cluster.run("scontrol", "update", "NodeName=n3", "State=RESUME", check=False)
        return lost

    chain = disturbed(cluster, sweeps, tmp_path, lose, "--nodes=4", "--ntasks-per-node=1", "--time=30", "--chain=3")
    assert chain.statuses()[-1] == 0, "\n".join(chain.logs())
    assert_complete(chain, sweeps)


def test_a_dead_node_that_slurm_takes_for_alive(cluster, sweeps, tmp_path):
    """A job gets a node that has just died: it trains on the others, and the chain does not end."""
    chain = Chain(cluster, sweeps, tmp_path, "--nodes=3", "--ntasks-per-node=1", "--time=30", "--chain=2", "--hold")
    cluster.lose_node("n2", chain.jobs[0])
    cluster.run("scontrol", "release", chain.jobs[0])
    chain.wait_over()
    cluster.start_node("n2")
    cluster.wait_idle()
    log = chain.log(chain.jobs[0])
    assert "status 3: the program does not start on n2" in log and "once more on the other nodes" in log
    assert chain.statuses() == [0] and chain.states() == ["COMPLETED", "CANCELLED"], "\n".join(chain.logs())
    assert_complete(chain, sweeps)


def test_srun_is_stopped_and_carried_on(cluster, sweeps, tmp_path):
    def stop(chain):
        cluster.run("scancel", "--batch", "--signal=USR1", chain.jobs[0], check=False)
        cluster.wait(lambda: chain.statuses() or chain.is_over(), "the first job has ended", PATIENCE)
        return chain.statuses()[:1] == [75]

    chain = disturbed(cluster, sweeps, tmp_path, stop, "--mode=srun", "--ntasks-per-node=3", "--time=30", "--chain=3")
    assert chain.statuses() == [75, 0], "\n".join(chain.logs())
    assert "srun, 3 tasks on n" in chain.log(chain.jobs[0])
    assert chain.states() == ["FAILED", "COMPLETED", "CANCELLED"]
    assert_complete(chain, sweeps)


def test_plans_by_itself_and_refuses(cluster, sweeps, tmp_path):
    """Without a plan a first job makes one; requests that the cluster does not allow are refused with one line."""
    sweep = tmp_path / "small.yaml"
    sweep.write_text(SWEEP + "steps: 10\n")
    for options, said in [(["--nodes=5"], "partition all gives at most 4 nodes, not 5"),
                          (["--partition=short", "--time=3"], "partition short ends jobs after 0:02:00, and --time is"),
                          (["--partition=none"], "Slurm has no partition none")]:
        done = cluster.run(SUBMIT, sweep, *options, check=False, cwd=tmp_path)
        assert done.returncode == 2 and done.stdout == "" and said in done.stderr and done.stderr.count("\n") == 1
    done = cluster.run(SUBMIT, sweep, "--partition=short", "--lead=30", "--comment=mine", cwd=tmp_path)
    assert "plan in small.nc.plan" in done.stdout and "16 runs, 0 have ended" in done.stdout
    job = re.search(r"a chain of 1: (\d+)$", done.stdout, re.M)[1]
    cluster.wait(lambda: cluster.has_ended([job]), f"job {job} is over", PATIENCE)
    assert "next=no" not in (tmp_path / "small.nc.plan").read_text()
    assert "status 0: every run has ended" in (tmp_path / f"slurm-{job}.out").read_text()
    done = cluster.run(SUBMIT, sweep, "--calibrated=small.nc.plan", cwd=tmp_path)
    assert done.stdout == "small.nc: nothing left to do: 16 runs have ended\n"


def test_a_refused_sweep_ends_its_chain(cluster, sweeps, tmp_path):
    """The dataset is spoilt after it was submitted; before, submit would refuse."""
    chain = Chain(cluster, sweeps, tmp_path, "--chain=3", "--ntasks-per-node=1", "--at-once", "--hold")
    (tmp_path / "out.nc").write_text("no dataset\n")
    cluster.run("scontrol", "release", chain.jobs[0])
    chain.wait_over()
    assert chain.statuses() == [2] and chain.states() == ["FAILED", "CANCELLED", "CANCELLED"]
    assert "out.nc: " in chain.log(chain.jobs[0]) and "cancelling the rest of the chain" in chain.log(chain.jobs[0])


def test_one_chain_for_a_dataset(cluster, sweeps, tmp_path):
    """A second one is refused while the first waits and while it trains; the same name in another folder is another
    dataset. Tasks have physical cores."""
    for name in "a", "b":
        (tmp_path / name).mkdir()
    chain = Chain(cluster, sweeps, tmp_path / "a", "--chain=2", "--hold")

    def refused(*options):
        before = chain.jobs
        done = cluster.run(*chain.command[:4], *options, cwd=chain.folder, check=False)
        said = re.fullmatch(r"submit: out.nc: already submitted: ([\d ]+); wait, or scancel \1, or give another "
                            r"--dataset\n", done.stderr)
        assert done.returncode == 2 and sorted(said[1].split(), key=int) == before == chain.jobs, done.stderr

    assert re.fullmatch(r"out.nc-[0-9a-f]{8}", chain.name) and len(chain.jobs) == 1
    refused()
    refused("--calibrated=plan", "--dry-run")
    other = Chain(cluster, sweeps, tmp_path / "b", "--hold")
    assert other.name != chain.name and len(other.jobs) == 1
    cluster.run("scancel", f"--name={other.name}")
    cluster.run("scontrol", "release", chain.jobs[0])
    cluster.wait(lambda: len(chain.jobs) == 2, "the first job has submitted the next", PATIENCE)
    assert chain.states() == ["RUNNING", "PENDING"] and chain.shown(chain.jobs[1], "Reason") == "Dependency"
    assert [chain.shown(chain.jobs[0], field) for field in ("NumTasks", "NumCPUs")] == ["4", "8"]
    refused()
    chain.wait_over()
    assert chain.states() == ["COMPLETED", "CANCELLED"]
    assert_complete(chain, sweeps)


def test_jobs_without_the_environment(cluster, sweeps, tmp_path):
    """With --export=NONE jobs have what submit gives them, and what the file of --setup sets."""
    setup = tmp_path / "set up.sh"
    setup.write_text("".join(f"export {name}={value}\n" for name, value in cluster.environment.items()
                             if name.startswith("OMPI_")))
    chain = Chain(cluster, sweeps, tmp_path, "--chain=2", "--export=NONE", "--setup", setup, "--mode=srun",
                  "--ntasks-per-node=3")
    chain.wait_over()
    assert chain.statuses() == [0] and chain.states() == ["COMPLETED", "CANCELLED"], "\n".join(chain.logs())
    assert f": {NORMSWEEP} run " in chain.log(chain.jobs[0]) and "; srun, 3 tasks on " in chain.log(chain.jobs[0])
    assert_complete(chain, sweeps)


def test_parts_as_an_array(cluster, sweeps, tmp_path):
    """Eight jobs of one node, one of which is told to stop and requeues itself: joined, the sweep of one job."""
    (tmp_path / "plan").write_text(PLAN)
    done = cluster.run(SUBMIT, sweeps.path, "--dataset", "out.nc", "--calibrated", "plan", "--spread=8", "--time=30",
                       "--ntasks-per-node=2", "--chain=2", cwd=tmp_path)
    assert done.stdout.startswith("out.parts: 16 runs, 0 have ended; ")
    array = re.search(r", an array of 8 jobs, each of which starts at most 2 times: (\d+)\n$", done.stdout)[1]
    cluster.wait(lambda: any((outcomes(path) == 1).any() for path in tmp_path.glob("out.parts/*.nc")), "a run trains",
                 PATIENCE)
    stopped = cluster.run("scancel", "--batch", "--signal=USR1", f"{array}_1", check=False).returncode == 0
    cluster.wait(lambda: not cluster.run("squeue", "--noheader", f"--jobs={array}", check=False).stdout.strip(),
                 "the array is over", PATIENCE)
    logs = {part: (tmp_path / f"slurm-{array}_{part}.out").read_text() for part in range(1, 9)}
    assert all(re.search(r" status 0: every run has ended\n$", log) for log in logs.values()), logs
    if stopped and " status 75: " in logs[1]:
        assert "requeued; 0 more starts may follow" in logs[1] and "start 2" in logs[1]
    assert "ended     16 of 16 runs, 100.0 %" in run(NORMSWEEP, "status", "out.parts", cwd=tmp_path).stdout
    script("join", "out.parts", cwd=tmp_path)
    assert_equal(tmp_path / "out.nc", sweeps.undisturbed())


def test_a_requeued_job_comes_before_the_next(cluster, sweeps, tmp_path):
    def requeue(chain):
        return cluster.run("scontrol", "requeue", chain.jobs[0], check=False).returncode == 0

    chain = disturbed(cluster, sweeps, tmp_path, requeue, "--ntasks-per-node=3", "--chain=3")
    assert chain.states() == ["COMPLETED", "CANCELLED"] and "start 2" in chain.log(chain.jobs[0])
    assert_complete(chain, sweeps)
