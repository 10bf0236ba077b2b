#include "driver/terminal/ascending.h"

#include <stdlib.h>

static int compare_numbers(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

void ascending_sort(double *number, int64_t count)
{
    qsort(number, (size_t)count, sizeof(*number), compare_numbers);
}
