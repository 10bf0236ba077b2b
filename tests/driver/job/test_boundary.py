"""The boundary in the datasets of real sweeps is that which analysis finds in them."""

import sys

import missing
import numpy as np
import pytest
from conftest import NORMSWEEP, PROJECT, run

UNCHECKED = "that the program and the Python package find the same boundaries"
netCDF4 = missing.module("netCDF4", UNCHECKED, "apt-get install python3-netcdf4")
missing.module("xarray", UNCHECKED, "apt-get install python3-xarray")
sys.path.insert(0, str(PROJECT / "analysis"))

from normsweep import open_sweep  # noqa: E402
from normsweep.names import BOUNDARY  # noqa: E402

pytestmark = pytest.mark.thorough("trains whole sweeps")

BRIEF = """corpus: markov
vocabulary: 33
corpus_tokens: 4000
layers: 1
width: 8
heads: 2
feedforward: 16
context: 8
batch: 4
measure: {every: 10}
"""
RATES = "learning_rate: {log: [1e-1, 1e-3], points: 3}\n"
DECAYS = "weight_decay: {log: [30, 1e-2], points: 6, plus: [0]}\n"
SEEDS = "seed: [0, 1, 2]\n"
PLAIN = BRIEF + "steps: [40, 80]\n" + RATES + DECAYS + SEEDS
REFINED = BRIEF + "steps: 40\n" + RATES + "weight_decay: {log: [1e-2, 30], points: 40}\n" + SEEDS
MANY_SEEDS = BRIEF + "steps: 20\n" + RATES + "weight_decay: [30, 3, 0.3, 0.03]\nseed: {range: [1, 7]}\n"
ONE_SEED = BRIEF + "steps: 20\n" + RATES + "weight_decay: [30, 3, 0.3, 0.03]\n"

STEPS = ("boundary_steps_slope", "boundary_steps_slope_low", "boundary_steps_slope_high")
SLOPES = (*STEPS, "boundary_slope", "boundary_slope_low", "boundary_slope_high", "boundary_rejects")


def sweep(folder, text, *options, name="a"):
    (folder / f"{name}.yaml").write_text(text)
    run(NORMSWEEP, "run", f"{name}.yaml", "-j", "0", *options, cwd=folder)
    return folder / f"{name}.nc"


def compare(path, *missing):
    """Compares a dataset with what analysis finds in it, and returns both."""
    with open_sweep(path) as dataset:
        dataset.load()
    found = dataset.sweep.boundary()
    assert set(found.data_vars) == set(dataset.data_vars) & set(BOUNDARY) == set(BOUNDARY) - set(missing)
    for name in found.data_vars:
        assert found[name].dims == dataset[name].dims
        assert found[name].attrs["long_name"] == dataset[name].attrs["long_name"]
        ours, theirs = found[name].values, dataset[name].values
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13, equal_nan=True)
    return dataset, found


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return sweep(tmp_path_factory.mktemp("plain"), PLAIN)


def test_plain_sweep_has_the_boundary_of_analysis(plain):
    dataset, found = compare(plain)
    assert dataset.boundary.dims == ("steps", "learning_rate", "seed")
    assert dataset.boundary_slope.dims == ("steps",) and dataset.boundary_steps_slope.dims == ("learning_rate",)
    assert found.boundary.notnull().all() and found.boundary_slope_low.notnull().all()
    phase = dataset.sweep.phase_boundary()
    np.testing.assert_allclose(phase.each, dataset.boundary, rtol=1e-12)
    np.testing.assert_allclose(phase.slope, dataset.boundary_slope, rtol=1e-12)
    predicted = dataset.sweep.predicted_boundary(runs=1).each
    np.testing.assert_allclose(predicted, dataset.predicted_boundary, rtol=1e-12)
    assert np.isfinite(predicted).any()


