#ifndef NORMSWEEP_DRIVER_WEIGHTS_EXPORTED_H
#define NORMSWEEP_DRIVER_WEIGHTS_EXPORTED_H

#include "driver/weights/home.h"
#include "driver/weights/safetensors_write.h"
#include "worker/checkpoint/saved.h"

/* The tensors of a run as its home names and shapes them. */
struct exported {
    const struct saved *saved; /* borrowed */
    const struct family *family; /* of the home */
    struct architecture architecture; /* in the home */
    struct weight_layout layout; /* of this architecture */
    struct arena arena; /* owned: of the layout */
    int64_t count;
    struct stored_form *form; /* [count] owned */
    struct exported_place *place; /* [count] owned: where each comes from */
    double *part; /* owned: room for the largest tensor of ours */
};

/* -1: no memory. */
int exported_init(struct exported *exported, const struct saved *saved, enum home home, struct error *error);
void exported_release(struct exported *exported);

/* What a file of these tensors holds; `exported` must outlive it. */
struct stored_content exported_content(struct exported *exported);

#endif
