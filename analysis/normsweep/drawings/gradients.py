"""Gradients of untrained networks: along the layers, and in the last layer over the number of layers."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from ..gradients import PLACE, error_of_mean, gradient_slopes
from . import colours, look, runs, scales
from .colours import THEORY
from .drawing import finished

TENSOR = "w2"  # the theory's
ROWS = 4  # panels below each other
NAMED = 10  # numbers of layers with a line in the legend
DOTTED = 30  # layers of a line with a dot for each
BELOW = 0.6  # room for the theory below the norms, as a share of their range
DEPTH = "layers"


def is_there(dataset):
    return (runs.is_measured(dataset, "mean_gradient_norm", "step", "layer", "tensor")
            and TENSOR in dataset.tensor.values)


def without_single(dataset):
    """The dataset without axes of a single value."""
    return dataset.squeeze([axis for axis in dataset.sweep.axes if dataset.sizes[axis] == 1])


def fresh(dataset):
    """The part at step 0 for one kind of tensor."""
    return without_single(dataset).isel(step=0, tensor=int(np.flatnonzero(dataset.tensor.values == TENSOR)[0]))


def geometric(values, along):
    """The geometric mean over the repeats that have a value above 0."""
    positive = values.where((values > 0) & np.isfinite(values))
    return np.exp(np.log(positive).mean([dim for dim in along if dim in values.dims]))


# ---- along the layers ----

def by_layer(dataset):
    """One row of panels for each combination of the other axes, one column for each place of the norm, one line for
    each number of layers."""
    if not is_there(dataset):
        return None
    with look.style():
        combinations = list(runs.combinations(dataset, runs.others_of(dataset, DEPTH, PLACE)))
        columns = list(runs.combinations(dataset, [axis for axis in (PLACE,) if axis in runs.axes_of(dataset)]))
        rows = runs.thinned_along(combinations, look.most_rows(ROWS, len(columns)))
        figure, panels = look.sheet(len(rows), len(columns), height=1.6 if len(rows) > 1 else 2.3, sharex=True,
                                    sharey="row")
        looks = depth_looks(dataset)
        drawn = [draw_layers(panels[i, j], fresh(dataset).isel(row | column), looks, runs.text(dataset, column))
                 for i, row in enumerate(rows) for j, column in enumerate(columns)]
        for shared in panels:
            limit(shared)
        for axes, side in zip(panels[:, 0], look.side_titles([runs.text(dataset, row) for row in rows], 1.5)):
            axes.set_ylabel(f"{side}\n{look.with_unit('gradient norm')}".strip())
        look.name_axes(panels, panels.size, look.with_unit("layers before the last"))
        handles = depth_handles(dataset, figure, panels, looks)
        handles += [Line2D([], [], label="theory", **THEORY)] * any(drawn)
        notes = [runs.counted(dataset, "mean_gradient_norm"), runs.left_out(dataset, rows, combinations),
                 of_seeds(dataset, "Lines: geometric mean over seeds."),
                 "b: slope of ln norm per layer towards the output, its mean over numbers of layers."]
        return finished("gradients", f"The norm of the averaged gradient of {TENSOR} in each layer, before training.",
                        figure, dataset, handles, notes)


def depth_looks(dataset):
    """The style of each number of layers, {layers: style}."""
    depths = np.sort(np.unique(dataset[DEPTH].values)) if DEPTH in dataset.coords else [dataset.attrs.get(DEPTH, 0)]
    if len(depths) == 1:
        return {int(depths[0]): {"color": colours.colour(0)}}
    return {int(depth): {"color": colours.OTHER_AXIS(i / (len(depths) - 1))} for i, depth in enumerate(depths)}


def depth_handles(dataset, figure, panels, looks):
    """Legend handles, for the ends and some between them if there are many."""
    if len(looks) < 2:
        return []
    shown = runs.thinned(list(looks.items()), NAMED)
    return [Line2D([], [], label=f"{depth} layers", **style, **dots(depth)) for depth, style in shown]


def dots(depth):
    return {"marker": "." if depth <= DOTTED else "", "markersize": 3}


def draw_layers(axes, part, looks, place):
    """Draws one panel; True if there is a theory."""
    norms = geometric(part.mean_gradient_norm, [runs.REPEAT])
    flat = norms.expand_dims(DEPTH) if DEPTH not in norms.dims else norms
    for i in np.argsort(flat[DEPTH].values) if DEPTH in flat.coords else range(flat.sizes[DEPTH]):
        line = flat.isel({DEPTH: i}).transpose("layer").values
        seen = np.flatnonzero(np.isfinite(line))
        depth = int(flat[DEPTH].values[i]) if DEPTH in flat.coords else flat.sizes["layer"]
        axes.plot(seen.max(initial=0) - seen, line[seen], **dots(depth),
                  **looks.get(depth, {"color": colours.COLOURS[0]}))
    look.grid(axes)
    if not axes.xaxis_inverted():
        axes.invert_xaxis()
    axes.set_yscale("log")
    axes.set_title("\n".join(filter(None, [place, slope_text(part)])))
    return draw_theory(axes, part, flat)


def limit(panels):
    """Sets the shared limits of a row: all norms, and some of a theory that leads far below them."""
    lines = [line for axes in panels for line in axes.lines]
    logs = np.log(scales.finite([line.get_ydata() for line in lines if line.get_linestyle() == "-"]))
    if not len(logs):
        panels[0].set_yscale("linear")  # a logarithmic one warns if it has nothing to show
        return
    size = (logs.max() - logs.min()) or 1
    low = max(logs.min() - BELOW * size, np.log(scales.finite([line.get_ydata() for line in lines]).min()))
    panels[0].set_ylim(np.exp(low - 0.08 * size), np.exp(logs.max() + 0.08 * size))


def slope_text(part):
    """b with its standard error over the seeds."""
    each = part.gradient_depth_slope
    each = each.mean([dim for dim in each.dims if dim != runs.REPEAT])
    along = [runs.REPEAT] if runs.REPEAT in each.dims else []
    mean, error = float(each.mean(along)), float(error_of_mean(each, along)) if along else np.nan
    if not np.isfinite(mean):
        return ""
    size = f"{error:.3f}" if error >= 0.0005 else f"{error:.0e}"
    return f"b = {signed(mean, 3)}" + (f" ± {size}" if np.isfinite(error) else "")


def signed(value, digits):
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def draw_theory(axes, part, norms):
    """The line of the theory through the mean of the last layers; False if it says nothing."""
    theory = scales.finite([part.gradient_depth_slope_theory.values])
    ends = [line.get_ydata()[-1] for line in axes.lines if len(line.get_ydata())]
    if not len(theory) or not ends or not look.shows("theory"):
        return False
    x = np.array([0, norms.sizes["layer"] - 1])
    axes.plot(x, np.exp(np.mean(np.log(ends)) - theory[0] * x), **THEORY)
    return True


# ---- the last layer over the number of layers ----

def last(dataset):
    """One panel for each combination of the other axes, one line for each place of the norm."""
    if not is_there(dataset) or DEPTH not in runs.axes_of(dataset):
        return None
    with look.style():
        combinations = list(runs.combinations(dataset, runs.others_of(dataset, DEPTH, PLACE)))
        shown = runs.thinned_along(combinations, look.most_panels(6, 2))
        places = list(runs.combinations(dataset, [axis for axis in (PLACE,) if axis in runs.axes_of(dataset)]))
        figure, panels = look.sheet(*look.crowd(len(shown)), height=2.4, sharex=True, sharey=True)
        found, theory = gradient_slopes(without_single(dataset), TENSOR), False
        has_room = look.panel_width(look.crowd(len(shown))[1]) > look.em(1.4)  # for errors in the legend of a panel
        for axes, at in zip(panels.ravel(), shown):
            for i, place in enumerate(places):
                colour = colours.place(PLACE, str(dataset[PLACE].values[place[PLACE]]), i) if place else 0
                style = {key: value for key, value in colours.marked(colour).items() if key != "linestyle"}
                name = runs.text(dataset, place) or TENSOR
                theory = draw_last(axes, found.isel(at | place), style, name, has_room) or theory
            dress_last(axes, dataset, look.title(runs.text(dataset, at), look.crowd(len(shown))[1]))
        handles = [Line2D([], [], label="theory", **THEORY)] * theory
        look.name_axes(panels, len(shown), look.with_unit("number of layers"),
                       look.with_unit("gradient norm in the last layer"))
        look.clear_rest(panels, len(shown))
        notes = [runs.counted(dataset, "mean_gradient_norm"), runs.left_out(dataset, shown, combinations),
                 of_seeds(dataset, "Points: geometric mean over seeds, with its standard error."),
                 f"Numbers: the exponent of the number of layers{', and its standard error' if has_room else ''}."]
        return finished("gradients-last", f"The norm of the averaged gradient of {TENSOR} in the last layer, before "
                        "training, over the number of layers.", figure, dataset, handles, notes)


def draw_last(axes, found, style, name, has_room):
    """Draws the points of one place of the norm, and the theory's line through their middle; True if there is one."""
    found = found.sortby(DEPTH)
    found = found.isel({DEPTH: np.flatnonzero(np.isfinite(found["last"].values))})
    if not found.sizes[DEPTH]:
        return False
    depths, norms = found[DEPTH].values.astype(float), found["last"].values
    errors = np.nan_to_num(found.last_error.values)
    label = f"{name}: {signed(found.slope.item(), 2)}" if np.isfinite(found.slope) else name
    if np.isfinite(found.slope_error) and has_room:
        label += f" ± {found.slope_error.item():.2f}"
    axes.errorbar(depths, norms, norms * errors, linewidth=1.1, capsize=2, label=label, **style)
    if not np.isfinite(found.theory) or not look.shows("theory"):
        return False
    logs = np.log(norms)
    axes.plot(depths, np.exp(logs.mean() + found.theory.item() * (np.log(depths) - np.log(depths).mean())), **THEORY)
    return True


def dress_last(axes, dataset, title):
    axes.set_title(title)
    axes.set_xscale("log")
    if len(scales.finite([line.get_ydata() for line in axes.lines])):
        axes.set_yscale("log")
    axes.margins(y=0.1)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="best", handlelength=1.6)
    shown = apart(np.sort(dataset[DEPTH].values)[::-1])
    axes.set_xticks(shown, [scales.number(depth) for depth in shown])
    axes.xaxis.set_minor_locator(NullLocator())
    look.grid(axes)


def apart(depths, least=0.13):
    """The descending numbers of layers whose labels have room on a logarithmic axis, from the largest on."""
    shown = [depths[0]]
    for depth in depths[1:]:
        if np.log(shown[-1] / depth) >= least * np.log(depths[0] / depths[-1]):
            shown.append(depth)
    return shown


def of_seeds(dataset, text):
    return text if runs.REPEAT in runs.axes_of(dataset) else ""
