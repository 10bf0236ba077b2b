"""Largest singular values of matrices over the square root of learning rate over weight decay; ranks over the steps."""

import numpy as np
import xarray as xr
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D

from ..names import PHASE_AXES, REPEAT
from ..plane import averaged, last, phase_axes
from ..predicted import key
from . import colours, look, runs, scales
from .drawing import finished, run_panels
from .equilibrium import balance_times, times_note
from .lines import over_steps

TOP, DEAD, VALUES = "top_singular", "dead", "singular_values"
RATE = PHASE_AXES[0]
LABELS = {name: look.with_unit(words) for name, words in {
    "stable_rank": "stable rank", "spectral_entropy": "singular values\nin effect",
    "top_over_noise": "largest over\nthat of noise", "qk_rank": "QK rank", "ov_rank": "OV rank",
    "qk_imbalance": "QK im-\nbalance", "ov_imbalance": "OV im-\nbalance"}.items()}
RANKS, HEADS = tuple(LABELS)[:3], tuple(LABELS)[3:]
MOST = 6  # combinations of the axes beside the rate and the decay
MARK = {"linestyle": "none", "markersize": 4, "markeredgewidth": 0.8}
X = "√(rate / decay)"
LINE = {**colours.THEORY, "label": f"in proportion to {X}"}
CAPTION = ("Largest singular value of each kind of matrix at the last measured step, over the root of "
           "learning rate over weight decay: where decay balances updates, it is said to be in proportion to that "
           "(arXiv 2510.15262).")


def ratio(dataset):
    """√(learning rate / weight decay) of each run, over the grid; NaN without decay."""
    rate, decay = (key(dataset, name) for name in PHASE_AXES)
    apart = key(dataset, "decay_rule") == "independent"  # of the rate
    found = dataset.outcome * 0.0 + rate / xr.where(apart, decay / rate, decay)
    return np.sqrt(found.where(np.isfinite(found)))


def top_singular(dataset):
    """One panel for each kind of matrix, a mark for each run but for seeds, with a line from its least to its greatest
    value over seeds and layers."""
    if not runs.is_measured(dataset, TOP, "step", "layer", "tensor"):
        return None
    done = dataset.sweep.done
    values = last(dataset[TOP].where(done & np.isfinite(dataset[TOP]) & (dataset[TOP] > 0)))
    with np.errstate(divide="ignore"):
        places = ratio(dataset).where(done)
    values = values.where(np.isfinite(places))
    kinds = [i for i in range(dataset.sizes["tensor"]) if np.isfinite(values.isel(tensor=i)).any()]
    if not kinds or len(np.unique(scales.finite([places.values]))) < 2:
        return None
    over = ["layer", *(axis for axis in (REPEAT,) if axis in values.dims)]
    dead = last(dataset[DEAD].where(done)) == 1 if DEAD in dataset else values > np.inf
    alive, every = values.where(~dead), np.exp(np.log(values).mean(over))
    share = dead.where(np.isfinite(values)).mean(over)
    marks = {"middle": np.exp(np.log(alive).mean(over)).fillna(every), "low": alive.min(over), "high": alive.max(over),
             "dead": share}
    places = places.mean([axis for axis in over if axis in places.dims])
    everything = list(runs.combinations(dataset, runs.others_of(dataset, *phase_axes(dataset))))
    shown = runs.thinned_along(everything, MOST)
    there = np.isfinite(ratio(dataset)) & done
    times = [balance_times(dataset, run) for run in runs.listed(there)]
    scale = rate_scale(dataset)
    with look.style():
        shape = look.crowd(len(kinds))
        figure, panels = look.sheet(*shape, height=1.5 if len(kinds) > 1 else 2.4, sharex=True, sharey=True)
        drawn = set()
        for axes, kind in zip(panels.ravel(), kinds):
            of_kind = {name: part.isel(tensor=kind) for name, part in marks.items()}
            for i, at in enumerate(shown):
                draw(axes, dataset, places, of_kind, at, colours.MARKERS[i], scale, drawn)
            draw_line(axes, places, of_kind)
            axes.set_title(look.title(str(dataset.tensor.values[kind]), shape[1]))
            axes.set_xscale("log")
            axes.set_yscale("log")
            look.grid(axes)
        below = limit(panels.ravel()[:len(kinds)], marks)
        look.name_axes(panels, len(kinds), look.with_unit(X), look.with_unit("largest singular value"))
        look.clear_rest(panels, len(kinds))
        if scale:
            bar = look.add_bar(figure, ScalarMappable(scale, colours.scale_of(RATE)),
                               ax=panels.ravel()[:len(kinds)].tolist())
            look.name_bar(bar, look.label(dataset[RATE]))
        count = int(there.sum())
        notes = [f"{runs.count_text(count, count)}.",
                 f"A mark is the geometric mean over layers{' and seeds' * (REPEAT in over)}, "
                 "its line from the least to the greatest; of those that are not dead, if any.",
                 "Dead: below a quarter of the size at which decay balances noise." * bool(drawn - {"full"}),
                 f"{below} of the marks of what is dead lie below the panels and are drawn on the lower edge."
                 * (below > 0),
                 times_note(times), runs.left_out(dataset, shown, everything)]
        return finished("top-singular", CAPTION, figure, dataset, legend(dataset, shown, drawn), notes)


