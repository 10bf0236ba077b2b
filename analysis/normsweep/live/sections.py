"""The sections of the page of a sweep under way."""

import datetime
from dataclasses import dataclass

import numpy as np

from .. import account
from ..figures.drawing import reason
from ..names import REPEAT
from ..page import Html, element, figure, join, page
from ..report import notes
from ..words import duration, grouped, number, several, value_text
from .curves import curves
from .diagram import diagram
from .style import STYLE
from .survey import DIVERGED, DONE, FAILED, PENDING, RUNNING, SKIPPED

MOST_FAILED = 12
QUIET_SECONDS = 20  # above which a run is said to have been silent
PARTS = ((DONE, "done"), (DIVERGED, "diverged"), (FAILED, "failed"), (RUNNING, "running"), (PENDING, "pending"))
HATCHES = Html("""<svg class="hatches" aria-hidden="true"><defs>\
<pattern id="hatch-diverged" width="16" height="16" patternUnits="userSpaceOnUse"><rect width="16" height="16"/>\
<path d="M0 0L16 16M16 0L0 16"/></pattern>\
<pattern id="hatch-failed" width="14" height="14" patternUnits="userSpaceOnUse"><rect width="14" height="14"/>\
<path d="M7 0V14" class="of-failed"/></pattern>\
<pattern id="hatch-skipped" width="14" height="14" patternUnits="userSpaceOnUse"><rect width="14" height="14"/>\
<path d="M7 6V8"/></pattern></defs></svg>""")


@dataclass(frozen=True)
class State:
    """How a sweep stands, or its file: a word that the style knows, and a sentence."""

    word: str
    text: str


def state_of(survey):
    if survey.is_complete:
        return State("complete", "All runs have ended")
    if survey.held:
        return State("running", "Running")
    if not survey.sessions:
        return State("stopped", "Not begun: nothing runs")
    return State("stopped", "Stopped: nothing runs; the same command, or the next job, continues it")


def live_page(title, parts, every, now):
    """The page as text. parts: [(id, heading or None, content or None)]; every: seconds to the next rewrite, 0: none.
    """
    return page(title, [part for part in parts if part[2] is not None], (every, now, STYLE))


def head(title, state, now, every):
    """The part that every page has, even without a dataset."""
    moment = datetime.datetime.fromtimestamp(now, datetime.timezone.utc)
    clock = element("time", f"{moment:%H:%M:%S} UTC", datetime=f"{moment:%Y-%m-%dT%H:%M:%SZ}", data_clock=f"{now:.0f}")
    pill = element("p", element("i"), element("span", state.text), class_=f"pill {state.word}")
    said = [", rewritten every ", number(every, 2), " s while the sweep runs; this page reloads by itself."] if every \
        else [f", {moment:%d %B %Y}; this page is no longer rewritten."]
    return "top", None, join([pill, element("h1", title), element("p", "As of ", clock, *said, class_="quiet")])


def parts_of(dataset, survey, state, name, now, every):
    """All parts of the page of a dataset."""
    title = dataset.sweep.title or name
    return title, [
        head(title, state, now, every),
        ("state", None, join([*notes(dataset), share(survey), facts(survey, now)])),
        part("diagram", "Norm growth so far", phase_part, dataset, survey),
        part("side", None, side, dataset, survey),
        part("curves", "Losses and norms", curves_part, dataset, survey),
    ]


def part(name, heading, function, *arguments):
    """A part; if other programs have altered what it shows, a line that says so."""
    try:
        return name, heading, function(*arguments)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return name, heading, element("p", f"not available: {reason(error)}", class_="quiet")


def share(survey):
    """The bar of all runs, and its legend with the counts."""
    counts = {word: survey.count(outcome) for outcome, word in PARTS}
    if survey.searches:  # most of the cells will not be trained
        counts["pending"] = max(survey.all_runs - survey.ended - counts["running"], 0)
    total = max(sum(counts.values()), 1)
    shown = {word: count for word, count in counts.items() if count}
    bar = element("div", *(element("i", class_=f"of-{word}", style=f"width:{100 * count / total:.3f}%")
                           for word, count in shown.items()), class_="share", role="img",
                  aria_label=", ".join(f"{grouped(count)} {word}" for word, count in shown.items()))
    skipped = survey.count(SKIPPED)
    keys = [element("span", element("i", class_=f"of-{word}"), f"{grouped(count)} {word}", class_="key")
            for word, count in shown.items()]
    return join([bar, element("div", *keys, element("span", f"{grouped(skipped)} skipped", class_="key")
                              if skipped else None, class_="keys", id="counts")])


