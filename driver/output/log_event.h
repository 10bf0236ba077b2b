#ifndef NORMSWEEP_DRIVER_OUTPUT_LOG_EVENT_H
#define NORMSWEEP_DRIVER_OUTPUT_LOG_EVENT_H

/* What a log tells, the only place of these names: X(EVENT, name, when). docs/scripts.md explains them, and
 * docs/log.schema.json has their fields; a test compares. */
#define LOG_EVENTS(X)                                                                                        \
    X(SWEEP_STARTED, "sweep_started", "workers begin with the first session of the dataset")                 \
    X(SWEEP_RESUMED, "sweep_resumed", "workers begin with a later session")                                  \
    X(RUN_STARTED, "run_started", "a worker begins a run")                                                   \
    X(RUN_RESUMED, "run_resumed", "a worker goes on with a run from a step")                                 \
    X(RUN_ENDED, "run_ended", "a run has ended, and its result is on the disk")                              \
    X(RUN_RETURNED, "run_returned", "a run did not end, and is pending again or no longer needed")           \
    X(WORKER_LOST, "worker_lost", "a worker died or was given up")                                           \
    X(WORKER_REPLACED, "worker_replaced", "a spare has the number of a lost worker now")                     \
    X(COORDINATOR_RESTARTED, "coordinator_restarted", "the ranks were lost, and mpirun is started again")    \
    X(SWEEP_ENDED, "sweep_ended", "run has ended, and with it every run of the sweep")                       \
    X(SWEEP_STOPPED, "sweep_stopped", "run has ended, runs are left, all saved")                             \
    X(SWEEP_FAILED, "sweep_failed", "run has ended with an error")                                           \
    X(START_REFUSED, "start_refused", "run has ended with an error before it had the dataset")               \
    X(SWEEP_INTERRUPTED, "sweep_interrupted",                                                                \
        "a second Ctrl-C ended run, which had the dataset, before all was saved")

enum log_event {
#define X(event, ...) LOG_##event,
    LOG_EVENTS(X)
#undef X
        LOG_EVENT_COUNT
};

struct log_event_row {
    const char *name, *when;
};
extern const struct log_event_row log_event_table[LOG_EVENT_COUNT];

#endif
