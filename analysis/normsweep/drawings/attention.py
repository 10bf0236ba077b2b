"""What the heads of the network itself attend to: sinks, the largest score, entropy; and how large its activations
are."""

from ..plane import OVER_HEADS, over_heads
from . import cells, heads, look, states
from .lines import over_steps

WHOLE = ("sink_share", "max_logit", "attention_entropy")
LABELS = {"sink_share": look.with_unit("share of heads\nwith a sink"),
          "max_logit": look.with_unit("largest score\nof all heads"),
          "attention_entropy": "mean entropy\nof the heads (nats)"}
LEAST = 0.01  # scores below it are drawn as if they were it: no softmax tells them from 0
THRESHOLD = 0.3  # of first_attention, from which on a head has a sink
SINK = f"A head has a sink if its mean weight on the first position is above {THRESHOLD}."


def scores_note(dataset):
    return f"Scores below {LEAST} are drawn there." * bool("max_logit" in dataset and (dataset.max_logit < LEAST).any())


def whole(dataset):
    """One number for all heads: the largest score of all, the mean entropy, which is never drawn on a logarithmic
    scale."""
    found = {}
    for name in OVER_HEADS:
        if name in dataset:
            found[name] = over_heads(dataset[name])
    if "max_logit" in found:
        found["max_logit"] = found["max_logit"].clip(min=LEAST, keep_attrs=True)
    if "attention_entropy" in found:
        found["attention_entropy"].attrs["nature"] = "share"
    return dataset.assign(found)


def plane(dataset):
    """The state at the end over the axes of the grid: the phases of attention."""
    return cells.over_plane(whole(dataset), "attention", WHOLE, "What the heads attend to at the last measured step: "
                            "the share of them with a sink, the largest score, the mean entropy.", LABELS,
                            note=f"{SINK} {scores_note(dataset)}".strip())


def steps(dataset):
    return over_steps(whole(dataset), "attention-steps", WHOLE, "What the heads attend to, over the steps: the share "
                      "of them with a sink, the largest score, the mean entropy.", labels=LABELS,
                      notes=(SINK, scores_note(dataset)))


def by_layer(dataset):
    note = scores_note(dataset)
    if "max_logit" in dataset:
        dataset = dataset.assign(max_logit=dataset.max_logit.clip(min=LEAST, keep_attrs=True))
    return heads.of_layers(dataset, "attention-by-layer", ("max_logit", "attention_entropy", "first_attention"),
                           "The attention of each head, by layer.", {"max_logit"}, {"first_attention": (
                               THRESHOLD, f"{THRESHOLD}: above it a head has a sink")}, [note])


def activations(dataset):
    return states.by_depth(dataset, "activations", "activation_rms", "The root mean square of the residual stream's "
                           "elements after each block.", look.with_unit("root mean square"), log=True)


def largest(dataset):
    return states.by_depth(dataset, "activations-largest", "activation_max", "The largest element of the residual "
                           "stream over the median of a sequence's elements, after each block.",
                           look.with_unit("largest over median"), log=True)
