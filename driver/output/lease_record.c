/*
 * The file of a lease: two records, of its owner and of the coordinator that the owner has started. Only
 * lease.c and lease_take.c read and write it, through these functions.
 *
 * A record is written by a single pwrite of a fixed size, so that a reader finds the old one or the new one;
 * it is read back in memory before it is written. What is read from a file may be damaged, and is refused,
 * not asserted. Every call may fail, as the file may be on a server.
 */
#include "driver/output/inside.h"
#include "model/core/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_SIZE = 384 };

struct lease_record lease_record_self(void)
{
    return (struct lease_record){.process = process_self()};
}

/* O_NONBLOCK: opening a FIFO would wait for its other end. */
int lease_file_open(const char *path, bool write, int *cause)
{
    int file = open(path, (write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;

    *cause = 0;
    if (file < 0 || fstat(file, &status) != 0)
        *cause = errno;
    else if (!S_ISREG(status.st_mode))
        *cause = ENXIO;
    if (*cause == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

int lease_record_drop_coordinator(int file)
{
    return ftruncate(file, RECORD_SIZE) == 0 ? 0 : errno;
}

/* Skips `count` words; returns the end of the text if there are fewer. */
static const char *skip_words(const char *text, int count)
{
    for (; count > 0; count--) {
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    return text;
}

/* The number after the word `name`; -1 if the text begins with another word. */
static long long number_after(const char *text, const char *name)
{
    return strncmp(text, name, strlen(name)) == 0 ? strtoll(skip_words(text, 1), NULL, 10) : -1;
}

/* False: the text is not a record. */
static bool read_record(const char *text, struct lease_record *record)
{
    const char *start = skip_words(text, 2), *on = skip_words(text, 5), *stage = skip_words(text, 6);
    struct process *process = &record->process;
    process->pid = (long)number_after(text, "pid ");
    process->start = (unsigned long long)number_after(start, "start ");
    snprintf(process->place, sizeof(process->place), "%.*s", (int)strcspn(on, " "), on);
    record->stage = (int)number_after(stage, "stage ");
    record->status = (int)number_after(skip_words(stage, 2), "status ");
    record->life = (long)number_after(skip_words(stage, 4), "life ");
    record->kept = (int)number_after(skip_words(stage, 6), "kept ");
    record->beat = (long)number_after(skip_words(stage, 8), "beat ");
    record->file.device = number_after(skip_words(stage, 10), "device ");
    record->file.inode = number_after(skip_words(stage, 12), "inode ");
    return process->pid > 0 && record->stage >= 0 && record->stage <= STAGE_ENDED && record->status >= 0;
}

int lease_record_get(int file, enum lease_role role, struct lease_record *record)
{
    char text[RECORD_SIZE + 1] = "";

    *record = (struct lease_record){0};
    ssize_t count = pread(file, text, RECORD_SIZE, (off_t)role * RECORD_SIZE);
    if (count < 0) /* ENODATA, of a medium: not that of a record that is missing */
        return errno == ENODATA ? EIO : errno;
    return count == RECORD_SIZE && read_record(text, record) ? 0 : ENODATA;
}

int lease_record_put(int file, enum lease_role role, const struct lease_record *record)
{
    char text[RECORD_SIZE + 1];
    struct lease_record back;

    INVARIANT(role == LEASE_OWNER || role == LEASE_COORDINATOR, "record %d of a lease", (int)role);
    memset(text, ' ', sizeof(text));
    int length = snprintf(text, sizeof(text),
        "pid %ld start %llu on %s stage %d status %d life %ld kept %d beat %ld device %lld inode %lld",
        record->process.pid, record->process.start, record->process.place, record->stage, record->status,
        record->life, record->kept, record->beat, record->file.device, record->file.inode);
    INVARIANT(length < RECORD_SIZE, "a record of %d bytes", length);
    text[length] = ' ';
    text[RECORD_SIZE - 1] = '\n';
    text[RECORD_SIZE] = '\0';
    INVARIANT(read_record(text, &back) && back.process.pid == record->process.pid &&
                  back.life == record->life && back.stage == record->stage && back.beat == record->beat &&
                  back.file.inode == record->file.inode,
        "cannot be read back: %.*s", length, text);
    ssize_t written = pwrite(file, text, RECORD_SIZE, (off_t)role * RECORD_SIZE);
    return written < 0 ? errno : written < RECORD_SIZE ? ENOSPC : 0;
}

bool lease_file_is_held(int file, time_t now, struct lease_record *holder)
{
    bool elsewhere = false, any = false;
    struct stat status;

    *holder = (struct lease_record){0};
    for (int role = LEASE_COORDINATOR; role >= LEASE_OWNER; role--) {
        struct lease_record record;
        if (lease_record_get(file, (enum lease_role)role, &record) != 0)
            continue;
        any = true;
        *holder = record;
        if (!process_is_here(&record.process))
            elsewhere = true;
        else if (process_lives(&record.process))
            return true;
    }
    if (any && !elsewhere)
        return false;
    return fstat(file, &status) != 0 || now - status.st_mtim.tv_sec <= LEASE_DEAD_SECONDS;
}
