/*
 * Nothing can be read where a file was cut off, and no thread could go on. A handler may neither format nor
 * allocate, so each open file has its line ready, in a list that the handler reads.
 */
#include "driver/output/mapped_file.h"

#include "model/corpora/regular.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct mapped_file *opened; /* the last one that was opened */
static struct sigaction unguarded; /* what SIGBUS did before */

/* ---- the guard ---- */

/* The file in which an address lies; NULL: none. */
static const struct mapped_file *file_at(const unsigned char *address)
{
    for (const struct mapped_file *file = opened; file; file = file->next)
        if (address >= file->bytes && address < file->bytes + file->size)
            return file;
    return NULL;
}

/* Everything else is handled as without a guard: a fault repeats, a signal is raised again. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    bool sent = info->si_code <= 0;
    const struct mapped_file *file = sent ? NULL : file_at(info->si_addr);

    (void)context;
    if (!file) {
        sigaction(number, &unguarded, NULL);
        if (sent)
            raise(number);
        return;
    }
    ssize_t written = write(STDERR_FILENO, file->line, strlen(file->line));
    (void)written;
    _exit(ERROR_ENVIRONMENT);
}

void mapped_file_guard(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &unguarded);
}

void mapped_file_unguard(void)
{
    sigaction(SIGBUS, &unguarded, NULL);
}

/* ---- files ---- */

#define CHANGED "changed while it was read"

/* "<path>: changed while it was read", with the end of the line; NULL: no memory. */
static char *line_of(const char *path)
{
    struct error told;
    char *line;

    error_set(&told, ERROR_INPUT, "%s: " CHANGED, path);
    return asprintf(&line, "%s\n", told.text) < 0 ? NULL : line;
}

/* Maps a file that is not empty. 0 or an errno. */
static int map(struct mapped_file *file, const char *path, size_t size, int descriptor)
{
    struct stat state;

    if (fstat(descriptor, &state) < 0)
        return errno;
    char *line = line_of(path);
    if (!line)
        return ENOMEM;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED) {
        int cause = errno;
        free(line);
        return cause;
    }
    *file = (struct mapped_file){bytes, size, state, line, opened};
    opened = file;
    return 0;
}

int mapped_file_open(struct mapped_file *file, const char *path, struct error *error)
{
    int64_t size;
    int descriptor = regular_open(path, &size);

    *file = (struct mapped_file){0};
    if (descriptor < 0)
        return error_set(error, ERROR_INPUT, "%s: %s", path, regular_why(errno));
    int cause = size > 0 ? map(file, path, (size_t)size, descriptor) : 0;
    close(descriptor);
    return cause ? error_set(error, ERROR_ENVIRONMENT, "%s: %s", path, strerror(cause)) : 0;
}

int mapped_file_check(const struct mapped_file *file, const char *path, struct error *error)
{
    const struct stat *then = &file->state;
    struct stat now;

    if (!file->bytes || stat(path, &now) < 0 || now.st_dev != then->st_dev || now.st_ino != then->st_ino)
        return 0;
    if (now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == then->st_mtim.tv_nsec)
        return 0;
    return error_set(error, ERROR_ENVIRONMENT, "%s: " CHANGED, path);
}

void mapped_file_close(struct mapped_file *file)
{
    struct mapped_file **link = &opened;

    while (*link && *link != file)
        link = &(*link)->next;
    if (*link)
        *link = file->next;
    if (file->bytes)
        munmap((void *)file->bytes, file->size);
    free(file->line);
    *file = (struct mapped_file){0};
}
