/*
 * How a sweep file is read: yaml.c turns it into a tree, include.c lays the tree over those of included
 * files, and --set over the whole, and this file reads its keys in order, through axes.c and values.c; skip
 * comes last, since it needs all axes. Then consistent.c checks that the keys fit together.
 */
#include "driver/sweep/inside.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"
#include "model/corpora/corpora.h"
#include "worker/checkpoint/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECKPOINT_MINUTES_DEFAULT 5

static int read_string(struct reader *reader, enum key key, const struct node *node, char **string)
{
    const char *text;

    if (value_text(reader, key_table[key].name, node, &text) < 0)
        return -1;
    free(*string);
    *string = memory_copy(text);
    return 0;
}

/* A non-empty path: `output` as it stands, others relative to the file that has them. */
static int read_path(struct reader *reader, enum key key, const struct node *node, char **path)
{
    const char *text;

    if (value_text(reader, key_table[key].name, node, &text) < 0)
        return -1;
    if (!text[0])
        return node_fault(reader, node, "%s: an empty path", key_table[key].name);
    *path = key == KEY_OUTPUT ? memory_copy(text) : reader_path(reader, node, text);
    return 0;
}

/* A path, or a list of two: the source and the target of pairs. consistent.c knows which the corpus takes. */
static int read_text(
    struct reader *reader, enum key key, const struct node *node, char **source, char **target)
{
    if (node->kind != NODE_LIST)
        return read_path(reader, key, node, target);
    if (node->count != 2)
        return node_fault(reader, node, "%s: takes one path or, for corpus pairs, two: [source, target]",
            key_table[key].name);
    if (read_path(reader, key, &node->child[0], source) < 0)
        return -1;
    return read_path(reader, key, &node->child[1], target);
}

/* Free text of any number of lines. */
static int read_notes(struct reader *reader, const struct node *node)
{
    char **notes = &reader->sweep->notes;

    if (read_string(reader, KEY_NOTES, node, notes) < 0)
        return -1;
    if (strlen(*notes) > NOTES_LONGEST)
        return node_fault(reader, node, "%s: longer than %d bytes", key_table[KEY_NOTES].name, NOTES_LONGEST);
    for (const unsigned char *byte = (const unsigned char *)*notes; *byte; byte++)
        if ((*byte < 0x20 || *byte == 0x7f) && *byte != '\n' && *byte != '\t')
            return node_fault(reader, node, "%s: a control character in the text", key_table[KEY_NOTES].name);
    return 0;
}

static int read_key(struct reader *reader, enum key key, const struct node *node)
{
    struct sweep *sweep = reader->sweep;

    sweep->spots->key[key] = (struct spot){.given = true, .position = node->position};
    switch (key) {
    case KEY_TITLE:
        return read_string(reader, key, node, &sweep->title);
    case KEY_OUTPUT:
        return read_path(reader, key, node, &sweep->output);
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
    case KEY_SPECTRA:
    case KEY_LYAPUNOV_EXPONENTS:
    case KEY_LYAPUNOV_SWEEPS:
        return options_read(reader, key, node);
    case KEY_CHECKPOINT_MINUTES:
        if (value_real(reader, key_table[key].name, node, &sweep->checkpoint_minutes) < 0)
            return -1;
        if (sweep->checkpoint_minutes > 0)
            return 0;
        return node_fault(reader, node, "%s: %s is not above 0", key_table[key].name, node->text);
    case KEY_TRUNKS:
        return value_truth(reader, key_table[key].name, node, &sweep->trunks);
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
        if (param ? param_read(reader, param, &root->child[i]) < 0
                  : read_key(reader, key, &root->child[i]) < 0)
            return -1;
    }
    if (refine && refine_read(reader, refine) < 0)
        return -1;
    return skip ? skip_read(reader, skip) : 0;
}

/* The output of a sweep file that does not name one: the file's name without folder, and with .nc in place of
 * .yaml. The caller frees it. */
static char *default_output(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);

    if (length > 5 && strcmp(name + length - 5, ".yaml") == 0)
        length -= 5;
    else if (length > 4 && strcmp(name + length - 4, ".yml") == 0)
        length -= 4;
    return memory_format("%.*s.nc", (int)length, name);
}

static void write_included(struct string *out, const struct included *file)
{
    const char *line = file->text;
    size_t left = file->size;
    struct error ignored;

    utf8_begin(&line, &left, &ignored);
    string_format(out, "# include %s\n", file->name);
    while (left > 0) {
        const char *end = memchr(line, '\n', left);
        size_t length = end ? (size_t)(end - line) : left, step = length + (end ? 1 : 0);
        string_format(out, "# |%s", length > 0 ? " " : "");
        string_add(out, line, length);
        string_add(out, "\n", 1);
        line += step;
        left -= step;
    }
}

