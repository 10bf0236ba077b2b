"""The runs of a sweep as figures need them: which have values, their labels, and a representative few where there is
no room for all."""

import itertools

import numpy as np

from ..names import PHASE_AXES, REPEAT, TIMESCALE
from ..plane import of_sound_runs, phase_axes
from ..predicted import key
from . import look, scales

PYTORCH_DEFAULT = {"learning_rate": 1e-3, "weight_decay": 1e-2}
NAMED = 6  # words that are left out and named


def axes_of(dataset):
    """The axes with more than one value."""
    return [axis for axis in dataset.sweep.axes if dataset.sizes[axis] > 1]


def words_of(dataset):
    """The axes with more than one value whose values are words."""
    return [axis for axis in axes_of(dataset) if axis in dataset.sweep.word_axes]


def numbers_of(dataset):
    """The axes with more than one value whose values are numbers, without the seed: learning rate and weight decay
    first, then by falling length."""
    numbers = [axis for axis in axes_of(dataset) if axis not in dataset.sweep.word_axes and axis != REPEAT]
    first = phase_axes(dataset)
    return ([axis for axis in first if axis in numbers]
            + sorted((axis for axis in numbers if axis not in first), key=lambda axis: -dataset.sizes[axis]))


def others_of(dataset, *shown):
    """The axes with more than one value that are neither shown nor the seed: those of words first. Each combination of
    their values has a panel or a line of its own, because only runs that differ in the seed are repeats."""
    words = words_of(dataset)
    numbers = [axis for axis in axes_of(dataset) if axis not in words and axis != REPEAT]
    return [axis for axis in [*words, *numbers] if axis not in shown]


def combinations(dataset, axes):
    """{axis: index} for each combination of values along some axes."""
    for indices in itertools.product(*(range(dataset.sizes[axis]) for axis in axes)):
        yield dict(zip(axes, indices))


def part(dataset, at):
    """The dataset at {axis: index}. The keys of these places become attributes, as those that are the same in all runs
    are: as coordinates they would be compared at every step of a calculation, which takes most of its time."""
    found = dataset.isel(at)
    single = [str(name) for name, values in found.coords.items() if values.ndim == 0]
    return found.drop_vars(single).assign_attrs({name: found[name].item() for name in single})


def decay_name(dataset):
    """What phase diagrams have along y."""
    return "timescale of decay" if phase_axes(dataset)[1] == TIMESCALE else "weight decay"


def timescale_note(dataset):
    """What the timescale is, and on which side of a boundary norms grow; "" if it is not an axis."""
    if phase_axes(dataset)[1] != TIMESCALE:
        return ""
    independent = key(dataset, "decay_rule") == "independent"
    rate = "" if independent.all() else "learning rate × "
    but = ", but 1 / (weight decay × steps) where decay_rule is independent" if rate and independent.any() else ""
    return f"Timescale: 1 / ({rate}weight decay × steps){but}; it is short where decay is strong."


def axis_name(axis):
    """"norm placement" for norm_placement."""
    return axis.replace("_", " ")


def names_text(axes):
    """"norm placement, steps and seed" for norm_placement, steps and seed."""
    *others, last = map(axis_name, axes)
    return f"{', '.join(others)} and {last}" if others else last


def plural(axis, count=2):
    """"norm placements" for norm_placement; "norm placement" if there is one."""
    word = axis_name(axis)
    return word + ("" if count == 1 or word.endswith("s") else "es" if word.endswith("ch") else "s")


def plurals(axes):
    """"seeds and norm placements" for seed and norm_placement."""
    return " and ".join(map(plural, axes))


def value_text(dataset, axis, index):
    """A value as a legend shows it: words alone, numbers and truth values with their axis."""
    value = dataset[axis].values[index]
    if dataset[axis].dtype.kind in "OSTU":
        return look.plain(value)
    name, unit = look.name(dataset[axis])
    if dataset[axis].dtype.kind == "b":
        return f"{name} {'yes' if value else 'no'}"
    return f"{name} {scales.number(value)} {unit}".strip()


def value_alone(dataset, axis, index):
    """A value beside the name of its axis: "0.01", "pre", "yes"."""
    value = dataset[axis].values[index]
    if dataset[axis].dtype.kind in "OSTU":
        return look.plain(value)
    return ("yes" if value else "no") if dataset[axis].dtype.kind == "b" else scales.number(value)


def axis_label(dataset, axes):
    """What stands above the values of one axis, or of the combinations of several: "learning rate (–)", "norm
    placement"."""
    if len(axes) > 1:
        return names_text(axes)
    axis, = axes
    return axis_name(axis) if dataset[axis].dtype.kind in "OSTUb" else look.label(dataset[axis])


def text(dataset, at):
    """The label of a run or of a panel."""
    return ", ".join(value_text(dataset, axis, index) for axis, index in at.items() if dataset.sizes[axis] > 1)


