"""The contents of a report in words and numbers: what was run, on which machines, how it went, the results.

Functions return plain values and rows of tables; report.py formats them.
"""

import re

import numpy as np

from .collapse import ENTROPY, collapsed
from .names import GENERAL, PRECISION, SESSION, SESSION_NUMBERS
from .words import duration, number, several, texts, value_text
from .workers import course

USED = {  # the corpora that use a key, of keys that not all use
    "vocabulary": ("markov", "dyck", "tokens", "modular"),
    "corpus_tokens": ("markov", "dyck", "counter"),
    "train_share": ("modular",),
    "corpus_seed": ("markov", "dyck", "counter", "modular"),
    "min_count": ("text", "pairs"),
    "sequences": ("text", "bytes", "markov", "dyck", "counter", "tokens"),
}


def plain(value):
    """A numpy value as a Python value; truth values are bytes in the file."""
    if isinstance(value, (np.int8, np.bool_)):
        return bool(value)
    return value.item() if isinstance(value, np.generic) else value


def axes(dataset):
    """(axis, number of values, values as texts, {key: values as texts} of the keys along it) for each axis; numbers
    ascend."""
    def said(name, order):
        return [value_text(plain(value)) for value in dataset[name].values[order]]

    def one(axis):
        values = dataset[axis].values
        order = np.argsort(values, kind="stable") if values.dtype.kind in "iuf" else np.arange(len(values))
        keys = dataset.sweep.together.get(axis, ())
        return axis, len(values), said(axis, order), {key: said(key, order) for key in keys}
    return [one(axis) for axis in dataset.sweep.axes]


def fixed(dataset):
    """(key, value) of every key that is the same in all runs and has an effect on the corpus."""
    corpus = dataset.attrs.get("corpus")
    return [(name, plain(value)) for name, value in dataset.attrs.items()
            if name not in (*GENERAL, PRECISION) and (corpus is None or corpus in USED.get(name, (corpus,)))]


def given(dataset):
    """The names of the keys that the sweep file, a file that it includes, or --set gives a value; other keys have their
    defaults."""
    return set(re.findall(r"^(?:# \| |# --set )?['\"]?(\w+)['\"]?\s*[:=]", dataset.sweep.sweep_file, re.MULTILINE))


def digests(dataset):
    """("configuration" or "data", digest) of each digest in the dataset."""
    names = {"configuration_digest": "configuration", "data_digest": "data"}
    return [(what, dataset.attrs[name]) for name, what in names.items() if name in dataset.attrs]


def sessions(dataset):
    """([(name, text)] of what all sessions share, [{name: text}] of what differs, with the number of runs)."""
    names = [name for name in map(str, dataset.data_vars) if name.startswith(SESSION) and name not in SESSION_NUMBERS]
    used = np.flatnonzero(texts(dataset.session_start.values) != "")
    columns = {name[len(SESSION):].replace("_", " "): texts(dataset[name].values[used]) for name in names}
    shared = [(name, values[0]) for name, values in columns.items() if len(set(values)) == 1 and name != "start"]
    rows = [{"session": int(place), "runs": int((dataset.session == place).sum())} |
            {name: values[i] for name, values in columns.items() if name not in dict(shared)}
            for i, place in enumerate(used)]
    return shared, rows


def counts(dataset):
    """{word: number of runs} for every outcome that occurs, including skipped cells."""
    outcome = dataset.sweep.outcome
    found = {word: int((outcome == word).sum()) for word in dataset.outcome.attrs["flag_meanings"].split()}
    return {word: count for word, count in found.items() if count}


def phases(dataset):
    """{word: number of runs} for growing and shrinking, as far as they occur."""
    words = dataset.sweep.words("phase").values[dataset.sweep.done.values]
    return {word: int((words == word).sum()) for word in ("growing", "shrinking") if (words == word).any()}


def early(dataset):
    """(number of runs that ended early, number of runs that have ended)."""
    if "ended_early" not in dataset:
        return 0, 0
    words = dataset.sweep.words("ended_early").values
    return int(np.isin(words, ("", "no"), invert=True).sum()), int((words != "").sum())


def labels(dataset):
    """The axes with several values, which distinguish runs; all axes if there is none."""
    return [axis for axis in dataset.sweep.axes if dataset.sizes[axis] > 1] or list(dataset.sweep.axes)


def runs(dataset, mask, *variables, most=None):
    """At most `most` rows, one for each run of the mask in the order of the grid: its labels and the variables."""
    return rows_at(dataset, np.flatnonzero(in_order(dataset, mask))[:most], variables)


