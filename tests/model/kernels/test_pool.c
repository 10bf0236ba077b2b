/* Threads that claim the shares of some work. */
#include "tests/failing.h"
#include "tests/test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "model/core/denormals.h"
#include "model/kernels/pool.h"

enum { MOST_SHARES = 100, MANY = 20000, WAIT_SECONDS = 30 };

#define PATIENCE_SECONDS 0.05

/* What was done in one call. A share is one thread's alone, so they write without a lock. */
struct record {
    _Atomic int done; /* shares so far */
    bool helped; /* all others were done while the first was held up */
    _Atomic int wrong; /* what a share has found wrong; a check there could be any thread's */
    int times[MOST_SHARES]; /* that a share was done */
    pthread_t thread[MOST_SHARES];
};

/* The record is the context's, but not its constness. */
struct work {
    struct record *record;
    int64_t shares;
    pthread_t caller;
};

static void record_share(const void *context, int64_t share)
{
    struct record *record = ((const struct work *)context)->record;

    record->times[share]++;
    record->thread[share] = pthread_self();
    atomic_fetch_add(&record->done, 1);
}

static bool once_each(const struct record *record, int64_t shares)
{
    bool once = atomic_load(&record->done) == shares && atomic_load(&record->wrong) == 0;

    for (int64_t i = 0; i < MOST_SHARES; i++)
        once = once && record->times[i] == (i < shares);
    return once;
}

static bool does_once_each(int64_t threads, int64_t shares, pool_share *run)
{
    struct record record = {0};
    const struct work work = {&record, shares, pthread_self()};

    pool_run(threads, shares, run, &work);
    return once_each(&record, shares);
}

TEST(pool_does_every_share_once)
{
    for (int64_t threads = 1; threads <= 5; threads++)
        for (int64_t shares = 0; shares <= MOST_SHARES; shares += 1 + shares / 7)
            CHECK(does_once_each(threads, shares, record_share));
}

/* Jobs that follow each other faster than a thread can wake, and teams of other sizes between them. */
TEST(pool_does_many_small_jobs)
{
    int wrong = 0;

    for (int64_t i = 0; i < MANY; i++)
        wrong += !does_once_each(2 + i % 3, i % 9, record_share);
    CHECK(wrong == 0);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Who does the first share is held up until all others are done, or for a while: if a thread was in the way
 * just before, it is not called for every job. */
static void slow_share(const void *context, int64_t share)
{
    const struct work *work = context;
    struct record *record = work->record;
    double end = seconds() + PATIENCE_SECONDS;

    if (share == 0) {
        while (atomic_load(&record->done) < work->shares - 1 && seconds() < end)
            sched_yield();
        record->helped = atomic_load(&record->done) == work->shares - 1;
    }
    record_share(context, share);
}

/* Until other threads do all shares but the first; all attempts have to do every share once. */
static bool others_do_the_rest(int64_t threads, int64_t shares, pool_share *run)
{
    struct record record = {0};
    const struct work work = {&record, shares, pthread_self()};
    double end = seconds() + WAIT_SECONDS;

    do {
        record = (struct record){0};
        pool_run(threads, shares, run, &work);
    } while (once_each(&record, shares) && !record.helped && seconds() < end);
    return once_each(&record, shares) && record.helped;
}

TEST(pool_lets_a_slow_thread_delay_one_share)
{
    CHECK(others_do_the_rest(2, 2, slow_share));
    CHECK(others_do_the_rest(2, 50, slow_share));
    CHECK(others_do_the_rest(4, 7, slow_share));
}

/* Until helpers sleep, and for the caller longer than it spins. */
static void sleeping_share(const void *context, int64_t share)
{
    const struct timespec pause = {.tv_nsec = 3000000};

    if (share == 1)
        nanosleep(&pause, NULL);
    record_share(context, share);
}

TEST(pool_wakes_who_sleeps)
{
    for (int i = 0; i < 20; i++) {
        CHECK(does_once_each(3, 3, sleeping_share));
        CHECK(others_do_the_rest(3, 3, slow_share));
    }
}

/* A share that shares out work of its own does that alone. */
static void nested_share(const void *context, int64_t share)
{
    struct record *outer = ((const struct work *)context)->record, inner = {0};
    const struct work work = {&inner, 9, pthread_self()};

    pool_run(3, 9, record_share, &work);
    for (int64_t i = 0; i < 9; i++)
        atomic_fetch_add(&outer->wrong, !pthread_equal(inner.thread[i], pthread_self()));
    atomic_fetch_add(&outer->wrong, !once_each(&inner, 9));
    record_share(context, share);
}

TEST(pool_is_not_used_twice_at_once)
{
    CHECK(does_once_each(2, 2, nested_share));
}

static void *call_often(void *wrong)
{
    for (int64_t i = 0; i < MANY / 10; i++)
        atomic_fetch_add((_Atomic int *)wrong, !does_once_each(3, 5, record_share));
    return NULL;
}

TEST(pool_serves_several_callers)
{
    pthread_t thread[3];
    _Atomic int wrong = 0;

    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&thread[i], NULL, call_often, &wrong) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    CHECK(atomic_load(&wrong) == 0);
}

/* Each kind of process once: whose parent has threads, whose parent has a parent. */
static int status_of_child(int generations)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0)
        _exit(others_do_the_rest(3, 6, slow_share) ? generations > 1 ? status_of_child(generations - 1) : 0
                                                   : 1);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

TEST(pool_survives_a_fork)
{
    CHECK(others_do_the_rest(3, 6, slow_share));
    CHECK(status_of_child(2) == 0);
    CHECK(others_do_the_rest(3, 6, slow_share));
}

/* A child that has no threads yet, so that its helpers are new. */
TEST(pool_without_threads)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        failing_always("pthread_create", EAGAIN);
        bool right = does_once_each(3, 6, record_share) && does_once_each(3, 50, record_share);
        failing_end();
        _exit(right && others_do_the_rest(4, 6, slow_share) ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void signal_share(const void *context, int64_t share)
{
    const struct work *work = context;
    sigset_t blocked;

    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    bool takes = !sigismember(&blocked, SIGUSR1) && !sigismember(&blocked, SIGINT);
    atomic_fetch_add(&work->record->wrong, takes != !!pthread_equal(pthread_self(), work->caller));
    slow_share(work, share);
}

TEST(pool_leaves_signals_to_its_caller)
{
    CHECK(others_do_the_rest(2, 2, signal_share));
}

static bool caller_flushes;

/* Which thread has denormals flushed, as a product of two numbers tells. */
static void denormal_share(const void *context, int64_t share)
{
    const struct work *work = context;
    volatile double small = 1e-200, smaller = 1e-120;

    atomic_fetch_add(&work->record->wrong, (small * smaller == 0) != caller_flushes);
    slow_share(context, share);
}

TEST(pool_flushes_denormals_as_its_caller_does)
{
    if (denormals_why_not()) {
        test_skip("this processor cannot flush denormals, so that threads do it alike is not checked");
        return;
    }
    for (int i = 0; i < 4; i++) {
        bool before = denormals_flush(i % 2);
        caller_flushes = i % 2;
        CHECK(others_do_the_rest(2, 2, denormal_share));
        denormals_flush(before);
    }
}
