/*
 * run --dry-run: makes the checks of a start in their order and prints its plan, the same value that `run`
 * executes, and the forecast for its runs. Nothing is written, and no lease is taken; a sweep that another
 * process holds is refused, as by `run`.
 */
#include "driver/commands/inside.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_dataset(const struct sweep *sweep, const struct start_plan *plan)
{
    char *old = set_aside_name(sweep->output, plan->grown.old_steps);
    const char *comma = "";
    int64_t added = 0;
    int reasons = 0;

    fputs("dataset   ", stdout);
    lines_put(stdout, sweep->output);
    putchar(' ');
    switch (plan->fate) {
    case START_MAKES:
        printf("does not exist and would be made, with %" PRId64 " cell%s", plan->cells,
            plan->cells == 1 ? "" : "s");
        break;
    case START_CONTINUES:
        printf("would be continued as it is");
        break;
    case START_REWRITES:
        for (int64_t cell = 0; cell < plan->cells; cell++)
            added += plan->kept_cell[cell] < 0;
        for (int i = 0; i < REWRITE_COUNT; i++)
            reasons += plan->rewrite[i];
        fputs("would be written anew with all that it holds, because ", stdout);
        for (int i = 0; i < REWRITE_COUNT; i++) {
            if (!plan->rewrite[i] || (i == REWRITE_TEXT && reasons > 1))
                continue; /* all other reasons follow from the text of the sweep file */
            fputs(comma, stdout);
            if (i == REWRITE_CELLS && added > 0)
                printf("%" PRId64 " of %" PRId64 " cells are new", added, plan->cells);
            else
                fputs(rewrite_words[i], stdout);
            comma = ", ";
        }
        break;
    case START_SETS_ASIDE:
    case START_GROWS:
        fputs("would become ", stdout);
        lines_put(stdout, old ? old : "");
        if (plan->fate == START_SETS_ASIDE)
            fputs(", and a new one would be made", stdout);
        else
            printf(", and a new one be made: steps grows from %" PRId64 " to %" PRId64, plan->grown.old_steps,
                sweep->base.steps);
        break;
    }
    putchar('\n');
    free(old);
}

/* Begins a line, "retry     3 runs"; false: there are none, and no line. */
static bool begin_line(const char *word, int64_t runs)
{
    if (runs > 0)
        printf("%-10s%" PRId64 " run%s", word, runs, runs == 1 ? "" : "s");
    return runs > 0;
}

/* "resume    2 runs, from their checkpoints at steps 100 to 300" */
static void print_steps(const char *word, const struct forecast_steps *steps, const char *file)
{
    bool several = steps->runs > 1;

    if (!begin_line(word, steps->runs))
        return;
    printf(", from %s %s%s at step", several ? "their" : "its", file, several ? "s" : "");
    if (steps->least < steps->most)
        printf("s %" PRId64 " to", steps->least);
    printf(" %" PRId64 "\n", steps->most);
}

static void print_forecast(const struct sweep *sweep, const struct forecast *forecast)
{
    const int64_t *kept = forecast->kept;
    int64_t skipped = sweep->parts ? sweep->skipped : kept[OUTCOME_SKIPPED];

    if (sweep->parts) /* other parts' runs are skipped in the dataset of this one */
        printf("part      %d of %d: %" PRId64 " of %" PRId64 " runs\n", sweep->part, sweep->parts,
            sweep->cells - kept[OUTCOME_SKIPPED], sweep->cells - sweep->skipped);
    if (begin_line("keep", kept[OUTCOME_DONE] + kept[OUTCOME_DIVERGED] + kept[OUTCOME_FAILED]))
        printf(": %" PRId64 " done, %" PRId64 " diverged, %" PRId64 " failed\n", kept[OUTCOME_DONE],
            kept[OUTCOME_DIVERGED], kept[OUTCOME_FAILED]);
    if (skipped > 0)
        printf("skip      %" PRId64 " cell%s\n", skipped, skipped == 1 ? "" : "s");
    print_steps("resume", &forecast->resumed, "checkpoint");
    print_steps("carry on", &forecast->carried, "state");
    if (begin_line("share", forecast->shared.runs))
        printf(", from states that others will leave; %" PRId64 " steps are trained once instead of again\n",
            forecast->shared.sum);
    if (begin_line("again", forecast->again))
        puts(", from the first step: under way before, without a checkpoint");
    if (begin_line("retry", forecast->retried))
        puts(", from the first step: failed before");
    if (begin_line("train", forecast->begun))
        puts(", from the first step");
    if (begin_line("wait", forecast->waiting))
        puts(", which --only leaves for a start without it");
    if (forecast_pending(forecast) > 1)
        puts("order     long runs first; among runs of similar length by seed, then coarse grids before fine "
             "ones");
    if (forecast->later > 0)
        printf("search    would choose about %.0f more as these end\n", ceil(forecast->later));
}

