/* The pace of a sweep, from the steps that its workers report. */
#include "driver/job/job.h"
#include "tests/test.h"

TEST(speed_is_that_of_the_cost_done)
{
    struct meter meter = {.read = 100};
    struct speed speed;

    CHECK(speed_init(&speed, 2, 100) == 0);
    CHECK(isnan(speed_left(&speed, 100, 100)) && isnan(meter_rate(&meter)));
    speed_begin(&speed, 0, 10);
    CHECK(speed_step(&speed, 0, 0, 100, 0) == 0);
    CHECK(speed_step(&speed, 0, 50, 100, 4000) == 4000);
    CHECK(speed_step(&speed, 0, 50, 100, 3000) == -1 && speed_step(&speed, 1, 1, 100, 10) == -1);
    CHECK_CLOSE(speed_left(&speed, 100, 102), 38, 1e-9); /* half of a run of cost 10 in 2 s, 95 of 100 left */
    meter.tokens = 4000;
    meter_read(&meter, 102);
    CHECK_CLOSE(meter_rate(&meter), 2000, 1e-9);
    speed_release(&speed);
}

/* Steps before the one at which a run resumes count neither for the pace nor for the rate. */
TEST(speed_of_a_resumed_run)
{
    struct speed speed;

    CHECK(speed_init(&speed, 1, 100) == 0);
    speed_begin(&speed, 0, 10);
    CHECK(speed_step(&speed, 0, 40, 100, 48000000) == 0);
    CHECK(isnan(speed_left(&speed, 90, 100)));
    CHECK(speed_step(&speed, 0, 90, 100, 48060000) == 60000);
    CHECK_CLOSE(speed_left(&speed, 90, 130), 486, 1e-9); /* five of the cost in 30 s; 81 are left */
    speed_release(&speed);
}
