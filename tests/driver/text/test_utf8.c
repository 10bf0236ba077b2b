/* UTF-8 characters, and texts in other encodings. */
#include "driver/text/text.h"
#include "model/core/printable.h"
#include "tests/test.h"

/* Writes a character below U+110000; returns the end. */
static char *utf8_put(char *out, unsigned long code)
{
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    int length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (int i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(first[length == 1 ? 0 : length] | code);
    return out + length;
}

TEST(utf8_every_character_there_and_back)
{
    char text[UTF8_MOST + 1] = "";

    for (unsigned long code = 0; code < 0x110000; code++) {
        size_t length = (size_t)(utf8_put(text, code) - text);
        bool surrogate = code >= 0xd800 && code < 0xe000;
        if (utf8_length(text, sizeof(text)) != (surrogate ? 0 : length) || utf8_length(text, length - 1) != 0)
            test_fail(__FILE__, __LINE__, "U+%04lX", code);
    }
    utf8_put(text, 0x1f600);
    CHECK(memcmp(text, "\xf0\x9f\x98\x80", 4) == 0);
}

TEST(utf8_refuses_other_bytes)
{
    static const char *const wrong[] = {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3(", "\xe2\x82(",
        "\xed\xa0\x80"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        if (utf8_length(wrong[i], strlen(wrong[i])) != 0)
            test_fail(__FILE__, __LINE__, "case %zu is taken", i);
}

/* The text after the mark, or the refusal. */
static const char *begun(const char *text, size_t size)
{
    static struct error error;

    if (utf8_begin(&text, &size, &error) == 0)
        return text;
    return error.text;
}

TEST(utf8_marks_of_encodings)
{
    static const char utf16[] = "is UTF-16 and not UTF-8; save it as UTF-8";
    static const char utf32[] = "is UTF-32 and not UTF-8; save it as UTF-8";

    CHECK_TEXT(begun("", 0), "");
    CHECK_TEXT(begun("a", 1), "a");
    CHECK_TEXT(begun("ab", 2), "ab");
    CHECK_TEXT(begun("\xef\xbb\xbf", 3), "");
    CHECK_TEXT(begun("\xef\xbb\xbf"
                     "a: 1",
                   7),
        "a: 1");
    CHECK_TEXT(begun("\xef\xbb", 2), "\xef\xbb");
    CHECK_TEXT(begun("\xff\xfe"
                     "a\0",
                   4),
        utf16);
    CHECK_TEXT(begun("\xfe\xff\0a", 4), utf16);
    CHECK_TEXT(begun("\xff\xfe", 2), utf16);
    CHECK_TEXT(begun("a\0b\0", 4), utf16);
    CHECK_TEXT(begun("\0a\0b", 4), utf16);
    CHECK_TEXT(begun("#\0\x22\x6f", 4), utf16);
    CHECK_TEXT(begun("\xff\xfe\0\0a\0\0\0", 8), utf32);
    CHECK_TEXT(begun("\0\0\xfe\xff\0\0\0a", 8), utf32);
    CHECK_TEXT(begun("a\0\0\0", 4), utf32);
    CHECK_TEXT(begun("\0\0\0a", 4), utf32);
}
