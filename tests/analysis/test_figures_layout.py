"""What every figure owes its reader: texts on the canvas and apart, ticks that can be read, units, n, minus signs,
legends of what is drawn, panels of one quantity that can be compared."""

import functools
import re

import layout
import numpy as np
import pytest
from drawn import (DECAYS, DIVERGED, DONE, FAILED, PENDING, RATES, SKIPPED, dataset, drawing, figures, legend, near,
                   panels)
from made_up import DYNAMICS
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from normsweep.drawings import look, scales
from normsweep.drawings import panels as layouts
from normsweep.drawings import runs

pytestmark = pytest.mark.thorough("draws every figure at several sizes")

SMALLEST = 5.5  # points that a letter must have when a figure is printed at half the width of a page
NAME = "a rule with a rather long name"


@functools.cache
def full_grid():
    """A plane with seeds, every kind of cell, norms that range from small to large, and losses."""
    made = dataset({"learning_rate": np.logspace(-4, 0, 13), "weight_decay": np.logspace(-3, 1, 9), "seed": [0, 1]},
                   step=range(0, 300, 10), param_norm=(["step"], lambda rate, decay, seed, step: 1 + (
                       3 * rate * (1 + seed) / decay) ** 0.3 * step / 100))
    made["norm_growth"] = made.param_norm.isel(step=-1) / made.param_norm.isel(step=0) * 0.5
    made["train_loss"] = 1 + 3 / made.param_norm
    made["valid_loss"] = 1.1 * made.train_loss
    made["final_train_loss"], made["final_valid_loss"] = made.train_loss.isel(step=-1), made.valid_loss.isel(step=-1)
    for name in ("total_norm", "embedding_norm", "output_norm"):
        made[name] = made.param_norm ** len(name)
    made["alignment"] = np.cos(made.param_norm)
    made["update_alignment"], made["update_alignment_null"] = made.alignment / 2, made.alignment * 0 + 1.7
    made["gradient_alignment"] = made.alignment / 1e4
    made["step_size"], made["update_norm"], made["grad_norm"] = made.param_norm ** -3, made.param_norm, made.train_loss
    made["dynamics"] = made.outcome.copy(data=np.arange(made.outcome.size).reshape(made.outcome.shape) % 5)
    made.dynamics.attrs = DYNAMICS
    made["growth_exponent"] = made.norm_growth - 3
    for name in ("sqrt", "linear", "aligned", "misaligned"):
        made[f"fit_{name}_r2"] = 1 - made.learning_rate * made.weight_decay + 0 * made.norm_growth
    for where, state in (((-1, -1), DIVERGED), ((0, 0), FAILED), ((1, 0), SKIPPED), ((2, 0), PENDING)):
        made.outcome[where] = state
    there = made.outcome == DONE
    return made.assign({name: made[name].where(there).assign_attrs(made[name].attrs) for name in made.data_vars
                        if made[name].dtype.kind == "f"})


@functools.cache
def many_rules():
    """More combinations of words than a figure has panels for, with long names."""
    made = dataset({"rule": [f"{NAME} {i}" for i in range(20)], "learning_rate": RATES, "weight_decay": DECAYS},
                   step=[0, 10, 20, 30],
                   param_norm=(["step"], lambda rule, rate, decay, step: 20 + step * (rate - decay)))
    made["norm_growth"] = (3 * made.learning_rate / made.weight_decay.where(made.weight_decay > 0, 1e-4)) ** 0.5 + (
        0 * made.param_norm.isel(step=0))
    made["final_train_loss"] = made.norm_growth * 1e-7
    return made


@functools.cache
def refined():
    """Of a long axis few cells were trained, others in each column."""
    made = dataset({"learning_rate": np.logspace(-4, -1, 5), "weight_decay": np.logspace(-4, 2, 201)},
                   step=[0, 10, 20], param_norm=(["step"], lambda rate, decay, step: 5 + step * (rate - decay)))
    made["norm_growth"] = (made.learning_rate / made.weight_decay) ** 0.5
    place = np.arange(201)
    for i in range(5):
        trained = (place % 100 == 0) | (abs(place - 100 - 10 * i) < 3)
        made.outcome[i] = np.where(trained, DONE, SKIPPED)
    made.outcome[4, -1] = DIVERGED
    made["alignment"] = made.param_norm / 1e3
    return made.assign({name: made[name].where(made.outcome == DONE) for name in (
        "norm_growth", "param_norm", "alignment")})


