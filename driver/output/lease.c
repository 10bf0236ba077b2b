/*
 * The lease of an output as its holder sees it; lease_record.c has the file itself, lease_take.c how it is
 * taken.
 *
 * The process that the user starts calls lease_take(), once. If it starts ranks, it calls lease_begin_life()
 * before each start of a coordinator, which joins with lease_join() and the token; both then renew the lease,
 * the coordinator from a thread of its own (lease_keep), because it may be busy or wait for a disk for long.
 * All that a process changes is its own record, after it has read there that the owner is still the same.
 *
 * Any call may fail: the folder may be on a server. A lease whose file is gone, or has another owner, is lost
 * at once. One whose server does not answer still counts as ours for UNSURE_SECONDS, as nobody else can take
 * it before LEASE_DEAD_SECONDS are over. The record is written before anything is written to the dataset, and
 * a record that was not written is not told to the launcher.
 */
#include "driver/output/inside.h"
#include "model/core/check.h"
#include "worker/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TOKEN_SIZE = 64 };

/* How long a lease whose file cannot be reached still counts as ours; less than LEASE_DEAD_SECONDS. */
#define UNSURE_SECONDS 40

struct lease {
    char *path;
    char *output;
    char token[TOKEN_SIZE];
    struct lease_record owner; /* as it must be in the file */
    struct lease_record self;
    enum lease_role role; /* this process's own record */
    int file; /* of a launcher: holds the file at the output, so that no other gets its inode; -1: none */
    bool unwritten; /* the last write failed; if the disk is full, the dataset reports it */
    double sure; /* clock: when the lease was last seen to be ours */
    pthread_mutex_t lock; /* of all fields above except path, output and file */
    pthread_cond_t ended;
    pthread_t keeper; /* while `kept` */
    bool kept, ending;
};

static int in_use(const struct lease *lease, const struct lease_record *holder, struct error *error)
{
    static const char way_on[] = "wait for it with status --wait; another sweep needs another -o";

    if (holder->process.pid <= 0)
        return error_set(error, ERROR_ENVIRONMENT, "%s: in use by another sweep (%s); %s", lease->output,
            lease->path, way_on);
    return error_set(error, ERROR_ENVIRONMENT, "%s: in use by process %ld on %.*s (%s); %s", lease->output,
        holder->process.pid, process_host_length(holder->process.place), holder->process.place, lease->path,
        way_on);
}

static int unwritable(const char *name, int cause, struct error *error)
{
    return error_set(
        error, output_is_at_fault(cause) ? ERROR_INPUT : ERROR_ENVIRONMENT, "%s: %s", name, strerror(cause));
}

/* Blames the folder of an output that nothing can be created beside, unless its name or a link is at fault.
 */
static int unwritable_folder(const char *output, int cause, struct error *error)
{
    bool of_name = cause == EISDIR || cause == ELOOP || cause == ENAMETOOLONG || cause == ENXIO;
    char *folder = of_name ? NULL : output_folder(output);

    if (!folder)
        return unwritable(output, cause, error);
    error_set(error, output_is_at_fault(cause) ? ERROR_INPUT : ERROR_ENVIRONMENT,
        "%s: the folder %s cannot be written: %s", output, folder, strerror(cause));
    free(folder);
    return -1;
}

/* The token names the owner that started a coordinator, and the life that it was started for. */
static void write_token(struct lease *lease)
{
    snprintf(lease->token, sizeof(lease->token), "%ld.%llu.%ld", lease->owner.process.pid,
        lease->owner.process.start, lease->owner.life);
}

static bool is_ours(const struct lease *lease, const struct lease_record *owner)
{
    return process_same(&owner->process, &lease->owner.process) && owner->life == lease->owner.life;
}

static void lease_free(struct lease *lease)
{
    pthread_cond_destroy(&lease->ended);
    pthread_mutex_destroy(&lease->lock);
    if (lease->file >= 0)
        close(lease->file);
    free(lease->path);
    free(lease->output);
    free(lease);
}

