/* The norms of a run over the time in which its weights decay, which predictions of a search need. */
#include "driver/job/inside.h"

#include "model/optimisers/optimisers.h"
#include "tests/test.h"

enum { STEPS = 8 };

/* The norms of a run whose norm is 1 to 9, of which step 2 has no norm; rate_sum is `step` / 10. */
static struct norm_curve curve_of(const struct run *run, double square[STEPS + 1], double time[STEPS + 1])
{
    struct norm_curve curve = {.square = square, .time = time};
    int64_t step[STEPS + 1];

    for (int64_t i = 0; i <= STEPS; i++) {
        step[i] = i;
        square[i] = i == 2 ? NAN : (double)(i + 1);
        time[i] = 0.1 * (double)i;
    }
    struct measure measure;
    measure_init(&measure);
    measure.every = 1;
    CHECK(norm_curve_make(run, &measure, STEPS, step, STEPS + 1, &curve));
    measure_release(&measure);
    return curve;
}

TEST(norm_curve_has_the_sums_of_rates_where_norms_were_measured)
{
    struct run run;
    double square[STEPS + 1], time[STEPS + 1];

    run_init(&run);
    struct norm_curve curve = curve_of(&run, square, time);
    CHECK(curve.count == STEPS && curve.decay == run.weight_decay);
    CHECK(curve.square[1] == 4 && curve.square[2] == 16 && curve.square[STEPS - 1] == 81);
    CHECK_CLOSE(curve.time[2], 0.3, 1e-15);
}

/* The sum of the squares of the rates over the peak rate. */
/* The values of a whole run whose norm grows by a source that is constant from step 3 on: those that it has
 * not reached follow. */
TEST(norm_curve_of_a_run_that_ended_early_goes_on)
{
    for (int corrected = 0; corrected < 2; corrected++)
        for (int64_t ended = 4; ended <= STEPS; ended++) {
            double square[STEPS + 2], time[STEPS + 2], whole[STEPS + 2], sum[STEPS + 2];
            int64_t step[STEPS + 2];
            struct norm_curve curve = {.square = square, .time = time};
            struct measure measure;
            struct run run;
            run_init(&run);
            run.weight_decay = 0.3;
            run.learning_rate = 0.1;
            run.schedule = SCHEDULE_LINEAR;
            run.decay_rule = corrected ? DECAY_CORRECTED : run.decay_rule;
            const struct schedule schedule = run_schedule(&run, STEPS);
            double total = 0, last = 2;
            for (int64_t i = 0; i <= STEPS + 1; i++) { /* the last row is of longer runs */
                double rate = i > 0 && i <= STEPS ? schedule_rate(&schedule, i) : 0;
                double h = corrected ? rate * rate / 0.1 : rate;
                sum[i] = total += h;
                last = exp(-0.6 * h) * last + exp(-0.3 * h) * (i < 4 ? 3 : 7) * h;
                whole[i] = last;
                step[i] = i;
                square[i] = i <= ended ? sqrt(whole[i]) : NAN;
                time[i] = i <= ended ? sum[i] : NAN;
            }
            measure_init(&measure);
            measure.every = 1;
            CHECK(norm_curve_make(&run, &measure, STEPS, step, STEPS + 2, &curve));
            CHECK(curve.count == STEPS + 1 && curve.early == (ended < STEPS));
            for (int64_t i = 0; i <= STEPS; i++) {
                CHECK_CLOSE(curve.time[i], sum[i], 1e-14);
                CHECK_CLOSE(curve.square[i], whole[i], 1e-13);
            }
            measure_release(&measure);
        }
}

TEST(norm_curve_of_corrected_decay_has_sums_of_squares)
{
    struct run run;
    double square[STEPS + 1], time[STEPS + 1], sum = 0;

    run_init(&run);
    run.decay_rule = DECAY_CORRECTED;
    run.schedule = SCHEDULE_LINEAR;
    run.warmup_steps = 3;
    run.learning_rate = 0.1;
    struct norm_curve curve = curve_of(&run, square, time);
    const struct schedule schedule = run_schedule(&run, STEPS);
    for (int64_t step = 0, at = 0; step <= STEPS; step++) {
        sum += step ? pow(schedule_rate(&schedule, step), 2) / 0.1 : 0;
        if (step != 2)
            CHECK_CLOSE(curve.time[at++], sum, 1e-15);
    }
    CHECK(sum > 0 && sum < 0.1 * STEPS);
}
