#ifndef NORMSWEEP_WORKER_RUN_RUN_READING_H
#define NORMSWEEP_WORKER_RUN_RUN_READING_H

#include "model/corpora/corpus.h"
#include "model/corpora/reading.h"
#include "worker/run/run.h"

/* How a run reads its corpus: what corpus, objective, sequences and context say together. */
struct reading run_reading(const struct run *run, const struct corpus *corpus);

/* Do the sequences exist and fit the context? 0, or -1 as run_check. */
int run_check_reading(const struct run *run, const struct param **at, struct error *error);

#endif
