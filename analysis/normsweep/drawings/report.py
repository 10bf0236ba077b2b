"""A sweep as one HTML page: the results first, then the figures, how it went, what was run, on which machines, and the
sweep file."""

import re

import numpy as np

from .. import account
from ..boundary import ALIGNED, ORTHOGONAL, rule, slope_if
from ..boundary_text import columns_of, lines_of, slope_sentence, steps_slopes
from ..forces import SUM
from ..names import REPEAT
from ..plane import phase_axes
from ..words import duration, fixed, number, several, value_text
from .cells import class_text
from .drawing import reason
from .page import element, facts, figure as page_figure, join, page, table
from .picture import picture
from .runs import decay_name

STATES = {"running": "Running", "stopped": "Stopped: the same command, or the next job, continues it"}
MOST_RUNS = 20  # rows in a table of runs
MOST_VALUES = 30  # of an axis
MOST_SESSIONS = 20
MOST_BOUNDARIES = 24  # tables of them
MOST_FORCES = 60  # rows of shares
MOST_HEADLINES = 6  # boundaries in words at the top
FIRST = "phase"  # the figure at the top
SLOWEST = 5


def report(dataset, drawings=(), source="", status=None, every=0):
    """The page as text. drawings: (name, caption, figure or exception); source: the dataset's name and date.

    status, every: of a sweep that has not ended, the object of `normsweep status --json`, and the seconds until the
    page is rewritten.
    """
    title = dataset.sweep.title or "Untitled sweep"
    drawn = [(name, drawn_figure(name, caption, figure)) for name, caption, figure in drawings]
    first, others = ([html for name, html in drawn if (name == FIRST) == is_first] for is_first in (True, False))
    sections = [
        ("top", None, told(summary, dataset, source)),
        ("now", "Now", now(status, every) if status else None),
        ("diagram", "Phase diagram", join(first) if first else None),
        ("result", "Results", results(dataset)),
        ("figures", "Figures" if not first else "More figures", join(others) if others else None),
        ("how", "How it went", told(course, dataset)),
        ("what", "What was run", told(grid, dataset)),
        ("where", "Machines", told(machines, dataset)),
        ("file", "The sweep file", element("pre", dataset.sweep.sweep_file)),
    ]
    return page(title, sections, every)


def told(part, *arguments):
    """A part of the page; if a variable is missing or was altered by another program, a line that says so, because the
    other parts are still of use."""
    try:
        return part(*arguments)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return paragraph(f"{part.__name__.replace('_', ' ')}: not available: {reason(error)}")


def paragraph(*texts):
    return element("p", *texts)


def quiet(*texts):
    return element("p", *texts, class_="quiet")


def summary(dataset, source):
    counts = account.counts(dataset)
    runs = sum(count for word, count in counts.items() if word != "skipped")
    open_runs = counts.get("pending", 0) + counts.get("running", 0)
    phases = ", ".join(f"{count} {word}" for word, count in account.phases(dataset).items())
    text = f"{several(runs, 'run')}: " + ", ".join(f"{count} {word}" for word, count in counts.items()) + "."
    if phases:
        text += f" Of those done, {phases}."
    if open_runs:
        text += " The sweep has not ended; this page shows its state so far."
    return join([notes(dataset), paragraph(text), told(headlines, dataset), quiet(source) if source else None])


def now(status, every):
    """How far the sweep is, and the runs under way."""
    ended, expected, under_way = status["ended"], status["expected_runs"], status["under_way"]
    about = "about " if expected < status["runs"] else ""
    text = f": {number(ended)} of {about}{several(expected, 'run')} ended ({ended / max(expected, 1):.1%})"
    if status["tokens_per_second"]:
        text += f", {number(float(format(status['tokens_per_second'], '.3g')))} tokens per second"
    if status["seconds_left"] is not None:
        text += f", about {duration(round(status['seconds_left']))} left"
    if status["saved"]:
        text += f", {several(status['saved'], 'run')} saved under way"
    columns = ["step", "of", "loss", "host"]
    rows = [[*run["axes"].values(), *(run[name] if run[name] is not None else "" for name in (
        "step", "last_step", "loss", "host"))] for run in under_way]
    return join([
        paragraph(element("b", STATES[status["state"]]), text, "."), element("progress", max=expected, value=ended),
        table([*under_way[0]["axes"], *columns], rows, "Runs under way.", most=MOST_RUNS) if rows else None,
        quiet(f"As of {status['time'].replace('T', ' ')[:19]} UTC; rewritten every {every:g} s, and loaded again by "
              "itself.")])


