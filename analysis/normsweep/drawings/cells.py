"""One number per run, over the axes of the grid: a map if two axes are numbers, curves over one, dots if all are
words. A map averages over seeds, and a note says so; each combination of all other axes has a panel of its own."""

from dataclasses import dataclass

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from scipy.ndimage import distance_transform_edt

from ..names import TIMESCALE
from ..plane import averaged, is_geometric, is_linear, last, of_sound_runs, reduced
from ..words import several
from . import colours, look, runs, scales
from .drawing import finished
from .panels import arrange, same_scale, share

CURVES = 8  # at most
SEEN = 0.02  # share of a panel's height below which a cell is too thin for its hatch to be seen
LETTERS_APART, LINES_APART = 0.09, 0.17  # inches between labels beside each other, and from one to that above it
MARKS = colours.OUTCOMES  # how cells without a result look
PALE = 0.35  # opacity of cells that are not trained yet
IMPLIED = {word: {"facecolor": style["pale"], "edgecolor": "none"} for word, style in colours.PHASES.items()}
TRAINED = {"facecolor": "none", "edgecolor": "0.25", "linewidth": 0.4}
CLASSES = {  # of dynamics, for those who meet the words for the first time
    "none": "none: no law fits, or two fit equally", "aligned": "aligned: steps along θ, longer as |θ| grows",
    "misaligned": "misaligned: steps across θ, longer as |θ| grows",
    "relative": "relative: aligned or misaligned, which are one curve at a constant rate",
    "adam_like": "Adam-like: steps across θ, of a length that does not depend on |θ|"}
EQUALS = "of equally frequent ones, the alphabetically first"


@dataclass(frozen=True)
class Scale:
    """Where the n values of an axis lie in a map. is_log: positions are log10, and the value 0 lies below the rest."""

    centres: np.ndarray  # [n]
    edges: np.ndarray  # [n + 1]
    ticks: list
    words: list  # one for each tick
    is_log: bool


