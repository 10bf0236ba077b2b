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

/* Values for scripts. */
static void print_values(const struct sweep *sweep)
{
    printf("cells=%" PRId64 "\n", sweep->cells);
    printf("runs=%" PRId64 "\n", sweep->cells - sweep->skipped);
    quote_put_output(sweep->output);
}

int command_check(int argc, char **argv)
{
    struct arguments arguments;
    struct corpus corpus;
    struct sweep sweep;
    struct error error;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    bool values = arguments_has(&arguments, OPTION_VALUES);
    status = arguments_load_sweep(&arguments, &sweep, &error);
    arguments_release(&arguments);
    if (status < 0)
        return command_fail(&error);
    status = sweep_load_corpus(&sweep, &corpus, &error);
    if (status == 0) {
        if (values)
            print_values(&sweep);
        else
            report_valid(&sweep, &corpus);
        fflush(stdout);
        remarks_print(&sweep, stderr);
        corpus_release(&corpus);
    }
    sweep_release(&sweep);
    return command_flush(status < 0 ? command_fail(&error) : 0);
}
