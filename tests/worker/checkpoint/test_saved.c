/* Saved weights that are read back: all of them, and files that are whole but not what this program writes.
 */
#include "tests/failing.h"
#include "tests/test.h"

#include "model/core/random.h"
#include "worker/checkpoint/form.h"
#include "worker/checkpoint/saved.h"
#include "worker/checkpoint/seal.h"

#include <netcdf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS = 7 };

/* A network with weights of its own, and its file. */
struct bench {
    struct run run;
    struct transformer model; /* its architecture and layout alone */
    scalar *weights;
    struct arena arena;
    char path[80];
    struct error error;
};

static void lay_out(struct bench *bench, struct arena *arena)
{
    weight_layout_init(&bench->model.layout, &bench->model.architecture, arena);
    bench->weights = arena_take(arena, (size_t)bench->model.layout.size, sizeof(scalar));
}

static void write_file(struct bench *bench, bool weights_alone)
{
    const struct digest digest = {1, 2};
    struct history history = {0};
    struct result result = {0};
    struct snapshot snapshot = {.run = &bench->run,
        .model = &bench->model,
        .step = 9,
        .last_step = 9,
        .weights = bench->weights,
        .history = &history,
        .result = &result};

    CHECK(form_write(bench->path, &digest, &snapshot, weights_alone, NULL) == 0);
    CHECK(seal_put(bench->path, NULL) == 0);
}

static void bench_init(struct bench *bench, const struct run *run)
{
    const char *place = getenv("TMPDIR");
    struct arena counted = {0};

    *bench = (struct bench){.run = *run};
    bench->model.architecture = run_architecture(run, WORDS);
    lay_out(bench, &counted);
    CHECK(arena_init(&bench->arena, counted.used) == 0);
    lay_out(bench, &bench->arena);
    for (int64_t i = 0; i < bench->model.layout.size; i++)
        bench->weights[i] = (scalar)random_normal(1, RANDOM_TEST, (uint64_t)i);
    snprintf(bench->path, sizeof(bench->path), "%.40s/normsweep-XXXXXX", place ? place : "/tmp");
    int file = mkstemp(bench->path);
    CHECK(file >= 0 && close(file) == 0);
    write_file(bench, true);
}

static void bench_release(struct bench *bench)
{
    unlink(bench->path);
    arena_release(&bench->arena);
}

static struct run small_run(void)
{
    struct run run;

    run_init(&run);
    run.corpus = CORPUS_MARKOV;
    run.vocabulary = WORDS;
    run.width = 8;
    run.heads = 4;
    run.feedforward = 12;
    run.context = 6;
    run.steps = 9;
    run.learning_rate = 0.1;
    return run;
}

/* ---- what is read ---- */

/* All blocks at once, and block by block to one place. */
static void check_source(const struct bench *bench, struct saved *saved)
{
    const struct weight_source source = saved_source(saved);
    const struct weight_layout *layout = &bench->model.layout;
    scalar *weights = calloc((size_t)layout->size, sizeof(*weights));
    struct weight_layout shared;
    struct arena arena = {0};

    weight_layout_init_shared(&shared, &saved->architecture, &arena);
    if (!weights || arena_init(&arena, arena.used) != 0) {
        free(weights);
        test_fail(__FILE__, __LINE__, "no memory");
        return;
    }
    weight_layout_init_shared(&shared, &saved->architecture, &arena);
    for (int64_t layer = -1; layer < architecture_blocks(&saved->architecture); layer++)
        source.load(source.context, layout, layer, weights);
    CHECK(memcmp(weights, bench->weights, (size_t)layout->size * sizeof(scalar)) == 0);
    for (int64_t i = 0; i < layout->tensor_count; i++) {
        const struct tensor *here = &shared.tensor[i], *there = &layout->tensor[i];
        source.load(source.context, &shared, here->layer, weights);
        CHECK(here->size == there->size && memcmp(weights + here->offset, bench->weights + there->offset,
                                               (size_t)there->size * sizeof(scalar)) == 0);
    }
    CHECK(saved_check(saved, NULL) == 0);
    arena_release(&arena);
    free(weights);
}

static void check_tensors(const struct bench *bench, const struct saved *saved)
{
    const struct weight_layout *layout = &bench->model.layout;
    double *values = malloc((size_t)layout->largest * sizeof(*values));
    struct error error;

    for (int64_t i = 0; i < layout->tensor_count; i++) {
        const struct tensor *tensor = &layout->tensor[i];
        CHECK(saved_has(saved, tensor->kind, tensor->layer) == (tensor->size > 0));
        if (tensor->size == 0)
            continue;
        CHECK(saved_read(saved, tensor->kind, tensor->layer, values, &error) == 0);
        for (int64_t k = 0; k < tensor->size; k++)
            CHECK(values[k] == (double)bench->weights[tensor->offset + k]);
    }
    free(values);
}

