/*
 * Where keys come from besides the sweep file: files that it includes, over which it is laid, and --set
 * key=value, which is laid over the whole.
 *
 * Whole keys are replaced, and nothing inside them is merged, so that all of `skip` or `measure` stands in
 * one place. Included files may include others; depth, number and size are limited, so that no file takes
 * long to read.
 */
#include "driver/sweep/inside.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"
#include "model/corpora/corpora.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_read(const char *path, char **text, size_t *size, struct file_identity *identity)
{
    struct stat status;
    int64_t length;
    int cause, file = regular_open(path, &length, &cause);
    ssize_t got = 1;

    if (file < 0)
        return cause;
    *text = memory_new(FILE_MOST + 1, 1);
    *size = 0;
    if (fstat(file, &status) != 0)
        cause = errno;
    while (cause == 0 && got > 0) {
        got = read(file, *text + *size, FILE_MOST + 1 - *size);
        cause = got < 0 ? errno : 0;
        *size += got > 0 ? (size_t)got : 0;
    }
    close(file);
    if (cause == 0)
        *identity = (struct file_identity){status.st_dev, status.st_ino};
    else
        free(*text);
    return cause;
}

int file_parse(struct reader *reader, const char *text, size_t size, const char *file, struct node *map)
{
    const struct position whole = {.file = file};

    if (utf8_begin(&text, &size, reader->error) < 0)
        return position_prefix(reader->error, reader->sweep->path, whole);
    if (size > FILE_MOST)
        return reader_fault(reader, whole, "larger than %d bytes", FILE_MOST);
    if (yaml_read(reader, map, text, size, file, NULL) < 0)
        return -1;
    if (map->kind == NODE_MAP)
        return 0;
    node_fault(reader, map, "a sweep file holds lines of the form key: value");
    node_release(map);
    return -1;
}

/* Gives a map a pair, or if the value is null, takes the key out; false: the map has no such key. */
static bool lay_pair(struct reader *reader, struct node *map, struct node *key, struct node *value)
{
    int64_t index = node_find(map, key->text);

    if (!node_is_null(value)) {
        node_put(map, key, value);
        return true;
    }
    if (index == map->count)
        return false;
    node_remove(map, index);
    /* A message that the key is missing points to where it was taken out. */
    reader_named(reader->sweep, key->text)->position = value->position;
    return true;
}

/* ---- included files ---- */

enum { DEPTH_MOST = 16, FILES_MOST = 64 };

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
    if (level != again)
        write_chain(names, level->by, again);
    string_format(names, "%s includes ", text_excerpt(level->path).text);
}

