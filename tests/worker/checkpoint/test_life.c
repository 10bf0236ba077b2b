/* A run that is stopped, saved and resumed gives what an undisturbed one does, bit for bit. */
#include "tests/test.h"
#include "tests/worker/checkpoint/life.h"
#include "worker/checkpoint/inside.h"

void life_init(struct life *life)
{
    memset(life, 0, sizeof(*life));
    life->run = small_run(8, 6, 7);
    life->run.batch = 2;
    small_corpus(&life->run, 16, 500, &life->corpus);
    life->run.learning_rate = 0.01;
    measure_init(&life->measure);
    life->measure.every = 2;
    life->measure.validate_every = 3;
    life->measure.validate_tokens = 40; /* in batches of 12 */
    scratch_folder(life->folder);
    life->owner = (struct checkpoint_owner){
        .folder = life->folder, .digest = {0x0123456789abcdef, 7}, .session = 2, .ticket = 5};
}

void life_release(struct life *life)
{
    scratch_remove(life->folder);
    measure_release(&life->measure);
    arena_release(&life->arena);
    corpus_release(&life->corpus);
}

char *life_path(const struct life *life, int64_t step, char text[160])
{
    const struct checkpoint_name name = {life->owner.digest, life->owner.session, life->owner.ticket, step};
    char file[CHECKPOINT_NAME_SIZE];

    snprintf(text, 160, "%s/%s", life->folder, checkpoint_format(&name, file));
    return text;
}

/* ---- the observer ---- */

static void on_row(void *context, int64_t step, const double *values, size_t count)
{
    struct life *life = context;

    int64_t row = 0;
    while (row < life->row_count && life->row_step[row] != step) /* handed out again, it is complete */
        row++;
    if (row == LIFE_ROWS || count > LIFE_VALUES) {
        test_fail(__FILE__, __LINE__, "%zu values in row %lld", count, (long long)row);
        return;
    }
    memcpy(life->row[row], values, count * sizeof(*values));
    life->row_step[row] = step;
    life->row_count += row == life->row_count;
}

static enum verdict on_step(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    struct life *life = context;

    CHECK(life->calls < LIFE_CALLS && step <= last_step && (tokens > 0) == (step > 0));
    life->asked[life->calls++] = step;
    if (life->calls == life->stop_call)
        return VERDICT_SAVE_AND_STOP;
    return life->calls == life->save_call ? VERDICT_SAVE : VERDICT_CARRY_ON;
}

static void listen(void *context, const char *line)
{
    struct life *life = context;
    size_t used = strlen(life->said);

    snprintf(life->said + used, sizeof(life->said) - used, "%s\n", line);
}

static bool on_resume(void *context, struct snapshot *snapshot)
{
    struct life *life = context;
    int status = checkpoint_load(&life->owner, snapshot, listen, life, &life->error);

    if (status > 0)
        life->resumed_at = snapshot->step;
    return status > 0;
}

static void on_save(void *context, const struct snapshot *snapshot)
{
    struct life *life = context;

    life->saved_seconds = snapshot->result->seconds;
    checkpoint_save(&life->owner, snapshot, &life->error);
}

static void on_finish(void *context, const struct snapshot *snapshot)
{
    struct life *life = context;
    size_t size = (size_t)snapshot->model->layout.size;

    CHECK(size <= LIFE_WEIGHTS && snapshot->step <= snapshot->last_step);
    memcpy(life->weights, snapshot->weights, size * sizeof(scalar));
}

void life_train(struct life *life)
{
    struct observer observer = {.context = life,
        .row = on_row,
        .carry_on = on_step,
        .resume = life->resumes ? on_resume : NULL,
        .save = on_save,
        .finish = on_finish};

    life->calls = life->row_count = 0;
    life->resumed_at = -1;
    memset(life->row, 0, sizeof(life->row));
    memset(life->weights, 0, sizeof(life->weights));
    life->error.text[0] = life->said[0] = '\0';
    train(&life->run, &life->corpus, &life->measure, &observer, &life->arena, &life->result);
}

bool life_equal(const struct life *a, const struct life *b)
{
    const struct result *left = &a->result, *right = &b->result;

    return left->outcome == right->outcome && left->last_step == right->last_step &&
           left->diverged_step == right->diverged_step && left->tokens == right->tokens &&
           left->measured == right->measured && left->validated == right->validated &&
           left->saturated == right->saturated && left->gradients == right->gradients &&
           left->residuals == right->residuals && left->lyapunovs == right->lyapunovs &&
           left->attended == right->attended && left->sharpened == right->sharpened &&
           left->hessians == right->hessians && left->spectra == right->spectra &&
           left->dynamics == right->dynamics && left->ended_early == right->ended_early &&
           memcmp(&left->norm_growth, &right->norm_growth, sizeof(double)) == 0 &&
           a->row_count == b->row_count &&
           memcmp(a->row_step, b->row_step, (size_t)a->row_count * sizeof(*a->row_step)) == 0 &&
           memcmp(a->row, b->row, sizeof(a->row)) == 0 &&
           memcmp(a->weights, b->weights, sizeof(a->weights)) == 0;
}

