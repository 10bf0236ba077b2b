/*
 * Replays training for the parity tests, which run the same steps in PyTorch:
 *     replay [key=value]... > dump
 * Keys are those of a sweep file, and
 *     train_text, valid_text   paths; train_source, valid_source: those of the sources of pairs
 *     batches                  N: write the batches of N steps and those of the validation; train nothing
 *     record                   1: write batch, loss, gradient and weights of every step, and the next batch
 *     measure                  N > 0: then run train(), measured every N steps, and write its rows and values
 *     all                  1: that measures every group of metrics, and not the default ones alone
 *     saturation               1: measure the groups saturation and heads
 *     attention, sharpness     1: measure that group
 *     evaluate                 1: write the validation's sequences, and the final weights' loss on each row
 *     validate                 tokens of that text, all unless given
 *     gradients                n: measure the group gradients over n batches; n batches follow the last step
 *     hessian                  n: measure the groups hessian and hessian_layers by n Lanczos steps; 2 follow
 *     products                 1: write the Hessian of that next batch's loss at the final weights, column by
 *                              column, and the losses and slopes that come with them
 *     residual                 1: measure the group residual
 *     equilibrium              1: measure the groups equilibrium and forces
 *     spectra                  1: measure the groups spectra and spectra_values
 *     lyapunov                 n: measure the group lyapunov, n exponents
 *     sweeps                   of lyapunov, 0 unless given
 *     homogeneity              1: write how homogeneous a fresh model is, its weights and its sequences
 * The dump is a series of arrays, each a line "<name> <f8|i8> <count>" and count numbers of 8 bytes; a name
 * comes again for each step. Whatever fails is told in one line, with exit status 1.
 */
#include "model/core/denormals.h"
#include "model/core/error.h"
#include "model/corpora/corpora.h"
#include "model/instruments/instruments.h"
#include "model/network/network.h"
#include "model/optimisers/optimisers.h"
#include "worker/run/run.h"
#include "worker/train/train.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The dump */

/* Prints one line on stderr and ends the process with status 1. */
__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

#define WRITES(name, code, type, written)                                                                    \
    static void name(const char *label, const type *values, int64_t count)                                   \
    {                                                                                                        \
        printf("%s %s %lld\n", label, code, (long long)count);                                               \
        for (int64_t i = 0; i < count; i++) {                                                                \
            written value = (written)values[i];                                                              \
            if (fwrite(&value, sizeof(value), 1, stdout) != 1)                                               \
                fail("cannot write");                                                                        \
        }                                                                                                    \
    }
WRITES(write_reals, "f8", double, double)
WRITES(write_scalars, "f8", scalar, double)
WRITES(write_integers, "i8", int64_t, int64_t)
WRITES(write_tokens, "i8", int32_t, int64_t)

static void write_real(const char *name, double value)
{
    write_reals(name, &value, 1);
}

static void write_integer(const char *name, int64_t value)
{
    write_integers(name, &value, 1);
}

/* As start, tokens and target, and source_start and source_tokens if it has sources; `prefix` comes before
 * each name. */
static void write_batch(const char *prefix, const struct batch *batch)
{
    char name[64];
#define NAME(suffix) (snprintf(name, sizeof(name), "%s%s", prefix, suffix), name)

    write_integers(NAME("start"), batch->start, batch->sequences + 1);
    write_tokens(NAME("tokens"), batch->tokens, batch->rows);
    write_tokens(NAME("target"), batch->target, batch->rows);
    if (!batch->source_start)
        return;
    write_integers(NAME("source_start"), batch->source_start, batch->sequences + 1);
    write_tokens(NAME("source_tokens"), batch->source_tokens, batch->source_rows);
}

struct replay {
    struct run run;
    struct corpus_source source;
    struct corpus corpus;
    int64_t record, measure, saturation, attention, sharpness, evaluate, validate, all, gradients, hessian,
        homogeneity;
    int64_t products, residual, equilibrium, spectra, lyapunov, sweeps, batches_wanted;
    struct measure measuring; /* of train() */
    int64_t last_step;
    struct transformer model;
    struct optimiser optimiser;
    struct batches batches;
    struct batch batch;
    scalar *weights, *gradient, *scaled;
    struct arena arena;
};

