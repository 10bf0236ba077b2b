"""Figures of other sizes, in other styles, without their overlays, and in figures of users: nothing is cut, and nothing
of the user's is changed."""

import inspect
import re

import everything
import layout
import matplotlib
import numpy as np
import pytest
from conftest import PROJECT, run, script
from drawn import DECAYS, RATES, dataset, words
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.text import Text
from normsweep import figures, open_sweep
from normsweep.drawings import canvas, table
from normsweep.drawings.canvas import Options

COLUMN = 3.3  # inches of one column of a journal
# Each with machinery of its own.
FEW = {"phase", "norms-fits", "workers", "heads-by-layer", "attention", "top-singular"}
OTHER_AXES = {"gradients-last", "warmup", "boundaries"}


@pytest.fixture(scope="module", params=["all", "axes", "stacks"])
def swept(request, tmp_path_factory):
    """(a sweep, the names of its figures that the sweeps before do not have)."""
    sweep, wanted = {"all": (everything.SWEEP, None), "axes": (everything.OTHER_AXES, OTHER_AXES),
                     "stacks": (everything.STACKS, {"norms-stack-encoder", "direction-stack-decoder"})}[request.param]
    with open_sweep(everything.trained(tmp_path_factory.mktemp("sweep"), sweep)) as made:
        yield made, wanted


@pytest.fixture(scope="module")
def plane():
    """A phase diagram of one panel, with seeds and lines over the steps."""
    made = dataset({"learning_rate": RATES, "weight_decay": DECAYS[:-1], "seed": [0, 1]}, step=range(0, 50, 10),
                   param_norm=(["step"], lambda rate, decay, seed, step: 1 + (rate / decay) ** 0.3 * step / 50))
    made["norm_growth"] = (made.learning_rate / made.weight_decay) ** 0.2 * 1.5 * (1 + 0.1 * made.seed)
    made["train_loss"] = 1 / made.param_norm
    return made.assign({name: made[name].assign_attrs(nature="ratio") for name in ("norm_growth",)})


def cut(figure):
    """The texts that leave a figure, or each other's room."""
    figure.draw_without_rendering()
    return layout.outside(figure) + layout.overlapping(figure)


def over_panels(figure):
    """The legends that lie over a panel."""
    boxes = [axes.get_window_extent() for axes in layout.axes_of(figure)]
    return [legend for legend in figure.legends
            if any(legend.get_window_extent().shrunk(0.98, 0.98).overlaps(box) for box in boxes)]


@pytest.mark.long(20)
def test_one_column_of_a_journal(swept):
    made, wanted = swept
    names = wanted or everything.few_of_each_module(made, 1)
    for found in figures.draw_all(made, names, options=Options(width=COLUMN)):
        assert cut(found.figure) == [] == over_panels(found.figure), found.name
        assert found.figure.get_size_inches()[0] == COLUMN and found.figure.get_size_inches()[1] < 10.5, found.name
        assert max(axes.get_gridspec().ncols for axes in layout.panels_of(found.figure)) <= 2, found.name
        letters = [text.get_fontsize() for text in layout.texts_of(found.figure)]
        assert min(letters) >= canvas.SIZE, found.name


def users_figure(kind, size=(7, 5)):
    """(a user's figure, an Axes of it that is 3.5 inches wide)."""
    figure = Figure(figsize=size, layout=kind)
    FigureCanvasAgg(figure)
    mine, theirs = figure.subplots(1, 2)
    mine.set(ylabel="mine", xlabel="mine, too")
    return figure, theirs


def every_text(part):
    """Every text that is drawn in a figure, without labels of ticks beyond the limits of a panel."""
    axes = part.figure.axes if isinstance(part, SubFigure) else part.axes
    both = [axis for panel in axes for axis in (panel.xaxis, panel.yaxis)]
    ticks = {id(label) for axis in both for label in (*axis.get_majorticklabels(), *axis.get_minorticklabels())}
    seen = {id(label) for axis in both for _, label in layout.tick_labels(axis)}
    return [text for text in part.findobj(Text) if text.get_visible() and text.get_text().strip()
            and (id(text) not in ticks or id(text) in seen)]


