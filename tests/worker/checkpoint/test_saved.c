/* Saved weights that are read back: all of them, and files that are whole but not what this program writes.
 */
#include "tests/failing.h"
#include "tests/scratch.h"
#include "tests/worker/checkpoint/edit.h"
#include "tests/worker/small_run.h"

#include "tests/model/draw.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { WORDS = 12 };

/* A network with weights of its own, and its file. */
struct bench {
    struct run run;
    struct transformer model; /* its architecture and layout alone */
    scalar *weights;
    struct arena arena;
    char path[SCRATCH_PATH];
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

static void bench_init(struct bench *bench, struct run run)
{
    struct arena counted = {0};

    *bench = (struct bench){.run = run};
    bench->model.architecture = run_architecture(&run, WORDS);
    lay_out(bench, &counted);
    CHECK(arena_init(&bench->arena, counted.used) == 0);
    lay_out(bench, &bench->arena);
    draw(bench->weights, bench->model.layout.size, 1, 1);
    scratch_file(bench->path);
    write_file(bench, true);
}

static void bench_release(struct bench *bench)
{
    unlink(bench->path);
    arena_release(&bench->arena);
}

static struct run saved_run(void)
{
    struct run run = small_run(8, 6, 9);

    run.vocabulary = WORDS;
    run.heads = 4;
    return run;
}

#define IN_BENCH(id) TEST_IN(id, struct bench, bench, bench_init(bench, saved_run()), bench_release(bench))

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

    bench_init(&bench, run);
    if (saved_open(&saved, bench.path, NULL, &bench.error) == 0) {
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
    struct run run = saved_run();

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
    run = saved_run();
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
        struct run run = saved_run();
        struct saved saved;
        struct bench bench;
        run.corpus = cases[i].corpus;
        bench_init(&bench, run);
        CHECK(saved_open(&saved, bench.path, NULL, &bench.error) == 0);
        CHECK(saved.special.start == cases[i].token && saved.special.end == cases[i].token);
        CHECK(saved.special.padding == -1);
        saved_close(&saved);
        bench_release(&bench);
    }
}

/* ---- other contents under a good seal ---- */

#define OTHER                                                                                                \
    "not a weights file, which save_weights: true keeps as OUT.nc.d/<digest>.weights.nc, or "                \
    "analysis/weights import writes"
#define WRONG                                                                                                \
    "damaged: family, scalar, has_output, start_token, end_token or padding_token is missing or wrong"
#define NOT_A_WORD(name) "the attribute architecture:" name " is missing or not one of its words"
#define NOT_A_NUMBER(name) "the attribute architecture:" name " is missing or not within its bounds"
#define OF "architecture" /* whose attributes say what network it is */
#define UNFIT(name) "damaged: the variable " name " does not fit the architecture"

TEST(saved_refuses_other_contents)
{
    char version[100];

    snprintf(version, sizeof(version),
        "format version %d is of another version of this program, which reads %d", FORMAT_VERSION + 1,
        FORMAT_VERSION);
    const struct {
        struct edit edits[EDITS_MOST];
        const char *why; /* behind the path */
    } cases[] = {
        {{{NULL, "format_version", .type = NC_INT64, .whole = FORMAT_VERSION + 1}}, version},
        {{{NULL, .attribute = "format_version"}}, OTHER},
        {{{NULL, .attribute = "title"}}, OTHER},
        {{{NULL, "title", .word = "of mine"}}, OTHER},
        {{{NULL, "title", .type = NC_CHAR}}, OTHER},
        {{{NULL, "end_token", .type = NC_INT64, .whole = WORDS}}, WRONG},
        {{{NULL, .attribute = "family"}}, WRONG},
        {{{OF, .renamed = "other"}}, "damaged: it has no variable architecture"},
        {{{OF, .attribute = "norm"}}, NOT_A_WORD("norm")},
        {{{OF, "norm", .word = "batchnorm"}}, NOT_A_WORD("norm")},
        {{{OF, "norm", .word = "layernorm that is longer than any word"}}, NOT_A_WORD("norm")},
        {{{OF, "tied", .type = NC_INT64, .whole = 0}}, NOT_A_WORD("tied")},
        {{{OF, "width", .word = "8"}}, NOT_A_NUMBER("width")},
        {{{OF, "width", .type = NC_DOUBLE, .real = 8}}, NOT_A_NUMBER("width")},
        {{{OF, "width", .type = NC_INT64, .whole = 8, .twice = true}}, NOT_A_NUMBER("width")},
        {{{OF, "layers", .type = NC_INT64, .whole = 0}}, NOT_A_NUMBER("layers")},
        {{{OF, "norm_epsilon", .type = NC_DOUBLE, .real = NAN}}, NOT_A_NUMBER("norm_epsilon")},
        {{{OF, "kv_heads", .type = NC_INT64, .whole = 3}},
            "3 heads of keys and values do not divide the 4 heads"},
        {{{OF, "positions", .word = "rotary"}, {OF, "head_width", .type = NC_INT64, .whole = 3}},
            "rotary positions need an even width of heads"},
        {{{OF, "positions", .word = "distance"}},
            "positions distance need an encoder without qk_norm, of an even width"},
        {{{OF, "decoder_layers", .type = NC_INT64, .whole = 2}},
            "decoder_layers are for an encoder_decoder, which needs them"},
        {{{OF, "width", .type = NC_INT64, .whole = INT32_MAX - 3}},
            "damaged: a network of these sizes is too large"},
        {{{OF, "layers", .type = NC_INT64, .whole = 100000}},
            "damaged: it is smaller than the weights of its architecture"},
        {{{OF, "layers", .type = NC_INT64, .whole = 1}}, UNFIT("q")},
        {{{OF, "context", .type = NC_INT64, .whole = 5}}, UNFIT("position")},
        {{{"w2", .renamed = "w0"}}, UNFIT("w2")},
        {{{NULL, "scalar", .word = sizeof(scalar) == sizeof(double) ? "float" : "double"}}, "damaged: "},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct saved saved;
        struct bench bench;
        char line[300];

        bench_init(&bench, saved_run());
        edit_file(bench.path, cases[i].edits);
        int status = saved_open(&saved, bench.path, NULL, &bench.error);
        snprintf(line, sizeof(line), "%s: %s", bench.path, cases[i].why);
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
IN_BENCH(saved_survives_failing_calls)
{
    int failed = 0;

    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);) {
        struct saved saved;
        bench->error.text[0] = '\0';
        failing_anew(kind->calls, kind->cause);
        int status = saved_open(&saved, bench->path, NULL, &bench->error);
        bool more = failing_end();
        failed += more;
        CHECK(more ? status == 0 || strstr(bench->error.text, bench->path) : status == 0);
        if (status == 0)
            saved_close(&saved);
    }
    CHECK(failed > 10);
}

