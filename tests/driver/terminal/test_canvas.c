/* Lines redrawn in place, as the bytes that the terminal receives. */
#include "driver/terminal/terminal.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

/* The output since the last call. */
struct paper {
    char *text;
    size_t size, seen;
    FILE *file;
};

static void paper_init(struct paper *paper)
{
    *paper = (struct paper){0};
    paper->file = open_memstream(&paper->text, &paper->size);
}

static const char *paper_news(struct paper *paper)
{
    size_t seen = paper->seen;

    fflush(paper->file);
    paper->seen = paper->size;
    return paper->text + seen;
}

static void paper_release(struct paper *paper)
{
    fclose(paper->file);
    free(paper->text);
}

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
