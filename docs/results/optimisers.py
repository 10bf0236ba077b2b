"""Norm growth of four optimisers within one epoch, one seed."""

from study import about, count, small

OPTIMISERS = "adamw", "sgd", "normalized_sgd", "adafactor"  # without decay AdamW is Adam
SWEEPS = {"small": small("optimisers", f"optimiser=[{', '.join(OPTIMISERS)}]", "weight_decay=0")}


def numbers(small):
    yield count("steps", small.step[-1])
    for optimiser in OPTIMISERS:
        for rate in small.learning_rate.values:
            run = small.sel(optimiser=optimiser, learning_rate=rate)
            yield about(f"change of the norm at rate {rate:g}, {optimiser}", run.norm_growth - 1, 0.1)
            if optimiser == "adamw":
                yield about(f"R² against √t at rate {rate:g}, {optimiser}", run.fit_sqrt_r2, 0.1)