def rate_scale(dataset):
    """The scale of the colours of learning rates; None with one."""
    if RATE not in runs.axes_of(dataset):
        return None
    rates = dataset[RATE].values
    return LogNorm(rates[rates > 0].min(), rates.max())


def draw(axes, dataset, places, marks, at, marker, scale, drawn):
    """The marks of one combination of the other axes."""
    middle = marks["middle"].isel(at)
    x, *parts = (part.broadcast_like(middle).transpose(*middle.dims).values.ravel()
                 for part in (places.isel(at), middle, *(marks[name].isel(at) for name in ("low", "high", "dead"))))
    rates = (dataset[RATE].broadcast_like(middle).transpose(*middle.dims).values.ravel() if scale
             else np.ones(x.shape))
    for place, value, low, high, dead, rate in zip(x, *parts, rates):
        if not np.isfinite(place) or not np.isfinite(value):
            continue
        colour = colours.scale_of(RATE)(scale(rate)) if scale else colours.COLOURS[0]
        fill = "full" if not dead > 0 else "left" if dead < 1 else "none"
        axes.plot([place] * 2, [low, high], color=colour, linewidth=0.6)
        axes.plot(place, value, marker=marker, color=colour, fillstyle=fill, markerfacecoloralt="white", **MARK)
        drawn.add(fill)


def limit(panels, marks):
    """Limits of y around what is alive; the marks below are moved to the lower edge. Returns how many."""
    ends = scales.finite([marks["low"].values, marks["high"].values])
    if not len(ends):
        return 0
    least, moved = ends.min() / 1.5, 0
    for axes in panels:
        axes.set_ylim(least, ends.max() * 1.5)
        for line in axes.lines:
            if line.get_marker() != "None" and line.get_ydata()[0] < least:
                line.set(ydata=[least], clip_on=False, zorder=3)
                moved += 1
    return moved


def draw_line(axes, places, marks):
    """In proportion to the ratio, through the middle of the marks that are not dead."""
    level = (marks["middle"] / places).where(marks["dead"] != 1)
    found, ends = scales.finite([level.values]), scales.finite([places.values])
    if len(found) and look.shows("proportion"):
        ends = np.array([ends.min(), ends.max()])
        axes.plot(ends, np.exp(np.median(np.log(found))) * ends, zorder=1, **LINE)


def legend(dataset, shown, drawn):
    """What marks mean, and the combinations of the other axes."""
    words = [Line2D([], [], marker=colours.MARKERS[i], color="0.3", label=runs.text(dataset, at), **MARK)
             for i, at in enumerate(shown) if len(shown) > 1]
    kinds = [Line2D([], [], marker="o", color="0.3", fillstyle=fill, markerfacecoloralt="white", label=label, **MARK)
             for fill, label in (("left", "some are dead"), ("none", "dead")) if fill in drawn]
    return [Line2D([], [], **LINE)] * look.shows("proportion") + [*kinds, *words]


def ranks(dataset):
    """How many singular values matrices have in effect, and their largest over that of noise, over the steps."""
    return over_steps(averages(dataset, RANKS), "spectra", RANKS, "Stable rank, number of singular values in effect "
                      "(exp of their entropy), and the largest over that of white noise of the same size.",
                      labels=LABELS, notes=("Means over layers and matrices.",))


def heads(dataset):
    """Ranks and imbalances of heads over the steps."""
    return over_steps(averages(dataset, HEADS), "spectra-heads", HEADS, "Ranks of the products of each head's "
                      "matrices, of queries and keys (QK) and of output and values (OV), and their imbalance.",
                      labels=LABELS, notes=("Imbalance: how far the two are from being equal, 0 if they are.",
                                             "Means over layers and heads."))


def averages(dataset, names):
    """The dataset with these variables averaged over layers, matrices and heads."""
    return dataset.assign({name: averaged(dataset[name], [
        dim for dim in dataset[name].dims if dim in ("layer", "tensor", "head")]) for name in names if name in dataset})


def values(dataset):
    """One panel for each representative run: the singular values of each kind of matrix at the last measured step, from
    the largest on."""
    if not runs.is_measured(dataset, VALUES, "step", "tensor", "singular"):
        return None
    found = dataset[VALUES]
    found = found.where(np.isfinite(found) & (found > 0))
    found = last(found).mean("layer")
    kinds = np.flatnonzero(found.notnull().any([dim for dim in found.dims if dim != "tensor"]).values)
    order = 1 + found.singular.values

    def draw_run(axes, run):
        for place, kind in enumerate(kinds):
            axes.plot(order, found.isel(run).isel(tensor=kind).transpose("singular"),
                      **colours.line_of("tensor", str(found.tensor.values[kind]), place))
        axes.set_yscale("log")
        look.grid(axes)

    with look.style():
        figure, _, note = run_panels(dataset, VALUES, draw_run, "singular value, from the largest on (–)",
                                     look.with_unit("singular value"))
        handles = [Line2D([], [], label=str(found.tensor.values[kind]),
                          **colours.line_of("tensor", str(found.tensor.values[kind]), place))
                   for place, kind in enumerate(kinds)]
        return finished(VALUES, "The singular values of each kind of matrix at the last measured step, in order.",
                        figure, dataset, handles, [note, "Means over layers."])
