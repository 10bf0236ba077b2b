#ifndef NORMSWEEP_DRIVER_PICTURE_THROUGHPUT_H
#define NORMSWEEP_DRIVER_PICTURE_THROUGHPUT_H

/*
 * What workers do together, seen from outside: by how much a count goes up. It goes up by jumps, whenever
 * some worker has something to report, so that it takes several of them to tell a rate.
 */
enum { THROUGHPUT_SAMPLES = 60, THROUGHPUT_JUMPS = 5 };

struct throughput {
    int count; /* samples */
    struct {
        double time, amount;
    } sample[THROUGHPUT_SAMPLES]; /* the oldest first; only those at which the amount had gone up */
};

/* At `time`, in seconds, the count stands at `amount`. One that has gone down begins anew; NaN is passed
 * over. */
void throughput_add(struct throughput *throughput, double time, double amount);

/* In one per second; NaN as long as it cannot be told. */
double throughput_rate(const struct throughput *throughput);

#endif
