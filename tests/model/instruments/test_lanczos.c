/* The quadrature of a spectral density: matrices of known eigenvalues, exhausted spaces, what is not finite.
 */
#include "tests/model/lay_out.h"

#include "model/core/random.h"
#include "model/instruments/instruments.h"

static const double exact = sizeof(scalar) == sizeof(double) ? 1e-12 : 2e-6;

enum { COUNT = 50 };

/* 2 on the diagonal and -1 beside it: 2 - 2 cos(k pi / (n + 1)), components sqrt(2 / (n + 1)) sin(...). */
TEST(tridiagonal_of_differences)
{
    const double angle = acos(-1) / (COUNT + 1);
    double diagonal[COUNT], beside[COUNT], weight[COUNT];

    for (int i = 0; i < COUNT; i++) {
        diagonal[i] = 2;
        beside[i] = -1;
    }
    tridiagonal_solve(diagonal, beside, weight, COUNT);
    for (int k = 1; k <= COUNT; k++) {
        CHECK_CLOSE(diagonal[k - 1], 2 - 2 * cos(k * angle), 1e-13);
        CHECK_CLOSE(weight[k - 1], 2.0 / (COUNT + 1) * sin(k * angle) * sin(k * angle), 1e-13);
    }
}

TEST(tridiagonal_of_one_and_of_parts)
{
    double one = -3, beside[4] = {7}, weight[4], diagonal[4] = {5, 1, 1, -2};

    tridiagonal_solve(&one, beside, weight, 1);
    CHECK(one == -3 && weight[0] == 1);
    beside[0] = beside[2] = 0; /* three blocks; the middle one has the eigenvalues 1 -+ 2 */
    beside[1] = 2;
    tridiagonal_solve(diagonal, beside, weight, 4);
    CHECK_CLOSE(diagonal[0], -2, 1e-15);
    CHECK_CLOSE(diagonal[1], -1, 1e-15);
    CHECK_CLOSE(diagonal[2], 3, 1e-15);
    CHECK_CLOSE(diagonal[3], 5, 1e-15);
    CHECK(weight[0] == 0 && weight[1] == 0 && weight[2] == 0 && weight[3] == 1);
}

TEST(tridiagonal_that_is_not_finite)
{
    for (int at = 0; at < 6; at++) {
        double diagonal[3] = {1, 2, 3}, beside[3] = {1, 1, 0}, weight[3];
        (at < 3 ? diagonal : beside)[at < 3 ? at : at % 2] = at % 2 ? NAN : INFINITY;
        tridiagonal_solve(diagonal, beside, weight, 3);
        for (int i = 0; i < 3; i++)
            CHECK(isnan(diagonal[i]) && isnan(weight[i]));
    }
}

/* The process of a diagonal matrix. */
struct lanczos_case {
    struct lanczos lanczos;
    struct arena arena;
    double ritz[2 * COUNT], weight[2 * COUNT];
};

static void run_diagonal(
    struct lanczos_case *p, const double *value, int64_t size, int64_t steps, uint64_t probe)
{
    const scalar *vector;

    LAY_OUT(&p->arena, lanczos_layout(&p->lanczos, size, steps, &p->arena));
    lanczos_begin(&p->lanczos, size, 3, probe);
    while ((vector = lanczos_vector(&p->lanczos))) {
        for (int64_t i = 0; i < size; i++)
            p->lanczos.product[i] = value[i] * (double)vector[i];
        lanczos_step(&p->lanczos);
    }
    lanczos_end(&p->lanczos, p->ritz, p->weight);
    arena_release(&p->arena);
}

/* As many steps as rows: all eigenvalues, and as a Rademacher vector sees them all weights are 1 / n. */
TEST(lanczos_finds_all)
{
    struct lanczos_case p;
    double value[COUNT];

    for (int i = 0; i < COUNT; i++)
        value[i] = 0.1 * i - 2;
    run_diagonal(&p, value, COUNT, 2 * COUNT, 1);
    for (int i = 0; i < 2 * COUNT; i++) {
        if (i < COUNT) {
            CHECK_CLOSE(p.ritz[i], value[i], 3 * exact);
            CHECK_CLOSE(p.weight[i], 1.0 / COUNT, 30 * exact);
        } else {
            CHECK(isnan(p.ritz[i]) && isnan(p.weight[i]));
        }
    }
}

