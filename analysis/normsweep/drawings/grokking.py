"""Grokking: accuracy of the held-out part and training loss over the steps, and the steps that it takes, by weight
decay. Several sweeps, such as one in float and one in double, have a row each."""

import numpy as np
from matplotlib.lines import Line2D

from ..grokking import DECAY, LEVEL, grokking as steps_of
from . import colours, look, runs, scales
from .drawing import Drawing, finished

ROWS = 4  # of panels
LINES = 7  # decays with lines over the steps
MARK = {"marker": "o", "markersize": 3.5, "linestyle": "none", "markeredgewidth": 0.6}
NEVER = {"marker": "^", "markersize": 5, "linestyle": "none", "markerfacecolor": "none"}
OTHERS = "0.75"  # grey of the other rows
CAPTION = ("Accuracy of the held-out part and loss on the training batches over the steps, and the first step with an "
           f"accuracy of {LEVEL:g}, by weight decay.")


def is_over_decay(dataset):
    """Was accuracy measured over the steps of several weight decays?"""
    return runs.is_measured(dataset, "accuracy", "step") and DECAY in runs.axes_of(dataset)


def has_grokked(dataset):
    """Did accuracy get from below the level to it in any of these runs?"""
    return is_over_decay(dataset) and bool(steps_of(dataset).before.notnull().any())


def grokking(dataset):
    """One row of panels for each combination of the axes that are neither the decay nor the seed."""
    if not has_grokked(dataset):
        return None
    everything = list(runs.combinations(dataset, runs.others_of(dataset, DECAY)))
    shown = runs.thinned_along(everything, look.most_rows(ROWS, 3))
    with look.style():
        figure, handles = draw([(runs.text(dataset, at), dataset.isel(at)) for at in shown])
        return finished("grokking", CAPTION, figure, dataset, handles,
                        [*notes([dataset]), grey_note(shown, "rows"), runs.left_out(dataset, shown, everything)])


def together(sweeps):
    """The same of {name: dataset}, several sweeps; None if no run of any sweep gets there. A sweep in which none does
    has its row, too."""
    if not any(map(has_grokked, sweeps.values())):
        return None
    drawn = {name: dataset for name, dataset in sweeps.items() if is_over_decay(dataset)}
    rows = [(look.plain(", ".join(filter(None, (name, runs.text(dataset, at))))), dataset.isel(at))
            for name, dataset in drawn.items() for at in runs.combinations(dataset, runs.others_of(dataset, DECAY))]
    shown = runs.thinned(rows, look.most_rows(ROWS, 3))
    lost = [look.plain(name) for name in sweeps if name not in drawn]
    with look.style():
        figure, handles = draw(shown)
        more = [*notes(list(drawn.values())), grey_note(shown, "sweeps" if len(rows) == len(drawn) else "rows"),
                f"{len(shown)} of {len(rows)} rows are shown." if len(shown) < len(rows) else "",
                f"Left out, without accuracy over steps and weight decays: {', '.join(lost)}." if lost else ""]
        more = [note for note in more if note]
        look.frame(figure, "", handles, more)
        return Drawing("grokking", " ".join([CAPTION, *more]), figure)


def grey_note(rows, what):
    """What is grey, if there are several rows."""
    return f"Grey: the runs of the other {what}." if len(rows) > 1 and look.shows("others") else ""


def notes(datasets):
    count = sum(int(runs.measured(dataset, "accuracy").sum()) for dataset in datasets)
    found, decays = [f"{runs.count_text(count, count)}."], decays_of(datasets)
    if len(decays) > LINES:
        found.append(f"Lines over the steps: {LINES} of {len(decays)} weight decays.")
    if any(runs.REPEAT in runs.axes_of(dataset) for dataset in datasets):
        found.append("Lines are medians over the seeds, on the right geometric means where all of them get there; one "
                     "mark per run.")
    return found


def decays_of(datasets):
    return np.unique(np.concatenate([dataset[DECAY].values for dataset in datasets]))


def draw(rows):
    """(figure, handles of its legend) of rows (title, dataset over weight_decay and perhaps seed)."""
    rows = [(title, dataset, steps_of(dataset)) for title, dataset in rows]
    decays = decays_of([dataset for _, dataset, _ in rows])
    named = runs.thinned(list(decays), LINES)
    scale = colours.scale_of(DECAY)
    shades = {decay: scale(rank / max(len(decays) - 1, 1)) for rank, decay in enumerate(decays)}
    figure, panels = look.sheet(len(rows), 3, height=1.9 if len(rows) == 1 else 1.5, sharex="col",
                                sharey="col")
    sides = look.side_titles([title for title, _, _ in rows], 1.5)
    for i, (line, (_, dataset, found)) in enumerate(zip(panels, rows)):
        draw_steps(line[0], dataset, "accuracy", named, shades)
        look.reference_line(line[0], LEVEL)
        draw_steps(line[1], dataset, "train_loss", named, shades)
        for j, (_, other, there) in enumerate(rows):
            if i != j and look.shows("others"):
                draw_decays(line[2], other, there, decays, None)
        draw_decays(line[2], dataset, found, decays, shades)
        line[0].set_ylabel(sides[i])
    dress(panels, rows[0][1], rows[0][2], decays)
    label = look.name(rows[0][1][DECAY])[0]
    handles = [Line2D([], [], color=shades[decay], label=f"{label} {scales.number(decay)}") for decay in named]
    if any((never(dataset, found)).any() for _, dataset, found in rows):
        handles.append(Line2D([], [], color="0.3", label="not within the run", **NEVER))
    return figure, handles


