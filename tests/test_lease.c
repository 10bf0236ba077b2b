#include "driver/lease.h"
#include "tests/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct place {
    char folder[64], output[96], file[112];
};

static void place_init(struct place *place)
{
    const char *folder = getenv("TMPDIR");
    snprintf(place->folder, sizeof(place->folder), "%.40s/lease-XXXXXX", folder ? folder : "/tmp");
    CHECK(mkdtemp(place->folder) != NULL);
    snprintf(place->output, sizeof(place->output), "%s/a.nc", place->folder);
    snprintf(place->file, sizeof(place->file), "%s.lease", place->output);
}

static void place_release(const struct place *place)
{
    unlink(place->file);
    CHECK(rmdir(place->folder) == 0); /* nothing else was left in it */
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* A record as another machine would have written it, `age` seconds ago. */
static void write_foreign(const char *path, int age)
{
    char record[384];
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);

    memset(record, ' ', sizeof(record));
    int length = snprintf(record, sizeof(record), "pid 77 start 5 on elsewhere/pid:[1] stage 1 status 0");
    record[length] = ' ';
    record[sizeof(record) - 1] = '\n';
    CHECK(write(file, record, sizeof(record)) == (ssize_t)sizeof(record));
    close(file);
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age;
    times[1] = times[0];
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

TEST(lease_is_taken_once)
{
    struct lease *first = NULL, *second = NULL;
    struct place place = {0};
    struct error error;

    place_init(&place);
    CHECK(lease_take(&first, place.output, &error) == 0);
    CHECK(exists(place.file));
    CHECK(lease_take(&second, place.output, &error) == -1);
    CHECK(error.status == ERROR_ENVIRONMENT);
    CHECK(strstr(error.text, "in use by process") != NULL);
    CHECK(lease_renew(first, &error) == 0);
    lease_release(first);
    CHECK(!exists(place.file));
    place_release(&place);
}

/* A child that takes the lease, tells so, and waits to be killed. */
static pid_t holder(const char *output)
{
    int ready[2];
    char byte;

    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
        struct lease *lease;
        struct error error;
        alarm(60);
        close(ready[0]);
        if (lease_take(&lease, output, &error) == 0 && write(ready[1], "x", 1) == 1)
            pause();
        _exit(0);
    }
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    return child;
}

TEST(lease_of_a_dead_process_is_free_at_once)
{
    struct lease *lease = NULL;
    struct place place = {0};
    struct error error;

    place_init(&place);
    pid_t child = holder(place.output);
    CHECK(lease_take(&lease, place.output, &error) == -1);
    kill(child, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT); /* a zombie counts as dead */
    CHECK(lease_take(&lease, place.output, &error) == 0);
    waitpid(child, NULL, 0);
    lease_release(lease);
    place_release(&place);
}

TEST(lease_can_be_asked_for)
{
    struct lease *lease = NULL;
    struct place place = {0};
    struct error error;

    place_init(&place);
    CHECK(!lease_is_held(place.output));
    CHECK(lease_take(&lease, place.output, &error) == 0);
    CHECK(lease_is_held(place.output));
    lease_release(lease);
    CHECK(!lease_is_held(place.output));
    write_foreign(place.file, 50);
    CHECK(lease_is_held(place.output));
    write_foreign(place.file, 70);
    CHECK(!lease_is_held(place.output) && exists(place.file));
    place_release(&place);
}

TEST(lease_lies_where_a_link_leads)
{
    struct lease *lease = NULL;
    struct place place = {0};
    struct error error;
    char link_[112], beside[128];

    place_init(&place);
    snprintf(link_, sizeof(link_), "%s/b.nc", place.folder);
    snprintf(beside, sizeof(beside), "%s.lease", link_);
    CHECK(symlink("a.nc", link_) == 0);
    CHECK(lease_take(&lease, link_, &error) == 0);
    CHECK(exists(place.file) && !exists(beside));
    lease_release(lease);
    unlink(link_);
    place_release(&place);
}

TEST(lease_of_another_machine_dies_after_60_s)
{
    struct lease *lease = NULL;
    struct place place = {0};
    struct error error;

    place_init(&place);
    write_foreign(place.file, 50);
    CHECK(lease_take(&lease, place.output, &error) == -1);
    CHECK(strstr(error.text, "process 77 on elsewhere (") != NULL);
    write_foreign(place.file, 70);
    CHECK(lease_take(&lease, place.output, &error) == 0);
    lease_release(lease);
    place_release(&place);
}

