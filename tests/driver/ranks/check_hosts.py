"""Sweeps on three hosts of one network (tests/hosts.py), on which a process, a host or each worker of a host is lost:
`make check-hosts`.

Each case prints the seconds from the fault until it is noticed and until the sweep has ended. Whatever happens, the
values must be those of an undisturbed sweep, bit for bit, nothing may hang, and within two minutes nothing may be left
on a host that still answers. Times are printed, not judged. Words on the command line choose cases by their names.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import netCDF4

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import hosts
import same
from conftest import NORMSWEEP, tiny
from schemas import events

LIMIT = 600  # seconds for a command to end
LEFT_SECONDS = 120
SWEEP = tiny(vocabulary=64, layers=2, width=32, feedforward=64, context=32, batch=8) + """\
steps: 2000
learning_rate: {log: [1e-1, 1e-4], points: 6}
seed: [0, 1, 2]
measure: {every: 500}
checkpoint_minutes: 0.02
"""


class Failed(Exception):
    """A check of a case has failed."""


class Case:
    def __init__(self, three, folder):
        self.three, self.folder, self.output = three, folder, folder / "out" / "sweep.nc"
        self.first, self.second, self.third = three.hosts
        self.lost, self.noticed = [], None
        self.output.parent.mkdir()
        (folder / "sweep.yaml").write_text(SWEEP)

    def start(self, host, file=None):
        """On all three hosts, or on those of a file, which Open MPI's own variable names."""
        options = [] if file else ["--hosts", self.three.file]
        variables = {"OMPI_MCA_orte_default_hostfile": str(file)} if file else {}
        return host.enter([NORMSWEEP, "run", self.folder / "sweep.yaml", *options, "-o", self.output, "--log",
                           self.folder / "log"], variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    @contextlib.contextmanager
    def started(self, file=None):
        command = self.start(self.first, file)
        try:
            yield command
        finally:
            command.kill()
            command.wait()

    def host_file(self, name, **slots):
        path = self.folder / name
        path.write_text("".join(f"{host} slots={number}\n" for host, number in slots.items()))
        return path

    def ended(self):
        """How many runs have ended."""
        try:
            with netCDF4.Dataset(self.output) as dataset:
                return int((dataset["outcome"][:] >= same.DONE).sum())
        except OSError:
            return 0

    def wait(self, condition, what, seconds=LIMIT):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise Failed(f"not within {seconds} s: {what}")
            time.sleep(0.1)

    def left(self):
        return {host.name: host.processes() for host in self.three.hosts
                if host not in self.lost and host.processes()}

    def wait_gone(self):
        try:
            self.wait(lambda: not self.left(), "nothing is left", LEFT_SECONDS)
        except Failed as error:
            raise Failed(f"{error}: {self.left()}") from None

    def watch(self, command, begin, names, meanwhile=lambda: None):
        """Until the command ends: (seconds from `begin` to the first event of these names, what the command says)."""
        noticed = None
        while True:
            ended = command.poll() is not None
            if noticed is None and events(self.folder, *names):
                noticed = time.monotonic() - begin
            if ended:
                return noticed, command.communicate()[0]
            if time.monotonic() - begin > LIMIT:
                raise Failed("the command hangs")
            meanwhile()
            time.sleep(0.05)

    def play(self, fault):
        """(seconds to notice, to the end, until nothing is left) from the fault."""
        with self.started() as command:
            self.wait(lambda: self.ended() >= 3 or command.poll() is not None, "three runs have ended")
            begin = time.monotonic()
            afterwards = fault(self)
            noticed, text = self.watch(command, begin, ("worker_lost", "coordinator_restarted"))
            if self.first not in self.lost and command.returncode != 0:
                raise Failed(f"status {command.returncode}: {text}")
            if afterwards:
                afterwards()
            end = time.monotonic() - begin
            self.wait_gone()
            return noticed, end, time.monotonic() - begin


# ---- faults: each returns what is to be done after the command, if anything ----

def nothing(case):
    pass


def kill_worker(case):
    """One on the second host, by its rank among those there: the spare is the last one."""
    for pid in case.second.processes():
        try:
            environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if b"OMPI_COMM_WORLD_LOCAL_RANK=0" in environment:
                os.kill(pid, signal.SIGKILL)
                return
        except OSError:
            pass
    raise Failed(f"no worker on the second host: {case.second.processes()}")


def kill_host(case):
    case.lost.append(case.third)
    case.third.kill()


def lose_power(case):
    case.lost.append(case.third)
    case.third.cut()
    case.third.kill()


def freeze_host(case):
    case.lost.append(case.third)
    case.third.freeze()


def cut_for(seconds):
    def cut(case):
        case.third.cut()
        end = threading.Timer(seconds, case.third.cut, [False])
        end.start()
        return end.join
    return cut


def cut_for_good(case):
    case.lost.append(case.third)
    case.third.cut()


def lose_coordinator(case):
    """The command is given again on another host, without the lost one, and refused until the lease has expired."""
    case.lost.append(case.first)
    case.first.cut()
    case.first.kill()
    rest = case.host_file("rest", hb=1, hc=1)

    def again():
        case.wait_gone()
        deadline = time.monotonic() + 180
        while (command := case.start(case.second, rest)).wait(LIMIT) != 0:
            text = command.communicate()[0]
            if command.returncode != 3 or "in use" not in text or time.monotonic() > deadline:
                raise Failed(f"status {command.returncode}: {text}")
            time.sleep(2)
        command.communicate()
    return again


CASES = {"undisturbed": nothing, "worker killed": kill_worker, "host killed": kill_host, "power lost": lose_power,
         "host frozen": freeze_host, "cut off for 10 s": cut_for(10), "cut off for 45 s": cut_for(45),
         "cut off for good": cut_for_good, "coordinator's host lost": lose_coordinator}


def in_hosts(folder, action):
    folder.mkdir()
    with hosts.Hosts(folder) as three:
        return action(Case(three, folder))


def unshared(case):
    """A folder that the third host has for itself: refused in one line, and nothing is left."""
    mounted = case.third.enter(["mount", "-t", "tmpfs", "tmpfs", case.output.parent])
    if mounted.wait() != 0:
        raise Failed("the folder of the third host cannot be made")
    with case.started() as command:
        begin = time.monotonic()
        text = command.communicate(timeout=LIMIT)[0]
    lines = [line for line in text.splitlines() if "worker" not in line.partition(";")[0]]
    if command.returncode != 3 or len(lines) != 1 or "hosts share" not in lines[0]:
        raise Failed(f"status {command.returncode}: {text}")
    end = time.monotonic() - begin
    case.wait_gone()
    return end, end, time.monotonic() - begin


def bad_host(case):
    """Each worker that begins a run on the third host is killed at once: the host gets no more runs after three, one
    line says so, and none of the deaths counts. The fault is the first kill."""
    killed = {}

    def kill():
        for log in case.output.parent.glob("sweep.nc.d/worker-*.log"):
            with contextlib.suppress(FileNotFoundError):
                begun = set(re.findall(r" pid (\d+) host hc begins run \S+ cell (\d+)\n", log.read_text()))
                for worker in begun - killed.keys():
                    killed[worker] = time.monotonic()
                    case.third.enter(["kill", "-KILL", worker[0]]).wait()

    with case.started(case.host_file("bad", ha=1, hb=1, hc=3)) as command:
        start = time.monotonic()
        noticed, text = case.watch(command, start, ("host_shut",), kill)
        end = time.monotonic()
    lines = [line for line in text.splitlines() if "hc gets no more runs: workers died there in 3 runs" in line]
    if command.returncode != 0 or len(lines) != 1:
        raise Failed(f"status {command.returncode}: {text}")
    told = events(case.folder, "run_started", "run_resumed", "host_shut", "host_opened")
    there = [event["event"] for event in told if event["host"] == "hc"]
    if there != ["run_started"] * len(killed) + ["host_shut"]:
        raise Failed(f"after {len(killed)} kills the log has {there}")
    with netCDF4.Dataset(case.output) as dataset:
        bad, deaths = dataset["session_bad_hosts"][0], dataset["deaths"][:]
    if bad != "hc" or deaths.any():
        raise Failed(f"bad hosts '{bad}', deaths {deaths}")
    case.wait_gone()
    begin = min(killed.values())
    return noticed - (begin - start), end - begin, time.monotonic() - begin


def main():
    if hosts.lacking():
        print(f"check-hosts: NOT CHECKED: {hosts.lacking()}")
        return 0
    hosts.begin_alone()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("check-hosts: ended by SIGTERM"))
    root, failed, words = pathlib.Path(tempfile.mkdtemp(prefix="hosts-")), 0, sys.argv[1:]
    row = "{:<26}{:>12}{:>12}{:>12}"
    print(row.format("seconds from the fault", "noticed", "ended", "all gone"), flush=True)
    cases = {name: lambda case, fault=fault: case.play(fault) for name, fault in CASES.items()}
    cases |= {"bad host": bad_host, "folder that is not shared": unshared}
    whole = None
    for number, (name, action) in enumerate(cases.items()):
        if words and name != "undisturbed" and not any(word in name for word in words):
            continue
        folder = root / str(number)
        try:
            times = in_hosts(folder, action)
            if action is not unshared:
                values = same.read(folder / "out" / "sweep.nc")
                whole = whole or values
                if apart := same.differences(values, whole):
                    raise Failed(f"other values than undisturbed: {apart}")
                if list((folder / "out").glob("sweep.nc.*")):
                    raise Failed(f"left beside the dataset: {list((folder / 'out').iterdir())}")
            print(row.format(name, *("-" if t is None else f"{t:.1f}" for t in times)), flush=True)
        except Failed as error:
            failed += 1
            print(f"{name:<26}FAILED: {error}", flush=True)
    if failed:
        print(f"check-hosts: {failed} failed; files are in {root}")
    else:
        shutil.rmtree(root)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
