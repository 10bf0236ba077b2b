"""Refused sweep files: refine."""

import pytest

from refused import BASE, TOGETHER, check_refused

TEXT = "train_text: t.txt\nsteps: 10\n"
LINES = BASE + "weight_decay: [0.1, 0.2]\n"
REFINE = "takes {axis: key | axes: [key, key], variable: metric, at: number, coarse: N}"
OF_RUN = "is not a metric with one value per run, such as norm_growth"

# name: (text of sweep.yaml, the line, settings)
CASES = {
    "refine: a word": (LINES + "refine: weight_decay\n", f"sweep.yaml:4:9: refine: {REFINE}"),
    "refine: a list": (LINES + "refine: [weight_decay]\n", f"sweep.yaml:4:9: refine: {REFINE}"),
    "refine: no value": (LINES + "refine:\n", f"sweep.yaml:4:8: refine: {REFINE}"),
    "refine: empty": (LINES + "refine: {}\n", "sweep.yaml:4:9: refine: lacks axis, or axes"),
    "refine: no axis": (LINES + "refine: {at: 1}\n", "sweep.yaml:4:9: refine: lacks axis, or axes"),
    "refine: unknown word": (
        LINES + "refine: {axs: weight_decay}\n",
        "sweep.yaml:4:10: refine: 'axs' is not one of axis, axes, variable, at, coarse",
    ),
    "refine: axis twice": (
        LINES + "refine: {axis: weight_decay, axis: weight_decay}\n",
        "sweep.yaml:4:30: repeated key 'axis'",
    ),
    "refine: axis and axes": (
        LINES + "refine: {axis: weight_decay, axes: [weight_decay]}\n",
        "sweep.yaml:4:30: refine: give either axis or axes",
    ),
    "refine: axes and axis": (
        LINES + "refine: {axes: [weight_decay], axis: weight_decay}\n",
        "sweep.yaml:4:32: refine: give either axis or axes",
    ),
    "refine: axis of no list": (
        LINES + "refine: {axis: learning_rate}\n",
        "sweep.yaml:4:16: refine.axis: learning_rate is not an axis; give it a list",
    ),
    "refine: no such axis": (
        LINES + "refine: {axis: weight_decy}\n",
        "sweep.yaml:4:16: refine.axis: 'weight_decy' is not an axis of numbers",
    ),
    "refine: a list for axis": (
        LINES + "refine: {axis: [weight_decay]}\n",
        "sweep.yaml:4:16: refine.axis: takes one value, not a list",
    ),
    "refine: axis null": (LINES + "refine: {axis: null}\n", "sweep.yaml:4:16: refine.axis: no value"),
    "refine: axis of labels": (
        TOGETHER + "    large: {width: 256, heads: 8}\nrefine: {axis: model}\n",
        "sweep.yaml:7:16: refine.axis: 'model' is not an axis of numbers",
    ),
    "refine: part of together": (
        TOGETHER + "    large: {width: 256, heads: 8}\nrefine: {axis: width}\n",
        "sweep.yaml:7:16: refine.axis: width changes together with other keys",
    ),
    "refine: axis of words": (
        BASE + "norm_placement: [pre, post]\nrefine: {axis: norm_placement}\n",
        "sweep.yaml:4:16: refine.axis: 'norm_placement' is not an axis of numbers",
    ),
    "refine: axis of booleans": (
        BASE + "bias: [true, false]\nrefine: {axes: [bias]}\n",
        "sweep.yaml:4:17: refine.axes: 'bias' is not an axis of numbers",
    ),
    "refine: axes no list": (
        LINES + "refine: {axes: weight_decay}\n",
        "sweep.yaml:4:16: refine.axes: takes a list of one or two axes",
    ),
    "refine: no axes": (
        LINES + "refine: {axes: []}\n", "sweep.yaml:4:16: refine.axes: takes a list of one or two axes"),
    "refine: three axes": (
        LINES + "seed: [1, 2]\nlayers: [1, 2]\nrefine: {axes: [weight_decay, seed, layers]}\n",
        "sweep.yaml:6:16: refine.axes: takes a list of one or two axes",
    ),
    "refine: equal axes": (
        LINES + "refine: {axes: [weight_decay, weight_decay]}\n",
        "sweep.yaml:4:31: refine.axes: weight_decay appears twice",
    ),
    "refine: second axis of no list": (
        LINES + "refine: {axes: [weight_decay, learning_rate]}\n",
        "sweep.yaml:4:31: refine.axes: learning_rate is not an axis; give it a list",
    ),
    "refine: variable over steps": (
        LINES + "refine: {axis: weight_decay, variable: param_norm}\n",
        f"sweep.yaml:4:40: refine.variable: 'param_norm' {OF_RUN}",
    ),
    "refine: no such variable": (
        LINES + "refine: {variable: final_valid_los, axis: weight_decay}\n",
        f"sweep.yaml:4:20: refine.variable: 'final_valid_los' {OF_RUN}; "
        "did you mean 'final_valid_loss'?",
    ),
    "refine: variable that is not measured": (
        LINES + "refine: {axis: weight_decay, variable: growth_exponent}\nmeasure: {metrics: []}\n",
        "sweep.yaml:4:40: refine.variable: measure.metrics lacks norms, which has growth_exponent",
    ),
    "refine: variable without valid_text": (
        TEXT + "weight_decay: [0.1, 0.2]\nrefine: {axis: weight_decay, variable: final_valid_loss, at: 3}\n",
        "sweep.yaml:4:9: refine.variable: final_valid_loss is measured on valid_text, which is missing",
    ),
    "refine: no at": (
        LINES + "refine: {axis: weight_decay, variable: growth_exponent}\n",
        "sweep.yaml:4:9: refine: lacks at, the value that growth_exponent crosses",
    ),
    "refine: at NaN": (
        LINES + "refine: {axis: weight_decay, at: .nan}\n", "sweep.yaml:4:34: refine.at: .nan is not finite"),
    "refine: at infinity": (
        LINES + "refine: {axis: weight_decay, at: -.inf}\n", "sweep.yaml:4:34: refine.at: -.inf is not finite"),
    "refine: at a word": (
        LINES + "refine: {axis: weight_decay, at: one}\n", "sweep.yaml:4:34: refine.at: 'one' is not a number"),
    "refine: at a list": (
        LINES + "refine: {axis: weight_decay, at: [1]}\n",
        "sweep.yaml:4:34: refine.at: takes one value, not a list",
    ),
    "refine: coarse with axis": (
        LINES + "refine: {coarse: 4, axis: weight_decay}\n",
        "sweep.yaml:4:10: refine.coarse: without effect; it goes with axes",
    ),
    "refine: coarse 3": (
        LINES + "refine: {axes: [weight_decay], coarse: 3}\n",
        "sweep.yaml:4:40: refine.coarse: 3 is not a power of 2 up to 1024",
    ),
    "refine: coarse 0": (
        LINES + "refine: {axes: [weight_decay], coarse: 0}\n", "sweep.yaml:4:40: refine.coarse: 0 is below 1"),
    "refine: coarse 2048": (
        LINES + "refine: {axes: [weight_decay], coarse: 2048}\n",
        "sweep.yaml:4:40: refine.coarse: 2048 is not a power of 2 up to 1024",
    ),
    "refine: coarse 1.5": (
        LINES + "refine: {axes: [weight_decay], coarse: 1.5}\n",
        "sweep.yaml:4:40: refine.coarse: 1.5 is not an integer",
    ),
    "set: refine": (
        LINES, "--set refine.axis: 'weight_decy' is not an axis of numbers", ["refine={axis: weight_decy}"]),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name, tmp_path):
    check_refused(tmp_path, *CASES[name])
