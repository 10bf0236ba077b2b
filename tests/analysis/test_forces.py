"""What norms are made of: shares over tensors and steps that are known, and the figures of them."""

import numpy as np
import pytest
from drawn import dataset, drawing, legend, near, panels, words
from normsweep.drawings import table

FORCES = ["decay", "injection", "chance", "pull"]
STEPS, LAYERS, TENSORS = [0, 10, 20, 30], [0, 1], ["q", "w1", "w3"]
RATES, DECAYS = [1e-1, 1e-2, 1e-3], [1.0, 0.1, 0.01]
OTHER = {"layer": LAYERS, "tensor": TENSORS, "force": FORCES}


def added(rate, decay, seed, step, layer, tensor, force):
    """In each 10 steps; of layer 1 twice as much. w3 is absent. Growth stops at a decay of rate^(1/2)."""
    gains = {"injection": 0.1 * np.sqrt(rate), "chance": rate, "pull": 0.9 * np.sqrt(rate) - rate}
    value = np.select([force == name for name in gains], list(gains.values()), -decay)
    return np.where((step > 0) & (tensor != "w3"), value * (1 + layer) * np.where(tensor == "q", 1, 3), np.nan)


def square(rate, decay, seed, step, layer, tensor):
    start = np.where(layer == 0, 10.0, 20.0)
    change = (np.sqrt(rate) - decay) * (1 + layer) * np.where(tensor == "q", 1, 3)
    return np.where(tensor != "w3", np.sqrt(start + change * step / 10), np.nan)


def growth(rate, decay, seed):
    return np.sqrt(1 + 3 * 12 * (np.sqrt(rate) - decay) / 60)


def made(seeds=(0, 1), **more):
    axes = {"learning_rate": RATES, "weight_decay": DECAYS, "seed": list(seeds)}
    values = growth(*np.meshgrid(RATES, DECAYS, seeds, indexing="ij"))
    return dataset(axes, None, STEPS, OTHER, force_sum=(["step", "layer", "tensor", "force"], added),
                   tensor_norm=(["step", "layer", "tensor"], square), norm_growth=values, **more)


def test_shares_of_the_whole_run():
    found = made().sweep.forces()
    assert found.dims == ("learning_rate", "weight_decay", "seed", "force") and found.force.values.tolist() == FORCES
    near(found.sum("force", skipna=False), made().norm_growth**2 - 1)
    near(found.sel(learning_rate=0.01, weight_decay=0.1, seed=1), np.array([-0.1, 0.01, 0.01, 0.08]) * 36 / 60)


def test_by_tensor_layer_and_step():
    some = made()
    whole, each = some.sweep.forces(), some.sweep.forces(by=["tensor", "layer"])
    near(each.sum(["tensor", "layer"]), whole)
    assert each.sel(tensor="w3").isnull().all() and each.sel(tensor=["q", "w1"]).notnull().all()
    near(each.sel(tensor="w1"), 3 * each.sel(tensor="q"))
    steps = some.sweep.forces(by="step")
    near(steps.isel(step=-1), whole)
    near(steps.sel(step=10), whole / 3)
    assert (steps.sel(step=0) == 0).all()
    some["tensor_norm"] = some.tensor_norm.where((some.step != 20) | (some.seed == 0))  # nor a sum, there and then
    some["force_sum"] = some.force_sum.where((some.step != 20) | (some.seed == 0))
    some = some.sweep.forces(by="step")
    assert (some.isnull() == ((some.step == 20) & (some.seed == 1))).all()
    near(made().sweep.forces(by=("step", "tensor")).sel(tensor="q", step=30), each.sel(tensor="q").sum("layer"))


def test_unknown_chance_is_in_the_pull():
    """Of one tensor: the whole has no chance; the other tensor keeps its own."""
    some = made()
    alignment = some.force_sum.sel(force="pull") + some.force_sum.sel(force="chance")
    blind = some.tensor == "q"
    pull = alignment.where(blind, some.force_sum.sel(force="pull"))
    some["force_sum"] = some.force_sum.where(~(blind & (some.force == "chance")))
    some["force_sum"] = some.force_sum.where(some.force != "pull", pull)
    found, each = some.sweep.forces(), some.sweep.forces(by="tensor")
    assert found.sel(force="chance").isnull().all() and each.sel(force="chance", tensor="w1").notnull().all()
    near(found.sum("force"), made().norm_growth**2 - 1)
    near(each.sel(tensor="w1"), made().sweep.forces(by="tensor").sel(tensor="w1"))
    assert legend(drawing(some, "forces"))[2] == "pull and chance together"


