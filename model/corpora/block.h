#ifndef NORMSWEEP_MODEL_CORPORA_BLOCK_H
#define NORMSWEEP_MODEL_CORPORA_BLOCK_H

#include "model/corpora/corpus.h"

/*
 * Maps a corpus that corpus_write has written from this source, with its files of token ids; the corpus then
 * owns the file. -1 if the file cannot be mapped or does not hold a corpus, or if a file of token ids is not
 * the one that was read; the file then stays open and the caller's.
 */
int corpus_attach(struct corpus *corpus, const struct corpus_source *source, int file);

#endif
