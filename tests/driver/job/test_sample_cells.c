#include "driver/job/job.h"
#include "tests/test.h"

enum { CELLS = 12 };

/* Draws from the cells 0, 3, 6, ..., of which there are `count`. */
static int64_t sample(int64_t cell[CELLS], int64_t count, int64_t wanted, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++)
        cell[i] = 3 * i;
    return sample_cells(cell, count, wanted, seed);
}

static bool contains(const int64_t *cell, int64_t count, int64_t wanted)
{
    for (int64_t i = 0; i < count; i++)
        if (cell[i] == wanted)
            return true;
    return false;
}

TEST(sample_ascends_and_repeats)
{
    int64_t cell[CELLS], again[CELLS];

    for (int64_t wanted = 1; wanted <= CELLS; wanted++) {
        CHECK(sample(cell, CELLS, wanted, 7) == wanted && sample(again, CELLS, wanted, 7) == wanted);
        CHECK(memcmp(cell, again, (size_t)wanted * sizeof(*cell)) == 0);
        for (int64_t i = 0; i < wanted; i++)
            CHECK(cell[i] % 3 == 0 && cell[i] < 3 * CELLS && (i == 0 || cell[i - 1] < cell[i]));
    }
    CHECK(sample(cell, CELLS, CELLS + 1, 7) == CELLS && cell[0] == 0 && cell[CELLS - 1] == 3 * CELLS - 3);
    CHECK(sample(cell, 0, 1, 7) == 0);
}

TEST(sample_of_more_includes_that_of_fewer)
{
    int64_t few[CELLS], many[CELLS];

    for (uint64_t seed = 0; seed < 50; seed++) {
        sample(few, CELLS, 4, seed);
        sample(many, CELLS, 9, seed);
        for (int i = 0; i < 4; i++)
            CHECK(contains(many, 9, few[i]));
    }
}

TEST(sample_from_one_cell_more_replaces_one_at_most)
{
    int64_t before[CELLS], after[CELLS];
    int changed = 0;

    for (uint64_t seed = 0; seed < 50; seed++) {
        int kept = 0;
        sample(before, CELLS - 1, 4, seed);
        sample(after, CELLS, 4, seed);
        for (int i = 0; i < 4; i++)
            kept += contains(after, 4, before[i]);
        CHECK(kept >= 3);
        changed += kept == 3;
        CHECK(kept == 4 || contains(after, 4, 3 * (CELLS - 1)));
    }
    CHECK(changed > 0);
}

/* Each cell is in a third of the draws; the bounds are six standard deviations away. */
TEST(sample_takes_each_cell_as_often)
{
    enum { DRAWS = 3000 };
    int64_t cell[CELLS];
    int drawn[CELLS] = {0};

    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        sample(cell, CELLS, CELLS / 3, seed);
        for (int i = 0; i < CELLS / 3; i++)
            drawn[cell[i] / 3]++;
    }
    for (int i = 0; i < CELLS; i++)
        CHECK_CLOSE(drawn[i], DRAWS / 3, 6 * 25.9);
}