@pytest.mark.parametrize("text", [MANY_SEEDS, ONE_SEED], ids=["many", "one"])
def test_intervals_of_many_seeds_and_of_one_agree(tmp_path, text):
    dataset, _ = compare(sweep(tmp_path, text), *STEPS)
    assert dataset.boundary_slope_low < dataset.boundary_slope < dataset.boundary_slope_high


def test_refined_sweep_has_the_boundary_of_its_whole_grid(tmp_path):
    whole, _ = compare(sweep(tmp_path, REFINED, name="whole"), *STEPS)
    lines, _ = compare(sweep(tmp_path, REFINED + "refine: {axis: weight_decay}\n", name="lines"), *STEPS)
    assert int(lines.sweep.skipped.sum()) > 200
    for name in ("boundary", "boundary_low", "boundary_high", "predicted_boundary", "boundary_slope",
                 "boundary_slope_low"):
        np.testing.assert_array_equal(lines[name], whole[name])


@pytest.mark.parametrize("more, missing, variable, begins", [
    ("refine: {axis: weight_decay, at: 0.9}\n", (*STEPS, "boundary_rejects"), "norm_growth",
     "boundary of norm_growth at 0.9: slope "),
    ("refine: {axis: weight_decay, variable: final_train_loss, at: 3.3}\n", (*STEPS, "boundary_rejects"),
     "final_train_loss", "boundary of final_train_loss at 3.3: slope "),
    ("refine: {axis: learning_rate, variable: final_train_loss, at: 3.4}\n", SLOPES, "final_train_loss", None),
    ("refine: {axis: weight_decay}\noptimiser: adam\n", STEPS, "norm_growth", None),
    ("refine: {axis: weight_decay, at: 0.99}\noptimiser: sgd\nmomentum: 0.9\n", (*STEPS, "boundary_rejects"),
     "norm_growth", None),
])
def test_other_boundaries_agree_and_are_named(tmp_path, more, missing, variable, begins):
    path = sweep(tmp_path, REFINED + more)
    dataset, _ = compare(path, *missing)
    assert dataset.boundary.attrs["variable"] == variable
    assert dataset.predicted_boundary.notnull().any() == (variable == "norm_growth" and "adam\n" not in more)
    said = [line for line in run(NORMSWEEP, "show", path).stdout.splitlines() if line.startswith("boundary")]
    assert len(said) == (begins is not None) and all(line.startswith(begins) for line in said)


def test_the_boundary_of_growth_needs_no_name(plain):
    said = [line for line in run(NORMSWEEP, "show", plain).stdout.splitlines() if line.startswith("boundary")]
    assert [line.split(":")[0] for line in said] == ["boundary at steps 40", "boundary at steps 80"]


def slopes_said(path, *options):
    """What show says on slopes: one text for each, without its line breaks."""
    lines = run(NORMSWEEP, "show", path, *options).stdout.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("boundary")), len(lines))
    return [text.strip() for text in " ".join(lines[first:]).split("boundary")[1:]]


@pytest.mark.parametrize("seed", ["", "seed: 3\n", "seed: [3]\n"])
def test_one_seed_rejects_nothing(tmp_path, seed):
    """The dataset has an interval, narrower than those of several seeds, but show gives none, nor a verdict."""
    path = sweep(tmp_path, BRIEF + "steps: 40\n" + RATES + DECAYS + seed)
    assert np.isfinite(read(path, "boundary_slope_low")).all()
    said, = slopes_said(path)
    assert said == (f": slope {read(path, 'boundary_slope').item():.3g} over learning_rate; one seed: the spread "
                    "between seeds is unknown")


def test_of_several_seeds_two_have_to_tell(tmp_path, plain):
    """Seeds without boundaries at two rates say nothing about the spread."""
    both = slopes_said(plain)
    assert len(both) == 2 and all("95 % interval" in said and "reject" in said for said in both), both
    path = tmp_path / "b.nc"
    path.write_bytes(plain.read_bytes())
    with netCDF4.Dataset(path, "r+") as file:
        file["boundary"][0, :2, 1:] = np.nan  # at 40 steps, seeds 1 and 2 have one boundary each, at the last rate
        file["boundary"][1, :, 0] = np.nan
    said = slopes_said(path)
    assert said[0].endswith("; fewer than two seeds have boundaries at two rates: the spread between seeds is unknown")
    assert said[1] == both[1]


