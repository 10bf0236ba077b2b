"""The boundary of figure 6, in small: where it lies at each rate, its slope, and what PyTorch's defaults do."""

from study import about, count, number, small

SWEEPS = {"small": small("figure6-phase"), "fast": small("figure6-fast")}
FIGURE = "small", "phase", {"without": ["predicted", "slopes"], "title": ""}


def numbers(small, fast):
    yield count("runs", small.phase.size)
    for word, code in ("growing", 1), ("shrinking", 2):
        yield count(f"runs {word}", (small.phase == code).sum())
    yield about("factor between neighbouring decays", 10 ** 0.5, 0)
    found = small.sweep.boundary()
    for rate, decay in zip(small.learning_rate.values, found.each.squeeze().values):
        yield about(f"boundary at rate {rate:g}", decay)
    yield about("slope", found.slope)
    high = small.isel(learning_rate=small.learning_rate > 2e-3)
    yield about("slope from 3e-3 on", high.sweep.boundary().slope)
    defaults = small.sel(learning_rate=1e-3, weight_decay=1e-2, method="nearest")
    yield about("growth with PyTorch's defaults", defaults.norm_growth - 1)
    each = fast.sweep.boundary()
    for rate, decay, low, high in zip(fast.learning_rate.values,
                                      *(each[name].squeeze().values for name in ("each", "before", "after"))):
        yield number(f"boundary at rate {rate:g}, figure6-fast", decay, low, high, "runs on either side")
    yield count("runs trained, figure6-fast", (fast.last_step > 0).sum())
    whole_grid = fast.last_step.size * small.last_step.max()
    yield about("steps, figure6-fast over a whole grid of its values", fast.last_step.sum() / whole_grid)
