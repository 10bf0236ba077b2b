/* Refused sweep files: axes, together, skip, refine. */
#include "tests/driver/sweep/refused.h"
#include "tests/test.h"

#define LINES                                                                                                \
    "corpus: markov\n"                                                                                       \
    "steps: 10\n"                                                                                            \
    "weight_decay: [0.1, 0.2]\n"
#define TEXT                                                                                                 \
    "train_text: t.txt\n"                                                                                    \
    "steps: 10\n"

static const struct refused rows[] = {
    {CASE("equal values", BASE "learning_rate: [1e-3, 1e-2, 0.001]\n",
        "sweep.yaml:3:29: learning_rate: 0.001 appears twice")},
    {CASE("equal words", BASE "norm_placement: [pre, out, pre]\n",
        "sweep.yaml:3:28: norm_placement: pre appears twice")},
    {CASE("equal booleans", BASE "bias: [true, True]\n", "sweep.yaml:3:14: bias: true appears twice")},
    {CASE(
        "equal by plus", BASE "seed: {range: [0, 3], plus: [2]}\n", "sweep.yaml:3:7: seed: 2 appears twice")},
    {CASE("equal zeros", BASE "weight_decay: [0, -0.0]\n", "sweep.yaml:3:19: weight_decay: 0 appears twice")},
    {CASE("equal by rounding", BASE "weight_decay: {log: [1, 1.000000000001], points: 5}\n",
        "sweep.yaml:3:15: weight_decay: 1 appears twice")},
    {CASE("empty list", BASE "seed: []\n", "sweep.yaml:3:7: seed: an empty list")},
    {CASE("empty map", BASE "seed: {}\n", "sweep.yaml:3:7: seed: give either range or log")},
    {CASE("unknown rule", BASE "seed: {rnge: [0, 1]}\n",
        "sweep.yaml:3:8: seed: 'rnge' is not one of range, log, points, plus; did you mean 'range'?")},
    {CASE("range and log", BASE "seed: {range: [0, 1], log: [1, 2], points: 2}\n",
        "sweep.yaml:3:7: seed: give either range or log")},
    {CASE("plus alone", BASE "seed: {plus: [0, 1]}\n", "sweep.yaml:3:7: seed: give either range or log")},
    {CASE(
        "plus no list", BASE "seed: {range: [0, 1], plus: 3}\n", "sweep.yaml:3:29: seed: plus takes a list")},
    {CASE("range of one", BASE "seed: {range: [0]}\n", "sweep.yaml:3:15: seed: range takes [first, last]")},
    {CASE(
        "range of a number", BASE "seed: {range: 3}\n", "sweep.yaml:3:15: seed: range takes [first, last]")},
    {CASE("range of fractions", BASE "weight_decay: {range: [0.5, 2.5]}\n",
        "sweep.yaml:3:24: weight_decay: range without points: 0.5 is not an integer")},
    {CASE("range of integers to fractions", BASE "layers: {range: [1, 4], points: 3}\n",
        "sweep.yaml:3:17: layers: 2.5 is not an integer")},
    {CASE("log without points", BASE "weight_decay: {log: [1, 2]}\n",
        "sweep.yaml:3:15: weight_decay: log needs points")},
    {CASE("log of zero", BASE "weight_decay: {log: [0, 1], points: 3}\n",
        "sweep.yaml:3:22: weight_decay: log: 0 is not above 0; plus: [0] adds it")},
    {CASE("one point", BASE "weight_decay: {log: [0.1, 1], points: 1}\n",
        "sweep.yaml:3:39: points: 1 is below 2")},
    {CASE("range of words", BASE "norm_placement: {range: [0, 1]}\n",
        "sweep.yaml:3:17: norm_placement: range and log are for numbers only")},
    {CASE("range out of bounds", BASE "layers: {range: [0, 3]}\n", "sweep.yaml:3:17: layers: 0 is below 1")},
    {CASE("huge range", BASE "seed: {range: [-9223372036854775808, 9223372036854775807]}\n",
        "sweep.yaml:3:15: seed: 1.8446744e+19 values; the limit is 10000000")},
    {CASE("huge points", BASE "weight_decay: {range: [0, 1], points: 1000000000000}\n",
        "sweep.yaml:3:39: weight_decay: 1e+12 values; the limit is 10000000")},
    {CASE("huge grid",
        BASE "seed: {range: [1, 10000]}\n"
             "layers: {range: [1, 2000]}\n",
        "sweep.yaml:4:9: layers: with this axis the grid has 20000000 cells; the limit is 10000000")},
    {CASE("neither", "corpus: markov\n",
        "sweep.yaml:1:1: steps: give either epochs or steps, at least 1, and set the other to 0")},
    {CASE("both", BASE "epochs: 1\n",
        "sweep.yaml:2:8: steps: give either epochs or steps, at least 1, and set the other to 0")},
    {CASE("both, one an axis", BASE "epochs: [1, 2]\n",
        "sweep.yaml:2:8: steps: give either epochs or steps, at least 1, and set the other to 0")},
    {CASE("neither in a cell",
        "corpus: markov\n"
        "steps: [0, 10]\n",
        "sweep.yaml:2:9: steps: give either epochs or steps, at least 1, and set the other to 0")},
    {CASE("both in together",
        "corpus: markov\n"
        "together:\n"
        "  a:\n"
        "    x: {steps: 10, epochs: 0}\n"
        "    y: {steps: 10, epochs: 1}\n",
        "sweep.yaml:5:16: steps: give either epochs or steps, at least 1, and set the other to 0")},
    {CASE("heads",
        BASE "width: 66\n"
             "heads: 4\n",
        "sweep.yaml:4:8: heads: 4 does not divide width 66")},
    {CASE("default heads", BASE "width: 66\n", "sweep.yaml:3:8: heads: 4 does not divide width 66")},
    {CASE("heads in one cell",
        BASE "width: [64, 96]\n"
             "heads: [4, 64]\n",
        "sweep.yaml:4:12: heads: 64 does not divide width 96")},
    {CASE("heads in together", TOGETHER "    large: {width: 256, heads: 7}\n",
        "sweep.yaml:6:32: heads: 7 does not divide width 256")},
    {CASE("too many layers", BASE "layers: 131072\n", "sweep.yaml:3:9: layers: 131072 is above 131071")},
    {CASE("a model too large",
        BASE "width: 2000000000\n"
             "heads: 1\n",
        "sweep.yaml:3:8: width: a model of 3.2e+19 parameters is too large")},
    {CASE("together: a list", BASE "together: [a]\n", "sweep.yaml:3:11: together: takes {key: value, ...}")},
    {CASE("together: empty", BASE "together: {}\n", "sweep.yaml:3:11: together: empty")},
    {CASE("together: axis empty", BASE "together: {a: {}}\n", "sweep.yaml:3:15: a: empty")},
    {CASE("together: label empty", BASE "together: {a: {b: {}}}\n", "sweep.yaml:3:19: b: empty")},
    {CASE("together: label a number", BASE "together: {a: {b: 3}}\n",
        "sweep.yaml:3:19: b: takes {key: value, ...}")},
    {CASE("together: like a parameter", BASE "together: {width: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: axis 'width' has the name of a key")},
    {CASE("together: like a key", BASE "together: {title: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: axis 'title' has the name of a key")},
    {CASE("together: like a metric", BASE "together: {param_norm: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: axis 'param_norm' has the name of a variable or dimension of the "
        "dataset")},
    {CASE("together: like a variable", BASE "together: {outcome: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: axis 'outcome' has the name of a variable or dimension of the dataset")},
    {CASE("together: like a dimension", BASE "together: {step: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: axis 'step' has the name of a variable or dimension of the dataset")},
    {CASE("together: like an argument of sel", BASE "together: {method: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: axis 'method' has the name of an argument of xarray's sel, which could "
        "not select along it")},
    {CASE("together: no name", BASE "together: {a b: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: 'a b' is not a name: use at most 64 letters, digits and underscores, a "
        "letter first")},
    {CASE("together: name with a slash", BASE "together: {a/b: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: 'a/b' is not a name: use at most 64 letters, digits and underscores, a "
        "letter first")},
    {CASE("together: another key", TOGETHER "    large: {width: 256, layers: 8}\n",
        "sweep.yaml:6:25: model: 'large' sets layers, which 'small' does not")},
    {CASE("together: a key less", TOGETHER "    large: {width: 256}\n",
        "sweep.yaml:6:5: model: 'large' does not set heads, which 'small' sets")},
    {CASE("together: a key more", TOGETHER "    large: {width: 256, heads: 8, layers: 3}\n",
        "sweep.yaml:6:35: model: 'large' sets layers, which 'small' does not")},
    {CASE("together: unknown key", TOGETHER "    large: {widht: 256, heads: 8}\n",
        "sweep.yaml:6:13: unknown key 'widht'; did you mean 'width'?")},
    {CASE("together: unknown key first", BASE "together: {a: {b: {widht: 3}}}\n",
        "sweep.yaml:3:20: unknown key 'widht'; did you mean 'width'?")},
    {CASE("together: list as value", BASE "together: {a: {b: {width: [64, 128]}}}\n",
        "sweep.yaml:3:27: width: takes one value, not a list")},
    {CASE("together: out of bounds", BASE "together: {a: {b: {width: 0}}}\n",
        "sweep.yaml:3:27: width: 0 is below 1")},
    {CASE("together: no axis", BASE "together: {a: {b: {corpus_seed: 3}}}\n",
        "sweep.yaml:3:20: corpus_seed: has one value in a sweep and cannot be part of together")},
    {CASE("together: train_text", BASE "together: {a: {b: {train_text: x}}}\n",
        "sweep.yaml:3:20: train_text: has one value in a sweep and cannot be part of together")},
    {CASE("together: and on its own", TOGETHER "heads: 4\n",
        "sweep.yaml:6:8: heads: given both in together and on its own")},
    {CASE("together: on its own before",
        BASE "heads: 2\n"
             "together:\n"
             "  model:\n"
             "    small: {width: 128, heads: 4}\n",
        "sweep.yaml:6:32: heads: given both in together and on its own")},
    {CASE("together: twice",
        TOGETHER "  other:\n"
                 "    a: {heads: 2}\n",
        "sweep.yaml:7:16: heads: given in two axes of together")},
    {CASE("together: equal labels", TOGETHER "    small: {width: 256, heads: 8}\n",
        "sweep.yaml:6:5: repeated key 'small'")},
    {CASE("together: equal values",
        TOGETHER "    big: {width: 256, heads: 4}\n"
                 "    also: {heads: 4, width: 128}\n",
        "sweep.yaml:7:5: model: 'small' and 'also' set the same values")},
    {CASE("together: empty label", BASE "together: {a: {\"\": {width: 64}}}\n",
        "sweep.yaml:3:16: a: an empty label")},
    {CASE("together: long label",
        BASE "together: {a: "
             "{llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
             "lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
             "lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
             "llllllllllllllll: {width: 64}}}\n",
        "sweep.yaml:3:16: a: label 'llllllllllllllllllllllllllllllllllllllll...' is longer than 255 bytes")},
    {CASE("together: label with a line break", BASE "together: {a: {\"x\\ny\": {width: 64}}}\n",
        "sweep.yaml:3:16: a: a control character in label 'x\\ny'")},
    {CASE("skip: no list", BASE "skip: {seed: 1}\n",
        "sweep.yaml:3:7: skip: takes a list of {key: value, ...}")},
    {CASE("skip: no entry", BASE "skip: [seed]\n", "sweep.yaml:3:8: skip: an entry takes {key: value, ...}")},
    {CASE(
        "skip: empty entry", BASE "skip: [{}]\n", "sweep.yaml:3:8: skip: an entry takes {key: value, ...}")},
    {CASE("skip: unknown key",
        BASE "seed: [1, 2]\n"
             "skip: [{sed: 1}]\n",
        "sweep.yaml:4:9: skip: 'sed' is neither an axis nor a parameter; did you mean 'seed'?")},
    {CASE("skip: no match",
        BASE "seed: [1, 2]\n"
             "skip:\n"
             "  - {seed: 1}\n"
             "  - {seed: 3}\n",
        "sweep.yaml:6:5: skip: no cell matches this entry")},
    {CASE("skip: no such label",
        TOGETHER "    large: {width: 256, heads: 8}\n"
                 "skip: [{model: lrge}]\n",
        "sweep.yaml:7:16: model: 'lrge' is not one of small, large")},
    {CASE("skip: parts match apart",
        TOGETHER "    large: {width: 256, heads: 8}\n"
                 "skip: [{model: small, width: 256}]\n",
        "sweep.yaml:7:8: skip: no cell matches this entry")},
    {CASE("skip: fixed value",
        BASE "seed: [1, 2]\n"
             "skip: [{layers: 7}]\n",
        "sweep.yaml:4:8: skip: no cell matches this entry")},
    {CASE("skip: bad word",
        BASE "norm_placement: [pre, post]\n"
             "skip: [{norm_placement: pst}]\n",
        "sweep.yaml:4:25: norm_placement: 'pst' is not one of post, pre, out")},
    {CASE("skip: all",
        BASE "seed: [1, 2]\n"
             "skip: [{seed: [1, 2]}]\n",
        "sweep.yaml:4:7: skip: leaves no cell to run")},
    {CASE("skip: all without axes", BASE "skip: [{layers: 2}]\n",
        "sweep.yaml:3:7: skip: leaves no cell to run")},
    {CASE("skip: beyond 1e-9",
        BASE "weight_decay: [0.1, 0.2]\n"
             "skip: [{weight_decay: 0.1000000002}]\n",
        "sweep.yaml:4:8: skip: no cell matches this entry")},
    {CASE("refine: a word", LINES "refine: weight_decay\n",
        "sweep.yaml:4:9: refine: takes {axis: key | axes: [key, key], variable: metric, at: number, coarse: "
        "N}")},
    {CASE("refine: a list", LINES "refine: [weight_decay]\n",
        "sweep.yaml:4:9: refine: takes {axis: key | axes: [key, key], variable: metric, at: number, coarse: "
        "N}")},
    {CASE("refine: no value", LINES "refine:\n",
        "sweep.yaml:4:8: refine: takes {axis: key | axes: [key, key], variable: metric, at: number, coarse: "
        "N}")},
    {CASE("refine: empty", LINES "refine: {}\n", "sweep.yaml:4:9: refine: lacks axis, or axes")},
    {CASE("refine: no axis", LINES "refine: {at: 1}\n", "sweep.yaml:4:9: refine: lacks axis, or axes")},
    {CASE("refine: unknown word", LINES "refine: {axs: weight_decay}\n",
        "sweep.yaml:4:10: refine: 'axs' is not one of axis, axes, variable, at, coarse")},
    {CASE("refine: axis twice", LINES "refine: {axis: weight_decay, axis: weight_decay}\n",
        "sweep.yaml:4:30: repeated key 'axis'")},
    {CASE("refine: axis and axes", LINES "refine: {axis: weight_decay, axes: [weight_decay]}\n",
        "sweep.yaml:4:30: refine: give either axis or axes")},
    {CASE("refine: axes and axis", LINES "refine: {axes: [weight_decay], axis: weight_decay}\n",
        "sweep.yaml:4:32: refine: give either axis or axes")},
    {CASE("refine: axis of no list", LINES "refine: {axis: learning_rate}\n",
        "sweep.yaml:4:16: refine.axis: learning_rate is not an axis; give it a list")},
    {CASE("refine: no such axis", LINES "refine: {axis: weight_decy}\n",
        "sweep.yaml:4:16: refine.axis: 'weight_decy' is not an axis of numbers")},
    {CASE("refine: a list for axis", LINES "refine: {axis: [weight_decay]}\n",
        "sweep.yaml:4:16: refine.axis: takes one value, not a list")},
    {CASE("refine: axis null", LINES "refine: {axis: null}\n", "sweep.yaml:4:16: refine.axis: no value")},
    {CASE("refine: axis of labels",
        TOGETHER "    large: {width: 256, heads: 8}\n"
                 "refine: {axis: model}\n",
        "sweep.yaml:7:16: refine.axis: 'model' is not an axis of numbers")},
    {CASE("refine: part of together",
        TOGETHER "    large: {width: 256, heads: 8}\n"
                 "refine: {axis: width}\n",
        "sweep.yaml:7:16: refine.axis: width changes together with other keys")},
    {CASE("refine: axis of words",
        BASE "norm_placement: [pre, post]\n"
             "refine: {axis: norm_placement}\n",
        "sweep.yaml:4:16: refine.axis: 'norm_placement' is not an axis of numbers")},
    {CASE("refine: axis of booleans",
        BASE "bias: [true, false]\n"
             "refine: {axes: [bias]}\n",
        "sweep.yaml:4:17: refine.axes: 'bias' is not an axis of numbers")},
    {CASE("refine: axes no list", LINES "refine: {axes: weight_decay}\n",
        "sweep.yaml:4:16: refine.axes: takes a list of one or two axes")},
    {CASE("refine: no axes", LINES "refine: {axes: []}\n",
        "sweep.yaml:4:16: refine.axes: takes a list of one or two axes")},
    {CASE("refine: three axes",
        LINES "seed: [1, 2]\n"
              "layers: [1, 2]\n"
              "refine: {axes: [weight_decay, seed, layers]}\n",
        "sweep.yaml:6:16: refine.axes: takes a list of one or two axes")},
    {CASE("refine: equal axes", LINES "refine: {axes: [weight_decay, weight_decay]}\n",
        "sweep.yaml:4:31: refine.axes: weight_decay appears twice")},
    {CASE("refine: second axis of no list", LINES "refine: {axes: [weight_decay, learning_rate]}\n",
        "sweep.yaml:4:31: refine.axes: learning_rate is not an axis; give it a list")},
    {CASE("refine: variable over steps", LINES "refine: {axis: weight_decay, variable: param_norm}\n",
        "sweep.yaml:4:40: refine.variable: 'param_norm' is not a metric with one value per run, such as "
        "norm_growth")},
    {CASE("refine: no such variable", LINES "refine: {variable: final_valid_los, axis: weight_decay}\n",
        "sweep.yaml:4:20: refine.variable: 'final_valid_los' is not a metric with one value per run, such as "
        "norm_growth; did you mean 'final_valid_loss'?")},
    {CASE("refine: variable that is not measured",
        LINES "refine: {axis: weight_decay, variable: growth_exponent}\n"
              "measure: {metrics: []}\n",
        "sweep.yaml:4:40: refine.variable: measure.metrics lacks norms, which has growth_exponent")},
    {CASE("refine: variable without valid_text",
        TEXT "weight_decay: [0.1, 0.2]\n"
             "refine: {axis: weight_decay, variable: final_valid_loss, at: 3}\n",
        "sweep.yaml:4:9: refine.variable: final_valid_loss is measured on valid_text, which is missing")},
    {CASE("refine: no at", LINES "refine: {axis: weight_decay, variable: growth_exponent}\n",
        "sweep.yaml:4:9: refine: lacks at, the value that growth_exponent crosses")},
    {CASE("refine: at NaN", LINES "refine: {axis: weight_decay, at: .nan}\n",
        "sweep.yaml:4:34: refine.at: .nan is not finite")},
    {CASE("refine: at infinity", LINES "refine: {axis: weight_decay, at: -.inf}\n",
        "sweep.yaml:4:34: refine.at: -.inf is not finite")},
    {CASE("refine: at a word", LINES "refine: {axis: weight_decay, at: one}\n",
        "sweep.yaml:4:34: refine.at: 'one' is not a number")},
    {CASE("refine: at a list", LINES "refine: {axis: weight_decay, at: [1]}\n",
        "sweep.yaml:4:34: refine.at: takes one value, not a list")},
    {CASE("refine: coarse with axis", LINES "refine: {coarse: 4, axis: weight_decay}\n",
        "sweep.yaml:4:10: refine.coarse: without effect; it goes with axes")},
    {CASE("refine: coarse 3", LINES "refine: {axes: [weight_decay], coarse: 3}\n",
        "sweep.yaml:4:40: refine.coarse: 3 is not a power of 2 up to 1024")},
    {CASE("refine: coarse 0", LINES "refine: {axes: [weight_decay], coarse: 0}\n",
        "sweep.yaml:4:40: refine.coarse: 0 is below 1")},
    {CASE("refine: coarse 2048", LINES "refine: {axes: [weight_decay], coarse: 2048}\n",
        "sweep.yaml:4:40: refine.coarse: 2048 is not a power of 2 up to 1024")},
    {CASE("refine: coarse 1.5", LINES "refine: {axes: [weight_decay], coarse: 1.5}\n",
        "sweep.yaml:4:40: refine.coarse: 1.5 is not an integer")},
    {CASE("set: refine", LINES, "--set refine.axis: 'weight_decy' is not an axis of numbers"),
        .setting = {"refine={axis: weight_decy}"}},
};

TEST(sweep_axes_refused)
{
    CHECK_REFUSED(rows);
}
