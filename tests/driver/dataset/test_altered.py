"""Datasets that another program has altered: `run` names the fault and changes no byte; `show` and `status` print what
they can, or one line."""

import os
import random
import subprocess

import numpy as np
import pytest
from altered import Content
from conftest import NORMSWEEP, delayed, tiny, train_sweep

pytestmark = pytest.mark.thorough("starts the program on a hundred altered datasets")

SWEEP = tiny(vocabulary=None, width=None, heads=None, feedforward=8, batch=2) + """\
steps: 4
learning_rate: [1e-2, 1e-3]
bias: [true, false]
together: {model: {small: {width: 8, heads: 2}, large: {width: 12, heads: 3}}}
measure: {every: 2, metrics: [norms, alignment, heads, homogeneity]}
"""
MORE = SWEEP.replace("1e-3]", "1e-3, 1e-4]")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A dataset with two pending runs."""
    path = train_sweep(tmp_path_factory.mktemp("whole"), SWEEP)
    content = Content(path)
    content["outcome"].values[1, 1] = [0, 1]
    return content.write(path)


@delayed
def turn(content, name, order):
    content[name].dimensions = [content[name].dimensions[i] for i in order]


@delayed
def span(content, name, *dimensions):
    content[name].dimensions = [*dimensions]


@delayed
def fill(content, name, value, at=...):
    content[name].values[at] = value


@delayed
def retype(content, name, kind):
    content[name].type = kind


@delayed
def widen(content, name, width):
    content.dimensions["other"] = width
    content[name].dimensions[-1] = "other"


@delayed
def set_attribute(content, name, value):
    content.attributes[name] = value


@delayed
def drop(content, name):
    content.variables.pop(name, content.attributes.pop(name, None))


@delayed
def lengthen(content, name, length):
    content.dimensions[name] = length


FIRST = "learning_rate=0.01 bias=true model=small"
GRID = "learning_rate, bias, model"
REFUSED = {
    "reason is of type int and not char": retype("reason", "i4"),
    "attempts is of type double and not int64": retype("attempts", "f8"),
    "seconds is of type float and not double": retype("seconds", "f4"),
    "session_start is of type byte and not char": retype("session_start", "i1"),
    f"attempts is over (bias, learning_rate, model) and not over ({GRID})": turn("attempts", [1, 0, 2]),
    f"layer_norm is over ({GRID}, step) and not over ({GRID}, step, layer)": turn("layer_norm", [0, 1, 2, 3]),
    f"reason is over ({GRID}, 300 characters) and not over ({GRID}, 256 characters)": widen("reason", 300),
    "session_mpi is over (sessions, 4000 characters) and not over (sessions, 128 characters)":
        widen("session_mpi", 4000),
    f"outcome is 127 at {FIRST} and not from 0 to 5": fill("outcome", 127),
    f"outcome is -128 at {FIRST} and not from 0 to 5": fill("outcome", -128, (0, 0, 0)),
    f"dynamics is -1 at {FIRST} and not from 0 to 4": fill("dynamics", -1),
    f"deaths is 4294967297 at {FIRST} and not from 0 to 2147483646": fill("deaths", 2**32 + 1),
    f"last_step is -2 at {FIRST} and not from -1 to 9223372036854775807": fill("last_step", -2),
    f"attempts is 0 at {FIRST}, where outcome is done": fill("attempts", 0),
    "attempts is missing": drop("attempts"),
    "session_mpi is missing": drop("session_mpi"),
    "step does not ascend: 2 comes after 4": fill("step", [0, 4, 2]),
    "step does not ascend: 2 comes after 2": fill("step", [0, 2, 2]),
    "step begins at -2": fill("step", [-2, 0, 4]),
    "layer is 7 at place 0 and not 0": fill("layer", 7),
    "scale is nan at place 1 and not 1.47368421053": fill("scale", np.nan, 1),
    "attended is 1 at place 4 and not 16": lengthen("attended", 100),
    "tensor is 'x' at place 0 and not 'q'": fill("tensor", [b"x", b"", b"", b"", b"", b"", b"", b""], 0),
    "learning_rate has 0.01 twice": fill("learning_rate", 0.01),
    "learning_rate: must be finite": fill("learning_rate", np.nan),
    "learning_rate is of type float and not double": retype("learning_rate", "f4"),
    "heads: 0 is below 1": fill("heads", 0),
    "bias: true is above 1": fill("bias", 2),
    "model is of type int and not char": retype("model", "i4"),
    "step is over (learning_rate) and not over (step)": span("step", "learning_rate"),
    "outcome is not of type byte": retype("outcome", "f8"),
    "outcome is over one dimension twice": span("outcome", "bias", "bias", "model"),
    "the attribute layers has a value that the key cannot have": set_attribute("layers", "one"),
    "the attribute beta1 has a value that the key cannot have": set_attribute("beta1", np.array([0.9, 0.9])),
    "the attribute batch has a value that the key cannot have": set_attribute("batch", 2.5),
    "the attribute optimiser has a value that the key cannot have": set_attribute("optimiser", "newton"),
    "the attribute measure is not a text": set_attribute("measure", np.int32(1)),
    "the attribute validate is not a text": drop("validate"),
    "the attribute data_digest is not a text": set_attribute("data_digest", 1.5),
}


def test_a_metric_that_was_taken_out_is_a_difference(whole, tmp_path, normsweep):
    content = altered(whole, drop("param_norm"))
    assert refused(content, tmp_path, normsweep, MORE) == (
        "a.nc: holds another sweep: param_norm is missing in a.nc; use --fresh or another -o\n")
    assert normsweep("verify", "a.yaml", "-j", "0", "--set", "learning_rate=[1e-2, 1e-3]", status=2).stderr.startswith(
        "a.nc: holds another sweep: param_norm is missing")


def altered(whole, *alterations):
    content = Content(whole)
    for alter in alterations:
        alter(content)
    return content


def refused(content, folder, normsweep, sweep):
    """The refusal of `run`, after checking that nothing in the folder has changed."""
    path = content.write(folder / "a.nc")
    (folder / "a.yaml").write_text(sweep)
    before = path.read_bytes()
    said = normsweep("run", "a.yaml", "-j", "0", status=2).stderr
    assert said.count("\n") == 1 and path.read_bytes() == before
    assert sorted(os.listdir(folder)) == ["a.nc", "a.yaml"]
    return said


@pytest.mark.parametrize("fault", REFUSED)
def test_a_start_refuses_and_who_looks_is_told_the_same(whole, tmp_path, normsweep, fault):
    """Who looks sees as much as there is to be seen; else it is the one line of the refusal."""
    content = altered(whole, REFUSED[fault])
    said, line = refused(content, tmp_path, normsweep, MORE), f"a.nc: {fault}; normsweep did not write this"
    assert said.startswith(line)
    for command in ("status", "show"):
        done = survived(tmp_path, command, "a.nc")
        assert done.returncode == 2 or (f"{line}\n" if command == "show" else f"altered   {line}\n") in (
            done.stdout + done.stderr)
        assert done.returncode == 0 or done.stderr.startswith("a.nc: ")
        assert "; use --fresh or another -o\n" in said or command == "show" or fault in done.stderr


def test_a_sound_dataset_is_not_called_altered(whole, tmp_path, normsweep):
    Content(whole).write(tmp_path / "a.nc")
    assert "altered" not in normsweep("status", "a.nc").stdout and normsweep("show", "a.nc").stderr == ""


@pytest.mark.parametrize("alter", [retype("attempts", "f8"), fill("outcome", 127), widen("host", 8)])
def test_a_sweep_that_has_not_grown_refuses_too(whole, tmp_path, normsweep, alter):
    content = altered(whole, alter)
    assert "; normsweep did not write this; use --fresh or another -o\n" in refused(content, tmp_path, normsweep, SWEEP)


def test_fresh_is_the_way_out(whole, tmp_path, normsweep):
    altered(whole, retype("reason", "i4")).write(tmp_path / "a.nc")
    (tmp_path / "a.yaml").write_text(SWEEP)
    normsweep("run", "a.yaml", "-j", "0", "--fresh")
    assert Content(tmp_path / "a.nc.old")["reason"].type == np.dtype("i4")


@pytest.mark.parametrize("alterations", [
    [], [lambda content: content["attempts"].attributes.update(_FillValue=1)]])
def test_runs_are_kept_where_nothing_is_wrong(whole, tmp_path, normsweep, alterations):
    """A fill value hides no stored value."""
    altered(whole, *alterations).write(tmp_path / "a.nc")
    (tmp_path / "a.yaml").write_text(MORE)
    said = normsweep("run", "a.yaml", "-j", "0").stdout
    assert "12 runs: 12 done" in said
    new, old = Content(tmp_path / "a.nc"), Content(whole)
    assert (new["attempts"].values[:2] == old["attempts"].values + [[[0, 0], [0, 0]], [[0, 0], [1, 1]]]).all()
    kept = old["outcome"].values == 2
    np.testing.assert_array_equal(new["norm_growth"].values[:2][kept], old["norm_growth"].values[kept])
    assert np.isfinite(old["norm_growth"].values[kept]).all()


@pytest.mark.parametrize("value", [np.arange(100.0), "text", 1])
def test_fill_values_of_any_length(whole, tmp_path, normsweep, value):
    content = Content(whole)
    for name in ("train_loss", "seconds", "learning_rate"):
        content[name].attributes["_FillValue"] = value
    content.write(tmp_path / "a.nc")
    assert "6 of 8 runs" in normsweep("status", "a.nc").stdout
    for arguments in ([], ["train_loss"], ["seconds"]):
        assert normsweep("show", "a.nc", *arguments).stdout


def test_a_fill_value_is_not_the_time_of_a_session(whole, tmp_path, normsweep):
    """A session that was killed before it wrote its end, in a file whose fill values another program has changed."""
    fill_value = np.float64(9.969209968386869e36)
    altered(whole, fill("session_end", fill_value),
            lambda content: content["session_end"].attributes.update(_FillValue=fill_value)).write(tmp_path / "a.nc")
    (tmp_path / "a.yaml").write_text(MORE)
    normsweep("run", "a.yaml", "-j", "0")
    ends = np.asarray(Content(tmp_path / "a.nc")["end"].values)
    assert (ends < 1e9).all(), ends


def test_coordinates_that_are_not_numbers_are_places(whole, tmp_path, normsweep):
    altered(whole, fill("scale", np.nan)).write(tmp_path / "a.nc")
    assert "scale=19" in normsweep("show", "a.nc", "homogeneity", "--at", "scale=19").stdout


def test_texts_over_other_dimensions_are_none(whole, tmp_path, normsweep):
    altered(whole, fill("outcome", 4), fill("reason", np.frombuffer(b"mine".ljust(256), "S1")),
            turn("reason", [1, 0, 2, 3])).write(tmp_path / "a.nc")
    said = normsweep("status", "a.nc").stdout
    assert "no reason given" in said and "mine" not in said


def test_names_reach_no_terminal(whole, tmp_path, normsweep):
    content = Content(whole)
    content["phase"].attributes["flag_meanings"] = "none \x1b[2Jgrowing shrinking diverged"
    content.write(tmp_path / "a.nc")
    assert "\x1b" not in normsweep("show", "a.nc", "phase").stdout


TYPES = ("i1", "i2", "i4", "i8", "u8", "f4", "f8", "S1")
EXTREMES = (-2**63, -128, -1, 0, 127, 2**31, 2**63 - 1, np.nan, np.inf, 1e300)
ATTRIBUTES = ("_FillValue", "flag_meanings", "flag_values", "coordinates", "units", "long_name", "dtype")
VALUES = (np.arange(50.0), "text", np.int32(1), "x" * 3000, np.nan)


def alter_type(content, name, draw):
    content[name].type = draw.choice(TYPES)


def alter_dimensions(content, name, draw):
    there = content[name].dimensions
    content[name].dimensions = draw.choice([there[::-1], there[1:], there[:-1], there + ["sessions"],
                                            [draw.choice(list(content.dimensions)) for _ in there[:3]]])


def alter_values(content, name, draw):
    values, extreme = content[name].values, draw.choice(EXTREMES)
    if values.dtype.kind == "S":
        values[...] = draw.choice([b"\xff", b"\x1b", b"", b"x"])
    elif values.dtype.kind == "f":
        values[...] = extreme
    else:
        limits = np.iinfo(values.dtype)
        values[...] = int(np.clip(np.nan_to_num(float(extreme)) / 2, limits.min, limits.max))


def alter_attribute(content, name, draw):
    content[name].attributes[draw.choice(ATTRIBUTES)] = draw.choice(VALUES)


def alter_global(content, name, draw):
    content.attributes[draw.choice(list(content.attributes))] = draw.choice(VALUES)


def alter_length(content, name, draw):
    content.dimensions[draw.choice(list(content.dimensions))] = draw.choice([1, 2, 5, 70])


ALTERATIONS = (alter_type, alter_dimensions, alter_values, alter_attribute, alter_global, alter_length)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_altered_is_survived(whole, tmp_path, seed):
    draw, content = random.Random(seed), Content(whole)
    name = draw.choice(list(content.variables))
    ALTERATIONS[seed % len(ALTERATIONS)](content, name, draw)
    path = content.write(tmp_path / "a.nc")
    before = path.read_bytes()
    (tmp_path / "a.yaml").write_text(MORE)
    for arguments in (["status", "a.nc"], ["show", "a.nc", name], ["show", "a.nc", "train_loss"],
                      ["run", "a.yaml", "-j", "0"]):
        done = survived(tmp_path, *arguments)
        assert done.returncode != 2 or (done.stderr.count("\n") == 1 and path.read_bytes() == before)
    assert not (tmp_path / "a.nc.new").exists() and not (tmp_path / "a.nc.old").exists()


def survived(folder, *arguments):
    """A command may fail because of its input, but it does not crash."""
    done = subprocess.run([NORMSWEEP, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=600, errors="replace")
    assert done.returncode in (0, 2), (arguments, done.returncode, done.stderr)
    return done


def test_a_start_that_was_killed_before_it_was_counted_carries_on(whole, tmp_path, normsweep):
    """A flush writes in the order of offsets: a kill in the middle of it leaves an outcome without its attempt."""
    altered(whole, fill("outcome", 1), fill("attempts", 0)).write(tmp_path / "a.nc")
    (tmp_path / "a.yaml").write_text(MORE)
    assert normsweep("run", "a.yaml", "-j", "0").stderr.count("did not write") == 0
    made = Content(tmp_path / "a.nc")
    assert (np.asarray(made["outcome"].values) == 2).all() and (np.asarray(made["attempts"].values) >= 1).all()
