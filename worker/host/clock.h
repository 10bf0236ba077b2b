#ifndef NORMSWEEP_WORKER_HOST_CLOCK_H
#define NORMSWEEP_WORKER_HOST_CLOCK_H

#include <time.h>

/* Seconds on a monotonic clock. */
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
 * The pause between two looks for messages. It starts short and doubles while nothing comes, so that answers
 * come within a millisecond while there is traffic, and waiting costs almost no processor time.
 */
struct patience {
    double pause; /* the last pause; 0 at first */
    double idle; /* seconds slept since the last message */
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