def titles(dataset, chosen):
    """(the label of each of some runs, or combinations of values: what tells them apart; a note on what all have in
    common, "" if there is nothing)."""
    common = {axis for axis, i in chosen[0].items() if len(chosen) > 1 and all(at[axis] == i for at in chosen)}
    labels = [text(dataset, {axis: i for axis, i in at.items() if axis not in common}) for at in chosen]
    said = [f"{look.name(dataset[axis])[0]} {value_alone(dataset, axis, i)} {look.name(dataset[axis])[1]}".strip()
            for axis, i in chosen[0].items() if axis in common and dataset.sizes[axis] > 1]
    return labels, f"All with {', '.join(said)}." if said else ""


def measured(dataset, variable):
    """Mask over the axes: the runs with a finite value of this variable. Diverged and failed runs are in it only if
    there are no others, because their values would dwarf the rest."""
    values = dataset[variable]
    others = [dim for dim in values.dims if dim not in dataset.sweep.axes]
    has = np.isfinite(values).any(others).transpose(*dataset.sweep.axes)
    sound = has & (dataset.sweep.running | dataset.sweep.done)
    return sound if sound.any() else has


def is_measured(dataset, variable, *dims):
    """Does the dataset have this variable, with these dimensions and any finite number?"""
    if variable not in dataset or not set(dims) <= set(dataset[variable].dims):
        return False
    return dataset[variable].dtype.kind in "iuf" and bool(np.isfinite(dataset[variable]).any())


def once(mask):
    """The mask restricted to one seed for each combination of the other axes: the first that has a run in it."""
    return mask & (mask.cumsum(REPEAT) == 1) if REPEAT in mask.dims else mask


def listed(mask):
    """The runs of a mask as {axis: index}, in the order of the grid."""
    return [dict(zip(map(str, mask.dims), map(int, place))) for place in np.argwhere(mask.values)]


def thinned(items, count):
    """At most `count` of the items, evenly spaced, including the first and the last."""
    if len(items) <= count:
        return list(items)
    return [items[i] for i in np.linspace(0, len(items) - 1, count).round().astype(int)]


def combinations_with_runs(dataset, mask, axes):
    """[({axis: index}, number of runs)] of the combinations of values along some axes that have a run in the mask; all
    combinations if none has."""
    others = [axis for axis in mask.dims if axis not in axes]
    counts = mask.astype(bool).sum(others).transpose(*axes).values
    every = [(at, int(counts[tuple(at.values())])) for at in combinations(dataset, axes)]
    return [one for one in every if one[1]] or every


def fullest(every, count):
    """At most `count` of the combinations that combinations_with_runs returns, evenly spaced; if there are enough with
    at least half as many runs as the one with the most, then of those."""
    counts = sorted((number for _, number in every), reverse=True)
    least = min(counts[0] / 2, counts[min(count, len(counts)) - 1])
    return thinned_along([at for at, number in every if number >= least], count)


