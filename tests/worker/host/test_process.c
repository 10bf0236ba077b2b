#include "tests/test.h"
#include "worker/host/host.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { GENERATIONS = 3 };

/* The child: has a child, which has one, and so on; the last one writes a byte once it is there. */
static void breed(int ready)
{
    int left = GENERATIONS - 1;

    alarm(60);
    for (; left > 0; left--)
        if (fork() != 0)
            break;
    if (left == 0 && write(ready, "x", 1) != 1)
        _exit(1);
    pause();
    _exit(0);
}

struct seen {
    int count, alike;
    bool parents_first; /* the parent of each was the one before it */
    long last;
};

static void see(void *context, long pid, long parent)
{
    struct seen *seen = context;

    seen->count++;
    seen->alike += process_is_alike(pid);
    seen->parents_first = seen->parents_first && parent == seen->last;
    seen->last = pid;
}

static void check_walk(bool (*walk)(long, void (*)(void *, long, long), void *))
{
    struct seen seen = {.parents_first = true, .last = getpid()}, none = {0};
    int ready[2];
    char byte;

    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        breed(ready[1]);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    CHECK(walk(getpid(), see, &seen));
    CHECK(seen.count == GENERATIONS && seen.alike == GENERATIONS && seen.parents_first);
    CHECK(walk(seen.last, see, &none));
    CHECK(none.count == 0);
    kill(-child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}

TEST(process_walk_finds_children_of_children)
{
    check_walk(process_walk);
}

TEST(process_walk_does_without_the_kernels_lists)
{
    check_walk(process_walk_all);
}

TEST(process_variable_is_of_the_start)
{
    char *home = process_variable(getpid(), "PATH"), *none = process_variable(getpid(), "NOT_SET_ANYWHERE");

    const char *path = getenv("PATH");

    CHECK(home && path && strcmp(home, path) == 0);
    CHECK(!none);
    free(home);
}

/* A process that may open no more files sees nothing in /proc: those that live must not be buried for that.
 */
TEST(process_lives_though_proc_cannot_be_read)
{
    struct process self = process_self(), gone = self;
    struct rlimit before, none;

    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    gone.pid = child;
    CHECK(process_lives(&self) && !process_lives(&gone));
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = (struct rlimit){0, before.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    bool lives = process_lives(&self), dead = !process_lives(&gone);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(lives && dead);
    struct process reused = self;
    reused.start++;
    CHECK(!process_lives(&reused));
}
