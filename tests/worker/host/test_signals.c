/* Signals that come before this process starts itself again. */
#include "tests/scratch.h"
#include "worker/host/inside.h"

#include <pthread.h>
#include <signal.h>

static void *do_nothing(void *context)
{
    for (;;)
        pause();
    return context;
}

/* In a child: the signal goes to a thread that does not block it, as a library's may. */
static int hold_with_a_thread(void *context)
{
    pthread_t thread;
    sigset_t waiting;

    (void)context;
    alarm(60);
    signals_install();
    if (pthread_create(&thread, NULL, do_nothing, NULL) != 0)
        return 2;
    signals_hold();
    pthread_kill(thread, SIGUSR1); /* one to the process would be pending here until the thread has it */
    do
        if (signals_stop() || sigpending(&waiting) != 0)
            return 3;
    while (!sigismember(&waiting, SIGUSR1));
    signals_let_go();
    return signals_stop() ? 0 : 4;
}

TEST(signals_held_wait_for_the_program_that_comes)
{
    CHECK(in_child(hold_with_a_thread, NULL) == 0);
}
