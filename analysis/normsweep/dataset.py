"""open_sweep, and the accessor `sweep` of a dataset: the axes of a sweep, the state of its runs, planes of values."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, TypeVar

import numpy as np
import pandas as pd
import xarray as xr

from . import forces as of_forces
from . import gradients, parts, predicted, saved_runs, sensitivity, store, table, verify
from .boundary import boundary
from .collapse import collapsed
from .grokking import LEVEL, grokking
from .hints import Array, Numbers, Path
from .join import as_axes, join
from .names import DERIVED, FORMAT, OUTCOMES, PHASE_AXES, REPEAT, SESSION_START, SESSIONS, SOURCE, TEXTS
from .optimum import LOSS, collapse, optimum
from .plane import as_words, derives, phase_axes, pivot
from .scaling import scaling
from .verify import NotASweep
from .words import texts

Method = TypeVar("Method", bound=Callable[..., Any])
LAYOUT = {"char_dim_name", "original_shape", "chunksizes", "preferred_chunks", "contiguous", "chunks"}
NO_NETCDF = -51  # the netCDF library's errno for a file of another format


def open_sweep(path: Path | Iterable[Path], *, chunks: Any = None, **keywords: Any) -> xr.Dataset:
    """The dataset in a file, or in a Zarr store that to_zarr has written, decoded: an xarray.Dataset that reads values
    on demand.

    A sweep that still runs can be opened at any moment; open it again to see new values. Close it, or use `with`:

    >>> with open_sweep("first.nc") as dataset:
    ...     dataset.sweep.title, int(dataset.sweep.done.sum())
    ('My first diagram', 53)

    `path` may be several files, or a pattern such as "results/*.nc", of parts of one sweep that were run apart, such as
    one file for each seed. They become one dataset over the union of their grids; cells that no file has are pending. A
    key that is fixed in a file is an axis of one value there, and one key that is fixed in all of them, with several
    values, becomes an axis. Of a run that several files have, the one that got furthest counts; if it has ended in
    several, all its values have to agree, except times and hosts. Titles and notes of all of them are kept. The
    dataset is in memory, unless there are chunks.

    The parts of a sweep that `run --part I/N` trains are one dataset, too: "first.parts", the folder in which they are,
    or "first.parts/*.nc". Runs of parts that are not there yet are pending.

    >>> open_sweep(["first.nc"]).sweep
    <sweep 'My first diagram': 3 learning_rate x 5 weight_decay x 2 norm_placement x 2 seed, 53 done>

    `chunks` and other keywords are those of xarray.open_dataset; without `chunks`, dask is not needed. Only numbers
    come in such pieces, because dask cannot tell how large texts are. `sessions` is as long as there were sessions. The
    dataset, or a part of it, can be saved with its methods to_netcdf and to_zarr.

    A netCDF-4 copy can be opened, too. Raises OSError if a file cannot be read, NotASweep if it is not a normsweep
    dataset, is cut short, or was altered by another program, and DifferentSweeps if files are not parts of one sweep.
    """
    undecoded = sorted({"decode_cf", "decode_coords", "concat_characters"} & set(keywords))
    if undecoded:
        raise TypeError(f"{undecoded[0]}: open_sweep decodes what it opens; xarray.open_dataset need not")
    asked = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    paths = [file for one in asked for file in matching(one)]
    if not paths:
        raise ValueError("no file to open")
    with contextlib.ExitStack() as opened:
        found = [opened.enter_context(open_file(one, chunks=chunks, **keywords)) for one in paths]
        if len(found) == 1 and paths == asked:
            opened.pop_all()
            return found[0]
        if chunks is None:
            found = [each.load() for each in found]
        whole = joined(found, [os.fspath(one) for one in paths])
        whole.encoding["source"] = os.path.normpath(
            asked[0] if len(asked) == 1 and parts.files_of(asked[0]) else paths[0])
        whole.set_close(opened.pop_all().close)
    return whole


def joined(found: list[xr.Dataset], paths: list[str]) -> xr.Dataset:
    """Datasets of files as one: those that are parts of a divided sweep first."""
    divided = [index for index, each in enumerate(found) if parts.is_part(each)]
    if divided:
        first = parts.merged([found[index] for index in divided], [paths[index] for index in divided])
        others = [index for index in range(len(found)) if index not in divided]
        found, paths = [first, *(found[i] for i in others)], [paths[divided[0]], *(paths[i] for i in others)]
    return join(found, paths) if len(found) > 1 else found[0]


def matching(path: Path) -> list[Path]:
    """The files of a pattern, by name; the parts in a folder; a path alone if it exists or is not a pattern."""
    inside = parts.files_of(path)
    if inside:
        return inside
    if not glob.has_magic(os.fspath(path)) or os.path.lexists(path):
        return [path]
    found: list[Path] = [*sorted(glob.glob(os.fspath(path), recursive=True))]
    if not found:
        raise FileNotFoundError(errno.ENOENT, "No file has such a name", os.fspath(path))
    return found


def open_file(path: Path, **keywords: Any) -> xr.Dataset:
    """open_sweep for one file."""
    if store.is_zarr(path):
        engine = store.zarr_keywords(path)
    else:
        engine = {"engine": "netcdf4"}
        verify.check_file(path)
    try:
        dataset = in_pieces(path, **{**engine, **keywords})
    except OSError as error:
        if error.errno != NO_NETCDF:
            raise
        raise NotASweep(f"{path}: not a normsweep dataset") from error
    except UnicodeDecodeError as error:
        raise NotASweep(f"{path}: the name or text {error.object[:64]!r} is not UTF-8; normsweep did not write this: "
                        "write it in UTF-8, or open the dataset that run wrote") from error
    except ValueError as error:  # xarray cannot make sense of the coordinates, or of a keyword of the caller's
        if opens(path, **engine):
            raise
        raise NotASweep(f"{path}: {str(error).splitlines()[0]}") from error
    try:
        if dataset.attrs.get("source") != SOURCE or "outcome" not in dataset:
            raise NotASweep(f"{path}: not a normsweep dataset")
        if dataset.attrs.get("format_version") != FORMAT:
            raise NotASweep(f"{path}: has dataset format {dataset.attrs.get('format_version')}; this package reads "
                            f"format {FORMAT}: open it with the version that wrote it, or measure anew")
        verify.check_variables(dataset, path)
    except NotASweep:
        dataset.close()
        raise
    forget_layout(dataset)
    if DERIVED in dataset.coords:  # xarray cannot copy a coordinate that is still in the file
        dataset.variables[DERIVED].load()
    if store.is_zarr(path):
        store.restore_truths(dataset)
    return without_spare_sessions(dataset)


def opens(path: Path, **engine: Any) -> bool:
    try:
        xr.open_dataset(path, **engine).close()
    except (OSError, ValueError):
        return False
    return True


def in_pieces(path: Path, chunks: Any = None, **keywords: Any) -> xr.Dataset:
    """xarray.open_dataset, which leaves texts as they are: dask cannot tell how large pieces of them are."""
    dataset = xr.open_dataset(path, **keywords)
    if chunks is None:
        return dataset
    lost = keywords.pop("drop_variables", None) or []
    lost = [lost] if isinstance(lost, str) else [*lost]
    words = [str(name) for name, variable in dataset.variables.items() if variable.dtype.kind in TEXTS]
    with contextlib.ExitStack() as opened:
        opened.callback(dataset.close)
        numbers = xr.open_dataset(path, chunks=chunks, drop_variables=[*lost, *words], **keywords)
        opened.callback(numbers.close)
        found = dataset.assign(numbers.variables)
        found.encoding = dataset.encoding
        found.set_close(opened.pop_all().close)
    return found


def forget_layout(dataset: xr.Dataset) -> None:
    """Drops what xarray remembers of the file's layout and would repeat in another file, where it is in the way: zarr
    has no type for a character, older versions of xarray give texts of different lengths one dimension, and write
    truth values to zarr as bytes."""
    for variable in dataset.variables.values():
        is_text = variable.dtype.kind in "OSTU"  # netCDF cannot compress them
        for name in list(variable.encoding):
            if name in LAYOUT or is_text and name not in ("source", "coordinates"):
                del variable.encoding[name]
        if variable.dtype.kind == "b":
            variable.encoding.pop("dtype", None)


def without_spare_sessions(dataset: xr.Dataset) -> xr.Dataset:
    """The file's table of sessions has rows for later ones."""
    if SESSION_START not in dataset or SESSIONS not in dataset.dims:
        return dataset
    used = np.flatnonzero(texts(dataset[SESSION_START].values) != "")
    cut = dataset.isel({SESSIONS: slice(0, int(used[-1]) + 1 if len(used) else 0)})
    cut.encoding = dataset.encoding
    cut.set_close(dataset.close)
    return cut


