#ifndef NORMSWEEP_WORKER_CHECKPOINT_CHECKSUM_H
#define NORMSWEEP_WORKER_CHECKPOINT_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/*
 * A 64-bit checksum of a stream of bytes, as fast as memory: FNV-1a over words instead of bytes, in many
 * independent lanes, so that numpy computes it fast, too (analysis/normsweep/weights.py). Every operation can
 * be undone (exclusive or, an odd factor, a shifted exclusive or), so a single altered word always changes
 * the result; other damage goes unnoticed with probability 2^-64. The length is included. It detects files
 * that were cut or altered, but is not secure against an adversary.
 */
enum { CHECKSUM_LANES = 1024, CHECKSUM_BLOCK = CHECKSUM_LANES * 8 };

struct checksum {
    uint64_t lane[CHECKSUM_LANES], bytes;
};

void checksum_init(struct checksum *checksum);

/* `count` must be a multiple of CHECKSUM_BLOCK, except for the last bytes of the stream. */
void checksum_add(struct checksum *checksum, const void *bytes, size_t count);

uint64_t checksum_value(const struct checksum *checksum);

#endif
