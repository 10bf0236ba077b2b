"""What norms are made of: decay, injection, chance and pull over the steps, by tensor, along the boundary of growth,
and which of those that feed the norm is the largest over the plane."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ..boundary import crossings, rule
from ..forces import CHANCE, FORCES, PULL, SIZE, SUM
from ..names import NATURE
from ..plane import phase_axes
from ..words import several
from . import cells, colours, look, phase, runs
from .drawing import finished

LOOKS = {  # of an area, a bar or a line
    "decay": {"facecolor": colours.COLOURS[3]}, "injection": {"facecolor": colours.COLOURS[0]},
    "chance": {"facecolor": "white", "edgecolor": colours.COLOURS[2], "hatch": "//////"},
    "pull": {"facecolor": colours.COLOURS[1]}}
MEANING = {"decay": "decay", "injection": "injection: steps across θ", "chance": "chance: momentum on white noise",
           "pull": "pull: what gradients do along θ"}
WITH_CHANCE = "pull and chance together"
UNKNOWN = "forces are not known with adam and weight decay, of matrices under a norm_rule, and of bfloat16 weights"
WHOLE = {"color": "black", "linewidth": 1.2}
CHANGE = look.with_unit("added to $|\\theta|^2$, over $|\\theta_0|^2$")
DASHES = {"decay": ":", "injection": "-.", "chance": "--", "pull": "-"}
MOST_PANELS = 6
MOST_NAMES = 12  # of tensors, below one of two panels beside each other
LEAST_SHARE = 0.05  # of the largest force, of a kind of tensor that is shown
LARGEST = "largest_force"
FEEDING = FORCES[1:]
NONE, NO_FORCE = 3, -1  # the flags of a run that nothing feeds, and of one whose forces are not known


def colour_of(force):
    return LOOKS[force].get("edgecolor", LOOKS[force]["facecolor"])


def has_norms(dataset):
    return SIZE in dataset


def measured(dataset):
    return has_norms(dataset) and runs.is_measured(dataset, SUM, "step", "tensor", "force")


def why_none(dataset):
    """Why a sweep has no forces although it measured them; "" if it has some."""
    was_measured = SUM in dataset and SIZE in dataset and bool(dataset[SIZE].isel(step=slice(1, None)).notnull().any())
    return UNKNOWN if was_measured and not measured(dataset) else ""


def unknown_notes(dataset, found):
    """Sentences on runs and tensors without forces, or without chance, of what `forces` has found."""
    others = [dim for dim in found.dims if dim not in dataset.sweep.axes]
    known = np.isfinite(found.sel(force="decay", drop=True)).any([dim for dim in others if dim != "force"])
    trained = dataset[SIZE].isel(step=slice(1, None)).notnull()
    trained = trained.any([dim for dim in trained.dims if dim not in dataset.sweep.axes])
    lost = int((trained & ~known).sum())
    blind = np.isfinite(found.sel(force=PULL, drop=True)) & np.isnan(found.sel(force=CHANCE, drop=True))
    if "tensor" in found.dims and blind.any():
        kinds = blind.any([dim for dim in blind.dims if dim != "tensor"])
        where = f"Of {', '.join(map(str, kinds.tensor.values[kinds.values]))}"
    else:
        where = "Of some runs"
    only = np.isnan(found.sel(force=CHANCE)).all()  # the legend says so
    return [f"No forces of {lost} of {several(int(trained.sum()), 'run')}: {UNKNOWN}." if lost else "",
            f"{where} chance is not known: {WITH_CHANCE}." if blind.any() and not only else ""]


def counted(dataset, found):
    """How many runs that are done have the forces that are found."""
    count = int((np.isfinite(found.sel(force="decay")) & dataset.sweep.done).sum())
    return f"{runs.count_text(count, count)}."


def panels_of(dataset, draw, x, is_wide=False):
    """A panel for each representative run, each with a scale of its own, as they differ by orders of magnitude; fewer
    below each other if they are wide."""
    most = look.most_rows(MOST_PANELS // 2, 1) if is_wide else look.most_panels(MOST_PANELS, 2)
    chosen, note = runs.representatives(dataset, SUM, most)
    shape = (len(chosen), 1) if is_wide else look.crowd(len(chosen))
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
    names = MEANING if CHANCE in there else {**MEANING, PULL: WITH_CHANCE}
    return [Patch(label=names[force], linewidth=0.5, **LOOKS[force]) for force in there] + [
        Line2D([], [], label=whole, **WHOLE)] * look.shows("sum")


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
        if look.shows("sum"):
            axes.plot(step, values.sum("force", skipna=True), **WHOLE)

    with look.style():
        figure, note = panels_of(dataset, draw, look.label(dataset.step))
        return finished("forces", "What each force has added to the square of the parameters' norm since the start; "
                        "those that add are above 0, those that take away below.", figure, dataset,
                        handles_of(found, "their sum, the change of $|\\theta|^2$"),
                        [note, *unknown_notes(dataset, found)])


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
        if look.shows("sum"):
            axes.hlines(values.sum("force", skipna=True), places - 0.42, places + 0.42, zorder=3, **WHOLE)
        axes.set_xticks(places, values.tensor.values, rotation=90)
        axes.use_sticky_edges = False  # bars end within the frame
        axes.margins(x=0.02, y=0.08)

    with look.style():
        is_wide = found.sizes["tensor"] * look.em(look.WIDTH) > MOST_NAMES * look.sheet_size()[0]
        figure, note = panels_of(dataset, draw, "kind of tensor", is_wide)
        return finished("forces-by-tensor", "What each force has added to the squares of the norms of each kind of "
                        "tensor in the whole run, layers together.", figure, dataset,
                        handles_of(found, "their sum"),
                        [note, few if (shares < LEAST_SHARE).any() else "", *unknown_notes(dataset, found)])


def along_boundary(dataset):
    """Shares of what decay takes away at the weight decay at which growth stops, where the others sum to 1."""
    if not measured(dataset) or not runs.is_measured(dataset, "norm_growth") or not rule(dataset).stops:
        return None
    if tuple(cells.plane_of(dataset)) != phase_axes(dataset):
        return None
    shares = dataset.sweep.forces_at_boundary().compute()
    others = runs.others_of(dataset, *phase_axes(dataset))
    combinations = [at for at in runs.combinations(dataset, others) if np.isfinite(shares.isel(at)).any()]
    shown = runs.thinned_along(combinations, look.most_panels(MOST_PANELS, 2))
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
        names = MEANING if CHANCE in drawn else {**MEANING, PULL: WITH_CHANCE}
        handles = [Line2D([], [], label=names[force], **line_of(force)) for force in LOOKS if force in drawn]
        repeated = dataset.sizes.get(runs.REPEAT, 1) > 1
        bars = "; bars are the range over them" * look.shows("range")
        notes = [counted(dataset, dataset.sweep.forces()),
                 "They sum to 1, what decay takes away, where the norm of these layers stops growing.",
                 f"Means over seeds{bars}." if repeated else "",
                 runs.left_out(dataset, shown, combinations), *unknown_notes(dataset, dataset.sweep.forces())]
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
        if others and look.shows("range"):
            ends = [middle - values.min(others).values, values.max(others).values - middle]
            axes.errorbar(rates, middle, ends, color=colour_of(force), linestyle="none", capsize=2, linewidth=0.8)
    axes.set_xscale("log")
    look.reference_line(axes, 0)
    look.grid(axes)
    return drawn


def largest(dataset):
    """The plane, coloured by the force that has added most to |theta|^2 in the whole run."""
    if not measured(dataset) or not runs.axes_of(dataset):
        return None
    found = dataset.sweep.forces().compute()
    feeding = found.sel(force=list(FEEDING)).fillna(-np.inf)
    codes = feeding.argmax("force").where(feeding.max("force") > 0, NONE)
    codes = codes.where(np.isfinite(found.sel(force="decay", drop=True)), NO_FORCE)
    variable = codes.astype("i1").drop_vars("force", errors="ignore").rename(LARGEST).assign_attrs(
        long_name="largest force that adds", flag_values=np.arange(NONE + 1, dtype="i1"),
        flag_meanings=" ".join([*FEEDING, "none"]), **{NATURE: dataset[SUM].attrs.get(NATURE, "")})
    notes = unknown_notes(dataset, found)
    growth = np.sqrt((1 + found.sum("force")).clip(0))  # that of a stack, where a stack is drawn
    dataset = dataset.assign({LARGEST: variable, "norm_growth": growth.where(codes != NO_FORCE)})
    caption = "Which force has added most to the square of the parameters' norm in the whole run."
    plane = cells.plane_of(dataset)
    if len(plane) < 2:
        return cells.over_plane(dataset, "forces-plane", [LARGEST], caption, note=" ".join(filter(None, notes)))
    known = codes != NO_FORCE
    combinations = [at for at in runs.combinations(dataset, runs.others_of(dataset, *plane)) if known.isel(at).any()]
    shown = runs.thinned_along(combinations, look.most_panels(phase.MOST_PANELS))
    if not shown:
        return None
    with look.style():
        shape = look.crowd(len(shown))
        figure, panels = look.sheet(*shape, height=2.9 if len(shown) == 1 else 1.8, sharex=True, sharey=True)
        legend = {}
        for axes, at in zip(panels.ravel(), shown):
            for handle in draw_largest(axes, runs.part(dataset, at), plane):
                legend.setdefault(handle.get_label(), handle)
            axes.set_title(look.title(runs.text(dataset, at), shape[1]))
        cells.name_axes(panels, len(shown), dataset, plane)
        look.clear_rest(panels, len(shown))
        notes = [counted(dataset, found), cells.reduction_note(dataset, [LARGEST]),
                 runs.left_out(dataset, shown, combinations), *notes]
        return finished("forces-plane", caption, figure, dataset, legend.values(), notes)


def draw_largest(axes, part, plane):
    """Draws one plane, and the boundary of growth. A cell that was not trained, as a search leaves out most, is pale,
    in the colour of the nearest run of its column. Returns handles for a legend."""
    values = cells.map_of(part, LARGEST, plane)
    normaliser, palette, _, _ = cells.colouring(part[LARGEST], [values])
    is_blank = values.isnull() & cells.stands(part, plane)["skipped"]
    nearest = values.copy(data=np.stack([nearest_known(column) for column in values.values.T], 1)).where(is_blank)
    marks = cells.draw_map(axes, part, values, plane, normaliser, palette, nearest.notnull())
    x, y = (cells.scale(values[axis]) for axis in plane)
    axes.pcolormesh(x.edges, y.edges, nearest, cmap=palette, norm=normaliser, alpha=cells.PALE)
    words = [word for word, code in cells.flags(part[LARGEST]).items() if (values == code).any()]
    shades = dict(zip(cells.flags(part[LARGEST]), palette.colors))
    meaning = {**MEANING, "none": "nothing adds"}
    yield from (Patch(facecolor=shades[word], edgecolor="0.5", linewidth=0.5, label=meaning[word]) for word in words)
    if nearest.notnull().any():
        yield Patch(facecolor="0.8", edgecolor="0.5", linewidth=0.5, label="pale: not trained, as the nearest run")
    if tuple(plane) == phase_axes(part) and rule(part).stops and look.shows("boundary"):
        each = np.log10(crossings(part).each).sortby(plane[0])
        middle = each.mean([dim for dim in each.dims if dim != plane[0]]).values
        if np.isfinite(middle).any() and x.is_log and y.is_log:
            axes.plot(x.centres, middle, **phase.BOUNDARY)
            yield Line2D([], [], label="no growth", **phase.BOUNDARY)
    yield from cells.mark_handles(marks)


def nearest_known(column):
    """Each number that is not NaN, and in place of the others the nearest one of these."""
    known = np.flatnonzero(np.isfinite(column))
    if not len(known):
        return column
    return column[known[np.abs(np.arange(len(column))[:, np.newaxis] - known).argmin(1)]]
