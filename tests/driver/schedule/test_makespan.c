/* How close the coordinator comes to the shortest time for a sweep, and how often its workers wait. */
#include "driver/job/inside.h"
#include "driver/schedule/schedule.h"
#include "model/core/random.h"
#include "tests/driver/schedule/simulation.h"
#include "tests/test.h"

/* List scheduling in order of cost: each run goes to the first free worker. */
static double list_schedule(const double *cost, const double *length, int64_t count, int workers)
{
    double *end = calloc((size_t)workers, sizeof(*end)), makespan = 0;
    bool *taken = calloc((size_t)count + 1, sizeof(*taken));

    for (int64_t n = 0; n < count; n++) {
        int64_t longest = -1;
        int first = 0;
        for (int64_t i = 0; i < count; i++)
            if (!taken[i] && (longest < 0 || cost[i] > cost[longest]))
                longest = i;
        for (int i = 1; i < workers; i++)
            if (end[i] < end[first])
                first = i;
        taken[longest] = true;
        end[first] += length[longest];
        makespan = fmax(makespan, end[first]);
    }
    free(end);
    free(taken);
    return makespan;
}

/* What came of a simulation without faults. */
struct finished {
    int64_t done, waits;
    double last_accept;
};

static struct finished run(
    double latency, int workers, int64_t count, int ahead, const double *cost, const double *length)
{
    struct simulation s = {.latency = latency, .silence = INFINITY, .stop_at = INFINITY};
    struct coordinator_state state;

    simulation_init(&s, workers, count, ahead, cost, length);
    simulate(&s);
    coordinator_state(s.coordinator, &state);
    simulation_release(&s);
    return (struct finished){s.done, state.waits, s.last_accept};
}

/* The estimated costs and true lengths of the runs of a sweep. */
static void draw_sweep(int shape, uint64_t seed, int64_t count, double *cost, double *length)
{
    for (int64_t i = 0; i < count; i++) {
        double u = random_uniform(seed, RANDOM_TEST, (uint64_t)i);
        double v = random_uniform(seed + 1, RANDOM_TEST, (uint64_t)i);
        cost[i] = shape == 0 ? 1 : shape == 1 ? exp(4 * u - 2) : i < 3 ? 50 : 0.5 + u;
        length[i] = shape == 3 && v < 0.3 ? 0.01 : cost[i]; /* some diverge at once */
    }
}

TEST(coordinator_makespan_is_that_of_list_scheduling)
{
    const int workers[] = {1, 2, 3, 16, 100};
    double worst = 0;

    for (int shape = 0; shape < 4; shape++) {
        for (int w = 0; w < 5; w++) {
            for (int64_t count = 1; count < 1500; count = count * 3 + w) {
                int ahead = count % 3 == 0 ? 1 : count % 3 == 1 ? 3 : JOB_ORDERS_AHEAD;
                double cost[1500], length[1500];
                draw_sweep(shape, (uint64_t)count, count, cost, length);
                struct finished s = run(1e-4, workers[w], count, ahead, cost, length);
                double best = list_schedule(cost, length, count, workers[w]);
                CHECK(s.done == count);
                worst = fmax(worst, s.last_accept / best - 1);
                if (!(s.last_accept <= 1.02 * best + 0.01))
                    test_fail(__FILE__, __LINE__, "shape %d, %d workers, %" PRId64 " runs: %g, best %g",
                        shape, workers[w], count, s.last_accept, best);
            }
        }
    }
    printf("makespan at worst %.2f %% above list scheduling\n", 100 * worst);
}

/* Correct costs, and costs of runs of which some take longer or shorter and some diverge at once. */
static void draw_few(uint64_t seed, int64_t count, bool misjudged, double *cost, double *length)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t draw = (uint64_t)i;
        double error = exp(0.3 * random_normal(seed + 1000, RANDOM_TEST, draw));
        cost[i] = length[i] = exp(2 * random_uniform(seed, RANDOM_TEST, draw));
        if (misjudged)
            length[i] = random_uniform(seed + 2000, RANDOM_TEST, draw) < 0.2 ? 0.01 : error * cost[i];
    }
}

/* With few runs for each worker, one run bound to the wrong worker makes a difference. */
TEST(coordinator_makespan_of_few_runs)
{
    enum { MOST = 40 };
    double worst = 0;

    for (uint64_t seed = 0; seed < 100; seed++)
        for (int workers = 2; workers <= 4; workers++)
            for (int64_t count = 1; count <= MOST; count += count < 12 ? 1 : 7) {
                double cost[MOST], length[MOST];
                draw_few(seed, count, seed % 2, cost, length);
                struct finished s = run(1e-4, workers, count, JOB_ORDERS_AHEAD, cost, length);
                double best = list_schedule(cost, length, count, workers);
                CHECK(s.done == count && s.last_accept <= 1.02 * best + 0.001);
                worst = fmax(worst, (s.last_accept - 0.001) / best - 1);
            }
    printf("makespan of few runs at worst %.2f %% above list scheduling\n", 100 * worst);
}

/* While the queue is long a worker must not wait for an answer between two runs. */
TEST(coordinator_gives_orders_ahead)
{
    double cost[400];

    for (int i = 0; i < 400; i++)
        cost[i] = 1;
    struct finished s = run(0.1, 4, 400, 1, cost, cost);
    CHECK_CLOSE(s.last_accept, 100, 2.5); /* 120 without orders ahead */
    CHECK(s.waits < 40); /* only for the last runs */
    CHECK(run(0.1, 4, 400, 0, cost, cost).waits == 396);
}
