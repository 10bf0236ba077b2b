"""Does a network learn a new text better if it was trained with more weight decay before?"""

from study import count, kept, lines, number, of_mean, of_range, whole

DECAYS, STARTS = (0, 0.3, 1, 3), (0, 1, 2)
LARGER = "layers=4", "width=64", "heads=4", "feedforward=128"


def before(name, decays, *settings):
    """The sweeps of the networks to start from, each by its label."""
    return {f"{name}{decay}-{start}": whole("continued", "initial_weights=none", "save_weights=true", "corpus_seed=1",
                                            "learning_rate=3e-3", f"weight_decay={decay}", f"seed={start}", *settings)
            for decay in decays for start in STARTS}


def after(networks, *settings):
    """The sweep of all that start from these networks, or from none."""
    files = {"none": "none"} | {key: kept("continued", key) for key in networks}
    labels = ", ".join(f"{label}: {{initial_weights: {file}}}" for label, file in files.items())
    return whole("continued", "initial_weights=null", f"together={{start: {{{labels}}}}}", *settings)


BEFORE, LARGER_BEFORE = before("", DECAYS), before("larger-", (0, 3), *LARGER)
SWEEPS = BEFORE | LARGER_BEFORE | {
    "after": after(BEFORE, "learning_rate={log: [3e-4, 3e-2], points: 5, plus: [0.1]}"),
    "larger": after(LARGER_BEFORE, "weight_decay=[0.01]", *LARGER)}
RATES = 3e-4, 9.5e-4, 3e-3, 9.5e-3, 3e-2, 0.1
LOSS = "final_valid_loss"


def compared(name, new, old):
    """The difference of the means of independent starts, or seeds, with Welch's interval."""
    from normsweep import significance
    found = significance.unpaired(old, new)
    return number(name, found.value, found.low, found.high, "95 % of starts and seeds")


def numbers(after, larger, **before):
    yield from of_size("", DECAYS, RATES, after, before)
    yield from of_size("larger-", (0, 3), RATES[:-1], larger, before)


def of_size(size, decays, rates, after, before):
    losses = after[LOSS].sortby("learning_rate")
    loss = losses.mean("seed").min("weight_decay")  # of each start, at the best decay of each rate
    scratch = losses.sel(start="none").min("weight_decay")  # of each seed
    keys = {decay: [f"{size}{decay}-{start}" for start in STARTS] for decay in decays}
    started = {decay: loss.sel(start=keys[decay]) for decay in decays}
    name = size.replace("-", ", ")
    yield count(f"{name}runs", losses.size)
    for decay in decays:
        for what, variable in ("growth", "norm_growth"), ("loss", LOSS):
            yield of_range(f"{name}{what} on the first text, decay {decay}",
                           [before[key][variable].item() for key in keys[decay]])
    for i, place in enumerate([*(f"at rate {rate:.2g}" for rate in rates), "at the best rate"]):
        fresh, *others = ((part.isel(learning_rate=i) if i < len(rates) else part.min("learning_rate")).values
                          for part in (scratch, *started.values()))
        yield of_range(f"{name}loss {place}, from scratch", fresh)
        for decay, values in zip(decays, others):
            yield of_range(f"{name}loss {place}, decay {decay} before", values)
            yield compared(f"{name}loss {place}, decay {decay} before less from scratch", values, fresh)
            if decay:
                yield of_mean(f"{name}gain {place}, decay {decay} before", others[0] - values)
    for decay in decays[1:]:
        gains = (started[0] - started[decay].values).sel(learning_rate=slice(0, 0.05))  # at 0.1 seeds do not agree
        yield count(f"{name}starts and rates below 0.1 with a gain, decay {decay} before", (gains > 0).sum())
    for label, part in ("from scratch", scratch.mean("seed")), *((f"decay {decay} before", part.mean("start"))
                                                                 for decay, part in started.items()):
        yield count(f"{name}best rate, {label}", part.learning_rate[part.argmin("learning_rate")])


def figure(rows):
    return lines(rows, {f"decay {decay} before": {rate: f"gain at rate {rate:.2g}, decay {decay} before"
                                                  for rate in RATES[:-1]} for decay in DECAYS[1:]},
                 "learning rate (–)", "gain over no decay\nbefore (nats)", "x")
