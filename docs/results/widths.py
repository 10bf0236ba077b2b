"""How far is the best learning rate of a wide network from that of a narrow one: free, on the hyperball, with µP?"""

import numpy as np

from study import lines, number, of_mean, of_range, small

SWEEPS = {"small": small("widths")}
RULES = "free", "hyperball", "mup"
WIDTHS = 32, 64, 128, 256
LOSS = "final_valid_loss"


def of_ratio(name, logs):
    """exp of the mean of logarithms over seeds, and of Student's interval of 95 %."""
    row = of_mean(name, logs)
    return row | {key: np.exp(row[key]) for key in ("value", "low", "high")}


def cost(losses, rate):
    """By how much the loss of each seed is above its least at a rate, straight between rates in logarithms."""
    losses = losses.sortby("learning_rate").dropna("learning_rate").transpose("seed", ...)
    rates = np.log(losses.learning_rate)
    return [np.interp(np.log(rate), rates, one) - one.min() for one in losses.values]


def numbers(small):
    best = small.sweep.optimum(LOSS, over="learning_rate")
    each = [small.sel(seed=[seed]).sweep.optimum(LOSS, over="learning_rate") for seed in small.seed.values]
    slopes = {}
    for rule in RULES:
        rates = np.log([[one.optimum.sel(rule=rule, size=f"w{width}").item() for width in WIDTHS] for one in each])
        for i, width in enumerate(WIDTHS):
            at = best.sel(rule=rule, size=f"w{width}")
            yield number(f"best rate at width {width}, {rule}", at.optimum, at.low, at.high, "95 % of seeds")
            losses = small[LOSS].sel(rule=rule, size=f"w{width}").min("learning_rate")
            yield of_range(f"least loss at width {width}, {rule}", losses.values)
            if i:
                yield of_ratio(f"best rate at width {width} over that at 32, {rule}", rates[:, i] - rates[:, 0])
        slopes[rule] = np.polyfit(np.log(WIDTHS), rates.T, 1)[0]
        yield of_mean(f"exponent of the best rate in the width, {rule}", slopes[rule])
    yield of_mean("exponent, mup less hyperball", slopes["mup"] - slopes["hyperball"])
    least = small[LOSS].min("learning_rate")
    for rule in RULES[1:]:  # at width 256 free norms have no run near the best rate of width 32
        yield of_mean(f"exponent, {rule} less free", slopes[rule] - slopes["free"])
        yield of_mean(f"loss at width 256 and the best rate of width 32 over the least, {rule}",
                      cost(small[LOSS].sel(rule=rule, size="w256"), best.optimum.sel(rule=rule, size="w32").item()))
        for width in WIDTHS:
            change = least.sel(rule=rule) - least.sel(rule="free")
            yield of_mean(f"least loss at width {width}, {rule} less free", change.sel(size=f"w{width}"))


def figure(rows):
    return lines(rows, {rule: {width: f"best rate at width {width}, {rule}" for width in WIDTHS} for rule in RULES},
                 "width (–)", "best learning rate (–)", "xy")
