/*
 * The checksum of a whole file as an attribute of fixed length in it: the file is written with a blank, then
 * its bytes are read back, and the sum is put into the blank. A checkpoint that was cut short or damaged does
 * not match and is not resumed.
 */
#include "worker/checkpoint/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEAL_LENGTH = sizeof(SEAL_BLANK) - 1, AT_ONCE = 1 << 18 };

_Static_assert(BREATH_BYTES % AT_ONCE == 0, "breaths come between reads");
_Static_assert(AT_ONCE % CHECKSUM_BLOCK == 0, "checksums take whole blocks");

/* The start of the attribute in a CDF-5 file: length of its name, name, type (characters), length. */
static const unsigned char marker[] = "\0\0\0\0\0\0\0\x08" SEAL_NAME "\0\0\0\x02"
                                      "\0\0\0\0\0\0\0\x10";

enum { MARKER_LENGTH = sizeof(marker) - 1 };

_Static_assert(sizeof(SEAL_NAME) - 1 == 8 && SEAL_LENGTH == 16, "the marker has both lengths");

enum seal_task { SEAL_LOOK, SEAL_CHECK, SEAL_PUT };

struct sealed {
    int file;
    const struct breath *breath;
    off_t place; /* of the seal */
    char found[SEAL_LENGTH], due[SEAL_LENGTH + 1]; /* the seal in the file, the right one */
};

/* Reads up to `size` bytes, fewer only at the end of the file. Returns their number, or -1 with errno. */
static ssize_t read_full(int file, unsigned char *bytes, size_t size)
{
    size_t count = 0;

    while (count < size) {
        ssize_t some = read(file, bytes + count, size - count);
        if (some < 0 && errno != EINTR)
            return -1;
        if (some == 0)
            break;
        count += some > 0 ? (size_t)some : 0;
    }
    return (ssize_t)count;
}

/* Finds the seal in the first bytes of the file, its header, copies it, and zeroes it in `bytes`. */
static int take_seal(struct sealed *sealed, unsigned char *bytes, size_t count)
{
    unsigned char *at = memmem(bytes, count, marker, MARKER_LENGTH);

    if (!at || count - (size_t)(at - bytes) < MARKER_LENGTH + SEAL_LENGTH)
        return SEAL_BROKEN;
    at += MARKER_LENGTH;
    memcpy(sealed->found, at, SEAL_LENGTH);
    memset(at, 0, SEAL_LENGTH);
    sealed->place = at - bytes;
    return 0;
}

/* Finds the seal in the file and, unless that is all, the one that is due, with AT_ONCE bytes of memory. */
static int scan(struct sealed *sealed, enum seal_task task, unsigned char *bytes)
{
    struct checksum checksum;
    ssize_t count;
    int status = 0;

    checksum_init(&checksum);
    do {
        count = read_full(sealed->file, bytes, AT_ONCE);
        if (count < 0)
            return errno;
        if (checksum.bytes == 0)
            status = take_seal(sealed, bytes, (size_t)count);
        if (task == SEAL_LOOK)
            return status;
        checksum_add(&checksum, bytes, (size_t)count);
        if (checksum.bytes % BREATH_BYTES == 0)
            breathe(sealed->breath);
    } while (status == 0 && count == AT_ONCE);
    snprintf(sealed->due, sizeof(sealed->due), "%016" PRIx64, checksum_value(&checksum));
    return status;
}

static int seal_file(enum seal_task task, const char *path, const struct breath *breath)
{
    unsigned char *bytes = malloc(AT_ONCE);
    int flags = (task == SEAL_PUT ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK;
    struct sealed sealed = {.file = open(path, flags), .breath = breath};
    int status = !bytes ? ENOMEM : sealed.file < 0 ? errno : scan(&sealed, task, bytes);

    free(bytes);
    if (status == 0 && task == SEAL_CHECK && memcmp(sealed.found, sealed.due, SEAL_LENGTH) != 0)
        status = SEAL_BROKEN;
    if (status == 0 && task == SEAL_PUT) {
        ssize_t written = pwrite(sealed.file, sealed.due, SEAL_LENGTH, sealed.place);
        status = written == SEAL_LENGTH ? 0 : written < 0 ? errno : ENOSPC;
    }
    if (sealed.file >= 0 && close(sealed.file) != 0 && status == 0 && task == SEAL_PUT)
        status = errno;
    return status;
}

int seal_put(const char *path, const struct breath *breath)
{
    return seal_file(SEAL_PUT, path, breath);
}

int seal_check(const char *path, const struct breath *breath)
{
    return seal_file(SEAL_CHECK, path, breath);
}

int seal_look(const char *path)
{
    return seal_file(SEAL_LOOK, path, NULL);
}