/* Nothing is taken yet. It has one path, whichever link names the output. NULL: *cause is an
 * errno. */
static struct lease *lease_new(const char *output, int *cause)
{
    struct lease *made = calloc(1, sizeof(*made));
    pthread_condattr_t attributes;

    *cause = ENOMEM;
    if (!made)
        return NULL;
    made->file = -1;
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&made->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    char *whole;
    int status = output_resolve(output, &whole);
    *cause = status ? status : ENOMEM;
    made->output = strdup(output);
    if (whole && asprintf(&made->path, "%s.lease", whole) < 0)
        made->path = NULL;
    free(whole);
    if (made->output && made->path)
        return made;
    lease_free(made);
    return NULL;
}

/* The same; NULL with a message in error. */
static struct lease *lease_make(const char *output, struct error *error)
{
    int cause;
    struct lease *lease = lease_new(output, &cause);

    if (!lease && cause == ENOMEM)
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", output);
    else if (!lease)
        unwritable_folder(output, cause, error);
    return lease;
}

static int take_file(struct lease *lease, struct error *error)
{
    struct lease_record holder;
    bool of_folder;
    int cause;

    /* Read before anything is written: in a folder that this user cannot write, a living lease is the better
     * message. */
    int file = lease_file_open(lease->path, false, &cause);
    if (cause && cause != ENOENT)
        return unwritable(lease->path, cause, error);
    if (file >= 0) {
        bool held = lease_file_is_held(file, time(NULL), &holder) && process_is_here(&holder.process);
        close(file);
        if (held)
            return in_use(lease, &holder, error);
    }
    cause = lease_file_take(lease->path, &lease->self, &holder, &of_folder);
    if (cause == 0)
        return 0;
    if (cause == EBUSY)
        return in_use(lease, &holder, error);
    return of_folder ? unwritable_folder(lease->output, cause, error) : unwritable(lease->path, cause, error);
}

int lease_take(struct lease **lease, const char *output, struct error *error)
{
    struct lease *taken = lease_make(output, error);

    if (!taken)
        return -1;
    taken->role = LEASE_OWNER;
    taken->self = lease_record_self();
    taken->self.stage = STAGE_STARTING;
    taken->owner = taken->self;
    taken->sure = clock_now();
    write_token(taken);
    if (take_file(taken, error) != 0) {
        lease_free(taken);
        return -1;
    }
    *lease = taken;
    return 0;
}

/* Is the lease held, as far as this machine's clock tells? *cause: 0, or the errno with which its file cannot
 * be opened; ENOENT: there is none. */
static bool look_at(const struct lease *lease, struct lease_record *holder, int *cause)
{
    int file = lease_file_open(lease->path, false, cause);

    if (file < 0)
        return false;
    bool held = lease_file_is_held(file, time(NULL), holder);
    close(file);
    return held;
}

int lease_look(const char *output, struct error *error)
{
    struct lease *lease = lease_make(output, error);
    struct lease_record holder;
    int cause, result = 0;

    if (!lease)
        return -1;
    if (look_at(lease, &holder, &cause)) {
        result = in_use(lease, &holder, error);
    } else if (cause && cause != ENOENT) {
        result = unwritable(lease->path, cause, error);
    } else {
        char *folder = output_folder(lease->output);
        cause = folder ? output_folder_fault(folder) : 0;
        free(folder);
        result = cause ? unwritable_folder(lease->output, cause, error) : 0;
    }
    lease_free(lease);
    return result;
}

bool lease_is_held(const char *output, int *unknown)
{
    struct lease *lease = lease_new(output, unknown);
    struct lease_record holder;

    if (!lease)
        return true;
    bool held = look_at(lease, &holder, unknown);
    lease_free(lease);
    if (*unknown == ENOENT)
        *unknown = 0;
    return held || *unknown != 0;
}

const char *lease_token(const struct lease *lease)
{
    return lease->token;
}

