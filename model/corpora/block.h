#ifndef NORMSWEEP_MODEL_CORPORA_BLOCK_H
#define NORMSWEEP_MODEL_CORPORA_BLOCK_H

#include "model/corpora/corpus.h"

/*
 * Maps a corpus that corpus_write has written; the corpus then owns the file. -1 if the file cannot be mapped
 * or does not hold a corpus; the file then stays open and the caller's.
 */
int corpus_attach(struct corpus *corpus, int file);

#endif