def few_words():
    """Runs told apart by words alone."""
    made = dataset({"recipe": ["adafactor-inverse_sqrt", "adamw-constant", "a_third_with_a_long_name"]},
                   step=range(0, 3000, 100), param_norm=(["step"], lambda recipe, step: 3 + np.sqrt(step)),
                   norm_growth=[1.5, 2e-5, 3e4], accuracy=[0.1, 0.2, 0.3], final_train_loss=[2e-6, 3e-6, 1e-6])
    made["layer_norm"] = (made.param_norm * made.norm_growth).expand_dims(layer=[0, 1]).transpose(..., "step", "layer")
    return made


@functools.cache
def of_full_grid(name):
    return drawing(full_grid(), name)


MADE = {made.__name__: made for made in (full_grid, many_rules, refined, few_words)}


@pytest.fixture(scope="module", params=MADE)
def drawings(request):
    """All figures of a dataset, with their layout done."""
    found = list(figures.draw_all(MADE[request.param]()))
    assert len(found) >= 3
    return [(one, layout.drawn(one)) for one in found]


@pytest.mark.parametrize("flaw", ["outside", "overlapping", "touching", "few_ticks", "without_unit", "hyphens",
                                  "unseen_in_legend", "label_off_the_middle"])
def test_no_figure_has(drawings, flaw):
    for found, figure in drawings:
        assert getattr(layout, flaw)(figure) == [], found.name


def test_every_figure_says_how_many_runs_it_shows(drawings):
    for found, figure in drawings:
        assert re.search(r"\bn = \d+", found.caption), found.name
        assert re.search(r"\bn = \d+", "\n".join(text.get_text() for text in figure.texts)), found.name


def test_letters_can_be_read_at_half_the_width_of_a_page(drawings):
    for found, figure in drawings:
        assert figure.get_size_inches()[0] == look.WIDTH and figure.get_size_inches()[1] < 13, found.name
        for text in layout.texts_of(figure):
            assert text.get_fontsize() * look.PRINTED / look.WIDTH >= SMALLEST, (found.name, text.get_text())


def test_the_checks_find_what_they_look_for():
    """Each flaw in a figure that has it."""
    with look.style():
        figure = Figure(figsize=(3, 2), layout="constrained")
        axes = figure.add_subplot()
        axes.plot([1, 2], [4.1, 4.2], color="red")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: "4.15" if value == 4.15 else "")
        axes.set_yticks([4.15])
        axes.set_xlabel("a label without")
        axes.set_xticks([1, 1.1, 2], ["1000", "2000", "3000"])
        figure.text(0.5, 0.5, "one -0.5")
        figure.text(0.5, 0.5, "other")
        figure.text(0.9, 0.2, "a text that leaves the canvas")
        figure.legend(handles=[Line2D([], [], color="blue", label="not there")])
        figure.draw_without_rendering()
    assert layout.outside(figure) == ["a text that leaves the canvas"]
    assert ("one -0.5", "other") in layout.overlapping(figure)
    assert [axis for _, axis, _ in layout.few_ticks(figure)] == ["y"]
    assert ("x", "a label without") in layout.without_unit(figure)
    assert layout.touching(figure) == [("1000", "2000")]
    assert layout.hyphens(figure) == ["one -0.5"] and layout.unseen_in_legend(figure) == ["not there"]


# ---- panels that invite comparison ----

def ranges(found):
    """[[(scale, low, high) of each panel] of each row]."""
    layout.drawn(found)
    axes = panels(found)
    columns = axes[0].get_gridspec().ncols
    return [[(one.get_yscale(), *one.get_ylim()) for one in axes[i:i + columns]] for i in range(0, len(axes), columns)]


@pytest.mark.parametrize("name", ["norms", "norms-parts", "losses"])
def test_panels_of_one_quantity_have_one_range_in_a_row(name):
    found = ranges(of_full_grid(name))
    assert len(found) > 1 and all(len(set(row)) == 1 for row in found) and len({row[0][0] for row in found}) == 1


