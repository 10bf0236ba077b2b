/* Boundaries of many shapes in rectangles of all sizes, followed by halving. */
#include "driver/search/inside.h"
#include "model/core/random.h"
#include "tests/test.h"

struct plane {
    int64_t length[2], cells;
    int64_t coarse;
    signed char *truth; /* [cells] enum side; SIDE_NONE: the run fails */
    bool *skipped; /* [cells] */
    signed char *side; /* [cells] as the search knows it */
    int64_t *queue; /* [cells] wanted, not trained yet */
    int64_t waiting, trained;
    uint64_t seed, draws;
};

static double drawn(struct plane *plane)
{
    return random_uniform(plane->seed, RANDOM_TEST, plane->draws++);
}

static int64_t below(struct plane *plane, int64_t bound)
{
    return (int64_t)((double)bound * drawn(plane));
}

static struct plane plane_new(uint64_t seed, int64_t rows, int64_t columns, int64_t coarse)
{
    size_t cells = (size_t)(rows * columns);

    return (struct plane){.length = {rows, columns},
        .cells = rows * columns,
        .coarse = coarse,
        .truth = calloc(cells, 1),
        .skipped = calloc(cells, 1),
        .side = calloc(cells, 1),
        .queue = calloc(cells, sizeof(int64_t)),
        .seed = seed};
}

static void plane_free(struct plane *plane)
{
    free(plane->truth);
    free(plane->skipped);
    free(plane->side);
    free(plane->queue);
}

/* ---- the search ---- */

static void on_want(void *context, int64_t place)
{
    struct plane *plane = context;

    CHECK(!plane->skipped[place] && plane->side[place] == SIDE_OPEN);
    plane->side[place] = SIDE_WANTED;
    CHECK(plane->waiting + plane->trained < plane->cells);
    plane->queue[plane->waiting++] = place;
}

/* Trains all runs that are wanted, in an order that is drawn. */
static void search(struct plane *plane)
{
    const struct halving halving = {
        {plane->length[0], plane->length[1]}, plane->coarse, plane->side, on_want, plane};

    plane->waiting = plane->trained = 0;
    for (int64_t i = 0; i < plane->cells; i++)
        plane->side[i] = plane->skipped[i] ? SIDE_NONE : SIDE_OPEN;
    halving_begin(&halving);
    while (plane->waiting > 0) {
        int64_t at = below(plane, plane->waiting), place = plane->queue[at];
        plane->queue[at] = plane->queue[--plane->waiting];
        plane->trained++;
        plane->side[place] = plane->truth[place];
        halving_take(&halving, place);
    }
}

/* ---- boundaries ---- */

/* What is above: the places in which this is positive, along both axes in runs. */
typedef double form(const double *number, double i, double j);

static double half_plane(const double *number, double i, double j)
{
    return number[0] * i + number[1] * j - number[2];
}

static double disc(const double *number, double i, double j)
{
    return number[2] - hypot(i - number[0], j - number[1]);
}

static double wave(const double *number, double i, double j)
{
    return i - number[0] - number[1] * sin(number[2] + j / number[3]);
}

static void fill(struct plane *plane, form *above, const double *number)
{
    for (int64_t i = 0; i < plane->length[0]; i++)
        for (int64_t j = 0; j < plane->length[1]; j++)
            plane->truth[i * plane->length[1] + j] =
                above(number, (double)i, (double)j) > 0 ? SIDE_ABOVE : SIDE_BELOW;
}

/* A line at any angle, through the rectangle or not. */
static void fill_half_plane(struct plane *plane)
{
    double angle = 7 * drawn(plane), normal[] = {cos(angle), sin(angle), 0};
    double through[] = {(double)plane->length[0] * (1.4 * drawn(plane) - 0.2),
        (double)plane->length[1] * (1.4 * drawn(plane) - 0.2)};

    normal[2] = normal[0] * through[0] + normal[1] * through[1] + 1e-9;
    fill(plane, half_plane, normal);
}

