"""When the held-out part is learned, on accuracies whose steps are known, and the figure."""

import layout
import numpy as np
import pytest
from conftest import script
from drawn import PENDING, dataset, drawing, legend, near, panels, words
from normsweep import grokking
from normsweep.drawings.table import TOGETHER, names

pytestmark = pytest.mark.thorough("draws figures again and again; test_figures_sweep.py draws each once")

DECAYS = [1.0, 0.0, 0.1, 0.2, 0.5]  # in no order
STEPS = np.arange(0, 10001, 100)


def steps_to(decay, seed):
    """1000 / decay, 1.5 times as many for seed 1; never without decay, and too late with 0.1 for seed 1."""
    return np.where(decay > 0, 1000 / np.maximum(decay, 1e-9) * (1 + 0.5 * seed), np.inf)


def accuracy(decay, seed, step):
    return np.where(step >= steps_to(decay, seed), 1.0, 0.4)


def made(decays=DECAYS, seeds=(0, 1), outcome=None):
    return dataset({"weight_decay": decays, "seed": list(seeds)}, outcome, STEPS, accuracy=(["step"], accuracy),
                   train_loss=(["step"], lambda decay, seed, step: 3 / (1 + step)))


def test_first_step_and_the_one_before():
    found = made().sweep.grokking()
    assert near(found.reached.sel(seed=0), [np.nan, 10000, 5000, 2000, 1000])
    assert near(found.reached.sel(seed=1), [np.nan, np.nan, 7500, 3000, 1500])
    assert near(found.before.sel(seed=0), [np.nan, 9900, 4900, 1900, 900])
    assert near(found.weight_decay, sorted(DECAYS))
    assert made().sweep.grokking(level=1.01).reached.isnull().all()
    assert near(made().sweep.grokking(level=0.4).reached, 0) and made().sweep.grokking(level=0.4).before.isnull().all()


def test_unmeasured_steps_are_no_neighbours():
    some = made()
    some["accuracy"] = some.accuracy.where(some.step % 700 == 0)
    found = some.sweep.grokking().sel(seed=0)
    assert near(found.reached, [np.nan, np.nan, 5600, 2100, 1400])
    assert near(found.before, [np.nan, np.nan, 4900, 1400, 700])


def test_critical_decay_is_between_neighbours():
    found = made().sweep.grokking()
    assert near(found.low, [0, 0.1]) and near(found.high, [0.1, 0.2])
    high = made([0.5, 1.0]).sweep.grokking()
    assert high.low.isnull().all() and near(high.high, 0.5)
    none = made([0.0, 0.01]).sweep.grokking()
    assert none.low.isnull().all() and none.high.isnull().all()


def test_pending_runs_do_not_count():
    some = made()
    some.outcome.loc[{"weight_decay": 0.1, "seed": 1}] = PENDING
    some["accuracy"] = some.accuracy.where(some.outcome != PENDING)
    assert near(some.sweep.grokking().low, [0, 0])


def test_slope():
    """At 0.1 a seed is missing, so that decay does not count."""
    found = made().sweep.grokking()
    assert near(found.slope, -1)
    assert found.slope_low < -1 < found.slope_high and found.slope_high - found.slope_low < 0.5
    one = made().sel(seed=0).sweep.grokking()
    assert near(one.slope, -1) and one.slope_low.isnull() and one.slope_high.isnull()
    assert made([0.0, 1.0]).sweep.grokking().slope.isnull()
    several = dataset({"weight_decay": DECAYS, "norm_placement": ["pre", "post"], "seed": [0, 1]}, None, STEPS,
                      accuracy=(["step"], lambda decay, place, seed, step: accuracy(
                          decay * np.where(place == "pre", 1, 0.5), seed, step)))
    assert near(several.sweep.grokking().slope, [-1, -1]) and grokking(several).low.dims == ("norm_placement", "seed")


def test_refused_without_accuracy_over_decay_and_steps():
    for part in (made().drop_vars("accuracy"), made().sel(weight_decay=1.0), made().isel(step=-1)):
        with pytest.raises(ValueError, match="accuracy was not measured over weight_decay and step"):
            part.sweep.grokking()


# ---- the figure ----

def points(axes, marker):
    lines = [line for line in axes.lines if line.get_marker() == marker and line.get_zorder() == 3]
    return sorted(tuple(point) for line in lines for point in line.get_xydata() if np.isfinite(point).all())


