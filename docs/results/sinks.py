"""Attention over the phase diagram: its largest logits, its entropy and its sinks."""

import numpy as np

from study import about, count, number, of_error, small

SWEEPS = {"small": small("sinks")}
COLLAPSED, UNIFORM, SINK = 0.5, 2.6, 0.3  # nats, nats, weight


def numbers(small):
    last = small.isel(step=-1)
    logit, entropy = last.max_logit.max(["layer", "head"]), last.attention_entropy.mean(["layer", "head"])
    yield count("runs", small.phase.size)
    yield count("diverged runs", small.sweep.diverged.sum())
    yield about("entropy of uniform attention", entropy.max(), 0.01)
    for norm in False, True:
        for word, side in ("grown", small.norm_growth > 1), ("shrunk", small.norm_growth <= 1):
            at = side.sel(qk_norm=norm)
            logits, entropies = (values.sel(qk_norm=norm).where(at).values for values in (logit, entropy))
            name = f"{word}, qk_norm {norm}"
            yield wide(f"runs, {name}", at.sum())
            yield about(f"largest logit, median, {name}", np.nanmedian(logits), 0.2)
            yield about(f"largest logit, largest, {name}", np.nanmax(logits), 1)
            yield about(f"entropy, least, {name}", np.nanmin(entropies), 0.5)
            yield about(f"entropy, median, {name}", np.nanmedian(entropies))
            yield wide(f"runs below {COLLAPSED} nats, {name}", (entropies < COLLAPSED).sum())
            yield wide(f"runs above {UNIFORM} nats, {name}", (entropies > UNIFORM).sum())
    weakest = small.weight_decay.values.min()
    sensitive = small.sel(weight_decay=weakest).sweep.lr_sensitivity()
    best = sensitive.best.mean("seed")
    yield number("least loss with each place of the norm, qk_norm or not", best.mean(), best.min(), best.max(),
                 "range of 6")
    for placement in small.norm_placement.values:
        for norm in False, True:
            at, name = dict(norm_placement=placement, qk_norm=norm), f"{placement}, qk_norm {norm}"
            for rate in small.learning_rate.values:
                values = logit.sel(at).sel(learning_rate=rate, weight_decay=weakest).values
                yield number(f"largest logit at rate {rate:.2g} and the smallest decay, {name}", np.median(values),
                             values.min(), values.max(), "range of 3 seeds")
                if rate > 0.03:
                    collapsed = entropy.sel(at).sel(learning_rate=rate) < COLLAPSED
                    yield wide(f"collapsed runs at rate {rate:.2g}, {name}", collapsed.sum())
            grown = (small.norm_growth.sel(at) > 1.05).values
            x, y = (np.log(values.sel(at).transpose(*small.norm_growth.sel(at).dims).values[grown])
                    for values in (small.norm_growth, logit))
            yield about(f"exponent of the largest logit over growth, {name}", np.polyfit(x, y, 1)[0], 0.1)
            yield about(f"correlation of the logarithms, {name}", np.corrcoef(x, y)[0, 1])
            yield of_error(f"sensitivity to the rate, {name}", sensitive.each.sel(at))
    sinks = last.first_attention > SINK
    yield count("heads", sinks.size)
    yield wide("heads with a sink", sinks.sum())
    yield wide("runs with a sink", sinks.any(["layer", "head"]).sum())
    yield wide("runs with a sink and qk_norm", sinks.any(["layer", "head"]).sel(qk_norm=True).sum())
    first = last.first_attention.median("seed")
    yield number("weight of the first position, median over seeds", first.median(), first.min(), first.max(),
                 "range of heads")


def wide(name, value):
    """A count, of which rounding may move a few runs over the threshold."""
    value = int(value)
    return number(name, value, max(value - 3, 0), value + 3, "± 3")
