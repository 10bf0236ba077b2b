"""The speed of training, compared with the BLAS library's matrix product and with PyTorch.

    speed.py [-t THREADS] [-r ROUNDS] [-s SECONDS] [SHAPE...]

A few processes stay alive, bound to the same processors, and are given slices of work in turns, so that what else the
machine does hits all of them: build/speed, and with several threads another of it with one; PyTorch as it is
installed; with the BLAS kernel that build/speed chose; and tuned: with that kernel, with an allocator that keeps its
memory instead of having the system clear it anew in every step, and with its own loops at build/speed's vector level.
A ratio is of times from the same round. Prints a Markdown table. SHAPE is a name that `build/speed shapes` tells, or
V,C,H,F,L,T,B, and may then end in ",gelu".
"""
import argparse
import os
import re
import pathlib
import platform
import statistics
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("NORMSWEEP_BUILD") or TESTS.parent / "build")
ROUNDS_LEAST = 3
SHAPE_SECONDS = 150  # no further round after so long
MEMORY_KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(1 << 26)}
SETTLE = 0.05  # until the idle threads of another process have gone to sleep


def fail(message):
    sys.exit(f"speed: {message}")


def pairs(line):
    words = line.split()
    return dict(zip(words[::2], words[1::2]))


def numbers(answer):
    return {key: float(value) for key, value in answer.items()}


