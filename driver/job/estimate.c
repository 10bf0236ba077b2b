/*
 * What a sweep will take, from trained samples: runs are grouped by what their time depends on, some groups
 * are trained for a short while, in as many processes at once as the sweep will have workers (they share
 * caches, memory and clock), and the rest lies between them on the scale of the cost model.
 */
#include "driver/job/estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/sweep/grid.h"
#include "worker/host/clock.h"
#include "worker/host/processors.h"
#include "worker/run/cost.h"
#include "worker/train/train.h"

/* Groups that are measured, and the most seconds for one. */
enum { SAMPLES = 6, SECONDS_MOST = 2 };

enum { CELLS_BETWEEN = 1 << 14 }; /* two looks at the clock */

static int plan_no_memory(struct error *error)
{
    return error_set(error, ERROR_ENVIRONMENT, "plan: no memory");
}

/* Groups */

static struct digest cost_digest(const struct run *run, int64_t last_step)
{
    struct digest digest;

    digest_init(&digest);
    digest_add(&digest, &last_step, sizeof(last_step));
    for (size_t i = 0; i < param_count; i++) {
        union param_value value = param_get(&param_table[i], run);
        if (param_table[i].cost)
            digest_add(&digest, &value, sizeof(value));
    }
    return digest;
}

/* The groups while they are gathered: open addressing by digest, at most half full. */
struct gathering {
    const struct corpus *corpus;
    const struct measure *measure;
    struct cost_group *group;
    int64_t count, room;
    int64_t *slot; /* [2 * room] index + 1, 0: free */
};

static int grow_groups(struct gathering *g)
{
    int64_t room = g->room ? 2 * g->room : 64;
    struct cost_group *group = realloc(g->group, (size_t)room * sizeof(*group));
    int64_t *slot = calloc((size_t)(2 * room), sizeof(*slot));

    if (group)
        g->group = group;
    if (!group || !slot) {
        free(slot);
        return -1;
    }
    for (int64_t i = 0; i < g->count; i++) {
        uint64_t at = group[i].digest.low % (uint64_t)(2 * room);
        while (slot[at])
            at = (at + 1) % (uint64_t)(2 * room);
        slot[at] = i + 1;
    }
    free(g->slot);
    g->slot = slot;
    g->room = room;
    return 0;
}

static void new_group(struct gathering *g, const struct run *run, int64_t last_step, struct digest digest)
{
    g->group[g->count++] = (struct cost_group){
        .digest = digest,
        .run = *run,
        .last_step = last_step,
        .runs = 1,
        .step_cost = train_step_cost(run, g->corpus->vocabulary),
        .cost = train_cost(run, g->corpus, g->measure),
        .memory = train_memory(run, g->corpus, g->measure),
    };
}

static int gather_run(struct gathering *g, const struct run *run)
{
    int64_t last_step = run_last_step(run, g->corpus);
    struct digest digest = cost_digest(run, last_step);

    if (g->count == g->room && grow_groups(g) != 0)
        return -1;
    for (uint64_t at = digest.low % (uint64_t)(2 * g->room);; at = (at + 1) % (uint64_t)(2 * g->room)) {
        if (!g->slot[at]) {
            g->slot[at] = g->count + 1;
            new_group(g, run, last_step, digest);
            return 0;
        }
        struct cost_group *group = &g->group[g->slot[at] - 1];
        if (group->digest.low == digest.low && group->digest.high == digest.high) {
            group->runs++;
            return 0;
        }
    }
}

static int by_descending_cost(const void *a, const void *b)
{
    const struct cost_group *x = a, *y = b;

    return (x->cost < y->cost) - (x->cost > y->cost);
}

static int gather_all(struct estimate *estimate, const struct sweep *sweep, const struct corpus *corpus,
    struct waiting *waiting, struct error *error)
{
    struct gathering g = {.corpus = corpus, .measure = &sweep->measure};
    int status = 0;

