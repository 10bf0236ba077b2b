"""The figures, by what is drawn in them: lines, maps, contours and words, not pixels."""

import pathlib
import struct

import numpy as np
import pytest
from conftest import script
from drawn import (DECAYS, DIVERGED, DONE, PENDING, RATES, RUNNING, SKIPPED, dataset, drawing, keys, legend, mesh,
                   near, panels, words)
from made_up import made_up
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from normsweep import figures
from normsweep.drawings import canvas, colours, look, scales, table
from normsweep.drawings import line_looks, runs

pytestmark = pytest.mark.thorough("draws figures again and again; test_figures_sweep.py draws each once")


# ---- the script ----


def test_script(tmp_path):
    made_up().to_netcdf(tmp_path / "made up.nc")
    drawn = script("figures", tmp_path / "made up.nc", "-o", tmp_path / "a b").stdout.splitlines()
    names = [f"made up-{name}.{ending}" for name in ("phase", "boundaries", "norms", "workers")
             for ending in ("png", "svg")]
    assert [pathlib.Path(path).name for path in drawn] == names
    for path in drawn[::2]:
        head = pathlib.Path(path).read_bytes()[:24]
        width, height = struct.unpack(">II", head[16:])
        assert head.startswith(b"\x89PNG") and width == round(canvas.WIDTH * canvas.DPI) and height > 300
    for path in drawn[1::2]:
        picture = pathlib.Path(path).read_text()
        assert "<svg" in picture and "</text>" in picture and "<dc:date>" not in picture


