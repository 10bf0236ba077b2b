/*
 * The file holds two records of RECORD_SIZE bytes, each written by one process at its own place with a single
 * write. The file itself is made with O_EXCL. A dead one is first renamed to a name of the new owner's own;
 * should it turn out that another has just done the same and this is its fresh lease, it is put back.
 */
#include "driver/lease.h"
#include "driver/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/process.h"

enum { RECORD_SIZE = 384, TOKEN_SIZE = 64, DEAD_SECONDS = 60, OWNER = 0, COORDINATOR = 1 };

/* What one process says of itself. */
struct record {
    struct process process;
    long life; /* how many coordinators the owner has started; a coordinator's: which of them it is */
    int stage, status, kept;
    long beat; /* see struct coordinator_news */
};

struct lease {
    char *path;
    char *output;
    char token[TOKEN_SIZE];
    struct record owner; /* as it must be found */
    struct record self;
    int which; /* the record that is this process's own */
    bool unwritten; /* its last write failed: a full disk is the dataset's to report */
};

/* The word `count` words after the one at `text`; at its end where there are fewer. */
static const char *skip_words(const char *text, int count)
{
    for (; count > 0; count--) {
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    return text;
}

static struct record record_of_self(void)
{
    return (struct record){.process = process_self(), .stage = STAGE_STARTING};
}

/* ---- records ---- */

static int put_record(int file, int which, const struct record *record)
{
    char text[RECORD_SIZE + 1];

    memset(text, ' ', sizeof(text));
    int length =
        snprintf(text, sizeof(text), "pid %ld start %llu on %s stage %d status %d life %ld kept %d beat %ld",
            record->process.pid, record->process.start, record->process.place, record->stage, record->status,
            record->life, record->kept, record->beat);
    text[length] = ' ';
    text[RECORD_SIZE - 1] = '\n';
    return pwrite(file, text, RECORD_SIZE, which * RECORD_SIZE) == RECORD_SIZE ? 0 : -1;
}

/* The number after a word that begins with `name`; -1 where the word is another. */
static long long number_after(const char *text, const char *name)
{
    return strncmp(text, name, strlen(name)) == 0 ? strtoll(skip_words(text, 1), NULL, 10) : -1;
}

/* False for what put_record has not written, or not in full. */
static bool get_record(int file, int which, struct record *record)
{
    char text[RECORD_SIZE + 1] = "";

    *record = (struct record){0};
    if (pread(file, text, RECORD_SIZE, which * RECORD_SIZE) != RECORD_SIZE)
        return false;
    const char *start = skip_words(text, 2), *place = skip_words(text, 5), *stage = skip_words(text, 6);
    struct process *process = &record->process;
    process->pid = (long)number_after(text, "pid ");
    process->start = (unsigned long long)number_after(start, "start ");
    snprintf(process->place, sizeof(process->place), "%.*s", (int)strcspn(place, " "), place);
    record->stage = (int)number_after(stage, "stage ");
    record->status = (int)number_after(skip_words(stage, 2), "status ");
    record->life = (long)number_after(skip_words(stage, 4), "life ");
    record->kept = (int)number_after(skip_words(stage, 6), "kept ");
    record->beat = (long)number_after(skip_words(stage, 8), "beat ");
    return process->pid > 0 && record->stage >= 0 && record->status >= 0;
}

static int lease_open(const char *path)
{
    return open(path, O_RDWR | O_CLOEXEC);
}

/* Seconds since the file was last written, by the clock of its file system; 0 where that cannot be told. */
static double age_of(const char *path, int file)
{
    struct stat lease, now;
    char *probe = NULL;
    double age = 0;

    if (asprintf(&probe, "%s.%ld", path, (long)getpid()) < 0)
        return 0;
    int clock = open(probe, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (clock >= 0 && write(clock, "\n", 1) == 1 && fstat(clock, &now) == 0 && fstat(file, &lease) == 0)
        age = (double)(now.st_mtim.tv_sec - lease.st_mtim.tv_sec);
    if (clock >= 0)
        close(clock);
    unlink(probe);
    free(probe);
    return age;
}

/* Who holds the lease in `file`, into *holder; false: nobody does any more. */
static bool is_held(const char *path, int file, struct record *holder)
{
    bool elsewhere = false, any = false;

    for (int which = COORDINATOR; which >= OWNER; which--) {
        struct record record;
        if (!get_record(file, which, &record))
            continue;
        any = true;
        *holder = record;
        if (!process_is_here(&record.process))
            elsewhere = true;
        else if (process_lives(&record.process))
            return true;
    }
    return (elsewhere || !any) && age_of(path, file) <= DEAD_SECONDS;
}

/* ---- taking ---- */

static int in_use(const struct lease *lease, const struct record *holder, struct error *error)
{
    if (holder->process.pid <= 0)
        return error_set(
            error, ERROR_ENVIRONMENT, "%s: in use by another sweep (%s)", lease->output, lease->path);
    return error_set(error, ERROR_ENVIRONMENT, "%s: in use by process %ld on %.*s (%s)", lease->output,
        holder->process.pid, process_host_length(holder->process.place), holder->process.place, lease->path);
}

/* Removes a lease that was found dead, unless it is no longer the same file. */
static void remove_dead(const struct lease *lease, const struct stat *dead)
{
    char *aside = NULL;
    struct stat found;

    if (asprintf(&aside, "%s.dead.%ld", lease->path, (long)getpid()) < 0)
        return;
    if (rename(lease->path, aside) == 0) {
        bool same = stat(aside, &found) == 0 && found.st_ino == dead->st_ino &&
                    found.st_mtim.tv_sec == dead->st_mtim.tv_sec &&
                    found.st_mtim.tv_nsec == dead->st_mtim.tv_nsec;
        if (!same)
            (void)!link(aside, lease->path);
        unlink(aside);
    }
    free(aside);
}

/* 0: there was a lease and it was dead; 1: there is none; -1: it is in use. */
static int clear_dead(const struct lease *lease, struct error *error)
{
    struct record holder = {0};
    struct stat status;
    int file = lease_open(lease->path);

    if (file < 0)
        return errno == ENOENT ? 1 : error_set(error, ERROR_INPUT, "%s: %s", lease->path, strerror(errno));
    bool held = fstat(file, &status) != 0 || is_held(lease->path, file, &holder);
    close(file);
    if (held)
        return in_use(lease, &holder, error);
    remove_dead(lease, &status);
    return 0;
}

static int create(struct lease *lease, struct error *error)
{
    int file = open(lease->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (file < 0 && errno == EEXIST)
        return in_use(lease, &(struct record){0}, error);
    if (file < 0)
        return error_set(error, errno == ENOSPC || errno == EIO ? ERROR_ENVIRONMENT : ERROR_INPUT, "%s: %s",
            lease->output, strerror(errno));
    int failed = put_record(file, OWNER, &lease->self);
    int cause = errno;
    close(file);
    if (!failed)
        return 0;
    unlink(lease->path);
    return error_set(error, ERROR_ENVIRONMENT, "%s: %s", lease->path, strerror(cause));
}

/* By what a coordinator knows the owner that has started it, and the life it was started for. */
static void write_token(struct lease *lease)
{
    snprintf(lease->token, sizeof(lease->token), "%ld.%llu.%ld", lease->owner.process.pid,
        lease->owner.process.start, lease->owner.life);
}

static bool is_ours(const struct lease *lease, const struct record *owner)
{
    return process_same(&owner->process, &lease->owner.process) && owner->life == lease->owner.life;
}

static void lease_free(struct lease *lease)
{
    free(lease->path);
    free(lease->output);
    free(lease);
}

static struct lease *lease_new(const char *output)
{
    struct lease *lease = calloc(1, sizeof(*lease));

    if (!lease)
        return NULL;
    char *whole = output_resolve(output); /* one lease, whatever link leads to the output */
    lease->output = strdup(output);
    if (asprintf(&lease->path, "%s.lease", whole ? whole : output) < 0)
        lease->path = NULL;
    free(whole);
    if (lease->output && lease->path)
        return lease;
    lease_free(lease);
    return NULL;
}

int lease_take(struct lease **lease, const char *output, struct error *error)
{
    struct lease *taken = lease_new(output);

    if (!taken)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", output);
    taken->which = OWNER;
    taken->self = taken->owner = record_of_self();
    write_token(taken);
    if (clear_dead(taken, error) < 0 || create(taken, error) != 0) {
        lease_free(taken);
        return -1;
    }
    *lease = taken;
    return 0;
}

bool lease_is_held(const char *output)
{
    struct lease *lease = lease_new(output);
    struct record ignored;

    if (!lease)
        return true;
    int file = open(lease->path, O_RDONLY | O_CLOEXEC);
    bool held = file >= 0 ? is_held(lease->path, file, &ignored) : errno != ENOENT;
    if (file >= 0)
        close(file);
    lease_free(lease);
    return held;
}

const char *lease_token(const struct lease *lease)
{
    return lease->token;
}

static int lost(const struct lease *lease, struct error *error)
{
    return error_set(error, ERROR_ENVIRONMENT, "%s: the lease was lost to another process", lease->path);
}

/* Opens the lease, checks that it is still the owner's, and writes this process's own record. */
static int write_own(struct lease *lease, struct error *error)
{
    struct record owner;
    int file = lease_open(lease->path);

    if (file < 0)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", lease->path, strerror(errno));
    bool ours = get_record(file, OWNER, &owner) && is_ours(lease, &owner);
    lease->unwritten = ours && put_record(file, lease->which, &lease->self) != 0;
    close(file);
    return ours ? 0 : lost(lease, error);
}

static int join(struct lease *joined, const char *token, struct error *error)
{
    int file = lease_open(joined->path);

    if (file < 0)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", joined->path, strerror(errno));
    bool there = get_record(file, OWNER, &joined->owner);
    close(file);
    write_token(joined);
    joined->which = COORDINATOR;
    joined->self = record_of_self();
    joined->self.life = joined->owner.life;
    return there && strcmp(joined->token, token) == 0 ? write_own(joined, error) : lost(joined, error);
}

int lease_join(struct lease **lease, const char *output, const char *token, struct error *error)
{
    struct lease *joined = lease_new(output);

    if (!joined)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", output);
    int failed = join(joined, token, error);
    if (failed)
        lease_free(joined);
    else
        *lease = joined;
    return failed;
}

int lease_renew(struct lease *lease, struct error *error)
{
    lease->self.beat++;
    return write_own(lease, error);
}

int lease_tell(struct lease *lease, enum coordinator_stage stage, int status)
{
    struct error ignored;

    lease->self.stage = (int)stage;
    lease->self.status = status;
    return write_own(lease, &ignored) == 0 && !lease->unwritten ? 0 : -1;
}

void lease_tell_kept(struct lease *lease)
{
    struct error ignored;

    if (lease->self.kept)
        return;
    lease->self.kept = 1;
    write_own(lease, &ignored);
}

struct coordinator_news lease_news(const struct lease *lease)
{
    struct coordinator_news news = {.stage = STAGE_NONE};
    struct record record;
    int file = lease_open(lease->path);

    if (file < 0)
        return news;
    if (get_record(file, COORDINATOR, &record) && record.life == lease->owner.life) {
        news.stage = (enum coordinator_stage)record.stage;
        news.status = record.status;
        news.kept = record.kept > 0;
        news.beat = record.beat;
        news.process = record.process;
        news.dead =
            news.stage != STAGE_ENDED && process_is_here(&record.process) && !process_lives(&record.process);
    }
    close(file);
    return news;
}

int lease_begin_life(struct lease *lease, struct error *error)
{
    struct record owner;
    int file = lease_open(lease->path), cause = 0;

    if (file < 0)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", lease->path, strerror(errno));
    bool ours = get_record(file, OWNER, &owner) && is_ours(lease, &owner);
    if (ours) {
        lease->self.life = ++lease->owner.life;
        if (put_record(file, OWNER, &lease->self) != 0 || ftruncate(file, RECORD_SIZE) != 0)
            cause = errno;
        write_token(lease);
    }
    close(file);
    if (cause)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", lease->path, strerror(cause));
    return ours ? 0 : lost(lease, error);
}

void lease_release(struct lease *lease)
{
    struct error ignored;

    if (!lease)
        return;
    if (lease->path && lease->which == OWNER && lease->self.process.pid && write_own(lease, &ignored) == 0)
        unlink(lease->path);
    lease_free(lease);
}
