/*
 * status --watch. The dataset is reopened for every picture, because extending a sweep or starting it over
 * replaces the file, which may take a moment.
 */
#include "driver/commands/status_watch.h"
#include "driver/commands/summary.h"
#include "driver/picture/status.h"
#include "driver/picture/status_picture.h"
#include "driver/terminal/canvas.h"
#include "worker/host/clock.h"

#include <signal.h>
#include <stdlib.h>

enum { WATCH_SECONDS = 2, LOST_SECONDS = 60 };

struct watch {
    const char *path;
    struct canvas canvas; /* rows 0: plain lines */
    struct status status; /* of the last picture */
    bool known; /* status is valid */
    double lost; /* since when the dataset could not be read; 0: it could */
};

static volatile sig_atomic_t interrupted, resized;

static void on_signal(int number)
{
    if (number == SIGINT)
        interrupted = 1;
    else
        resized = 1;
}

/* A SIGINT that was ignored when the program started stays ignored. */
static void install_handlers(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;

    sigemptyset(&action.sa_mask);
    sigaction(SIGWINCH, &action, NULL);
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
}

/* Waits until the next picture is due; false: interrupted. Sleeps in short intervals, because a signal may
 * go to a library's thread and not wake this one. */
static bool wait_for_next(void)
{
    double end = clock_now() + WATCH_SECONDS;

    while (clock_now() < end && !interrupted && !resized)
        clock_pause(0.05);
    resized = 0;
    return !interrupted;
}

/* Reads the dataset. Returns 1 if it was readable less than LOST_SECONDS ago, as it may come back; -1:
 * error. */
static int look_again(struct watch *watch, struct error *error)
{
    double now = clock_now();
    struct status status;

    if (status_read(&status, watch->path, watch->known ? &watch->status.survey : NULL, now, error) != 0) {
        watch->lost = watch->lost > 0 ? watch->lost : now;
        return watch->known && now - watch->lost < LOST_SECONDS ? 1 : -1;
    }
    if (watch->known)
        status_release(&watch->status);
    watch->status = status;
    watch->known = true;
    watch->lost = 0;
    return 0;
}

static void draw_status(struct watch *watch)
{
    struct terminal terminal = terminal_find(stdout);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return; /* no memory: skip this drawing */
    canvas_resize(&watch->canvas, &terminal);
    status_picture(out, &watch->status, &watch->canvas);
    if (fclose(out) == 0)
        canvas_draw(&watch->canvas, text);
    free(text);
}

static int show(struct watch *watch, bool first, struct error *error)
{
    if (watch->canvas.terminal.rows > 0) {
        draw_status(watch);
        return 0;
    }
    if (!first)
        putchar('\n');
    int result = status_print(&watch->status, error);
    fflush(stdout);
    return result;
}

static int follow_dataset(struct watch *watch, struct error *error)
{
    for (bool first = true;; first = false) {
        int result = look_again(watch, error);
        if (result < 0 || (result == 0 && show(watch, first, error) != 0))
            return -1;
        if (ferror(stdout) || (result == 0 && !status_is_going(&watch->status)))
            return STATUS_DONE;
        if (!wait_for_next()) {
            if (watch->canvas.terminal.rows > 0)
                putchar('\n'); /* to the line below the echoed ^C */
            return STATUS_INTERRUPTED;
        }
    }
}

int status_watch(const char *path, struct error *error)
{
    struct watch watch = {
        .path = path, .canvas = {.file = stdout, .terminal = terminal_find(stdout), .whole_screen = true}};

    install_handlers();
    int result = follow_dataset(&watch, error);
    if (watch.known)
        status_release(&watch.status);
    canvas_release(&watch.canvas);
    return result;
}
