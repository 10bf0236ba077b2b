/* Lines redrawn in place, as the bytes that the terminal receives. */
#include "driver/terminal/terminal.h"
#include "tests/paper.h"
#include "tests/test.h"
#include "worker/host/host.h"

TEST(canvas_passes_over_what_has_not_changed)
{
    struct paper paper;

    paper_init(&paper);
    struct canvas canvas = {.file = paper.file, .terminal = {.columns = 80, .rows = 24}};
    canvas_draw(&canvas, "one\ntwo\nthree\n");
    CHECK_TEXT(paper_news(&paper), "one\x1b[K\ntwo\x1b[K\nthree\x1b[K\n\x1b[J");
    canvas_draw(&canvas, "one\ntwos\n");
    CHECK_TEXT(paper_news(&paper), "\r\x1b[3A\ntwos\x1b[K\n\x1b[J");
    canvas_draw(&canvas, "one\ntwo\nthree\n");
    CHECK_TEXT(paper_news(&paper), "\r\x1b[2A\ntwo\x1b[K\nthree\x1b[K\n\x1b[J");
    canvas_clear(&canvas);
    CHECK_TEXT(paper_news(&paper), "\r\x1b[3A\x1b[J");
    canvas_clear(&canvas);
    CHECK_TEXT(paper_news(&paper), "");
    canvas_draw(&canvas, "one\n");
    CHECK_TEXT(paper_news(&paper), "one\x1b[K\n\x1b[J");
    canvas_release(&canvas);
    paper_release(&paper);
}

TEST(canvas_is_cut_to_the_terminal)
{
    struct paper paper;

    paper_init(&paper);
    struct canvas canvas = {.file = paper.file, .terminal = {.columns = 5, .rows = 3}};
    canvas_draw(&canvas, "abcde\n\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\nlost\n");
    CHECK_TEXT(paper_news(&paper), "abcd\x1b[K\n\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\x1b[K\n\x1b[J");
    canvas_draw(&canvas, "\x1b[31mab\x1b[0mcd\n\x1b[38;5;17mabcdefg\x1b[0m\n");
    CHECK_TEXT(
        paper_news(&paper), "\r\x1b[2A\x1b[31mab\x1b[0mcd\x1b[K\n\x1b[38;5;17mabcd\x1b[0m\x1b[K\n\x1b[J");
    canvas_release(&canvas);
    paper_release(&paper);
}

/* After shrinking, lines may be wrapped and the drawing may have moved. */
TEST(canvas_on_a_terminal_that_shrinks)
{
    struct terminal wider = {.columns = 90, .rows = 30}, narrower = {.columns = 60, .rows = 30};
    struct paper paper;

    paper_init(&paper);
    struct canvas canvas = {.file = paper.file, .terminal = {.columns = 80, .rows = 24}};
    canvas_draw(&canvas, "one\ntwo\n");
    paper_news(&paper);
    canvas_resize(&canvas, &wider);
    canvas_draw(&canvas, "one\ntwos\n");
    CHECK_TEXT(paper_news(&paper), "\r\x1b[2A\ntwos\x1b[K\n\x1b[J");
    canvas_resize(&canvas, &narrower);
    canvas_draw(&canvas, "one\ntwos\n");
    CHECK_TEXT(paper_news(&paper), "\x1b[H\x1b[Jone\x1b[K\ntwos\x1b[K\n\x1b[J");
    canvas_release(&canvas);
    paper_release(&paper);
}

/* A whole screen is redrawn completely each time, which erases typed characters. Earlier output is
 * scrolled away, not lost. */
TEST(canvas_has_the_whole_screen)
{
    struct terminal wider = {.columns = 90, .rows = 3};
    struct paper paper;

    paper_init(&paper);
    struct canvas canvas = {.file = paper.file, .terminal = {.columns = 80, .rows = 3}, .whole_screen = true};
    canvas_draw(&canvas, "one\n");
    CHECK_TEXT(paper_news(&paper), "\n\n\n\x1b[Hone\x1b[K\n\x1b[J");
    canvas_resize(&canvas, &canvas.terminal);
    canvas_draw(&canvas, "one\n");
    CHECK_TEXT(paper_news(&paper), "\x1b[Hone\x1b[K\n\x1b[J");
    canvas_resize(&canvas, &wider);
    canvas_draw(&canvas, "one\n");
    CHECK_TEXT(paper_news(&paper), "\x1b[H\x1b[J\x1b[Hone\x1b[K\n\x1b[J");
    canvas_release(&canvas);
    paper_release(&paper);
}

/* ---- the line of a busy command ---- */

static void write_lines(struct paper *paper, int rows, bool says)
{
    const struct terminal terminal = {.columns = 20, .rows = rows};
    struct waiting waiting;

    paper_init(paper);
    waiting_begin(&waiting, paper->file, &terminal);
    if (says) {
        waiting_say(&waiting, "cell %d of 3", 1);
        waiting_say(&waiting, "cell %d of 3", 2);
    }
    waiting_end(&waiting);
}

TEST(waiting_lines_replace_one_another_and_vanish)
{
    struct paper paper;

    write_lines(&paper, 24, true);
    CHECK_TEXT(paper_news(&paper), "cell 1 of 3\x1b[K\n\x1b[J"
                                   "\r\x1b[1Acell 2 of 3\x1b[K\n\x1b[J"
                                   "\r\x1b[1A\x1b[J");
    paper_release(&paper);
}

TEST(waiting_is_silent_without_a_terminal)
{
    struct paper paper;

    write_lines(&paper, 0, true);
    CHECK_TEXT(paper_news(&paper), "");
    paper_release(&paper);
}

TEST(waiting_is_not_due_at_once)
{
    const struct terminal terminal = {.columns = 20, .rows = 5}, none = {.columns = 80};
    struct waiting waiting;
    struct paper paper;

    write_lines(&paper, 24, false);
    CHECK_TEXT(paper_news(&paper), "");
    paper_release(&paper);
    waiting_begin(&waiting, stderr, &terminal);
    CHECK(!waiting_is_due(&waiting));
    waiting.next = clock_now();
    CHECK(waiting_is_due(&waiting));
    waiting_begin(&waiting, stderr, &none);
    CHECK(!waiting_is_due(&waiting));
}
