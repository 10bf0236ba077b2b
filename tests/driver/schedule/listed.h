#ifndef NORMSWEEP_TESTS_DRIVER_SCHEDULE_LISTED_H
#define NORMSWEEP_TESTS_DRIVER_SCHEDULE_LISTED_H

#include "driver/schedule/schedule.h"

/* Runs of an array, for a coordinator. */
struct run_list {
    const struct pending_run *run; /* [count] those that are left */
    int64_t count;
};

static inline bool next_listed(void *context, struct pending_run *run)
{
    struct run_list *list = context;

    if (list->count == 0)
        return false;
    list->count--;
    *run = *list->run++;
    return true;
}

static inline struct pending_runs listed_runs(struct run_list *list)
{
    return (struct pending_runs){next_listed, list};
}

#endif