def test_unknown_forces_of_a_tensor():
    """Of a norm that is kept: the whole is not known, other tensors are; so is it where runs have not measured."""
    some = made()
    some["force_sum"] = some.force_sum.where(some.tensor != "q")
    assert some.sweep.forces().isnull().all() and drawing(some, "forces-boundary") is None
    assert some.sweep.forces(by="tensor").sel(tensor="w1").notnull().all()
    some = made()
    some["force_sum"] = some.force_sum.where(some.seed == 0)
    some["tensor_norm"] = some.tensor_norm.where((some.seed == 0) | (some.step == 0))
    found = some.sweep.forces()
    assert found.sel(seed=0).notnull().all() and found.sel(seed=1).isnull().all()


def test_why_there_are_none():
    """Measured, but known of no run; not measured yet; known."""
    some = made()
    some["force_sum"] = some.force_sum * np.nan
    for name in ("forces", "forces-by-tensor", "forces-plane"):
        assert drawing(some, name) is None
        assert table.why_empty(some, name).startswith("forces are not known with adam and weight decay, of matrices")
    some["tensor_norm"] = some.tensor_norm.where(some.step == 0)
    assert table.why_empty(some, "forces") == "nothing was measured yet"
    assert "not known" not in table.why_empty(made(), "forces")


def test_what_cannot_be_asked():
    with pytest.raises(ValueError, match="by is any of step, stack, layer, tensor"):
        made().sweep.forces(by="seed")
    with pytest.raises(ValueError, match="force_sum was not measured"):
        made().drop_vars("force_sum").sweep.forces()
    with pytest.raises(ValueError, match="tensor_norm was not measured in this sweep: measure: {metrics: .norms, "):
        made().drop_vars("tensor_norm").sweep.forces_at_boundary()
    assert table.why_empty(made().drop_vars("tensor_norm"), "forces") == "it needs the group norms as well"
    assert not [*table.draw_all(made().drop_vars("tensor_norm"), ["forces", "forces-by-tensor", "forces-plane"])]
    with pytest.raises(ValueError, match="tensor_forces was not measured"):
        made().sweep.effective_rate(tensors=True)


def test_shares_at_the_boundary():
    """Growth stops between two decays: forces are interpolated in between, so that shares sum to 1."""
    found = made().sweep.forces_at_boundary()
    assert found.dims == ("learning_rate", "seed", "force") and found.force.values.tolist() == FORCES[1:]
    places = made().sweep.boundary().each.sel(seed=0)
    near(places.sel(learning_rate=0.01), 0.1, rtol=1e-6)  # a decay of the axis
    near(found.sel(learning_rate=0.01), [[0.1, 0.1, 0.8]] * 2, rtol=1e-6)
    share = [0.1, np.sqrt(0.1), 0.9 - np.sqrt(0.1)]  # the forces between decays of 0.1 and 1, where they sum to 0
    near(found.sel(learning_rate=0.1), [share] * 2, rtol=1e-6)


def test_effective_rate():
    forces = (["step", "force"], lambda rate, decay, seed, step, force: np.where(force == "injection", rate**2, 0.5))
    near(made(forces=forces).sweep.effective_rate().sel(learning_rate=0.01), 0.01)
    some = made(update_norm=(["step"], lambda rate, decay, seed, step: 2 + 0 * step),
                param_norm=(["step"], lambda rate, decay, seed, step: 4 + 0 * step))
    some.attrs |= {"schedule": "constant", "warmup_steps": 0}
    near(some.sweep.effective_rate().sel(learning_rate=0.1), 0.05)
    some.attrs["schedule"] = "linear"
    with pytest.raises(ValueError, match="forces was not measured"):
        some.sweep.effective_rate()


