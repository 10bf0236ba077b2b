/* Signals that come before this process starts itself again. */
#include "tests/test.h"
#include "worker/host/inside.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *do_nothing(void *context)
{
    for (;;)
        pause();
    return context;
}

/* In a child: the signal goes to a thread that does not block it, as a library's may. */
static void hold_with_a_thread(void)
{
    pthread_t thread;
    sigset_t waiting;

    alarm(60);
    signals_install();
    if (pthread_create(&thread, NULL, do_nothing, NULL) != 0)
        _exit(2);
    signals_hold();
    kill(getpid(), SIGTERM);
    do
        if (signals_stop() || sigpending(&waiting) != 0)
            _exit(3);
    while (!sigismember(&waiting, SIGTERM));
    signals_let_go();
    _exit(signals_stop() ? 0 : 4);
}

TEST(signals_held_wait_for_the_program_that_comes)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        hold_with_a_thread();
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
