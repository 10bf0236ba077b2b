/* What JSON says, and what is refused with its place; what of it weights and their config need is in
 * test_inspect.py. */
#include "driver/weights/json.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tree as one line: texts in "", lists in [], maps in {}. */
static void write_node(FILE *out, const struct node *node)
{
    if (node->kind == NODE_SCALAR) {
        fprintf(out, node->quoted ? "\"%s\"" : "%s", node->text);
        return;
    }
    fputc(node->kind == NODE_MAP ? '{' : '[', out);
    for (int64_t i = 0; i < node->count; i++) {
        fputs(i ? "," : "", out);
        if (node->kind == NODE_MAP)
            fprintf(out, "\"%s\":", node->key[i].text);
        write_node(out, &node->child[i]);
    }
    fputc(node->kind == NODE_MAP ? '}' : ']', out);
}

/* What a text of `size` bytes is read as, or "line:column: why"; the caller frees it. The bytes are copied,
 * so that a look past their end is seen by a sanitizer. */
static char *read_bytes(const char *text, size_t size)
{
    char *written = NULL, *copy = memcpy(malloc(size + !size), text, size);
    size_t length = 0;
    FILE *out = open_memstream(&written, &length);
    struct error error = {.text = ""};
    struct place fault = {-1, -1};
    struct node root;

    if (json_read(&root, copy, size, &fault, &error) == 0) {
        write_node(out, &root);
        node_release(&root);
    } else {
        fprintf(out, "%d:%d: %s", fault.line, fault.column, error.text);
    }
    fclose(out);
    free(copy);
    return written;
}

struct reading {
    const char *text, *read;
};

static void check_readings(const struct reading *reading, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *read = read_bytes(reading[i].text, strlen(reading[i].text));
        CHECK_TEXT(read, reading[i].read);
        free(read);
    }
}

#define CHECK_READINGS(reading) check_readings(reading, sizeof(reading) / sizeof(*(reading)))

TEST(json_values)
{
    static const struct reading reading[] = {
        {"{}", "{}"},
        {" [ ]\r\n\t", "[]"},
        {"{\"b\": [1, -2.5e+10,0], \"a\":{\"c\" :null}}", "{\"b\":[1,-2.5e+10,0],\"a\":{\"c\":null}}"},
        {"[true,false,NaN,Infinity,-Infinity,-0,0.5,1E5]", "[true,false,NaN,Infinity,-Infinity,-0,0.5,1E5]"},
        {"\"1\"", "\"1\""},
        {"\"a: b # c \t\"", "1:11: JSON: a control character in a text"},
        {"\"a: b # c \"", "\"a: b # c \""},
    };

    CHECK_READINGS(reading);
}

/* What libyaml takes otherwise, or not at all. */
TEST(json_escapes)
{
    static const struct reading reading[] = {
        {"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""},
        {"\"\\uD83D\\uDE00 \\uDBFF\\uDFFF\"", "\"\xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf\""},
        {"\"\\\\ud83d\"", "\"\\ud83d\""},
        {"\"\\\\\\ud83d\\ude00\"", "\"\\\xf0\x9f\x98\x80\""},
        {"\"\\u00e9\\u20ac\\uffff\\u0001\"", "\"\xc3\xa9\xe2\x82\xac\xef\xbf\xbf\x01\""},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\"\\/\b\f\n\r\t\""},
        {"{\"\\u0061\":1,\"a\":2}", "1:13: repeated key 'a'"},
        {"\"a\\ud83d\"", "1:3: JSON: \\ud83d is half of a surrogate pair"},
        {"[1,\n\"\xc3\xa9\\ude00\\ud83d\"]", "2:3: JSON: \\ude00 is half of a surrogate pair"},
        {"\"\\ud83d\\ud83d\"", "1:2: JSON: \\ud83d is half of a surrogate pair"},
        {"\"\\ud83d\\n\"", "1:2: JSON: \\ud83d is half of a surrogate pair"},
        {"\"\\ud83d\\u12\"", "1:2: JSON: \\ud83d is half of a surrogate pair"},
        {"\"\\ud83d\\\\ude00\"", "1:2: JSON: \\ud83d is half of a surrogate pair"},
        {"\"\\u00g0\"", "1:2: JSON: four hexadecimal digits should follow \\u"},
        {"\"\\u\x11\x11\x11\x11\"", "1:2: JSON: four hexadecimal digits should follow \\u"},
        {"\"\\u12", "1:2: JSON: four hexadecimal digits should follow \\u"},
        {"\"\\u0000\"", "1:2: JSON: a NUL character in a text"},
        {"\"\\x41\"", "1:2: JSON: a backslash that begins no escape"},
        {"\"\\", "1:2: JSON: a backslash that begins no escape"},
    };

    CHECK_READINGS(reading);
}