/* ---- the tests ---- */

/* Stops at one call after the other, each time in a run that began anew, and resumes once. */
static void check_every_stop(struct life *life, const struct life *undisturbed, const char *what)
{
    for (int64_t call = 1; call <= undisturbed->calls; call++) {
        life->resumes = false;
        life->stop_call = call;
        life_train(life);
        if (life->result.outcome != OUTCOME_PENDING || life->error.text[0])
            test_fail(__FILE__, __LINE__, "%s: not stopped at call %lld: %s", what, (long long)call,
                life->error.text);
        int64_t step = life->asked[call - 1];
        CHECK(life->result.last_step == step);
        life->resumes = true;
        life->stop_call = 0;
        life_train(life);
        if (life->resumed_at != step || life->said[0] || !life_equal(life, undisturbed))
            test_fail(__FILE__, __LINE__, "%s: other numbers when stopped at call %lld, step %lld; %s", what,
                (long long)call, (long long)step, life->said);
        CHECK(life->result.seconds > life->saved_seconds);
        checkpoint_remove(life->folder, &life->owner.digest, &life->error);
    }
}

/*
 * Calls in the step that has most, with one before each: the first step has none. A life that is resumed
 * there has as many until the next step has begun.
 */
static int64_t most_calls(const struct life *life)
{
    int64_t most = 0, count = 0;

    for (int64_t call = 0; call < life->calls; call++) {
        count = call > 0 && life->asked[call] == life->asked[call - 1] ? count + 1 : 1 + (call == 0);
        most = count > most ? count : most;
    }
    return most;
}

/* Stops again and again, so early that each life comes no further than it must. */
static void check_many_stops(struct life *life, const struct life *undisturbed, const char *what)
{
    int lives = 0;

    life->resumes = true;
    life->stop_call = most_calls(undisturbed);
    do {
        life->owner.ticket++;
        life_train(life);
        lives++;
    } while (life->result.outcome == OUTCOME_PENDING && lives < 20);
    if (lives < 2 || !life_equal(life, undisturbed))
        test_fail(__FILE__, __LINE__, "%s: other numbers after %d lives", what, lives);
}

/* `change` makes the run another one than the default. */
static void check_run(const char *what, void (*change)(struct life *life))
{
    static struct life life, undisturbed;

    life_init(&undisturbed);
    change(&undisturbed);
    life_train(&undisturbed);
    CHECK(undisturbed.result.outcome == OUTCOME_DONE || undisturbed.result.outcome == OUTCOME_DIVERGED);
    CHECK(undisturbed.calls >= 3);
    life_init(&life);
    change(&life);
    check_every_stop(&life, &undisturbed, what);
    check_many_stops(&life, &undisturbed, what);
    life_release(&life);
    life_release(&undisturbed);
}

