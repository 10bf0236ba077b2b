/* The rule by which a phase is forecast, on norms that follow the recursion with known gains. */
#include "tests/model/lay_out.h"

#include "model/instruments/instruments.h"

enum { STEPS = 1000, EVERY = 20, POINTS = STEPS / EVERY + 1 };

/* A run, and the forecast at each of its measured steps. */
struct course {
    struct schedule schedule;
    double decay;
    double gain; /* of each step, for each unit of rate */
    double (*gain_of)(int64_t step); /* of the step that ends at `step`; NULL: always the same */
    double (*reach)(int64_t step); /* of the step from there; NULL: always 1 */
    double norm[POINTS];
    enum outlook_phase phase[POINTS];
};

static struct schedule constant(double rate)
{
    return (struct schedule){.kind = SCHEDULE_CONSTANT, .learning_rate = rate, .last_step = STEPS};
}

static void follow(struct course *course)
{
    struct outlook outlook;
    struct arena arena = {0};
    int64_t step[POINTS];
    double square = 9, reach[POINTS];

    for (int64_t s = 0; s <= STEPS; s++) {
        double rate = s > 0 ? schedule_rate(&course->schedule, s) : 0, left = 1 - rate * course->decay;
        if (s > 0)
            square = left * left * square + 9 * rate * (course->gain_of ? course->gain_of(s) : course->gain);
        if (s % EVERY == 0) {
            step[s / EVERY] = s;
            course->norm[s / EVERY] = sqrt(square);
            reach[s / EVERY] = course->reach ? course->reach(s) : 1;
        }
    }
    LAY_OUT(&arena, outlook_layout(&outlook, POINTS, &arena));
    outlook_begin(&outlook, &course->schedule, course->decay, step, POINTS);
    for (int64_t i = 0; i < POINTS; i++)
        course->phase[i] = outlook_of(&outlook, course->norm, reach, i + 1);
    arena_release(&arena);
}

/* The first measured step with a forecast, which must be this one; -1: none. */
static int64_t first_forecast(const struct course *course, enum outlook_phase what)
{
    for (int64_t i = 0; i < POINTS - 1; i++)
        if (course->phase[i] != OUTLOOK_OPEN) {
            CHECK(course->phase[i] == what);
            return i * EVERY;
        }
    return -1;
}

static double inwards_then_out(int64_t step)
{
    return step <= STEPS / 4 ? -0.1 : 1;
}

/* With steady gains and no decay, N - 1 = t grows, and must exceed OUTLOOK_LOSS of what is still to come.
 */
TEST(outlook_of_steady_growth)
{
    struct course course = {.schedule = constant(1e-3), .gain = 1};

    follow(&course);
    int64_t at = first_forecast(&course, OUTLOOK_GROWING);
    double wanted = OUTLOOK_LOSS * STEPS / (1 + OUTLOOK_LOSS);
    CHECK(at > wanted && at <= wanted + 2 * EVERY);
}

/* Without a gain decay alone decides; the rule waits for its part of the run. */
TEST(outlook_of_decay_alone)
{
    struct course course = {.schedule = constant(1e-2), .decay = 0.1};

    follow(&course);
    CHECK(first_forecast(&course, OUTLOOK_SHRINKING) == (int64_t)(OUTLOOK_PART * STEPS));
}

/* Decay that balances the gain at N = 10 or 0.02: far from 1 on either side. */
TEST(outlook_of_an_equilibrium)
{
    struct course above = {.schedule = constant(1e-1), .decay = 0.05, .gain = 1};
    struct course below = {.schedule = constant(1e-2), .decay = 25, .gain = 1};

    follow(&above);
    follow(&below);
    CHECK(first_forecast(&above, OUTLOOK_GROWING) >= 0);
    CHECK(first_forecast(&below, OUTLOOK_SHRINKING) >= 0);
}

/* Near 1, where a gain that changes by less than the rule allows for would change the phase, nothing is
 * forecast before the very end. */
