/* Refused sweep files, and the exact line that says why. */
#include "tests/test.h"

#include "driver/sweep/sweep.h"
#include "model/optimisers/optimisers.h"

#include <fcntl.h>

struct refused {
    const char *text; /* of sweep.yaml */
    const char *line; /* of a place in sweep.yaml: from its line on */
    const char *setting[2]; /* --set options; NULL beyond the last */
    struct {
        const char *name, *content;
    } file[4]; /* that lie beside it; name NULL beyond the last */
};

/* The beginning of a row. */
#define CASE(t, l) .text = (t), .line = (l)

#define BASE "corpus: markov\nsteps: 10\n"
#define LINES BASE "weight_decay: [0.1, 0.2]\n"
#define SEEDS LINES "seed: [4, 3, 2, 1]\n"
#define TOGETHER BASE "together:\n  model:\n    small: {width: 128, heads: 4}\n"
#define WORDS "train_text: t.txt\nsteps: 10\n"
#define BYTES "corpus: bytes\ntrain_text: t.txt\nsteps: 1\n"
#define TOKENS "corpus: tokens\nvocabulary: 100\nsteps: 1\ntrain_text: t.bin\n"
#define PAIRS "corpus: pairs\nnetwork: encoder_decoder\nsteps: 1\nbatch: 2\ntrain_text: [s, t]\n"
#define INCLUDED BASE "learning_rate: 0.1\nwidth: [8, 16]\nheads: 2\n"
#define MODULAR "corpus: modular\nsteps: 1\n"

static void write_file(const char *name, const char *content)
{
    FILE *file = fopen(name, "w");

    CHECK(file != NULL && fputs(content, file) >= 0);
    CHECK(file != NULL && fclose(file) == 0);
}

/* The message that refuses the sweep, or its texts, in the current folder. */
static const char *refusal(const struct refused *refused)
{
    static struct error error;
    struct corpus corpus;
    struct sweep sweep;
    int settings = 0;

    while (settings < 2 && refused->setting[settings])
        settings++;
    if (sweep_load(&sweep, "sweep.yaml", refused->setting, settings, &error) != 0)
        return error.text;
    int status = sweep_load_corpus(&sweep, &corpus, &error);
    sweep_release(&sweep);
    if (status != 0)
        return error.text;
    corpus_release(&corpus);
    return "accepted";
}

