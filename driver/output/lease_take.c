/*
 * How processes take a lease, using only what every shared file system does atomically: link and rename.
 *
 * Each contender writes a file of its own and links it to the lease's name; the link succeeds for one of
 * them. A dead lease is never removed, since another contender may take it between the check and the removal.
 * It is replaced by a rename, and only by the contender that holds the claim on it: a file named after the
 * dead lease and taken like a lease. The contender with the claim checks again that the lease is still the
 * dead one; nobody else may replace it now. If a contender dies, its claim is a dead lease like any other,
 * and there is a claim on that in turn.
 *
 * The record is complete in the contender's own file before that file gets the lease's name, so a reader
 * never finds a part of it, except on file systems without links. Nothing is synced: after a crash of the
 * machine its leases are dead anyway.
 */
#include "driver/output/inside.h"
#include "model/core/check.h"
#include "model/core/digest.h"
#include "worker/host/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    DEPTH_MOST = 4, /* claims on claims; each makes the name longer by 33 letters */
    TRIES_MOST = 200,
};

#define TRY_SECONDS 0.02 /* between two tries while another contender has the claim */
#define CHECK_SECONDS 0.02 /* after a lease was replaced */

/* A file of this process; its modification time gives the file system's clock. */
struct own {
    char *path;
    int file;
};

static void own_remove(struct own *own)
{
    if (own->file >= 0)
        close(own->file);
    if (own->path)
        unlink(own->path);
    free(own->path);
    *own = (struct own){.file = -1};
}

