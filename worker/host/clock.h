#ifndef NORMSWEEP_WORKER_HOST_CLOCK_H
#define NORMSWEEP_WORKER_HOST_CLOCK_H

#include <time.h>

/* Seconds on a clock that does not go back. */
static inline double clock_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Sleeps; a signal ends it early. */
static inline void clock_pause(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};

    nanosleep(&time, NULL);
}

/*
 * How long to sleep between two looks for work: starts short and doubles while nothing comes, so that an
 * answer comes within a millisecond while there is traffic and waiting costs next to nothing.
 */
struct patience {
    double pause; /* the next one; 0 at first */
    double idle; /* slept since something last came */
};

static inline void patience_wait(struct patience *patience)
{
    double most = patience->idle < 5e-3 ? 1e-3 : patience->idle < 25e-3 ? patience->idle / 5 : 5e-3;

    patience->pause = patience->pause > 0 ? 2 * patience->pause : 50e-6;
    patience->pause = patience->pause < most ? patience->pause : most;
    patience->idle += patience->pause;
    clock_pause(patience->pause);
}

static inline void patience_renew(struct patience *patience)
{
    *patience = (struct patience){0};
}

#endif
