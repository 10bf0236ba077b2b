/* Scripts that are told of a sweep's end, and that do not end themselves. */
#include "driver/commands/notify.h"
#include "tests/failing.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What notify prints, in static memory. */
static const char *said(const char *script, const char *text)
{
    static char line[256];
    FILE *kept = tmpfile();
    int before = dup(STDERR_FILENO);

    line[0] = '\0';
    if (!kept || before < 0)
        return "no file";
    fflush(stderr);
    dup2(fileno(kept), STDERR_FILENO);
    notify(script, text, strlen(text));
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(kept);
    size_t length = fread(line, 1, sizeof(line) - 1, kept);
    line[length] = '\0';
    fclose(kept);
    return line;
}

TEST(notify_hands_the_text_to_the_script)
{
    CHECK_TEXT(said("read line && test \"$line\" = hello", "hello\n"), "");
    CHECK_TEXT(said("test -z \"$(cat)\"", ""), "");
    CHECK_TEXT(said("test -t 0", ""), "normsweep run: --notify 'test -t 0' ended with status 1\n");
}

static void let_time_pass(void *context)
{
    (void)context;
    failing_clock(NOTIFY_SECONDS);
}

/* The time that a script has passes at once; it and what it has started are ended. */
TEST(notify_ends_a_script_that_hangs)
{
    char path[] = "/tmp/normsweep-notify-XXXXXX", script[96], expected[160];
    int file = mkstemp(path), group = 0;

    snprintf(script, sizeof(script), "echo $$ >%s; sleep 1000 & wait", path);
    snprintf(expected, sizeof(expected), "' was ended after %d s\n", NOTIFY_SECONDS);
    failing_before(40, "nanosleep", let_time_pass, NULL);
    CHECK(strstr(said(script, "{}"), expected) != NULL);
    failing_clock(0);
    CHECK(failing_end());
    FILE *kept = fdopen(file, "r");
    CHECK(kept && fscanf(kept, "%d", &group) == 1 && group > 1);
    if (kept)
        fclose(kept);
    unlink(path);
    if (group <= 1)
        return;
    for (int i = 0; i < 500 && kill(-group, 0) == 0; i++)
        usleep(10000);
    CHECK(kill(-group, 0) != 0 && errno == ESRCH);
}

TEST(notify_without_memory_or_processes)
{
    failing_next("memfd_create", ENOMEM);
    CHECK_TEXT(
        said("true", "{}"), "normsweep run: --notify 'true' cannot be started: Cannot allocate memory\n");
    CHECK(failing_end());
}
