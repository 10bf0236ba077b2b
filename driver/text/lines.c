/*
 * Lines for terminals and pipes.
 *
 * What comes from a file may hold anything, so every text passes printable() before it is shown: no file can
 * move the cursor or pretend to be output of this program.
 */
#include "driver/text/text.h"
#include "model/core/printable.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The text made printable, in new memory. */
static char *cleaned(const char *text)
{
    size_t size = PRINTABLE_MOST * strlen(text) + 1;

    return printable(text, memory_new(size, 1), size);
}

char *lines_clean(char *text)
{
    char *clean = text ? cleaned(text) : NULL;

    free(text);
    return clean;
}

void lines_put(FILE *out, const char *text)
{
    char *shown = cleaned(text);

    fputs(shown, out);
    free(shown);
}

static bool begins(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

int lines_width(const char *text)
{
    int width = 0;

    for (; *text; text++)
        width += begins(*text);
    return width;
}

int lines_count(const char *text)
{
    int count = 0;

    for (; text && *text; text++)
        count += *text == '\n';
    return count;
}

int lines_fit(const char *text, int columns)
{
    int width = 0, length = 0;

    for (; text[length]; length++) {
        width += begins(text[length]);
        if (width > columns)
            break;
    }
    return length;
}

static void print_broken(FILE *out, int columns, const char *text)
{
    while (lines_width(text) > columns) {
        int fits = lines_fit(text, columns), length = fits;
        while (length > 0 && text[length] != ' ')
            length--;
        length = length ? length : fits;
        fprintf(out, "%.*s\n", length, text);
        text += length;
        text += *text == ' ';
    }
    fprintf(out, "%s\n", text);
}

void lines_print(FILE *out, int columns, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *text = lines_clean(memory_vformat(format, arguments));
    va_end(arguments);
    if (columns > 0)
        print_broken(out, columns, text);
    else
        fprintf(out, "%s\n", text);
    free(text);
}
