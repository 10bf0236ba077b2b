"""Grokking with held norms of the layers' matrices: with norms of activations and without any, at two scales of the
logits, and with steps of one angle at every norm."""

from normsweep.names import DONE
from study import about, small

HYPERBALL = "norm_rule=hyperball", "learning_rate=0.01", "weight_decay=0.1"  # embeddings decay as fast as otherwise
LARGER = "vocabulary=98", "width=128", "feedforward=512", "norm=[layernorm]", "output_scale=[1]"  # sums modulo 97
SWEEPS = {"small": small("held-norms", "skip=[{output_scale: 2, seed: [1, 2]}]"),
          "hyperball": small("held-norms", *HYPERBALL, "output_scale=1"),
          "larger": small("held-norms", *LARGER),
          "larger_hyperball": small("held-norms", *HYPERBALL, *LARGER)}
FIGURE = "small", "accuracy", {"title": ""}
KNOWN = 0.05  # the training loss below which trained sums count as known, as on the page on grokking


def numbers(small, hyperball, larger, larger_hyperball):
    for norm in small.norm.values:
        for scale in small.output_scale.values:
            yield from times(f"fixed, norm {norm}, logits x {scale:g}", small.sel(norm=norm, output_scale=scale))
        yield from times(f"hyperball, norm {norm}", hyperball.sel(norm=norm))
    yield from times("larger, fixed", larger.squeeze())
    yield from times("larger, hyperball", larger_hyperball.squeeze())


def times(name, part):
    """The first measured steps at which the trained sums are known, and 0.99 of the held-out ones."""
    known = part.step.where(part.train_loss < KNOWN).min("step")
    reached = part.step.where(part.accuracy >= 0.99).min("step")
    for target in part.norm_target.values:
        for seed in part.seed.values:
            at, where = dict(norm_target=target, seed=seed), f"{name}, norm x {target:g}, seed {seed}"
            if part.outcome.sel(at) != DONE:
                continue
            yield about(f"steps to a training loss of {KNOWN}, {where}", known.sel(at), 0.3)
            yield about(f"steps to an accuracy of 0.99, {where}", reached.sel(at), 0.3)
            yield about(f"largest accuracy, {where}", part.accuracy.sel(at).max(), 0.3)
