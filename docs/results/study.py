"""What the studies of this folder share: the commands of their sweeps, and numbers with their intervals."""

import pathlib
import re
import shlex

import numpy as np

PROJECT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = ("number", "value", "low", "high", "interval")


def small(sweep, *settings, variant="Small"):
    """The command of a study's sweep: the one for the small variant in the header of sweeps/SWEEP.yaml, and more
    settings, which overrule those."""
    path = PROJECT / "sweeps" / f"{sweep}.yaml"
    found = re.search(rf"^# {variant} .*\n(?:# .*\n)*?# +(normsweep run (?:.*\\\n)*.*)$", path.read_text(), re.M)
    if not found:
        raise ValueError(f"{path} has no command of a variant '{variant}'; use whole()")
    words = shlex.split(re.sub(r"\\\n# *", "", found[1]))
    given = [word for key, word in zip(words, words[1:]) if key == "--set"]
    return whole(sweep, *given, *settings)


def long(sweep, *settings):
    """The same of the long variant. This folder has its dataset, STUDY-KEY.nc, which rerun.py trains again only if
    it is told to."""
    return small(sweep, *settings, variant="Long")


def whole(sweep, *settings):
    """The same of the whole sweep."""
    return [str(PROJECT / "sweeps" / f"{sweep}.yaml"), *(word for setting in settings for word in ("--set", setting))]


def in_double(command):
    """The same with the program whose numbers are double."""
    return ["normsweep-double", *command]


def kept(study, sweep):
    """The weights that another sweep of the study has kept of its only run, as a path for the settings of a later one;
    rerun.py fills it in."""
    return f"{study}-{sweep}.nc.d/*.weights.nc"


def number(name, value, low, high, interval):
    """A number of a study, and the interval from which no rerun should take it. interval: what that is, in words."""
    return dict(zip(COLUMNS, (name, float(value), float(low), float(high), interval)))


def count(name, value):
    """A number that a rerun should give exactly."""
    return number(name, value, value, value, "exact")


def of_range(name, values):
    """The mean of the values of several seeds, and their range."""
    values = [float(value) for value in values]
    return number(name, sum(values) / len(values), min(values), max(values), f"range of {len(values)} seeds")


def compared(name, found, variable="norm_growth"):
    """The mean change of a variable over cells, from normsweep.compare(), and the boundary's at each learning rate."""
    change = f"{variable}_mean_{'ratio' if f'{variable}_mean_ratio' in found else 'difference'}"
    yield of_pairs(f"{name}: {variable}", found, change)
    yield of_p(f"{name}: p of {variable}", found[f"{variable}_mean_p"])
    yield about_count(f"{name}: cells in which {variable} differs surely", (found[f"{variable}_q"] <= 0.05).sum())
    if variable == "norm_growth":
        yield about_count(f"{name}: pairs of runs in other phases", found.phase_differs.sum())
    if variable == "norm_growth" and "learning_rate" in getattr(found.get("boundary_ratio"), "dims", ()):
        for rate in found.learning_rate.values:
            yield of_pairs(f"{name}: boundary at rate {rate:.3g}", found.sel(learning_rate=rate), "boundary_ratio")


def of_p(name, value):
    """A p-value, which rounding on another processor changes by a factor rather than a share."""
    return number(name, value, value / 10, min(10 * float(value), 1), "a factor of 10")


def about_count(name, value):
    """A count of runs or cells, single ones of which rounding on another processor may change."""
    room = 2 + float(value) / 10
    return number(name, value, max(value - room, 0), value + room, "± 2 and a tenth")


def up_to(name, value, times):
    """A number of rare or unstable runs, which may be 0 on another processor, or this many times as large."""
    return number(name, value, 0, times * float(value), f"up to {times} times as much")


def of_pairs(name, found, change):
    return number(name, *(found[key].item() for key in (change, f"{change}_low", f"{change}_high")), "95 % of pairs")


def of_spread(name, values):
    """The mean over seeds, with the standard deviation of one seed on both sides."""
    values = np.asarray(values, dtype=float).ravel()
    mean, spread = values.mean(), values.std(ddof=1)
    return number(name, mean, mean - spread, mean + spread, f"standard deviation of {len(values)} seeds")


def of_error(name, values):
    """The mean over seeds, with its standard error on both sides."""
    values = np.asarray(values, dtype=float).ravel()
    mean, error = values.mean(), values.std(ddof=1) / len(values) ** 0.5
    return number(name, mean, mean - error, mean + error, f"standard error of {len(values)} seeds")


def of_mean(name, values):
    """The mean over seeds and Student's interval of 95 %."""
    from normsweep import significance
    found = significance.mean(np.asarray(values, dtype=float))
    return number(name, found.value, found.low, found.high, f"95 % of {len(values)} seeds")


def about(name, value, share=0.05):
    """A number without an interval, such as one of a single seed: `share` is what rounding on another processor may
    change."""
    return number(name, value, value - share * abs(value), value + share * abs(value), f"± {share:.0%}")


def lines(rows, series, x, y, logarithmic=""):
    """A figure of the numbers of a study: rows = {name: number}, series = {label of a line: {place on x, a number or a
    word: name}}. Bars are the intervals, side by side; words are not connected; logarithmic: the axes that are, "x",
    "y" or "xy"."""
    from matplotlib.transforms import ScaledTranslation
    from normsweep.drawings import canvas, colours, look
    with look.style(canvas.Options(width=3.3, notes=False)):
        figure, panels = look.sheet(1, 1, height=2.2)
        axes, = panels.ravel()
        for i, (label, points) in enumerate(series.items()):
            value, low, high = (np.array([rows[name][key] for name in points.values()], dtype=float)
                                for key in ("value", "low", "high"))
            aside = ScaledTranslation((i - (len(series) - 1) / 2) * 3 / 72, 0, figure.dpi_scale_trans)
            has_words = isinstance(next(iter(points)), str)
            axes.errorbar(range(len(points)) if has_words else list(points), value, [value - low, high - value],
                          label=label, capsize=2, elinewidth=0.8, transform=axes.transData + aside,
                          **colours.marked(i, 3) | ({"linestyle": "none"} if has_words else {}))
            if has_words:
                axes.set_xticks(range(len(points)), points, rotation=90)
        axes.set(**{f"{axis}scale": "log" for axis in logarithmic}, xlabel=x, ylabel=y)
        axes.margins(x=0.08)  # for what is set aside
        places = list(dict.fromkeys(place for points in series.values() for place in points))
        if not has_words and len(places) <= 5:
            axes.set_xticks(places, [f"{place:g}" for place in places])
            axes.set_xticks([], minor=True)
        look.grid(axes)
        return look.frame(figure, "", axes.get_legend_handles_labels()[0])
