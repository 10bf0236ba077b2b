"""Several hosts on this machine, as root: each has namespaces of its own for the network, processes, mounts and the
host name, and a process 1 that runs the command lines it is sent, in place of sshd. A host can be killed, frozen and
cut off. Run as a program, this file is process 1 of a host (`serve`), or what mpirun calls instead of ssh (`on`)."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

PORT = 7722
NAMES = ("ha", "hb", "hc")
SETUP = """
hostname "$2" && ip link set lo up && mount -t proc proc /proc && mount -t tmpfs tmpfs /dev/shm &&
mount --bind "$3" /etc/hosts && exec "$0" "$1" serve
"""


def lacking():
    """Why there can be no hosts here; "": there can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "network namespaces want root"
    for name in ("ip", "unshare", "nsenter", "setpriv"):
        if not shutil.which(name):
            return f"there is no command '{name}' (Debian: iproute2, util-linux)"
    tried = subprocess.run(["unshare", "--net", "--pid", "--mount", "--fork", "true"], capture_output=True, text=True)
    return tried.stderr.strip() and f"namespaces cannot be made: {tried.stderr.strip()}"


def begin_alone():
    """Begins the program again in a mount namespace of its own, if it has none yet: `ip netns` mounts what it makes,
    and so nothing stays mounted, however the program ends. A host ends with the program that has made it, too."""
    if os.readlink("/proc/self/ns/mnt") == os.readlink(f"/proc/{os.getppid()}/ns/mnt"):
        mounted = 'mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && exec "$@"'
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", "sh", "-c", mounted, "sh",
                              sys.executable, *sys.argv])


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Host:
    def __init__(self, net, number, folder):
        self.name, self.net = NAMES[number], f"{net}-{NAMES[number]}"
        self.link = f"v{number}"  # its other end, in the namespace of the bridge
        self.bridge = net
        self.folder = folder / self.name
        self.folder.mkdir()
        ip("netns", "add", self.net)
        ip("-n", net, "link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.net)
        ip("-n", net, "link", "set", self.link, "master", "br0", "up")
        ip("-n", self.net, "addr", "add", f"10.77.0.{number + 1}/24", "dev", "eth0")
        ip("-n", self.net, "link", "set", "eth0", "up")
        self.environment = {**os.environ, "TMPDIR": str(self.folder), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_plm_rsh_agent": str(folder / "ssh"),
                            "PRTE_MCA_plm_ssh_agent": str(folder / "ssh")}
        unshare = ["setpriv", "--pdeathsig", "KILL", "unshare", "--uts", "--ipc", "--pid", "--mount", "--fork",
                   "--kill-child", "--propagation", "private", "sh", "-c", SETUP, sys.executable, __file__, self.name,
                   folder / "etc-hosts"]
        self.shell = subprocess.Popen(["ip", "netns", "exec", self.net, *unshare], env=self.environment,
                                      stdin=subprocess.DEVNULL, stderr=(self.folder / "stderr").open("w"))
        children = pathlib.Path(f"/proc/{self.shell.pid}/task/{self.shell.pid}/children")
        deadline = time.monotonic() + 30
        while subprocess.run(["ip", "netns", "exec", self.net, sys.executable, __file__, "on", f"10.77.0.{number + 1}",
                              "true"], stderr=subprocess.DEVNULL).returncode != 0:
            assert self.shell.poll() is None and time.monotonic() < deadline, f"{self.name} does not start"
            time.sleep(0.05)
        self.first = int(children.read_text().split()[0])  # its process 1, as seen from here
        self.space = os.readlink(f"/proc/{self.first}/ns/pid")

    def enter(self, command, variables={}, **options):
        """Starts a command on the host."""
        return subprocess.Popen(["nsenter", "-t", str(self.first), "-n", "-m", "-p", "-u", "-i", "--wd=" + os.getcwd(),
                                 *map(str, command)], env={**self.environment, **variables},
                                stdin=subprocess.DEVNULL, **options)

    def processes(self):
        """{pid: command} of all that run there, but for process 1."""
        found = {}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if int(entry) != self.first and os.readlink(f"/proc/{entry}/ns/pid") == self.space:
                    command = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                    if command:  # a zombie has none
                        found[int(entry)] = command
        return found

    def kill(self):
        os.kill(self.first, signal.SIGKILL)
        self.shell.wait()

    def freeze(self):
        for pid in [*self.processes(), self.first]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)

    def cut(self, off=True):
        ip("-n", self.bridge, "link", "set", self.link, "down" if off else "up")

    def end(self):
        self.shell.kill()  # and with it process 1, and so all of the host
        self.shell.wait()
        ip("netns", "delete", self.net)


class Hosts:
    """Three hosts on one network, which share the file systems of this machine; `file` is their host file."""

    def __init__(self, folder):
        self.folder, self.net, self.hosts = folder, f"normsweep-{os.getpid()}", []

    def __enter__(self):
        lines = [f"10.77.0.{number + 1} {name}" for number, name in enumerate(NAMES)]
        (self.folder / "etc-hosts").write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        self.file = self.folder / "hosts"
        self.file.write_text("".join(f"{name} slots=1\n" for name in NAMES))
        agent = self.folder / "ssh"
        agent.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" on "$@"\n')
        agent.chmod(0o755)
        ip("netns", "add", self.net)
        try:
            ip("-n", self.net, "link", "add", "br0", "type", "bridge")
            ip("-n", self.net, "link", "set", "br0", "up")
            for number in range(len(NAMES)):
                self.hosts.append(Host(self.net, number, self.folder))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for host in self.hosts:
            host.end()
        ip("netns", "delete", self.net)


def reap(*_):
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] > 0:
            pass


def serve():
    """Runs each command line that it is sent; the connection becomes its output."""
    signal.signal(signal.SIGCHLD, reap)
    with socket.create_server(("", PORT)) as server:
        while True:
            connection, _ = server.accept()
            with connection:
                line = connection.makefile().readline()
                subprocess.Popen(["/bin/sh", "-c", line], stdin=subprocess.DEVNULL, stdout=connection,
                                 stderr=connection, start_new_session=True)


def call(*words):
    """As `ssh [-x] HOST WORD...` would be called."""
    while words[0].startswith("-"):
        words = words[1:]
    host, *words = words
    with socket.create_connection((host, PORT), timeout=10) as connection:
        connection.settimeout(None)
        connection.sendall((" ".join(words) + "\n").encode())
        while data := connection.recv(65536):
            os.write(1, data)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        call(*sys.argv[2:])