def test_same_figure_is_the_same_file(tmp_path):
    made_up().to_netcdf(tmp_path / "a.nc")
    for folder in ("one", "two"):
        script("figures", tmp_path / "a.nc", "-o", tmp_path / folder, "--only", "phase", "norms")
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["a-norms.png", "a-norms.svg", "a-phase.png", "a-phase.svg"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_saving_draws_once(tmp_path, monkeypatch):
    """Drawing takes most of the time; matplotlib draws a figure that has a layout twice."""
    calls, draw = [], Figure.draw
    monkeypatch.setattr(Figure, "draw", lambda figure, renderer: [calls.append(figure), draw(figure, renderer)])
    figures.save(figures.draw(made_up(), "phase"), tmp_path / "a.png")
    assert len(calls) == 1


def test_script_draws_what_is_asked_for(tmp_path):
    made_up().to_netcdf(tmp_path / "a.nc")
    drawn = script("figures", tmp_path / "a.nc", "-o", tmp_path, "--format", "svg", "--only", "norms").stdout
    assert drawn == f"{tmp_path}/a-norms.svg\n"
    drawn = script("figures", tmp_path / "a.nc", "-o", tmp_path, "--format", "svg", "--only", "param_norm,norm_growth")
    assert drawn.stdout.splitlines() == [f"{tmp_path}/a-{name}.svg" for name in ("param_norm", "norm_growth")]
    over_steps = (tmp_path / "a-param_norm.svg").read_text()
    assert ">parameter norm (–)<" in over_steps and ">step (–)<" in over_steps
    error = script("figures", tmp_path / "a.nc", "--only", "heads", status=1).stderr
    there = "this dataset has boundaries, norms, norms-fits, phase, workers"
    assert error == f"figures: no figure heads: it needs heads_histogram; {there}\n"
    for name, meant in (("phse", "phase"), ("normfits", "norms-fits"), ("norms_fits", "norms-fits")):
        error = script("figures", tmp_path / "a.nc", "--only", name, status=1).stderr
        assert error == f"figures: no figure {name}; did you mean {meant}?; {there}\n"
    one = made_up().isel(norm_placement=0)
    one.to_netcdf(tmp_path / "one.nc")
    error = script("figures", tmp_path / "one.nc", "--only", "xyz", status=1).stderr
    assert error == f"figures: no figure xyz; {there.replace('boundaries, ', '')}\n"
    error = script("figures", tmp_path / "a.nc", "--only", "xyz", status=1).stderr
    assert error == f"figures: no figure xyz; {there}\n"
    error = script("figures", tmp_path / "a.nc", "--format", "gif", status=2).stderr
    assert "'gif' is not one of png, svg, pdf" in error


def test_script_lists_all_figures():
    rows = [line.split(maxsplit=1) for line in script("figures", "--list").stdout.splitlines()]
    assert rows == [[figure.name, figure.about + f"; --without {', '.join(figure.overlays)}" * bool(figure.overlays)]
                    for figure in table.FIGURES]


def test_script_draws_the_figures_of_both_stacks(tmp_path):
    stacks = {"stack": ["encoder", "decoder"]}
    dataset({"learning_rate": RATES}, other=stacks, stack_norm=(
        ["step", "stack"], lambda rate, step, stack: 1 + step)).to_netcdf(tmp_path / "a.nc")
    drawn = script("figures", tmp_path / "a.nc", "-o", tmp_path, "--format", "svg", "--only", "norms-stack").stdout
    assert drawn.splitlines() == [f"{tmp_path}/a-norms-stack-{word}.svg" for word in stacks["stack"]]


def test_script_where_nothing_can_be_written(tmp_path):
    made_up().to_netcdf(tmp_path / "a.nc")
    for folder in ("a.nc", "a.nc/b/c"):
        error = script("figures", tmp_path / "a.nc", "-o", tmp_path / folder, status=1).stderr
        assert error == f"figures: {tmp_path}/a.nc: is a file, not a folder\n"


def test_a_figure_that_fails_takes_no_other_down(tmp_path):
    made = dataset({"learning_rate": RATES}, param_norm=(["step"], lambda rate, step: 1 + rate * step), dynamics=1)
    made.dynamics.attrs = {"flag_meanings": "none aligned"}  # without their numbers
    made.to_netcdf(tmp_path / "a.nc")
    done = script("figures", tmp_path / "a.nc", "-o", tmp_path, status=1)
    assert done.stderr.startswith("figures: ") and "dynamics has no flag_meanings for its flag_values" in done.stderr
    assert done.stderr.count("\n") == 1
    drawn = []
    with pytest.raises(figures.NotDrawn, match="dynamics: 'flag_values'"):
        for found in figures.draw_all(made):
            drawn.append(found.name)
    assert drawn == ["norms", "norms-fits"]


# ---- lines ----

def line_data(axes):
    return [line.get_xydata() for line in axes.lines if len(line.get_xdata()) > 2]


def test_norms_are_over_their_starts():
    made = dataset({"learning_rate": [1e-2, 1e-3]}, param_norm=(["step"], lambda rate, step: 5 + rate * step))
    made.outcome[1] = DIVERGED
    found = drawing(made, "norms")
    assert near(line_data(panels(found)[0]), [[[t, (5 + 1e-2 * t) / 5] for t in (0, 1, 2, 4)]])
    assert "1 diverged run is not shown." in found.caption


def test_few_runs_have_names_and_differ_in_more_than_colour():
    made = dataset({"optimiser": ["adamw", "sgd"], "bias": [True, False], "seed": [0, 1]},
                   param_norm=(["step"], lambda optimiser, bias, seed, step: 1 + step))
    found = drawing(made, "norms")
    assert keys(found) == {"optimiser": ["adamw", "sgd"], "bias": ["yes", "no"]}
    looks = {(to_hex(line.get_color()), line.get_linestyle()) for line in panels(found)[0].lines
             if len(line.get_xdata()) > 2}
    assert len(looks) == 4 and len({colour for colour, _ in looks}) == 2


def test_of_many_values_a_few_have_colours_and_the_others_are_grey():
    rates = np.logspace(-4, -1, 13)
    made = dataset({"learning_rate": rates, "weight_decay": [0.1, 1.0]},
                   param_norm=(["step"], lambda rate, decay, step: 1 + rate * step))
    made.outcome[-1] = DIVERGED
    made["param_norm"] = made.param_norm.where(made.outcome == DONE)
    found = drawing(made, "norms")
    coloured = runs.thinned(list(rates[:-1]), line_looks.FEW)  # of those that have a line
    assert keys(found) == {"learning rate (–)": [*map(scales.number, coloured), "others"]}
    assert "Grey: 6 other learning rates." in found.caption and "n = 24 runs." in found.caption
    for axes in panels(found):
        colours = {line.get_ydata()[-1]: to_hex(line.get_color()) for line in axes.lines if len(line.get_xdata()) > 2}
        greys = [value for value, colour in colours.items() if colour == to_hex(line_looks.OTHERS["color"])]
        assert near(sorted(greys), [1 + 4 * rate for rate in rates[:-1] if rate not in coloured])
    narrow = made.assign({name: made.param_norm for name in ("alignment", "update_alignment", "gradient_alignment")})
    assert len(keys(drawing(narrow, "alignment"))["learning rate (–)"]) == line_looks.FEW_NARROW + 1


def test_lines_are_medians_over_the_seeds_in_bands():
    made = dataset({"learning_rate": [1e-2, 1e-3], "seed": [0, 1, 2]},
                   param_norm=(["step"], lambda rate, seed, step: 1 + rate * step * (1 + seed ** 2)))
    found = drawing(made, "norms")
    axes, = panels(found)
    assert near(sorted(line[-1, 1] for line in line_data(axes)), [1 + 2 * 4e-3, 1 + 2 * 4e-2])
    band = axes.collections[0].get_paths()[0].vertices
    assert near([band[:, 1].min(), band[:, 1].max()], [1, 1 + 5 * 4e-2])
    assert "Lines are medians over 3 seeds; bands are the range over them." in found.caption
    made["param_norm"] = made.param_norm.where((made.learning_rate > 1e-3) | (made.seed > 0))
    assert "Lines are medians over up to 3 seeds;" in drawing(made, "norms").caption


def test_colours_ascend_with_the_numbers():
    made = dataset({"learning_rate": [1e-2, 0.0, 1e-3]}, param_norm=(["step"], lambda rate, step: 1 + rate * step))
    found = drawing(made, "norms")
    assert keys(found) == {"learning rate (–)": ["0", "0.001", "0.01"]}
    assert to_hex(found.figure.legends[0].get_lines()[0].get_color()) == to_hex(colours.ORDERED(0.0))


def test_many_runs_are_thinned_and_medians_are_of_all():
    axes = {"learning_rate": np.logspace(-5, -1, 20), "weight_decay": np.logspace(-5, -1, 20), "seed": range(3)}
    made = dataset(axes, param_norm=(["step"], lambda rate, decay, seed, step: 1 + step * rate),
                   alignment=(["step"], lambda rate, decay, seed, step: rate * decay * (1 + seed) * (1 + step)))
    shown = drawing(made, "alignment")
    assert "Lines are medians over 3 seeds; bands are the range over them." in shown.caption
    assert "n = 360 of 1200 runs." in shown.caption
    assert "6 of 20 weight decays are shown; others with --at weight_decay=VALUE." in shown.caption
    for axes_of_decay, decay in zip(panels(shown), runs.thinned(axes["weight_decay"], 6)):
        medians = sorted(line_data(axes_of_decay), key=lambda line: line[0, 1])
        assert near([line[0, 1] for line in medians], 2 * decay * axes["learning_rate"])


def test_a_sweep_that_runs_has_gaps():
    made = dataset({"learning_rate": RATES},
                   valid_loss=(["step"], lambda rate, step: np.where(step == 1, np.nan, step)))
    made.outcome[:] = [RUNNING, DONE, PENDING, DIVERGED]
    made["valid_loss"] = made.valid_loss.where(made.outcome != PENDING)
    found = panels(drawing(made, "losses"))[0]
    assert [line[:, 0].tolist() for line in line_data(found)] == [[0, 2, 4]] * 2


def test_a_sweep_that_has_not_ended_says_so():
    axes = {"learning_rate": np.logspace(-4, -1, 9), "weight_decay": [1e-2, 1e-1], "norm_placement": ["pre", "post"]}
    made = dataset(axes, param_norm=(["step"], lambda rate, decay, place, step: 1 + rate * step), norm_growth=1.5)
    assert "have ended" not in words(drawing(made, "norms"))
    made.outcome[:, :, 1], made.outcome[0, 0, 0], made.outcome[1, 0, 0] = PENDING, RUNNING, SKIPPED
    made["param_norm"] = made.param_norm.where(made.sweep.done)
    for name in ("norms", "phase", "norms-fits"):
        found = drawing(made, name)
        assert words(found).count("16 of 35 runs have ended.") == 2, name  # in the note and the caption
    one, other = panels(drawing(made, "norms"))  # a panel for each combination that has a run
    assert [axes.get_title() for axes in (one, other)] == ["weight decay 0.01", "weight decay 0.1"]
    assert "All with norm placement pre." in drawing(made, "norms").caption
    assert [len(line_data(axes)) for axes in (one, other)] == [7, 9]


def test_legends_name_what_is_drawn_alone():
    made = dataset({"learning_rate": [1e-1, 1e-2, 1e-3], "optimiser": ["adamw", "sgd"]},
                   param_norm=(["step"], lambda rate, optimiser, step: 1 + rate * step), final_train_loss=2.0)
    made.outcome[0], made.outcome[1, 1] = DIVERGED, PENDING
    for name in ("param_norm", "final_train_loss"):
        made[name] = made[name].where(made.outcome == DONE)
    assert keys(drawing(made, "norms")) == {"learning rate (–)": ["0.001", "0.01"], "optimiser": ["adamw", "sgd"]}
    one = made.assign(param_norm=made.param_norm.where(made.optimiser == "sgd"))
    assert keys(drawing(one, "norms")) == {"learning rate (–)": ["0.001"]}
    assert "All with optimiser sgd." in drawing(one, "norms").caption
    made["final_train_loss"] = made.final_train_loss.where(made.optimiser == "sgd")
    assert legend(drawing(made, "final-losses")) == ["sgd"]


def test_unigram_level_stands_beside_the_validation_loss():
    made = dataset({"seed": [0, 1]}, valid_loss=(["step"], lambda seed, step: 5 - step / 4),
                   train_loss=(["step"], lambda seed, step: 4 - step / 4), unigram_loss=3.25)
    found = drawing(made, "losses")
    levels = [[line.get_ydata()[0] for line in axes.lines if len(line.get_xdata()) == 2] for axes in panels(found)]
    assert levels == [[], [3.25]] and any("unigram" in text for text in legend(found))


def test_few_wild_losses_leave_the_panel():
    made = dataset({"learning_rate": np.logspace(-4, -1, 20)},
                   train_loss=(["step"], lambda rate, step: np.where((step > 0) & (rate > 0.09), 500, 5 - step / 2)))
    found = drawing(made, "losses")
    axes, = panels(found)
    assert near(axes.get_ylim(), (3 - 0.05 * 4.5, 7.5)) and axes.get_yscale() == "linear"
    assert "Panels are cut at 1.5 times the median start value; 1 line goes beyond." in words(found)
    wild = made.assign(train_loss=made.train_loss.where((made.learning_rate < 1e-3) | (made.step == 0), 500))
    assert panels(drawing(wild, "losses"))[0].get_ylim()[1] > 500 and "beyond" not in words(drawing(wild, "losses"))


# ---- what is measured in depth ----

def test_layers_have_a_row_for_each_value_in_the_order_of_the_axis():
    """Of many rates some; each at the decay that is closest to the defaults."""
    made = dataset({"learning_rate": np.logspace(-9, -1, 9)[::-1], "weight_decay": [1.0, 0.1]},
                   other={"layer": [0, 1]}, norm_growth=np.arange(18).reshape(9, 2)[::-1] % 7,
                   layer_norm=(["step", "layer"], lambda rate, decay, step, layer: 2 + step * (1 + layer) * decay))
    found = drawing(made, "norms-by-layer")
    axes = panels(found)
    assert "n = 6 of 18 runs: for each of 6 learning rates, the one closest to PyTorch's defaults." in found.caption
    assert "6 of 9 learning rates are shown" in found.caption and "All with weight decay 0.1." in found.caption
    assert [panel.get_title() for panel in axes] == [
        f"learning rate {scales.number(rate)}" for rate in made.learning_rate.values[[0, 2, 3, 5, 6, 8]]]
    assert len({panel.get_subplotspec().colspan.start for panel in axes}) == 1
    assert near([line[:, 1] for line in line_data(axes[3])],
                [[1 + 0.1 * t * (1 + layer) / 2 for t in (0, 1, 2, 4)] for layer in (0, 1)])
    assert not axes[0].collections and "band" not in found.caption


def test_layers_have_a_row_for_each_optimiser_and_a_band_over_seeds():
    """A rate that is not the closest to the defaults where that one has no run."""
    kinds = ["sgd", "adamw", "lion", "adafactor"]
    made = dataset({"learning_rate": [1e-2, 1e-3], "optimiser": kinds, "seed": [0, 1, 2]}, other={"layer": [0, 1]},
                   layer_norm=(["step", "layer"], lambda rate, kind, seed, step, layer: 1 + step * (layer + 1) * (
                       2 + seed ** 2)))
    made.outcome[1, 2] = SKIPPED
    made["layer_norm"] = made.layer_norm.where(made.outcome == DONE)
    found = drawing(made, "norms-by-layer")
    assert [axes.get_title().partition(",")[0] for axes in panels(found)] == kinds
    assert "learning rate 0.01" in panels(found)[2].get_title().replace("\n", " ")
    for axes in panels(found):
        low, high = (np.array([band.get_paths()[0].vertices[:, 1] for band in axes.collections]).min(axis=1),
                     np.array([band.get_paths()[0].vertices[:, 1] for band in axes.collections]).max(axis=1))
        assert near(low, 1) and near(high, [1 + 4 * 6, 1 + 4 * 12])
        assert near([line[:, 1] for line in line_data(axes)[:2]], [[1 + t * (layer + 1) * 3 for t in (0, 1, 2, 4)]
                                                                 for layer in (0, 1)])
    assert "n = 12 of 21 runs" in found.caption
    assert "Lines are medians over 3 seeds; bands are the range over them." in found.caption


def test_notes_say_how_runs_were_chosen():
    axes = {"learning_rate": RATES, "norm_placement": ["pre", "post"], "bias": [True, False]}
    made = dataset(axes, norm_growth=np.arange(16).reshape(4, 2, 2) + 1.0)

    def note(part, count):
        return runs.representatives(part, "norm_growth", count)[1]
    both, one = made, made.isel(bias=0)
    assert note(one, 2) == "n = 2 of 8 runs: for each norm placement, the one closest to PyTorch's defaults."
    assert note(one, 4) == "n = 4 of 8 runs, evenly spaced by norm growth within each norm placement."
    assert note(both, 4) == ("n = 4 of 16 runs: for each combination of norm placement and bias, the one closest to "
                             "PyTorch's defaults.")
    assert note(both, 2).startswith("n = 2 of 16 runs: for each of 2 combinations of norm placement and bias, ")
    many = dataset({"optimiser": list("abcd"), "seed": [0, 1]}, norm_growth=1.5)
    assert note(many, 3) == "n = 3 of 8 runs: for each of 3 optimisers, one run."


def test_saturation_at_the_first_and_the_last_step():
    made = dataset({}, other={"layer": [0, 1, 2]},
                   saturation=(["step", "layer"],
                               lambda step, layer: np.where(step == 1, np.nan, step / 8 + layer / 9)),
                   hard_saturation=(["step", "layer"], lambda step, layer: step / 8), saturation_final=0.5)
    made["saturation_final"] = ("step",), [0.1, 0.2, 0.3, 0.9]
    axes = panels(drawing(made, "saturation"))[0]
    first, last, *hard = (line.get_ydata() for line in axes.lines)
    assert near(first, [0, 1 / 9, 2 / 9, 0.1]) and near(last, [0.5, 0.5 + 1 / 9, 0.5 + 2 / 9, 0.9])
    assert near(np.array(hard)[:, :3], [[0] * 3, [0.5] * 3])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "1", "2", "final"]


