#include "driver/progress.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

/* What has been written to a progress's file so far; starts anew. */
struct paper {
    char *text;
    size_t size;
    FILE *file;
};

static void paper_init(struct paper *paper)
{
    *paper = (struct paper){0};
    paper->file = open_memstream(&paper->text, &paper->size);
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
    struct progress *p = progress_new(paper.file, (struct screen){0, 0}, 2, 100);
    progress_begin(p, 0, "seed=1", 10, 100);
    progress_step(p, 0, 0, 100, 0, 100);
    progress_show(p, &tally, 100);
    progress_step(p, 0, 50, 100, 60000, 129);
    progress_show(p, &tally, 129.9);
    fflush(paper.file);
    CHECK_TEXT(paper.text, "");
    progress_show(p, &tally, 130);
    /* half of a run of cost 10 in 30 s, 85 of 90 left */
    CHECK_TEXT(paper.text, "1/10 done, 2 running, 0 diverged, 0 failed, 2k tokens/s, 8 min 30 s left\n");
    progress_show(p, &tally, 159);
    CHECK(strchr(paper.text, '\n') == strrchr(paper.text, '\n'));
    progress_free(p);
    paper_release(&paper);
}

TEST(progress_block_on_a_terminal)
{
    struct tally tally = {.runs = 3, .running = 1, .cost_left = 3};
    struct paper paper;

    paper_init(&paper);
    struct progress *p = progress_new(paper.file, (struct screen){40, 10}, 2, 0);
    progress_begin(p, 1, "learning_rate=0.001 weight_decay=0.1 norm_placement=post", 1, 0);
    progress_loss(p, 1, 3.25);
    progress_show(p, &tally, 0);
    CHECK_TEXT(paper.text, "  1  idle\x1b[K\n"
                           "  2  learning_rate=0.001 weight_decay=0\x1b[K\n"
                           "0/3 done, 1 running, 0 diverged, 0 fail\x1b[K\n");
    progress_clear(p);
    CHECK(strstr(paper.text, "\x1b[3A\x1b[J") != NULL);
    progress_free(p);
    paper_release(&paper);
}

/* What lies before the step from which a run goes on was done in another time: neither pace nor rate has it.
 */
TEST(progress_of_a_resumed_run)
{
    struct tally tally = {.runs = 10, .done = 1, .running = 1, .cost_left = 90};
    struct paper paper;

    paper_init(&paper);
    struct progress *p = progress_new(paper.file, (struct screen){0, 0}, 1, 100);
    progress_begin(p, 0, "seed=1", 10, 100);
    progress_step(p, 0, 40, 100, 48000000, 100);
    progress_show(p, &tally, 100);
    progress_step(p, 0, 90, 100, 48060000, 129);
    progress_show(p, &tally, 130);
    /* five of the cost in 30 s; 81 are left */
    CHECK_TEXT(paper.text, "1/10 done, 1 running, 0 diverged, 0 failed, 2k tokens/s, 8 min 06 s left\n");
    progress_free(p);
    paper_release(&paper);
}

TEST(progress_fits_the_screen)
{
    struct tally tally = {.runs = 3};
    struct paper paper;
    int lines = 0;

    paper_init(&paper);
    struct progress *p = progress_new(paper.file, (struct screen){80, 6}, 100, 0);
    progress_show(p, &tally, 0);
    for (const char *c = paper.text; *c; c++)
        lines += *c == '\n';
    CHECK(lines == 5);
    CHECK(strstr(paper.text, "... and 97 workers more") != NULL);
    progress_free(p);
    paper_release(&paper);
}

TEST(progress_durations)
{
    char text[32];

    CHECK_TEXT(progress_duration(4.21, text, sizeof(text)), "4.2 s");
    CHECK_TEXT(progress_duration(59.4, text, sizeof(text)), "59 s");
    CHECK_TEXT(progress_duration(59.6, text, sizeof(text)), "1 min 00 s");
    CHECK_TEXT(progress_duration(7500, text, sizeof(text)), "2 h 05 min");
}
