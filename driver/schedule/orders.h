#ifndef NORMSWEEP_DRIVER_SCHEDULE_ORDERS_H
#define NORMSWEEP_DRIVER_SCHEDULE_ORDERS_H

#include <stdbool.h>
#include <stddef.h>

#include "driver/schedule/coordinator.h"

/* A queue of orders, first in, first out. */
struct orders {
    struct order *order; /* [size] first .. end - 1 */
    size_t size, first, end;
};

/* -1: no memory; orders_release is still allowed. */
int orders_init(struct orders *orders);
void orders_release(struct orders *orders);

/* Aborts without memory: the coordinator cannot continue after a lost order. */
void orders_push(struct orders *orders, struct order order);

/* False if the queue is empty. */
bool orders_take(struct orders *orders, struct order *order);

#endif