static const struct refused rows[] = {
    /* ---- YAML, keys, values, --set, optimisers and schedules ---- */
    {CASE("", "1:1: empty")},
    {CASE("---\n", "2:1: a sweep file holds lines of the form key: value")},
    {CASE(BASE "layers: [1, 2\nwidth: 3\n",
        "4:6: YAML: did not find expected ',' or ']', while parsing a flow sequence")},
    {CASE(BASE "\tlayers: 1\n", "3:1: YAML: found a tab character that violates indentation, while scanning "
                                "a plain scalar; a tab: indent with spaces")},
    {CASE(BASE "measure:\n\tevery: 2\n", "4:1: YAML: found character that cannot start any token, while "
                                         "scanning for the next token; a tab: indent with spaces")},
    {CASE(BASE "layers:1\nwidth: 8\n",
        "3:1: YAML: could not find expected ':', while scanning a simple key; a space must follow ':'")},
    {CASE(BASE "layers:1\n",
        "3:1: YAML: could not find expected ':', while scanning a simple key; a space must follow ':'")},
    {CASE("layers:1\ncorpus: markov\nsteps: 10\n",
        "2:7: YAML: mapping values are not allowed in this context; a space must follow ':'")},
    {CASE(BASE "  layers: 1\n", "3:9: YAML: mapping values are not allowed in this context; indented "
                                "differently from the lines above?")},
    {CASE(BASE "measure:\n   every: 2\n  metrics: [norms]\n",
        "5:3: YAML: did not find expected key, while parsing a block mapping; indented differently from the "
        "lines above?")},
    {CASE(BASE "title: a: b\n", "3:9: YAML: mapping values are not allowed in this context")},
    {CASE(
        BASE "title: \"abc\n", "4:1: YAML: found unexpected end of stream, while scanning a quoted scalar")},
    {CASE(BASE "---\nlayers: 1\n", "3:1: several documents in one file")},
    {CASE(BASE "title: &a [x, x]\nskip: [*a, *a, *a]\n",
        "3:8: anchors and aliases are not supported; write the value out")},
    {CASE(BASE "title: *a\n", "3:8: anchors and aliases are not supported; write the value out")},
    {CASE(BASE "layers: !!int 3\n", "3:9: tags are not supported")},
    {CASE(BASE "title: \377\376\n",
        "3:8: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8")},
    {CASE(BASE "title: \303\274 f\374r\n",
        "3:11: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8")},
    {CASE(BASE "# gr\374\337e\n",
        "3:5: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8")},
    {CASE(BASE "title: a\001\374\n", "3:9: YAML: control characters are not allowed")},
    {CASE("\357\273\277corpus: markov\nstepz: 3\n", "2:1: unknown key 'stepz'; did you mean 'steps'?")},
    {CASE("\357\273\277", "1:1: empty")},
    {CASE(BASE "title: \"a\\0b\"\n", "3:8: a NUL byte in a text")},
    {CASE(BASE "skip: [[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]\n", "3:22: nested too deeply")},
    {CASE(BASE "? [a, b]\n: 3\n", "3:3: a key must be a word")},
    {CASE(BASE "layers: 1\nsteps: 3\n", "4:1: repeated key 'steps'")},
    {CASE(BASE "measure: {every: 1, every: 2}\n", "3:21: repeated key 'every'")},
    {CASE(BASE "learning_rte: 0.1\n", "3:1: unknown key 'learning_rte'; did you mean 'learning_rate'?")},
    {CASE(BASE "spaceship: 1\n", "3:1: unknown key 'spaceship'")},
    {CASE(BASE "optimizer: adam\n", "3:1: unknown key 'optimizer'; did you mean 'optimiser'?")},
    {CASE(BASE "clip: 1\n", "3:1: unknown key 'clip'; did you mean 'gradient_clip'?")},
    {CASE(BASE "Layers: 1\n", "3:1: unknown key 'Layers'; did you mean 'layers'?")},
    {CASE(BASE ": 1\n", "3:1: YAML: did not find expected key, while parsing a block mapping")},
    {CASE(BASE "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
               "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
               "kkkkkkkkkkkkkk: 1\n",
        "3:1: unknown key 'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk...'")},
    {CASE(BASE "\"a\\nb\\e[31m\": 1\n", "3:1: unknown key 'a\\nb\\x1b[31m'")},
    {CASE(BASE "weight_decay: [0.1, -0.1]\n", "3:21: weight_decay: -0.1 is below 0")},
    {CASE(BASE "learning_rate: 0\n", "3:16: learning_rate: 0 is not above 0")},
    {CASE(BASE "threads: 100000\n", "3:10: threads: 100000 is above 1024")},
    {CASE(BASE "beta2: 1\n", "3:8: beta2: 1 is not below 1")},
    {CASE(BASE "learning_rate: .nan\n", "3:16: learning_rate: .nan is not finite")},
    {CASE(BASE "weight_decay: -.INF\n", "3:15: weight_decay: -.INF is not finite")},
    {CASE(BASE "weight_decay: [0.1, Infinity]\n", "3:21: weight_decay: Infinity is not finite")},
    {CASE(BASE "weight_decay: 1e400\n", "3:15: weight_decay: 1e400 is too large")},
    {CASE(BASE "weight_decay: 1e-400\n", "3:15: weight_decay: 1e-400 is too close to 0")},
    {CASE(BASE "weight_decay: 0x1p3\n", "3:15: weight_decay: '0x1p3' is not a number")},
    {CASE(BASE "weight_decay: 0,1\n", "3:15: weight_decay: '0,1' is not a number")},
    {CASE(BASE "weight_decay: 1e-3, 1e-2\n",
        "3:15: weight_decay: '1e-3, 1e-2' is not a number; write a list: [1e-3, 1e-2]")},
    {CASE(BASE "seed: 1,2,3\n", "3:7: seed: '1,2,3' is not an integer; write a list: [1,2,3]")},
    {CASE(BASE "weight_decay: 1, a\n", "3:15: weight_decay: '1, a' is not a number")},
    {CASE(BASE "batch: 1_000\n", "3:8: batch: '1_000' is not an integer")},
    {CASE(BASE "seed: 010\n", "3:7: seed: '010' is not an integer")},
    {CASE(BASE "weight_decay: \"0.1\"\n",
        "3:15: weight_decay: '0.1' is a text; write a number without quotes")},
    {CASE(BASE "layers: 2.5\n", "3:9: layers: 2.5 is not an integer")},
    {CASE(BASE "seed: 9223372036854775808\n", "3:7: seed: 9223372036854775808 is too large for 64 bits")},
    {CASE(BASE "learning_rate:\n", "3:15: learning_rate: no value")},
    {CASE(BASE "learning_rate: null\n", "3:16: learning_rate: no value")},
    {CASE(BASE "title: ~\n", "3:8: title: no value")},
    {CASE(BASE "norm_placement: pree\n", "3:17: norm_placement: 'pree' is not one of post, pre, out")},
    {CASE("corpus: wiki\nsteps: 1\n",
        "1:9: corpus: 'wiki' is not one of text, bytes, markov, dyck, counter, tokens, pairs, modular")},
    {CASE(BASE "bias: yes\n", "3:7: bias: 'yes' is neither true nor false")},
    {CASE(BASE "title: [a]\n", "3:8: title: takes one value, not a list")},
    {CASE("corpus: markov\nepochs: 1\nsave_weights: state\n",
        "3:15: save_weights: state keeps no more than true: no cell has steps, and a rate and a decay "
        "that at first do not depend on them")},
    {CASE(BASE "schedule: linear\nsave_weights: state\n",
        "4:15: save_weights: state keeps no more than true: no cell has steps, and a rate and a decay "
        "that at first do not depend on them")},
    {CASE(BASE "schedule: wsd\nschedule_decay: 1\nsave_weights: state\n",
        "5:15: save_weights: state keeps no more than true: no cell has steps, and a rate and a decay "
        "that at first do not depend on them")},
    {CASE(BASE "stop_when: phase\nsave_weights: state\n",
        "4:15: save_weights: state keeps no more than true: every cell has stop_when phase, with which steps "
        "cannot grow")},
    {CASE(BASE "schedule: [constant, linear]\n"
               "stop_when: [never, phase]\n"
               "skip: [{schedule: constant, stop_when: never}]\n"
               "save_weights: state\n",
        "6:15: save_weights: state keeps no more than true: no cell has steps, and a rate and a decay "
        "that at first do not depend on them")},
    {CASE(BASE "schedule: [constant, wsd]\nschedule_start: 5\n",
        "4:17: schedule_start: has no effect: no cell has schedule linear, cosine or inverse_sqrt")},
    {CASE(BASE "save_weights: Yes\n", "3:15: save_weights: 'Yes' is not one of false, true, state")},
    {CASE(BASE "schedule: True\n",
        "3:11: schedule: 'True' is not one of constant, linear, inverse_sqrt, cosine, wsd")},
    {CASE(BASE "seed: [1, {range: [2, 3]}]\n", "3:11: seed: takes one value, not a mapping")},
    {CASE(BASE "output: \"\"\n", "3:9: output: an empty path")},
    {CASE(BASE, "--set: unknown key 'learning_rte'; did you mean 'learning_rate'?"),
        .setting = {"learning_rte=0.1"}},
    {CASE(BASE, "--set learning_rate: takes key=value"), .setting = {"learning_rate"}},
    {CASE(BASE, "--set weight_decay: -0.1 is below 0"), .setting = {"weight_decay=-0.1"}},
    {CASE(BASE, "--set weight_decay: YAML: did not find expected ',' or ']', while parsing a flow sequence"),
        .setting = {"weight_decay=[0.1"}},
    {CASE(BASE, "--set: unknown key ''"), .setting = {"=3"}},
    {CASE(BASE, "--set: unknown key 'stps'; did you mean 'steps'?"), .setting = {"stps="}},
    {CASE("corpus: text\ntrain_text: a.txt\nsteps: 10\n", "--set train_text: missing; corpus text needs one"),
        .setting = {"train_text=null"}},
    {CASE(BASE, "--set weight_decay: anchors and aliases are not supported; write the value out"),
        .setting = {"weight_decay=*a"}},
    {CASE(BASE, "--set weight_decay: several documents in one file"), .setting = {"weight_decay=1\n---\n2"}},
    {CASE("steps: 10\n", "--set train_text: none.txt: No such file or directory"),
        .setting = {"train_text=none.txt"}},
    {CASE(BASE "width: 66\n", "--set heads: 5 does not divide width 66"), .setting = {"heads=5"}},
    {CASE(TOGETHER, "--set heads: given both in together and on its own"), .setting = {"heads=2"}},
    {CASE(BASE "optimiser: [adamw, adam]\ndecay_rule: [scaled, corrected]\n",
        "4:22: decay_rule: the decay of adam passes through its moments, where rule corrected has no "
        "meaning; adamw has all rules")},
    {CASE(BASE "optimiser: adam\ndecay_rule: cautious\n",
        "4:13: decay_rule: the decay of adam passes through its moments, where rule cautious has no meaning; "
        "adamw has all rules")},
    {CASE(BASE "optimiser: sgd\ndecay_rule: cautious\n",
        "4:13: decay_rule: cautious needs an optimiser that decays the weights directly; sgd adds the decay "
        "to the gradient")},
    {CASE(BASE "decay: factor\ndecay_rule: cautious\n",
        "4:13: decay_rule: cautious chooses weight by weight; decay factor multiplies all of them")},
    {CASE(BASE "norm: [rmsnorm, none]\nmeasure: {metrics: [norms, heads]}\n",
        "4:10: measure.metrics: saturation and heads are of 1000 times the weights, which overflow with norm "
        "none; leave them out")},
    {CASE(BASE "norm: [rmsnorm, none]\nqk_norm: true\n",
        "4:10: qk_norm: with norm none there is no norm for queries and keys; leave one of the two out")},
    {CASE(BASE "decay_on: gains+bias\n",
        "3:11: decay_on: 'gains+bias' is not one of all, matrices, hidden, attention, feedforward, gains, "
        "biases, embeddings, output")},
    {CASE(
        BASE "decay_on: [gains+biases, all, biases+gains]\n", "3:31: decay_on: gains+biases appears twice")},
    {CASE(BASE "zero_query_key: [false, true]\nnorm_rule: fixed\n",
        "4:12: norm_rule: with zero_query_key, queries and keys start with norm 0, and fixed would keep it; "
        "leave one of the two out")},
    {CASE(BASE "zero_query_key: true\nnorm_rule: [free, hyperball]\n",
        "4:19: norm_rule: with zero_query_key, queries and keys start with norm 0, and hyperball would keep "
        "it; leave one of the two out")},
    /* ---- axes, together, skip, refine ---- */
    {CASE(BASE "learning_rate: [1e-3, 1e-2, 0.001]\n", "3:29: learning_rate: 0.001 appears twice")},
    {CASE(BASE "norm_placement: [pre, out, pre]\n", "3:28: norm_placement: pre appears twice")},
    {CASE(BASE "bias: [true, True]\n", "3:14: bias: true appears twice")},
    {CASE(BASE "seed: {range: [0, 3], plus: [2]}\n", "3:7: seed: 2 appears twice")},
    {CASE(BASE "weight_decay: [0, -0.0]\n", "3:19: weight_decay: 0 appears twice")},
    {CASE(BASE "seed: []\n", "3:7: seed: an empty list")},
    {CASE(BASE "seed: {}\n", "3:7: seed: give either range or log")},
    {CASE(BASE "seed: {rnge: [0, 1]}\n",
        "3:8: seed: 'rnge' is not one of range, log, points, plus; did you mean 'range'?")},
    {CASE(BASE "seed: {range: [0, 1], log: [1, 2], points: 2}\n", "3:7: seed: give either range or log")},
    {CASE(BASE "seed: {range: [0, 1], plus: 3}\n", "3:29: seed: plus takes a list")},
    {CASE(BASE "seed: {range: [0]}\n", "3:15: seed: range takes [first, last]")},
    {CASE(BASE "weight_decay: {range: [0.5, 2.5]}\n",
        "3:24: weight_decay: range without points: 0.5 is not an integer")},
    {CASE(BASE "layers: {range: [1, 4], points: 3}\n", "3:17: layers: 2.5 is not an integer")},
    {CASE(BASE "weight_decay: {log: [1, 2]}\n", "3:15: weight_decay: log needs points")},
    {CASE(BASE "weight_decay: {log: [0, 1], points: 3}\n",
        "3:22: weight_decay: log: 0 is not above 0; plus: [0] adds it")},
    {CASE(BASE "weight_decay: {log: [0.1, 1], points: 1}\n", "3:39: points: 1 is below 2")},
    {CASE(BASE "weight_decay: {timescale: [1, 0]}\n", "3:31: timescale: 0 is not above 0")},
    {CASE(BASE "timescale: 0\n", "3:12: timescale: 0 is not above 0")},
    {CASE(BASE "weight_decay: {timescale: 1, plus: [0]}\n",
        "3:15: weight_decay: takes nothing beside timescale")},
    {CASE(BASE "weight_decay: {timescale: {log: [0.1, 1]}}\n", "3:27: timescale: log needs points")},
    {CASE(BASE "weight_decay: {timescale: 1e-320}\n",
        "3:27: timescale: 9.99988867183e-321 makes weight_decay infinite")},
    {CASE("corpus: markov\nepochs: 1\nweight_decay: {timescale: 1}\n",
        "3:27: timescale: is a share of steps; give steps, not epochs")},
    {CASE(BASE "norm_rule: [free, brake]\nnorm_target: 2\n",
        "4:14: norm_target: has no effect: no cell has norm_rule fixed or hyperball")},
    {CASE(BASE "norm_rule: [fixed, hyperball]\nbrake: [0.5, 1]\n",
        "4:8: brake: has no effect: no cell has norm_rule brake")},
    {CASE(BASE "timescale: 1\nweight_decay: {timescale: [1, 2]}\n",
        "4:27: timescale: given as a key and in weight_decay")},
    {CASE(BASE "timescale: 1\nweight_decay: 0.1\n",
        "4:15: weight_decay: timescale is given, too, and one follows from the other; leave one out")},
    {CASE(BASE "weight_decay: {timescale: 1}\ntogether: {m: {a: {weight_decay: 1}, b: {weight_decay: 2}}}\n",
        "4:34: weight_decay: timescale is given, too, and one follows from the other; leave one out")},
    {CASE(BASE "weight_decay: {timescale: [1, 2]}\nskip: [{weight_decay: 0.01}]\n",
        "4:23: skip: weight_decay follows from timescale; choose by that")},
    {CASE(BASE "norm_placement: {range: [0, 1]}\n",
        "3:17: norm_placement: range and log are for numbers only")},
    {CASE(BASE "layers: {range: [0, 3]}\n", "3:17: layers: 0 is below 1")},
    {CASE(BASE "seed: {range: [-9223372036854775808, 9223372036854775807]}\n",
        "3:15: seed: 1.8446744e+19 values; the limit is 10000000")},
    {CASE(BASE "weight_decay: {range: [0, 1], points: 1000000000000}\n",
        "3:39: weight_decay: 1e+12 values; the limit is 10000000")},
    {CASE(BASE "seed: {range: [0, 10000]}\nlayers: {range: [1, 1000]}\n",
        "4:9: layers: with this axis the grid has 10001000 cells; the limit is 10000000")},
    {CASE("corpus: markov\n",
        "1:1: steps: give either steps or epochs, at least 1; 0 only measures initial_weights")},
    {CASE("corpus: markov\nsteps: [0, 10]\n",
        "2:9: steps: give either steps or epochs, at least 1; 0 only measures initial_weights")},
    {CASE("corpus: markov\n"
          "together:\n"
          "  a:\n"
          "    x: {steps: 10, epochs: 0}\n"
          "    y: {steps: 10, epochs: 1}\n",
        "5:16: steps: give either steps or epochs, and set the other to 0")},
    {CASE(BASE "width: 66\n", "3:8: heads: 4 does not divide width 66")},
    {CASE(BASE "width: 12\nheads: [3, 8, 5, 2]\n", "4:15: heads: 5 does not divide width 12")},
    {CASE(TOGETHER "    large: {width: 256, heads: 7}\n", "6:32: heads: 7 does not divide width 256")},
    {CASE(BASE "layers: 131072\n", "3:9: layers: 131072 is above 131071")},
    {CASE(BASE "width: 2000000000\nheads: 1\n", "3:8: width: a model of 3.2e+19 parameters is too large")},
    {CASE(BASE "together: [a]\n", "3:11: together: takes {key: value, ...}")},
    {CASE(BASE "together: {}\n", "3:11: together: empty")},
    {CASE(BASE "together: {a: {b: 3}}\n", "3:19: b: takes {key: value, ...}")},
    {CASE(BASE "together: {width: {a: {heads: 2}}}\n", "3:12: together: axis 'width' has the name of a key")},
    {CASE(BASE "together: {param_norm: {a: {heads: 2}}}\n",
        "3:12: together: axis 'param_norm' has the name of a variable or dimension of the dataset")},
    {CASE(BASE "together: {step: {a: {heads: 2}}}\n",
        "3:12: together: axis 'step' has the name of a variable or dimension of the dataset")},
    {CASE(BASE "together: {method: {a: {heads: 2}}}\n",
        "3:12: together: axis 'method' has the name of an argument of xarray's sel, which could not select "
        "along it")},
    {CASE(BASE "together: {a b: {a: {heads: 2}}}\n", "3:12: together: 'a b' is not a name: use at most 64 "
                                                     "letters, digits and underscores, a letter first")},
    {CASE(TOGETHER "    large: {width: 256, layers: 8}\n",
        "6:25: model: 'large' sets layers, which 'small' does not")},
    {CASE(
        TOGETHER "    large: {width: 256}\n", "6:5: model: 'large' does not set heads, which 'small' sets")},
    {CASE(
        TOGETHER "    large: {widht: 256, heads: 8}\n", "6:13: unknown key 'widht'; did you mean 'width'?")},
    {CASE(BASE "together: {a: {b: {corpus_seed: 3}}}\n",
        "3:20: corpus_seed: has one value in a sweep and cannot be part of together")},
    {CASE(TOGETHER "heads: 4\n", "6:8: heads: given both in together and on its own")},
    {CASE(BASE "heads: 2\n"
               "together:\n"
               "  model:\n"
               "    small: {width: 128, heads: 4}\n",
        "6:32: heads: given both in together and on its own")},
    {CASE(TOGETHER "  other:\n    a: {heads: 2}\n", "7:16: heads: given in two axes of together")},
    {CASE(TOGETHER "    small: {width: 256, heads: 8}\n", "6:5: repeated key 'small'")},
    {CASE(TOGETHER "    big: {width: 256, heads: 4}\n"
                   "    also: {heads: 4, width: 128}\n",
        "7:5: model: 'small' and 'also' set the same values")},
    {CASE(BASE "together: {a: {\"\": {width: 64}}}\n", "3:16: a: an empty label")},
    {CASE(BASE "together: {a: "
               "{llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
               "lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
               "lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
               "llllllllllllllllllllll: {width: 64}}}\n",
        "3:16: a: label 'llllllllllllllllllllllllllllllllllllllll...' is longer than 255 bytes")},
    {CASE(BASE "together: {a: {\"x\\ny\": {width: 64}}}\n", "3:16: a: a control character in label 'x\\ny'")},
    {CASE(BASE "skip: {seed: 1}\n", "3:7: skip: takes a list of {key: value, ...}")},
    {CASE(BASE "skip: [seed]\n", "3:8: skip: an entry takes {key: value, ...}")},
    {CASE(BASE "seed: [1, 2]\nskip: [{sed: 1}]\n",
        "4:9: skip: 'sed' is neither an axis nor a parameter; did you mean 'seed'?")},
    {CASE(
        BASE "seed: [1, 2]\nskip:\n  - {seed: 1}\n  - {seed: 3}\n", "6:5: skip: no cell matches this entry")},
    {CASE(TOGETHER "    large: {width: 256, heads: 8}\nskip: [{model: lrge}]\n",
        "7:16: model: 'lrge' is not one of small, large")},
    {CASE(BASE "seed: [1, 2]\nskip: [{layers: 7}]\n", "4:8: skip: no cell matches this entry")},
    {CASE(BASE "norm_placement: [pre, post]\nskip: [{norm_placement: pst}]\n",
        "4:25: norm_placement: 'pst' is not one of post, pre, out")},
    {CASE(BASE "seed: [1, 2]\nskip: [{seed: [1, 2]}]\n", "4:7: skip: leaves no cell to run")},
    {CASE(BASE "weight_decay: [0.1, 0.2]\n"
               "skip: [{weight_decay: 0.1000000002}]\n",
        "4:8: skip: no cell matches this entry")},
    {CASE(LINES "refine: weight_decay\n",
        "4:9: refine: takes {axis: key | axes: [key, key], variable: metric, at: number, coarse: N, at_once: "
        "N, "
        "seeds: {variable: metric, width: number, least: N, most: N, difference: axis}}")},
    {CASE(LINES "refine: {}\n", "4:9: refine: lacks axis, axes or seeds")},
    {CASE(LINES "refine: {axs: weight_decay}\n",
        "4:10: refine: 'axs' is not one of axis, axes, variable, at, coarse, seeds, at_once")},
    {CASE(LINES "refine: {axis: weight_decay, axes: [weight_decay]}\n",
        "4:30: refine: give either axis or axes")},
    {CASE(BASE "seed: [0, 1]\nrefine: {axis: seed}\n", "4:16: refine.axis: seeds have no boundary; refine: "
                                                       "{seeds: {width: ...}} trains more of them where a "
                                                       "mean is not known well")},
    {CASE(LINES "refine: {axis: learning_rate}\n",
        "4:16: refine.axis: learning_rate is not an axis; give it a list")},
    {CASE(
        LINES "refine: {axis: weight_decy}\n", "4:16: refine.axis: 'weight_decy' is not an axis of numbers")},
    {CASE(TOGETHER "    large: {width: 256, heads: 8}\nrefine: {axis: model}\n",
        "7:16: refine.axis: 'model' is not an axis of numbers")},
    {CASE(TOGETHER "    large: {width: 256, heads: 8}\nrefine: {axis: width}\n",
        "7:16: refine.axis: width changes together with other keys")},
    {CASE(LINES "refine: {axes: weight_decay}\n", "4:16: refine.axes: takes a list of one or two axes")},
    {CASE(LINES "seed: [1, 2]\n"
                "layers: [1, 2]\n"
                "refine: {axes: [weight_decay, seed, layers]}\n",
        "6:16: refine.axes: takes a list of one or two axes")},
    {CASE(LINES "refine: {axes: [weight_decay, weight_decay]}\n",
        "4:31: refine.axes: weight_decay appears twice")},
    {CASE(LINES "refine: {axes: [weight_decay, learning_rate]}\n",
        "4:31: refine.axes: learning_rate is not an axis; give it a list")},
    {CASE(LINES "refine: {axis: weight_decay, variable: param_norm}\n",
        "4:40: refine.variable: 'param_norm' is not a metric with one value per run, such as norm_growth")},
    {CASE(LINES "refine: {variable: final_valid_los, axis: weight_decay}\n",
        "4:20: refine.variable: 'final_valid_los' is not a metric with one value per run, such as "
        "norm_growth; did you mean 'final_valid_loss'?")},
    {CASE(LINES "refine: {axis: weight_decay, variable: growth_exponent}\n"
                "measure: {metrics: []}\n",
        "4:40: refine.variable: measure.metrics lacks norms, which has growth_exponent")},
    {CASE(WORDS "weight_decay: [0.1, 0.2]\n"
                "refine: {axis: weight_decay, variable: final_valid_loss, at: 3}\n",
        "4:9: refine.variable: final_valid_loss is measured on valid_text, which is missing")},
    {CASE(LINES "refine: {axis: weight_decay, variable: growth_exponent}\n",
        "4:9: refine: lacks at, the value that growth_exponent crosses")},
    {CASE(LINES "refine: {axis: weight_decay, at: -.inf}\n", "4:34: refine.at: -.inf is not finite")},
    {CASE(LINES "refine: {coarse: 4, axis: weight_decay}\n",
        "4:10: refine.coarse: without effect; it goes with axes")},
    {CASE(LINES "refine: {axes: [weight_decay], coarse: 3}\n",
        "4:40: refine.coarse: 3 is not a power of 2 up to 1024")},
    {CASE(LINES "refine: {axes: [weight_decay], at_once: 2}\n",
        "4:32: refine.at_once: without effect; it goes with axis")},
    {CASE(LINES "refine: {axis: weight_decay, at_once: 0}\n", "4:39: refine.at_once: 0 is below 1")},
    {CASE(LINES "refine: {axis: weight_decay, at_once: 65}\n", "4:39: refine.at_once: 65 is above 64")},
    {CASE(LINES "refine: {seeds: {width: 1}}\n",
        "4:17: refine.seeds: seed is not an axis of its own; give it a list")},
    {CASE(SEEDS "refine: {seeds: 3}\n",
        "5:17: refine.seeds: takes {variable: metric, width: number, least: N, "
        "most: N, difference: axis}")},
    {CASE(SEEDS "refine: {seeds: {least: 2}}\n", "5:17: refine.seeds: lacks a width above 0")},
    {CASE(SEEDS "refine: {seeds: {width: 0}}\n", "5:17: refine.seeds: lacks a width above 0")},
    {CASE(SEEDS "refine: {seeds: {wdith: 1}}\n",
        "5:18: refine.seeds: 'wdith' is not one of variable, width, least, most, difference")},
    {CASE(SEEDS "refine: {seeds: {width: 1, least: 1}}\n", "5:35: refine.seeds.least: 1 is below 2")},
    {CASE(
        SEEDS "refine: {seeds: {width: 1, most: 5}}\n", "5:17: refine.seeds.most: 5, but seed has 4 values")},
    {CASE(SEEDS "refine: {seeds: {width: 1, most: 2}}\n",
        "5:17: refine.seeds.least: 3 is above 2, the seeds that a cell has at most")},
    {CASE(SEEDS "refine: {seeds: {width: 1, variable: los}}\n",
        "5:38: refine.seeds.variable: 'los' is not a metric with one value per run, such as norm_growth; did "
        "you mean 'unigram_loss'?")},
    {CASE(SEEDS "refine: {seeds: {width: 1, difference: learning_rate}}\n",
        "5:40: refine.seeds.difference: 'learning_rate' is not an axis")},
    {CASE(SEEDS "refine: {seeds: {width: 1, difference: seed}}\n",
        "5:40: refine.seeds.difference: 'seed' is not an axis beside the seeds")},
    {CASE(SEEDS "norm: [layernorm]\nrefine: {seeds: {width: 1, difference: norm}}\n",
        "6:40: refine.seeds.difference: norm has one value")},
    {CASE(SEEDS "refine: {seeds: {width: 1}, variable: norm_growth}\n",
        "5:29: refine.variable: without effect; it goes with axis, or axes")},
    {CASE(SEEDS "refine: {axis: weight_decay, seeds: {width: 1, difference: weight_decay}}\n",
        "5:9: refine.seeds: weight_decay is an axis along which refine searches")},
    {CASE(SEEDS "refine: {seeds: {width: 1}}\nstop_when: phase\n",
        "5:9: refine.seeds: with stop_when: phase runs end at different steps, so their values do not "
        "compare; "
        "leave one of the two out")},
    {CASE(BYTES "seed: [1, 2, 3]\nrefine: {seeds: {variable: final_valid_loss, width: 1}}\n",
        "5:9: refine.seeds.variable: final_valid_loss is measured on valid_text, which is missing")},
    {CASE(LINES, "--set refine.axis: 'weight_decy' is not an axis of numbers"),
        .setting = {"refine={axis: weight_decy}"}},
    /* ---- corpora, and what an objective needs of them ---- */
    {CASE(TOKENS, "4:13: train_text: t.bin: an odd number of bytes, 1; write the tokens as uint16"),
        .file = {{"t.bin", "a"}}},
    {CASE(TOKENS, "4:13: train_text: t.bin: empty"), .file = {{"t.bin", ""}}},
    {CASE("corpus: tokens\nsteps: 1\ntrain_text: t.bin\n",
        "1:9: vocabulary: missing; corpus tokens needs the number of its tokenizer's words, 50257 for "
        "GPT-2's")},
    {CASE(TOKENS "sequences: lines\n",
        "5:12: sequences: corpus tokens has stream alone: a file of tokens does not say where lines end")},
    {CASE(TOKENS "corpus_seed: 1\n",
        "5:14: corpus_seed: corpus tokens does not use it; remove it, or set it to null")},
    {CASE("corpus: tokens\n"
          "vocabulary: 100\n"
          "steps: 1\n"
          "train_text: [a, b]\n",
        "4:13: train_text: corpus tokens takes one path, not a list")},
    {CASE("steps: 1\ntrain_text: [a, b]\n", "2:13: train_text: corpus text takes one path, not a list")},
    {CASE(PAIRS "valid_text: a\n", "6:13: valid_text: corpus pairs takes two paths, [source, target]")},
    {CASE("corpus: pairs\nsteps: 1\ntrain_text: [a, b, c]\n",
        "3:13: train_text: takes one path or, for corpus pairs, two: [source, target]")},
    {CASE("corpus: pairs\nsteps: 1\ntrain_text: [a, '']\n", "3:17: train_text: an empty path")},
    {CASE("corpus: pairs\nsteps: 1\ntrain_text: {range: [1, 2]}\n",
        "3:13: train_text: takes one value, not a mapping")},
    {CASE("corpus: pairs\nsteps: 1\n", "1:9: train_text: missing; corpus pairs needs [source, target]")},
    {CASE(PAIRS, "5:13: train_text: s: No such file or directory")},
    {CASE(PAIRS, "5:13: train_text: t: No such file or directory"),
        .file = {{"s", "ein haus\nzwei\ndrei\n"}}},
    {CASE(PAIRS, "5:13: train_text: t: 3 lines, but s has 4; line n of one translates line n of the other"),
        .file = {{"s", "ein haus\nzwei\ndrei\nvier\n"}, {"t", "a house\ntwo\nthree\n"}}},
    {CASE(PAIRS "valid_text: [t, s]\n",
         "--set valid_text: v: 1 line, but s has 3; line n of one translates line n of the other"),
        .setting = {"valid_text=[s, v]"},
        .file = {{"s", "ein haus\nzwei\ndrei\n"}, {"t", "a house\ntwo\nthree\n"}, {"v", "two\n"}}},
    {CASE(PAIRS "valid_text: [s, v]\n", "6:13: valid_text: v:2: 'tow' is not in the training text, which has "
                                        "no <unk>; set min_count: 2 to make rare words <unk>"),
        .file = {{"s", "ein haus\nzwei\ndrei\n"}, {"t", "a house\ntwo\nthree\n"},
            {"v", "two\ntow\nthree\n"}}},
    {CASE(PAIRS "min_count: 3\n",
         "6:12: min_count: 3 leaves no word but <unk>; the training text has no other more than 2 times"),
        .file = {{"s", "ein haus\nzwei\ndrei\n"}, {"t", "a house\nzwei two\nthree\n"}}},
    {CASE("corpus: pairs\n"
          "network: encoder_decoder\n"
          "steps: 1\n"
          "batch: 3\n"
          "train_text: [s, t]\n",
         "5:13: train_text: t: 2 pairs, fewer than one batch of 3"),
        .file = {{"s", "ein haus\nzwei\ndrei\n"}, {"t", "a house\n \nthree\n"}}},
    {CASE(PAIRS "valid_text: [s, v]\n", "6:13: valid_text: v: only white space, no words"),
        .file = {{"s", "ein haus\nzwei\ndrei\n"}, {"t", "a house\ntwo\nthree\n"}, {"v", "\n\n\n"}}},
    {CASE(PAIRS "sequences: lines\n",
        "6:12: sequences: corpus pairs does not use it; remove it, or set it to null")},
    {CASE("corpus: pairs\nsteps: 1\nbatch: 2\ntrain_text: [s, t]\n",
        "1:9: network: corpus pairs needs encoder_decoder")},
    {CASE(PAIRS "objective: masked\n", "6:12: objective: corpus pairs has next alone")},
    {CASE(MODULAR "vocabulary: 2\n",
        "3:13: vocabulary: 2 is below 3: modular has p numbers and '=', and p is at least 2")},
    {CASE(MODULAR "vocabulary: 5000\n",
        "3:13: vocabulary: 5000 is above 4097: modular has p numbers and '=', and holds all p^2 sums")},
    {CASE(MODULAR "context: 2\n", "3:10: context: 2 is below 3, the tokens of a sum: a, b and =")},
    {CASE(MODULAR "train_text: t\n",
        "3:13: train_text: corpus modular does not use it; remove it, or set it to null")},
    {CASE(MODULAR "vocabulary: 8\ntrain_share: 0.1\n",
        "4:14: train_share: modular: 5 sums, fewer than one batch of 16")},
    {CASE(BYTES "train_share: 0.5\n",
        "4:14: train_share: corpus bytes does not use it; remove it, or set it to null")},
    {CASE(BYTES "network: encoder_decoder\nobjective: spans\ncontext: 2\n",
        "6:10: context: 2 is below 3, which a span takes: its sentinel, a token and <eos>")},
    {CASE(BYTES "objective: spans\n", "4:12: objective: spans needs network encoder_decoder, not decoder")},
    {CASE(BYTES "decoder_layers: [0, 3]\n",
        "4:17: decoder_layers: has no effect: no cell has network encoder_decoder")},
    {CASE(BYTES "init_deviation: 0.1\n", "4:17: init_deviation: has no effect: no cell has init normal")},
    {CASE(BYTES "norm: none\nnorm_placement: [pre, post]\n",
        "5:17: norm_placement: has no effect: no cell has norm layernorm or rmsnorm")},
    {CASE(BYTES "base_width: 32\n", "4:13: base_width: has no effect: no cell has parametrization mup")},
    {CASE(BYTES "parametrization: [standard, mup]\n",
        "4:29: base_width: missing; parametrization mup needs the width at which it changes no rate")},
    {CASE(BYTES "parametrization: mup\nbase_width: 32\nscore_scale: none\n",
        "6:14: score_scale: parametrization mup divides scores by the width of a head; none does not go with "
        "it")},
    {CASE(BYTES "parametrization: mup\n"
                "base_width: 32\n"
                "optimiser: [adamw, sgd]\n",
        "6:20: optimiser: parametrization mup has rates for <optimisers> alone; those of sgd depend "
        "on width otherwise")},
    {CASE(BYTES "parametrization: mup\nbase_width: 32\noptimiser: muon\n",
        "6:12: optimiser: parametrization mup has rates for <optimisers> alone; those of muon depend "
        "on width otherwise")},
    {CASE(BYTES "objective: masked\n", "4:12: objective: masked needs network encoder, not decoder")},
    /* ---- what is measured and validated, texts, paths ---- */
    {CASE(BASE "measure: 100\n", "3:10: measure: takes {every: N | steps: [N], metrics: [word]}")},
    {CASE(BASE "measure: {every: 0}\n", "3:18: measure.every: 0 is below 1")},
    {CASE(BASE "measure: {every: 5, steps: [1]}\n", "3:21: measure: give either every or steps")},
    {CASE(BASE "measure: {~: 5}\n", "3:11: measure: '~' is not one of every, steps, metrics")},
    {CASE(BASE "validate: {null: 5}\n", "3:12: validate: 'null' is not one of every, tokens")},
    {CASE(BASE "measure: {metrics: [nroms]}\n",
        "3:21: measure.metrics: 'nroms' is not a group of metrics; did you mean 'norms'?")},
    {CASE(BASE "measure: {metrics: [norms, force]}\n",
        "3:28: measure.metrics: 'force' is not a group of metrics; did you mean 'forces'?")},
    {CASE(BASE "measure: {metrics: [sink_share]}\n",
        "3:21: measure.metrics: sink_share is measured with attention")},
    {CASE(BASE "measure: {metrics: [everything]}\n",
        "3:21: measure.metrics: 'everything' is not one of norms, alignment, saturation, heads, attention, "
        "homogeneity, gradients, hessian, hessian_layers, residual, lyapunov, equilibrium, forces, "
        "sharpness, spectra, spectra_values")},
    {CASE(BASE "optimiser: adam\nweight_decay: [0.1, 1]\nmeasure: {metrics: [norms, forces]}\n",
        "5:10: measure.metrics: forces are not known of any cell: they need weights float, norm_rule free, "
        "and with adam a weight_decay of 0")},
    {CASE(BASE "weights: bfloat16\nmeasure: {metrics: [forces]}\n",
        "4:10: measure.metrics: forces are not known of any cell: they need weights float, norm_rule free, "
        "and with adam a weight_decay of 0")},
    {CASE(BASE "norm_rule: brake\nmeasure: {metrics: [forces]}\n",
        "4:10: measure.metrics: forces are not known of any cell: they need weights float, norm_rule free, "
        "and with adam a weight_decay of 0")},
    {CASE(BASE "measure: {metrics: [norms, norms]}\n", "3:28: measure.metrics: norms appears twice")},
    {CASE(BASE "measure: {metrics: norms}\n", "3:20: measure.metrics: takes a list")},
    {CASE(BASE "measure: {steps: 3}\n", "3:18: measure.steps: takes a list")},
    {CASE("corpus: markov\nsteps: 1e12\n",
        "2:8: measure: 1e+10 measured steps in 1000000000000; the limit is 10000000")},
    {CASE(BASE "validate: end\n", "3:11: validate: takes {every: end | N, tokens: N | all}")},
    {CASE(BASE "validate: {every: sometimes}\n",
        "3:19: validate.every: 'sometimes' is neither end nor an integer")},
    {CASE(BASE "validate: {tokens: 1e13}\n", "3:20: validate.tokens: 10000000000000 is above 1000000000000")},
    {CASE(BASE "gradient_batches: 5\n",
        "3:19: gradient_batches: without effect; measure.metrics lacks gradients")},
    {CASE(BASE "lyapunov_sweeps: 0\n",
        "3:18: lyapunov_sweeps: without effect; measure.metrics lacks lyapunov")},
    {CASE(BASE "measure: {every: 4, metrics: [hessian]}\nhessian: {every: 6}\n",
        "4:10: hessian.every: 6 is not a multiple of measure.every 4")},
    {CASE(BASE "measure: {steps: [0, 2, 5], metrics: [hessian]}\n"
               "hessian: {every: 4}\n",
        "4:10: hessian.every: no step above 0 of measure.steps is a multiple of 4")},
    {CASE(BASE "measure: {every: 4, metrics: [spectra]}\nspectra: {every: 6}\n",
        "4:10: spectra.every: 6 is not a multiple of measure.every 4")},
    {CASE(BASE "measure: {metrics: [spectra_values]}\n",
        "3:10: measure.metrics: spectra_values needs spectra as well")},
    {CASE("epochs: 1\n", "1:1: train_text: missing; corpus text needs one")},
    {CASE("corpus: bytes\nepochs: 1\n", "1:9: train_text: missing; corpus bytes needs one")},
    {CASE(BASE "train_text: t.txt\n",
        "3:13: train_text: corpus markov does not use it; remove it, or set it to null")},
    {CASE(WORDS "measure: {metrics: [norms, saturation]}\n",
        "3:10: measure.metrics: saturation is measured on valid_text, which is missing")},
    {CASE("corpus: dyck\nsteps: 1\nvalid_text: t.txt\n",
        "3:13: valid_text: corpus dyck does not use it; remove it, or set it to null")},
    {CASE(WORDS "vocabulary: 100\n",
        "3:13: vocabulary: corpus text does not use it; remove it, or set it to null")},
    {CASE("corpus: counter\nsteps: 1\nvocabulary: 100\n",
        "3:13: vocabulary: corpus counter does not use it; remove it, or set it to null")},
    {CASE(WORDS "corpus_tokens: 100\n",
        "3:16: corpus_tokens: corpus text does not use it; remove it, or set it to null")},
    {CASE("corpus: bytes\ntrain_text: t.txt\nsteps: 10\ncorpus_seed: 1\n",
        "4:14: corpus_seed: corpus bytes does not use it; remove it, or set it to null")},
    {CASE("corpus: dyck\nsteps: 1\nvocabulary: 4\n", "3:13: vocabulary: 4 is even; dyck has two words for "
                                                     "each kind of bracket and one for the end of a line")},
    {CASE("epochs: 1\ntrain_text: wiki.txt\n", "2:13: train_text: wiki.txt: No such file or directory")},
    {CASE("epochs: 1\ntrain_text: .\n", "2:13: train_text: .: Is a directory")},
    {CASE(WORDS, "1:13: train_text: t.txt: empty"), .file = {{"t.txt", ""}}},
    {CASE(WORDS, "1:13: train_text: t.txt: only white space, no words"), .file = {{"t.txt", " \n \n"}}},
    {CASE(WORDS, "1:13: train_text: t.txt: 0 sequences of 64 tokens, fewer than one batch of 16"),
        .file = {{"t.txt",
            "a b c d\na b c d\na b c d\na b c d\na b c d\na b c d\na b c d\na b c d\na b c d\na b c d\n"}}},
    {CASE(WORDS "sequences: lines\n",
         "1:13: train_text: t.txt: 10 sequences of up to 64 tokens, fewer than one batch of 16"),
        .file = {{"t.txt",
            "a b c d\na b c d\na b c d\na b c d\na b c d\na b c d\na b c d\na b c d\na b c d\na b c d\n"}}},
    {CASE(BASE "corpus_tokens: 100\n",
        "3:16: corpus_tokens: markov: 1 sequence of 64 tokens, fewer than one batch of 16")},
    /* ---- included files ---- */
    {CASE("include: none.yaml\n", "1:10: include: none.yaml: No such file or directory")},
    {CASE("include: base.yaml\n", "base.yaml:2:10: include: none.yaml: No such file or directory"),
        .file = {{"base.yaml", "steps: 3\ninclude: none.yaml\n"}}},
    {CASE("include: /dev/zero\n", "1:10: include: /dev/zero: not a regular file")},
    {CASE("include: .\n", "1:10: include: .: Is a directory")},
    {CASE("include: a.nc\n", "1:10: include: a.nc: is a dataset; give its sweep file instead"),
        .file = {{"a.nc", "CDF\005"}}},
    {CASE("include: sweep.yaml\n", "1:10: include: a circle: sweep.yaml includes sweep.yaml")},
    {CASE("include: ./sweep.yaml\n", "1:10: include: a circle: sweep.yaml includes sweep.yaml")},
    {CASE("include: [b.yaml, a.yaml]\n",
         "c.yaml:1:11: include: a circle: a.yaml includes c.yaml includes a.yaml"),
        .file = {{"a.yaml", "include: c.yaml\n"}, {"b.yaml", "seed: 1\n"},
            {"c.yaml", "include: [a.yaml]\n"}}},
    {CASE("include: base.yaml\n", "base.yaml:2:1: a sweep file holds lines of the form key: value"),
        .file = {{"base.yaml", "\n- seed: 1\n"}}},
    {CASE("include: base.yaml\n", "base.yaml:1:1: empty"), .file = {{"base.yaml", ""}}},
    {CASE("include: base.yaml\n",
         "base.yaml:2:9: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8"),
        .file = {{"base.yaml", "seed: 1\ntitle: g\374\n"}}},
    {CASE("include: base.yaml\n",
         "base.yaml:2:1: YAML: did not find expected node content, while parsing a flow node"),
        .file = {{"base.yaml", "seed: [1,\n"}}},
    {CASE("include: base.yaml\n", "base.yaml:1:1: unknown key 'sede'; did you mean 'seed'?"),
        .file = {{"base.yaml", "sede: 1\n"}}},
    {CASE("include: base.yaml\nsede: 1\n", "2:1: unknown key 'sede'; did you mean 'seed'?"),
        .file = {{"base.yaml", "seed: 1\n"}}},
    {CASE("include: base.yaml\n", "base.yaml:3:14: width: 0 is below 1"),
        .file = {{"base.yaml", "corpus: markov\nsteps: 1\nwidth: [8,   0]\n"}}},
    {CASE("include: base.yaml\nwidth: 10\nheads: 3\n", "3:8: heads: 3 does not divide width 10"),
        .file = {{"base.yaml", INCLUDED}}},
    {CASE("include: base.yaml\nwidth: 9\n", "base.yaml:5:8: heads: 2 does not divide width 9"),
        .file = {{"base.yaml", INCLUDED}}},
    {CASE("include: base.yaml\n",
         "base.yaml:2:13: train_text: a.txt: 0 sequences of 64 tokens, fewer than one batch of 16"),
        .file = {{"base.yaml", "steps: 1\ntrain_text: a.txt\n"}, {"a.txt", "a b c\n"}}},
    {CASE(
         "include: base.yaml\nseed: null\n", "2:7: seed: no value, and no included file has one to take out"),
        .file = {{"base.yaml", INCLUDED}}},
    {CASE("include: base.yaml\nsteps: null\n",
         "2:8: steps: give either steps or epochs, at least 1; 0 only measures initial_weights"),
        .file = {{"base.yaml", INCLUDED}}},
    {CASE("include: [base.yaml, more.yaml]\n",
         "more.yaml:1:7: seed: no value, and no included file has one to take out"),
        .file = {{"base.yaml", "seed: 1\n"}, {"more.yaml", "seed: null\n"}}},
    {CASE(INCLUDED "seed: null\n", "6:7: seed: no value")},
    {CASE("include: ''\n", "1:10: include: an empty path")},
    {CASE("include: []\n", "1:10: include: an empty list")},
    {CASE("include: [[a]]\n", "1:11: include: takes one value, not a list")},
    /* ---- notes ---- */
    {CASE(BASE "notes: \"a\\ab\"\n", "3:8: notes: a control character in the text")},
    {CASE(BASE "notes: a\nskip: [{notes: a}]\n", "4:9: skip: 'notes' is neither an axis nor a parameter")},
};

