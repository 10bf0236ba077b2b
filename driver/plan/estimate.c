/*
 * Estimates the time of a sweep from samples: runs are grouped by the parameters that their time depends
 * on; a few groups are trained for a short while, in as many processes at once as the sweep will have
 * workers, because those share caches, memory and clock; the other groups are interpolated with the cost
 * model. Then the runs are assigned as the coordinator would.
 *
 * estimate_make() at the end of this file has these steps in order. It fails if no process can be started, or
 * if a sampled run fails, which then would fail in the sweep as well. needs_of() cannot fail; its bounds are
 * those of the largest group, although not all workers will train runs of that group at once.
 */
#include "driver/plan/inside.h"
#include "driver/search/search.h"
#include "driver/sweep/sweep.h"
#include "driver/text/text.h"
#include "worker/host/host.h"
#include "worker/run/run.h"
#include "worker/train/train.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The number of groups that are measured, and the seconds for each at most. */
enum { SAMPLES = 6, SECONDS_MOST = 2 };

#define SEARCH_OFF 0.25 /* how far search_expected() may be off, as a share */

#define START_SECONDS 1 /* of mpirun and its ranks, and their end; more on a busy machine */

enum { CELLS_BETWEEN = 1 << 14 }; /* cells between two looks at the clock */

const char *const cost_part_names[PART_COUNT] = {
#define X(PART, name) [PART_##PART] = name,
    COST_PARTS(X)
#undef X
};

/* ---- groups ---- */

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

/* A hash table of groups by digest: open addressing, at most half full. */
struct gathering {
    const struct corpus *corpus;
    const struct measure *measure;
    struct cost_group *group;
    int64_t count, room;
    int64_t *slot; /* [2 * room] index of a group + 1; 0: free */
};

static void grow_groups(struct gathering *g)
{
    int64_t room = g->room ? 2 * g->room : 64;

    g->group = memory_grow(g->group, (size_t)room, sizeof(*g->group));
    free(g->slot);
    g->slot = memory_zero((size_t)(2 * room), sizeof(*g->slot));
    g->room = room;
    for (int64_t i = 0; i < g->count; i++) {
        uint64_t at = g->group[i].digest.low % (uint64_t)(2 * room);
        while (g->slot[at])
            at = (at + 1) % (uint64_t)(2 * room);
        g->slot[at] = i + 1;
    }
}

/* `own`: the share of its steps that the run takes itself. */
static void gather_run(struct gathering *g, const struct run *run, double own)
{
    int64_t last_step = run_last_step(run, g->corpus);
    struct digest digest = cost_digest(run, last_step);

    if (g->count == g->room)
        grow_groups(g);
    uint64_t at = digest.low % (uint64_t)(2 * g->room);
    for (; g->slot[at]; at = (at + 1) % (uint64_t)(2 * g->room)) {
        struct cost_group *group = &g->group[g->slot[at] - 1];
        if (group->digest.low == digest.low && group->digest.high == digest.high) {
            group->runs++;
            group->own += (own - group->own) / (double)group->runs;
            return;
        }
    }
    g->group[g->count++] = (struct cost_group){
        .digest = digest,
        .run = *run,
        .last_step = last_step,
        .runs = 1,
        .own = own,
        .step_cost = train_step_cost(run, g->corpus->vocabulary),
        .cost = train_cost(run, g->corpus, g->measure),
        .memory = train_memory(run, g->corpus, g->measure),
    };
    g->slot[at] = g->count;
}

static int by_descending_cost(const void *a, const void *b)
{
    const struct cost_group *x = a, *y = b;

    return (x->cost < y->cost) - (x->cost > y->cost);
}

static void gather_all(struct estimate *estimate, const struct sweep *sweep, const struct corpus *corpus,
    const bool *ended, struct waiting *waiting)
{
    struct gathering g = {.corpus = corpus, .measure = &sweep->measure};
    struct trunks *trunks = trunks_new(sweep, corpus);

    for (int64_t cell = 0; cell < sweep->cells; cell++) {
        struct run run;
        if (cell % CELLS_BETWEEN == 0 && waiting_is_due(waiting))
            waiting_say(
                waiting, "plan: grouping runs, cell %lld of %lld", (long long)cell, (long long)sweep->cells);
        if (!sweep_trains(sweep, cell)) {
            estimate->skipped++;
            continue;
        }
        if (!sweep_chooses(sweep, cell)) {
            estimate->others++;
            continue;
        }
        estimate->runs++;
        if (ended && ended[cell]) {
            estimate->ended++;
            continue;
        }
        sweep_cell(sweep, cell, &run);
        int64_t steps = run_last_step(&run, corpus), shared = 0, other = trunks_before(trunks, cell, &shared);
        estimate->trunks += trunks_has(trunks, cell) && other < 0;
        shared = other >= 0 && sweep_chooses(sweep, other) && !(ended && ended[other]) ? shared : 0;
        estimate->steps += steps;
        estimate->shared += shared;
        gather_run(&g, &run, steps > 0 ? (double)(steps - shared) / (double)steps : 1);
    }
    trunks_free(trunks);
    free(g.slot);
    estimate->group = g.group;
    estimate->group_count = g.count;
    if (g.count)
        qsort(g.group, (size_t)g.count, sizeof(*g.group), by_descending_cost);
}

