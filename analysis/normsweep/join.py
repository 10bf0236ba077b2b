"""Parts of one sweep that several files have, as one dataset over the union of their grids."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, cast

import numpy as np
import xarray as xr

from .account import USED
from .names import (
    DERIVED, DIGEST, FIXED, GENERAL, OUTCOMES, SESSION, SESSION_START, SESSION_TIMES, SESSIONS, TIMESCALE, TRUTHS)
from .plane import SAME, derives
from .predicted import key
from .words import texts, value_text

# Attributes in which parts may differ: the numbers of runs do not depend on them.
FREE = {*GENERAL, "save_weights"} - {"format_version", DIGEST}
# Which of two states of one run counts, the last one first; -1 is for a cell that a file does not have.
WEAKEST_FIRST = ("skipped", "pending", "running", "failed", "diverged", "done")
# What may differ between two trainings of the same run.
OF_ONE_TRAINING = {
    "seconds", "tokens_per_second", "attempts", "deaths", "session", "worker", "begin", "end", "host", "reason"}
CLOCK = ("begin", "end", *SESSION_TIMES)  # since the first session of a file began
ABSENT = -1
NAMED = 3  # titles of parts that the title of the whole names


class DifferentSweeps(ValueError):
    """Files that should be parts of one sweep are not."""


def join(parts: Sequence[xr.Dataset], paths: Sequence[str]) -> xr.Dataset:
    """One dataset of the parts [n]; paths [n] are for messages. Raises DifferentSweeps."""
    timescale, named = derives(parts[0]), parts[0][DERIVED].attrs if DERIVED in parts[0].coords else {}
    parts = [part.drop_vars(DERIVED, errors="ignore") if derives(part) else part for part in parts]
    check_same(parts, paths)
    axes, originals = all_axes(parts) + new_axis(parts), parts
    keys = all_together(parts)
    parts = [with_axes(part, axes, keys, path) for part, path in zip(on_one_clock(parts), paths)]
    check_same_labels(parts, paths)
    together = labels_of(parts)
    parts = [part.drop_vars([name for name in together if name in part.coords]) for part in parts]
    dims = dict.fromkeys(str(dim) for part in parts for dim in part.dims)
    places = {dim: union(dim, parts) for dim in dims if dim != SESSIONS}
    sessions = xr.concat([table_of_sessions(part) for part in parts], SESSIONS)
    begins = np.cumsum([0, *(part.sizes.get(SESSIONS, 0) for part in parts)])
    parts = [numbered(part, int(begin)).drop_dims(SESSIONS, errors="ignore").assign_coords(
        {dim: nearest(part[dim], values) for dim, values in places.items() if dim in part.dims})
        for part, begin in zip(parts, begins)]
    whole = merged([part.reindex({dim: values for dim, values in places.items() if dim in part.dims},
                                 fill_value=fills(part)) for part in parts], axes, paths)
    whole = whole.drop_vars([dim for dim in places if not any(dim in part.coords for part in parts)], errors="ignore")
    whole = whole.assign_coords({name: (axis, [known[label] for label in places[axis].tolist()], attributes)
                                 for name, (axis, known, attributes) in together.items()})
    whole = whole.merge(sessions, combine_attrs="override")
    whole.attrs = attributes_of(originals, axes)
    if timescale:
        derived = decays(whole).transpose(*axes, missing_dims="ignore")
        whole = whole.assign_coords({DERIVED: derived.assign_attrs(named)})
    describe(whole, originals)
    return whole


def decays(whole: xr.Dataset) -> xr.DataArray:
    """weight_decay of a sweep of timescales, as run_derive has it."""
    independent = key(whole, "decay_rule") == "independent"
    share = xr.where(independent, 1.0, key(whole, "learning_rate"))
    return cast(xr.DataArray, 1 / (key(whole, TIMESCALE) * share * key(whole, "steps")))


# ---- what has to agree ----

def check_same(parts: Sequence[xr.Dataset], paths: Sequence[str]) -> None:
    """Raises DifferentSweeps unless the parts differ in axes alone, or in one key that may become an axis."""
    first, together = fixed(parts[0]), all_together(parts)
    axes = {*all_axes(parts), *(name for names in together.values() for name in names)}
    apart: dict[str, tuple[str, Any]] = {}
    for part, path in zip(parts[1:], paths[1:]):
        for name, value in fixed(part).items():
            if name in first and name not in axes and different(first[name], value):
                apart.setdefault(name, (path, value))
    reasons = in_the_way(apart, parts)
    if reasons:
        path = apart[reasons[0]][0]
        told = [f"{name} is {text(value)}, not {text(first[name])}" + f" ({where})" * (where != path)
                for name, (where, value) in apart.items() if name in reasons]
        why = "that cannot be an axis" if set(reasons) <= set(FIXED) else "at most one such key becomes an axis"
        raise DifferentSweeps(f"{path}: of another sweep than {paths[0]}: {', '.join(told)}; {why}")


def in_the_way(apart: Iterable[str], parts: Iterable[xr.Dataset]) -> list[str]:
    """The keys, of those that differ, because of which parts are not of one sweep. Those that cannot be an axis; but
    not the digest of the corpus if another key explains it, nor keys that no corpus uses. One other may become an axis.
    """
    corpora = {str(part.attrs.get("corpus", "")) for part in parts}
    others = [name for name in apart if name not in FIXED]
    never = [name for name in apart if name in FIXED and (
        name not in USED or "" in corpora or bool(corpora & set(USED[name])))]
    explained = {"corpus", *USED} & {*never, *others} and len(never) > 1
    return [name for name in never if not (explained and name == DIGEST)] + (others if len(others) > 1 else [])


def fixed(part: xr.Dataset) -> dict[str, Any]:
    """{key: value} of what is the same in all runs of a part, or was selected, and their numbers depend on. Attributes
    of netCDF hold truth values as 0 and 1."""
    selected = {str(name): value.values[()] for name, value in part.coords.items() if not value.dims}
    return {str(name): bool(value) if name in TRUTHS else value
            for name, value in {**part.attrs, **selected}.items() if name not in FREE}


def all_together(parts: Iterable[xr.Dataset]) -> dict[str, dict[str, None]]:
    """{together axis: its keys} of all parts."""
    found: dict[str, dict[str, None]] = {}
    for part in parts:
        for axis, names in part.sweep.together.items():
            found.setdefault(axis, {}).update(dict.fromkeys(names))
    return found


def different(one: Any, other: Any) -> bool:
    return not np.array_equal(one, other)


def text(value: Any) -> str:
    return value_text(value.item() if isinstance(value, np.generic) else value)


def check_same_labels(parts: Sequence[xr.Dataset], paths: Sequence[str]) -> None:
    """Raises DifferentSweeps unless each label of a `together` axis sets the same values everywhere."""
    said: dict[tuple[str, Any], tuple[Any, str]] = {}
    for part, path in zip(parts, paths):
        for axis, keys in part.sweep.together.items():
            for name in keys:
                for label, value in zip(part[axis].values.tolist(), part[name].values.tolist()):
                    first, where = said.setdefault((name, label), (value, path))
                    if value != first:
                        raise DifferentSweeps(f"{path}: of another sweep than {where}: {name} of {axis} {label} is "
                                              f"{text(value)}, not {text(first)}")


def labels_of(parts: Iterable[xr.Dataset]) -> dict[str, tuple[str, dict[Any, Any], dict[Hashable, Any]]]:
    """{key: (its together axis, {label: value}, attributes)}."""
    found: dict[str, tuple[str, dict[Any, Any], dict[Hashable, Any]]] = {}
    for part in parts:
        for axis, keys in part.sweep.together.items():
            for name in keys:
                known = found.setdefault(name, (axis, {}, part[name].attrs))[1]
                known.update(zip(part[axis].values.tolist(), part[name].values.tolist()))
    return found


# ---- the grid ----

def all_axes(parts: Iterable[xr.Dataset]) -> list[str]:
    return list(dict.fromkeys(axis for part in parts for axis in part.sweep.axes))


def new_axis(parts: Sequence[xr.Dataset]) -> list[str]:
    """The key that is fixed in every part, and differs: one or none, see check_same."""
    first, axes = fixed(parts[0]), all_axes(parts)
    known = {name for names in all_together(parts).values() for name in names}.union(axes)
    return [name for name in first if name not in known and any(
        name in values and different(first[name], values[name]) for values in map(fixed, parts[1:]))]


def with_axes(part: xr.Dataset, axes: Sequence[str], keys: dict[str, dict[str, None]], path: str) -> xr.Dataset:
    """A part in which every axis is one, of a single value where its key is fixed."""
    for name in axes:
        if name in part.sweep.axes:
            continue
        values = fixed(part)
        if name not in values:
            raise DifferentSweeps(f"{path}: of another sweep: it has no {name}, which is an axis of the others")
        along = {key: (name, [values[key]], part[key].attrs) for key in keys.get(name, ()) if key in part.coords}
        of_runs = [other for other in part.data_vars if set(part.sweep.axes) <= set(part[other].dims)
                   and SESSIONS not in part[other].dims]
        part = part.drop_vars([name, *along], errors="ignore")
        part = part.assign({other: part[other].expand_dims({name: [values[name]]}) for other in of_runs})
        part = part.assign_coords(along)
    return part.transpose(*axes, ...)


def as_axes(dataset: xr.Dataset, keys: Sequence[str]) -> xr.Dataset:
    """Sweep.with_axes."""
    if DERIVED in keys and derives(dataset):
        dataset = over_decays(dataset)
    axes = dict.fromkeys([*dataset.sweep.axes, *keys])
    for name in axes:
        if name == TIMESCALE and not derives(dataset):
            raise KeyError(f"{name}: this sweep has weight_decay instead; take that")
        if name not in dataset.sweep.axes and name not in fixed(dataset):
            along = next((axis for axis, names in dataset.sweep.together.items() if name in names), "")
            raise KeyError(f"{name}: changes along {along}, so it is not an axis" if along else
                           f"{name}: not a key of this sweep")
    found = with_axes(dataset, [*axes], {}, "")
    describe(found, [dataset])
    found.attrs = {name: value for name, value in dataset.attrs.items() if name not in axes}
    found.encoding = dataset.encoding
    found.set_close(dataset.close)
    return found


def over_decays(dataset: xr.Dataset) -> xr.Dataset:
    """A dataset of timescales with an axis weight_decay in their place: of all decays that there are. Cells of a decay
    that a row does not have are skipped."""
    if TIMESCALE not in dataset.sweep.axes:
        dataset = as_axes(dataset, [TIMESCALE])
    decays = dataset[DERIVED].drop_vars(dataset[DERIVED].coords)
    decays = decays if TIMESCALE in decays.dims else decays.expand_dims({TIMESCALE: 1})
    dims, attributes = [dim for dim in decays.dims if dim != TIMESCALE], dict(dataset[DERIVED].attrs)
    apart = np.unique(decays)
    apart = apart[np.append(True, np.diff(apart) > SAME * apart[1:])]
    is_there = cast(xr.DataArray, np.abs(decays - xr.DataArray(apart, dims=DERIVED)) <= SAME * decays)
    order = [DERIVED if axis == TIMESCALE else axis for axis in dataset.sweep.axes]
    places = {dim: xr.DataArray(np.arange(dataset.sizes[dim]), dims=[dim]) for dim in dims}
    part = dataset.drop_vars([DERIVED, TIMESCALE])
    part = part if part.chunks else part.load()  # cells that are picked from a file take long
    found = part.isel({**places, TIMESCALE: is_there.argmax(TIMESCALE)})
    filled = {**fills(part), "outcome": OUTCOMES.index("skipped")}
    there = is_there.any(TIMESCALE)
    found = found.assign({name: xr.where(there, found[name], filled[str(name)]).astype(part[name].dtype)
                          for name in part.data_vars if TIMESCALE in part[name].dims})
    found = found.assign_coords({DERIVED: (DERIVED, apart, attributes)}).transpose(*order, ...)
    describe(found, [dataset.drop_vars(DERIVED)])
    found.attrs = {**dataset.attrs, TIMESCALE: 0.0, "configuration_digest": "",
                   "refine": str(dataset.attrs.get("refine", "")).replace(TIMESCALE, DERIVED)}
    found.encoding = dataset.encoding
    found.set_close(dataset.close)
    return found


def union(dim: str, parts: Sequence[xr.Dataset]) -> np.ndarray[Any, Any]:
    """The places along a dimension: words in the order of the files, numbers ascending, or descending if all do."""
    # a dimension without coordinate has its indices
    values = [part[dim].values for part in parts if dim in part.dims]
    if any(each.dtype.kind not in "iuf" for each in values):
        words = list(dict.fromkeys(word for each in values for word in each.tolist()))
        return np.array(words, dtype=bool if values[0].dtype.kind == "b" else object)
    several = [each for each in values if len(each) > 1]
    numbers = np.unique(np.concatenate(values))
    tolerance = SAME if numbers.dtype.kind == "f" else 0  # each seed is itself, however large
    apart = np.append(True, np.abs(np.diff(numbers)) > tolerance * np.abs(numbers[1:]))
    falls = several and all((np.diff(each) < 0).all() for each in several)
    return numbers[apart][::-1] if falls else numbers[apart]


def nearest(coordinate: xr.DataArray, places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The places that stand for the values of a coordinate, which may differ from them in their last digits."""
    values = coordinate.values
    if values.dtype.kind not in "iuf" or values.dtype == places.dtype and values.dtype.kind in "iu":
        return np.asarray(values)
    distance = np.abs(values[:, np.newaxis] - places)
    return np.asarray(places[distance.argmin(axis=1)])


