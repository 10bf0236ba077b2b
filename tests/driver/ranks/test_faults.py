"""No measurement is lost: faults of every kind in small sweeps, a run that kills its workers, two sweeps with one
output. NORMSWEEP_FAULTS_SEED repeats the random moments of an earlier call; `make faults` injects more faults."""

import os
import random
import re
import signal
import subprocess
import sys

import netCDF4
import numpy as np
import pytest

import faults
import same
from conftest import NORMSWEEP, PROJECT, tiny
from fault_kinds import KINDS
from fault_sweeps import Sweep, said
from schemas import events
from waited import wait_until
from watched import MARK, Watched, files_in

pytestmark = pytest.mark.thorough("injects every kind of fault at random moments; test_killed.py has fixed ones")

SWEEP = tiny(width=16, context=16) + """\
steps: 2000
learning_rate: [1e-2, 1e-3]
seed: [1, 2]
measure: {every: 100}
"""
ENDLESS = ["--set", "steps=100000000", "--set", "measure={every: 1000000}"]


def start(sweep, *arguments, environment=None):
    return Watched([NORMSWEEP, "run", sweep, *arguments], environment, cwd=sweep.parent)


FREEZES = "freeze worker"  # waits for time-outs, up to 100 s, so that its test is one of its own


@pytest.mark.long(200)
@pytest.mark.parametrize("kinds", [
    [FREEZES], [kind.name for kind in KINDS if kind.name != FREEZES]], ids=["one that freezes", "all others"])
