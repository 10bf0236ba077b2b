"""Ten questions to the dataset of sweeps/quickstart.yaml, each with one line of xarray that answers it.

Run it in the folder of quickstart.nc: python3 docs/oneliners.py. Answers are printed; two are drawn, into
oneliners-phase.png and oneliners-norms.png.
"""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

ds = xr.open_dataset("quickstart.nc")
single = [key for key in ("learning_rate", "weight_decay") if key not in ds.dims]  # the same in all runs
ds = ds.expand_dims({key: [ds.attrs[key]] for key in single})

# 1. How did the runs end? Outcomes are numbers; the attribute flag_meanings has the word for each.
words = ds.outcome.attrs["flag_meanings"].split()
ends = {word: int((ds.outcome == number).sum()) for number, word in enumerate(words)}
print(" 1. runs that ended as", ends)

# 2. What share of the runs that ended in numbers grew? norm_growth is |theta_end| / |theta_0|, and NaN without an end.
growing = float((ds.norm_growth > 1).sum() / ds.norm_growth.notnull().sum())
print(f" 2. {growing:.0%} of them grow")

# 3. What do PyTorch's defaults do, or the cell that is nearest to them?
default = ds.norm_growth.sel(learning_rate=1e-3, weight_decay=1e-2, method="nearest")
print(f" 3. at learning rate {default.learning_rate:.3g}, weight decay {default.weight_decay:.3g}: {default:.4f} times")

# 4. Where does growth end: the largest weight decay at which the norm still grows, for each learning rate?
boundary = ds.weight_decay.where(ds.norm_growth > 1).max("weight_decay")
print(" 4. largest weight decay that grows\n", boundary.to_series().round(4).to_string())

# 5. Which run predicts best? argmin over all axes gives an index for each.
best = ds.final_valid_loss[ds.final_valid_loss.argmin(...)]
print(f" 5. {best:.3f} nats at learning rate {best.learning_rate:.3g}, weight decay {best.weight_decay:.3g}")

# 6. How many runs have learned nothing but how often words come? A loss no lower than unigram_loss says so.
unlearned = int((ds.final_valid_loss >= ds.unigram_loss).sum())
print(f" 6. {unlearned} runs are no better than word frequencies")

# 7. Which runs diverged, and at which step did the loss or a norm cease to be finite?
diverged = ds.diverged_step.where(ds.outcome == words.index("diverged")).to_series().dropna().astype(int)
print(" 7. diverged at step\n", diverged.to_string())

# 8. Which kind of matrix has grown most, over the runs that grow? A ratio's mean is taken of its logarithm.
matrices = ds.tensor_norm.sel(tensor=["q", "k", "v", "o", "w1", "w2"]).where(ds.norm_growth > 1)
ratio = matrices.isel(step=-1) / matrices.isel(step=0)
grown = np.exp(np.log(ratio).mean(["learning_rate", "weight_decay", "layer"]))
print(" 8. grown by\n", grown.to_series().round(3).sort_values().to_string())

# 9. Do updates stand at right angles to the parameters? 0 if so; 1 if they point along them.
angles = ds.update_alignment.mean(["step", "weight_decay"])
print(" 9. mean cosine of update and parameters\n", angles.to_series().round(3).to_string())

# 10. What does it look like: the phase diagram, and how norms come to it without much decay?
ratios = [0.4, 0.5, 0.7, 1, 1.5, 2, 2.5]
bar = {"label": "norm growth, end over start", "ticks": np.log(ratios), "format": lambda log, _: f"{np.exp(log):.3g}"}
scales = {"x": "learning_rate", "xscale": "log", "yscale": "log", "vmin": -1, "vmax": 1}
np.log(ds.norm_growth).plot.pcolormesh(**scales, cmap="PuOr_r", cbar_kwargs=bar)
plt.savefig("oneliners-phase.png")
plt.figure()
norms = ds.param_norm.isel(weight_decay=0, learning_rate=slice(None, None, 2))  # seven of thirteen rates
lines = norms.plot.line(x="step", yscale="log", add_legend=False)
plt.legend(lines, [f"{rate:.3g}" for rate in norms.learning_rate.values], title="learning rate", bbox_to_anchor=(1, 1))
plt.savefig("oneliners-norms.png", bbox_inches="tight")
print("10. oneliners-phase.png and oneliners-norms.png")