def norms_up_to(*ends):
    ends = np.array(ends)
    made = dataset({"weight_decay": range(1, len(ends) + 1), "learning_rate": RATES}, step=[0, 10, 20],
                   param_norm=(["step"], lambda decay, rate, step: 1 + ends[decay - 1] * step / 20))
    return drawing(made, "norms")


def test_a_range_that_squeezes_a_panel_is_not_shared():
    alike, apart = norms_up_to(1, 1.5, 1.2, 1), norms_up_to(1.5, 1, 9, 8)
    assert len({limits for row in ranges(alike) for limits in row}) == 1 and "Ranges differ" not in alike.caption
    found = ranges(apart)
    assert len(found) == 2 and [len(set(row)) for row in found] == [1, 1] and found[0] != found[1]
    assert "Ranges differ; a panel without tick labels has the range of the panel on its left." in apart.caption
    labelled = [bool(layout.tick_labels(axes.yaxis)) for axes in panels(apart)]
    assert labelled == [True, False] * 2


def test_two_axes_of_panels_stand_in_rows_and_columns():
    made = dataset({"learning_rate": RATES, "weight_decay": np.logspace(-2, 1, 7), "norm_placement": ["pre", "post"]},
                   param_norm=(["step"], lambda rate, decay, place, step: 1 + rate * step))
    found = drawing(made, "norms")
    assert [axes.get_title() for axes in panels(found)] == ["pre", "post", *[""] * 6]
    assert [axes.get_ylabel() for axes in panels(found)][::2] == [
        f"weight decay {decay}" for decay in ("0.01", "0.1", "1", "10")]


def test_headings_are_short(drawings):
    for found, _ in drawings:
        for axes in panels(found):
            longest = max(text.count("\n") for text in (axes.get_title(), axes.get_ylabel()))
            title = axes.get_title().replace("\n", " ")
            assert longest < (4 if NAME in title else 3), (found.name, title)


def test_what_all_panels_have_in_common_is_in_a_note():
    made = dataset({"optimiser": list("abcde"), "learning_rate": RATES, "weight_decay": [0.1, 1.0]},
                   alignment=(["step"], lambda optimiser, rate, decay, step: rate * step))
    made["update_alignment"] = made.alignment
    found = drawing(made, "alignment")
    assert [axes.get_ylabel() for axes in panels(found)[::2]] == list("abcde")
    assert "All with weight decay 0.1." in found.caption
    figure = layout.drawn(found)
    assert panels(found)[-1].get_subplotspec().rowspan.stop == panels(found)[-1].get_gridspec().nrows, figure


def test_cosines_are_cut_at_one_and_share_their_range_in_a_row():
    found = of_full_grid("alignment")
    rows = np.reshape(panels(found), (-1, 4))
    assert all(len({axes.get_ylim() for axes in row[:3]}) == 1 for row in rows)
    assert rows[0][0].get_ylim()[1] <= 1.05 and "Panels are cut at −1 and 1" in found.caption
    assert rows[0][3].get_ylim()[1] < 0.01


def test_a_logarithmic_panel_has_limits_above_zero():
    made = dataset({"learning_rate": RATES, "weight_decay": [0.1, 1.0, 2.0, 3.0]}, step=range(0, 100, 10),
                   step_size=(["step"], lambda rate, decay, step: rate * (1 + step)),
                   grad_norm=(["step"], lambda rate, decay, step: 1 + step / 10 * decay))
    for axes in panels(drawing(made, "steps")):
        assert axes.get_yscale() == "log" and axes.get_ylim()[0] > 0


def test_norms_of_steps_have_one_kind_of_scale():
    found = of_full_grid("steps")
    assert {axes.get_yscale() for axes in panels(found)} == {"log"}


def test_losses_in_maps_share_their_colours():
    found = of_full_grid("final-losses")
    train, valid = (axes.collections[0].norm for axes in panels(found))
    assert (train.vmin, train.vmax) == (valid.vmin, valid.vmax)


def test_maps_have_no_room_for_rows_that_are_left_out():
    """Of 12 combinations each word has one of its numbers: 4 rows, not 6."""
    made = dataset({"learning_rate": [0.1, 1], "weight_decay": [0.1, 1], "norm": ["a", "b"], "decay_on": ["c", "d"],
                    "output_scale": [0.1, 1, 10]}, final_train_loss=np.ones((2, 2, 2, 2, 3)),
                   final_valid_loss=np.ones((2, 2, 2, 2, 3)))
    found = drawing(made, "final-losses")
    assert len(panels(found)) == 8 and {axes.get_gridspec().nrows for axes in panels(found)} == {4}
    assert layout.overlapping(layout.drawn(found)) == []