/* Larger than two squares of the coarse pass. */
static void fill_disc(struct plane *plane)
{
    double radius = (double)plane->coarse * (2 + 4 * drawn(plane));
    const double number[] = {
        (double)plane->length[0] * drawn(plane), (double)plane->length[1] * drawn(plane), radius};

    fill(plane, disc, number);
}

/* With bends of the size of the coarse pass, and larger. */
static void fill_wave(struct plane *plane)
{
    double coarse = (double)plane->coarse;
    const double number[] = {(double)plane->length[0] * drawn(plane), 4 * coarse * drawn(plane),
        7 * drawn(plane), coarse * (0.5 + drawn(plane))};

    fill(plane, wave, number);
}

/* Monotonic along both axes, but of any shape. */
static void fill_stairs(struct plane *plane)
{
    int64_t height = plane->length[0];

    for (int64_t j = 0; j < plane->length[1]; j++) {
        if (drawn(plane) < 0.4)
            height = below(plane, height + 1);
        for (int64_t i = 0; i < plane->length[0]; i++)
            plane->truth[i * plane->length[1] + j] = i < height ? SIDE_ABOVE : SIDE_DIVERGED;
    }
}

typedef void filling(struct plane *plane);

/* ---- what must hold ---- */

static bool differ(const struct plane *plane, int64_t a, int64_t b)
{
    return plane->truth[a] != plane->truth[b] && plane->truth[a] != SIDE_NONE &&
           plane->truth[b] != SIDE_NONE && !plane->skipped[a] && !plane->skipped[b];
}

/* Neighbours on different sides that are not both trained; and how many there are in all. */
static int64_t missed(const struct plane *plane, int64_t *all)
{
    int64_t count = 0, width = plane->length[1];

    *all = 0;
    for (int64_t at = 0; at < plane->cells; at++) {
        const int64_t neighbour[] = {
            at + width < plane->cells ? at + width : at, (at + 1) % width ? at + 1 : at};
        for (int i = 0; i < 2; i++) {
            bool different = differ(plane, at, neighbour[i]);
            *all += different;
            count += different && (plane->side[at] == SIDE_OPEN || plane->side[neighbour[i]] == SIDE_OPEN);
        }
    }
    return count;
}

static int64_t size_drawn(struct plane *from, int64_t most)
{
    return 1 + (int64_t)((double)most * pow(drawn(from), 2));
}

/* The boundary is trained on both sides, whichever order the results come in. */
static void check_boundaries(filling *fill_plane, int64_t least, const char *name)
{
    int64_t boundaries = 0;

    for (uint64_t seed = 0; seed < 400; seed++) {
        struct plane sizes = {.seed = seed};
        int64_t coarse = INT64_C(1) << below(&sizes, 5);
        int64_t rows = size_drawn(&sizes, 90), columns = size_drawn(&sizes, 90), all;
        struct plane plane = plane_new(seed, rows, columns, coarse);
        plane.draws = 100;
        fill_plane(&plane);
        search(&plane);
        int64_t lost = missed(&plane, &all), trained = plane.trained;
        if (lost > 0)
            test_fail(__FILE__, __LINE__, "%s, seed %d, %lld x %lld / %lld: %lld of %lld pairs are missed",
                name, (int)seed, (long long)rows, (long long)columns, (long long)coarse, (long long)lost,
                (long long)all);
        signed char *side = malloc((size_t)plane.cells);
        memcpy(side, plane.side, (size_t)plane.cells);
        for (int again = 0; again < 3; again++) {
            search(&plane);
            CHECK(memcmp(side, plane.side, (size_t)plane.cells) == 0 && plane.trained == trained);
        }
        free(side);
        boundaries += all > 0;
        plane_free(&plane);
    }
    if (boundaries < least)
        test_fail(__FILE__, __LINE__, "%s: %lld boundaries", name, (long long)boundaries);
}

TEST(halving_follows_boundaries_of_any_shape)
{
    check_boundaries(fill_half_plane, 200, "line");
    check_boundaries(fill_stairs, 200, "stairs");
    check_boundaries(fill_disc, 100, "disc");
    check_boundaries(fill_wave, 100, "wave");
}

/* Cells that are skipped, and runs that fail, are on no side: pairs among the others are found unless their
 * squares of the coarse pass have lost their corners. Nothing skipped is wanted, and the order still does not
 * matter. */