def fills(part: xr.Dataset) -> dict[str, Any]:
    """What a part has in cells that are not its own."""
    def fill(name: str) -> Any:
        kind = part[name].dtype.kind
        return ABSENT if name == "outcome" else np.nan if kind == "f" else "" if kind in "OSTU" else 0
    return {str(name): fill(str(name)) for name in part.data_vars}


# ---- the values ----

def merged(parts: Sequence[xr.Dataset], axes: Sequence[str], paths: Sequence[str]) -> xr.Dataset:
    """The variables of runs, from the part in which each run got furthest; `parts` have one grid."""
    rank = {ABSENT: ABSENT, **{OUTCOMES.index(word): place for place, word in enumerate(WEAKEST_FIRST)}}
    ranks = [xr.apply_ufunc(np.vectorize(rank.get, otypes=[np.int8]), part["outcome"].load()) for part in parts]
    best, source = ranks[0], xr.zeros_like(ranks[0])
    whole, ended = parts[0], WEAKEST_FIRST.index("diverged")
    for place, (part, own) in enumerate(zip(parts[1:], ranks[1:]), start=1):
        both = (best >= ended) & (own >= ended)
        if both.any():
            check_agree(whole, part, both, (paths, source, place), axes)
        better = own > best
        whole = overlaid(whole, part, better, axes)
        best, source = best.where(~better, own), source.where(~better, place)
    outcome = whole["outcome"].where(whole["outcome"] != ABSENT, OUTCOMES.index("pending"))
    return whole.assign(outcome=outcome.astype(parts[0]["outcome"].dtype))


