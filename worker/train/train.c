/* Trains a run from its first step, or from where it is resumed, to its last. */
#include "model/core/check.h"
#include "model/core/denormals.h"
#include "model/core/limits.h"
#include "worker/host/host.h"
#include "worker/train/inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Sets what follows from the texts. There is room for the largest possible batch, and the longest sequence of
 * validation: less than batch * context for lines, which rarely fill their context. */
static void set_out(struct trainer *t)
{
    const struct run *run = t->run;

    t->last_step = t->end = run_last_step(run, t->corpus);
    t->kept_step = run_kept_step(run, t->last_step);
    t->reading = run_reading(run, t->corpus);
    struct batch_rows train = reading_rows(&t->reading, &t->corpus->train, run->batch);
    struct batch_rows valid = reading_rows(&t->reading, &t->corpus->valid, 1);
    t->room = (struct batch_rows){larger(train.rows, valid.rows), larger(train.source, valid.source)};
    t->can_validate = reading_sequences(&t->reading, &t->corpus->valid) > 0;
}

static void trainer_layout(struct trainer *t, struct arena *arena)
{
    const struct run *run = t->run;
    struct architecture architecture = run_architecture(run, t->corpus->vocabulary);
    struct optimiser_options options = run_optimiser(run);
    int64_t rows = larger(t->room.rows, t->room.source);

    transformer_layout(&t->model, &architecture, rows, run->threads, t->measure->group[GROUP_HESSIAN], arena);
    optimiser_layout(
        &t->optimiser, &options, &t->model.layout, run->threads, t->measure->group[GROUP_FORCES], arena);
    batches_layout(&t->batches, &t->corpus->train, &t->reading, run->batch, arena);
    batch_layout(&t->batch, t->room, arena);
    t->weights = arena_take(arena, (size_t)t->model.layout.size, sizeof(scalar));
    t->gradient = arena_take(arena, (size_t)t->model.layout.size, sizeof(scalar));
    train_measure_layout(t, arena);
}

/* Counts what a run takes. */
static struct arena count_trainer(
    const struct run *run, const struct corpus *corpus, const struct measure *measure)
{
    struct trainer trainer = {.run = run, .corpus = corpus, .measure = measure};
    struct arena counted = {0};

    set_out(&trainer);
    trainer_layout(&trainer, &counted);
    return counted;
}

size_t train_memory(const struct run *run, const struct corpus *corpus, const struct measure *measure)
{
    return count_trainer(run, corpus, measure).used;
}

/* Takes one optimiser step from theta_t to theta_(t+1). False: the loss is not finite; no step was taken. */
static bool take_step(struct trainer *t, int64_t step, bool measured)
{
    double begin = clock_now(), measuring = 0, sharpening = 0;
    double loss = train_gradient(t, step + 1);

    if (measured)
        ROW(t, train_loss) = loss;
    if (!isfinite(loss))
        return false;
    double clip = optimiser_clip(&t->optimiser, t->gradient), pause = clock_now();
    if (measured)
        train_before_step(t, clip, step + 1);
    measuring += clock_now() - pause;
    if (measured && t->measure->group[GROUP_SHARPNESS])
        sharpening = train_sharpen(t, loss, clip, step + 1);
    optimiser_step(
        &t->optimiser, t->weights, t->gradient, clip, step + 1, schedule_rate(&t->schedule, step + 1));
    train_count_step(t, step + 1, measured);
    pause = clock_now();
    if (measured)
        train_after_step(t);
    measuring += clock_now() - pause;
    t->result->tokens += t->batch.rows + t->batch.source_rows;
    t->result->measure_seconds += measuring;
    t->result->step_seconds += clock_now() - begin - measuring - sharpening;
    return true;
}

/* Measures theta_t and takes the step to theta_(t+1). Sets the outcome if the run ends or stops here. */
static void advance_to(struct trainer *t, int64_t step)
{
    bool measured = measure_at(t->measure, step, t->last_step);

    if (measured && train_ends_early(t))
        t->end = step;
    bool validated = t->can_validate && validate_at(t->measure, step, t->end);
    bool row = measured || validated, last = step == t->end, finite = true;
    bool attended = measured && train_attends(t);
    struct validated validation;

    if (validated && !train_validate(t, step, attended, &validation))
        return;
    if (attended && !validated && !train_attend(t, step))
        return;
    if (measured && train_saturates(t) && !train_saturate(t, step))
        return;
    if (measured && !train_probe(t, step))
        return;
    if (row)
        finite = train_begin_row(t, step, measured, validated ? &validation : NULL);
    if (finite && last) { /* no gradient follows whose loss could be used: that of the batch to come next */
        ROW(t, train_loss) = train_loss(t, t->end + 1);
        finite = isfinite(ROW(t, train_loss));
    } else if (finite) {
        finite = take_step(t, step, measured);
    }
    if (row)
        train_end_row(t, step);
    t->result->last_step = step + (finite && !last);
    if (!finite) {
        t->result->outcome = OUTCOME_DIVERGED;
        t->result->diverged_step = step;
    } else if (last) {
        t->result->outcome = OUTCOME_DONE;
        t->result->ended_early = t->end < t->last_step ? EARLY_PHASE : EARLY_NO;
    }
}

