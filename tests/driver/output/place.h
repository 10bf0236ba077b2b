#ifndef NORMSWEEP_TESTS_DRIVER_OUTPUT_PLACE_H
#define NORMSWEEP_TESTS_DRIVER_OUTPUT_PLACE_H

#include <stddef.h>

#include "driver/output/lease.h"

/* An output in a folder of its own, and the file of its lease. */
struct place {
    char folder[64], output[96], file[112];
};

void place_init(struct place *place);

/* Removes the lease and the folder, which must not contain other files. */
void place_release(const struct place *place);

/* Removes all files whose names are longer than the lease's by so many letters, or, with 0, all. Returns how
 * many. */
int place_clear(const struct place *place, size_t longer);

enum { PLACE_RECORD = 384, PLACE_YOUNG = 0, PLACE_OLD = 70 };

/* Puts a lease of process `pid` on another machine there, last renewed `age` seconds ago. */
void place_lend(const struct place *place, int pid, int age);

/* Takes the lease; if it cannot, the test fails, and NULL is returned. */
struct lease *place_take(const struct place *place);

#endif
