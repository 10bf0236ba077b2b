#include "driver/sweep/settings.h"

#include "driver/sweep/yaml.h"

#include <string.h>

/* Puts a pair into the map, which takes ownership of both. */
static int put_setting(struct reader *reader, struct node *root, struct node *key, struct node *value)
{
    int64_t place = node_find(root, key->text);

    if (!node_is_null(value)) {
        if (node_put(root, key, value) == 0)
            return 0;
        return error_set(reader->error, ERROR_ENVIRONMENT, "%s: no memory", reader->sweep->path);
    }
    if (place < root->count) {
        node_remove(root, place);
        reader_take_out(reader, key->text, key->place);
    }
    node_release(key);
    node_release(value);
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

/* Is it a setting of the key `include`? */
static bool is_include(const char *setting)
{
    const char *name = key_table[KEY_INCLUDE].name;
    size_t length = strlen(name);

    return strncmp(setting, name, length) == 0 && setting[length] == '=';
}

int settings_apply(
    struct reader *reader, struct node *root, const char *const *settings, int count, bool include)
{
    for (int i = 0; i < count; i++)
        if (is_include(settings[i]) == include && apply(reader, root, settings[i]) < 0)
            return -1;
    return 0;
}
