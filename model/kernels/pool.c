/*
 * Threads claim shares one by one, so one that a busy neighbour keeps from running delays the others by the
 * share in its hands at most, and by nothing if it has none. A thread without work spins for a moment, as the
 * next work of a training step mostly comes within microseconds, and then sleeps on a futex, because spinning
 * for longer would take a processor from threads that work: of this team, on a processor that two of them
 * share, or of others.
 *
 * A job is read only by those who hold a share of it, and replaced only when all shares are done. So no
 * thread has to arrive or leave for a job to begin or end.
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

/* Until a waiting thread sleeps: about as long as it takes to wake one. */
enum { SPIN_NANOSECONDS = 50000, SPINS_PER_LOOK = 32 };

enum { LINE = 64 }; /* bytes that processors pass to each other as one */

/* What the others know of a thread. */
struct bed {
    _Alignas(LINE) _Atomic uint32_t asleep; /* 1 while it sleeps or is about to: a futex */
    _Atomic int
        processor; /* of a helper, while it has a share; of the caller, when its job began; or NOWHERE */
};

struct job {
    pool_share *run;
    const void *context;
    int64_t shares;
    bool flush; /* denormals */
};

static struct {
    _Alignas(LINE) _Atomic uint64_t open; /* shares that nobody has claimed; above 32 bits: helpers who may */
    _Alignas(LINE) _Atomic int64_t left; /* shares that are not done */
    struct job job;
    struct bed bed[POOL_THREADS_MOST]; /* of the caller, and of helpers 1 .. helpers */
    atomic_flag busy; /* a caller uses all that is above */
    int64_t helpers, asked; /* started; and how many have been asked for */
} pool = {.busy = ATOMIC_FLAG_INIT};

enum { HELPERS_SHIFT = 32, NOWHERE = -1 };

/* ---- waiting ---- */

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static int64_t nanoseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Does a thread that this one waits for need the processor on which this one spins? Helpers wait for the
 * caller, and the caller for them. */
static bool is_in_the_way(int64_t thread)
{
    int here = sched_getcpu();
    int64_t first = thread > 0 ? 0 : 1, last = thread > 0 ? 0 : pool.helpers;

    for (int64_t i = first; i <= last; i++)
        if (atomic_load_explicit(&pool.bed[i].processor, memory_order_relaxed) == here)
            return true;
    return false;
}

typedef bool condition(int64_t thread);

static bool spin_until(condition *holds, int64_t thread)
{
    int64_t end = nanoseconds() + SPIN_NANOSECONDS;

    do
        for (int i = 0; i < SPINS_PER_LOOK; i++) {
            if (holds(thread))
                return true;
            pause_briefly();
        }
    while (nanoseconds() < end && !is_in_the_way(thread));
    return false;
}

/* Who makes the condition true calls wake() afterwards: either it sees that this thread wants to sleep, or
 * this thread sees the condition. */
static void wait_until(condition *holds, int64_t thread)
{
    _Atomic uint32_t *asleep = &pool.bed[thread].asleep;

    if (spin_until(holds, thread))
        return;
    while (!holds(thread)) {
        atomic_store(asleep, 1);
        if (!holds(thread))
            futex(asleep, FUTEX_WAIT_PRIVATE, 1);
        atomic_store(asleep, 0);
    }
}

static void wake(int64_t thread)
{
    _Atomic uint32_t *asleep = &pool.bed[thread].asleep;

    if (atomic_load(asleep) && atomic_exchange(asleep, 0))
        futex(asleep, FUTEX_WAKE_PRIVATE, 1);
}

/* ---- shares ---- */

static bool may_claim(uint64_t open, int64_t thread)
{
    return (uint32_t)open > 0 && thread <= (int64_t)(open >> HELPERS_SHIFT);
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

/* Claims a share: how many were open before, or 0: there is none for this thread. */
static int64_t claim(int64_t thread)
{
    uint64_t open = atomic_load(&pool.open);

    while (may_claim(open, thread))
        if (atomic_compare_exchange_weak(&pool.open, &open, open - 1))
            return (uint32_t)open;
    return 0;
}

static void set_processor(int64_t thread, int processor)
{
    atomic_store_explicit(&pool.bed[thread].processor, processor, memory_order_relaxed);
}

static void do_shares(int64_t thread)
{
    for (int64_t open = claim(thread); open > 0; open = claim(thread)) {
        const struct job *job = &pool.job;
        set_processor(thread, sched_getcpu());
        denormals_flush(job->flush);
        job->run(job->context, job->shares - open);
        if (thread > 0)
            set_processor(thread, NOWHERE);
        if (atomic_fetch_sub(&pool.left, 1) == 1 && thread > 0)
            wake(0);
    }
}

/* ---- helpers ---- */

static void *help(void *bed)
{
    int64_t thread = (struct bed *)bed - pool.bed;

    for (;;) {
        wait_until(has_open, thread);
        do_shares(thread);
    }
    return NULL;
}

/* In the child of a fork there are no helpers, and who used them was perhaps another thread. */
static void forget(void)
{
    atomic_store(&pool.open, 0);
    atomic_store(&pool.left, 0);
    for (int64_t i = 0; i <= pool.helpers; i++)
        pool.bed[i] = (struct bed){.processor = NOWHERE};
    pool.helpers = pool.asked = 0;
    atomic_flag_clear(&pool.busy);
}

static void start_one(void)
{
    pthread_t thread;

    set_processor(pool.helpers + 1, NOWHERE);
    if (pthread_create(&thread, NULL, help, &pool.bed[pool.helpers + 1]) != 0)
        return;
    pthread_detach(thread);
    pool.helpers++;
}

/* Asks the system once for each number. Helpers take no signals, so that the others get them as before. */
static void start_helpers(int64_t wanted)
{
    static bool forgets;
    sigset_t all, before;

    if (wanted <= pool.asked)
        return;
    pool.asked = wanted;
    if (!forgets)
        forgets = pthread_atfork(NULL, NULL, forget) == 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int64_t i = pool.helpers; forgets && i < wanted; i++)
        start_one();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the caller ---- */

static void run_alone(int64_t shares, pool_share *run, const void *context)
{
    for (int64_t i = 0; i < shares; i++)
        run(context, i);
}

static void run_shared(int64_t helpers)
{
    atomic_store(&pool.left, pool.job.shares);
    atomic_store(&pool.open, (uint64_t)helpers << HELPERS_SHIFT | (uint64_t)pool.job.shares);
    for (int64_t i = 1; i <= helpers; i++)
        wake(i);
    do_shares(0);
    wait_until(all_done, 0);
}

void pool_run(int64_t threads, int64_t shares, pool_share *run, const void *context)
{
    int64_t helpers = (threads < shares ? threads : shares) - 1;

    INVARIANT(threads <= POOL_THREADS_MOST && shares <= UINT32_MAX, "%lld threads, %lld shares",
        (long long)threads, (long long)shares);
    if (helpers < 1 || atomic_flag_test_and_set(&pool.busy)) {
        run_alone(shares, run, context);
        return;
    }
    start_helpers(helpers);
    if (helpers > pool.helpers)
        helpers = pool.helpers;
    pool.job = (struct job){run, context, shares, denormals_flushed()};
    run_shared(helpers);
    atomic_flag_clear(&pool.busy);
}
