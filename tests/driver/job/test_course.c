/* The time of a run's decay, which predictions of a search need. */
#include "driver/job/inside.h"

#include "model/optimisers/optimisers.h"
#include "tests/test.h"

#include <math.h>

enum { STEPS = 8 };

/* The course of a run whose norm is 1 to 9, of which step 2 has no norm; rate_sum is `step` / 10. */
static struct course course_of(const struct run *run, double square[STEPS + 1], double time[STEPS + 1])
{
    struct course course = {.square = square, .time = time};
    int64_t step[STEPS + 1];

    for (int64_t i = 0; i <= STEPS; i++) {
        step[i] = i;
        square[i] = i == 2 ? NAN : (double)(i + 1);
        time[i] = 0.1 * (double)i;
    }
    CHECK(course_make(run, step, STEPS + 1, &course));
    return course;
}

TEST(course_has_the_sums_of_rates_where_norms_were_measured)
{
    struct run run;
    double square[STEPS + 1], time[STEPS + 1];

    run_init(&run);
    struct course course = course_of(&run, square, time);
    CHECK(course.count == STEPS && course.decay == run.weight_decay);
    CHECK(course.square[1] == 4 && course.square[2] == 16 && course.square[STEPS - 1] == 81);
    CHECK_CLOSE(course.time[2], 0.3, 1e-15);
}

/* The sum of the squares of the rates over the peak rate. */
TEST(course_of_corrected_decay_has_sums_of_squares)
{
    struct run run;
    double square[STEPS + 1], time[STEPS + 1], sum = 0;

    run_init(&run);
    run.decay_rule = DECAY_CORRECTED;
    run.schedule = SCHEDULE_LINEAR;
    run.warmup_steps = 3;
    run.learning_rate = 0.1;
    struct course course = course_of(&run, square, time);
    const struct schedule schedule = run_schedule(&run, STEPS);
    for (int64_t step = 0, at = 0; step <= STEPS; step++) {
        sum += step ? pow(schedule_rate(&schedule, step), 2) / 0.1 : 0;
        if (step != 2)
            CHECK_CLOSE(course.time[at++], sum, 1e-15);
    }
    CHECK(sum > 0 && sum < 0.1 * STEPS);
}
