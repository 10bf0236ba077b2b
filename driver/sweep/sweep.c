#include "driver/sweep/sweep.h"

#include "driver/sweep/consistent.h"
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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * How a sweep file is read: yaml.c turns it into a tree, settings.c applies --set to the tree, and this file
 * reads the tree's keys in order; skip comes last, since it needs all axes. Then consistent.c checks that the
 * keys fit together.
 */

enum { FILE_MOST = 1 << 20 }; /* bytes */
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

/* A non-empty path. In the file, it is relative to the file's folder; in a --set, to the current directory.
 */
static int read_path(
    struct reader *reader, enum key key, const struct node *node, const char *folder, char **path)
{
    const char *text;

    if (value_text(reader, key_table[key].name, node, &text) < 0)
        return -1;
    if (!text[0])
        return reader_fault(reader, node->place, "%s: an empty path", key_table[key].name);
    bool relative = text[0] != '/' && folder && folder[0] && node->place.line > 0;
    const char *slash = relative && folder[strlen(folder) - 1] != '/' ? "/" : "";
    free(*path);
    *path = reader_string(reader, "%s%s%s", relative ? folder : "", slash, text);
    return *path ? 0 : -1;
}

/* A path, or a list of two: the source and the target of pairs. consistent.c knows which the corpus takes. */
static int read_text(struct reader *reader, enum key key, const struct node *node, const char *folder,
    char **source, char **target)
{
    if (node->kind != NODE_LIST)
        return read_path(reader, key, node, folder, target);
    if (node->count != 2)
        return reader_fault(reader, node->place,
            "%s: takes one path or, for corpus pairs, two: [source, target]", key_table[key].name);
    if (read_path(reader, key, &node->child[0], folder, source) < 0)
        return -1;
    return read_path(reader, key, &node->child[1], folder, target);
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

static int read_key(struct reader *reader, enum key key, const struct node *node, const char *folder)
{
    struct sweep *sweep = reader->sweep;

    sweep->places->key[key] = (struct spot){.given = true, .place = node->place};
    switch (key) {
    case KEY_TITLE:
        return read_string(reader, key, node, &sweep->title);
    case KEY_OUTPUT:
        return read_path(reader, key, node, NULL, &sweep->output);
    case KEY_TRAIN_TEXT:
        return read_text(reader, key, node, folder, &sweep->train_source_path, &sweep->train_path);
    case KEY_VALID_TEXT:
        return read_text(reader, key, node, folder, &sweep->valid_source_path, &sweep->valid_path);
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
    case KEY_COUNT:
        break;
    }
    return 0;
}

static int read_keys(struct reader *reader, const struct node *root, const char *folder)
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
                  : read_key(reader, key, &root->child[i], folder) < 0)
            return -1;
    }
    if (refine && refine_read(reader, refine) < 0)
        return -1;
    return skip ? skip_read(reader, skip) : 0;
}

/* The sweep file's name without folder, and with .nc in place of .yaml. */
static int default_output(struct reader *reader)
{
    struct sweep *sweep = reader->sweep;
    const char *slash = strrchr(sweep->path, '/'), *name = slash ? slash + 1 : sweep->path;
    size_t length = strlen(name);

    if (sweep->output)
        return 0;
    if (length > 5 && strcmp(name + length - 5, ".yaml") == 0)
        length -= 5;
    else if (length > 4 && strcmp(name + length - 4, ".yml") == 0)
        length -= 4;
    sweep->output = reader_string(reader, "%.*s.nc", (int)length, name);
    return sweep->output ? 0 : -1;
}

static void fill_source(struct sweep *sweep)
{
    sweep->source = (struct corpus_source){
        .kind = (enum corpus_kind)sweep->base.corpus,
        .vocabulary = sweep->base.vocabulary,
        .tokens = sweep->base.corpus_tokens,
        .share = sweep->base.train_share,
        .seed = sweep->base.corpus_seed,
        .train_path = sweep->train_path,
        .valid_path = sweep->valid_path,
        .train_source_path = sweep->train_source_path,
        .valid_source_path = sweep->valid_source_path,
    };
}

static int read_tree(struct reader *reader, struct node *root, const char *folder,
    const char *const *settings, int setting_count)
{
    if (root->kind != NODE_MAP)
        return reader_fault(reader, root->place, "a sweep file holds lines of the form key: value");
    if (settings_apply(reader, root, settings, setting_count) < 0 || read_keys(reader, root, folder) < 0 ||
        default_output(reader) < 0)
        return -1;
    fill_source(reader->sweep);
    return consistent_check(reader);
}

