"""What rules on the norms of matrices are worth beside a tuned weight decay: the loss at the best rate and decay, and
the range of rates that will do."""

import numpy as np

from study import about, number, of_mean, small

# The best decay of each rule on the plane, and of one on the matrices of layers alone, "free matrices": up to 30 hardly
# differ from 3.
DECAYS = {"adamw": {"free": "0", "free matrices": "3", "fixed": "1e-4", "hyperball": "0", "brake": "0"},
          "muon": {"free": "1e-4", "free matrices": "3", "fixed": "1e-4", "hyperball": "0", "brake": "1e-3"}}
THREE = ("free", "free matrices", "hyperball")
CELLS = ("learning_rate", "weight_decay")
LOSS = "final_valid_loss"
NEAR = 0.05  # nats


def rules(labels, decays=()):
    """The setting for an axis of rules, each with its decay, if it has one."""
    rows = [f"{label}: {{norm_rule: {label.split()[0]}, decay_on: "
            f"{'attention+feedforward' if ' ' in label else 'all'}"
            f"{', weight_decay: ' + decays[label] if decays else ''}}}" for label in labels]
    return f"together={{rule: {{{', '.join(rows)}}}}}"


def fresh(optimiser):
    """Each rule at its best decay over the rates, with seeds that have not chosen it."""
    return small("norm-rules", f"optimiser={optimiser}", "norm_rule=null", "weight_decay=null", "seed={range: [3, 8]}",
                 rules(DECAYS[optimiser], DECAYS[optimiser]))


def three(*settings):
    return small("norm-rules", "seed={range: [0, 2]}", "optimiser=adamw", "norm_rule=null", rules(THREE),
                 "learning_rate={log: [3e-3, 0.3], points: 5}", *settings)


BYTES = ("corpus=bytes", "train_text=wiki.valid.tokens", "valid_text=wiki.test.tokens", "vocabulary=null",
         "corpus_tokens=null", "steps=600")


SWEEPS = {
    "plane": small("norm-rules", "seed={range: [0, 2]}"),
    "matrices": small("norm-rules", "seed={range: [0, 2]}", "norm_rule=free", "decay_on=attention+feedforward",
                      "weight_decay={log: [0.03, 30], points: 7}"),
    "adamw": fresh("adamw"),
    "muon": fresh("muon"),
    "repeated": three("corpus_tokens=5000", "weight_decay={log: [0.01, 10], points: 7, plus: [0]}"),
    "bytes": three(*BYTES, "weight_decay=[0, 0.03, 0.1, 0.3, 1, 3]"),
    "larger": three(*BYTES, "layers=4", "width=64", "feedforward=128", "weight_decay=null", "seed={range: [3, 5]}",
                    rules(THREE, {"free": "0", "free matrices": "0.1", "hyperball": "0"}),
                    "learning_rate={log: [1e-3, 0.1], points: 5}"),
}
FIGURE = "larger", LOSS, {"title": ""}