def test_heads():
    other = {"layer": [0, 1], "head": [0, 1, 2], "attended": [1, 2, 4, 8]}
    made = dataset({}, other=other,
                   heads_histogram=(["step", "attended"], lambda step, top: np.where(step == 0, 6 * (top == 1), top)),
                   positions_attended=(["step", "layer", "head"], lambda step, layer, head: 1 + layer + head * step),
                   attended_histogram=(["step", "layer", "head", "attended"],
                                       lambda step, layer, head, top: (top == 2) * (layer + step) / 5))
    axes = panels(drawing(made, "heads"))[0]
    assert [bar.get_height() for bar in axes.patches] == [6, 0, 0, 0, 1, 2, 4, 8]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "3–4", "5–8"]
    first, last = (line.get_ydata() for line in panels(drawing(made, "heads-by-layer"))[0].lines)
    assert first.tolist() == [1, 1, 1, 2, 2, 2] and last.tolist() == [1, 5, 9, 2, 6, 10]
    assert near(np.reshape(mesh(panels(drawing(made, "heads-by-token"))[0]), (6, 4))[:, 1], [0.8] * 3 + [1] * 3)


def test_homogeneity_is_a_mean_over_the_models_of_a_kind():
    made = dataset({"bias": [True, False], "learning_rate": [1e-3, 1e-2], "seed": [0, 1]}, other={"scale": [1, 2, 3]},
                   homogeneity=(["scale"], lambda bias, rate, seed, scale: 1 - (1 + seed + 3 * bias) / 10 / scale))
    made["homogeneity_degree"] = 1 + made.seed / 10 + 0 * made.outcome
    found = drawing(made, "homogeneity")
    assert legend(found) == [f"bias {word}: degree 1.05 ± 0.05 (states)" for word in ("yes", "no")]
    axes = panels(found)[0]
    assert near([line.get_ydata() for line in axes.lines],
                [[1 - mean / scale for scale in (1, 2, 3)] for mean in (0.45, 0.15)])


