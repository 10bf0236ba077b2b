"""How far is the best learning rate of a wide network from that of a narrow one: free, on the hyperball, with µP?"""

import numpy as np

from study import lines, number, of_mean, of_range, small

SIZES = ", ".join(f"w{width}: {{width: {width}, feedforward: {2 * width}, heads: {width // 16}}}"
                  for width in (32, 64, 128))
ARMS = ("free: {norm_rule: free, parametrization: standard}, "
        "hyperball: {norm_rule: hyperball, parametrization: standard}, mup: {norm_rule: free, parametrization: mup}")
SWEEPS = {"small": small("widths"),
          "larger": small("widths", "layers=4", "context=64", "batch=16", "steps=500",
                          "learning_rate=[1e-3, 2e-3, 4e-3, 8e-3, 0.016, 0.032]",
                          f"together={{size: {{{SIZES}}}, rule: {{{ARMS}}}}}",
                          "skip=[{rule: [hyperball, mup], learning_rate: 1e-3}, {rule: free, size: [w32, w64], "
                          "learning_rate: 1e-3}, {rule: free, size: w128, learning_rate: [0.016, 0.032]}]")}
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


def numbers(small, larger):
    yield from of_size("", small, WIDTHS)
    yield from of_size("larger, ", larger, WIDTHS[:-1])


def of_size(name, ds, widths):
    best = ds.sweep.optimum(LOSS, over="learning_rate")
    each = [ds.sel(seed=[seed]).sweep.optimum(LOSS, over="learning_rate") for seed in ds.seed.values]
    slopes, widest = {}, widths[-1]
    for rule in RULES:
        rates = np.log([[one.optimum.sel(rule=rule, size=f"w{width}").item() for width in widths] for one in each])
        for i, width in enumerate(widths):
            at = best.sel(rule=rule, size=f"w{width}")
            yield number(f"{name}best rate at width {width}, {rule}", at.optimum, at.low, at.high, "95 % of seeds")
            losses = ds[LOSS].sel(rule=rule, size=f"w{width}").min("learning_rate")
            yield of_range(f"{name}least loss at width {width}, {rule}", losses.values)
            if i:
                yield of_ratio(f"{name}best rate at width {width} over that at 32, {rule}", rates[:, i] - rates[:, 0])
        slopes[rule] = np.polyfit(np.log(widths), rates.T, 1)[0]
        yield of_mean(f"{name}exponent of the best rate in the width, {rule}", slopes[rule])
    yield of_mean(f"{name}exponent, mup less hyperball", slopes["mup"] - slopes["hyperball"])
    least = ds[LOSS].min("learning_rate")
    for rule in RULES[1:]:  # at the largest width free norms have no run near the best rate of width 32
        yield of_mean(f"{name}exponent, {rule} less free", slopes[rule] - slopes["free"])
        yield of_mean(f"{name}loss at width {widest} and the best rate of width 32 over the least, {rule}",
                      cost(ds[LOSS].sel(rule=rule, size=f"w{widest}"), best.optimum.sel(rule=rule, size="w32").item()))
        for width in widths:
            change = least.sel(rule=rule) - least.sel(rule="free")
            yield of_mean(f"{name}least loss at width {width}, {rule} less free", change.sel(size=f"w{width}"))


def figure(rows):
    return lines(rows, {rule: {width: f"best rate at width {width}, {rule}" for width in WIDTHS} for rule in RULES},
                 "width (–)", "best learning rate (–)", "xy")