static int lost(const struct lease *lease, struct error *error)
{
    return error_set(error, ERROR_ENVIRONMENT, "%s: the lease was lost to another process", lease->path);
}

/* After a failed open or read: could the lease still be ours? If the file is gone or not a regular file, the
 * lease is lost. If a server does not answer, nobody else can have taken the lease for a while. */
static bool is_unsure(const struct lease *lease, int cause)
{
    bool gone = cause == ENOENT || cause == ENOTDIR || cause == ELOOP || cause == ENXIO;

    return !gone && clock_now() - lease->sure < UNSURE_SECONDS;
}

/* Opens the lease, checks that it is still the owner's, and writes this process's own record. Returns as
 * lease_renew. */
static int write_own(struct lease *lease, struct error *error)
{
    struct lease_record owner;
    int status = 0, cause, file = lease_file_open(lease->path, true, &cause);

    lease->unwritten = true;
    if (cause && is_unsure(lease, cause))
        return 0;
    if (cause)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", lease->path, strerror(cause));
    cause = lease_record_get(file, LEASE_OWNER, &owner);
    if (cause && (cause == ENODATA || !is_unsure(lease, cause))) {
        status = lost(lease, error);
    } else if (!cause && !is_ours(lease, &owner)) {
        lost(lease, error);
        status = LEASE_TAKEN;
    } else if (!cause) { /* else it may be another's by now */
        INVARIANT(lease->self.life == lease->owner.life, "life %ld is written in life %ld", lease->self.life,
            lease->owner.life);
        lease->unwritten = lease_record_put(file, lease->role, &lease->self) != 0;
        lease->sure = lease->unwritten ? lease->sure : clock_now();
    }
    close(file);
    return status;
}

int lease_join(struct lease **lease, const char *output, const char *token, struct error *error)
{
    struct lease *joined = lease_make(output, error);
    int cause, result;

    if (!joined) {
        error->status = ERROR_ENVIRONMENT; /* the output was right when the launcher took its lease */
        return -1;
    }
    int file = lease_file_open(joined->path, true, &cause);
    if (file < 0) {
        result = error_set(error, ERROR_ENVIRONMENT, "%s: %s", joined->path, strerror(cause));
    } else {
        bool there = lease_record_get(file, LEASE_OWNER, &joined->owner) == 0;
        close(file);
        write_token(joined);
        joined->role = LEASE_COORDINATOR;
        joined->self = lease_record_self();
        joined->self.stage = STAGE_STARTING;
        joined->self.life = joined->owner.life;
        joined->sure = clock_now();
        result = there && strcmp(joined->token, token) == 0 ? write_own(joined, error) : lost(joined, error);
    }
    if (result == 0)
        *lease = joined;
    else
        lease_free(joined);
    return result;
}

void lease_beat(struct lease *lease)
{
    pthread_mutex_lock(&lease->lock);
    lease->self.beat++;
    pthread_mutex_unlock(&lease->lock);
}

static void on_breath(void *context)
{
    lease_beat(context);
}

struct breath lease_breath(struct lease *lease)
{
    return (struct breath){on_breath, lease};
}

int lease_renew(struct lease *lease, struct error *error)
{
    pthread_mutex_lock(&lease->lock);
    lease->self.beat++;
    int status = write_own(lease, error);
    pthread_mutex_unlock(&lease->lock);
    return status;
}

int lease_tell(struct lease *lease, enum coordinator_stage stage, int status)
{
    struct error ignored;

    pthread_mutex_lock(&lease->lock);
    lease->self.stage = (int)stage;
    lease->self.status = status;
    int told = write_own(lease, &ignored) == 0 && !lease->unwritten ? 0 : -1;
    pthread_mutex_unlock(&lease->lock);
    return told;
}