def scale(coordinate):
    """The scale of an axis of ascending numbers: logarithmic for learning rate, weight decay and any wide range, else
    evenly spaced."""
    values = coordinate.values.astype(float)
    positive = values[values > 0]
    least = 1 if coordinate.name in (*runs.PHASE_AXES, TIMESCALE) else scales.WIDE_RANGE
    if len(positive) < 2 or values.min() < 0 or positive.max() < least * positive.min():
        centres = np.arange(len(values), dtype=float)
        shown = runs.thinned(range(len(values)), 5)
        return Scale(centres, edges(centres), list(centres[shown]), [scales.number(values[i]) for i in shown], False)
    centres = positions(values)
    low, high = np.log10(positive.min()), np.log10(positive.max())
    decades = np.arange(np.ceil(low - 1e-9), np.floor(high + 1e-9) + 1)
    decades = decades[::(len(decades) - 1) // 5 + 1]
    words = scales.logarithmic_words(10.0 ** decades)
    if len(decades) < 2:  # then values of the axis
        decades = centres[values > 0][runs.thinned(range(len(positive)), 4)]
        words = [scales.number(10.0 ** place) for place in decades]
    return Scale(centres, edges(centres), [*decades, *centres[values == 0]], [*words, *["0"] * (values == 0).sum()],
                 True)


def positions(values):
    """log10 of the values; a zero lies one and a half steps below the smallest other value."""
    with np.errstate(divide="ignore"):
        logs = np.log10(values)
    known = logs[np.isfinite(logs)]
    return np.where(values == 0, known.min() - 1.5 * np.median(np.diff(known)), logs)


def edges(centres):
    """Cell borders around ascending centres: half-way between neighbours. [n] -> [n + 1]"""
    if len(centres) == 1:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    middle = (centres[1:] + centres[:-1]) / 2
    return np.concatenate([[2 * centres[0] - middle[0]], middle, [2 * centres[-1] - middle[-1]]])


def set_axis(axis, places):
    """Sets the ticks, every second or third one if there is no room for all; and the limits."""
    (width, height), (rows, columns) = look.sheet_size(), look.sheet_shape()
    for each in range(1, len(places.ticks) + 1):
        ticks, words = (list(of)[::each] for of in (places.ticks, places.words))
        widest = max(map(look.inches, words)) + look.em(LETTERS_APART)
        around = look.em(0.4)
        if (widest * (len(words) - 1) <= 0.8 * width / columns - around if axis.axis_name == "x" else
                look.em(LINES_APART) * (len(words) - 1) <= (height - around) / rows - around):
            break
    axis.set_ticks(ticks, words)
    axis.axes.set(**{f"{axis.axis_name}lim": places.edges[[0, -1]]})


# ---- maps ----

def plane_of(dataset):
    """The axes (x, y) of maps; fewer if there are fewer axes of numbers."""
    return runs.numbers_of(dataset)[:2]


def without_dimensions(dataset, variable):
    """The variable as one number per run: the last measured one over the steps, the mean over layers and other
    dimensions; NaN in runs that do not count (plane.of_sound_runs)."""
    values = of_sound_runs(dataset, variable)
    if values.dtype.kind == "f":
        values = values.where(np.isfinite(values))
    others = [dim for dim in values.dims if dim not in dataset.sweep.axes and dim != "step"]
    values = values.mean(others, keep_attrs=True) if others else values
    return last(values) if "step" in values.dims else values


def map_of(part, variable, plane):
    """A variable over the plane of a part without other axes than it and the seed, ascending, rows along y; flags as
    their numbers."""
    found = reduced(part.assign({variable: without_dimensions(part, variable)}), variable, plane)
    if found.dtype.kind == "O":
        codes = flags(part[variable])
        found = found.copy(data=np.vectorize(lambda word: codes.get(word, np.nan), otypes=[float])(found.values))
    return found.transpose(*plane[::-1])


def flags(variable):
    """{word: number} of a variable of flags; {} of any other."""
    if "flag_meanings" not in variable.attrs:
        return {}
    return dict(zip(variable.attrs["flag_meanings"].split(), np.ravel(variable.attrs["flag_values"]).tolist()))


def stands(part, plane):
    """{word of MARKS: mask over the plane} of the cells where no run is done and any run stands so."""
    others = [axis for axis in part.outcome.dims if axis not in plane]
    order = list(plane[::-1])

    def of_any(mask):
        return mask.any(others).transpose(*order).sortby(order)

    empty = ~of_any(part.sweep.done)
    masks = {}
    for word in ("diverged", "failed", "running", "skipped"):
        masks[word] = empty & of_any(getattr(part.sweep, word))
        empty = empty & ~masks[word]
    return masks


def draw_map(axes, part, values, plane, normaliser, palette, told=None):
    """Draws a map of values over the plane, with its axes. told: mask of the cells without a value that the caller
    draws. Returns the words of MARKS that occur."""
    x, y = (scale(values[axis]) for axis in plane)
    axes.pcolormesh(x.edges, y.edges, values, cmap=palette, norm=normaliser)
    if y.is_log and values[plane[1]].values[0] == 0:  # 0 has no place on the scale: a line separates its row
        axes.axhline(y.edges[1], color="white", linewidth=1.5)
    set_axis(axes.xaxis, x)
    set_axis(axes.yaxis, y)
    blank, found = np.isnan(values.values.astype(float)), []
    blank = blank if told is None else blank & ~told.values
    for word, mask in stands(part, plane).items():
        found += [word] * hatch(axes, x, y, blank & mask.values, MARKS[word])
        blank = blank & ~mask.values
    return found + ["no value"] * hatch(axes, x, y, blank, MARKS["no value"])


def hatch(axes, x, y, mask, style):
    """Paints the cells of a mask; those above each other in a column as one, because there may be thousands. Returns
    whether one is high enough to be seen."""
    least, seen = SEEN * abs(y.edges[-1] - y.edges[0]), False
    for column in range(mask.shape[1]):
        ends = np.flatnonzero(np.diff(np.concatenate([[False], mask[:, column], [False]]).astype(int)))
        for low, high in ends.reshape(-1, 2):
            axes.add_patch(Rectangle((x.edges[column], y.edges[low]), np.diff(x.edges)[column],
                                     y.edges[high] - y.edges[low], **style))
            seen = seen or abs(y.edges[high] - y.edges[low]) >= least
    return bool(seen)


def implied_sides(part, plane):
    """{word: mask over the plane, rows along y} for "growing" and "shrinking": the cells that a sweep with `refine`
    left out for all repeats, because the runs around them tell this phase. None if there are none."""
    codes = flags(part.phase) if "phase" in part else {}
    order = list(plane[::-1])
    repeats = [dim for dim in part.outcome.dims if dim not in plane]
    masks = {word: (part.sweep.skipped & (part.phase == codes[word])).all(repeats).transpose(*order).sortby(order)
             for word in IMPLIED if word in codes}
    return masks if any(mask.any() for mask in masks.values()) else None


def draw_implied(axes, masks, values, plane):
    """Paints the cells, and outlines those that have a value. Returns handles for a legend."""
    x, y = (scale(values[axis]) for axis in plane)
    for word, mask in masks.items():
        hatch(axes, x, y, mask.values, IMPLIED[word])
    hatch(axes, x, y, values.notnull().values, TRAINED)
    return [Patch(facecolor=IMPLIED[word]["facecolor"], edgecolor="0.7", linewidth=0.5, label=f"{word}, not trained")
            for word, mask in masks.items() if mask.any()]


def draw_pending(axes, part, values, plane, normaliser, palette):
    """Paints each cell whose runs are all to come like the nearest one, in steps over the grid, whose runs have ended,
    but paler and dotted. Returns the mask of these cells, and handles for a legend."""
    x, y = (scale(values[axis]) for axis in plane)
    order = list(plane[::-1])
    repeats = [dim for dim in part.outcome.dims if dim not in plane]
    pending = part.sweep.pending.all(repeats).transpose(*order).sortby(order)
    diverged = stands(part, plane)["diverged"].values
    ended = np.isfinite(values.values) | diverged
    if not pending.any() or not ended.any():
        return None, []
    rows, columns = distance_transform_edt(~ended, return_distances=False, return_indices=True)
    nearest = np.where(pending.values, values.values[rows, columns], np.nan)
    axes.pcolormesh(x.edges, y.edges, nearest, cmap=palette, norm=normaliser, alpha=PALE)
    hatch(axes, x, y, pending.values & diverged[rows, columns], {**MARKS["diverged"], "alpha": PALE})
    told = hatch(axes, x, y, np.isfinite(nearest), colours.PENDING)
    style = colours.PENDING if told else {**MARKS["diverged"], "alpha": PALE}
    return pending, [Patch(**style, label="pending, like the nearest that has ended")]


def mark_handles(words, blank=""):
    """Handles for a legend. blank: what a cell without a value means, if it can be told."""
    return [Patch(label=blank if blank and word == "no value" else word, **style)
            for word, style in MARKS.items() if word in words]


def word_text(word):
    """A flag as figures spell it."""
    return {"adam_like": "Adam-like"}.get(word, word.replace("_", "-"))


def class_text(name, word):
    """A flag as a legend explains it."""
    return CLASSES.get(word, word_text(word)) if name == "dynamics" else word_text(word)


def flag_colours(name, words):
    """One colour for each flag of a variable."""
    return [colours.NO_CLASS if word == "none" else colours.colour(colours.place(name, word, i))
            for i, word in enumerate(words)]


def maps(dataset, name, variables, caption, labels, alike=False, blank="", note=""):
    plane = plane_of(dataset)
    combinations = list(runs.combinations(dataset, runs.others_of(dataset, *plane)))
    kept = runs.thinned_along(combinations, arrange(len(variables), len(combinations))["words"])
    grid = arrange(len(variables), len(kept))  # thinned by whole axes, which may leave fewer than there is room for
    figure, panels = look.sheet(*grid["shape"], height=grid["height"], sharex=True, sharey=True)
    used, handles = len(kept) * len(variables), []
    among = [map_of(runs.part(dataset, at), variable, plane) for at in kept for variable in variables * alike] or None
    for j, variable in enumerate(variables):
        mine = panels[:, j] if grid["table"] else panels.ravel()[j:j + 1] if len(kept) == 1 else panels.ravel()[:used]
        handles += draw_maps(figure, mine, dataset, variable, kept, labels.get(variable),
                             "bottom" if grid["table"] else "right", among, blank)
        if grid["table"]:
            words = labels.get(variable) or look.label(dataset[variable])
            mine[0].set_title(f"{look.column_title(words, len(variables))}\n{mine[0].get_title()}")
    look.clear_rest(panels, used)
    name_axes(panels, used, dataset, plane)
    notes = [runs.counted(dataset, *variables), reduction_note(dataset, variables),
             note, runs.left_out(dataset, kept, combinations)]
    last = {*MARKS, blank}
    handles = {handle.get_label(): handle for handle in sorted(handles, key=lambda one: one.get_label() in last)}
    return finished(name, caption, figure, dataset, handles.values(), notes)


def draw_maps(figure, panels, dataset, variable, combinations, words, side, among=None, blank=""):
    """Draws one variable, one panel for each combination of the other axes, with a colour bar at one side of them.
    among: all values that share the scale of colours. Returns handles for a legend."""
    plane, parts = plane_of(dataset), [runs.part(dataset, at) for at in combinations]
    values = [map_of(part, variable, plane) for part in parts]
    normaliser, palette, ends, handles = colouring(dataset[variable], among or values)
    width = 0.8 * look.sheet_size()[0] / look.sheet_shape()[1]
    words, marks = words or look.label(dataset[variable], width), []
    for axes, at, part, cells in zip(panels, combinations, parts, values):
        marks += draw_map(axes, part, cells, plane, normaliser, palette)
        axes.set_title(look.title(runs.text(dataset, at), look.sheet_shape()[1], has_bar=True) or words)
    if not handles:
        bar = look.add_bar(figure, ScalarMappable(normaliser, palette), ax=list(panels), extend=ends,
                              location=side)
        look.name_bar(bar, words if len(combinations) > 1 else "")
    return handles + mark_handles(marks, blank)


def reduction_note(dataset, variables):
    """A note on how a cell combines several runs; "" if each cell is one run."""
    if runs.REPEAT not in runs.axes_of(dataset):
        return ""
    classes = [variable for variable in variables if flags(dataset[variable])]
    ratios = [variable for variable in variables if is_geometric(dataset[variable])]
    numbers = "Geometric mean" if len(ratios) == len(variables) - len(classes) else "Mean"
    over = f" over {runs.plurals([runs.REPEAT])}"
    if len(classes) == len(variables):
        text = f"The most frequent class{over}; {EQUALS}."
    else:
        notes = ["; for ratios, the geometric mean" if ratios and numbers == "Mean" else "",
                 f"; for classes, the most frequent; {EQUALS}" if classes else ""]
        text = f"{numbers}{over}{''.join(notes)}."
    return " ".join(filter(None, [text, fewer_note(dataset)]))


def thin_note(dataset, plane, words):
    """A note on runs that diverged or failed in cells too thin to be seen; words: those of MARKS that are."""
    lost = {word: int(getattr(dataset.sweep, word).sum()) for word in ("diverged", "failed") if word not in words}
    lost = {word: count for word, count in lost.items() if count}
    if not lost or dataset.sizes[plane[1]] * SEEN < 1:
        return ""
    counts = [several(count, "run") + f" {word}" for word, count in lost.items()]
    return f"{' and '.join(counts)}, in cells too thin to be seen."


def fewer_note(dataset):
    """A note on the cells that have fewer seeds than others, because some are skipped; "" if there is none."""
    if runs.REPEAT not in runs.axes_of(dataset):
        return ""
    seeds = (~dataset.sweep.skipped).sum(runs.REPEAT)
    count = int(((seeds > 0) & (seeds < seeds.max())).sum())
    return f"Cells with fewer runs (skipped): {count}." if count else ""


def colouring(variable, values):
    """(normaliser, colours, `extend` of the colour bar, handles in place of a bar) for maps of a variable."""
    words = flags(variable)
    if words:
        chosen = flag_colours(variable.name, words)
        seen = set(scales.finite(values))
        handles = [Patch(facecolor=colour, edgecolor="0.5", linewidth=0.5, label=class_text(variable.name, word))
                   for (word, code), colour in zip(words.items(), chosen) if code in seen]
        return BoundaryNorm(np.arange(-0.5, len(chosen)), len(chosen)), ListedColormap(chosen), "neither", handles
    return (*scales.colour_scale(values, is_linear(variable)), [])


def name_axes(panels, used, dataset, plane):
    look.name_axes(panels, used, look.label(dataset[plane[0]]), look.label(dataset[plane[1]]))


# ---- curves and dots ----

def curves(dataset, name, variables, caption, labels, decorate, alike=False, note=""):
    """One dot per run, over one axis of numbers, with a line through the means; or, without such an axis, over the
    words."""
    numbers, words = plane_of(dataset), runs.words_of(dataset)
    combinations = list(runs.combinations(dataset, words))
    kept = runs.thinned_along(combinations, CURVES) if numbers else combinations
    shape = look.crowd(len(variables))
    below = 0 if numbers or has_room(dataset, kept, shape[1]) else longest_word(dataset, kept)
    figure, panels = look.sheet(*shape, height=(1.9 if len(variables) > 1 else 2.6) + below)
    for axes, variable in zip(panels.ravel(), variables):
        if numbers:
            draw_curves(axes, dataset, variable, numbers[0], kept)
        else:
            draw_dots(axes, dataset, variable, kept)
        dress_curves(axes, dataset[variable], labels.get(variable))
        if decorate:
            decorate(axes)
    look.clear_rest(panels, len(variables))
    seen = [any(runs.is_measured(dataset.isel(at), variable) for variable in variables) for at in kept]
    handles = [Line2D([], [], label=runs.text(dataset, at), **curve_look(dataset, at, i))
               for i, at in enumerate(kept) if at and seen[i]]
    notes = [runs.counted(dataset, *variables), note, runs.left_out(dataset, kept, combinations)]
    if alike:
        same_scale(panels.ravel()[:len(variables)])
        share([panels.ravel()[:len(variables)]])
    if runs.REPEAT in runs.axes_of(dataset):
        ratios = [variable for variable in variables if is_geometric(dataset[variable])]
        of_ratios = "" if not ratios else "geometric " if len(ratios) == len(variables) else "(for ratios, geometric) "
        notes.append(f"Each dot is a run; lines connect the {of_ratios}means over seeds." if numbers else
                     "Each dot is a run.")
    return finished(name, caption, figure, dataset, handles if numbers else (), notes)


def dress_curves(axes, variable, words):
    look.grid(axes)
    axes.set_ylabel(words or look.label(variable, 1.2))
    if flags(variable):
        codes = list(flags(variable).values())
        axes.set_yticks(codes, [word_text(word) for word in flags(variable)])
        axes.set_ylim(min(codes) - 0.5, max(codes) + 0.5)
    else:
        scales.scale_y(axes, [line.get_ydata() for line in axes.lines], is_linear(variable))


def draw_curves(axes, dataset, variable, number, combinations):
    """Draws a variable over one axis of numbers; classes as dots only, because there is nothing between them."""
    places, values = scale(dataset[number].sortby(number)), without_dimensions(dataset, variable).sortby(number)
    for i, at in enumerate(combinations):
        row, style = values.isel(at), curve_look(dataset, at, i)
        repeats = [dim for dim in row.dims if dim != number]
        table = row.transpose(number, *repeats).values.reshape(len(places.centres), -1)
        if flags(dataset[variable]):
            axes.plot(places.centres, table, **{**style, "linestyle": "none"})
            continue
        if table.shape[1] > 1:
            axes.plot(places.centres, table, linestyle="none", marker=".", markersize=4, color=style["color"],
                      alpha=0.5)
        axes.plot(places.centres, averaged(row, repeats).values, **style)
    axes.set_xticks(places.ticks, places.words)
    axes.set_xlabel(look.label(dataset[number]))


def draw_dots(axes, dataset, variable, combinations):
    """Draws a variable over combinations of words."""
    values = without_dimensions(dataset, variable)
    for i, at in enumerate(combinations):
        dots = values.isel(at).values.ravel()
        axes.plot(np.full(dots.shape, i), dots, **{**colours.marked(0), "linestyle": "none"})
    shown = runs.thinned(range(len(combinations)), 24)
    words = [runs.text(dataset, combinations[i]) for i in shown]
    axes.set_xticks(shown, words, rotation=0 if has_room(dataset, combinations, look.sheet_shape()[1]) else 90)
    axes.set_xlim(-0.5, len(combinations) - 0.5)
    if combinations[0]:
        axes.set_xlabel(look.column_title(runs.names_text(combinations[0]), look.sheet_shape()[1]))
    else:  # repeats of one run
        axes.set_xticks([])


def longest_word(dataset, combinations):
    """The width of the longest name of a combination, in inches."""
    return max(look.inches(runs.text(dataset, at)) for at in combinations)


def has_room(dataset, combinations, columns):
    """Do their names have room beside each other below one of so many panels?"""
    room = 0.9 * look.sheet_size()[0] / look.fit(columns) - look.em(0.5)
    return longest_word(dataset, combinations) < room / len(combinations)


def curve_look(dataset, at, i):
    """The style of combination i of words: the colour and mark of the word of one axis; the dashes, and the filling of
    the mark, tell the others."""
    axis = next((axis for axis in at if axis in colours.PLACES), next(iter(at), None))
    if axis is None or axis not in colours.PLACES and len(at) > 1:
        return colours.marked(i)
    style = colours.marked(colours.place(axis, str(dataset[axis].values[at[axis]]), at[axis]))
    others, place = [other for other in at if other != axis], 0
    for other in others:
        place = place * dataset.sizes[other] + at[other]
    if not others:
        return style
    if np.prod([dataset.sizes[other] for other in others]) > len(colours.DASHES):
        return colours.marked(i)
    return {**style, "linestyle": colours.DASHES[place], "marker": colours.MARKERS[place]}


def has_values(dataset, variable):
    """True if a run that counts (plane.of_sound_runs) has a number, or a class other than none."""
    if not runs.is_measured(dataset, variable):
        return False
    values, codes = of_sound_runs(dataset, variable), flags(dataset[variable])
    return bool((np.isfinite(values) & (values != codes.get("none", np.nan))).any())


def over_plane(dataset, name, variables, caption, labels=None, decorate=None, alike=False, blank="", note=""):
    """A drawing of variables, one number per run, over the axes of the grid; None if nothing was measured, or if the
    sweep has a single run. labels: {variable: label}. decorate(axes) adds to a panel of curves. alike: the
    variables are of one kind, and share their scale. blank: what cells without a value mean. note: a sentence."""
    variables = [variable for variable in variables if has_values(dataset, variable)]
    if not variables or not runs.axes_of(dataset):
        return None
    with look.style():
        if len(plane_of(dataset)) == 2:
            return maps(dataset, name, variables, caption, labels or {}, alike, blank, note)
        return curves(dataset, name, variables, caption, labels or {}, decorate, alike, note)
