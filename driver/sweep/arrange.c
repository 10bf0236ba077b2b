#include "driver/sweep/arrange.h"

#include "driver/sweep/grid.h"
#include "model/core/check.h"

#include <stdlib.h>
#include <string.h>

/* The skipped cells in the new order: [cells / 64 + 1] words; NULL: no memory. */
static uint64_t *arrange_skipped(const struct sweep *sweep, int64_t axis, const int64_t *from)
{
    uint64_t *skip = calloc((size_t)sweep->cells / 64 + 1, sizeof(*skip));
    int64_t length = sweep->axis[axis].length, inner = 1;

    for (int64_t i = axis + 1; i < sweep->axis_count; i++)
        inner *= sweep->axis[i].length;
    for (int64_t cell = 0; skip && cell < sweep->cells; cell++) {
        int64_t place = cell / inner % length, before = cell + (from[place] - place) * inner;
        if (sweep_skips(sweep, before))
            skip[cell / 64] |= UINT64_C(1) << (cell % 64);
    }
    return skip;
}

int sweep_arrange(struct sweep *sweep, int64_t axis, const int64_t *from)
{
    struct axis *row = &sweep->axis[axis];
    size_t length = (size_t)row->length;
    union param_value *value = malloc(length * sizeof(*value));
    struct place *written = row->written ? malloc(length * sizeof(*written)) : NULL;
    uint64_t *skip = sweep->skip ? arrange_skipped(sweep, axis, from) : NULL;
    bool memory = value && (written || !row->written) && (skip || !sweep->skip);

    INVARIANT(!row->label && row->param_count == 1, "%s is not a plain axis", row->name);
    for (size_t i = 0; memory && i < length; i++) {
        value[i] = row->value[from[i]];
        if (written)
            written[i] = row->written[from[i]];
    }
    if (memory) {
        memcpy(row->value, value, length * sizeof(*value));
        if (written)
            memcpy(row->written, written, length * sizeof(*written));
        if (skip)
            memcpy(sweep->skip, skip, ((size_t)sweep->cells / 64 + 1) * sizeof(*skip));
    }
    free(value);
    free(written);
    free(skip);
    return memory ? 0 : -1;
}
