/* What the logs of workers that have died tell. */
#include "tests/test.h"
#include "worker/host/log.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE "2026-11-23T06:10:02Z pid 25351 host n7 "
#define BEGUN LINE "worker 5\n" LINE "begins run 0a1b cell 3\n"
#define CRASHED "killed by signal 11, in run 0a1b, cell 3\n"
#define ABORTED "killed by signal 6, in run 0a1b, cell 3\n"
#define OWN "/worker-000004-2.log"

enum { BACKTRACE_LINE = 64, MOST = 4 };

struct heard {
    const char *folder;
    struct log_death death[MOST];
    int count;
    bool removed; /* the logs were gone when they were passed on */
};

static void folder_init(char folder[96])
{
    const char *temporary = getenv("TMPDIR");

    snprintf(folder, 96, "%.60s/normsweep-log-XXXXXX", temporary ? temporary : "/tmp");
    CHECK(mkdtemp(folder) != NULL);
}

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

/* Reads FOLDER/0a1b.log and removes it. */
static void read_kept(const char *folder, char *text, size_t size)
{
    char path[192];

    snprintf(path, sizeof(path), "%s/0a1b.log", folder);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;
    text[length] = '\0';
    if (file)
        fclose(file);
    unlink(path);
}

static bool hear(void *context, const struct log_death *death)
{
    struct heard *heard = context;
    char path[192];

    snprintf(path, sizeof(path), "%s/worker-%06lld-%lld.log", heard->folder, (long long)death->session,
        (long long)death->rank);
    heard->removed = access(path, F_OK) != 0;
    if (heard->count < MOST)
        heard->death[heard->count] = *death;
    heard->count++;
    return true;
}

static struct heard hear_all(const char *folder)
{
    struct heard heard = {.folder = folder};

    log_each_death(folder, hear, &heard);
    return heard;
}

/* Of up to 60 KB. */
TEST(log_death_before_a_long_backtrace)
{
    char folder[96], kept[8192];

    folder_init(folder);
    for (int lines = 0; lines <= 900; lines += 100) {
        write_file(folder, OWN, BEGUN CRASHED, lines);
        struct heard heard = hear_all(folder);
        CHECK(heard.count == 1 && heard.removed);
        CHECK_TEXT(heard.death[0].run, "0a1b");
        CHECK_TEXT(heard.death[0].host, "n7");
        CHECK_TEXT(heard.death[0].last, "killed by signal 11");
        CHECK(heard.death[0].cell == 3 && heard.death[0].rank == 2 && heard.death[0].session == 4);
        CHECK(heard.death[0].worker == 5);
        CHECK(heard.death[0].signal == SIGSEGV && heard.death[0].alone);
        read_kept(folder, kept, sizeof(kept));
        CHECK(strstr(kept, CRASHED) != NULL && strlen(kept) < 4096 + BACKTRACE_LINE);
        CHECK(lines == 0 || kept[strlen(kept) - 2] == '=');
        CHECK(hear_all(folder).count == 0);
    }
    CHECK(rmdir(folder) == 0);
}

/* The same for the coordinator, which sees its worker die. */
TEST(log_bequeathed_with_a_long_backtrace)
{
    char folder[96], kept[8192], last[LOG_LAST];

    folder_init(folder);
    write_file(folder, OWN, BEGUN CRASHED, 100);
    log_bequeath(folder, 4, 2, "0a1b", last, sizeof(last));
    CHECK_TEXT(last, "killed by signal 11");
    read_kept(folder, kept, sizeof(kept));
    CHECK(strncmp(kept, CRASHED, strlen(CRASHED)) == 0 && kept[strlen(kept) - 2] == '=');
    CHECK(hear_all(folder).count == 0);
    CHECK(rmdir(folder) == 0);
}

/* A run that stands in a later line is not the run in which the worker died. */
TEST(log_death_between_two_runs)
{
    char folder[96], path[192];

    folder_init(folder);
    write_file(folder, OWN, BEGUN "killed by signal 11, between two runs\n", 3);
    CHECK(hear_all(folder).count == 0);
    snprintf(path, sizeof(path), "%s" OWN, folder);
    CHECK(unlink(path) == 0);
    write_file(folder, OWN, "a library on host x1 in run 2\n" CRASHED, 3);
    struct heard heard = hear_all(folder);
    CHECK(heard.count == 1);
    CHECK_TEXT(heard.death[0].host, "?");
    CHECK(heard.death[0].worker == 2);
    log_forget(folder, "0a1b");
    CHECK(rmdir(folder) == 0);
}

TEST(log_deaths_of_several_workers)
{
    char folder[96];

    folder_init(folder);
    write_file(folder, OWN, BEGUN ABORTED, 0);
    write_file(folder, "/worker-000004-3.log", BEGUN ABORTED, 0);
    write_file(folder, "/worker-000004-4.log", BEGUN, 0);
    struct heard heard = hear_all(folder);
    CHECK(heard.count == 2 && !heard.death[0].alone && !heard.death[1].alone);
    CHECK(heard.death[0].signal == SIGABRT && heard.death[1].signal == SIGABRT);
    log_sweep(folder);
    log_forget(folder, "0a1b");
    CHECK(rmdir(folder) == 0);
}
