/* The phase diagram on terminals of every kind, compared character by character. */
#include "driver/picture/picture.h"
#include "tests/test.h"

#include "worker/train/train.h"

static const struct terminal plain = {80, 0, false, false}, painted = {80, 24, true, true};

/* A grid of learning rates 10^-4, 10^-3, ... and weight decays 0, 1, ..., optionally with two seeds. */
struct grid {
    struct axis axis[3];
    const struct param *param[3];
    union param_value value[3][128];
    signed char outcome[128 * 128];
    double growth[128 * 128];
    int64_t cells;
    struct picture_runs runs;
};

static void grid_init(struct grid *grid, int64_t rates, int64_t decays, int64_t seeds)
{
    static char *const names[] = {"learning_rate", "weight_decay", "seed"};
    const int64_t length[] = {rates, decays, seeds};

    memset(grid, 0, sizeof(*grid));
    grid->cells = rates * decays * seeds;
    grid->runs = (struct picture_runs){
        .axis_count = 3, .axis = grid->axis, .outcome = grid->outcome, .growth = grid->growth};
    for (int i = 0; i < 3; i++) {
        grid->param[i] = param_find(names[i]);
        grid->axis[i] = (struct axis){.name = names[i], .length = length[i], .param_count = 1};
        grid->axis[i].param = &grid->param[i];
        grid->axis[i].value = grid->value[i];
    }
    for (int64_t i = 0; i < 128; i++) {
        grid->value[0][i].real = i ? 10 * grid->value[0][i - 1].real : 1e-4;
        grid->value[1][i].real = (double)i;
        grid->value[2][i].integer = i;
    }
    for (int64_t i = 0; i < grid->cells; i++) {
        grid->outcome[i] = OUTCOME_DONE;
        grid->growth[i] = 1;
    }
}

/* The drawing, which the caller frees; *lines becomes the returned number. */
static char *drawn(const struct grid *grid, struct terminal terminal, int rows, int *lines)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);

    *lines = memory ? picture_map(memory, &terminal, rows, &grid->runs) : -1;
    if (memory)
        fclose(memory);
    return text;
}

