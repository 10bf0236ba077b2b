#include "driver/terminal/canvas.h"

#include "driver/text/lines.h"

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

/* Bytes of the line without its '\n'. */
static size_t line_length(const char *line)
{
    return strcspn(line, "\n");
}

static const char *next_line(const char *line)
{
    line += line_length(line);
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
static void draw_row(FILE *out, const char *line, int columns)
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
    fprintf(
        out, "%.*s%s" ERASE_LINE "\n", (int)(at - line), line, coloured && *at && *at != '\n' ? PLAIN : "");
}

static bool same_line(const char *a, const char *b)
{
    size_t length = line_length(a);

    return a[length] && strncmp(a, b, length + 1) == 0;
}

/* Moves the cursor to the first line of the drawing. */
static void go_to_begin(const struct canvas *canvas, FILE *out)
{
    int drawn = lines_count(canvas->shown);

    if (canvas->whole_screen && !canvas->shown)
        for (int i = 0; i < canvas->terminal.rows; i++)
            fputc('\n', out); /* scroll the old screen into the scrollback buffer */
    if (canvas->whole_screen)
        fputs(HOME, out);
    else if (drawn > 0)
        fprintf(out, UP, drawn);
}

static void put_lines(const struct canvas *canvas, FILE *out, const char *lines)
{
    const char *shown = canvas->shown && !canvas->whole_screen ? canvas->shown : "";

    go_to_begin(canvas, out);
    for (const char *line = lines; *line; line = next_line(line)) {
        if (same_line(line, shown))
            fputc('\n', out);
        else
            draw_row(out, line, canvas_columns(canvas));
        shown = next_line(shown);
    }
    fputs(ERASE_BELOW, out);
}

/* As many of the lines as fit the terminal; the caller frees them. NULL: no memory. */
static char *fitting(const struct canvas *canvas, const char *lines)
{
    const char *end = lines;

    for (int i = 0; i < canvas_rows(canvas) && *end; i++)
        end = next_line(end);
    return strndup(lines, (size_t)(end - lines));
}

void canvas_draw(struct canvas *canvas, const char *lines)
{
    char *text = NULL, *fit = fitting(canvas, lines);
    size_t size = 0;
    FILE *out = fit ? open_memstream(&text, &size) : NULL;

    if (!out) { /* no memory: skip this drawing */
        free(fit);
        return;
    }
    put_lines(canvas, out, fit);
    if (fclose(out) == 0)
        fwrite(text, 1, size, canvas->file);
    fflush(canvas->file);
    free(text);
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
