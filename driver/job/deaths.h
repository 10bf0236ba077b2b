#ifndef NORMSWEEP_DRIVER_JOB_DEATHS_H
#define NORMSWEEP_DRIVER_JOB_DEATHS_H

#include "driver/job/job.h"
#include "worker/host/log.h"

/*
 * Deaths of workers that no coordinator has seen, because it died with them: MPICH's mpiexec, like srun, ends
 * all ranks if one dies. The log of a worker that crashed names the signal and the run, and the next start
 * counts that against the run like a death that a coordinator sees. A worker that was killed by SIGKILL
 * leaves no such line, nor does one that was ended with the others.
 */

/* A death that an earlier start has left. */
struct unseen_death {
    struct log_death told;
    int64_t cell;
    bool failed; /* it was one too many for its run */
};

/* Counts what the logs in the folder tell, each death once: a log is removed before it counts, so that an
 * error or a kill here makes a death uncounted, and never counted twice. Logs beside a new dataset are of
 * another one and count for nothing. Runs that have killed too many workers are failed, on the disk, once
 * this returns 0. -1 with the error set. */
int deaths_count(struct job *job, struct error *error);

/* Makes them count for nothing, as deaths are forgiven that were counted: --retry-failed. The ends of the
 * logs are kept in the logs of their runs. */
void deaths_forgive(const char *output);

/* Logs them as events of this start. */
void deaths_tell(struct job *job);

/* The result of a run that has killed its workers. `last_words`: how the last one died, or "". */
struct result deaths_result(const struct job *job, int64_t cell, const char *last_words);

#endif