def test_a_sweep_without_the_axis_has_no_boundary(tmp_path):
    with open_sweep(sweep(tmp_path, BRIEF + "steps: 40\n" + RATES)) as dataset:
        assert not set(BOUNDARY) & set(dataset.data_vars)
        with pytest.raises(ValueError, match="so there is no boundary"):
            dataset.sweep.boundary()


def test_without_seeds_and_rates_there_are_no_slopes(tmp_path):
    dataset, _ = compare(sweep(tmp_path, BRIEF + "steps: 40\n" + DECAYS + "learning_rate: [0.01]\n"), *SLOPES)
    assert dataset.boundary.dims == ("learning_rate",)


def read(path, name):
    with netCDF4.Dataset(path) as file:
        return np.ma.filled(file[name][...], np.nan)


def test_boundary_follows_a_sweep_that_grows(tmp_path):
    """A grown sweep, and one whose file lacks the variables, ends with the numbers of one that was trained at once."""
    path = sweep(tmp_path, PLAIN.replace(SEEDS, "seed: [0, 1]\n"))
    before = read(path, "boundary_slope_low")
    sweep(tmp_path, PLAIN)
    once = sweep(tmp_path, PLAIN, name="once")
    for name in BOUNDARY:
        np.testing.assert_array_equal(read(path, name), read(once, name))
    assert not np.array_equal(read(path, "boundary_slope_low"), before)


def test_boundary_is_completed_when_a_finished_sweep_is_opened_again(tmp_path, plain):
    """After a kill between the last result and the boundary, or a change of the title, which copies the file."""
    path = sweep(tmp_path, PLAIN)
    for change in ("wipe", "title"):
        if change == "wipe":
            with netCDF4.Dataset(path, "r+") as file:
                file["boundary"][...] = file["boundary_slope"][...] = np.nan
                file["boundary_rejects"][...] = -1
        sweep(tmp_path, PLAIN + ("title: another\n" if change == "title" else ""))
        for name in BOUNDARY:
            np.testing.assert_array_equal(read(path, name), read(plain, name))


def test_boundary_of_another_refine_replaces_the_first(tmp_path):
    first, _ = compare(sweep(tmp_path, REFINED + "refine: {axis: weight_decay}\n"), *STEPS)
    then, _ = compare(sweep(tmp_path, REFINED + "refine: {axis: learning_rate, variable: final_train_loss, at: 3.4}\n"),
                      *SLOPES)
    assert first.boundary.dims == ("learning_rate", "seed") and then.boundary.dims == ("weight_decay", "seed")


def test_show_prints_masks_as_numbers(plain):
    shown = run(NORMSWEEP, "show", plain, "boundary_rejects", "--at", "steps=40").stdout
    assert shown.splitlines()[-1] == f"{read(plain, 'boundary_rejects')[0]:g}"


@pytest.mark.parametrize("kind, dimensions, message", [
    ("i8", ("steps",), "boundary_slope is of type int64 and not double"),
    ("f8", ("sessions",), "boundary_slope is over (sessions) and not over ()"),
])
def test_a_variable_of_another_program_is_refused(tmp_path, kind, dimensions, message):
    path = sweep(tmp_path, BRIEF + "steps: [2, 4]\nlearning_rate: [0.1]\n")
    with netCDF4.Dataset(path, "r+") as file:
        file.createVariable("boundary_slope", kind, dimensions)
    done = run(NORMSWEEP, "run", "a.yaml", "-j", "0", cwd=tmp_path, status=2)
    assert f"{message}; normsweep did not write this" in done.stderr
