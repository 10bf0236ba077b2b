"""The predicted boundary, on columns whose norms are known in closed form."""

import numpy as np
import pytest
import xarray as xr
from drawn import DIVERGED, DONE, PENDING, SKIPPED, dataset, drawing, legend, near, panels, words
from made_up import made_up
from normsweep import predicted

DECAYS, STEPS = [0.8, 0.0, 0.1, 0.3, 0.2], [0, 1, 4, 10, 20, 21]
RATE, START = 0.03, 7.0
BOUNDARY, RISE = 0.5, 0.6


def norms(decay, boundary=BOUNDARY, rise=0.0, rate=RATE, steps=tuple(STEPS), power=1, pull=0.0):
    """Norms of a run whose source holds rho at START^2 at the boundary, and changes by `rise` per unit of decay and by
    -`pull` per unit of rho. Between two measured steps it is 2 rho sinh(lambda h), times e^(-lambda h): that is
    rho (1 - e^(-2 lambda h)) in all."""
    square, found = START ** 2, [START]
    for h in rate * np.diff(steps):
        source = 2 * START ** 2 * np.sinh(boundary * h) + rise * h * (decay ** power - boundary ** power)
        source -= pull * h * (square - START ** 2)
        square = np.exp(-2 * decay * h) * square + np.exp(-decay * h) * source
        found.append(np.sqrt(square))
    return np.array(found)


def column(rise=0.0, pull=0.0, decays=DECAYS, **attributes):
    """A dataset of one column; the last two decays lie above the boundary."""
    made = dataset({"weight_decay": decays}, step=STEPS)
    made["param_norm"] = ("weight_decay", "step"), np.array([norms(decay, rise=rise, pull=pull) for decay in decays])
    made["rate_sum"] = RATE * made.step
    return made.assign_attrs({"learning_rate": RATE, **attributes})


def only(made, **options):
    found = made.sweep.predicted_boundary(**options)
    return float(found.each), found.each_reason.item()


def nothing(made, reason, **options):
    value, why = only(made, **options)
    return np.isnan(value) and why == reason


def test_one_run_says_where_a_source_without_decay_balances():
    found = column().sweep.predicted_boundary(runs=1)
    assert near(found.boundary, BOUNDARY, rtol=1e-10) and found.each_reason == "predicted"
    assert found["first"] == 0 and found.second.isnull()
    assert near(found.low, BOUNDARY, rtol=1e-10) and found.repeats == 1 and found.spread.isnull()


def test_one_run_may_have_any_decay():
    """Its source is counted in the middle of each interval, so that its own decay does not enter."""
    for decay in (0.0, 0.1, 0.2):
        value, _ = only(column(), decays=decay)
        assert near(value, BOUNDARY, rtol=1e-10), decay


LINEAR = {"decay": {"rise": RISE * START ** 2}, "square": {"pull": 2 * RISE}}


@pytest.mark.parametrize("linear_in", LINEAR)
def test_two_runs_see_a_source_that_is_linear(linear_in):
    made = column(**LINEAR[linear_in])
    found = made.sweep.predicted_boundary(linear_in=linear_in)
    assert near(found.boundary, BOUNDARY, rtol=1e-10) and found.each_reason == "predicted"
    alone = float(made.sweep.predicted_boundary(runs=1).boundary)
    assert alone < 0.9 * BOUNDARY
    assert found["first"] == 0 and found.second == max(decay for decay in DECAYS if decay < alone) == 0.3


@pytest.mark.parametrize("linear_in", LINEAR)
def test_any_two_runs_tell_the_same_of_such_a_source(linear_in):
    made = column(**LINEAR[linear_in])
    other, = set(LINEAR) - {linear_in}
    for decays in ([0.0, 0.8], [0.8, 0.2], [0.3, 0.1]):
        found = made.sweep.predicted_boundary(decays=decays, linear_in=linear_in)
        assert near(found.boundary, BOUNDARY, rtol=1e-10)
        assert (found["first"], found.second) == (min(decays), max(decays))
        assert abs(only(made, decays=decays, linear_in=other)[0] / BOUNDARY - 1) > 1e-4