/* Three different eigenvalues: after three steps nothing is left. */
TEST(lanczos_ends_with_an_invariant_space)
{
    struct lanczos_case p;
    double value[COUNT];

    for (int i = 0; i < COUNT; i++)
        value[i] = i < 10 ? -1 : i < 30 ? 0 : 4;
    run_diagonal(&p, value, COUNT, COUNT, 2);
    CHECK_CLOSE(p.ritz[0], -1, exact);
    CHECK_CLOSE(p.ritz[1], 0, exact);
    CHECK_CLOSE(p.ritz[2], 4, 4 * exact);
    CHECK_CLOSE(p.weight[0], 10.0 / COUNT, exact);
    CHECK_CLOSE(p.weight[1], 20.0 / COUNT, exact);
    CHECK_CLOSE(p.weight[2], 20.0 / COUNT, exact);
    for (int i = 4; i < COUNT; i++)
        CHECK(isnan(p.ritz[i]));
}

TEST(lanczos_of_nothing_finite)
{
    struct lanczos_case p;
    double value[COUNT] = {[7] = NAN};

    run_diagonal(&p, value, COUNT, 20, 0);
    for (int i = 0; i < 20; i++)
        CHECK(isnan(p.ritz[i]) && isnan(p.weight[i]));
}

/* The area between the distribution function of the quadrature and that of the eigenvalues. */
static double distance(const double *value, int64_t size, double (*ritz)[2], int64_t nodes)
{
    double sum = 0, low = 0, high = 0;
    int64_t i = 0, j = 0;

    while (i < size || j < nodes) {
        bool of_matrix = j == nodes || (i < size && value[i] <= ritz[j][0]);
        double at = of_matrix ? value[i] : ritz[j][0];
        low += of_matrix ? 1.0 / (double)size : 0;
        high += of_matrix ? 0 : ritz[j][1];
        i += of_matrix;
        j += !of_matrix;
        double next = i == size && j == nodes ? at
                      : j == nodes            ? value[i]
                      : i == size             ? ritz[j][0]
                                              : fmin(value[i], ritz[j][0]);
        sum += fabs(low - high) * (next - at);
    }
    return sum;
}

static int compare_nodes(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Simulated: the mean quadrature of a spectrum like that of a network, a bulk at 0 and a few large ones. */
TEST(hessian_bound_holds)
{
    enum { SIZE = 3000, PROBES = 6, STEPS = 40 };
    static double value[SIZE], node[PROBES * STEPS][2];
    static struct lanczos_case p;
    int64_t nodes = 0;

    for (int i = 0; i < SIZE; i++)
        value[i] = i < SIZE - 20 ? 1e-3 * (i - 1000) : 3 + 0.5 * (i - SIZE + 20);
    for (uint64_t probe = 0; probe < PROBES; probe++) {
        run_diagonal(&p, value, SIZE, STEPS, probe);
        for (int i = 0; i < STEPS; i++, nodes++) {
            node[nodes][0] = p.ritz[i];
            node[nodes][1] = p.weight[i] / PROBES;
        }
    }
    qsort(node, (size_t)nodes, sizeof(*node), compare_nodes);
    double width = value[SIZE - 1] - value[0], bound = hessian_bound(SIZE, PROBES, STEPS, width);
    double off = distance(value, SIZE, node, nodes);
    CHECK(off > 0 && off < 0.1 && off <= bound); /* the bound is 4.1 */
    CHECK_CLOSE(bound, 12 / 39.5 * width, 1e-12); /* of the steps: the probes' part is far smaller */
    CHECK_CLOSE(hessian_bound(10, 1, 1000000, 1), sqrt(4 * log(20 / 0.05) / 12), 1e-12);
}
