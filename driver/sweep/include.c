/*
 * Files that a sweep file includes.
 *
 * Whole keys are replaced, and nothing inside them is merged, so that all of `skip` or `measure` stands in
 * one place. Included files may include others; depth, number and size are limited, so that no file takes
 * long to read.
 */
#include "driver/sweep/inside.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"
#include "model/corpora/regular.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_is_same(const struct file_identity *a, const struct file_identity *b)
{
    return a->inode != 0 && a->inode == b->inode && a->device == b->device;
}

/* 0 or an errno. */
static int read_all(int file, char *text, size_t *size)
{
    ssize_t got;

    *size = 0;
    do {
        got = read(file, text + *size, FILE_MOST + 1 - *size);
        *size += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    return got < 0 ? errno : 0;
}

int file_read(const char *path, char **text, size_t *size, struct file_identity *identity)
{
    struct stat status;
    int64_t length;
    int file = regular_open(path, &length);

    if (file < 0)
        return errno;
    *text = memory_new(FILE_MOST + 1, 1);
    int cause = fstat(file, &status) != 0 ? errno : read_all(file, *text, size);
    close(file);
    if (cause == 0)
        *identity = (struct file_identity){status.st_dev, status.st_ino};
    else
        free(*text);
    return cause;
}

enum { DEPTH_MOST = 16, FILES_MOST = 64 };

/* What is read so far. */
struct inclusion {
    struct reader *reader;
    int files;
    size_t bytes;
};

/* A file that includes others. */
struct level {
    const struct level *by; /* includes this one; NULL: this is the sweep file */
    const char *path;
    struct file_identity identity;
    int depth;
};

#define KEY_NAME key_table[KEY_INCLUDE].name

/* Writes "a.yaml includes b.yaml includes ", from the file `again` to `level`. */
static void write_chain(struct string *names, const struct level *level, const struct level *again)
{
    char excerpt[EXCERPT_SIZE];

    if (level != again)
        write_chain(names, level->by, again);
    string_format(names, "%s includes ", place_excerpt(level->path, excerpt));
}

static int refuse_circle(struct inclusion *inclusion, const struct node *node, const struct level *level,
    const struct level *again)
{
    char excerpt[EXCERPT_SIZE];
    struct string names = {0};

    write_chain(&names, level, again);
    reader_fault(inclusion->reader, node->position, "%s: a circle: %s%s", KEY_NAME, string_text(&names),
        place_excerpt(again->path, excerpt));
    string_release(&names);
    return -1;
}

/* Refuses a file that includes itself, directly or through others, and more files than a sweep may have. */
static int check_file(struct inclusion *inclusion, const struct node *node, const struct level *level,
    const struct file_identity *identity, size_t size)
{
    struct reader *reader = inclusion->reader;

    for (const struct level *each = level; each; each = each->by)
        if (file_is_same(&each->identity, identity))
            return refuse_circle(inclusion, node, level, each);
    if (level->depth == DEPTH_MOST)
        return reader_fault(
            reader, node->position, "%s: files include each other more than %d deep", KEY_NAME, DEPTH_MOST);
    if (++inclusion->files > FILES_MOST)
        return reader_fault(reader, node->position, "%s: more than %d files", KEY_NAME, FILES_MOST);
    inclusion->bytes += size;
    if (inclusion->bytes > FILE_MOST)
        return reader_fault(
            reader, node->position, "%s: more than %d bytes in all included files", KEY_NAME, FILE_MOST);
    return 0;
}

/* Keeps a file in the sweep, once; the copy that was read first counts. Takes the text. The result is valid
 * until the next file is kept, its path and text as long as the sweep. */
static const struct included *keep(
    struct sweep *sweep, const char *path, const char *name, char *text, size_t size)
{
    size_t count = (size_t)sweep->included_count;

    for (size_t i = 0; i < count; i++)
        if (strcmp(sweep->included[i].path, path) == 0) {
            free(text);
            return &sweep->included[i];
        }
    sweep->included = memory_grow(sweep->included, count + 1, sizeof(*sweep->included));
    sweep->included_count++;
    sweep->included[count] =
        (struct included){.path = memory_copy(path), .name = memory_copy(name), .text = text, .size = size};
    return &sweep->included[count];
}

/* Reads the text of a file into a tree whose positions name it. */
static int read_tree(struct reader *reader, const struct included *file, struct node *map)
{
    struct position fault = POSITION_DEFAULT;
    const char *text = file->text;
    size_t size = file->size;
    int status = utf8_begin(&text, &size, reader->error);

    if (status == 0)
        status = yaml_read(map, text, size, &fault, reader->error);
    fault.file = file->path;
    if (status < 0)
        return position_prefix(reader->error, reader->sweep->path, fault);
    node_set_file(map, file->path);
    if (map->kind == NODE_MAP)
        return 0;
    reader_fault(reader, map->position, "a sweep file holds lines of the form key: value");
    node_release(map);
    return -1;
}

static int expand(struct inclusion *inclusion, struct node *root, const struct level *level);

/* Reads the file at a path, and what it includes, into a map. */
static int read_path(struct inclusion *inclusion, const struct node *node, const struct level *level,
    const char *path, struct node *map)
{
    struct reader *reader = inclusion->reader;
    struct level own = {.by = level, .depth = level->depth + 1};
    size_t size = 0;
    char *text = NULL;

    if (magic_is_netcdf(path))
        return reader_fault(
            reader, node->position, "%s: %s: is a dataset; give its sweep file instead", KEY_NAME, path);
    int cause = file_read(path, &text, &size, &own.identity);
    if (cause != 0)
        return reader_fault(reader, node->position, "%s: %s: %s", KEY_NAME, path, regular_why(cause));
    if (check_file(inclusion, node, level, &own.identity, size) < 0) {
        free(text);
        return -1;
    }
    const struct included *file = keep(reader->sweep, path, node->text, text, size);
    own.path = file->path;
    if (read_tree(reader, file, map) < 0)
        return -1;
    int64_t output = node_find(map, key_table[KEY_OUTPUT].name);
    if (output < map->count)
        node_remove(map, output);
    int status = expand(inclusion, map, &own);
    if (status < 0)
        node_release(map);
    return status;
}

/* Moves the pairs of a map into the map below it. `owns`: the file of these pairs includes what is below, so
 * that it may take keys out. */
static int lay_over(struct reader *reader, struct node *below, struct node *above, bool owns)
{
    for (int64_t i = 0; i < above->count; i++) {
        struct node *key = &above->key[i], *value = &above->child[i];
        int64_t index = node_find(below, key->text);
        if (key_find(key->text) == KEY_COUNT && !param_find(key->text))
            return reader_unknown(reader, key);
        if (!node_is_null(value)) {
            node_put(below, key, value);
        } else if (!owns || index == below->count) {
            return reader_fault(
                reader, value->position, "%s: no value, and no included file has one to take out", key->text);
        } else {
            node_remove(below, index);
            reader_take_out(reader, key->text, value->position);
        }
    }
    return 0;
}

/* Lays one more file, named by a node, over what is in the map. */
static int include_one(
    struct inclusion *inclusion, const struct node *node, const struct level *level, struct node *map)
{
    struct reader *reader = inclusion->reader;
    struct node file = {0};
    const char *name;

    if (value_text(reader, KEY_NAME, node, &name) < 0)
        return -1;
    if (!name[0])
        return reader_fault(reader, node->position, "%s: an empty path", KEY_NAME);
    char *path = reader_path(reader, node, name);
    int status = read_path(inclusion, node, level, path, &file);
    if (status == 0)
        status = lay_over(reader, map, &file, false);
    node_release(&file);
    free(path);
    return status;
}

static int include_all(
    struct inclusion *inclusion, const struct node *value, const struct level *level, struct node *map)
{
    if (value->kind != NODE_LIST)
        return include_one(inclusion, value, level, map);
    if (value->count == 0)
        return reader_fault(inclusion->reader, value->position, "%s: an empty list", KEY_NAME);
    for (int64_t i = 0; i < value->count; i++)
        if (include_one(inclusion, &value->child[i], level, map) < 0)
            return -1;
    return 0;
}

/* Expands the map of one file. */
static int expand(struct inclusion *inclusion, struct node *root, const struct level *level)
{
    struct node whole = {.kind = NODE_MAP, .position = root->position};
    struct node value;

    if (!node_take(root, KEY_NAME, &value))
        return 0;
    int status = include_all(inclusion, &value, level, &whole);
    if (status == 0)
        status = lay_over(inclusion->reader, &whole, root, true);
    node_release(&value);
    if (status < 0) {
        node_release(&whole);
        return -1;
    }
    node_release(root);
    *root = whole;
    return 0;
}

int include_expand(struct reader *reader, struct node *root, const struct file_identity *identity)
{
    struct inclusion inclusion = {.reader = reader};
    const struct level level = {.path = reader->sweep->path, .identity = *identity};

    return expand(&inclusion, root, &level);
}