TEST(lease_that_is_cut_short_is_judged_by_its_age)
{
    struct lease *lease = NULL;
    struct place place = {0};
    struct error error;

    place_init(&place);
    write_foreign(place.file, 0);
    CHECK(truncate(place.file, 20) == 0);
    CHECK(lease_take(&lease, place.output, &error) == -1);
    write_foreign(place.file, 0);
    CHECK(truncate(place.file, 20) == 0);
    struct timespec old[2] = {{1000, 0}, {1000, 0}};
    CHECK(utimensat(AT_FDCWD, place.file, old, 0) == 0);
    CHECK(lease_take(&lease, place.output, &error) == 0);
    lease_release(lease);
    place_release(&place);
}

TEST(lease_that_was_lost_is_noticed)
{
    struct lease *lease = NULL;
    struct place place = {0};
    struct error error;

    place_init(&place);
    CHECK(lease_take(&lease, place.output, &error) == 0);
    write_foreign(place.file, 0);
    CHECK(lease_renew(lease, &error) == -1);
    CHECK(error.status == ERROR_ENVIRONMENT);
    lease_release(lease);
    CHECK(exists(place.file)); /* it is another's */
    place_release(&place);
}

TEST(lease_of_an_output_that_cannot_be_written)
{
    struct lease *lease = NULL;
    struct error error;

    CHECK(lease_take(&lease, "/nowhere/at/all/a.nc", &error) == -1);
    CHECK(error.status == ERROR_INPUT);
    CHECK_TEXT(error.text, "/nowhere/at/all/a.nc: No such file or directory");
}

TEST(lease_tells_the_launcher_of_its_coordinator)
{
    struct lease *launcher = NULL, *coordinator = NULL;
    struct place place = {0};
    struct error error;

    place_init(&place);
    CHECK(lease_take(&launcher, place.output, &error) == 0);
    CHECK(lease_news(launcher).stage == STAGE_NONE);
    CHECK(lease_join(&coordinator, place.output, "1.1", &error) == -1);
    CHECK(lease_join(&coordinator, place.output, lease_token(launcher), &error) == 0);
    CHECK(lease_news(launcher).stage == STAGE_STARTING);
    lease_tell(coordinator, STAGE_READY, 0);
    CHECK(lease_news(launcher).stage == STAGE_READY && !lease_news(launcher).dead);
    CHECK(!lease_news(launcher).kept);
    lease_tell_kept(coordinator);
    CHECK(lease_news(launcher).kept);
    long beat = lease_news(launcher).beat;
    CHECK(lease_renew(coordinator, &error) == 0 && lease_news(launcher).beat == beat + 1);
    lease_tell(coordinator, STAGE_ENDED, 75);
    CHECK(lease_news(launcher).stage == STAGE_ENDED && lease_news(launcher).status == 75);
    lease_release(coordinator);
    CHECK(exists(place.file));
    lease_release(launcher);
    place_release(&place);
}

TEST(lease_shuts_out_a_coordinator_of_an_earlier_life)
{
    struct lease *launcher = NULL, *old = NULL, *new = NULL;
    struct place place = {0};
    struct error error;
    char token[64];

    place_init(&place);
    CHECK(lease_take(&launcher, place.output, &error) == 0);
    snprintf(token, sizeof(token), "%s", lease_token(launcher));
    CHECK(lease_join(&old, place.output, token, &error) == 0);
    CHECK(lease_begin_life(launcher, &error) == 0);
    CHECK(lease_news(launcher).stage == STAGE_NONE);
    CHECK(lease_renew(old, &error) == -1 && error.status == ERROR_ENVIRONMENT);
    CHECK(lease_news(launcher).stage == STAGE_NONE);
    lease_release(old);
    CHECK(lease_join(&old, place.output, token, &error) == -1);
    CHECK(lease_join(&new, place.output, lease_token(launcher), &error) == 0);
    CHECK(lease_renew(launcher, &error) == 0 && lease_renew(new, &error) == 0);
    lease_release(new);
    lease_release(launcher);
    place_release(&place);
}

TEST(lease_tells_of_a_dead_coordinator)
{
    struct lease *launcher = NULL;
    struct place place = {0};
    struct error error;

    place_init(&place);
    CHECK(lease_take(&launcher, place.output, &error) == 0);
    pid_t child = fork();
    if (child == 0) {
        struct lease *lease;
        _exit(lease_join(&lease, place.output, lease_token(launcher), &error) != 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(lease_news(launcher).dead);
    lease_release(launcher);
    place_release(&place);
}
