#ifndef NORMSWEEP_TESTS_DRIVER_OUTPUT_PLACE_H
#define NORMSWEEP_TESTS_DRIVER_OUTPUT_PLACE_H

#include "driver/output/output.h"
#include "tests/scratch.h"

/* An output in a folder of its own, another one, and the file of the lease; what a call says why it fails. */
struct site {
    char folder[64], output[96], other[96], file[112];
    struct error error;
};

/* Calls the test in a new place, which must hold nothing but these files in the end. */
void place_run(void (*test)(struct site *place));

#define IN_PLACE(id)                                                                                         \
    static void in_place_##id(struct site *place);                                                           \
    TEST(id)                                                                                                 \
    {                                                                                                        \
        place_run(in_place_##id);                                                                            \
    }                                                                                                        \
    static void in_place_##id(struct site *place)

/* Removes all files whose names are longer than the lease's by so many letters, or, with 0, all. Returns how
 * many. */
int place_clear(const struct site *place, size_t longer);

enum { PLACE_RECORD = 384, PLACE_YOUNG = 0, PLACE_OLD = 70 };

/* Puts a lease of process `pid` on another machine there, last renewed `age` seconds ago. */
void place_lend(const struct site *place, int pid, int age);

/* Takes the lease; if it cannot, the test fails, and NULL is returned. */
struct lease *place_take(const struct site *place);

/* Does a process hold the lease, or is that unknown? */
bool place_is_held(const struct site *place);

#endif
