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
    {CASE("empty", "", "sweep.yaml:1:1: empty")},
    {CASE("comment only", "# nothing\n", "sweep.yaml:1:1: empty")},
    {CASE("null document", "---\n", "sweep.yaml:2:1: a sweep file holds lines of the form key: value")},
    {CASE("a list", "- a\n", "sweep.yaml:1:1: a sweep file holds lines of the form key: value")},
    {CASE("a word", "hello\n", "sweep.yaml:1:1: a sweep file holds lines of the form key: value")},
    {CASE("syntax",
        BASE "layers: [1, 2\n"
             "width: 3\n",
        "sweep.yaml:4:6: YAML: did not find expected ',' or ']', while parsing a flow sequence")},
    {CASE("tab", BASE "\tlayers: 1\n",
        "sweep.yaml:3:1: YAML: found a tab character that violates indentation, while scanning a plain "
        "scalar; a tab: indent with spaces")},
    {CASE("tab before a key",
        BASE "measure:\n"
             "\tevery: 2\n",
        "sweep.yaml:4:1: YAML: found character that cannot start any token, while scanning for the next "
        "token; a tab: indent with spaces")},
    {CASE("no space after a colon",
        BASE "layers:1\n"
             "width: 8\n",
        "sweep.yaml:4:1: YAML: could not find expected ':', while scanning a simple key; a space must follow "
        "':'")},
    {CASE("no space after the first colon",
        "layers:1\n"
        "corpus: markov\n"
        "steps: 10\n",
        "sweep.yaml:2:7: YAML: mapping values are not allowed in this context; a space must follow ':'")},
    {CASE("an indented key", BASE "  layers: 1\n",
        "sweep.yaml:3:9: YAML: mapping values are not allowed in this context; indented differently from the "
        "lines above?")},
    {CASE("a key that is not indented enough",
        BASE "measure:\n"
             "   every: 2\n"
             "  metrics: [norms]\n",
        "sweep.yaml:5:3: YAML: did not find expected key, while parsing a block mapping; indented "
        "differently from the lines above?")},
    {CASE("two colons", BASE "title: a: b\n",
        "sweep.yaml:3:9: YAML: mapping values are not allowed in this context")},
    {CASE("unclosed quote", BASE "title: \"abc\n",
        "sweep.yaml:4:1: YAML: found unexpected end of stream, while scanning a quoted scalar")},
    {CASE("several documents",
        BASE "---\n"
             "layers: 1\n",
        "sweep.yaml:3:1: several documents in one file")},
    {CASE("alias bomb",
        BASE "title: &a [x, x]\n"
             "skip: [*a, *a, *a]\n",
        "sweep.yaml:3:8: anchors and aliases are not supported; write the value out")},
    {CASE("alias", BASE "title: *a\n",
        "sweep.yaml:3:8: anchors and aliases are not supported; write the value out")},
    {CASE("tag", BASE "layers: !!int 3\n", "sweep.yaml:3:9: tags are not supported")},
    {CASE("not UTF-8", BASE "title: \377\376\n",
        "sweep.yaml:3:8: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8")},
    {CASE("half a character", BASE "title: \303\n",
        "sweep.yaml:3:8: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8")},
    {CASE("half a character at the end", BASE "title: \303",
        "sweep.yaml:3:8: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8")},
    {CASE("Latin-1 after UTF-8", BASE "title: \303\274 f\374r\n",
        "sweep.yaml:3:11: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8")},
    {CASE("Latin-1 in a comment", BASE "# gr\374\337e\n",
        "sweep.yaml:3:5: is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8")},
    {CASE("a control character before Latin-1", BASE "title: a\001\374\n",
        "sweep.yaml:3:9: YAML: control characters are not allowed")},
    {CASE("UTF-8 with a mark",
        "\357\273\277corpus: markov\n"
        "stepz: 3\n",
        "sweep.yaml:2:1: unknown key 'stepz'; did you mean 'steps'?")},
    {CASE("UTF-8 with a mark, line 1",
        "\357\273\277corpuz: markov\n"
        "steps: 3\n",
        "sweep.yaml:1:1: unknown key 'corpuz'; did you mean 'corpus'?")},
    {CASE("a mark alone", "\357\273\277", "sweep.yaml:1:1: empty")},
    {CASE("escaped NUL", BASE "title: \"a\\0b\"\n", "sweep.yaml:3:8: a NUL byte in a text")},
    {CASE("control character", BASE "title: a\001b\n",
        "sweep.yaml:3:9: YAML: control characters are not allowed")},
    {CASE("too deep", BASE "skip: [[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]\n",
        "sweep.yaml:3:22: nested too deeply")},
    {CASE("key is a list",
        BASE "? [a, b]\n"
             ": 3\n",
        "sweep.yaml:3:3: a key must be a word")},
    {CASE("repeated key",
        BASE "layers: 1\n"
             "steps: 3\n",
        "sweep.yaml:4:1: repeated key 'steps'")},
    {CASE("repeated key of three",
        BASE "layers: 1\n"
             "corpus: dyck\n"
             "layers: 2\n",
        "sweep.yaml:4:1: repeated key 'corpus'")},
    {CASE("repeated together", TOGETHER "together: {a: {b: {bias: true}}}\n",
        "sweep.yaml:6:1: repeated key 'together'")},
    {CASE("repeated inner key", BASE "measure: {every: 1, every: 2}\n",
        "sweep.yaml:3:21: repeated key 'every'")},
    {CASE("unknown key", BASE "learning_rte: 0.1\n",
        "sweep.yaml:3:1: unknown key 'learning_rte'; did you mean 'learning_rate'?")},
    {CASE("unknown key far from all", BASE "spaceship: 1\n", "sweep.yaml:3:1: unknown key 'spaceship'")},
    {CASE("American spelling", BASE "optimizer: adam\n",
        "sweep.yaml:3:1: unknown key 'optimizer'; did you mean 'optimiser'?")},
    {CASE("swapped letters", BASE "sede: 1\n", "sweep.yaml:3:1: unknown key 'sede'; did you mean 'seed'?")},
    {CASE("half of a short word", BASE "clip: 1\n",
        "sweep.yaml:3:1: unknown key 'clip'; did you mean 'gradient_clip'?")},
    {CASE("another short word", BASE "sort: 1\n", "sweep.yaml:3:1: unknown key 'sort'")},
    {CASE("case", BASE "Layers: 1\n", "sweep.yaml:3:1: unknown key 'Layers'; did you mean 'layers'?")},
    {CASE("empty key", BASE ": 1\n",
        "sweep.yaml:3:1: YAML: did not find expected key, while parsing a block mapping")},
    {CASE("long key",
        BASE "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
             "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
             "kkkkkkkkkk: 1\n",
        "sweep.yaml:3:1: unknown key 'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk...'")},
    {CASE(
        "key with line break", BASE "\"a\\nb\\e[31m\": 1\n", "sweep.yaml:3:1: unknown key 'a\\nb\\x1b[31m'")},
    {CASE("merge key", BASE "<<: {a: 1}\n", "sweep.yaml:3:1: unknown key '<<'")},
    {CASE("below",
        BASE "learning_rate: 0.1\n"
             "weight_decay: -0.1\n",
        "sweep.yaml:4:15: weight_decay: -0.1 is below 0")},
    {CASE("below in a list", BASE "weight_decay: [0.1, -0.1]\n",
        "sweep.yaml:3:21: weight_decay: -0.1 is below 0")},
    {CASE("not above", BASE "learning_rate: 0\n", "sweep.yaml:3:16: learning_rate: 0 is not above 0")},
    {CASE("above", BASE "threads: 100000\n", "sweep.yaml:3:10: threads: 100000 is above 1024")},
    {CASE("not below", BASE "beta2: 1\n", "sweep.yaml:3:8: beta2: 1 is not below 1")},
    {CASE("zero layers", BASE "layers: 0\n", "sweep.yaml:3:9: layers: 0 is below 1")},
    {CASE("negative batch", BASE "batch: -1\n", "sweep.yaml:3:8: batch: -1 is below 1")},
    {CASE("NaN", BASE "learning_rate: .nan\n", "sweep.yaml:3:16: learning_rate: .nan is not finite")},
    {CASE("nan", BASE "learning_rate: nan\n", "sweep.yaml:3:16: learning_rate: nan is not finite")},
    {CASE("infinity", BASE "weight_decay: .inf\n", "sweep.yaml:3:15: weight_decay: .inf is not finite")},
    {CASE("minus infinity", BASE "weight_decay: -.INF\n",
        "sweep.yaml:3:15: weight_decay: -.INF is not finite")},
    {CASE("infinity in a list", BASE "weight_decay: [0.1, Infinity]\n",
        "sweep.yaml:3:21: weight_decay: Infinity is not finite")},
    {CASE("NaN in log", BASE "weight_decay: {log: [.nan, 1], points: 3}\n",
        "sweep.yaml:3:22: weight_decay: .nan is not finite")},
    {CASE("overflow", BASE "weight_decay: 1e400\n", "sweep.yaml:3:15: weight_decay: 1e400 is too large")},
    {CASE("underflow", BASE "weight_decay: 1e-400\n",
        "sweep.yaml:3:15: weight_decay: 1e-400 is too close to 0")},
    {CASE("no number", BASE "weight_decay: much\n", "sweep.yaml:3:15: weight_decay: 'much' is not a number")},
    {CASE("hexadecimal", BASE "weight_decay: 0x1p3\n",
        "sweep.yaml:3:15: weight_decay: '0x1p3' is not a number")},
    {CASE("comma", BASE "weight_decay: 0,1\n", "sweep.yaml:3:15: weight_decay: '0,1' is not a number")},
    {CASE("list without brackets", BASE "weight_decay: 1e-3, 1e-2\n",
        "sweep.yaml:3:15: weight_decay: '1e-3, 1e-2' is not a number; write a list: [1e-3, 1e-2]")},
    {CASE("integers without brackets", BASE "seed: 1,2,3\n",
        "sweep.yaml:3:7: seed: '1,2,3' is not an integer; write a list: [1,2,3]")},
    {CASE("words with a comma", BASE "weight_decay: 1, a\n",
        "sweep.yaml:3:15: weight_decay: '1, a' is not a number")},
    {CASE("empty item", BASE "weight_decay: 1, ,2\n",
        "sweep.yaml:3:15: weight_decay: '1, ,2' is not a number")},
    {CASE("trailing letters", BASE "weight_decay: 0.1f\n",
        "sweep.yaml:3:15: weight_decay: '0.1f' is not a number")},
    {CASE("underscore", BASE "batch: 1_000\n", "sweep.yaml:3:8: batch: '1_000' is not an integer")},
    {CASE("octal", BASE "seed: 010\n", "sweep.yaml:3:7: seed: '010' is not an integer")},
    {CASE("sexagesimal", BASE "seed: 1:30\n", "sweep.yaml:3:7: seed: '1:30' is not an integer")},
    {CASE("quoted number", BASE "weight_decay: \"0.1\"\n",
        "sweep.yaml:3:15: weight_decay: '0.1' is a text; write a number without quotes")},
    {CASE("fraction", BASE "layers: 2.5\n", "sweep.yaml:3:9: layers: 2.5 is not an integer")},
    {CASE("integer too large", BASE "seed: 9223372036854775808\n",
        "sweep.yaml:3:7: seed: 9223372036854775808 is too large for 64 bits")},
    {CASE("integer inexact", BASE "seed: 1e17\n", "sweep.yaml:3:7: seed: 1e17 is not an integer")},
    {CASE("no value", BASE "learning_rate:\n", "sweep.yaml:3:15: learning_rate: no value")},
    {CASE("null", BASE "learning_rate: null\n", "sweep.yaml:3:16: learning_rate: no value")},
    {CASE("tilde", BASE "title: ~\n", "sweep.yaml:3:8: title: no value")},
    {CASE("unknown word", BASE "norm_placement: pree\n",
        "sweep.yaml:3:17: norm_placement: 'pree' is not one of post, pre, out")},
    {CASE("unknown corpus",
        "corpus: wiki\n"
        "steps: 1\n",
        "sweep.yaml:1:9: corpus: 'wiki' is not one of text, bytes, markov, dyck, counter, tokens, pairs, "
        "modular")},
    {CASE("no boolean", BASE "bias: yes\n", "sweep.yaml:3:7: bias: 'yes' is neither true nor false")},
    {CASE("one as a boolean", BASE "bias: 1\n", "sweep.yaml:3:7: bias: '1' is neither true nor false")},
    {CASE("a list for a text", BASE "title: [a]\n", "sweep.yaml:3:8: title: takes one value, not a list")},
    {CASE("a list for a single value",
        "corpus: [markov, dyck]\n"
        "steps: 1\n",
        "sweep.yaml:1:9: corpus: takes one value, not a list")},
    {CASE("no state with epochs",
        "corpus: markov\n"
        "epochs: 1\n"
        "save_weights: state\n",
        "sweep.yaml:3:15: save_weights: state keeps no more than true: no cell has steps, and a rate that at "
        "first does not depend on them")},
    {CASE("no state with linear",
        BASE "schedule: linear\n"
             "save_weights: state\n",
        "sweep.yaml:4:15: save_weights: state keeps no more than true: no cell has steps, and a rate that at "
        "first does not depend on them")},
    {CASE("no state with cosine",
        BASE "schedule: [linear, cosine]\n"
             "save_weights: state\n",
        "sweep.yaml:4:15: save_weights: state keeps no more than true: no cell has steps, and a rate that at "
        "first does not depend on them")},
    {CASE("no state with a long decay",
        BASE "schedule: wsd\n"
             "schedule_decay: 1\n"
             "save_weights: state\n",
        "sweep.yaml:5:15: save_weights: state keeps no more than true: no cell has steps, and a rate that at "
        "first does not depend on them")},
    {CASE("no state of runs that end early",
        BASE "stop_when: phase\n"
             "save_weights: state\n",
        "sweep.yaml:4:15: save_weights: state keeps no more than true: every cell has stop_when phase, with "
        "which steps cannot grow")},
    {CASE("no state of the only runs that do not end early",
        BASE "schedule: [constant, linear]\n"
             "stop_when: [never, phase]\n"
             "skip: [{schedule: constant, stop_when: never}]\n"
             "save_weights: state\n",
        "sweep.yaml:6:15: save_weights: state keeps no more than true: no cell has steps, and a rate that at "
        "first does not depend on them")},
    {CASE("a start without a falling rate",
        BASE "schedule: [constant, wsd]\n"
             "schedule_start: 5\n",
        "sweep.yaml:4:17: schedule_start: has no effect: no cell has schedule linear, cosine or "
        "inverse_sqrt")},
    {CASE("a word that is not a boolean", BASE "save_weights: Yes\n",
        "sweep.yaml:3:15: save_weights: 'Yes' is not one of false, true, state")},
    {CASE("a boolean that is not a word", BASE "schedule: True\n",
        "sweep.yaml:3:11: schedule: 'True' is not one of constant, linear, inverse_sqrt, cosine, wsd")},
    {CASE("a list for save_weights", BASE "save_weights: [true, false]\n",
        "sweep.yaml:3:15: save_weights: takes one value, not a list")},
    {CASE("a rule for a single value", BASE "corpus_seed: {range: [0, 2]}\n",
        "sweep.yaml:3:14: corpus_seed: takes one value, not a list")},
    {CASE("a list in a list", BASE "seed: [1, [2, 3]]\n",
        "sweep.yaml:3:11: seed: takes one value, not a list")},
    {CASE("a map in a list", BASE "seed: [1, {range: [2, 3]}]\n",
        "sweep.yaml:3:11: seed: takes one value, not a mapping")},
    {CASE("empty output", BASE "output: \"\"\n", "sweep.yaml:3:9: output: an empty path")},
    {CASE("checkpoint_minutes", BASE "checkpoint_minutes: 0\n",
        "sweep.yaml:3:21: checkpoint_minutes: 0 is not above 0")},
    {CASE("set: unknown key", BASE, "--set: unknown key 'learning_rte'; did you mean 'learning_rate'?"),
        .setting = {"learning_rte=0.1"}},
    {CASE("set: no equals", BASE, "--set learning_rate: takes key=value"), .setting = {"learning_rate"}},
    {CASE("set: out of bounds", BASE, "--set weight_decay: -0.1 is below 0"),
        .setting = {"weight_decay=-0.1"}},
    {CASE("set: out of bounds in a list", BASE, "--set weight_decay: -0.1 is below 0"),
        .setting = {"weight_decay=[0.1, -0.1]"}},
    {CASE("set: no YAML", BASE,
         "--set weight_decay: YAML: did not find expected ',' or ']', while parsing a flow sequence"),
        .setting = {"weight_decay=[0.1"}},
    {CASE("set: empty key", BASE, "--set: unknown key ''"), .setting = {"=3"}},
    {CASE("set: removed unknown key", BASE, "--set: unknown key 'stps'; did you mean 'steps'?"),
        .setting = {"stps="}},
    {CASE("set: removed steps", BASE,
         "--set steps: give either epochs or steps, at least 1, and set the other to 0"),
        .setting = {"steps=null"}},
    {CASE("set: removed text",
         "corpus: text\n"
         "train_text: a.txt\n"
         "steps: 10\n",
         "--set train_text: missing; corpus text needs one"),
        .setting = {"train_text=null"}},
    {CASE("set: alias", BASE,
         "--set weight_decay: anchors and aliases are not supported; write the value out"),
        .setting = {"weight_decay=*a"}},
    {CASE("set: documents", BASE, "--set weight_decay: several documents in one file"),
        .setting = {"weight_decay=1\n"
                    "---\n"
                    "2"}},
    {CASE("set: missing text", "steps: 10\n", "--set train_text: none.txt: No such file or directory"),
        .setting = {"train_text=none.txt"}},
    {CASE("set: heads", BASE "width: 66\n", "--set heads: 5 does not divide width 66"),
        .setting = {"heads=5"}},
    {CASE("set: in together too", TOGETHER, "--set heads: given both in together and on its own"),
        .setting = {"heads=2"}},
    {CASE("rule of decay with adam",
        BASE "optimiser: [adamw, adam]\n"
             "decay_rule: [scaled, corrected]\n",
        "sweep.yaml:4:22: decay_rule: the decay of adam passes through its moments, where rule corrected has "
        "no meaning; adamw has all rules")},
    {CASE("cautious decay with adam",
        BASE "optimiser: adam\n"
             "decay_rule: cautious\n",
        "sweep.yaml:4:13: decay_rule: the decay of adam passes through its moments, where rule cautious has "
        "no meaning; adamw has all rules")},
    {CASE("cautious decay with sgd",
        BASE "optimiser: sgd\n"
             "decay_rule: cautious\n",
        "sweep.yaml:4:13: decay_rule: cautious needs an optimiser that decays the weights directly; sgd adds "
        "the decay to the gradient")},
    {CASE("cautious decay as a factor",
        BASE "decay: factor\n"
             "decay_rule: cautious\n",
        "sweep.yaml:4:13: decay_rule: cautious chooses weight by weight; decay factor multiplies all of "
        "them")},
    {CASE("norms that stay at 0",
        BASE "zero_query_key: [false, true]\n"
             "fixed_norm: true\n",
        "sweep.yaml:4:13: fixed_norm: with zero_query_key, queries and keys start with norm 0, and would "
        "keep it; leave one of the two out")},
    {CASE("norms that stay at 0 in a cell",
        BASE "zero_query_key: true\n"
             "fixed_norm: [false, true]\n",
        "sweep.yaml:4:21: fixed_norm: with zero_query_key, queries and keys start with norm 0, and would "
        "keep it; leave one of the two out")},
};

TEST(sweep_files_refused)
{
    CHECK_REFUSED(rows);
}