/* The uncertainty of the number of runs that a search chooses, as factors. Those of seeds are between the
 * bounds that the sweep sets. */
static struct span search_factor(const struct refine *refine)
{
    const struct refine_seeds *seeds = &refine->seeds;
    double half = (double)(seeds->least + seeds->most) / 2,
           off = refine->kind == REFINE_SEEDS ? 0 : SEARCH_OFF;

    if (seeds->most == 0)
        return (struct span){1 - off, 1 + off};
    return (struct span){(1 - off) * (double)seeds->least / half, (1 + off) * (double)seeds->most / half};
}

/* A search trains about the same share of the runs of each group that are left. */
static void expect_search(struct estimate *estimate, const struct sweep *sweep, double left)
{
    double there = (double)(estimate->runs - estimate->ended);

    if (there == 0)
        return;
    if (left < 0)
        left = search_expected(sweep) * (double)estimate->runs / (double)(estimate->runs + estimate->others);
    double share = fmax(left, 1) / there;
    struct span factor = search_factor(&sweep->refine);
    estimate->factor = (struct span){factor.low, fmin(factor.high, fmax(1 / share, 1))};
    estimate->searched = estimate->runs;
    estimate->runs = estimate->ended;
    for (int64_t i = 0; i < estimate->group_count; i++) {
        struct cost_group *group = &estimate->group[i];
        group->runs = (int64_t)ceil(fmin(share, 1) * (double)group->runs);
        estimate->runs += group->runs;
    }
}

/* ---- samples ---- */

/*
 * The number of processes that sample at once: the sweep's workers, but no more than this machine has
 * processors for, as the plan may be for a larger machine.
 */
static int sample_processes(const struct cost_group *group, int workers)
{
    int64_t room = processors_count() / group->run.threads;

    return (int)(workers < room ? workers : room > 1 ? room : 1);
}

/* Sets the group's seconds, and the range of a step, to the means over the sampling processes. */
static int sample_group(struct cost_group *group, const struct corpus *corpus, const struct measure *measure,
    int workers, double seconds, struct error *error)
{
    int ends[2], reported = 0, processes = sample_processes(group, workers);
    struct sample sample = {.reason = ""}, mean = {.reason = ""};

    if (pipe(ends) != 0)
        return error_set(error, ERROR_ENVIRONMENT, "plan: pipe: %s", strerror(errno));
    for (int process = 0; process < processes; process++) {
        pid_t child = fork();
        if (child == 0) {
            const struct sampling sampling = {group, corpus, measure, clock_now() + seconds};
            sample = sample_take(&sampling);
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
        sample_add(&mean, &sample, ++reported);
    }
    close(ends[0]);
    while (wait(NULL) > 0)
        ;
    if (!reported)
        return error_set(error, ERROR_ENVIRONMENT, "plan: a trial run failed: %s",
            sample.reason[0] ? sample.reason : "its process was killed; too little memory?");
    double step = fmax(mean.seconds[PART_STEP], DBL_MIN);
    memcpy(group->seconds, mean.seconds, sizeof(group->seconds));
    group->factor = (struct span){fmin(mean.step.low / step, 1), fmax(mean.step.high / step, 1)};
    group->busy = mean.wall > 0 ? fmax(1 - mean.processor / mean.wall, 0) : 0;
    group->timed = true;
    return 0;
}

/* How many of `count` groups are measured. */
static int64_t sample_count(int64_t count)
{
    return count < SAMPLES ? count : SAMPLES;
}

/* The group that is sample i; samples are evenly spaced in the order of cost, both ends included. */
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
        waiting_say(waiting, "plan: timing kind of run %lld of %lld", (long long)i + 1, (long long)samples);
        if (sample_group(&estimate->group[at], corpus, &sweep->measure, estimate->workers,
                fmin(seconds / (double)samples, SECONDS_MOST), error) != 0)
            return -1;
        estimate->busy += estimate->group[at].busy / (double)samples;
        estimate->timed++;
        estimate->at_once = sample_processes(&estimate->group[at], estimate->workers);
    }
    return 0;
}

