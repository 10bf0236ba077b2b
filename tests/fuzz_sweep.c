#include "driver/sweep/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

/* A sweep that was accepted has to hold together. */
static void use(const struct sweep *sweep)
{
    int64_t skipped = 0;
    const struct param *at;
    struct error error;
    struct run run;

    if (sweep->cells < 1 || sweep->cells > 10000000 || !sweep->output[0])
        abort();
    int64_t stride = sweep->cells / 1000 + 1;
    for (int64_t cell = 0; cell < sweep->cells; cell += stride) {
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
}

/* A folder for the file that a sweep can include, base.yaml. */
static char folder[] = "/tmp/fuzz-sweep-XXXXXX", base_path[64];

static void remove_folder(void)
{
    unlink(base_path);
    rmdir(folder);
}

static void write_base(const char *text)
{
    if (!base_path[0] && (!mkdtemp(folder) || atexit(remove_folder) != 0))
        abort();
    snprintf(base_path, sizeof(base_path), "%s/base.yaml", folder);
    FILE *file = fopen(base_path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
}

/* What follows a NUL byte is a --set, what follows the next one another; one that begins with "# base.yaml"
 * is the file of this name, which includes may reach. */
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    const char *base = "", *settings[3], *head = "# base.yaml";
    char *text = malloc(size + 1);
    int count = 0;
    struct error error;
    struct sweep sweep;

    if (!text)
        return 0;
    memcpy(text, bytes, size);
    text[size] = 0;
    size_t length = strnlen(text, size), end = length;
    while (end < size && count < 3) {
        const char *part = text + end + 1;
        end += 1 + strlen(part);
        if (strncmp(part, head, strlen(head)) == 0)
            base = part;
        else
            settings[count++] = part;
    }
    write_base(base);
    error.text[0] = 0;
    if (sweep_parse(&sweep, "sweep.yaml", folder, text, length, settings, count, &error) == 0) {
        use(&sweep);
        sweep_release(&sweep);
    } else if (!error.text[0] || strchr(error.text, '\n')) {
        abort();
    }
    free(text);
    return 0;
}
