#include "driver/text/lines.h"

#include "driver/text/utf8.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL = 1024 }; /* bytes of a text that needs no memory */

/* Bytes of the UTF-8 character that a text begins with; 0: not UTF-8, or a control character. */
static int character(const unsigned char *text)
{
    bool control = text[0] < 0x20 || text[0] == 0x7f || (text[0] == 0xc2 && text[1] < 0xa0);

    return control ? 0 : (int)utf8_length((const char *)text, strnlen((const char *)text, UTF8_MOST));
}

char *lines_clean(char *text)
{
    unsigned char *byte = (unsigned char *)text;

    while (*byte) {
        int length = character(byte);
        if (length == 0)
            *byte = '?';
        byte += length ? length : 1;
    }
    return text;
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
    char usual[USUAL], *text = usual;
    va_list arguments, again;

    va_start(arguments, format);
    va_copy(again, arguments);
    if (vsnprintf(usual, sizeof(usual), format, arguments) >= (int)sizeof(usual) &&
        vasprintf(&text, format, again) < 0)
        text = usual;
    va_end(again);
    va_end(arguments);
    lines_clean(text);
    if (columns > 0)
        print_broken(out, columns, text);
    else
        fprintf(out, "%s\n", text);
    if (text != usual)
        free(text);
}
