/*
 * What the reader of a stream can display. The process that has the terminal finds out (terminal_find) and
 * hands it on to processes that cannot see it (terminal_format, terminal_handed). Nothing here fails: what is
 * unknown counts as a file.
 */
#include "driver/terminal/terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 80, ROWS_DEFAULT = 24 };

static const char *const colour_words[] = {"none", "256"};
static const char *const charset_words[] = {"ascii", "utf8"};

/* The value of an environment variable; "" where it is not set. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

/* Is the character encoding UTF-8? The first of the variables that is set decides. */
static bool is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *value = variable(names[i]);
        if (*value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static bool has_colours(const char *name)
{
    const char *more = variable("COLORTERM");

    if (*variable("NO_COLOR") || !*name)
        return false;
    return strcmp(more, "truecolor") == 0 || strcmp(more, "24bit") == 0 || strstr(name, "256color") ||
           strstr(name, "direct");
}

/* False if the terminal does not report its size. */
static bool measure_window(int descriptor, struct winsize *size)
{
    return ioctl(descriptor, TIOCGWINSZ, size) == 0 && size->ws_col > 0 && size->ws_row > 0;
}

struct terminal terminal_find(FILE *file)
{
    struct terminal terminal = {.columns = COLUMNS_DEFAULT};
    const char *name = variable("TERM");
    struct winsize size;
    int descriptor = fileno(file);

    if (descriptor < 0 || !isatty(descriptor))
        return terminal;
    bool known = measure_window(descriptor, &size);
    if (known)
        terminal.columns = size.ws_col;
    if (strcmp(name, "dumb") == 0)
        return terminal;
    terminal.rows = known ? size.ws_row : ROWS_DEFAULT;
    terminal.colours = has_colours(name);
    terminal.unicode = is_utf8();
    return terminal;
}

bool terminal_resize(struct terminal *terminal)
{
    int descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    struct winsize size;
    bool known = descriptor >= 0 && measure_window(descriptor, &size);

    if (descriptor >= 0)
        close(descriptor);
    if (!known || (terminal->columns == size.ws_col && terminal->rows == size.ws_row))
        return false;
    terminal->columns = size.ws_col;
    terminal->rows = size.ws_row;
    return true;
}

char *terminal_format(const struct terminal *terminal, char *text, size_t size)
{
    snprintf(text, size, "%dx%d %s %s", terminal->columns, terminal->rows, colour_words[terminal->colours],
        charset_words[terminal->unicode]);
    return text;
}

bool terminal_parse(struct terminal *terminal, const char *text)
{
    char colours[8], charset[8], again[TERMINAL_TEXT];
    struct terminal read;

    int count = sscanf(text, "%4dx%4d %7s %7s", // NOLINT(cert-err34-c)
        &read.columns, &read.rows, colours, charset);
    if (count != 4 || read.columns <= 0 || read.rows < 0)
        return false;
    read.colours = strcmp(colours, colour_words[true]) == 0;
    read.unicode = strcmp(charset, charset_words[true]) == 0;
    if (strcmp(terminal_format(&read, again, sizeof(again)), text) != 0)
        return false;
    *terminal = read;
    return true;
}

struct terminal terminal_handed(void)
{
    const char *handed = getenv(SCREEN_VARIABLE);
    struct terminal terminal = {.columns = 80};

    return handed && terminal_parse(&terminal, handed) ? terminal : terminal_find(stderr);
}

const char *terminal_hand_on(char *text, size_t size)
{
    struct terminal terminal = terminal_handed();

    return terminal_format(&terminal, text, size);
}
