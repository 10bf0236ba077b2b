/*
 * One copy of a corpus per machine, whatever happens to the processes that use it.
 *
 * The copy is a memfd: memory with a descriptor but without a place in a file system. It needs no room in
 * /dev/shm, and the kernel frees it when the last process that holds it ends, in whatever way. Its name holds
 * a digest of the source and appears in /proc/PID/fd of every holder: a process that wants the corpus looks
 * through the descriptors of its user's processes, opens the one that it finds, and maps it. Every user of
 * the copy holds it, so it outlives the process that read the texts. A copy is sealed when it is complete; an
 * incomplete copy disappears with its reader.
 *
 * The reader holds a lock, so that processes do not all read at the same time: an abstract socket address,
 * which the kernel frees when its holder ends. The lock only saves work: a process that has waited too long
 * for it, as its holder hangs, reads a copy of its own.
 *
 * Processes do not talk to each other, and nothing is collective: ranks may die, hang or come later.
 */
#include "model/corpora/corpora.h"
#include "worker/host/inside.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { NAME_SIZE = 64, LINK_SIZE = NAME_SIZE + 32 };

#define WAIT_SECONDS 20 /* to wait for a reader, in addition to the time of reading at READ_SLOWLY */
#define READ_SLOWLY 20e6 /* bytes per second */
#define LOOK_SECONDS 0.02

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

#ifdef MFD_ALLOW_SEALING

/* FAILED: the source is at fault. ALONE: the corpus may be loaded, but not shared. */
enum sharing { SHARED, FAILED, ALONE };

/* The name of a source on this machine, "normsweep-0123...", and its approximate number of bytes. */
struct source_name {
    char text[NAME_SIZE];
    int64_t bytes;
};

/* Adds a file by its metadata, without reading it. -1 if it does not exist. */
static int add_file(struct source_name *name, struct digest *digest, const char *path)
{
    struct stat status;

    if (!path)
        return 0;
    if (stat(path, &status) != 0)
        return -1;
    name->bytes += (int64_t)status.st_size;
    digest_add(digest, &status.st_dev, sizeof(status.st_dev));
    digest_add(digest, &status.st_ino, sizeof(status.st_ino));
    digest_add(digest, &status.st_size, sizeof(status.st_size));
    digest_add(digest, &status.st_mtim, sizeof(status.st_mtim));
    digest_add(digest, &status.st_ctim, sizeof(status.st_ctim));
    return 0;
}

static int name_source(struct source_name *name, const struct corpus_source *source)
{
    struct digest digest;
    char text[DIGEST_TEXT];
    unsigned uses = corpus_kind_table[source->kind].uses;

    digest_init(&digest);
    digest_add(&digest, &source->kind, sizeof(source->kind));
    digest_add(&digest, &source->vocabulary, sizeof(source->vocabulary));
    digest_add(&digest, &source->min_count, sizeof(source->min_count));
    digest_add(&digest, &source->tokens, sizeof(source->tokens));
    digest_add(&digest, &source->share, sizeof(source->share));
    digest_add(&digest, &source->seed, sizeof(source->seed));
    name->bytes = uses & USES_TOKENS  ? source->tokens
                  : uses & USES_SHARE ? modular_tokens(source->vocabulary)
                                      : 0;
    if ((uses & USES_FILES) && (add_file(name, &digest, source->train_source_path) != 0 ||
                                   add_file(name, &digest, source->train_path) != 0 ||
                                   add_file(name, &digest, source->valid_source_path) != 0 ||
                                   add_file(name, &digest, source->valid_path) != 0))
        return -1;
    digest_format(&digest, text);
    snprintf(name->text, sizeof(name->text), "normsweep-%s", text);
    return 0;
}

/* ---- finding a copy ---- */

/* Attaches a descriptor of another process if it is a complete copy of this user, sealed against change. */
static int attach_link(
    struct corpus *corpus, const struct corpus_source *source, int folder, const char *entry)
{
    struct stat status;
    int file = openat(folder, entry, O_RDONLY | O_CLOEXEC);

