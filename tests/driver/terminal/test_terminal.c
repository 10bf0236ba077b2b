/* The properties of a terminal: from the environment, and passed in a variable. */
#include "driver/terminal/terminal.h"
#include "tests/test.h"

#include <fcntl.h>
#include <sys/ioctl.h>

static bool same(struct terminal a, struct terminal b)
{
    return a.columns == b.columns && a.rows == b.rows && a.colours == b.colours && a.unicode == b.unicode;
}

TEST(terminal_is_handed_over)
{
    static const struct {
        const char *text;
        struct terminal terminal;
    } cases[] = {
        {"80x24 256 utf8", {80, 24, true, true}},
        {"211x61 256 ascii", {211, 61, true, false}},
        {"80x0 none ascii", {80, 0, false, false}},
        {"9999x9999 none utf8", {9999, 9999, false, true}},
    };
    char text[TERMINAL_TEXT];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct terminal terminal = {.columns = -1};
        CHECK_TEXT(terminal_format(&cases[i].terminal, text, sizeof(text)), cases[i].text);
        CHECK(terminal_parse(&terminal, text) && same(terminal, cases[i].terminal));
    }
}

TEST(terminal_refuses_other_texts)
{
    static const char *const texts[] = {"", "80", "80x", "80x24", "x24 256 utf8", "0x24 256 utf8",
        "-8x24 256 utf8", "80x24 8 utf8", "80x24  256 utf8", "80x24 256 utf", "80x24 256 utf8 ",
        " 80x24 256 utf8", "10000x24 256 utf8", "99999999999999999999x24 256 utf8", "80x24 256",
        "80y24 256 utf8"};
    const struct terminal before = {33, 44, true, true};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct terminal terminal = before;
        if (terminal_parse(&terminal, texts[i]) || !same(terminal, before))
            test_fail(__FILE__, __LINE__, "taken: '%s'", texts[i]);
    }
}

enum { VARIABLES = 6 };
static const char *const names[VARIABLES] = {"TERM", "COLORTERM", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"};

/* Sets the six variables; NULL: not set. */
static void set(const char *const value[VARIABLES])
{
    for (int i = 0; i < VARIABLES; i++)
        if (value[i])
            setenv(names[i], value[i], 1);
        else
            unsetenv(names[i]);
}

/* The end of a pseudo-terminal of 100 columns and 30 rows that a program prints on; the caller also closes
 * *other. NULL: there are no pseudo-terminals here. */
static FILE *open_terminal(int *other)
{
    struct winsize size = {.ws_col = 100, .ws_row = 30};

    *other = posix_openpt(O_RDWR | O_NOCTTY);
    if (*other < 0 || grantpt(*other) != 0 || unlockpt(*other) != 0)
        return NULL;
    int file = open(ptsname(*other), O_RDWR | O_NOCTTY);
    if (file < 0 || ioctl(file, TIOCSWINSZ, &size) != 0)
        return NULL;
    return fdopen(file, "w");
}

TEST(terminal_by_its_environment)
{
    static const struct {
        const char *value[VARIABLES];
        struct terminal terminal;
    } cases[] = {
        {{"xterm-256color", NULL, NULL, NULL, NULL, "C.UTF-8"}, {100, 30, true, true}},
        {{"xterm-256color", NULL, NULL, NULL, NULL, NULL}, {100, 30, true, false}},
        {{"xterm", NULL, NULL, NULL, "de_DE.utf8", "C"}, {100, 30, false, true}},
        {{"xterm", "truecolor", NULL, "C", "de_DE.utf8", "C.UTF-8"}, {100, 30, true, false}},
        {{"xterm", "24bit", "", "", "", "en_GB.UTF-8"}, {100, 30, true, true}},
        {{"xterm-direct", NULL, NULL, NULL, NULL, NULL}, {100, 30, true, false}},
        {{"xterm", "truecolor", "1", NULL, NULL, "C.UTF-8"}, {100, 30, false, true}},
        {{NULL, NULL, NULL, NULL, NULL, "C.UTF-8"}, {100, 30, false, true}},
        {{"dumb", "truecolor", NULL, NULL, NULL, "C.UTF-8"}, {100, 0, false, false}},
    };
    char *kept[VARIABLES];
    int other;
    FILE *terminal = open_terminal(&other);

    if (!terminal) {
        test_skip(
            "there is no pseudo-terminal, so sizes and colours of terminals are not checked; mount /dev/pts");
        return;
    }
    for (int i = 0; i < VARIABLES; i++) {
        const char *value = getenv(names[i]);
        kept[i] = value ? strdup(value) : NULL;
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char found[TERMINAL_TEXT], expected[TERMINAL_TEXT];
        set(cases[i].value);
        struct terminal is = terminal_find(terminal);
        CHECK_TEXT(terminal_format(&is, found, sizeof(found)),
            terminal_format(&cases[i].terminal, expected, sizeof(expected)));
    }
    set((const char *const *)kept);
    for (int i = 0; i < VARIABLES; i++)
        free(kept[i]);
    fclose(terminal);
    close(other);
}

TEST(no_terminal_has_neither_rows_nor_colours)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size), *file = tmpfile();

    CHECK(memory && same(terminal_find(memory), (struct terminal){.columns = 80}));
    CHECK(file && same(terminal_find(file), (struct terminal){.columns = 80}));
    if (memory)
        fclose(memory);
    if (file)
        fclose(file);
    free(text);
}
