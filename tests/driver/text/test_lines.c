/* Texts from files become safe for a terminal, and no wider than it is. */
#include "driver/text/text.h"
#include "tests/test.h"

TEST(lines_are_clean)
{
    char *clean = lines_clean(strdup("a\tb\033[31m\xff"));

    CHECK_TEXT(clean, "a\\tb\\x1b[31m\\xff");
    free(clean);
    CHECK(lines_clean(NULL) == NULL);
}

TEST(lines_are_as_wide_as_their_characters)
{
    const char *text = "gr\xc3\xb6\xc3\x9f\xe2\x82\xac";

    CHECK(lines_width(text) == 5 && lines_width("") == 0);
    CHECK(lines_fit(text, 0) == 0 && lines_fit(text, 3) == 4 && lines_fit(text, 5) == 9 &&
          lines_fit(text, 9) == 9);
}

/* Columns below 0: put, not printed. */
static void check_broken(int columns, const char *text, const char *expected)
{
    char *printed = NULL;
    size_t size;
    FILE *memory = open_memstream(&printed, &size);

    CHECK(memory != NULL);
    if (!memory)
        return;
    if (columns >= 0)
        lines_print(memory, columns, "%s", text);
    else
        lines_put(memory, text);
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

/* Long texts, too, whose escapes need memory. */
TEST(lines_are_printed_with_escapes)
{
    char text[2000], expected[2 * sizeof(text)];

    check_broken(5, "abc\ndef\n", "abc\\n\ndef\\n\n");
    check_broken(-1, "\xe2\x80\xae \033", "\\u202e \\x1b");
    memset(text, '\n', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        memcpy(expected + 2 * i, "\\n", 3);
    check_broken(-1, text, expected);
    strcat(expected, "\n");
    check_broken(0, text, expected);
}

TEST(durations)
{
    char text[32];

    CHECK_TEXT(duration_format(1.3e-7, text, sizeof(text)), "0 s");
    CHECK_TEXT(duration_format(0.04, text, sizeof(text)), "0.04 s");
    CHECK_TEXT(duration_format(0.1, text, sizeof(text)), "0.1 s");
    CHECK_TEXT(duration_format(4.21, text, sizeof(text)), "4.2 s");
    CHECK_TEXT(duration_format(59.4, text, sizeof(text)), "59 s");
    CHECK_TEXT(duration_format(59.6, text, sizeof(text)), "1 min 00 s");
    CHECK_TEXT(duration_format(7500, text, sizeof(text)), "2 h 05 min");
}

TEST(durations_are_read)
{
    static const struct {
        const char *text;
        int seconds;
    } known[] = {{"90", 90}, {"45s", 45}, {"90m", 5400}, {"1h30m", 5400}, {"2d", 172800}, {"1d1h1m1s", 90061},
        {"0", 0}, {"2147483647", 2147483647}, {"", -1}, {"m", -1}, {"-1", -1}, {"1.5h", -1}, {"1h30", -1},
        {"1m1h", -1}, {"1h1h", -1}, {"1x", -1}, {" 1h", -1}, {"1h ", -1}, {"2147483648", -1}, {"30000d", -1},
        {"99999999999999999999", -1}};

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (duration_read(known[i].text) != known[i].seconds)
            test_fail(__FILE__, __LINE__, "'%s' is read as %d", known[i].text, duration_read(known[i].text));
}

TEST(quoted_paths)
{
    static const char *const paths[][2] = {
        {"a/b-1.nc", "a/b-1.nc"},
        {"-o.nc", "./-o.nc"},
        {"- o.nc", "'./- o.nc'"},
        {"it's $HOME.nc", "'it'\\''s $HOME.nc'"},
        {"gr\xc3\xb6\xc3\x9f"
         "e.nc",
            "'gr\xc3\xb6\xc3\x9f"
            "e.nc'"},
        {"~x.nc", "'~x.nc'"},
        {"", "''"},
        {"\033[31m it's a\\b.nc", "$'\\033[31m it\\'s a\\\\b.nc'"},
        {"-\n\xff\xe2\x80\xae", "$'./-\\012\\377\\342\\200\\256'"},
    };

    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        char *quoted = quote_path(paths[i][0]);
        CHECK_TEXT(quoted, paths[i][1]);
        free(quoted);
    }
}
