#include "driver/schedule/inside.h"
#include "model/core/check.h"

#include <stdlib.h>

int orders_init(struct orders *orders)
{
    *orders = (struct orders){.size = 64};
    orders->order = malloc(orders->size * sizeof(*orders->order));
    return orders->order ? 0 : -1;
}

void orders_release(struct orders *orders)
{
    free(orders->order);
    *orders = (struct orders){0};
}

void orders_push(struct orders *orders, struct order order)
{
    INVARIANT(orders->first <= orders->end && orders->end <= orders->size, "%zu to %zu of %zu", orders->first,
        orders->end, orders->size);
    if (orders->end == orders->size) {
        orders->size *= 2;
        orders->order = realloc(orders->order, orders->size * sizeof(*orders->order));
        if (!orders->order)
            abort();
    }
    orders->order[orders->end++] = order;
}

bool orders_take(struct orders *orders, struct order *order)
{
    INVARIANT(orders->first <= orders->end, "%zu to %zu", orders->first, orders->end);
    if (orders->first == orders->end) {
        orders->first = orders->end = 0;
        return false;
    }
    *order = orders->order[orders->first++];
    return true;
}