/* `ranks`: others have started them. */
static void print_workers(
    const struct start *start, const struct starter *starter, bool ranks, bool here, int64_t pending)
{
    int workers = here ? 1 : launching_workers(start, pending), spares = launching_spares(start);
    bool allocation = mpirun_has_allocation(&start->mpirun);

    if (ranks) {
        printf("ranks     %d, started by others (%s is set)\n", starter->size, starter->variable);
        workers = starter->size > 1 ? starter->size - 1 : 1;
    } else if (here) {
        puts("ranks     none: this process would train");
    } else if (allocation && start->arguments->jobs < 0) {
        printf("ranks     as many as the allocation has, by %s\n", start->mpirun.command);
    } else {
        printf("ranks     %d, a coordinator and %d spare%s, on this machine, by %s\n", workers, spares,
            spares == 1 ? "" : "s", start->mpirun.command);
    }
    report_start(&start->sweep, workers, !ranks && (here || !allocation));
}

/* Could the log be written? */
static int check_log(const char *path, struct error *error)
{
    mode_t kind;
    char *folder = path && output_kind(path, &kind) == 0 && !kind ? output_folder(path) : NULL;
    int cause = folder ? output_folder_fault(folder) : 0;

    free(folder);
    if (!cause)
        return 0;
    return error_set(
        error, output_is_at_fault(cause) ? ERROR_INPUT : ERROR_ENVIRONMENT, "%s: %s", path, strerror(cause));
}

/* Where the dataset would be. The folder of parts may have yet to be made: then a path beside it, at which
 * nothing is either. The caller frees it. */
static char *place_of(const struct sweep *sweep)
{
    char *place = memory_copy(sweep->output);

    if (sweep->parts_folder && access(sweep->parts_folder, F_OK) != 0 && errno == ENOENT)
        *strrchr(place, '/') = '-';
    return place;
}

int dry_run(struct start *start, const struct starter *starter, struct error *error)
{
    bool alone = start->arguments->jobs == 0, ranks = starter->rank >= 0 && !(starter->size == 1 && alone);
    bool here = alone && !ranks;
    struct dataset_options options = start_options(start);
    struct start_plan plan;
    struct forecast forecast;
    char *place = NULL;
    int64_t pending = 0;
    int status = -1;

    if (start_load(start, error) == 0 && check_log(start->arguments->log, error) == 0 &&
        start_load_corpus(start, error) == 0 && (ranks || here || launching_check(start, true, error) == 0) &&
        lease_look(place = place_of(&start->sweep), error) == 0 &&
        start_plan_make(&plan, place, &start->sweep, &start->corpus, &options, error) == 0) {
        if (forecast_make(&forecast, &start->sweep, &start->corpus, &plan, error) == 0) {
            pending = forecast_pending(&forecast);
            status = ranks || here || pending == 0 ? 0 : launching_prepare(start, pending, error);
        }
        if (status == 0) {
            lines_print(
                stdout, 0, "%s: a dry run: nothing is written, and nothing is trained", start->sweep.output);
            print_dataset(&start->sweep, &plan);
            print_forecast(&start->sweep, &forecast);
            if (pending > 0)
                print_workers(start, starter, ranks, here, pending);
            else
                puts("nothing is left to train");
            status = pending == 0 && forecast.kept[OUTCOME_FAILED] > 0 ? STATUS_RUNS_FAILED : STATUS_DONE;
        }
        start_plan_release(&plan);
    }
    free(place);
    start_release(start);
    return status;
}
