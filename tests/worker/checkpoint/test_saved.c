/* Saved weights that are read back: all of them, and files that are whole but not what this program writes.
 */
#include "tests/failing.h"
#include "tests/test.h"

#include "model/core/random.h"
#include "worker/checkpoint/inside.h"

#include <netcdf.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS = 12 };

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
    weight_layout_init(&bench->model.layout, &bench->model.architecture, false, arena);
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

    weight_layout_init(&shared, &saved->architecture, true, &arena);
    if (!weights || arena_init(&arena, arena.used) != 0) {
        free(weights);
        test_fail(__FILE__, __LINE__, "no memory");
        return;
    }
    weight_layout_init(&shared, &saved->architecture, true, &arena);
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

/* Every field on which a forward pass depends. */
static void check_architecture(const struct architecture *a, const struct architecture *b)
{
    CHECK(a->network == b->network && a->vocabulary == b->vocabulary && a->context == b->context);
    CHECK(a->width == b->width && a->heads == b->heads && a->feedforward == b->feedforward);
    CHECK(a->layers == b->layers && architecture_blocks(a) == architecture_blocks(b));
    CHECK(architecture_kv_heads(a) == architecture_kv_heads(b) &&
          architecture_depth(a) == architecture_depth(b));
    CHECK(a->norm_placement == b->norm_placement && a->norm == b->norm && a->qk_norm == b->qk_norm);
    CHECK(a->positions == b->positions && a->score_scale == b->score_scale && a->activation == b->activation);
    CHECK(a->precision == b->precision && a->gated == b->gated && a->attention_mask == b->attention_mask);
    CHECK(a->biases == b->biases && a->tied == b->tied && a->final_norm == b->final_norm);
    CHECK(a->residual_scale == b->residual_scale && a->output_scale == b->output_scale);
    CHECK(architecture_norm_epsilon(a) == architecture_norm_epsilon(b));
    CHECK(architecture_rotary_base(a) == architecture_rotary_base(b));
    CHECK(memcmp(&a->rotary_scaling, &b->rotary_scaling, sizeof(a->rotary_scaling)) == 0);
    CHECK(a->token_types == b->token_types && a->embedding_norm == b->embedding_norm &&
          a->transform == b->transform);
}

