/* One line on a terminal while a command works, replaced a few times a second; nothing elsewhere. */
#include "driver/terminal/terminal.h"
#include "worker/host/host.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { LINE_SIZE = 256 };

#define PAUSE_SECONDS 0.25

void waiting_begin(struct waiting *waiting, FILE *file, const struct terminal *terminal)
{
    *waiting = (struct waiting){.canvas = {.file = file, .terminal = *terminal}};
    waiting->next = terminal->rows > 0 ? clock_now() + PAUSE_SECONDS : INFINITY;
}

bool waiting_is_due(const struct waiting *waiting)
{
    return isfinite(waiting->next) && clock_now() >= waiting->next;
}

void waiting_say(struct waiting *waiting, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;

    if (!isfinite(waiting->next))
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line) - 1, format, arguments);
    va_end(arguments);
    strcat(line, "\n");
    canvas_draw(&waiting->canvas, line);
    waiting->next = clock_now() + PAUSE_SECONDS;
}

void waiting_end(struct waiting *waiting)
{
    canvas_clear(&waiting->canvas);
}
