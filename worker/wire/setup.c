/*
 * A setup as bytes: the struct itself, as both ends run the same program, then what its pointers point to, in
 * the order of put_setup: texts with their terminators, the measured steps, and the files of starts.
 */
#include "worker/wire/inside.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct trail {
    unsigned char *bytes; /* to write; or NULL */
    const unsigned char *given; /* to read; or NULL */
    size_t at, size;
    bool failed;
};

/* Appends bytes, or only counts them if the trail has no memory. */
static void put_bytes(struct trail *trail, const void *bytes, size_t count)
{
    if (trail->bytes && count)
        memcpy(trail->bytes + trail->at, bytes, count);
    trail->at += count;
}

static void put_text(struct trail *trail, const char *text)
{
    if (text)
        put_bytes(trail, text, strlen(text) + 1);
}

static void put_setup(struct trail *trail, const struct setup *setup)
{
    put_bytes(trail, setup, sizeof(*setup));
    put_text(trail, setup->source.train_path);
    put_text(trail, setup->source.valid_path);
    put_text(trail, setup->source.train_source_path);
    put_text(trail, setup->source.valid_source_path);
    put_text(trail, setup->folder);
    put_bytes(trail, setup->measure.steps, (size_t)setup->measure.step_count * sizeof(*setup->measure.steps));
    put_bytes(trail, setup->starts.file, (size_t)setup->starts.count * sizeof(*setup->starts.file));
    for (int64_t i = 0; i < setup->starts.count; i++)
        put_text(trail, setup->starts.file[i].path);
}

unsigned char *setup_encode(const struct setup *setup, size_t *size)
{
    struct trail trail = {0};

    put_setup(&trail, setup);
    *size = trail.at;
    trail = (struct trail){.bytes = malloc(*size)};
    if (trail.bytes)
        put_setup(&trail, setup);
    return trail.bytes;
}

/* A copy of the next `count` bytes; NULL, and `failed` set, if there are fewer or without memory. */
static void *get(struct trail *trail, size_t count)
{
    void *copy = NULL;

    if (!trail->failed && count <= trail->size - trail->at)
        copy = malloc(count + 1);
    if (!copy) {
        trail->failed = true;
        return NULL;
    }
    memcpy(copy, trail->given + trail->at, count);
    trail->at += count;
    return copy;
}

static char *get_text(struct trail *trail, const char *was)
{
    const char *text = (const char *)trail->given + trail->at;

    return was ? get(trail, strnlen(text, trail->size - trail->at) + 1) : NULL;
}

int setup_decode(struct setup *setup, const unsigned char *bytes, size_t size)
{
    struct trail trail = {.given = bytes, .at = sizeof(*setup), .size = size};

    if (size < sizeof(*setup))
        return -1;
    memcpy(setup, bytes, sizeof(*setup));
    setup->source.breath = NULL;
    setup->host[HOST_SIZE - 1] = setup->mark[MARK_SIZE - 1] = '\0';
    trail.failed = setup->measure.step_count < 0 ||
                   (uint64_t)setup->measure.step_count > size / sizeof(*setup->measure.steps) ||
                   setup->starts.count < 0 ||
                   (uint64_t)setup->starts.count > size / sizeof(*setup->starts.file);
    setup->source.train_path = get_text(&trail, setup->source.train_path);
    setup->source.valid_path = get_text(&trail, setup->source.valid_path);
    setup->source.train_source_path = get_text(&trail, setup->source.train_source_path);
    setup->source.valid_source_path = get_text(&trail, setup->source.valid_source_path);
    setup->folder = get_text(&trail, setup->folder);
    setup->measure.steps = get(&trail, (size_t)setup->measure.step_count * sizeof(*setup->measure.steps));
    setup->starts.file = get(&trail, (size_t)setup->starts.count * sizeof(*setup->starts.file));
    setup->starts.count = setup->starts.file ? setup->starts.count : 0;
    for (int64_t i = 0; i < setup->starts.count; i++)
        setup->starts.file[i].path = get_text(&trail, setup->starts.file[i].path);
    if (!trail.failed && trail.at == size)
        return 0;
    setup_release(setup);
    return -1;
}

void setup_release(struct setup *setup)
{
    free((char *)setup->source.train_path);
    free((char *)setup->source.valid_path);
    free((char *)setup->source.train_source_path);
    free((char *)setup->source.valid_source_path);
    free(setup->folder);
    free(setup->measure.steps);
    starts_release(&setup->starts);
    *setup = (struct setup){0};
}