/* Arguments */

static int64_t parse_integer(const char *name, const char *text)
{
    char *end;
    int64_t value = strtoll(text, &end, 10);

    if (end == text || *end)
        fail("%s: '%s' is not an integer", name, text);
    return value;
}

static union param_value parse_value(const struct param *param, const char *text)
{
    union param_value value = {.integer = 0};
    char *end;

    if (param->words) {
        if (!param_find_word(param, text, &value.integer))
            fail("%s: no word '%s'", param->name, text);
    } else if (param->kind == PARAM_REAL) {
        value.real = strtod(text, &end);
        if (end == text || *end)
            fail("%s: '%s' is not a number", param->name, text);
    } else {
        value.integer = parse_integer(param->name, text);
    }
    return value;
}

static void parse_param(struct run *run, const char *name, const char *text)
{
    const struct param *param = param_find(name);
    struct error error;

    if (!param)
        fail("unknown key '%s'", name);
    union param_value value = parse_value(param, text);
    if (param_check(param, value, &error) != 0)
        fail("%s", error.text);
    param_set(param, run, value);
}

/* Where a number goes, by the name of its argument. */
static const struct {
    const char *name;
    size_t offset; /* of an int64_t in struct replay */
} numbers[] = {
#define NUMBER(name, field) {#name, offsetof(struct replay, field)},
    /* clang-format off */
    NUMBER(record, record) NUMBER(measure, measure) NUMBER(all, all) NUMBER(saturation, saturation)
        NUMBER(attention, attention) NUMBER(sharpness, sharpness)
    NUMBER(evaluate, evaluate) NUMBER(validate, validate) NUMBER(gradients, gradients) NUMBER(hessian, hessian)
    NUMBER(residual, residual) NUMBER(equilibrium, equilibrium) NUMBER(spectra, spectra)
    NUMBER(lyapunov, lyapunov) NUMBER(sweeps, sweeps)
    NUMBER(homogeneity, homogeneity) NUMBER(products, products) NUMBER(batches, batches_wanted)
/* clang-format on */
#undef NUMBER
};

static void parse_argument(struct replay *replay, char *argument)
{
    struct corpus_source *source = &replay->source;
    const struct {
        const char *name, **path;
    } paths[] = {{"train_text", &source->train_path}, {"valid_text", &source->valid_path},
        {"train_source", &source->train_source_path}, {"valid_source", &source->valid_source_path}};
    char *text = strchr(argument, '=');

    if (!text)
        fail("'%s' is not key=value", argument);
    *text++ = '\0';
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (strcmp(argument, paths[i].name) == 0) {
            *paths[i].path = text;
            return;
        }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (strcmp(argument, numbers[i].name) == 0) {
            *(int64_t *)(void *)((char *)replay + numbers[i].offset) = parse_integer(argument, text);
            return;
        }
    parse_param(&replay->run, argument, text);
}

/* Training */

static void load(struct replay *replay)
{
    const struct run *run = &replay->run;
    const struct param *at;
    enum corpus_fault fault;
    struct error error;

    replay->source.kind = (enum corpus_kind)run->corpus;
    replay->source.vocabulary = run->vocabulary;
    replay->source.min_count = run->min_count;
    replay->source.tokens = run->corpus_tokens;
    replay->source.share = run->train_share;
    replay->source.seed = run->corpus_seed;
    if (run_check(run, &at, &error) != 0 ||
        corpus_load(&replay->corpus, &replay->source, &fault, &error) != 0)
        fail("%s", error.text);
    replay->last_step = run_last_step(run, &replay->corpus);
}

