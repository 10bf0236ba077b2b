"""The largest singular values over rate, decay and width, where decay balances the steps."""

from study import about, number, small

SWEEPS = {"small": small("spectra", "learning_rate={log: [2e-3, 3e-2], points: 3}", "seed=[0, 1]")}
LAW = {"learning_rate": 0.5, "weight_decay": -0.5, "width": 0.75}
MATRICES = ["q", "k", "v", "o", "w1", "w2"]


def numbers(small):
    steady = small.learning_rate * small.weight_decay * small.step[-1].item() >= 1.5
    found = small.sweep.scaling("top_singular", over=["learning_rate", "weight_decay", "width"], where=steady)
    last, fitted = small.isel(step=-1), small.where(steady)
    force = small.tensor_forces.isel(step=-2).where(steady & (last.dead == 0))  # there is no step after the last one
    pull = -force.sel(force="pull") / force.sel(force="decay")
    for axis in LAW:
        exponents = found.sel(over=axis, tensor=MATRICES)
        yield number(f"least exponent of {axis}", exponents.exponent.min(), exponents.low.min(),
                     exponents.exponent.min() + 0.1, "95 % below, 0.1 above")
        yield number(f"largest exponent of {axis}", exponents.exponent.max(), exponents.exponent.max() - 0.1,
                     exponents.high.max(), "0.1 below, 95 % above")
        inside = ((exponents.low <= LAW[axis]) & (LAW[axis] <= exponents.high)).sum().item()
        yield number(f"intervals of 24 that contain {LAW[axis]}, {axis}", inside, max(inside - 4, 0), inside + 4,
                     "± 4")
    for placement in small.norm_placement.values:
        for tensor in MATRICES:
            at = dict(norm_placement=placement, tensor=tensor)
            for axis in found.over.values:
                half = ((found.high - found.low) / 2).sel(at).sel(over=axis).max()
                yield number(f"half of the wider interval, {axis}, {placement}, {tensor}", half, 0, 2 * half,
                             "up to twice as wide")
                for layer in found.layer.values:
                    one = found.sel(at).sel(over=axis, layer=layer)
                    yield number(f"exponent of {axis}, {placement}, {tensor}, layer {layer}", one.exponent, one.low,
                                 one.high, "95 % of the fit")
            spread = found.spread.sel(at)
            yield number(f"spread, {placement}, {tensor}", spread.mean(), spread.min(), spread.max(), "two layers")
            yield about(f"share of dead matrices, {placement}, {tensor}", last.dead.sel(at).mean(), 0.1)
            ratio = fitted.top_over_noise.isel(step=-1).where(last.dead == 0).sel(at).median()
            yield about(f"top_over_noise, {placement}, {tensor}", ratio)
            for rate in small.learning_rate.values[[0, -1]]:
                yield about(f"pull at rate {rate:.2g}, {placement}, {tensor}",
                            pull.sel(at).sel(learning_rate=rate).median(), 0.3)
