/* Leases that are taken, renewed, lost and told of; and the place of all tests of outputs. */
#include "tests/driver/output/place.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

void place_run(void (*test)(struct site *place))
{
    struct site place = {.error = {.text = ""}};

    scratch_folder(place.folder);
    snprintf(place.output, sizeof(place.output), "%s/a.nc", place.folder);
    snprintf(place.other, sizeof(place.other), "%s/b.nc", place.folder);
    snprintf(place.file, sizeof(place.file), "%s.lease", place.output);
    test(&place);
    unlink(place.file);
    unlink(place.output);
    unlink(place.other);
    CHECK(rmdir(place.folder) == 0);
}

int place_clear(const struct site *place, size_t longer)
{
    DIR *entries = opendir(place->folder);
    int removed = 0;

    for (const struct dirent *entry; entries && (entry = readdir(entries));)
        if (entry->d_name[0] != '.' && (!longer || strlen(entry->d_name) == strlen("a.nc.lease") + longer))
            removed += unlinkat(dirfd(entries), entry->d_name, 0) == 0;
    if (entries)
        closedir(entries);
    return removed;
}

void place_lend(const struct site *place, int pid, int age)
{
    char record[PLACE_RECORD], new[128];

    snprintf(new, sizeof(new), "%s.made", place->file);
    int file = open(new, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
    memset(record, ' ', sizeof(record));
    int length = snprintf(
        record, sizeof(record), "pid %d start 5 on elsewhere/pid:[1] stage 1 status 0 life 0 kept 0", pid);
    record[length] = ' ';
    record[sizeof(record) - 1] = '\n';
    CHECK(write(file, record, sizeof(record)) == (ssize_t)sizeof(record));
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age;
    times[1] = times[0];
    CHECK(futimens(file, times) == 0);
    close(file);
    CHECK(rename(new, place->file) == 0);
}

bool place_is_held(const struct site *place)
{
    int unknown;

    return lease_is_held(place->output, &unknown);
}

struct lease *place_take(const struct site *place)
{
    struct lease *lease = NULL;
    struct error error = {.text = ""};

    if (lease_take(&lease, place->output, &error) != 0)
        test_fail(__FILE__, __LINE__, "%s", error.text);
    return lease;
}

IN_PLACE(lease_is_taken_once)
{
    struct lease *second = NULL;

    struct lease *first = place_take(place);
    CHECK(file_exists(place->file));
    CHECK(lease_take(&second, place->output, &place->error) == -1);
    CHECK(place->error.status == ERROR_ENVIRONMENT);
    CHECK(strstr(place->error.text, "in use by process") != NULL);
    CHECK(strstr(place->error.text, "; wait for it with status --wait; another sweep needs another -o") !=
          NULL);
    CHECK(lease_renew(first, &place->error) == 0);
    lease_release(first);
    CHECK(!file_exists(place->file));
}

/* Starts a child that takes the lease, reports this, and waits to be killed. */
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

IN_PLACE(lease_of_a_dead_process_is_free_at_once)
{
    struct lease *lease = NULL;

    pid_t child = holder(place->output);
    CHECK(lease_take(&lease, place->output, &place->error) == -1);
    kill(child, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT); /* a zombie counts as dead */
    CHECK(lease_take(&lease, place->output, &place->error) == 0);
    waitpid(child, NULL, 0);
    lease_release(lease);
}

IN_PLACE(lease_of_another_machine_dies_after_60_s)
{
    struct lease *lease = NULL;

    place_lend(place, 77, 50);
    CHECK(place_is_held(place));
    CHECK(lease_take(&lease, place->output, &place->error) == -1);
    CHECK(strstr(place->error.text, "process 77 on elsewhere (") != NULL);
    place_lend(place, 77, 70);
    CHECK(!place_is_held(place) && file_exists(place->file));
    CHECK(lease_take(&lease, place->output, &place->error) == 0);
    lease_release(lease);
}

IN_PLACE(lease_lies_where_a_link_leads)
{
    struct lease *lease = NULL;
    char link_[112], beside[128];

    snprintf(link_, sizeof(link_), "%s/b.nc", place->folder);
    snprintf(beside, sizeof(beside), "%s.lease", link_);
    CHECK(symlink("a.nc", link_) == 0);
    CHECK(lease_take(&lease, link_, &place->error) == 0);
    CHECK(file_exists(place->file) && !file_exists(beside));
    lease_release(lease);
    unlink(link_);
}

IN_PLACE(lease_that_was_lost_is_noticed)
{
    struct lease *lease = place_take(place);
    CHECK(unlink(place->file) == 0 && lease_renew(lease, &place->error) == -1);
    place_lend(place, 77, 0);
    CHECK(lease_renew(lease, &place->error) == LEASE_TAKEN);
    CHECK(place->error.status == ERROR_ENVIRONMENT);
    lease_release(lease);
    CHECK(file_exists(place->file)); /* the file belongs to another process */
}

TEST(lease_of_an_output_that_cannot_be_written)
{
    struct lease *lease = NULL;
    struct error error;

    CHECK(lease_take(&lease, "/nowhere/at/all/a.nc", &error) == -1);
    CHECK(error.status == ERROR_INPUT);
    CHECK_TEXT(error.text,
        "/nowhere/at/all/a.nc: the folder /nowhere/at/all cannot be written: No such file or directory");
    CHECK(lease_take(&lease, "/proc/a.nc", &error) == -1);
    CHECK(error.status == ERROR_INPUT);
    CHECK(strncmp(error.text, "/proc/a.nc: the folder /proc cannot be written: ", 48) == 0);
}

enum { SOMEBODY = 65534 };

/* Is the lease refused as a file of another user? */
static int take_as_somebody(void *context)
{
    struct site *place = context;
    struct lease *lease = NULL;
    char expected[192];

    snprintf(expected, sizeof(expected), "%s: Operation not permitted", place->file);
    if (setuid(SOMEBODY) != 0 || access(place->folder, W_OK) != 0)
        return true;
    return lease_take(&lease, place->output, &place->error) == -1 && place->error.status == ERROR_INPUT &&
           strcmp(place->error.text, expected) == 0;
}

/* In a sticky folder only the owner of a file may replace it, but anyone may create one. */
IN_PLACE(lease_that_another_user_owns_is_named_and_not_its_folder)
{
    if (geteuid() != 0) {
        test_skip("only root can act as another user: run as root to check outputs that others own");
        return;
    }
    CHECK(chmod(place->folder, 01777) == 0);
    place_lend(place, 77, 1000);
    CHECK(in_child(take_as_somebody, place) == true);
}

IN_PLACE(lease_tells_the_launcher_of_its_coordinator)
{
    struct lease *coordinator = NULL;

    struct lease *launcher = place_take(place);
    CHECK(lease_news(launcher).stage == STAGE_NONE);
    CHECK(lease_join(&coordinator, place->output, "1.1", &place->error) == -1);
    CHECK(lease_join(&coordinator, place->output, lease_token(launcher), &place->error) == 0);
    CHECK(lease_news(launcher).stage == STAGE_STARTING);
    lease_tell(coordinator, STAGE_READY, 0);
    CHECK(lease_news(launcher).stage == STAGE_READY && !lease_news(launcher).dead);
    CHECK(!lease_news(launcher).kept);
    lease_tell_kept(coordinator);
    CHECK(lease_news(launcher).kept);
    long beat = lease_news(launcher).beat;
    CHECK(lease_renew(coordinator, &place->error) == 0 && lease_news(launcher).beat == beat + 1);
    lease_tell(coordinator, STAGE_ENDED, 75);
    CHECK(lease_news(launcher).stage == STAGE_ENDED && lease_news(launcher).status == 75);
    lease_release(coordinator);
    CHECK(file_exists(place->file));
    lease_release(launcher);
}

IN_PLACE(lease_shuts_out_a_coordinator_of_an_earlier_life)
{
    struct lease *old = NULL, *new = NULL;
    char token[64];

    struct lease *launcher = place_take(place);
    snprintf(token, sizeof(token), "%s", lease_token(launcher));
    CHECK(lease_join(&old, place->output, token, &place->error) == 0);
    CHECK(lease_begin_life(launcher, &place->error) == 0);
    CHECK(lease_news(launcher).stage == STAGE_NONE);
    CHECK(lease_renew(old, &place->error) == LEASE_TAKEN && place->error.status == ERROR_ENVIRONMENT);
    CHECK(lease_news(launcher).stage == STAGE_NONE);
    lease_release(old);
    CHECK(lease_join(&old, place->output, token, &place->error) == -1);
    CHECK(lease_join(&new, place->output, lease_token(launcher), &place->error) == 0);
    CHECK(lease_renew(launcher, &place->error) == 0 && lease_renew(new, &place->error) == 0);
    lease_release(new);
    lease_release(launcher);
}

/* A file that replaces the output has other numbers, although the first one is gone. */
IN_PLACE(lease_tells_a_coordinator_of_the_output)
{
    struct lease *launcher = NULL, *coordinator = NULL;
    struct stat status;

    CHECK(lease_take(&launcher, place->output, &place->error) == 0 && lease_file(launcher).inode == 0);
    for (int life = 0; life < 3; life++) {
        CHECK(lease_begin_life(launcher, &place->error) == 0);
        CHECK(lease_join(&coordinator, place->output, lease_token(launcher), &place->error) == 0);
        struct output_file file = lease_file(coordinator);
        bool there = stat(place->output, &status) == 0;
        CHECK(there == (life > 0) && (file.inode != 0) == there);
        CHECK(!there || (file.inode == (long long)status.st_ino && file.device == (long long)status.st_dev));
        lease_release(coordinator);
        CHECK(!there || unlink(place->output) == 0);
        int made = open(place->output, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
        CHECK(made >= 0 && fstat(made, &status) == 0 && close(made) == 0);
        CHECK(!there || file.inode != (long long)status.st_ino);
    }
    lease_release(launcher);
    CHECK(unlink(place->output) == 0);
}

IN_PLACE(lease_tells_of_a_dead_coordinator)
{
    struct lease *launcher = place_take(place);
    pid_t child = fork();
    if (child == 0) {
        struct lease *lease;
        _exit(lease_join(&lease, place->output, lease_token(launcher), &place->error) != 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(lease_news(launcher).dead);
    lease_release(launcher);
}

/* A link in place of the lease does not lead to an overwritten file, and lease_is_held writes nothing. */
IN_PLACE(lease_follows_no_link_and_a_look_writes_nothing)
{
    struct lease *lease = NULL;
    char victim[112];

    snprintf(victim, sizeof(victim), "%s/victim", place->folder);
    put_text(victim, "kept");
    CHECK(symlink(victim, place->file) == 0);
    CHECK(lease_take(&lease, place->output, &place->error) == -1);
    CHECK(place_is_held(place));
    struct stat status;
    CHECK(stat(victim, &status) == 0 && status.st_size == 4);
    unlink(place->file);
    unlink(victim);
    place_lend(place, 77, 70);
    CHECK(chmod(place->folder, 0555) == 0);
    struct stat before, after;
    CHECK(stat(place->folder, &before) == 0);
    CHECK(!place_is_held(place));
    CHECK(stat(place->folder, &after) == 0 && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec &&
          before.st_mtim.tv_sec == after.st_mtim.tv_sec);
    CHECK(chmod(place->folder, 0755) == 0);
}

/* Files of others beside the output are not removed, whatever their names. */
IN_PLACE(lease_tidies_nothing_of_others)
{
    static const char *const names[] = {"notes", "txt", "0123456789abcdef.txt", "0123456789abcdeg"};
    char path[160];
    const struct timespec old[2] = {{1000, 0}, {1000, 0}};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s.%s", place->file, names[i]);
        put_text(path, "");
        CHECK(utimensat(AT_FDCWD, path, old, 0) == 0);
    }
    snprintf(path, sizeof(path), "%s.fedcba9876543210", place->file);
    CHECK(mkfifo(path, 0666) == 0);
    snprintf(path, sizeof(path), "%s.0123456789abcdef", place->file);
    put_text(path, "");
    struct lease *lease = place_take(place);
    CHECK(!file_exists(path));
    snprintf(path, sizeof(path), "%s.fedcba9876543210", place->file);
    CHECK(unlink(path) == 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s.%s", place->file, names[i]);
        CHECK(unlink(path) == 0);
    }
    lease_release(lease);
}
