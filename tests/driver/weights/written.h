#ifndef NORMSWEEP_TESTS_DRIVER_WEIGHTS_WRITTEN_H
#define NORMSWEEP_TESTS_DRIVER_WEIGHTS_WRITTEN_H

#include "driver/weights/trained.h"

/* A folder with the files of a model. */
struct written {
    char folder[64];
};

void written_init(struct written *written);
void written_release(const struct written *written); /* with its files */

/* Writes a file of this text. */
void written_text(const struct written *written, const char *name, const char *text);

/*
 * Writes a safetensors file of F32. tensors: lines "name 2,3 100", with shape and first element; the others
 * count on from it.
 */
void written_tensors(const struct written *written, const char *name, const char *tensors);

/* Opens a file of the folder, "": the folder. */
int written_open(const struct written *written, const char *name, int64_t heads, struct trained *trained,
    struct error *error);

/* Opens it and expects this message, in which the folder's name is left out. */
void written_refused(const struct written *written, const char *name, int64_t heads, const char *message);

#endif
