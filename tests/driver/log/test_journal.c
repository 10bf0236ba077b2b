/* The log of a sweep: lines in their order, files that hold something else, disks that are full. */
#include "driver/log/log.h"
#include "tests/driver/output/place.h"
#include "tests/failing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* The log of a place, whose path is its output's. */
static struct journal *log_of(struct site *place)
{
    struct journal *journal = NULL;

    CHECK(journal_open(&journal, place->output, &place->error) == 0);
    return journal;
}

/* A line with the event that a letter from a on stands for. */
static void tell(struct journal *journal, const char *letter, bool waits)
{
    struct json_writer *writer = journal_begin(journal, (enum log_event)(letter[0] - 'a'));

    if (writer)
        journal_end(journal, waits);
}

/* The letter of the event that a text begins with; '?': none. */
static char letter_of(const char *text)
{
    size_t length = strcspn(text, "\"");

    for (int i = 0; i < LOG_EVENT_COUNT; i++)
        if (strlen(log_event_name[i]) == length && strncmp(log_event_name[i], text, length) == 0)
            return (char)('a' + i);
    return '?';
}

/* The events in the file, and a '|' for each line that is not one. */
static const char *told(const struct site *place)
{
    static char letters[64];
    char line[256];
    size_t count = 0;
    FILE *file = fopen(place->output, "r");

    while (file && fgets(line, sizeof(line), file) && count < sizeof(letters) - 1) {
        const char *event = strstr(line, "\"event\": \"");
        bool whole = event && strncmp(line, "{\"version\": 1, ", 15) == 0 && strstr(line, "}\n");
        letters[count++] = whole ? letter_of(event + 10) : '|';
    }
    letters[count] = '\0';
    if (file)
        fclose(file);
    return letters;
}

IN_PLACE(journal_keeps_lines_in_order_until_they_are_safe)
{
    struct journal *journal = log_of(place);

    tell(journal, "a", false);
    CHECK_TEXT(told(place), "a");
    tell(journal, "b", true);
    tell(journal, "c", false);
    CHECK_TEXT(told(place), "a");
    journal_commit(journal, true);
    CHECK_TEXT(told(place), "abc");
    tell(journal, "d", true);
    tell(journal, "e", false);
    journal_commit(journal, false);
    CHECK_TEXT(told(place), "abce");
    for (int i = 0; i < 40; i++)
        tell(journal, "f", i % 2);
    journal_close(journal);
    CHECK(strlen(told(place)) == 4 + 20);
}

TEST(journal_that_is_none_does_nothing)
{
    struct error error;

    CHECK(journal_begin(NULL, LOG_RUN_ENDED) == NULL && !journal_complains(NULL, true, &error));
    journal_commit(NULL, true);
    journal_close(NULL);
}

IN_PLACE(journal_refuses_a_file_of_something_else)
{
    static const char *const others[] = {"learning_rate: 1\n", "{", "\n", "{\"version\": ", "CDF\5"};
    static const bool fine[] = {false, true, false, true, false};
    struct journal *journal;

    for (int i = 0; i < 5; i++) {
        put_text(place->output, others[i]);
        int status = journal_open(&journal, place->output, &place->error);
        CHECK(fine[i] ? status == 0 : status < 0 && place->error.status == ERROR_INPUT && !journal);
        CHECK(fine[i] || strstr(place->error.text, ": is not a log of normsweep") != NULL);
        tell(journal, "m", false);
        if (fine[i])
            CHECK_TEXT(told(place), "|m"); /* the torn line is left alone */
        journal_close(journal);
    }
}

/* Neither is waited for. */
IN_PLACE(journal_refuses_what_is_not_a_regular_file)
{
    struct journal *journal;

    CHECK(mkfifo(place->output, 0600) == 0);
    const char *const paths[] = {place->output, "/dev/null"};
    for (int i = 0; i < 2; i++) {
        CHECK(journal_open(&journal, paths[i], &place->error) < 0 && place->error.status == ERROR_INPUT &&
              !journal);
        CHECK(strstr(place->error.text, ": is not a regular file") != NULL);
    }
}

IN_PLACE(journal_goes_on_where_a_full_disk_cut_it)
{
    struct rlimit before, small;
    struct stat status;
    struct journal *journal = log_of(place);

    signal(SIGXFSZ, SIG_IGN);
    tell(journal, "a", false);
    getrlimit(RLIMIT_FSIZE, &before);
    CHECK(stat(place->output, &status) == 0);
    small = before;
    small.rlim_cur = (rlim_t)status.st_size + 10; /* room for the beginning of a line */
    setrlimit(RLIMIT_FSIZE, &small);
    tell(journal, "b", false);
    CHECK(journal_complains(journal, true, &place->error));
    CHECK(strstr(place->error.text, "No space left on device; events are missing from this log") != NULL);
    tell(journal, "c", false);
    CHECK(!journal_complains(journal, true, &place->error)); /* once */
    setrlimit(RLIMIT_FSIZE, &before);
    tell(journal, "d", false);
    tell(journal, "e", false);
    CHECK_TEXT(told(place), "a|de");
    journal_close(journal);
    signal(SIGXFSZ, SIG_DFL);
}

/* Each allocation fails once: a line is lost and reported, or the log is refused; the others are there. */
IN_PLACE(journal_without_memory)
{
    struct journal *journal;

    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);) {
        truncate(place->output, 0);
        failing_anew(kind->calls, kind->cause);
        int opened = journal_open(&journal, place->output, &place->error);
        tell(journal, "a", true);
        tell(journal, "b", false);
        journal_commit(journal, true);
        bool failed = failing_end(), complains = journal_complains(journal, true, &place->error);
        CHECK(opened == 0 || (failed && !journal));
        CHECK(opened < 0 || complains || strcmp(told(place), "ab") == 0);
        CHECK(!complains || (failed && strlen(told(place)) < 2));
        journal_close(journal);
    }
}
