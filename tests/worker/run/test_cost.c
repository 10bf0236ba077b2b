/* What a run costs. */
#include "tests/test.h"

#include "worker/run/run.h"

/* Rounds: one that draws, and one for each block on the way; first for the exponents, then for the angular.
 */
TEST(cost_of_lyapunov_exponents)
{
    const struct run run = {.width = 8, .context = 4, .layers = 3};
    struct measure measure = {.lyapunov_exponents = 5, .lyapunov_sweeps = 2};

    struct lyapunov_work work = train_lyapunov_work(&run, &measure);
    CHECK(work.passes == 0 && work.products == 0);
    measure.group[GROUP_LYAPUNOV] = true;
    work = train_lyapunov_work(&run, &measure);
    CHECK_CLOSE(work.passes, 1 + 5 * 2 * (5 + 1. / 3), 1e-14);
    CHECK_CLOSE(work.products, 12.5 * 32 * 2 * (1 + 5 * 3), 1e-14);
    measure.lyapunov_exponents = 10000; /* the state has 32 directions */
    work = train_lyapunov_work(&run, &measure);
    CHECK_CLOSE(work.products, 512 * 32 * 2 * (1 + 5 * 3), 1e-14);
}
