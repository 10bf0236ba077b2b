#include "driver/text/lines.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/core/printable.h"

enum { USUAL = 1024 }; /* bytes of a text that needs no memory */

char *lines_clean(char *text)
{
    size_t size = text ? PRINTABLE_MOST * strlen(text) + 1 : 0;
    char *clean = text ? malloc(size) : NULL;

    if (clean)
        printable(text, clean, size);
    free(text);
    return clean;
}

/* The text made printable: in new memory, or if it is short, or for lack of memory its beginning, in usual.
 */
static char *show(const char *text, char usual[USUAL])
{
    size_t size = PRINTABLE_MOST * strlen(text) + 1;
    char *shown = size > USUAL ? malloc(size) : NULL;

    return shown ? printable(text, shown, size) : printable(text, usual, USUAL);
}

void lines_put(FILE *out, const char *text)
{
    char usual[USUAL], *shown = show(text, usual);

    fputs(shown, out);
    if (shown != usual)
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
    char raw[USUAL], usual[USUAL], *text = raw;
    va_list arguments, again;

    va_start(arguments, format);
    va_copy(again, arguments);
    if (vsnprintf(raw, sizeof(raw), format, arguments) >= (int)sizeof(raw) &&
        vasprintf(&text, format, again) < 0)
        text = raw;
    va_end(again);
    va_end(arguments);
    char *shown = show(text, usual);
    if (columns > 0)
        print_broken(out, columns, shown);
    else
        fprintf(out, "%s\n", shown);
    if (shown != usual)
        free(shown);
    if (text != raw)
        free(text);
}
