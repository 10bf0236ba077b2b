/* Matrix products of every vector level, of the BLAS library and of teams, against sums in double. */
#include "tests/model/lay_out.h"

#include "model/kernels/kernels.h"
#include "tests/model/draw.h"
#include "tests/model/kernels/each_level.h"
#include "tests/model/kernels/nearest.h"

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-15 : 6e-7;

enum {
    SIZE = 700 * 700, /* the operands of the largest case fit */
    WIDEST = 1600,
    MARGIN = 64, /* behind a product's scratch */
};

/* a and b as products read them. */
static double read_a[SIZE], read_b[SIZE];
static scalar a[SIZE], b[SIZE], residual[SIZE], gate[SIZE], bias[WIDEST], before[SIZE], c[SIZE];

static void draw_all(enum precision precision)
{
    draw(a, SIZE, 1, 1);
    draw(b, SIZE, 1, 2);
    draw(residual, SIZE, 1, 3);
    draw(gate, SIZE, 1, 4);
    draw(bias, WIDEST, 1, 5);
    draw(before, SIZE, 1, 6);
    for (int i = 0; i < SIZE; i += 3)
        gate[i] = 0;
    for (int i = 0; i < SIZE; i++) {
        read_a[i] = factor_of(precision, (double)a[i]);
        read_b[i] = factor_of(precision, (double)b[i]);
    }
}

static double expected(const struct product *p, int64_t i, int64_t j)
{
    const double *of_a = read_a + (p->a - a), *of_b = p->b == p->a ? of_a : read_b + (p->b - b);
    double sum = 0;

    for (int64_t k = 0; k < p->k; k++)
        sum += of_a[p->a_transposed ? k * p->a_stride + i : i * p->a_stride + k] *
               of_b[p->b_transposed ? j * p->b_stride + k : k * p->b_stride + j];
    int64_t at = i * p->c_stride + j;
    sum += p->add ? (double)before[at] : 0;
    sum += p->residual ? (double)p->residual[at] : 0;
    sum += p->bias ? (double)p->bias[j] : 0;
    if (p->relu && sum < 0)
        sum = 0;
    return p->gate && (double)p->gate[at] == 0 ? 0 : sum;
}

/* Wrong elements of c, and those outside c's columns and rows that were touched. */
static int64_t count_wrong(const struct product *p)
{
    double tolerance = rounding * (double)(p->k + 8) * (p->symmetric ? 8 : 1); /* squares do not cancel */
    int64_t wrong = 0;

    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->c_stride; j++) {
            double got = (double)c[i * p->c_stride + j];
            if (j < p->n)
                wrong += !(fabs(got - expected(p, i, j)) <= tolerance);
            else
                wrong += !(got == (double)before[i * p->c_stride + j]);
        }
    for (int64_t at = p->m * p->c_stride; at < SIZE; at++)
        wrong += !(c[at] == before[at]);
    return wrong;
}

/* The way of joining is one of 7. */
static struct product case_of(int64_t m, int64_t n, int64_t k, int transposed, int joined)
{
    struct product p = {.m = m, .n = n, .k = k, .a = a, .b = b, .c = c};

    p.a_transposed = transposed & 1;
    p.b_transposed = transposed & 2;
    p.a_stride = (p.a_transposed ? m : k) + 1;
    p.b_stride = (p.b_transposed ? k : n) + 2;
    p.c_stride = n + 3;
    p.add = joined == 1 || joined >= 5;
    p.bias = joined >= 2 && joined != 4 ? bias : NULL;
    p.residual = joined == 3 || joined == 6 ? residual : NULL;
    p.relu = joined == 2;
    p.gate = joined >= 4 ? gate : NULL;
    return p;
}

static const int64_t sizes[][3] = {{1, 1, 1}, {8, 32, 16}, {6, 16, 8}, {7, 31, 15}, {9, 33, 17}, {13, 5, 300},
    {50, 70, 60}, {5, 600, 513}, {97, 260, 257}, {23, 129, 90}, {9, 64, 1300}, {97, 64, 1300}, {1030, 40, 20},
    {9, 1056, 20}, {5, 1600, 300}}; /* blocks of steps and of columns; rows far apart; both in place */