def test_long_words_beside_rows_stay_apart():
    made = dataset({"initial_weights": ["4f054622b42d827f", "3fa0c3a8d3138b3a"]}, None, [0, 10],
                   {"layer": [0], "head": [0, 1]}, norm_growth=[1.1, 1.2], **{
                       name: (["step", "layer", "head"], lambda _, step, layer, head: 1.0 + head)
                       for name in ("max_logit", "attention_entropy", "first_attention")})
    made.attention_entropy.attrs["long_name"] = "a name of three lines above its column"
    found = drawing(made, "attention-by-layer")
    assert layout.overlapping(layout.drawn(found)) == []


def test_losses_of_few_runs_have_one_kind_of_scale():
    made = dataset({"recipe": ["a", "b", "c"]}, final_train_loss=[0.01, 1.0, 3.0], final_valid_loss=[2.0, 3.0, 4.0])
    train, valid = panels(drawing(made, "final-losses"))
    assert train.get_yscale() == valid.get_yscale() == "log" and train.get_ylim() == valid.get_ylim()


def test_panels_are_of_cells_that_were_trained():
    for name in ("norms", "alignment"):
        found = drawing(refined(), name)
        assert len(panels(found)) > 3 and all(len(axes.lines) > 1 for axes in panels(found)), name
        assert "no run yet" not in found.caption


# ---- what is left out ----

def test_words_that_are_left_out_are_named():
    found = drawing(many_rules(), "phase")
    shown = {axes.get_title().split("\nslope")[0].replace("\n", " ") for axes in panels(found)}
    missing = [f"{NAME} {i}" for i in range(20) if f"{NAME} {i}" not in shown]
    assert len(missing) == 2
    assert f"18 of 20 rules are shown, not {', '.join(missing)}; others with --at rule=VALUE." in found.caption
    every = [{"rule": i} for i in range(20)]
    assert runs.left_out(many_rules(), every, every) == ""
    assert runs.left_out(many_rules(), every[:3], every) == "3 of 20 rules are shown; others with --at rule=VALUE."


def test_combinations_are_thinned_evenly():
    every = [{"rule": i, "weight_decay": j} for i in range(3) for j in range(9)]
    kept = runs.thinned_along(every, 6)
    assert kept == [{"rule": i, "weight_decay": j} for i in range(3) for j in (0, 8)]
    assert len({at["rule"] for at in runs.thinned_along(every, 2)}) == 2


def test_cells_too_thin_to_be_seen_are_not_in_the_legend():
    found = drawing(refined(), "phase")
    assert "diverged" not in legend(found) and "1 run diverged, in cells too thin to be seen" in found.caption
    assert "diverged" in legend(of_full_grid("phase"))


# ---- ticks and numbers ----

@pytest.mark.parametrize("low, high", [(0.004, 6.3), (1.0, 6.2), (0.98, 1.05), (1e-9, 1e3), (2, 72), (1e-30, 1e30),
                                       (3e-7, 8e-6), (1.9e-4, 2.1e-4), (50, 3300), (0.5, 1.9), (9.1, 9.9), (8, 12)])
@pytest.mark.parametrize("most", [3, 5, 7])
def test_logarithmic_ticks_are_two_at_least_and_reach_both_ends(low, high, most):
    ticks = scales.logarithmic_ticks(low, high, most)
    assert 2 <= len(ticks) <= 7
    assert all(low * (1 - 1e-9) <= tick <= high * (1 + 1e-9) for tick in ticks)
    places = np.log(np.array([low, *ticks, high]) / low) / np.log(high / low)
    assert max(places[1], 1 - places[-2]) < 0.45 and np.diff(places).min() > -1e-9


@pytest.mark.parametrize("low, high, most, expected", [
    (-14.5, 304.5, 5, [0, 100, 200, 300]), (-14.5, 304.5, 3, [0, 150, 300]), (-0.1, 2.1, 7, [0, 1, 2]),
    (-250, 5250, 5, [0, 2000, 4000]), (-23, 483, 3, [0, 200, 400])])
