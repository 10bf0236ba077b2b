"""The speed of training, compared with the BLAS library's matrix product and with PyTorch.

    speed.py [-t THREADS] [-r ROUNDS] [-s SECONDS] [--pytorch PYTHON]... [--levels] [SHAPE...]

A few processes stay alive, bound to the same processors, and are given slices of work in turns, so that what else the
machine does hits all of them: build/speed, and with several threads another of it with one; PyTorch as it is installed;
and tuned: with the BLAS kernel that build/speed chose, if it computes with the same library, with an allocator that
keeps its memory instead of having the system clear it anew in every step, and with its loops at the processor's best
vector level. The tuned one trains in every mode of tests/speed_torch.py: in float and in bfloat16, eager and compiled.
A ratio is of times from the same round. Prints Markdown tables. SHAPE is a name that `build/speed shapes` tells, or
V,C,H,F,L,T,B, and may then end in ",gelu". Both precisions are measured of every shape; ",bfloat16" behind it changes
nothing.
"""
import argparse
import os
import re
import pathlib
import statistics
import subprocess
import sys
import time

from speed_machine import (
    bind, cleaned, of_processor, positive, print_cells, processor, pythons_with_torch, release, spread)

TESTS = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("NORMSWEEP_BUILD") or TESTS.parent / "build")
ROUNDS_LEAST = 3
SHAPE_SECONDS = 150  # no further round after so long
# The compiler's own workers would run beside what is timed.
TUNED = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(1 << 26),
         "TORCHINDUCTOR_COMPILE_THREADS": "1"}
SETTLE = 0.05  # until the idle threads of another process have gone to sleep
PRECISIONS = ("float", "bfloat16")
MODES = ("float-eager", "float-compile", "bfloat16-eager", "bfloat16-compile")


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

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def with_words(shape, precision):
    return shape if precision == "float" else f"{shape},{precision}"


