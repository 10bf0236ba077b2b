#ifndef NORMSWEEP_MODEL_CORPORA_BLOCK_H
#define NORMSWEEP_MODEL_CORPORA_BLOCK_H

#include "model/corpora/corpus.h"

/*
 * A corpus that corpus_write has written, read where it lies: the file is the corpus's from now on. -1: the
 * file, which stays open, holds none, or cannot be mapped.
 */
int corpus_attach(struct corpus *corpus, int file);

#endif