def test_a_bent_source_is_met_better_from_both_sides():
    bent = column()
    bent["param_norm"] = ("weight_decay", "step"), np.array(
        [norms(decay, rise=RISE * START ** 2, power=2) for decay in DECAYS])
    far, near_by = (abs(only(bent, decays=decays, linear_in="decay")[0] / BOUNDARY - 1)
                    for decays in ([0.0, 0.1], [0.2, 0.8]))
    assert 0.3 > far > 1.5 * near_by > 0.05


def test_the_order_of_the_axis_does_not_matter():
    made = column(rise=RISE * START ** 2)
    for runs in (1, 2):
        assert near(only(made.sortby("weight_decay"), runs=runs)[0], only(made, runs=runs)[0])


def test_rates_are_those_of_the_dataset():
    """Norms over sums of rates that are not in proportion to the steps."""
    made = column(schedule="linear")
    made["step"] = [0, 2, 3, 50, 60, 100]
    assert near(only(made, runs=1)[0], BOUNDARY, rtol=1e-10)


def test_rates_may_be_an_axis():
    rates = [0.1, 0.001]
    made = dataset({"learning_rate": rates, "weight_decay": DECAYS}, step=STEPS)
    made["param_norm"] = ("learning_rate", "weight_decay", "step"), np.array(
        [[norms(decay, boundary=5 * rate, rate=rate) for decay in DECAYS] for rate in rates])
    found = made.sweep.predicted_boundary(runs=1)
    assert near(found.boundary, [0.5, 0.005], rtol=1e-10)


def test_optimisers_decay_in_their_own_ways():
    made = column(rise=RISE * START ** 2)
    expected = only(made)[0]
    halved = made.assign_coords(weight_decay=made.weight_decay / 2).assign_attrs(optimiser="sgd", momentum=0.5)
    assert near(only(halved)[0], expected / 2, rtol=1e-10)
    assert near(only(made.assign_attrs(optimiser="normalized_sgd", momentum=0.5))[0], expected)
    assert nothing(made.assign_attrs(optimiser="adam"), "coupled")
    both = xr.concat([made, made], "optimiser").assign_coords(optimiser=["adam", "adamw"])
    found = both.sweep.predicted_boundary(runs=1)
    assert found.each_reason.values.tolist() == ["coupled", "predicted"]
    assert np.isnan(found.each[0]) and near(found.each[1], only(made, runs=1)[0])


def test_why_there_is_none():
    made = column()
    last = {"weight_decay": DECAYS.index(0.0)}
    for outcome, reason in ((DIVERGED, "diverged"), (PENDING, "unknown")):
        made.outcome[last] = outcome
        assert nothing(made, reason, runs=1) and nothing(made, reason)
        assert near(only(made, decays=[0.1, 0.2])[0], BOUNDARY, rtol=1e-10)
        made.outcome[last] = DONE
    made.outcome[DECAYS.index(0.3)] = DIVERGED
    assert nothing(made, "diverged") and near(only(made, runs=1)[0], BOUNDARY, rtol=1e-10)
    assert nothing(column(), "shrinking", decays=0.8) and nothing(column(), "shrinking", decays=[0.8, 0.8], runs=2)
    assert nothing(column(decays=[0.0, 0.6, 0.8]), "coarse")
    bare = column()
    bare.param_norm[last] = np.nan
    assert nothing(bare, "unknown", runs=1)