def test_steps_have_round_ticks(low, high, most, expected):
    assert scales.linear_ticks(low, high, most, True) == expected


def test_linear_ticks_are_three_where_there_is_room():
    assert near(scales.linear_ticks(0.9966, 1.0001, 3), [0.997, 0.998, 0.999, 1.0])


def test_figures_over_steps_have_more_than_two_ticks():
    """Also in four panels beside each other."""
    for made in (full_grid(), full_grid().isel(weight_decay=0)):
        found = drawing(made, "alignment")
        layout.drawn(found)
        labels = [[label.get_text() for _, label in layout.tick_labels(axes.xaxis)] for axes in panels(found)
                  if axes.get_xlabel()]
        assert labels and all(len(one) > 2 for one in labels)


def test_few_powers_of_ten_are_spread_over_the_axis():
    near(scales.logarithmic_ticks(0.005, 2e5, 3), [0.01, 10, 1e4])  # 1 and 1000 would be two
    near(scales.logarithmic_ticks(0.02, 2e5, 3), [1, 100, 1e4])  # 0.1, 10, 1000 and 1e5 would be four
    assert near(scales.linear_ticks(0.1, 2.6, 3, fewest=2), [1, 2])
    normaliser, *_ = scales.colour_scale([np.zeros(3)])
    assert (normaliser.vmin, normaliser.vmax) == (0, 1)


def test_labels_of_ticks():
    assert scales.logarithmic_words([0.01, 1, 5]) == ["0.01", "1", "5"]
    assert scales.logarithmic_words([1e-5, 3e-4, 1, 10]) == ["10⁻⁵", "3·10⁻⁴", "1", "10"]
    assert scales.logarithmic_words([-100.0, 0.0, 100.0]) == ["−100", "0", "100"]
    assert scales.linear_words([-0.5, 0.0, 0.5]) == ["−0.5", "0.0", "0.5"]
    assert scales.linear_words([0.99995, 0.99996]) == ["0.99995", "0.99996"]
    assert scales.linear_words([0, 2e5]) == ["0", "2·10⁵"] and scales.linear_words([-1e-5, 0.0]) == ["−10⁻⁵", "0"]
    assert [scales.number(value) for value in (-1.5, 0.00316, 3.16e-4, 1000, 54321, 2e5, 0, np.nan)] == [
        "−1.5", "0.00316", "3.16·10⁻⁴", "1000", "54321", "2·10⁵", "0", "nan"]


def test_titles_beside_rows_break_at_commas():
    assert look.side_titles(["decay 1", "learning rate 4.64·10⁻⁴, weight decay 1"], 1.6) == [
        "decay 1", "learning rate 4.64·10⁻⁴,\nweight decay 1"]
    assert look.wrap("attention+feedforward", 1) == ["attention+", "feedforward"]
    assert look.wrap("a word" + "x" * 40, 1)[0] == "a" and max(map(look.inches, look.wrap("x" * 90, 1))) <= 1


def test_fonts_of_pdf_are_truetype(tmp_path):
    made = dataset({"learning_rate": RATES}, param_norm=(["step"], lambda rate, step: 1 + rate * step))
    look.save(drawing(made, "norms").figure, tmp_path / "norms.pdf")
    written = (tmp_path / "norms.pdf").read_bytes()
    assert b"/Type0" in written and b"/CIDFontType2" in written and b"/Type3" not in written


def test_labels_say_their_unit():
    made = dataset({}, train_loss=1.0, seconds=2.0, width=3.0)
    made.train_loss.attrs, made.seconds.attrs = {"long_name": "training loss (nats)", "units": "1"}, {"units": "s"}
    assert look.label(made.train_loss) == "training loss (nats)" and look.label(made.seconds) == "seconds (s)"
    assert look.label(made.width) == "width (–)" and look.name(made.train_loss) == ("training loss", "nats")


def test_a_line_of_few_values_is_a_line_with_a_dot_where_it_is_one():
    made = dataset({"learning_rate": RATES}, param_norm=(["step"], lambda rate, step: 1 + rate * step))
    assert not any(line.get_marker() == "." for line in panels(drawing(made, "norms"))[0].lines)
    assert layouts.arrange(3, 9)["shape"] == (6, 3)