/* A test of a run that differs from the default as the body says. */
#define LIFE(id)                                                                                             \
    static void change_##id(struct life *life);                                                              \
    TEST(life_##id)                                                                                          \
    {                                                                                                        \
        check_run(#id, change_##id);                                                                         \
    }                                                                                                        \
    static void change_##id(struct life *life)

LIFE(adamw)
{
    life->run.weight_decay = 0.1;
    life->run.gradient_clip = 0.5;
}

LIFE(adamw_factor_tied)
{
    life->run.weight_decay = 0.1;
    life->run.decay = DECAY_FACTOR;
    life->run.tied = true;
    life->run.norm_placement = NORM_PRE;
}

LIFE(adam_gelu_linear)
{
    life->run.optimiser = OPTIMISER_ADAM;
    life->run.weight_decay = 0.01;
    life->run.activation = ACTIVATION_GELU;
    life->run.schedule = SCHEDULE_LINEAR;
    life->run.warmup_steps = 3;
}

/* The draws of a step are those of an undisturbed run. */
LIFE(stochastic_rounding)
{
    life->run.weights = WEIGHTS_BFLOAT16_STOCHASTIC;
    life->run.weight_decay = 0.1;
}

/* The norms that stay are those of rounded weights. */
LIFE(fixed_norms_in_bfloat16)
{
    life->run.weights = WEIGHTS_BFLOAT16;
    life->run.norm_rule = NORM_FIXED;
    life->run.norm_target = 0.5;
}

LIFE(sgd_without_bias)
{
    life->run.optimiser = OPTIMISER_SGD;
    life->run.momentum = 0.9;
    life->run.bias = false;
    life->run.schedule = SCHEDULE_INVERSE_SQRT;
}

LIFE(normalized_sgd)
{
    life->run.optimiser = OPTIMISER_NORMALIZED_SGD;
    life->run.attention_mask = MASK_MULTIPLICATIVE;
    life->run.norm_placement = NORM_OUT;
}

LIFE(adafactor_tied)
{
    life->run.optimiser = OPTIMISER_ADAFACTOR;
    life->run.tied = true;
    life->run.weight_decay = 0.01;
}

/* Wide enough that a product is worth two threads. */
LIFE(on_threads)
{
    life->run.threads = 2;
    life->run.layers = 1;
    life->run.width = 64;
    life->run.feedforward = 256;
    life->run.context = 32;
    life->run.batch = 8;
}

/* Each step takes nearly all of a weight, so that most soon pass the range of denormals. */
LIFE(of_vanishing_weights)
{
    life->run.threads = 2;
    life->run.optimiser = OPTIMISER_SGD;
    life->run.learning_rate = 0.1;
    life->run.weight_decay = 9.999;
}

LIFE(over_epochs)
{
    life->run.steps = 0;
    life->run.epochs = 2;
    life->run.batch = 20;
}

LIFE(with_few_measures)
{
    life->measure.group[GROUP_NORMS] = false;
    life->measure.every = 100;
    life->measure.validate_every = VALIDATE_END;
}

/* Asked between the batches that saturation is measured on, too. */
LIFE(with_every_group)
{
    for (int group = 0; group < GROUP_COUNT; group++)
        life->measure.group[group] = true;
    life->measure.gradient_batches = 3;
    life->measure.hessian_probes = life->measure.hessian_batches = 2;
    life->measure.hessian_steps = 3;
    life->measure.lyapunov_exponents = 2;
    life->measure.lyapunov_sweeps = 1;
}

LIFE(with_heads_alone)
{
    life->measure.group[GROUP_HEADS] = true;
    life->run.attention_mask = MASK_MULTIPLICATIVE;
}

/* A run that diverges does so at the same step in its second life, too. */
LIFE(that_diverges)
{
    life->run.optimiser = OPTIMISER_SGD;
    life->run.learning_rate = 1e9;
}

/* Decay wins at once: the run ends after the fewest steps, in the middle of two validations. */
LIFE(that_ends_early)
{
    life->run.steps = 14;
    life->run.weight_decay = 5;
    life->run.stop_when = STOP_PHASE;
    life->measure.every = 1;
    life->measure.validate_every = 4;
}

IN_LIFE(life_that_has_ended_early)
{
    change_that_ends_early(life);
    life_train(life);
    CHECK(life->result.outcome == OUTCOME_DONE && life->result.ended_early == EARLY_PHASE);
    CHECK(life->result.last_step >= 5 && life->result.last_step < 14 && life->result.norm_growth < 1);
    CHECK(life->row_step[life->row_count - 1] == STEP_OF_RUN);
    CHECK(life->row_step[life->row_count - 2] == life->result.last_step);
}

static int64_t other_optimiser;

static void with_another_optimiser(struct life *life)
{
    life->run.optimiser = other_optimiser;
    life->run.weight_decay = 0.1;
}

TEST(life_other_optimisers)
{
    for (other_optimiser = OPTIMISER_ADAFACTOR + 1; other_optimiser < OPTIMISER_COUNT; other_optimiser++)
        check_run(param_find("optimiser")->words[other_optimiser], with_another_optimiser);
}

/* Saving without stopping changes nothing either, also in the middle of a validation. */
IN_LIFE(life_saved_on_its_way)
{
    static struct life undisturbed;

    life_init(&undisturbed);
    life_train(&undisturbed);
    CHECK(undisturbed.asked[0] == 0 && undisturbed.asked[1] == 0 && undisturbed.asked[2] == 1);
    for (life->save_call = 1; life->save_call <= undisturbed.calls; life->save_call++) {
        life_train(life);
        CHECK(life->error.text[0] == '\0' && life->calls == undisturbed.calls &&
              life_equal(life, &undisturbed));
    }
    life_release(&undisturbed);
}

/* An observer that spoils the snapshot and then has nothing leaves no trace. */
static bool spoil(void *context, struct snapshot *snapshot)
{
    const struct life *life = context;

    CHECK(life->calls == 0);
    memset(snapshot->weights, 0x5a, (size_t)snapshot->model->layout.size * sizeof(scalar));
    memset(snapshot->optimiser->first, 0x5a, (size_t)snapshot->model->layout.size * sizeof(scalar));
    snapshot->instruments->kept_square = 1;
    snapshot->history->row_count = 2;
    snapshot->history->norm_count = 3;
    snapshot->result->tokens = 99;
    snapshot->step = 4;
    return false;
}

IN_LIFE(life_begins_anew_after_half_a_snapshot)
{
    static struct life undisturbed;

    life_init(&undisturbed);
    life_train(&undisturbed);
    struct observer observer = {
        .context = life, .row = on_row, .carry_on = on_step, .resume = spoil, .finish = on_finish};
    train(&life->run, &life->corpus, &life->measure, &observer, &life->arena, &life->result);
    CHECK(life_equal(life, &undisturbed));
    life_release(&undisturbed);
}