TEST(json_refused)
{
    static const struct reading reading[] = {
        {"", "0:0: empty"},
        {" \n", "0:0: empty"},
        {"hello", "1:1: JSON: 'hello' is not a value; texts are in quotes"},
        {"True", "1:1: JSON: 'True' is not a value; texts are in quotes"},
        {"'a'", "1:1: JSON: ''a'' is not a value; texts are in quotes"},
        {"01", "1:1: JSON: '01' is not a value; texts are in quotes"},
        {"[1.]", "1:2: JSON: '1.' is not a value; texts are in quotes"},
        {"[.5]", "1:2: JSON: '.5' is not a value; texts are in quotes"},
        {"+1", "1:1: JSON: '+1' is not a value; texts are in quotes"},
        {"-", "1:1: JSON: '-' is not a value; texts are in quotes"},
        {"1e", "1:1: JSON: '1e' is not a value; texts are in quotes"},
        {"[1", "1:3: JSON: ends where ',' or ']' should follow"},
        {"[1 2]", "1:4: JSON: ',' or ']' should stand here"},
        {"[1,]", "1:4: JSON: a value should stand here"},
        {"[,1]", "1:2: JSON: a value should stand here"},
        {"[", "1:2: JSON: ends where a value should follow"},
        {"{\"a\"", "1:5: JSON: ends where ':' should follow"},
        {"{\"a\" 1}", "1:6: JSON: ':' should stand here"},
        {"{\"a\":}", "1:6: JSON: a value should stand here"},
        {"{a:1}", "1:2: JSON: a key in quotes should stand here"},
        {"{\"a\":1,}", "1:8: JSON: a key in quotes should stand here"},
        {"{\"a\":1]", "1:7: JSON: ',' or '}' should stand here"},
        {"{\"a\":1,\n\"b\":2,\n\"a\":3}", "3:1: repeated key 'a'"},
        {"{}{}", "1:3: JSON: more than one value"},
        {"\"abc", "1:5: JSON: ends where '\"' should follow"},
        {"\"a\nb\"", "1:3: JSON: a control character in a text"},
        {"\"\xc3\xa9\xff\"", "1:3: JSON: invalid UTF-8"},
        {"\"\xed\xa0\x80\"", "1:2: JSON: invalid UTF-8"},
        {"\"\xc3", "1:2: JSON: invalid UTF-8"},
        {"\xef\xbb\xbf{}", "1:1: JSON: a value should stand here"},
        {"[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", "1:17: JSON: nested too deeply"},
        {"[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]", "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]"},
    };

    CHECK_READINGS(reading);
    static const char nul[] = "[\0]", inside[] = "\"a\0\"";
    char *read = read_bytes(nul, 3);
    CHECK_TEXT(read, "1:2: JSON: a value should stand here");
    free(read);
    read = read_bytes(inside, 4);
    CHECK_TEXT(read, "1:3: JSON: a control character in a text");
    free(read);
}

/* libyaml knows no key of more than 1024 characters. */
TEST(json_long_keys)
{
    enum { LENGTH = 100000 };
    char *text = malloc(LENGTH + 8);

    memset(text, 'k', LENGTH + 8);
    memcpy(text, "{\"", 2);
    memcpy(text + LENGTH, "\":1}", 5);
    char *read = read_bytes(text, strlen(text));
    CHECK_TEXT(read, text);
    free(read);
    free(text);
}
