#include "driver/sweep/sweep.h"

#include "driver/sweep/consistent.h"
#include "driver/sweep/include.h"
#include "driver/sweep/list.h"
#include "driver/sweep/measuring.h"
#include "driver/sweep/reader.h"
#include "driver/sweep/settings.h"
#include "driver/sweep/skip.h"
#include "driver/sweep/together.h"
#include "driver/sweep/yaml.h"
#include "driver/tables/magic.h"
#include "driver/text/utf8.h"
#include "model/corpora/regular.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * How a sweep file is read: yaml.c turns it into a tree, include.c lays the tree over those of included
 * files, settings.c applies --set to the whole, and this file reads its keys in order; skip comes last, since
 * it needs all axes. Then consistent.c checks that the keys fit together.
 */

#define CHECKPOINT_MINUTES_DEFAULT 5

static int read_string(struct reader *reader, enum key key, const struct node *node, char **string)
{
    const char *text;

    if (value_text(reader, key_table[key].name, node, &text) < 0)
        return -1;
    free(*string);
    *string = reader_string(reader, "%s", text);
    return *string ? 0 : -1;
}

/* A non-empty path, relative to the current directory as it stands. */
static int read_output(struct reader *reader, const struct node *node)
{
    const char *name = key_table[KEY_OUTPUT].name;

    if (read_string(reader, KEY_OUTPUT, node, &reader->sweep->output) < 0)
        return -1;
    return reader->sweep->output[0] ? 0 : reader_fault(reader, node->place, "%s: an empty path", name);
}

/* A non-empty path, relative to the file that has it. */
static int read_path(struct reader *reader, enum key key, const struct node *node, char **path)
{
    const char *text;

    if (value_text(reader, key_table[key].name, node, &text) < 0)
        return -1;
    if (!text[0])
        return reader_fault(reader, node->place, "%s: an empty path", key_table[key].name);
    free(*path);
    *path = reader_path(reader, node, text);
    return *path ? 0 : -1;
}

/* A path, or a list of two: the source and the target of pairs. consistent.c knows which the corpus takes. */
static int read_text(
    struct reader *reader, enum key key, const struct node *node, char **source, char **target)
{
    if (node->kind != NODE_LIST)
        return read_path(reader, key, node, target);
    if (node->count != 2)
        return reader_fault(reader, node->place,
            "%s: takes one path or, for corpus pairs, two: [source, target]", key_table[key].name);
    if (read_path(reader, key, &node->child[0], source) < 0)
        return -1;
    return read_path(reader, key, &node->child[1], target);
}

static int read_checkpoint_minutes(struct reader *reader, const struct node *node)
{
    const char *name = key_table[KEY_CHECKPOINT_MINUTES].name;
    double *minutes = &reader->sweep->checkpoint_minutes;

    if (value_real(reader, name, node, minutes) < 0)
        return -1;
    if (!(*minutes > 0))
        return reader_fault(reader, node->place, "%s: %s is not above 0", name, node->text);
    return 0;
}

static int read_axis(struct reader *reader, const struct param *param, const struct node *node)
{
    struct list list;

    if (!param->axis)
        return reader_fault(reader, node->place, "%s: takes one value, not a list", param->name);
    if (list_read(reader, param, node, GRID_MOST, &list) < 0)
        return -1;
    struct axis *axis = reader_axis(reader, param->name, node->place, list.count, 1);
    if (!axis) {
        list_release(&list);
        return -1;
    }
    axis->param[0] = param;
    axis->value = list.value;
    axis->written = list.written;
    return 0;
}

static int read_param(struct reader *reader, const struct param *param, const struct node *node)
{
    union param_value value;

    if (reader_claim(reader, param, node->place, false) < 0)
        return -1;
    if (list_is(node))
        return read_axis(reader, param, node);
    if (value_param(reader, param, node, &value) < 0)
        return -1;
    param_set(param, &reader->sweep->base, value);
    return 0;
}

/* Free text of any number of lines. */
static int read_notes(struct reader *reader, const struct node *node)
{
    char **notes = &reader->sweep->notes;

    if (read_string(reader, KEY_NOTES, node, notes) < 0)
        return -1;
    if (strlen(*notes) > NOTES_LONGEST)
        return reader_fault(
            reader, node->place, "%s: longer than %d bytes", key_table[KEY_NOTES].name, NOTES_LONGEST);
    for (const unsigned char *byte = (const unsigned char *)*notes; *byte; byte++)
        if ((*byte < 0x20 || *byte == 0x7f) && *byte != '\n' && *byte != '\t')
            return reader_fault(
                reader, node->place, "%s: a control character in the text", key_table[KEY_NOTES].name);
    return 0;
}

