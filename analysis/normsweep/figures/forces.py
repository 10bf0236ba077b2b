"""What norms are made of: decay, injection, chance and pull over the steps, by tensor, along the boundary of growth,
and which of them is the largest over the plane."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ..boundary import GROWTH, crossings, rule
from ..forces import SIZE, SUM
from ..names import NATURE
from . import cells, colours, look, runs
from .drawing import finished

LOOKS = {  # of an area, a bar or a line
    "decay": {"facecolor": colours.COLOURS[3]}, "injection": {"facecolor": colours.COLOURS[0]},
    "chance": {"facecolor": "white", "edgecolor": colours.COLOURS[2], "hatch": "//////"},
    "pull": {"facecolor": colours.COLOURS[1]}}
MEANING = {"decay": "decay", "injection": "injection: steps across θ", "chance": "chance: momentum on white noise",
           "pull": "pull: what gradients do along θ"}
WITH_CHANCE = "pull, with what is by chance"
WHOLE = {"color": "black", "linewidth": 1.2}
CHANGE = look.with_unit("added to $|\\theta|^2$, over $|\\theta_0|^2$")
DASHES = {"decay": ":", "injection": "-.", "chance": "--", "pull": "-"}
MOST_PANELS = 6
LEAST_SHARE = 0.02  # of the largest force, of a kind of tensor that is shown
LARGEST = "largest_force"
NO_FORCE = 4  # the flag of a run whose forces are not known


def colour_of(force):
    return LOOKS[force].get("edgecolor", LOOKS[force]["facecolor"])


def has_norms(dataset):
    return SIZE in dataset


def measured(dataset):
    return has_norms(dataset) and runs.is_measured(dataset, SUM, "step", "tensor", "force")


def panels_of(dataset, draw, x):
    """A panel for each representative run, each with a scale of its own, as they differ by orders of magnitude."""
    chosen, note = runs.representatives(dataset, SUM)
    shape = look.crowd(len(chosen))
    figure, panels = look.sheet(*shape, height=1.8 if len(chosen) > 1 else 2.6)
    titles, common = runs.titles(dataset, chosen)
    for axes, run, title in zip(panels.ravel(), chosen, titles):
        draw(axes, run)
        axes.set_title(look.title(title, shape[1], is_labelled=True))
        look.reference_line(axes, 0)
    look.name_axes(panels, len(chosen), x, CHANGE)
    look.clear_rest(panels, len(chosen))
    return figure, f"{note} {common}".strip()


def handles_of(found, whole):
    """Of a legend; chance is missing where it is not known."""
    there = [force for force in LOOKS if np.isfinite(found.sel(force=force)).any()]
    names = MEANING if "chance" in there else {**MEANING, "pull": WITH_CHANCE}
    return [Patch(label=names[force], linewidth=0.5, **LOOKS[force]) for force in there] + [
        Line2D([], [], label=whole, **WHOLE)]


def both_sides(values):
    """[force, n] -> where areas or bars of each force begin and end: those above 0 on one another, and those below."""
    values = np.nan_to_num(values)
    ends = np.where(values > 0, np.cumsum(np.clip(values, 0, None), 0), np.cumsum(np.clip(values, None, 0), 0))
    return ends - values, ends


def over_steps(dataset):
    if not measured(dataset):
        return None
    found = dataset.sweep.forces(by="step").compute()

    def draw(axes, run):
        values = found.isel(run).transpose("force", "step").sel(force=list(LOOKS))
        values = values.isel(step=np.flatnonzero(np.isfinite(values.sel(force="decay"))))
        above, below = (np.cumsum(np.clip(np.nan_to_num(values.values), *ends), 0) for ends in ((0, None), (None, 0)))
        step = values.step.values
        for i, force in enumerate(LOOKS):
            for edge in (above, below):
                axes.fill_between(step, edge[i - 1] if i else 0 * edge[0], edge[i], linewidth=0, **LOOKS[force])
        axes.plot(step, values.sum("force", skipna=True), **WHOLE)

    with look.style():
        figure, note = panels_of(dataset, draw, look.label(dataset.step))
        return finished("forces", "What each force has added to the square of the parameters' norm since the start; "
                        "those that add are above 0, those that take away below.", figure, dataset,
                        handles_of(found, "their sum, the change of $|\\theta|^2$"), [note])


def by_tensor(dataset):
    if not measured(dataset):
        return None
    found = dataset.sweep.forces(by="tensor").compute()
    moved = abs(found).max("force")
    shares = (moved / moved.max("tensor")).max([dim for dim in moved.dims if dim != "tensor"])
    found = found.isel(tensor=np.flatnonzero(shares >= LEAST_SHARE))
    few = f"Kinds of tensors with less than {100 * LEAST_SHARE:g} % of the largest one in all runs are left out."

    def draw(axes, run):
        values = found.isel(run).transpose("force", "tensor").sel(force=list(LOOKS))
        places = np.arange(values.sizes["tensor"])
        begin, end = both_sides(values.values)
        for i, force in enumerate(LOOKS):
            axes.bar(places, end[i] - begin[i], 0.7, begin[i], linewidth=0, **LOOKS[force])
        axes.hlines(values.sum("force", skipna=True), places - 0.42, places + 0.42, zorder=3, **WHOLE)
        axes.set_xticks(places, values.tensor.values, rotation=90)

    with look.style():
        figure, note = panels_of(dataset, draw, "kind of tensor")
        return finished("forces-by-tensor", "What each force has added to the squares of the norms of each kind of "
                        "tensor in the whole run, layers together.", figure, dataset,
                        handles_of(found, "their sum"), [note, few if (shares < LEAST_SHARE).any() else ""])


def along_boundary(dataset):
    """Shares of what decay takes away at the weight decay at which growth stops, where the others sum to 1."""
    if not measured(dataset) or not runs.is_measured(dataset, "norm_growth") or rule(dataset) != GROWTH:
        return None
    if tuple(cells.plane_of(dataset)) != runs.PHASE_AXES:
        return None
    shares = dataset.sweep.forces_at_boundary().compute()
    others = runs.others_of(dataset, *runs.PHASE_AXES)
    combinations = [at for at in runs.combinations(dataset, others) if np.isfinite(shares.isel(at)).any()]
    shown = runs.thinned_along(combinations, MOST_PANELS)
    if not shown:
        return None
    with look.style():
        shape = look.crowd(len(shown))
        figure, panels = look.sheet(*shape, height=1.8 if len(shown) > 1 else 2.6, sharex=True, sharey=True)
        drawn = set()
        for axes, at in zip(panels.ravel(), shown):
            drawn |= draw_shares(axes, shares.isel(at).sortby("learning_rate"))
            axes.set_title(look.title(runs.text(dataset, at), shape[1]))
        look.name_axes(panels, len(shown), look.label(dataset.learning_rate), look.with_unit("share of decay"))
        look.clear_rest(panels, len(shown))
        names = MEANING if "chance" in drawn else {**MEANING, "pull": WITH_CHANCE}
        handles = [Line2D([], [], label=names[force], **line_of(force)) for force in LOOKS if force in drawn]
        repeated = dataset.sizes.get(runs.REPEAT, 1) > 1
        notes = [runs.counted(dataset, "norm_growth"),
                 "The three sum to 1, what decay takes away, where growth stops.",
                 "Means over seeds; bars are the range over them." if repeated else "",
                 runs.left_out(dataset, shown, combinations)]
        return finished("forces-boundary", "What adds to the square of the norm along the boundary of growth, as a "
                        "share of what decay takes away in the whole run.", figure, dataset, handles, notes)


def line_of(force):
    return {"color": colour_of(force), "linestyle": DASHES[force], "marker": "o", "markersize": 3}


def draw_shares(axes, shares):
    """Draws a line for each force that is known; returns these."""
    others = [dim for dim in shares.dims if dim not in ("learning_rate", "force")]
    rates, drawn = shares.learning_rate.values, set()
    for force in shares.force.values:
        values = shares.sel(force=force)
        middle = values.mean(others).values
        if not np.isfinite(middle).any():
            continue
        drawn.add(force)
        axes.plot(rates, middle, **line_of(force))
        if others:
            ends = [middle - values.min(others).values, values.max(others).values - middle]
            axes.errorbar(rates, middle, ends, color=colour_of(force), linestyle="none", capsize=2, linewidth=0.8)
    axes.set_xscale("log")
    look.reference_line(axes, 0)
    look.grid(axes)
    return drawn


def largest(dataset):
    """The plane, coloured by the force that has moved |theta|^2 most in the whole run."""
    if not measured(dataset) or not runs.axes_of(dataset):
        return None
    found = dataset.sweep.forces().compute()
    sizes = abs(found).fillna(-1)
    codes = sizes.argmax("force").where(np.isfinite(found.sel(force="decay", drop=True)), NO_FORCE)
    words = [str(word) for word in found.force.values]
    variable = codes.astype("i1").drop_vars("force", errors="ignore").rename(LARGEST).assign_attrs(
        long_name="largest force", flag_values=np.arange(len(words) + 1, dtype="i1"),
        flag_meanings=" ".join([*words, "none"]), **{NATURE: dataset[SUM].attrs.get(NATURE, "")})
    return cells.over_plane(dataset.assign({LARGEST: variable}), "forces-plane", [LARGEST],
                            "Which force has moved the square of the parameters' norm most in the whole run, whether "
                            "it added or took away.")
