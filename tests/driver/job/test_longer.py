"""Sweeps whose `steps` grows: with `save_weights: state` the longer runs carry on, and their dataset and weights are,
bit for bit, those of a sweep that had all these steps from the start."""

import shutil
import signal

import netCDF4
import pytest

import same
from conftest import NORMSWEEP, run, run_until, sets, tiny

pytestmark = pytest.mark.thorough("trains whole sweeps")

SWEEP = tiny() + """\
steps: 45
learning_rate: [0.01, 0.001]
weight_decay: [0, 0.1]
schedule: [constant, inverse_sqrt, wsd]
warmup_steps: 4
schedule_start: 20
measure: {every: 10, metrics: [norms, alignment, saturation, hessian]}
hessian: {steps: 3, probes: 2, batches: 1, every: 20}
validate: {every: 20, tokens: 200}
save_weights: state
"""
MORE = "steps=100"
def grows(kept=12, runs=12, shorter=45, longer=100):
    return (f"sweep.nc: steps grows from {shorter} to {longer}: {kept} of {runs} runs carry on from their states in "
            f"sweep.nc.d; the dataset of the shorter sweep is now sweep.nc.{shorter}.old")


def go(place, *settings, jobs="0", command="run", **options):
    return run(NORMSWEEP, command, "sweep.yaml", *sets(*settings), *(["-j", jobs] if command == "run" else []),
               cwd=place, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """sweep.nc of 45 steps, whole.nc of 100."""
    folder = tmp_path_factory.mktemp("longer")
    (folder / "sweep.yaml").write_text(SWEEP)
    go(folder)
    go(folder, MORE, "output=whole.nc")
    return folder


def states(place, name="sweep.nc"):
    """{trunk: steps of its states, ascending}"""
    found = {}
    for path in (place / f"{name}.d" / "states").iterdir():
        trunk, _, _, step = path.stem.split("-")
        found.setdefault(trunk, []).append(int(step))
    return {trunk: sorted(steps) for trunk, steps in found.items()}


def weights(place, name, longest):
    """Those after so many steps."""
    return {path: found for path, found in same.read_weights(place / name).items() if found[0] == longest}


def check_equal(place, name="sweep.nc", whole="whole.nc", longest=100):
    assert same.differences(same.read(place / name), same.read(place / whole)) == []
    kept = weights(place, whole, longest)
    assert len(kept) == 12 and weights(place, name, longest) == kept


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_longer_runs_carry_on(place, jobs):
    before = (place / "sweep.nc").read_bytes()
    assert sorted(states(place).values()) == [[36]] * 4 + [[45]] * 8
    said = go(place, MORE, jobs=jobs).stdout
    assert said.splitlines()[0] == grows()
    check_equal(place)
    assert (place / "sweep.nc.45.old").read_bytes() == before and not (place / "sweep.nc.old").exists()
    assert sorted(states(place).values()) == [[36, 80]] * 4 + [[45, 100]] * 8
    assert "nothing left to do" in go(place, MORE).stdout
    go(place, MORE, "output=sweep.nc", command="verify")


def test_shorter_states_are_not_needed(place):
    """Runs without a state start anew."""
    shutil.rmtree(place / "sweep.nc.d")
    assert grows(kept=0) in go(place, MORE).stdout
    check_equal(place)


def test_files_of_shorter_runs_go_with_their_dataset(place):
    """Weights are where the dataset is whose runs they are of; states are not moved, and somebody's notes neither."""
    folder, old = place / "sweep.nc.d", place / "sweep.nc.45.old.d"
    (folder / "notes").write_text("mine")
    before = weights(place, "sweep.nc", 45)
    go(place, MORE)
    assert len(before) == 12 and weights(place, "sweep.nc.45.old", 45) == before
    assert len(list(folder.glob("*.weights.nc"))) == 12 == len(list(old.iterdir()))
    assert (folder / "notes").read_text() == "mine"
    said = go(place, "output=sweep.nc.45.old").stdout
    assert "nothing left to do: 12 runs: 12 done" in said


def test_no_dataset_is_replaced(place):
    """Neither the one of --fresh, nor those of shorter sweeps, nor what was begun and not ended."""
    go(place, "width=16", "output=sweep.nc.old")
    before = {"sweep.nc.old": (place / "sweep.nc.old").read_bytes(),
              "sweep.nc.45.old": (place / "sweep.nc").read_bytes()}
    go(place, MORE)
    with netCDF4.Dataset(place / "sweep.nc", "a") as file:  # as if the sweep had been stopped
        file["outcome"][0] = 0
    before["sweep.nc.100.old"] = (place / "sweep.nc").read_bytes()
    assert grows(shorter=100, longer=120) in go(place, "steps=120").stdout
    assert {name: (place / name).read_bytes() for name in before} == before


@pytest.mark.parametrize("kind", ["foreign", "unrelated", "folder"])
def test_the_name_of_the_shorter_dataset_is_taken(place, kind):
    old = place / "sweep.nc.45.old"
    if kind == "foreign":
        old.write_text("a diary")
    elif kind == "unrelated":
        go(place, "width=16", f"output={old.name}")
    else:
        old.mkdir()
    before = {path: path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}
    said = go(place, MORE, status=2).stderr
    assert said == ("sweep.nc.45.old: exists, and sweep.nc, whose runs have fewer steps, would be renamed to it; "
                    "rename it, or give another -o\n")
    plan = go(place, MORE, command="plan")
    assert plan.stderr == said and "grows" not in plan.stdout
    assert {path: path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()} == before
    old.rename(place / "elsewhere")
    go(place, MORE)
    check_equal(place)


def test_weights_that_cannot_be_moved(place):
    """The dataset stays, too; and a start that was killed between the two finds the weights that it has moved."""
    before = (place / "sweep.nc").read_bytes()
    (place / "sweep.nc.45.old.d").write_text("no folder")
    assert go(place, MORE, status=3).stderr == "sweep.nc.45.old.d: Not a directory\n"
    assert (place / "sweep.nc").read_bytes() == before and not (place / "sweep.nc.new").exists()
    (place / "sweep.nc.45.old.d").unlink()
    (place / "sweep.nc.45.old.d").mkdir()
    moved = next((place / "sweep.nc.d").glob("*.weights.nc"))
    moved.rename(place / "sweep.nc.45.old.d" / moved.name)
    go(place, MORE)
    check_equal(place)
    assert len(weights(place, "sweep.nc.45.old", 45)) == 12


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_checkpoints_of_the_shorter_sweep_do_not_count(tmp_path, jobs):
    """A sweep of one run that is stopped, grows and is stopped again has one run under way."""
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    one = ["learning_rate=0.01", "weight_decay=0", "schedule=constant", "schedule_start=0", "validate=null",
           "hessian=null", "measure={every: 100000, metrics: [norms]}", "checkpoint_minutes=1e-4"]
    for steps in "steps=500000", "steps=600000":
        before = set((tmp_path / "sweep.nc.d").glob("*-*.nc"))
        done = run_until(lambda: not set((tmp_path / "sweep.nc.d").glob("*-*.nc")) <= before, signal.SIGTERM,
                         NORMSWEEP, "run", "sweep.yaml", *sets(*one, steps), "-j", jobs, cwd=tmp_path)
        said = done.stdout
        assert done.returncode == 75 and "1 run under way is saved" in said
    assert grows(kept=0, runs=1, shorter=500000, longer=600000) in said
    assert len(list((tmp_path / "sweep.nc.500000.old.d").glob("*-*.nc"))) in (1, 2)


def test_growing_again_and_again(place):
    go(place, "steps=46")
    assert sorted(states(place).values()) == [[36]] * 4 + [[45, 46]] * 8  # 0.8 * 46 = 36.8
    go(place, "steps=70", jobs="2")
    go(place, MORE)
    check_equal(place)
    assert sorted(states(place).values()) == [[56, 80]] * 4 + [[70, 100]] * 8


def test_an_axis_of_steps(place):
    go(place, "steps=[20, 45]", "output=axis.nc")
    go(place, "steps=[20, 45, 100]", "output=axis.nc", jobs="2")
    go(place, "steps=[20, 45, 100]", "output=new.nc")
    assert same.differences(same.read(place / "axis.nc"), same.read(place / "new.nc")) == []
    with netCDF4.Dataset(place / "axis.nc") as file:
        assert (file["attempts"][:] == 1).all()


def test_two_workers_on_one_trunk(place):
    """Two workers keep states of the same runs but for their steps at the same time; each leaves the other's alone."""
    settings = ["steps={range: [1, 24]}", "learning_rate=0.01", "weight_decay=0", "schedule=constant",
                "schedule_start=0", "measure={every: 8, metrics: [norms]}", "hessian=null", "validate=null",
                "width=64", "feedforward=256"]
    go(place, *settings, "output=alone.nc")
    for attempt in range(2):
        go(place, *settings, f"output=two{attempt}.nc", jobs="2")
        assert same.differences(same.read(place / f"two{attempt}.nc"), same.read(place / "alone.nc")) == []
        assert list(states(place, f"two{attempt}.nc").values()) == [[23, 24]]


def test_a_damaged_state(place):
    for path in (place / "sweep.nc.d" / "states").iterdir():
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    said = go(place, MORE).stderr
    assert said.count("damaged (checksum); the run starts anew") == 12
    check_equal(place)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_kills_before_and_after(place, number):
    settings = ["checkpoint_minutes=1e-4", "output=killed.nc", "validate={every: end, tokens: 200}"]
    stopped = 0
    for steps in "steps=600", "steps=1500":
        done = run_until(lambda: list((place / "killed.nc.d").glob("*-*.nc")), number, NORMSWEEP, "run", "sweep.yaml",
                         *sets(*settings, steps), "-j", "0", cwd=place)
        stopped += done.returncode != 0
        go(place, *settings, steps)
    go(place, *settings, "steps=1500", "output=whole2.nc")
    assert stopped > 0
    check_equal(place, "killed.nc", "whole2.nc", 1500)


def test_fresh_sets_states_aside(place):
    go(place, MORE)
    for _ in range(2):
        run(NORMSWEEP, "run", "sweep.yaml", "--fresh", "-j", "0", cwd=place)
        assert sorted(states(place).values()) == [[36]] * 4 + [[45]] * 8
    assert (place / "sweep.nc.old.d" / "states").is_dir()


STEPS = "steps is 45 in sweep.nc and 100 in --set"
TRUE, EARLY = ["save_weights=true"], ["stop_when=[never, phase]"]
LINEAR = ["schedule=[constant, linear]", "schedule_start=0"]


@pytest.mark.parametrize("first, then, why, hint", [
    (TRUE, [MORE, *TRUE], STEPS, ", or begin anew with save_weights: state, which lets steps grow later"),
    ([], [MORE, *TRUE], f"{STEPS}, save_weights is state in sweep.nc and true in --set",
     "; with save_weights: state, which the dataset has, steps can grow"),
    ([], [MORE, "save_weights=null"], f"{STEPS}, save_weights is state in sweep.nc and false in --set",
     "; with save_weights: state, which the dataset has, steps can grow"),
    (EARLY, [MORE, *EARLY, *TRUE], f"{STEPS}, save_weights is state in sweep.nc and true in --set",
     "; with stop_when: phase steps cannot grow"),
    (TRUE, [MORE], "save_weights is true in sweep.nc and state in sweep.yaml", ""),
    ([], ["steps=40"], "steps is 45 in sweep.nc and 40 in --set", ""),
    (LINEAR + TRUE, [MORE, *LINEAR, *TRUE], STEPS,
     "; steps can grow only while the rate does not depend on them: constant, inverse_sqrt, wsd, linear and cosine "
     "with a schedule_start"),
    (LINEAR, [MORE, *LINEAR], STEPS,
     "; steps can grow only while the rate does not depend on them: constant, inverse_sqrt, wsd, linear and cosine "
     "with a schedule_start"),
    (EARLY, [MORE, *EARLY], STEPS, "; with stop_when: phase steps cannot grow"),
    ([], [MORE, "width=16"], "width is 8 in sweep.nc and 16 in --set", ""),
], ids=["no states", "states no longer", "states by default", "states no longer and stop_when", "states too late",
        "fewer steps", "a falling rate without states", "a falling rate", "stop_when", "another model"])
def test_refused(tmp_path, first, then, why, hint):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    go(tmp_path, *first)
    before = (tmp_path / "sweep.nc").read_bytes()
    said = go(tmp_path, *then, status=2).stderr
    assert said.startswith(f"sweep.nc: holds another sweep: {why}; use --fresh or another -o")
    assert said.endswith(f"{hint}\n") and said.count("\n") == 1
    assert go(tmp_path, *then, command="plan").stderr == said
    assert (tmp_path / "sweep.nc").read_bytes() == before
    assert not (tmp_path / "sweep.nc.45.old").exists()


def test_no_states_of_runs_that_may_end_early(tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    go(tmp_path, "stop_when=[never, phase]")
    assert sorted(states(tmp_path).values()) == [[36]] * 4 + [[45]] * 8
    said = go(tmp_path, "stop_when=phase", "output=early.nc", status=2).stderr
    assert said.endswith("save_weights: state keeps no more than true: every cell has stop_when phase, with which "
                         "steps cannot grow\n")


def test_plan_of_a_longer_sweep(place):
    kept = sorted((place / "sweep.nc.d" / "states").iterdir())
    kept[0].unlink()
    said = go(place, MORE, command="plan").stdout
    assert "\nstates " in said and "100 per run" in said
    assert ("\ngrows       from 45 steps: 11 of 12 runs carry on; the dataset of the shorter sweep becomes "
            "sweep.nc.45.old\n") in said
    assert not (place / "sweep.nc.45.old").exists()
    assert "grows" not in go(place, command="plan").stdout
