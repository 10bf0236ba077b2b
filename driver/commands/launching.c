/*
 * What `run` needs of mpirun, and checks before anything is written: that it is there, that its release is
 * known, that ranks may be started, how many workers and spares there will be. A finished sweep needs none of
 * it, so that the same command still prints its summary where no MPI is installed.
 */
#include "driver/commands/inside.h"
#include "driver/dataset/read/read.h"
#include "driver/ranks/ranks.h"
#include "driver/sweep/sweep.h"
#include "driver/text/text.h"
#include "worker/host/host.h"

#include <stdlib.h>

enum { SPARES = 1 };

int launching_workers(const struct launching *launching, int64_t pending)
{
    int asked = launching->arguments->jobs;

    if (asked < 0 && getenv("SLURM_JOB_ID"))
        return 0;
    int workers = asked > 0 ? asked : threads_workers(launching->sweep);
    return pending < workers ? (int)pending : workers;
}

/* Looks for mpirun the first time it is called. */
static int find_mpirun(struct launching *launching, struct error *error)
{
    if (!launching->found && mpirun_find(&launching->mpirun, error) != 0)
        return -1;
    launching->found = true;
    return 0;
}

int launching_spares(const struct launching *launching)
{
    int asked = launching->arguments->spares;

    if (launching->mpirun.release == 0 || (launching->mpirun.release >= 5 && mpirun_has_allocation()))
        return 0;
    return asked >= 0 ? asked : SPARES;
}

/* Workers on this machine; in an allocation, one per processor. */
static int workers_here(const struct launching *launching, int64_t pending)
{
    int workers = launching_workers(launching, pending);

    return workers > 0 ? workers : processors_count();
}

int launching_prepare(struct launching *launching, int64_t pending, struct error *error)
{
    if (find_mpirun(launching, error) != 0)
        return -1;
    return descriptors_reserve(workers_here(launching, pending), launching_spares(launching), error);
}

/* Have all runs of the sweep ended? False if its dataset cannot be read. */
static bool has_ended(const struct sweep *sweep)
{
    struct error ignored;
    struct view view;
    int64_t ended = 0;

    if (view_open(&view, sweep->output, &ignored) != 0)
        return false;
    signed char *outcome = memory_zero((size_t)view.cells, 1);
    if (view_outcomes(&view, outcome, &ignored) == 0)
        for (int64_t cell = 0; cell < view.cells; cell++)
            ended += outcome[cell] >= OUTCOME_DONE;
    bool all = ended == view.cells && view.cells == sweep->cells;
    free(outcome);
    view_close(&view);
    return all;
}

int launching_check(struct launching *launching, bool look, struct error *error)
{
    const struct arguments *arguments = launching->arguments;
    const struct sweep *sweep = launching->sweep;

    if (mpirun_check_root(error) != 0)
        return -1;
    if (!arguments_has(arguments, OPTION_FRESH) && !arguments_has(arguments, OPTION_RETRY_FAILED) &&
        has_ended(sweep))
        return 0;
    int64_t pending = sweep->cells - sweep->skipped;
    if (launching_prepare(launching, pending, error) != 0)
        return -1;
    int spares = launching_spares(launching), ranks = workers_here(launching, pending) + spares + 1;
    if (spares == 0)
        starter_warn_of_spares(sweep->output, arguments->spares,
            launching->mpirun.release ? "Open MPI 5 does not tell the hosts of an allocation"
                                      : "spares need Open MPI's mpirun");
    return launching->mpirun.kind == MPIRUN_OPEN_MPI ? mpirun_check_folder(ranks, look, error) : 0;
}
