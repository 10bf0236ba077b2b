/*
 * An mpirun that cannot open the pipes of a rank reports nothing, starts the other ranks, and waits for the
 * missing one forever. So the limit is checked before mpirun starts.
 *
 * Open MPI 4.1 needs 30 descriptors and 4 for each worker and each spare. Other releases and transports may
 * open more, hence the margin. The limit is not raised to the maximum, because programs that loop over all
 * descriptors become slow under a very high limit.
 */
#include "driver/ranks/inside.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

enum {
    LEAST = 40, /* of mpirun and the coordinator */
    LEAST_RANK = 5,
    ROOM = 4, /* the limit is raised to this many times the least */
    USUAL = 1024, /* a message proposes a multiple of this */
};

int descriptors_reserve(int workers, int spares, struct error *error)
{
    rlim_t least = LEAST + LEAST_RANK * ((rlim_t)workers + (rlim_t)spares),
           usual = (least + USUAL - 1) / USUAL * USUAL;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= least)
        return 0;
    if (limit.rlim_max < least)
        return error_set(error, ERROR_ENVIRONMENT,
            "mpirun needs %llu file descriptors for %d worker%s and %d spare%s, and the hard limit (ulimit "
            "-Hn) is "
            "%llu; have it raised to %llu, take fewer workers (-j), or train without MPI (-j 0)",
            (unsigned long long)least, workers, workers == 1 ? "" : "s", spares, spares == 1 ? "" : "s",
            (unsigned long long)limit.rlim_max, (unsigned long long)usual);
    limit.rlim_cur = limit.rlim_max < ROOM * least ? limit.rlim_max : ROOM * least;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return error_set(
            error, ERROR_ENVIRONMENT, "the limit of file descriptors cannot be raised: %s", strerror(errno));
    return 0;
}