static void layout_batches(struct replay *replay)
{
    const struct run *run = &replay->run;
    struct reading reading = run_reading(run, &replay->corpus);
    struct batch_rows room = {.rows = run->batch * run->context};

    room.source = reading_rows(&reading, &replay->corpus.train, 1).source ? room.rows : 0;
    batches_layout(&replay->batches, &replay->corpus.train, &reading, run->batch, &replay->arena);
    batch_layout(&replay->batch, room, &replay->arena);
}

static void layout(struct replay *replay)
{
    const struct run *run = &replay->run;
    struct architecture architecture = run_architecture(run, replay->corpus.vocabulary);
    struct optimiser_options options = run_optimiser(run);
    struct arena *arena = &replay->arena;

    transformer_layout(
        &replay->model, &architecture, run->batch * run->context, run->threads, replay->products != 0, arena);
    optimiser_layout(&replay->optimiser, &options, &replay->model.layout, run->threads, false, arena);
    layout_batches(replay);
    replay->weights = arena_take(arena, (size_t)replay->model.layout.size, sizeof(scalar));
    replay->gradient = arena_take(arena, (size_t)replay->model.layout.size, sizeof(scalar));
    replay->scaled = arena_take(arena, (size_t)replay->model.layout.size, sizeof(scalar));
}

static void take_step(struct replay *replay, const struct schedule *schedule, int64_t step)
{
    const int64_t size = replay->model.layout.size;

    batches_fill(&replay->batches, step, &replay->batch);
    double loss = transformer_gradient(&replay->model, replay->weights, &replay->batch, replay->gradient);
    if (replay->record) {
        write_batch("", &replay->batch);
        write_real("loss", loss);
        write_scalars("gradient", replay->gradient, size);
    }
    optimiser_step(&replay->optimiser, replay->weights, replay->gradient,
        optimiser_clip(&replay->optimiser, replay->gradient), step, schedule_rate(schedule, step));
    if (replay->record)
        write_scalars("weights", replay->weights, size);
}

enum { HESSIAN_PROBES = 3, HESSIAN_BATCHES = 2 };

static void take_steps(struct replay *replay)
{
    const int64_t behind = replay->gradients ? replay->gradients : 1; /* batches that measurements take */
    struct schedule schedule = run_schedule(&replay->run, replay->last_step);

    layout(replay);
    if (arena_init(&replay->arena, replay->arena.used) != 0)
        fail("no memory");
    layout(replay);
    weights_init(replay->weights, &replay->model.layout, &replay->model.architecture, replay->run.seed);
    optimiser_begin(&replay->optimiser, replay->weights);
    write_integer("vocabulary", replay->model.architecture.vocabulary);
    write_integer("last_step", replay->last_step);
    write_scalars("initial", replay->weights, replay->model.layout.size);
    for (int64_t step = 1; step <= replay->last_step; step++)
        take_step(replay, &schedule, step);
    for (int64_t i = 1; i <= (replay->hessian ? HESSIAN_BATCHES : behind); i++) {
        batches_fill(&replay->batches, replay->last_step + i, &replay->batch);
        if (replay->record)
            write_batch("", &replay->batch);
    }
}

/* train() */

/* What train() hands out, the latest of each step. */
struct rows {
    int64_t count, most;
    int64_t *step;
    double **values;
};

static void keep_row(void *context, int64_t step, const double *values, size_t count)
{
    struct rows *rows = context;
    int64_t row = 0;

    while (row < rows->count && rows->step[row] != step)
        row++;
    if (row == rows->most) {
        rows->most = 2 * rows->most + 16;
        rows->step = realloc(rows->step, (size_t)rows->most * sizeof(*rows->step));
        rows->values = realloc(rows->values, (size_t)rows->most * sizeof(*rows->values));
    }
    if (row == rows->count) {
        rows->step[row] = step;
        rows->values[row] = calloc(count + 1, sizeof(**rows->values));
        rows->count++;
    }
    memcpy(rows->values[row], values, count * sizeof(*values));
}

