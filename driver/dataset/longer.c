#include "driver/dataset/dataset.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/output/folder.h"
#include "driver/output/output.h"
#include "driver/sweep/grid.h"
#include "driver/sweep/texts.h"
#include "worker/checkpoint/set.h"

char *longer_old(const char *path, int64_t shorter)
{
    char *old;
    int length =
        shorter ? asprintf(&old, "%s.%" PRId64 ".old", path, shorter) : asprintf(&old, "%s.old", path);

    return length < 0 ? NULL : old;
}

/* Refuses to grow if the name that the dataset would get is taken. */
static int check_old(const char *output, int64_t shorter, struct error *error)
{
    char *path = output_resolve(output), *old = path ? longer_old(path, shorter) : NULL;
    char *name = longer_old(output, shorter);
    mode_t kind;
    int there = old && name ? output_exists(old, &kind) : -1, status = 0;

    if (there < 0)
        status = error_set(error, ERROR_ENVIRONMENT, "%s: %s", name ? name : output, strerror(errno));
    else if (there > 0)
        status = error_set(error, ERROR_INPUT,
            "%s: exists, and %s, whose runs have fewer steps, would be renamed to it; rename it, or give "
            "another -o",
            name, output);
    free(name);
    free(old);
    free(path);
    return status;
}

/* Counts the runs, and those whose trunk is in the set. */
static void count_runs(struct longer *longer, const struct sweep *sweep, const struct corpus *corpus,
    const struct checkpoint_set *states)
{
    struct digest trunk;
    struct walk walk;

    walk_init(&walk, sweep);
    for (; walk_next(&walk); longer->runs++) {
        sweep_trunk_digest(sweep, corpus, &walk.run, &trunk);
        longer->kept += checkpoint_set_has(states, &trunk);
    }
    walk_release(&walk);
}

int longer_find(struct longer *longer, const char *output, const struct sweep *sweep,
    const struct corpus *corpus, int64_t shorter, struct error *error)
{
    char *folder = folder_states(output);
    struct checkpoint_set states = {0};
    struct longer found = {.shorter = shorter};
    int status = folder ? check_old(output, shorter, error)
                        : error_set(error, ERROR_ENVIRONMENT, "%s: no memory", output);

    if (status == 0)
        status = checkpoint_set_init(&states, folder, error);
    if (status == 0) {
        count_runs(&found, sweep, corpus, &states);
        *longer = found;
    }
    checkpoint_set_release(&states);
    free(folder);
    return status;
}