    if (file < 0)
        return -1;
    int seals = fcntl(file, F_GET_SEALS);
    if (seals >= 0 && (seals & F_SEAL_WRITE) && (seals & F_SEAL_SHRINK) && fstat(file, &status) == 0 &&
        status.st_uid == geteuid() && corpus_attach(corpus, source, file) == 0)
        return 0;
    close(file);
    return -1;
}

/* Looks through the descriptors of one process. */
static int attach_process(
    struct corpus *corpus, const struct corpus_source *source, const char *folder, const char *wanted)
{
    DIR *descriptors = opendir(folder);
    const struct dirent *entry;
    int status = -1;

    if (!descriptors)
        return -1;
    while (status != 0 && (entry = readdir(descriptors))) {
        char target[LINK_SIZE];
        ssize_t length = readlinkat(dirfd(descriptors), entry->d_name, target, sizeof(target) - 1);
        if (length <= 0)
            continue;
        target[length] = '\0';
        if (strcmp(target, wanted) == 0)
            status = attach_link(corpus, source, dirfd(descriptors), entry->d_name);
    }
    closedir(descriptors);
    return status;
}

static int attach_copy(
    struct corpus *corpus, const struct corpus_source *source, const struct source_name *name)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    char wanted[LINK_SIZE], folder[sizeof("/proc//fd") + sizeof(entry->d_name)];
    int status = -1;

    if (!processes)
        return -1;
    snprintf(wanted, sizeof(wanted), "/memfd:%s (deleted)", name->text);
    while (status != 0 && (entry = readdir(processes))) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(folder, sizeof(folder), "/proc/%s/fd", entry->d_name);
        status = attach_process(corpus, source, folder, wanted);
    }
    closedir(processes);
    return status;
}

/* ---- making one ---- */

/* The lock, a descriptor; -1 with errno EADDRINUSE: another process holds it. */
static int try_lock(const struct source_name *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length =
        snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s-%ld", name->text, (long)geteuid());
    int lock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (lock < 0)
        return -1;
    if (bind(lock, (struct sockaddr *)&address,
            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0)
        return lock;
    int cause = errno;
    close(lock);
    errno = cause;
    return -1;
}

/* Makes a new copy, a memfd, and attaches it. */
static enum sharing make(struct corpus *corpus, const struct corpus_source *source,
    const struct source_name *name, enum corpus_fault *fault, struct error *error)
{
    enum sharing sharing = ALONE;
    int file = memfd_create(name->text, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

    if (file < 0) /* some systems require the flag that forbids execution, older ones do not know it */
        file = memfd_create(name->text, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return ALONE;
    if (corpus_write(file, source, fault, error) != 0)
        sharing = error->status == ERROR_INPUT ? FAILED : ALONE;
    else if (fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0 &&
             corpus_attach(corpus, source, file) == 0)
        return SHARED;
    close(file);
    return sharing;
}

static enum sharing share(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error)
{
    struct source_name name;
    enum sharing sharing = SHARED;
    int lock;

    if (name_source(&name, source) != 0 || name.bytes < NODE_SHARE_FROM)
        return ALONE;
    if (attach_copy(corpus, source, &name) == 0)
        return SHARED;
    double deadline = clock_now() + WAIT_SECONDS + (double)name.bytes / READ_SLOWLY;
    while ((lock = try_lock(&name)) < 0 && errno == EADDRINUSE && clock_now() < deadline) {
        breathe(source->breath);
        clock_pause(LOOK_SECONDS);
    }
    if (attach_copy(corpus, source, &name) != 0) /* the copy may exist by now */
        sharing = make(corpus, source, &name, fault, error);
    if (lock >= 0)
        close(lock);
    return sharing;
}

#endif

int node_load_corpus(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error)
{
#ifdef MFD_ALLOW_SEALING
    enum sharing sharing = share(corpus, source, fault, error);

    if (sharing != ALONE)
        return sharing == SHARED ? 0 : -1;
#endif
    return corpus_load(corpus, source, fault, error);
}
