/*
 * What `run` needs of mpirun, and checks before anything is written: that it is there, that its release is
 * known, that ranks may be started, how many workers and spares there will be. A finished sweep needs none of
 * it, so that the same command still prints its summary where no MPI is installed.
 */
#include "driver/commands/inside.h"

#include <stdlib.h>

enum { SPARES = 1 };

int launching_workers(const struct start *start, int64_t pending)
{
    int asked = start->arguments->jobs;

    if (asked < 0 && mpirun_has_allocation(&start->mpirun))
        return 0;
    int workers = asked > 0 ? asked : threads_workers(&start->sweep);
    return pending < workers ? (int)pending : workers;
}

int launching_spares(const struct start *start)
{
    int asked = start->arguments->spares;

    if (start->mpirun.release == 0)
        return 0;
    return asked >= 0 ? asked : SPARES;
}

/* Workers on this machine; in an allocation, one per processor. */
static int workers_here(const struct start *start, int64_t pending)
{
    int workers = launching_workers(start, pending);

    return workers > 0 ? workers : processors_count();
}

int launching_prepare(struct start *start, int64_t pending, struct error *error)
{
    if (!start->mpirun.command && mpirun_find(&start->mpirun, error) != 0)
        return -1;
    start->mpirun.hosts = start->arguments->hosts;
    return descriptors_reserve(workers_here(start, pending), launching_spares(start), error);
}

/* Have all runs of the sweep ended? False if its dataset cannot be read. */
static bool has_ended(const struct sweep *sweep)
{
    struct error ignored;
    struct view view;
    signed char *outcome = outcomes_read(&view, sweep->output, &ignored);
    int64_t ended = 0;

    if (!outcome)
        return false;
    for (int64_t cell = 0; cell < view.cells; cell++)
        ended += outcome[cell] >= OUTCOME_DONE;
    bool all = ended == view.cells && view.cells == sweep->cells;
    free(outcome);
    view_close(&view);
    return all;
}

int launching_check(struct start *start, bool look, struct error *error)
{
    const struct arguments *arguments = start->arguments;
    const struct sweep *sweep = &start->sweep;
    int64_t pending = sweep->cells - sweep->skipped;

    if (mpirun_check_root(error) != 0)
        return -1;
    if (!arguments_has(arguments, OPTION_FRESH) && !arguments_has(arguments, OPTION_RETRY_FAILED) &&
        has_ended(sweep))
        return 0;
    if (launching_prepare(start, pending, error) != 0)
        return -1;
    if (arguments->hosts && mpirun_check_hosts(&start->mpirun, error) != 0)
        return -1;
    int spares = launching_spares(start), ranks = workers_here(start, pending) + spares + 1;
    if (spares == 0)
        starter_warn_of_spares(sweep->output, arguments->spares, "spares need Open MPI's mpirun");
    return start->mpirun.kind == MPIRUN_OPEN_MPI ? mpirun_check_folder(ranks, look, error) : 0;
}
