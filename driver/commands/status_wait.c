/*
 * status --wait. While a process holds the lease nothing else is looked at, however often the file is
 * replaced or mpirun started again: the process that the user started keeps the lease all the time. The
 * dataset is read once the lease is free, and again only if it has changed.
 */
#include "driver/commands/status_wait.h"

#include "driver/commands/commands.h"
#include "driver/commands/status_pause.h"
#include "driver/output/lease.h"
#include "driver/output/output.h"
#include "driver/picture/status.h"
#include "driver/picture/status_json.h"
#include "driver/text/exit_status.h"
#include "driver/text/lines.h"
#include "worker/host/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define LOOK_SECONDS 1

enum { WAIT_ON = -2 }; /* neither an exit status nor an error */

struct wait {
    const char *path;
    double limit;
    bool json;
    double idle; /* clock: since when no process holds the dataset; 0: one does */
    bool stopped; /* the dataset was read as `seen`: runs are left */
    struct stat seen;
};

/* Does a process hold the dataset, or may it? A server that does not answer says nothing about that. -1: an
 * error. */
static int is_held(const char *path, struct error *error)
{
    bool held = lease_is_held(path);
    int cause = held ? errno : 0;

    if (cause == ENOENT || cause == ENOTDIR)
        return 0; /* not even its folder is there */
    if (cause && output_is_at_fault(cause))
        return error_set(error, ERROR_INPUT, "%s: its lease: %s", path, strerror(cause));
    return held;
}

/* Also a link whose target does not exist yet. */
static bool is_absent(const char *path)
{
    struct stat status;

    return stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

static bool is_changed(struct wait *wait)
{
    struct stat now;

    if (stat(wait->path, &now) != 0)
        return true;
    bool same = now.st_dev == wait->seen.st_dev && now.st_ino == wait->seen.st_ino &&
                now.st_size == wait->seen.st_size && now.st_mtim.tv_sec == wait->seen.st_mtim.tv_sec &&
                now.st_mtim.tv_nsec == wait->seen.st_mtim.tv_nsec;
    wait->seen = now;
    return !same;
}

static int exit_status_of(const struct status *status)
{
    if (status->fault) /* no run can continue it */
        return STATUS_INPUT;
    if (status->survey.ended < status->survey.runs)
        return STATUS_STOPPED;
    return status->survey.count[OUTCOME_FAILED] > 0 ? STATUS_RUNS_FAILED : STATUS_DONE;
}

/* Judges a dataset that no process held a moment ago. */
static int judge(struct wait *wait, const struct status *status, bool over, struct error *error)
{
    int result = exit_status_of(status);

    wait->stopped = result == STATUS_STOPPED;
    if (status->held || (wait->stopped && !status->view.copy && !over))
        return WAIT_ON;
    int printed = wait->json ? status_json_print(status, error) : status_print(status, error);
    return printed == 0 ? result : -1;
}

static int say_expired(const struct wait *wait)
{
    struct error error;

    error_set(&error, ERROR_INPUT, "%s: there was no dataset for %.0f s; --limit SECONDS waits longer",
        wait->path, wait->limit);
    command_fail(&error);
    return STATUS_EXPIRED;
}

/* There is no dataset, or no longer. */
static int find_none(struct wait *wait, bool over)
{
    wait->stopped = false;
    return over ? say_expired(wait) : WAIT_ON;
}

/* An error does not count if a process has taken the dataset meanwhile, or, before the limit is over, if it
 * is the machine's. */
static int look_at_dataset(struct wait *wait, bool over, struct error *error)
{
    struct status status;
    struct error ignored;

    if (status_read(&status, wait->path, NULL, clock_now(), error) != 0) {
        if (is_absent(wait->path)) /* it was renamed or removed meanwhile */
            return find_none(wait, over);
        bool passes = error->status == ERROR_ENVIRONMENT && !over;
        wait->stopped = false;
        return passes || is_held(wait->path, &ignored) > 0 ? WAIT_ON : -1;
    }
    int result = judge(wait, &status, over, error);
    status_release(&status);
    return result;
}

static int look(struct wait *wait, struct error *error)
{
    double now = clock_now();
    int held = is_held(wait->path, error);

    if (held != 0) {
        wait->idle = 0;
        wait->stopped = false;
        return held < 0 ? -1 : WAIT_ON;
    }
    wait->idle = wait->idle > 0 ? wait->idle : now;
    bool over = now - wait->idle >= wait->limit;
    if (is_absent(wait->path))
        return find_none(wait, over);
    bool changed = is_changed(wait);
    return wait->stopped && !changed && !over ? WAIT_ON : look_at_dataset(wait, over, error);
}

int status_wait(const char *path, double limit, bool json, struct error *error)
{
    struct wait wait = {.path = path, .limit = limit, .json = json};
    int result;

    status_pause_begin();
    while ((result = look(&wait, error)) == WAIT_ON)
        if (status_pause(LOOK_SECONDS) == PAUSE_INTERRUPTED) {
            lines_print(stderr, 0, "%s: no longer waited for; the sweep itself is not stopped by this", path);
            return STATUS_INTERRUPTED;
        }
    return result;
}