    for (int64_t cell = 0; cell < sweep->cells && status == 0; cell++) {
        struct run run;
        if (cell % CELLS_BETWEEN == 0 && waiting_is_due(waiting))
            waiting_say(waiting, "plan: groups the runs, cell %lld of %lld", (long long)cell,
                (long long)sweep->cells);
        if (sweep_skips(sweep, cell)) {
            estimate->skipped++;
            continue;
        }
        sweep_cell(sweep, cell, &run);
        status = gather_run(&g, &run);
        estimate->runs++;
    }
    free(g.slot);
    estimate->group = g.group;
    estimate->group_count = g.count;
    if (status != 0)
        return plan_no_memory(error);
    if (g.count)
        qsort(g.group, (size_t)g.count, sizeof(*g.group), by_descending_cost);
    return 0;
}

/* Samples */

/* What one process finds out about a group. */
struct sample {
    double setup, step, measure, validate, saturate;
    char reason[REASON_SIZE]; /* why the run cannot be trained; "" if it can */
};

struct stopwatch {
    double first, last, limit; /* clock after the first step, after the last, and when to stop */
    int64_t steps;
};

static enum verdict watch_sample(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    struct stopwatch *stopwatch = context;

    (void)last_step, (void)tokens;
    if (step == stopwatch->steps) /* in the middle of its validation */
        return VERDICT_CARRY_ON;
    stopwatch->last = clock_now();
    stopwatch->steps = step;
    if (step == 1)
        stopwatch->first = stopwatch->last;
    return step < 3 || stopwatch->last < stopwatch->limit ? VERDICT_CARRY_ON : VERDICT_STOP;
}

/* Predictions in a validation of at most `tokens` tokens. */
static double validation_tokens(const struct corpus *corpus, int64_t tokens)
{
    int64_t all = corpus->valid.token_count;
    return (double)(tokens < all ? tokens : all);
}

/* A process that takes samples of a group. */
struct sampling {
    const struct cost_group *group;
    const struct corpus *corpus;
    const struct measure *measure;
    double limit; /* clock at which to stop */
};

/* Trains a group's run for a while. Measured and validated at step 0, on few tokens; the first step warms up.
 */
static struct sample take_sample(const struct sampling *sampling, struct arena *arena)
{
    const struct run *run = &sampling->group->run;
    struct measure few = *sampling->measure;
    struct stopwatch stopwatch = {.limit = sampling->limit};
    struct observer observer = {.context = &stopwatch, .carry_on = watch_sample};
    struct result result;
    double begin = clock_now();
    int64_t most = 4 * run->batch * run->context;

    few.every = few.validate_every = INT64_MAX;
    few.step_count = 0;
    few.validate_tokens = few.validate_tokens < most ? few.validate_tokens : most;
    train(run, sampling->corpus, &few, &observer, arena, &result);
    double step = stopwatch.steps > 1 ? (stopwatch.last - stopwatch.first) / (double)(stopwatch.steps - 1)
                                      : result.step_seconds;
    double measure_once = result.measured ? result.measure_seconds / (double)result.measured : 0;
    double validate_once = result.validated ? result.validate_seconds / (double)result.validated : 0;
    double saturate_once = result.saturated ? result.saturate_seconds / (double)result.saturated : 0;
    double once = measure_once + validate_once + saturate_once;
    double setup = stopwatch.steps > 0 ? stopwatch.first - begin - step - once : 0;
    double scale = validation_tokens(sampling->corpus, sampling->measure->validate_tokens) /
                   fmax(validation_tokens(sampling->corpus, few.validate_tokens), 1);
    struct sample sample = {
        fmax(setup, 0), step, measure_once, validate_once * scale, saturate_once * scale, ""};
    if (result.outcome == OUTCOME_FAILED)
        memcpy(sample.reason, result.reason, sizeof(sample.reason));
    return sample;
}

/* The mean of as many samples as there is time for, one at least. */
static struct sample take_samples(const struct sampling *sampling)
{
    struct sample mean = {0};
    struct arena arena = {0};
    int count = 0;

    do {
        struct sample one = take_sample(sampling, &arena);
        if (one.reason[0])
            return one;
        count++;
        mean.setup += (one.setup - mean.setup) / count;
        mean.step += (one.step - mean.step) / count;
        mean.measure += (one.measure - mean.measure) / count;
        mean.validate += (one.validate - mean.validate) / count;
        mean.saturate += (one.saturate - mean.saturate) / count;
    } while (clock_now() < sampling->limit);
    return mean;
}

