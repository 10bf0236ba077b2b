"""The figure of largest singular values, on datasets in closed form."""

import numpy as np
import pytest
from drawn import DIVERGED, DONE, dataset, drawing, legend, near, panels, words

RATES, DECAYS, SEEDS = [1e-3, 1e-2, 1e-1], [0.0, 0.1, 1.0], [0, 1]
KINDS = ["q", "w1", "ln1"]
AXES = {"learning_rate": RATES, "weight_decay": DECAYS, "seed": SEEDS}


def made(axes=None, outcome=None, tiny=0.1, **attributes):
    """In proportion to the ratio, three times as much in w1; twice or half of it by layer, and by seed; ln1 has none.
    q is dead at the largest rate and decay, and tiny there; w1 at the least of both in layer 0."""
    axes = axes or AXES

    def top(rate, decay, *rest):
        seed, step, layer, tensor = rest[-4:]
        value = np.sqrt(rate / np.maximum(decay, 1e-6)) * np.where(tensor == "w1", 3, 1) * 2.0 ** (2 * layer - 1)
        value = np.where((tensor == "q") & (rate == 1e-1) & (decay == 1), tiny, value) * 4.0 ** (seed - 0.5)
        return np.where((tensor == "ln1") | (step == 4), np.nan, value * (1 + step))

    def dead(rate, decay, *rest):
        layer, tensor = rest[-2:]
        few = (tensor == "w1") & (rate == 1e-3) & (decay == 0.1) & (layer == 0)
        return np.where(tensor == "ln1", np.nan, few | (tensor == "q") & (rate == 1e-1) & (decay == 1))

    found = dataset(axes, outcome, other={"layer": [0, 1], "tensor": KINDS},
                    top_singular=(["step", "layer", "tensor"], top), dead=(["step", "layer", "tensor"], dead))
    return found.assign_attrs(attributes)


def marks(axes):
    """(x, y) of the marks of a panel: full ones, half ones, open ones."""
    found = {"full": [], "left": [], "none": []}
    for line in axes.lines:
        if line.get_marker() != "None":
            found[line.get_fillstyle()].append((float(line.get_xdata()[0]), float(line.get_ydata()[0])))
    return tuple(map(sorted, found.values()))


def test_marks_are_means_over_layers_and_seeds():
    found = drawing(made(), "top-singular")
    q, w1 = panels(found)
    assert [axes.get_title() for axes in (q, w1)] == ["q", "w1"]
    ratios = sorted(np.sqrt(rate / decay) for rate in RATES for decay in DECAYS[1:] if (rate, decay) != (1e-3, 0.1))
    full, half, empty = marks(w1)
    near(full, [(x, 9 * x) for x in ratios], rtol=1e-9)  # three times, at step 2 three times that before
    near(half, [(0.1, 1.8)], rtol=1e-9)  # of layer 1 alone
    assert not empty and len(marks(q)[0]) == 5 and not marks(q)[1]
    near(marks(q)[2], [(0.1 ** 0.5, 0.3)], rtol=1e-9)
    ranges = [line.get_ydata() for line in w1.lines if line.get_marker() == "None" and line.get_linewidth() == 0.6]
    assert sorted(round(high / low, 9) for low, high in ranges) == [4, 16, 16, 16, 16, 16]
    line, = (line for line in w1.lines if line.get_linestyle() == "--")
    near(line.get_ydata() / line.get_xdata(), [9, 9], rtol=1e-9)
    assert legend(found) == ["in proportion to √(rate / decay)", "some are dead", "dead"]
    assert "Dead: below a quarter" in words(found) and "over layers and seeds" in found.caption
    assert "lower edge" not in words(found)
    found = drawing(made(tiny=1e-20), "top-singular")
    least = 3 * (1e-3 / 1) ** 0.5 / 4 / 1.5  # of q
    assert "1 of the marks of what is dead lie below the panels and are drawn on the lower edge." in words(found)
    assert panels(found)[0].get_ylim()[0] == panels(found)[1].get_ylim()[0] == pytest.approx(least)
    near(marks(panels(found)[0])[2], [(0.1 ** 0.5, least)], rtol=1e-9)


def test_other_axes_have_marks_of_their_own_and_a_decay_apart_from_the_rate_its_own_ratio():
    axes = {"learning_rate": RATES, "weight_decay": DECAYS, "norm_placement": ["pre", "out"], "seed": SEEDS}
    found = drawing(made(axes), "top-singular")
    assert legend(found)[-2:] == ["pre", "out"]
    assert {line.get_marker() for line in panels(found)[1].lines} == {"None", "o", "s"}
    found = drawing(made(decay_rule="independent"), "top-singular")
    xs = sorted({x for group in marks(panels(found)[1]) for x, _ in group})
    near(xs, sorted({rate / np.sqrt(decay) for rate in RATES for decay in DECAYS[1:]}), rtol=1e-9)


def test_runs_that_did_not_end_have_no_mark():
    outcome = np.full((3, 3, 2), DONE, np.int8)
    outcome[0] = DIVERGED
    assert sum(map(len, marks(panels(drawing(made(outcome=outcome), "top-singular"))[1]))) == 4
    assert drawing(made().isel(learning_rate=[0], weight_decay=[1]), "top-singular") is None
    assert drawing(made(outcome=np.full((3, 3, 2), DIVERGED, np.int8)), "top-singular") is None
    assert len(marks(panels(drawing(made().isel(weight_decay=2, seed=0), "top-singular"))[1])[0]) == 3


def test_singular_values_are_means_over_layers_at_the_last_step():
    def value(rate, step, layer, tensor, singular):
        found = rate * 2.0 ** -singular * (1 + 2 * layer) * np.where(tensor == "w1", 3, 1) * (1 + step)
        return np.where((tensor == "ln1") | (step == 4) | (tensor == "w1") & (singular == 3), np.nan, found)

    made = dataset({"learning_rate": [1.0]}, other={"layer": [0, 1], "tensor": KINDS, "singular": [0, 1, 2, 3]},
                   norm_growth=[1.1], singular_values=(["step", "layer", "tensor", "singular"], value))
    found = drawing(made, "singular_values")
    (axes,) = panels(found)
    q, w1 = axes.lines
    near(q.get_xydata(), [(1 + i, 2 * 3 * 2.0 ** -i) for i in range(4)])
    near(w1.get_ydata(), [18, 9, 4.5, np.nan])
    assert axes.get_yscale() == "log" and legend(found) == ["q", "w1"] and "Means over layers." in words(found)
