/*
 * A sample that equal seeds draw equally, and of which a larger one contains the smaller: each cell has a
 * random number of its own, and those with the smallest are drawn.
 */
#include "driver/job/inside.h"
#include "model/core/random.h"

#include <stdlib.h>

/* A cell with its random number. */
struct ticketed {
    uint64_t ticket;
    int64_t cell;
};

static int by_ticket(const void *a, const void *b)
{
    const struct ticketed *x = a, *y = b;

    if (x->ticket != y->ticket)
        return (x->ticket > y->ticket) - (x->ticket < y->ticket);
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int64_t draw_cells(int64_t *cell, int64_t count, int64_t wanted, uint64_t seed)
{
    struct ticketed *ticketed = malloc((size_t)(count + 1) * sizeof(*ticketed));
    int64_t drawn = wanted < count ? wanted : count;

    if (!ticketed)
        return -1;
    for (int64_t i = 0; i < count; i++)
        ticketed[i] = (struct ticketed){random_bits(seed, RANDOM_DRAW, (uint64_t)cell[i]), cell[i]};
    qsort(ticketed, (size_t)count, sizeof(*ticketed), by_ticket);
    for (int64_t i = 0; i < drawn; i++)
        cell[i] = ticketed[i].cell;
    qsort(cell, (size_t)drawn, sizeof(*cell), by_number);
    free(ticketed);
    return drawn;
}
