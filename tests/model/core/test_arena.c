#include "tests/test.h"

#include "model/core/arena.h"

/* Two pieces, and scratch between them. */
struct pieces {
    unsigned char *first, *scratch, *second;
    size_t first_size, scratch_size, second_size;
};

static void take_pieces(struct pieces *pieces, struct arena *arena)
{
    pieces->first = arena_take(arena, pieces->first_size, 1);
    pieces->scratch = arena_take_scratch(arena, pieces->scratch_size, 1);
    pieces->second = arena_take(arena, pieces->second_size, 1);
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    size_t wrong = 0;

    for (size_t i = 0; i < size; i++)
        wrong += bytes[i] != 0;
    return wrong == 0;
}

/* Uses the arena as a run does: all but scratch is zero, nothing overlaps; then soils everything. */
static void use_arena(struct arena *arena, size_t first, size_t scratch, size_t second)
{
    struct pieces pieces = {.first_size = first, .scratch_size = scratch, .second_size = second};
    struct arena counted = {0};

    take_pieces(&pieces, &counted);
    CHECK(!pieces.first && !pieces.scratch && !pieces.second);
    CHECK(arena_renew(arena, &counted) == 0);
    take_pieces(&pieces, arena);
    CHECK(arena->used == counted.used && arena->scratch == counted.scratch);
    CHECK(((uintptr_t)pieces.first | (uintptr_t)pieces.scratch | (uintptr_t)pieces.second) % 64 == 0);
    CHECK(is_zero(pieces.first, first) && is_zero(pieces.second, second));
    memset(pieces.scratch, 0xff, scratch);
    CHECK(is_zero(pieces.first, first) && is_zero(pieces.second, second));
    memset(pieces.first, 0xff, first);
    memset(pieces.second, 0xff, second);
    arena_rest(arena);
}

/* Runs of other sizes, so that what was scratch becomes memory that has to be zero, and the other way. */
TEST(arena_is_zeroed_but_for_scratch)
{
    static const size_t sizes[][3] = {{1000, 5000, 3000}, {1000, 5000, 3000}, {5000, 1, 3000},
        {100, 8000, 200}, {0, 0, 9000}, {1, 1, 1}, {4000, 0, 5000}, {0, 8999, 0}, {9000, 0, 0}};
    struct arena arena = {0};

    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
            use_arena(&arena, sizes[i][0], sizes[i][1], sizes[i][2]);
    arena_release(&arena);
}

TEST(arena_of_a_smaller_run_keeps_its_memory)
{
    struct arena arena = {0};

    use_arena(&arena, 10000, 10000, 10000);
    const char *base = arena.base;
    use_arena(&arena, 10, 10, 10);
    CHECK(base && arena.base == base);
    use_arena(&arena, 10000, 20000, 10000);
    CHECK(arena.size >= 40000);
    arena_release(&arena);
    CHECK(!arena.base && arena.size == 0);
}

/* A size that is not a multiple of the alignment. */
TEST(arena_of_any_size)
{
    struct arena arena;

    CHECK(arena_init(&arena, 1000) == 0);
    char *scratch = arena_take_scratch(&arena, 100, 1), *first = arena_take(&arena, 100, 1);
    CHECK((uintptr_t)scratch % 64 == 0 && scratch >= first + 100 && scratch + 100 <= arena.base + 1000);
    arena_release(&arena);
}