/* What a product reads of its scratch, it has written there before. */
static void spoil_scratch(const struct team *team)
{
    for (int64_t i = 0; i < team->threads * team->scratch_size; i++)
        team->scratch[i] = NAN;
}

/* Elements behind the scratch of each share that were touched. */
static int64_t count_spilled(const struct team *team)
{
    int64_t spilled = 0;

    for (int64_t share = 1; share <= team->threads; share++)
        for (int64_t i = 1; i <= MARGIN; i++)
            spilled += !isnan((double)team->scratch[share * team->scratch_size - i]);
    return spilled;
}

static void check_product(const struct team *team)
{
    for (size_t size = 0; size < sizeof(sizes) / sizeof(*sizes); size++)
        for (int way = 0; way < 28; way++) {
            struct product p = case_of(sizes[size][0], sizes[size][1], sizes[size][2], way % 4, way / 4);
            memcpy(c, before, sizeof(c));
            spoil_scratch(team);
            product_run(team, &p);
            int64_t wrong = count_wrong(&p) + count_spilled(team);
            if (wrong != 0)
                test_fail(__FILE__, __LINE__, "%s: %d of %d x %d x %d, case %d", team->kernels->level,
                    (int)wrong, (int)p.m, (int)p.n, (int)p.k, way);
        }
}

/* a a' or a' a, of n x k or k x n. */
static struct product symmetric_case(int64_t n, int64_t k, int transposed)
{
    struct product p = case_of(n, n, k, transposed ? 1 : 2, 0);

    p.b = p.a;
    p.b_stride = p.a_stride;
    p.symmetric = true;
    return p;
}

static void check_symmetric(const struct team *team)
{
    static const int64_t sides[] = {1, 7, 8, 16, 31, 33, 64, 97, 130, 260}, depths[] = {1, 40, 513};

    for (size_t side = 0; side < sizeof(sides) / sizeof(*sides); side++)
        for (int way = 0; way < 6; way++) {
            struct product p = symmetric_case(sides[side], depths[way / 2], way % 2);
            memcpy(c, before, sizeof(c));
            spoil_scratch(team);
            product_alone(team->kernels, &p, team->scratch);
            int64_t wrong = count_wrong(&p) + count_spilled(team);
            for (int64_t i = 0; i < p.m; i++)
                for (int64_t j = 0; j < i; j++)
                    wrong += !(c[i * p.c_stride + j] == c[j * p.c_stride + i]);
            if (wrong != 0)
                test_fail(__FILE__, __LINE__, "%s: %d of %d x %d by %d, symmetric, way %d",
                    team->kernels->level, (int)wrong, (int)p.m, (int)p.n, (int)p.k, way);
        }
}

static void with_precision(
    enum precision precision, int64_t threads, const char *level, void (*check)(const struct team *))
{
    struct arena arena;
    struct team team;

    setenv("NORMSWEEP_VECTOR", level, 1);
    LAY_OUT(&arena, team_layout(&team, precision, threads, PRODUCT_SCRATCH + MARGIN, &arena));
    team.least = 0;
    draw_all(precision);
    check(&team);
    arena_release(&arena);
    unsetenv("NORMSWEEP_VECTOR");
}

static void check_own_product(const struct team *team)
{
    struct kernels own = *team->kernels;
    struct team same = *team;

    own.own_product = true;
    same.kernels = &own;
    check_product(&same);
    check_symmetric(&same);
}

static void check_float(const struct kernels *kernels)
{
    with_precision(PRECISION_FLOAT, 1, kernels->level, check_own_product);
}

THOROUGH(product_of_every_level, "every vector level; gradients and parity have the processor's own")
{
    const char *level;
    bool runs;

    each_level(check_float);
    for (int i = 0; (level = kernels_level(i, &runs)); i++)
        if (runs)
            with_precision(PRECISION_BFLOAT16, 1, level, check_own_product);
}

TEST(product_of_blas)
{
    with_precision(PRECISION_FLOAT, 1, "baseline", check_product);
    with_precision(PRECISION_FLOAT, 1, "baseline", check_symmetric);
}

