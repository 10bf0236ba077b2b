/*
 * Lines on a terminal, drawn again and again in the same place.
 *
 * A drawing is collected in memory and written in one call, so that nothing flickers. It is cut to the
 * terminal before it is kept as `shown`, from which the next drawing knows the lines that it may skip and how
 * far the cursor has to go up. The line of a command that works (waiting) is a canvas of one line, replaced a
 * few times a second. Nothing here fails, and nothing is written without a terminal.
 */
#include "driver/terminal/terminal.h"
#include "driver/text/text.h"
#include "worker/host/host.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define HOME "\x1b[H"
#define UP "\r\x1b[%dA" /* from any column: the terminal echoes typed keys */
#define ERASE_LINE "\x1b[K" /* from the cursor to the end */
#define ERASE_BELOW "\x1b[J"
#define PLAIN "\x1b[0m"

int canvas_rows(const struct canvas *canvas)
{
    return canvas->terminal.rows - 1; /* one line is left for the cursor */
}

int canvas_columns(const struct canvas *canvas)
{
    return canvas->terminal.columns - 1; /* a full line would wrap, or lose its end to ERASE_LINE */
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

/* Bytes of the escape sequence at text: "\x1b[", parameters, a letter. */
static size_t escape_length(const char *text)
{
    if (text[0] != '\x1b' || text[1] != '[')
        return 0;
    size_t length = 2 + strspn(text + 2, "0123456789;:");
    return text[length] && text[length] != '\n' ? length + 1 : length;
}

/* Prints the line, cut to `columns`: never within a character, and never with a colour still on. */
static void draw_row(struct string *out, const char *line, int columns)
{
    const char *at = line;
    bool coloured = false;

    while (*at && *at != '\n') {
        size_t escape = escape_length(at);
        bool begins = ((unsigned char)*at & 0xc0) != 0x80;
        if (!escape && begins && columns-- <= 0)
            break;
        coloured = coloured || escape > 0;
        at += escape ? escape : 1;
    }
    string_format(
        out, "%.*s%s" ERASE_LINE "\n", (int)(at - line), line, coloured && *at && *at != '\n' ? PLAIN : "");
}

void canvas_draw(struct canvas *canvas, const char *lines)
{
    const char *end = lines, *shown = canvas->shown && !canvas->whole_screen ? canvas->shown : "";
    struct string out = {0};

    for (int i = 0; i < canvas_rows(canvas) && *end; i++)
        end = next_line(end);
    char *fit = memory_copy_part(lines, (size_t)(end - lines));
    if (canvas->whole_screen) {
        for (int i = 0; !canvas->shown && i < canvas->terminal.rows; i++)
            string_add(&out, "\n", 1); /* scroll the old screen into the scrollback buffer */
        string_format(&out, HOME);
    } else if (*shown) {
        string_format(&out, UP, lines_count(shown));
    }
    for (const char *line = fit; *line; line = next_line(line)) {
        size_t length = strcspn(line, "\n") + 1;
        if (line[length - 1] && strncmp(line, shown, length) == 0) /* it is there already */
            string_add(&out, "\n", 1);
        else
            draw_row(&out, line, canvas_columns(canvas));
        shown = next_line(shown);
    }
    string_format(&out, ERASE_BELOW);
    fwrite(out.bytes, 1, out.length, canvas->file);
    fflush(canvas->file);
    string_release(&out);
    free(canvas->shown);
    canvas->shown = fit;
}

void canvas_clear(struct canvas *canvas)
{
    int drawn = lines_count(canvas->shown);

    if (drawn > 0) {
        fprintf(canvas->file, UP ERASE_BELOW, drawn);
        fflush(canvas->file);
    }
    canvas_release(canvas);
}

void canvas_resize(struct canvas *canvas, const struct terminal *terminal)
{
    bool same = terminal->columns == canvas->terminal.columns && terminal->rows == canvas->terminal.rows;
    bool shrunk = terminal->columns < canvas->terminal.columns || terminal->rows < canvas->terminal.rows;

    canvas->terminal = *terminal;
    if (!canvas->shown || (canvas->whole_screen ? same : !shrunk))
        return;
    fputs(HOME ERASE_BELOW, canvas->file);
    if (!canvas->whole_screen)
        canvas_release(canvas);
}

void canvas_release(struct canvas *canvas)
{
    free(canvas->shown);
    canvas->shown = NULL;
}

/* ---- one line, while a command works ---- */

enum { WAITING_SIZE = 256 };

#define WAITING_SECONDS 0.25 /* between two lines */

void waiting_begin(struct waiting *waiting, FILE *file, const struct terminal *terminal)
{
    *waiting = (struct waiting){.canvas = {.file = file, .terminal = *terminal}};
    waiting->next = terminal->rows > 0 ? clock_now() + WAITING_SECONDS : INFINITY;
}

bool waiting_is_due(const struct waiting *waiting)
{
    return isfinite(waiting->next) && clock_now() >= waiting->next;
}

void waiting_say(struct waiting *waiting, const char *format, ...)
{
    char line[WAITING_SIZE];
    va_list arguments;

    if (!isfinite(waiting->next))
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line) - 1, format, arguments);
    va_end(arguments);
    strcat(line, "\n");
    canvas_draw(&waiting->canvas, line);
    waiting->next = clock_now() + WAITING_SECONDS;
}

void waiting_end(struct waiting *waiting)
{
    canvas_clear(&waiting->canvas);
}
