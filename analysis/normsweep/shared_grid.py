"""What two sweeps, or two parts of one, have in common: axes, values, seeds, and what they differ in."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np
import xarray as xr

from .boundary import rule
from .dataset import sweep_of
from .hints import Array
from .names import DERIVED, DIGEST, GENERAL, REPEAT, TIMESCALE
from .plane import equal
from .words import several, value_text

NOT_SETTINGS = frozenset(GENERAL) - {DIGEST}
OF_PROGRAM = ("session_version", "session_commit", "session_blas_kernel", "session_vector_level")
CORPUS = "the content of the corpus"
SHORT = 8  # digits of a digest that are shown
NAMES = ("A", "B")  # in messages and notes
SHOWN = 4  # values in a sentence


class NothingInCommon(ValueError):
    """Two sweeps cannot be compared; the message is one line and says what to do."""


@dataclass
class SharedGrid:
    """Both datasets on the axes that they share: the same sizes along every axis but the seed."""

    a: xr.Dataset
    b: xr.Dataset
    axes: tuple[str, ...] = ()  # without the seed
    is_paired: bool = True  # seeds are the same, place by place
    notes: list[str] = field(default_factory=list)
    unlike: tuple[str, ...] = ()  # axes, the seed among them, of which the two had other values before they shared them

    def __iter__(self) -> Iterator[xr.Dataset]:
        return iter((self.a, self.b))

    @property
    def seeds(self) -> tuple[int, int]:
        return self.a.sizes[REPEAT], self.b.sizes[REPEAT]

    @property
    def enough(self) -> bool:
        """Are there seeds enough for a test?"""
        return min(self.seeds) > 1


def shared_grid(a: xr.Dataset, b: xr.Dataset, paired: Optional[bool] = None,
                along: Sequence[str] = ()) -> SharedGrid:
    """The SharedGrid of two datasets. `along` names axes whose values need not be the same, for boundaries along them.

    An axis of one of them alone is reduced to the value that the other one has. Raises NothingInCommon.
    """
    shared = SharedGrid(with_seeds(a), with_seeds(b))
    axes = [*sweep_of(a).axes, *(axis for axis in sweep_of(b).axes if axis not in sweep_of(a).axes)]
    shared.unlike = tuple(axis for axis in axes if not has_same_values(shared, axis))
    for axis in axes:
        if axis != REPEAT:
            reduce_axis(shared, axis)
    order = {axis: None for axis in (*sweep_of(shared.a).axes, *sweep_of(shared.b).axes) if axis != REPEAT}
    shared.axes = tuple(axis for axis in order if axis in sweep_of(shared.a).axes and axis in sweep_of(shared.b).axes)
    for axis in shared.axes:
        if axis not in along:
            match_axis(shared, axis)
    match_seeds(shared, paired)
    return shared


def with_seeds(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset with the seed as an axis, of one value if it has only one."""
    if REPEAT in dataset.outcome.dims:
        return dataset
    seed = setting(dataset, REPEAT)
    dataset = dataset.drop_vars(REPEAT, errors="ignore")
    axes = set(sweep_of(dataset).axes)
    of_runs = [name for name, variable in dataset.data_vars.items() if axes <= set(variable.dims)]
    expanded = dataset[of_runs].expand_dims({REPEAT: [0 if seed is None else seed]})
    return dataset.drop_vars(of_runs).merge(expanded).assign_attrs(dataset.attrs)


def setting(dataset: xr.Dataset, name: str) -> Any:
    """The one value of a key: of a coordinate without an axis, or an attribute. None if there are several or none."""
    if name in dataset.coords:
        return dataset[name].values.ravel()[0] if dataset[name].size == 1 else None
    return dataset.attrs.get(name)


def has_same_values(shared: SharedGrid, axis: str) -> bool:
    """Do both have the same values of an axis, in any order? A key that is fixed has one."""
    mine, its = ([value for value in (dataset[axis].values if axis in sweep_of(dataset).axes
                                      else [setting(dataset, axis)]) if value is not None] for dataset in shared)
    return len(mine) == len(its) and all(
        equal(np.asarray(its), plain(value, np.asarray(its))).any() for value in mine)