/*
 * As many processes at once as the sweep has workers, but no more than this machine has processors for: the
 * plan may be for a larger one.
 */
static int sample_processes(const struct cost_group *group, int workers)
{
    int64_t room = processors_count() / group->run.threads;

    return (int)(workers < room ? workers : room > 1 ? room : 1);
}

/* The mean of what the processes report. */
static int sample_group(struct cost_group *group, const struct corpus *corpus, const struct measure *measure,
    int workers, double seconds, struct error *error)
{
    int ends[2], reported = 0, processes = sample_processes(group, workers);
    struct sample sample = {.reason = ""};

    if (pipe(ends) != 0)
        return error_set(error, ERROR_ENVIRONMENT, "plan: pipe: %s", strerror(errno));
    for (int process = 0; process < processes; process++) {
        pid_t child = fork();
        if (child == 0) {
            const struct sampling sampling = {group, corpus, measure, clock_now() + seconds};
            sample = take_samples(&sampling);
            ssize_t written = write(ends[1], &sample, sizeof(sample));
            _exit(written != (ssize_t)sizeof(sample));
        }
        if (child < 0 && process == 0) {
            close(ends[0]);
            close(ends[1]);
            return error_set(error, ERROR_ENVIRONMENT, "plan: fork: %s", strerror(errno));
        }
    }
    close(ends[1]);
    while (read(ends[0], &sample, sizeof(sample)) == (ssize_t)sizeof(sample)) {
        if (sample.reason[0])
            continue;
        reported++;
        group->setup_seconds += (sample.setup - group->setup_seconds) / reported;
        group->step_seconds += (sample.step - group->step_seconds) / reported;
        group->measure_seconds += (sample.measure - group->measure_seconds) / reported;
        group->validate_seconds += (sample.validate - group->validate_seconds) / reported;
        group->saturate_seconds += (sample.saturate - group->saturate_seconds) / reported;
    }
    close(ends[0]);
    while (wait(NULL) > 0)
        ;
    if (!reported)
        return error_set(error, ERROR_ENVIRONMENT, "plan: a trial run failed: %s",
            sample.reason[0] ? sample.reason : "its process was killed; too little memory?");
    group->timed = true;
    return 0;
}

/* Of `count` groups, how many are measured. */
static int64_t sample_count(int64_t count)
{
    return count < SAMPLES ? count : SAMPLES;
}

/* Which group is sample i: they lie evenly over the groups' order by cost, the ends among them. */
static int64_t sample_at(int64_t i, int64_t count)
{
    return count > 1 ? i * (count - 1) / (sample_count(count) - 1) : 0;
}

static int sample_groups(struct estimate *estimate, const struct sweep *sweep, const struct corpus *corpus,
    double seconds, struct waiting *waiting, struct error *error)
{
    int64_t samples = sample_count(estimate->group_count);

    for (int64_t i = 0; i < samples; i++) {
        int64_t at = sample_at(i, estimate->group_count);
        waiting_say(waiting, "plan: measures kind of run %lld of %lld", (long long)i + 1, (long long)samples);
        if (sample_group(&estimate->group[at], corpus, &sweep->measure, estimate->workers,
                fmin(seconds / (double)samples, SECONDS_MOST), error) != 0)
            return -1;
        estimate->timed++;
        estimate->at_once = sample_processes(&estimate->group[at], estimate->workers);
    }
    return 0;
}

/* A group that was not measured takes its rate from the nearest by cost of a step that was. Only the samples
 * are looked at: a sweep over lengths has as many groups as runs. */
static void interpolate(const struct estimate *estimate, struct cost_group *group)
{
    const struct cost_group *near = &estimate->group[0];

    for (int64_t i = 1; i < sample_count(estimate->group_count); i++) {
        const struct cost_group *other = &estimate->group[sample_at(i, estimate->group_count)];
        double distance = fabs(log(other->step_cost / group->step_cost));
        if (distance < fabs(log(near->step_cost / group->step_cost)))
            near = other;
    }
    double ratio = group->step_cost / near->step_cost;
    group->setup_seconds = near->setup_seconds * ratio;
    group->step_seconds = near->step_seconds * ratio;
    group->measure_seconds = near->measure_seconds * ratio;
    group->validate_seconds = near->validate_seconds * ratio;
    group->saturate_seconds = near->saturate_seconds * ratio;
}