def test_figure():
    found = drawing(made(), "grokking")
    over_steps, loss, ends = panels(found)
    assert points(ends, "o") == sorted((decay, steps_to(decay, seed).item()) for decay in DECAYS for seed in (0, 1)
                                       if steps_to(decay, seed) <= STEPS[-1])
    assert points(ends, "^") == [(0.05, 10000), (0.1, 10000)]  # 0 has a place left of the others
    assert near([line.get_ydata()[-1] for line in over_steps.lines[:5]], [1, 0.4, 0.7, 1, 1])  # medians
    assert all(len(line.get_xdata()) == len(STEPS) - 1 for line in loss.lines)  # step 0 has no place
    assert legend(found) == [f"weight decay {decay:g}" for decay in sorted(DECAYS)] + ["not within the run"]
    assert "one mark per run" in words(found)


def test_no_figure_where_nothing_is_learned_late():
    assert drawing(made([0.0, 0.01]), "grokking") is None
    assert drawing(made().sel(weight_decay=1.0), "grokking") is None
    assert drawing(made().isel(step=[-1]), "grokking") is None
    assert "grokking" not in names(made().drop_vars("accuracy"))
    early = made()
    early["accuracy"] = early.accuracy * 0 + 1
    assert early.sweep.grokking().slope.isnull()
    assert drawing(early, "grokking") is None


def test_other_axes_have_rows_and_many_decays_are_thinned():
    found = drawing(dataset({"weight_decay": np.logspace(-1, 0, 10), "norm_placement": list("abcdef")}, None, STEPS,
                            accuracy=(["step"], lambda decay, place, step: accuracy(decay, 0, step))), "grokking")
    assert len(panels(found)) == 4 * 3
    assert "4 of 6 norm placements are shown, not b, e; others with --at norm_placement=VALUE." in found.caption
    assert "7 of 10 weight decays" in found.caption


def test_sweeps_side_by_side():
    """One in which no run gets there has a row, too: that float never does and double does is what it shows."""
    shown = TOGETHER["grokking"]({"float": made([0.0, 0.01]), "double": made()})
    rows = np.reshape(panels(shown), (2, 3))
    assert [axes.get_ylabel() for axes in rows[:, 0]] == ["float", "double"]
    assert points(rows[0, 2], "o") == [] and len(points(rows[1, 2], "o")) == 7  # the other one's are grey behind
    assert points(rows[0, 2], "^") == [(0.001, 10000), (0.01, 10000)]
    assert all(sum(line.get_marker() == "o" for line in axes.lines) == 7 for axes in rows[:, 2])
    assert "Grey: the runs of the other sweeps." in shown.caption and "Left out" not in shown.caption
    assert TOGETHER["grokking"]({"nothing": made([0.0, 0.01])}) is None


def test_sweeps_without_accuracy_over_decay_are_named():
    shown = TOGETHER["grokking"]({"one": made(), "bare": made().drop_vars("accuracy"),
                                  "single": made().sel(weight_decay=[1.0])})
    assert len(panels(shown)) == 3 and "Grey" not in shown.caption
    assert "Left out, without accuracy over steps and weight decays: bare, single." in shown.caption


@pytest.mark.parametrize("last", [500, 1000, 3000, 10000, 100000])
def test_ticks_do_not_touch_and_have_one_style(last):
    steps = np.linspace(0, last, 51).astype(int)
    some = dataset({"weight_decay": [0.0, 0.1, 0.11, 0.12, 0.5, 1.0]}, None, steps, train_loss=(
        ["step"], lambda decay, step: 3 / (1 + step)), accuracy=(["step"], lambda decay, step: np.where(
            step * np.maximum(decay, 1e-9) >= last / 12, 1.0, 0.4)))
    found = drawing(some, "grokking")
    assert "e" not in "".join(text.get_text() for axes in panels(found) for text in axes.get_yticklabels())
    figure = layout.drawn(found)
    assert layout.touching(figure) == []
    assert all(len(layout.tick_labels(axes.xaxis)) >= 2 for axes in panels(found))


def test_script(tmp_path):
    for name in ("one", "two"):
        made().to_netcdf(tmp_path / f"{name}.nc")
    made([0.0, 0.01]).to_netcdf(tmp_path / "none.nc")
    done = script("figures", "one.nc", "two.nc", "--format", "svg", cwd=tmp_path).stdout
    assert done == "./one+two-grokking.svg\n"
    assert all(f">{name}</text>" in (tmp_path / "one+two-grokking.svg").read_text() for name in ("one", "two"))
    script("figures", "one.nc", "two.nc", "--only", "grokking", "--at", "seed=0", "--format", "svg", cwd=tmp_path)
    error = script("figures", "none.nc", "none.nc", "./none.nc", cwd=tmp_path, status=1).stderr
    assert error.startswith("figures: grokking: nothing to draw: ") and error.count("\n") == 1
    error = script("figures", "one.nc", "two.nc", "--only", "phase", cwd=tmp_path, status=1).stderr
    assert error == "figures: no figure phase of several sweeps together, only grokking; give one dataset at a time\n"