def reduce_axis(shared: SharedGrid, axis: str) -> None:
    """If only one of them has this axis, selects the value that the other one has."""
    has = [axis in sweep_of(dataset).axes for dataset in shared]
    if all(has):
        return
    side = has.index(True)
    scaled = [TIMESCALE in sweep_of(dataset).axes for dataset in shared]
    if axis in (DERIVED, TIMESCALE) and any(scaled) and any(DERIVED in sweep_of(dataset).axes for dataset in shared):
        raise NothingInCommon(f"{NAMES[not scaled[0]]} has an axis timescale, {NAMES[scaled[0]]} an axis weight_decay: "
                              "compare in Python, after ds.sweep.with_axes(\"weight_decay\") of the former")
    mine, other = (shared.a, shared.b)[side], (shared.a, shared.b)[1 - side]
    wanted = setting(other, axis)
    values = mine[axis].values
    if wanted is None and len(values) == 1:
        place = 0
    else:
        places = np.flatnonzero(equal(values, plain(wanted, values))) if wanted is not None else np.array([], int)
        if not len(places):
            its = "none" if wanted is None else f"{axis} {words_of(plain(wanted, values))}"
            raise NothingInCommon(f"{NAMES[side]} has an axis {axis} ({listed(values)}), "
                                  f"{NAMES[1 - side]} has {its}: choose one value of the axis")
        place = places[0]
        if len(values) > 1:
            shared.notes.append(f"Of {axis} of {NAMES[side]}, only {words_of(values[place])} is "
                                f"compared: {NAMES[1 - side]} has no other value.")
    reduced = mine.isel({axis: place})
    shared.a, shared.b = (reduced, shared.b) if side == 0 else (shared.a, reduced)


def plain(value: Any, values: Array) -> Any:
    """A value as the axis has it: attributes hold truth values as bytes."""
    value = value.item() if isinstance(value, np.generic) else value
    return bool(value) if values.dtype.kind == "b" else value


def match_axis(shared: SharedGrid, axis: str) -> None:
    """Reduces an axis to the values that both have, in the order of the first; numbers to 1e-9."""
    values, others = shared.a[axis].values, shared.b[axis].values
    pairs = [(i, place[0]) for i, value in enumerate(values)
             for place in [np.flatnonzero(equal(others, plain(value, values)))]
             if len(place)]
    if not pairs:
        raise NothingInCommon(f"no value of {axis} in common: {NAMES[0]} has {listed(values)}, "
                              f"{NAMES[1]} has {listed(others)}")
    mine, its = (list(places) for places in zip(*pairs))
    for name, all_values, kept in zip(NAMES, (values, others), (mine, its)):
        left = [value for i, value in enumerate(all_values) if i not in kept]
        if left:
            shared.notes.append(f"Not compared, because only {name} has it: {axis} {listed(left)}.")
    shared.a = shared.a.isel({axis: mine})
    shared.b = shared.b.isel({axis: its}).assign_coords({axis: shared.a[axis].variable})


def match_seeds(shared: SharedGrid, paired: Optional[bool]) -> None:
    """Decides whether runs are compared in pairs of one seed, and reduces the seeds to these pairs."""
    mine, its = (dataset[REPEAT].values.tolist() for dataset in shared)
    common = [seed for seed in mine if seed in its]
    if paired and not common:
        raise NothingInCommon(f"no seed in common, so runs cannot be paired: {NAMES[0]} has {listed(mine)}, "
                              f"{NAMES[1]} has {listed(its)}")
    if paired is None:
        paired = bool(common) and len(common) == min(len(mine), len(its))
    shared.is_paired = bool(paired)
    if not paired:
        return
    for name, seeds in zip(NAMES, (mine, its)):
        left = [seed for seed in seeds if seed not in common]
        if left:
            shared.notes.append(f"Not compared, because only {name} has it: seed {listed(left)}.")
    shared.a, shared.b = (dataset.isel({REPEAT: [seeds.index(seed) for seed in common]})
                          for dataset, seeds in zip(shared, (mine, its)))


