/*
 * Small texts for people: durations, excerpts, what an exit status means, paths as a shell takes them, and
 * whether a text is UTF-8. A path is quoted only if it has to be, since most need it not and are easier to
 * read without.
 */
#include "driver/text/text.h"
#include "model/core/printable.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MOST 1e15 /* a dataset may say anything; this much still fits an int64_t */

char *duration_format(double seconds, char *text, size_t size)
{
    int64_t whole = (int64_t)fmin(fmax(seconds, 0) + 0.5, SECONDS_MOST);

    if (seconds < 0.1)
        snprintf(text, size, "%.2g s", seconds < 1e-4 ? 0 : seconds);
    else if (seconds < 10)
        snprintf(text, size, "%.1f s", seconds);
    else if (whole < 60)
        snprintf(text, size, "%" PRId64 " s", whole);
    else if (whole < 3600)
        snprintf(text, size, "%" PRId64 " min %02" PRId64 " s", whole / 60, whole % 60);
    else
        snprintf(text, size, "%" PRId64 " h %02" PRId64 " min", whole / 3600, whole / 60 % 60);
    return text;
}

int duration_read(const char *text)
{
    static const char units[] = "dhms";
    static const int seconds[] = {86400, 3600, 60, 1};
    const char *left = units; /* those that are smaller than the last one */
    int64_t sum = 0;

    do { /* a number and its unit; a number alone is of seconds */
        char *end;
        long number = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : -1;
        if (number < 0 || number > INT_MAX)
            return -1;
        const char *unit = strchr(left, *end || left > units ? *end : 's');
        if (!unit || !*unit)
            return -1;
        sum += number * seconds[unit - units];
        left = unit + 1;
        text = end + (*end != 0);
    } while (*text);
    return sum <= INT_MAX ? (int)sum : -1;
}

char *rate_format(double rate, char *text, size_t size)
{
    if (rate < 1e3)
        snprintf(text, size, "%.0f", rate);
    else if (rate < 1e6)
        snprintf(text, size, "%.3gk", rate < 999.5e3 ? rate / 1e3 : 999);
    else
        snprintf(text, size, "%.3gM", rate / 1e6);
    return text;
}

struct excerpt text_excerpt(const char *text)
{
    int length = strlen(text) > 43 ? 40 : (int)strlen(text);
    struct excerpt excerpt;

    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    snprintf(excerpt.text, sizeof(excerpt.text), "%.*s%s", length, text, text[length] ? "..." : "");
    return excerpt;
}

const struct exit_status_row exit_status_table[EXIT_STATUS_COUNT] = {
#define X(name, ...) {__VA_ARGS__},
    EXIT_STATUSES(X)
#undef X
};

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:,@%=";

static bool is_printable(const char *text)
{
    size_t length = 1;

    for (; *text && length; text += length)
        length = printable_length(text);
    return length > 0;
}

char *quote_path(const char *path)
{
    const char *folder = path[0] == '-' ? "./" : "";
    bool shown = is_printable(path);
    struct string quoted = {0};

    if (path[0] && !path[strspn(path, plain)])
        return memory_format("%s%s", folder, path);
    string_format(&quoted, "%s%s", shown ? "'" : "$'", folder);
    for (; *path; path++)
        if (*path == '\'') /* 'don'\''t': close the quotes, escape one, open them again */
            string_format(&quoted, "%s", shown ? "'\\''" : "\\'");
        else if (!shown && *path == '\\')
            string_format(&quoted, "\\\\");
        else if (!shown && (*path < 0x20 || *path > 0x7e))
            string_format(&quoted, "\\%03o", (unsigned char)*path);
        else
            string_add(&quoted, path, 1);
    string_add(&quoted, "'", 1);
    return string_take(&quoted);
}

void quote_put_output(const char *path)
{
    char *quoted = strchr(path, '\n') ? quote_path(path) : NULL;

    printf("output=%s\n", quoted ? quoted : path);
    free(quoted);
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
