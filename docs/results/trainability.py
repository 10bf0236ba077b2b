"""Do networks train best where their angle and gradient exponents vanish?"""

import numpy as np
from scipy.stats import spearmanr

from study import about, number, of_range, small

SWEEPS = {"small": small("trainability")}
FIGURE = "small", "trainability", {"title": ""}


def numbers(small):
    yield about("unigram level of the loss", small.unigram_loss.mean(), 0.01)
    for placement in small.norm_placement.values:
        runs = small.sel(norm_placement=placement)
        angle, gradient = (runs[name].isel(step=0) for name in ("angle_exponent", "gradient_exponent"))
        loss, larger = runs.final_valid_loss, np.maximum(np.abs(angle), np.abs(gradient))
        rank = spearmanr(loss, larger.transpose(*loss.dims), axis=None, nan_policy="omit")[0]
        yield number(f"rank correlation of loss and larger exponent, {placement}", rank, rank - 0.05, rank + 0.05,
                     "± 0.05")
        cell = dict(zip(loss.dims, loss.stack(cell=loss.dims).idxmin("cell").item()))
        yield about(f"lowest loss, {placement}", loss.min())
        yield about(f"angle exponent at the lowest loss, {placement}", angle.sel(cell), 1)
        yield about(f"gradient exponent at the lowest loss, {placement}", gradient.sel(cell), 1)
        steep = angle < -0.35
        stuck = (np.abs(loss - runs.unigram_loss) < 0.05) & steep
        for words, where in ("", steep), (", and end within 0.05 of the unigram level", stuck):
            found = where.sum().item()
            yield number(f"networks with an angle exponent below -0.35{words}, {placement}", found, max(found - 3, 0),
                         found + 3, "± 3 networks")
        if steep.any():
            yield about(f"least loss of these, {placement}", loss.where(steep).min())
        small_scales = loss.isel(init_scale=-1, residual_scale=-1)
        yield of_range(f"loss at the smallest scales, {placement}", small_scales.values)
