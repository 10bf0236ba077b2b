/*
 * Texts that may hold any bytes, made safe for a terminal. printable() walks over the characters of a text:
 * utf8_length finds the end of each, and is strict (no overlong form, no surrogate, nothing above U+10FFFF);
 * is_escaped says which must not be shown. A text that does not fit is cut behind a whole character.
 */
#include "model/core/printable.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

size_t utf8_length(const char *text, size_t size)
{
    const unsigned char *byte = (const unsigned char *)text;

    if (size == 0 || byte[0] > 0xf4 || (byte[0] >= 0x80 && byte[0] < 0xc2))
        return 0;
    size_t length = byte[0] < 0x80 ? 1 : byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
    if (length > size)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xf0 && byte[1] < 0x90);
    bool surrogate = byte[0] == 0xed && byte[1] > 0x9f, beyond = byte[0] == 0xf4 && byte[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : length;
}

/* The number of a character of at most three bytes; 0: of four, none of which needs an escape. */
static unsigned code_of(const char *text, size_t length)
{
    const unsigned char *byte = (const unsigned char *)text;

    if (length == 2)
        return (byte[0] & 0x1fU) << 6 | (byte[1] & 0x3fU);
    if (length == 3)
        return (byte[0] & 0x0fU) << 12 | (byte[1] & 0x3fU) << 6 | (byte[2] & 0x3fU);
    return length == 1 ? byte[0] : 0;
}

/* Controls, separators of lines and paragraphs, and what embeds, overrides or isolates a direction. */
static bool is_escaped(unsigned code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

size_t printable_length(const char *text)
{
    size_t length = utf8_length(text, strnlen(text, UTF8_MOST));

    return length > 0 && length < UTF8_MOST && is_escaped(code_of(text, length)) ? 0 : length;
}

char *printable(const char *text, char *shown, size_t size)
{
    size_t used = 0, length;

    for (; *text; text += length) {
        char escape[8];
        const char *piece = text;
        size_t width = length = printable_length(text);
        if (length == 0) {
            const char *letter = strchr("\nn\tt\rr", *text);
            length = utf8_length(text, strnlen(text, UTF8_MOST));
            if (letter && length == 1)
                snprintf(escape, sizeof(escape), "\\%c", letter[1]);
            else
                snprintf(escape, sizeof(escape), length > 1 ? "\\u%04x" : "\\x%02x",
                    length > 1 ? code_of(text, length) : (unsigned char)*text);
            length = length ? length : 1;
            piece = escape;
            width = strlen(escape);
        }
        if (used + width >= size)
            break;
        memcpy(shown + used, piece, width);
        used += width;
    }
    shown[used] = '\0';
    return shown;
}