def test_nothing_is_lost(kinds):
    seed = os.environ.get("NORMSWEEP_FAULTS_SEED", str(int.from_bytes(os.urandom(3), "big")))
    command = [sys.executable, PROJECT / "tests/driver/ranks/faults.py", "-n", str(len(kinds)), "--alone", "--seconds",
               "0.3", "--seed", seed, "--kinds", ",".join(kinds)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, f"NORMSWEEP_FAULTS_SEED={seed}\n{done.stdout}{done.stderr}"
    assert re.search(rf"^\d+ injections, 0 failed, seed {seed}$", done.stdout, re.M)
    print(done.stdout)


def test_the_comparison_sees_a_bit(normsweep, sweep, tmp_path):
    normsweep("run", sweep, "-j", "0", "-o", "whole.nc")
    whole, chance = same.read(tmp_path / "whole.nc"), random.Random(0)
    axes = whole["outcome"].dimensions
    for name in [name for name, values in whole.items() if values.dimensions[:len(axes)] == axes]:
        (tmp_path / "altered.nc").write_bytes((tmp_path / "whole.nc").read_bytes())
        assert same.differences(same.read(tmp_path / "altered.nc"), whole) == []
        with netCDF4.Dataset(tmp_path / "altered.nc", "r+") as file:
            file.set_auto_maskandscale(False)
            file.set_auto_chartostring(False)
            values = np.ascontiguousarray(file[name][...])
            values.view(np.uint8).reshape(-1)[chance.randrange(values.nbytes)] ^= 1 << chance.randrange(8)
            file[name][...] = values
        altered = same.read(tmp_path / "altered.nc")
        found = same.differences(altered, whole)
        assert len(found) == 1 and found[0].startswith(f"{name}: 1 of "), name
        assert same.strays(altered, whole), name


def test_a_part_may_be_empty_but_not_wrong(normsweep, sweep, tmp_path):
    normsweep("run", sweep, "-j", "0", "-o", "part.nc")
    whole = same.read(tmp_path / "part.nc")

    def strays(*changes):
        with netCDF4.Dataset(tmp_path / "part.nc", "r+") as file:
            file.set_auto_maskandscale(False)
            for name, value in changes:
                file[name][0, 0] = value
        return same.strays(same.read(tmp_path / "part.nc"), whole)
    assert strays() == []
    assert strays(("train_loss", np.nan)) != []  # it has ended
    assert strays(("outcome", same.RUNNING)) == []
    assert strays(("train_loss", 3.0)) != []
    assert strays(("train_loss", np.nan), ("outcome", same.FAILED)) != []


# ---- the harness notices errors ----

def leave_a_file(case):
    (case.place / "sweep.nc.part").touch()


def leave_a_log(case):
    (case.place / "sweep.nc.d" / "worker-000000-1.log").touch()


def leave_a_process(case):
    left = subprocess.Popen(["sleep", "60"], env={**os.environ, MARK: case.watched[0].mark})
    wait_until(lambda: any(process.pid == left.pid for process in case.watched[0].look()), "it is seen")


def alter_the_dataset(case):
    with netCDF4.Dataset(case.output, "r+") as dataset:
        values = dataset["final_train_loss"][...].filled(np.nan)
        values.flat[0] = np.nextafter(values.flat[0], np.inf)
        dataset["final_train_loss"][...] = values


def alter_the_weights(case):
    path = next((case.place / "sweep.nc.d").glob("*.weights.nc"))
    text = bytearray(path.read_bytes())
    text[-5] ^= 1
    path.write_bytes(text)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return Sweep("optimisers", tmp_path_factory.mktemp("undisturbed"), 0.05)


@pytest.mark.parametrize("harm, complaint", [
    (leave_a_file, "left beside the dataset: ['sweep.nc.part']"),
    (leave_a_log, "left beside the dataset: ['sweep.nc.d/worker-000000-1.log']"),
    (leave_a_process, "alive "), (alter_the_dataset, "1 of 9 values differ"), (alter_the_weights, "values differ")])
def test_the_harness_sees(undisturbed, tmp_path, monkeypatch, harm, complaint):
    monkeypatch.setattr(faults, "GONE_SECONDS", 1)
    case = faults.Case(undisturbed, [], [], 0, random.Random(0), tmp_path, 300)
    look_at_end = case.look_at_end
    case.look_at_end = lambda: (harm(case), look_at_end())
    with pytest.raises(faults.Lost, match=re.escape(complaint)):
        case.play()


# ---- a run that kills its workers ----

BEGINS = re.compile(r" pid (\d+) .*begins run ([0-9a-f]{32}) cell (\d+)$", re.M)


class Logs:
    """The logs of workers, read while they run."""

    def __init__(self, folder):
        self.folder, self.read = folder, {}

    def news(self):
        """(pid, digest, cell) of runs that have begun since the last call."""
        found = []
        for path in self.folder.glob("worker-*.log"):
            try:
                text = path.read_text(errors="replace")
            except FileNotFoundError:
                continue
            text = text[:text.rfind("\n") + 1]
            before = self.read.get(path, 0)
            self.read[path] = len(text)
            found += [(int(pid), digest, int(cell)) for pid, digest, cell in BEGINS.findall(text[before:])]
        return found


def test_a_run_that_kills_its_workers_fails_alone(normsweep, sweep, tmp_path):
    poison, deaths, digest = 1, 0, None
    long = ["--set", "steps=20000", "--set", "checkpoint_minutes=1000"]
    with start(sweep, "-j", "2", "--log", tmp_path / "log", *long) as command:
        logs = Logs(tmp_path / "sweep.nc.d")
        while command.wait(0.001):
            for pid, run_digest, cell in logs.news():
                worker = [process for process in command.of("worker", "spare") if process.pid == pid]
                if cell == poison and worker and worker[0].kill(signal.SIGKILL):
                    deaths, digest = deaths + 1, run_digest
        assert command.ends() == 1, command.text
    assert deaths == 3, command.text
    with netCDF4.Dataset(tmp_path / "sweep.nc") as dataset:
        outcome, reasons = dataset["outcome"][:].ravel(), dataset["reason"][:].ravel()
        assert dataset["deaths"][:].ravel()[poison] == 3
        assert outcome[poison] == same.FAILED and (np.delete(outcome, poison) == same.DONE).all()
        assert reasons[poison] and (np.delete(reasons, poison) == "").all()
    failed = [line for line in said(command.text["err"]) if line.startswith("failed: ")]
    assert len(failed) == 1 and reasons[poison] in failed[0]
    assert (tmp_path / "sweep.nc.d" / f"{digest}.log").read_text().strip()
    lines = events(tmp_path)
    assert sum(line["event"] == "worker_lost" and line.get("cell") == poison for line in lines) == 3
    ended, = [line for line in lines if line["event"] == "run_ended" and line["cell"] == poison]
    assert (ended["outcome"], ended["reason"], lines[-1]["exit_status"]) == ("failed", reasons[poison], 1)

    assert "nothing left to do" in normsweep("run", sweep, "-j", "2", *long, status=1).stdout
    normsweep("run", sweep, "-j", "2", *long, "--retry-failed")
    normsweep("run", sweep, "-j", "0", *long, "-o", "whole.nc")
    assert same.differences(same.read(tmp_path / "sweep.nc"), same.read(tmp_path / "whole.nc")) == []
    assert not list(tmp_path.glob("sweep.nc.d/*")) and not list(tmp_path.glob("*.lease"))


# ---- spares ----

@pytest.mark.parametrize("spares", [0, 1])
def test_spares_take_the_places_of_lost_workers(sweep, tmp_path, spares):
    """Each once; when none is left, the pool shrinks and the sweep goes on."""
    with start(sweep, "-j", "2", "--spares", str(spares), "--log", tmp_path / "log", *ENDLESS) as command:
        command.wait_until(lambda: len(events(tmp_path, "run_started")) == 2, "two workers train")
        assert len(command.of("worker")) == 2 and len(command.of("spare")) == spares
        victim = command.of("worker")[0]
        for lost in range(1, spares + 2):
            assert victim.kill(signal.SIGKILL)
            command.wait_until(lambda: len(events(tmp_path, "worker_lost")) == lost, "its death is noticed")
            if lost <= spares:
                command.wait_until(lambda: len(events(tmp_path, "run_started")) == 2 + lost, "a spare trains its run")
                victim, = command.of("spare")
        command.wait_until(lambda: command.text["err"].count("was lost; 1 of 2 is left") == spares + 1, "it is said")
        command.process.send_signal(signal.SIGTERM)
        assert command.ends() == 75, command.text
    lost, replaced = events(tmp_path, "worker_lost"), events(tmp_path, "worker_replaced")
    assert len(replaced) == spares and {line["worker"] for line in lost + replaced} == {lost[0]["worker"]}
    assert [line["rank"] for line in replaced] == [3] * spares


def test_a_worker_that_is_stopped_ends_the_sweep_also_if_a_spare_has_died(sweep, tmp_path):
    with start(sweep, "-j", "1", "--log", tmp_path / "log", *ENDLESS) as command:
        command.wait_until(lambda: events(tmp_path, "run_started") and command.of("spare"), "a worker trains")
        command.of("spare")[0].kill(signal.SIGKILL)
        command.wait_until(lambda: "the spare rank 2 on" in command.text["err"], "the death is noticed")
        command.of("worker")[0].kill(signal.SIGTERM)
        assert command.ends(60) == 75, command.text
    assert "starting again" not in command.text["err"]


# ---- two sweeps with one output ----

@pytest.mark.parametrize("jobs", ["0", "2"])
def test_a_second_sweep_is_refused_while_the_first_lives(normsweep, sweep, tmp_path, tmp_path_factory, jobs):
    folder = tmp_path_factory.mktemp("mpirun")
    with start(sweep, "-j", jobs, *ENDLESS, environment=files_in(folder, folder)) as command:
        command.wait_until(lambda: 0 in sessions_that_train(tmp_path / "sweep.nc"), "the first one trains")
        for other in "0", "2":
            refused = normsweep("run", sweep, "-j", other, *ENDLESS, status=3)
            assert refused.stderr.startswith("sweep.nc: in use by process ") and refused.stderr.count("\n") == 1
        assert command.process.poll() is None
        for process in command.look():
            process.kill(signal.SIGKILL)
        command.process.wait(60)
        with start(sweep, "-j", jobs, *ENDLESS) as second:
            second.wait_until(lambda: 1 in sessions_that_train(tmp_path / "sweep.nc"), "the second one trains")
            second.process.send_signal(signal.SIGTERM)
            assert second.ends() == 75 and said(second.text["err"]) == []


def outcomes(path):
    with netCDF4.Dataset(path) as dataset:
        return dataset["outcome"][:].ravel()


def sessions_that_train(path):
    """The numbers of the starts whose runs are under way, as far as the dataset knows: a killed one is among them."""
    if not path.exists():
        return set()
    with netCDF4.Dataset(path) as dataset:
        return set(dataset["session"][:][dataset["outcome"][:] == same.RUNNING].tolist())
