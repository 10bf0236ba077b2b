/*
 * Large models are split into several files, whose index says which file holds which tensor. Each tensor must
 * be where the index says and nowhere else, so that no reader depends on the order of the files.
 */
#include "driver/weights/shards.h"

#include "driver/output/mapped_file.h"
#include "driver/weights/config.h"
#include "driver/weights/json.h"
#include "model/core/check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INDEX SHARDS_ONE_FILE ".index.json"
#define OF_PYTORCH "pytorch_model.bin"

enum { SHARDS_MOST = 4096 };

struct shard {
    char *path; /* owned */
    struct mapped_file mapped;
    struct safetensors file;
};

static int no_memory(const char *path, struct error *error)
{
    error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    return -1;
}

/* "<folder of path><name>" */
static char *beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    char *joined;

    if (asprintf(&joined, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name) < 0)
        return NULL;
    return joined;
}

char *shards_beside(const struct shards *shards, const char *name)
{
    return beside(shards->path, name);
}

/* ---- files ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Its name in the index. */
static const char *name_of(const struct shard *shard)
{
    INVARIANT(shard->path, "a shard without a path");
    return base_name(shard->path);
}

/* Maps and parses one more file, which takes the path over. */
static int add_file(struct shards *shards, char *path, struct error *error)
{
    struct shard *shard = &shards->shard[shards->count];

    if (!path)
        return no_memory(shards->path, error);
    shards->count++;
    *shard = (struct shard){.path = path};
    if (mapped_file_open(&shard->mapped, path, error) < 0)
        return -1;
    return safetensors_parse(&shard->file, path, shard->mapped.bytes, shard->mapped.size, error);
}

/* The file that holds this tensor of all. */
static const struct shard *shard_of(const struct shards *shards, const struct stored_tensor *tensor)
{
    const struct shard *shard = shards->shard;

    for (; shard < shards->shard + shards->count - 1; shard++) {
        const struct stored_tensor *found = safetensors_find(&shard->file, tensor->name);
        if (found && found->bytes == tensor->bytes)
            break;
    }
    return shard;
}

const char *shards_path(const struct shards *shards, const struct stored_tensor *tensor)
{
    return shard_of(shards, tensor)->path;
}

/* Lists the tensors of all files; refuses one that two files have. */
static int join_files(struct shards *shards, struct error *error)
{
    struct safetensors *all = &shards->all;
    char excerpt[EXCERPT_SIZE];
    int64_t count = 0;

    for (int64_t i = 0; i < shards->count; i++)
        count += shards->shard[i].file.count;
    all->tensor = calloc((size_t)count + 1, sizeof(*all->tensor));
    if (!all->tensor)
        return no_memory(shards->path, error);
    for (int64_t i = 0; i < shards->count; i++) {
        const struct safetensors *file = &shards->shard[i].file;
        if (file->count > 0)
            memcpy(all->tensor + all->count, file->tensor, (size_t)file->count * sizeof(*file->tensor));
        all->count += file->count;
    }
    safetensors_sort(all);
    for (int64_t i = 1; i < count; i++) {
        const struct stored_tensor *tensor = &all->tensor[i];
        if (strcmp(tensor[-1].name, tensor->name) == 0)
            return error_set(error, ERROR_INPUT, "%s: %s is in %s and in %s", shards->path,
                place_excerpt(tensor->name, excerpt), name_of(shard_of(shards, tensor - 1)),
                name_of(shard_of(shards, tensor)));
    }
    return 0;
}

/* ---- the index ---- */

static struct shard *find_shard(const struct shards *shards, const char *name)
{
    for (int64_t i = 0; i < shards->count; i++)
        if (strcmp(name_of(&shards->shard[i]), name) == 0)
            return &shards->shard[i];
    return NULL;
}

