#ifndef NORMSWEEP_DRIVER_WEIGHTS_FAMILY_H
#define NORMSWEEP_DRIVER_WEIGHTS_FAMILY_H

#include "driver/weights/config.h"
#include "driver/weights/trained.h"

/* How a tensor of the model lies in the file. Without any of these: [out, in], or a vector. */
enum row_form {
    IN_OUT = 1 << 0, /* [in, out] */
    BY_HEADS = 1 << 1, /* the length of all queries is two lengths, [heads, head width] */
    PADDED = 1 << 2, /* its first rows belong to no position: properties.padding of them */
    /* the name */
    OUTSIDE = 1 << 3, /* without the base prefix */
    OF_DECODER = 1 << 4, /* of the blocks of an encoder-decoder's decoder, not of the first stack's */
    /* of two names for one kind */
    IF_GATED = 1 << 5,
    IF_NOT_GATED = 1 << 6,
};

/* A tensor of the model in the file. */
struct family_row {
    enum tensor_kind kind;
    unsigned form; /* of enum row_form */
    const char *name; /* # stands for the number of the block in its stack */
    int part, parts; /* it is part 0 .. parts - 1 of so many side by side, in rows one after the other; parts
                        0: it is alone */
};

/* Another tensor that files have. */
struct family_other {
    const char *name;
    unsigned form; /* OUTSIDE or 0 */
    bool copy; /* it must equal the tensor of this kind; else it is not read */
    enum tensor_kind of;
};

/* What config.json says of a model. */
struct properties {
    struct architecture architecture;
    struct special_tokens special;
    int64_t padding; /* see PADDED */
    bool tied; /* the output matrix is the token embedding, where the file does not show it */
    bool surely_tied; /* a file with another output matrix contradicts this */
    bool gelu_transform; /* the layer before the output matrix has gelu, whatever the blocks have */
};

/* A family of models with one set of names. */
struct family {
    const char *model_type; /* in config.json */
    const char *title; /* in messages */
    const char *prefix; /* of all names, where the base model is part of another; "": never */
    const struct family_row *row; /* until name NULL */
    const struct family_other *other; /* until name NULL */
    struct architecture initial; /* where config.json is silent; init_scale and residual_scale are 1 */
    const struct config_key *key; /* the fields that config.json sets; until key NULL */
    bool tied, surely_tied; /* where config.json is silent: see struct properties */
    bool sized_by_tensors; /* sizes that config.json lacks come from the tensors */
    const char *heads_key; /* of config.json; the user may give the number that it lacks; NULL: never */

    /* Fills in what is not in these rows, after them; faults stay in the config. NULL: nothing. */
    void (*read)(struct config *config, struct properties *properties);
};

enum { FAMILY_NAME_SIZE = 128, FAMILY_RANK_MOST = 3 };

/* The family of a model_type; NULL: there is none. */
const struct family *family_find(const char *model_type);

/* "gpt2, llama, ... or xlnet" */
void family_words(char text[CONFIG_WORDS_SIZE]);

/* Reads what config.json says. Where it is silent, the architecture stays as it is. */
void family_read(const struct family *family, struct config *config, struct properties *properties);

/* The row of a tensor of block `layer`, or outside the blocks; NULL: the family has no such tensor. */
const struct family_row *family_row(const struct family *family, const struct architecture *architecture,
    enum tensor_kind kind, int64_t layer);

/* The name in the file. prefixed: names have the prefix. Returns name. */
const char *family_name(const struct family *family, const struct family_row *row, bool prefixed,
    int64_t block, char name[FAMILY_NAME_SIZE]);

/* Does the family ignore, or check, a tensor of this name that no row has? NULL: it is unknown. */
const struct family_other *family_other(const struct family *family, const char *name, bool prefixed);

/* The number of blocks up to the last whose rows or others have this name; 0: the name has no block. */
int64_t family_blocks(const struct family *family, const char *name, bool prefixed);

/* Sets *block to the one that a tensor of this name belongs to, and returns the number of blocks of its
 * stack; 0: it is not a row of a block. */
int64_t family_row_block(const struct family *family, const struct architecture *architecture,
    const char *name, bool prefixed, int64_t *block);

/* The shape in the file; returns the rank. padding: rows that are skipped. */
int64_t family_shape(const struct family_row *row, const struct architecture *architecture, int64_t padding,
    int64_t shape[FAMILY_RANK_MOST]);

#endif
