/* The rule by which a phase is certain, on norms that follow the recursion with known gains. */
#include "tests/test.h"

#include "model/instruments/certainty.h"

#include <math.h>

enum { STEPS = 1000, EVERY = 20, POINTS = STEPS / EVERY + 1 };

/* A run, and what is certain at each of its measured steps. */
struct course {
    struct schedule schedule;
    double decay;
    double (*gain)(int64_t step); /* of the step that ends at `step`, for each unit of rate */
    double norm[POINTS];
    enum certain certain[POINTS];
};

static struct schedule constant(double rate)
{
    return (struct schedule){.kind = SCHEDULE_CONSTANT, .learning_rate = rate, .last_step = STEPS};
}

static void follow(struct course *course)
{
    struct certainty certainty;
    struct arena arena = {0};
    int64_t step[POINTS];
    double square = 9;

    for (int64_t s = 0; s <= STEPS; s++) {
        double rate = s > 0 ? schedule_rate(&course->schedule, s) : 0, left = 1 - rate * course->decay;
        if (s > 0)
            square = left * left * square + 9 * rate * course->gain(s);
        if (s % EVERY == 0) {
            step[s / EVERY] = s;
            course->norm[s / EVERY] = sqrt(square);
        }
    }
    certainty_layout(&certainty, POINTS, &arena);
    CHECK(arena_init(&arena, arena.used) == 0);
    certainty_layout(&certainty, POINTS, &arena);
    certainty_begin(&certainty, &course->schedule, course->decay, step, POINTS);
    for (int64_t i = 0; i < POINTS; i++)
        course->certain[i] = certainty_of(&certainty, course->norm, i + 1);
    arena_release(&arena);
}

/* The first measured step at which something is certain; -1: none. All later ones, but the last, must agree.
 */
static int64_t first_certain(const struct course *course, enum certain what)
{
    for (int64_t i = 0; i < POINTS - 1; i++)
        if (course->certain[i] != CERTAIN_NOTHING) {
            CHECK(course->certain[i] == what);
            return i * EVERY;
        }
    return -1;
}

static double one(int64_t step)
{
    (void)step;
    return 1;
}

static double none(int64_t step)
{
    (void)step;
    return 0;
}

static double inwards(int64_t step)
{
    (void)step;
    return -0.1;
}

static double inwards_then_out(int64_t step)
{
    return step <= STEPS / 4 ? -0.1 : 1;
}

/* With steady gains and no decay, N - 1 = t grows, and must exceed CERTAINTY_LOSS of what is still to come.
 */
TEST(certainty_of_steady_growth)
{
    struct course course = {.schedule = constant(1e-3), .gain = one};

    follow(&course);
    int64_t at = first_certain(&course, CERTAIN_GROWING);
    double wanted = CERTAINTY_LOSS * STEPS / (1 + CERTAINTY_LOSS);
    CHECK(at > wanted && at <= wanted + 2 * EVERY);
}

/* Without a gain decay alone decides; the rule waits for its part of the run. */
TEST(certainty_of_decay_alone)
{
    struct course course = {.schedule = constant(1e-2), .decay = 0.1, .gain = none};

    follow(&course);
    CHECK(first_certain(&course, CERTAIN_SHRINKING) == (int64_t)(CERTAINTY_PART * STEPS));
}

/* Decay that balances the gain at N = 10 or 0.02: far from 1 on either side. */
TEST(certainty_of_an_equilibrium)
{
    struct course above = {.schedule = constant(1e-1), .decay = 0.05, .gain = one};
    struct course below = {.schedule = constant(1e-2), .decay = 25, .gain = one};

    follow(&above);
    follow(&below);
    CHECK(first_certain(&above, CERTAIN_GROWING) >= 0);
    CHECK(first_certain(&below, CERTAIN_SHRINKING) >= 0);
}

/* Near 1, where a gain that changes by less than the rule allows for would change the phase, nothing is
 * certain before the very end. */
TEST(certainty_near_the_boundary)
{
    for (int i = 10; i < 24; i++) {
        double balance = 0.05 * i;
        struct course course = {.schedule = constant(1e-2), .decay = 0.5 / balance, .gain = one};
        follow(&course);
        int64_t at = first_certain(&course, balance > 1 ? CERTAIN_GROWING : CERTAIN_SHRINKING);
        if (!(at < 0 || at >= STEPS * 9 / 10))
            test_fail(__FILE__, __LINE__, "balance %g: certain at %lld", balance, (long long)at);
    }
}

/* Updates may turn round: as far as they carried theta inwards, several times so far they may carry it back.
 */
TEST(certainty_of_updates_against_theta)
{
    struct course course = {.schedule = constant(1e-3), .gain = inwards_then_out};

    follow(&course);
    CHECK(course.norm[POINTS / 5] < 3 && course.norm[POINTS - 1] > 3);
    first_certain(&course, CERTAIN_GROWING);
    course.gain = inwards;
    follow(&course);
    CHECK(first_certain(&course, CERTAIN_SHRINKING) > STEPS * 8 / 10);
}

/* While the rate rises, its updates are not known; and a decay of half the weights in a step is not followed.
 */
TEST(certainty_waits_and_declines)
{
    struct course late = {.schedule = constant(1e-2), .decay = 0.1, .gain = none};
    struct course heavy = {.schedule = constant(1), .decay = CERTAINTY_DECAY_MOST, .gain = none};

    late.schedule.warmup_steps = 600;
    follow(&late);
    follow(&heavy);
    CHECK(first_certain(&late, CERTAIN_SHRINKING) == 600);
    CHECK(first_certain(&heavy, CERTAIN_NOTHING) == -1);
}

/* Norms that are 0 or not finite, and too few of them. */
TEST(certainty_of_nothing)
{
    struct course course = {.schedule = constant(1e-2), .decay = 0.1, .gain = none};
    struct certainty certainty;
    struct arena arena = {0};
    int64_t step[] = {0, 100, 200, 300, 400, 500, 600, 700};
    double norm[] = {1, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.01};

    certainty_layout(&certainty, 8, &arena);
    CHECK(arena_init(&arena, arena.used) == 0);
    certainty_layout(&certainty, 8, &arena);
    certainty_begin(&certainty, &course.schedule, course.decay, step, 8);
    CHECK(certainty_of(&certainty, norm, CERTAINTY_INTERVALS) == CERTAIN_NOTHING);
    CHECK(certainty_of(&certainty, norm, 8) == CERTAIN_NOTHING); /* the run is over */
    norm[3] = NAN;
    CHECK(certainty_of(&certainty, norm, 7) == CERTAIN_NOTHING);
    norm[3] = 0.3;
    norm[0] = 0;
    CHECK(certainty_of(&certainty, norm, 7) == CERTAIN_NOTHING);
    arena_release(&arena);
}
