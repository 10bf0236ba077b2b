/* Charts in a terminal, compared dot by dot. */
#include "driver/terminal/chart.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct terminal plain = {15, 6, COLOURS_NONE, false}, many = {13, 6, COLOURS_256, true};

/* The drawing, which the caller frees. */
static char *drawn(struct chart chart)
{
    char *text = NULL;
    size_t size;

    chart.out = open_memstream(&text, &size);
    CHECK(chart.out && chart_draw(&chart) == 0);
    if (chart.out)
        fclose(chart.out);
    return text;
}

static void check(struct chart chart, const char *expected)
{
    char *text = drawn(chart);

    CHECK_TEXT(text, expected);
    free(text);
}

static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static struct chart chart_of(struct terminal terminal, int count, const double *y)
{
    struct chart chart = {.terminal = terminal, .x_name = "step", .count = count, .x = x, .line_count = 1};

    chart.line[0].y = y;
    return chart;
}

TEST(chart_of_characters)
{
    check(chart_of(plain, 6, x), "5 +          *\n"
                                 "  |        **\n"
                                 "  |      **\n"
                                 "  |    **\n"
                                 "  |  **\n"
                                 "0 +**\n"
                                 "  ++---------+\n"
                                 "   0         5\n"
                                 "          step\n");
}

/* One dot per value, two per character along x and four along y; steps without a value, a break, and a
 * single dot. */
TEST(chart_of_braille)
{
    const double y[16] = {0, 1, 2, 3, 4, NAN, NAN, 7, 8, 9, 10, 11, 12, 13, INFINITY, 23};

    check(chart_of(many, 16, y), "20 ┤       \033[38;5;32m⠈\033[0m\n"
                                 "   │\n"
                                 "   │      \033[38;5;32m⡠\033[0m\n"
                                 "   │    \033[38;5;32m⡠⠊\033[0m\n"
                                 "   │  \033[38;5;32m⡠⠊\033[0m\n"
                                 " 0 ┤\033[38;5;32m⡠⠊\033[0m\n"
                                 "   └┬───────\n"
                                 "    0\n"
                                 "        step\n");
}

/* The second of two lines covers the first; without colours they are different characters. */
TEST(chart_of_lines)
{
    const double first[] = {2, 2, 2}, second[] = {1, 1, 2};
    struct chart chart = chart_of(plain, 3, first);

    chart.terminal.columns = 16;
    chart.legend = "seed";
    chart.line_count = 2;
    chart.line[1].y = second;
    strcpy(chart.line[0].label, "0");
    strcpy(chart.line[1].label, "1");
    check(chart, "  2 +aaaaaaaaab\n"
                 "    |        b\n"
                 "1.5 +       b\n"
                 "    |       b\n"
                 "    |      b\n"
                 "  1 +bbbbbb\n"
                 "    ++--------+\n"
                 "     0        2\n"
                 "           step\n"
                 "seed  a 0  b 1\n");
}

/* A range of a factor of 10 or more is logarithmic, with ticks at powers of ten, or at 1, 2 and 5 times
 * each if there are few. */
TEST(chart_with_decades)
{
    const double y[] = {1, 10, 100, 1000, 1e4, 1e5};

    check(chart_of((struct terminal){20, 6, COLOURS_NONE, false}, 6, y), "100000 +          *\n"
                                                                         "       |        **\n"
                                                                         "       |      **\n"
                                                                         "       |    **\n"
                                                                         "       |  **\n"
                                                                         "     1 +**\n"
                                                                         "       ++---------+\n"
                                                                         "        0         5\n"
                                                                         "               step\n");
}

TEST(chart_with_few_decades)
{
    const double less[] = {2, 4, 8, 19.9}, more[] = {2, 4, 8, 20};
    struct terminal high = {20, 14, COLOURS_NONE, false};

    check(chart_of(high, 4, more), "20 +              *\n"
                                   "   |            **\n"
                                   "10 +          **\n"
                                   "   |         *\n"
                                   "   |        *\n"
                                   " 5 +      **\n"
                                   "   |    **\n"
                                   "   |  **\n"
                                   " 2 +**\n"
                                   "   ++--------------\n"
                                   "    0\n"
                                   "               step\n");
    check(chart_of(high, 4, less), "   |              *\n"
                                   "   |             *\n"
                                   "   |            *\n"
                                   "   |           *\n"
                                   "10 +          *\n"
                                   "   |         *\n"
                                   "   |       **\n"
                                   "   |   ****\n"
                                   "   |***\n"
                                   "   ++--------------\n"
                                   "    0\n"
                                   "               step\n");
}

/* A diverged line does not change the axis of the others and may leave the chart; alone it has its own
 * axis. */
TEST(chart_of_what_diverges)
{
    const double calm[] = {0, 1, 2, 3, 4, 5}, wild[] = {0, 5, 1e30, NAN, NAN, NAN};
    struct chart chart = chart_of(plain, 6, calm);

    chart.line_count = 2;
    chart.line[1] = (struct chart_line){.y = wild, .beyond = true};
    check(chart, "5 +  b       a\n"
                 "  |  b     aa\n"
                 "  | b    aa\n"
                 "  | b  aa\n"
                 "  |b aa\n"
                 "0 +ba\n"
                 "  ++---------+\n"
                 "   0         5\n"
                 "          step\n");
    chart = chart_of(plain, 6, wild);
    chart.line[0].beyond = true;
    check(chart, "1e+30 +   *\n"
                 "      |   *\n"
                 "      |  *\n"
                 "5e+29 +  *\n"
                 "      | *\n"
                 "    0 +**\n"
                 "      ++------+\n"
                 "       0      5\n"
                 "           step\n");
}

TEST(chart_of_nothing)
{
    const double y[] = {NAN, NAN, INFINITY};

    check(chart_of(many, 3, y), "nothing has\nbeen measured\nyet\n");
}

/* No line is too wide for any values. */
TEST(chart_keeps_to_its_columns)
{
    static const double scales[] = {1e-12, 1e-3, 1, 12345.678, 1e9, 1e300};
    static const double offsets[] = {0, 1, -3.25, 1e5};

    for (int i = 0; i < 6 * 4 * 3; i++) {
        double y[16];
        for (int j = 0; j < 16; j++)
            y[j] = offsets[i / 6 % 4] + scales[i % 6] * pow(-1.1, j) * j;
        struct chart chart = chart_of(many, 16, y);
        chart.terminal.columns = 40 * (1 + i / 24);
        chart.legend = "learning_rate";
        strcpy(chart.line[0].label, "0.000123 (diverged)");
        char *text = drawn(chart), *line = text;
        for (char *end; line && (end = strchr(line, '\n')); line = end + 1) {
            int width = 0;
            for (char *c = line; c < end; c++) {
                if (*c == '\033')
                    c = strchr(c, 'm') + 1;
                width += c < end && (*c & 0xc0) != 0x80;
            }
            if (width > chart.terminal.columns)
                test_fail(__FILE__, __LINE__, "case %d, %d columns:\n%s", i, width, text);
        }
        free(text);
    }
}
