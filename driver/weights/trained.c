/*
 * Opening a model goes from the outside in: files, configuration, family, architecture, tensors. What a
 * family is stands in its table (family.h); this file knows none of them.
 */
#include "driver/weights/trained.h"

#include "driver/text/place.h"
#include "driver/weights/convert.h"
#include "driver/weights/gpt2.h"
#include "driver/weights/match.h"
#include "model/core/check.h"
#include "worker/checkpoint/saved.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { QUERIES_MOST = 1 << 24 };

struct trained_files {
    struct matches matches;
};

/* ---- the output layer ---- */

/* Has a file any tensor of the layers behind the stacks? */
static bool has_transform(const struct matches *matches, const struct architecture *a)
{
    for (enum tensor_kind kind = 0; kind < TENSOR_KIND_COUNT; kind++)
        if (tensor_table[kind].part == PART_OUTPUT && matches_find(matches, a, kind))
            return true;
    return false;
}

/*
 * Has the model an output layer? Language models have one if it is tied, and then no tensor for it, or if its
 * matrix is there; with the prefix of a model that has one, it must be. Others have more tensors behind the
 * stacks, all or none of them.
 */
static bool predicts(const struct matches *matches, const struct properties *p)
{
    const struct architecture *a = &p->architecture;

    if (a->transform)
        return has_transform(matches, a);
    if (!family_row(matches->family, a, TENSOR_OUTPUT, -1))
        return false;
    return p->tied || matches->prefixed || matches_find(matches, a, TENSOR_OUTPUT);
}

static int settle_output(
    const struct matches *matches, struct properties *p, bool has_output, struct error *error)
{
    struct architecture *a = &p->architecture;
    const struct stored_tensor *output = matches_find(matches, a, TENSOR_OUTPUT);

    a->tied = p->tied || !has_output;
    if (!has_output) {
        a->biases &= ~(unsigned)BIAS_OUTPUT;
        a->transform = false;
        a->output_scale = 0;
        return 0;
    }
    if (p->gelu_transform && a->activation != ACTIVATION_GELU)
        return error_set(error, ERROR_INPUT,
            "its prediction layer has gelu, but hidden_act in config.json is another activation");
    if (output) {
        if (matches_equal(matches, a, TENSOR_TOKEN, output, &a->tied, error) < 0)
            return -1;
        if (!a->tied && p->surely_tied)
            return error_set(error, ERROR_INPUT,
                "%s differs from %s, but tie_word_embeddings in config.json makes them one", output->name,
                matches_find(matches, a, TENSOR_TOKEN)->name);
    }
    return 0;
}

/* ---- the architecture ---- */

static const struct family *choose_family(struct config *config)
{
    const char *type = config_word(config, CONFIG_MODEL_TYPE, family_gpt2.model_type);
    const struct family *family = family_find(type);
    char words[CONFIG_WORDS_SIZE];

    family_words(words);
    if (!family)
        config_refuse(config, CONFIG_MODEL_TYPE, words);
    return config->failed ? NULL : family;
}

/* Refuses a number of heads that contradicts the configuration. */
static void compare_heads(struct config *config, const struct family *family, int64_t known, int64_t heads)
{
    if (heads && known && heads != known && family->heads_key)
        config_fail(config, "%s: %" PRId64 ", but --heads %" PRId64 "; leave --heads out", family->heads_key,
            known, heads);
}

/* The number of heads that a user gives is for models whose configuration is lost. */
static int settle_heads(
    struct trained *trained, const struct family *family, int64_t heads, struct error *error)
{
    struct architecture *a = &trained->architecture;
    int64_t kv_heads;

    if (heads && !family->heads_key)
        return error_set(error, ERROR_INPUT, "config.json has the number of heads of a %s; leave out --heads",
            family->title);
    a->heads = heads ? heads : a->heads;
    trained->heads_known = a->heads > 0;
    a->heads = trained->heads_known ? a->heads : 1;
    kv_heads = architecture_kv_heads(a);
    if (!a->head_width && a->width % a->heads)
        return error_set(
            error, ERROR_INPUT, "%" PRId64 " heads do not divide the width of %" PRId64, a->heads, a->width);
    if (a->heads % kv_heads)
        return error_set(error, ERROR_INPUT,
            "%" PRId64 " heads of keys and values do not divide the %" PRId64 " heads", kv_heads, a->heads);
    if (a->heads * architecture_depth(a) > QUERIES_MOST)
        return error_set(error, ERROR_INPUT, "%" PRId64 " heads of %" PRId64 " are more than %d together",
            a->heads, architecture_depth(a), QUERIES_MOST);
    return 0;
}

/* Everything behind config.json. -1 with a message in error, with its path. */
static int open_model(struct trained *trained, struct config *config, int64_t heads, struct error *error)
{
    const struct family *family = choose_family(config);
    struct matches *matches = &trained->files->matches;
    struct properties p = {.special = {.start = -1, .end = -1, .padding = -1}};
    int status = 0;

    if (!family)
        return -1;
    p.architecture = family->initial;
    p.architecture.init_scale = p.architecture.residual_scale = 1;
    matches_begin(matches, family);
    if (!config->root)
        status = matches_unconfigured(matches, error);
    if (status == 0 && family->sized_by_tensors)
        status = matches_sizes(matches, &p.architecture, error);
    if (status == 0) {
        family_read(family, config, &p);
        compare_heads(config, family, p.architecture.heads, heads);
    }
    if (config->failed)
        return -1;
    trained->family = family->model_type;
    trained->special = p.special;
    trained->architecture = p.architecture;
    matches->padding = p.padding;
    if (status == 0)
        status = settle_heads(trained, family, heads, error);
    p.architecture = trained->architecture;
    trained->has_output = status == 0 && predicts(matches, &p);
    if (status == 0)
        status = settle_output(matches, &p, trained->has_output, error);
    trained->architecture = p.architecture;
    if (status == 0)
        status = matches_fill(matches, &trained->architecture, error);
    return status == 0 ? 0 : error_prefix(error, "%s", matches->shards.path);
}

