"""A command and all processes that came of it, on this machine: found through /proc by a mark in their environment,
which mpirun hands on to its ranks; whatever else runs here is not touched. A process is known by its pid and the time
it was started, so that a pid that is used again is not taken for it."""

import os
import pathlib
import signal
import subprocess
import threading
import time
import typing
import uuid

MARK = "NORMSWEEP_TEST_MARK"
LOOK_SECONDS = 0.05  # between two looks at the processes
TICK_SECONDS = 0.005
MPIRUN = {"mpirun", "orterun", "prterun", "mpiexec.hydra"}


class Process(typing.NamedTuple):
    pid: int
    started: int  # in clock ticks since boot
    role: str  # launcher, mpirun, coordinator, worker, spare, other

    def kill(self, number):
        """Sends a signal; False if the process was gone before."""
        if not is_alive(self.pid, self.started):
            return False
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return False
        return True

    def catches(self, number):
        """Whether it has a handler for the signal, or holds the signal back until it has. pthread_create blocks all
        signals for a moment, which does not count."""
        try:
            lines = pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines()
        except OSError:
            return False
        caught, blocked = (int(line.split()[1], 16) for name in ("SigCgt:", "SigBlk:") for line in lines
                           if line.startswith(name))
        held = 0 if has(blocked, signal.SIGWINCH) else blocked
        return has(caught | held, number)


def files_in(temporary, shared):
    """An environment in which mpirun has its files in one folder, and ranks the memory that they share in another: what
    is killed together leaves them behind."""
    names = "OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory"  # of Open MPI 4 and 5
    return {"TMPDIR": str(temporary), **{name: str(shared) for name in names}}


def has(mask, number):
    return bool(mask >> (number - 1) & 1)


def born(pid):
    """(state, start time) of a process; None if it does not exist or is a zombie."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else (fields[0], int(fields[19]))


def is_alive(pid, started):
    found = born(pid)
    return found is not None and found[1] == started


def environment_of(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return {}
    return dict(item.partition("=")[::2] for item in text.split("\0") if "=" in item)


def is_spare(environment):
    """Is it one of the last ranks of its host, which takes the place of a lost worker? It stays one by this name."""
    rank, size, spares = (int(environment.get(name, default)) for name, default in (
        ("OMPI_COMM_WORLD_LOCAL_RANK", "0"), ("OMPI_COMM_WORLD_LOCAL_SIZE", "1"), ("NORMSWEEP_SPARES", "0")))
    return rank >= size - spares


def role_of(pid, launcher, environment):
    try:
        program = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        arguments = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "other"
    if pid == launcher:
        return "launcher"
    if program in MPIRUN and b"--version" not in arguments:
        return "mpirun"
    if program.startswith("normsweep") and "PMIX_RANK" in environment:
        return "coordinator" if environment["PMIX_RANK"] == "0" else "spare" if is_spare(environment) else "worker"
    if program.startswith("normsweep") and "PMI_RANK" in environment:  # of MPICH's mpiexec
        return "coordinator" if environment["PMI_RANK"] == "0" else "worker"
    return "other"


class Watched:
    """A command in the background. Leaving it as a context ends what is left of it."""

    def __init__(self, command, environment=None, **options):
        self.mark = uuid.uuid4().hex
        self.known, self.foreign = {}, set()  # {(pid, started): Process as seen last}; those of others
        self.looked, self.begun, self.text = 0.0, time.monotonic(), {"out": "", "err": ""}
        self.process = subprocess.Popen([str(a) for a in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, errors="replace",
                                        env={**os.environ, **(environment or {}), MARK: self.mark}, **options)
        self.readers = [threading.Thread(target=self.listen, args=pair, daemon=True)
                        for pair in (("out", self.process.stdout), ("err", self.process.stderr))]
        for reader in self.readers:
            reader.start()

    def listen(self, name, stream):
        for line in stream:
            self.text[name] += line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def look(self):
        """All processes of the command that are alive."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or not (state := born(entry)):
                continue
            key = (int(entry), state[1])
            if key in self.foreign:
                continue
            environment = environment_of(entry)
            if environment.get(MARK) == self.mark:
                self.known[key] = Process(*key, role_of(key[0], self.process.pid, environment))
                found.append(self.known[key])
            elif environment and key not in self.known:
                self.foreign.add(key)
        self.looked = time.monotonic()
        return found

    def of(self, *roles):
        return [process for process in self.look() if process.role in roles]

    def alive(self):
        """All processes seen so far that are still alive, and any other process with the mark."""
        self.look()
        return [process for process in self.known.values() if is_alive(process.pid, process.started)]

    def wait(self, seconds, until=lambda: False):
        """Waits for some seconds, or until a condition holds. False if the command has ended."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            now = time.monotonic()
            if now >= deadline or until():
                return True
            if now - self.looked > LOOK_SECONDS:
                self.look()
            time.sleep(min(TICK_SECONDS, max(deadline - now, 0)))
        return False

    def wait_until(self, condition, what, seconds=120):
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.wait(0.02), f"ended with {self.process.returncode} before {what}: {self.text}"
            assert time.monotonic() < deadline, f"not within {seconds} s: {what}\n{self.stacks()}"

    def ends(self, seconds=300):
        """The exit status; checks that the command ends and leaves no process."""
        assert not self.wait(seconds), f"does not end\n{self.stacks()}"
        assert self.wait_gone(60) is not None, self.stacks()
        return self.process.returncode

    def wait_gone(self, seconds):
        """Waits until none of its processes is alive. Returns the seconds, or None if some are still alive."""
        begin = time.monotonic()
        while self.alive():
            if time.monotonic() - begin > seconds:
                return None
            time.sleep(0.02)
        for reader in self.readers:
            reader.join(10)
        return time.monotonic() - begin

    def stacks(self):
        told = []
        for process in self.alive():
            told.append(f"-- {process.role} {process.pid}, state {(born(process.pid) or 'gone')[0]}")
            try:
                done = subprocess.run(["gdb", "-p", str(process.pid), "-batch", "-ex", "thread apply all bt 12"],
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
                told += [line for line in done.stdout.splitlines() if line.startswith(("#", "Thread"))]
            except (OSError, subprocess.TimeoutExpired):
                told.append("   (no gdb)")
        return "\n".join(told)

    def end(self):
        deadline = time.monotonic() + 30
        while (left := self.alive()) and time.monotonic() < deadline:
            for process in left:
                process.kill(signal.SIGKILL)
            time.sleep(0.02)
            self.process.poll()
        self.process.wait(10)
