"""Two sweeps, or two parts of one, cell by cell: what differs, by how much, and how sure that is over the seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Optional, Union

import numpy as np
import xarray as xr

from . import significance
from .boundary import RATE, ends_over, rule
from .collapse import ENTROPY, collapsed
from .common_runs import comparable_boundaries
from .dataset import sweep_of
from .hints import Array
from .memory import loaded, of_runs
from .names import OUTCOMES, REPEAT
from .plane import as_words, is_geometric, last, most_frequent
from .shared_grid import (
    NAMES, NothingInCommon, SharedGrid, differences, listed, program_differences, progress, shared_grid)
from .significance import LEVEL
from .slope import straight_line
from .table import step_variables
from .verify import NotASweep, has_words
from .words import several

VARIABLES = ("norm_growth", "final_train_loss", "final_valid_loss")
COUNTED = {"done": "that are done", "diverged": "that diverged", "collapsed": "that collapsed"}


def compare(a: xr.Dataset, b: xr.Dataset, variables: Union[str, Iterable[str], None] = None,
            paired: Optional[bool] = None, names: tuple[str, str] = ("A", "B"),
            without_collapsed: bool = False) -> xr.Dataset:
    """What differs between two sweeps, or between two parts of one, as a Dataset over the axes that both share.

    Runs are compared cell by cell, at the values that both have. Runs of one seed are paired, because they start from
    the same weights and read the same batches: by default if the seeds of one are all among those of the other, else
    not; `paired` decides it. `variables` are numbers of a run: by default norm_growth, final_train_loss and
    final_valid_loss; also those of ds.sweep.table(), such as param_norm_last or max_logit_last. For each NAME, CHANGE
    is `ratio`, b / a, if it is a ratio such as norm_growth, whose logarithms are compared, and else
    `difference`, b - a:

    NAME_a, NAME_b          mean over the seeds, geometric for ratios
    NAME_CHANGE, _low, _high    the change, and an interval that covers it with a probability of 95 %
    NAME_p, NAME_q          the probability of such a change if there is none (Student's test of pairs, or Welch's), and
                            the same corrected for the number of cells (Benjamini and Hochberg)
    NAME_runs               pairs that count, or runs of the side that has fewer; only runs that are done
    NAME_mean_a, NAME_mean_b, NAME_mean_CHANGE, _low, _high, _p    the same for the mean over the cells in which no run
                            is missing, NAME_mean_cells; one number for each seed
    NAME_mean_p_exact       its probability over all swaps of pairs, or all divisions of the seeds, which assumes no
                            distribution; it is at least NAME_mean_p_least, whatever the numbers are
    NAME_median_a, NAME_median_b, NAME_median_CHANGE    medians over the same cells of what each cell has, which a few
                            cells with extreme changes do not move

    phase_a, phase_b        the most frequent phase of the runs that ended, and phase_differs: in how many pairs it is
                            another one (in a cell, if runs are not paired)
    done_a, diverged_a, ... numbers of runs, so that what diverged is seen, though it has no growth and no loss
    collapsed_a, collapsed_b    of those that are done, as ds.sweep.collapsed says; with `without_collapsed` they are
                            left out of everything else, as if they had not been run

    boundary_a, boundary_b, boundary_ratio, _low, _high, _p, _q, boundary_runs      of ds.sweep.boundary(), at all
                            values of the other axes; geometric means over seeds. Where one side has runs beside or
                            between those of the other's boundary, only the runs that both have count; if these have no
                            boundary, those of each side are given, without interval and test.
    boundary_ratio_least, boundary_ratio_most   the smallest and the largest ratio that is possible if each boundary
                            lies anywhere between the two runs beside it; the interval does not include this
    boundary_slope_a, _low, _high, ..., boundary_slope_difference, _low, _high, _p    slopes over learning_rate, at the
                            boundary_slope_places where every seed of both has a boundary

    With one seed there are no intervals and no probabilities, because the spread between seeds is not known. The
    attribute `notes` says, line by line, what is compared and what is not, `differ` in which settings the two differ,
    `differ_in_values` of which axes they have other values, so that only a part is compared.

    >>> found = compare(ds.sel(norm_placement="pre"), ds.sel(norm_placement="post"))
    >>> found.norm_growth_ratio.sel(learning_rate=1e-2, weight_decay=1).round(3).item()
    5.477
    >>> found.boundary_ratio.round(3).values
    array([ 3., 30., nan])

    Raises NothingInCommon, a ValueError, with a line that says why, if they cannot be compared, and NotASweep for a
    dataset that is not from normsweep.
    """
    for name, dataset in zip(NAMES, (a, b)):
        if "outcome" not in dataset or not has_words(dataset["outcome"]):
            raise NotASweep(f"{name} is not a normsweep dataset: it has no outcome of its runs")
    asked = (variables,) if isinstance(variables, str) else tuple(dict.fromkeys(variables or ()))
    a, b = (prepared(dataset, asked or VARIABLES, without_collapsed) for dataset in (a, b))
    shared = shared_grid(a, b, paired)
    found = xr.Dataset(attrs={"a": names[0], "b": names[1], "pairing": "paired" if shared.is_paired else "unpaired",
                              "seeds_a": shared.seeds[0], "seeds_b": shared.seeds[1]})
    found = found.assign(outcomes(shared)).assign(phases(shared))
    if not bool(((found.done_a + found.diverged_a > 0) & (found.done_b + found.diverged_b > 0)).any()):
        raise NothingInCommon("in no common cell do both A and B have a run that has ended")
    compared = [name for name in asked or VARIABLES if is_comparable(shared, name, name in asked)]
    for name in compared:
        found = found.assign(of_variable(shared, name))
    bounded = of_boundary(a, b, paired)
    found = found.assign(bounded).assign_attrs(bounded.attrs)
    describe(found, shared, compared, without_collapsed)
    return found


def prepared(dataset: xr.Dataset, variables: Sequence[str], without_collapsed: bool) -> xr.Dataset:
    """The dataset with what is compared in memory, and with `collapsed`; without such runs they are as if skipped."""
    ends = {f"{name}_last": values for name, values in step_variables(dataset) if f"{name}_last" in variables}
    dataset = dataset.assign({name: last(values).assign_attrs(values.attrs) for name, values in ends.items()})
    dataset = loaded(dataset, [*of_runs(dataset), *variables])
    gone = collapsed(dataset)
    dataset = dataset.assign(collapsed=gone)
    if not without_collapsed:
        return dataset
    outcome = dataset.outcome.where(~gone, OUTCOMES.index("skipped")).astype(dataset.outcome.dtype)
    return dataset.assign(outcome=outcome.assign_attrs(dataset.outcome.attrs))


def is_comparable(shared: SharedGrid, name: str, asked: bool) -> bool:
    """Is it a number of each run, in both? If it was asked for and is not, NothingInCommon."""
    for label, dataset in zip(NAMES, shared):
        there = name in dataset and set(dataset[name].dims) == set(dataset.outcome.dims)
        if not there or dataset[name].dtype.kind not in "iuf" or has_words(dataset[name]):
            if asked:
                raise NothingInCommon(f"{name} is not a number of each run of {label}")
            return False
        if not asked and not bool(np.isfinite(dataset[name].where(sweep_of(dataset).done)).any()):
            return False
    return True


# ---- one number for each run ----

def values_of(dataset: xr.Dataset, shared: SharedGrid, name: str) -> tuple[Array, Array]:
    """(values of a variable, which runs count: those that are done and did not end early), [..., seeds] both."""
    counts = sweep_of(dataset).done
    if "ended_early" in dataset:
        counts = counts & (dataset.ended_early != 1)
    values, mask = (part.transpose(*shared.axes, REPEAT).values for part in (dataset[name], counts))
    return values.astype(float), mask


def logs_of(dataset: xr.Dataset, shared: SharedGrid, name: str, ratio: bool) -> Array:
    """[..., seeds] of runs that count; logarithms of ratios."""
    values, counts = values_of(dataset, shared, name)
    if ratio:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.log(values)
    return np.where(counts & np.isfinite(values), values, np.nan)


def lost(shared: SharedGrid, name: str) -> list[str]:
    """Sentences on the runs that count, but have no number, or none with a logarithm."""
    found, ratio = [], is_geometric(shared.a[name])
    for label, dataset in zip(NAMES, shared):
        values, counts = values_of(dataset, shared, name)
        zero = counts & (values == 0) & ratio
        for mask, why in ((zero, f"{name} is 0, which has no logarithm"),
                          (counts & ~zero & ~np.isfinite(values), f"{name} is not a finite number")):
            if mask.any():
                found.append(f"{label}: in {several(int(mask.sum()), 'run')} {why}: left out of its changes.")
    return found


def of_variable(shared: SharedGrid, name: str) -> dict[str, xr.Variable]:
    ratio = is_geometric(shared.a[name])
    a, b = (logs_of(dataset, shared, name, ratio) for dataset in shared)
    if shared.is_paired:
        both = ~np.isnan(a) & ~np.isnan(b)
        a, b = np.where(both, a, np.nan), np.where(both, b, np.nan)
    a, b = settled(a, b, shared.is_paired, ratio)
    units, text = shared.a[name].attrs.get("units", "1"), shared.a[name].attrs.get("long_name", name)

    def variable(values: Any, what: str, of_unit: bool, dims: tuple[str, ...]) -> xr.Variable:
        return xr.Variable(dims, values, {"long_name": f"{text}: {what}", "units": units if of_unit else "1"})

    change = "ratio" if ratio else "difference"
    variables = {}
    for part, one, dims in (("", test(shared, a, b), shared.axes), ("mean_", mean_over_cells(shared, a, b), ()),
                            ("median_", median_over_cells(a, b), ())):
        for key, what in names_of(change).items():
            if key in one:
                values = np.exp(one[key]) if ratio and key in SIZES else one[key]
                ending = key.replace("change", change)
                variables[f"{name}_{part}{ending}"] = variable(
                    values, f"{part[:-1]} over cells, {what}" if part else what, key in SIZES and not ratio, dims)
    return variables


def settled(a: Array, b: Array, is_paired: bool, ratio: bool) -> tuple[Array, Array]:
    """The numbers [..., seeds] of both sides, equal where they differ by rounding alone: a change of 1e-15 that is in
    every seed would be significant. Pairs are settled one by one, samples if all their numbers are so close."""
    if is_paired:
        scale = 1.0 if ratio else np.maximum(np.abs(a), np.abs(b))
        return a, np.where(np.abs(b - a) <= significance.CLOSE * scale, a, b)
    each = np.concatenate([a, b], -1)
    known, middle = ~np.isnan(each), significance.moments(each)[1][..., np.newaxis]
    scale = np.ones_like(middle) if ratio else np.abs(middle)
    same = np.where(known, np.abs(each - middle) <= significance.CLOSE * scale, True).all(-1, keepdims=True)
    return np.where(same & ~np.isnan(a), middle, a), np.where(same & ~np.isnan(b), middle, b)


SIZES = ("a", "b", "change", "change_low", "change_high")


def names_of(change: str) -> dict[str, str]:
    """{key: long name} of what `test` and `mean_over_cells` give."""
    text = "B / A" if change == "ratio" else "B - A"
    return {"a": "A", "b": "B", "change": text, "change_low": f"{text}, lower end of its 95 % interval",
            "change_high": f"{text}, upper end", "p": "probability of such a change by chance",
            "q": "the same, corrected for the number of cells", "runs": "runs of each side that count",
            "p_exact": "the same over all arrangements of the seeds", "p_least": "smallest that it can be",
            "cells": "cells in which no run is missing"}


def test(shared: SharedGrid, a: Array, b: Array, tested: Union[Array, bool] = True,
         correct: bool = True) -> dict[str, Any]:
    """Change and probability of numbers [..., seeds], by key; without interval and probability where not `tested`."""
    one = (significance.paired if shared.is_paired else significance.unpaired)(a, b)
    one = significance.Estimate(one.value, *(np.where(tested, part, np.nan) for part in one[1:]))
    (count_a, mean_a, _), (count_b, mean_b, _) = significance.moments(a), significance.moments(b)
    found = {"a": mean_a, "b": mean_b, "change": one.value, "change_low": one.low, "change_high": one.high, "p": one.p}
    if correct:
        found["q"] = significance.discoveries(one.p)
    return {**found, "runs": np.minimum(count_a, count_b)}


def mean_over_cells(shared: SharedGrid, a: Array, b: Array) -> dict[str, Any]:
    """The same for the mean over the cells where no run is missing: one number for each seed."""
    cells = complete(a, b)
    if not cells.any():
        nothing = {key: np.nan for key in (*SIZES, "p", "p_exact", "p_least")}
        return {**nothing, "cells": 0}
    a, b = a[cells].mean(0), b[cells].mean(0)
    found = test(shared, a, b, correct=False)
    del found["runs"]
    if shared.is_paired:
        exact, least = significance.sign_flips(b - a), significance.least_of_flips(len(a))
    else:
        exact, least = significance.exchanges(a, b), significance.least_of_exchanges(len(a), len(b))
    return {**found, "p_exact": exact, "p_least": least, "cells": int(cells.sum())}


def complete(a: Array, b: Array) -> Array:
    """Mask of the cells in which no run is missing."""
    return np.asarray(~np.isnan(a).any(-1) & ~np.isnan(b).any(-1))


def median_over_cells(a: Array, b: Array) -> dict[str, Any]:
    """The medians, over the same cells, of the means over seeds and of their changes."""
    cells = complete(a, b)
    sides = a[cells].mean(-1), b[cells].mean(-1)
    values = {"a": sides[0], "b": sides[1], "change": sides[1] - sides[0]}
    return {key: np.median(one) if len(one) else np.nan for key, one in values.items()}


# ---- outcomes and phases ----

def outcomes(shared: SharedGrid) -> dict[str, xr.DataArray]:
    """Numbers of runs that are done, that diverged and that collapsed, for each cell."""
    found = {}
    for side, name, dataset in zip("ab", NAMES, shared):
        masks = {"done": sweep_of(dataset).done, "diverged": sweep_of(dataset).diverged, "collapsed": dataset.collapsed}
        for word, what in COUNTED.items():
            found[f"{word}_{side}"] = on_grid(masks[word].sum(REPEAT), shared).assign_attrs(
                long_name=f"{name}: runs {what}", units="1")
    return found


def on_grid(values: xr.DataArray, shared: SharedGrid) -> xr.DataArray:
    """Values over the shared axes, without coordinates that only one of both has."""
    others = [name for name, variable in values.coords.items() if not set(variable.dims) or name not in shared.axes]
    return values.drop_vars(others).transpose(*shared.axes)


def phases(shared: SharedGrid) -> dict[str, Any]:
    """The phases of the runs that ended, and how many pairs differ in it."""
    words = []
    for dataset in shared:
        stands = sweep_of(dataset)
        if "phase" in dataset:
            text = as_words(dataset.phase)
        else:
            text = xr.where(stands.diverged, "diverged", xr.full_like(stands.done, "", dtype=object))
        words.append(text.where(stands.done | stands.diverged, "").transpose(*shared.axes, REPEAT))
    most = [on_grid(most_frequent(part, [REPEAT]), shared) for part in words]
    if shared.is_paired:
        both = (words[0] != "").values & (words[1] != "").values
        differs = (both & (words[0].values != words[1].values)).sum(-1)
    else:
        differs = ((most[0] != "") & (most[1] != "") & (most[0] != most[1])).values.astype(int)
    counted = "pairs of runs" if shared.is_paired else "cells"
    found = {f"phase_{side}": part.assign_attrs(long_name=f"{name}: most frequent phase", units="1")
             for side, name, part in zip("ab", NAMES, most)}
    return {**found, "phase_differs": (shared.axes, differs, {"long_name": f"{counted} whose phases differ",
                                                              "units": "1"})}


# ---- boundaries ----

def of_boundary(a: xr.Dataset, b: xr.Dataset, paired: Optional[bool]) -> xr.Dataset:
    """Boundaries, their ratios and slopes, as a Dataset; an empty one if both do not have one of the same kind. Its
    attribute `boundary_notes` says what is left out, and why."""
    why = why_no_boundary(a, b)
    if why is not None:
        return xr.Dataset(attrs={"boundary_notes": why})
    along = rule(a).along
    shared = shared_grid(a, b, paired, along=(along,))
    axes = tuple(axis for axis in shared.axes if axis != along)
    inner = SharedGrid(shared.a, shared.b, axes, shared.is_paired)
    sides, reduced, tested = comparable_boundaries(shared, along, axes)
    logs, before, after = ([log(side[name]) for side in sides] for name in ("each", "before", "after"))
    low, high = ([of(*two) for two in zip(before, after)] for of in (np.minimum, np.maximum))  # as timescales fall
    logs = [np.where(np.isfinite(one), one, np.nan) for one in logs]  # a run beside a boundary may be at 0, though
    if shared.is_paired:
        both = ~np.isnan(logs[0]) & ~np.isnan(logs[1])
        logs = [np.where(both, part, np.nan) for part in logs]
    logs = [*settled(logs[0], logs[1], shared.is_paired, ratio=True)]
    found = test(inner, logs[0], logs[1], tested)
    least, most = (mean_of(one, logs[1]) - mean_of(two, logs[0]) for one, two in ((low[1], high[0]), (high[1], low[0])))
    texts = names_of("ratio")
    variables = {f"boundary_{key.replace('change', 'ratio')}": (
        axes, np.exp(values) if key in SIZES else values, {"long_name": f"boundary: {texts[key]}", "units": "1"})
        for key, values in found.items()}
    for key, values in ("least", least), ("most", most):
        variables[f"boundary_ratio_{key}"] = (axes, np.exp(values), {
            "long_name": f"boundary: the {key} that {texts['change']} can be between the neighbouring runs",
            "units": "1"})
    coordinates = {axis: shared.a[axis].variable for axis in axes}
    notes = notes_on_boundaries(found, logs, reduced, tested)
    bounded = xr.Dataset(variables, coordinates, {"boundary": str(rule(a)), "boundary_notes": notes})
    logs = [np.where(tested[..., np.newaxis], part, np.nan) for part in logs]
    return bounded.assign(of_slopes(inner, sides, logs)) if RATE in axes and shared.a.sizes[RATE] > 1 else bounded


def why_no_boundary(a: xr.Dataset, b: xr.Dataset) -> Optional[str]:
    """Why no boundaries are compared; "" if neither has one, None if they are."""
    if rule(a) != rule(b):
        return "Boundaries are not compared, because A and B looked for different ones."
    along, variable, _ = rule(a)
    lack = [name for name, dataset in zip(NAMES, (a, b))
            if variable not in dataset or along not in dataset[variable].dims]
    if lack:
        return f"Boundaries are not compared: {lack[0]} has no {variable} along {along}." if len(lack) == 1 else ""
    return f"Boundaries along {along} are not compared." if along == REPEAT else None


def notes_on_boundaries(found: dict[str, Any], logs: list[Array], reduced: list[Array], tested: Array) -> str:
    """What boundaries are not those of all runs of each side, in sentences."""
    lines, notes = np.isfinite(found["change"]), []
    less = lines & ((reduced[0] & ~np.isnan(logs[0])).any(-1) | (reduced[1] & ~np.isnan(logs[1])).any(-1))
    if less.any():
        notes.append(f"Boundaries: {of_lines(less, lines)} computed only from runs that both sides have, because one "
                     "side has runs next to its boundary that the other lacks.")
    unsure = lines & ~tested
    if unsure.any():
        notes.append(f"Boundaries: {of_lines(unsure, lines)} not tested, because A and B have no common runs around "
                     "their boundaries.")
    return "\n".join(notes)


def of_lines(some: Array, lines: Array) -> str:
    """"1 of 3 lines is", "2 of 3 lines are"."""
    count = int(some.sum())
    return f"{count} of {several(int(lines.sum()), 'line')} {'is' if count == 1 else 'are'}"


def log(values: xr.DataArray) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(values.values))


def mean_of(values: Array, where: Array) -> Array:
    return significance.moments(np.where(np.isnan(where), np.nan, values))[1]


def of_slopes(shared: SharedGrid, sides: list[xr.Dataset], logs: list[Array]) -> dict[str, Any]:
    """The slopes at the learning rates where every seed of both has a boundary, for each combination of the others."""
    others = tuple(axis for axis in shared.axes if axis != RATE)
    place = shared.axes.index(RATE)
    a, b = (np.moveaxis(part, place, -2) for part in logs)  # [others..., rates, seeds]
    kept = np.asarray(~np.isnan(a).any(-1) & ~np.isnan(b).any(-1))
    x = np.log(shared.a[RATE].values.astype(float))
    each = [np.full((*part.shape[:-2], part.shape[-1]), np.nan) for part in (a, b)]
    for at in np.ndindex(kept.shape[:-1]):
        for slopes, part in zip(each, (a, b)):
            for seed in range(part.shape[-1]):
                slopes[(*at, seed)] = straight_line(x, np.where(kept[at], part[at][:, seed], np.nan))[0]
    found = test(shared, each[0], each[1], correct=False)
    texts, variables = names_of("difference"), {}
    for key in ("a", "b", "change", "change_low", "change_high", "p"):
        variables[f"boundary_slope_{key.replace('change', 'difference')}"] = (others, found[key], {
            "long_name": f"log-log slope of the boundary: {texts[key]}", "units": "1"})
    mask = xr.DataArray(kept, dims=(*others, RATE))
    for side, dataset in zip("ab", sides):
        ends = ends_over(dataset[["each", "before", "after"]].where(mask), RATE, [REPEAT])
        for end in "low", "high":
            values = ends[f"slope_{end}"].transpose(*others).values
            variables[f"boundary_slope_{side}_{end}"] = (others, values, {
                "long_name": f"log-log slope of the boundary: {side.upper()}, {end} end of its "
                             "interval", "units": "1"})
    variables["boundary_slope_places"] = (others, kept.sum(-1), {
        "long_name": "learning rates where every seed of both has a boundary", "units": "1"})
    return variables


# ---- in words ----

def describe(found: xr.Dataset, shared: SharedGrid, compared: list[str], without_collapsed: bool) -> None:
    """Sets the attributes: what was compared, and what was not."""
    differ = [f"{name} ({one}, {two})" for name, one, two in differences(shared)]
    program = [f"{name} ({one}, {two})" for name, one, two in program_differences(shared)]
    notes = [*same_note(shared, compared), cells_note(found, shared), *shared.notes, *progress(shared),
             *(line for name in compared for line in lost(shared, name)),
             *filter(None, [found.attrs.pop("boundary_notes")]), *collapse_note(found, shared, without_collapsed)]
    found.attrs.update(level=LEVEL, correction="Benjamini-Hochberg, over the cells of each variable",
                       compared=" ".join(compared), differ=", ".join(differ), differ_in_values=", ".join(shared.unlike),
                       differ_in_program=", ".join(program),
                       without_collapsed=int(without_collapsed), notes="\n".join(notes))


def same_note(shared: SharedGrid, compared: list[str]) -> list[str]:
    """A sentence if the two have the same runs with the same numbers."""
    if not shared.is_paired:
        return []
    for name in "outcome", *compared:
        one, two = (dataset[name].transpose(*shared.axes, REPEAT).values.astype(float) for dataset in shared)
        if not np.array_equal(one, two, equal_nan=True):
            return []
    return ["A and B are the same: all numbers that are compared are equal, run by run."]


def collapse_note(found: xr.Dataset, shared: SharedGrid, left_out: bool) -> list[str]:
    """A sentence on the runs that collapsed, if predicted_entropy was measured."""
    if not any(ENTROPY in dataset for dataset in shared):
        return []
    counts = {name: int(found[f"collapsed_{side}"].sum()) if ENTROPY in dataset else "not measured"
              for side, name, dataset in zip("ab", NAMES, shared)}
    sides = ", ".join(f"{name} {count}" for name, count in counts.items())
    what = "they are left out" if left_out else "they count like the others"
    any_run = bool((found.collapsed_a + found.collapsed_b).any())
    return [f"Collapsed runs, which always predict the same word: {sides}{f'; {what}' if any_run else ''}."]


def cells_note(found: xr.Dataset, shared: SharedGrid) -> str:
    """Which cells are compared."""
    both = (found.done_a + found.diverged_a > 0) & (found.done_b + found.diverged_b > 0)
    cells = int(both.sum())
    text = f"{cells} of {both.size} cells that both have are compared"
    if cells == both.size:
        text = f"All {cells} cells that both have are compared" if cells > 1 else "One cell is compared"
    seeds = [listed(dataset[REPEAT].values) for dataset in shared]
    how = f"in pairs of one seed ({seeds[0]})" if shared.is_paired else (
        f"not in pairs (seeds of A: {seeds[0]}; of B: {seeds[1]})")
    few = "" if shared.enough else "; one seed: the spread between seeds is unknown, and nothing is tested"
    return f"{text}, {how}{few}."
