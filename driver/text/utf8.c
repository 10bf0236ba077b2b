#include "driver/text/utf8.h"

#include <stdbool.h>
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

/* Detects UTF-16 and UTF-32 by the byte order mark, or by the zero bytes of an ASCII character at the start;
 * NULL: neither. */
static const char *wider_encoding(const char *text, size_t size)
{
    static const struct {
        const char *name;
        size_t size;
        const char *mark;
    } marks[] = {{"UTF-32", 4, "\xff\xfe\0\0"}, {"UTF-32", 4, "\0\0\xfe\xff"}, {"UTF-16", 2, "\xff\xfe"},
        {"UTF-16", 2, "\xfe\xff"}};

    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
        if (size >= marks[i].size && memcmp(text, marks[i].mark, marks[i].size) == 0)
            return marks[i].name;
    bool zero[4] = {false};
    for (size_t i = 0; i < 4 && i < size; i++)
        zero[i] = !text[i];
    if (size >= 4 && zero[1] && zero[2] && zero[0] != zero[3])
        return "UTF-32";
    return size >= 2 && zero[0] != zero[1] ? "UTF-16" : NULL;
}

int utf8_begin(const char **text, size_t *size, struct error *error)
{
    static const char mark[] = "\xef\xbb\xbf";
    const char *wider = wider_encoding(*text, *size);

    if (wider)
        return error_set(error, ERROR_INPUT, "is %s and not UTF-8; save it as UTF-8", wider);
    if (*size >= strlen(mark) && memcmp(*text, mark, strlen(mark)) == 0) {
        *text += strlen(mark);
        *size -= strlen(mark);
    }
    return 0;
}
