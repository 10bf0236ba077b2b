#ifndef NORMSWEEP_DRIVER_LOG_LOG_H
#define NORMSWEEP_DRIVER_LOG_LOG_H

#include <stdbool.h>

#include "driver/job/job.h"
#include "driver/text/text.h"
#include "model/core/error.h"
#include "worker/host/host.h"

/*
 * The log that `run --log` appends to: a JSON object a line, as docs/log.schema.json has it, each written
 * with one call, so that several processes may write to one file. A line that cannot be written is lost, and
 * no error: a sweep does not end for its log. All functions take NULL: no log.
 */
struct journal;

enum { JOURNAL_VERSION = 1 }; /* raised by a change that existing readers could trip over */

/* The events, the only place of these names. docs/scripts.md explains them, and docs/log.schema.json has
 * their fields; a test compares. */
#define LOG_EVENTS(X)                                                                                        \
    X(SWEEP_STARTED, "sweep_started")                                                                        \
    X(SWEEP_RESUMED, "sweep_resumed")                                                                        \
    X(RUN_STARTED, "run_started")                                                                            \
    X(RUN_RESUMED, "run_resumed")                                                                            \
    X(RUN_ENDED, "run_ended")                                                                                \
    X(RUN_RETURNED, "run_returned")                                                                          \
    X(WORKER_LOST, "worker_lost")                                                                            \
    X(WORKER_REPLACED, "worker_replaced")                                                                    \
    X(HOST_SHUT, "host_shut")                                                                                \
    X(HOST_OPENED, "host_opened")                                                                            \
    X(COORDINATOR_RESTARTED, "coordinator_restarted")                                                        \
    X(SWEEP_ENDED, "sweep_ended")                                                                            \
    X(SWEEP_STOPPED, "sweep_stopped")                                                                        \
    X(SWEEP_FAILED, "sweep_failed")                                                                          \
    X(START_REFUSED, "start_refused")

enum log_event {
#define X(event, ...) LOG_##event,
    LOG_EVENTS(X)
#undef X
        LOG_EVENT_COUNT
};

/* Opens or creates the file; refuses one that is not regular or holds something else. -1 with a message in
 * error, ERROR_INPUT if the path is at fault. */
int journal_open(struct journal **journal, const char *path, struct error *error);

/* The process that lines name: that which the user has started, by default this one. */
void journal_keep_process(struct journal *journal, const struct process *process);

/* Drops lines that wait for a commit, writes the others, and closes the file. */
void journal_close(struct journal *journal);

/* Begins a line, with its version, time, event and process; the caller writes more fields. NULL: do not write
 * any, and do not end the line. */
struct json_writer *journal_begin(struct journal *journal, enum log_event event);

/* Ends and writes the line. If `waits`, it waits for journal_commit, and so do all that follow, which keeps
 * the lines in order. */
void journal_end(struct journal *journal, bool waits);

/* Writes the lines that wait, if what they tell is safe now; otherwise drops those that waited for that. */
void journal_commit(struct journal *journal, bool safe);

/* True once, if a line was lost: the message for the user. `goes_on`: the sweep does. */
bool journal_complains(struct journal *journal, bool goes_on, struct error *error);

extern const char *const log_event_name[LOG_EVENT_COUNT];

/* What happens in a job becomes lines of the journal, which is borrowed; NULL: no log. */
struct job_observer log_observer(struct journal *journal);

/* The ranks of a job are lost for the reason `why`, and are started again. */
void log_restart(void *journal, const char *why);

#endif
