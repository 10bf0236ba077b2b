/*
 * The line on stdout with which `run` begins: on how many workers and threads it trains, with which inner
 * loops. It also warns of more threads than processors, which would make training slow and is reported
 * nowhere else.
 */
#include "driver/commands/inside.h"
#include "driver/sweep/sweep.h"
#include "driver/text/text.h"
#include "model/kernels/kernels.h"
#include "worker/host/host.h"

#include <inttypes.h>
#include <stdio.h>

static void print_workers(int workers, struct threads threads)
{
    if (workers > 0)
        printf("%d worker%s of ", workers, workers == 1 ? "" : "s");
    else
        printf("the allocation's workers, of ");
    if (threads.least < threads.most)
        printf("%" PRId64 " to ", threads.least);
    printf("%" PRId64 " thread%s", threads.most, threads.most == 1 ? "" : "s");
}

/* Warns of more threads than processors, which makes training slow and is not reported elsewhere. */
static void print_shortage(int workers, struct threads threads, bool here)
{
    int processors = processors_count();
    const char *ending = processors == 1 ? "" : "S";

    if (here && workers * threads.most > processors)
        printf(": %" PRId64 " THREADS SHARE %d PROCESSOR%s, all that it may use", workers * threads.most,
            processors, ending);
    else if (!here && threads.most > processors)
        printf(
            ": A RANK MAY USE %d PROCESSOR%s ONLY; allocate more for each (mpirun --map-by slot:PE=%" PRId64
            ", srun --cpus-per-task), or let none be bound (mpirun --bind-to none)",
            processors, ending, threads.most);
}

/* The vector level in use; warns if the requested level is not available. */
static void print_level(void)
{
    const char *missing = kernels_level_missing(), *name;
    bool runs;

    printf(", vector level %s", kernels_level_in_use());
    if (!missing)
        return;
    printf(" (NORMSWEEP_VECTOR=%.20s is ignored; available:", missing);
    for (int i = 0; (name = kernels_level(i, &runs)); i++)
        if (runs)
            printf("%s %s", i ? "," : "", name);
    printf(")");
}

void announce(const struct sweep *sweep, int workers, bool here)
{
    struct threads threads = threads_of(sweep);

    lines_put(stdout, sweep->output);
    fputs(": ", stdout);
    print_workers(workers, threads);
    print_shortage(workers, threads, here);
    if (environment_sets_threads())
        printf("; BLAS kernel %s", environment_blas_kernel());
    else
        printf("; this BLAS library may start threads of its own: set OMP_NUM_THREADS=1 to prevent that");
    print_level();
    printf("\n");
    fflush(stdout);
    remarks_print(sweep, stderr);
}