static void check_run(struct run run)
{
    struct saved saved;
    struct bench bench;

    bench_init(&bench, &run);
    if (saved_open(&saved, bench.path, &bench.error) == 0) {
        CHECK(memcmp(&saved.run, &run, sizeof(run)) == 0 && saved.step == 9);
        CHECK(saved.is_double == (sizeof(scalar) == sizeof(double)));
        CHECK(saved.architecture.vocabulary == bench.model.architecture.vocabulary);
        CHECK(saved.architecture.biases == bench.model.architecture.biases);
        CHECK(saved.layout.size == bench.model.layout.size);
        check_source(&bench, &saved);
        check_tensors(&bench, &saved);
        saved_close(&saved);
    } else {
        test_fail(__FILE__, __LINE__, "%s", bench.error.text);
    }
    bench_release(&bench);
}

TEST(saved_gives_every_network)
{
    struct run run = small_run();

    check_run(run);
    run.bias = run.output_bias = false;
    run.tied = true;
    run.kv_heads = 2;
    run.qk_norm = true;
    check_run(run);
    run.gated = true;
    run.norm = RMSNORM;
    run.positions = POSITIONS_ROTARY;
    check_run(run);
    run = small_run();
    run.network = NETWORK_ENCODER;
    run.objective = OBJECTIVE_MASKED;
    run.positions = POSITIONS_RELATIVE;
    check_run(run);
    run.network = NETWORK_ENCODER_DECODER;
    run.objective = OBJECTIVE_SPANS;
    run.decoder_layers = 3;
    check_run(run);
}

