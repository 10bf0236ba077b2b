#ifndef NORMSWEEP_DRIVER_WEIGHTS_MATCH_H
#define NORMSWEEP_DRIVER_WEIGHTS_MATCH_H

#include "driver/weights/family.h"
#include "driver/weights/shards.h"

/* The files of a model of a family, and which of their tensors hold those of the model. */
struct matches {
    const struct family *family;
    struct shards shards; /* owned */
    bool prefixed; /* names have the base prefix */
    int64_t padding; /* see PADDED */
    int64_t count;
    struct match *match; /* [count] by tensor_index; owned */
};

struct match {
    const struct stored_tensor *stored; /* NULL: the architecture has no such tensor */
    const struct family_row *row;
};

/* Looks whether names have the prefix. */
void matches_begin(struct matches *matches, const struct family *family);

/* Refuses files without config.json that are not of this family, the default. -1 with a message in error,
 * without path. */
int matches_unconfigured(const struct matches *matches, struct error *error);

/* The tensor outside the blocks that would hold this one; NULL: it is not in the files. */
const struct stored_tensor *matches_find(
    const struct matches *matches, const struct architecture *architecture, enum tensor_kind kind);

/* Takes sizes from the shapes of tensors and from their names. -1 with a message in error, without path. */
int matches_sizes(const struct matches *matches, struct architecture *architecture, struct error *error);

/* Is this tensor, whose shape and type it also checks, the same as another of the model? */
int matches_equal(const struct matches *matches, const struct architecture *architecture,
    enum tensor_kind kind, const struct stored_tensor *stored, bool *equal, struct error *error);

/*
 * Finds all tensors of the architecture; the files may hold no others but those of the family's table. -1
 * with a message in error, without path.
 */
int matches_fill(struct matches *matches, const struct architecture *architecture, struct error *error);

#endif