def test_effective_rate_where_forces_are_not_known():
    """From update_norm, at a constant rate, of the whole alone."""
    known = (["step", "force"], lambda rate, decay, seed, step, force: np.where(
        (force == "injection") & (seed == 0), rate**2, np.nan))
    some = made(forces=known, update_norm=(["step"], lambda rate, decay, seed, step: 2 + 0 * step),
                param_norm=(["step"], lambda rate, decay, seed, step: 4 + 0 * step),
                tensor_forces=(["step", "layer", "tensor", "force"], lambda *at: np.where(at[2] == 0, 0.25, np.nan)))
    some.attrs |= {"schedule": "constant", "warmup_steps": 0}
    found = some.sweep.effective_rate()
    near(found.sel(learning_rate=0.1, seed=0), 0.1)
    near(found.sel(learning_rate=0.1, seed=1), 0.05)
    tensors = some.sweep.effective_rate(tensors=True)
    assert (tensors.sel(seed=0) == 0.5).all() and tensors.sel(seed=1).isnull().all()
    some.attrs["schedule"] = "cosine"
    assert some.sweep.effective_rate().sel(seed=1).isnull().all()


STACKS = {"encoder": 1.0, "decoder": 0.5}  # growth stops at so many times the weight decay


def of_stacks():
    """Two stacks, whose gains differ, in one dataset; and each alone."""
    def gain(stack):
        return np.where(stack == "encoder", STACKS["encoder"], STACKS["decoder"])

    def force_of(rate, decay, seed, step, stack, layer, tensor, force):
        value = added(rate, decay, seed, step, layer, tensor, force)
        return np.where(force == "decay", value, value * gain(stack))

    def norm_of(rate, decay, seed, step, stack, layer, tensor):
        start = np.where(layer == 0, 10.0, 20.0)
        change = (np.sqrt(rate) * gain(stack) - decay) * (1 + layer) * np.where(tensor == "q", 1, 3)
        return np.where(tensor != "w3", np.sqrt(start + change * step / 10), np.nan)

    both = dataset({"learning_rate": RATES, "weight_decay": DECAYS, "seed": [0, 1]}, None, STEPS,
                   {"stack": list(STACKS), **OTHER},
                   force_sum=(["step", "stack", "layer", "tensor", "force"], force_of),
                   tensor_norm=(["step", "stack", "layer", "tensor"], norm_of), norm_growth=np.full((3, 3, 2), 1.1))
    alone = {}
    for name in STACKS:
        alone[name] = both.sel(stack=name).drop_vars("stack")
        change = alone[name].sweep.forces().sum("force")
        alone[name]["norm_growth"] = np.sqrt(1 + change).assign_attrs(nature="ratio")
    return both, alone


def boundary_line(found):
    (axes,) = panels(found)
    return [line.get_ydata() for line in axes.lines if line.get_color() == "black" and line.get_marker() == "o"]


def test_each_stack_has_its_own_boundary():
    both, alone = of_stacks()
    drawn = {}
    for name in STACKS:
        (drawn[name],) = boundary_line(drawing(both, f"forces-plane-{name}"))
        near(drawn[name], boundary_line(drawing(alone[name], "forces-plane"))[0])
        assert np.isfinite(drawn[name]).all()
    assert (drawn["encoder"] > drawn["decoder"] + 0.1).all()
    shares = both.sweep.forces(by="stack")
    assert shares.dims[-2:] == ("stack", "force")
    for name in STACKS:
        near(alone[name].sweep.forces_at_boundary().sum("force"), np.ones((3, 2)))


def test_figures():
    some = made()
    assert {"forces", "forces-by-tensor", "forces-boundary", "forces-plane"} <= set(table.names(some))
    areas = drawing(some, "forces")
    assert len(panels(areas)) == 6 and legend(areas)[0] == "decay" and "change of" in legend(areas)[-1]
    lines = [line for line in panels(areas)[0].lines if len(line.get_xdata()) == len(STEPS)]
    assert near(lines[0].get_ydata()[0], 0) and len(lines) == 1
    bars = drawing(some, "forces-by-tensor")
    assert [label.get_text() for label in panels(bars)[0].get_xticklabels()] == ["q", "w1"]
    shares = drawing(some, "forces-boundary")
    drawn = [line for line in panels(shares)[0].lines if line.get_linestyle() != "None" and len(line.get_xdata()) == 3]
    assert len(drawn) == 3 and "range" in words(shares)
    assert legend(drawing(some, "forces-plane")) == ["pull: what gradients do along θ", "no growth"]
    one = some.isel(learning_rate=[0], weight_decay=[0], seed=[0])
    assert drawing(one, "forces") and drawing(one, "forces-plane") is None and drawing(one, "forces-boundary") is None
