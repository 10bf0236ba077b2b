#include "driver/status/inside.h"
#include "driver/text/text.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

/* The output so far; the buffer is then cleared. */
struct paper {
    char *text;
    size_t size, seen;
    FILE *file;
};

/* Runs of cells 0, 1, ... are seeds 1, 2, ...; there is no map. */
static union param_value seeds[] = {{.integer = 1}, {.integer = 2}, {.integer = 3}};
static struct axis axis;

static struct progress *make(struct paper *paper, int columns, int rows, int workers, double now)
{
    static const struct param *param;
    const struct terminal terminal = {.columns = columns, .rows = rows};
    const struct picture_runs runs = {.axis_count = 1, .axis = &axis};

    param = param_find("seed");
    axis = (struct axis){
        .name = (char *)param->name, .length = 3, .param_count = 1, .param = &param, .value = seeds};
    return progress_new(paper->file, &terminal, workers, &runs, now);
}

static void paper_init(struct paper *paper)
{
    *paper = (struct paper){0};
    paper->file = open_memstream(&paper->text, &paper->size);
}

/* The output since the last call. */
static const char *paper_news(struct paper *paper)
{
    size_t seen = paper->seen;

    fflush(paper->file);
    paper->seen = paper->size;
    return paper->text + seen;
}

/* The last line that begins with this text, up to an escape sequence. */
static char *last_line(char *text, const char *begin)
{
    char *last = strstr(text, begin);

    for (char *next = last; next; next = strstr(next + 1, begin))
        last = next;
    if (!last)
        return text;
    last[strcspn(last, "\x1b")] = '\0';
    return last;
}

static void paper_release(struct paper *paper)
{
    fclose(paper->file);
    free(paper->text);
}

TEST(progress_plain_lines_every_30_s)
{
    struct tally tally = {.runs = 10, .done = 1, .running = 2, .cost_left = 90};
    struct paper paper;

    paper_init(&paper);
    struct progress *p = make(&paper, 80, 0, 2, 100);
    progress_begin(p, 0, 0, 10);
    progress_step(p, 0, 0, 100, 0);
    progress_show(p, &tally, 100);
    progress_step(p, 0, 50, 100, 60000);
    progress_show(p, &tally, 129.9);
    fflush(paper.file);
    CHECK_TEXT(paper.text, "");
    progress_show(p, &tally, 130);
    /* half of a run of cost 10 in 30 s, 85 of 90 left */
    CHECK_TEXT(
        paper.text, "1/10 done, 2 running, 0 diverged, 0 failed, 2k tokens/s in all, 8 min 30 s left\n");
    progress_show(p, &tally, 159);
    CHECK(strchr(paper.text, '\n') == strrchr(paper.text, '\n'));
    progress_free(p);
    paper_release(&paper);
}

/* Rows arrive when they are measured, steps at intervals: a line shows the later of both. */
TEST(progress_is_at_its_last_row)
{
    struct tally tally = {.runs = 3, .running = 1, .cost_left = 3};
    struct paper paper;

    paper_init(&paper);
    struct progress *p = make(&paper, 60, 10, 1, 0);
    progress_begin(p, 0, 2, 1);
    progress_step(p, 0, 0, 60, 0);
    progress_loss(p, 0, 40, 3.25);
    progress_show(p, &tally, 0);
    CHECK(strstr(paper_news(&paper), "  1  seed=3  40/60  loss 3.25\x1b[K\n") != NULL);
    progress_step(p, 0, 50, 60, 500);
    progress_show(p, &tally, 1);
    CHECK(strstr(paper_news(&paper), "  1  seed=3  50/60  loss 3.25\x1b[K\n") != NULL);
    progress_begin(p, 0, 1, 1);
    progress_step(p, 0, 0, 60, 0);
    progress_show(p, &tally, 2);
    CHECK(strstr(paper_news(&paper), "  1  seed=2   0/60\x1b[K\n") != NULL);
    progress_free(p);
    paper_release(&paper);
}

