/* Texts from files become safe for a terminal, and no wider than it is. */
#include "driver/text/lines.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

TEST(lines_are_clean)
{
    static const char *const cases[][2] = {
        {"plain \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "plain \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"a\tb\nc\033[31m\177", "a?b?c?[31m?"},
        {"\x9b"
         "31m",
            "?31m"}, /* an escape of terminals that do not read UTF-8 */
        {"\xc2\x9b"
         "31m\xc2\xa0",
            "??31m\xc2\xa0"},
        {"\xc3", "?"},
        {"\xe2\x82", "??"},
        {"\xc0\x80\xff", "???"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[64];
        strcpy(text, cases[i][0]);
        CHECK_TEXT(lines_clean(text), cases[i][1]);
    }
}

TEST(lines_are_as_wide_as_their_characters)
{
    const char *text = "gr\xc3\xb6\xc3\x9f\xe2\x82\xac";

    CHECK(lines_width(text) == 5 && lines_width("") == 0);
    CHECK(lines_fit(text, 0) == 0 && lines_fit(text, 3) == 4 && lines_fit(text, 5) == 9 &&
          lines_fit(text, 9) == 9);
}

static void check_broken(int columns, const char *text, const char *expected)
{
    char *printed = NULL;
    size_t size;
    FILE *memory = open_memstream(&printed, &size);

    CHECK(memory != NULL);
    if (!memory)
        return;
    lines_print(memory, columns, "%s", text);
    fclose(memory);
    CHECK_TEXT(printed, expected);
    free(printed);
}

TEST(lines_are_broken_at_blanks)
{
    check_broken(10, "ten columns", "ten\ncolumns\n");
    check_broken(11, "ten columns", "ten columns\n");
    check_broken(5, "abcdefgh ij", "abcde\nfgh\nij\n");
    check_broken(3, "\xc3\xa4\xc3\xb6\xc3\xbc \xc3\xa4", "\xc3\xa4\xc3\xb6\xc3\xbc\n\xc3\xa4\n");
    check_broken(0, "as long as it is", "as long as it is\n");
}

TEST(lines_are_counted)
{
    CHECK(lines_count(NULL) == 0 && lines_count("") == 0 && lines_count("begun") == 0);
    CHECK(lines_count("one\n") == 1 && lines_count("\ntwo\nbegun") == 2);
}
