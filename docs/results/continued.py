"""Does a network learn a new text better if it was trained with more weight decay before?"""

from study import count, kept, lines, number, of_mean, of_range, whole

DECAYS, STARTS = (0, 0.3, 1, 3), (0, 1, 2)
BEFORE = {f"{decay}-{start}": whole("continued", "initial_weights=none", "save_weights=true", "corpus_seed=1",
                                    "learning_rate=3e-3", f"weight_decay={decay}", f"seed={start}")
          for decay in DECAYS for start in STARTS}
FILES = {"none": "none"} | {key: kept("continued", key) for key in BEFORE}
LABELS = ", ".join(f"{label}: {{initial_weights: {file}}}" for label, file in FILES.items())
SWEEPS = BEFORE | {"after": whole("continued", "initial_weights=null", f"together={{start: {{{LABELS}}}}}",
                                  "learning_rate={log: [3e-4, 3e-2], points: 5, plus: [0.1]}")}
RATES = 3e-4, 9.5e-4, 3e-3, 9.5e-3, 3e-2, 0.1
LOSS = "final_valid_loss"


def compared(name, new, old):
    """The difference of the means of independent starts, or seeds, with Welch's interval."""
    from normsweep import significance
    found = significance.unpaired(old, new)
    return number(name, found.value, found.low, found.high, "95 % of starts and seeds")


def numbers(after, **before):
    losses = after[LOSS].sortby("learning_rate")
    loss = losses.mean("seed").min("weight_decay")  # of each start, at the best decay of each rate
    scratch = losses.sel(start="none").min("weight_decay")  # of each seed
    started = {decay: loss.sel(start=[f"{decay}-{start}" for start in STARTS]) for decay in DECAYS}
    yield count("runs", losses.size)
    for decay in DECAYS:
        for name, variable in ("growth", "norm_growth"), ("loss", LOSS):
            yield of_range(f"{name} on the first text, decay {decay}",
                           [before[f"{decay}-{start}"][variable].item() for start in STARTS])
    for i, place in enumerate([*(f"at rate {rate:.2g}" for rate in RATES), "at the best rate"]):
        fresh, *others = ((part.isel(learning_rate=i) if i < len(RATES) else part.min("learning_rate")).values
                          for part in (scratch, *started.values()))
        yield of_range(f"loss {place}, from scratch", fresh)
        for decay, values in zip(DECAYS, others):
            yield of_range(f"loss {place}, decay {decay} before", values)
            yield compared(f"loss {place}, decay {decay} before less from scratch", values, fresh)
            if decay:
                yield of_mean(f"gain {place}, decay {decay} before", others[0] - values)
    for decay in DECAYS[1:]:
        gains = (started[0].values - started[decay].values)[:-1]  # at the largest rate seeds do not agree
        yield count(f"starts and rates below 0.1 with a gain, decay {decay} before", (gains > 0).sum())
    for label, part in ("from scratch", scratch.mean("seed")), *((f"decay {decay} before", part.mean("start"))
                                                                 for decay, part in started.items()):
        yield count(f"best rate, {label}", part.learning_rate[part.argmin("learning_rate")])


def figure(rows):
    return lines(rows, {f"decay {decay} before": {rate: f"gain at rate {rate:.2g}, decay {decay} before"
                                                  for rate in RATES[:-1]} for decay in DECAYS[1:]},
                 "learning rate (–)", "gain over no decay\nbefore (nats)", "x")