TEST(progress_block_on_a_terminal)
{
    struct tally tally = {.runs = 3, .running = 1, .cost_left = 3};
    struct paper paper;

    paper_init(&paper);
    struct progress *p = make(&paper, 40, 10, 2, 0);
    progress_begin(p, 1, 2, 1);
    progress_loss(p, 1, 0, 3.25);
    progress_show(p, &tally, 0);
    CHECK_TEXT(paper.text, "  1  idle\x1b[K\n"
                           "  2  seed=3  0/0\x1b[K\n"
                           "0/3 done, 1 running, 0 diverged\x1b[K\n\x1b[J");
    progress_clear(p);
    CHECK(strstr(paper.text, "\r\x1b[3A\x1b[J") != NULL);
    progress_free(p);
    paper_release(&paper);
}

/* Steps before the one at which a run resumes count neither for the pace nor for the rate. */
TEST(progress_of_a_resumed_run)
{
    struct tally tally = {.runs = 10, .done = 1, .running = 1, .cost_left = 90};
    struct paper paper;

    paper_init(&paper);
    struct progress *p = make(&paper, 80, 0, 1, 100);
    progress_begin(p, 0, 0, 10);
    progress_step(p, 0, 40, 100, 48000000);
    progress_show(p, &tally, 100);
    progress_step(p, 0, 90, 100, 48060000);
    progress_show(p, &tally, 130);
    /* five of the cost in 30 s; 81 are left */
    CHECK_TEXT(
        paper.text, "1/10 done, 1 running, 0 diverged, 0 failed, 2k tokens/s in all, 8 min 06 s left\n");
    progress_free(p);
    paper_release(&paper);
}

TEST(progress_fits_the_screen)
{
    struct tally tally = {.runs = 3};
    struct paper paper;
    int lines = 0;

    paper_init(&paper);
    struct progress *p = make(&paper, 80, 6, 100, 0);
    progress_show(p, &tally, 0);
    for (const char *c = paper.text; *c; c++)
        lines += *c == '\n';
    CHECK(lines == 5);
    CHECK(strstr(paper.text, "... and 97 workers more") != NULL);
    progress_free(p);
    paper_release(&paper);
}

