"""Lyapunov exponents as spectra, and where exponents vanish in the plane of a sweep."""

import numpy as np
from matplotlib.lines import Line2D

from ..names import NATURE
from . import cells, colours, look, runs, scales
from .colours import DEFAULT, FIRST, LAST
from .drawing import finished, run_panels
from .states import ends, first_and_last

KINDS = ("lyapunov", "lyapunov_angular")
MOST_PANELS = 12
LINES = ("black", colours.COLOURS[1])
LOWEST = DEFAULT


def spectra(dataset):
    """The exponents in their order, at the first (open) and the last (filled) step."""
    kinds = [kind for kind in KINDS if runs.is_measured(dataset, kind, "step", "exponent")]
    if not kinds:
        return None
    looks = {kind: {"color": colours.COLOURS[i], "marker": "os"[i]} for i, kind in enumerate(KINDS)}

    def draw(axes, run):
        for kind in kinds:
            values = dataset[kind].isel(run)
            for step, style in zip(ends(values) or (), (FIRST, LAST)):
                axes.plot(dataset.exponent.values, values.isel(step=step).values, **{**style, **looks[kind]})
        look.reference_line(axes, 0)
        look.grid(axes)

    with look.style():
        figure, _, note = run_panels(dataset, kinds[0], draw, look.label(dataset.exponent),
                                     look.with_unit("exponent", "per block"))
        words = {"lyapunov": "of the state", "lyapunov_angular": "of the tokens' directions"}
        handles = [Line2D([], [], label=words[kind], linestyle="none", **looks[kind]) for kind in kinds]
        caption = ("Lyapunov exponents of the residual stream, and of the directions of its tokens, at the first and "
                   "the last measured step.")
        return finished("lyapunov", caption, figure, dataset, handles + first_and_last(), [note])


def trainability(dataset):
    """The final loss, and the lines on which the two exponents of the untrained network are 0."""
    names = {"angle_exponent": "angle exponent 0", "gradient_exponent": "gradient exponent 0"}
    loss = loss_of(dataset)
    if not loss or not all(runs.is_measured(dataset, name, "step") for name in names):
        return None
    fresh = dataset.assign({name: dataset[name].isel(step=0) for name in names})
    return plane(fresh, "trainability", loss, names, "The loss at the end, and where the exponents of the untrained "
                 "network are 0.")


def at_the_end(dataset):
    """The largest exponent at the end, and the line between growing and shrinking norms."""
    if not runs.is_measured(dataset, "lyapunov", "step", "exponent"):
        return None
    growth = np.log(dataset.norm_growth.where(dataset.norm_growth > 0)).assign_attrs({NATURE: "magnitude"})
    largest = dataset.lyapunov.isel(exponent=0).assign_attrs(long_name="largest Lyapunov exponent")
    ended = dataset.assign(lyapunov=largest, log_growth=growth)
    return plane(ended, "lyapunov-plane", "lyapunov", {"log_growth": "norm growth 1", "lyapunov": "largest exponent 0"},
                 "The largest Lyapunov exponent at the end, where it is 0, and where norms neither grow nor shrink.")


def loss_of(dataset):
    """The name of the loss at the end: of the validation, or else of the training; None if there is neither."""
    for name in ("final_valid_loss", "final_train_loss"):
        if runs.is_measured(dataset, name):
            return name
    return None


def plane(dataset, name, variable, zeros, caption):
    """A map of a variable over two axes of numbers, the lines on which others are 0, and the cell of the lowest loss;
    None if the sweep has no such plane. zeros: {variable: label}."""
    axes_of_plane = cells.plane_of(dataset)
    if len(axes_of_plane) < 2 or not cells.has_values(dataset, variable):
        return None
    combinations = list(runs.combinations(dataset, runs.others_of(dataset, *axes_of_plane)))
    kept, handles = runs.thinned_along(combinations, look.most_panels(MOST_PANELS)), {}
    with look.style():
        rows, columns = look.crowd(len(kept))
        figure, panels = look.sheet(rows, columns, height=2.8 if len(kept) == 1 else 1.9, sharex=True, sharey=True)
        used = panels.ravel()[:len(kept)]
        marks = cells.draw_maps(figure, used, dataset, variable, kept, None, "right")
        for axes, at in zip(used, kept):
            add_lines(axes, dataset.isel(at), axes_of_plane, zeros, handles)
            add_lowest(axes, dataset.isel(at), axes_of_plane, handles)
        look.clear_rest(panels, len(kept))
        cells.name_axes(panels, len(kept), dataset, axes_of_plane)
        notes = [runs.counted(dataset, variable), *sign_notes(dataset, zeros),
                 cells.reduction_note(dataset, [variable]), runs.left_out(dataset, kept, combinations)]
        handles |= {mark.get_label(): mark for mark in marks}
        return finished(name, caption, figure, dataset, handles.values(), notes)


def add_lines(axes, part, names, zeros, handles):
    """Draws the line on which each variable is 0, where it changes its sign, on a white one that sets it off."""
    for (variable, label), colour, dash in zip(zeros.items() if look.shows("zeros") else (), LINES, colours.DASHES):
        values = cells.map_of(part, variable, names)
        seen = scales.finite([values.values])
        if not len(seen) or not seen.min() < 0 < seen.max():
            continue
        places = [cells.scale(values[name]).centres for name in names]
        for under in (True, False):
            axes.contour(*places, np.ma.masked_invalid(values.values), levels=[0], linewidths=4 if under else 1.8,
                         colors="white" if under else colour, linestyles="-" if under else dash)
        handles.setdefault(label, Line2D([], [], label=label, color=colour, linestyle=dash, linewidth=1.8))


def sign_notes(dataset, zeros):
    """Notes on the variables that are never 0."""
    for variable, label in zeros.items():
        seen = scales.finite([cells.without_dimensions(dataset, variable).values])
        if len(seen) and (seen.min() >= 0 or seen.max() <= 0):
            name = label.removesuffix(" 0")
            yield f"{name[0].upper()}{name[1:]}: {'above' if seen.min() >= 0 else 'below'} 0 everywhere."


def add_lowest(axes, part, names, handles):
    loss = loss_of(part)
    values = cells.map_of(part, loss, names) if loss and cells.has_values(part, loss) else None
    if values is None or not look.shows("lowest"):
        return
    row, column = np.unravel_index(np.nanargmin(values.values), values.shape)
    axes.plot(cells.scale(values[names[0]]).centres[column], cells.scale(values[names[1]]).centres[row], **LOWEST)
    handles.setdefault("lowest loss", Line2D([], [], label="lowest loss", **LOWEST))
