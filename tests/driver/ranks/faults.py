"""Injects faults into small sweeps and checks that no measurement is lost.

A case is a sweep with one or more faults at random moments: processes killed, stopped, signalled, disks full, folders
removed, checkpoints damaged (fault_kinds.py). Its command is repeated until the sweep is complete. After each command
the exit status must be one that the fault allows, no process may be left, and the dataset must hold what was committed
and nothing that an undisturbed sweep would not have measured. At the end every measured variable must equal that of
the undisturbed sweep, bit for bit, and no file may be left beside the dataset. All random choices of a case depend
only on the seed and its number, so that `--seed S --only K` repeats it, as far as the machine's timing allows.
"""

import argparse
import contextlib
import itertools
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import netCDF4
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))  # also when run as a program

import same
from fault_kinds import KINDS, checkpoints
from fault_sweeps import PROGRAM, ROOT, SWEEPS, Sweep, said
from watched import Watched, files_in

LAUNCHER_DIES = ("kill launcher", "kill all", "cut checkpoint", "flip checkpoint")  # no process is left to remove files
# After these a run without a checkpoint counts a death.
DEADLY = ("kill worker", "freeze worker", "kill coordinator", "kill mpirun", "kill launcher", "kill all",
          "second SIGINT", "cut checkpoint", "flip checkpoint")
GONE_SECONDS = 60  # for the processes of a sweep to end after their launcher
LATE_MOST = 10  # times that a case is restarted because its sweep ended before the fault
DISK_BYTES = 8 << 20


class Lost(Exception):
    """A check of a case has failed."""