/* The least important parts are left out first; failures and the time left stay longest. */
TEST(progress_line_of_the_sweep_is_as_long_as_the_terminal)
{
    struct tally tally = {
        .runs = 100000, .done = 12345, .running = 128, .diverged = 1000, .failed = 7, .cost_left = 90};
    static const struct {
        int columns;
        const char *line;
    } cases[] = {
        {100, "12345/100000 done, 128 running, 1000 diverged, 7 failed, 2k tokens/s in all, 8 min 30 s left"},
        {80, "12345/100000 done, 1000 diverged, 7 failed, 2k tokens/s in all, 8 min 30 s left"},
        {70, "12345/100000 done, 7 failed, 2k tokens/s in all, 8 min 30 s left"},
        {50, "12345/100000 done, 7 failed, 8 min 30 s left"},
        {40, "12345/100000 done, 8 min 30 s left"},
        {20, "12345/100000 done"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct paper paper;
        paper_init(&paper);
        struct progress *p = make(&paper, cases[i].columns, 5, 1, 100);
        progress_begin(p, 0, 0, 10);
        progress_step(p, 0, 0, 100, 0);
        progress_show(p, &tally, 100);
        progress_step(p, 0, 50, 100, 60000);
        progress_show(p, &tally, 130);
        paper_news(&paper);
        CHECK_TEXT(last_line(paper.text, "12345/"), cases[i].line);
        progress_free(p);
        paper_release(&paper);
    }
}

/* The map is above the workers if there is room, and is redrawn when runs have ended. */
TEST(progress_draws_the_map)
{
    static signed char outcome[] = {OUTCOME_RUNNING, OUTCOME_PENDING, OUTCOME_PENDING};
    static double growth[] = {NAN, NAN, NAN};
    struct tally tally = {.runs = 3, .running = 1, .cost_left = 3};
    struct paper paper;

    paper_init(&paper);
    progress_free(make(&paper, 40, 14, 1, 0));
    struct picture_runs runs = {.axis_count = 1, .axis = &axis, .outcome = outcome, .growth = growth};
    for (int rows = 3; rows < 16; rows++) {
        struct terminal terminal = {.columns = 40, .rows = rows};
        struct progress *p = progress_new(paper.file, &terminal, 1, &runs, 0);
        int lines = 0;
        outcome[0] = OUTCOME_RUNNING;
        progress_show(p, &tally, 0);
        const char *news = paper_news(&paper);
        for (const char *c = news; *c; c++)
            lines += *c == '\n';
        CHECK(lines < rows);
        CHECK((strstr(news, "pending") != NULL) == (rows >= 11));
        CHECK(!strstr(news, "growing"));
        outcome[0] = OUTCOME_DONE;
        growth[0] = 2;
        progress_remap(p);
        progress_show(p, &tally, 0.5);
        CHECK(!strstr(paper_news(&paper), "growing")); /* too soon */
        progress_show(p, &tally, 1e6);
        CHECK((strstr(paper_news(&paper), "growing") != NULL) == (rows >= 11));
        progress_free(p);
    }
    paper_release(&paper);
}

TEST(progress_durations)
{
    char text[32];

    CHECK_TEXT(duration_format(0.04, text, sizeof(text)), "0.04 s");
    CHECK_TEXT(duration_format(0.1, text, sizeof(text)), "0.1 s");
    CHECK_TEXT(duration_format(4.21, text, sizeof(text)), "4.2 s");
    CHECK_TEXT(duration_format(59.4, text, sizeof(text)), "59 s");
    CHECK_TEXT(duration_format(59.6, text, sizeof(text)), "1 min 00 s");
    CHECK_TEXT(duration_format(7500, text, sizeof(text)), "2 h 05 min");
}

/* The rates of the workers are those of the last seconds, whatever their runs: they add up to that of all. */
TEST(progress_rates_of_workers_add_up)
{
    struct tally tally = {.runs = 9, .running = 2, .cost_left = 9};
    struct paper paper;

    paper_init(&paper);
    struct progress *p = make(&paper, 80, 10, 2, 0);
    for (int worker = 0; worker < 2; worker++) {
        progress_begin(p, worker, worker, 1);
        progress_step(p, worker, 0, 100, 0);
    }
    progress_show(p, &tally, 0);
    progress_step(p, 0, 50, 100, 4000);
    progress_step(p, 1, 50, 100, 1000);
    progress_show(p, &tally, 2);
    const char *news = paper_news(&paper);
    CHECK(strstr(news, "  1  seed=1   50/100              2k tokens/s") != NULL);
    CHECK(strstr(news, "  2  seed=2   50/100              500 tokens/s") != NULL);
    CHECK(strstr(news, ", 2.5k tokens/s in all, ") != NULL);
    progress_end(p, 1); /* its next run trains nothing yet, which counts */
    progress_begin(p, 1, 2, 1);
    progress_step(p, 1, 0, 100, 0);
    progress_step(p, 0, 100, 100, 8000);
    progress_show(p, &tally, 4);
    news = paper_news(&paper);
    CHECK(strstr(news, "  1  seed=1  100/100              2k tokens/s") != NULL);
    CHECK(strstr(news, "  2  seed=3    0/100              225 tokens/s") != NULL);
    CHECK(strstr(news, "2.23k tokens/s in all") != NULL);
    progress_free(p);
    paper_release(&paper);
}

TEST(progress_says_at_once_that_it_stops)
{
    struct tally tally = {.runs = 10, .done = 1, .running = 2, .cost_left = 90};
    struct paper paper;

    paper_init(&paper);
    struct progress *p = make(&paper, 80, 0, 2, 100);
    progress_show(p, &tally, 100);
    progress_stop(p);
    progress_show(p, &tally, 100.1);
    progress_stop(p);
    progress_show(p, &tally, 100.2);
    fflush(paper.file);
    CHECK_TEXT(paper.text, "stopping, saving, 1/10 done, 2 running, 0 diverged, 0 failed\n");
    progress_free(p);
    paper_release(&paper);
}
