#!/usr/bin/env python3
"""A Slurm of several nodes on this machine, for tests: `tests/slurm/slurm_cluster.py COMMAND...` runs a command in it.

Everything is in a temporary folder: key and socket of munge, configuration, spool, logs; SLURM_CONF points there.
The nodes n1, n2, ... are daemons on ports of the loopback interface. What they share with each other is this
machine: processors, /tmp, the host's name. Daemons die with the process that started them.
"""

import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
PR_SET_PDEATHSIG = 1

CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=15
MinJobAge=86400
KillWait=5
MpiDefault=none
"""


def lacking():
    """The reason why a cluster cannot run here; None if it can."""
    if os.geteuid() != 0:
        return "a Slurm of its own needs root, so no sweep runs on one here: run make check-slurm as root"
    absent = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if not find(name)]
    return (f"not installed: {', '.join(absent)}, so no sweep runs on a Slurm here; .ci/setup slurm installs them"
            if absent else None)


def find(name):
    return shutil.which(name, path=PATH)


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def processes(**variables):
    """The pids of all processes whose environment has these variables."""
    wanted = {f"{name}={value}".encode() for name, value in variables.items()}
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and wanted <= set((entry / "environ").read_bytes().split(b"\0")):
                found.append(int(entry.name))
    return found


def parent(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Cluster:
    """with Cluster() as cluster: cluster.run("sbatch", ...). Partitions: `all` (default) of every node, `short` of
    the first, where two minutes are the most. A core has two threads, each of which is a processor for Slurm."""

    def __init__(self, nodes=4, cores=4):
        self.nodes = [f"n{i + 1}" for i in range(nodes)]
        self.cores = cores
        self.daemon = {}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-"))
        self.folder.chmod(0o755)
        self.environment = {
            **os.environ, "PATH": PATH, "SLURM_CONF": str(self.folder / "slurm.conf"),
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_oob_tcp_if_include": "lo", "OMPI_MCA_btl_tcp_if_include": "lo"}

    def __enter__(self):
        try:
            self.configure()
            self.start_munged()
            self.start("slurmctld", "-D")
            for node in self.nodes:
                self.start_node(node)
            self.wait_idle()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def configure(self):
        ports = free_ports(1 + len(self.nodes))
        conf = CONF.format(host=socket.gethostname(), ports=ports, folder=self.folder)
        for node, port in zip(self.nodes, ports[1:]):
            conf += (f"NodeName={node} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={port} "
                     f"CPUs={2 * self.cores} CoresPerSocket={self.cores} ThreadsPerCore=2 State=UNKNOWN\n")
            (self.folder / node).mkdir()
        conf += f"PartitionName=all Nodes={','.join(self.nodes)} Default=YES MaxTime=INFINITE State=UP\n"
        conf += f"PartitionName=short Nodes={self.nodes[0]} MaxTime=2 State=UP\n"
        (self.folder / "state").mkdir()
        (self.folder / "slurm.conf").write_text(conf)
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")

    def start(self, name, *arguments, key=None):
        with open(self.folder / f"{key or name}.out", "ab") as out:
            self.daemon[key or name] = subprocess.Popen(
                [find(name), *map(str, arguments)], env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=out, stderr=out, start_new_session=True, preexec_fn=die_with_parent)

    def start_munged(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        place = {name: self.folder / f"munge.{name}" for name in ("socket", "pid", "log", "seed")}
        self.start("munged", "--foreground", "--force", "--key-file", key, "--socket", place["socket"], "--pid-file",
                   place["pid"], "--log-file", place["log"], "--seed-file", place["seed"])
        self.wait(place["socket"].exists, "munged has its socket", 20)

    def start_node(self, node):
        self.start("slurmd", "-D", "-N", node, key=node)

    def wait_idle(self):
        def idle():
            said = self.run("sinfo", "--noheader", "--partition=all", "--Node", "--format=%t", check=False).stdout
            return said.split() == ["idle"] * len(self.nodes)
        self.wait(idle, "all nodes are idle", 60)

    def wait(self, condition, what, timeout):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, f"not within {timeout} s: {what}; logs are in {self.folder}"
            time.sleep(0.1)

    def run(self, *command, check=True, **options):
        """Runs a client of the cluster; returns its completed process."""
        done = subprocess.run([str(each) for each in command], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, **options)
        assert not check or done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def jobs_of(self, name):
        """The numbers of all jobs of this name, ended ones too, as they were submitted."""
        said = self.run("scontrol", "--oneliner", "show", "job").stdout
        return sorted(re.findall(rf"^JobId=(\d+) JobName={re.escape(name)} ", said, re.M), key=int)

    def has_ended(self, jobs):
        """Have all of them?"""
        said = self.run("squeue", "--noheader", "--jobs", ",".join(jobs), check=False)
        return not said.stdout.strip()

    def node_processes(self, node, job):
        """The processes of a job on a node: its tasks, their children, and the slurmstepd of each step."""
        tasks = processes(SLURM_CONF=self.environment["SLURM_CONF"], SLURMD_NODENAME=node, SLURM_JOB_ID=job)
        with contextlib.suppress(OSError):
            steps = {parent(pid) for pid in tasks}
            return tasks + [pid for pid in steps - set(tasks)
                            if pathlib.Path(f"/proc/{pid}/comm").read_text() == "slurmstepd\n"]
        return tasks

    def lose_node(self, node, job):
        """Kills the node and all processes of the job there, the youngest first, because each srun has a child that
        would cancel the step when srun dies."""
        for pid in sorted([self.daemon.pop(node).pid, *self.node_processes(node, job)], reverse=True):
            kill(pid)

    def end(self):
        """Ends every process of the cluster and removes its folder."""
        if self.daemon.get("slurmctld"):
            self.run("scancel", "--signal=KILL", "--full", "--user=root", check=False)
        for name in reversed(list(self.daemon)):
            process = self.daemon.pop(name)
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        own = os.getpid()
        for pid in processes(SLURM_CONF=self.environment["SLURM_CONF"]):
            if pid != own:
                kill(pid)
        shutil.rmtree(self.folder, ignore_errors=True)


def main(command):
    if not command or command[0] in ("-h", "--help"):
        print(__doc__.strip(), file=sys.stdout if command else sys.stderr)
        return 0 if command else 2
    if reason := lacking():
        print(f"slurm_cluster: {reason}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with Cluster() as cluster:
        return subprocess.run(command, env=cluster.environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