def thinned_along(every, count, depth=0):
    """At most `count` of some combinations {axis: index}, evenly spaced: each value of the first axis keeps as many of
    the others, if there is room for one of each; else some values keep the first."""
    if len(every) <= count:
        return every
    groups = {}
    for at in every:
        groups.setdefault(list(at.values())[depth], []).append(at)
    if depth + 1 == len(every[0]):
        return thinned(every, count)
    if len(groups) > count:
        return [group[0] for group in thinned(list(groups.values()), count)]
    return [at for group in groups.values() for at in thinned_along(group, count // len(groups), depth + 1)]


def left_out(dataset, kept, everything, which=""):
    """A note on the combinations {axis: index} that a figure leaves out, and how to see them; "" if it leaves none out.
    Few words are named. which: "those with most runs", say."""
    if len(kept) == len(everything):
        return ""
    axes = list(everything[0])
    shown, there = ({axis: {at[axis] for at in group} for axis in axes} for group in (kept, everything))
    thin = [axis for axis in axes if len(shown[axis]) < len(there[axis])]
    others = f"; others with {' '.join(f'--at {axis}=VALUE' for axis in thin or axes)}."
    which = f", {which}" if which else ""
    if len(thin) != 1 or len(kept) < np.prod([len(found) for found in shown.values()]):
        return f"{len(kept)} of {len(everything)} combinations of {names_text(axes)} are shown{which}{others}"
    axis, = thin
    text = f"{len(shown[axis])} of {len(there[axis])} {plurals(thin)} are shown{which}"
    missing = sorted(there[axis] - shown[axis])
    if dataset[axis].dtype.kind in "OSTUb" and len(missing) <= NAMED:
        text += f", not {', '.join(look.plain(dataset[axis].values[i]) for i in missing)}"
    return text + others


def count_text(shown, everything):
    """"n = 6 of 9 runs", "n = 9 runs", "n = 1 run"."""
    some = f"{shown} of {everything}" if shown < everything else f"{everything}"
    return f"n = {some} run{'' if everything == 1 else 's'}"


def counted(dataset, *variables):
    """"n = 163 runs.": how many runs any of these variables was measured in, without those that do not count
    (plane.of_sound_runs)."""
    count = int(sum(has_number(dataset, variable) for variable in variables).astype(bool).sum())
    return f"{count_text(count, count)}."


def has_number(dataset, variable):
    """Mask of the runs with a number of this variable that counts."""
    values = of_sound_runs(dataset, variable)
    mask = np.isfinite(values) if values.dtype.kind == "f" else dataset.sweep.done
    return mask.any([dim for dim in mask.dims if dim not in dataset.sweep.axes]).broadcast_like(dataset.outcome)


def representatives(dataset, variable, count=6):
    """(at most `count` runs that show the variety of the sweep, a note that says how they were chosen).

    The runs are ordered by their combination of words, and within one by norm growth.
    """
    mask = measured(dataset, variable)
    runs = listed(mask)
    if len(runs) <= count:
        return runs, f"{count_text(len(runs), len(runs))}."
    words, groups = words_of(dataset), {}
    for run in listed(once(mask)):
        groups.setdefault(tuple(run[axis] for axis in words), []).append(run)
    kept = thinned(list(groups.values()), count)
    each = max(1, count // len(kept))
    chosen = [run for group in kept for run in spread_by_growth(dataset, group, each)]
    if len(chosen) == len(runs):
        return chosen, f"{count_text(len(runs), len(runs))}."
    some = count_text(len(chosen), len(runs))
    if len(groups) == 1:
        return chosen, f"{some}, evenly spaced by norm growth."
    if each > 1:
        return chosen, f"{some}, evenly spaced by norm growth {each_group('within', words, kept, groups)}."
    return chosen, f"{some}: {each_group('for', words, kept, groups)}, {closest_text(dataset)}."


def one_each(dataset, variable, count):
    """(at most `count` lists of runs that differ in the seed alone, a note that says how they were chosen).

    One list for each combination of words, or without words for each value of the first axis of numbers, in the order
    of the axes; of its other values the closest to PyTorch's defaults.
    """
    axes, groups = words_of(dataset) or numbers_of(dataset)[:1], {}
    runs = [{axis: run[axis] for axis in dict.fromkeys([*axes, *run])} for run in listed(measured(dataset, variable))]
    for run in runs:
        groups.setdefault(tuple(run[axis] for axis in axes), []).append(run)
    every = [groups[key] for key in sorted(groups)]
    chosen = []
    for group in thinned(every, count):
        near = without_seed(min(group, key=lambda run: from_default(dataset, run)))
        chosen.append([run for run in group if without_seed(run) == near])
    note = count_text(sum(map(len, chosen)), len(runs))
    if others_of(dataset, *axes):
        note += f": {each_group('for', axes, chosen, every)}, {closest_text(dataset, axes)}"
    at = [[{axis: group[0][axis] for axis in axes} for group in groups] for groups in (chosen, every)]
    return chosen, " ".join(filter(None, [f"{note}.", left_out(dataset, *at)]))


def without_seed(run):
    return {axis: i for axis, i in run.items() if axis != REPEAT}


def closest_text(dataset, rows=()):
    """What is chosen if one run is. rows: axes of which each value has a run."""
    numbers = [axis for axis in numbers_of(dataset) if axis not in rows]
    axes = [axis for axis in PHASE_AXES if axis in numbers]
    if not axes:
        return "one run"
    one = "the one" if len(axes) == len(numbers) else "one of those"
    zero = " (decay 0 last)" if "weight_decay" in axes and (dataset.weight_decay.values == 0).any() else ""
    return f"{one} closest to PyTorch's defaults{zero}"


def each_group(preposition, words, kept, groups):
    """"for each norm placement", "within each of 6 combinations of optimiser and schedule"."""
    several = len(kept) < len(groups)
    if len(words) == 1:
        kind = plurals(words) if several else axis_name(words[0])
    else:
        kind = f"combination{'s' * several} of {names_text(words)}"
    return f"{preposition} each {f'of {len(kept)} ' if several else ''}{kind}"


def spread_by_growth(dataset, group, count):
    """`count` runs of a group, evenly spaced by norm growth; if one, the run closest to PyTorch's defaults."""
    if count == 1:
        return [min(group, key=lambda run: from_default(dataset, run))]
    growth = dataset.norm_growth.transpose(*dataset.sweep.axes).values if "norm_growth" in dataset else None
    if growth is not None:
        places = [growth[tuple(run.values())] for run in group]
        group = [group[i] for i in np.argsort(np.where(np.isfinite(places), places, np.inf), kind="stable")]
    return thinned(group, count)


def from_default(dataset, run):
    """The distance of a run from PyTorch's defaults, for comparisons: (number of zeros, decades).

    The decades are summed over learning rate and weight decay, as far as they are axes. A value of 0 is infinitely many
    decades away, so a run with a weight decay of 0 is farther than any run with a positive one; among such runs the
    learning rate decides.
    """
    values = {axis: float(dataset[axis].values[run[axis]]) for axis in PYTORCH_DEFAULT if axis in run}
    decades = sum(abs(np.log10(value / PYTORCH_DEFAULT[axis])) for axis, value in values.items() if value > 0)
    return sum(value <= 0 for value in values.values()), decades
