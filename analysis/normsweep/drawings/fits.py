"""Laws of growth beside the measured norms: straight fits of a few functions of the step, and the recursions of
aligned, misaligned and Adam-like growth, whose fitted norms are in the dataset."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.lines import Line2D

from ..words import MINUS
from . import colours, look, runs, scales
from .drawing import Drawing

STRAIGHT = {  # name in fit_NAME_r2: what is drawn through, as a function of t and t_end, its formula
    "sqrt": (lambda t, end: np.sqrt(t), "$\\sqrt{t}$"),
    "fourth_root": (lambda t, end: t ** 0.25, "$t^{1/4}$"),
    "linear": (lambda t, end: t, "$t$"),
    "exponential": (lambda t, end: np.exp(-t / end), "$e^{-t/t_{end}}$"),
}
RECURSIONS = {"aligned": "aligned", "misaligned": "misaligned", "adam_like": "Adam-like"}  # name: its word
MEASURED = {"color": "black", "marker": "o", "markersize": 3, "linestyle": "none", "markerfacecolor": "none",
            "markeredgewidth": 0.7}
HEADS = {"law": "lines in $f(t)$", "dynamics": "recursions"}
LEAST_POINTS = 4  # of a run that is drawn
ALL_POINTS, MOST_POINTS = 60, 30  # of a run with more than ALL_POINTS, MOST_POINTS are drawn; all count in the fits
SAME = 1e-3  # of the range of the norms: two curves that are nearer everywhere cannot be told apart
EQUAL = 1e-9  # the difference of two R^2 of one curve
STRIP = 0.15  # width of the strip for fits with an R^2 below 0
STRIP_LOOK = {"color": "0.93", "linewidth": 0, "zorder": 0}
UNDER = {"linewidth": 3, "alpha": 0.5}  # of a curve that another covers


def straight_fits(dataset, run, step, norm):
    """{name: (fitted norms, R^2)} by least squares over the measured steps; R^2 is the dataset's."""
    found = {}
    for name, (function, _) in STRAIGHT.items():
        x = function(step, step[-1])
        found[name] = np.polynomial.Polynomial.fit(x, norm, 1)(x), r_squared(dataset, name, run)
    return found


def recursion_fits(dataset, run, seen):
    """{name: (norms, R^2)} of the recursions at the measured steps, as far as the dataset has them."""
    found = {}
    for name in RECURSIONS:
        variable = f"fit_{name}_norm"
        norm = dataset[variable].isel(run).values[seen] if variable in dataset else np.array([np.nan])
        if np.isfinite(norm).all():
            found[name] = norm, r_squared(dataset, name, run)
    return found


def r_squared(dataset, name, run):
    """R^2 of a run's fit, NaN where the dataset does not have it."""
    variable = f"fit_{name}_r2"
    return float(dataset[variable].isel(run)) if variable in dataset else np.nan


def laws(dataset):
    """Three runs, from the most shrinking to the most growing: straight fits on the left, recursions on the right."""
    if not runs.is_measured(dataset, "param_norm", "step"):
        return None
    with look.style():
        fitted = fitted_ones(dataset)
        if not runs.is_measured(fitted, "param_norm"):
            return None
        chosen, note = runs.representatives(fitted, "param_norm", look.most_rows(3, 2))
        figure, panels = look.sheet(len(chosen), 2, height=2.1, sharey="row")
        titles, common = runs.titles(dataset, chosen)
        covered = [draw_run(left, right, dataset, run, title) for (left, right), run, title in zip(
            panels, chosen, look.side_titles(titles, 1.7))]
        look.name_axes(panels, panels.size, look.label(dataset.step))
        notes = [text for text in (note, common, points_note(dataset, chosen)) if text]
        if any(covered):
            notes.append("Where the learning rate is constant, aligned and misaligned growth are one curve: dashes on "
                         "a broad line.")
        look.close(figure, dataset, (), notes)
        return Drawing("norms-fits", " ".join(["Measured norms (circles) and laws of growth fitted to them by least "
                                               "squares, with R².", *notes]), figure)


def fitted_ones(dataset):
    """The dataset with the norms of those runs only that are done, if there are any, because those have fits; and of
    no run with less than LEAST_POINTS."""
    done = dataset.sweep.done
    norms = dataset.param_norm.where(done) if done.any() else dataset.param_norm
    return dataset.assign(param_norm=norms.where(np.isfinite(norms).sum("step") >= LEAST_POINTS))


