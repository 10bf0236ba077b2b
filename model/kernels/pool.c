/*
 * Threads claim shares one by one, so one that a busy neighbour keeps from running delays the others by the
 * share in its hands at most, and by nothing if it has none.
 *
 * A job is read only by threads that hold a share of it, and replaced only when all shares are done. So no
 * thread has to arrive or leave for a job to begin or end.
 *
 * A thread that waits spins first, because the next work of a training step mostly comes within microseconds.
 * It does not spin for long: that would take a processor from threads that work, of this team or of a
 * neighbour.
 *
 * Beside a busy neighbour a thread that joins in is not always a gain. The system may wake it on its caller's
 * processor, as the other one is busy, too. It then only takes the caller's place, for some 10 microseconds
 * of switching, and as it sleeps most of the time the system sees no need to move it. So it moves itself, but
 * not more often than once in a while: the system may bring it back. Or it shares a processor with the
 * neighbour, and is made to wait for milliseconds with a share in its hands that takes microseconds. Then the
 * team does without it for some time.
 */
#include "model/kernels/pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "model/core/check.h"
#include "model/core/denormals.h"

enum { HELPERS_SHIFT = 32, NOWHERE = -1 };

/* How long a thread spins, about twice as long as waking one takes; how often between looks at the clock. */
enum { SPIN_NANOSECONDS = 50000, SPINS_PER_LOOK = 32 };

/* A caller that waits for longer than this, and so many times as long as its own shares took, waits for a
 * helper that is kept from running: shares differ by less. */
enum { LATE_NANOSECONDS = 500000, LATE_TIMES = 3 };

/* How long a thread rests that has left its caller's processor; and one that has made its caller wait, in
 * times of that, so that the team loses little against one thread. */
enum { LEAVE_NANOSECONDS = 1000000, REST_TIMES = 8, REST_MOST_NANOSECONDS = 100000000 };

/* A thread of the pool, as the others see it. Aligned, so that what others write does not slow it down. */
struct pool_thread {
    _Alignas(64) _Atomic uint32_t asleep; /* 1 while it sleeps in wait_until() or is about to: a futex */
    _Alignas(64) _Atomic int processor; /* on which it works; or NOWHERE */
    _Atomic bool called; /* it may claim shares */
    _Atomic int64_t rested; /* the time from which on it is called again */
};

struct pool_job {
    pool_share *run;
    const void *context;
    int64_t shares;
    bool flush; /* denormals */
};

static struct {
    struct pool_thread thread[POOL_THREADS_MOST]; /* 0: the caller; 1 .. helpers */
    _Alignas(64) _Atomic uint64_t
        open; /* shares that nobody has claimed; upper 32 bits: how many helpers may claim them */
    _Atomic int64_t left; /* shares that are not done */
    _Atomic int64_t last; /* who did the last one, or the one before */
    struct pool_job job;
    int64_t helpers, asked; /* started; and the most that a caller has asked for */
} pool = {.thread[0].processor = NOWHERE};

static atomic_flag busy = ATOMIC_FLAG_INIT; /* a caller uses the pool */

/* ---- waiting ---- */

/* Nanoseconds since some time. */
static int64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/* What is true of a thread, which is the only one that waits for it. */
typedef bool pool_condition(int64_t thread);

static bool spin_until(pool_condition *holds, pool_condition *in_the_way, int64_t thread)
{
    int64_t end = now() + SPIN_NANOSECONDS;

    do
        for (int i = 0; i < SPINS_PER_LOOK; i++) {
            if (holds(thread))
                return true;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#elif defined(__aarch64__)
            __asm__ volatile("isb");
#endif
        }
    while (now() < end && !in_the_way(thread));
    return false;
}

/*
 * Returns when `holds` is true of this thread: who makes it true calls wake() afterwards. The thread spins,
 * but not while it is `in_the_way`, and then sleeps. Either it sees the condition, or the one that makes it
 * true sees that this thread is about to sleep.
 */
static void wait_until(pool_condition *holds, pool_condition *in_the_way, int64_t thread)
{
    _Atomic uint32_t *asleep = &pool.thread[thread].asleep;

    if (spin_until(holds, in_the_way, thread))
        return;
    while (!holds(thread)) {
        atomic_store(asleep, 1);
        if (!holds(thread))
            futex(asleep, FUTEX_WAIT_PRIVATE, 1);
        atomic_store(asleep, 0);
    }
}

static void wake(struct pool_thread *thread)
{
    if (atomic_load(&thread->asleep) && atomic_exchange(&thread->asleep, 0))
        futex(&thread->asleep, FUTEX_WAKE_PRIVATE, 1);
}

/* ---- conditions ---- */

static bool may_claim(uint64_t open, int64_t thread)
{
    return (uint32_t)open > 0 && thread <= (int64_t)(open >> HELPERS_SHIFT) &&
           (thread == 0 || atomic_load(&pool.thread[thread].called));
}

static bool has_open(int64_t thread)
{
    return may_claim(atomic_load(&pool.open), thread);
}

static bool all_done(int64_t thread)
{
    (void)thread;
    return atomic_load(&pool.left) == 0;
}

/* Does the thread work on the processor that the calling thread runs on? */
static bool is_here(const struct pool_thread *thread)
{
    return atomic_load_explicit(&thread->processor, memory_order_relaxed) == sched_getcpu();
}