def check_in_axes(made, name, kind):
    figure, axes = users_figure(kind)
    before = dict(matplotlib.rcParams)
    found = figures.draw(made, name, axes, font_size=7)
    assert dict(matplotlib.rcParams) == before, name
    figure.draw_without_rendering()
    assert found is axes if isinstance(found, Axes) else isinstance(found, SubFigure) and axes not in figure.axes, name
    width, height = figure.bbox.width, figure.bbox.height
    for text in every_text(figure):
        box = text.get_window_extent()
        assert -2 <= box.x0 and box.x1 <= width + 2 and -2 <= box.y0 and box.y1 <= height + 2, (name, text.get_text())
    mine = figure.axes[0].get_tightbbox()
    panels = [panel for panel in figure.axes[1:] if panel.get_visible()]
    assert panels and not any(mine.shrunk(0.98, 0.98).overlaps(panel.get_window_extent()) for panel in panels), name


@pytest.mark.parametrize("kind", [None, "constrained"])
def test_in_a_users_axes(plane, kind):
    for name in ("phase", "norms", "losses"):
        check_in_axes(plane, name, kind)


@pytest.mark.long(60)
@pytest.mark.thorough("draws every kind of figure into a figure of a user")
def test_every_kind_of_figure_in_a_users_axes(swept):
    """Every other one into a figure without a layout."""
    made, wanted = swept
    for place, name in enumerate(wanted or everything.few_of_each_module(made, 1)):
        try:
            check_in_axes(made, name, (None, "constrained")[place % 2])
        except ValueError as error:
            assert "nothing to draw" in str(error) and name == "gradients-last", name


# ---- options ----

def test_what_is_returned(plane):
    figure = Figure(figsize=(5, 4))
    assert figures.norms(plane, ax=figure) is figure and isinstance(figures.norms(plane), Figure)
    outer = Figure(figsize=(9, 4), layout="constrained")
    inner, _ = outer.subfigures(1, 2)
    assert figures.norms(plane, ax=inner) is inner and cut_inside(inner) == []
    axes = Figure(figsize=(5, 4)).add_axes([0.2, 0.2, 0.7, 0.7])
    assert figures.phase(plane, ax=axes) is axes
    assert axes.figure.legends and axes.get_xlabel() == "learning rate (–)"


def cut_inside(part):
    part.figure.draw_without_rendering()
    return [text.get_text() for text in every_text(part)
            if not part.bbox.padded(3).contains(*text.get_window_extent().p0)]


@pytest.mark.parametrize("width, height, size", [(3.3, 3.5, None), (9, 4, 14), (4.5, 6, 5), (6.5, 5, 12)])
def test_sizes(plane, width, height, size):
    for draw in (figures.phase, figures.norms):
        figure = draw(plane, width=width, height=height, font_size=size)
        assert tuple(figure.get_size_inches()) == (width, height) and cut(figure) == []
        assert {text.get_fontsize() for text in layout.texts_of(figure)} >= {size or canvas.SIZE}


def has_notes(figure):
    return any(text.get_text().startswith("n = ") for text in figure.texts)


def test_title_and_notes(plane):
    assert figures.norms(plane, title="")._suptitle is None
    assert figures.norms(plane, title="Mine: $x")._suptitle.get_text() == r"Mine: \$x"
    assert has_notes(figures.norms(plane)) and not has_notes(figures.norms(plane, notes=False))
    figure = Figure(figsize=(5, 4))
    figures.norms(plane, ax=figure, title="Mine")
    assert figure._suptitle.get_text() == "Mine" and not has_notes(figure)
    assert has_notes(figures.norms(plane, ax=Figure(), notes=True))
    assert not figures.norms(plane, without="legend").legends


