#ifndef NORMSWEEP_DRIVER_INSPECT_INSIDE_H
#define NORMSWEEP_DRIVER_INSPECT_INSIDE_H

#include "driver/inspect/inspect.h"
#include "model/corpora/corpora.h"

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

/* The text of `inspect`, and how a network reads it. */
struct inspect_text {
    struct text text; /* owned; token_count 0: none */
    struct reading compared; /* what the saturated network reads, too */
    struct reading predicted; /* what the loss is measured on */
    struct foreign_words foreign;
    bool has_loss;
    bool reads_spans; /* an encoder-decoder does */
    bool is_masked; /* the loss needs passes of its own, over `predicted` */
    const char *note; /* why there is no loss; or NULL */

    int64_t window; /* the most tokens of a sequence */
    int64_t sequences, tokens; /* that are measured */
    int64_t lines_cut; /* lines that are longer than a window */
    int64_t left_out; /* tokens of a stream behind the last whole window */
    int64_t batches;
    struct batch_rows room; /* of a batch */
    struct batch_rows largest; /* of a sequence */
    int64_t longest; /* tokens of a sequence */
    int64_t kept; /* sequences whose states are kept: the first ones, as many as fit in a few rows */
    struct batch_rows kept_rows;
};

/*
 * Reads the file of token ids, if there is one, and checks what is requested with it. reading.foreign
 * points into *text, which must stay where it is. -1 with a message in error, nothing to release.
 */
int inspect_text_read(struct inspect_text *text, const struct saved *network,
    const struct inspect_request *request, struct error *error);
void inspect_text_release(struct inspect_text *text);

/* Makes batches smaller, down to the largest sequence. False: they were so small. */
bool inspect_text_shrink(struct inspect_text *text);

/* The architecture with the context that the text needs: what depends on it then takes no more memory. */
struct architecture inspect_text_architecture(
    const struct inspect_text *text, const struct architecture *architecture);

#endif