static void result_init(struct result *result)
{
    *result = (struct result){.outcome = OUTCOME_RUNNING, .diverged_step = -1, .norm_growth = NAN};
}

/* -1 and a reason if they are those of a file that cannot be read. */
static int begin_weights(struct trainer *t)
{
    const struct observer *observer = t->observer;
    struct error error;

    if (!t->run->initial_weights || !observer || !observer->begin) {
        weights_init(t->weights, &t->model.layout, &t->model.architecture, t->run->seed);
    } else if (observer->begin(
                   observer->context, t->run->initial_weights, &t->model.layout, t->weights, &error) < 0) {
        snprintf(t->result->reason, sizeof(t->result->reason), "%.*s", REASON_SIZE - 1, error.text);
        t->result->outcome = OUTCOME_FAILED;
        return -1;
    }
    optimiser_begin(&t->optimiser, t->weights);
    return 0;
}

/* Takes all memory of the run, zeroed but for scratch, and lays it out. -1 and a reason if there is too
 * little, or the initial weights cannot be read. */
static int lay_out_trainer(struct trainer *t, struct arena *arena)
{
    const struct arena counted = count_trainer(t->run, t->corpus, t->measure);
    size_t memory = counted.used;
    struct result *result = t->result;

    arena_rest(arena);
    if (memory > limits()->memory || arena_renew(arena, &counted) != 0) {
        snprintf(result->reason, sizeof(result->reason),
            "no memory: the run needs %.1f MiB, and this process may have %.1f MiB", (double)memory / 0x1p20,
            (double)limits()->memory / 0x1p20);
        result->outcome = OUTCOME_FAILED;
        return -1;
    }
    trainer_layout(t, arena);
    INVARIANT(arena->used == memory, "%zu bytes laid out, %zu counted", arena->used, memory);
    if (t->optimiser.options.norm_rule == NORM_FREE)
        return 0;
    /* shows the optimiser the initial weights, also in a run that is then resumed */
    int status = begin_weights(t);
    memset(t->weights, 0, (size_t)t->model.layout.size * sizeof(*t->weights));
    return status;
}

/* -1 and a reason if the run cannot be trained. */
static int prepare_run(struct trainer *t, struct arena *arena)
{
    const struct run *run = t->run;
    struct result *result = t->result;

    result_init(result);
    set_out(t);
    t->schedule = run_schedule(run, t->last_step);
    if (t->measure->group[GROUP_SPECTRA] && !spectra_available()) {
        snprintf(result->reason, sizeof(result->reason),
            "the group spectra needs LAPACK's dsyev, which the BLAS library of this process lacks");
        result->outcome = OUTCOME_FAILED;
        return -1;
    }
    if (reading_sequences(&t->reading, &t->corpus->train) < run->batch ||
        t->last_step < (run->initial_weights ? 0 : 1)) {
        snprintf(
            result->reason, sizeof(result->reason), "the training text has fewer sequences than one batch");
        result->outcome = OUTCOME_FAILED;
        return -1;
    }
    return lay_out_trainer(t, arena);
}

/* Prepares weights and moments, in memory that is all zeros; returns the step to begin with, where the
 * observer resumes the run or 0, or -1 and a reason. */
static int64_t first_step(struct trainer *t, struct arena *arena)
{
    struct result *result = t->result;

    if (t->observer && t->observer->resume) {
        struct snapshot snapshot = train_snapshot(t, 0);
        if (t->observer->resume(t->observer->context, &snapshot)) {
            t->begin -= result->seconds;
            result->outcome = OUTCOME_RUNNING;
            result->last_step = snapshot.step;
            train_emit_rows(t);
            return snapshot.step;
        }
        result_init(result); /* a failed resume may have filled in a part */
        if (lay_out_trainer(t, arena) != 0)
            return -1;
    }
    return begin_weights(t);
}

void train(const struct run *run, const struct corpus *corpus, const struct measure *measure,
    const struct observer *observer, struct arena *arena, struct result *result)
{
    struct trainer t = {
        .run = run, .corpus = corpus, .measure = measure, .observer = observer, .result = result};
    bool flushed = denormals_flush(true);
    int64_t first = -1;

    t.begin = clock_now();
    if (prepare_run(&t, arena) == 0)
        first = first_step(&t, arena);
    if (first >= 0)
        train_put_givens(&t);
    for (int64_t step = first; first >= 0 && result->outcome == OUTCOME_RUNNING; step++) {
        if (step > first && !train_carry_on(&t, step))
            break;
        if (step > 0 && step == t.kept_step && observer && observer->keep) {
            const struct snapshot snapshot = train_snapshot(&t, step);
            observer->keep(observer->context, &snapshot);
        }
        advance_to(&t, step);
    }
    if (result->outcome == OUTCOME_DONE)
        train_put_growth(&t);
    if (result->outcome == OUTCOME_DONE && observer && observer->finish) {
        const struct snapshot snapshot = train_snapshot(&t, t.end);
        observer->finish(observer->context, &snapshot);
    }
    if (result->outcome == OUTCOME_DONE || result->outcome == OUTCOME_DIVERGED)
        train_emit_run(&t);
    result->seconds = clock_now() - t.begin;
    arena_rest(arena);
    denormals_flush(flushed);
}