def draw_steps(axes, dataset, name, named, shades):
    """One line for each of these decays over the steps above 0. A loss of exactly 0 has no place on a logarithmic axis.
    """
    if not runs.is_measured(dataset, name, "step"):
        return
    values, step = dataset[name].transpose(*dataset.sweep.axes, "step"), dataset.step.values
    decays = dataset[DECAY].values
    lines = [({"color": shades[decays[run[DECAY]]]}, values.isel(run).values)
             for run in runs.listed(runs.measured(dataset, name)) if decays[run[DECAY]] in named]
    for style, line in merged(lines):
        seen = np.isfinite(line) & (step > 0) & ((line > 0) | (name == "accuracy"))
        axes.plot(step[seen], line[seen], **style | {"linewidth": 0.7})


def merged(lines):
    """Yields (style, median line) for each set of lines with the same style."""
    groups = {}
    for style, line in lines:
        groups.setdefault(tuple(style.items()), []).append(np.where(np.isfinite(line), line, np.nan))
    for style, group in groups.items():
        table = np.stack(group)
        seen = np.isfinite(table).any(axis=0)
        line = np.full(table.shape[1], np.nan)
        line[seen] = np.nanmedian(table[:, seen], axis=0)
        yield dict(style), line


def never(dataset, found):
    """Mask of the runs that are done and did not get there."""
    return dataset.sweep.done & found.reached.isnull()


def place_of(decay, decays):
    """Places on a logarithmic axis; a decay of 0 is left of the smallest other one."""
    positive = decays[decays > 0]
    ratio = positive[1] / positive[0] if len(positive) > 1 else 2
    return np.where(decay > 0, decay, positive[0] / max(ratio, 1.5))


def draw_decays(axes, dataset, found, decays, shades):
    """The steps of each run; grey without shades. Open marks at the last step: it took more."""
    repeats = [dim for dim in found.reached.dims if dim != DECAY]
    reached = found.reached.transpose(DECAY, *repeats)
    lost = never(dataset, found).transpose(DECAY, *repeats)
    places = place_of(found[DECAY].values, decays)
    steps = reached.where(reached > 0).values.reshape(len(places), -1)  # 0 has no place on a logarithmic axis
    lost = lost.sel({DECAY: found[DECAY]}).values.reshape(len(places), -1)
    everywhere = np.isfinite(steps).all(axis=1)
    axes.plot(places[everywhere], np.exp(np.log(steps[everywhere]).mean(axis=1)), linewidth=0.8,
              color=OTHERS if shades is None else "0.3", zorder=1 if shades is None else 2)
    for decay, place, row, gone in zip(found[DECAY].values, places, steps, lost):
        colour = OTHERS if shades is None else shades[decay]
        layer = 1 if shades is None else 3
        axes.plot(np.full(len(row), place), row, color=colour, zorder=layer, **MARK)
        if gone.any():
            axes.plot([place], [float(dataset.step.max())], color=colour, zorder=layer, **NEVER)


def dress(panels, dataset, found, decays):
    """Titles, scales and labels; columns share their axes."""
    titles = (look.label(dataset.accuracy), look.label(dataset["train_loss"]) if "train_loss" in dataset else "",
              look.label(found.reached))
    for axes, title in zip(panels[0], titles):
        axes.set_title(look.column_title(title, 3))
    for axes in panels.ravel():
        look.grid(axes)
    steps, ends = panels[0, :2], panels[0, 2]
    for axes in steps:
        axes.set_xscale("log")
    panels[0, 0].set_ylim(-0.03, 1.03)
    scales.scale_y(panels[0, 1], [line.get_ydata() for axes in panels[:, 1] for line in axes.lines])
    ends.set_xscale("log")
    ends.set_yscale("log")
    shown = [decays[i] for i in scales.apart(np.log(place_of(decays, decays)), 3)]
    ends.set_xticks(place_of(np.asarray(shown), decays), [scales.number(decay) for decay in shown])
    ends.minorticks_off()
    for axes, text in zip(panels[-1], (look.label(dataset.step),) * 2 + (look.label(dataset[DECAY]),)):
        axes.set_xlabel(text)
