/*
 * normsweep check: reads a sweep file and its texts as `run` would, and says that both are valid, or what is
 * not.
 */
#include "driver/commands/inside.h"
#include "driver/sweep/sweep.h"
#include "driver/text/text.h"

#include <inttypes.h>

/* "sweep.yaml: valid: 20 learning_rate x 20 weight_decay, 400 cells, 3 skipped; 2 % of the validation tokens
 * are <unk>" */
static void report_valid(const struct sweep *sweep, const struct corpus *corpus)
{
    lines_put(stdout, sweep->path);
    fputs(": valid: ", stdout);
    for (int64_t i = 0; i < sweep->axis_count; i++)
        printf("%s%" PRId64 " %s", i ? " x " : "", sweep->axis[i].length, sweep->axis[i].name);
    printf("%s%" PRId64 " cell%s", sweep->axis_count ? ", " : "", sweep->cells, sweep->cells == 1 ? "" : "s");
    if (sweep->skipped)
        printf(", %" PRId64 " skipped", sweep->skipped);
    sweep_print_unknown(corpus, stdout);
    putchar('\n');
}

int command_check(const struct arguments *arguments, struct error *error)
{
    struct start start = {.arguments = arguments};
    int status = start_load(&start, error);

    if (status == 0)
        status = start_load_corpus(&start, error);
    if (status == 0) {
        if (arguments_has(arguments, OPTION_VALUES)) {
            printf("cells=%" PRId64 "\n", start.sweep.cells);
            printf("runs=%" PRId64 "\n", start.sweep.cells - start.sweep.skipped);
            quote_put_output(start.sweep.output);
        } else {
            report_valid(&start.sweep, &start.corpus);
        }
        fflush(stdout);
        remarks_print(&start.sweep, stderr);
    }
    start_release(&start);
    return status;
}
