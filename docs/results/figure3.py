"""How many positions do the heads of saturated networks attend to, under both masks?"""

import itertools

from study import count, number, small

SWEEPS = {"small": small("figure3-heads")}
FIGURE = "small", "heads", {"title": ""}


def numbers(small):
    yield count("heads of a network", small.sizes["layer"] * small.sizes["head"])
    for placement, mask in itertools.product(small.norm_placement.values, small.attention_mask.values):
        name = f"{placement}, {mask}"
        heads = small.positions_attended.sel(norm_placement=placement, attention_mask=mask)
        most = heads.max()
        yield number(f"most positions of a head at any step, {name}", most, 0.8 * most, 1.2 * most, "± 20 %")
        last = heads.isel(step=-1)
        for kind, chosen in {"up to 3": last <= 3, "3 to 8": (last > 3) & (last < 8), "8 or more": last >= 8}.items():
            found = chosen.sum().item()
            yield number(f"heads that attend to {kind} positions, {name}", found, found - 2, found + 2, "± 2 heads")