def numbers(plane, matrices, adamw, muon, repeated, bytes, larger):
    for optimiser, lines in ("adamw", adamw), ("muon", muon):
        cells = {rule: loss_of(plane).sel(optimiser=optimiser, norm_rule=rule) for rule in plane.norm_rule.values}
        cells["free matrices"] = loss_of(matrices).sel(optimiser=optimiser)
        for rule, found in cells.items():
            yield about(f"least loss on the plane, {optimiser}, {rule}", least(found), 0.01)
        for decay in 0.1, 1:
            yield about(f"least loss at decay {decay}, {optimiser}, free", least(cells["free"].sel(weight_decay=decay)),
                        0.01)
        for decay in 3, 30:
            part = cells["free matrices"].sel(weight_decay=decay, method="nearest")
            yield about(f"least loss at decay {decay} on the matrices, {optimiser}", least(part), 0.01)
        yield from of_rules(optimiser, loss_of(lines), {
            rule: found.sel(weight_decay=float(DECAYS[optimiser][rule]), method="nearest").mean("seed").idxmin().item()
            for rule, found in cells.items()})
    for name, part in ("repeated", loss_of(repeated)), ("bytes", loss_of(bytes)), ("larger", loss_of(larger)):
        for rule in THREE:
            cells = part.sel(rule=rule)
            best = cells.mean("seed").stack(cell=[axis for axis in CELLS if axis in cells.dims])
            yield about(f"least loss, {name}, {rule}, at {at(best.cell[int(best.argmin())])}", best.min(), 0.01)
            if rule != "free":
                yield of_mean(f"loss beside free, {name}, {rule}", unseen(cells) - unseen(part.sel(rule="free")))
    for rule in THREE:
        for rate in larger.learning_rate.values[-2:]:
            at_rate = loss_of(larger).sel(rule=rule, learning_rate=rate)
            yield of_mean(f"loss at rate {rate:.2g}, larger, {rule}", at_rate)
        at_rate = loss_of(bytes).sel(rule=rule).sel(learning_rate=0.095, method="nearest")
        yield of_mean(f"loss at rate 0.095 and its best decay, bytes, {rule}", unseen(at_rate))
        yield about(f"least loss without decay, repeated, {rule}",
                    least(loss_of(repeated).sel(rule=rule, weight_decay=0)), 0.01)
    yield about("least loss at decay 3, bytes, free matrices",
                least(loss_of(bytes).sel(rule="free matrices", weight_decay=3)), 0.01)
    lowest = {rule: [larger.sel(rule=rule, seed=[seed]).sweep.optimum(LOSS, over="learning_rate").least.item()
                     for seed in larger.seed.values] for rule in THREE}
    for rule in THREE[1:]:
        yield of_mean(f"loss beside free, larger, {rule}, lowest points of parabolas",
                      np.subtract(lowest[rule], lowest["free"]))


def of_rules(optimiser, lines, rates):
    """Of each rule at its best decay: the loss at its best rate, beside that of free norms, and the rates near it."""
    found = {rule: lines.sel(rule=rule, learning_rate=rate).values for rule, rate in rates.items()}
    for rule, rate in rates.items():
        yield of_mean(f"loss at rate {rate:.2g}, {optimiser}, {rule}", found[rule])
        above = lines.sel(rule=rule).sel(learning_rate=3.16 * rate, method="nearest").values
        yield of_mean(f"loss at 3.16 times that rate beside it, {optimiser}, {rule}", above - found[rule])
        for base in "free", "free matrices":
            if rule not in ("free", base):
                yield of_mean(f"loss beside {base}, {optimiser}, {rule}", found[rule] - found[base])
    near = {rule: np.array([near_best(one) for one in lines.sel(rule=rule).transpose("seed", ...)]) for rule in rates}
    width = {rule: np.log10(ends[:, 1] / ends[:, 0]) for rule, ends in near.items()}
    for rule in rates:
        for end, values in zip(("smallest", "largest"), near[rule].T):
            yield about(f"{end} rate within {NEAR} of the least, {optimiser}, {rule}",
                        np.exp(np.log(values).mean()), 0.2)
        yield of_mean(f"decades of rates within {NEAR} of the least, {optimiser}, {rule}", width[rule])
        if rule != "free":
            yield of_mean(f"decades beside free, {optimiser}, {rule}", width[rule] - width["free"])


def near_best(line):
    """The ends of the range around the best rate in which the loss, straight between rates in logarithms, is near the
    least."""
    rates, over = np.log(line.learning_rate.values), line.values - line.values.min() - NEAR
    ends = []
    for way in (-1, 1):
        at = int(over.argmin())
        while 0 <= at + way < len(rates) and over[at + way] <= 0:
            at += way
        inside = 0 <= at + way < len(rates)
        step = over[at] / (over[at] - over[at + way]) * (rates[at + way] - rates[at]) if inside else 0
        ends.append(np.exp(rates[at] + step))
    return ends


def loss_of(dataset):
    """The loss at the end, infinite where a run has diverged."""
    return dataset[LOSS].fillna(np.inf).sortby("learning_rate")


def at(cell):
    return " and ".join(f"{words} {cell[axis].item():.2g}" for axis, words in zip(CELLS, ("rate", "decay"))
                        if axis in cell.coords)


def least(cells):
    return cells.mean("seed").min()


def unseen(cells):
    """The loss of each seed at the rate and decay where the mean of the others is least."""
    each = cells.transpose("seed", ...).values.reshape(cells.sizes["seed"], -1)
    return np.array([each[seed, np.delete(each, seed, 0).mean(0).argmin()] for seed in range(len(each))])