static int read_key(struct reader *reader, enum key key, const struct node *node)
{
    struct sweep *sweep = reader->sweep;

    sweep->places->key[key] = (struct spot){.given = true, .place = node->place};
    switch (key) {
    case KEY_TITLE:
        return read_string(reader, key, node, &sweep->title);
    case KEY_OUTPUT:
        return read_output(reader, node);
    case KEY_NOTES:
        return read_notes(reader, node);
    case KEY_TRAIN_TEXT:
        return read_text(reader, key, node, &sweep->train_source_path, &sweep->train_path);
    case KEY_VALID_TEXT:
        return read_text(reader, key, node, &sweep->valid_source_path, &sweep->valid_path);
    case KEY_TOGETHER:
        return together_read(reader, node);
    case KEY_MEASURE:
        return measure_read(reader, node);
    case KEY_VALIDATE:
    case KEY_GRADIENT_BATCHES:
    case KEY_HESSIAN:
    case KEY_LYAPUNOV_EXPONENTS:
    case KEY_LYAPUNOV_SWEEPS:
        return options_read(reader, key, node);
    case KEY_CHECKPOINT_MINUTES:
        return read_checkpoint_minutes(reader, node);
    case KEY_SKIP: /* read_keys reads these after all axes */
    case KEY_REFINE:
    case KEY_INCLUDE: /* include.c has taken it out */
    case KEY_COUNT:
        break;
    }
    return 0;
}

static int read_keys(struct reader *reader, const struct node *root)
{
    const struct node *skip = NULL, *refine = NULL;

    for (int64_t i = 0; i < root->count; i++) {
        enum key key = key_find(root->key[i].text);
        const struct param *param = param_find(root->key[i].text);
        if (key == KEY_SKIP)
            skip = &root->child[i];
        if (key == KEY_REFINE)
            refine = &root->child[i];
        if (key == KEY_COUNT && !param)
            return reader_unknown(reader, &root->key[i]);
        if (param ? read_param(reader, param, &root->child[i]) < 0
                  : read_key(reader, key, &root->child[i]) < 0)
            return -1;
    }
    if (refine && refine_read(reader, refine) < 0)
        return -1;
    return skip ? skip_read(reader, skip) : 0;
}

/* The output of a sweep file that does not name one: the file's name without folder, and with .nc in place of
 * .yaml. The caller frees it; NULL: no memory. */
static char *sweep_default_output(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    char *output;

    if (length > 5 && strcmp(name + length - 5, ".yaml") == 0)
        length -= 5;
    else if (length > 4 && strcmp(name + length - 4, ".yml") == 0)
        length -= 4;
    return asprintf(&output, "%.*s.nc", (int)length, name) < 0 ? NULL : output;
}

static int default_output(struct reader *reader)
{
    struct sweep *sweep = reader->sweep;

    if (!sweep->output)
        sweep->output = sweep_default_output(sweep->path);
    return sweep->output ? 0 : error_set(reader->error, ERROR_ENVIRONMENT, "%s: no memory", sweep->path);
}

static void fill_source(struct sweep *sweep)
{
    sweep->source = (struct corpus_source){
        .kind = (enum corpus_kind)sweep->base.corpus,
        .vocabulary = sweep->base.vocabulary,
        .min_count = sweep->base.min_count,
        .tokens = sweep->base.corpus_tokens,
        .share = sweep->base.train_share,
        .seed = sweep->base.corpus_seed,
        .train_path = sweep->train_path,
        .valid_path = sweep->valid_path,
        .train_source_path = sweep->train_source_path,
        .valid_source_path = sweep->valid_source_path,
    };
}

static int read_tree(struct reader *reader, struct node *root, const struct file_identity *identity,
    const char *const *settings, int setting_count)
{
    if (root->kind != NODE_MAP)
        return reader_fault(reader, root->place, "a sweep file holds lines of the form key: value");
    if (settings_apply(reader, root, settings, setting_count, true) < 0 ||
        include_expand(reader, root, identity) < 0 ||
        settings_apply(reader, root, settings, setting_count, false) < 0 || read_keys(reader, root) < 0 ||
        default_output(reader) < 0)
        return -1;
    fill_source(reader->sweep);
    return consistent_check(reader);
}

static void write_included(FILE *out, const struct included *file)
{
    const char *line = file->text;
    size_t left = file->size;
    struct error ignored;

    utf8_begin(&line, &left, &ignored);
    fprintf(out, "# include %s\n", file->name);
    while (left > 0) {
        const char *end = memchr(line, '\n', left);
        size_t length = end ? (size_t)(end - line) : left, step = length + (end ? 1 : 0);
        fprintf(out, "# |%s%.*s\n", length > 0 ? " " : "", (int)length, line);
        line += step;
        left -= step;
    }
}

static void write_setting(FILE *out, const char *setting)
{
    fputs("# --set ", out);
    for (; *setting; setting++)
        fputc(*setting == '\n' ? ' ' : *setting, out);
    fputc('\n', out);
}

/* The text of a sweep as its dataset keeps it, with included files and settings as comments at the end. */
static int keep_text(
    struct reader *reader, const char *text, size_t size, const char *const *settings, int setting_count)
{
    struct sweep *sweep = reader->sweep;
    size_t length;
    FILE *out = open_memstream(&sweep->text, &length);