static bool is_plain(const char *name)
{
    return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Opens the file of a tensor, if it is not open yet. */
static int add_promised(struct shards *shards, const char *tensor, const json_t *file, struct error *error)
{
    const char *name = json_string_value(file);
    char excerpt[EXCERPT_SIZE];

    if (!is_plain(name))
        return error_set(error, ERROR_INPUT, "%s: weight_map: %s: not the name of a file in this folder",
            shards->path, place_excerpt(tensor, excerpt));
    if (find_shard(shards, name))
        return 0;
    if (shards->count == SHARDS_MOST)
        return error_set(error, ERROR_INPUT, "%s: more than %d files", shards->path, SHARDS_MOST);
    return add_file(shards, beside(shards->path, name), error);
}

/* Checks that index and files have the same tensors in the same files. */
static int check_promises(const struct shards *shards, const json_t *map, struct error *error)
{
    char excerpt[EXCERPT_SIZE];
    const char *name;
    json_t *file;

    json_object_foreach((json_t *)map, name, file)
    {
        const struct shard *shard = find_shard(shards, json_string_value(file));
        if (!safetensors_find(&shard->file, name))
            return error_set(error, ERROR_INPUT, "%s: %s is missing, which the index promises here",
                shard->path, place_excerpt(name, excerpt));
    }
    for (int64_t i = 0; i < shards->all.count; i++) {
        name = shards->all.tensor[i].name;
        if (!json_object_get(map, name))
            return error_set(error, ERROR_INPUT, "%s: %s is in %s and not in the index", shards->path,
                place_excerpt(name, excerpt), name_of(shard_of(shards, &shards->all.tensor[i])));
    }
    return 0;
}

static int open_promised(struct shards *shards, const json_t *root, struct error *error)
{
    const json_t *map = json_object_get(root, "weight_map");
    const char *name;
    json_t *file;

    if (!map && strcmp(base_name(shards->path), CONFIG_FILE) == 0)
        return error_set(error, ERROR_INPUT, "%s: not an index of weights; give its folder", shards->path);
    if (!json_is_object(map) || json_object_size(map) == 0)
        return error_set(
            error, ERROR_INPUT, "%s: no weight_map, an object from tensors to files", shards->path);
    shards->shard = calloc(SHARDS_MOST, sizeof(*shards->shard));
    if (!shards->shard)
        return no_memory(shards->path, error);
    json_object_foreach((json_t *)map, name, file)
    {
        if (add_promised(shards, name, file, error) < 0)
            return -1;
    }
    return join_files(shards, error) < 0 ? -1 : check_promises(shards, map, error);
}

static int open_index(struct shards *shards, struct error *error)
{
    json_t *root = json_read_file(shards->path, error);
    int status = root ? open_promised(shards, root, error) : -1;

    json_decref(root);
    return status;
}

/* ---- one file, an index or a folder ---- */

static int open_one(struct shards *shards, struct error *error)
{
    shards->shard = calloc(1, sizeof(*shards->shard));
    if (!shards->shard)
        return no_memory(shards->path, error);
    return add_file(shards, strdup(shards->path), error) < 0 ? -1 : join_files(shards, error);
}

/* Sets the path to that of a file in a folder, if it is there: 1. 0: it is not; -1: no memory. */
static int has_file(struct shards *shards, const char *folder, const char *name)
{
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    struct stat status;

    if (asprintf(&shards->path, "%s%s%s", folder, slash, name) < 0) {
        shards->path = NULL;
        return -1;
    }
    if (stat(shards->path, &status) == 0)
        return 1;
    free(shards->path);
    shards->path = NULL;
    return 0;
}

/* Sets the path of the file to read: `path`, or what a folder of this name holds. */
static int find_file(struct shards *shards, const char *path, struct error *error)
{
    static const char *const names[] = {SHARDS_ONE_FILE, INDEX, OF_PYTORCH, OF_PYTORCH ".index.json"};
    size_t known = 2, i = 0, count = sizeof(names) / sizeof(*names);
    struct stat status;
    int there = stat(path, &status);

    if (there < 0 && errno == ENOENT)
        return error_set(error, ERROR_INPUT,
            "%s: No such file or directory; normsweep reads files on disk and downloads nothing", path);
    if (there < 0 || !S_ISDIR(status.st_mode)) {
        shards->path = strdup(path);
        return shards->path ? 0 : no_memory(path, error);
    }
    while (i < count && (there = has_file(shards, path, names[i])) == 0)
        i++;
    if (there < 0)
        return no_memory(path, error);
    if (i < known)
        return 0;
    if (i < count)
        return error_set(error, ERROR_INPUT, "%s: " SAFETENSORS_OF_PYTORCH, shards->path);
    return error_set(error, ERROR_INPUT, "%s: a folder without " SHARDS_ONE_FILE " and without " INDEX, path);
}

static bool is_index(const char *path)
{
    size_t length = strlen(path);

    return length >= 5 && strcmp(path + length - 5, ".json") == 0;
}

int shards_open(struct shards *shards, const char *path, struct error *error)
{
    *shards = (struct shards){0};
    int status = find_file(shards, path, error);
    if (status == 0)
        status = is_index(shards->path) ? open_index(shards, error) : open_one(shards, error);
    if (status < 0)
        shards_close(shards);
    return status;
}

int shards_check(const struct shards *shards, struct error *error)
{
    int status = 0;

    for (int64_t i = 0; i < shards->count && status == 0; i++)
        status = mapped_file_check(&shards->shard[i].mapped, shards->shard[i].path, error);
    return status;
}

void shards_close(struct shards *shards)
{
    for (int64_t i = 0; i < shards->count; i++) {
        struct shard *shard = &shards->shard[i];
        safetensors_release(&shard->file);
        mapped_file_close(&shard->mapped);
        free(shard->path);
    }
    free(shards->shard);
    free(shards->path);
    safetensors_release(&shards->all);
    *shards = (struct shards){0};
}
