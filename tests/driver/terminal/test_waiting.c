/* The status line of a busy command, as the bytes that the terminal receives. */
#include "driver/terminal/terminal.h"
#include "tests/test.h"
#include "worker/host/host.h"

#include <stdlib.h>

static char *written(int rows, bool says)
{
    const struct terminal terminal = {.columns = 20, .rows = rows};
    struct waiting waiting;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    waiting_begin(&waiting, file, &terminal);
    if (says) {
        waiting_say(&waiting, "cell %d of 3", 1);
        waiting_say(&waiting, "cell %d of 3", 2);
    }
    waiting_end(&waiting);
    fclose(file);
    return text;
}

TEST(waiting_lines_replace_one_another_and_vanish)
{
    char *text = written(24, true);

    CHECK_TEXT(text, "cell 1 of 3\x1b[K\n\x1b[J"
                     "\r\x1b[1Acell 2 of 3\x1b[K\n\x1b[J"
                     "\r\x1b[1A\x1b[J");
    free(text);
}

TEST(waiting_is_silent_without_a_terminal)
{
    char *text = written(0, true);

    CHECK_TEXT(text, "");
    free(text);
}

TEST(waiting_is_not_due_at_once)
{
    const struct terminal terminal = {.columns = 20, .rows = 5}, none = {.columns = 80};
    struct waiting waiting;
    char *text = written(24, false);

    CHECK_TEXT(text, "");
    free(text);
    waiting_begin(&waiting, stderr, &terminal);
    CHECK(!waiting_is_due(&waiting));
    waiting.next = clock_now();
    CHECK(waiting_is_due(&waiting));
    waiting_begin(&waiting, stderr, &none);
    CHECK(!waiting_is_due(&waiting));
}