def rows_at(dataset, places, variables):
    """Rows of labels and variables for the runs at these flat indices of the grid."""
    columns = [in_order(dataset, dataset[name]) for name in variables]
    rows = []
    for place in places:
        index = dict(zip(dataset.sweep.axes, np.unravel_index(place, dataset.outcome.shape)))
        rows.append([plain(dataset[name].values[index[name]]) for name in labels(dataset)] +
                    [plain(column[place]) for column in columns])
    return rows


def in_order(dataset, variable):
    """The values of a variable, flat, in the order of the grid."""
    return variable.transpose(*dataset.sweep.axes).values.ravel()


def slowest(dataset, most):
    """Rows of the `most` slowest runs, the slowest first: labels, seconds, steps, tokens per second."""
    seconds = in_order(dataset, dataset.seconds.where(dataset.sweep.done | dataset.sweep.diverged))
    places = np.argsort(-seconds, kind="stable")[:most]  # NaN comes last
    return rows_at(dataset, places[~np.isnan(seconds[places])], ("seconds", "last_step", "tokens_per_second"))


def effort(dataset):
    """(name, text) about workers, time, speed, attempts and lost processes."""
    ran = course(dataset)
    found = [("workers", str(ran))] if ran else []
    seconds = dataset.seconds.values[np.isfinite(dataset.seconds.values)]
    if len(seconds):
        found += [("time in all runs", duration(seconds.sum())),
                  ("time per run", f"median {duration(np.median(seconds))}, {duration(seconds.min())} to "
                                   f"{duration(seconds.max())}")]
    speed = dataset.tokens_per_second.values[np.isfinite(dataset.tokens_per_second.values)]
    if len(speed):
        found.append(("tokens per second and run", f"median {number(np.median(speed))}, {number(speed.min())} to "
                                                   f"{number(speed.max())}"))
    attempts = dataset.attempts.values
    again = several(int((attempts > 1).sum()), "run")
    found.append(("attempts", f"{number(int(attempts.sum()))}; {again} started more than once"))
    deaths = int(dataset.deaths.values.sum())
    if deaths:
        found.append(("lost processes", f"{number(deaths)}, in runs without a checkpoint since"))
    return found


def exponents(dataset):
    """(words, runs with a fit, lower quartile, median, upper quartile, median R^2) of growth_exponent for each
    combination of word axes."""
    if "growth_exponent" not in dataset:
        return []
    fitted = dataset.growth_exponent.where(dataset.sweep.done)
    rows = []
    for words, at in combinations(dataset, dataset.sweep.word_axes):
        part = fitted.isel(at).values
        known = np.isfinite(part)
        if known.any():
            r2 = dataset.growth_exponent_r2.isel(at).values[known] if "growth_exponent_r2" in dataset else [np.nan]
            rows.append([words or "all runs", int(known.sum()), *map(float, (
                *np.quantile(part[known], [0.25, 0.5, 0.75]), np.median(r2)))])
    return rows


def dynamics(dataset):
    """{word: number of runs} of the classes of growth of the runs that are done; {} if no run has one."""
    if "dynamics" not in dataset or "param_norm" not in dataset:
        return {}
    words = dataset.sweep.words("dynamics").values[dataset.sweep.done.values].astype(str)
    found = dict(zip(*(part.tolist() for part in np.unique(words, return_counts=True))))
    return found if set(found) - {"none"} else {}


def losses(dataset):
    """(name, text) about validation: the lowest loss and its run, and how many runs learned nothing."""
    if "final_valid_loss" not in dataset:
        return []
    final = dataset.final_valid_loss.where(dataset.sweep.done)
    found = []
    if final.notnull().any():
        (*where, loss), = rows_at(dataset, [np.nanargmin(in_order(dataset, final))], ["final_valid_loss"])
        place = ", ".join(f"{name} {value_text(value)}" for name, value in zip(labels(dataset), where))
        found.append(("lowest validation loss", number(loss) + (f" ({place})" if place else "")))
        if "unigram_loss" in dataset and dataset.unigram_loss.notnull().any():
            unlearned = several(int((final >= dataset.unigram_loss).sum()), "run")
            found.append(("not below the unigram level",
                          f"{unlearned}: learned at most how often each word occurs"))
    if ENTROPY in dataset and dataset[ENTROPY].where(dataset.sweep.done).notnull().any():
        runs = several(int(collapsed(dataset).sum()), "run")
        found.append(("collapsed", f"{runs}: always predict the same word"))
    return found


def combinations(dataset, dims):
    """Yields (values in words, {dim: index}) for each combination of values along some dimensions."""
    for place in np.ndindex(*(dataset.sizes[dim] for dim in dims)):
        values = (plain(dataset[dim].values[i]) for dim, i in zip(dims, place))
        yield ", ".join(f"{dim.replace('_', ' ')} {value_text(value)}" for dim, value in zip(dims, values)), \
            dict(zip(dims, place))