def test_homogeneity_of_many_models_has_a_panel_for_each_mask():
    made = dataset({"attention_mask": ["causal", "multiplicative"], "bias": [True, False],
                    "norm_placement": ["post", "pre", "out"], "seed": [0, 1]}, other={"scale": [1, 2]},
                   homogeneity=(["scale"], lambda mask, bias, place, seed, scale: 1 - (
                       1 + (mask == "causal") + 2 * bias + 4 * (place == "pre") + 8 * (place == "out")) / 20 / scale))
    made["homogeneity_degree"] = 1 + made.seed / 10 + 0 * made.outcome
    found = drawing(made, "homogeneity")
    assert [(axes.get_title(), len(axes.lines)) for axes in panels(found)] == [("causal", 6), ("multiplicative", 6)]
    assert legend(found) == [f"{place}, bias {word}" for word in ("yes", "no") for place in ("post", "pre", "out")]
    assert "Degrees of all models: 1.00 to 1.10 (states)." in found.caption and "are shown" not in found.caption


def test_an_exact_law_is_met():
    made = dataset({}, step=range(0, 50, 5), param_norm=(["step"], lambda step: 3 + 2 * np.sqrt(step)))
    made["fit_sqrt_r2"] = 1.0
    left = panels(drawing(made, "norms-fits"))[0]
    texts = [text.get_text() for text in left.get_legend().get_texts()]
    assert texts[0] == "$\\sqrt{t}$  1.000" and not any("1.000" in text for text in texts[1:])
    assert near(left.lines[1].get_ydata(), 3 + 2 * np.sqrt(np.arange(0, 50, 5)))


