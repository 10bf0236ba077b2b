/*
 * A reader of its own and not libyaml, which reads sweep files: JSON is not a part of what libyaml takes. It
 * refuses surrogate pairs, the only way in which JSON escapes characters past U+FFFF, and keys of more than
 * 1024 characters, and it takes much that is not JSON, down to a plain word. A library for this alone would
 * be one more to install.
 */
#include "driver/weights/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/text/utf8.h"

/* One reading: what is left of the text, and where that begins. */
struct json_scan {
    const char *at, *end;
    struct place place;
    struct place *fault;
    struct error *error;
};

__attribute__((format(printf, 3, 4))) static int refuse(
    struct json_scan *scan, struct place place, const char *format, ...)
{
    char why[128];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, sizeof(why), format, arguments);
    va_end(arguments);
    *scan->fault = place;
    return error_set(scan->error, ERROR_INPUT, "JSON: %s", why);
}

static int no_memory(struct json_scan *scan)
{
    *scan->fault = PLACE_DEFAULT;
    return error_set(scan->error, ERROR_ENVIRONMENT, "no memory");
}

/* ---- characters ---- */

/* The next byte; -1: the text has ended. */
static int peek(const struct json_scan *scan)
{
    return scan->at < scan->end ? (unsigned char)*scan->at : -1;
}

/* Takes `count` bytes that are whole characters. Lines and columns count characters. */
static void skip(struct json_scan *scan, size_t count)
{
    for (const char *end = scan->at + count; scan->at < end; scan->at++) {
        if (*scan->at == '\n')
            scan->place = (struct place){scan->place.line + 1, 1};
        else if (((unsigned char)*scan->at & 0xc0) != 0x80)
            scan->place.column++;
    }
}

static void skip_blanks(struct json_scan *scan)
{
    while (scan->at < scan->end && memchr(" \t\n\r", *scan->at, 4))
        skip(scan, 1);
}

/* Takes the byte if it comes next. */
static bool take(struct json_scan *scan, char byte)
{
    if (peek(scan) != (unsigned char)byte)
        return false;
    skip(scan, 1);
    return true;
}

/* Says what should stand here. */
static int missing(struct json_scan *scan, const char *what)
{
    if (peek(scan) < 0)
        return refuse(scan, scan->place, "ends where %s should follow", what);
    return refuse(scan, scan->place, "%s should stand here", what);
}

/* ---- strings ---- */

/* -1: it is no hexadecimal digit. */
static int hexadecimal(char byte)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *digit = byte ? strchr(digits, byte) : NULL;

    if (!digit)
        return -1;
    return (int)(digit - digits) < 16 ? (int)(digit - digits) : (int)(digit - digits) - 6;
}

/* The four digits behind "\u", which comes next, are taken with it; -1: they are not there. */
static long take_unit(struct json_scan *scan)
{
    long unit = 0;

    if (scan->end - scan->at < 6)
        return -1;
    for (int i = 2; i < 6; i++) {
        int digit = hexadecimal(scan->at[i]);
        if (digit < 0)
            return -1;
        unit = 16 * unit + digit;
    }
    skip(scan, 6);
    return unit;
}

/* "\u00e9", or the two halves of "\ud83d\ude00", as a character of UTF-8. */
static int read_unicode(struct json_scan *scan, char **out)
{
    struct place place = scan->place;
    long code = take_unit(scan), second;

    if (code < 0)
        return refuse(scan, place, "four hexadecimal digits should follow \\u");
    if (code == 0)
        return refuse(scan, place, "a NUL character in a text");
    if (code >= 0xd800 && code <= 0xdfff) {
        bool pair = code < 0xdc00 && scan->end - scan->at >= 2 && memcmp(scan->at, "\\u", 2) == 0 &&
                    (second = take_unit(scan)) >= 0xdc00 && second <= 0xdfff;
        if (!pair)
            return refuse(scan, place, "\\u%04lx is half of a surrogate pair", code);
        code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
    }
    *out = utf8_put(*out, (unsigned long)code);
    return 0;
}

static int read_escape(struct json_scan *scan, char **out)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    int letter = scan->end - scan->at > 1 ? (unsigned char)scan->at[1] : 0;
    const char *known = letter ? strchr(letters, letter) : NULL;

    if (letter == 'u')
        return read_unicode(scan, out);
    if (!known)
        return refuse(scan, scan->place, "a backslash that begins no escape");
    *(*out)++ = meant[known - letters];
    skip(scan, 2);
    return 0;
}

/* One character of a string, escaped or not. */
static int read_character(struct json_scan *scan, char **out)
{
    int byte = peek(scan);
    size_t length = utf8_length(scan->at, (size_t)(scan->end - scan->at));

    if (byte == '\\')
        return read_escape(scan, out);
    if (byte < 0)
        return missing(scan, "'\"'");
    if (byte < 0x20)
        return refuse(scan, scan->place, "a control character in a text");
    if (length == 0)
        return refuse(scan, scan->place, "invalid UTF-8");
    *out = mempcpy(*out, scan->at, length);
    skip(scan, length);
    return 0;
}

