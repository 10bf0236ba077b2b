/* The tree of a sweep file, as YAML has it: scalars, lists, and maps that keep the order of their keys. */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Doubles the room when count reaches a power of 2; the room is never smaller than the next one. */
void node_grow(struct node *node)
{
    size_t count = (size_t)node->count, room = count ? 2 * count : 1;

    if (count & (count - 1))
        return;
    node->child = memory_grow(node->child, room, sizeof(*node->child));
    if (node->kind == NODE_MAP)
        node->key = memory_grow(node->key, room, sizeof(*node->key));
}

static int compare_keys(const void *a, const void *b)
{
    const struct node *const *left = a, *const *right = b;
    int order = strcmp((*left)->text, (*right)->text);

    return order ? order : (*left > *right) - (*left < *right);
}

const struct node *node_repeated_key(const struct node *map)
{
    const struct node **sorted = memory_new((size_t)map->count, sizeof(const struct node *));
    const struct node *repeated = NULL;

    for (int64_t i = 0; i < map->count; i++)
        sorted[i] = &map->key[i];
    qsort(sorted, (size_t)map->count, sizeof(const struct node *), compare_keys);
    for (int64_t i = 1; i < map->count; i++)
        if (strcmp(sorted[i - 1]->text, sorted[i]->text) == 0 && (!repeated || sorted[i] < repeated))
            repeated = sorted[i];
    free(sorted);
    return repeated;
}

int64_t node_find(const struct node *map, const char *name)
{
    int64_t i = 0;

    while (i < map->count && strcmp(map->key[i].text, name) != 0)
        i++;
    return i;
}

void node_put(struct node *map, struct node *key, struct node *value)
{
    int64_t index = node_find(map, key->text);

    if (index == map->count) {
        node_grow(map);
        map->count++;
    } else {
        node_release(&map->key[index]);
        node_release(&map->child[index]);
    }
    map->key[index] = *key;
    map->child[index] = *value;
    *key = *value = (struct node){0};
}

void node_remove(struct node *map, int64_t index)
{
    size_t behind = (size_t)(map->count - index - 1);

    node_release(&map->key[index]);
    node_release(&map->child[index]);
    memmove(&map->key[index], &map->key[index + 1], behind * sizeof(*map->key));
    memmove(&map->child[index], &map->child[index + 1], behind * sizeof(*map->child));
    map->count--;
}

bool node_take(struct node *map, const char *key, struct node *value)
{
    int64_t index = node_find(map, key);

    if (index == map->count)
        return false;
    *value = map->child[index];
    map->child[index] = (struct node){0};
    node_remove(map, index);
    return true;
}

void node_move(struct node *node, struct position position)
{
    node->position = position;
    for (int64_t i = 0; i < node->count; i++) {
        node_move(&node->child[i], position);
        if (node->key)
            node_move(&node->key[i], position);
    }
}

void node_set_file(struct node *node, const char *file)
{
    node->position.file = file;
    for (int64_t i = 0; i < node->count; i++) {
        node_set_file(&node->child[i], file);
        if (node->key)
            node_set_file(&node->key[i], file);
    }
}

void node_release(struct node *node)
{
    for (int64_t i = 0; i < node->count; i++) {
        node_release(&node->child[i]);
        if (node->key)
            node_release(&node->key[i]);
    }
    free(node->text);
    free(node->key);
    free(node->child);
    *node = (struct node){0};
}

bool node_is_null(const struct node *node)
{
    return node->kind == NODE_SCALAR && !node->quoted &&
           (node->text[0] == 0 || strcmp(node->text, "~") == 0 || strcasecmp(node->text, "null") == 0);
}