def test_the_phase_diagram_has_the_predictions_beside_the_boundary():
    rates, decays = [1e-1, 1e-2], [2.0, 0.5, 0.1, 0.02, 0.0001]
    made = dataset({"learning_rate": rates, "weight_decay": decays}, step=STEPS)
    made["param_norm"] = ("learning_rate", "weight_decay", "step"), np.array(
        [[norms(decay, boundary=4 * rate, rate=rate, pull=0.5) for decay in decays] for rate in rates])
    made["norm_growth"] = made.param_norm[..., -1] / made.param_norm[..., 0]
    found = drawing(made, "phase")
    lines = {line.get_marker(): line for line in panels(found)[0].lines}
    assert near(lines["v"].get_ydata(), np.log10(made.sweep.predicted_boundary(runs=1).boundary)[::-1])
    assert near(lines["^"].get_ydata(), np.log10([0.04, 0.4]), rtol=1e-9)
    assert (lines["v"].get_ydata() < lines["^"].get_ydata() - 1e-3).all()
    assert {"predicted from one run", "predicted from two runs"} < set(legend(found))
    assert "Predicted from one run: " in found.caption
    without = drawing(made.drop_vars("param_norm"), "phase")
    assert not any(name.startswith("predicted") for name in legend(without)) and "Predicted from" not in words(without)


def test_skipped_cells_are_not_part_of_a_column():
    """Such as those that a search for the boundary has no need of."""
    made = column(pull=2 * RISE)
    made.outcome[:] = SKIPPED
    assert nothing(made, "unknown", runs=1) and nothing(made, "unknown")
    made.outcome[DECAYS.index(0.1)] = DONE
    found = made.sweep.predicted_boundary(runs=1)
    assert found["first"] == 0.1 and found.each_reason == "predicted" and nothing(made, "coarse")
    made.outcome[DECAYS.index(0.2)] = DONE
    found = made.sweep.predicted_boundary()
    assert (found["first"], found.second) == (0.1, 0.2) and near(found.boundary, BOUNDARY, rtol=1e-10)


def test_seeds_are_repeats():
    boundaries = [0.25, 1.0]
    made = dataset({"weight_decay": DECAYS, "seed": [0, 1]}, step=STEPS).assign_attrs(learning_rate=RATE)
    made["param_norm"] = ("weight_decay", "seed", "step"), np.array(
        [[norms(decay, boundary=boundary) for boundary in boundaries] for decay in DECAYS])
    made["rate_sum"] = RATE * made.step
    found = made.sweep.predicted_boundary(runs=1)
    assert near(found.boundary, 0.5, rtol=1e-10) and found.repeats == 2
    assert near([found.low, found.high], boundaries, rtol=1e-10) and near(found.each, boundaries, rtol=1e-10)
    assert near(found.spread, np.log10(2) * 2 ** 0.5, rtol=1e-9)
    assert near(made.sweep.predicted_boundary(runs=1, over=None).boundary, boundaries, rtol=1e-10)


def test_what_cannot_be_asked_is_refused():
    made = column()
    for options, message in (({"runs": 3}, "runs=3: a prediction is made from 1 run or from 2"),
                             ({"decays": [0.1, 0.25]}, "decays: one or two of 0.8, 0, 0.1, 0.3, 0.2"),
                             ({"decays": [0.1, 0.2, 0.3]}, "decays: one or two of "),
                             ({"over": "weight_decay"}, "weight_decay: not an axis of repeats"),
                             ({"linear_in": "log"}, "linear_in=log: a source is linear in one of square, decay")):
        with pytest.raises(ValueError, match=message):
            made.sweep.predicted_boundary(**options)
    for part in (made.sel(weight_decay=0.1), made.drop_vars("param_norm")):
        with pytest.raises(ValueError, match="weight_decay is not an axis of the measured norms"):
            part.sweep.predicted_boundary()


def test_every_part_is_described():
    found = made_up().sweep.predicted_boundary()
    assert all(found[name].attrs["long_name"] and found[name].attrs["units"] == "1" for name in found.data_vars)
    assert set(np.unique(found.each_reason)) <= set(predicted.REASONS)


def test_runs_whose_norms_part_quickly_say_nothing():
    """A source that rises steeply with the square: an error would grow as the norm does."""
    assert near(only(column(pull=-10, decays=[0.1, 0.2]))[0], BOUNDARY, rtol=1e-6)
    assert nothing(column(pull=-1000, decays=[0.1, 0.2]), "unstable")
