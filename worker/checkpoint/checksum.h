#ifndef NORMSWEEP_WORKER_CHECKPOINT_CHECKSUM_H
#define NORMSWEEP_WORKER_CHECKPOINT_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/*
 * A 64-bit checksum of a stream of bytes, as fast as memory delivers them: FNV-1a over words instead of
 * bytes, in four lanes that do not wait for each other. A word's way into its lane, and a lane's into the
 * result, can be undone (exclusive or, an odd factor, a shifted exclusive or), so that any one altered word
 * is always noticed; other damage passes by a chance of 2^-64. The length counts as well. It tells files that
 * were cut or altered; no defence against an adversary.
 */
struct checksum {
    uint64_t lane[4], bytes;
};

enum { CHECKSUM_BLOCK = 32 };

void checksum_init(struct checksum *checksum);

/* `count` is a multiple of CHECKSUM_BLOCK, but for the last bytes of the stream. */
void checksum_add(struct checksum *checksum, const void *bytes, size_t count);

uint64_t checksum_value(const struct checksum *checksum);

#endif
