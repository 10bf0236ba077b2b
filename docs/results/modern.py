"""The block of 2017 beside Llama's: the boundary and the best loss of each learning rate."""

from study import about, count, number, of_range, small

SWEEPS = {"small": small("modern")}
FIGURE = "small", "boundaries", {"title": ""}


def numbers(small):
    found = small.sweep.boundary()
    least = small.final_valid_loss.min("weight_decay")
    weakest = small.norm_growth.sel(weight_decay=small.weight_decay.min()).mean("seed")
    yield count("runs", small.phase.size)
    for rate in small.learning_rate.values:
        # At the largest rate training is unstable, and another processor's rounding changes each run.
        of = unstable if rate > 0.05 else of_range
        boundary, loss, growth = (part.sel(learning_rate=rate) for part in (found.each, least, weakest))
        for block in small.block.values:
            yield of(f"boundary at rate {rate:.2g}, {block}", boundary.sel(block=block).values)
            yield of(f"least loss at rate {rate:.2g}, {block}", loss.sel(block=block).values)
            yield about(f"growth at the smallest decay and rate {rate:.2g}, {block}", growth.sel(block=block))
        yield of(f"boundary of llama over plain at rate {rate:.2g}",
                 (boundary.sel(block="llama") / boundary.sel(block="plain")).values)
        yield of(f"least loss of llama less plain at rate {rate:.2g}",
                 (loss.sel(block="llama") - loss.sel(block="plain")).values)
    first = found.each.sel(learning_rate=small.learning_rate.min())
    for block in small.block.values:
        slope = found.sel(block=block)
        yield number(f"slope of the boundary, {block}", slope.slope, slope.slope_low, slope.slope_high, "95 % of seeds")
        for rate in 3.2e-2, 3.2e-3:
            fall = found.each.sel(learning_rate=rate, method="nearest") / first
            yield of_range(f"boundary at rate {rate:g} over that at 1e-4, {block}", fall.sel(block=block).values)


def unstable(name, values):
    return about(name, sum(values) / len(values), 0.9)
