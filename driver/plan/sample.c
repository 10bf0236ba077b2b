/*
 * A sample measures what the sweep measures, but once, on few tokens and short; then the seconds are scaled
 * to those of the sweep.
 */
#include "driver/plan/inside.h"
#include "model/corpora/corpora.h"
#include "worker/host/host.h"
#include "worker/run/run.h"
#include "worker/train/train.h"

#include <math.h>
#include <string.h>

enum { GRADIENTS_SAMPLED = 2 }; /* batches of the gradients */
enum { HESSIAN_SAMPLED = 4 }; /* Lanczos steps */
enum { EXPONENTS_SAMPLED = 2, EXPONENTS_MORE = 64, SWEEPS_SAMPLED = 1 }; /* of the Lyapunov exponents */

#define SLICE_SECONDS 0.25 /* of a sample: long enough for a scheduler to have served all */

/* A moment in a sample. A thread that waits for its team is not one that others keep from a processor, so the
 * processor time of teams is taken to be that on the wall. */
struct moment {
    double wall, processor; /* clocks */
    int64_t step;
};

struct stopwatch {
    bool team;
    double limit; /* clock at which to stop */
    struct moment first, slice,
        last; /* after the first step, at the beginning of a slice, after the last step */
    struct span step; /* see struct sample */
};

