"""Made-up sweeps for tests of comparisons, whose differences are known."""

import numpy as np
import xarray as xr
from drawn import DIVERGED, DONE, FAILED, PENDING, dataset
from made_up import PHASE

RATES, DECAYS = [1e-1, 1e-2, 1e-3], [10.0, 1.0, 1e-1, 1e-2]


def noise(seed):
    """-0.1, 0 and 0.1 for the seeds 0, 1 and 2; the same for any three others that follow each other."""
    return 0.1 * (np.mod(seed, 3) - 1.0)


def made(boundary=1.0, slope=1.0, loss=2.0, seeds=(0, 1, 2), own=0.0, rates=RATES, decays=DECAYS, **more):
    """norm_growth = (boundary rate^slope / decay)^(1/2), and a loss, both with a noise that runs of one seed share, and
    `own` times it that they do not."""
    def growth(rate, decay, seed):
        return (boundary * rate ** slope * np.exp((1 + own) * noise(seed)) / decay) ** 0.5
    axes = {"learning_rate": rates, "weight_decay": decays, "seed": list(seeds)}
    grid = np.meshgrid(*(np.asarray(values, float) for values in axes.values()), indexing="ij")
    values = {"norm_growth": growth(*grid), "final_train_loss": loss + (1 + own) * noise(grid[2]) + 0 * grid[0], **more}
    values["final_valid_loss"] = values["final_train_loss"] + 1
    found = dataset(axes, step=(0, 20), **values)
    found.norm_growth.attrs.update(nature="ratio", long_name="norm growth", units="1")
    for name in "final_train_loss", "final_valid_loss":
        found[name].attrs.update(long_name=f"{name.replace('_', ' ')} (nats)", units="1")
    phases = np.where(found.outcome == DIVERGED, 3, np.where(found.norm_growth > 1, 1, 2))
    found["phase"] = found.outcome.dims, phases.astype(np.int8), PHASE
    return found


def end(found, outcome, **at):
    """Lets runs end in another way."""
    found = found.copy(deep=True)
    found.outcome.loc[at] = outcome
    for name in "norm_growth", "final_train_loss", "final_valid_loss":
        found[name] = found[name].where(found.outcome == DONE).assign_attrs(found[name].attrs)
    found["phase"] = xr.where(found.outcome == DIVERGED, 3, xr.where(found.outcome == DONE, found.phase, 0)).astype(
        np.int8).assign_attrs(PHASE)
    return found


def uneven(paired=True):
    """Two sweeps whose cells differ by unequal amounts and probabilities, of which some cells have fewer runs in B, one
    has none, and whose runs that are not done have finite values all the same: (a, b, mask of what counts in both)."""
    rng, parts = np.random.default_rng(3), []
    for side, seeds in (0, (0, 1, 2)), (1, (0, 1, 2) if paired else (3, 4, 5, 6)):
        part = made(seeds=seeds, decays=[10.0, 1.0, 0.1, 0.01, 0.001])
        size = np.linspace(0, 0.9, 15).reshape(3, 5, 1)
        for name in "norm_growth", "final_train_loss", "final_valid_loss":
            shift = side * size + 0.1 * rng.normal(size=part.outcome.shape)
            values = part[name] * np.exp(shift) if name == "norm_growth" else part[name] + shift
            part[name] = values.assign_attrs(part[name].attrs)
        parts.append(part)
    b = parts[1]
    b.outcome[0, 0, :], b.outcome[1, 2, 1], b.outcome[2, 4, :2] = DIVERGED, FAILED, PENDING
    for name in "norm_growth", "final_train_loss", "final_valid_loss":
        b[name] = b[name].where(b.outcome == DONE, 77.0).assign_attrs(b[name].attrs)
    return (*parts, (b.outcome == DONE).values)
