#ifndef NORMSWEEP_DRIVER_WEIGHTS_TOKEN_IDS_H
#define NORMSWEEP_DRIVER_WEIGHTS_TOKEN_IDS_H

#include <stdbool.h>

#include "model/corpora/corpus.h"

/* How a file of token ids is read. */
struct token_ids {
    int64_t vocabulary; /* ids are below it */
    int64_t padding; /* the id that no text may hold; -1: none */
    bool lines; /* each line of the file is a sequence; else the file is one stream and text->line_count 0 */
    int64_t behind; /* tokens at the end of each line that only are targets, not a part of the sequence */
};

/*
 * Reads a text of token ids from a file: whole numbers, separated by white space, behind a byte order mark if
 * there is one. One token 0 lies behind the last. -1 with "<path>:<line>: why" in error, nothing to release.
 */
int token_ids_read(struct text *text, const char *path, const struct token_ids *how, struct error *error);
void token_ids_release(struct text *text);

#endif