class Server:
    """A process that answers each line with a line of pairs. The first line comes unasked: its `about`."""

    def __init__(self, command, environment):
        self.command = [str(word) for word in command]
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            fail(f"{' '.join(self.command)} ended")
        return pairs(line)

    def ask(self, *request):
        time.sleep(SETTLE)
        try:
            print(*request, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass  # answer() tells
        return self.answer()


def cleaned():
    """The environment without variables that choose a kernel or a number of threads; prints those left out."""
    left_out = [name for name in sorted(os.environ)
                if name.startswith("OPENBLAS_") or name in ("NORMSWEEP_BLAS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS")]
    if left_out:
        print("Left out of the environment:", *(f"{name}={os.environ[name]}" for name in left_out), flush=True)
    return {name: value for name, value in os.environ.items() if name not in left_out}


def has_torch():
    return subprocess.run([sys.executable, "-c", "import torch"], capture_output=True, check=False).returncode == 0


class Bench:
    """The processes to compare: `own`, and under their columns' names the `others` that are there."""

    def __init__(self, threads):
        clean = cleaned()
        own = BUILD / "speed"
        if not own.exists():
            fail(f"no {own}: make programs")
        self.own = Server([own, "-t", threads], clean)
        self.others = self.torch(threads, clean) if has_torch() else {}
        if threads > 1:
            self.others["single"] = Server([own], clean)
        self.shapes = self.own.ask("shapes")

    def torch(self, threads, clean):
        """PyTorch's processes; where the kernel is the same as installed, so is the process."""
        command = [sys.executable, TESTS / "speed_torch.py", "-t", threads]
        installed = clean | {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        same = installed | {"OPENBLAS_CORETYPE": self.own.about["BLAS_kernel"]}
        tuned = same | MEMORY_KEPT
        if self.own.about["vector_level"] not in ("baseline", "avx2"):
            tuned["ATEN_CPU_CAPABILITY"] = "avx512"
        others = {"installed": Server(command, installed)}
        is_same = others["installed"].about["BLAS_kernel"] == self.own.about["BLAS_kernel"]
        others["same"] = others["installed"] if is_same else Server(command, same)
        return others | {"tuned": Server(command, tuned)}

    def ask_others(self, *request):
        """{name: answer}; a process under two names is asked once."""
        asked = {server: server.ask(*request) for server in dict.fromkeys(self.others.values())}
        return {name: asked[server] for name, server in self.others.items()}

    def round(self, shape, seconds):
        """{name: answer} of one round; sgemm runs before and after the step that it is compared with."""
        answers = {"before": self.own.ask("sgemm", seconds / 2), "step": self.own.ask("step", shape, seconds),
                   "after": self.own.ask("sgemm", seconds / 2)}
        answers |= self.ask_others("step", self.shapes.get(shape, shape), seconds)
        for name in self.others:
            if answers[name]["parameters"] != answers["step"]["parameters"]:
                fail(f"{shape}: {answers['step']['parameters']} parameters here, {answers[name]['parameters']} there")
        for name in ("forward", "measure"):
            answers[name] = self.own.ask(name, shape, seconds / 2)
        return {name: numbers(answer) for name, answer in answers.items()}

    def rounds(self, shape, most, seconds):
        """The rounds of a shape; fewer if the shape takes long. The ratio "hessian", which one process measures by
        itself and with more memory, is taken once and the same in all of them."""
        end = time.monotonic() + SHAPE_SECONDS
        rounds = []
        while len(rounds) < most and (len(rounds) < ROUNDS_LEAST or time.monotonic() < end):
            rounds.append(self.round(shape, seconds))
        hessian = numbers(self.own.ask("hessian", shape, seconds * len(rounds)))
        return [answers | {"hessian": hessian} for answers in rounds]

    def close(self):
        for server in {self.own, *self.others.values()}:
            server.process.stdin.close()
            server.process.wait()


# The table


def sgemm(answers):
    return (answers["before"]["GFLOP/s"] + answers["after"]["GFLOP/s"]) / 2


def relative(name):
    """The time of another process, in units of this program's step; None if it was not measured."""
    return lambda answers: answers[name]["seconds"] / answers["step"]["seconds"] if name in answers else None


COLUMNS = (  # heading, digits, with quartiles?, the value of one round
    ("ms per step", 2, False, lambda answers: 1e3 * answers["step"]["seconds"]),
    ("tokens/s", 0, False, lambda answers: answers["step"]["tokens/s"]),
    ("GFLOP/s", 0, False, lambda answers: answers["step"]["GFLOP/s"]),
    ("% of sgemm", 1, True, lambda answers: 100 * answers["step"]["GFLOP/s"] / sgemm(answers)),
    ("x PyTorch as installed", 2, True, relative("installed")),
    ("x PyTorch, same kernel", 2, True, relative("same")),
    ("x PyTorch tuned", 2, True, relative("tuned")),
    ("forward / step", 2, False, relative("forward")),
    ("measuring, %", 2, False, lambda answers: 100 * relative("measure")(answers) / answers["measure"]["every"]),
    ("Hessian product / gradient", 2, False, lambda answers: answers["hessian"]["ratio"]),
)
THREAD_COLUMNS = (("x one thread", 2, True, relative("single")),)


def spread(values, digits, quartiles=True):
    """The median, with the quartiles if there are enough rounds; "-" without values."""
    if None in values:
        return "-"
    text = f"{statistics.median(values):.{digits}f}"
    if quartiles and len(values) >= ROUNDS_LEAST:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
        text += f" ({low:.{digits}f} to {high:.{digits}f})"
    return text


def print_cells(cells):
    print("|", " | ".join(cells), "|", flush=True)


def print_table(bench, shapes, rounds, seconds):
    """Prints each row when its shape is done. Returns the rates of sgemm in all rounds."""
    columns = COLUMNS + THREAD_COLUMNS * ("single" in bench.others)
    rates = []
    print_cells(["shape", *(heading for heading, *_ in columns)])
    print_cells(["---"] * (1 + len(columns)))
    for shape in shapes:
        taken = bench.rounds(shape, rounds, seconds)
        print_cells([shape, *(spread([value(answers) for answers in taken], digits, quartiles)
                              for _, digits, quartiles, value in columns)])
        rates += [sgemm(answers) for answers in taken]
    return rates


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def print_about(bench):
    about = bench.own.about
    print(f"{processor()}; threads: {about['threads']} on {about['processors']} processors; "
          f"BLAS kernel: {about['BLAS_kernel']}; vector level: {about['vector_level']}")
    if "installed" in bench.others:
        torch = bench.others["installed"].about
        print(f"PyTorch {torch['version']}; BLAS kernel as installed: {torch['BLAS_kernel']}")
    else:
        print(f"PyTorch: none for {sys.executable}; its columns stay empty")
    print(flush=True)


CLOSING = """
sgemm 1024 x 1024 x 1024, GFLOP/s: {}.
Medians over the rounds, in brackets their quartiles. x: how many times as fast as. tuned: with the same kernel, memory
kept between steps, and build/speed's vector level. forward: the loss alone, a third of a step's arithmetic. measuring:
the default metrics at their default interval, of the time for steps. Hessian product: the Hessian of a batch's loss
times a vector, in units of the gradient of that loss."""


def print_closing(bench, rates, seconds):
    theirs = bench.ask_others("sgemm", seconds)
    rates = [spread(rates, 0), *(f"{name} {float(answer['GFLOP/s']):.0f}" for name, answer in theirs.items())]
    print(CLOSING.format(", ".join(rates)))


def bind(threads):
    """To as many processors as threads, the last ones: the first often serve the machine's devices."""
    if not hasattr(os, "sched_setaffinity"):
        return
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, allowed[-threads:])
    if len(allowed) < threads:
        print(f"{threads} threads share {len(allowed)} processors: the figures tell little")


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def main():
    parser = argparse.ArgumentParser(description="How fast training is, against sgemm and PyTorch.")
    parser.add_argument("-t", "--threads", type=positive, default=1, help="of every process (default 1)")
    parser.add_argument("-r", "--rounds", type=positive, default=9, help="of each shape, at most (default 9)")
    parser.add_argument("-s", "--seconds", type=float, default=0.6, help="of one slice of work (default 0.6)")
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help="a name, or V,C,H,F,L,T,B (default: every name)")
    options = parser.parse_args()
    bind(options.threads)
    bench = Bench(options.threads)
    print_about(bench)
    for shape in options.shapes:
        if shape not in bench.shapes and not re.fullmatch(r"\d+(,\d+){6}(,gelu)?", shape):
            sys.exit(f"speed: no shape '{shape}': {', '.join(bench.shapes)}, or V,C,H,F,L,T,B")
    rates = print_table(bench, options.shapes or bench.shapes, options.rounds, options.seconds)
    print_closing(bench, rates, options.seconds)
    bench.close()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