    if (!out)
        return error_set(reader->error, ERROR_ENVIRONMENT, "%s: no memory", sweep->path);
    fwrite(text, 1, size, out);
    if (size > 0 && text[size - 1] != '\n')
        fputc('\n', out);
    for (int i = 0; i < sweep->included_count; i++)
        write_included(out, &sweep->included[i]);
    for (int i = 0; i < setting_count; i++)
        write_setting(out, settings[i]);
    bool written = !ferror(out);
    if (fclose(out) == 0 && written)
        return 0;
    return error_set(reader->error, ERROR_ENVIRONMENT, "%s: no memory", sweep->path);
}

/* Sets everything to its default. */
static int start_reading(struct reader *reader, const char *name)
{
    struct sweep *sweep = reader->sweep;

    *sweep = (struct sweep){.cells = 1, .checkpoint_minutes = CHECKPOINT_MINUTES_DEFAULT};
    run_init(&sweep->base);
    measure_init(&sweep->measure);
    sweep->path = strdup(name);
    sweep->title = strdup("");
    sweep->notes = strdup("");
    sweep->places = calloc(1, sizeof(*sweep->places));
    if (sweep->places)
        sweep->places->param = calloc(param_count, sizeof(*sweep->places->param));
    if (sweep->path && sweep->title && sweep->notes && sweep->places && sweep->places->param)
        return 0;
    return error_set(reader->error, ERROR_ENVIRONMENT, "%s: no memory", name);
}

/* Reads a sweep file from its text. */
static int read_sweep(struct reader *reader, const char *text, size_t size,
    const struct file_identity *identity, const char *const *settings, int setting_count)
{
    struct place fault = PLACE_DEFAULT;
    const char *name = reader->sweep->path;
    struct node root = {0};

    if (utf8_begin(&text, &size, reader->error) < 0)
        return place_prefix(reader->error, name, fault);
    if (size > FILE_MOST)
        return reader_fault(reader, fault, "larger than %d bytes", FILE_MOST);
    if (yaml_read(&root, text, size, &fault, reader->error) < 0)
        return place_prefix(reader->error, name, fault);
    int status = read_tree(reader, &root, identity, settings, setting_count);
    if (status == 0)
        status = keep_text(reader, text, size, settings, setting_count);
    node_release(&root);
    return status;
}

static int parse(struct sweep *sweep, const char *name, const char *folder, const char *text, size_t size,
    const struct file_identity *identity, const char *const *settings, int setting_count, struct error *error)
{
    struct reader reader = {.sweep = sweep, .folder = folder, .error = error};
    int status = start_reading(&reader, name);

    if (status == 0)
        status = read_sweep(&reader, text, size, identity, settings, setting_count);
    if (status < 0)
        sweep_release(sweep);
    return status;
}

int sweep_parse(struct sweep *sweep, const char *name, const char *folder, const char *text, size_t size,
    const char *const *settings, int setting_count, struct error *error)
{
    const struct file_identity none = {0};

    return parse(sweep, name, folder, text, size, &none, settings, setting_count, error);
}

static int load_fault(const char *path, int cause, struct error *error)
{
    return error_set(error, cause == ENOMEM ? ERROR_ENVIRONMENT : ERROR_INPUT, "%s%s: %s", path,
        cause == REGULAR_NONE ? ":1:1" : "", regular_why(cause));
}

int sweep_load(struct sweep *sweep, const char *path, const char *const *settings, int setting_count,
    struct error *error)
{
    const char *slash = strrchr(path, '/');
    struct file_identity identity;
    size_t size;
    char *text;

    if (magic_is_netcdf(path))
        return error_set(error, ERROR_INPUT, "%s: is a dataset; give its sweep file instead", path);
    int cause = file_read(path, &text, &size, &identity);
    if (cause != 0)
        return load_fault(path, cause, error);
    char *folder = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
    int status = folder ? parse(sweep, path, folder, text, size, &identity, settings, setting_count, error)
                        : error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    free(folder);
    free(text);
    return status;
}

void axis_release(struct axis *axis)
{
    for (int64_t i = 0; axis->label && i < axis->length; i++)
        free(axis->label[i]);
    free(axis->label);
    free(axis->name);
    free(axis->param);
    free(axis->value);
    free(axis->written);
}

void sweep_release(struct sweep *sweep)
{
    for (int64_t i = 0; i < sweep->axis_count; i++)
        axis_release(&sweep->axis[i]);
    if (sweep->places)
        free(sweep->places->param);
    free(sweep->places);
    free(sweep->axis);
    free(sweep->skip);
    for (int i = 0; i < sweep->included_count; i++) {
        free(sweep->included[i].path);
        free(sweep->included[i].name);
        free(sweep->included[i].text);
    }
    free(sweep->included);
    free(sweep->path);
    free(sweep->text);
    free(sweep->notes);
    free(sweep->title);
    free(sweep->output);
    free(sweep->train_path);
    free(sweep->valid_path);
    free(sweep->train_source_path);
    free(sweep->valid_source_path);
    measure_release(&sweep->measure);
    *sweep = (struct sweep){0};
}
