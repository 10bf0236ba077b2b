/* What the reader of a stream can display. */
#include "driver/terminal/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 80, ROWS_DEFAULT = 24, SIZE_MOST = 9999 };

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

/* Reads an integer from 0 to SIZE_MOST and advances *text past it. */
static bool take_size(const char **text, int *size)
{
    char *end;
    long number = strtol(*text, &end, 10);

    if (**text < '0' || **text > '9' || number > SIZE_MOST)
        return false;
    *text = end;
    *size = (int)number;
    return true;
}

/* Reads a blank and a word and advances *text; the word's index among `words`, or -1. */
static int take_word(const char **text, const char *const *words, int count)
{
    if (**text != ' ')
        return -1;
    const char *word = *text + 1;
    size_t length = strcspn(word, " ");
    for (int i = 0; i < count; i++)
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0) {
            *text = word + length;
            return i;
        }
    return -1;
}

bool terminal_parse(struct terminal *terminal, const char *text)
{
    int columns, rows;

    if (!take_size(&text, &columns) || columns == 0 || *text++ != 'x' || !take_size(&text, &rows))
        return false;
    int colours = take_word(&text, colour_words, 2), charset = take_word(&text, charset_words, 2);
    if (colours < 0 || charset < 0 || *text)
        return false;
    *terminal = (struct terminal){columns, rows, colours == 1, charset == 1};
    return true;
}

struct terminal terminal_handed(void)
{
    const char *handed = getenv(SCREEN_VARIABLE);
    struct terminal terminal = {.columns = 80};

    return handed && terminal_parse(&terminal, handed) ? terminal : terminal_find(stderr);
}
