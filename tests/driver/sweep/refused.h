#ifndef NORMSWEEP_TESTS_DRIVER_SWEEP_REFUSED_H
#define NORMSWEEP_TESTS_DRIVER_SWEEP_REFUSED_H

#include <stddef.h>

/* A sweep file that is refused, and the exact line that says why. */
struct refused {
    const char *name;
    const char *text; /* of sweep.yaml */
    const char *line;
    const char *setting[2]; /* --set options; NULL beyond the last */
    struct {
        const char *name, *content;
    } file[4]; /* that lie beside it; name NULL beyond the last */
};

/* Loads each sweep and its texts as `normsweep check` does, in a folder of its own. */
void check_refused(const struct refused *refused, size_t count);

/* The beginning of a row. */
#define CASE(n, t, l) .name = (n), .text = (t), .line = (l)

#define CHECK_REFUSED(table) check_refused(table, sizeof(table) / sizeof(*(table)))

#define BASE "corpus: markov\nsteps: 10\n"
#define TOGETHER BASE "together:\n  model:\n    small: {width: 128, heads: 4}\n"

#endif
