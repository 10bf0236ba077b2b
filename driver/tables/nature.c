#include "driver/tables/tables.h"

#include <string.h>

const struct nature_row *nature_of(const char *word)
{
    for (enum nature nature = 0; word && nature < NATURE_COUNT; nature++)
        if (strcmp(nature_table[nature].word, word) == 0)
            return &nature_table[nature];
    return &nature_table[NATURE_RECORD];
}
