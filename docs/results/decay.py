"""What the published arithmetic of weight decay does where rate times decay is tiny, one seed."""

import numpy as np

from study import about, count, small

SWEEPS = {"small": small("decay", "corpus=bytes", "sequences=stream", "width=32", "feedforward=64")}


def numbers(small):
    yield count("steps", small.step[-1])
    for decay in small.decay.values:
        runs = np.log(small.norm_growth.sel(decay=decay))
        change = runs.sel(weight_decay=0) - runs
        for rate in small.learning_rate.values:
            for product in np.sort(rate * small.weight_decay.values)[1:]:
                cell = change.sel(learning_rate=rate).sel(weight_decay=product / rate, method="nearest")
                yield about(f"change of ln|θ| over ηλt at rate {rate:g}, ηλ = {product:.2g}, {decay}",
                            cell / (product * small.step[-1]), 0.2)
