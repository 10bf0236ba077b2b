/* What the logs of workers that have died tell. */
#include "tests/scratch.h"
#include "worker/host/host.h"

#define LINE "2026-11-23T06:10:02Z pid 25351 host n7 "
#define BEGUN LINE "worker 5\n" LINE "begins run 0a1b cell 3\n"
#define CRASHED "killed by signal 11, in run 0a1b, cell 3\n"
#define OWN "/worker-000004-2.log"

enum { BACKTRACE_LINE = 64, LAST = 40 };

static void write_file(const char *folder, const char *name, const char *text, int lines)
{
    char path[192];

    snprintf(path, sizeof(path), "%s%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    if (!file)
        return;
    fputs(text, file);
    for (int i = 0; i < lines; i++)
        fprintf(file, "==== %8d 0x00007f8f2c0aa000 in run 77, cell 1 of host x9 ===\n", i);
    fclose(file);
}

/* Reads FOLDER/0a1b.log, for the caller to free, and removes it. */
static char *read_kept(const char *folder)
{
    char path[192];
    size_t size;

    snprintf(path, sizeof(path), "%s/0a1b.log", folder);
    char *text = get_bytes(path, &size);
    unlink(path);
    return text;
}

/* Logs of up to 60 KB: the line about the signal is found and kept, with the end of the log behind it. */
TEST(log_bequeathed_with_a_long_backtrace)
{
    char folder[SCRATCH_PATH], last[LAST];

    scratch_folder(folder);
    for (int lines = 0; lines <= 900; lines += 100) {
        write_file(folder, OWN, BEGUN CRASHED, lines);
        log_bequeath(folder, 4, 2, "0a1b", last, sizeof(last));
        CHECK_TEXT(last, "killed by signal 11");
        char *kept = read_kept(folder);
        CHECK(kept && strstr(kept, CRASHED) && strlen(kept) < 4096 + BACKTRACE_LINE);
        CHECK(lines == 0 || (kept && kept[strlen(kept) - 2] == '='));
        free(kept);
    }
    CHECK(rmdir(folder) == 0);
}

/* Without a run nothing is kept, and a log without the line tells nothing. */
TEST(log_bequeathed_by_nobody)
{
    char folder[SCRATCH_PATH], last[LAST];

    scratch_folder(folder);
    write_file(folder, OWN, BEGUN "killed by signal 6, between two runs\n", 3);
    log_bequeath(folder, 4, 2, NULL, last, sizeof(last));
    CHECK_TEXT(last, "killed by signal 6");
    write_file(folder, OWN, BEGUN, 0);
    log_bequeath(folder, 4, 2, NULL, last, sizeof(last));
    CHECK_TEXT(last, "");
    log_bequeath(folder, 4, 2, NULL, last, sizeof(last)); /* there is no log */
    CHECK_TEXT(last, "");
    CHECK(rmdir(folder) == 0);
}

/* Of an earlier start. */
TEST(log_files_are_logs_of_workers_alone)
{
    char folder[SCRATCH_PATH];

    scratch_folder(folder);
    write_file(folder, OWN, BEGUN, 0);
    write_file(folder, "/worker-000004-3.log", BEGUN, 0);
    write_file(folder, "/0a1b.log", CRASHED, 0);
    remove_matching(folder, LOG_FILES);
    CHECK(rmdir(folder) != 0);
    log_forget(folder, "0a1b");
    CHECK(rmdir(folder) == 0);
}
