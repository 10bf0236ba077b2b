#ifndef NORMSWEEP_WORKER_HOST_NODE_H
#define NORMSWEEP_WORKER_HOST_NODE_H

#include "model/core/error.h"
#include "model/corpora/corpus.h"

/*
 * As corpus_load, but the processes of a user on one machine share one copy, whichever sweep they belong to:
 * the first of them reads the texts, the others map what it has read, for as long as one of them lives. Where
 * that cannot be, and for a small corpus, the memory is this process's own (corpus->file is then -1). Texts
 * that have changed are read anew.
 */
int node_load_corpus(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error);

/* Bytes of texts, or of tokens to draw, from which a corpus is shared. */
enum { NODE_SHARE_FROM = 1 << 20 };

#endif