def test_styles(plane, tmp_path):
    (tmp_path / "one.mplstyle").write_text("font.family: serif\nfont.size: 7\nfigure.figsize: 3.4, 9\n")
    figure = figures.norms(plane, style=str(tmp_path / "one.mplstyle"))
    assert figure.get_size_inches()[0] == 3.4 and cut(figure) == []
    looks = {(text.get_fontsize(), text.get_fontfamily()[0]) for text in layout.texts_of(figure)} - {(7.875, "serif")}
    assert looks == {(7, "serif")}
    with matplotlib.rc_context({"font.size": 6, "font.family": "monospace"}):  # as a matplotlibrc does
        looks = {(text.get_fontsize(), text.get_fontfamily()[0]) for text in layout.texts_of(figures.norms(plane))}
    assert looks == {(6, "monospace"), (6.75, "monospace")}
    assert figures.norms(plane).get_size_inches()[0] == canvas.WIDTH
    assert figures.norms(plane, style="ggplot", font_size=9).axes[0].title.get_fontsize() == 9


def test_matplotlibrc_counts(plane, tmp_path):
    plane.to_netcdf(tmp_path / "a.nc")
    (tmp_path / "matplotlibrc").write_text("font.size: 10\nsvg.fonttype: none\n")
    run(PROJECT / "analysis" / "figures", "a.nc", "--only", "norms", "--format", "svg", "--title", "Mine",
        "--width", "4", cwd=tmp_path)
    text = (tmp_path / "a-norms.svg").read_text()
    assert "Mine" in text and "10px" in text and 'width="288pt"' in text and "Made up" not in text


@pytest.mark.parametrize("options, said", [
    ({"width": 0.5}, "width: 0.5 is not from 1 to 100 inches"), ({"font_size": 1}, "font_size: 1 is not from 2 to 72 "
                                                                 "points"),
    ({"font_size": 40}, "no room: letters of 40 points need a width of 9.5 inches, not 4.5"),
    ({"height": 1.2}, r"no room: the panels and what is below need a height of \d\.?\d* inches; less for a part of the "
     "sweep, or without notes or legend"),
    ({"style": "nope"}, "style: nope is neither a file nor a style of matplotlib, such as .*"),
    ({"style": {"font.siz": 5}}, "style: '?font.siz'? is not a valid .*"),
    ({"style": {"font.size": "big"}}, "style: Key font.size: .*"),
    ({"style": {"font.size": 5}, "without": "predictd"}, "phase: nothing of the name predictd to leave out, only "
     "boundary, brackets, defaults, diverged, legend, notes, predicted, range, slopes"),
    ({"ax": 3}, "ax: a int is not an Axes, SubFigure or Figure of matplotlib"),
    ({"ax": Figure(), "width": 3}, "width and height are those of ax: leave them out")])
def test_errors(plane, options, said):
    with pytest.raises(ValueError) as error:
        figures.phase(plane, **options)
    assert re.fullmatch(said, str(error.value))


def test_nothing_to_draw_is_an_error(plane):
    for draw, said in ((figures.heads, "heads: it needs heads_histogram"),
                       (figures.boundaries, "boundaries: nothing to draw: it needs axes learning_rate and .*"),
                       (lambda ds: figures.draw(ds, "nope"), "nope: no figure of this name")):
        with pytest.raises(ValueError, match=said):
            draw(plane)


def test_an_axes_without_room_is_left_alone(plane):
    figure = Figure(figsize=(3, 1.5))
    axes = figure.subplots()
    with pytest.raises(ValueError, match="no room"):
        figures.norms(plane, ax=axes, font_size=12)
    assert figure.axes == [axes] and not figure.subfigs and not axes.lines


def test_errors_of_the_command(plane, tmp_path):
    plane.to_netcdf(tmp_path / "a.nc")
    (tmp_path / "bad.mplstyle").write_text("font.sise: 3\n")
    for options, said in (
            (["--font-size", "1"], "--font-size: 1 is not from 2 to 72 points"),
            (["--style", "bad.mplstyle"], "--style: bad.mplstyle: Bad key font.sise in file bad.mplstyle, line 1 "
                                          "('font.sise: 3')"),
            (["--without", "nope", "--only", "workers"], "--without: workers: nothing of the name nope to leave out, "
                                                         "only legend, notes, sessions")):
        options = [*options, *([] if "--only" in options else ["--only", "norms"])]
        said_by = script("figures", "a.nc", *options, cwd=tmp_path, status=1).stderr
        assert said_by == f"figures: {said}\n" or "workers" in options