class Case:
    def __init__(self, sweep, kinds, moments, jobs, chance, folder, deadline):
        self.sweep, self.random, self.folder = sweep, chance, folder
        self.deadline = deadline * max(len(kinds), 1)
        self.jobs, self.here = jobs, jobs == 0
        self.plan, self.planned = list(zip(kinds, moments)), len(kinds)
        self.disk = folder / "disk"
        self.place = self.disk / "out"
        self.output = self.place / "sweep.nc"
        self.needs_disk = any(kind.needs_disk for kind in kinds)
        self.done, self.statuses, self.said = [], [], []  # faults, exit statuses and stderr of each command
        self.over = None  # cells that had ended when last seen
        self.commands = contextlib.ExitStack()
        self.watched, self.damaged, self.missed = [], {}, False
        self.at_once = 0  # since when a command may be refused because of an earlier one's processes
        self.begin_command()

    def begin_command(self):
        self.allowed, self.timers, self.repairs, self.causes = {0}, [], [], [""]
        self.happened, self.before, self.stopped = 0, set(), False

    # ---- queries of fault kinds ----

    def later(self, seconds, action):
        due = time.monotonic() + seconds
        self.when(lambda: time.monotonic() >= due, action)

    def when(self, condition, action):
        self.timers.append((condition, action))

    def afterwards(self, action):
        self.repairs.append(action)

    def tick(self):
        for timer in list(self.timers):
            if timer[0]():
                self.timers.remove(timer)
                timer[1]()
        return False

    # ---- one command ----

    def left(self):
        """About how long the sweep still takes, in seconds."""
        life = self.sweep.life_here if self.here else self.sweep.life
        return life if self.over is None else life * (1 - 0.9 * self.over.sum() / self.over.size)

    def start(self):
        environment = {**ROOT, **files_in(self.folder / "t", self.folder / "t")}
        command = Watched([PROGRAM, "run", self.sweep.path, "-j", self.jobs, "-o", self.output], environment,
                          cwd=self.folder)
        self.watched.append(self.commands.enter_context(command))
        return command

    def inject(self, command, end):
        """Injects the next fault at its moment. False: the command ended before."""
        kind, moment = self.plan[0]
        running = command.wait(moment * self.left(), self.tick)
        while running and time.monotonic() < end:
            self.before = self.running()
            what = kind.inject(self, command)
            if what:
                self.plan.pop(0)
                self.allowed |= kind.statuses
                self.happened += 1
                self.done.append(f"{kind.name} at {time.monotonic() - command.begun:.3f} s: {what}")
                return True
            running = command.wait(0.003, self.tick)
        return False

    def give_command(self):
        """Runs the command once, with the faults that fall into its time; returns its exit status."""
        self.begin_command()
        command = self.start()
        end = command.begun + self.deadline
        while self.plan and self.inject(command, end) and (self.allowed == {0} or self.random.random() < 0.3):
            pass  # a fault that ends the command mostly leaves the other faults to the next
        hangs = command.wait(end - time.monotonic(), self.tick)
        stacks = command.stacks() if hangs else ""
        for action in self.repairs:
            action()
        if hangs:
            raise Lost(f"hangs: has not ended within {self.deadline:.0f} s\n{stacks}\n{command.text['err']}")
        status = command.process.returncode
        if not self.at_once or status >= 0:
            self.wait_gone(command)
        self.statuses.append(status)
        self.said.append(command.text["err"])
        self.judge(status, said(command.text["err"]))
        return status

    def judge(self, status, lines):
        refused = status == 3 and len(lines) == 1 and "in use by process" in lines[0]
        if refused and self.at_once and time.monotonic() - self.at_once < GONE_SECONDS:
            return
        if status not in self.allowed:
            raise Lost(f"exit status {status}, allowed are {sorted(self.allowed)}; it said: {lines}")
        lines = [line for line in lines if not any(name in line for name in self.damaged)]
        if status == 0 and self.happened == 1 and self.causes != [""] and lines:
            raise Lost(f"went on although '{self.causes[0]}': {lines}")
        if status == 3 and self.happened == 1 and \
                (len(lines) != 1 or not any(cause in lines[0] for cause in self.causes)):
            raise Lost(f"status 3 without one line, and one alone, that has '{self.causes[0]}': {lines}")

    def wait_gone(self, command):
        if command.wait_gone(GONE_SECONDS) is None:
            raise Lost(f"alive {GONE_SECONDS} s after the end of the command:\n{command.stacks()}")

    # ---- the dataset between commands and in the end ----

    def running(self):
        """Cells of running runs that have measured something since their start."""
        try:
            with netCDF4.Dataset(self.output) as dataset:
                outcome, loss = dataset["outcome"][:], numpy.ma.filled(dataset["train_loss"][:], numpy.nan)
        except OSError:
            return set()
        found = (outcome == same.RUNNING) & numpy.isfinite(loss[..., 1:]).any(-1)
        return {tuple(cell) for cell in numpy.argwhere(found)}

    def look_at_dataset(self):
        if not self.output.exists() and self.over is None:
            return  # not created yet
        try:
            part = same.read(self.output)
        except OSError as error:
            raise Lost(f"the dataset cannot be opened: {error}") from error
        found = same.strays(part, self.sweep.whole)
        over = same.ended(part)
        if self.over is not None and (self.over & ~over).any():
            found.append(f"outcome: {self.over.sum()} runs had ended, and now {over.sum()}")
        if found:
            raise Lost("the dataset between two commands: " + "; ".join(found))
        self.over = over

    def look_at_checkpoints(self):
        """After a stop without other faults: each run that was running has ended or can be continued."""
        waits = {cell for cell in self.before if not self.over[cell]}
        saved = checkpoints(self.place / "sweep.nc.d")
        if len(waits) > len(saved):
            raise Lost(f"stopped: runs of the cells {sorted(waits)} went on, and {len(saved)} runs have checkpoints")

    def look_at_end(self):
        try:
            self.sweep.compare(self.output)
        except AssertionError as error:
            raise Lost(str(error)) from error
        beside = {path.relative_to(self.place).as_posix() for path in self.place.rglob("*")}
        beside -= {"sweep.nc", "sweep.nc.d", *(f"sweep.nc.d/{name}" for name in self.sweep.weights)}
        if beside:
            raise Lost(f"left beside the dataset: {sorted(beside)}")
        for command in self.watched:
            self.wait_gone(command)
        temporary = [path for path in (self.folder / "t").rglob("*") if not path.is_dir()]
        if temporary and not any(done.startswith(LAUNCHER_DIES) for done in self.done):
            raise Lost(f"left of mpirun: {temporary}")

    def play(self):
        """True if all faults were injected in time. Raises Lost."""
        (self.folder / "t").mkdir()
        self.place.mkdir(parents=True)
        most = 3 * self.planned + 4
        with self.commands:
            while True:
                status = self.give_command()
                refused = status == 3 and self.happened == 0
                if refused:
                    time.sleep(0.1)
                    continue
                if not self.at_once or status >= 0:
                    self.at_once = 0
                    self.look_at_dataset()
                if status == 75 and self.stopped and self.happened == 1:
                    self.look_at_checkpoints()
                if status == 0:
                    self.look_at_end()
                    return not self.plan and not self.missed
                most -= 1
                if most == 0:
                    raise Lost(f"not complete after {len(self.statuses)} commands")


@contextlib.contextmanager
def small_disk(folder, wanted):
    """Mounts a file system in the folder, if the case needs one."""
    folder.mkdir()
    if wanted:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        if wanted:
            kept = folder.with_name("kept")
            shutil.copytree(folder, kept, ignore=shutil.ignore_patterns("filler"))
            subprocess.run(["umount", "-l", folder], check=True)


def can_mount(folder):
    try:
        with small_disk(folder / "disk", True):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


