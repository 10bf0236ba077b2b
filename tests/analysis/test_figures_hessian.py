"""The figures of the Hessian's spectrum, on datasets in closed form."""

import pytest
import numpy as np
from drawn import DIVERGED, DONE, FAILED, RUNNING, dataset, drawing, legend, near, panels, words
from matplotlib.patches import StepPatch

pytestmark = pytest.mark.thorough("draws figures again and again; test_figures_sweep.py draws each once")

PLACES, SEEDS = ["pre", "post"], [0, 1]
RITZ, WEIGHT = np.array([-1.0, 0.0, 100.0]), np.array([0.125, 0.5, 0.375])
EXTRA = ["step", "probe", "lanczos"]


def spectra(outcome=None, probes=2, factor=1):
    """RITZ times the step, from step 1 on; the second seed's probes have all of their weight on the last of them."""
    def ritz(place, seed, step, probe, lanczos):
        return np.where(step > 0, RITZ[lanczos] * step, np.nan)

    def weight(place, seed, step, probe, lanczos):
        return factor * np.where(seed == 0, WEIGHT[lanczos], lanczos == 2)

    return dataset({"norm_placement": PLACES, "seed": SEEDS}, outcome, step=(0, 1, 2),
                   other={"probe": range(probes), "lanczos": range(3)}, hessian_ritz=(EXTRA, ritz),
                   hessian_weight=(EXTRA, weight))


def shares(axes):
    """{(from, to) of a bin: share} of each line."""
    found = []
    for patch in (patch for patch in axes.patches if isinstance(patch, StepPatch)):
        values, edges, _ = patch.get_data()
        found.append({(edges[i], edges[i + 1]): values[i] for i in np.flatnonzero(np.isfinite(values))})
    return found


def share_at(line, value):
    return sum(share for (low, high), share in line.items() if low <= value < high)


def test_densities_are_the_mean_quadrature():
    found = drawing(spectra(), "hessian")
    assert [axes.get_title() for axes in panels(found)] == PLACES
    assert legend(found) == ["first step", "last step"]
    assert "Mean over probes and seeds, 2 runs a panel." in found.caption
    for axes in panels(found):
        first, last = shares(axes)
        assert axes.get_yscale() == "log" and len(first) == len(last) == 3
        for line, step in ((first, 1), (last, 2)):
            assert near([share_at(line, value * step) for value in RITZ], [0.0625, 0.25, 0.6875])


def test_densities_leave_diverged_runs_out():
    outcome = np.array([[DONE, DIVERGED], [DIVERGED, DIVERGED]])
    found = drawing(spectra(outcome, probes=1), "hessian")
    (axes,) = panels(found)
    assert axes.get_title() == "pre" and "Mean" not in found.caption
    assert near([share_at(shares(axes)[0], value) for value in RITZ], WEIGHT)


def test_no_density_without_weights():
    assert drawing(spectra(factor=0), "hessian") is None


def by_layer():
    """Blocks whose spectra are RITZ times (layer + 1), of seeds whose ends differ."""
    def ritz(seed, step, layer, probe, lanczos):
        return RITZ[lanczos] * (layer + 1) + 0 * step

    return dataset({"seed": SEEDS}, step=(0, 4), other={"layer": range(2), "probe": range(2), "lanczos": range(3)},
                   layer_hessian_ritz=(["step", "layer", "probe", "lanczos"], ritz),
                   layer_hessian_weight=(["step", "layer", "probe", "lanczos"], lambda *at: WEIGHT[at[-1]]),
                   layer_hessian_largest=(["step", "layer"], lambda seed, step, layer: 10 * layer + step + seed),
                   layer_hessian_smallest=(["step", "layer"], lambda seed, step, layer: -layer - step - seed))


def test_layers_have_densities_and_ends_of_their_own():
    found = drawing(by_layer(), "hessian-layers")
    lines = shares(panels(found)[0])
    assert legend(found) == ["layer 0", "layer 1"] and len(lines) == 2
    assert near([share_at(line, 100 * (layer + 1)) for layer, line in enumerate(lines)], 0.375)
    found = drawing(by_layer(), "hessian-ends")
    lines = [line.get_ydata() for line in panels(found)[0].lines if len(line.get_ydata()) == 2][:4]
    assert near(lines, [[0.5, 10.5], [4.5, 14.5], [-0.5, -1.5], [-4.5, -5.5]])
    assert legend(found) == ["largest eigenvalue", "smallest eigenvalue", "first step", "last step"]


def at_the_edge(height):
    def stability(rate, step):
        return height * (1 - np.exp(-step * rate))

    return dataset({"learning_rate": [0.1, 1.0]}, step=range(0, 50, 10), hessian_stability=(["step"], stability),
                   hessian_largest=(["step"], stability))


def test_edge_says_which_runs_are_left_out():
    """Those whose optimiser has no bound, those that failed, and what goes beyond the cut; not those that have not
    measured yet."""
    kinds = ["sgd", "lion", "adamw", "normalized_sgd"]

    def stability(optimiser, rate, step):
        ratio = np.where((optimiser == "sgd") & (rate > 1), 3.0, 0.1)
        return np.where(np.isin(optimiser, ("sgd", "adamw")), ratio, np.nan) + 0 * step

    made = dataset({"optimiser": kinds, "learning_rate": [0.1, 2.0]}, step=range(0, 50, 10),
                   hessian_stability=(["step"], stability))
    made.outcome[1, 0] = FAILED
    made.outcome[2, 0] = RUNNING
    made["hessian_stability"] = made.hessian_stability.where(made.outcome == DONE)
    found = drawing(made, "hessian-edge")
    assert "Left out: 3 runs of lion, normalized_sgd, whose optimiser has no known bound." in found.caption
    assert "The ratio is cut at 2; 1 line goes beyond." in found.caption and "n = 3 runs." in found.caption
    assert "1 failed run is not shown." in found.caption
    assert legend(found)[:2] == ["sgd", "adamw"]
    together = made.isel(learning_rate=0).rename(optimiser="recipe").assign_coords(optimiser=("recipe", kinds))
    assert "Left out: 1 run of normalized_sgd, whose" in drawing(together, "hessian-edge").caption
    known = drawing(made.isel(optimiser=[2]), "hessian-edge").caption
    assert "eft out" not in known and "cut" not in known


def test_edge_of_stability_is_a_line_at_1():
    (axes,) = panels(drawing(at_the_edge(1), "hessian-edge"))
    assert axes.get_ylim() == (0, 2)
    assert [list(line.get_ydata()) for line in axes.lines].count([1, 1]) == 1
    (far,) = panels(drawing(at_the_edge(30), "hessian-edge"))
    assert far.get_ylim()[1] > 29
    made = at_the_edge(1)
    made["hessian_preconditioned"] = 1 + made.hessian_stability
    assert [axes.get_yscale() for axes in panels(drawing(made, "hessian-edge"))] == ["linear", "log"]
    found = drawing(at_the_edge(1), "hessian-steps")
    assert "largest eigenvalue\nof H" in words(found)
    assert not any(list(line.get_ydata()) == [1, 1] for line in panels(found)[0].lines)
