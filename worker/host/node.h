#ifndef NORMSWEEP_WORKER_HOST_NODE_H
#define NORMSWEEP_WORKER_HOST_NODE_H

#include "model/core/error.h"
#include "model/corpora/corpus.h"

/*
 * Like corpus_load, but the processes of a user on one machine share one copy, also across sweeps: the first
 * process reads the texts, the others map its copy, which exists as long as one of them lives. A corpus that
 * is small or cannot be shared is in memory of this process alone (corpus->file is then -1). Changed texts
 * are read again.
 */
int node_load_corpus(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error);

/* The least bytes of texts, or tokens to draw, of a corpus that is shared. */
enum { NODE_SHARE_FROM = 1 << 20 };

#endif
