#ifndef NORMSWEEP_DRIVER_SCHEDULE_ORDERS_H
#define NORMSWEEP_DRIVER_SCHEDULE_ORDERS_H

#include <stdbool.h>
#include <stddef.h>

#include "driver/schedule/coordinator.h"

/* Orders that were not yet taken, first in, first out. */
struct orders {
    struct order *order; /* [size] first .. end - 1 */
    size_t size, first, end;
};

/* -1: no memory; it can be released all the same. */
int orders_init(struct orders *orders);
void orders_release(struct orders *orders);

/* Without memory for one more order the program cannot keep any promise: it ends. */
void orders_push(struct orders *orders, struct order order);

/* False when there is none. */
bool orders_take(struct orders *orders, struct order *order);

#endif