def headlines(dataset):
    """The boundary and the best run, each in a sentence."""
    try:
        found = lines_of(dataset.sweep.boundary(), rule(dataset)) if rule(dataset).stops else []
    except ValueError:
        found = []
    lines = [text for text in (headline(line, decay_name(dataset)) for line in found) if text]
    if len(lines) > MOST_HEADLINES:
        lines = [*lines[:MOST_HEADLINES], f"{len(lines) - MOST_HEADLINES} more boundaries are below."]
    best = [f"{name[0].upper()}{name[1:]}: {text}." for name, text in account.losses(dataset)[:1]]
    return element("ul", *(element("li", line) for line in [*lines, *best]), class_="headlines") if lines or best \
        else None


def headline(line, decay):
    """Where growth stops, as a sentence; "" where it does not."""
    decays = [row[1] for row in line.rows if row[1] == row[1]]
    if not decays:
        return ""
    ends = " to ".join(dict.fromkeys(number(decay, 2) for decay in (min(decays), max(decays))))
    text = f"{line.words + ': growth' if line.words else 'Growth'} stops at a {decay} of {ends}"
    if line.points < 2:
        return f"{text}."
    spread = f", 95 % interval {fixed(line.low)} to {fixed(line.high)}" if line.repeats > 1 else (
        ", from one seed" if line.repeats == 1 else f" ± {fixed(line.error)}" if line.error == line.error else "")
    return f"{text}; its log-log slope over the learning rate is {fixed(line.slope)}{spread}."


def notes(dataset):
    """What the sweep file says about the sweep, if it does."""
    text = dataset.sweep.notes.strip()
    return element("p", text, class_="notes") if text else None


def grid(dataset):
    axes, same = account.axes(dataset), account.fixed(dataset)
    parts = []
    if axes:
        parts += [element("h3", f"Grid: {several(dataset.outcome.size, 'cell')}"), table(
            ["axis", "values", ""], [(name, count, some(texts)) for name, count, texts, _ in axes])]
    for name, _, labels, keys in axes:
        if keys:
            parts.append(table([name, *keys], zip(labels, *keys.values()), "Keys that change together along this axis.",
                               most=MOST_VALUES))
    given = account.given(dataset)
    chosen = [(name, value) for name, value in same if name in given]
    others = [(name, value) for name, value in same if name not in given]
    if same:
        parts += [element("h3", "The same in all runs"), key_list(chosen)] if chosen else []
        parts.append(element("details", element("summary", f"{several(len(others), 'more key')}, at the default"
                                                + "s" * (len(others) != 1)), key_list(others), id="defaults")
                     if others else None)
    return join(parts)


def key_list(pairs):
    return paragraph(*(element("span", element("b", name), " ", value_text(value), " ", class_="key")
                       for name, value in pairs))


def some(texts):
    """At most MOST_VALUES values of an axis, with the last one."""
    if len(texts) <= MOST_VALUES:
        return ", ".join(texts)
    return ", ".join(texts[:MOST_VALUES - 1]) + f", … {texts[-1]}"


def machines(dataset):
    shared, rows = account.sessions(dataset)
    parts = [facts([*shared, *((f"digest of the {what}", element("code", text))
                               for what, text in account.digests(dataset))])]
    if rows:
        names = list(rows[0])
        parts.append(table(names, [[row[name] for name in names] for row in rows],
                           "A session is one start of the program; a run counts in the session of its last attempt.",
                           most=MOST_SESSIONS))
    return join(parts)


def course(dataset):
    counts = account.counts(dataset)
    runs = sum(count for word, count in counts.items() if word != "skipped")
    parts = [table(["outcome", "runs", "share"], [
        (word, count, f"{count / runs:.1%}" if word != "skipped" and runs else "no runs")
        for word, count in counts.items()]), facts(account.effort(dataset))]
    names = account.labels(dataset)
    if counts.get("failed"):
        rows = account.runs(dataset, dataset.sweep.failed, "reason", "host", "attempts", most=MOST_RUNS)
        parts += [element("h3", "Failed"),
                  table([*names, "reason", "host", "attempts"], rows, count=counts["failed"])]
    if counts.get("diverged"):
        rows = account.runs(dataset, dataset.sweep.diverged, "diverged_step", most=MOST_RUNS)
        parts += [element("h3", "Diverged"),
                  table([*names, "step"], rows, "step: the first with a loss or norm that is not finite.",
                        count=counts["diverged"])]
    slowest = account.slowest(dataset, SLOWEST)
    if slowest:
        parts += [element("h3", "Slowest"),
                  table([*names, "seconds", "steps", "tokens per second"], slowest)]
    return join(parts)


def results(dataset):
    return join([told(part, dataset) for part in (early_part, boundary_part, force_part, exponent_part, loss_part)])


def early_part(dataset):
    early, ended = account.early(dataset)
    return paragraph(f"{early} of {several(ended, 'run')} ended early: norm_growth, boundary and final losses are of "
                     "different steps.") if early else None


