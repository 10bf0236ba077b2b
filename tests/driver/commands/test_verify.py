"""`normsweep verify`: equal runs are equal, one bit of one value is found and named, and nothing is written."""

import re
import signal

import netCDF4
import numpy as np
import pytest

import injected
from altered import Content
from conftest import NORMSWEEP, run
from test_run import outcomes
from waited import Background, on_terminal

pytestmark = pytest.mark.thorough("trains runs again and again")

SWEEP = """\
corpus: markov
vocabulary: 16
corpus_tokens: 2000
width: 8
feedforward: 8
context: 8
batch: 2
steps: 12
measure: {every: 5, metrics: [norms, alignment, saturation, heads, gradients, homogeneity]}
validate: {tokens: 64}
learning_rate: [0.1, 0.01]
together:
  model:
    small: {layers: 1, heads: 1, weight_decay: 0.1}
    large: {layers: 2, heads: 2, weight_decay: 0}
    wild: {layers: 1, heads: 2, weight_decay: 1e12}
seed: [1, 2]
skip: [{model: large, seed: 2}]
"""
RUNS, DIVERGED = 10, 4
SMALL, LARGE, WILD = range(3)
DONE = 2
UNMEASURED = {"seconds", "tokens_per_second", "begin", "end"}  # real numbers of each run that depend on the machine
WHOLE_NUMBERS = {"outcome", "phase", "dynamics", "last_step", "diverged_step", "ended_early"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """sweep.yaml and its dataset sweep.nc, trained by two workers."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "sweep.yaml").write_text(SWEEP)
    run(NORMSWEEP, "run", "sweep.yaml", "-j", "2", cwd=folder)
    return folder


@pytest.fixture
def copy(place):
    return place / "sweep.nc"


def opened(path, mode="r"):
    file = netCDF4.Dataset(path, mode)
    file.set_auto_maskandscale(False)
    file.set_auto_chartostring(False)
    return file


def measured(file):
    """{name: values} of all numbers that were measured, over the axes first."""
    axes = file["outcome"].dimensions
    return {name: variable[...] for name, variable in file.variables.items()
            if variable.dimensions[:len(axes)] == axes and variable.dtype == np.float64 and name not in UNMEASURED}


def put(path, name, at, value):
    """Returns the value before."""
    with opened(path, "a") as file:
        values = file[name][...]
        before = values[at]
        values[at] = value
        file[name][...] = values
    return before


def flip(path, name, at):
    """Flips the last bit of a number; returns (before, after)."""
    with opened(path) as file:
        before = file[name][...][at]
    after = (np.array(before).view(np.uint64) ^ np.uint64(1)).view(np.float64)[()]
    assert np.isfinite(before) and before != after
    put(path, name, at, after)
    return before, after


def test_all_runs_are_equal(folder, normsweep):
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert set(files) == {"sweep.yaml", "sweep.nc"}
    done = normsweep("verify", "sweep.yaml", "-n", "1000000000", cwd=folder)
    with opened(folder / "sweep.nc") as file:
        outcome = file["outcome"][...]
        values = sum(np.isfinite(each).sum() for each in measured(file).values())
        kinds = {file[name].dimensions[3:] for name in measured(file)}
    assert {("step", "layer", "tensor"), ("step", "layer", "head"), ("step",), (), ("scale",)} <= kinds
    assert ((outcome == 3).sum(), (outcome >= DONE).sum() - 2) == (DIVERGED, RUNS)  # two are skipped
    values += len(WHOLE_NUMBERS) * RUNS
    assert done.stdout == f"sweep.nc: {RUNS} of {RUNS} finished runs trained again: {RUNS} equal in {values} values\n"
    assert done.stderr == ""
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


@pytest.mark.parametrize("jobs", ["0", "1", "3"])
def test_values_for_scripts(folder, normsweep, jobs):
    said = normsweep("verify", "sweep.yaml", "-n", "4", "-j", jobs, "--values", cwd=folder).stdout.splitlines()
    values = dict(line.split("=", 1) for line in said)
    assert int(values.pop("values")) > 400
    assert values == {"finished": str(RUNS), "verified": "4", "different": "0", "values_different": "0",
                      "trained_otherwise": "0", "output": "sweep.nc"}


# {variable: (place within the dataset, where the line says it is)}
FLIPPED = {
    "train_loss": ((1, LARGE, 0, 2), "at step 10"),
    "valid_loss": ((1, SMALL, 1, 3), "at step 12"),
    "param_norm": ((0, WILD, 0, 0), "at step 0"),
    "layer_norm": ((1, LARGE, 0, 1, 1), "at step 5, layer 1"),
    "tensor_norm": ((1, LARGE, 0, 3, 1, 4), "at step 12, layer 1, tensor TENSOR"),
    "positions_attended": ((0, LARGE, 0, 0, 1, 1), "at step 0, layer 1, head 1"),
    "homogeneity": ((0, SMALL, 0, 2), "at scale SCALE"),
    "norm_growth": ((1, SMALL, 0), ""),
    "final_train_loss": ((0, LARGE, 0), ""),
}


def line_about(at, name, place, before, after):
    rate, model, seed = ("0.1", "0.01")[at[0]], ("small", "large", "wild")[at[1]], at[2] + 1
    return (f"different: learning_rate={rate} model={model} seed={seed}: {name}{' ' * bool(place)}{place}: "
            f"{before} in sweep.nc, {after} trained again")


def found(normsweep, path, *options):
    """What `verify` says on stderr about a dataset in which one value of one run differs."""
    done = normsweep("verify", "sweep.yaml", "-n", "1000", *options, cwd=path.parent, status=1)
    assert re.fullmatch(rf"sweep.nc: {RUNS} of {RUNS} finished runs trained again: {RUNS - 1} equal, 1 different, "
                        r"in 1 of \d+ values\n", done.stdout), done.stdout
    return done.stderr


@pytest.mark.parametrize("name", FLIPPED)
def test_one_bit_is_found(copy, normsweep, name):
    at, place = FLIPPED[name]
    with opened(copy) as file:
        place = place.replace("TENSOR", file["tensor"][at[-1]].tobytes().rstrip(b"\0").decode())
        place = place.replace("SCALE", f"{file['scale'][2]:.12g}")
    before, after = flip(copy, name, at)
    assert found(normsweep, copy) == line_about(at, name, place, f"{after:.17g}", f"{before:.17g}") + "\n"


WRONG_NUMBERS = {
    ("outcome", (1, SMALL, 0), 3): "diverged in sweep.nc, done trained again",
    ("last_step", (1, SMALL, 0), 11): "11 in sweep.nc, 12 trained again",
    ("diverged_step", (1, SMALL, 0), 12): "12 in sweep.nc, -1 trained again",
    ("phase", (1, SMALL, 0), 0): "none in sweep.nc, ",
    ("outcome", (0, WILD, 1), DONE): "done in sweep.nc, diverged trained again",
}


@pytest.mark.parametrize("name, at, value", WRONG_NUMBERS)
def test_a_wrong_whole_number_is_found(copy, normsweep, name, at, value):
    assert put(copy, name, at, value) != value
    said = found(normsweep, copy)
    assert said.startswith(line_about(at, name, "", "X", "Y").partition("X")[0] + WRONG_NUMBERS[name, at, value])


@pytest.mark.parametrize("name, at, value, line", [
    ("grad_norm", (0, SMALL, 0, 1), np.nan, "at step 5: nan"),
    ("grad_norm", (0, SMALL, 0, 1), np.inf, "at step 5: inf"),
    ("layer_norm", (0, SMALL, 0, 0, 1), 7, "at step 0, layer 1: 7")])
def test_a_number_that_is_lost_or_too_many_is_found(copy, normsweep, name, at, value, line):
    before = put(copy, name, at, value)
    place, shown = line.split(": ")
    assert found(normsweep, copy) == line_about(at, name, place, shown, f"{before:.17g}") + "\n"
    assert np.isnan(before) == (name == "layer_norm")


def test_a_nan_is_a_nan(copy, normsweep):
    other = np.array(0xfff8000000000123, np.uint64).view(np.float64)[()]
    before = put(copy, "layer_norm", (0, SMALL, 0, 0, 1), other)
    with opened(copy) as file:
        assert np.array(before).view(np.uint64) != file["layer_norm"][0, SMALL, 0, 0, 1].view(np.uint64)
    assert f"{RUNS} equal in " in normsweep("verify", "sweep.yaml", "-n", "1000", cwd=copy.parent).stdout


def test_zeros_have_signs(copy, normsweep):
    with opened(copy) as file:
        name, at = next((name, np.argwhere(values == 0)[0]) for name, values in measured(file).items()
                        if (values == 0).any())
    assert put(copy, name, tuple(at), -0.0) == 0
    assert re.search(r": -0 in sweep.nc, 0 trained again$", found(normsweep, copy))


def test_several_runs_are_named_in_order(copy, normsweep):
    flip(copy, "train_loss", (1, LARGE, 0, 0))
    flip(copy, "train_loss", (0, SMALL, 1, 1))
    flip(copy, "train_loss", (0, SMALL, 1, 2))
    done = normsweep("verify", "sweep.yaml", "-n", "1000", "-j", "3", cwd=copy.parent, status=1)
    assert "8 equal, 2 different, in 3 of " in done.stdout
    first, second = done.stderr.splitlines()
    assert first.startswith("different: learning_rate=0.1 model=small seed=2: train_loss at step 5: ")
    assert first.endswith("; and 1 more")
    assert second.startswith("different: learning_rate=0.01 model=large seed=1: train_loss at step 0: ")
    values = normsweep("verify", "sweep.yaml", "-n", "1000", "--values", cwd=copy.parent, status=1)
    assert {"different=2", "values_different=3"} <= set(values.stdout.splitlines())
    assert values.stderr == done.stderr


def test_times_and_places_are_not_compared(copy, normsweep):
    for name, value in [("seconds", 1e9), ("tokens_per_second", 0), ("attempts", 5), ("deaths", 1), ("host", b"x"),
                        ("worker", 9), ("begin", 1e6), ("end", 2e6)]:
        put(copy, name, ..., value)
    assert f"{RUNS} equal in " in normsweep("verify", "sweep.yaml", "-n", "1000", cwd=copy.parent).stdout


def test_the_same_command_draws_the_same_runs(copy, normsweep):
    with opened(copy, "a") as file:
        file["train_loss"][...] = file["train_loss"][...] + 1

    def drawn(*options):
        done = normsweep("verify", "sweep.yaml", *options, cwd=copy.parent, status=1)
        return [line.partition(": train_loss")[0] for line in done.stderr.splitlines()]
    one, five = drawn(), drawn("-n", "5")
    assert len(one) == 1 and len(set(five)) == 5 and len(drawn("-n", "10")) == RUNS
    assert drawn() == one and drawn("-n", "5", "-j", "1") == five and drawn("-n5", "--set", "title=Other") == five
    assert set(one) <= set(drawn("-n", "2")) <= set(five)
    larger = [drawn("-n", "5", "--set", f"learning_rate=[0.1, 0.01, 1e-{power}]") for power in range(3, 8)]
    assert any(other != five for other in larger)  # though these runs are the same cells there


def test_what_a_run_was_trained_with_is_said(copy, normsweep):
    with opened(copy, "a") as file:
        text = file["session_blas_kernel"][0].tobytes().rstrip(b"\0").decode()
        level = file["session_vector_level"][0].tobytes().rstrip(b"\0").decode()
        for name, word in [("blas_kernel", b"Other"), ("vector_level", b"avx1024"), ("mpi", b"none"), ("host", b"far")]:
            variable = file[f"session_{name}"]
            variable[0] = np.frombuffer(word.ljust(variable.shape[1], b"\0"), "S1")
    done = normsweep("verify", "sweep.yaml", "-n", "2", cwd=copy.parent)
    assert done.stdout.splitlines()[0] == (
        "2 of 2 runs were trained with blas_kernel Other, vector_level avx1024 on far, and verified with "
        f"blas_kernel {text}, vector_level {level}; differences may come from that")
    assert "2 equal in " in done.stdout and done.stderr == ""
    values = normsweep("verify", "sweep.yaml", "-n", "2", "--values", cwd=copy.parent).stdout
    assert "trained_otherwise=2" in values.splitlines() and "Other" not in values


def test_a_dataset_of_part_of_the_sweep(folder, normsweep):
    done = normsweep("verify", "sweep.yaml", "-n", "99", "--set", "seed=[0, 2, 1, 3]", "--set", "bias=[true, false]",
                     "--set", "skip=null", "--set", "steps=[12, 20]", "-j", "2", cwd=folder)
    assert f": {RUNS} of {RUNS} finished runs trained again: {RUNS} equal in " in done.stdout


def test_an_extended_dataset(place, normsweep):
    """Its steps, layers and cells are no longer those of the runs that were there."""
    more = ["--set", "steps=[20, 12]", "--set", "learning_rate=[0.01, 0.1]"]
    normsweep("run", "sweep.yaml", "-j", "0", *more)
    done = normsweep("verify", "sweep.yaml", "-n", "99", *more)
    assert f": {2 * RUNS} of {2 * RUNS} finished runs trained again: {2 * RUNS} equal in " in done.stdout


def test_skipped_runs_are_not_checked(folder, normsweep):
    done = normsweep("verify", "sweep.yaml", "-n", "99", "--set", "skip=[{model: large}, {seed: 1}]", cwd=folder)
    assert ": 4 of 4 finished runs trained again: 4 equal in " in done.stdout


@pytest.mark.parametrize("change", ["width=16", "seed=[1]", "measure={every: 5}", "corpus_tokens=2001",
                                    "together=null", "validate={tokens: 65}"])
def test_another_sweep_is_refused_as_by_run(folder, normsweep, change):
    options = ["sweep.yaml", "--set", change, "--set", "skip=null"]
    refused = normsweep("verify", *options, cwd=folder, status=2)
    assert refused.stderr == normsweep("run", "-j", "0", *options, cwd=folder, status=2).stderr
    assert refused.stderr.startswith("sweep.nc: holds another sweep: ") and refused.stdout == ""


def test_what_is_not_a_dataset(folder, tmp_path, normsweep):
    (tmp_path / "text.nc").write_text("text")
    for name, said in [("none.nc", "No such file or directory"), ("text.nc", "is not a normsweep dataset")]:
        done = normsweep("verify", folder / "sweep.yaml", "-o", name, status=2)
        assert done.stderr == f"{name}: {said}\n" and done.stdout == ""


@pytest.mark.parametrize("count", ["0", "-1", "1.5", "", "x"])
def test_a_count_that_is_none(folder, normsweep, count):
    done = normsweep("verify", "sweep.yaml", "-n", count, cwd=folder, status=2)
    assert done.stderr.startswith("normsweep verify: ") and done.stderr.count("\n") == 1 and done.stdout == ""


def test_nothing_has_finished(copy, normsweep):
    with opened(copy, "a") as file:
        outcome = file["outcome"][...]
        file["outcome"][...] = np.where(outcome == 5, 5, np.where(outcome == DONE, 4, 0))  # failed or pending
    done = normsweep("verify", "sweep.yaml", cwd=copy.parent, status=2)
    assert done.stderr == "sweep.nc: no run of the sweep is done or diverged yet\n" and done.stdout == ""


def test_an_altered_dataset_is_refused(copy, normsweep):
    content = Content(copy)
    content["train_loss"].type = "f4"
    content.write(copy)
    done = normsweep("verify", "sweep.yaml", cwd=copy.parent, status=2)
    assert done.stderr == "sweep.nc: train_loss is of type float and not double; normsweep did not write this\n"


@pytest.mark.parametrize("dimension, length, said", [("layer", 1, "layer is 1 long and not 2"),
                                                     ("step", 3, "step 12 is missing")])
def test_a_dataset_without_room_is_refused(copy, normsweep, dimension, length, said):
    content = Content(copy)
    content.dimensions[dimension] = length
    content.write(copy)
    done = normsweep("verify", "sweep.yaml", "-n", "99", cwd=copy.parent, status=2)
    assert done.stderr.startswith(f"sweep.nc: has no place for all values of its runs: {said}")
    assert done.stderr.count("\n") == 1 and done.stdout == ""


def test_a_compressed_copy(copy, normsweep):
    Content(copy).write(copy, "NETCDF4", compression="zlib", shuffle=True)
    assert f"{RUNS} equal in " in normsweep("verify", "sweep.yaml", "-n", "99", cwd=copy.parent).stdout
    flip(copy, "tensor_norm", FLIPPED["tensor_norm"][0])
    assert "tensor_norm at step 12, layer 1, tensor " in found(normsweep, copy)


def test_a_sweep_without_axes(tmp_path, normsweep):
    (tmp_path / "one.yaml").write_text("corpus: markov\nsteps: 3\nwidth: 8\n")
    normsweep("run", "one.yaml", "-j", "0")
    assert ": 1 of 1 finished run trained again: 1 equal in " in normsweep("verify", "one.yaml").stdout
    flip(tmp_path / "one.nc", "norm_growth", ())
    said = normsweep("verify", "one.yaml", status=1).stderr
    assert said.startswith("different: the run: norm_growth: ")


def test_a_team_of_threads(tmp_path, normsweep):
    (tmp_path / "team.yaml").write_text("corpus: markov\nsteps: 3\nwidth: 8\nthreads: 2\nseed: [1, 2]\n")
    normsweep("run", "team.yaml", "-j", "0")
    assert ": 2 of 2 finished runs trained again: 2 equal in " in normsweep("verify", "team.yaml", "-n", "2").stdout


def test_a_sweep_under_way(tmp_path, normsweep):
    """One of its two workers trains for ever."""
    (tmp_path / "sweep.yaml").write_text(SWEEP.partition("together")[0].replace("steps: 12", "steps: [12, 100000000]")
                                         .replace("every: 5", "every: 1000000").replace("[0.1, 0.01]", "0.1"))
    with Background(tmp_path, "run", "sweep.yaml", "-j", "2") as sweep:
        sweep.wait_until(lambda: DONE in outcomes(tmp_path / "sweep.nc"), "a run is done")
        done = normsweep("verify", "sweep.yaml", "-n", "99")
        assert sweep.process.poll() is None
        sweep.send(signal.SIGINT)
        sweep.ended(75)
    assert ": 1 of 1 finished run trained again: 1 equal in " in done.stdout and done.stderr == ""


def test_a_resumed_run(tmp_path, normsweep):
    injector = injected.Injector(tmp_path / "injector")
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "sweep.yaml").write_text(injected.SWEEP)
    injected.stopped(injector, work)
    normsweep(*injected.RUN, cwd=work)
    with opened(work / "sweep.nc") as file:
        assert sorted(file["attempts"][...]) == [1, 2] and (file["outcome"][...] == DONE).all()
    done = normsweep("verify", "../sweep.yaml", "-o", "sweep.nc", "-n", "2", cwd=work)
    assert ": 2 of 2 finished runs trained again: 2 equal in " in done.stdout


def test_who_waits_at_a_terminal_is_told(folder):
    status, answer, written = on_terminal("stderr", "verify", "sweep.yaml", "-n", "3", cwd=folder)
    assert status == 0 and b"3 equal in " in answer and b"\x1b" not in answer
    assert b"0/3 done, 0 running" in written and written.endswith(b"\x1b[J")  # the display of `run`
