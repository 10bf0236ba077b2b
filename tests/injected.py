"""Runs the program with one failing call: the n-th of a family, for each n until none fails any more (tests/injector.c
counts and fails them)."""

import errno
import functools
import itertools
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import typing

import netCDF4

import preloaded
import same
from conftest import NORMSWEEP, tiny

# What the calls of a family fail with.
FAMILIES = {"memory": errno.ENOMEM, "library": errno.ENOMEM, "write": errno.ENOSPC, "sync": errno.EIO,
            "rename": errno.EIO, "open": errno.EIO, "read": errno.EIO, "close": errno.EIO, "remove": errno.EIO}
ALLOCATIONS = {"memory", "library"}  # the program's, through functions of libc, too; those of libraries it calls
# Functions in whose calls a failure is no error: a lease that could not be renewed is renewed later, and a sweep does
# not end for its log. Whatever else cannot be written, synced or renamed ends a
# command.
TOLERATED = {"write": {"lease_record_put", "write_line"}, "sync": set(), "rename": set()}
NOTICES = "; the run starts anew", "; an earlier checkpoint is used"  # not errors, and may come before one
# A leak, or undefined behaviour, ends the program with a status of its own. Stacks are whole, though not all libraries
# have frame pointers.
SANITIZER = "allocator_may_return_null=1:fast_unwind_on_malloc=0:exitcode=86"
FOREVER = 2**62
SECONDS = 300  # of a command that does not hang, on a loaded machine
STATE = struct.Struct("8q24s")
STACKS = 1 << 16

SWEEP = tiny(vocabulary=8, corpus_tokens=300, heads=1, feedforward=8, batch=2) + """\
steps: 6
measure: {every: 3}
validate: {every: end, tokens: 64}
checkpoint_minutes: 1.0e-9
seed: [1, 2]
"""


def library(folder):
    folder.mkdir(exist_ok=True)
    return preloaded.preload(folder, (pathlib.Path(__file__).parent / "injector.c").read_text())


class Done(typing.NamedTuple):
    status: int  # negative: a signal; None: it hung
    out: str
    err: str
    calls: int
    failed: int
    place: str  # where in the program the first failed call came from
    crashed: bool  # a library got a signal for a fault of its own, or aborted


@functools.cache
def place_of(address, name):
    if address <= 0:
        return name
    said = subprocess.run(["addr2line", "-s", "-f", "-i", "-e", NORMSWEEP, hex(address - 1)], capture_output=True,
                          text=True, check=False).stdout.split()
    return f"{name} in {said[0]} at {said[1]}" if len(said) > 1 else f"{name} at {address:x}"


