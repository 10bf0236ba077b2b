#include "driver/ranks/inside.h"
#include "tests/test.h"

static char last[PUMP_LINE]; /* of the last pump */

/* What a pump copies of `text`; in static memory. */
static const char *pumped(const char *text, bool quiet, const char *more)
{
    static char passed[4096];
    int in[2] = {0}, out[2] = {0};
    struct pump pump;

    CHECK(pipe(in) == 0 && pipe(out) == 0);
    pump_init(&pump, in[0], out[1], quiet);
    CHECK(write(in[1], text, strlen(text)) == (ssize_t)strlen(text));
    pump_move(&pump);
    CHECK(write(in[1], more, strlen(more)) == (ssize_t)strlen(more));
    close(in[1]);
    pump_finish(&pump);
    CHECK(pump.ended);
    strcpy(last, pump.last);
    close(out[1]);
    ssize_t count = read(out[0], passed, sizeof(passed) - 1);
    passed[count > 0 ? count : 0] = '\0';
    close(out[0]);
    return passed;
}

TEST(pump_passes_everything_on)
{
    CHECK_TEXT(pumped("one\ntwo", false, " and\nrest"), "one\ntwo and\nrest");
}

TEST(pump_keeps_the_last_line_that_says_something)
{
    pumped("\n", true, "");
    CHECK_TEXT(last, "");
    pumped("one\ntwo\r\n\n", true, "--------------------------------------------------------\nnoise\n");
    CHECK_TEXT(last, "two");
    pumped("one\n", true, "the rest");
    CHECK_TEXT(last, "the rest");
}

TEST(pump_keeps_back_what_mpirun_says)
{
    const char *said =
        "[vm:12] PMIX ERROR: UNREACHABLE in file base.c at line 2\n"
        "a.nc: No space left on device\n"
        "--------------------------------------------------------\n"
        "Primary job  terminated normally, but 1 process returned\n"
        "a non-zero exit code.\n"
        "--------------------------------------------------------\n"
        "[vm:12] 2 more processes have sent help message help-opal-shmem-mmap.txt / target full\n"
        "[vm:12] Set MCA parameter \"orte_base_help_aggregate\" to 0 to see all messages\n"
        "mpirun: Forwarding signal 10 to job\n";

    CHECK_TEXT(pumped(said, true, "-- the end\n"), "a.nc: No space left on device\n-- the end\n");
}

TEST(pump_keeps_back_what_the_mpiexec_of_mpich_says)
{
    const char *said = "===================================================================================\n"
                       "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
                       "===================================================================================\n"
                       "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"
                       "This typically refers to a problem with your application.\n"
                       "Please see the FAQ page for debugging suggestions\n"
                       "[proxy:0:0@vm] main (pm/pmiserv/pmip.c:169): demux engine error waiting for event\n"
                       "a.nc: No space left on device\n";

    CHECK_TEXT(pumped(said, true, ""), "a.nc: No space left on device\n");
}

TEST(pump_ends_a_block_that_has_no_end)
{
    char said[1024] = "--------------------------------------------------------\n", *end = strchr(said, '\0');

    for (int i = 0; i < PUMP_BLOCK_LINES; i++)
        end = stpcpy(end, "noise\n");
    CHECK_TEXT(pumped(said, true, "a.nc: No space left on device\n"), "a.nc: No space left on device\n");
}