/* The same of a start: its name is found again, or a line says why not, and nothing is held. */
IN_BENCH(starts_survive_failing_calls)
{
    struct start_weights start;
    int failed = 0;

    CHECK(start_read(&start, bench->path, &bench->error) == 0 && start.name > 0 && start.has_output);
    const struct starts starts = {1, &start};
    scalar *got = calloc((size_t)bench->model.layout.size, sizeof(*got));
    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);) {
        struct start_weights again = {0};
        bench->error.text[0] = '\0';
        failing_anew(kind->calls, kind->cause);
        int status = start_read(&again, bench->path, &bench->error);
        if (status == 0)
            status = starts_load(&starts, start.name, &bench->model.layout, got, NULL, &bench->error);
        bool more = failing_end();
        failed += more;
        CHECK(more ? status == 0 || strstr(bench->error.text, bench->path) : status == 0);
        CHECK(status < 0 || again.name == start.name);
        free(again.path);
    }
    CHECK(failed > 10);
    for (int64_t i = 0; i < bench->model.layout.tensor_count; i++) {
        const struct tensor *tensor = &bench->model.layout.tensor[i];
        CHECK(memcmp(got + tensor->offset, bench->weights + tensor->offset,
                  (size_t)tensor->size * sizeof(*got)) == 0);
    }
    bench->weights[bench->model.layout.size / 2] += 1;
    write_file(bench, true);
    CHECK(starts_load(&starts, start.name, &bench->model.layout, got, NULL, &bench->error) == -1);
    CHECK(strstr(bench->error.text, ": has changed since the sweep began"));
    free(got);
    free(start.path);
}

IN_BENCH(saved_says_that_a_load_failed)
{
    struct saved saved;

    CHECK(saved_open(&saved, bench->path, NULL, &bench->error) == 0);
    const struct weight_source source = saved_source(&saved);
    failing_next("nc_get_vara_*", EIO);
    source.load(source.context, &saved.layout, 0, bench->weights);
    CHECK(failing_end());
    source.load(source.context, &saved.layout, 1, bench->weights);
    CHECK(saved_check(&saved, &bench->error) == -1 && bench->error.status == ERROR_ENVIRONMENT);
    CHECK(strstr(bench->error.text, ": Input/output error"));
    saved_close(&saved);
}

/* What is read after another process has changed the file is not what was opened. */
IN_BENCH(saved_says_that_a_file_was_changed)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
    struct saved saved;

    CHECK(
        saved_open(&saved, bench->path, NULL, &bench->error) == 0 && saved_check(&saved, &bench->error) == 0);
    CHECK(utimensat(AT_FDCWD, bench->path, times, 0) == 0);
    CHECK(saved_check(&saved, &bench->error) == -1 && bench->error.status == ERROR_ENVIRONMENT);
    CHECK(strstr(bench->error.text, ": changed while it was read"));
    saved_close(&saved);
}
