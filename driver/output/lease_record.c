#include "driver/output/inside.h"

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
int lease_file_open(const char *path, bool write)
{
    int file = open(path, (write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;

    if (file < 0)
        return -1;
    int cause = fstat(file, &status) != 0 ? errno : S_ISREG(status.st_mode) ? 0 : ENXIO;
    if (cause == 0)
        return file;
    close(file);
    errno = cause;
    return -1;
}

int lease_record_put(int file, enum lease_place place, const struct lease_record *record)
{
    char text[RECORD_SIZE + 1];

    memset(text, ' ', sizeof(text));
    int length = snprintf(text, sizeof(text),
        "pid %ld start %llu on %s stage %d status %d life %ld kept %d beat %ld device %lld inode %lld",
        record->process.pid, record->process.start, record->process.place, record->stage, record->status,
        record->life, record->kept, record->beat, record->file.device, record->file.inode);
    text[length] = ' ';
    text[RECORD_SIZE - 1] = '\n';
    ssize_t written = pwrite(file, text, RECORD_SIZE, (off_t)place * RECORD_SIZE);
    if (written >= 0 && written < RECORD_SIZE)
        errno = ENOSPC;
    return written == RECORD_SIZE ? 0 : -1;
}

int lease_record_drop_coordinator(int file)
{
    return ftruncate(file, RECORD_SIZE);
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

bool lease_record_get(int file, enum lease_place place, struct lease_record *record)
{
    char text[RECORD_SIZE + 1] = "";

    *record = (struct lease_record){0};
    if (pread(file, text, RECORD_SIZE, (off_t)place * RECORD_SIZE) != RECORD_SIZE)
        return false;
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
    return process->pid > 0 && record->stage >= 0 && record->status >= 0;
}

bool lease_file_is_held(int file, time_t now, struct lease_record *holder)
{
    bool elsewhere = false, any = false;
    struct stat status;

    *holder = (struct lease_record){0};
    for (int place = LEASE_COORDINATOR; place >= LEASE_OWNER; place--) {
        struct lease_record record;
        if (!lease_record_get(file, (enum lease_place)place, &record))
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
