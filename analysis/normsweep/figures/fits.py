"""Laws of growth beside the measured norms: straight fits of a few functions of the step, and the recursions of
aligned, misaligned and Adam-like growth with the parameters that the dataset has of them."""

import numpy as np
from matplotlib.lines import Line2D

from .. import look
from . import runs
from .drawing import Drawing
from .lines import label_steps

STRAIGHT = {  # name in fit_NAME_r2: what is drawn through, as a function of t and t_end, its formula
    "sqrt": (lambda t, end: np.sqrt(t), "$\\sqrt{t}$"),
    "fourth_root": (lambda t, end: t ** 0.25, "$t^{1/4}$"),
    "linear": (lambda t, end: t, "$t$"),
    "exponential": (lambda t, end: np.exp(-t / end), "$e^{-t/t_{end}}$"),
}
RECURSIONS = {  # name: its parameter in the dataset, its word
    "aligned": ("fit_aligned_k", "aligned"),
    "misaligned": ("fit_misaligned_k", "misaligned"),
    "adam_like": ("fit_adam_like_a", "Adam-like"),
}
MEASURED = {"color": "black", "marker": "o", "markersize": 3, "linestyle": "none", "markerfacecolor": "none",
            "markeredgewidth": 0.7}
MOST_POINTS = 30  # of a run; all count in the fits
SAME = 1e-3  # of the range of the norms: two curves that are nearer everywhere cannot be told apart
EQUAL = 1e-9  # the difference of two R^2 of one curve
UNDER = {"linewidth": 3, "alpha": 0.5}  # of a curve that another covers
MOST_STEPS = 10 ** 6  # of a recursion that is followed


def parameter(dataset, name, run):
    """What a key of the sweep file is in a run: its place on an axis, or along one, or else the same for all."""
    if name in dataset.coords:
        value = dataset[name].isel({axis: index for axis, index in run.items() if axis in dataset[name].dims}).item()
    else:
        value = dataset.attrs[name]
    return value if isinstance(value, str) else float(value)


def rates(dataset, run, last):
    """The learning rate of every step 1..last of a run, as its schedule has it."""
    rate, start = parameter(dataset, "learning_rate", run), parameter(dataset, "schedule_start", run)
    schedule, warmup = parameter(dataset, "schedule", run), parameter(dataset, "warmup_steps", run)
    t = np.arange(1, last + 1, dtype=float)
    rate = np.full(last, rate)
    if schedule == "linear":
        rate[t > start] *= (1 - 0.9 * (t - start) / (last - start))[t > start]
    if schedule == "inverse_sqrt":
        rate *= np.sqrt(np.minimum(1, max(start, 1) / t))
    if warmup > 0:
        rate *= np.minimum(1, t / warmup)
    return rate


def decay_of(dataset, run):
    """lambda of the recursions: nothing where decay is part of what Adam normalises."""
    optimiser, decay = parameter(dataset, "optimiser", run), parameter(dataset, "weight_decay", run)
    return 0.0 if optimiser == "adam" else decay / (1 - parameter(dataset, "momentum", run)) if optimiser == "sgd" \
        else decay


