/* The coordinator's mark in the folder of checkpoints. */
#include "tests/scratch.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "worker/checkpoint/inside.h"
#include "worker/host/host.h"

TEST(mark_is_left_again_where_it_was_removed)
{
    char folder[SCRATCH_PATH], path[192], mark[MARK_SIZE];
    struct stat status;
    struct error error;

    scratch_folder(folder);
    CHECK(mark_leave(folder, 7, mark, &error) == 0);
    CHECK(mark_look(folder, mark) == 0);
    snprintf(path, sizeof(path), "%s/%s", folder, mark);
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    CHECK(utimensat(AT_FDCWD, path, old, 0) == 0);
    mark_renew(folder, mark);
    CHECK(stat(path, &status) == 0 && status.st_mtim.tv_sec > 1000000);
    CHECK(unlink(path) == 0);
    CHECK(mark_look(folder, mark) == ENOENT);
    mark_renew(folder, mark);
    CHECK(mark_look(folder, mark) == 0);
    CHECK(unlink(path) == 0);
    CHECK(symlink("elsewhere", path) == 0);
    mark_renew(folder, mark); /* follows no link */
    CHECK(mark_look(folder, mark) == ENOENT);
    mark_remove(folder, mark);
    CHECK(rmdir(folder) == 0);
    mark_renew(folder, mark);
    CHECK(mark_look(folder, mark) == ENOENT); /* nor does a folder come back */
}

static void *leave_later(void *path)
{
    clock_pause(0.15);
    put_text(path, "");
    return NULL;
}

TEST(mark_that_comes_late_is_waited_for)
{
    const char *mark = "coordinator-late.mark";
    char folder[SCRATCH_PATH], path[192];
    pthread_t other;

    scratch_folder(folder);
    snprintf(path, sizeof(path), "%s/%s", folder, mark);
    double begin = clock_now();
    CHECK(mark_await(folder, mark, 0) == ENOENT);
    CHECK(mark_await(folder, mark, 0.1) == ENOENT && clock_now() - begin >= 0.1);
    CHECK(pthread_create(&other, NULL, leave_later, path) == 0);
    CHECK(mark_await(folder, mark, 60) == 0);
    CHECK(pthread_join(other, NULL) == 0);
    CHECK(mark_await(folder, mark, 0) == 0);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
    CHECK(mark_await(folder, mark, 0) == ENOENT);
}