static void write_row(const struct replay *replay, int64_t step, const double *values)
{
    const struct metric_form form = metric_form(&replay->run, &replay->measuring);

    if (step != STEP_OF_RUN)
        write_integer("step", step);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        if (metric_is_of_run(metric) == (step == STEP_OF_RUN))
            write_reals(metric_table[metric].name, values + form.offset[metric],
                (int64_t)metric_values(metric, &form));
}

static void choose_groups(const struct replay *replay, struct measure *measure)
{
    for (int group = 0; group < GROUP_COUNT; group++)
        measure->group[group] = measure->group[group] || replay->all;
    if (replay->gradients) {
        measure->group[GROUP_GRADIENTS] = true;
        measure->gradient_batches = replay->gradients;
    }
    measure->group[GROUP_SATURATION] |= replay->saturation != 0;
    measure->group[GROUP_HEADS] |= replay->saturation != 0;
    measure->group[GROUP_ATTENTION] |= replay->attention != 0;
    measure->group[GROUP_SHARPNESS] |= replay->sharpness != 0;
    measure->group[GROUP_RESIDUAL] |= replay->residual != 0;
    measure->group[GROUP_EQUILIBRIUM] |= replay->equilibrium != 0;
    measure->group[GROUP_FORCES] |= replay->equilibrium != 0;
    measure->group[GROUP_SPECTRA] |= replay->spectra != 0;
    measure->group[GROUP_SPECTRA_VALUES] |= replay->spectra != 0;
    if (replay->lyapunov) {
        measure->group[GROUP_LYAPUNOV] = true;
        measure->lyapunov_exponents = replay->lyapunov;
        measure->lyapunov_sweeps = replay->sweeps;
    }
    if (replay->hessian) {
        measure->group[GROUP_HESSIAN] = measure->group[GROUP_HESSIAN_LAYERS] = true;
        measure->hessian_steps = replay->hessian;
        measure->hessian_probes = HESSIAN_PROBES;
        measure->hessian_batches = HESSIAN_BATCHES;
        measure->hessian_every = replay->measure;
    }
}

static void run_train(struct replay *replay)
{
    struct rows rows = {0};
    struct observer observer = {.context = &rows, .row = keep_row};
    struct measure *measure = &replay->measuring;
    struct arena arena = {0};
    struct result result;

    measure_init(measure);
    measure->every = replay->measure;
    measure->validate_tokens = replay->validate;
    choose_groups(replay, measure);
    train(&replay->run, &replay->corpus, measure, &observer, &arena, &result);
    arena_release(&arena);
    for (int64_t i = 0; i < rows.count; i++) {
        write_row(replay, rows.step[i], rows.values[i]);
        free(rows.values[i]);
    }
    free(rows.step);
    free(rows.values);
    write_integer("outcome", result.outcome);
    write_integer("result_last_step", result.last_step);
    write_integer("diverged_step", result.diverged_step);
    write_integer("trained_tokens", result.tokens);
    measure_release(measure);
}

/* Validation */

/* Of a sequence that predicts next words: its tokens, its last target, and the source's loss if known. */
static void write_next(const struct text *text, struct line line, const double *source_loss)
{
    int32_t *tokens = calloc((size_t)line.words + 1, sizeof(*tokens));

    text_copy(text, line.first, line.words + 1, tokens);
    write_tokens("valid_tokens", tokens, line.words + 1);
    if (source_loss)
        write_reals("source_loss", source_loss + line.first + 1, line.words);
    free(tokens);
}

/* Of every sequence: its batch, and the model's loss on each row. */
static void evaluate(struct replay *replay)
{
    const struct text *text = &replay->corpus.valid;
    const struct reading reading = run_reading(&replay->run, &replay->corpus);
    double *source_loss = calloc((size_t)text->token_count + 1, sizeof(*source_loss));
    double *row_loss = calloc((size_t)replay->run.context, sizeof(*row_loss));
    bool source_known = corpus_source_loss(&replay->source, text, source_loss) == 0;
    struct validation validation;

    validation_init(&validation, text, &reading, replay->validate);
    for (int64_t i = 0; validation_next(&validation, (struct batch_rows){0}, &replay->batch); i++) {
        transformer_loss(&replay->model, replay->weights, &replay->batch, row_loss);
        write_batch("validated_", &replay->batch);
        write_reals("model_loss", row_loss, replay->batch.rows);
        if (reading.task == TASK_NEXT)
            write_next(text, text_sequence(text, reading.sequences, reading.context, i),
                source_known ? source_loss : NULL);
    }
    free(source_loss);
    free(row_loss);
}