def facts(survey, now):
    about = "about " if survey.searches else ""
    percent = f"{100 * survey.ended / max(survey.all_runs, 1):.1f} %"
    rows = [("runs ended", f"{grouped(survey.ended)} of {about}{grouped(survey.all_runs)} ({percent})")]
    if survey.is_going:
        known = [("time left", survey.left, lambda left: f"about {span(left)}"),
                 ("tokens per second", survey.speed, lambda speed: number(float(f"{speed:.3g}"))),
                 ("workers", survey.workers, number)]
        rows += [(name, told(value)) for name, value, told in known if np.isfinite(value)]
    if survey.sessions:
        where = f" on {survey.session_host}" if survey.session_host else ""
        begun = f", begun {span(now - survey.started)} ago" if np.isfinite(survey.started) else ""
        rows.append(("session", f"{survey.sessions}{where}{begun}"))
    if not survey.is_complete and survey.written >= QUIET_SECONDS:
        rows.append(("last written", f"{span(survey.written)} ago"))
    if survey.saved:
        rows.append(("saved", f"{several(survey.saved, 'run')} under way"))
    return element("dl", *(element("div", element("dt", name), element("dd", text)) for name, text in rows),
                   class_="facts")


def phase_part(dataset, survey):
    drawn, left_out = diagram(dataset, survey)
    if drawn is None:
        return element("p", "A single run has no diagram.", class_="quiet")
    repeats = dataset.sizes.get(REPEAT, 1)
    caption = "Each cell is a run." if repeats == 1 else (
        f"Each cell stands for {several(repeats, 'seed')}: it fills from below as they end, and its colour is their "
        "geometric mean.")
    caption = " ".join(filter(None, [caption, left_out]))
    empty = "Point at a cell, or tap it, to read it." if "data-cells" in drawn else ""
    reading = element("p", empty, class_="reading", data_empty=empty)
    return join([HATCHES, figure("diagram", drawn, caption, reading)])


def curves_part(dataset, survey):
    drawn = curves(dataset, survey)
    return element("div", drawn, class_="curves") if drawn is not None else None


# ---- runs under way, and what failed ----

def side(dataset, survey):
    names = [name.replace("_", " ") for name in account.labels(dataset)]
    return join([under_way(survey, names), failures(dataset, survey, names)])


def under_way(survey, names):
    count = survey.count(RUNNING)
    rows = [element("li", label(names, run.label), *progress(run)) for run in survey.under_way]
    if count > len(rows):
        rows.append(element("li", f"and {several(count - len(rows), 'more run')}", class_="more"))
    if not rows:
        return join([element("h2", "Runs under way"), element("p", none_under_way(survey), class_="quiet")])
    return join([element("h2", f"Runs under way: {grouped(count)}"), element("ul", *rows, class_="runs", id="runs")])


def none_under_way(survey):
    if not survey.saved:
        return "None at this moment."
    many = survey.saved != 1
    return (f"{several(survey.saved, 'run')} {'were' if many else 'was'} under way when the sweep stopped, and "
            f"{'are' if many else 'is'} saved: the next start resumes {'them' if many else 'it'}.")


def label(names, values):
    return ", ".join(f"{name} {value_text(value)}" if not isinstance(value, float) else f"{name} {number(value)}"
                     for name, value in zip(names, values)) or "the run"


def span(seconds):
    """A duration to the second, so that it does not flicker."""
    return duration(max(round(seconds), 0))


def progress(run):
    """A bar, and what is known of the run in words."""
    step = f"step {grouped(run.step)}" + (f" of {grouped(run.last_step)}" if run.last_step else "")
    texts = [step if run.step else "begun",
             join(["loss ", element("b", number(run.loss))]) if np.isfinite(run.loss) else None, run.host or None,
             f"silent for {span(run.heard)}" if run.heard >= QUIET_SECONDS else None]
    told = [text for text in texts if text is not None]
    bar = element("progress", max=run.last_step, value=min(run.step, run.last_step), aria_label=step) \
        if run.last_step else None
    return bar, element("div", *(part for i, text in enumerate(told) for part in ([" · "] if i else []) + [text]),
                        class_="more")


def failures(dataset, survey, names):
    count = survey.count(FAILED)
    if not count:
        return None
    found = account.runs(dataset, dataset.sweep.failed, "reason", "host", most=MOST_FAILED)
    rows = [element("li", label(names, values), element("div", element("b", why or "no reason given"),
                                                        f" · {host}" if host else "", class_="more"))
            for *values, why, host in found]
    if count > len(rows):
        rows.append(element("li", f"and {several(count - len(rows), 'more run')}", class_="more"))
    return join([element("h2", f"Failed: {grouped(count)}"), element("ul", *rows, class_="runs failed")])
