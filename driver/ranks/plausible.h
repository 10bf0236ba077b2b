#ifndef NORMSWEEP_DRIVER_RANKS_PLAUSIBLE_H
#define NORMSWEEP_DRIVER_RANKS_PLAUSIBLE_H

#include <stdbool.h>

#include "driver/job/job.h"
#include "worker/wire/message.h"

/*
 * Can this be true of the run of a cell? A worker whose memory is damaged, or that runs another program, may
 * say anything; what it says must not get into the dataset, and must not let the coordinator fail. A cell
 * below 0: the message is not about a run.
 */
bool plausible_progress(const struct job *job, int64_t cell, const struct run_progress *progress);
bool plausible_row(const struct job *job, int64_t cell, const struct row_piece *row);
bool plausible_result(const struct job *job, int64_t cell, const struct result *result);

/* Can a process have introduced itself like this? */
bool plausible_hello(const struct hello *hello);

#endif