/* The Hessian */

/* A product for each unit vector; the planes of gradient and scaled weights serve for vector and product. */
static void write_hessian(struct replay *replay)
{
    const int64_t size = replay->model.layout.size;
    scalar *unit = replay->scaled, *column = replay->gradient;
    double slope;

    memset(unit, 0, (size_t)size * sizeof(*unit));
    for (int64_t i = 0; i < size; i++) {
        unit[i] = 1;
        write_real("hessian_loss", transformer_hessian_product(&replay->model, replay->weights,
                                       &replay->batch, unit, column, &slope));
        write_real("hessian_slope", slope);
        write_scalars("hessian", column, size);
        unit[i] = 0;
    }
}

/* Homogeneity */

static void write_homogeneity(const struct replay *replay)
{
    struct arena counted = {0}, arena;
    struct homogeneity_model h;
    struct homogeneity result;

    homogeneity_layout(&h, &replay->model.architecture, &counted);
    if (arena_init(&arena, counted.used) != 0)
        fail("no memory");
    homogeneity_layout(&h, &replay->model.architecture, &arena);
    homogeneity_measure(&h, replay->run.seed, &result);
    write_scalars("homogeneity_weights", h.weights, h.model.layout.size);
    write_tokens("homogeneity_tokens", h.batch.tokens, h.batch.rows);
    if (h.batch.source_rows > 0)
        write_tokens("homogeneity_source_tokens", h.batch.source_tokens, h.batch.source_rows);
    write_reals("homogeneity", result.cosine, HOMOGENEITY_SCALES);
    write_real("degree", result.degree);
    write_real("degree_r2", result.degree_r2);
    write_real("output_degree", result.output_degree);
    write_real("output_degree_r2", result.output_degree_r2);
    arena_release(&arena);
}

/* Batches */

static void write_batches(struct replay *replay)
{
    const struct corpus *corpus = &replay->corpus;
    const struct reading reading = run_reading(&replay->run, corpus);
    struct batch_rows most = reading_rows(&reading, &corpus->train, replay->run.batch);
    struct validation validation;

    if (arena_init(&replay->arena, (size_t)64 << 20) != 0)
        fail("no memory");
    layout_batches(replay);
    write_integer("vocabulary", corpus->vocabulary);
    write_integers("most_rows", (const int64_t[]){most.rows, most.source}, 2);
    for (int64_t step = 1; step <= replay->batches_wanted; step++) {
        batches_fill(&replay->batches, step, &replay->batch);
        write_batch("", &replay->batch);
    }
    validation_init(&validation, &corpus->valid, &reading, replay->validate);
    while (validation_next(&validation, (struct batch_rows){0}, &replay->batch) > 0)
        write_batch("validated_", &replay->batch);
}

int main(int argc, char **argv)
{
    struct replay replay = {0};

    run_init(&replay.run);
    replay.validate = VALIDATE_ALL;
    for (int i = 1; i < argc; i++)
        parse_argument(&replay, argv[i]);
    load(&replay);
    denormals_flush(true); /* as train() does */
    if (replay.batches_wanted)
        write_batches(&replay);
    else
        take_steps(&replay);
    if (replay.evaluate)
        evaluate(&replay);
    if (replay.measure)
        run_train(&replay);
    if (replay.products)
        write_hessian(&replay);
    if (replay.homogeneity)
        write_homogeneity(&replay);
    arena_release(&replay.arena);
    corpus_release(&replay.corpus);
    if (fflush(stdout) != 0)
        fail("cannot write");
    return 0;
}