def listed(values: Iterable[Any]) -> str:
    """"0.1, 0.01 and 3 more"."""
    words = [words_of(value) for value in values]
    return ", ".join(words) if len(words) <= SHOWN + 1 else f"{', '.join(words[:SHOWN])} and {len(words) - SHOWN} more"


def differences(shared: SharedGrid) -> list[tuple[str, str, str]]:
    """[(key, its value in a, in b)] of the settings in which two datasets differ; last the digest of the corpus."""
    a, b = shared
    names = [name for name in dict.fromkeys([*a.attrs, *scalars(a), *b.attrs, *scalars(b)])
             if name not in NOT_SETTINGS and name not in shared.axes and name != REPEAT]
    settings = [(name, setting(a, name), setting(b, name)) for name in names]
    found = [(name, *("" if value is None else words_of(value) for value in values))
             for name, *values in settings if not np.array_equal(*values)]
    found += [*of_labels(shared), ("boundary", *(str(rule(dataset)) for dataset in shared))]
    found.sort(key=lambda one: one[0] == DIGEST)
    return [(name, one, two) if name != DIGEST else (CORPUS, f"{one[:SHORT]}…", f"{two[:SHORT]}…")
             for name, one, two in found if one and two and one != two]


def of_labels(shared: SharedGrid) -> Iterator[tuple[str, str, str]]:
    """Yields (key of a label, its value in a, in b) for every label of a `together` axis."""
    keys: dict[str, dict[str, None]] = {}
    for dataset in shared:
        for axis, names in sweep_of(dataset).together.items():
            keys.setdefault(axis, {}).update(dict.fromkeys(names))
    for axis in (axis for axis in keys if axis in shared.axes):
        for name, place in itertools.product(keys[axis], range(shared.a.sizes[axis])):
            values = [dataset[name].values[place] if name in dataset.coords and dataset[name].dims == (axis,)
                      else setting(dataset, name) for dataset in shared]
            one, two = ("" if value is None else words_of(value) for value in values)
            yield f"{name} of {axis} {words_of(shared.a[axis].values[place])}", one, two


def program_differences(shared: SharedGrid) -> list[tuple[str, str, str]]:
    """The same of what wrote them, as far as numbers depend on it: program, kernel of the BLAS library, vectors."""
    found = []
    for name in OF_PROGRAM:
        words = [sorted({str(word) for word in np.ravel(dataset[name].values) if word}) if name in dataset else []
                 for dataset in shared]
        one, two = (", ".join(part) for part in words)
        if one and two and one != two:
            found.append((name, one, two))
    return found


def scalars(dataset: xr.Dataset) -> list[str]:
    """Coordinates without an axis: what was selected."""
    return [str(name) for name, variable in dataset.coords.items() if variable.ndim == 0]


def words_of(value: Any) -> str:
    """A value as a sweep file has it; attributes hold truth values as bytes."""
    if isinstance(value, np.int8):
        return value_text(bool(value))
    return value_text(value.item() if isinstance(value, np.generic) else value)


def progress(shared: SharedGrid) -> list[str]:
    """Sentences on the sweeps that have not ended, and on the runs that ended early."""
    found = []
    for name, dataset in zip(NAMES, shared):
        stands = sweep_of(dataset)
        count, ended = int((~stands.skipped).sum()), int((stands.done | stands.diverged | stands.failed).sum())
        if ended < count:
            found.append(f"{name}: {ended} of {several(count, 'run')} have ended; only these are compared.")
        early = int((dataset.ended_early == 1).sum()) if "ended_early" in dataset else 0
        if early:
            found.append(f"{name}: {several(early, 'run')} ended early (stop_when): their phases are compared, not "
                         f"their growth and losses.")
    return found