TEST(outlook_near_the_boundary)
{
    for (int i = 10; i < 24; i++) {
        double balance = 0.05 * i;
        struct course course = {.schedule = constant(1e-2), .decay = 0.5 / balance, .gain = 1};
        follow(&course);
        int64_t at = first_forecast(&course, balance > 1 ? OUTLOOK_GROWING : OUTLOOK_SHRINKING);
        if (!(at < 0 || at >= STEPS * 9 / 10))
            test_fail(__FILE__, __LINE__, "balance %g: forecast at %lld", balance, (long long)at);
    }
}

/* Updates may turn round: as far as they carried theta inwards, several times so far they may carry it back.
 */
TEST(outlook_of_updates_against_theta)
{
    struct course course = {.schedule = constant(1e-3), .gain_of = inwards_then_out};

    follow(&course);
    CHECK(course.norm[POINTS / 5] < 3 && course.norm[POINTS - 1] > 3);
    first_forecast(&course, OUTLOOK_GROWING);
    course.gain_of = NULL;
    course.gain = -0.1;
    follow(&course);
    CHECK(first_forecast(&course, OUTLOOK_SHRINKING) > STEPS * 8 / 10);
}

/* While the rate rises, its updates are not known; and a decay of half the weights in a step is not followed.
 */
TEST(outlook_waits_and_declines)
{
    struct course late = {.schedule = constant(1e-2), .decay = 0.1};
    struct course heavy = {.schedule = constant(1), .decay = OUTLOOK_DECAY_MOST};

    late.schedule.warmup_steps = 600;
    follow(&late);
    follow(&heavy);
    CHECK(first_forecast(&late, OUTLOOK_SHRINKING) == 600);
    CHECK(first_forecast(&heavy, OUTLOOK_OPEN) == -1);
}

static double plateau_first(int64_t step)
{
    return step < STEPS / 2 ? OUTLOOK_REACH / 100 : 1;
}

static double plateau_last(int64_t step)
{
    return step < STEPS / 4 ? 1 : 0.99 * OUTLOOK_REACH;
}

/* Steps far below full ones say nothing of those to come: a run goes on while it takes them, and behind a
 * plateau until the average is above it. */
TEST(outlook_from_a_plateau)
{
    struct course first = {.schedule = constant(1e-2), .decay = 0.1, .reach = plateau_first};
    struct course last = first;

    last.reach = plateau_last;
    follow(&first);
    follow(&last);
    CHECK(first_forecast(&first, OUTLOOK_SHRINKING) == 560); /* 60 + 500 / 1000 >= 560 / 10 */
    CHECK(first_forecast(&last, OUTLOOK_SHRINKING) == (int64_t)(OUTLOOK_PART * STEPS));
    CHECK(last.phase[POINTS / 4 + 1] == OUTLOOK_SHRINKING && last.phase[POINTS / 4 + 2] == OUTLOOK_OPEN);
}

/* Rounding of weights moves norms that updates do not. */
TEST(outlook_within_rounding)
{
    struct course course = {.schedule = constant(1e-11), .gain = 1};

    follow(&course);
    CHECK(first_forecast(&course, OUTLOOK_GROWING) == -1);
}

/* Norms that are 0 or not finite, and too few of them. */
TEST(outlook_of_nothing)
{
    struct course course = {.schedule = constant(1e-2), .decay = 0.1};
    struct outlook outlook;
    struct arena arena = {0};
    int64_t step[] = {0, 100, 200, 300, 400, 500, 600, 700};
    double norm[] = {1, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.01}, reach[] = {1, 1, 1, 1, 1, 1, 1};

    LAY_OUT(&arena, outlook_layout(&outlook, 8, &arena));
    outlook_begin(&outlook, &course.schedule, course.decay, step, 8);
    CHECK(outlook_of(&outlook, norm, reach, OUTLOOK_INTERVALS) == OUTLOOK_OPEN);
    CHECK(outlook_of(&outlook, norm, reach, 8) == OUTLOOK_OPEN); /* the run is over */
    norm[3] = NAN;
    CHECK(outlook_of(&outlook, norm, reach, 7) == OUTLOOK_OPEN);
    norm[3] = 0.3;
    norm[0] = 0;
    CHECK(outlook_of(&outlook, norm, reach, 7) == OUTLOOK_OPEN);
    arena_release(&arena);
}