static int count_lines(const char *text)
{
    int lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Removes colours in place; returns the width of the widest line. */
static int widest(char *text)
{
    int most = 0, width = 0;
    char *to = text;

    for (const char *c = text; *c; c++) {
        if (*c == '\033') {
            c = strchr(c, 'm');
            continue;
        }
        width = *c == '\n' ? 0 : width + ((*c & 0xc0) != 0x80);
        most = width > most ? width : most;
        *to++ = *c;
    }
    *to = '\0';
    return most;
}

static void check(const struct grid *grid, struct terminal terminal, const char *expected)
{
    int lines;
    char *text = drawn(grid, terminal, 0, &lines);

    CHECK_TEXT(text, expected);
    CHECK(lines == count_lines(text));
    free(text);
}

static struct grid grid;

/* The colours of growth up to a factor of 4, with the factors between which they stand. */
TEST(diagram_painted)
{
    static const double growth[] = {0.5, 0.25, 2, 0.9, 4, 1.1}; /* by rate, then decay */

    grid_init(&grid, 3, 2, 1);
    memcpy(grid.growth, growth, sizeof(growth));
    check(&grid, painted,
        "weight_decay\n"
        "1 │\033[48;5;54m       \033[48;5;140m       \033[48;5;172m       \033[0m\n"
        "0 │\033[48;5;54m       \033[48;5;94m              \033[0m\n"
        "  └───┬──────┬──────┬───\n"
        "    0.0001 0.001   0.01\n"
        "           learning_rate\n"
        "shrinking 0.25 \033[48;5;54m  \033[48;5;97m  \033[48;5;140m \033[0m 0.929 \033[48;5;140m "
        "\033[48;5;146m  \033[48;5;189m  \033[0m 1 \033[48;5;223m  \033[48;5;215m  \033[48;5;172m \033[0m "
        "1.08 \033[48;5;172m \033[48;5;130m  \033[48;5;94m  \033[0m 4 growing\n");
}

/* Cells without a number show the character of their mark. */
TEST(diagram_paints_marks)
{
    grid_init(&grid, 1, 5, 1);
    const signed char outcome[] = {
        OUTCOME_DIVERGED, OUTCOME_FAILED, OUTCOME_RUNNING, OUTCOME_PENDING, OUTCOME_SKIPPED};
    memcpy(grid.outcome, outcome, sizeof(outcome));
    check(&grid, painted,
        "weight_decay\n"
        "4 │      \n"
        "3 │\033[38;5;16m\033[48;5;244m  .   \033[0m\n"
        "2 │\033[38;5;231m\033[48;5;36m  >   \033[0m\n"
        "1 │\033[38;5;231m\033[48;5;160m  x   \033[0m\n"
        "0 │\033[38;5;231m\033[48;5;16m  !   \033[0m\n"
        "  └──────\n"
        "\033[38;5;231m\033[48;5;16m!\033[0m diverged   \033[38;5;231m\033[48;5;160mx\033[0m failed   "
        "\033[38;5;231m\033[48;5;36m>\033[0m running   \033[38;5;16m\033[48;5;244m.\033[0m pending   "
        "_ skipped (blank)\n");
}

TEST(diagram_tells_marks_apart)
{
    grid_init(&grid, 4, 2, 1);
    const signed char outcome[] = {OUTCOME_DONE, OUTCOME_SKIPPED, OUTCOME_DIVERGED, OUTCOME_FAILED,
        OUTCOME_RUNNING, OUTCOME_PENDING, OUTCOME_DONE, OUTCOME_DONE};
    memcpy(grid.outcome, outcome, sizeof(outcome));
    grid.growth[0] = NAN;
    grid.growth[6] = 2;
    check(&grid, plain,
        "weight_decay\n"
        "1 |       xxxxxx ~~~~~~ ------\n"
        "0 |oooooo !!!!!! >>>>>> ######\n"
        "  +---+------+------+------+---\n"
        "    0.0001 0.001   0.01   0.1\n"
        "                  learning_rate\n"
        "# growing   - shrinking   ! diverged   o done, no norms measured   x failed\n"
        "> running   _ skipped (blank)   ~ pending, nearest is shrinking\n");
}

/* Pending cells look like the nearest that has ended, over the sides of pending cells, but paler. */
TEST(diagram_paints_pending_cells)
{
    grid_init(&grid, 7, 3, 1);
    memset(grid.outcome, OUTCOME_PENDING, sizeof(grid.outcome));
    grid.outcome[0] = grid.outcome[20] = OUTCOME_DONE; /* the corners */
    grid.growth[0] = 4;
    grid.growth[20] = 0.5;
    grid.outcome[2] = OUTCOME_DIVERGED;
    grid.outcome[9] = grid.outcome[10] = grid.outcome[11] = OUTCOME_SKIPPED; /* a wall */
    check(&grid, plain,
        "weight_decay\n"
        "2 |!!!!!! :::::: ::::::        ~~~~~~ ~~~~~~ ------\n"
        "1 |****** ****** ******        ~~~~~~ ~~~~~~ ~~~~~~\n"
        "0 |###### ****** ******        ~~~~~~ ~~~~~~ ~~~~~~\n"
        "  +---+------+------+------+------+------+------+---\n"
        "    0.0001 0.001   0.01   0.1     1      10    100\n"
        "                                       learning_rate\n"
        "# growing   - shrinking   ! diverged   _ skipped (blank)\n"
        "* pending, nearest is growing   ~ pending, nearest is shrinking\n"
        ": pending, nearest has diverged\n");
    grid_init(&grid, 3, 1, 1);
    grid.outcome[1] = OUTCOME_PENDING;
    grid.growth[0] = grid.growth[2] = 4;
    int lines;
    char *text = drawn(&grid, painted, 0, &lines);
    CHECK(strstr(text, "\033[48;5;94m       \033[38;5;16m\033[48;5;172m   .   \033[0m\033[48;5;94m       "));
    CHECK(strstr(text, "\033[38;5;16m\033[48;5;172m.\033[0m pending, nearest is growing\n"));
    free(text);
}

/* A cell with a run under way is marked by its other runs, or as running if the diagram is live. */
TEST(diagram_live)
{
    static const char *const row[] = {"0 |###### ****** >>>>>>\n", "0 |>>>>>> ~~~~~~ >>>>>>\n"};

    for (int live = 0; live < 2; live++) {
        int lines;
        grid_init(&grid, 3, 2, 2);
        const signed char outcome[] = {OUTCOME_DONE, OUTCOME_RUNNING, OUTCOME_DONE, OUTCOME_DONE,
            OUTCOME_PENDING, OUTCOME_PENDING, OUTCOME_DONE, OUTCOME_DONE, OUTCOME_PENDING, OUTCOME_RUNNING};
        memcpy(grid.outcome, outcome, sizeof(outcome));
        grid.growth[0] = 2;
        grid.runs.live = live;
        char *text = drawn(&grid, plain, 0, &lines);
        if (!strstr(text, row[live]))
            test_fail(__FILE__, __LINE__, "live %d:\n%s", live, text);
        free(text);
    }
}

/* Growth is averaged over the axes that are not drawn, and the seed is drawn only if nothing else is.
 * Diverged runs are left out of the mean, and mark the cell if they are the majority. */
TEST(diagram_of_means)
{
    grid_init(&grid, 2, 1, 3);
    const double growth[] = {0.5, 1.6, 0.8, 1.1, 1.2, NAN};
    memcpy(grid.growth, growth, sizeof(growth));
    grid.outcome[5] = OUTCOME_DIVERGED;
    check(&grid, plain,
        " |------ ######\n"
        " +---+------+---\n"
        "   0.0001 0.001\n"
        "   learning_rate\n"
        "# growing   - shrinking\n"
        "cells: geometric mean of norm_growth over seed; diverged if most ended runs\n"
        "diverged\n");
    grid_init(&grid, 2, 2, 3);
    for (int i = 0; i < 12; i++)
        grid.growth[i] = i < 6 ? growth[i] : 0.9;
    grid.growth[1] = 1.9; /* with 0.5 and 0.8: above 1 in the mean, below in the geometric one */
    grid.outcome[6] = grid.outcome[7] = OUTCOME_DIVERGED;
    check(&grid, plain,
        "weight_decay\n"
        "1 |###### ------\n"
        "0 |------ !!!!!!\n"
        "  +---+------+---\n"
        "    0.0001 0.001\n"
        "    learning_rate\n"
        "# growing   - shrinking   ! diverged\n"
        "cells: geometric mean of norm_growth over seed; diverged if most ended runs\n"
        "diverged\n");
}

/* For all grids, terminals and limits: not too many lines, and none too wide. */
TEST(diagram_keeps_to_its_lines)
{
    static const int sizes[] = {1, 2, 7, 20, 61, 128}, columns[] = {28, 40, 80, 200},
                     rows[] = {0, 8, 9, 12, 24, 50};

    for (size_t i = 0; i < 6 * 6 * 4 * 6; i++) {
        int lines, width = columns[i / 36 % 4], most = rows[i / 144];
        grid_init(&grid, sizes[i % 6], sizes[i / 6 % 6], 1);
        grid.outcome[0] = OUTCOME_FAILED;
        for (int64_t cell = 1; cell < grid.cells; cell++)
            grid.growth[cell] = 0.5 + (double)(cell % 7) / 5;
        for (int kind = 0; kind < 2; kind++) {
            struct terminal terminal = {width, 24, kind, kind};
            char *text = drawn(&grid, terminal, most, &lines);
            bool right = lines == count_lines(text) && lines > 0 && (most == 0 || lines <= most);
            if (!right || widest(text) > width)
                test_fail(__FILE__, __LINE__, "%d x %d on %d columns, %d lines, kind %d:\n%s", sizes[i % 6],
                    sizes[i / 6 % 6], width, most, kind, text);
            free(text);
        }
    }
}