TEST(halving_goes_on_around_cells_without_a_side)
{
    int64_t pairs = 0, lost = 0;

    for (uint64_t seed = 0; seed < 200; seed++) {
        struct plane plane = plane_new(seed, 3 + (int64_t)seed % 40, 50, 4);
        int64_t all;
        fill_half_plane(&plane);
        for (int64_t i = 0; i < plane.cells; i++) {
            plane.skipped[i] = drawn(&plane) < 0.05;
            if (drawn(&plane) < 0.02)
                plane.truth[i] = SIDE_NONE;
        }
        search(&plane);
        signed char *side = malloc((size_t)plane.cells);
        memcpy(side, plane.side, (size_t)plane.cells);
        lost += missed(&plane, &all);
        pairs += all;
        search(&plane);
        CHECK(memcmp(side, plane.side, (size_t)plane.cells) == 0);
        free(side);
        plane_free(&plane);
    }
    CHECK(pairs > 2000 && 20 * lost < pairs);
}

TEST(halving_of_a_plane_without_cells_wants_nothing)
{
    struct plane plane = plane_new(0, 9, 9, 4);

    memset(plane.skipped, true, 81);
    search(&plane);
    CHECK(plane.trained == 0);
    memset(plane.skipped, false, 81); /* all runs fail: the coarse pass is all */
    search(&plane);
    CHECK(plane.trained == 9);
    memset(plane.truth, SIDE_BELOW, 81);
    plane.truth[36] = SIDE_NONE; /* of the coarse pass; it is not another side */
    search(&plane);
    CHECK(plane.trained == 9);
    plane_free(&plane);
}

/* A line that is above in [begin, end) alone. Is it found? */
static bool finds_interval(int64_t length, int64_t coarse, bool tall, int64_t begin, int64_t end)
{
    struct plane plane = plane_new(0, tall ? length : 1, tall ? 1 : length, coarse);
    int64_t all;

    for (int64_t i = 0; i < length; i++)
        plane.truth[i] = i >= begin && i < end ? SIDE_ABOVE : SIDE_BELOW;
    search(&plane);
    bool found = missed(&plane, &all) == 0;
    CHECK(all == (begin > 0 && begin < end) + (end < length && begin < end));
    CHECK(
        !found || plane.trained <= (length - 2) / coarse + 2 + all * (2 + 2 * (int64_t)log2((double)coarse)));
    plane_free(&plane);
    return found;
}

TEST(halving_finds_two_crossings_on_a_line_that_are_a_coarse_step_apart)
{
    for (int64_t begin = 0; begin < 50; begin++)
        for (int64_t end = begin + 8; end <= 50; end++)
            CHECK(finds_interval(50, 8, false, begin, end) && finds_interval(50, 8, true, begin, end));
    CHECK(!finds_interval(50, 8, false, 9, 16)); /* between two runs of the coarse pass */
    CHECK(finds_interval(50, 1, false, 9, 10) && finds_interval(1, 8, false, 0, 1));
}

/* The coarse pass, and a band along the boundary. */
TEST(halving_trains_far_fewer_runs_than_the_grid)
{
    static const int64_t sizes[][2] = {{65, 65}, {40, 300}, {20, 4096}};

    for (uint64_t seed = 0; seed < 60; seed++) {
        struct plane plane = plane_new(seed, sizes[seed % 3][0], sizes[seed % 3][1], 8);
        double number[] = {0.5, 0.02 + drawn(&plane), 0};
        number[2] = (double)plane.length[0] * (0.2 + 0.6 * drawn(&plane));
        if (seed % 3)
            number[1] = (double)plane.length[0] / (double)plane.length[1] * drawn(&plane);
        fill(&plane, half_plane, number);
        search(&plane);
        int64_t all, coarse = ((plane.length[0] - 2) / 8 + 2) * ((plane.length[1] - 2) / 8 + 2);
        CHECK(missed(&plane, &all) == 0);
        CHECK(plane.trained <= coarse + 4 * (plane.length[0] + plane.length[1]));
        plane_free(&plane);
    }
}
