/* Refused sweep files: corpora, and what an objective needs of them. */
#include "tests/driver/sweep/refused.h"
#include "tests/test.h"

#define TOKENS                                                                                               \
    "corpus: tokens\n"                                                                                       \
    "vocabulary: 100\n"                                                                                      \
    "steps: 1\n"                                                                                             \
    "train_text: t.bin\n"
#define PAIRS                                                                                                \
    "corpus: pairs\n"                                                                                        \
    "network: encoder_decoder\n"                                                                             \
    "steps: 1\n"                                                                                             \
    "batch: 2\n"                                                                                             \
    "train_text: [s, t]\n"
#define MODULAR                                                                                              \
    "corpus: modular\n"                                                                                      \
    "steps: 1\n"
#define TEXT                                                                                                 \
    "corpus: bytes\n"                                                                                        \
    "train_text: t.txt\n"                                                                                    \
    "steps: 1\n"

static const struct refused rows[] = {
    {CASE("one byte", TOKENS,
         "sweep.yaml:4:13: train_text: t.bin: an odd number of bytes, 1; write the tokens as uint16"),
        .file = {{"t.bin", "a"}}},
    {CASE("no tokens", TOKENS, "sweep.yaml:4:13: train_text: t.bin: empty"), .file = {{"t.bin", ""}}},
    {CASE("tokens: no vocabulary",
        "corpus: tokens\n"
        "steps: 1\n"
        "train_text: t.bin\n",
        "sweep.yaml:1:9: vocabulary: missing; corpus tokens needs the number of its tokenizer's words, 50257 "
        "for GPT-2's")},
    {CASE("tokens: lines", TOKENS "sequences: lines\n",
        "sweep.yaml:5:12: sequences: corpus tokens has stream alone: a file of tokens does not say where "
        "lines end")},
    {CASE("tokens: lines on an axis", TOKENS "sequences: [stream, lines]\n",
        "sweep.yaml:5:21: sequences: corpus tokens has stream alone: a file of tokens does not say where "
        "lines end")},
    {CASE("tokens: corpus_seed", TOKENS "corpus_seed: 1\n",
        "sweep.yaml:5:14: corpus_seed: corpus tokens does not use it")},
    {CASE("tokens: a list of texts",
        "corpus: tokens\n"
        "vocabulary: 100\n"
        "steps: 1\n"
        "train_text: [a, b]\n",
        "sweep.yaml:4:13: train_text: corpus tokens takes one path, not a list")},
    {CASE("text: a list of texts",
        "steps: 1\n"
        "train_text: [a, b]\n",
        "sweep.yaml:2:13: train_text: corpus text takes one path, not a list")},
    {CASE("text: a list of validation texts",
        "steps: 1\n"
        "train_text: a\n"
        "valid_text: [a, b]\n",
        "sweep.yaml:3:13: valid_text: corpus text takes one path, not a list")},
    {CASE("pairs: one path",
        "corpus: pairs\n"
        "network: encoder_decoder\n"
        "steps: 1\n"
        "train_text: a\n",
        "sweep.yaml:4:13: train_text: corpus pairs takes two paths, [source, target]")},
    {CASE("pairs: one path for validation", PAIRS "valid_text: a\n",
        "sweep.yaml:6:13: valid_text: corpus pairs takes two paths, [source, target]")},
    {CASE("pairs: one path by --set", PAIRS,
         "--set train_text: corpus pairs takes two paths, [source, target]"),
        .setting = {"train_text=t"}},
    {CASE("pairs: three paths",
        "corpus: pairs\n"
        "steps: 1\n"
        "train_text: [a, b, c]\n",
        "sweep.yaml:3:13: train_text: takes one path or, for corpus pairs, two: [source, target]")},
    {CASE("pairs: an empty path",
        "corpus: pairs\n"
        "steps: 1\n"
        "train_text: [a, '']\n",
        "sweep.yaml:3:17: train_text: an empty path")},
    {CASE("pairs: a range",
        "corpus: pairs\n"
        "steps: 1\n"
        "train_text: {range: [1, 2]}\n",
        "sweep.yaml:3:13: train_text: takes one value, not a mapping")},
    {CASE("pairs: no text",
        "corpus: pairs\n"
        "steps: 1\n",
        "sweep.yaml:1:9: train_text: missing; corpus pairs needs [source, target]")},
    {CASE("pairs: no such source", PAIRS, "sweep.yaml:5:13: train_text: s: No such file or directory")},
    {CASE("pairs: no such target", PAIRS, "sweep.yaml:5:13: train_text: t: No such file or directory"),
        .file = {{"s", "ein haus\n"
                       "zwei\n"
                       "drei\n"}}},
    {CASE("pairs: other numbers of lines", PAIRS,
         "sweep.yaml:5:13: train_text: t: 3 lines, but s has 4; line n of one translates line n of the "
         "other"),
        .file = {{"s", "ein haus\n"
                       "zwei\n"
                       "drei\n"
                       "vier\n"},
            {"t", "a house\n"
                  "two\n"
                  "three\n"}}},
    {CASE("pairs: other numbers of validation lines", PAIRS "valid_text: [t, s]\n",
         "--set valid_text: v: 1 line, but s has 3; line n of one translates line n of the other"),
        .setting = {"valid_text=[s, v]"},
        .file = {{"s", "ein haus\n"
                       "zwei\n"
                       "drei\n"},
            {"t", "a house\n"
                  "two\n"
                  "three\n"},
            {"v", "two\n"}}},
    {CASE("pairs: a word outside the vocabulary", PAIRS "valid_text: [s, v]\n",
         "sweep.yaml:6:13: valid_text: v:2: 'tow' is not in the training text, which has no <unk>; set "
         "min_count: 2 to make rare words <unk>"),
        .file = {{"s", "ein haus\n"
                       "zwei\n"
                       "drei\n"},
            {"t", "a house\n"
                  "two\n"
                  "three\n"},
            {"v", "two\n"
                  "tow\n"
                  "three\n"}}},
    {CASE("pairs: all words are rare", PAIRS "min_count: 3\n",
         "sweep.yaml:6:12: min_count: 3 leaves no word but <unk>; the training text has no other more than 2 "
         "times"),
        .file = {{"s", "ein haus\n"
                       "zwei\n"
                       "drei\n"},
            {"t", "a house\n"
                  "zwei two\n"
                  "three\n"}}},
    {CASE("pairs: counts on an axis", PAIRS "min_count: [1, 2]\n",
        "sweep.yaml:6:12: min_count: takes one value, not a list")},
    {CASE("pairs: a count of 0", PAIRS "min_count: 0\n", "sweep.yaml:6:12: min_count: 0 is below 1")},
    {CASE("tokens: min_count", TOKENS "min_count: 2\n",
        "sweep.yaml:5:12: min_count: corpus tokens does not use it")},
    {CASE("pairs: fewer than a batch",
         "corpus: pairs\n"
         "network: encoder_decoder\n"
         "steps: 1\n"
         "batch: 3\n"
         "train_text: [s, t]\n",
         "sweep.yaml:5:13: train_text: t: 2 pairs, fewer than one batch of 3"),
        .file = {{"s", "ein haus\n"
                       "zwei\n"
                       "drei\n"},
            {"t", "a house\n"
                  " \n"
                  "three\n"}}},
    {CASE("pairs: none to validate", PAIRS "valid_text: [s, v]\n",
         "sweep.yaml:6:13: valid_text: v: only white space, no words"),
        .file = {{"s", "ein haus\n"
                       "zwei\n"
                       "drei\n"},
            {"t", "a house\n"
                  "two\n"
                  "three\n"},
            {"v", "\n"
                  "\n"
                  "\n"}}},
    {CASE("pairs: sequences", PAIRS "sequences: lines\n",
        "sweep.yaml:6:12: sequences: corpus pairs does not use it")},
    {CASE("pairs: a decoder",
        "corpus: pairs\n"
        "steps: 1\n"
        "batch: 2\n"
        "train_text: [s, t]\n",
        "sweep.yaml:1:9: network: corpus pairs needs encoder_decoder")},
    {CASE("pairs: masked", PAIRS "objective: masked\n",
        "sweep.yaml:6:12: objective: corpus pairs has next alone")},
    {CASE("modular: one number", MODULAR "vocabulary: 2\n",
        "sweep.yaml:3:13: vocabulary: 2 is below 3: modular has p numbers and '=', and p is at least 2")},
    {CASE("modular: too many sums", MODULAR "vocabulary: 5000\n",
        "sweep.yaml:3:13: vocabulary: 5000 is above 4097: modular has p numbers and '=', and holds all p^2 "
        "sums")},
    {CASE("modular: context", MODULAR "context: 2\n",
        "sweep.yaml:3:10: context: 2 is below 3, the tokens of a sum: a, b and =")},
    {CASE("modular: sequences", MODULAR "sequences: lines\n",
        "sweep.yaml:3:12: sequences: corpus modular does not use it")},
    {CASE("modular: corpus_tokens", MODULAR "corpus_tokens: 9\n",
        "sweep.yaml:3:16: corpus_tokens: corpus modular does not use it")},
    {CASE("modular: train_text", MODULAR "train_text: t\n",
        "sweep.yaml:3:13: train_text: corpus modular does not use it")},
    {CASE("modular: a share of 1", MODULAR "train_share: 1\n",
        "sweep.yaml:3:14: train_share: 1 is not below 1")},
    {CASE("modular: shares on an axis", MODULAR "train_share: [0.3, 0.5]\n",
        "sweep.yaml:3:14: train_share: takes one value, not a list")},
    {CASE("modular: fewer than a batch",
        MODULAR "vocabulary: 8\n"
                "train_share: 0.1\n",
        "sweep.yaml:4:14: train_share: modular: 5 sums, fewer than one batch of 16")},
    {CASE("train_share with text", TEXT "train_share: 0.5\n",
        "sweep.yaml:4:14: train_share: corpus bytes does not use it")},
    {CASE("spans of a context of 2",
        TEXT "network: encoder_decoder\n"
             "objective: spans\n"
             "context: 2\n",
        "sweep.yaml:6:10: context: 2 is below 3, which a span takes: its sentinel, a token and <eos>")},
    {CASE("spans with a decoder", TEXT "objective: spans\n",
        "sweep.yaml:4:12: objective: spans needs network encoder_decoder, not decoder")},
    {CASE("decoder layers of a decoder", TEXT "decoder_layers: [0, 3]\n",
        "sweep.yaml:4:17: decoder_layers: has no effect: no cell has network encoder_decoder")},
    {CASE("deviation of another init", TEXT "init_deviation: 0.1\n",
        "sweep.yaml:4:17: init_deviation: has no effect: no cell has init normal")},
    {CASE("base width without mup", TEXT "base_width: 32\n",
        "sweep.yaml:4:13: base_width: has no effect: no cell has parametrization mup")},
    {CASE("mup without a base width", TEXT "parametrization: [standard, mup]\n",
        "sweep.yaml:4:29: base_width: missing; parametrization mup needs the width at which it changes no "
        "rate")},
    {CASE("mup of unscaled scores",
        TEXT "parametrization: mup\n"
             "base_width: 32\n"
             "score_scale: none\n",
        "sweep.yaml:6:14: score_scale: parametrization mup divides scores by the width of a head; none does "
        "not go with it")},
    {CASE("mup with sgd",
        TEXT "parametrization: mup\n"
             "base_width: 32\n"
             "optimiser: [adamw, sgd]\n",
        "sweep.yaml:6:20: optimiser: parametrization mup has rates for adamw, adam and lion alone; those of "
        "sgd depend on width otherwise")},
    {CASE("mup with muon",
        TEXT "parametrization: mup\n"
             "base_width: 32\n"
             "optimiser: muon\n",
        "sweep.yaml:6:12: optimiser: parametrization mup has rates for adamw, adam and lion alone; those of "
        "muon depend on width otherwise")},
    {CASE("z_loss below 0", TEXT "z_loss: -1\n", "sweep.yaml:4:9: z_loss: -1 is below 0")},
    {CASE("masked with a decoder", TEXT "objective: masked\n",
        "sweep.yaml:4:12: objective: masked needs network encoder, not decoder")},
};

TEST(sweep_corpora_refused)
{
    CHECK_REFUSED(rows);
}