def overlaid(whole: xr.Dataset, part: xr.Dataset, better: xr.DataArray, axes: Sequence[str]) -> xr.Dataset:
    """The variables of `part` where it is better, of `whole` elsewhere."""
    found = {}
    for name in dict.fromkeys([*whole.data_vars, *part.data_vars]):
        if name not in whole:
            kind = part[name].dtype.kind
            found[name] = part[name].where(better, fills(part)[str(name)] if kind != "f" else np.nan)
        elif name in part and set(axes) <= set(part[name].dims):
            found[name] = whole[name].where(~better, part[name])
    return whole.assign(found)


def check_agree(whole: xr.Dataset, part: xr.Dataset, both: xr.DataArray,
                of: tuple[Sequence[str], xr.DataArray, int], axes: Sequence[str]) -> None:
    """Raises DifferentSweeps if a run that has ended in both has other values there."""
    paths, source, place = of
    index = np.nonzero(np.atleast_1d(both.transpose(*axes).values))  # one cell without axes
    cells = {axis: xr.DataArray(where, dims="cell") for axis, where in zip(axes, index)}
    for name in map(str, part.data_vars):
        if name in OF_ONE_TRAINING or name not in whole or not set(axes) <= set(part[name].dims):
            continue
        here, there = (ds[name].isel(cells) if axes else ds[name].expand_dims("cell") for ds in (whole, part))
        here, there = (values.transpose("cell", ...) for values in (here, there))
        here, there = xr.align(here, there, join="outer")
        apart = (here != there) & (here.notnull() | there.notnull())
        apart = apart.any([dim for dim in apart.dims if dim != "cell"])
        if apart.any():
            cell = int(apart.values.argmax())
            run = part["outcome"].isel({axis: int(where[cell]) for axis, where in zip(axes, index)})
            at = "".join(f", {axis} {text(run[axis].values[()])}" for axis in axes)
            first = paths[int(source.isel({axis: int(where[cell]) for axis, where in zip(axes, index)}))]
            raise DifferentSweeps(f"{paths[place]}: {name} of the run{at[1:]} differs from that in {first}; leave one "
                                  "of the files, or these runs, out")


