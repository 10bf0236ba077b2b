#ifndef NORMSWEEP_DRIVER_JOB_LOCAL_H
#define NORMSWEEP_DRIVER_JOB_LOCAL_H

#include "driver/job/job.h"

/* Runs a job with one worker in this process, without MPI, until every run has ended or a signal arrives. */
void local_run(struct job *job);

#endif