/* Bytes up to the quote that ends the string which begins here; no fewer than it has when it is read. */
static size_t string_room(const struct json_scan *scan)
{
    const char *at = scan->at + 1;

    while (at < scan->end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    return (size_t)(at - scan->at);
}

static int read_string(struct json_scan *scan, struct node *node)
{
    char *out = malloc(string_room(scan) + 1);

    if (!out)
        return no_memory(scan);
    node->quoted = true;
    node->text = out;
    skip(scan, 1);
    while (!take(scan, '"')) {
        if (read_character(scan, &out) < 0) {
            node_release(node);
            return -1;
        }
    }
    *out = '\0';
    return 0;
}

/* ---- numbers and words ---- */

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* -12.5e+3 without leading zeros */
static bool is_number(const char *text)
{
    size_t whole = digits(text += *text == '-');

    if (whole == 0 || (whole > 1 && *text == '0'))
        return false;
    text += whole;
    if (*text == '.') {
        size_t fraction = digits(text + 1);
        if (fraction == 0)
            return false;
        text += 1 + fraction;
    }
    if (*text == 'e' || *text == 'E') {
        text += 1 + (text[1] == '-' || text[1] == '+');
        if (digits(text) == 0)
            return false;
        text += digits(text);
    }
    return !*text;
}

static bool is_word(const char *text)
{
    static const char *const words[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i], text) == 0)
            return true;
    return false;
}

static int read_plain(struct json_scan *scan, struct node *node)
{
    const char *end = scan->at;
    char excerpt[EXCERPT_SIZE];

    while (end < scan->end && (*end & 0x80) == 0 && *end > ' ' && !strchr(",:[]{}\"", *end))
        end++;
    if (end == scan->at)
        return missing(scan, "a value");
    node->text = strndup(scan->at, (size_t)(end - scan->at));
    if (!node->text)
        return no_memory(scan);
    if (!is_number(node->text) && !is_word(node->text)) {
        int status = refuse(scan, node->place, "'%s' is not a value; texts are in quotes",
            place_excerpt(node->text, excerpt));
        node_release(node);
        return status;
    }
    skip(scan, (size_t)(end - scan->at));
    return 0;
}

/* ---- lists and maps ---- */

static int read_value(struct json_scan *scan, struct node *node, int depth);

/* "key": value; the key and, on success, its value are in the map. */
static int read_pair(struct json_scan *scan, struct node *map, int depth)
{
    struct node *key = &map->key[map->count], *value = &map->child[map->count];

    *key = *value = (struct node){.kind = NODE_SCALAR, .place = scan->place};
    if (peek(scan) != '"')
        return missing(scan, "a key in quotes");
    if (read_string(scan, key) < 0)
        return -1;
    map->count++;
    skip_blanks(scan);
    if (!take(scan, ':'))
        return missing(scan, "':'");
    return read_value(scan, value, depth);
}

static int read_child(struct json_scan *scan, struct node *node, int depth)
{
    if (node_grow(node) < 0)
        return no_memory(scan);
    if (node->kind == NODE_MAP)
        return read_pair(scan, node, depth);
    if (read_value(scan, &node->child[node->count], depth) < 0)
        return -1;
    node->count++;
    return 0;
}

static int check_repeated(struct json_scan *scan, const struct node *map)
{
    const struct node *repeated;
    char excerpt[EXCERPT_SIZE];

    if (node_repeated_key(map, &repeated) < 0)
        return no_memory(scan);
    if (!repeated)
        return 0;
    *scan->fault = repeated->place;
    return error_set(scan->error, ERROR_INPUT, "repeated key '%s'", place_excerpt(repeated->text, excerpt));
}

/* What is between the brackets, and the one that ends it. */
static int read_children(struct json_scan *scan, struct node *node, char last, int depth)
{
    skip(scan, 1);
    skip_blanks(scan);
    if (take(scan, last))
        return 0;
    for (;;) {
        if (read_child(scan, node, depth) < 0)
            return -1;
        skip_blanks(scan);
        if (take(scan, last))
            return node->kind == NODE_MAP ? check_repeated(scan, node) : 0;
        if (!take(scan, ','))
            return missing(scan, last == ']' ? "',' or ']'" : "',' or '}'");
        skip_blanks(scan);
    }
}

/* On failure nothing is held. */
static int read_value(struct json_scan *scan, struct node *node, int depth)
{
    skip_blanks(scan);
    int byte = peek(scan);
    *node = (struct node){.kind = NODE_SCALAR, .place = scan->place};
    if (byte == '"')
        return read_string(scan, node);
    if (byte != '[' && byte != '{')
        return read_plain(scan, node);
    if (depth >= TREE_DEPTH)
        return refuse(scan, node->place, "nested too deeply");
    node->kind = byte == '{' ? NODE_MAP : NODE_LIST;
    int status = read_children(scan, node, byte == '{' ? '}' : ']', depth + 1);
    if (status < 0)
        node_release(node);
    return status;
}

int json_read(struct node *root, const char *text, size_t size, struct place *fault, struct error *error)
{
    struct json_scan scan = {text, text + size, {1, 1}, fault, error};

    *root = (struct node){0};
    skip_blanks(&scan);
    if (peek(&scan) < 0) {
        *fault = PLACE_DEFAULT;
        return error_set(error, ERROR_INPUT, "empty");
    }
    if (read_value(&scan, root, 0) < 0)
        return -1;
    skip_blanks(&scan);
    if (peek(&scan) < 0)
        return 0;
    node_release(root);
    return refuse(&scan, scan.place, "more than one value");
}