/* Loads each sweep and its texts as `normsweep check` does, in a folder of its own. */
TEST(sweep_files_are_refused)
{
    char folder[] = "/tmp/normsweep-refused-XXXXXX", expected[1024];
    int home = open(".", O_RDONLY | O_DIRECTORY);

    CHECK(home >= 0 && mkdtemp(folder) != NULL && chdir(folder) == 0);
    for (const struct refused *one = rows; one < rows + sizeof(rows) / sizeof(*rows); one++) {
        int failures = test_failures();
        write_file("sweep.yaml", one->text);
        for (int i = 0; i < 4 && one->file[i].name; i++)
            write_file(one->file[i].name, one->file[i].content);
        bool of_file = one->line[0] >= '0' && one->line[0] <= '9';
        const char *list = strstr(one->line, "<optimisers>"); /* those with rates of mup */
        int before = list ? (int)(list - one->line) : (int)strlen(one->line);
        snprintf(expected, sizeof(expected), "%s%.*s%s%s", of_file ? "sweep.yaml:" : "", before, one->line,
            list ? optimiser_list(HAS_MUP_RATES, "and").text : "", list ? list + strlen("<optimisers>") : "");
        CHECK_TEXT(refusal(one), expected);
        if (test_failures() > failures)
            printf("the sweep file:\n%s\n", one->text);
        for (int i = 0; i < 4 && one->file[i].name; i++)
            CHECK(unlink(one->file[i].name) == 0);
        CHECK(unlink("sweep.yaml") == 0);
    }
    CHECK(fchdir(home) == 0 && close(home) == 0);
    CHECK(rmdir(folder) == 0); /* nothing else was made */
}