static void check_run(struct run run)
{
    struct saved saved;
    struct bench bench;

    bench_init(&bench, &run);
    if (saved_open(&saved, bench.path, &bench.error) == 0) {
        CHECK(saved.of_run && saved.has_output && strcmp(saved.family, "normsweep") == 0);
        CHECK(saved.is_double == (sizeof(scalar) == sizeof(double)));
        check_architecture(&saved.architecture, &bench.model.architecture);
        CHECK(saved.layout.size == bench.model.layout.size);
        check_source(&bench, &saved);
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
    run.residual_scale = 0.5;
    run.precision = PRECISION_BFLOAT16;
    run.parametrization = PARAMETRIZATION_MUP;
    run.base_width = 4;
    run.attention_mask = MASK_MULTIPLICATIVE;
    run.norm_placement = NORM_OUT;
    run.activation = ACTIVATION_SILU;
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
        CHECK(saved.special.start == cases[i].token && saved.special.end == cases[i].token);
        CHECK(saved.special.padding == -1);
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
    put_integer(file, "format_version", FORMAT_VERSION + 1);
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

static void alter_end(int file)
{
    put_integer(file, "end_token", WORDS);
}

static void remove_family(int file)
{
    CHECK(nc_del_att(file, NC_GLOBAL, "family") == NC_NOERR);
}

static int described(int file)
{
    int variable = -1;

    CHECK(nc_inq_varid(file, "architecture", &variable) == NC_NOERR);
    return variable;
}

static void say_word(int file, const char *name, const char *text)
{
    CHECK(nc_put_att_text(file, described(file), name, strlen(text), text) == NC_NOERR);
}

static void say_whole(int file, const char *name, long long value)
{
    CHECK(nc_put_att_longlong(file, described(file), name, NC_INT64, 1, &value) == NC_NOERR);
}

static void say_real(int file, const char *name, double value)
{
    CHECK(nc_put_att_double(file, described(file), name, NC_DOUBLE, 1, &value) == NC_NOERR);
}

static void rename_architecture(int file)
{
    CHECK(nc_rename_var(file, described(file), "other") == NC_NOERR);
}

static void remove_word(int file)
{
    CHECK(nc_del_att(file, described(file), "norm") == NC_NOERR);
}

static void alter_word(int file)
{
    say_word(file, "norm", "batchnorm");
}

static void lengthen_word(int file)
{
    say_word(file, "norm", "layernorm that is longer than any word");
}

static void number_word(int file)
{
    say_whole(file, "tied", 0);
}

static void word_number(int file)
{
    say_word(file, "width", "8");
}

static void real_number(int file)
{
    say_real(file, "width", 8);
}

static void two_numbers(int file)
{
    const long long both[] = {8, 8};

    CHECK(nc_put_att_longlong(file, described(file), "width", NC_INT64, 2, both) == NC_NOERR);
}

static void below_bound(int file)
{
    say_whole(file, "layers", 0);
}

static void no_number(int file)
{
    say_real(file, "norm_epsilon", (double)NAN);
}

static void odd_heads(int file)
{
    say_whole(file, "kv_heads", 3);
}

static void odd_turns(int file)
{
    say_word(file, "positions", "rotary");
    say_whole(file, "head_width", 3);
}

static void distances(int file)
{
    say_word(file, "positions", "distance");
}

static void one_decoder(int file)
{
    say_whole(file, "decoder_layers", 2);
}

static void many_layers(int file)
{
    say_whole(file, "layers", 100000);
}

static void more_layers(int file)
{
    say_whole(file, "layers", 1);
}

static void wide(int file)
{
    say_whole(file, "width", INT32_MAX - 3);
}

static void longer(int file)
{
    say_whole(file, "context", 5);
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

#define OTHER                                                                                                \
    "not a weights file, which save_weights: true keeps as OUT.nc.d/<digest>.weights.nc, or "                \
    "analysis/weights import writes"
#define WRONG                                                                                                \
    "damaged: family, scalar, has_output, start_token, end_token or padding_token is missing or wrong"
#define ATTRIBUTE "the attribute architecture:"

TEST(saved_refuses_other_contents)
{
    char version[100];

    snprintf(version, sizeof(version),
        "format version %d is of another version of this program, which reads %d", FORMAT_VERSION + 1,
        FORMAT_VERSION);
    const struct {
        void (*alter)(int file);
        const char *why; /* behind the path; NULL: any damage */
    } cases[] = {
        {alter_version, version},
        {remove_version, OTHER},
        {remove_title, OTHER},
        {alter_title, OTHER},
        {lengthen_title, OTHER},
        {alter_end, WRONG},
        {remove_family, WRONG},
        {rename_architecture, "damaged: it has no variable architecture"},
        {remove_word, ATTRIBUTE "norm is missing or not one of its words"},
        {alter_word, ATTRIBUTE "norm is missing or not one of its words"},
        {lengthen_word, ATTRIBUTE "norm is missing or not one of its words"},
        {number_word, ATTRIBUTE "tied is missing or not one of its words"},
        {word_number, ATTRIBUTE "width is missing or not within its bounds"},
        {real_number, ATTRIBUTE "width is missing or not within its bounds"},
        {two_numbers, ATTRIBUTE "width is missing or not within its bounds"},
        {below_bound, ATTRIBUTE "layers is missing or not within its bounds"},
        {no_number, ATTRIBUTE "norm_epsilon is missing or not within its bounds"},
        {odd_heads, "3 heads of keys and values do not divide the 4 heads"},
        {odd_turns, "rotary positions need an even width of heads"},
        {distances, "positions distance need an encoder without qk_norm, of an even width"},
        {one_decoder, "decoder_layers are for an encoder_decoder, which needs them"},
        {wide, "damaged: a network of these sizes is too large"},
        {many_layers, "damaged: it is smaller than the weights of its architecture"},
        {more_layers, "damaged: the variable q does not fit the architecture"},
        {longer, "damaged: the variable position does not fit the architecture"},
        {rename_variable, "damaged: the variable w2 does not fit the architecture"},
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
        if (status == 0 || bench.error.status != ERROR_INPUT ||
            strncmp(bench.error.text, line, strlen(line)) != 0)
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

    bench_init(&bench, &run);
    CHECK(saved_open(&saved, bench.path, &bench.error) == 0);
    const struct weight_source source = saved_source(&saved);
    failing_next("nc_get_vara_*", EIO);
    source.load(source.context, &saved.layout, 0, bench.weights);
    CHECK(failing_end());
    source.load(source.context, &saved.layout, 1, bench.weights);
    CHECK(saved_check(&saved, &bench.error) == -1 && bench.error.status == ERROR_ENVIRONMENT);
    CHECK(strstr(bench.error.text, ": Input/output error"));
    saved_close(&saved);
    bench_release(&bench);
}

/* What is read after another process has changed the file is not what was opened. */
TEST(saved_says_that_a_file_was_changed)
{
    const struct run run = small_run();
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
    struct saved saved;
    struct bench bench;

    bench_init(&bench, &run);
    CHECK(saved_open(&saved, bench.path, &bench.error) == 0 && saved_check(&saved, &bench.error) == 0);
    CHECK(utimensat(AT_FDCWD, bench.path, times, 0) == 0);
    CHECK(saved_check(&saved, &bench.error) == -1 && bench.error.status == ERROR_ENVIRONMENT);
    CHECK(strstr(bench.error.text, ": changed while it was read"));
    saved_close(&saved);
    bench_release(&bench);
}
