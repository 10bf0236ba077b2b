#include "driver/plan/inside.h"

#include <math.h>
#include <stdlib.h>

int makespan_begin(struct makespan *makespan, int workers)
{
    *makespan = (struct makespan){.load = calloc((size_t)workers, sizeof(double)), .workers = workers};
    return makespan->load ? 0 : -1;
}

/* Restores the heap after load[0] has grown. */
static void sink(double *load, int workers)
{
    int at = 0;

    for (;;) {
        int least = 2 * at + 1;
        if (least >= workers)
            return;
        if (least + 1 < workers && load[least + 1] < load[least])
            least++;
        if (load[at] <= load[least])
            return;
        double swapped = load[at];
        load[at] = load[least];
        load[least] = swapped;
        at = least;
    }
}

void makespan_add(struct makespan *makespan, double seconds)
{
    makespan->load[0] += seconds;
    makespan->most = fmax(makespan->most, makespan->load[0]);
    sink(makespan->load, makespan->workers);
}

double makespan_end(struct makespan *makespan)
{
    free(makespan->load);
    makespan->load = NULL;
    return makespan->most;
}