/* Sums */

static double measure_total(const struct cost_group *group, const struct measure *measure)
{
    return group->measure_seconds * (double)measure_count(measure, group->last_step);
}

static double saturate_total(const struct cost_group *group, const struct measure *measure)
{
    return group->saturate_seconds * (double)measure_count(measure, group->last_step);
}

static double validate_total(const struct cost_group *group, const struct measure *measure, bool validated)
{
    double times = (double)measure_validations(measure, group->last_step);

    return validated ? group->validate_seconds * times : 0;
}

double cost_group_seconds(const struct cost_group *group, const struct measure *measure, bool validated)
{
    return group->setup_seconds + group->step_seconds * (double)group->last_step +
           measure_total(group, measure) + saturate_total(group, measure) +
           validate_total(group, measure, validated);
}

static void sink(double *load, int workers)
{
    int at = 0;

    for (;;) {
        int least = 2 * at + 1;
        if (least >= workers)
            return;
        if (least + 1 < workers && load[least + 1] < load[least])
            least++;
        if (load[at] <= load[least])
            return;
        double swapped = load[at];
        load[at] = load[least];
        load[least] = swapped;
        at = least;
    }
}

/* Each run in turn to the worker that is free first: a heap of loads, its least on top. */
static int schedule_runs(
    struct estimate *estimate, const struct measure *measure, bool validated, struct error *error)
{
    double *load = calloc((size_t)estimate->workers, sizeof(*load));

    if (!load)
        return plan_no_memory(error);
    for (int64_t i = 0; i < estimate->group_count; i++) {
        double seconds = cost_group_seconds(&estimate->group[i], measure, validated);
        for (int64_t run = 0; run < estimate->group[i].runs; run++) {
            load[0] += seconds;
            estimate->makespan = fmax(estimate->makespan, load[0]);
            sink(load, estimate->workers);
        }
    }
    free(load);
    return 0;
}

static void add_up(struct estimate *estimate, const struct measure *measure, bool validated)
{
    double setups = 0, steps = 0, measuring = 0, validating = 0, saturating = 0, all = 0;

    for (int64_t i = 0; i < estimate->group_count; i++) {
        const struct cost_group *group = &estimate->group[i];
        double runs = (double)group->runs;
        setups += runs * group->setup_seconds;
        steps += runs * group->step_seconds * (double)group->last_step;
        measuring += runs * measure_total(group, measure);
        validating += runs * validate_total(group, measure, validated);
        saturating += runs * saturate_total(group, measure);
        all += runs * cost_group_seconds(group, measure, validated);
    }
    estimate->core_seconds = all;
    estimate->setup_part = setups / all;
    estimate->step_part = steps / all;
    estimate->measure_part = measuring / all;
    estimate->validate_part = validating / all;
    estimate->saturate_part = saturating / all;
}

int estimate_make(struct estimate *estimate, const struct sweep *sweep, const struct corpus *corpus,
    int workers, double seconds, struct waiting *waiting, struct error *error)
{
    bool validated = corpus->valid.token_count > 0;

    *estimate = (struct estimate){.workers = workers};
    if (gather_all(estimate, sweep, corpus, waiting, error) != 0 ||
        sample_groups(estimate, sweep, corpus, seconds, waiting, error) != 0) {
        estimate_release(estimate);
        return -1;
    }
    for (int64_t i = 0; i < estimate->group_count; i++)
        if (!estimate->group[i].timed)
            interpolate(estimate, &estimate->group[i]);
    add_up(estimate, &sweep->measure, validated);
    waiting_say(waiting, "plan: gives %lld runs to %d workers", (long long)estimate->runs, workers);
    if (schedule_runs(estimate, &sweep->measure, validated, error) != 0) {
        estimate_release(estimate);
        return -1;
    }
    return 0;
}

void estimate_release(struct estimate *estimate)
{
    free(estimate->group);
    *estimate = (struct estimate){0};
}