/* Does the caller, for whose next job a helper waits, need the helper's processor? */
static bool helper_in_the_way(int64_t thread)
{
    (void)thread;
    return is_here(&pool.thread[0]);
}

/* Does a helper, for whose share the caller waits, need the caller's processor? */
static bool caller_in_the_way(int64_t thread)
{
    (void)thread; /* the caller: 0 */
    for (int64_t i = 1; i <= pool.helpers; i++)
        if (is_here(&pool.thread[i]))
            return true;
    return false;
}

/* ---- shares ---- */

/* Claims a share: how many were open before, or 0: there is none for this thread. */
static int64_t claim(int64_t thread)
{
    uint64_t open = atomic_load(&pool.open);

    while (may_claim(open, thread))
        if (atomic_compare_exchange_weak(&pool.open, &open, open - 1))
            return (uint32_t)open;
    return 0;
}

static void end_share(int64_t thread)
{
    struct pool_thread *own = &pool.thread[thread], *caller = pool.thread;

    if (own != caller)
        atomic_store_explicit(&own->processor, NOWHERE, memory_order_relaxed);
    atomic_store(&pool.last, thread);
    if (atomic_fetch_sub(&pool.left, 1) == 1 && own != caller)
        wake(caller);
}

static void do_shares(int64_t thread)
{
    for (int64_t open = claim(thread); open > 0; open = claim(thread)) {
        const struct pool_job *job = &pool.job;
        atomic_store_explicit(&pool.thread[thread].processor, sched_getcpu(), memory_order_relaxed);
        denormals_flush(job->flush);
        job->run(job->context, job->shares - open);
        end_share(thread);
    }
}

/* ---- helpers ---- */

/* Rests the thread for so long, or for as long as it already has to. */
static void rest_for(struct pool_thread *thread, int64_t nanoseconds)
{
    const int64_t most = REST_MOST_NANOSECONDS;
    int64_t end = now() + (nanoseconds < most ? nanoseconds : most);
    int64_t before = atomic_load(&thread->rested);

    while (before < end && !atomic_compare_exchange_weak(&thread->rested, &before, end))
        ;
}

/* Called by the thread itself, on its caller's processor: goes to another one, and rests for a moment. */
static void leave(struct pool_thread *thread)
{
    cpu_set_t all, others;

    rest_for(thread, LEAVE_NANOSECONDS);
    if (sched_getaffinity(0, sizeof(all), &all) != 0)
        return;
    others = all;
    CPU_CLR(sched_getcpu(), &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof(others), &others) == 0)
        sched_setaffinity(0, sizeof(all), &all);
}

static void *help(void *own)
{
    int64_t thread = (struct pool_thread *)own - pool.thread;

    for (;;) {
        if (helper_in_the_way(thread))
            leave(own);
        wait_until(has_open, helper_in_the_way, thread);
        do_shares(thread);
    }
    return NULL;
}

/* In the child of a fork there are no helpers, and the caller that had the pool may be missing, too. */
static void forget(void)
{
    pool.helpers = pool.asked = 0;
    atomic_store(&pool.open, 0);
    pool.thread[0] = (struct pool_thread){.processor = NOWHERE};
    atomic_flag_clear(&busy);
}

static bool start_one(int64_t thread)
{
    pthread_t started;

    pool.thread[thread] = (struct pool_thread){.processor = NOWHERE};
    return pthread_create(&started, NULL, help, &pool.thread[thread]) == 0 && pthread_detach(started) == 0;
}

/* Asks the system once for each number. Helpers take no signals, so that the others get them as before. */
static void start_helpers(int64_t wanted)
{
    static bool forgets;
    sigset_t all, before;

    if (wanted <= pool.asked)
        return;
    pool.asked = wanted;
    forgets = forgets || pthread_atfork(NULL, NULL, forget) == 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (forgets && pool.helpers < wanted && start_one(pool.helpers + 1))
        pool.helpers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the caller ---- */

void pool_run(int64_t threads, int64_t shares, pool_share *run, const void *context)
{
    int64_t helpers = (threads < shares ? threads : shares) - 1;

    INVARIANT(threads <= POOL_THREADS_MOST && shares <= UINT32_MAX, "%lld threads, %lld shares",
        (long long)threads, (long long)shares);
    if (helpers < 1 || atomic_flag_test_and_set(&busy)) {
        for (int64_t i = 0; i < shares; i++)
            run(context, i);
        return;
    }
    start_helpers(helpers);
    helpers = helpers < pool.helpers ? helpers : pool.helpers;
    pool.job = (struct pool_job){run, context, shares, denormals_flushed()};
    int64_t begin = now();
    atomic_store_explicit(&pool.thread[0].processor, sched_getcpu(), memory_order_relaxed);
    atomic_store(&pool.left, shares);
    atomic_store(&pool.open, (uint64_t)helpers << HELPERS_SHIFT | (uint64_t)shares);
    for (int64_t i = 1; i <= helpers; i++) {
        struct pool_thread *thread = &pool.thread[i];
        bool called = begin >= atomic_load(&thread->rested);
        atomic_store(&thread->called, called);
        if (called)
            wake(thread);
    }
    do_shares(0);
    int64_t middle = now();
    wait_until(all_done, caller_in_the_way, 0);
    int64_t waited = now() - middle;
    if (waited > LATE_NANOSECONDS && waited > LATE_TIMES * (middle - begin))
        rest_for(&pool.thread[atomic_load(&pool.last)], REST_TIMES * waited);
    atomic_flag_clear(&busy);
}