def points_note(dataset, chosen):
    """A note that measured points are not drawn; "" if all are."""
    most = max(int(np.isfinite(dataset.param_norm.isel(run)).sum()) for run in chosen)
    return f"{MOST_POINTS} of {most} measured points are drawn." if most > ALL_POINTS else ""


def entry(word, r2):
    """A line of the legend: R^2 with three decimals, or as short as it goes where a fit is far worse than the mean; a
    run that has not ended has none."""
    if not np.isfinite(r2):
        return word
    return f"{word}  " + (f"{round(r2, 3) + 0:.3f}".replace("-", MINUS) if abs(r2) < 10 else scales.number(r2))


def are_one(fits, norm):
    """Are the curves of aligned and misaligned growth the same to the eye?"""
    if not {"aligned", "misaligned"} <= set(fits):
        return False
    with np.errstate(invalid="ignore"):  # of curves beyond all bounds
        return bool(np.abs(fits["aligned"][0] - fits["misaligned"][0]).max() < SAME * np.ptp(norm))


def draw_run(left, right, dataset, run, title):
    """One run's two panels; whether one of its recursions covers another."""
    values = dataset.param_norm.isel(run).values
    seen = np.isfinite(values)
    step, norm = dataset.step.values[seen].astype(float), values[seen]
    straight, recursions = straight_fits(dataset, run, step, norm), recursion_fits(dataset, run, seen)
    words = {**{name: formula for name, (_, formula) in STRAIGHT.items()}, **RECURSIONS}
    covered = are_one(recursions, norm)
    for axes, fits in ((left, straight), (right, recursions)):
        points = runs.thinned(range(len(step)), MOST_POINTS if len(step) > ALL_POINTS else ALL_POINTS)
        axes.plot(step[points], norm[points], **MEASURED)
        handles = []
        for i, (name, (fitted, r2)) in enumerate(fits.items()):
            kind = "law" if name in STRAIGHT else "dynamics"
            style = {**colours.line_of(kind, name, i), "linestyle": colours.DASHES[i]}
            if covered and name == "aligned":
                style |= UNDER
            axes.plot(step, fitted, **style)
            handles.append(Line2D([], [], label=entry(words[name], r2), **style))
        look.grid(axes)
        if handles:
            known = any(np.isfinite(r2) for _, r2 in fits.values())
            axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.02), borderaxespad=0, borderpad=0,
                        handlelength=1.2 if look.is_tight() else 2, handletextpad=0.5, labelspacing=0.2,
                        alignment="left", title=HEADS[kind] + (" and $R^2$" if known else ""))
    frame(left, norm)
    left.set_ylabel("\n".join(filter(None, [title, look.label(dataset.param_norm)])))
    return covered


def frame(axes, norm):
    """The measured norms fill the panel; a fit that is far off leaves it."""
    low, high = norm.min(), norm.max()
    room = 0.15 * (high - low) or 0.01 * abs(high) or 1
    axes.set_ylim(low - room, high + room)


def quality(dataset):
    """R^2 of every law over all runs: a row for each law, with a dot for each run, lower ones of larger learning rates,
    and a bar at the median."""
    names = {name: formula for name, (_, formula) in STRAIGHT.items()}
    names.update(RECURSIONS)
    names = {f"fit_{name}_r2": word for name, word in names.items()} | {"growth_exponent_r2": "$t^p$"}
    names = {name: word for name, word in names.items() if runs.is_measured(dataset, name)}
    if not names or int(dataset.sweep.done.sum()) < 2:
        return None
    with look.style():
        figure, panels = look.sheet(1, 1, height=0.4 + 0.33 * len(names))
        axes = panels[0, 0]
        dots = Dots(dataset)
        below = [draw_quality(axes, dataset[name], place, dots) for place, name in enumerate(names)]
        set_range(axes, any(below))
        axes.set_yticks(range(len(names)), list(names.values()))
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlabel(look.with_unit("$R^2$ of the fit to the norms"))
        axes.set_ylabel("law of growth")
        look.grid(axes, "x")
        dots.add_bar(figure, axes)
        notes = [f"{runs.counted(dataset, *names)} {dots.note} Bars are medians."]
        if any(below):
            notes.append("Grey strip: the number of runs with an R² below 0, which a constant norm would fit better.")
        if "growth_exponent_r2" in names:
            notes.append("$t^p$ is fitted in the logs, the others are not.")
        notes += missing_notes(dataset, names)
        if same_quality(dataset):
            notes.append("Aligned and misaligned are one curve wherever the learning rate is constant.")
        look.close(figure, dataset, (), notes)
        return Drawing("fits", f"How well each law of growth fits the norms of the runs. {' '.join(notes)}".replace(
            "$", ""), figure)


