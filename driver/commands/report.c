/*
 * What `run` prints at its beginning and at its end. The first line says on how many workers and threads it
 * trains, with which inner loops; it also warns of more threads than processors, which would make training
 * slow and is reported nowhere else. The last lines say how many runs ended how, which failed and why, and
 * the command that goes on from there; they follow from the dataset at the path, as the next reader finds it.
 */
#include "driver/commands/inside.h"
#include "model/kernels/kernels.h"
#include "worker/checkpoint/checkpoint.h"

#include <errno.h> /* program_invocation_name: as the user has called it; it may not be on the PATH */
#include <inttypes.h>
#include <stdlib.h>

enum { NAMED_MOST = 20 };

void report_start(const struct sweep *sweep, int workers, bool here)
{
    const struct threads threads = threads_of(sweep);
    const char *missing = kernels_level_missing(), *name;
    int processors = processors_count();
    const char *ending = processors == 1 ? "" : "S";
    bool runs;

    lines_put(stdout, sweep->output);
    if (workers > 0)
        printf(": %d worker%s of ", workers, workers == 1 ? "" : "s");
    else
        printf(": the allocation's workers, of ");
    if (threads.least < threads.most)
        printf("%" PRId64 " to ", threads.least);
    printf("%" PRId64 " thread%s", threads.most, threads.most == 1 ? "" : "s");
    if (here && workers * threads.most > processors)
        printf(": %" PRId64 " THREADS SHARE %d PROCESSOR%s, all that it may use", workers * threads.most,
            processors, ending);
    else if (!here && threads.most > processors)
        printf(
            ": A RANK MAY USE %d PROCESSOR%s ONLY; allocate more for each (mpirun --map-by slot:PE=%" PRId64
            ", srun --cpus-per-task), or let none be bound (mpirun --bind-to none)",
            processors, ending, threads.most);
    if (environment_sets_threads())
        printf("; BLAS kernel %s", environment_blas_kernel());
    else
        printf("; this BLAS library may start threads of its own: set OMP_NUM_THREADS=1 to prevent that");
    printf(", vector level %s", kernels_level_in_use());
    if (missing) { /* the requested level */
        printf(" (NORMSWEEP_VECTOR=%.20s is ignored; available:", missing);
        for (int i = 0; (name = kernels_level(i, &runs)); i++)
            if (runs)
                printf("%s %s", i ? "," : "", name);
        printf(")");
    }
    printf("\n");
    fflush(stdout);
    remarks_print(sweep, stderr);
}

signed char *outcomes_read(struct view *view, const char *path, struct error *error)
{
    if (view_open(view, path, error) != 0)
        return NULL;
    signed char *outcome = memory_new((size_t)view->cells, 1);
    if (view_outcomes(view, outcome, error) == 0)
        return outcome;
    free(outcome);
    view_close(view);
    return NULL;
}

/* The counts of outcomes and the time, and the command that goes on from there. */
static void print_counts(const struct sweep *sweep, const int64_t count[OUTCOME_COUNT], int64_t left,
    int64_t others, double seconds)
{
    int64_t runs = left + count[OUTCOME_DONE] + count[OUTCOME_DIVERGED] + count[OUTCOME_FAILED];
    char time[32];

    lines_put(stdout, sweep->output);
    fputs(": ", stdout);
    if (seconds < 0)
        printf("nothing left to do: ");
    if (left > 0)
        printf("stopped: %" PRId64 " of ", runs - left);
    printf("%" PRId64 " run%s%s%s %" PRId64 " done, %" PRId64 " diverged, %" PRId64 " failed", runs,
        runs == 1 ? "" : "s", sweep->only ? " of --only" : "", left > 0 ? " have ended:" : ":",
        count[OUTCOME_DONE], count[OUTCOME_DIVERGED], count[OUTCOME_FAILED]);
    if (seconds >= 0)
        printf("; %s", duration_format(seconds, time, sizeof(time)));
    putchar('\n');
    if (left > 0) {
        struct checkpoint_set saved = {0}; /* of the runs that can continue from a checkpoint */
        char *folder = folder_of(sweep->output);
        struct error ignored;
        if (folder && checkpoint_set_init(&saved, folder, &ignored) == 0 && saved.count > 0)
            printf("%" PRId64 " run%s under way %s saved; ", saved.count, saved.count == 1 ? "" : "s",
                saved.count == 1 ? "is" : "are");
        checkpoint_set_release(&saved);
        free(folder);
        puts("run the same command again to continue");
    } else {
        const char *folder = sweep->parts_folder;
        char *program = quote_path(program_invocation_name);
        char *output = quote_path(folder ? folder : sweep->output);
        printf("to see the results: %s %s %s\n", program, folder ? "status" : "show", output);
        free(program);
        free(output);
        if (others > 0)
            printf("%" PRId64 " other run%s wait: run the same command without --only\n", others,
                others == 1 ? "" : "s");
        if (count[OUTCOME_FAILED] > 0)
            puts("to repeat the failed runs, add --retry-failed");
    }
}

int report_end(const struct sweep *sweep, double seconds, struct error *error)
{
    int64_t count[OUTCOME_COUNT] = {0}, named = 0, others = 0;
    struct view view;
    signed char *outcome = outcomes_read(&view, sweep->output, error);

    if (!outcome)
        return -1;
    int64_t cells =
        view.cells < sweep->cells ? view.cells : sweep->cells; /* the file may have been replaced */
    for (int64_t cell = 0; cell < cells; cell++)
        if (sweep_chooses(sweep, cell))
            count[outcome[cell]]++;
        else
            others += outcome[cell] == OUTCOME_PENDING || outcome[cell] == OUTCOME_RUNNING;
    int64_t left = count[OUTCOME_PENDING] + count[OUTCOME_RUNNING], failed = count[OUTCOME_FAILED];
    print_counts(sweep, count, left, others, seconds);
    fflush(stdout);
    for (int64_t cell = 0; cell < cells && named < NAMED_MOST; cell++) {
        char label[LABEL_SIZE];
        if (outcome[cell] != OUTCOME_FAILED || !sweep_chooses(sweep, cell))
            continue;
        char *reason = view_string(&view, "reason", cell, NULL);
        lines_print(stderr, 0, "failed: %s: %s",
            label_named(sweep->axis_count, sweep->axis, cell, NAMING_WHOLE, label), reason ? reason : "");
        free(reason);
        named++;
    }
    if (failed > named)
        fprintf(stderr, "failed: %" PRId64 " more\n", failed - named);
    free(outcome);
    view_close(&view);
    if (left > 0)
        return STATUS_STOPPED;
    return failed > 0 ? STATUS_RUNS_FAILED : STATUS_DONE;
}