/* An element is the same in any share, while one block of steps holds the whole sum. */
static void check_same(const struct team *team, struct product p)
{
    static scalar alone[SIZE];
    struct team one = *team;

    one.threads = 1;
    p.c = alone;
    product_run(&one, &p);
    p.c = c;
    product_run(team, &p);
    for (int64_t i = 0; i < p.m; i++)
        CHECK(memcmp(c + i * p.c_stride, alone + i * p.c_stride, (size_t)p.n * sizeof(*c)) == 0);
}

static void check_team(const struct team *team)
{
    check_same(team, case_of(203, 130, 300, 1, 2));
    check_same(team, case_of(130, 203, 300, 2, 2));
    check_product(team);
}

TEST(product_of_a_team)
{
    with_precision(PRECISION_FLOAT, 3, "avx512", check_team);
}

static void check_nan(const struct team *team)
{
    struct product p = case_of(9, 40, 300, 2, 2);

    a[4 * p.a_stride + 299] = NAN;
    product_run(team, &p);
    for (int64_t i = 0; i < p.m; i++)
        for (int64_t j = 0; j < p.n; j++)
            CHECK(isnan((double)c[i * p.c_stride + j]) == (i == 4)); /* through relu too */
}

EACH_LEVEL(product_lets_nan_through)
{
    with_precision(PRECISION_FLOAT, 1, kernels->level, check_nan);
}

TEST(product_bfloat16_of_a_team)
{
    with_precision(PRECISION_BFLOAT16, 3, "amx", check_team);
}

/* The rounded number: a product of it and of 1, as a or as b. */
static double rounded_by(const struct team *team, double x, bool as_b)
{
    scalar number = (scalar)x, one = 1, out = 0;
    struct product p = {.m = 1, .n = 1, .k = 1, .c = &out};

    p.a = as_b ? &one : &number;
    p.b = as_b ? &number : &one;
    p.a_stride = p.b_stride = p.c_stride = 1;
    product_alone(team->kernels, &p, team->scratch);
    return (double)out;
}

/* Around bfloat16 numbers of every size: the number, the middle between it and the next, and beside both. */
static void check_nearest(const struct team *team)
{
    static const double parts[] = {0, 0.25, 0.49, 0.5, 0.51, 0.75};
    int wrong = 0;

    for (int exponent = -126; exponent < 128; exponent++)
        for (int digits = 128; digits < 256; digits += exponent % 9 ? 37 : 1)
            for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    double x = (double)(scalar)(sign * ldexp(digits + parts[i], exponent - 7));
                    wrong += !(rounded_by(team, x, false) == nearest(x));
                    wrong += !(rounded_by(team, x, true) == nearest(x));
                }
    CHECK(wrong == 0);
    for (int as_b = 0; as_b < 2; as_b++) {
        CHECK(isnan(rounded_by(team, NAN, as_b)));
        CHECK(rounded_by(team, INFINITY, as_b) == INFINITY && rounded_by(team, -INFINITY, as_b) == -INFINITY);
        CHECK(rounded_by(team, 0x1p-127, as_b) == 0 && rounded_by(team, -0x1.ffp-127, as_b) == 0);
    }
}

TEST(bfloat16_is_the_nearest)
{
    bool runs;

    for (int i = 0; kernels_level(i, &runs); i++)
        if (runs)
            with_precision(PRECISION_BFLOAT16, 1, kernels_level(i, &runs), check_nearest);
}

#ifndef SCALAR_DOUBLE
/* The kernels of AMX on a model of its instructions, where this build has them. */
extern const struct kernels kernels_amx_model __attribute__((weak));

static void check_model(const struct team *team)
{
    struct team modelled = *team;

    modelled.kernels = &kernels_amx_model;
    check_own_product(&modelled);
    check_nearest(&modelled);
}

TEST(product_bfloat16_amx_model)
{
    const char *level;
    bool runs = false;

    for (int i = 0; (level = kernels_level(i, &runs)) && strcmp(level, "avx512_bf16") != 0; i++)
        ;
    if (!&kernels_amx_model || !runs)
        test_skip(
            "this processor or this build has no AVX512_BF16, so the products of AMX are not checked on "
            "a model of it");
    else
        with_precision(PRECISION_BFLOAT16, 1, "avx512_bf16", check_model);
}
#endif