/* The text of a sweep as its dataset keeps it, with included files and settings as comments at the end. */
static void keep_text(
    struct sweep *sweep, const char *text, size_t size, const char *const *settings, int setting_count)
{
    struct string out = {0};
    struct error ignored;

    utf8_begin(&text, &size, &ignored); /* it has been read */
    string_add(&out, text, size);
    if (size > 0 && text[size - 1] != '\n')
        string_add(&out, "\n", 1);
    for (int i = 0; i < sweep->included_count; i++)
        write_included(&out, &sweep->included[i]);
    for (int i = 0; i < setting_count; i++) {
        string_format(&out, "# --set ");
        for (const char *byte = settings[i]; *byte; byte++)
            string_add(&out, *byte == '\n' ? " " : byte, 1);
        string_add(&out, "\n", 1);
    }
    sweep->text = string_take(&out);
}

static int parse(struct sweep *sweep, const char *name, const char *folder, const char *text, size_t size,
    const struct file_identity *identity, const char *const *settings, int setting_count, struct error *error)
{
    struct reader reader = {.sweep = sweep, .folder = folder, .error = error};
    struct node root = {0};

    *sweep = (struct sweep){.cells = 1, .checkpoint_minutes = CHECKPOINT_MINUTES_DEFAULT, .trunks = true};
    run_init(&sweep->base);
    measure_init(&sweep->measure);
    sweep->path = memory_copy(name);
    sweep->title = memory_copy("");
    sweep->notes = memory_copy("");
    sweep->spots = memory_zero(1, sizeof(*sweep->spots));
    sweep->spots->param = memory_zero(param_count, sizeof(*sweep->spots->param));
    bool read = file_parse(&reader, text, size, NULL, &root) == 0 &&
                settings_apply(&reader, &root, settings, setting_count, true) == 0 &&
                include_expand(&reader, &root, identity) == 0 &&
                settings_apply(&reader, &root, settings, setting_count, false) == 0 &&
                read_keys(&reader, &root) == 0 && consistent_check(&reader) == 0;
    node_release(&root);
    if (!read) {
        sweep_release(sweep);
        return -1;
    }
    if (!sweep->output)
        sweep->output = default_output(name);
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
    keep_text(sweep, text, size, settings, setting_count);
    return 0;
}

int sweep_parse(struct sweep *sweep, const char *name, const char *folder, const char *text, size_t size,
    const char *const *settings, int setting_count, struct error *error)
{
    const struct file_identity none = {0};

    return parse(sweep, name, folder, text, size, &none, settings, setting_count, error);
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
        return error_set(
            error, ERROR_INPUT, "%s%s: %s", path, cause == REGULAR_NONE ? ":1:1" : "", regular_why(cause));
    char *folder = memory_copy_part(path, slash ? (size_t)(slash - path) + 1 : 0);
    int status = parse(sweep, path, folder, text, size, &identity, settings, setting_count, error);
    free(folder);
    free(text);
    return status;
}

int sweep_take_part(struct sweep *sweep, const char *part, struct error *error)
{
    const char *tail = strrchr(sweep->output, '.');
    int number = 0, parts = 0, end = 0, stem = (int)strlen(sweep->output);

    sscanf(part, "%6d/%6d%n", &number, &parts, &end);
    if (end == 0 || part[end] || part[strspn(part, "0123456789/")] || number < 1 || number > parts)
        return error_set(
            error, ERROR_INPUT, "--part takes I/N, such as 3/8, with I from 1 to N, and not '%.40s'", part);
    if (sweep->refine.kind != REFINE_NONE)
        return error_set(error, ERROR_INPUT,
            "%s:1:1: refine: chooses its runs from the results of all others, so --part cannot divide it",
            sweep->path);
    if (tail && tail > sweep->output && (strcmp(tail, ".nc") == 0 || strcmp(tail, ".parts") == 0))
        stem = (int)(tail - sweep->output);
    sweep->parts_folder = memory_format("%.*s.parts", stem, sweep->output);
    free(sweep->output);
    sweep->output = memory_format("%s/%d-of-%d.nc", sweep->parts_folder, number, parts);
    sweep->part = number;
    sweep->parts = parts;
    return 0;
}

void sweep_release(struct sweep *sweep)
{
    for (int64_t i = 0; i < sweep->axis_count; i++)
        axis_release(&sweep->axis[i]);
    if (sweep->spots)
        free(sweep->spots->param);
    free(sweep->spots);
    free(sweep->axis);
    free(sweep->skip);
    free(sweep->parts_folder);
    free(sweep->part_of);
    free(sweep->part_text);
    free(sweep->only);
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
    starts_release(&sweep->starts);
    measure_release(&sweep->measure);
    *sweep = (struct sweep){0};
}