def boundary_part(dataset):
    of = rule(dataset)
    heading = element("h3", "Boundary between growing and shrinking" if of.stops else f"Boundary: {of}")
    try:
        found = dataset.sweep.boundary()
    except ValueError as error:
        return join([heading, paragraph(f"{error}.")])
    what = (f"The {decay_name(dataset)} at which growth stops: the norm of the parameters ends as large as it "
            "began. It is interpolated log-log between a run that grows and the next that does not." if of.stops else
            "Interpolated between neighbouring runs on both sides.")
    orthogonal, aligned = (texts_of(slope_if(dynamics, dataset, of.along)) for dynamics in (ORTHOGONAL, ALIGNED))
    predicted = (f" It is {orthogonal} if steps are orthogonal to the parameters, {aligned} if they point along them."
                 * of.stops)
    parts = [heading, quiet(
        f"{what} Over seeds: the geometric mean; spread is one standard deviation, as a factor. Slope: of a straight "
        f"line through the log-log boundary, with its standard error.{predicted} Its interval holds the resampled "
        "seeds and each boundary anywhere between its two runs.")]
    lines = lines_of(found, of)
    for line in lines[:MOST_BOUNDARIES]:
        sentence = slope_sentence(line)
        parts += [element("h3", line.words) if line.words else None, table(*columns_of(line, of)),
                  paragraph(sentence) if sentence else None]
    if len(lines) > MOST_BOUNDARIES:
        parts.append(quiet(f"The first {MOST_BOUNDARIES} of {len(lines)} boundaries are shown."))
    slopes = steps_slopes(found)
    if slopes:
        named = any(row[0] for row in slopes)
        parts.append(table(["where"] * named + ["slope over steps", "95 % from", "to"],
                           [row[not named:] for row in slopes], most=MOST_BOUNDARIES))
    return join(parts)


def texts_of(slopes):
    """"1", or "1 or 2" if they differ between decay rules."""
    return " or ".join(str(slope).replace("-", "−") for slope in np.unique(slopes))


def force_part(dataset):
    """What feeds the norm where growth stops."""
    if SUM not in dataset or not rule(dataset).stops or phase_axes(dataset)[1] not in dataset[SUM].dims:
        return None
    shares = dataset.sweep.forces_at_boundary()
    shares = shares.mean([REPEAT] if REPEAT in shares.dims else [])
    axes = [dim for dim in shares.dims if dim != "force" and shares.sizes[dim] > 1]
    rows = [[*(value_text(account.plain(dataset[axis].values[place])) for axis, place in zip(shares.dims, at)
               if axis in axes), *("" if value != value else fixed(value) for value in shares.values[at])]
            for at in np.ndindex(*shares.shape[:-1]) if np.isfinite(shares.values[at]).any()]
    if not rows:
        return None
    return join([element("h3", "What feeds the norm where growth stops"), table(
        [*axes, *shares.force.values], rows, "Shares of what decay takes away in the whole run, which sum to 1; means "
        "over seeds. No chance: pull has it, too.", most=MOST_FORCES)])


def exponent_part(dataset):
    rows = account.exponents(dataset)
    classes = account.dynamics(dataset)
    if not rows and not classes:
        return None
    parts = [element("h3", "Law of growth")]
    if rows:
        parts.append(table(
            ["growth exponent p", "runs", "lower quartile", "median", "upper quartile", "median R²"], rows,
            "|θ|² − |θ₀|² ~ t²ᵖ, fitted where the norm is above its start; p is 1/2 for a random walk."))
    if classes:
        parts.append(table(["class of growth", "runs"], [
            (class_text("dynamics", word), count) for word, count in classes.items()],
            "The recursion with the lowest AIC. θ: the parameters; along and across: in and at right angles to their "
            "direction."))
    return join(parts)


def loss_part(dataset):
    rows = account.losses(dataset)
    return join([element("h3", "Losses"), facts(rows)]) if rows else None


def drawn_figure(name, caption, figure):
    """A figure as HTML; why there is none if it is an exception."""
    if isinstance(figure, Exception):
        return undrawn(name, figure)
    try:
        width, height = (round(96 * inches) for inches in figure.get_size_inches())
        image = element("img", src=picture(figure), alt=first_sentence(caption), width=width, height=height)
    except Exception as error:  # one broken figure must not stop the others
        return undrawn(name, error)
    return page_figure(name, image, join([element("b", name), " ", element("span", caption)]))


def first_sentence(caption):
    """For those who hear the page: the caption follows."""
    return re.split(r"(?<=\.) |; ", caption, maxsplit=1)[0]


def undrawn(name, error):
    return paragraph(f"{name}: could not be drawn: {reason(error)}")