/* Creates a file "LEASE.<random>" with the record. 0, or an errno with nothing held. */
static int own_make(struct own *own, const char *lease, const struct lease_record *self)
{
    uint64_t number;

    *own = (struct own){.file = -1};
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return errno;
    if (asprintf(&own->path, "%s.%016llx", lease, (unsigned long long)number) < 0) {
        own->path = NULL;
        return ENOMEM;
    }
    own->file = open(own->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    int status = own->file < 0 ? errno : lease_record_put(own->file, LEASE_OWNER, self);
    if (status == 0)
        return 0;
    if (own->file < 0) { /* a file of that name belongs to another process */
        free(own->path);
        own->path = NULL;
    }
    own_remove(own);
    return status;
}

static time_t own_clock(const struct own *own)
{
    struct stat status;

    futimens(own->file, NULL);
    return fstat(own->file, &status) == 0 ? status.st_mtim.tv_sec : 0;
}

/* For file systems without links: creates the file, which is empty for a moment. */
static int copy_to(const char *path, const struct lease_record *self)
{
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

    if (file < 0)
        return errno;
    int status = lease_record_put(file, LEASE_OWNER, self);
    close(file);
    if (status != 0)
        unlink(path);
    return status;
}

/* Links our file to `path`; EEXIST: the path exists. Over a network the reply may be lost although the link
 * was made, so an error is checked against what is there. */
static int link_to(const struct own *own, const char *path, const struct lease_record *self)
{
    struct stat mine, found;

    INVARIANT(own->path, "no file of its own to link to %s", path);
    if (link(own->path, path) == 0)
        return 0;
    int cause = errno;
    if (cause == ENOENT && fstat(own->file, &mine) == 0 && mine.st_nlink == 0)
        return EEXIST; /* our file was removed by the process that holds the lease */
    if (cause == EPERM || cause == EOPNOTSUPP || cause == ENOSYS)
        return copy_to(path, self);
    if (cause == EEXIST && fstat(own->file, &mine) == 0 && lstat(path, &found) == 0 &&
        mine.st_ino == found.st_ino && mine.st_dev == found.st_dev)
        return 0;
    return cause;
}

/* 0: the lease is dead, *digest identifies it among all that ever had its name; EBUSY: it is held; ENOENT:
 * there is none; or another errno. */
static int look_at_lease(const char *path, time_t now, struct digest *digest, struct lease_record *holder)
{
    int result, file = lease_file_open(path, false, &result);
    struct lease_record owner;
    struct stat status;

    if (file < 0)
        return result;
    if (lease_file_is_held(file, now, holder)) {
        result = EBUSY;
    } else if (fstat(file, &status) != 0) {
        result = errno;
    } else {
        lease_record_get(file, LEASE_OWNER, &owner); /* an empty record, too, identifies it */
        digest_init(digest);
        digest_add(digest, &status.st_ino, sizeof(status.st_ino));
        digest_add(digest, &owner.process.pid, sizeof(owner.process.pid));
        digest_add(digest, &owner.process.start, sizeof(owner.process.start));
        digest_add_string(digest, owner.process.place);
        result = 0;
    }
    close(file);
    return result;
}

struct taking {
    const struct lease_record *self;
    struct own own;
    struct lease_record holder;
    bool replaced; /* this process has replaced a dead lease or claim */
    int tries; /* at the lease and at all claims together, so that the wait does not grow with their depth */
};

static int take_lease(struct taking *taking, const char *path, int depth);

/* Replaces the dead lease by a file of this process. The caller holds the claim, so nobody else does the
 * same. */
static int replace(struct taking *taking, const char *path)
{
    struct own own;
    int status = own_make(&own, path, taking->self);

    if (status != 0)
        return status;
    INVARIANT(own.path && strcmp(own.path, path) != 0, "nothing to put in place of %s", path);
    if (rename(own.path, path) != 0) {
        status = errno;
        own_remove(&own);
        return status;
    }
    taking->replaced = true;
    close(own.file);
    free(own.path);
    return 0;
}

/* Takes the claim on the dead lease `dead`, then the lease. EAGAIN: the lease is no longer that one. */
static int take_over(struct taking *taking, const char *path, const struct digest *dead, int depth)
{
    char name[DIGEST_TEXT], *claim = NULL;
    struct digest now = {0};

    digest_format(dead, name);
    if (depth == DEPTH_MOST || asprintf(&claim, "%s.%s", path, name) < 0)
        return depth == DEPTH_MOST ? EBUSY : ENOMEM;
    int status = take_lease(taking, claim, depth + 1);
    if (status == 0) {
        status = look_at_lease(path, own_clock(&taking->own), &now, &taking->holder);
        bool same = status == 0 && now.high == dead->high && now.low == dead->low;
        status = same ? replace(taking, path) : EAGAIN;
        unlink(claim);
    }
    free(claim);
    return status;
}

static int take_lease(struct taking *taking, const char *path, int depth)
{
    int status = EBUSY;

    while (taking->tries++ < TRIES_MOST) {
        struct digest dead = {0};
        status = link_to(&taking->own, path, taking->self);
        if (status != EEXIST)
            return status;
        status = look_at_lease(path, own_clock(&taking->own), &dead, &taking->holder);
        if (status == EBUSY)
            return status;
        if (status == 0)
            status = take_over(taking, path, &dead, depth);
        if (status != EBUSY && status != EAGAIN && status != ENOENT)
            return status;
        if (status == EBUSY) /* another contender has the claim, and may die with it */
            clock_pause(TRY_SECONDS);
    }
    return status == EAGAIN || status == ENOENT ? EBUSY : status;
}

/* Suffixes of contenders' files and of claims: ".<16 or 32 hexadecimal digits>", one or more times. */
static bool is_of_contender(const char *suffix)
{
    while (*suffix == '.') {
        size_t digits = strspn(++suffix, "0123456789abcdef");
        if (digits != 16 && digits != DIGEST_TEXT - 1)
            return false;
        suffix += digits;
    }
    return *suffix == '\0';
}

/* Removes the files of contenders that died. This process holds the lease now, so that no claim matters. */
static void tidy_folder(const char *path, time_t now)
{
    char *folder = strdup(path);
    const char *base = strrchr(path, '/') + 1; /* the path is absolute */
    DIR *entries = folder ? opendir(dirname(folder)) : NULL;
    const struct dirent *entry;
    size_t length = strlen(base);
    struct lease_record holder;
    struct stat status;

    while (entries && (entry = readdir(entries))) {
        if (strncmp(entry->d_name, base, length) != 0 || entry->d_name[length] != '.' ||
            !is_of_contender(entry->d_name + length))
            continue;
        int file = openat(dirfd(entries), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file < 0)
            continue;
        /* An empty one too: its process died, or will write it and then find the lease held. */
        if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
            (status.st_size == 0 || !lease_file_is_held(file, now, &holder)))
            unlinkat(dirfd(entries), entry->d_name, 0);
        close(file);
    }
    if (entries)
        closedir(entries);
    free(folder);
}

int lease_file_take(
    const char *path, const struct lease_record *self, struct lease_record *holder, bool *of_folder)
{
    struct taking taking = {.self = self};
    int status = own_make(&taking.own, path, self);

    *of_folder = status != 0;
    *holder = (struct lease_record){0};
    if (status != 0)
        return status;
    status = take_lease(&taking, path, 0);
    *holder = taking.holder;
    if (status == 0 && taking.replaced) {
        /* A contender that was suspended for a minute may have lost its claim without knowing, and replaced
         * our lease. */
        clock_pause(CHECK_SECONDS);
        int cause, file = lease_file_open(path, false, &cause);
        *holder = (struct lease_record){0};
        bool ours = file >= 0 && lease_record_get(file, LEASE_OWNER, holder) == 0 &&
                    process_same(&holder->process, &self->process);
        if (file >= 0)
            close(file);
        status = ours ? 0 : EBUSY;
    }
    if (status == 0)
        tidy_folder(path, own_clock(&taking.own));
    own_remove(&taking.own);
    return status;
}