def test_recursions_that_are_one_curve_say_so():
    made = dataset({}, step=range(0, 50, 5), param_norm=(["step"], lambda step: 1.02 ** step))
    made["fit_aligned_norm"] = made["fit_misaligned_norm"] = made.param_norm + 0.001
    found = drawing(made, "norms-fits")
    right = panels(found)[1]
    _, aligned, misaligned = right.lines
    assert near(aligned.get_ydata(), made.param_norm + 0.001) and near(misaligned.get_ydata(), aligned.get_ydata())
    assert aligned.get_linewidth() > misaligned.get_linewidth()
    assert misaligned.get_linestyle() == "--" and "are one curve" in found.caption
    made["fit_misaligned_norm"] = made.param_norm + 0.1
    assert "one curve" not in words(drawing(made, "norms-fits"))
    assert len({line.get_linewidth() for line in panels(drawing(made, "norms-fits"))[1].lines[1:]}) == 1


def test_fits_without_a_known_quality_have_no_number():
    made = dataset({}, step=range(0, 50, 5), param_norm=(["step"], lambda step: 1.02 ** step), outcome=1)
    made["fit_sqrt_r2"] = made["fit_linear_r2"] = np.nan
    shown = panels(drawing(made, "norms-fits"))[0].get_legend()
    assert [text.get_text() for text in shown.get_texts()][0] == "$\\sqrt{t}$"
    assert "R^2" not in shown.get_title().get_text()
    assert "nan" not in words(drawing(made, "norms-fits"))
    made["fit_linear_r2"] = 0.5
    shown = panels(drawing(made, "norms-fits"))[0].get_legend()
    assert "$t$  0.500" in [text.get_text() for text in shown.get_texts()]
    assert shown.get_title().get_text().endswith("$R^2$")


