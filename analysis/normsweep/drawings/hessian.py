"""The spectrum of the loss's Hessian: its density, its ends over the steps and by layer, the edge of stability."""

import numpy as np
from matplotlib.lines import Line2D

from ..plane import last
from ..words import several
from . import colours, look, runs, scales
from .colours import FIRST, LAST
from .drawing import finished
from .lines import lines_text, over_steps
from .states import ends, first_and_last

BINS = 40
DECADES = 3  # of eigenvalues on either side of 0 whose scale is logarithmic
MOST_PANELS = 6
DENSITY = {"linewidth": 1.1, "color": colours.COLOURS[0]}
STEPS = ({**DENSITY, "color": colours.COLOURS[1], "linestyle": "--"}, DENSITY)  # the first, the last
ENDS = {"layer_hessian_largest": {"color": colours.COLOURS[0], "marker": "o"},
        "layer_hessian_smallest": {"color": colours.COLOURS[1], "marker": "s"}}
EDGE = ("hessian_stability", "hessian_preconditioned")
BY_STEP = ("hessian_largest", "hessian_smallest", "hessian_trace")
BEYOND = 2  # eigenvalue over its bound at which its panel is cut
LABELS = {name: look.with_unit(words) for name, words in {
    "hessian_stability": "eigenvalue over\nits bound", "hessian_preconditioned": "largest eigenvalue\nof P⁻¹H",
    "hessian_largest": "largest eigenvalue\nof H", "hessian_smallest": "smallest eigenvalue\nof H",
    "hessian_trace": "trace of H"}.items()}


def density(dataset):
    """The quadrature at the first and the last step, averaged over probes and seeds."""
    if not runs.is_measured(dataset, "hessian_ritz", "step", "probe", "lanczos"):
        return None
    bins = Bins(counting(dataset, ["hessian_ritz"]).hessian_ritz)

    def draw(axes, part):
        places = ends(part.hessian_ritz) or ()
        for step, style in zip(places, STEPS):
            at = part.isel(step=step)
            axes.stairs(bins.shares(at.hessian_ritz, at.hessian_weight), bins.edges, baseline=None, **style)

    with look.style():
        handles = [Line2D([], [], label=f"{word} step", **style) for word, style in zip(("first", "last"), STEPS)]
        return sheet_of_densities(dataset, "hessian", ["hessian_ritz", "hessian_weight"], draw, bins, handles,
                                  "The spectral density of the loss's Hessian at the first and the last step at which "
                                  "it was measured.")


def layers(dataset):
    """The same of the block of each layer, at the last step."""
    if not runs.is_measured(dataset, "layer_hessian_ritz", "step", "layer", "probe", "lanczos"):
        return None
    bins = Bins(last(counting(dataset, ["layer_hessian_ritz"]).layer_hessian_ritz))
    count = dataset.sizes["layer"]
    of_layers = [colours.OTHER_AXIS(layer / max(count - 1, 1)) for layer in range(count)]

    def draw(axes, part):
        places = ends(part.layer_hessian_ritz)
        for layer, colour in enumerate(of_layers if places else ()):
            at = part.isel(step=places[1], layer=layer)
            shares = bins.shares(at.layer_hessian_ritz, at.layer_hessian_weight)
            axes.stairs(shares, bins.edges, baseline=None, linewidth=0.9, color=colour)

    with look.style():
        handles = [Line2D([], [], label=f"layer {dataset.layer.values[i]}", color=of_layers[i])
                   for i in runs.thinned(range(count), 8)]
        return sheet_of_densities(dataset, "hessian-layers", ["layer_hessian_ritz", "layer_hessian_weight"], draw,
                                  bins, handles, "The spectral density of each layer's block of the Hessian, at the "
                                  "last step at which it was measured.")


def nearness(values):
    """Where the scale of such values turns from linear to logarithmic."""
    return (np.abs(values).max() or 1) / 10 ** DECADES


class Bins:
    """Bins of equal width on the scale on which densities are drawn: linear around 0, logarithmic beyond."""

    def __init__(self, ritz):
        values = scales.finite([ritz.values])
        self.near = nearness(values)
        low, high = (self.place(value) for value in (values.min(), values.max()))
        margin = 0.02 * (high - low) + 1e-6
        self.edges = self.value(np.linspace(low - margin, high + margin, BINS + 1))

    def place(self, value):
        return np.arcsinh(value / self.near)

    def value(self, place):
        return self.near * np.sinh(place)

    def shares(self, ritz, weight):
        """The share of the eigenvalues in each bin, NaN where none was seen; the mean over what the arrays hold."""
        ritz, weight = (of.values.ravel() for of in (ritz, weight.transpose(*ritz.dims)))
        seen = np.isfinite(ritz) & np.isfinite(weight)
        found = np.histogram(ritz[seen], self.edges, weights=weight[seen])[0]
        return np.where(found > 0, found / (weight[seen].sum() or 1), np.nan)


def sheet_of_densities(dataset, name, variables, draw, bins, handles, caption):
    """One panel for each combination, drawn by draw(axes, part), with the scales of densities; None if all weights are
    0."""
    if not bool((dataset[variables[1]] > 0).any()):
        return None
    figure, panels, note = panels_of_means(dataset, variables, draw, look.with_unit("eigenvalue"),
                                           f"share of eigenvalues\n{look.with_unit('per bin')}")
    panels[0].set_yscale("log")  # the panels share their axes
    panels[0].set_xscale("asinh", linear_width=bins.near)
    over = ["probe"] if dataset.sizes["probe"] > 1 else []
    return finished(name, f"{caption} Bins without a Ritz value are empty.", figure, dataset, handles,
                    [note, mean_note(dataset, variables[0], over)])


