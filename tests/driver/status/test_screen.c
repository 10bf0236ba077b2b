/* The display of a job, as the bytes that the terminal receives. */
#include "driver/status/inside.h"
#include "tests/paper.h"
#include "tests/test.h"

static union param_value seeds[] = {{.integer = 1}, {.integer = 2}, {.integer = 3}};

/* A job that consists of what its display looks at. Runs of cells 0, 1, ... are seeds 1, 2, ... */
struct scene {
    struct paper paper;
    struct display display;
    struct job job;
    struct axis axis;
    const struct param *param;
};

/* Begins a display of this size. `outcome` [3], of the map; NULL: there is none. */
static void begin_with_map(struct scene *s, int columns, int rows, int workers, double now,
    const signed char *outcome, const double *growth)
{
    const struct terminal terminal = {.columns = columns, .rows = rows};

    *s = (struct scene){.param = param_find("seed")};
    s->axis = (struct axis){
        .name = (char *)s->param->name, .length = 3, .param_count = 1, .param = &s->param, .value = seeds};
    s->job.observer[0] = display_observer(&s->display);
    const struct picture_runs runs = {
        .axis_count = 1, .axis = &s->axis, .outcome = outcome, .growth = growth, .live = true};
    paper_init(&s->paper);
    display_begin(&s->display, s->paper.file, &terminal, workers, &runs, now);
}

static void begin(struct scene *s, int columns, int rows, int workers, double now, struct tally tally)
{
    begin_with_map(s, columns, rows, workers, now, NULL, NULL);
    s->job.tally = tally;
}

static void end(struct scene *s)
{
    JOB_TELL(&s->job, .kind = JOB_CLOSED);
    paper_release(&s->paper);
}

/* A test of a display of this size, with a tally. */
#define IN_SCENE(id, columns, rows, workers, now, ...)                                                       \
    TEST_IN(id, struct scene, s, begin(s, columns, rows, workers, now, (struct tally){__VA_ARGS__}), end(s))

static void begin_run(struct scene *s, int worker, int64_t cell)
{
    JOB_TELL(&s->job, .kind = JOB_RUN_BEGUN, .worker = worker, .cell = cell);
}

static void step(struct scene *s, int worker, int64_t step, int64_t last_step, int64_t tokens)
{
    JOB_TELL(&s->job, .kind = JOB_RUN_STEP, .worker = worker, .step = step, .last_step = last_step,
        .tokens = tokens);
}

static void lose(struct scene *s, int worker, int64_t step, double loss)
{
    JOB_TELL(&s->job, .kind = JOB_RUN_LOSS, .worker = worker, .step = step, .loss = loss);
}

/* What a tick writes. */
static const char *tick(struct scene *s, double now, double left)
{
    JOB_TELL(&s->job, .kind = JOB_TICK, .now = now, .left = left);
    return paper_news(&s->paper);
}

static int count_lines(const char *text)
{
    int lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

IN_SCENE(display_has_plain_lines_every_30_s, 80, 0, 2, 100, .runs = 10, .done = 1, .running = 2)
{
    begin_run(s, 0, 0);
    step(s, 0, 0, 100, 0);
    CHECK_TEXT(tick(s, 100, NAN), "");
    step(s, 0, 50, 100, 60000);
    CHECK_TEXT(tick(s, 129.9, 510), "");
    CHECK_TEXT(tick(s, 130, 510),
        "1/10 done, 2 running, 0 diverged, 0 failed, 2k tokens/s in all, 8 min 30 s left\n");
    CHECK_TEXT(tick(s, 159, 510), "");
}

/* Rows arrive when they are measured, steps at intervals: a line shows the later of both. */
IN_SCENE(display_is_at_its_last_row, 60, 10, 1, 0, .runs = 3, .running = 1)
{
    begin_run(s, 0, 2);
    step(s, 0, 0, 60, 0);
    lose(s, 0, 40, 3.25);
    CHECK(strstr(tick(s, 0, NAN), "  1  seed=3  40/60  loss 3.25\x1b[K\n") != NULL);
    step(s, 0, 30, 60, 300);
    CHECK(strstr(tick(s, 0.5, NAN), "  1  seed=3  40/60  loss 3.25  600 tokens/s\x1b[K\n") == NULL);
    step(s, 0, 50, 60, 200);
    CHECK(strstr(tick(s, 1, NAN), "  1  seed=3  50/60  loss 3.25\x1b[K\n") != NULL);
    begin_run(s, 0, 1);
    step(s, 0, 0, 60, 0);
    CHECK(strstr(tick(s, 2, NAN), "  1  seed=2   0/60\x1b[K\n") != NULL);
}

IN_SCENE(display_is_a_block_on_a_terminal, 40, 10, 2, 0, .runs = 3, .running = 1)
{
    begin_run(s, 1, 2);
    lose(s, 1, 0, 3.25);
    CHECK_TEXT(tick(s, 0, NAN), "  1  idle\x1b[K\n"
                                "  2  seed=3  0/0\x1b[K\n"
                                "0/3 done, 1 running, 0 diverged\x1b[K\n\x1b[J");
    JOB_TELL(&s->job, .kind = JOB_SPEAKS);
    CHECK_TEXT(paper_news(&s->paper), "\r\x1b[3A\x1b[J");
}

IN_SCENE(display_fits_the_screen, 80, 6, 100, 0, .runs = 3)
{
    const char *text = tick(s, 0, NAN);
    CHECK(count_lines(text) == 5);
    CHECK(strstr(text, "... and 97 workers more") != NULL);
}

/* The least important parts are left out first; failures and the time left stay longest. */
TEST(display_has_a_line_of_the_sweep_as_long_as_the_terminal)
{
    const struct tally tally = {.runs = 100000, .done = 12345, .running = 128, .diverged = 1000, .failed = 7};
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
        struct scene s;
        char line[128];
        begin(&s, cases[i].columns, 5, 1, 100, tally);
        begin_run(&s, 0, 0);
        step(&s, 0, 0, 100, 0);
        tick(&s, 100, NAN);
        step(&s, 0, 50, 100, 60000);
        tick(&s, 130, 510);
        const char *last = s.paper.text; /* a line that has not changed is not written again */
        for (const char *next = last; (next = strstr(next, "12345/")); next++)
            last = next;
        snprintf(line, sizeof(line), "%.*s", (int)strcspn(last, "\x1b"), last);
        CHECK_TEXT(line, cases[i].line);
        end(&s);
    }
}

