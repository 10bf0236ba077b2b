#include "driver/tables/nature.h"

#include <string.h>

const struct nature_row *nature_of(const char *variable, const char *word)
{
    for (enum nature nature = 0; word && nature < NATURE_COUNT; nature++)
        if (strcmp(nature_table[nature].word, word) == 0)
            return &nature_table[nature];
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        if (strcmp(metric_table[metric].name, variable) == 0)
            return &nature_table[metric_table[metric].nature];
    return &nature_table[NATURE_RECORD];
}
