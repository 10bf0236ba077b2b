/*
 * normsweep status: shows the status once, again and again (--watch), or when the sweep has ended (--wait).
 *
 * --watch reopens the dataset for every picture, because extending a sweep or starting it over replaces the
 * file, which may take a moment.
 *
 * --wait looks at nothing else while a process holds the lease, however often the file is replaced or mpirun
 * started again: the process that the user started keeps the lease all the time. The dataset is read once the
 * lease is free, and again only if it has changed. For up to `limit` seconds it also waits for a dataset that
 * is not there yet, and for a stopped sweep to be continued.
 */
#include "driver/status/status.h"
#include "driver/commands/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- pauses, which a signal ends at once ---- */

/* A signal may go to a thread of a library, and then it does not wake this one. So the handler writes to a
 * pipe, at which the pause looks. */
static volatile sig_atomic_t interrupted, resized;
static int ends[2] = {-1, -1}; /* of the pipe */

static void on_signal(int number)
{
    int before = errno;

    if (number == SIGINT)
        interrupted = 1;
    else
        resized = 1;
    if (write(ends[1], "", 1) < 0)
        errno = before; /* the pipe is full, which wakes as well */
}

/* From now on SIGINT and changes of the terminal's size end pauses. A SIGINT that was ignored when the
 * program started stays ignored. */
static void begin_pauses(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        ends[0] = ends[1] = -1; /* then a signal counts at the end of a pause */
    sigemptyset(&action.sa_mask);
    sigaction(SIGWINCH, &action, NULL);
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
}

/* Sleeps for so many seconds, or until a signal comes or has come since the last pause. True: after SIGINT.
 */
static bool pause_for(double seconds)
{
    struct pollfd pipe_ = {.fd = ends[0], .events = POLLIN};
    double end = clock_now() + seconds, left = seconds;
    char bytes[64];

    while (!interrupted && !resized && left > 0) {
        poll(&pipe_, 1, (int)ceil(fmin(left, 3600) * 1e3));
        left = end - clock_now();
    }
    while (read(ends[0], bytes, sizeof(bytes)) > 0)
        ;
    resized = 0;
    return interrupted;
}

/* Also a link whose target does not exist yet. */
static bool is_absent(const char *path)
{
    struct stat status;

    return stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

enum { GO_ON = -2 }; /* of a look at the dataset: neither an exit status nor an error */

/* ---- --watch ---- */

enum { WATCH_SECONDS = 2 };

struct watch {
    const char *path;
    double limit; /* seconds to wait for the dataset, also if it cannot be read any more */
    bool json; /* a line of JSON for each look */
    struct canvas canvas; /* rows 0: plain lines */
    struct run_naming naming;
    struct survey survey; /* of the last picture */
    bool known; /* survey is valid */
    double lost; /* since when the dataset could not be read; 0: it could */
};

/* Reads the dataset. Returns 1 if it is not there yet, or was readable before and may come back; -1: error.
 */
static int look_again(struct watch *watch, struct error *error)
{
    double now = clock_now();
    struct survey survey;

    if (survey_read(&survey, watch->path, watch->known ? &watch->survey : NULL, now, error) != 0) {
        if (watch->lost == 0 && !watch->known && is_absent(watch->path) && watch->limit > 0)
            lines_print(stderr, 0, "%s: not there yet; waiting for it", watch->path);
        watch->lost = watch->lost > 0 ? watch->lost : now;
        bool may_come = watch->known || is_absent(watch->path);
        return may_come && now - watch->lost < watch->limit ? 1 : -1;
    }
    if (watch->known)
        survey_release(&watch->survey);
    watch->survey = survey;
    watch->known = true;
    watch->lost = 0;
    return 0;
}

static int show_watched(struct watch *watch, bool first, struct error *error)
{
    if (watch->canvas.terminal.rows > 0) {
        struct terminal terminal = terminal_find(stdout);
        char *text;
        size_t size;
        FILE *out = memory_stream(&text, &size);
        canvas_resize(&watch->canvas, &terminal);
        survey_screen(out, &watch->survey, &watch->canvas, &watch->naming);
        memory_stream_close(out, &text);
        canvas_draw(&watch->canvas, text);
        free(text);
        return 0;
    }
    if (!first && !watch->json)
        putchar('\n');
    int result = survey_print(&watch->survey, watch->json, error);
    fflush(stdout);
    return result;
}

/* With `json` as one object a line, else as a picture that is redrawn on a terminal, and elsewhere as blocks
 * of plain lines. Returns the exit status, which is 130 after SIGINT; -1 with a message in error. */
static int status_watch(const char *path, double limit, bool json, struct error *error)
{
    struct watch watch = {
        .path = path, .limit = limit, .json = json, .canvas = {.file = stdout, .whole_screen = true}};
    int status = GO_ON;

    if (!json)
        watch.canvas.terminal = terminal_find(stdout);
    begin_pauses();
    for (bool first = true; status == GO_ON;) {
        int result = look_again(&watch, error);
        if (result < 0 || (result == 0 && show_watched(&watch, first, error) != 0)) {
            status = -1;
        } else if (ferror(stdout) || (result == 0 && !survey_is_going(&watch.survey))) {
            status = STATUS_DONE;
        } else if (pause_for(WATCH_SECONDS)) {
            if (watch.canvas.terminal.rows > 0)
                putchar('\n'); /* to the line below the echoed ^C */
            status = STATUS_INTERRUPTED;
        }
        first = first && result != 0;
    }
    if (watch.known)
        survey_release(&watch.survey);
    canvas_release(&watch.canvas);
    return status;
}

/* ---- --wait ---- */

enum { LOOK_SECONDS = 1 };

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
    int cause;
    bool held = survey_is_held(path, &cause);

    if (cause == ENOENT || cause == ENOTDIR)
        return 0; /* not even its folder is there */
    if (cause && output_is_at_fault(cause))
        return error_set(error, ERROR_INPUT, "%s: its lease: %s", path, strerror(cause));
    return held;
}