TEST(saved_knows_the_end_of_a_line)
{
    static const struct {
        enum corpus_kind corpus;
        int32_t token;
    } cases[] = {
        {CORPUS_MARKOV, WORDS - 1}, {CORPUS_TEXT, WORDS - 1}, {CORPUS_BYTES, '\n'}, {CORPUS_MODULAR, -1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct run run = small_run();
        struct saved saved;
        struct bench bench;
        run.corpus = cases[i].corpus;
        bench_init(&bench, &run);
        CHECK(saved_open(&saved, bench.path, &bench.error) == 0);
        CHECK(saved.end_of_line == cases[i].token);
        saved_close(&saved);
        bench_release(&bench);
    }
}

/* ---- other contents under a good seal ---- */

static void put_text(int file, const char *name, const char *text)
{
    CHECK(nc_put_att_text(file, NC_GLOBAL, name, strlen(text), text) == NC_NOERR);
}

static void put_integer(int file, const char *name, long long value)
{
    CHECK(nc_put_att_longlong(file, NC_GLOBAL, name, NC_INT64, 1, &value) == NC_NOERR);
}

static void alter_version(int file)
{
    put_integer(file, "format_version", FORM_VERSION + 1);
}

static void remove_version(int file)
{
    CHECK(nc_del_att(file, NC_GLOBAL, "format_version") == NC_NOERR);
}

static void remove_title(int file)
{
    CHECK(nc_del_att(file, NC_GLOBAL, "title") == NC_NOERR);
}

static void alter_title(int file)
{
    put_text(file, "title", "of mine");
}

static void lengthen_title(int file)
{
    char text[300];

    memset(text, 'x', sizeof(text));
    CHECK(nc_put_att_text(file, NC_GLOBAL, "title", sizeof(text), text) == NC_NOERR);
}

static void remove_output_bias(int file)
{
    CHECK(nc_del_att(file, NC_GLOBAL, "output_bias") == NC_NOERR);
}

static void alter_word(int file)
{
    put_text(file, "norm", "batchnorm");
}

static void number_word(int file)
{
    put_integer(file, "tied", 0);
}

static void word_number(int file)
{
    put_text(file, "width", "8");
}

static void below_bound(int file)
{
    put_integer(file, "layers", 0);
}

static void odd_heads(int file)
{
    put_integer(file, "heads", 3);
}

static void many_layers(int file)
{
    put_integer(file, "layers", 100000);
}

static void more_layers(int file)
{
    put_integer(file, "layers", 1);
}

static void wide(int file)
{
    put_integer(file, "width", INT32_MAX - 3);
}

static void longer(int file)
{
    put_integer(file, "context", 5);
}

static void rename_words(int file)
{
    int id;

    CHECK(nc_inq_dimid(file, "vocabulary", &id) == NC_NOERR && nc_rename_dim(file, id, "w") == NC_NOERR);
}

static void rename_variable(int file)
{
    int id;

    CHECK(nc_inq_varid(file, "w2", &id) == NC_NOERR && nc_rename_var(file, id, "w0") == NC_NOERR);
}

static void other_scalar(int file)
{
    put_text(file, "scalar", sizeof(scalar) == sizeof(double) ? "float" : "double");
}

#define OTHER "not the final weights of a run, which save_weights: true keeps as OUT.nc.d/<digest>.weights.nc"

TEST(saved_refuses_other_contents)
{
    static const struct {
        void (*alter)(int file);
        const char *why; /* behind the path; "": it is read */
    } cases[] = {
        {remove_output_bias, ""},
        {alter_version, "format version 10 is of another version of this program, which reads 9"},
        {remove_version, OTHER},
        {remove_title, OTHER},
        {alter_title, OTHER},
        {lengthen_title, OTHER},
        {alter_word, "the attribute norm has a value that the key cannot have"},
        {number_word, "the attribute tied has a value that the key cannot have"},
        {word_number, "the attribute width has a value that the key cannot have"},
        {below_bound, "the attribute layers has a value that the key cannot have"},
        {odd_heads, "heads: 3 does not divide width 8"},
        {wide, "width: a model of 3.7e+19 parameters is too large"},
        {many_layers, "damaged: it is smaller than the weights of its parameters"},
        {more_layers, "damaged: the variable q does not fit the parameters"},
        {longer, "damaged: the variable position does not fit the parameters"},
        {rename_words, "damaged: the dimension vocabulary does not fit the parameters"},
        {rename_variable, "damaged: the variable w2 does not fit the parameters"},
        {other_scalar, NULL},
    };
    const struct run run = small_run();

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct saved saved;
        struct bench bench;
        char line[300];
        int file;

        bench_init(&bench, &run);
        CHECK(nc_open(bench.path, NC_WRITE, &file) == NC_NOERR && nc_redef(file) == NC_NOERR);
        cases[i].alter(file);
        CHECK(nc_close(file) == NC_NOERR && seal_put(bench.path, NULL) == 0);
        int status = saved_open(&saved, bench.path, &bench.error);
        snprintf(line, sizeof(line), "%s: %s", bench.path, cases[i].why ? cases[i].why : "damaged: ");
        if (status == 0)
            saved_close(&saved);
        if ((status == 0) != (cases[i].why && !*cases[i].why) ||
            (status < 0 &&
                (bench.error.status != ERROR_INPUT || strncmp(bench.error.text, line, strlen(line)) != 0)))
            test_fail(__FILE__, __LINE__, "case %zu: %d, '%s'", i, status, bench.error.text);
        bench_release(&bench);
    }
}

/* ---- failing calls ---- */

/* Whatever fails, once, while a file is opened and read: a line, and nothing is held. */
TEST(saved_survives_failing_calls)
{
    const struct run run = small_run();
    struct bench bench;
    int failed = 0;

    bench_init(&bench, &run);
    for (int kind = 0; kind < failing_kind_count; kind++) {
        bool more = true;
        failing_forget();
        while (more) {
            struct saved saved;
            bench.error.text[0] = '\0';
            failing_anew(failing_kinds[kind].calls, failing_kinds[kind].cause);
            int status = saved_open(&saved, bench.path, &bench.error);
            more = failing_end();
            failed += more;
            CHECK(more ? status == 0 || strstr(bench.error.text, bench.path) : status == 0);
            if (status == 0)
                saved_close(&saved);
        }
    }
    CHECK(failed > 10);
    bench_release(&bench);
}

TEST(saved_says_that_a_load_failed)
{
    const struct run run = small_run();
    struct saved saved;
    struct bench bench;
    double values[64];

    bench_init(&bench, &run);
    CHECK(saved_open(&saved, bench.path, &bench.error) == 0);
    const struct weight_source source = saved_source(&saved);
    failing_next("nc_get_vara_*", EIO);
    source.load(source.context, &saved.layout, 0, bench.weights);
    CHECK(failing_end());
    source.load(source.context, &saved.layout, 1, bench.weights);
    CHECK(saved_check(&saved, &bench.error) == -1 && bench.error.status == ERROR_ENVIRONMENT);
    CHECK(strstr(bench.error.text, ": Input/output error"));
    failing_next("nc_get_vara_double", EIO);
    CHECK(saved_read(&saved, TENSOR_Q, 0, values, &bench.error) == -1 && failing_end());
    saved_close(&saved);
    bench_release(&bench);
}