def sweep_of(dataset: xr.Dataset) -> Sweep:
    """`dataset.sweep`, with a type: type checkers know nothing of accessors.

    >>> sweep_of(ds).axes == ds.sweep.axes
    True
    """
    found: Sweep = dataset.sweep
    return found


def told_by(function: Callable[..., Any]) -> Callable[[Method], Method]:
    """Gives a method the docstring of the function that it calls."""
    def give(method: Method) -> Method:
        method.__doc__ = function.__doc__
        return method
    return give


@xr.register_dataset_accessor("sweep")
class Sweep:
    """The sweep of a dataset, or of a part of it, such as `ds.sel(seed=0).sweep`.

    >>> ds.sel(seed=0).sweep
    <sweep 'My first diagram': 3 learning_rate x 5 weight_decay x 2 norm_placement, 29 done>
    """

    def __init__(self, dataset: xr.Dataset) -> None:
        self._dataset = dataset

    def __repr__(self) -> str:
        grid = " x ".join(f"{self._dataset.sizes[axis]} {axis}" for axis in self.axes)
        return f"<sweep {self.title!r}: {grid or 'one run'}, {int(self.done.sum())} done>"

    @property
    def title(self) -> str:
        """The sweep's title; the name of its file if it has none, "" without a file."""
        title = str(self._dataset.attrs.get("sweep_title", ""))
        return title or os.path.basename(self._dataset.encoding.get("source", ""))

    @property
    def notes(self) -> str:
        """What the sweep file says in `notes`; "" if it says nothing."""
        return str(self._dataset.attrs.get("sweep_notes", ""))

    @property
    def sweep_file(self) -> str:
        """The text of the sweep file, in YAML, with included files and what `--set` changed as comments at its end."""
        return str(self._dataset.attrs.get("sweep", ""))

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the grid's axes, in the order of the sweep file.

        >>> ds.sel(seed=0).sweep.axes
        ('learning_rate', 'weight_decay', 'norm_placement')
        """
        return tuple(str(name) for name in self._outcome.dims)

    @property
    def word_axes(self) -> tuple[str, ...]:
        """Names of the axes whose values are words or truth values: norm_placement, bias, every together axis.

        >>> ds.sweep.word_axes
        ('norm_placement',)
        """
        return tuple(name for name in self.axes if self._dataset[name].dtype.kind in "OSTUb")

    @property
    def together(self) -> dict[str, tuple[str, ...]]:
        """The keys that change together along an axis, {axis: (key, ...)}; {} if no axis is of that kind.

        >>> ds.sweep.together
        {}
        """
        keys: dict[str, list[str]] = {}
        for name, variable in self._dataset.coords.items():
            axis = variable.dims[0] if len(variable.dims) == 1 else None
            if axis in self._outcome.dims and name != axis and not (name == DERIVED and derives(self._dataset)):
                keys.setdefault(str(axis), []).append(str(name))
        return {axis: tuple(names) for axis, names in keys.items()}

    def with_axes(self, *keys: str) -> xr.Dataset:
        """The dataset with these keys as axes: one that is the same in all runs becomes an axis of a single value,
        behind the others. So the same lines of a script work for one run and for a grid of any axes.

        >>> one = ds.sel(seed=0)
        >>> one.sweep.with_axes("seed", "weight_decay").sweep.axes
        ('learning_rate', 'weight_decay', 'norm_placement', 'seed')

        Along weight_decay, a sweep of timescales has all decays of its runs; cells that are not among them are skipped,
        few if both axes have as many values a decade.

        Raises KeyError for what is not a key of the sweep, or changes together with other keys along an axis.
        """
        return as_axes(self._dataset, keys)

    @property
    def plane(self) -> tuple[str, ...]:
        """The axes (x, y) over which the sweep is shown; fewer if fewer axes have several values.

        Learning rate along x and weight decay, or its timescale, along y. If one of them has a single value, the first
        other axis with several values takes its place, as in `normsweep show`.

        >>> ds.sweep.plane
        ('learning_rate', 'weight_decay')
        >>> ds.sel(learning_rate=1e-2).sweep.plane
        ('norm_placement', 'weight_decay')
        """
        several = [name for name in self.axes if self._dataset.sizes[name] > 1]
        wanted = phase_axes(self._dataset)
        others = iter([name for name in several if name not in wanted])
        sides = (name if name in several else next(others, None) for name in wanted)
        return tuple(name for name in sides if name)

    @property
    def outcome(self) -> xr.DataArray:
        """The state of each run, in words: pending running done diverged failed skipped.

        >>> ds.sweep.outcome.sel(weight_decay=10, seed=0, norm_placement="pre").values
        array(['diverged', 'done', 'done'], dtype=object)
        """
        return self.words("outcome")

    def words(self, name: str) -> xr.DataArray:
        """A variable of flags (outcome, phase, dynamics) in words; ValueError for any other.

        >>> ds.sweep.words("phase").sel(learning_rate=1e-2, weight_decay=1e-3, norm_placement="pre").values
        array(['growing', 'growing'], dtype=object)
        """
        variable = self._outcome if name == "outcome" else self._dataset[name]
        if not verify.has_words(variable):
            raise ValueError(f"{name}: not a variable of flags with words")
        return as_words(variable)

    @property
    def pending(self) -> xr.DataArray:
        """Mask of the runs that have not begun, or have stopped and will continue."""
        return self._stands("pending")

    @property
    def running(self) -> xr.DataArray:
        """Mask of the runs under way."""
        return self._stands("running")

    @property
    def done(self) -> xr.DataArray:
        """Mask of the runs that reached their last step.

        >>> int(ds.sweep.done.sum())
        53
        """
        return self._stands("done")

    @property
    def diverged(self) -> xr.DataArray:
        """Mask of the runs whose loss or norm became NaN or infinite."""
        return self._stands("diverged")

    @property
    def collapsed(self) -> xr.DataArray:
        """Mask of the runs that are done and whose model at last predicts the same word whatever it reads: its
        predicted_entropy is below 0.001. False where that was not measured.

        >>> int(ds.sweep.collapsed.sum())
        0
        """
        return collapsed(self._dataset).assign_attrs(long_name="runs that collapsed").rename("collapsed")

    @property
    def failed(self) -> xr.DataArray:
        """Mask of the runs that could not be trained; `reason` says why."""
        return self._stands("failed")

    @property
    def skipped(self) -> xr.DataArray:
        """Mask of the cells that the sweep leaves out."""
        return self._stands("skipped")

    @told_by(boundary)
    def boundary(self, over: str | None = REPEAT) -> xr.Dataset:
        return boundary(self._dataset, over)

    @told_by(predicted.predicted_boundary)
    def predicted_boundary(self, runs: int = 2, decays: Numbers | None = None, over: str | None = REPEAT,
                           linear_in: str = predicted.SQUARE) -> xr.Dataset:
        return predicted.predicted_boundary(self._dataset, runs, decays, over, linear_in)

    @told_by(of_forces.forces)
    def forces(self, by: Iterable[str] | str = ()) -> xr.DataArray:
        return of_forces.forces(self._dataset, by)

    @told_by(of_forces.forces_at_boundary)
    def forces_at_boundary(self) -> xr.DataArray:
        return of_forces.forces_at_boundary(self._dataset)

    @told_by(of_forces.effective_rate)
    def effective_rate(self, tensors: bool = False) -> xr.DataArray:
        return of_forces.effective_rate(self._dataset, tensors)

    @told_by(gradients.gradient_slopes)
    def gradient_slopes(self, tensor: str = "w2", over: str | None = REPEAT) -> xr.Dataset:
        return gradients.gradient_slopes(self._dataset, tensor, over)

    @told_by(scaling)
    def scaling(self, variable: str = "top_singular", over: Sequence[str] = PHASE_AXES, repeats: str | None = REPEAT,
                where: xr.DataArray | None = None, dead: bool = False) -> xr.Dataset:
        return scaling(self._dataset, variable, over, repeats, where, dead)

    @told_by(optimum)
    def optimum(self, variable: str = LOSS, over: str = "", repeats: str | None = REPEAT,
                where: xr.DataArray | None = None) -> xr.Dataset:
        return optimum(self._dataset, variable, over, repeats, where)

    @told_by(collapse)
    def collapse(self, variable: str = LOSS, of: tuple[str, str] = PHASE_AXES[::-1], repeats: str | None = REPEAT,
                 where: xr.DataArray | None = None) -> xr.Dataset:
        return collapse(self._dataset, variable, of, repeats, where)

    @told_by(grokking)
    def grokking(self, level: float = LEVEL, over: str = REPEAT) -> xr.Dataset:
        return grokking(self._dataset, level, over)

    @told_by(sensitivity.lr_sensitivity)
    def lr_sensitivity(self, over: str | None = REPEAT, loss: str = "") -> xr.Dataset:
        return sensitivity.lr_sensitivity(self._dataset, over, loss)

    @told_by(pivot)
    def pivot(self, variable: str = "norm_growth", **at: Any) -> xr.DataArray:
        return pivot(self._dataset, variable, **at)

    @told_by(saved_runs.weights)
    def weights(self, cell: Mapping[str, Any] | None = None, **values: Any) -> dict[str, Array]:
        return saved_runs.weights(self._dataset, cell, **values)

    def table(self, over: str | None = None) -> pd.DataFrame:
        """table.run_table, one row for each run; or with an axis `over`, such as "seed", table.mean_table: number, mean
        and standard error over its runs."""
        return table.run_table(self._dataset) if over is None else table.mean_table(self._dataset, over)

    @property
    def _outcome(self) -> xr.DataArray:
        if "outcome" not in self._dataset:
            raise NotASweep("not a normsweep dataset: it has no variable outcome")
        return self._dataset["outcome"]

    def _stands(self, word: str) -> xr.DataArray:
        mask = self._outcome == OUTCOMES.index(word)
        mask.attrs = {"long_name": f"runs that are {word}"}
        return mask.rename(word)
