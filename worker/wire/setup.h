#ifndef NORMSWEEP_WORKER_WIRE_SETUP_H
#define NORMSWEEP_WORKER_WIRE_SETUP_H

#include <stddef.h>

#include "model/corpora/corpus.h"
#include "worker/checkpoint/mark.h"
#include "worker/run/measure.h"

enum { HOST_SIZE = 64 };

/* What every worker needs before its first order. */
struct setup {
    struct corpus_source source;
    struct digest corpus; /* what the worker loads must be what the coordinator has loaded */
    struct measure measure;
    int64_t threads; /* of every run; 0: they differ */
    char *folder; /* of checkpoints, final weights and logs */
    int64_t session; /* of the dataset */
    double checkpoint_seconds; /* between two of a run */
    char host[HOST_SIZE]; /* the coordinator's */
    char mark[MARK_SIZE]; /* in the folder */
};

/* The setup as bytes, which the caller frees; NULL without memory. */
unsigned char *setup_encode(const struct setup *setup, size_t *size);

/* The setup from bytes; it owns all it points to. -1 without memory, or if setup_encode cannot have
 * made the bytes. */
int setup_decode(struct setup *setup, const unsigned char *bytes, size_t size);
void setup_release(struct setup *setup);

#endif