/* Refuses a file that includes itself, directly or through others, and more files than a sweep may have. */
static int check_file(struct reader *reader, const struct node *node, const struct level *level, size_t size)
{
    for (const struct level *each = level->by; each; each = each->by)
        if (level->identity.inode != 0 && each->identity.inode == level->identity.inode &&
            each->identity.device == level->identity.device) {
            struct string names = {0};
            write_chain(&names, level->by, each);
            node_fault(reader, node, "%s: a circle: %s%s", KEY_NAME, string_text(&names),
                text_excerpt(each->path).text);
            string_release(&names);
            return -1;
        }
    if (level->depth > DEPTH_MOST)
        return node_fault(
            reader, node, "%s: files include each other more than %d deep", KEY_NAME, DEPTH_MOST);
    if (++reader->files > FILES_MOST)
        return node_fault(reader, node, "%s: more than %d files", KEY_NAME, FILES_MOST);
    reader->bytes += size;
    if (reader->bytes > FILE_MOST)
        return node_fault(reader, node, "%s: more than %d bytes in all included files", KEY_NAME, FILE_MOST);
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

/* Moves the pairs of a map into the map below it. `owns`: the file of these pairs includes what is below, so
 * that it may take keys out. */
static int lay_over(struct reader *reader, struct node *below, struct node *above, bool owns)
{
    for (int64_t i = 0; i < above->count; i++) {
        struct node *key = &above->key[i], *value = &above->child[i];
        if (key_find(key->text) == KEY_COUNT && !param_find(key->text))
            return reader_unknown(reader, key);
        if ((node_is_null(value) && !owns) || !lay_pair(reader, below, key, value))
            return node_fault(
                reader, value, "%s: no value, and no included file has one to take out", key->text);
    }
    return 0;
}

static int expand(struct reader *reader, struct node *root, const struct level *level);

/* Lays one more file, named by a node, with what it includes, over what is in the map. */
static int include_one(
    struct reader *reader, const struct node *node, const struct level *level, struct node *map)
{
    struct level own = {.by = level, .depth = level->depth + 1};
    struct node file = {0};
    const char *name;
    size_t size = 0;
    char *text = NULL;
    int status = -1;

    if (value_text(reader, KEY_NAME, node, &name) < 0)
        return -1;
    if (!name[0])
        return node_fault(reader, node, "%s: an empty path", KEY_NAME);
    char *path = reader_path(reader, node, name);
    bool dataset = magic_is_netcdf(path);
    int cause = dataset ? 0 : file_read(path, &text, &size, &own.identity);
    if (dataset) {
        node_fault(reader, node, "%s: %s: is a dataset; give its sweep file instead", KEY_NAME, path);
    } else if (cause != 0) {
        node_fault(reader, node, "%s: %s: %s", KEY_NAME, path, regular_why(cause));
    } else if (check_file(reader, node, &own, size) < 0) {
        free(text);
    } else {
        const struct included *kept = keep(reader->sweep, path, node->text, text, size);
        own.path = kept->path;
        status = file_parse(reader, kept->text, kept->size, kept->path, &file);
    }
    free(path);
    if (status == 0) {
        int64_t output = node_find(&file, key_table[KEY_OUTPUT].name);
        if (output < file.count)
            node_remove(&file, output);
        status = expand(reader, &file, &own);
    }
    if (status == 0)
        status = lay_over(reader, map, &file, false);
    node_release(&file);
    return status;
}

/* Expands the map of one file. */
static int expand(struct reader *reader, struct node *root, const struct level *level)
{
    struct node whole = {.kind = NODE_MAP, .position = root->position};
    int64_t index = node_find(root, KEY_NAME);
    int status = 0;

    if (!root->child || index == root->count) /* an empty map has no children */
        return 0;
    struct node value = root->child[index];
    root->child[index] = (struct node){0};
    node_remove(root, index);
    const struct node *path = value.kind == NODE_LIST ? value.child : &value;
    int64_t count = value.kind == NODE_LIST ? value.count : 1;
    if (count == 0)
        status = node_fault(reader, &value, "%s: an empty list", KEY_NAME);
    for (int64_t i = 0; i < count && status == 0; i++)
        status = include_one(reader, &path[i], level, &whole);
    if (status == 0)
        status = lay_over(reader, &whole, root, true);
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
    const struct level level = {.path = reader->sweep->path, .identity = *identity};

    return expand(reader, root, &level);
}

/* ---- --set ---- */

int settings_apply(
    struct reader *reader, struct node *root, const char *const *settings, int count, bool include)
{
    size_t length = strlen(KEY_NAME);
    int status = 0;

    for (int i = 0; i < count && status == 0; i++) {
        const char *setting = settings[i], *equals = strchr(setting, '=');
        struct node key = {.kind = NODE_SCALAR, .position = POSITION_SETTING}, value = key;
        if ((strncmp(setting, KEY_NAME, length) == 0 && setting[length] == '=') != include)
            continue;
        if (!equals)
            return reader_fault(reader, key.position, "%s: takes key=value", text_excerpt(setting).text);
        const char *text = equals + 1;
        key.text = memory_copy_part(setting, (size_t)(equals - setting));
        if (key_find(key.text) == KEY_COUNT && !param_find(key.text))
            status = reader_unknown(reader, &key);
        else if (text[strspn(text, " ")])
            status = yaml_read(reader, &value, text, strlen(text), NULL, key.text);
        else
            value.text = memory_copy("");
        if (status == 0)
            lay_pair(reader, root, &key, &value);
        node_release(&key);
        node_release(&value);
    }
    return status;
}
