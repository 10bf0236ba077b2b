#ifndef NORMSWEEP_DRIVER_JOB_MAKESPAN_H
#define NORMSWEEP_DRIVER_JOB_MAKESPAN_H

/* The time that workers take for runs, each of which goes to the worker that is free first. */
struct makespan {
    double *load; /* [workers] seconds; a heap with the smallest on top; owned */
    int workers;
    double most; /* the largest load */
};

/* 0, or -1 without memory. */
int makespan_begin(struct makespan *makespan, int workers);

void makespan_add(struct makespan *makespan, double seconds);

/* Frees the loads; returns the largest. */
double makespan_end(struct makespan *makespan);

#endif
