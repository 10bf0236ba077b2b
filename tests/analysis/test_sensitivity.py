"""ds.sweep.lr_sensitivity() against its definition, on datasets written by hand."""
import numpy as np
import pytest
import xarray as xr

from normsweep import lr_sensitivity

PENDING, DONE, DIVERGED, FAILED = 0, 2, 3, 4
RATES = [1e-3, 1e-2, 1e-1, 1.0]


def sweep(loss, outcome, valid_start=np.nan):
    """Losses and outcomes [learning_rate, seed]; the first loss is 3 in training."""
    loss, outcome = np.array(loss, float), np.array(outcome)
    steps = np.full((*loss.shape, 2), np.nan)
    train, valid = steps.copy(), steps.copy()
    train[..., 0], valid[..., 0] = 3, valid_start
    of_run, of_step = ("learning_rate", "seed"), ("learning_rate", "seed", "step")
    return xr.Dataset({"final_valid_loss": (of_run, loss), "final_train_loss": (of_run, loss + 0.5),
                       "outcome": (of_run, outcome), "train_loss": (of_step, train), "valid_loss": (of_step, valid)},
                      {"learning_rate": RATES[: len(loss)], "seed": np.arange(loss.shape[1]), "step": [0, 100]})


def test_definition():
    loss = [[2.0, 2.2], [1.0, 1.4], [1.5, 7.0], [np.nan, np.nan]]
    ds = sweep(loss, [[DONE, DONE], [DONE, DONE], [DONE, DONE], [DIVERGED, DIVERGED]])
    found = ds.sweep.lr_sensitivity(over="seed")
    each = [(2.0 + 1.0 + 1.5 + 3) / 4 - 1.0, (2.2 + 1.4 + 3 + 3) / 4 - 1.4]
    np.testing.assert_allclose(found.each, each, rtol=1e-15)
    np.testing.assert_allclose(found.sensitivity, np.mean(each), rtol=1e-15)
    np.testing.assert_allclose(found.sensitivity_error, np.std(each, ddof=1) / np.sqrt(2), rtol=1e-15)
    assert found.best.values.tolist() == [1.0, 1.4] and found.best_rate.values.tolist() == [1e-2, 1e-2]
    assert found.start.values.tolist() == [3, 3] and found.rates.values.tolist() == [4, 4]
    alone = lr_sensitivity(ds, over=None)
    np.testing.assert_array_equal(alone.sensitivity, found.each)
    shuffled = ds.isel(learning_rate=[2, 0, 3, 1]).sweep.lr_sensitivity()
    xr.testing.assert_allclose(shuffled, found, rtol=1e-14)


def test_the_start_is_that_of_the_validation():
    ds = sweep([[2.0], [9.0]], [[DONE], [DONE]], valid_start=4)
    assert ds.sweep.lr_sensitivity().sensitivity.item() == (2 + 4) / 2 - 2
    training = ds.sweep.lr_sensitivity(loss="final_train_loss")
    assert training.sensitivity.item() == (2.5 + 3) / 2 - 2.5 and training.start.item() == 3


def test_all_rates_are_as_good():
    found = sweep([[1.5], [1.5], [1.5]], [[DONE]] * 3).sweep.lr_sensitivity()
    assert found.sensitivity.item() == 0 and np.isnan(found.sensitivity_error.item())


def test_runs_that_do_not_count():
    ds = sweep([[2.0, 2.0, np.nan], [1.0, np.nan, np.nan], [np.nan, np.nan, np.nan]],
               [[DONE, DONE, DIVERGED], [DONE, PENDING, DIVERGED], [FAILED, FAILED, DIVERGED]])
    found = ds.sweep.lr_sensitivity()
    assert found.rates.values.tolist() == [2, 1, 3]
    assert found.each.values[0] == 0.5 and np.isnan(found.each.values[1:]).all()  # one rate; all have diverged
    assert np.isnan(found.best_rate.values[2]) and found.best_rate.values[1] == 1e-3


def test_no_run_gets_below_the_start():
    """All rates are as good: the sensitivity is 0 and not below it."""
    found = sweep([[4.0, 3.5], [5.0, 2.5]], [[DONE, DONE]] * 2).sweep.lr_sensitivity()
    assert found.each.values.tolist() == [0, 0.25] and found.best.values.tolist() == [3, 2.5]
    assert np.isnan(found.best_rate.values[0]) and found.best_rate.values[1] == 1e-2


def test_one_rate():
    ds = sweep([[2.0, 1.5], [1.0, 1.2]], [[DONE, DONE]] * 2)
    alone = ds.drop_vars("learning_rate").isel(learning_rate=1).assign_attrs(learning_rate=0.01)
    for one in (ds.isel(learning_rate=1), alone, alone.isel(seed=0)):
        found = one.sweep.lr_sensitivity()
        assert np.isnan(found.sensitivity.item()) and "learning_rate" not in found.dims
        assert (found.rates == 1).all() and (found.best_rate == 1e-2).all() and found.best.values.flat[0] == 1.0


def test_refused():
    ds = sweep([[2.0], [1.0]], [[DONE], [DONE]])
    with pytest.raises(ValueError, match="loss: 'accuracy' is not one of final_valid_loss, final_train_loss"):
        ds.sweep.lr_sensitivity(loss="accuracy")
    with pytest.raises(ValueError, match="final_valid_loss was not measured in this sweep"):
        ds.drop_vars("final_valid_loss").sweep.lr_sensitivity(loss="final_valid_loss")