def test_notes_of_fits_are_of_what_is_there():
    made = dataset({"seed": range(4)}, fit_sqrt_r2=[0.9, 0.8, 0.7, 0.6])
    assert "in the logs" not in words(drawing(made, "fits"))
    made["growth_exponent_r2"] = made.fit_sqrt_r2
    assert "in the logs" in words(drawing(made, "fits")) and "one curve" not in words(drawing(made, "fits"))
    made["fit_aligned_r2"], made["fit_misaligned_r2"] = made.fit_sqrt_r2, made.fit_sqrt_r2 + [0.1, 0, 0.1, 0.1]
    assert "one curve" in drawing(made, "fits").caption
    assert "one curve" not in drawing(made.isel(seed=[0, 2, 3]), "fits").caption
    assert "has a fit in" not in drawing(made, "fits").caption
    made["growth_exponent_r2"] = made.fit_sqrt_r2.where(made.seed > 0)
    found = drawing(made, "fits").caption
    assert "t^p has a fit in 3 of the 4 runs; its median is over these alone." in found and "n = 4 runs." in found


def test_fits_worse_than_a_constant_are_counted_beside_the_dots():
    made = dataset({"learning_rate": RATES, "seed": [0, 1]}, fit_sqrt_r2=[[0.9, 0.8], [0.02, -1], [-2, -3], [0.1, 0]])
    made["fit_linear_r2"] = abs(made.fit_sqrt_r2) / 3
    found = drawing(made, "fits")
    axes, = panels(found)
    found.figure.draw_without_rendering()
    count, = axes.texts
    assert count.get_text() == "3" and count.get_window_extent().x1 < axes.transData.transform((0, 0))[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["< 0", "0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert "Grey strip: the number of runs with an R² below 0" in found.caption
    without = drawing(made.assign(fit_sqrt_r2=made.fit_linear_r2), "fits")
    assert panels(without)[0].get_xlim()[0] == 0 and "strip" not in without.caption


# ---- classes, and what has no figure of its own ----

def test_classes_are_told_by_colour_and_name():
    made = dataset({"learning_rate": [1e-2, 1e-1], "weight_decay": [1e-2, 1e-1]},
                   dynamics=np.array([[0, 1], [4, 4]], np.int8), growth_exponent=[[0.5, 0.25], [np.nan, 0.1]])
    found = drawing(made, "dynamics")
    exponent, classes = map(mesh, panels(found))
    assert classes.tolist() == [0, 4, 1, 4]
    assert near(np.ma.filled(exponent, np.nan), [0.5, np.nan, 0.25, 0.1])
    assert [text.split(":")[0] for text in legend(found)] == ["none", "aligned", "Adam-like", "no fit"]
    assert "aligned: steps along θ" in legend(found)[1] and "1/2 is a random walk" in found.caption


def test_the_exponent_s_deviation_over_seeds():
    made = dataset({"learning_rate": [1e-2, 1e-1], "weight_decay": [1e-2, 1e-1], "seed": [0, 1, 2]}, growth_exponent=[
        [[0.4, 0.5, 0.6], [0.5, 0.5, np.nan]], [[0.1, np.nan, np.nan], [0.2, 0.3, 9]]])
    made.outcome[1, 1, 2] = RUNNING
    found = drawing(made, "dynamics")
    assert near(np.ma.filled(mesh(panels(found)[1]), np.nan), [0.1, np.nan, 0, 0.1 / 2 ** 0.5])
    assert "Deviation: standard deviation over seeds." in found.caption
    assert "Deviation" not in drawing(made.isel(seed=0), "dynamics").caption


def test_runs_that_have_not_ended_are_of_no_class():
    made = dataset({"learning_rate": [1e-2, 1e-1], "weight_decay": [1e-2, 1e-1], "seed": [0, 1, 2]},
                   dynamics=np.array([[[2, 2, 1], [0, 0, 0]], [[0, 0, 1], [0, 0, 0]]], np.int8), growth_exponent=0.5)
    made.outcome[1, 0, :2], made.outcome[1, 1], made.outcome[0, 1] = RUNNING, PENDING, DIVERGED
    found = drawing(made, "dynamics")
    assert near(np.ma.filled(mesh(panels(found)[2]), np.nan), [2, 1, np.nan, np.nan])
    assert [text.split(":")[0] for text in legend(found)] == ["aligned", "misaligned", "diverged", "no value"]
    equals = "of equally frequent ones, the alphabetically first."
    assert f"Mean over seeds; for classes, the most frequent; {equals}" in found.caption
    assert f"The most frequent class over seeds; {equals}" in drawing(
        made.drop_vars("growth_exponent"), "dynamics").caption
    curve = drawing(made.isel(weight_decay=0, seed=0), "dynamics")
    assert near(panels(curve)[1].lines[0].get_ydata(), [2, np.nan])


@pytest.mark.parametrize("name, variables", [
    ("phase", {"norm_growth": [0.5, 2.0]}), ("final-losses", {"final_train_loss": [2.0, 3.0]}),
    ("dynamics", {"growth_exponent": [0.4, 0.6], "dynamics": np.array([1, 2], np.int8)})])
def test_repeats_of_one_run(name, variables):
    """Seeds are the only axis: a dot for each, above no name."""
    made = dataset({"seed": [0, 1]}, **variables)
    shown = panels(drawing(made, name))
    assert len(shown) == len(variables)
    for axes, values in zip(shown, variables.values()):
        assert near(np.sort(axes.lines[0].get_ydata()), np.sort(values)) and axes.get_xlabel() == ""


def test_ratios_have_their_geometric_mean():
    growth = np.array([[1.0, 4.0], [2.0, 8.0], [0.5, 0.5]])
    made = dataset({"learning_rate": [1e-3, 1e-2, 1e-1], "seed": [0, 1]}, norm_growth=growth)
    made.norm_growth.attrs["nature"] = "ratio"
    found = drawing(made, "phase")
    line, = [line.get_ydata() for line in panels(found)[0].lines if line.get_linestyle() != "None" and
             len(line.get_ydata()) == 3]
    assert near(line, [2.0, 4.0, 0.5])
    assert "lines connect the geometric means over seeds." in found.caption


def test_a_variable_that_no_figure_knows():
    other = {"layer": [0, 1], "probe": [0, 1, 2]}
    made = dataset({"learning_rate": RATES, "weight_decay": DECAYS}, other=other,
                   sharpness=(["step", "layer", "probe"], lambda rate, decay, step, layer, probe:
                              rate * (1 + step) * (1 + layer + probe)),
                   trace=(["probe"], lambda rate, decay, probe: rate + decay + probe), always=3.0, never=np.nan)
    made["at_end"] = made.sharpness.where(made.step == 4)
    assert table.undrawn(made) == ["sharpness", "trace", "at_end"]
    found = drawing(made, "sharpness")
    assert "Mean over layers and probes." in found.caption
    assert near(sorted({line[0, 1] for line in line_data(panels(found)[0])}), np.sort(RATES) * 2.5)
    for name, expected in (("trace", lambda rate, decay: rate + decay + 1), ("at_end", lambda rate, _: rate * 12.5)):
        assert near(mesh(panels(drawing(made, name))[0]), [expected(rate, decay) for decay in sorted(DECAYS)
                                               for rate in sorted(RATES)])
