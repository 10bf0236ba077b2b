/*
 * normsweep inspect: the measurements of a sweep, on a model that was trained elsewhere.
 *
 * All files are checked before the first line is printed.
 */
#include "driver/commands/inspect.h"

#include "driver/commands/commands.h"
#include "driver/output/mapped_file.h"
#include "driver/weights/gpt2.h"
#include "driver/weights/gpt2_config.h"
#include "driver/weights/token_ids.h"
#include "model/core/limits.h"
#include "model/corpora/batches.h"
#include "model/corpora/text.h"
#include "model/instruments/collapse.h"
#include "model/instruments/instruments.h"
#include "model/instruments/saturation.h"
#include "worker/host/processors.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ROWS_LEAST = 1024 }; /* rows of a batch, at least: short windows share a batch */

/* A model, its text, and the measurements. */
struct inspection {
    struct architecture architecture;
    struct text text; /* token_count 0: none */
    int64_t window, threads;
    struct transformer model;
    struct instruments instruments;
    struct saturation saturation;
    struct collapse collapse;
    struct batch batch;
    scalar *weights, *scaled;
    struct state_measures state;
    double loss;
    struct collapse_measures predicted;
};

/* The number of rows of the largest batch, which holds whole windows. */
static int64_t batch_rows(const struct inspection *i)
{
    int64_t windows = text_sequences(&i->text, SEQUENCES_STREAM, i->window);
    int64_t most = i->window < ROWS_LEAST ? ROWS_LEAST / i->window : 1;

    return i->window * (windows < most ? windows : most);
}

static void inspection_layout(struct inspection *i, struct arena *arena)
{
    const struct architecture *a = &i->architecture;

    if (i->text.token_count) {
        transformer_layout(&i->model, a, batch_rows(i), i->threads, false, arena);
        batch_layout(&i->batch, i->model.max_rows, arena);
        saturation_layout(&i->saturation, a, i->model.max_rows, i->threads, true, true, false, arena);
        collapse_layout(&i->collapse, a->vocabulary, i->model.max_rows, arena);
        i->scaled = arena_take(arena, (size_t)i->model.layout.size, sizeof(scalar));
    } else {
        weight_layout_init(&i->model.layout, a, arena);
    }
    instruments_layout(&i->instruments, &i->model.layout, a, arena);
    i->weights = arena_take(arena, (size_t)i->model.layout.size, sizeof(scalar));
}

static int take_memory(struct inspection *i, struct arena *arena, struct error *error)
{
    struct arena counted = {0};

    inspection_layout(i, &counted);
    if (counted.used > limits()->memory || arena_init(arena, counted.used) < 0)
        return error_set(error, ERROR_ENVIRONMENT,
            "no memory: %.1f MiB are needed, this process may use %.1f MiB%s", (double)counted.used / 0x1p20,
            (double)limits()->memory / 0x1p20, i->text.token_count ? "; a smaller --context needs less" : "");
    inspection_layout(i, arena);
    return 0;
}

/* Reads the text and sets the length of its windows. */
static int read_text(struct inspection *i, const struct arguments *arguments, struct error *error)
{
    int64_t context = i->architecture.context;

    i->window = arguments->context ? arguments->context : context;
    if (i->window > context)
        return error_set(error, ERROR_INPUT, "%s: --context %" PRId64 " is larger than the model's %" PRId64,
            arguments->operand[0], i->window, context);
    if (!arguments->tokens)
        return 0;
    if (token_ids_read(&i->text, arguments->tokens, i->architecture.vocabulary, error) < 0)
        return -1;
    if (text_sequences(&i->text, SEQUENCES_STREAM, i->window) > 0)
        return 0;
    return error_set(error, ERROR_INPUT,
        "%s: %" PRId64 " tokens do not fill one window of %" PRId64
        " and its target; give a smaller --context",
        arguments->tokens, i->text.token_count, i->window);
}

static int read_config(struct gpt2_config *config, const struct arguments *arguments, struct error *error)
{
    const char *path = arguments->operand[0];

    if (gpt2_config_read(config, path, error) < 0)
        return -1;
    if (arguments->heads)
        config->heads = arguments->heads;
    if (config->heads || !arguments->tokens)
        return 0;
    return error_set(error, ERROR_INPUT,
        "%s: unknown number of attention heads; give --heads N, or n_head in a config.json beside it", path);
}

static void measure_text(struct inspection *i)
{
    const struct reading reading = {.context = i->window}; /* the next word, in a stream */
    const struct batch_rows room = {.rows = i->model.max_rows};
    const struct weight_planes planes = {i->weights, i->scaled, NULL};
    struct validation validation;
    double sum = 0;

    validation_init(&validation, &i->text, &reading, INT64_MAX);
    collapse_begin(&i->collapse);
    weights_scale(i->scaled, i->weights, i->model.layout.size, SATURATION_SCALE);
    saturation_begin(&i->saturation, &planes);
    while (validation_next(&validation, room, &i->batch)) {
        sum += (double)i->batch.sequences *
               transformer_evaluate(&i->model, i->weights, &i->batch, NULL, i->collapse.predicted);
        collapse_add(&i->collapse, &i->batch);
        saturation_add(&i->saturation, &planes, &i->batch);
    }
    collapse_end(&i->collapse, &i->predicted);
    saturation_end(&i->saturation);
    i->loss = sum / (double)validation.sequence_count;
}

