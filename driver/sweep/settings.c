#include "driver/sweep/settings.h"

#include "driver/sweep/yaml.h"

#include <stdlib.h>
#include <string.h>

/* The index of a key in the map, or its count. */
static int64_t find_key(const struct node *root, const char *name)
{
    int64_t i = 0;

    while (i < root->count && strcmp(root->key[i].text, name) != 0)
        i++;
    return i;
}

static void remove_key(struct node *root, int64_t place)
{
    size_t behind = (size_t)(root->count - place - 1);

    node_release(&root->key[place]);
    node_release(&root->child[place]);
    memmove(&root->key[place], &root->key[place + 1], behind * sizeof(*root->key));
    memmove(&root->child[place], &root->child[place + 1], behind * sizeof(*root->child));
    root->count--;
}

/* Puts a pair into the map, which takes ownership of both. */
static int put_setting(struct reader *reader, struct node *root, struct node *key, struct node *value)
{
    int64_t place = find_key(root, key->text);

    if (node_is_null(value)) {
        if (place < root->count)
            remove_key(root, place);
        node_release(key);
        node_release(value);
        return 0;
    }
    if (place == root->count) {
        if (node_grow(root) < 0) {
            node_release(key);
            node_release(value);
            return error_set(reader->error, ERROR_ENVIRONMENT, "%s: no memory", reader->sweep->path);
        }
        root->count++;
    } else {
        node_release(&root->key[place]);
        node_release(&root->child[place]);
    }
    root->key[place] = *key;
    root->child[place] = *value;
    return 0;
}

static int read_value(struct reader *reader, const char *name, const char *text, struct node *value)
{
    struct place fault;

    if (strspn(text, " ") == strlen(text)) {
        *value = (struct node){.kind = NODE_SCALAR, .text = reader_string(reader, "%s", "")};
        return value->text ? 0 : -1;
    }
    if (yaml_read(value, text, strlen(text), &fault, reader->error) == 0) {
        node_move(value, PLACE_SETTING);
        return 0;
    }
    error_prefix(reader->error, "%s", name);
    return place_prefix(reader->error, reader->sweep->path, PLACE_SETTING);
}

static int apply(struct reader *reader, struct node *root, const char *setting)
{
    const char *equals = strchr(setting, '=');
    struct node key = {.kind = NODE_SCALAR, .place = PLACE_SETTING}, value;
    char excerpt[EXCERPT_SIZE];

    if (!equals)
        return reader_fault(reader, PLACE_SETTING, "%s: takes key=value", place_excerpt(setting, excerpt));
    key.text = reader_string(reader, "%.*s", (int)(equals - setting), setting);
    if (!key.text)
        return -1;
    int status = 0;
    if (key_find(key.text) == KEY_COUNT && !param_find(key.text))
        status = reader_unknown(reader, &key);
    if (status == 0)
        status = read_value(reader, key.text, equals + 1, &value);
    if (status < 0) {
        node_release(&key);
        return -1;
    }
    return put_setting(reader, root, &key, &value);
}

int settings_apply(struct reader *reader, struct node *root, const char *const *settings, int count)
{
    for (int i = 0; i < count; i++)
        if (apply(reader, root, settings[i]) < 0)
            return -1;
    return 0;
}
