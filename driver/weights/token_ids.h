#ifndef NORMSWEEP_DRIVER_WEIGHTS_TOKEN_IDS_H
#define NORMSWEEP_DRIVER_WEIGHTS_TOKEN_IDS_H

#include "model/corpora/corpus.h"

/*
 * Reads a text of token ids from a file: whole numbers below `vocabulary`, separated by white space. The text
 * is one stream: text->line_count is 0. -1 with "<path>:<line>: why" in error, nothing to release.
 */
int token_ids_read(struct text *text, const char *path, int64_t vocabulary, struct error *error);
void token_ids_release(struct text *text);

#endif
