"""How much the loss at the end depends on the learning rate (Wortsman and others, "Small-scale proxies for large-scale
Transformer training instabilities", arXiv 2309.14322)."""

from __future__ import annotations

import xarray as xr

from .gradients import error_of_mean
from .memory import loaded
from .names import DONE, OUTCOMES, REPEAT
from .predicted import key

RATE = "learning_rate"
DIVERGED = OUTCOMES.index("diverged")
LOSSES = {"final_valid_loss": "valid_loss", "final_train_loss": "train_loss"}  # at the end: over the steps


def lr_sensitivity(dataset: xr.Dataset, over: str | None = REPEAT, loss: str = "") -> xr.Dataset:
    """The learning-rate sensitivity, as a Dataset over the other axes: the mean over the learning rates of min(loss,
    loss at the start) minus the best loss. 0: all rates are as good as the best one.

    `over` names the axis of repeats; None if there is none. `loss`: final_valid_loss, which is the default if it was
    measured, or final_train_loss. Rates count alike, so they should be evenly spaced, as on an axis in logarithms; only
    sensitivities to the same rates are comparable: select them with ds.sel(learning_rate=slice(low, high)).

    sensitivity         mean over repeats of each one's
    sensitivity_error   its standard error over the repeats; NaN for fewer than two
    each                that of each repeat, along `over`
    best                the smallest loss of each repeat, and best_rate, the rate at which it was reached; the loss at
                        the start, and NaN, if no run gets below it
    start               the loss at step 0 of each repeat: of the same text if it was validated there, else train_loss
    rates               the number of rates that count

    A run that diverged has the loss at the start. Runs that have not ended, or failed, do not count. The sensitivity is
    NaN with fewer than two rates that do, so also without an axis learning_rate, and without a run that is done.

    Raises ValueError if the dataset has no such loss.
    """
    measured = [name for name in LOSSES if name in dataset and bool(dataset[name].notnull().any())]
    name = loss or next(iter(measured), "final_valid_loss")
    if name not in measured:
        raise ValueError(f"{name} was not measured in this sweep" if name in LOSSES else
                         f"loss: '{name}' is not one of {', '.join(LOSSES)}")
    wanted = [name, LOSSES[name], "train_loss", "outcome"]
    rate = key(dataset, RATE)
    dataset = loaded(dataset[list(dict.fromkeys(wanted))], wanted)
    if RATE not in dataset.outcome.dims:
        dataset = dataset.drop_vars(RATE, errors="ignore").expand_dims({RATE: [float(rate)]})
    dataset = dataset.sortby(RATE)
    first = dataset.sel(step=0).drop_vars("step")
    start = first[LOSSES[name]].fillna(first.train_loss).mean(RATE)
    done = (dataset.outcome == DONE) & dataset[name].notnull()
    counted = done | (dataset.outcome == DIVERGED)
    end = dataset[name].where(done & (dataset[name] < start), start).where(counted)
    least = dataset[name].where(done).min(RATE)
    best = xr.where(least > start, start, least)
    rates = counted.sum(RATE)
    each = (end.mean(RATE) - best).where(rates > 1)
    reached = dataset[name].where(done).fillna(float("inf")).idxmin(RATE).where(least <= start)
    along = [over] if over is not None and over in each.dims else []
    found = xr.Dataset({"sensitivity": each.mean(along), "sensitivity_error": error_of_mean(each, along), "each": each,
                        "best": best, "best_rate": reached, "start": start, "rates": rates})
    describe(found, name)
    return found


def describe(found: xr.Dataset, loss: str) -> None:
    """Sets long names and units, for labels and tables."""
    names = {
        "sensitivity": f"learning-rate sensitivity of {loss} (nats)",
        "sensitivity_error": "standard error of the learning-rate sensitivity",
        "each": "learning-rate sensitivity of a repeat (nats)",
        "best": f"smallest {loss} of a repeat (nats)",
        "best_rate": f"learning rate of the smallest {loss}",
        "start": "loss at the start (nats)",
        "rates": "learning rates that count",
    }
    for name, text in names.items():
        found[name].attrs = {"long_name": text, "units": "1"}
