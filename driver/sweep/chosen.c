/*
 * Runs that are chosen from a sweep, as a sweep of their own: one axis `run`, along which every parameter
 * moves that an axis of the sweep moves. `verify` trains such a sweep by the road that `run` takes; its ranks
 * read the same sweep file and then the list of the runs, which is a file of numbers, a line for each.
 */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int chosen_write(const char *path, const int64_t *cell, int64_t count, struct error *error)
{
    FILE *file = fopen(path, "we");

    if (!file)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    fprintf(file, "%" PRId64 "\n", count);
    for (int64_t i = 0; i < count; i++)
        fprintf(file, "%" PRId64 "\n", cell[i]);
    bool failed = ferror(file);
    if (fclose(file) != 0 || failed)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    return 0;
}

/* The numbers [*count]. The caller frees them; NULL: the file is not one of chosen_write for this sweep. */
static int64_t *read_numbers(const struct sweep *sweep, FILE *file, int64_t *count)
{
    if (fscanf(file, "%" SCNd64, count) != 1 || *count < 1 || *count > sweep->cells)
        return NULL;
    int64_t *cell = memory_new((size_t)*count, sizeof(*cell));
    for (int64_t i = 0; i < *count; i++)
        if (fscanf(file, "%" SCNd64, &cell[i]) != 1 || cell[i] < 0 || cell[i] >= sweep->cells) {
            free(cell);
            return NULL;
        }
    return cell;
}

int sweep_keep_chosen(struct sweep *sweep, const char *path, struct error *error)
{
    FILE *file = fopen(path, "re");
    int64_t count = 0, row = 0, *cell = file ? read_numbers(sweep, file, &count) : NULL;
    struct axis runs = {.name = memory_copy("run"), .length = count};

    if (file)
        fclose(file);
    if (!cell) {
        axis_release(&runs);
        return error_set(error, ERROR_ENVIRONMENT, "%s: is not a list of runs of %s", path, sweep->path);
    }
    if (sweep->axis_count == 0) { /* its one run */
        axis_release(&runs);
        free(cell);
        return 0;
    }
    for (int64_t i = 0; i < sweep->axis_count; i++)
        runs.param_count += sweep->axis[i].param_count;
    runs.label = memory_zero((size_t)count + 1, sizeof(*runs.label));
    runs.param = memory_new((size_t)runs.param_count, sizeof(*runs.param));
    runs.value = memory_new((size_t)(runs.param_count * count), sizeof(*runs.value));
    for (int64_t i = 0; i < sweep->axis_count; i++)
        for (int64_t p = 0; p < sweep->axis[i].param_count; p++)
            runs.param[row++] = sweep->axis[i].param[p];
    for (int64_t i = 0; i < count; i++) {
        char label[LABEL_SIZE];
        struct run run;
        sweep_cell(sweep, cell[i], &run);
        for (int64_t p = 0; p < runs.param_count; p++)
            runs.value[p * count + i] = param_get(runs.param[p], &run);
        label_named(sweep->axis_count, sweep->axis, cell[i], NAMING_WHOLE, label);
        if (strlen(label) + 4 >= LABEL_SIZE) /* it may be cut, and labels must differ */
            snprintf(label, sizeof(label), "%" PRId64, cell[i]);
        runs.label[i] = memory_copy(label);
    }
    for (int64_t i = 0; i < sweep->axis_count; i++)
        axis_release(&sweep->axis[i]);
    free(sweep->axis);
    free(sweep->skip);
    free(cell);
    sweep->axis = memory_new(1, sizeof(*sweep->axis));
    sweep->axis[0] = runs;
    sweep->axis_count = 1;
    sweep->cells = count;
    sweep->skip = NULL;
    sweep->skipped = 0;
    sweep->refine = (struct refine){.kind = REFINE_NONE};
    return 0;
}