# ---- overlays ----

def looks_of(figure):
    """What is drawn, roughly: lines, collections, patches and texts of each panel."""
    return [(len(axes.lines), len(axes.collections), len(axes.patches), len(axes.texts)) for axes in figure.axes]


@pytest.mark.thorough("draws each figure once for each of its overlays")
def test_every_overlay_can_be_left_out(swept):
    made, wanted = swept
    for figure in table.FIGURES:
        names = table.of_stacks(made, [figure.name])
        if figure.name not in (wanted or figures.names(made)) or names != [figure.name]:
            continue
        if not figure.overlays:
            continue
        try:
            with_all = looks_of(figures.draw(made, figure.name))
        except ValueError:
            continue
        for word in figure.overlays:
            if with_all == looks_of(figures.draw(made, figure.name, without=word)):
                assert (figure.name, word) in ABSENT, (figure.name, word)


# The sweeps of this test have too few values, or sessions, for these.
ABSENT = {*((figure.name, "grey") for figure in table.FIGURES), ("phase", "defaults"), ("phase", "slopes"),
          ("phase", "diverged"), ("boundaries", "range"), ("gradients", "theory"), ("gradients-last", "theory"),
          ("workers", "sessions"), ("trainability", "zeros"), ("direction-by-layer", "bands"),
          *((figure.name, "bands") for figure in table.FIGURES if "stack" in figure.name)}


def test_overlays_of_a_phase_diagram(plane):
    said = {}
    for word in ("", *table.FIGURES[0].overlays):
        figure = figures.phase(plane, without=[word] if word else [])
        said[word] = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    for word, gone in (("boundary", "no growth"), ("brackets", "runs on either side"), ("range", "range over seeds"),
                       ("predicted", "predicted from one run"), ("defaults", "PyTorch's defaults")):
        assert said[""] - said[word] >= {gone} and not said[word] - said[""], word
    assert said[""] - said["slopes"] == {text for text in said[""] if "slope" in text}
    assert len(figures.phase(plane, without=("predicted", "slopes", "brackets")).legends[0].get_texts()) <= 4
    for without, has_slope in ((), True), ("boundary", False):
        notes = " ".join(text.get_text() for text in figures.phase(plane, without=without).texts)
        assert ("Measured slope" in notes) == has_slope


# ---- functions ----

def test_there_is_a_function_for_each_figure():
    for figure in table.FIGURES:
        function = getattr(figures, figure.name.replace("-", "_"))
        assert callable(function) and function.__name__ in figures.__all__ and function.__doc__
        assert [*inspect.signature(function).parameters] == [
            "dataset", "ax", "width", "height", "font_size", "style", "title", "without", "notes"]
    page = (PROJECT / "docs" / "figures.md").read_text()
    examples = re.findall(r"^\| `(figures\.(\w+)\(ds, ax=ax.*?\))` \|", page, re.M)
    assert [name for _, name in examples] == [figure.name.replace("-", "_") for figure in table.FIGURES]


@pytest.mark.thorough("draws every example of a page")
def test_examples_of_the_page(swept):
    made, wanted = swept
    page = (PROJECT / "docs" / "figures.md").read_text()
    for text, name in re.findall(r"^\| `(figures\.(\w+)\(ds, ax=ax.*?\))` \|", page, re.M):
        if name.replace("_", "-") in (wanted or FEW):
            figure, axes = users_figure("constrained", (9, 6))
            assert eval(text, {"figures": figures, "ds": made, "ax": axes}) is not None
            assert words(figures.Drawing(name, "", figure))


def test_figures_of_a_user_are_as_large_as_before(plane):
    figure, axes = users_figure(None)
    figures.phase(plane, ax=axes)
    assert tuple(figure.get_size_inches()) == (7, 5) and np.isfinite(axes.get_position().bounds).all()
