"""How close untrained networks are to homogeneous ones, over the factor of their parameters."""

import itertools

from study import about, number, of_spread, small

SWEEPS = {"small": small("figure4-homogeneity")}
FACTORS = 1, 1.9, 10


def numbers(small):
    found = {factor: small.homogeneity.sel(scale=factor, method="nearest") for factor in FACTORS}
    axes = {axis: small[axis].values for axis in ("attention_mask", "norm_placement", "bias")}
    for mask, placement, bias in itertools.product(*axes.values()):
        model = dict(attention_mask=mask, norm_placement=placement, bias=bias)
        name = f"{mask}, {placement}, {'biases' if bias else 'no biases'}"
        for factor, cosine in found.items():
            yield of_spread(f"cosine at c = {factor}, {name}", cosine.sel(model))
        for what in "homogeneity_degree", "output_homogeneity_degree":
            yield about(f"{what}, {name}", small[what].sel(model).mean("seed"), 0.01)
    for factor, cosine in found.items():
        masks = cosine.sel(attention_mask="causal") - cosine.sel(attention_mask="multiplicative")
        for placement in axes["norm_placement"]:
            pairs = masks.sel(norm_placement=placement)
            yield number(f"causal mask beside multiplicative at c = {factor}, {placement}", pairs.mean(), pairs.min(),
                         pairs.max(), f"range of {pairs.size} pairs")