/* ---- a run's own ---- */

static bool is_run(const char *path)
{
    size_t length = strlen(path);
    struct stat status;

    if (length <= 3 || strcmp(path + length - 3, ".nc") != 0)
        return false;
    return stat(path, &status) != 0 || !S_ISDIR(status.st_mode);
}

static int open_saved(struct trained *trained, const char *path, int64_t heads, struct error *error)
{
    *trained = (struct trained){.family = "normsweep",
        .has_output = true,
        .heads_known = true,
        .saved = calloc(1, sizeof(*trained->saved))};
    if (!trained->saved)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    int status =
        heads ? error_set(error, ERROR_INPUT, "%s: the file has its number of heads; leave out --heads", path)
              : saved_open(trained->saved, path, error);
    if (status < 0) {
        free(trained->saved);
        return status;
    }
    trained->architecture = trained->saved->architecture;
    trained->special = (struct special_tokens){trained->saved->end_of_line, trained->saved->end_of_line, -1};
    return 0;
}

/* ---- opening and closing ---- */

int trained_open(struct trained *trained, const char *path, int64_t heads, struct error *error)
{
    struct config config;

    if (is_run(path))
        return open_saved(trained, path, heads, error);
    *trained = (struct trained){.files = calloc(1, sizeof(*trained->files))};
    if (!trained->files)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    struct shards *shards = &trained->files->matches.shards;
    int status = shards_open(shards, path, error);
    if (status == 0)
        status = config_open(&config, shards_beside(shards, CONFIG_FILE), error);
    if (status == 0) {
        status = open_model(trained, &config, heads, error);
        config_close(&config);
    }
    if (status < 0)
        trained_close(trained);
    return status;
}

void trained_close(struct trained *trained)
{
    if (trained->files) {
        free(trained->files->matches.match);
        shards_close(&trained->files->matches.shards);
    }
    if (trained->saved)
        saved_close(trained->saved);
    free(trained->files);
    free(trained->saved);
    *trained = (struct trained){0};
}

/* ---- weights ---- */

static const struct match *match_of(const struct trained *trained, enum tensor_kind kind, int64_t layer)
{
    const struct matches *matches = &trained->files->matches;
    int64_t index = tensor_index(&trained->architecture, kind, layer);

    INVARIANT(index < matches->count && matches->match[index].stored, "a %s has no %s", trained->family,
        tensor_table[kind].name);
    return &matches->match[index];
}

/*
 * Writes one tensor. A layout of fewer positions than the model's takes the first ones; the parts of a tensor
 * have equal sizes.
 */
static void load_tensor(
    const struct match *match, int64_t padding, const struct tensor *tensor, scalar *weights)
{
    const struct family_row *row = match->row;
    const struct stored_tensor *stored = match->stored;
    int64_t parts = row->parts ? row->parts : 1, size = stored->count / parts;
    scalar *out = weights + tensor->offset;

    if (row->form & IN_OUT)
        convert_turned(stored, stored->count / tensor->columns, row->part * tensor->rows, tensor->rows,
            tensor->columns, out);
    else
        convert(stored, row->part * size + (row->form & PADDED ? padding * tensor->columns : 0), tensor->size,
            out);
}

static void load(void *context, const struct weight_layout *layout, int64_t layer, scalar *weights)
{
    const struct trained *trained = context;
    const struct trained_files *files = trained->files;

    for (enum tensor_kind kind = 0; kind < TENSOR_KIND_COUNT; kind++) {
        if ((tensor_table[kind].part == PART_LAYER) != (layer >= 0))
            continue;
        const struct tensor *tensor = &layout->tensor[tensor_index(&trained->architecture, kind, layer)];
        if (tensor->size > 0)
            load_tensor(match_of(trained, kind, layer), files->matches.padding, tensor, weights);
    }
}

struct weight_source trained_source(struct trained *trained)
{
    if (trained->saved)
        return saved_source(trained->saved);
    return (struct weight_source){.load = load, .context = trained};
}

int trained_check(const struct trained *trained, struct error *error)
{
    if (trained->saved)
        return saved_check(trained->saved, error);
    return shards_check(&trained->files->matches.shards, error);
}

const char *trained_file(const struct trained *trained, enum tensor_kind kind, int64_t layer)
{
    if (trained->saved)
        return trained->saved->path;
    return shards_path(&trained->files->matches.shards, match_of(trained, kind, layer)->stored);
}

const char *trained_path(const struct trained *trained)
{
    return trained->saved ? trained->saved->path : trained->files->matches.shards.path;
}

const char *trained_name(const struct trained *trained, enum tensor_kind kind, int64_t layer)
{
    if (trained->saved)
        return tensor_table[kind].name;
    return match_of(trained, kind, layer)->stored->name;
}
