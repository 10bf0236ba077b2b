"""Figures of encoder-decoders: each one that tells the stacks apart is drawn for each stack."""

import pytest
import numpy as np
from drawn import RATES, dataset, drawing, legend, near, panels, words
from normsweep import figures
from normsweep.drawings import table

pytestmark = pytest.mark.thorough("trains and draws networks of two stacks")

STACKS = {"stack": ["encoder", "decoder"], "layer": [0, 1, 2]}
LAYERS = {"encoder": 2, "decoder": 3}


def made_of(axes=None, **variables):
    return dataset(axes or {"learning_rate": RATES[:2]}, other=STACKS, **variables)


def of_stack(_rate, step, stack):
    return 1 + step * np.where(stack == "encoder", 1.0, 2.0)


def layer_norm(rate, step, stack, layer):
    there = layer < np.where(stack == "encoder", LAYERS["encoder"], LAYERS["decoder"])
    return np.where(there, (1 + layer) * (1 + step * np.where(stack == "encoder", 1.0, 2.0)), np.nan)


def test_one_figure_for_each_stack():
    found = made_of(stack_norm=(["step", "stack"], of_stack), param_norm=(["step"], lambda rate, step: 1 + step),
                 layer_norm=(["step", "stack", "layer"], layer_norm))
    names = [one.name for one in figures.draw_all(found)]
    assert names[:5] == ["norms", "norms-stack-encoder", "norms-stack-decoder", "norms-by-layer-encoder",
                         "norms-by-layer-decoder"]
    assert set(names) <= set(figures.names(found)) and "norms-stack" not in figures.names(found)
    both = [one.name for one in figures.draw_all(found, ["norms-stack"])]
    assert both == table.of_stacks(found, ["norms-stack"]) == ["norms-stack-encoder", "norms-stack-decoder"]
    assert table.of_stacks(found, ["norms", "norms-stack-encoder"]) == ["norms", "norms-stack-encoder"]
    for word, slope in (("encoder", 1), ("decoder", 2)):
        shown = drawing(found, f"norms-stack-{word}")
        assert f"Made up: {word}" in words(shown) and f"Of the {word}" in shown.caption
        lines = [line for line in panels(shown)[0].lines if line.get_linestyle() != ":"]  # that one is at 1
        assert lines and all(near(line.get_ydata(), 1 + slope * line.get_xdata()) for line in lines)


def test_each_stack_has_its_own_layers():
    found = made_of(layer_norm=(["step", "stack", "layer"], layer_norm))
    for word, count in LAYERS.items():
        shown = drawing(found, f"norms-by-layer-{word}")
        assert legend(shown) == [f"layer {i}" for i in range(count)]


def test_networks_without_the_stack_are_left_out():
    kinds = ["decoder", "encoder", "encoder_decoder"]
    found = made_of({"network": kinds}, stack_norm=(["step", "stack"], lambda network, step, stack: np.where(
        (network == stack) | (network == "encoder_decoder"), 1 + step, np.nan)))
    assert legend(drawing(found, "norms-stack-encoder")) == ["encoder", "encoder_decoder"]
    assert legend(drawing(found, "norms-stack-decoder")) == ["decoder", "encoder_decoder"]


def test_a_new_variable_is_drawn_for_each_stack_and_not_averaged():
    found = made_of(something=(["step", "stack"], of_stack))
    shown = [one for one in figures.draw_all(found) if one.name.startswith("something")]
    assert [one.name for one in shown] == ["something-encoder", "something-decoder"]
    assert not any("Mean over" in one.caption for one in shown)
    assert near(panels(shown[1])[0].lines[0].get_ydata(), [1, 3, 5, 9])


def test_tensors_of_cross_attention():
    kinds = ["q", "o", "ln1", "q_bias", "cross_q", "cross_ln", "cross_q_bias"]
    def norm(_rate, step, stack, _layer, tensor):
        return np.where((stack == "decoder") | ~np.char.startswith(tensor.astype(str), "cross"), 1 + step, np.nan)

    found = dataset({"learning_rate": RATES[:1]}, other={**STACKS, "tensor": kinds},
                    tensor_norm=(["step", "stack", "layer", "tensor"], norm))
    assert legend(drawing(found, "norms-by-tensor-encoder")) == ["q", "o", "ln1"]
    assert legend(drawing(found, "norms-by-tensor-decoder")) == ["q", "o", "ln1", "cross_q", "cross_ln"]
