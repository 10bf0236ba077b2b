/* Runs under way, one per line, on terminals of any width. */
#include "driver/status/inside.h"
#include "driver/sweep/inside.h"
#include "tests/test.h"

/* Prints lines of runs of a sweep with these axes, and compares. `naming`: NULL, or that of the lines before.
 */
static void check_lines(const char *axes, int columns, const struct run_line *line, int count,
    struct run_naming *naming, const char *expected)
{
    struct run_naming first = {0};
    char yaml[128], *text = NULL;
    size_t size = 0;
    struct sweep sweep;
    struct error error;

    snprintf(yaml, sizeof(yaml), "corpus: markov\nsteps: 300\n%s", axes);
    if (sweep_parse(&sweep, "a.yaml", "", yaml, strlen(yaml), NULL, 0, &error) != 0) {
        test_fail(__FILE__, __LINE__, "%s", error.text);
        return;
    }
    FILE *out = open_memstream(&text, &size);
    run_lines_print(out, columns, sweep.axis_count, sweep.axis, line, count, naming ? naming : &first);
    fclose(out);
    CHECK_TEXT(text, expected);
    free(text);
    sweep_release(&sweep);
}

TEST(run_lines_line_up)
{
    static const struct run_line line[] = {
        {"  1", 0, 5, 300, NAN, ""},
        {"  2", -1, 0, 0, NAN, ""},
        {" 13", 3, 120, 300, 3.21456, "12.3k tokens/s"},
        {"  4", 2, 0, 300, NAN, "850 tokens/s"},
    };
    static const struct {
        int columns;
        const char *text;
    } cases[] = {
        {80, "  1  learning_rate=0.1 seed=1      5/300\n"
             "  2  idle\n"
             " 13  learning_rate=0.01 seed=20  120/300  loss 3.215  12.3k tokens/s\n"
             "  4  learning_rate=0.01 seed=1     0/300              850 tokens/s\n"},
        {60, "  1  lr=0.1 seed=1      5/300\n"
             "  2  idle\n"
             " 13  lr=0.01 seed=20  120/300  loss 3.215  12.3k tokens/s\n"
             "  4  lr=0.01 seed=1     0/300              850 tokens/s\n"},
        {59, "  1  learning_rate=0.1 seed=1      5/300\n"
             "  2  idle\n"
             " 13  learning_rate=0.01 seed=20  120/300  loss 3.215\n"
             "  4  learning_rate=0.01 seed=1     0/300\n"},
        {39, "  1  lr=0.1 seed=1      5/300\n"
             "  2  idle\n"
             " 13  lr=0.01 seed=20  120/300\n"
             "  4  lr=0.01 seed=1     0/300\n"},
        {20, "  1  0.1 1     5/300\n"
             "  2  idle\n"
             " 13  0.01 ~  120/300\n"
             "  4  0.01 1    0/300\n"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_lines(
            "learning_rate: [0.1, 0.01]\nseed: [1, 20]\n", cases[i].columns, line, 4, NULL, cases[i].text);
}

/* Notes line up after losses of different widths. */
TEST(run_lines_of_wide_losses)
{
    static const struct run_line line[] = {
        {" 1", 0, 5, 300, 3.5, "850 tokens/s"},
        {" 2", 1, 5, 300, -1.2345e-5, "12.3k tokens/s"},
        {" 3", 2, 5, 300, 1e300, "1k tokens/s"},
        {" 4", 3, 0, 300, NAN, "2k tokens/s"},
    };

    check_lines("seed: [1, 2, 3, 4]\n", 80, line, 4, NULL,
        " 1  seed=1    5/300  loss 3.5         850 tokens/s\n"
        " 2  seed=2    5/300  loss -1.234e-05  12.3k tokens/s\n"
        " 3  seed=3    5/300  loss 1e+300      1k tokens/s\n"
        " 4  seed=4    0/300                   2k tokens/s\n");
}

/* Runs with longer values come and go, but the names stay as they are; another width begins anew. */
TEST(run_lines_keep_their_names)
{
    static const struct run_line line[] = {{"1", 0, 5, 300, 2.5, ""}, {"1", 1, 5, 300, 2.5, ""}};
    static const struct {
        int run, columns;
        const char *text;
    } cases[] = {
        {0, 42, "1  learning_rate=0.1    5/300  loss 2.5\n"},
        {1, 42, "1  lr=0.000316    5/300  loss 2.5\n"},
        {0, 42, "1  lr=0.1    5/300  loss 2.5\n"},
        {0, 43, "1  learning_rate=0.1    5/300  loss 2.5\n"},
    };
    struct run_naming naming = {0};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_lines("learning_rate: [0.1, 0.000316]\n", cases[i].columns, &line[cases[i].run], 1, &naming,
            cases[i].text);
}