def counting(dataset, variables):
    """These variables, with NaN in the runs in which the first of them is not measured (runs.measured)."""
    return dataset[variables].where(runs.measured(dataset, variables[0]))


def panels_of_means(dataset, variables, draw, x, y):
    """One panel for each of a few combinations of axes other than the seed, drawn by draw(axes, part), where part has
    the variables of the runs that are measured. Returns (figure, panels, note on combinations left out)."""
    others = runs.others_of(dataset)
    parts = counting(dataset, variables)
    every = [at for at in runs.combinations(dataset, others) if runs.is_measured(parts.isel(at), variables[0])]
    kept = runs.thinned(every, look.most_panels(MOST_PANELS, 2))
    figure, panels = look.sheet(*look.crowd(len(kept)), height=1.6 if len(kept) > 1 else 2.4, sharex=True, sharey=True)
    for axes, at in zip(panels.ravel(), kept):
        draw(axes, parts.isel(at))
        look.grid(axes)
        axes.set_title(look.title(runs.text(dataset, at), look.crowd(len(kept))[1]))
    look.name_axes(panels, len(kept), x, y)
    look.clear_rest(panels, len(kept))
    return figure, panels.ravel()[:len(kept)], runs.left_out(dataset, kept, every)


def mean_note(dataset, variable, over=()):
    """What a panel averages, and over how many runs."""
    mask = runs.measured(dataset, variable)
    seeds = mask.sum(runs.REPEAT) if runs.REPEAT in runs.axes_of(dataset) else mask * 1
    most, least = int(seeds.max()), int(seeds.where(seeds > 0).min())
    kinds = [*over, runs.REPEAT] if most > 1 else list(over)
    count = f"{most} runs" if least == most else f"{least} to {most} runs"
    mean = f" Mean over {runs.plurals(kinds)}{f', {count} a panel' if most > 1 else ''}." if kinds else ""
    return runs.counted(dataset, variable) + mean


def layer_ends(dataset):
    """The largest and the smallest eigenvalue of each layer's block, at the first (open) and the last (filled) step."""
    names = [name for name in ENDS if runs.is_measured(dataset, name, "step", "layer")]
    if not names:
        return None

    def draw(axes, part):
        for name in names:
            values = part[name].mean([dim for dim in part[name].dims if dim in dataset.sweep.axes])
            for step, style in zip(ends(values) or (), (FIRST, LAST)):
                axes.plot(dataset.layer.values, values.isel(step=step).values, **{**style, **ENDS[name]})

    with look.style():
        figure, panels, note = panels_of_means(dataset, names, draw, look.label(dataset.layer),
                                               look.with_unit("eigenvalue of the block"))
        values = scales.finite([line.get_ydata() for axes in panels for line in axes.lines])
        near = nearness(values)
        panels[0].set_yscale("asinh", linear_width=near)
        for axes in panels:
            look.reference_line(axes, 0)
        words = [name.removeprefix("layer_hessian_") + " eigenvalue" for name in names]
        handles = [Line2D([], [], label=word, linestyle="none", **ENDS[name]) for word, name in zip(words, names)]
        return finished("hessian-ends", "The largest and the smallest eigenvalue of each layer's block of the Hessian, "
                        "at the first and the last step at which it was measured.", figure, dataset,
                        handles + first_and_last(), [note, mean_note(dataset, names[0])])


def edge(dataset):
    """The largest eigenvalue over its bound, and the eigenvalue itself, over the steps."""
    return over_steps(dataset, "hessian-edge", EDGE, "The largest eigenvalue over its bound, 1 at the edge of "
                      "stability, and the eigenvalue itself.", decorate=Edge(dataset), labels=LABELS)


class Edge:
    """Draws the edge into a panel of ratios, and cuts it unless most ratios are far beyond; says what is not shown."""

    def __init__(self, dataset):
        self.dataset = dataset
        values = scales.finite([dataset.hessian_stability.values]) if "hessian_stability" in dataset else []
        self.is_cut = len(values) and np.median(values) < BEYOND
        self.beyond = 0

    def __call__(self, axes, variable, _runs):
        if variable != "hessian_stability":
            if (scales.finite([line.get_ydata() for line in axes.lines]) > 0).all():
                axes.set_yscale("log")
            return
        if self.is_cut:
            self.beyond += sum(bool((line.get_ydata() > BEYOND).any()) for line in axes.lines)
            axes.set_yscale("linear")
            axes.set_ylim(0, BEYOND)
        look.reference_line(axes, 1)

    def notes(self):
        cut = f"The ratio is cut at {BEYOND}; {lines_text(self.beyond)} beyond." if self.beyond else ""
        return [cut, self.without_bound()]

    def without_bound(self):
        """A note on the runs whose optimiser has no bound; "" if there are none."""
        lost = self.dataset.sweep.done & ~sum(
            runs.has_number(self.dataset, name) for name in EDGE if name in self.dataset).astype(bool)
        count = int(lost.sum())
        if not count:
            return ""
        words = self.dataset["optimiser"].broadcast_like(lost).where(lost, "") if "optimiser" in self.dataset else None
        named = dict.fromkeys(str(word) for word in np.ravel(words.values) if word) if words is not None else ()
        of = f" of {', '.join(map(look.plain, named))}" if named else ""
        return f"Left out: {several(count, 'run')}{of}, whose optimiser has no known bound."


def steps(dataset):
    """The ends of the spectrum and the trace over the steps."""
    return over_steps(dataset, "hessian-steps", BY_STEP, "The ends of the Hessian's spectrum, and its trace. With few "
                      "Lanczos steps the end nearer to 0 is not resolved.", labels=LABELS)
