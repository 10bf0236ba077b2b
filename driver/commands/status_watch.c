/*
 * status --watch. The dataset is reopened for every picture, because extending a sweep or starting it over
 * replaces the file, which may take a moment.
 */
#include "driver/commands/status_watch.h"
#include "driver/commands/status_pause.h"
#include "driver/picture/status.h"
#include "driver/picture/status_json.h"
#include "driver/picture/status_picture.h"
#include "driver/terminal/canvas.h"
#include "driver/text/exit_status.h"
#include "worker/host/clock.h"

#include <stdlib.h>

enum { WATCH_SECONDS = 2, LOST_SECONDS = 60 };

struct watch {
    const char *path;
    bool json; /* a line of JSON for each look */
    struct canvas canvas; /* rows 0: plain lines */
    struct run_naming naming;
    struct status status; /* of the last picture */
    bool known; /* status is valid */
    double lost; /* since when the dataset could not be read; 0: it could */
};

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
    status_picture(out, &watch->status, &watch->canvas, &watch->naming);
    if (fclose(out) == 0)
        canvas_draw(&watch->canvas, text);
    free(text);
}

static int print_plainly(struct watch *watch, bool first, struct error *error)
{
    if (watch->json)
        return status_json_print(&watch->status, error);
    if (!first)
        putchar('\n');
    return status_print(&watch->status, error);
}

static int show(struct watch *watch, bool first, struct error *error)
{
    if (watch->canvas.terminal.rows > 0) {
        draw_status(watch);
        return 0;
    }
    int result = print_plainly(watch, first, error);
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
        if (status_pause(WATCH_SECONDS) == PAUSE_INTERRUPTED) {
            if (watch->canvas.terminal.rows > 0)
                putchar('\n'); /* to the line below the echoed ^C */
            return STATUS_INTERRUPTED;
        }
    }
}

int status_watch(const char *path, bool json, struct error *error)
{
    struct watch watch = {.path = path, .json = json, .canvas = {.file = stdout, .whole_screen = true}};

    if (!json)
        watch.canvas.terminal = terminal_find(stdout);
    status_pause_begin();
    int result = follow_dataset(&watch, error);
    if (watch.known)
        status_release(&watch.status);
    canvas_release(&watch.canvas);
    return result;
}
