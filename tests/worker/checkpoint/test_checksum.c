/* The checksum of files. */
#include "tests/test.h"

#include "worker/checkpoint/inside.h"

TEST(checksum_notices_every_word)
{
    static unsigned char bytes[2 * CHECKSUM_BLOCK + 1000];
    struct checksum checksum;

    checksum_init(&checksum);
    checksum_add(&checksum, bytes, sizeof(bytes));
    uint64_t whole = checksum_value(&checksum);
    for (size_t size = 0; size < sizeof(bytes); size += 13) {
        checksum_init(&checksum);
        checksum_add(&checksum, bytes, size);
        CHECK(checksum_value(&checksum) != whole);
        bytes[size] = 0x80;
        checksum_init(&checksum);
        checksum_add(&checksum, bytes, CHECKSUM_BLOCK);
        checksum_add(&checksum, bytes + CHECKSUM_BLOCK, sizeof(bytes) - CHECKSUM_BLOCK);
        CHECK(checksum_value(&checksum) != whole);
        bytes[(size + CHECKSUM_BLOCK) % sizeof(bytes)] ^= 0x80; /* the top bits of two words of a lane */
        checksum_init(&checksum);
        checksum_add(&checksum, bytes, sizeof(bytes));
        CHECK(checksum_value(&checksum) != whole);
        memset(bytes, 0, sizeof(bytes));
    }
}