# ---- sessions, attributes ----

def table_of_sessions(part: xr.Dataset) -> xr.Dataset:
    return part[[name for name in part.data_vars if str(name).startswith(SESSION)]].drop_vars(
        [name for name in part.coords], errors="ignore")


def on_one_clock(parts: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """The parts with times since the first session of all began; a part whose sessions say no date keeps its own."""
    def began(part: xr.Dataset) -> float:
        try:
            date = texts(part[SESSION_START].values[:1])[0].rstrip("Z")
            return float(np.datetime64(date, "s").astype(float)) if date else np.nan
        except (KeyError, IndexError, ValueError):
            return np.nan
    dates = np.array([began(part) for part in parts])
    later = np.nan_to_num(dates - np.fmin.reduce(dates))
    return [part.assign({name: (part[name] + seconds).assign_attrs(part[name].attrs)
                         for name in CLOCK if name in part}) if seconds else part
            for part, seconds in zip(parts, later.tolist())]


def numbered(part: xr.Dataset, first: int) -> xr.Dataset:
    """A part whose runs name the rows of the joined table, where its own sessions begin at row `first`."""
    return part.assign(session=(part["session"] + first).assign_attrs(part["session"].attrs)) \
        if "session" in part else part


def attributes_of(parts: Sequence[xr.Dataset], axes: Sequence[str]) -> dict[str, Any]:
    """Attributes of the whole: texts of all parts where they differ; no digest of the grid if that is new."""
    found: dict[str, Any] = {str(name): value for name, value in parts[0].attrs.items() if name not in axes}
    for name, between in (("history", "\n"), ("sweep", "\n---\n")):
        said = [str(part.attrs[name]) for part in parts if name in part.attrs]
        if said:
            found[name] = between.join(dict.fromkeys(said))
    titles = list(dict.fromkeys(part.sweep.title for part in parts))
    if len(titles) > 1:
        found["title"] = found["sweep_title"] = listed(titles)
    notes = {part.sweep.notes: part.sweep.title for part in parts if part.sweep.notes}
    if notes:
        found["sweep_notes"] = "\n\n".join(f"{title}: {note}" if len(notes) > 1 else note
                                           for note, title in notes.items())
    if len({str(part.attrs.get("configuration_digest")) for part in parts}) > 1:
        found["configuration_digest"] = ""
    return found


def listed(words: Sequence[str]) -> str:
    """"one, two and three", "one, two, three and 4 more"."""
    *others, last = words if len(words) <= NAMED + 1 else [*words[:NAMED], f"{len(words) - NAMED} more"]
    return f"{', '.join(others)} and {last}" if others else last


def describe(whole: xr.Dataset, parts: Sequence[xr.Dataset]) -> None:
    """Sets attributes and encodings of the variables as the parts have them."""
    for name in whole.variables:
        for part in parts:
            if name in part.variables:
                whole[name].attrs, whole[name].encoding = dict(part[name].attrs), dict(part[name].encoding)
                break
