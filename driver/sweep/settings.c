/* --set key=value: values, read as YAML, that are laid over the tree of a sweep file. */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"

#include <string.h>

static int read_value(struct reader *reader, const char *name, const char *text, struct node *value)
{
    struct position fault;

    if (strspn(text, " ") == strlen(text)) {
        *value = (struct node){.kind = NODE_SCALAR, .text = memory_copy("")};
        return 0;
    }
    if (yaml_read(value, text, strlen(text), &fault, reader->error) == 0) {
        node_move(value, POSITION_SETTING);
        return 0;
    }
    error_prefix(reader->error, "%s", name);
    return position_prefix(reader->error, reader->sweep->path, POSITION_SETTING);
}

static int apply(struct reader *reader, struct node *root, const char *setting)
{
    const char *equals = strchr(setting, '=');
    struct node key = {.kind = NODE_SCALAR, .position = POSITION_SETTING}, value = {0};
    char excerpt[EXCERPT_SIZE];

    if (!equals)
        return reader_fault(reader, POSITION_SETTING, "%s: takes key=value", place_excerpt(setting, excerpt));
    key.text = memory_copy_part(setting, (size_t)(equals - setting));
    int status = 0;
    if (key_find(key.text) == KEY_COUNT && !param_find(key.text))
        status = reader_unknown(reader, &key);
    if (status == 0)
        status = read_value(reader, key.text, equals + 1, &value);
    int64_t index = node_find(root, key.text);
    if (status == 0 && !node_is_null(&value)) {
        node_put(root, &key, &value);
    } else if (status == 0 && index < root->count) {
        node_remove(root, index);
        reader_take_out(reader, key.text, key.position);
    }
    node_release(&key);
    node_release(&value);
    return status;
}

int settings_apply(
    struct reader *reader, struct node *root, const char *const *settings, int count, bool include)
{
    const char *name = key_table[KEY_INCLUDE].name;
    size_t length = strlen(name);

    for (int i = 0; i < count; i++)
        if ((strncmp(settings[i], name, length) == 0 && settings[i][length] == '=') == include &&
            apply(reader, root, settings[i]) < 0)
            return -1;
    return 0;
}