/* The map is above the workers if there is room, and is redrawn when runs have ended. */
TEST(display_draws_the_map)
{
    for (int rows = 3; rows < 16; rows++) {
        signed char outcome[] = {OUTCOME_RUNNING, OUTCOME_PENDING, OUTCOME_PENDING};
        double growth[] = {NAN, NAN, NAN};
        struct scene s;
        begin_with_map(&s, 40, rows, 1, 0, outcome, growth);
        const char *news = tick(&s, 0, NAN);
        CHECK(count_lines(news) < rows);
        CHECK((strstr(news, "pending") != NULL) == (rows >= 11));
        CHECK(!strstr(news, "growing"));
        outcome[0] = OUTCOME_DONE;
        growth[0] = 2;
        JOB_TELL(&s.job, .kind = JOB_COMMITTED, .results = 1);
        CHECK(!strstr(tick(&s, 0.5, NAN), "growing")); /* too soon */
        CHECK((strstr(tick(&s, 1e6, NAN), "growing") != NULL) == (rows >= 11));
        end(&s);
    }
}

/* A map never has more lines than its room, also right after the room shrinks, even if the map was just
 * drawn or there is no room at all. */
TEST(display_keeps_the_map_to_a_room_that_shrinks)
{
    static const signed char outcome[] = {OUTCOME_RUNNING, OUTCOME_PENDING, OUTCOME_PENDING};
    static const double growth[] = {NAN, NAN, NAN};
    struct scene s;

    begin_with_map(&s, 60, 40, 1, 0, outcome, growth);
    CHECK(strstr(tick(&s, 0, NAN), "pending") != NULL);
    for (int rows = 39; rows > 2; rows--) {
        struct terminal terminal = {.columns = 60, .rows = rows};
        canvas_resize(&s.display.canvas, &terminal);
        const char *news = tick(&s, 0.25 * (40 - rows), NAN);
        CHECK((strstr(news, "pending") != NULL) == (rows >= 11));
        CHECK(count_lines(news) < rows);
    }
    end(&s);
}

/* The rates of the workers are those of the last seconds, whatever their runs: they add up to that of all. */
IN_SCENE(display_has_rates_of_workers_that_add_up, 80, 10, 2, 0, .runs = 9, .running = 2)
{
    for (int worker = 0; worker < 2; worker++) {
        begin_run(s, worker, worker);
        step(s, worker, 0, 100, 0);
    }
    tick(s, 0, NAN);
    step(s, 0, 50, 100, 4000);
    step(s, 1, 50, 100, 1000);
    const char *news = tick(s, 2, 100);
    CHECK(strstr(news, "  1  seed=1   50/100              2k tokens/s") != NULL);
    CHECK(strstr(news, "  2  seed=2   50/100              500 tokens/s") != NULL);
    CHECK(strstr(news, ", 2.5k tokens/s in all, ") != NULL);
    JOB_TELL(&s->job, .kind = JOB_RUN_LEFT, .worker = 1); /* its next run trains nothing yet, which counts */
    begin_run(s, 1, 2);
    step(s, 1, 0, 100, 0);
    step(s, 0, 100, 100, 4000);
    news = tick(s, 4, NAN);
    CHECK(strstr(news, "  1  seed=1  100/100              2k tokens/s") != NULL);
    CHECK(strstr(news, "  2  seed=3    0/100              225 tokens/s") != NULL);
    CHECK(strstr(news, "2.23k tokens/s in all") != NULL);
}

IN_SCENE(display_says_at_once_that_it_stops, 80, 0, 2, 100, .runs = 10, .done = 1, .running = 2)
{
    CHECK_TEXT(tick(s, 100, NAN), "");
    JOB_TELL(&s->job, .kind = JOB_STOPS);
    CHECK_TEXT(tick(s, 100.1, 90), "stopping, saving, 1/10 done, 2 running, 0 diverged, 0 failed\n");
    JOB_TELL(&s->job, .kind = JOB_STOPS);
    CHECK_TEXT(tick(s, 100.2, 90), "");
}