void lease_tell_kept(struct lease *lease)
{
    struct error ignored;

    if (lease->self.kept) /* only this thread writes it */
        return;
    pthread_mutex_lock(&lease->lock);
    lease->self.kept = 1;
    write_own(lease, &ignored);
    pthread_mutex_unlock(&lease->lock);
}

/* ---- keeping ---- */

/* Runs until the lease is released. Ignores a lost lease: the other thread checks before it writes. */
static void *keep_renewed(void *context)
{
    struct lease *lease = context;
    struct timespec due;
    struct error ignored;

    clock_gettime(CLOCK_MONOTONIC, &due);
    pthread_mutex_lock(&lease->lock);
    while (!lease->ending) {
        due.tv_sec += LEASE_RENEW_SECONDS;
        while (!lease->ending && pthread_cond_timedwait(&lease->ended, &lease->lock, &due) == 0)
            ;
        clock_gettime(CLOCK_MONOTONIC, &due);
        if (!lease->ending)
            write_own(lease, &ignored);
    }
    pthread_mutex_unlock(&lease->lock);
    return NULL;
}

/* Blocks all signals in the new thread, so that the main thread gets them. */
void lease_keep(struct lease *lease)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    lease->kept = pthread_create(&lease->keeper, NULL, keep_renewed, lease) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct process lease_owner(const struct lease *lease)
{
    return lease->owner.process;
}

bool lease_owner_lives(const struct lease *lease)
{
    return !process_is_here(&lease->owner.process) || process_lives(&lease->owner.process);
}

struct coordinator_news lease_news(const struct lease *lease)
{
    struct coordinator_news news = {.stage = STAGE_NONE};
    struct lease_record record;
    int cause, file = lease_file_open(lease->path, true, &cause);

    if (file < 0)
        return news;
    if (lease_record_get(file, LEASE_COORDINATOR, &record) == 0 && record.life == lease->owner.life) {
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

struct output_file lease_file(const struct lease *lease)
{
    static const struct output_file unknown;

    return process_is_here(&lease->owner.process) ? lease->owner.file : unknown;
}

/* Writes the next life into the owner's record; if that fails, the lease stays in the life that it has. Only
 * then is the coordinator's record removed: in between, it is one of an earlier life. */
int lease_begin_life(struct lease *lease, struct error *error)
{
    struct lease_record owner;
    struct stat status = {0};
    int cause, file = lease_file_open(lease->path, true, &cause);

    if (cause)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", lease->path, strerror(cause));
    pthread_mutex_lock(&lease->lock);
    bool ours = lease_record_get(file, LEASE_OWNER, &owner) == 0 && is_ours(lease, &owner);
    if (ours) {
        struct lease_record next = lease->self;
        INVARIANT(lease->role == LEASE_OWNER && next.life == lease->owner.life,
            "life %ld begins after life %ld", next.life, lease->owner.life);
        if (lease->file >= 0)
            close(lease->file);
        lease->file = open(lease->output, O_PATH | O_CLOEXEC); /* see struct lease */
        if (lease->file >= 0 && fstat(lease->file, &status) != 0)
            status = (struct stat){0};
        next.life++;
        next.file = (struct output_file){(long long)status.st_dev, (long long)status.st_ino};
        cause = lease_record_put(file, LEASE_OWNER, &next);
        if (cause) {
            lease_record_put(file, LEASE_OWNER, &lease->self); /* a part may be written */
        } else {
            lease->self = next;
            lease->owner.life = next.life;
            write_token(lease);
            cause = lease_record_drop_coordinator(file);
        }
    }
    pthread_mutex_unlock(&lease->lock);
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
    pthread_mutex_lock(&lease->lock);
    lease->ending = true;
    pthread_cond_signal(&lease->ended);
    pthread_mutex_unlock(&lease->lock);
    if (lease->kept)
        pthread_join(lease->keeper, NULL);
    /* Only what is still ours is removed: see write_own. */
    if (lease->role == LEASE_OWNER && write_own(lease, &ignored) == 0)
        unlink(lease->path);
    lease_free(lease);
}