/* The sampled group whose cost of a step is nearest, on a logarithmic scale, from below or, with `above`,
 * from above; NULL: there is none. Only samples are searched, because a sweep over lengths has as many groups
 * as runs. */
static const struct cost_group *nearest_sample(const struct estimate *estimate, double cost, bool above)
{
    const struct cost_group *near = NULL;

    for (int64_t i = 0; i < sample_count(estimate->group_count); i++) {
        const struct cost_group *other = &estimate->group[sample_at(i, estimate->group_count)];
        if (above ? other->step_cost < cost : other->step_cost > cost)
            continue;
        if (!near || fabs(log(other->step_cost / cost)) < fabs(log(near->step_cost / cost)))
            near = other;
    }
    return near;
}

/* Scales the seconds of the sample with the nearest cost of a step. If the one on the other side gives
 * others, they are in the range, too. */
static void interpolate(const struct estimate *estimate, struct cost_group *group)
{
    double cost = group->step_cost;
    const struct cost_group *near = nearest_sample(estimate, cost, true),
                            *far = nearest_sample(estimate, cost, false);

    if (!near || (far && fabs(log(far->step_cost / cost)) < fabs(log(near->step_cost / cost)))) {
        const struct cost_group *other = near;
        near = far;
        far = other;
    }
    group->factor = near->factor;
    for (enum cost_part part = 0; part < PART_COUNT; part++)
        group->seconds[part] = near->seconds[part] * (cost / near->step_cost);
    if (!far || group->seconds[PART_STEP] <= 0)
        return;
    double ratio = far->seconds[PART_STEP] * (cost / far->step_cost) / group->seconds[PART_STEP];
    group->factor.low = fmin(group->factor.low, ratio * far->factor.low);
    group->factor.high = fmax(group->factor.high, ratio * far->factor.high);
}

/* ---- sums ---- */

/* Seconds of one whole run of a group, by part; returns their sum. */
static double group_seconds(
    const struct cost_group *group, const struct measure *measure, bool validated, double part[PART_COUNT])
{
    double times[PART_COUNT] = {[PART_SETUP] = 1, [PART_STEP] = (double)group->last_step}, sum = 0;

    times[PART_MEASURE] = (double)measure_count(measure, group->last_step);
    times[PART_SATURATE] = times[PART_GRADIENTS] = times[PART_MEASURE];
    times[PART_HESSIAN] = (double)measure_hessians(measure, group->last_step);
    times[PART_SPECTRA] = (double)measure_spectra(measure, &group->run, group->last_step);
    times[PART_RESIDUAL] = times[PART_LYAPUNOV] = times[PART_MEASURE];
    times[PART_ATTENTION] = times[PART_SHARPNESS] = times[PART_MEASURE];
    times[PART_VALIDATE] = validated ? (double)measure_validations(measure, group->last_step) : 0;
    for (enum cost_part i = 0; i < PART_COUNT; i++) {
        part[i] = group->seconds[i] * times[i];
        sum += part[i];
    }
    if (validated && measure->group[GROUP_ATTENTION]) { /* its samples had the passes of a validation */
        int64_t rows = measure_rows(measure, group->last_step, NULL);
        double passes = (double)rows - times[PART_VALIDATE];
        part[PART_ATTENTION] += group->seconds[PART_VALIDATE] * passes;
        sum += group->seconds[PART_VALIDATE] * passes;
    }
    return sum;
}

/* Assigns each run in turn to the worker that is free first, which is on top of a heap of their loads. */
static void schedule_runs(struct estimate *estimate, const struct measure *measure, bool validated)
{
    int workers = estimate->workers;
    double *load = memory_zero((size_t)workers, sizeof(*load)), part[PART_COUNT];

    for (int64_t i = 0; i < estimate->group_count; i++) {
        double seconds =
            estimate->group[i].own * group_seconds(&estimate->group[i], measure, validated, part);
        for (int64_t run = 0; run < estimate->group[i].runs; run++) {
            double grown = load[0] + seconds;
            int at = 0;
            estimate->makespan = fmax(estimate->makespan, grown);
            for (int least = 1; least < workers; least = 2 * at + 1) {
                least += least + 1 < workers && load[least + 1] < load[least];
                if (grown <= load[least])
                    break;
                load[at] = load[least];
                at = least;
            }
            load[at] = grown;
        }
    }
    free(load);
}

