#include "driver/tables/tables.h"
#include "worker/run/run.h"

#include <string.h>

const struct key_row key_table[KEY_COUNT] = {
#define X(key, name, form, initial, help) [KEY_##key] = {#name, form, initial, help},
    KEYS(X)
#undef X
};

enum key key_find(const char *name)
{
    enum key key = 0;

    while (key < KEY_COUNT && strcmp(key_table[key].name, name) != 0)
        key++;
    return key;
}

const char *key_hint(const char *name, char text[NEAREST_SIZE])
{
    struct nearest nearest;

    nearest_init(&nearest, name);
    for (size_t i = 0; i < param_count; i++)
        nearest_offer(&nearest, param_table[i].name);
    for (enum key key = 0; key < KEY_COUNT; key++)
        nearest_offer(&nearest, key_table[key].name);
    return nearest_hint(&nearest, text);
}