/* The text of a sweep as its dataset keeps it, with the settings as comments at the end. */
static char *keep_text(const char *text, size_t size, const char *const *settings, int setting_count)
{
    static const char head[] = "\n# --set ";
    size_t room = size + 1;

    for (int i = 0; i < setting_count; i++)
        room += strlen(head) + strlen(settings[i]) + 1;
    char *kept = malloc(room);
    if (!kept)
        return NULL;
    char *end = mempcpy(kept, text, size);
    for (int i = 0; i < setting_count; i++) {
        const char *begin = i == 0 && size > 0 && text[size - 1] == '\n' ? head + 1 : head;
        end = stpcpy(stpcpy(end, begin), settings[i]);
        for (char *at = end - strlen(settings[i]); at < end; at++)
            *at = *at == '\n' ? ' ' : *at;
    }
    *end = 0;
    return kept;
}

/* Sets everything to its default. Takes ownership of `text`; NULL: no memory. */
static int start_reading(struct reader *reader, const char *name, char *text)
{
    struct sweep *sweep = reader->sweep;

    *sweep = (struct sweep){.cells = 1, .checkpoint_minutes = CHECKPOINT_MINUTES_DEFAULT};
    run_init(&sweep->base);
    measure_init(&sweep->measure);
    sweep->path = strdup(name);
    sweep->text = text;
    sweep->title = strdup("");
    sweep->places = calloc(1, sizeof(*sweep->places));
    if (sweep->places)
        sweep->places->param = calloc(param_count, sizeof(*sweep->places->param));
    if (sweep->path && sweep->text && sweep->title && sweep->places && sweep->places->param)
        return 0;
    return error_set(reader->error, ERROR_ENVIRONMENT, "%s: no memory", name);
}

int sweep_parse(struct sweep *sweep, const char *name, const char *folder, const char *text, size_t size,
    const char *const *settings, int setting_count, struct error *error)
{
    struct reader reader = {.sweep = sweep, .error = error};
    struct node root = {0};
    struct place fault = PLACE_DEFAULT;
    int encoded = utf8_begin(&text, &size, error);
    int status = start_reading(&reader, name, keep_text(text, size, settings, setting_count));

    if (status == 0 && encoded < 0)
        status = place_prefix(error, name, fault);
    if (status == 0 && size > FILE_MOST)
        status = reader_fault(&reader, PLACE_DEFAULT, "larger than %d bytes", FILE_MOST);
    if (status == 0) {
        status = yaml_read(&root, text, size, &fault, error);
        if (status < 0)
            place_prefix(error, name, fault);
    }
    if (status == 0)
        status = read_tree(&reader, &root, folder, settings, setting_count);
    node_release(&root);
    if (status < 0)
        sweep_release(sweep);
    return status;
}

/*
 * Reads at most one byte more than a sweep file may have. Refuses a pipe, since every rank reads the file
 * again.
 */
static int read_file(const char *path, char **text, size_t *size, struct error *error)
{
    int64_t length;
    int file = regular_open(path, &length);
    ssize_t got = 0;

    *size = 0;
    *text = file < 0 ? NULL : malloc(FILE_MOST + 1);
    if (file >= 0 && !*text)
        errno = ENOMEM;
    while (*text && (got = read(file, *text + *size, FILE_MOST + 1 - *size)) > 0)
        *size += (size_t)got;
    if (!*text || got < 0) {
        const char *place = errno == REGULAR_NONE ? ":1:1" : "";
        error_set(error, errno == ENOMEM ? ERROR_ENVIRONMENT : ERROR_INPUT, "%s%s: %s", path, place,
            regular_why(errno));
        free(*text);
        *text = NULL;
    }
    if (file >= 0)
        close(file);
    return *text ? 0 : -1;
}

int sweep_load(struct sweep *sweep, const char *path, const char *const *settings, int setting_count,
    struct error *error)
{
    const char *slash = strrchr(path, '/');
    char *text, *folder;
    size_t size;

    if (magic_is_netcdf(path))
        return error_set(error, ERROR_INPUT, "%s: is a dataset; give its sweep file instead", path);
    if (read_file(path, &text, &size, error) < 0)
        return -1;
    folder = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
    int status = folder ? sweep_parse(sweep, path, folder, text, size, settings, setting_count, error)
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
    free(sweep->path);
    free(sweep->text);
    free(sweep->title);
    free(sweep->output);
    free(sweep->train_path);
    free(sweep->valid_path);
    free(sweep->train_source_path);
    free(sweep->valid_source_path);
    measure_release(&sweep->measure);
    *sweep = (struct sweep){0};
}