class Injector:
    def __init__(self, folder):
        self.state = folder / "state"
        self.environment = library(folder)

    def run(self, cwd, arguments, family="none", at=FOREVER, lasting=False, kill=0):
        """Runs the program in a folder. `kill` is a signal that the program gets instead of a failure."""
        cause = 0 if kill else FAMILIES.get(family, 0)
        self.state.write_bytes(STATE.pack(at, lasting, cause, kill, 0, 0, 0, 0, b""))
        os.truncate(self.state, STATE.size + 8 * STACKS)
        environment = self.environment | {"INJECT": family, "INJECT_FOLDER": f"{cwd.resolve()}/",
                                          "INJECT_STATE": str(self.state)}
        environment["ASAN_OPTIONS"] += f":{SANITIZER}"
        environment["UBSAN_OPTIONS"] = SANITIZER
        with subprocess.Popen([NORMSWEEP, *arguments], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace") as process:
            try:
                out, err = process.communicate(timeout=SECONDS)
                status = process.returncode
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                status = None
        *_, calls, failed, address, crashed, name = STATE.unpack_from(self.state.read_bytes())
        place = place_of(address, name.rstrip(b"\0").decode()) if failed else ""
        return Done(status, out, err, calls, failed, place, bool(crashed))

    def stacks(self):
        """What tells the calls of the last command apart: one number each, of the places they came from."""
        return struct.unpack_from(f"{STACKS}q", self.state.read_bytes(), STATE.size)


class Case(typing.NamedTuple):
    """A command, and the state of its folder before it."""
    name: str
    arguments: tuple
    prepare: typing.Callable  # prepare(injector, folder): fills the folder before the command
    fresh: bool = False  # the old dataset is set aside
    looks: bool = False  # it only looks
    measures: bool = False  # it shows times, which differ


RUN = ("run", "../sweep.yaml", "-j", "0", "-o", "sweep.nc")
MORE = (*RUN, "--set", "seed=[1, 2, 3]")


def nothing(_injector, _folder):
    pass


def whole(injector, folder, arguments=RUN):
    done = injector.run(folder, arguments)
    assert done.status == 0, done


def stopped(injector, folder):
    """One run is done, the other has a checkpoint."""
    done = injector.run(folder, RUN, "rename", 9, kill=signal.SIGTERM)
    assert done.status == 75 and (folder / "sweep.nc.d").exists(), done


def killed(injector, folder):
    """A part of a checkpoint is left, and the lease."""
    done = injector.run(folder, RUN, "rename", 9, kill=signal.SIGKILL)
    assert done.status == -signal.SIGKILL and (folder / "sweep.nc.lease").exists(), done


def with_a_variable(injector, folder):
    whole(injector, folder)
    with netCDF4.Dataset(folder / "sweep.nc", "a") as file:
        file.createVariable("of_mine", "f8", ("step",))[:] = 1


def set_aside(injector, folder):
    """An earlier dataset and its folder beside the dataset."""
    whole(injector, folder)
    whole(injector, folder, (*RUN, "--fresh"))


CASES = [
    Case("new", RUN, nothing),
    Case("stopped", RUN, stopped),
    Case("killed", RUN, killed),
    Case("weights", (*RUN, "--set", "save_weights=true", "--set", "seed=1"), nothing),
    Case("more", MORE, whole),
    Case("fresh", (*RUN, "--fresh"), set_aside, fresh=True),
    Case("done", RUN, whole),
    Case("variable", MORE, with_a_variable),
    Case("log", (*RUN, "--log", "log.jsonl"), nothing),
    Case("status", ("status", "sweep.nc"), stopped, looks=True),
    Case("json", ("status", "sweep.nc", "--json"), stopped, looks=True),
    Case("show", ("show", "sweep.nc"), whole, looks=True),
    Case("plane", ("show", "sweep.nc", "param_norm"), whole, looks=True),
    Case("plan", ("plan", "../sweep.yaml", "-o", "sweep.nc"), nothing, looks=True, measures=True),
    Case("verify", ("verify", "../sweep.yaml", "-o", "sweep.nc", "-j", "0"), whole, looks=True),
    Case("check", ("check", "../sweep.yaml"), nothing, looks=True),
]


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def told(text):
    """A text of the program without its clocks, and the folder in which it ran."""
    text = re.sub(r'("(?:time|path)": "[^"]*")|("(?:written|age)_seconds": [0-9.]+)', "HERE AND NOW", text)
    return re.sub(r"[0-9.]+ (s|min|h|days?)\b", "TIME", text)


def contents(folder):
    return {name: (folder / name).read_bytes() for name in files(folder)}


class Bench:
    """A case with all that is compared: the folder before the command, and after it undisturbed."""

    def __init__(self, injector, folder, name):
        case = next(case for case in CASES if case.name == name)
        self.injector, self.case = injector, case
        self.before, self.after, self.work = (folder / case.name / name for name in ("before", "after", "work"))
        for path in (self.before, self.after):
            path.mkdir(parents=True)
        (folder / case.name / "sweep.yaml").write_text(SWEEP)
        case.prepare(injector, self.before)
        shutil.copytree(self.before, self.after, dirs_exist_ok=True)
        self.undisturbed = injector.run(self.after, case.arguments)
        assert self.undisturbed.status == 0, self.undisturbed
        self.whole = None if case.looks else same.read(self.after / "sweep.nc")
        self.carried_on = {((), tuple(contents(self.before).items())): []}  # what is wrong when it goes on from there

    def renew(self):
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.before, self.work)

    def try_one(self, family, at, lasting=False):
        """Lets one call fail. Returns (what it did, a list of what is wrong)."""
        self.renew()
        done = self.injector.run(self.work, self.case.arguments, family, at, lasting)
        if not done.failed:
            return done, []
        wrong = self.check_said(done, family)
        if self.case.looks:
            wrong += self.check_looked(done)
        else:
            wrong += self.check_left(done, family, lasting) + self.check_whole(done)
            wrong += self.check_again(done, family, lasting)
        return done, wrong

    def check_said(self, done, family):
        """One line if it gave up. Some libraries crash without memory; what is left is checked all the same."""
        if done.status is None:
            return [f"hung for {SECONDS} s"]
        if family == "library" and done.crashed:
            return []
        if done.status not in (0, 1, 3) or (done.status == 1 and "failed: " not in done.err):
            return [f"status {done.status}: {done.err.strip()[-1500:]}"]
        lines = [line for line in done.err.splitlines() if line not in self.undisturbed.err.splitlines()
                 and not (done.status == 3 and line.endswith(NOTICES))]
        if done.status == 3 and (len(lines) != 1 or ": " not in lines[0]):
            return [f"status 3 with {len(lines)} lines: {done.err!r}"]
        function = re.search(r" in (\w+) at ", done.place)
        if done.status == 0 and family in TOLERATED and (not function or function[1] not in TOLERATED[family]):
            return ["status 0"]
        if done.status == 0 and len(lines) > 1:
            return [f"status 0 with {len(lines)} lines: {done.err!r}"]
        return []

    def check_looked(self, done):
        """What only looks has changed nothing, and shows the same if it shows it without a word of an error. A library
        that crashes leaves the folder of `verify`."""
        left = {name: content for name, content in contents(self.work).items()
                if not (done.crashed and ".verify." in name)}
        wrong = [] if left == contents(self.before) else ["a file has changed"]
        shown = "nan" not in done.out if self.case.measures else told(done.out) == told(self.undisturbed.out)
        if done.status == 0 and not done.err and not shown:
            wrong.append(f"status 0, but it shows {done.out!r}")
        return wrong

    def check_left(self, done, family, lasting):
        """Nothing is left that a start leaves only while it runs, and nothing is lost. Where memory.c ends the program,
        its lease stays, as that of any dead process, which keeps nobody out."""
        wrong = []
        stray = [name for name in set(files(self.work)) - set(files(self.before))
                 if name.endswith((".new", ".part", ".mark")) or ".lease" in name]
        if "at memory.c" in done.place:
            stray = [name for name in stray if ".lease" not in name]
        if stray and family != "remove" and not lasting and not done.crashed:
            wrong.append(f"left behind: {stray}")
        if not (self.before / "sweep.nc").exists():
            return wrong
        before = (self.before / "sweep.nc").read_bytes()
        found = [path for path in (self.work / "sweep.nc", self.work / "sweep.nc.old") if path.exists()]
        if self.case.fresh and done.status != 0:
            if before not in [path.read_bytes() for path in found]:
                wrong.append("the old dataset is lost")
        elif not self.case.fresh and self.lost():
            wrong.append(f"lost: {self.lost()}")
        return wrong

    def lost(self):
        """Runs that had ended before and no longer do, by the seed."""
        if not (self.work / "sweep.nc").exists():
            return "the dataset"
        before, now = same.read(self.before / "sweep.nc"), same.read(self.work / "sweep.nc")
        ended = {int(seed) for seed, outcome in zip(before["seed"].values, before["outcome"].values)
                 if outcome >= same.DONE}
        still = {int(seed) for seed, outcome in zip(now["seed"].values, now["outcome"].values) if outcome >= same.DONE}
        return sorted(ended - still)

    def check_whole(self, done):
        """The dataset is that of before or a part of that of after: a run that has ended has all its values."""
        path, before = self.work / "sweep.nc", self.before / "sweep.nc"
        if done.status == 1 or not path.exists() or before.exists() and path.read_bytes() == before.read_bytes():
            return []
        return [f"left: {line}" for line in same.strays(same.read(path), self.whole)]

    def check_again(self, done, family, lasting):
        """The same command carries on to the same bits. What was left once need not be tried again."""
        if done.status == 0 and not lasting:
            now = same.read(self.work / "sweep.nc")
            wrong = [f"status 0, but {line}" for line in same.differences(self.whole, now)]
            if wrong:
                return wrong
        retried = ("--retry-failed",) if done.status == 1 and not self.case.fresh else ()
        key = (retried, tuple(contents(self.work).items()))
        if key not in self.carried_on:
            self.carried_on[key] = self.carry_on(retried, family == "remove" or lasting or done.crashed)
        return self.carried_on[key]

    def carry_on(self, retried, strays):
        again = self.injector.run(self.work, (*self.case.arguments, *retried))
        if again.status != 0:
            return [f"again: status {again.status}: {again.err.strip()[-1500:]}"]
        wrong = [f"again: {line}" for line in same.differences(self.whole, same.read(self.work / "sweep.nc"))]
        if files(self.work) != files(self.after) and not (strays or self.case.fresh):
            wrong.append(f"again: files {files(self.work)} and not {files(self.after)}")
        return wrong

    def numbers(self, family, distinct, every=1):
        """The numbers of the calls to let fail: all, or every n-th of the first calls from each place."""
        self.renew()
        done = self.injector.run(self.work, self.case.arguments, family)
        assert done.status == 0, done
        if not distinct:
            return itertools.count()
        stacks = self.injector.stacks()[:done.calls]
        return sorted({stack: at for at, stack in reversed(list(enumerate(stacks)))}.values())[::every]

    def try_all(self, family, distinct=False, lasting=False, every=1):
        """Yields (n, what it did, what is wrong) for each n, until nothing fails any more."""
        for at in self.numbers(family, distinct, every):
            done, wrong = self.try_one(family, at, lasting)
            if not done.failed:
                return
            yield at, done, wrong
