/*
 * 128-bit FNV-1a over bytes. Processes compare digests, and files keep them: the constants and the order of
 * bytes must not change.
 */
#include "model/core/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

void digest_init(struct digest *digest)
{
    *digest = (struct digest){UINT64_C(0x6c62272e07bb0142), UINT64_C(0x62b821756295c58d)};
}

void digest_add(struct digest *digest, const void *bytes, size_t count)
{
    const wide prime = (wide)1 << 88 | 0x13b;
    const unsigned char *byte = bytes;
    wide hash = (wide)digest->high << 64 | digest->low;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * prime;
    *digest = (struct digest){(uint64_t)(hash >> 64), (uint64_t)hash};
}

void digest_add_string(struct digest *digest, const char *string)
{
    digest_add(digest, string, strlen(string) + 1);
}

void digest_format(const struct digest *digest, char text[DIGEST_TEXT])
{
    snprintf(text, DIGEST_TEXT, "%016" PRIx64 "%016" PRIx64, digest->high, digest->low);
}
