/* Refused sweep files: what is measured and validated, texts, paths. */
#include "tests/driver/sweep/refused.h"
#include "tests/test.h"

#define TEXT                                                                                                 \
    "train_text: t.txt\n"                                                                                    \
    "steps: 10\n"

static const struct refused rows[] = {
    {CASE("measure: a number", BASE "measure: 100\n",
        "sweep.yaml:3:10: measure: takes {every: N | steps: [N], metrics: [word]}")},
    {CASE("measure: every 0", BASE "measure: {every: 0}\n", "sweep.yaml:3:18: measure.every: 0 is below 1")},
    {CASE("measure: every and steps", BASE "measure: {every: 5, steps: [1]}\n",
        "sweep.yaml:3:21: measure: give either every or steps")},
    {CASE("measure: no key", BASE "measure: {~: 5}\n",
        "sweep.yaml:3:11: measure: '~' is not one of every, steps, metrics")},
    {CASE("validate: no key", BASE "validate: {null: 5}\n",
        "sweep.yaml:3:12: validate: 'null' is not one of every, tokens")},
    {CASE("measure: unknown", BASE "measure: {evry: 5}\n",
        "sweep.yaml:3:11: measure: 'evry' is not one of every, steps, metrics")},
    {CASE("measure: unknown metrics", BASE "measure: {metrics: [nroms]}\n",
        "sweep.yaml:3:21: measure.metrics: 'nroms' is not one of norms, alignment, saturation, heads, "
        "homogeneity, gradients, hessian, hessian_layers, residual, lyapunov, equilibrium")},
    {CASE("measure: metrics twice", BASE "measure: {metrics: [norms, norms]}\n",
        "sweep.yaml:3:28: measure.metrics: norms appears twice")},
    {CASE("measure: metrics no list", BASE "measure: {metrics: norms}\n",
        "sweep.yaml:3:20: measure.metrics: takes a list")},
    {CASE("measure: steps no list", BASE "measure: {steps: 3}\n",
        "sweep.yaml:3:18: measure.steps: takes a list")},
    {CASE("measure: negative step", BASE "measure: {steps: [0, -1]}\n",
        "sweep.yaml:3:22: measure.steps: -1 is below 0")},
    {CASE("measure: equal steps", BASE "measure: {steps: [0, 1, 1]}\n",
        "sweep.yaml:3:25: measure.steps: 1 appears twice")},
    {CASE("measure: too many",
        "corpus: markov\n"
        "steps: 1e12\n",
        "sweep.yaml:2:8: measure: 1e+10 measured steps in 1000000000000; the limit is 10000000")},
    {CASE("validate: a word", BASE "validate: end\n",
        "sweep.yaml:3:11: validate: takes {every: end | N, tokens: N | all}")},
    {CASE("validate: every word", BASE "validate: {every: sometimes}\n",
        "sweep.yaml:3:19: validate.every: 'sometimes' is neither end nor an integer")},
    {CASE("validate: every fraction", BASE "validate: {every: 1.5}\n",
        "sweep.yaml:3:19: validate.every: 1.5 is not an integer")},
    {CASE("validate: tokens 0", BASE "validate: {tokens: 0}\n",
        "sweep.yaml:3:20: validate.tokens: 0 is below 1")},
    {CASE("validate: unknown", BASE "validate: {steps: 0}\n",
        "sweep.yaml:3:12: validate: 'steps' is not one of every, tokens")},
    {CASE("validate: tokens beyond all", BASE "validate: {tokens: 1e13}\n",
        "sweep.yaml:3:20: validate.tokens: 10000000000000 is above 1000000000000")},
    {CASE("gradient_batches: 0",
        BASE "measure: {metrics: [gradients]}\n"
             "gradient_batches: 0\n",
        "sweep.yaml:4:19: gradient_batches: 0 is below 1")},
    {CASE("gradient_batches: too many",
        BASE "measure: {metrics: [gradients]}\n"
             "gradient_batches: 1e6\n",
        "sweep.yaml:4:19: gradient_batches: 1000000 is above 100000")},
    {CASE("gradient_batches: a list",
        BASE "measure: {metrics: [gradients]}\n"
             "gradient_batches: [1, 2]\n",
        "sweep.yaml:4:19: gradient_batches: takes one value, not a list")},
    {CASE("gradient_batches: a word",
        BASE "measure: {metrics: [gradients]}\n"
             "gradient_batches: all\n",
        "sweep.yaml:4:19: gradient_batches: 'all' is not an integer")},
    {CASE("gradient_batches: without gradients", BASE "gradient_batches: 5\n",
        "sweep.yaml:3:19: gradient_batches: without effect; measure.metrics lacks gradients")},
    {CASE("lyapunov_exponents: 0",
        BASE "measure: {metrics: [lyapunov]}\n"
             "lyapunov_exponents: 0\n",
        "sweep.yaml:4:21: lyapunov_exponents: 0 is below 1")},
    {CASE("lyapunov_sweeps: too many",
        BASE "measure: {metrics: [lyapunov]}\n"
             "lyapunov_sweeps: 1e5\n",
        "sweep.yaml:4:18: lyapunov_sweeps: 100000 is above 10000")},
    {CASE("lyapunov_sweeps: without lyapunov", BASE "lyapunov_sweeps: 0\n",
        "sweep.yaml:3:18: lyapunov_sweeps: without effect; measure.metrics lacks lyapunov")},
    {CASE("hessian.every: no multiple of measure.every",
        BASE "measure: {every: 4, metrics: [hessian]}\n"
             "hessian: {every: 6}\n",
        "sweep.yaml:4:10: hessian.every: 6 is not a multiple of measure.every 4")},
    {CASE("hessian.every: meets no measured step",
        BASE "measure: {steps: [0, 2, 5], metrics: [hessian]}\n"
             "hessian: {every: 4}\n",
        "sweep.yaml:4:10: hessian.every: no step above 0 of measure.steps is a multiple of 4")},
    {CASE("train_text missing", "epochs: 1\n", "sweep.yaml:1:1: train_text: missing; corpus text needs one")},
    {CASE("train_text missing for bytes",
        "corpus: bytes\n"
        "epochs: 1\n",
        "sweep.yaml:1:9: train_text: missing; corpus bytes needs one")},
    {CASE("train_text with markov", BASE "train_text: t.txt\n",
        "sweep.yaml:3:13: train_text: corpus markov does not use it")},
    {CASE("saturation without a valid_text", TEXT "measure: {metrics: [norms, saturation]}\n",
        "sweep.yaml:3:10: measure.metrics: saturation is measured on valid_text, which is missing")},
    {CASE("valid_text with dyck",
        "corpus: dyck\n"
        "steps: 1\n"
        "valid_text: t.txt\n",
        "sweep.yaml:3:13: valid_text: corpus dyck does not use it")},
    {CASE("vocabulary with text", TEXT "vocabulary: 100\n",
        "sweep.yaml:3:13: vocabulary: corpus text does not use it")},
    {CASE("vocabulary with counter",
        "corpus: counter\n"
        "steps: 1\n"
        "vocabulary: 100\n",
        "sweep.yaml:3:13: vocabulary: corpus counter does not use it")},
    {CASE("corpus_tokens with text", TEXT "corpus_tokens: 100\n",
        "sweep.yaml:3:16: corpus_tokens: corpus text does not use it")},
    {CASE("corpus_seed with bytes",
        "corpus: bytes\n"
        "train_text: t.txt\n"
        "steps: 10\n"
        "corpus_seed: 1\n",
        "sweep.yaml:4:14: corpus_seed: corpus bytes does not use it")},
    {CASE("even dyck",
        "corpus: dyck\n"
        "steps: 1\n"
        "vocabulary: 4\n",
        "sweep.yaml:3:13: vocabulary: 4 is even; dyck has two words for each kind of bracket and one for the "
        "end of a line")},
    {CASE("no such text",
        "epochs: 1\n"
        "train_text: wiki.txt\n",
        "sweep.yaml:2:13: train_text: wiki.txt: No such file or directory")},
    {CASE("a folder as text",
        "epochs: 1\n"
        "train_text: .\n",
        "sweep.yaml:2:13: train_text: .: Is a directory")},
    {CASE("empty text", TEXT, "sweep.yaml:1:13: train_text: t.txt: empty"), .file = {{"t.txt", ""}}},
    {CASE("text of blanks", TEXT, "sweep.yaml:1:13: train_text: t.txt: only white space, no words"),
        .file = {{"t.txt", " \n"
                           " \n"}}},
    {CASE("text shorter than a window", TEXT,
         "sweep.yaml:1:13: train_text: t.txt: 0 sequences of 64 tokens, fewer than one batch of 16"),
        .file = {{"t.txt", "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"}}},
    {CASE("lines fewer than a batch", TEXT "sequences: lines\n",
         "sweep.yaml:1:13: train_text: t.txt: 10 sequences of up to 64 tokens, fewer than one batch of 16"),
        .file = {{"t.txt", "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"
                           "a b c d\n"}}},
    {CASE("corpus_tokens too few", BASE "corpus_tokens: 100\n",
        "sweep.yaml:3:16: corpus_tokens: markov: 1 sequence of 64 tokens, fewer than one batch of 16")},
};

TEST(sweep_measures_refused)
{
    CHECK_REFUSED(rows);
}
