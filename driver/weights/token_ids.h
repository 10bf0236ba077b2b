#ifndef NORMSWEEP_DRIVER_WEIGHTS_TOKEN_IDS_H
#define NORMSWEEP_DRIVER_WEIGHTS_TOKEN_IDS_H

#include "model/corpora/corpus.h"

/*
 * A text of token ids: whole numbers below `vocabulary` with white space between, read from a file. One
 * stream: text->line_count is 0. On failure -1, nothing held, and "<path>:<line>: why".
 */
int token_ids_read(struct text *text, const char *path, int64_t vocabulary, struct error *error);
void token_ids_release(struct text *text);

#endif