/* Prints a line of the table; layer or head -1, tensor NULL: the column does not apply. */
static void print(const char *name, int64_t layer, const char *tensor, int64_t head, double value)
{
    char number[2][24] = {"-", "-"};

    if (layer >= 0)
        snprintf(number[0], sizeof(number[0]), "%" PRId64, layer);
    if (head >= 0)
        snprintf(number[1], sizeof(number[1]), "%" PRId64, head);
    printf("%s\t%s\t%s\t%s\t%.10g\n", name, number[0], tensor ? tensor : "-", number[1], value);
}

/* A value of the whole model. */
static void print_whole(const char *name, double value)
{
    print(name, -1, NULL, -1, value);
}

static void print_norms(const struct inspection *i)
{
    print_whole("param_norm", i->state.param_norm);
    print_whole("embedding_norm", i->state.embedding_norm);
    print_whole("output_norm", i->state.output_norm);
    print_whole("total_norm", i->state.total_norm);
    for (int64_t layer = 0; layer < i->architecture.layers; layer++)
        print("layer_norm", layer, NULL, -1, i->instruments.layer_norm[layer]);
    for (int64_t layer = 0; layer < i->architecture.layers; layer++)
        for (int64_t k = 0; k < LAYER_TENSOR_COUNT; k++) {
            double norm = i->instruments.tensor_norm[layer * LAYER_TENSOR_COUNT + k];
            if (!isnan(norm)) /* NaN: the network does not have this tensor */
                print("tensor_norm", layer, tensor_table[LAYER_TENSOR_FIRST + k].name, -1, norm);
        }
}

/* Values of the state after each layer, and of the input of the output layer. */
static void print_states(const char *name, const char *final, const double *cosine, int64_t layers)
{
    for (int64_t layer = 0; layer < layers; layer++)
        print(name, layer, NULL, -1, cosine[layer]);
    print_whole(final, cosine[layers]);
}

static void print_heads(const char *name, const struct saturation *s, const double *value)
{
    for (int64_t layer = 0; layer < s->blocks; layer++)
        for (int64_t head = 0; head < s->heads; head++)
            print(name, layer, NULL, head, value[layer * s->heads + head]);
}

static void print_text(const struct inspection *i)
{
    const struct saturation *s = &i->saturation;

    print_whole("tokens", (double)s->rows[0]); /* in whole windows */
    print_whole("valid_loss", i->loss);
    print_whole("accuracy", i->predicted.accuracy);
    print_whole("predicted_entropy", i->predicted.predicted_entropy);
    print_states("saturation", "saturation_final", s->soft, s->blocks);
    print_states("hard_saturation", "hard_saturation_final", s->hard, s->blocks);
    print_heads("positions_attended", s, s->attended);
    print_heads("fraction_attended", s, s->fraction);
    print_heads("share_above_one", s, s->above_one);
}

/* Reads config, architecture and text. */
static int read_inputs(struct inspection *i, const struct arguments *arguments,
    const struct safetensors *file, struct error *error)
{
    struct gpt2_config config;

    if (read_config(&config, arguments, error) < 0)
        return -1;
    if (gpt2_architecture(file, &config, &i->architecture, error) < 0)
        return error_prefix(error, "%s", arguments->operand[0]);
    return read_text(i, arguments, error);
}

static void measure_weights(struct inspection *i)
{
    measure_state(&i->instruments, i->weights, &i->state);
    if (i->text.token_count)
        measure_text(i);
}

static void print_table(const struct inspection *i)
{
    puts("name\tlayer\ttensor\thead\tvalue");
    print_norms(i);
    if (i->text.token_count)
        print_text(i);
}

/* Measures the model whose tensors are in `file`, and prints the table. */
static int inspect(struct inspection *i, const struct arguments *arguments, const struct safetensors *file,
    struct error *error)
{
    struct arena arena = {0};

    if (read_inputs(i, arguments, file, error) < 0)
        return -1;
    int status = take_memory(i, &arena, error);
    if (status == 0)
        status = gpt2_weights(file, &i->architecture, &i->model.layout, i->weights, error);
    if (status == 0) {
        measure_weights(i);
        print_table(i);
    } else {
        error_prefix(error, "%s", arguments->operand[0]);
    }
    arena_release(&arena);
    return status;
}

static int inspect_files(const struct arguments *arguments, struct error *error)
{
    struct inspection inspection = {.threads = arguments->threads ? arguments->threads : processors_count()};
    const char *path = arguments->operand[0];
    struct safetensors file;
    struct mapped_file mapped;

    if (mapped_file_open(&mapped, path, error) < 0)
        return -1;
    int status = safetensors_parse(&file, path, mapped.bytes, mapped.size, error);
    if (status == 0) {
        status = inspect(&inspection, arguments, &file, error);
        token_ids_release(&inspection.text);
        safetensors_release(&file);
    }
    mapped_file_close(&mapped);
    return status;
}

int command_inspect(int argc, char **argv)
{
    struct arguments arguments;
    struct error error;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    status = inspect_files(&arguments, &error);
    arguments_release(&arguments);
    return status == 0 ? command_flush(0) : command_fail(&error);
}
