/*
 * No run is lost and none is completed twice, whatever the workers do and whatever the owner of the sweep
 * decides. SIMULATION_WORKERS, SIMULATION_RUNS and SIMULATION_SEED scale and repeat the large simulation;
 * SIMULATION_SEED and SIMULATION_SEEDS are the first and the number of the drawn ones, see `make simulate`.
 */
#include "driver/tables/tables.h"
#include "model/core/random.h"
#include "tests/driver/schedule/simulation.h"
#include "tests/test.h"

#include <signal.h>

static int64_t setting(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : otherwise;
}

#if defined(__SANITIZE_ADDRESS__) || defined(SCALAR_DOUBLE)
enum { WORKERS = 2000, RUNS = 100000, SEEDS = 50 };
#else
enum { WORKERS = 10000, RUNS = 1000000, SEEDS = 200 };
#endif

/* A fault in one of twenty runs. Prints the cost of an event for both sizes, without a test: times depend on
 * the machine. */
TEST(coordinator_loses_nothing_among_faulty_workers)
{
    for (int size = 0; size < 2; size++) {
        int workers = size ? (int)setting("SIMULATION_WORKERS", WORKERS) : 100;
        int64_t cells = size ? setting("SIMULATION_RUNS", RUNS) : 10000;
        struct simulation s = {.stop_at = INFINITY, .latency = 1e-3, .silence = 5};
        s.seed = (uint64_t)setting("SIMULATION_SEED", 1);
        s.hazards = usual_hazards(0.05, s.silence, (workers + NODE_SIZE - 1) / NODE_SIZE);
        double *cost = simulation_costs(s.seed, cells);
        simulation_init(&s, workers, cells, 1, cost, cost);
        simulate(&s);
        simulation_report(&s);
        simulation_check(&s);
        CHECK(s.done + s.failed == s.cells);
        CHECK(s.returned > s.cells / 200 && s.told > s.cells / 1000 && s.fallen > 0);
        CHECK(s.failed > 0 && s.unlucky == 0);
        simulation_release(&s);
        free(cost);
    }
}

/* One of a hundred nodes is bad. Its workers come back at once, and die again, whichever run they train. No
 * run fails, and few are trained there. */
TEST(coordinator_shuts_bad_nodes)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct simulation s = {.stop_at = INFINITY, .latency = 1e-3, .silence = 5, .seed = seed};
        int workers = (int)setting("SIMULATION_WORKERS", WORKERS);
        int64_t cells = 10 * workers;
        double *cost = simulation_costs(seed, cells);
        s.hazards = (struct hazards){.fault = 1e-9, .absence = 1e-3, .gap = INFINITY, .bad = 0.01};
        simulation_init(&s, workers, cells, 1, cost, cost);
        simulate(&s);
        simulation_report(&s);
        simulation_check(&s);
        CHECK(s.done == cells && s.failed == 0 && s.opened == 0);
        CHECK(s.shut > 0 && s.shut < s.nodes / 50);
        simulation_release(&s);
        free(cost);
    }
}

/* Runs that are added in response to the last result, or failure, as a search does, which often has nothing
 * under way but one run. A fifth of the runs kill their workers. */
TEST(coordinator_continues_a_sweep_that_is_a_search)
{
    enum { CELLS = 200 };
    int64_t continued = 0, after_failure = 0;

    for (uint64_t seed = 0; seed < 600; seed++) {
        struct simulation s = {.stop_at = seed % 10 ? INFINITY : 30,
            .latency = 1e-3,
            .silence = 5,
            .seed = seed,
            .owner = {.absent = 0.98, .adds = 0.35, .batch = 1, .most = CELLS}};
        int workers = 1 + (int)(seed % 3);
        double *cost = simulation_costs(seed, CELLS);
        s.hazards = usual_hazards(0.2, s.silence, 1);
        s.hazards.poison = 0.2;
        simulation_init(&s, workers, CELLS, (int)(seed % 4), cost, cost);
        simulate(&s);
        simulation_check(&s);
        continued += s.owner.continued;
        after_failure += s.owner.after_failure;
        simulation_release(&s);
        free(cost);
    }
    CHECK(continued > 100 && after_failure > 10);
}

/* ---- everything drawn ---- */

/* Draws for the parameters of a simulation, apart from those of its course. */
struct dice {
    uint64_t seed, draws;
};

static double uniform(struct dice *dice, double least, double most)
{
    return least + (most - least) * random_uniform(dice->seed + 9, RANDOM_TEST, dice->draws++);
}

static double log_uniform(struct dice *dice, double least, double most)
{
    return least * exp(uniform(dice, 0, 1) * log(most / least));
}

static bool with_probability(struct dice *dice, double probability)
{
    return uniform(dice, 0, 1) < probability;
}

/*
 * Three limits follow from what the coordinator demands. Messages of a live worker are less than half of its
 * patience apart: a quarter lies between two of them, so that a late one is late by less than a quarter. Some
 * deaths are reported, since nothing else tells why the last worker fell silent, and the run that kills it is
 * returned each time. And a node stands long enough for a run to end.
 */
static struct hazards draw_hazards(struct dice *dice, double silence, int nodes)
{
    int burst = 1 + (int)(log_uniform(dice, 1, 1 + nodes / 4.0) - 1);
    double gap = 15.0 * burst / nodes;