static void add_up(struct estimate *estimate, const struct measure *measure, bool validated)
{
    double sum[PART_COUNT] = {0}, seconds[PART_COUNT], all = 0, low = 0, high = 0;

    for (int64_t i = 0; i < estimate->group_count; i++) {
        const struct cost_group *group = &estimate->group[i];
        double runs = (double)group->runs * group->own,
               whole = group_seconds(group, measure, validated, seconds);
        low += runs * whole * group->factor.low;
        high += runs * whole * group->factor.high;
        for (enum cost_part part = 0; part < PART_COUNT; part++)
            sum[part] += runs * seconds[part];
    }
    for (enum cost_part part = 0; part < PART_COUNT; part++)
        all += sum[part];
    estimate->core_seconds = all;
    estimate->factor.low *= low / all;
    estimate->factor.high *= high / all;
    for (enum cost_part part = 0; part < PART_COUNT; part++)
        estimate->part[part] = sum[part] / all;
}

int estimate_make(struct estimate *estimate, const struct sweep *sweep, const struct corpus *corpus,
    const bool *ended, double left, int workers, double seconds, struct waiting *waiting, struct error *error)
{
    bool validated = corpus->valid.token_count > 0;

    *estimate = (struct estimate){.workers = workers, .factor = {1, 1}};
    gather_all(estimate, sweep, corpus, ended, waiting);
    if (sweep->refine.kind != REFINE_NONE)
        expect_search(estimate, sweep, left);
    if (estimate->runs > 0 && estimate->ended == estimate->runs)
        return 0;
    if (sample_groups(estimate, sweep, corpus, seconds, waiting, error) != 0) {
        estimate_release(estimate);
        return -1;
    }
    for (int64_t i = 0; i < estimate->group_count; i++)
        if (!estimate->group[i].timed)
            interpolate(estimate, &estimate->group[i]);
    add_up(estimate, &sweep->measure, validated);
    waiting_say(waiting, "plan: assigning %lld runs to %d workers",
        (long long)(estimate->runs - estimate->ended), workers);
    schedule_runs(estimate, &sweep->measure, validated);
    estimate->whole.low = estimate->factor.low * estimate->makespan;
    estimate->whole.high = estimate->factor.high * estimate->makespan + START_SECONDS;
    return 0;
}

void estimate_release(struct estimate *estimate)
{
    free(estimate->group);
    *estimate = (struct estimate){0};
}

/* ---- what the runs need ---- */

static void widen(struct span *span, double value)
{
    span->low = value < span->low ? value : span->low;
    span->high = value > span->high ? value : span->high;
}

static double text_bytes(const struct text *text)
{
    double tokens = text->tokens ? (double)text->token_count : 0;
    double lines = (double)text->line_count * (text->source ? 2 : 1);

    return tokens * sizeof(*text->tokens) + lines * sizeof(*text->line);
}

struct needs needs_of(const struct estimate *estimate, const struct sweep *sweep, const struct corpus *corpus)
{
    const struct span none = {INFINITY, -INFINITY};
    struct needs needs = {
        .parameters = none, .steps = none, .step_milliseconds = none, .rank = none, .longest = -INFINITY};
    const struct measure *measure = &sweep->measure;
    double checkpoint = -INFINITY, part[PART_COUNT];

    for (int64_t i = 0; i < estimate->group_count; i++) {
        const struct cost_group *group = &estimate->group[i];
        struct architecture architecture = run_architecture(&group->run, corpus->vocabulary);
        double parameters = (double)architecture_parameters(&architecture);
        double rows = (double)measure_rows(measure, group->last_step, NULL);
        widen(&needs.parameters, parameters);
        widen(&needs.steps, (double)group->last_step);
        widen(&needs.step_milliseconds, 1e3 * group->seconds[PART_STEP]);
        widen(&needs.rank, (double)group->memory);
        double seconds = group_seconds(group, measure, corpus->valid.token_count > 0, part);
        needs.longest = seconds > needs.longest ? seconds : needs.longest;
        /* An upper bound: weights, two moments, the weights of the last measurement, and the rows. */
        double bytes = 4 * parameters * sizeof(scalar) +
                       rows * (double)metric_form(&group->run, measure).row_size * sizeof(double);
        checkpoint = bytes > checkpoint ? bytes : checkpoint;
    }
    needs.corpus = text_bytes(&corpus->train) + text_bytes(&corpus->valid);
    needs.memory = estimate->workers * needs.rank.high + needs.corpus;
    /* Each run under way has two checkpoints, and a third while it is being written; two states are kept of
     * each run that has grown more than once, and of runs that share steps. */
    needs.checkpoints = 3 * checkpoint * estimate->workers;
    bool kept = sweep->base.save_weights == SAVE_STATE;
    needs.states = 2 * checkpoint * (double)(kept ? estimate->runs : estimate->trunks);
    needs.weights = (double)estimate->runs * needs.parameters.high * sizeof(scalar);
    return needs;
}
