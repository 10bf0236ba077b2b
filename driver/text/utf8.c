#include "driver/text/text.h"

#include <stdbool.h>
#include <string.h>

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
