#include "driver/sweep/grid.h"
#include "driver/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

/* A sweep that was accepted has to hold together. */
static void use(const struct sweep *sweep)
{
    int64_t *index = calloc((size_t)sweep->axis_count + 1, sizeof(*index)), skipped = 0;
    const struct param *at;
    struct error error;
    struct run run;

    if (sweep->cells < 1 || sweep->cells > 10000000 || !sweep->output[0] || !index)
        abort();
    int64_t stride = sweep->cells / 1000 + 1;
    for (int64_t cell = 0; cell < sweep->cells; cell += stride) {
        sweep_indices(sweep, cell, index);
        sweep_cell(sweep, cell, &run);
        skipped += sweep_skips(sweep, cell);
        if (!sweep_skips(sweep, cell) && run_check(&run, &at, &error) < 0)
            abort();
        for (size_t i = 0; i < param_count; i++)
            if (param_check(&param_table[i], param_get(&param_table[i], &run), &error) < 0)
                abort();
    }
    if (skipped > sweep->skipped || sweep->skipped >= sweep->cells)
        abort();
    free(index);
}

/* What follows a NUL byte is a --set, what follows the next one another. */
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    char *text = malloc(size + 1);
    const char *settings[3];
    int count = 0;
    struct error error;
    struct sweep sweep;

    if (!text)
        return 0;
    memcpy(text, bytes, size);
    text[size] = 0;
    size_t length = strnlen(text, size), end = length;
    while (end < size && count < 3) {
        settings[count] = text + end + 1;
        end += 1 + strlen(settings[count++]);
    }
    error.text[0] = 0;
    if (sweep_parse(&sweep, "sweep.yaml", "folder", text, length, settings, count, &error) == 0) {
        use(&sweep);
        sweep_release(&sweep);
    } else if (!error.text[0] || strchr(error.text, '\n')) {
        abort();
    }
    free(text);
    return 0;
}