def missing_notes(dataset, names):
    """A sentence on each law that has a fit in some of the runs only. names: {variable: word of the law}."""
    has = {word: runs.has_number(dataset, name) for name, word in names.items()}
    every = int(sum(has.values()).astype(bool).sum())
    counts = {word: int(mask.sum()) for word, mask in has.items()}
    return [f"{word[0].upper()}{word[1:]} has a fit in {count} of the {every} runs; its median is over these alone."
            for word, count in counts.items() if count < every]


class Dots:
    """Where in its row the dot of each run is, and its colour: by learning rate, if that is an axis."""

    def __init__(self, dataset):
        self.axis = "learning_rate" if "learning_rate" in runs.numbers_of(dataset) else None
        self.scale = None
        count = dataset.outcome.size
        if self.axis is None:
            order = dataset.outcome.copy(data=np.arange(count).reshape(dataset.outcome.shape))
            self.places, self.shades = order / max(count - 1, 1) - 0.5, None
            self.note = "A dot is a run, in the order of the grid."
            return
        values = dataset[self.axis]
        self.scale = (LogNorm if (values > 0).all() else Normalize)(float(values.min()), float(values.max()))
        self.shades = values.copy(data=self.scale(values.values)).broadcast_like(dataset.outcome)
        self.places = self.shades - 0.5
        self.note = "A dot is a run; in each row, learning rates rise downwards."

    def draw(self, axes, values, place):
        values = values.broadcast_like(self.places).transpose(*self.places.dims)
        seen = np.isfinite(values.values) & (values.values >= 0)
        look_of = {"color": colours.COLOURS[0]} if self.shades is None else {
            "c": self.shades.transpose(*self.places.dims).values[seen], "cmap": colours.scale_of(self.axis),
            "vmin": 0, "vmax": 1}
        axes.scatter(values.values[seen], place + 0.66 * self.places.values[seen], s=5, linewidths=0, **look_of)

    def add_bar(self, figure, axes):
        if self.scale is not None:
            bar = look.add_bar(figure, ScalarMappable(self.scale, colours.scale_of(self.axis)), ax=axes)
            look.name_bar(bar, look.label(self.shades[self.axis]))


def draw_quality(axes, values, place, dots):
    """The row of one law: its dots, a bar at their median, and how many lie below 0, in the strip beside the axis.
    Returns this number."""
    dots.draw(axes, values, place)
    found = scales.finite([values.values])
    below = int((found < 0).sum())
    if len(found) and np.median(found) >= 0:
        axes.plot([np.median(found)] * 2, [place - 0.38, place + 0.38], color=colours.COLOURS[1], linewidth=1.6)
    if below:
        axes.text(-STRIP / 2, place, str(below), va="center", ha="center")
    return below


def set_range(axes, has_strip):
    """R^2 from 0 to 1, with a strip on the left for what lies below, if anything does."""
    axes.set_xlim(-STRIP if has_strip else 0, 1.03)
    places = [0, 0.2, 0.4, 0.6, 0.8, 1]
    words = [f"{place:g}" for place in places]
    axes.set_xticks([-STRIP / 2, *places] if has_strip else places, ["< 0", *words] if has_strip else words)
    if has_strip:
        axes.axvspan(-STRIP, 0, **STRIP_LOOK)
        axes.axvline(0, color="0.4", linewidth=0.6)


def same_quality(dataset):
    """Do both recursions fit some run equally well?"""
    kinds = [f"fit_{name}_r2" for name in ("aligned", "misaligned")]
    if not all(name in dataset for name in kinds):
        return False
    return bool((np.abs(dataset[kinds[0]] - dataset[kinds[1]]) < EQUAL).any())
