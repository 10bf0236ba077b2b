/*
 * run --dry-run: makes the checks of a start in their order and prints its plan, the same value that `run`
 * executes, and the forecast for its runs. Nothing is written, and no lease is taken; a sweep that another
 * process holds is refused, as by `run`.
 */
#include "driver/commands/inside.h"
#include "driver/job/job.h"
#include "driver/output/output.h"
#include "driver/sweep/sweep.h"
#include "driver/text/text.h"

#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "1 run", "3 runs" */
static void print_runs(int64_t runs)
{
    printf("%" PRId64 " run%s", runs, runs == 1 ? "" : "s");
}

/* ---- the dataset ---- */

/* The cells of the sweep that the file does not have. */
static int64_t count_new(const struct start_plan *plan)
{
    int64_t count = 0;

    for (int64_t cell = 0; cell < plan->cells; cell++)
        count += plan->place[cell] < 0;
    return count;
}

/* "would be written anew with all that it holds, because the text of the sweep file has changed"; whatever
 * else changes follows from that text. */
static void print_rewritten(const struct start_plan *plan)
{
    int64_t added = count_new(plan);
    const char *comma = "";
    int reasons = 0;

    for (int i = 0; i < REWRITE_COUNT; i++)
        reasons += plan->rewrite[i];
    fputs("would be written anew with all that it holds, because ", stdout);
    for (int i = 0; i < REWRITE_COUNT; i++) {
        if (!plan->rewrite[i] || (i == REWRITE_TEXT && reasons > 1))
            continue;
        fputs(comma, stdout);
        if (i == REWRITE_CELLS && added > 0)
            printf("%" PRId64 " of %" PRId64 " cells are new", added, plan->cells);
        else
            fputs(rewrite_words[i], stdout);
        comma = ", ";
    }
}

static void print_dataset(const struct sweep *sweep, const struct start_plan *plan)
{
    char *old = set_aside_name(sweep->output, plan->grown.old_steps);

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
        print_rewritten(plan);
        break;
    case START_SETS_ASIDE:
        fputs("would become ", stdout);
        lines_put(stdout, old ? old : "");
        fputs(", and a new one would be made", stdout);
        break;
    case START_GROWS:
        fputs("would become ", stdout);
        lines_put(stdout, old ? old : "");
        printf(", and a new one be made: steps grows from %" PRId64 " to %" PRId64, plan->grown.old_steps,
            sweep->base.steps);
        break;
    }
    putchar('\n');
    free(old);
}

/* ---- the runs ---- */

/* "resume    2 runs, from their checkpoints at steps 100 to 300" */
static void print_steps(const char *word, const struct forecast_steps *steps, const char *file)
{
    bool several = steps->runs > 1;

    if (steps->runs == 0)
        return;
    printf("%-10s", word);
    print_runs(steps->runs);
    printf(", from %s %s%s at step", several ? "their" : "its", file, several ? "s" : "");
    if (steps->least < steps->most)
        printf("s %" PRId64 " to", steps->least);
    printf(" %" PRId64 "\n", steps->most);
}

static void print_line(const char *word, int64_t runs, const char *how)
{
    if (runs == 0)
        return;
    printf("%-10s", word);
    print_runs(runs);
    printf("%s\n", how);
}

static void print_kept(const struct forecast *forecast)
{
    const int64_t *kept = forecast->kept, skipped = kept[OUTCOME_SKIPPED];
    int64_t ended = kept[OUTCOME_DONE] + kept[OUTCOME_DIVERGED] + kept[OUTCOME_FAILED];

    if (ended > 0) {
        printf("keep      ");
        print_runs(ended);
        printf(": %" PRId64 " done, %" PRId64 " diverged, %" PRId64 " failed\n", kept[OUTCOME_DONE],
            kept[OUTCOME_DIVERGED], kept[OUTCOME_FAILED]);
    }
    if (skipped > 0)
        printf("skip      %" PRId64 " cell%s\n", skipped, skipped == 1 ? "" : "s");
}

static void print_forecast(const struct forecast *forecast)
{
    print_kept(forecast);
    print_steps("resume", &forecast->resumed, "checkpoint");
    print_steps("carry on", &forecast->carried, "state");
    print_line("again", forecast->again, ", from the first step: under way before, without a checkpoint");
    print_line("retry", forecast->retried, ", from the first step: failed before");
    print_line("train", forecast->begun, ", from the first step");
    if (forecast->later > 0)
        printf("search    would choose about %.0f more as these end\n", ceil(forecast->later));
}