class Campaign:
    """Plays cases until the requested number of faults was injected."""

    def __init__(self, chosen, folder):
        self.chosen, self.seed, self.folder, self.kinds = chosen, chosen.seed, folder, chosen.kinds
        self.injected, self.failed, self.sweeps = 0, 0, {}
        if any(kind.needs_disk for kind in self.kinds):
            (folder / "try").mkdir()
            if not can_mount(folder / "try"):
                print("no file system can be mounted here: disks are not filled, but writes are refused", flush=True)
                self.kinds = [kind for kind in self.kinds if not kind.needs_disk]

    def sweep(self, name):
        """It is made when a case first needs it."""
        if name not in self.sweeps:
            sweep = self.sweeps[name] = Sweep(name, self.folder, self.chosen.seconds)
            print(f"{name}: {sweep.runs} runs of {sweep.steps} steps, {sweep.life:.1f} s with 2 workers", flush=True)
        return self.sweeps[name]

    def draw(self, number, again):
        """The case of this number: each kind in turn comes first, and others may follow."""
        chance = random.Random(f"{self.seed} {number} {again}")
        kind = self.kinds[number % len(self.kinds)]
        sweep = self.sweep(chance.choice(list(SWEEPS)))
        jobs = 0 if kind.here and chance.random() < 0.2 else chance.choice([2, 2, 3])
        others = [other for other in self.kinds if (other.here or jobs) and other.name != "freeze worker"]
        more = 0 if self.chosen.alone or not others else chance.choice([0, 0, 1, 2])
        kinds = [kind] + (chance.choices(others, [other.weight for other in others], k=more) if more else [])
        deaths = [kind.name for kind in kinds if kind.name in DEADLY]
        if len(deaths) > 2 and {"kill worker", "freeze worker"} & set(deaths):
            kinds.pop()  # a third death without a checkpoint would rightly fail the run
        moments = [chance.random() * (0.1 if chance.random() < 0.15 else 1) * 0.8 ** again for _ in kinds]
        return sweep, kinds, moments, jobs, chance

    def play(self, number):
        """Plays a case, again if its first fault came too late; prints the result."""
        for again in range(LATE_MOST):
            folder = self.folder / f"{number}-{again}"
            folder.mkdir()
            case, problem = Case(*self.draw(number, again), folder, self.chosen.deadline), None
            try:
                with small_disk(case.disk, case.needs_disk):
                    case.play()
            except Lost as lost:
                problem = lost
            if problem or (case.done and not case.missed):
                break
            shutil.rmtree(folder)
        self.tell(number, case, problem)

    def tell(self, number, case, problem):
        head = f"{number:4} seed {self.seed} {case.sweep.name} -j {case.jobs}"
        statuses = " ".join(map(str, case.statuses))
        verdict = "FAILED" if problem else "ok"
        for done in case.done or ["nothing: the sweep had always ended before"]:
            print(f"{head}: {done}; statuses {statuses}: {verdict}", flush=True)
        self.injected += len(case.done)
        if problem:
            self.failed += 1
            print(f"  {problem}\n  damaged: {case.damaged}\n  it said, command by command: {case.said}\n"
                  f"  kept in {case.folder}; again: {self.repeat(number)}", flush=True)
        else:
            shutil.rmtree(case.folder, ignore_errors=True)

    def repeat(self, number):
        alone = " --alone" if self.chosen.alone else ""
        kinds = f" --kinds '{self.chosen.kinds_given}'" if self.chosen.kinds_given else ""
        return (f"tests/driver/ranks/faults.py --seed {self.seed} --only {number} --seconds {self.chosen.seconds:g}"
                f"{alone}{kinds}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=100, help="injections at least (100), each kind among them")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"), help="of all choices")
    parser.add_argument("--only", type=int, help="the case of this number alone")
    parser.add_argument("--seconds", type=float, default=1.0, help="that a full run takes, about (1.0)")
    parser.add_argument("--alone", action="store_true", help="one fault a sweep, instead of one or more")
    # A worker that freezes before MPI has started is waited for 100 s.
    parser.add_argument("--deadline", type=float, default=300,
                        help="of one command, for each fault of its case; what takes longer hangs (300)")
    parser.add_argument("--kinds", dest="kinds_given",
                        help="of faults, divided by commas: " + ", ".join(kind.name for kind in KINDS))
    chosen = parser.parse_args()
    names = chosen.kinds_given.split(",") if chosen.kinds_given else [kind.name for kind in KINDS]
    chosen.kinds = [kind for kind in KINDS if kind.name in names]
    if len(chosen.kinds) != len(set(names)):
        parser.error(f"no such kind among {', '.join(names)}")
    return chosen


def main():
    chosen = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("faults: ended by SIGTERM"))
    if not PROGRAM.is_file():
        sys.exit(f"faults: {PROGRAM}: not there; make builds it")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="faults-"))
    campaign = Campaign(chosen, folder)
    if chosen.only is not None:
        campaign.play(chosen.only)
    else:
        for number in itertools.count():
            if campaign.injected >= chosen.n and number >= min(chosen.n, len(campaign.kinds)):
                break
            campaign.play(number)
    if not campaign.failed:
        shutil.rmtree(folder)
    print(f"{campaign.injected} injections, {campaign.failed} failed, seed {chosen.seed}")
    sys.exit(1 if campaign.failed else 0)


if __name__ == "__main__":
    main()
