"""The figures of a dataset, each a function; figures.py has the words. Written by .ci/tables."""

import os
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, TypeVar, overload

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

_Place = TypeVar("_Place", Figure, SubFigure, Axes)
_Style = str | os.PathLike[str] | Mapping[str, Any] | None

class Drawing:
    name: str
    caption: str
    figure: Figure

class NotDrawn(Exception): ...

def draw_all(
    dataset: xr.Dataset, only: Iterable[str] | None = None, failed: Callable[[str, Exception], object] | None = None,
    captioned: bool = False,
) -> Iterator[Drawing]: ...
def names(dataset: xr.Dataset, wanted: Iterable[str] = (), sure: bool = False) -> list[str]: ...
def save(figure: Figure, path: str | os.PathLike[str], style: _Style = None) -> None: ...
@overload
def draw(
    dataset: xr.Dataset, name: str, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The figure or variable of this name."""

@overload
def draw(
    dataset: xr.Dataset, name: str, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def phase(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Growth or shrinkage of the norm over learning rate and weight decay, with the boundary. without: boundary, brackets,
    range, predicted, slopes, defaults, diverged."""

@overload
def phase(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def boundaries(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The boundaries of growth of all kinds of runs in one panel. without: range."""

@overload
def boundaries(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def norms(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Norm of the parameters of the layers over the steps, relative to its start. without: bands, grey, reference."""

@overload
def norms(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def norms_parts(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Norms of all parameters, of the embeddings and of the output. without: bands, grey, reference."""

@overload
def norms_parts(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def norms_stack(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Norm of each stack of an encoder-decoder. without: bands, grey, reference."""

@overload
def norms_stack(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def norms_by_layer(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Norm of each layer over the steps. without: bands, reference."""

@overload
def norms_by_layer(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def norms_by_tensor(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Norm of each kind of tensor over the steps. without: reference."""

@overload
def norms_by_tensor(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def norms_fits(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The norm beside the laws of growth that are fitted to it."""

@overload
def norms_fits(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def fits(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """How well the laws of growth fit."""

@overload
def fits(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def dynamics(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Exponent of the growth of the norm, and the law that fits best."""

@overload
def dynamics(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def direction(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Cosine between the parameters at successive measured steps. without: bands, grey."""

@overload
def direction(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def direction_stack(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The same of each stack of an encoder-decoder. without: bands, grey."""

@overload
def direction_stack(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def direction_by_layer(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The same of each layer. without: bands."""

@overload
def direction_by_layer(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def alignment(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Cosine of steps, updates and gradients with the parameters, and that of momentum alone. without: bands, grey,
    reference."""

@overload
def alignment(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def equilibrium(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Rotation and size of each kind of tensor over those of the balance of decay and steps. without: reference."""

@overload
def equilibrium(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def forces(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Decay, injection, chance and pull: what each has added to the square of the norm, over the steps. without: sum,
    reference."""

@overload
def forces(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def forces_by_tensor(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The same of each kind of tensor, over the whole run. without: sum, reference."""

@overload
def forces_by_tensor(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def forces_boundary(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The same as shares of decay, along the boundary of growth. without: range, reference."""

@overload
def forces_boundary(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def forces_plane(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The force that has added most, over the axes of the grid. without: boundary."""

@overload
def forces_plane(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def top_singular(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Largest singular value of each kind of matrix over sqrt(learning rate / weight decay). without: proportion."""

@overload
def top_singular(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def spectra(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Stable rank, singular values in effect, the largest over that of noise, over the steps. without: bands, grey."""

@overload
def spectra(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def spectra_heads(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Rank and imbalance of the products of each head's matrices, over the steps. without: bands, grey."""

@overload
def spectra_heads(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def singular_values(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """All singular values of each kind of matrix at the last measured step."""

@overload
def singular_values(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def steps(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Norms of steps, updates and gradients over the steps. without: bands, grey."""

@overload
def steps(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def steps_by_layer(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Norm of the step in each layer, and its cosine with the layer's parameters. without: bands."""

@overload
def steps_by_layer(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def saturation(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Cosine of the states with those of the saturated network, after each layer. without: hard."""

@overload
def saturation(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def saturation_by_layer(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The same over the steps. without: bands."""

@overload
def saturation_by_layer(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def saturation_final(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The same of the output layer's input, over the steps. without: bands, grey."""

@overload
def saturation_final(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def homogeneity(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """How close the network is to a homogeneous function of its parameters. without: bands."""

@overload
def homogeneity(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def heads(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Heads of the saturated network by the number of positions that they attend to."""

@overload
def heads(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def heads_by_layer(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The same for each head of each layer."""

@overload
def heads_by_layer(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def heads_by_token(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The same for each head, over the tokens."""

@overload
def heads_by_token(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def attention(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Share of heads with a sink, largest score, mean entropy, over the axes of the grid."""

@overload
def attention(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def attention_steps(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The same over the steps. without: bands, grey."""

@overload
def attention_steps(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def attention_by_layer(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Largest score, entropy and attention to the first position of each head. without: reference."""

@overload
def attention_by_layer(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def activations(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Root mean square of the residual stream after each block."""

@overload
def activations(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def activations_largest(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Largest element of the residual stream over the median, after each block."""

@overload
def activations_largest(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def gradients(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Gradients of untrained networks along the layers. without: theory."""

@overload
def gradients(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def gradients_last(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Gradients of the last layer of untrained networks, over the number of layers. without: theory."""

@overload
def gradients_last(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def hessian(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Spectral density of the loss's Hessian at the first and the last measured step."""

@overload
def hessian(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def hessian_edge(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Largest eigenvalue over its bound at the edge of stability, over the steps. without: bands, grey, reference."""

@overload
def hessian_edge(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def hessian_steps(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Largest and smallest eigenvalue of the Hessian, and its trace, over the steps. without: bands, grey."""

@overload
def hessian_steps(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def hessian_layers(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Spectral density of each layer's block of the Hessian."""

@overload
def hessian_layers(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def hessian_ends(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Largest and smallest eigenvalue of each layer's block. without: reference."""

@overload
def hessian_ends(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def critical_sharpness(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Critical sharpness beside the largest eigenvalue and the rate of the steps. without: limits."""

@overload
def critical_sharpness(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def residual(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Norm of the residual stream after each block."""

@overload
def residual(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def residual_cosine(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Cosine of the residual stream before and after each block."""

@overload
def residual_cosine(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def residual_growth(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Growth per block of the stream, of gradients and of angles between tokens. without: bands, grey, reference."""

@overload
def residual_growth(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def lyapunov(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Lyapunov exponents at the first and the last measured step. without: reference."""

@overload
def lyapunov(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def lyapunov_plane(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """The largest Lyapunov exponent over the axes of the grid. without: zeros, lowest."""

@overload
def lyapunov_plane(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def trainability(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Loss at the end, and where the exponents of the untrained network are 0. without: zeros, lowest."""

@overload
def trainability(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def losses(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Training and validation loss over the steps. without: bands, grey, unigram."""

@overload
def losses(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def final_losses(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Losses at the end over the axes of the grid."""

@overload
def final_losses(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def warmup(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Loss at the end over the steps of warmup. without: unigram."""

@overload
def warmup(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def predictions(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Accuracy and entropy of the predictions over the steps. without: bands, grey."""

@overload
def predictions(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def grokking(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """Accuracy over the steps, and the steps from memory to generalisation. without: reference, others."""

@overload
def grokking(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
@overload
def workers(
    dataset: xr.Dataset, ax: None = None, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> Figure:
    """What each worker did, and how busy they were. without: sessions."""

@overload
def workers(
    dataset: xr.Dataset, ax: _Place, *, width: float | None = None, height: float | None = None,
    font_size: float | None = None, style: _Style = None, title: str | None = None,
    without: str | Iterable[str] = (), notes: bool | None = None,
) -> _Place | SubFigure: ...
