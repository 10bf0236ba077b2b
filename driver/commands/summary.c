/*
 * What `run` prints at its end: how many runs ended how, which failed and why, and the command that goes on
 * from there. It reads the dataset at the path, as the next reader will.
 */
#include "driver/commands/inside.h"
#include "driver/dataset/read/read.h"
#include "driver/job/job.h"
#include "driver/output/output.h"
#include "driver/sweep/sweep.h"
#include "driver/text/text.h"
#include "worker/checkpoint/checkpoint.h"

#include <errno.h> /* program_invocation_name: as the user has called it; it may not be on the PATH */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAMED_MOST = 20 };

struct counts {
    int64_t of[OUTCOME_COUNT];
    int64_t runs, left;
};

static struct counts count(const signed char *outcome, int64_t cells)
{
    struct counts counts = {0};

    for (int64_t cell = 0; cell < cells; cell++)
        if (outcome[cell] >= 0 && outcome[cell] < OUTCOME_COUNT)
            counts.of[outcome[cell]]++;
    counts.left = counts.of[OUTCOME_PENDING] + counts.of[OUTCOME_RUNNING];
    counts.runs = cells - counts.of[OUTCOME_SKIPPED];
    return counts;
}

static void name_failed(
    const struct sweep *sweep, const struct view *view, const signed char *outcome, int64_t failed)
{
    int64_t named = 0;

    for (int64_t cell = 0; cell < sweep->cells && named < NAMED_MOST; cell++) {
        char label[LABEL_SIZE];
        if (outcome[cell] != OUTCOME_FAILED)
            continue;
        char *reason = view_string(view, "reason", cell, NULL);
        lines_print(stderr, 0, "failed: %s: %s", label_cell(sweep, cell, label), reason ? reason : "");
        free(reason);
        named++;
    }
    if (failed > named)
        fprintf(stderr, "failed: %" PRId64 " more\n", failed - named);
}

/* The number of runs that can continue from a checkpoint. */
static int64_t count_saved(const struct sweep *sweep)
{
    struct checkpoint_set saved = {0};
    char *folder = folder_of(sweep->output);
    struct error ignored;

    if (folder && checkpoint_set_init(&saved, folder, &ignored) != 0)
        saved.count = 0;
    int64_t count = saved.count;
    checkpoint_set_release(&saved);
    free(folder);
    return count;
}

static void print_counts(const struct sweep *sweep, const struct counts *counts, double seconds)
{
    char time[32];

    lines_put(stdout, sweep->output);
    fputs(": ", stdout);
    if (seconds < 0)
        printf("nothing left to do: ");
    if (counts->left > 0)
        printf("stopped: %" PRId64 " of ", counts->runs - counts->left);
    printf("%" PRId64 " run%s%s %" PRId64 " done, %" PRId64 " diverged, %" PRId64 " failed", counts->runs,
        counts->runs == 1 ? "" : "s", counts->left > 0 ? " have ended:" : ":", counts->of[OUTCOME_DONE],
        counts->of[OUTCOME_DIVERGED], counts->of[OUTCOME_FAILED]);
    if (seconds >= 0)
        printf("; %s", duration_format(seconds, time, sizeof(time)));
    putchar('\n');
    if (counts->left > 0) {
        int64_t saved = count_saved(sweep);
        if (saved > 0)
            printf("%" PRId64 " run%s under way %s saved; ", saved, saved == 1 ? "" : "s",
                saved == 1 ? "is" : "are");
        puts("run the same command again to continue");
    } else {
        char *program = quote_path(program_invocation_name), *output = quote_path(sweep->output);
        printf("to see the results: %s show %s\n", program, output);
        free(program);
        free(output);
    }
    if (counts->left == 0 && counts->of[OUTCOME_FAILED] > 0)
        puts("to repeat the failed runs, add --retry-failed");
}

int summary_print(const struct sweep *sweep, double seconds, struct error *error)
{
    struct view view;
    int status = -1;

    if (view_open(&view, sweep->output, error) != 0)
        return -1;
    signed char *outcome = memory_new((size_t)sweep->cells, 1);
    if (view_outcomes(&view, outcome, error) == 0) {
        struct counts counts = count(outcome, sweep->cells);
        print_counts(sweep, &counts, seconds);
        fflush(stdout);
        name_failed(sweep, &view, outcome, counts.of[OUTCOME_FAILED]);
        status = counts.left > 0                 ? STATUS_STOPPED
                 : counts.of[OUTCOME_FAILED] > 0 ? STATUS_RUNS_FAILED
                                                 : STATUS_DONE;
    }
    free(outcome);
    view_close(&view);
    return status;
}