static double processor_now(const struct stopwatch *stopwatch)
{
    struct timespec time;

    if (stopwatch->team || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0)
        return stopwatch->last.wall;
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Of a run that is shorter than a slice, all of it is one; else what is left at the end is none. */
static void end_slice(struct stopwatch *stopwatch)
{
    struct moment *slice = &stopwatch->slice, *last = &stopwatch->last;
    double steps = (double)(last->step - slice->step);

    last->processor = processor_now(stopwatch);
    if (slice->step > 0 && steps > 0 &&
        (last->wall - slice->wall >= SLICE_SECONDS || slice->step == stopwatch->first.step)) {
        stopwatch->step.low = fmin(stopwatch->step.low, (last->processor - slice->processor) / steps);
        stopwatch->step.high = fmax(stopwatch->step.high, (last->wall - slice->wall) / steps);
    }
    *slice = *last;
}

static enum verdict watch_sample(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    struct stopwatch *stopwatch = context;

    (void)tokens;
    if (step == stopwatch->last.step) /* called again during the validation of a step */
        return VERDICT_CARRY_ON;
    stopwatch->last.wall = clock_now();
    stopwatch->last.step = step;
    bool stops = step >= 3 && stopwatch->last.wall >= stopwatch->limit;
    if (step == 1 || step == last_step || stops ||
        stopwatch->last.wall - stopwatch->slice.wall >= SLICE_SECONDS)
        end_slice(stopwatch);
    if (step == 1)
        stopwatch->first = stopwatch->last;
    return stops ? VERDICT_STOP : VERDICT_CARRY_ON;
}

/* The number of sequences of a validation on at most `tokens`. */
static double validation_sequences(const struct sampling *sampling, int64_t tokens)
{
    struct reading reading = run_reading(&sampling->group->run, sampling->corpus);
    struct validation validation;

    validation_init(&validation, &sampling->corpus->valid, &reading, tokens);
    return (double)validation.sequence_count;
}

static double mean(double seconds, int64_t times)
{
    return times ? seconds / (double)times : 0;
}

/* The same measurements, but once, on few tokens, and short. */
static struct measure shorten(const struct measure *measure, int64_t tokens)
{
    struct measure few = *measure;

    few.every = few.validate_every = INT64_MAX;
    few.step_count = 0;
    few.validate_tokens = few.validate_tokens < tokens ? few.validate_tokens : tokens;
    if (few.gradient_batches > GRADIENTS_SAMPLED)
        few.gradient_batches = GRADIENTS_SAMPLED;
    few.hessian_every = few.spectra_every = EVERY_START;
    few.hessian_probes = few.hessian_batches = 1;
    if (few.hessian_steps > HESSIAN_SAMPLED)
        few.hessian_steps = HESSIAN_SAMPLED;
    few.group[GROUP_HESSIAN_LAYERS] = false;
    if (few.lyapunov_exponents > EXPONENTS_SAMPLED)
        few.lyapunov_exponents = EXPONENTS_SAMPLED;
    if (few.lyapunov_sweeps > SWEEPS_SAMPLED)
        few.lyapunov_sweeps = SWEEPS_SAMPLED;
    return few;
}

/* From the seconds of the short measurements to those of the sweep's. */
static void lengthen(struct sample *sample, const struct sampling *sampling, const struct measure *few)
{
    const struct measure *all = sampling->measure;
    double longer = validation_sequences(sampling, all->validate_tokens) /
                    fmax(validation_sequences(sampling, few->validate_tokens), 1);

    sample->seconds[PART_VALIDATE] *= longer;
    sample->seconds[PART_SATURATE] *= longer;
    sample->seconds[PART_ATTENTION] *= longer;
    sample->seconds[PART_GRADIENTS] *= (double)all->gradient_batches / (double)few->gradient_batches;
    sample->seconds[PART_HESSIAN] *=
        train_hessian_products(&sampling->group->run, all) / (double)few->hessian_steps;
}

/* ---- Lyapunov exponents: a part that grows with their number, and one with its square ---- */

static enum verdict measure_once(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    (void)context, (void)last_step, (void)tokens;
    return step == 0 ? VERDICT_CARRY_ON : VERDICT_STOP;
}

/* Seconds of one measurement of nothing else. */
static double time_lyapunov(
    const struct sampling *sampling, const struct measure *measure, struct arena *arena)
{
    struct measure alone = *measure;
    struct observer observer = {.carry_on = measure_once};
    struct result result;

    for (int group = 0; group < GROUP_COUNT; group++)
        alone.group[group] = group == GROUP_ALWAYS || group == GROUP_LYAPUNOV;
    train(&sampling->group->run, sampling->corpus, &alone, &observer, arena, &result);
    return mean(result.lyapunov_seconds, result.lyapunovs);
}

/* Measures more exponents, as many as take about a second, to tell the two parts apart. */
static void lengthen_lyapunov(
    struct sample *sample, const struct sampling *sampling, const struct measure *few, struct arena *arena)
{
    const struct run *run = &sampling->group->run;
    double *seconds = &sample->seconds[PART_LYAPUNOV], product = 0;
    double room = (double)few->lyapunov_exponents / fmax(*seconds, 1e-9);
    struct measure more = *few;

    more.lyapunov_exponents = (int64_t)fmax(2 * EXPONENTS_SAMPLED, fmin(EXPONENTS_MORE, room));
    struct lyapunov_work work = train_lyapunov_work(run, sampling->measure),
                         little = train_lyapunov_work(run, few), much = train_lyapunov_work(run, &more);
    double longer = much.passes / little.passes;
    double products = much.products - longer * little.products; /* 0: the state has no more directions */
    if (work.products > much.products && products > 0)
        product = fmax((time_lyapunov(sampling, &more, arena) - longer * *seconds) / products, 0);
    double pass = fmax(*seconds - product * little.products, 0) / little.passes;
    *seconds = pass * work.passes + product * work.products;
}

/* ---- samples ---- */

/* Trains a group's run for a while. It is measured and validated at step 0 only, on few tokens; the first
 * step is left out of the mean, as a warm-up. */
static struct sample take_sample(const struct sampling *sampling, struct arena *arena)
{
    const struct run *run = &sampling->group->run;
    struct measure few = shorten(sampling->measure, 4 * run->batch * run->context);
    struct stopwatch stopwatch = {
        .team = run->threads > 1, .limit = sampling->limit, .step = {INFINITY, -INFINITY}};
    const struct moment *first = &stopwatch.first, *last = &stopwatch.slice;
    struct observer observer = {.context = &stopwatch, .carry_on = watch_sample};
    struct result result;
    double begin = clock_now(), once = 0;

    train(run, sampling->corpus, &few, &observer, arena, &result);
    if (last->step < stopwatch.last.step) /* it has diverged */
        end_slice(&stopwatch);
    struct sample sample = {
        .seconds = {0, result.step_seconds, mean(result.measure_seconds, result.measured),
            mean(result.validate_seconds, result.validated), mean(result.saturate_seconds, result.saturated),
            mean(result.gradients_seconds, result.gradients), mean(result.hessian_seconds, result.hessians),
            mean(result.residual_seconds, result.residuals), mean(result.lyapunov_seconds, result.lyapunovs),
            mean(result.attention_seconds, result.attended), mean(result.sharpness_seconds, result.sharpened),
            mean(result.spectra_seconds, result.spectra)}};
    if (last->step > 1) {
        sample.wall = last->wall - first->wall;
        sample.processor = last->processor - first->processor;
        sample.seconds[PART_STEP] = sample.wall / (double)(last->step - 1);
    }
    sample.step = last->step > 1 ? stopwatch.step : (struct span){result.step_seconds, result.step_seconds};
    for (enum cost_part part = PART_STEP; part < PART_COUNT; part++)
        once += sample.seconds[part];
    sample.seconds[PART_SETUP] = first->step > 0 ? fmax(first->wall - begin - once, 0) : 0;
    lengthen(&sample, sampling, &few);
    if (few.group[GROUP_LYAPUNOV])
        lengthen_lyapunov(&sample, sampling, &few, arena);
    if (result.outcome == OUTCOME_FAILED)
        memcpy(sample.reason, result.reason, sizeof(sample.reason));
    return sample;
}

void sample_add(struct sample *mean, const struct sample *sample, int count)
{
    for (enum cost_part part = 0; part < PART_COUNT; part++)
        mean->seconds[part] += (sample->seconds[part] - mean->seconds[part]) / count;
    mean->step.low += (sample->step.low - mean->step.low) / count;
    mean->step.high += (sample->step.high - mean->step.high) / count;
    mean->processor += (sample->processor - mean->processor) / count;
    mean->wall += (sample->wall - mean->wall) / count;
}

struct sample sample_take(const struct sampling *sampling)
{
    struct sample mean = {0};
    struct span step = {INFINITY, -INFINITY};
    struct arena arena = {0};
    int count = 0;

    do {
        struct sample one = take_sample(sampling, &arena);
        if (one.reason[0])
            return one;
        sample_add(&mean, &one, ++count);
        if (one.wall >= SLICE_SECONDS)
            step = (struct span){fmin(step.low, one.step.low), fmax(step.high, one.step.high)};
    } while (clock_now() < sampling->limit);
    if (step.high > 0)
        mean.step = step;
    return mean;
}
