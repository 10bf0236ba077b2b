#ifndef NORMSWEEP_MODEL_CORE_DIGEST_H
#define NORMSWEEP_MODEL_CORE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* 128-bit FNV-1a (Fowler, Noll and Vo): tells configurations and texts apart. It is not secure against an
 * adversary. */
struct digest {
    uint64_t high, low;
};

#define DIGEST_TEXT 33 /* 32 hexadecimal digits and the terminator */

void digest_init(struct digest *digest);
void digest_add(struct digest *digest, const void *bytes, size_t count);

/* Adds the string with its terminator, so that "ab","c" differs from "a","bc". */
void digest_add_string(struct digest *digest, const char *string);

void digest_format(const struct digest *digest, char text[DIGEST_TEXT]);

#endif
