/* Refused sweep files: YAML, keys, values, --set, optimisers and schedules. */
#include "tests/driver/sweep/refused.h"
#include "tests/test.h"

#include "driver/sweep/sweep.h"
#include "driver/sweep/texts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

void check_refused(const struct refused *refused, size_t count)
{
    char folder[] = "/tmp/normsweep-refused-XXXXXX";
    int home = open(".", O_RDONLY | O_DIRECTORY);

    CHECK(home >= 0 && mkdtemp(folder) != NULL && chdir(folder) == 0);
    for (const struct refused *one = refused; one < refused + count; one++) {
        int failures = test_failures();
        write_file("sweep.yaml", one->text);
        for (int i = 0; i < 4 && one->file[i].name; i++)
            write_file(one->file[i].name, one->file[i].content);
        CHECK_TEXT(refusal(one), one->line);
        if (test_failures() > failures)
            printf("the sweep file: %s\n", one->name);
        for (int i = 0; i < 4 && one->file[i].name; i++)
            CHECK(unlink(one->file[i].name) == 0);
        CHECK(unlink("sweep.yaml") == 0);
    }
    CHECK(fchdir(home) == 0 && close(home) == 0);
    CHECK(rmdir(folder) == 0); /* nothing else was made */
}

static const struct refused rows[] = {
    ALONE("empty", "", "sweep.yaml:1:1: empty"),
    ALONE("comment only", "# nothing\n", "sweep.yaml:1:1: empty"),
    ALONE("null document", "---\n", "sweep.yaml:2:1: a sweep file holds lines of the form key: value"),
    ALONE("a list", "- a\n", "sweep.yaml:1:1: a sweep file holds lines of the form key: value"),
    ALONE("a word", "hello\n", "sweep.yaml:1:1: a sweep file holds lines of the form key: value"),
    ALONE("syntax",
        BASE "layers: [1, 2\n"
             "width: 3\n",
        "sweep.yaml:4:6: YAML: did not find expected ',' or ']', while parsing a flow sequence"),
    ALONE("tab", BASE "\tlayers: 1\n",
        "sweep.yaml:3:1: YAML: found a tab character that violates indentation, while scanning a plain "
        "scalar; a tab: indent with spaces"),
    ALONE("tab before a key",
        BASE "measure:\n"
             "\tevery: 2\n",
        "sweep.yaml:4:1: YAML: found character that cannot start any token, while scanning for the next "
        "token; a tab: indent with spaces"),
    ALONE("no space after a colon",
        BASE "layers:1\n"
             "width: 8\n",
        "sweep.yaml:4:1: YAML: could not find expected ':', while scanning a simple key; a space must follow "
        "':'"),
    ALONE("no space after the first colon",
        "layers:1\n"
        "corpus: markov\n"
        "steps: 10\n",
        "sweep.yaml:2:7: YAML: mapping values are not allowed in this context; a space must follow ':'"),
    ALONE("an indented key", BASE "  layers: 1\n",
        "sweep.yaml:3:9: YAML: mapping values are not allowed in this context; indented differently from the "
        "lines above?"),
    ALONE("a key that is not indented enough",
        BASE "measure:\n"
             "   every: 2\n"
             "  metrics: [norms]\n",
        "sweep.yaml:5:3: YAML: did not find expected key, while parsing a block mapping; indented "
        "differently from the lines above?"),
    ALONE("two colons", BASE "title: a: b\n",
        "sweep.yaml:3:9: YAML: mapping values are not allowed in this context"),
    ALONE("unclosed quote", BASE "title: \"abc\n",
        "sweep.yaml:4:1: YAML: found unexpected end of stream, while scanning a quoted scalar"),
    ALONE("several documents",
        BASE "---\n"
             "layers: 1\n",
        "sweep.yaml:3:1: several documents in one file"),
    ALONE("alias bomb",
        BASE "title: &a [x, x]\n"
             "skip: [*a, *a, *a]\n",
        "sweep.yaml:3:8: anchors and aliases are not supported; write the value out"),
    ALONE("alias", BASE "title: *a\n",
        "sweep.yaml:3:8: anchors and aliases are not supported; write the value out"),
    ALONE("tag", BASE "layers: !!int 3\n", "sweep.yaml:3:9: tags are not supported"),
    ALONE("not UTF-8", BASE "title: \377\376\n",
        "sweep.yaml:3:8: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8"),
    ALONE("half a character", BASE "title: \303\n",
        "sweep.yaml:3:8: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8"),
    ALONE("half a character at the end", BASE "title: \303",
        "sweep.yaml:3:8: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8"),
    ALONE("Latin-1 after UTF-8", BASE "title: \303\274 f\374r\n",
        "sweep.yaml:3:11: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8"),
    ALONE("Latin-1 in a comment", BASE "# gr\374\337e\n",
        "sweep.yaml:3:5: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8"),
    ALONE("a control character before Latin-1", BASE "title: a\001\374\n",
        "sweep.yaml:3:9: YAML: control characters are not allowed"),
    ALONE("UTF-8 with a mark",
        "\357\273\277corpus: markov\n"
        "stepz: 3\n",
        "sweep.yaml:2:1: unknown key 'stepz'; did you mean 'steps'?"),
    ALONE("UTF-8 with a mark, line 1",
        "\357\273\277corpuz: markov\n"
        "steps: 3\n",
        "sweep.yaml:1:1: unknown key 'corpuz'; did you mean 'corpus'?"),
    ALONE("a mark alone", "\357\273\277", "sweep.yaml:1:1: empty"),
    ALONE("escaped NUL", BASE "title: \"a\\0b\"\n", "sweep.yaml:3:8: a NUL byte in a text"),
    ALONE("control character", BASE "title: a\001b\n",
        "sweep.yaml:3:9: YAML: control characters are not allowed"),
    ALONE("too deep", BASE "skip: [[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]\n",
        "sweep.yaml:3:22: nested too deeply"),
    ALONE("key is a list",
        BASE "? [a, b]\n"
             ": 3\n",
        "sweep.yaml:3:3: a key must be a word"),
    ALONE("repeated key",
        BASE "layers: 1\n"
             "steps: 3\n",
        "sweep.yaml:4:1: repeated key 'steps'"),
    ALONE("repeated key of three",
        BASE "layers: 1\n"
             "corpus: dyck\n"
             "layers: 2\n",
        "sweep.yaml:4:1: repeated key 'corpus'"),
    ALONE("repeated together", TOGETHER "together: {a: {b: {bias: true}}}\n",
        "sweep.yaml:6:1: repeated key 'together'"),
    ALONE("repeated inner key", BASE "measure: {every: 1, every: 2}\n",
        "sweep.yaml:3:21: repeated key 'every'"),
    ALONE("unknown key", BASE "learning_rte: 0.1\n",
        "sweep.yaml:3:1: unknown key 'learning_rte'; did you mean 'learning_rate'?"),
    ALONE("unknown key far from all", BASE "spaceship: 1\n", "sweep.yaml:3:1: unknown key 'spaceship'"),
    ALONE("American spelling", BASE "optimizer: adam\n",
        "sweep.yaml:3:1: unknown key 'optimizer'; did you mean 'optimiser'?"),
    ALONE("swapped letters", BASE "sede: 1\n", "sweep.yaml:3:1: unknown key 'sede'; did you mean 'seed'?"),
    ALONE("half of a short word", BASE "clip: 1\n",
        "sweep.yaml:3:1: unknown key 'clip'; did you mean 'gradient_clip'?"),
    ALONE("another short word", BASE "sort: 1\n", "sweep.yaml:3:1: unknown key 'sort'"),
    ALONE("case", BASE "Layers: 1\n", "sweep.yaml:3:1: unknown key 'Layers'; did you mean 'layers'?"),
    ALONE("empty key", BASE ": 1\n",
        "sweep.yaml:3:1: YAML: did not find expected key, while parsing a block mapping"),
    ALONE("long key",
        BASE "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
             "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
             "kkkkkkkkkk: 1\n",
        "sweep.yaml:3:1: unknown key 'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk...'"),
    ALONE("key with line break", BASE "\"a\\nb\\e[31m\": 1\n", "sweep.yaml:3:1: unknown key 'a?b?[31m'"),
    ALONE("merge key", BASE "<<: {a: 1}\n", "sweep.yaml:3:1: unknown key '<<'"),
    ALONE("below",
        BASE "learning_rate: 0.1\n"
             "weight_decay: -0.1\n",
        "sweep.yaml:4:15: weight_decay: -0.1 is below 0"),
    ALONE("below in a list", BASE "weight_decay: [0.1, -0.1]\n",
        "sweep.yaml:3:21: weight_decay: -0.1 is below 0"),
    ALONE("not above", BASE "learning_rate: 0\n", "sweep.yaml:3:16: learning_rate: 0 is not above 0"),
    ALONE("above", BASE "threads: 100000\n", "sweep.yaml:3:10: threads: 100000 is above 1024"),
    ALONE("not below", BASE "beta2: 1\n", "sweep.yaml:3:8: beta2: 1 is not below 1"),
    ALONE("zero layers", BASE "layers: 0\n", "sweep.yaml:3:9: layers: 0 is below 1"),
    ALONE("negative batch", BASE "batch: -1\n", "sweep.yaml:3:8: batch: -1 is below 1"),
    ALONE("NaN", BASE "learning_rate: .nan\n", "sweep.yaml:3:16: learning_rate: .nan is not finite"),
    ALONE("nan", BASE "learning_rate: nan\n", "sweep.yaml:3:16: learning_rate: nan is not finite"),
    ALONE("infinity", BASE "weight_decay: .inf\n", "sweep.yaml:3:15: weight_decay: .inf is not finite"),
    ALONE(
        "minus infinity", BASE "weight_decay: -.INF\n", "sweep.yaml:3:15: weight_decay: -.INF is not finite"),
    ALONE("infinity in a list", BASE "weight_decay: [0.1, Infinity]\n",
        "sweep.yaml:3:21: weight_decay: Infinity is not finite"),
    ALONE("NaN in log", BASE "weight_decay: {log: [.nan, 1], points: 3}\n",
        "sweep.yaml:3:22: weight_decay: .nan is not finite"),
    ALONE("overflow", BASE "weight_decay: 1e400\n", "sweep.yaml:3:15: weight_decay: 1e400 is too large"),
    ALONE("underflow", BASE "weight_decay: 1e-400\n",
        "sweep.yaml:3:15: weight_decay: 1e-400 is too close to 0"),
    ALONE("no number", BASE "weight_decay: much\n", "sweep.yaml:3:15: weight_decay: 'much' is not a number"),
    ALONE("hexadecimal", BASE "weight_decay: 0x1p3\n",
        "sweep.yaml:3:15: weight_decay: '0x1p3' is not a number"),
    ALONE("comma", BASE "weight_decay: 0,1\n", "sweep.yaml:3:15: weight_decay: '0,1' is not a number"),
    ALONE("list without brackets", BASE "weight_decay: 1e-3, 1e-2\n",
        "sweep.yaml:3:15: weight_decay: '1e-3, 1e-2' is not a number; write a list: [1e-3, 1e-2]"),
    ALONE("integers without brackets", BASE "seed: 1,2,3\n",
        "sweep.yaml:3:7: seed: '1,2,3' is not an integer; write a list: [1,2,3]"),
    ALONE("words with a comma", BASE "weight_decay: 1, a\n",
        "sweep.yaml:3:15: weight_decay: '1, a' is not a number"),
    ALONE(
        "empty item", BASE "weight_decay: 1, ,2\n", "sweep.yaml:3:15: weight_decay: '1, ,2' is not a number"),
    ALONE("trailing letters", BASE "weight_decay: 0.1f\n",
        "sweep.yaml:3:15: weight_decay: '0.1f' is not a number"),
    ALONE("underscore", BASE "batch: 1_000\n", "sweep.yaml:3:8: batch: '1_000' is not an integer"),
    ALONE("octal", BASE "seed: 010\n", "sweep.yaml:3:7: seed: '010' is not an integer"),
    ALONE("sexagesimal", BASE "seed: 1:30\n", "sweep.yaml:3:7: seed: '1:30' is not an integer"),
    ALONE("quoted number", BASE "weight_decay: \"0.1\"\n",
        "sweep.yaml:3:15: weight_decay: '0.1' is a text; write a number without quotes"),
    ALONE("fraction", BASE "layers: 2.5\n", "sweep.yaml:3:9: layers: 2.5 is not an integer"),
    ALONE("integer too large", BASE "seed: 9223372036854775808\n",
        "sweep.yaml:3:7: seed: 9223372036854775808 is too large for 64 bits"),
    ALONE("integer inexact", BASE "seed: 1e17\n", "sweep.yaml:3:7: seed: 1e17 is not an integer"),
    ALONE("no value", BASE "learning_rate:\n", "sweep.yaml:3:15: learning_rate: no value"),
    ALONE("null", BASE "learning_rate: null\n", "sweep.yaml:3:16: learning_rate: no value"),
    ALONE("tilde", BASE "title: ~\n", "sweep.yaml:3:8: title: no value"),
    ALONE("unknown word", BASE "norm_placement: pree\n",
        "sweep.yaml:3:17: norm_placement: 'pree' is not one of post, pre, out"),
    ALONE("unknown corpus",
        "corpus: wiki\n"
        "steps: 1\n",
        "sweep.yaml:1:9: corpus: 'wiki' is not one of text, bytes, markov, dyck, counter, tokens, pairs, "
        "modular"),
    ALONE("no boolean", BASE "bias: yes\n", "sweep.yaml:3:7: bias: 'yes' is neither true nor false"),
    ALONE("one as a boolean", BASE "bias: 1\n", "sweep.yaml:3:7: bias: '1' is neither true nor false"),
    ALONE("a list for a text", BASE "title: [a]\n", "sweep.yaml:3:8: title: takes one value, not a list"),
    ALONE("a list for a single value",
        "corpus: [markov, dyck]\n"
        "steps: 1\n",
        "sweep.yaml:1:9: corpus: takes one value, not a list"),
    ALONE("no state with epochs",
        "corpus: markov\n"
        "epochs: 1\n"
        "save_weights: state\n",
        "sweep.yaml:3:15: save_weights: state keeps no more than true: no cell has steps, and a rate that at "
        "first does not depend on them"),
    ALONE("no state with linear",
        BASE "schedule: linear\n"
             "save_weights: state\n",
        "sweep.yaml:4:15: save_weights: state keeps no more than true: no cell has steps, and a rate that at "
        "first does not depend on them"),
    ALONE("no state with cosine",
        BASE "schedule: [linear, cosine]\n"
             "save_weights: state\n",
        "sweep.yaml:4:15: save_weights: state keeps no more than true: no cell has steps, and a rate that at "
        "first does not depend on them"),
    ALONE("no state with a long decay",
        BASE "schedule: wsd\n"
             "schedule_decay: 1\n"
             "save_weights: state\n",
        "sweep.yaml:5:15: save_weights: state keeps no more than true: no cell has steps, and a rate that at "
        "first does not depend on them"),
    ALONE("no state of runs that end early",
        BASE "stop_when: phase\n"
             "save_weights: state\n",
        "sweep.yaml:4:15: save_weights: state keeps no more than true: every cell has stop_when phase, with "
        "which steps cannot grow"),
    ALONE("no state of the only runs that do not end early",
        BASE "schedule: [constant, linear]\n"
             "stop_when: [never, phase]\n"
             "skip: [{schedule: constant, stop_when: never}]\n"
             "save_weights: state\n",
        "sweep.yaml:6:15: save_weights: state keeps no more than true: no cell has steps, and a rate that at "
        "first does not depend on them"),
    ALONE("a start without a falling rate",
        BASE "schedule: [constant, wsd]\n"
             "schedule_start: 5\n",
        "sweep.yaml:4:17: schedule_start: has no effect: no cell has schedule linear, cosine or "
        "inverse_sqrt"),
    ALONE("a word that is not a boolean", BASE "save_weights: Yes\n",
        "sweep.yaml:3:15: save_weights: 'Yes' is not one of false, true, state"),
    ALONE("a boolean that is not a word", BASE "schedule: True\n",
        "sweep.yaml:3:11: schedule: 'True' is not one of constant, linear, inverse_sqrt, cosine, wsd"),
    ALONE("a list for save_weights", BASE "save_weights: [true, false]\n",
        "sweep.yaml:3:15: save_weights: takes one value, not a list"),
    ALONE("a rule for a single value", BASE "corpus_seed: {range: [0, 2]}\n",
        "sweep.yaml:3:14: corpus_seed: takes one value, not a list"),
    ALONE(
        "a list in a list", BASE "seed: [1, [2, 3]]\n", "sweep.yaml:3:11: seed: takes one value, not a list"),
    ALONE("a map in a list", BASE "seed: [1, {range: [2, 3]}]\n",
        "sweep.yaml:3:11: seed: takes one value, not a mapping"),
    ALONE("empty output", BASE "output: \"\"\n", "sweep.yaml:3:9: output: an empty path"),
    ALONE("checkpoint_minutes", BASE "checkpoint_minutes: 0\n",
        "sweep.yaml:3:21: checkpoint_minutes: 0 is not above 0"),
    SETTING("set: unknown key", BASE, "--set: unknown key 'learning_rte'; did you mean 'learning_rate'?",
        "learning_rte=0.1"),
    SETTING("set: no equals", BASE, "--set learning_rate: takes key=value", "learning_rate"),
    SETTING("set: out of bounds", BASE, "--set weight_decay: -0.1 is below 0", "weight_decay=-0.1"),
    SETTING("set: out of bounds in a list", BASE, "--set weight_decay: -0.1 is below 0",
        "weight_decay=[0.1, -0.1]"),
    SETTING("set: no YAML", BASE,
        "--set weight_decay: YAML: did not find expected ',' or ']', while parsing a flow sequence",
        "weight_decay=[0.1"),
    SETTING("set: empty key", BASE, "--set: unknown key ''", "=3"),
    SETTING("set: removed unknown key", BASE, "--set: unknown key 'stps'; did you mean 'steps'?", "stps="),
    SETTING("set: removed steps", BASE,
        "--set steps: give either epochs or steps, at least 1, and set the other to 0", "steps=null"),
    SETTING("set: removed text",
        "corpus: text\n"
        "train_text: a.txt\n"
        "steps: 10\n",
        "--set train_text: missing; corpus text needs one", "train_text=null"),
    SETTING("set: alias", BASE,
        "--set weight_decay: anchors and aliases are not supported; write the value out", "weight_decay=*a"),
    SETTING("set: documents", BASE, "--set weight_decay: several documents in one file",
        "weight_decay=1\n"
        "---\n"
        "2"),
    SETTING("set: missing text", "steps: 10\n", "--set train_text: none.txt: No such file or directory",
        "train_text=none.txt"),
    SETTING("set: heads", BASE "width: 66\n", "--set heads: 5 does not divide width 66", "heads=5"),
    SETTING(
        "set: in together too", TOGETHER, "--set heads: given both in together and on its own", "heads=2"),
    ALONE("rule of decay with adam",
        BASE "optimiser: [adamw, adam]\n"
             "decay_rule: [scaled, corrected]\n",
        "sweep.yaml:4:22: decay_rule: the decay of adam passes through its moments, where rule corrected has "
        "no meaning; adamw has all rules"),
    ALONE("cautious decay with adam",
        BASE "optimiser: adam\n"
             "decay_rule: cautious\n",
        "sweep.yaml:4:13: decay_rule: the decay of adam passes through its moments, where rule cautious has "
        "no meaning; adamw has all rules"),
    ALONE("cautious decay with sgd",
        BASE "optimiser: sgd\n"
             "decay_rule: cautious\n",
        "sweep.yaml:4:13: decay_rule: cautious needs an optimiser that decays the weights directly; sgd adds "
        "the decay to the gradient"),
    ALONE("cautious decay as a factor",
        BASE "decay: factor\n"
             "decay_rule: cautious\n",
        "sweep.yaml:4:13: decay_rule: cautious chooses weight by weight; decay factor multiplies all of "
        "them"),
    ALONE("norms that stay at 0",
        BASE "zero_query_key: [false, true]\n"
             "fixed_norm: true\n",
        "sweep.yaml:4:13: fixed_norm: with zero_query_key, queries and keys start with norm 0, and would "
        "keep it; leave one of the two out"),
    ALONE("norms that stay at 0 in a cell",
        BASE "zero_query_key: true\n"
             "fixed_norm: [false, true]\n",
        "sweep.yaml:4:21: fixed_norm: with zero_query_key, queries and keys start with norm 0, and would "
        "keep it; leave one of the two out"),
};

TEST(sweep_files_refused)
{
    CHECK_REFUSED(rows);
}
