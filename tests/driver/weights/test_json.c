/* JSON that is read, and JSON that is refused, with its place. The keys of weights and their config are
 * tested in test_inspect.py. */
#include "driver/weights/json.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text of `size` bytes as it is read, or "line:column: why"; the caller frees it. The bytes are copied,
 * so that a sanitizer notices reads past their end. */
static char *read_bytes(const char *text, size_t size)
{
    char *written, *copy = memcpy(malloc(size + !size), text, size);
    struct error error = {.text = ""};
    struct place fault = {.line = -1, .column = -1};
    json_t *root = json_read(copy, size, &fault, &error);

    if (root)
        written = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(6));
    else if (asprintf(&written, "%d:%d: %s", fault.line, fault.column, error.text) < 0)
        abort();
    json_decref(root);
    free(copy);
    return written;
}

static void check_reading(const char *text, size_t size, const char *expected)
{
    char *read = read_bytes(text, size);

    CHECK_TEXT(read, expected);
    free(read);
}

struct reading {
    const char *text, *read;
};

#define CHECK_READINGS(reading)                                                                              \
    for (size_t i = 0; i < sizeof(reading) / sizeof(*(reading)); i++)                                        \
    check_reading((reading)[i].text, strlen((reading)[i].text), (reading)[i].read)

TEST(json_values)
{
    static const struct reading reading[] = {
        {"{}", "{}"},
        {" [ ]\r\n\t", "[]"},
        {"{\"b\": [1, -2.5e+10,0], \"a\":{\"c\" :null}}", "{\"b\":[1,-2.5e10,0],\"a\":{\"c\":null}}"},
        {"[true,false,9223372036854775807,0.5,\"1\"]", "[true,false,9223372036854775807,0.5,\"1\"]"},
        {"[\"a: b # c \"]", "[\"a: b # c \"]"},
    };

    CHECK_READINGS(reading);
}

/* Texts that libyaml reads differently, or not at all. */
TEST(json_escapes)
{
    static const struct reading reading[] = {
        {"[\"\\ud83d\\ude00\"]", "[\"\xf0\x9f\x98\x80\"]"},
        {"[\"\\uD83D\\uDE00 \\uDBFF\\uDFFF\"]", "[\"\xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf\"]"},
        {"[\"\\\\ud83d\"]", "[\"\\\\ud83d\"]"},
        {"[\"\\u00e9\\u20ac\\uffff\"]", "[\"\xc3\xa9\xe2\x82\xac\xef\xbf\xbf\"]"},
        {"[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "[\"\\\"\\\\/\\b\\f\\n\\r\\t\"]"},
    };

    CHECK_READINGS(reading);
}

TEST(json_refused)
{
    static const struct reading reading[] = {
        {"", "1:1: JSON: '[' or '{' expected near end of file"},
        {"hello", "1:5: JSON: '[' or '{' expected near 'hello'"},
        {"[NaN]", "1:4: JSON: invalid token near 'NaN'"},
        {"[9223372036854775808]", "1:20: JSON: too big integer near '9223372036854775808'"},
        {"[1e999]", "1:6: JSON: real number overflow near '1e999'"},
        {"{\"\\u0061\":1,\n\"a\":2}", "2:3: JSON: duplicate object key near '\"a\"'"},
        {"[1,\n\"\xc3\xa9\\ude00\\ud83d\"]",
            "2:15: JSON: invalid Unicode '\\uDE00' near '\"\xc3\xa9\\ude00\\ud83d\"'"},
        {"[\"\\ud83d\\ud83d\"]", "1:15: JSON: invalid Unicode '\\uD83D\\uD83D' near '\"\\ud83d\\ud83d\"'"},
        {"[\"\\u0000\"]", "1:9: JSON: \\u0000 is not allowed without JSON_ALLOW_NUL near '\"\\u0000\"'"},
        {"[\"\\x41\"]", "1:4: JSON: invalid escape near '\"\\x'"},
        {"[01]", "1:2: JSON: invalid token near '0'"},
        {"[1", "1:2: JSON: ']' expected near end of file"},
        {"[1 2]", "1:4: JSON: ']' expected near '2'"},
        {"[1,]", "1:4: JSON: unexpected token near ']'"},
        {"{\"a\"", "1:4: JSON: ':' expected near end of file"},
        {"{a:1}", "1:2: JSON: string or '}' expected near 'a'"},
        {"{\"a\":1,}", "1:8: JSON: string or '}' expected near '}'"},
        {"{}{}", "1:3: JSON: end of file expected near '{'"},
        {"[\"abc", "1:5: JSON: premature end of input near '\"abc'"},
        {"[\"a\nb\"]", "1:3: JSON: unexpected newline near '\"a'"},
        {"[\"\xc3\xa9\xff\"]", "1:3: JSON: unable to decode byte 0xff near '\"\xc3\xa9'"},
        {"[\"\xed\xa0\x80\"]", "1:2: JSON: unable to decode byte 0xed near '\"'"},
        {"[\"\xc3", "1:2: JSON: unable to decode byte 0xc3 near '\"'"},
        {"\xef\xbb\xbf{}", "1:1: JSON: '[' or '{' expected near '\xef\xbb\xbf'"},
    };

    CHECK_READINGS(reading);
    check_reading("[\0]", 3, "1:2: JSON: invalid token near end of file");
    check_reading("[\"a\0\"]", 6, "1:3: JSON: control character 0x0 near '\"a'");
}

TEST(json_depth)
{
    enum { LEVELS = 100000 };
    char *text = memset(malloc(LEVELS), '[', LEVELS);

    check_reading(text, LEVELS, "1:2049: JSON: maximum parsing depth reached near '['");
    free(text);
}

/* libyaml refuses keys of more than 1024 characters. */
TEST(json_long_keys)
{
    enum { LENGTH = 100000 };
    char *text = malloc(LENGTH + 8);

    memset(text, 'k', LENGTH + 8);
    memcpy(text, "{\"", 2);
    memcpy(text + LENGTH, "\":1}", 5);
    check_reading(text, strlen(text), text);
    free(text);
}