class Peer:
    def __init__(self, python, version, threads, clean, about):
        self.version = version
        command = [python, TESTS / "speed_torch.py", "-t", threads]
        installed = clean | {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        tuned = installed | TUNED | {"OPENBLAS_CORETYPE": about["BLAS_kernel"]}
        if release(version) < (2,) and "avx512f" in of_processor("flags").split():
            tuned["ATEN_CPU_CAPABILITY"] = "avx512"  # later ones choose it themselves
        self.installed, self.tuned = Server(command, installed), Server(command, tuned)
        self.chosen = {}  # for the shape at hand
        self.missing = {}  # {mode: why}

    def prepare(self, shape, seconds):
        self.chosen = self.tuned.ask("prepare", shape, seconds)
        for mode in MODES:
            if self.chosen[mode].startswith("none:"):
                self.missing[mode] = self.chosen.pop(mode).partition(":")[2].replace("_", " ")
        self.installed.ask("step", shape, "float-eager", 0)

    def round(self, shape, seconds):
        """{mode, or "installed": answer}."""
        answers = {mode: self.tuned.ask("step", shape, mode, seconds) for mode in MODES if mode in self.chosen}
        return answers | {"installed": self.installed.ask("step", shape, "float-eager", seconds)}


class Bench:
    def __init__(self, threads, pythons):
        self.clean = clean = cleaned()
        command = [BUILD / "speed", "-t", threads]
        if not command[0].exists():
            fail(f"no {command[0]}: make programs")
        self.own = {precision: Server(command, clean) for precision in PRECISIONS}
        self.about, self.shapes = self.own["float"].about, self.own["float"].ask("shapes")
        self.levels = [level for level, runs in self.own["float"].ask("levels").items() if runs == "1"]
        self.single = Server(command[:1], clean) if threads > 1 else None
        self.peers = [Peer(*python, threads, clean, self.about) for python in pythons]

    def prepare(self, shape, seconds):
        for peer in self.peers:
            peer.prepare(self.shapes.get(shape, shape), seconds)

    def round(self, shape, seconds):
        """{name: answer} of one round; sgemm runs before and after the step that it is compared with."""
        own = self.own["float"]
        answers = {"before": own.ask("sgemm", seconds / 2), "float": own.ask("step", shape, seconds),
                   "after": own.ask("sgemm", seconds / 2)}
        answers["bfloat16"] = self.own["bfloat16"].ask("step", with_words(shape, "bfloat16"), seconds)
        for peer in self.peers:
            found = peer.round(self.shapes.get(shape, shape), seconds)
            answers |= {(peer, name): answer for name, answer in found.items()}
        if self.single:
            answers["single"] = self.single.ask("step", shape, seconds)
        for name, answer in answers.items():
            if answer.get("parameters", answers["float"]["parameters"]) != answers["float"]["parameters"]:
                fail(f"{shape}: {answers['float']['parameters']} parameters here, {answer['parameters']} there")
        answers |= {name: own.ask(name, shape, seconds / 2) for name in ("forward", "measure")}
        return {name: numbers(answer) for name, answer in answers.items()}

    def rounds(self, shape, most, seconds):
        """The rounds of a shape; fewer if the shape takes long. The ratio "hessian", which one process measures by
        itself and with more memory, is taken once and the same in all of them."""
        self.prepare(shape, seconds)
        end = time.monotonic() + SHAPE_SECONDS
        rounds = []
        while len(rounds) < most and (len(rounds) < ROUNDS_LEAST or time.monotonic() < end):
            rounds.append(self.round(shape, seconds))
        hessian = numbers(self.own["float"].ask("hessian", shape, seconds * len(rounds)))
        return [answers | {"hessian": hessian} for answers in rounds]

    def close(self):
        for server in (*self.own.values(), *filter(None, [self.single]),
                       *(server for peer in self.peers for server in (peer.installed, peer.tuned))):
            server.close()


# The tables


def sgemm(answers):
    return (answers["before"]["GFLOP/s"] + answers["after"]["GFLOP/s"]) / 2


def times(name, unit=1e3):
    """A column: the time of a step, in milliseconds."""
    return lambda rounds: [unit * answers[name]["seconds"] for answers in rounds if name in answers]


def ratio(name, own="float"):
    """A column: how many times as long as this program's step something takes."""
    return lambda rounds: [answers[name]["seconds"] / answers[own]["seconds"]
                           for answers in rounds if name in answers]


def best(peer, precision):
    """The mode of this precision with the least median time, found anew for each shape."""
    def name(rounds):
        modes = [(peer, mode) for mode in MODES if mode.startswith(precision + "-") and (peer, mode) in rounds[0]]
        return min(modes, key=lambda mode: statistics.median(times(mode)(rounds)), default=None)
    return name


def best_ratio(peer, precision, own):
    return lambda rounds: ratio(best(peer, precision)(rounds), own)(rounds)


OWN_COLUMNS = (  # heading, digits, with quartiles?, the values of all rounds
    ("ms per step", 2, False, times("float")),
    ("tokens/s", 0, False, lambda rounds: [answers["float"]["tokens/s"] for answers in rounds]),
    ("GFLOP/s", 0, False, lambda rounds: [answers["float"]["GFLOP/s"] for answers in rounds]),
    ("% of sgemm", 1, True, lambda rounds: [100 * answers["float"]["GFLOP/s"] / sgemm(answers) for answers in rounds]),
    ("bfloat16, ms", 2, False, times("bfloat16")),
    ("x float", 2, True, lambda rounds: [1 / value for value in ratio("bfloat16")(rounds)]),
)
REST_COLUMNS = (
    ("forward / step", 2, False, ratio("forward")),
    ("measuring, %", 2, False, lambda rounds: [100 * value / rounds[0]["measure"]["every"]
                                               for value in ratio("measure")(rounds)]),
    ("Hessian product / gradient", 2, False, lambda rounds: [answers["hessian"]["ratio"] for answers in rounds]),
)
THREAD_COLUMNS = (("x one thread", 2, True, ratio("single")),)


def peer_columns(peer):
    """PyTorch's times, and the best of each precision against this program's."""
    return (
        ("as installed, ms", 2, False, times((peer, "installed"))),
        *((mode.replace("-", " ") + ", ms", 2, False, times((peer, mode))) for mode in MODES),
        ("float: normsweep x", 2, True, best_ratio(peer, "float", "float")),
        ("bfloat16: normsweep x", 2, True, best_ratio(peer, "bfloat16", "bfloat16")),
        ("normsweep's float x bfloat16", 2, True, best_ratio(peer, "bfloat16", "float")),
    )


def print_head(columns):
    print_cells(["shape", *(heading for heading, *_ in columns)])
    print_cells(["---"] * (1 + len(columns)))


def print_row(shape, columns, rounds):
    print_cells([shape, *(spread(values(rounds), digits, quartiles) for _, digits, quartiles, values in columns)])


def print_tables(bench, shapes, rounds, seconds):
    """Prints each row of the first table when its shape is done, then those of the peers. Returns the rates of sgemm
    in all rounds."""
    columns = OWN_COLUMNS + REST_COLUMNS + THREAD_COLUMNS * bool(bench.single)
    taken, chosen = {}, {}
    print_head(columns)
    for shape in shapes:
        taken[shape] = bench.rounds(shape, rounds, seconds)
        chosen |= {(peer, shape): peer.chosen for peer in bench.peers}
        print_row(shape, columns, taken[shape])
    for peer in bench.peers:
        print(f"\nPyTorch {peer.version}:\n")
        print_head(peer_columns(peer))
        for shape in shapes:
            print_row(shape, peer_columns(peer), taken[shape])
        print_choices(peer, {shape: chosen[peer, shape] for shape in shapes})
    return [sgemm(answers) for shape in shapes for answers in taken[shape]]


def print_choices(peer, chosen):
    """Which optimiser, attention and products were the fastest, and which modes there are not."""
    print()
    for shape, words in chosen.items():
        modes = ", ".join(f"{mode.replace('-', ' ')} {words[mode]}" for mode in MODES if mode in words)
        print(f"Chosen for {shape}: optimiser {words['optimiser']}; attention/products: {modes}.")
    for mode, why in peer.missing.items():
        print(f"PyTorch {peer.version}, {mode.replace('-', ' ')}: not measured: {why}")


# Vector levels


def print_levels(bench, threads, shapes, rounds, seconds):
    """Of all levels that the processor has, the best last, each of which has a process for each precision."""
    servers = {(level, precision): Server([BUILD / "speed", "-t", threads], bench.clean | {"NORMSWEEP_VECTOR": level})
               for level in bench.levels for precision in PRECISIONS}
    print("\nVector levels, ms per step:\n")
    print_cells(["shape", *(f"{level}, {precision}" for level, precision in servers)])
    print_cells(["---"] * (1 + len(servers)))
    for shape in shapes:
        taken = {key: [] for key in servers}
        for _ in range(rounds):
            for (level, precision), server in servers.items():
                answer = server.ask("step", with_words(shape, precision), seconds)
                taken[level, precision].append(1e3 * float(answer["seconds"]))
        print_cells([shape, *(spread(values, 2, False) for values in taken.values())])
    for server in servers.values():
        server.close()


# The whole


def print_about(bench):
    about = bench.about
    print(f"{processor()}; threads: {about['threads']} on {about['processors']} processors; "
          f"BLAS kernel: {about['BLAS_kernel']}; vector level: {about['vector_level']}")
    for peer in bench.peers:
        print(f"PyTorch {peer.version}; products as installed: {peer.installed.about['BLAS_kernel']}")
    if not bench.peers:
        print("PyTorch: none found, so no comparison with it; PYTORCH=python names a Python that has one")
    print(flush=True)


CLOSING = """
Products of 1024 x 1024 matrices, GFLOP/s: sgemm {}.
Medians over the rounds, in brackets their quartiles. x: how many times as fast as. forward: the loss alone, a third of
a step's arithmetic. measuring: the default metrics at their default interval, of the time for steps. Hessian product:
the Hessian of a batch's loss times a vector, in units of the gradient of that loss. PyTorch is tuned but for the column
`as installed`; normsweep is compared with its best mode of a precision."""


def print_closing(bench, rates, seconds):
    rates = [spread(rates, 0)]
    for peer in bench.peers:
        found = [f"{precision} {float(peer.tuned.ask('product', precision, seconds)['GFLOP/s']):.0f}"
                 for precision in PRECISIONS]
        rates.append(f"PyTorch {peer.version} {', '.join(found)}")
    print(CLOSING.format("; ".join(rates)))


def parse_arguments():
    parser = argparse.ArgumentParser(description="How fast training is, against sgemm and PyTorch.")
    parser.add_argument("-t", "--threads", type=positive, default=1, help="of every process (default 1)")
    parser.add_argument("-r", "--rounds", type=positive, default=9, help="of each shape, at most (default 9)")
    parser.add_argument("-s", "--seconds", type=float, default=0.6, help="of one slice of work (default 0.6)")
    parser.add_argument("--pytorch", action="append", metavar="PYTHON",
                        help="a Python with PyTorch; may be given again (default: the one with the newest)")
    parser.add_argument("--levels", action="store_true", help="also every vector level of the processor")
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help="a name, or V,C,H,F,L,T,B (default: every name)")
    return parser.parse_args()


def read_shapes(asked, known):
    """Without the precision, each once."""
    shapes = list(dict.fromkeys(shape.replace(",bfloat16", "") for shape in asked)) or list(known)
    for shape in shapes:
        if shape not in known and not re.fullmatch(r"\d+(,\d+){6}(,gelu)?", shape):
            fail(f"no shape '{shape}': {', '.join(known)}, or V,C,H,F,L,T,B")
    return shapes


def main():
    options = parse_arguments()
    pythons = pythons_with_torch(options.pytorch or [])
    bind(options.threads)
    bench = Bench(options.threads, pythons)
    shapes = read_shapes(options.shapes, bench.shapes)
    print_about(bench)
    rates = print_tables(bench, shapes, options.rounds, options.seconds)
    print_closing(bench, rates, options.seconds)
    bench.close()  # before each level takes as much memory
    if options.levels:
        print_levels(bench, options.threads, shapes, options.rounds, options.seconds)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