/* ---- the workers ---- */

static void print_workers(
    const struct launching *launching, const struct starter *starter, bool ranks, int64_t pending)
{
    bool here = !ranks && launching->arguments->jobs == 0;
    int workers = starter->size > 1 ? starter->size - 1 : 1, spares = launching_spares(launching);

    if (ranks)
        printf("ranks     %d, started by others (%s is set)\n", starter->size, starter->variable);
    else if (here)
        puts("ranks     none: this process would train");
    else if (getenv("SLURM_JOB_ID") && launching->arguments->jobs < 0)
        printf("ranks     as many as the allocation has, by %s\n", launching->mpirun.command);
    else
        printf("ranks     %d, a coordinator and %d spare%s, on this machine, by %s\n",
            launching_workers(launching, pending), spares, spares == 1 ? "" : "s", launching->mpirun.command);
    if (!ranks)
        workers = here ? 1 : launching_workers(launching, pending);
    announce(launching->sweep, workers, !ranks && (here || !getenv("SLURM_JOB_ID")));
}

/* ---- the whole ---- */

/* Could the log be written? */
static int check_log(const char *path, struct error *error)
{
    mode_t kind;

    char *folder = path && output_kind(path, &kind) == 0 && !kind ? output_folder(path) : NULL;
    int cause = folder ? output_folder_fault(folder) : 0;

    free(folder);
    return cause ? error_set(error, output_is_at_fault(cause) ? ERROR_INPUT : ERROR_ENVIRONMENT, "%s: %s",
                       path, strerror(cause))
                 : 0;
}

static int foresee(const struct launching *launching, const struct corpus *corpus, struct start_plan *plan,
    struct forecast *forecast, struct error *error)
{
    const struct arguments *arguments = launching->arguments;
    const struct sweep *sweep = launching->sweep;
    struct dataset_options options = {.fresh = arguments_has(arguments, OPTION_FRESH),
        .retry_failed = arguments_has(arguments, OPTION_RETRY_FAILED)};

    if (lease_look(sweep->output, error) != 0 ||
        start_plan_make(plan, sweep->output, sweep, corpus, &options, error) != 0)
        return -1;
    int result = forecast_make(forecast, sweep, corpus, plan, error);
    if (result != 0)
        start_plan_release(plan);
    return result;
}

/* Prints everything. Returns the exit status. */
static int tell(const struct launching *launching, const struct starter *starter, bool ranks,
    const struct start_plan *plan, const struct forecast *forecast)
{
    int64_t pending = forecast_pending(forecast);

    lines_print(
        stdout, 0, "%s: a dry run: nothing is written, and nothing is trained", launching->sweep->output);
    print_dataset(launching->sweep, plan);
    print_forecast(forecast);
    if (pending > 0) {
        print_workers(launching, starter, ranks, pending);
        return STATUS_DONE;
    }
    puts("nothing is left to train");
    return forecast->kept[OUTCOME_FAILED] > 0 ? STATUS_RUNS_FAILED : STATUS_DONE;
}

static int rehearse(struct launching *launching, const struct starter *starter, struct error *error)
{
    bool ranks = starter->rank >= 0 && !(starter->size == 1 && launching->arguments->jobs == 0);
    bool here = launching->arguments->jobs == 0;
    struct start_plan plan;
    struct forecast forecast;
    struct corpus corpus;

    if (sweep_load_corpus(launching->sweep, &corpus, error) != 0)
        return -1;
    int result = ranks || here ? 0 : launching_check(launching, true, error);
    if (result == 0)
        result = foresee(launching, &corpus, &plan, &forecast, error);
    if (result == 0) {
        result = tell(launching, starter, ranks, &plan, &forecast);
        start_plan_release(&plan);
    }
    corpus_release(&corpus);
    return result;
}

int rehearsal(const struct arguments *arguments, const struct starter *starter)
{
    struct launching launching = {.arguments = arguments};
    struct sweep sweep;
    struct error error;

    if (arguments_load_sweep(arguments, &sweep, &error) != 0)
        return command_fail(&error);
    launching.sweep = &sweep;
    int status = check_log(arguments->log, &error);
    if (status == 0)
        status = rehearse(&launching, starter, &error);
    sweep_release(&sweep);
    return status < 0 ? command_fail(&error) : status;
}