def follow(kind, value, start, rate, decay):
    """The norm at steps 0..n under a recursion; `value` is its k or a."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if kind == "aligned":
            return start * np.concatenate([[1], np.cumprod(1 - rate * decay + value * rate)])
        if kind == "misaligned":
            return start * np.sqrt(np.concatenate([[1], np.cumprod((1 - rate * decay) ** 2 + (value * rate) ** 2)]))
        square = [start ** 2]
        for step in rate:
            square.append((1 - step * decay) ** 2 * square[-1] + value * step ** 2)
        return np.sqrt(square)


def straight_fits(step, norm):
    """{name: (fitted norms, R^2)} by least squares over the measured steps."""
    found = {}
    for name, (function, _) in STRAIGHT.items():
        x = function(step, step[-1])
        table = np.stack([np.ones_like(x), x], axis=1)
        fitted = table @ np.linalg.lstsq(table, norm, rcond=None)[0]
        found[name] = fitted, r_squared(norm, fitted)
    return found


def r_squared(norm, fitted):
    """R^2 against the mean; of numbers of any size, as a bad recursion may pass all bounds."""
    size = np.abs(norm).max()
    total = np.sum((norm / size - np.mean(norm / size)) ** 2) if size > 0 else 0
    with np.errstate(over="ignore", invalid="ignore"):
        return 1 - np.sum(((norm - fitted) / size) ** 2) / total if total > 0 else np.nan


def recursion_fits(dataset, run, step, norm):
    """{name: (norms, R^2)} of the recursions at the measured steps, as far as the dataset has them."""
    if step[-1] > MOST_STEPS:
        return {}
    rate, decay, found = None, None, {}
    for name, (variable, _) in RECURSIONS.items():
        value = float(dataset[variable].isel(run)) if variable in dataset else np.nan
        if not np.isfinite(value):
            continue
        if rate is None:
            rate, decay = rates(dataset, run, int(step[-1])), decay_of(dataset, run)
        fitted = follow(name, value, norm[0], rate, decay)[step.astype(int)]
        found[name] = fitted, r_squared(norm, fitted)
    return found


def laws(dataset):
    """Three runs, from the most shrinking to the most growing: straight fits on the left, recursions on the right."""
    if not runs.is_measured(dataset, "param_norm", "step"):
        return None
    with look.style():
        chosen, note = runs.representatives(fitted_ones(dataset), "param_norm", 3)
        chosen = [run for run in chosen if np.isfinite(dataset.param_norm.isel(run)).sum() >= 4]
        if not chosen:
            return None
        figure, panels = look.sheet(len(chosen), 2, height=2.4, sharey="row")
        covered = [draw_run(left, right, dataset, run) for (left, right), run in zip(panels, chosen)]
        panels[0, 0].set_title("straight lines in a function of $t$")
        panels[0, 1].set_title("recursions of the norm")
        label_steps(panels, panels.size, dataset)
        notes = [note] if note else []
        if any(covered):
            notes.append("Where the learning rate is constant, aligned and misaligned growth are one curve: dashes on "
                         "a broad line.")
        look.close(figure, dataset, (), notes)
        return Drawing("norms-fits", " ".join(["Measured norms (circles) and laws of growth fitted to them by least "
                                               "squares, with R².", *notes]), figure)


def fitted_ones(dataset):
    """The dataset with the norms of no runs but those that are done, if there are any: those have fits."""
    done = dataset.sweep.done
    return dataset.assign(param_norm=dataset.param_norm.where(done)) if done.any() else dataset


def are_one(fits, norm):
    """Are the curves of aligned and misaligned growth the same to the eye?"""
    if not {"aligned", "misaligned"} <= set(fits):
        return False
    with np.errstate(invalid="ignore"):  # of curves beyond all bounds
        return bool(np.abs(fits["aligned"][0] - fits["misaligned"][0]).max() < SAME * np.ptp(norm))


def draw_run(left, right, dataset, run):
    """One run's two panels; whether one of its recursions covers another."""
    values = dataset.param_norm.isel(run).values
    seen = np.isfinite(values)
    step, norm = dataset.step.values[seen].astype(float), values[seen]
    straight, recursions = straight_fits(step, norm), recursion_fits(dataset, run, step, norm)
    words = {**{name: formula for name, (_, formula) in STRAIGHT.items()},
             **{name: word for name, (_, word) in RECURSIONS.items()}}
    covered = are_one(recursions, norm)
    for axes, fits in ((left, straight), (right, recursions)):
        points = runs.thinned(range(len(step)), MOST_POINTS)
        axes.plot(step[points], norm[points], **MEASURED)
        handles = []
        for i, (name, (fitted, r2)) in enumerate(fits.items()):
            style = {"color": look.COLOURS[i], "linestyle": look.DASHES[i]}
            if covered and name == "aligned":
                style |= UNDER
            axes.plot(step, fitted, **style)
            handles.append(Line2D([], [], label=f"{words[name]}  {round(r2, 3) + 0:.3f}", **style))
        look.grid(axes)
        if handles:
            axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1, 1.02), borderaxespad=0.3,
                        handlelength=1.6, handletextpad=0.5, title="$R^2$", alignment="left")
    frame(left, norm)
    left.set_ylabel(f"{look.label(dataset.param_norm)}\n" + look.side_title(runs.text(dataset, run)))
    return covered


def frame(axes, norm):
    """The measured norms fill the panel; a fit that is far off leaves it."""
    low, high = norm.min(), norm.max()
    room = 0.15 * (high - low) or 0.01 * abs(high) or 1
    axes.set_ylim(low - room, high + room)


def quality(dataset):
    """R^2 of every law over all runs: a box with the quartiles, a dot for each of not too many runs."""
    names = {name: formula for name, (_, formula) in STRAIGHT.items()}
    names.update({name: word for name, (_, word) in RECURSIONS.items()})
    names = {f"fit_{name}_r2": word for name, word in names.items()} | {"growth_exponent_r2": "$t^{p}$"}
    names = {name: word for name, word in names.items() if runs.is_measured(dataset, name)}
    if not names or int(dataset.sweep.done.sum()) < 2:
        return None
    with look.style():
        figure, panels = look.sheet(1, 1, height=2.8)
        axes = panels[0, 0]
        for place, name in enumerate(names):
            values = look.finite([dataset[name].values])
            below = int((values < 0).sum())
            inside = values[values >= 0]
            offset = np.linspace(-0.28, 0.28, len(inside)) if len(inside) > 1 else np.zeros(len(inside))
            axes.plot(place + offset, inside, linestyle="none", marker=".", markersize=3, color=look.COLOURS[0],
                      alpha=0.6)
            axes.plot([place - 0.35, place + 0.35], [max(np.median(values), -0.1)] * 2, color=look.COLOURS[1],
                      linewidth=1.6)
            if below:
                axes.text(place, -0.03, f"{below} below 0", ha="center", va="top")
        axes.set_ylim(-0.12, 1.03)
        axes.set_xticks(range(len(names)), list(names.values()))
        axes.set_ylabel("$R^2$ of the fit to the norms")
        look.grid(axes, "y")
        note = "A dot is a run, in the order of the grid; bars are medians."
        if "growth_exponent_r2" in names:
            note += " $t^p$ is fitted in the logs, the others are not."
        if same_quality(dataset):
            note += " Aligned and misaligned are one curve wherever the learning rate is constant."
        look.close(figure, dataset, (), [note])
        return Drawing("fits", "How well each law of growth fits the norms of the runs. " + note.replace("$", ""),
                       figure)


def same_quality(dataset):
    """Do both recursions fit some run equally well?"""
    kinds = [f"fit_{name}_r2" for name in ("aligned", "misaligned")]
    if not all(name in dataset for name in kinds):
        return False
    return bool((np.abs(dataset[kinds[0]] - dataset[kinds[1]]) < EQUAL).any())