    return (struct hazards){
        .fault = log_uniform(dice, 0.005, 0.6),
        .idle = uniform(dice, 0, 0.2),
        .late = uniform(dice, 0, 0.3),
        .delay = uniform(dice, 0, 0.2) * silence,
        .twice = uniform(dice, 0, 0.3),
        .stale = uniform(dice, 0, 0.1),
        .unnoticed = uniform(dice, 0, 0.9),
        .early = uniform(dice, 0, 0.5),
        .gone = with_probability(dice, 0.3) ? 1 : log_uniform(dice, 0.001, 0.3),
        .absence = log_uniform(dice, 0.01, 10) * silence,
        .moves = uniform(dice, 0, 1),
        .hang = log_uniform(dice, 0.5, 5),
        .gap = gap * log_uniform(dice, 1, 100),
        .burst = burst,
        .poison = with_probability(dice, 0.5) ? 0.001 : log_uniform(dice, 0.001, 0.2),
        .stubborn = with_probability(dice, 0.5) ? 0.002 : log_uniform(dice, 0.001, 0.2),
        .bad = with_probability(dice, 0.5) ? 0 : log_uniform(dice, 0.001, 0.5),
    };
}

static struct owner draw_owner(struct dice *dice, int64_t cells)
{
    if (with_probability(dice, 0.2))
        return (struct owner){.most = 0};
    return (struct owner){
        .absent = uniform(dice, 0, 0.9),
        .adds = log_uniform(dice, 0.01, 0.5),
        .gap = log_uniform(dice, 0.01, 10),
        .batch = (int)log_uniform(dice, 1, 60),
        .most = 20 + (int64_t)(uniform(dice, 0, 3) * (double)cells),
    };
}

static void simulate_drawn(struct simulation *s, uint64_t seed)
{
    struct dice dice = {seed, 0};
    int workers = (int)log_uniform(&dice, 1, with_probability(&dice, 0.05) ? 10000 : 1000);
    int64_t cells = (int64_t)log_uniform(&dice, 1, 200 + 50.0 * workers) - 1;
    double *length = simulation_costs(seed, cells), *cost = simulation_costs(seed, cells);
    double error = with_probability(&dice, 0.5) ? 0 : uniform(&dice, 0, 1);

    for (int64_t i = 0; i < cells; i++)
        cost[i] *= exp(error * random_normal(seed + 10, RANDOM_TEST, (uint64_t)i));
    *s = (struct simulation){.seed = seed, .silence = log_uniform(&dice, 1, 20)};
    s->latency = log_uniform(&dice, 1e-4, s->silence / 50);
    s->deaths = 2 + (int)uniform(&dice, 0, 4);
    s->stop_at = with_probability(&dice, 0.8) ? INFINITY : log_uniform(&dice, 0.01, 100);
    s->hazards = draw_hazards(&dice, s->silence, (workers + NODE_SIZE - 1) / NODE_SIZE);
    s->owner = draw_owner(&dice, cells);
    simulation_init(s, workers, cells, (int)uniform(&dice, 0, HOLD_MAX - 1), cost, length);
    simulate(s);
    simulation_check(s);
    free(length);
    free(cost);
}

/* What happened in all simulations. */
static void sum_up(struct simulation *sum, const struct simulation *s)
{
    sum->cells += s->cells;
    sum->done += s->done;
    sum->failed += s->failed;
    sum->events += s->events;
    sum->silent += s->silent;
    sum->fallen += s->fallen;
    sum->shut += s->shut;
    sum->opened += s->opened;
    sum->owner.added += s->owner.added;
    sum->stopped = sum->stopped || s->stopped;
}

/* How to repeat the current simulation; printed if it fails, also by an assertion of the coordinator. */
static char repeat[200];

/* The process ends when this returns. */
static void on_abort(int signal_number)
{
    if (write(STDOUT_FILENO, repeat, strlen(repeat)) < 0)
        _exit(signal_number);
}

TEST(coordinator_survives_what_is_drawn)
{
    uint64_t first = (uint64_t)setting("SIMULATION_SEED", 1);
    uint64_t count = (uint64_t)setting("SIMULATION_SEEDS", SEEDS);
    struct simulation s, sum = {.cells = 0};

    signal(SIGABRT, on_abort);
    for (uint64_t seed = first; seed < first + count; seed++) {
        int failures = test_failures();
        snprintf(repeat, sizeof(repeat),
            "seed %" PRIu64 " of commit %s failed; to run it alone: make simulate N=1 SEED=%" PRIu64 "\n",
            seed, version_commit[0] ? version_commit : "(unknown)", seed);
        simulate_drawn(&s, seed);
        if (test_failures() > failures) {
            fputs(repeat, stdout);
            simulation_report(&s);
        }
        sum_up(&sum, &s);
        simulation_release(&s);
    }
    signal(SIGABRT, SIG_DFL);
    printf("%" PRIu64 " seeds from %" PRIu64 ": %" PRId64 " runs, %" PRId64 " done, %" PRId64
           " failed, %" PRIu64 " events; %" PRId64 " nodes fell, %" PRId64 " workers given up\n",
        count, first, sum.cells, sum.done, sum.failed, sum.events, sum.fallen, sum.silent);
    printf("    %" PRId64 " runs added\n", sum.owner.added);
    if (count < SEEDS)
        return;
    /* With many seeds, everything must have happened. */
    CHECK(sum.done > 0 && sum.failed > 0 && sum.silent > 0 && sum.fallen > 0 && sum.stopped);
    CHECK(sum.owner.added > 0 && sum.shut > 0 && sum.opened > 0);
}
