/* A job that refines, driven by the events of a worker whose time is not that of this process's clock. */
#include "driver/job/job.h"
#include "driver/sweep/inside.h"
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"

#define PLANE                                                                                                \
    BASE "learning_rate: [0.1, 0.2, 0.3]\nweight_decay: [0.1, 0.2, 0.3]\n"                                   \
         "refine: {axes: [learning_rate, weight_decay], coarse: 2}\n"
#define LINE BASE "weight_decay: [0.1, 0.2, 0.3, 0.4]\nrefine: {axis: weight_decay}\n"

enum { WORKER = 0, ORDERS = 16 };

struct driven {
    struct bench bench;
    struct lease *lease;
    struct job job;
    struct order run[ORDERS]; /* orders to train, in the order in which they came */
    int runs, told[ORDER_FINISH + 1];
    struct result result;
    double now;
};

static bool driven_begin(struct driven *d, const char *text)
{
    static const struct session session = {"1", "c", "c", "b", "k", "l", "m", "h", ""};
    static const struct dataset_options options;
    struct bench *bench = &d->bench;

    *d = (struct driven){.now = 1};
    bench_init(bench);
    CHECK(sweep_parse(&bench->sweep, "a.yaml", ".", text, strlen(text), NULL, 0, &bench->error) == 0);
    free(bench->sweep.output);
    bench->sweep.output = strdup(bench->path);
    CHECK(sweep_load_corpus(&bench->sweep, &bench->corpus, &bench->error) == 0);
    CHECK(lease_take(&d->lease, bench->path, &bench->error) == 0);
    bool opened = job_open(&d->job, &bench->sweep, &bench->corpus, d->lease, &session, &options, 1, NULL,
                      &bench->error) == 0;
    CHECK(opened);
    return opened;
}

static void driven_end(struct driven *d)
{
    CHECK(job_close(&d->job, &d->bench.error) == 0);
    lease_release(d->lease);
    corpus_release(&d->bench.corpus);
    sweep_release(&d->bench.sweep);
    bench_release(&d->bench);
}

static void tell(struct driven *d, struct event event)
{
    struct order order;

    event.now = d->now;
    coordinator_handle(d->job.coordinator, &event);
    memset(d->told, 0, sizeof(d->told));
    while (coordinator_next(d->job.coordinator, &order)) {
        d->told[order.kind]++;
        if (order.kind == ORDER_RUN)
            d->run[d->runs++ % ORDERS] = order;
        else if (order.kind == ORDER_ACCEPT || order.kind == ORDER_FAIL || order.kind == ORDER_RETURN)
            job_obey(&d->job, &order, &d->result, "");
    }
}

/* The worker ends run number `at`: with this growth, or NAN: it has diverged. */
static void end_run(struct driven *d, int at, double growth)
{
    const struct order *order = &d->run[at];
    struct run run;

    sweep_cell(&d->bench.sweep, order->cell, &run);
    const struct metric_form form = metric_form(&run, &d->bench.sweep.measure);
    d->result = (struct result){.outcome = isnan(growth) ? OUTCOME_DIVERGED : OUTCOME_DONE,
        .diverged_step = isnan(growth) ? 3 : -1,
        .norm_growth = growth};
    job_row(&d->job, WORKER, order->cell, STEP_OF_RUN, &growth, form.offset[METRIC_norm_growth], 1);
    tell(d, (struct event){.kind = EVENT_RESULT, .worker = WORKER, .ticket = order->ticket, .ended = true});
}

/* The run in training kills its workers; those that they hold besides come back. */
static void kill_workers(struct driven *d)
{
    for (int death = 0; death < DEATHS_MOST; death++) {
        tell(d, (struct event){.kind = EVENT_LOST, .worker = WORKER, .blame = true});
        if (death + 1 < DEATHS_MOST)
            tell(d, (struct event){.kind = EVENT_HELLO, .worker = WORKER});
    }
}

/* The time of events is the time in which the coordinator has listened: what a result makes the job add must
 * not set it to another clock, or no worker would be silent for too long ever after. */
TEST(job_that_refines_still_sees_silence)
{
    struct driven d;

    if (driven_begin(&d, LINE)) {
        tell(&d, (struct event){.kind = EVENT_HELLO, .worker = WORKER});
        CHECK(d.runs == 1 && d.run[0].cell == 0);
        d.now = 2;
        end_run(&d, 0, NAN);
        CHECK(d.told[ORDER_ACCEPT] == 1 && d.runs == 2 && d.run[1].cell == 3);
        d.now = 3;
        tell(&d, (struct event){.kind = EVENT_TICK});
        CHECK(d.told[ORDER_GIVE_UP] == 0);
        d.now = 200;
        tell(&d, (struct event){.kind = EVENT_TICK});
        CHECK(d.told[ORDER_GIVE_UP] == 1 && d.told[ORDER_RETURN] == 1);
    }
    driven_end(&d);
}

/* The last corner of a square fails, and the others are on different sides: the rest of it follows. */
TEST(job_that_refines_goes_on_after_a_failure_that_came_last)
{
    struct driven d;

    if (driven_begin(&d, PLANE)) {
        tell(&d, (struct event){.kind = EVENT_HELLO, .worker = WORKER});
        for (int at = 0; at < 3; at++)
            end_run(&d, at, at == 0 ? 2 : 0.5);
        CHECK(d.runs == 4 && job_pending(&d.job) == 1);
        kill_workers(&d);
        CHECK(d.told[ORDER_FAIL] == 1 && d.told[ORDER_FINISH] == 0 && job_pending(&d.job) == 5);
        int next = d.runs;
        tell(&d, (struct event){.kind = EVENT_HELLO, .worker = WORKER});
        for (int i = 0; i < 5; i++)
            end_run(&d, next + i, NAN);
        CHECK(d.told[ORDER_FINISH] == 1 && job_pending(&d.job) == 0);
        CHECK(d.job.tally.done == 3 && d.job.tally.diverged == 5 && d.job.tally.failed == 1);
    }
    driven_end(&d);
}
