/* Texts of others, as a terminal may show them, and errors that quote them. */
#include "model/core/error.h"
#include "model/core/printable.h"
#include "tests/test.h"

enum { SHOWN_SIZE = 128 };

static const char *const cases[][2] = {
    {"", ""},
    {"plain \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 C:\\new",
        "plain \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 C:\\new"},
    {"a\tb\nc\rd\033[31m\177", "a\\tb\\nc\\rd\\x1b[31m\\x7f"},
    {"\x9b"
     "31m",
        "\\x9b31m"}, /* an escape of terminals that do not read UTF-8 */
    {"\xc2\x9b"
     "31m\xc2\xa0",
        "\\u009b31m\xc2\xa0"},
    {"\xc3", "\\xc3"},
    {"\xe2\x82", "\\xe2\\x82"},
    {"\xc0\x80\xff", "\\xc0\\x80\\xff"},
    {"\xe2\x80\xae"
     "cn.\xe2\x81\xa9\xe2\x80\xa8\xe2\x80\x8f",
        "\\u202ecn.\\u2069\\u2028\xe2\x80\x8f"},
};

TEST(printable_escapes_what_moves_a_cursor)
{
    char shown[SHOWN_SIZE], again[SHOWN_SIZE];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK_TEXT(printable(cases[i][0], shown, sizeof(shown)), cases[i][1]);
        CHECK_TEXT(printable(shown, again, sizeof(again)), shown);
        CHECK(strlen(shown) <= PRINTABLE_MOST * strlen(cases[i][0]));
    }
}

/* Every character of two and three bytes, which have all that is escaped beside ASCII. */
TEST(printable_knows_every_character)
{
    for (unsigned code = 0x80; code < 0x10000; code++) {
        char text[] = {
            (char)(0xe0 | code >> 12), (char)(0x80 | (code >> 6 & 0x3f)), (char)(0x80 | (code & 0x3f)), 0};
        char shown[SHOWN_SIZE], expected[SHOWN_SIZE];
        bool escaped =
            code < 0xa0 || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
        const char *begin = text;
        if (code < 0x800) {
            text[1] = (char)(0xc0 | code >> 6);
            begin = text + 1;
        }
        if (code >= 0xd800 && code < 0xe000)
            snprintf(expected, sizeof(expected), "\\xed\\x%02x\\x%02x", (unsigned char)text[1],
                (unsigned char)text[2]);
        else if (escaped)
            snprintf(expected, sizeof(expected), "\\u%04x", code);
        else
            strcpy(expected, begin);
        if (strcmp(printable(begin, shown, sizeof(shown)), expected) != 0)
            test_fail(__FILE__, __LINE__, "U+%04X: %s", code, shown);
    }
}

TEST(printable_is_cut_behind_whole_pieces)
{
    static const char *const cut[] = {
        "", "a", "a", "a", "a\xe2\x82\xac", "a\xe2\x82\xac", "a\xe2\x82\xac\\n", "a\xe2\x82\xac\\n"};
    char shown[SHOWN_SIZE];

    for (size_t size = 1; size <= sizeof(cut) / sizeof(*cut); size++)
        CHECK_TEXT(printable("a\xe2\x82\xac\n\xe2\x80\xae", shown, size), cut[size - 1]);
}

TEST(errors_are_one_printable_line)
{
    char text[2048];
    struct error error;

    CHECK(error_set(&error, ERROR_INPUT, "%s: no", "a\nb\033[31m.nc") == -1);
    CHECK_TEXT(error.text, "a\\nb\\x1b[31m.nc: no");
    CHECK(error_prefix(&error, "%s", "c\td") == -1 && error.status == ERROR_INPUT);
    CHECK_TEXT(error.text, "c\\td: a\\nb\\x1b[31m.nc: no");
    memset(text, '\xc3', sizeof(text));
    for (size_t i = 1; i < sizeof(text); i += 2)
        text[i] = '\xa4';
    text[sizeof(text) - 1] = '\0';
    for (int shift = 0; shift < 2; shift++) { /* a long text is cut, and no character in two */
        error_set(&error, ERROR_ENVIRONMENT, "%s%s", shift ? "x" : "", text);
        CHECK(error.status == ERROR_ENVIRONMENT && strlen(error.text) == 1022 + (size_t)shift);
        CHECK(strncmp(error.text + shift, text, 1022) == 0);
    }
}