static bool is_changed(struct wait *wait)
{
    struct stat now; /* that of a folder does not tell of its parts */

    if (stat(wait->path, &now) != 0)
        return true;
    bool same = !S_ISDIR(now.st_mode) && now.st_dev == wait->seen.st_dev && now.st_ino == wait->seen.st_ino &&
                now.st_size == wait->seen.st_size && now.st_mtim.tv_sec == wait->seen.st_mtim.tv_sec &&
                now.st_mtim.tv_nsec == wait->seen.st_mtim.tv_nsec;
    wait->seen = now;
    return !same;
}

/* Judges the dataset, if there is one, that no process held a moment ago. An error does not count if a
 * process has taken the dataset meanwhile, or, before the limit is over, if it is the machine's. */
static int look_at_dataset(struct wait *wait, bool over, struct error *error)
{
    struct survey survey;
    struct error ignored;

    wait->stopped = false;
    if (survey_read(&survey, wait->path, NULL, clock_now(), error) != 0) {
        bool absent = is_absent(wait->path); /* or it was renamed or removed meanwhile */
        if (absent && over) {
            error_set(error, ERROR_INPUT, "%s: there was no dataset for %.0f s; --limit SECONDS waits longer",
                wait->path, wait->limit);
            command_fail(error);
            return STATUS_EXPIRED;
        }
        bool passes = absent || (error->status == ERROR_ENVIRONMENT && !over);
        return passes || is_held(wait->path, &ignored) > 0 ? GO_ON : -1;
    }
    int result = survey.count[OUTCOME_FAILED] > 0 ? STATUS_RUNS_FAILED : STATUS_DONE;
    if (survey.fault) /* no run can continue it */
        result = STATUS_INPUT;
    else if (survey.ended < survey.runs)
        result = STATUS_STOPPED;
    wait->stopped = result == STATUS_STOPPED;
    if (survey.held || (wait->stopped && !survey.view.copy && !over))
        result = GO_ON;
    else if (survey_print(&survey, wait->json, error) != 0)
        result = -1;
    survey_release(&survey);
    return result;
}

static int look(struct wait *wait, struct error *error)
{
    double now = clock_now();
    int held = is_held(wait->path, error);

    if (held != 0) {
        wait->idle = 0;
        wait->stopped = false;
        return held < 0 ? -1 : GO_ON;
    }
    wait->idle = wait->idle > 0 ? wait->idle : now;
    bool over = now - wait->idle >= wait->limit;
    bool changed = is_changed(wait);
    return wait->stopped && !changed && !over ? GO_ON : look_at_dataset(wait, over, error);
}

/* Prints the status, with `json` as one object, when the sweep has ended: its runs, and the process that
 * trained them. Returns the exit status, which is 124 with a line on stderr if there is no dataset for
 * `limit` seconds; -1 with a message in error. */
static int status_wait(const char *path, double limit, bool json, struct error *error)
{
    struct wait wait = {.path = path, .limit = limit, .json = json};
    int result;

    begin_pauses();
    while ((result = look(&wait, error)) == GO_ON)
        if (pause_for(LOOK_SECONDS)) {
            lines_print(stderr, 0, "%s: no longer waited for; the sweep itself is not stopped by this", path);
            return STATUS_INTERRUPTED;
        }
    return result;
}

/* ---- the command ---- */

enum { LIMIT_SECONDS = 60 }; /* unless --limit says otherwise */

int command_status(const struct arguments *arguments, struct error *error)
{
    bool wait = arguments_has(arguments, OPTION_WAIT), watch = arguments_has(arguments, OPTION_WATCH);
    bool json = arguments_has(arguments, OPTION_JSON), limited = arguments_has(arguments, OPTION_LIMIT);
    double limit = limited ? arguments->limit : LIMIT_SECONDS;
    const char *path = arguments->operand[0];
    struct survey survey;

    if (wait && watch)
        return error_set(error, ERROR_INPUT, "normsweep status: --watch and --wait exclude each other");
    if (limited && !wait && !watch)
        return error_set(error, ERROR_INPUT, "normsweep status: --limit goes with --wait and --watch");
    if (wait)
        return status_wait(path, limit, json, error);
    if (watch)
        return status_watch(path, limit, json, error);
    if (survey_read(&survey, path, NULL, clock_now(), error) != 0)
        return -1;
    int result = survey_print(&survey, json, error);
    survey_release(&survey);
    return result;
}
