/*
 * normsweep check: reads a sweep file and its texts as `run` would, and says that both are valid, or what is
 * not.
 */
#include "driver/commands/inside.h"

#include <inttypes.h>

/* "sweep.yaml: valid: 20 learning_rate x 20 weight_decay, 400 cells, 3 skipped; 2 % of the validation tokens
 * are <unk>"; and the name that the dataset has for each file of weights, "sweep.yaml: initial_weights
 * 3fa0c3a8d3138b3a: first.nc" */
int command_check(const struct arguments *arguments, struct error *error)
{
    struct start start = {.arguments = arguments};
    const struct sweep *sweep = &start.sweep;
    int status = start_load(&start, error);

    if (status == 0)
        status = start_load_corpus(&start, error);
    if (status == 0) {
        if (arguments_has(arguments, OPTION_VALUES)) {
            printf("cells=%" PRId64 "\n", sweep->cells);
            printf("runs=%" PRId64 "\n", sweep->cells - sweep->skipped);
            quote_put_output(sweep->output);
        } else {
            lines_put(stdout, sweep->path);
            fputs(": valid: ", stdout);
            for (int64_t i = 0; i < sweep->axis_count; i++)
                printf("%s%" PRId64 " %s", i ? " x " : "", sweep->axis[i].length, sweep->axis[i].name);
            printf("%s%" PRId64 " cell%s", sweep->axis_count ? ", " : "", sweep->cells,
                sweep->cells == 1 ? "" : "s");
            if (sweep->skipped)
                printf(", %" PRId64 " skipped", sweep->skipped);
            sweep_print_unknown(&start.corpus, stdout);
            putchar('\n');
            for (int64_t i = 0; i < sweep->starts.count; i++)
                lines_print(stdout, 0, "%s: initial_weights %016" PRIx64 ": %s", sweep->path,
                    sweep->starts.file[i].name, sweep->starts.file[i].path);
        }
        fflush(stdout);
        remarks_print(sweep, stderr);
    }
    start_release(&start);
    return status;
}
